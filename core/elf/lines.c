/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Lines of source code: what the worker found, in one piece of memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/elf/check.h"
#include "core/elf/internal.h"

struct attempt {
	struct weft_elf_reader *r;
	struct weft_elf_lines_job *job;
	struct weft_elf_lines *found; /* in the end */
};

/* Numbers first, which are aligned, then pointers, then texts. */
static struct weft_elf_lines *copy(const struct weft_elf_lines_result *r)
{
	size_t lines = r->n * sizeof(*r->lines), texts = 0;
	struct weft_elf_lines *out;
	struct weft_elf_line *at;
	const char **files;
	char *text;

	for (uint32_t i = 0; i < r->n_files; i++)
		texts += strlen(r->files[i].path) + 1;
	out = malloc(sizeof(*out) + lines + r->n_files * sizeof(*files) + texts);
	if (!out)
		return NULL;
	at = (struct weft_elf_line *)(out + 1);
	files = (const char **)(at + r->n);
	text = (char *)(files + r->n_files);
	if (r->n)
		memcpy(at, r->lines, lines);
	for (uint32_t i = 0; i < r->n_files; i++) {
		size_t n = strlen(r->files[i].path) + 1;

		files[i] = memcpy(text, r->files[i].path, n);
		text += n;
	}
	*out = (struct weft_elf_lines){.n = r->n, .n_files = r->n_files, .at = at, .files = files};
	return out;
}

static int run(struct attempt *a, const char *path, struct weft_error *err)
{
	struct weft_elf_lines_result *result;
	struct weft_region region;
	int ret = weft_region_init(&region, (size_t)a->r->limits.result);

	if (ret)
		return weft_fail(err, ret, "ELF_WORKER_START", "%s: no memory for what it says: %s",
				 path, strerror(-ret));
	ret = weft_jail_run(weft_elf_work_lines, a->job, &region, a->r->limits.time_ns,
			    a->r->limits.memory, path, err);
	if (!ret)
		ret = weft_elf_check_lines(&region, path, &result, err);
	if (!ret) {
		a->found = copy(result);
		if (!a->found)
			ret = weft_nomem(err);
	}
	weft_region_finish(&region);
	return ret;
}

static int try_debug_file(void *arg, const char *path)
{
	return run(arg, path, NULL);
}

static bool has_lines(const struct weft_elf *elf)
{
	for (uint32_t i = 0; i < elf->n_sections; i++) {
		const struct weft_elf_section *s = weft_elf_section_at(elf, i);

		if (s->type != SHT_NOBITS &&
		    (!strcmp(s->name, ".debug_line") || !strcmp(s->name, ".zdebug_line")))
			return true;
	}
	return false;
}

int weft_elf_lines(struct weft_elf_reader *r, const struct weft_elf_request *given,
		   uint64_t address, struct weft_elf_lines **out, struct weft_error *err)
{
	struct weft_elf_lines_job job = {.address = address};
	struct attempt a = {.r = r, .job = &job};
	struct weft_elf_request request;
	struct weft_elf_mapped self;
	struct weft_elf_entry *e;
	const struct weft_elf *elf;
	const char *path;
	int ret = weft_elf_take_request(given, &request, err);

	*out = NULL;
	if (ret)
		return ret;
	path = request.path ? request.path : "this file";
	ret = weft_elf_read(r, &request, &elf, err);
	if (ret)
		return ret;
	e = weft_elf_entry_of(r, elf);
	ret = weft_elf_map(request.fd, r->limits.file, path, &self, err);
	if (!ret && !weft_elf_same_file(&self.st, &e->st))
		ret = weft_fail(err, -ESTALE, "ELF_FILE_CHANGED",
				"%s: is not the file any more that was read", path);
	if (!ret) {
		job.file.image = self.bytes;
		job.file.size = self.size;
		if (has_lines(elf))
			ret = run(&a, path, err);
		else
			ret = weft_elf_with_debug_file(r, e, &request, &self, &job.file,
						       try_debug_file, &a);
	}
	weft_elf_unmap(&self);
	weft_elf_release(r, elf);
	*out = a.found;
	return ret;
}
