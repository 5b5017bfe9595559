/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files that probes are in. A file is its device and inode: one that several paths lead to is one,
 * and one that was replaced on disk is two. It is opened once; symbols are read, code is read and
 * probes are attached through that descriptor, so that all three mean the same bytes even when the
 * path leads elsewhere by now. What the file's author wrote is not to be believed: the ELF reader
 * of the host checks it, and code is only ever decoded.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "uprobe.h"

int weft_uprobe_grow(void *array, size_t *capacity, size_t n, size_t size)
{
	void **a = array;

	if (n < *capacity)
		return 0;
	size_t more = *capacity ? *capacity * 2 : 4;
	void *grown = reallocarray(*a, more, size);
	if (!grown)
		return -ENOMEM;
	*a = grown;
	*capacity = more;
	return 0;
}

int weft_uprobe_files_add(struct weft_uprobe_files *list, struct weft_uprobe_file *file)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i] == file)
			return 0;
	if (weft_uprobe_grow(&list->at, &list->cap, list->n, sizeof(struct weft_uprobe_file *)))
		return -ENOMEM;
	list->at[list->n++] = file;
	return 0;
}

struct weft_uprobe_file *weft_uprobe_file_take(struct weft_instance *in, int fd, const char *path,
					       const char *root, bool *known, struct weft_error *err)
{
	struct weft_uprobe_file *f;
	struct stat st;

	if (known)
		*known = false;
	if (fstat(fd, &st)) {
		in->host->fail(err, -errno, "UPROBE_NO_FILE", "%s cannot be looked at: %s", path,
			       strerror(errno));
		close(fd);
		return NULL;
	}
	if (!S_ISREG(st.st_mode)) {
		in->host->fail(err, -EINVAL, "UPROBE_NO_FILE", "%s is no regular file", path);
		close(fd);
		return NULL;
	}
	for (f = in->files; f; f = f->next) {
		if (f->dev == st.st_dev && f->ino == st.st_ino) {
			close(fd);
			if (known)
				*known = true;
			return f;
		}
	}
	f = calloc(1, sizeof(*f));
	if (!f)
		goto nomem;
	*f = (struct weft_uprobe_file){.dev = st.st_dev, .ino = st.st_ino, .fd = fd};
	f->path = strdup(path);
	f->root = root ? strdup(root) : NULL;
	if (!f->path || (root && !f->root))
		goto nomem;
	f->next = in->files;
	in->files = f;
	return f;
nomem:
	if (f) {
		free(f->path);
		free(f->root);
	}
	free(f);
	close(fd);
	in->host->fail(err, -ENOMEM, "NO_MEMORY", "out of memory");
	return NULL;
}

static bool is_go(const struct weft_elf *elf)
{
	static const char *const sections[] = {".go.buildinfo", ".gopclntab",
					       ".data.rel.ro.gopclntab", ".note.go.buildid"};

	for (uint32_t i = 0; i < elf->n_sections; i++) {
		const char *name = weft_elf_section_at(elf, i)->name;

		for (size_t k = 0; k < sizeof(sections) / sizeof(sections[0]); k++)
			if (!strcmp(name, sections[k]))
				return true;
	}
	return false;
}

static int compare_names(const void *a, const void *b)
{
	const struct weft_uprobe_name *x = a, *y = b;
	int c = strcmp(x->text, y->text);

	return c ? c : x->symbol < y->symbol ? -1 : x->symbol > y->symbol;
}

static bool is_function(const struct weft_elf_symbol *s)
{
	return s->offset != WEFT_ELF_NO_OFFSET && *s->name &&
	       (s->type == STT_FUNC || s->type == STT_GNU_IFUNC || s->type == STT_NOTYPE);
}

static int index_names(struct weft_uprobe_file *f)
{
	uint32_t n = f->elf->n_symbols;

	f->names = calloc(n ? 3 * (size_t)n : 1, sizeof(*f->names));
	if (!f->names)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct weft_elf_symbol *s = weft_elf_symbol_at(f->elf, i);
		const char *const texts[] = {s->name, s->plain, s->demangled};

		if (!is_function(s))
			continue;
		for (int k = 0; k < 3; k++) {
			bool twice = !texts[k] || !*texts[k];

			for (int j = 0; j < k && !twice; j++)
				twice = texts[j] && !strcmp(texts[j], texts[k]);
			if (!twice)
				f->names[f->n_names++] =
					(struct weft_uprobe_name){.text = texts[k], .symbol = i};
		}
	}
	qsort(f->names, f->n_names, sizeof(*f->names), compare_names);
	return 0;
}

/* A name in PATH may be that of a script, and what people mean is the program that runs it. */
static int check_script(struct weft_instance *in, const struct weft_uprobe_file *f,
			struct weft_error *err)
{
	char head[128];
	ssize_t n = pread(f->fd, head, sizeof(head) - 1, 0);
	size_t from = 2;

	if (n < 3 || head[0] != '#' || head[1] != '!')
		return 0;
	head[n] = '\0';
	from += strspn(head + from, " \t");
	head[from + strcspn(head + from, "\n")] = '\0';
	return in->host->fail(err, -ENOEXEC, "UPROBE_SCRIPT",
			      "%s is a script, which '%s' runs: name the program that is meant by its "
			      "path",
			      f->path, head + from);
}

int weft_uprobe_file_read(struct weft_instance *in, struct weft_uprobe_file *f,
			  struct weft_error *err)
{
	const struct weft_host *host = in->host;
	const struct weft_elf_request request = {
		.struct_size = sizeof(request),
		.fd = f->fd,
		.want = WEFT_ELF_WANT_FUNCTIONS | WEFT_ELF_WANT_DEMANGLED | WEFT_ELF_WANT_DEBUG,
		.path = f->path,
		.root = f->root,
	};
	const struct weft_elf *elf;
	int ret;

	if (f->elf)
		return 0;
	ret = check_script(in, f, err);
	if (ret)
		return ret;
	ret = host->elf_read(host, &request, &elf, err);
	if (ret)
		return ret;
	if (elf->machine != weft_uprobe_arch.machine || !elf->wide || elf->big) {
		host->elf_release(host, elf);
		return host->fail(err, -ENOEXEC, "UPROBE_MACHINE",
				  "%s is for another machine than this, or of 32 bits: its calls "
				  "cannot be read",
				  f->path);
	}
	f->elf = elf;
	f->go = is_go(elf);
	if (index_names(f)) {
		f->elf = NULL;
		host->elf_release(host, elf);
		return host->fail(err, -ENOMEM, "NO_MEMORY", "out of memory");
	}
	return 0;
}

size_t weft_uprobe_file_code(const struct weft_uprobe_file *f, uint64_t address, void *buf, size_t n)
{
	for (uint32_t i = 0; i < f->elf->n_segments; i++) {
		const struct weft_elf_segment *s = weft_elf_segment_at(f->elf, i);

		if (!(s->flags & PF_X) || address < s->address ||
		    address - s->address >= s->file_size)
			continue;
		uint64_t in = address - s->address, left = s->file_size - in;
		size_t got = 0, want = n < left ? n : (size_t)left;
		while (got < want) {
			ssize_t r = pread(f->fd, (char *)buf + got, want - got,
					  (off_t)(s->offset + in + got));
			if (r < 0 && errno == EINTR)
				continue;
			if (r <= 0)
				break;
			got += (size_t)r;
		}
		return got;
	}
	return 0;
}

void weft_uprobe_file_destroy(struct weft_instance *in, struct weft_uprobe_file *f)
{
	if (!f)
		return;
	if (f->elf)
		in->host->elf_release(in->host, f->elf);
	free(f->names);
	free(f->types);
	free(f->landings);
	free(f->path);
	free(f->root);
	close(f->fd);
	free(f);
}
