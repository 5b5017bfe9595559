/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files and their images.
 *
 * A weft_file is what the kernel said of a mapping: device, inode, path, build ID where it gave
 * one. It is made when a mapping is seen and costs no look at the file. An image is what was read
 * of a file, and is made when the first address in it is to be named. They are two things because
 * several weft_files can lead to one image (a path in two mount namespaces), and one weft_file can
 * stand for two images in turn (an inode number used again): an image is held against each mapping
 * before it is used for it.
 *
 * An image keeps nothing of its file open, unless lines of source code are wanted: what it names
 * after the file was changed or deleted is what the file was when the process mapped it. Memory is
 * bounded over all images by SYMBOLS_MOST, so that strangers' files cannot fill it.
 */
#include "core/symbols/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/symbols/maps.h"
#include "core/symbols/open.h"

#define FILES_MOST    65536u
#define SYMBOLS_MOST  (4u << 20) /* 48 MiB, and names */
#define PER_FILE_MOST (2u << 20)
#define ATTEMPTS_MOST 64u
#define VDSO_MOST     (1u << 20)

#define LINES_FILES_MOST 256u /* files whose lines can be read, since they are kept open */

void weft_files_init(struct weft_files *f, struct weft_texts *strings)
{
	*f = (struct weft_files){.strings = strings};
}

void weft_files_finish(struct weft_files *f)
{
	for (size_t i = 0; i < f->map.cap; i++) {
		struct weft_file *file = f->map.slots[i].value;

		while (file) {
			struct weft_file *next = file->next;

			free(file);
			file = next;
		}
	}
	weft_u64map_finish(&f->map);
	while (f->images) {
		struct weft_image *image = f->images;

		f->images = image->next;
		weft_symtab_finish(&image->elf);
		weft_u64map_finish(&image->names);
		weft_lines_destroy(image->lines);
		free(image);
	}
	weft_error_destroy(f->why);
	if (f->own_reader)
		weft_elf_reader_destroy(f->reader);
}

bool weft_file_may_be_made(const struct weft_file *file)
{
	if (file->is_file)
		return strncmp(file->id.path, "/memfd:", 7) == 0;
	return !file->module; /* [vdso] and [vsyscall] have one */
}

/* ---- identities ---- */

static uint64_t id_key(const struct weft_file_id *id)
{
	uint64_t h = weft_hash_bytes(id->path, id->path_length);

	h = h * 31 + id->inode;
	h = h * 31 + ((uint64_t)id->major << 32 | id->minor);
	return h * 31 + weft_hash_bytes(id->build_id, id->build_id_size);
}

static bool id_equal(const struct weft_file_id *a, const struct weft_file_id *b)
{
	return a->inode == b->inode && a->major == b->major && a->minor == b->minor &&
	       a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0 &&
	       a->path_length == b->path_length && memcmp(a->path, b->path, a->path_length) == 0;
}

/* Anonymous memory that is backed by a file nobody can name. */
static bool is_anonymous(const char *path)
{
	return strncmp(path, "/dev/zero", 9) == 0 || strncmp(path, "/SYSV", 5) == 0 ||
	       strncmp(path, "//", 2) == 0;
}

static int name_file(struct weft_files *f, struct weft_file *file)
{
	const char *path = file->id.path;
	char *name;

	file->is_vdso = strcmp(path, "[vdso]") == 0;
	file->is_file = path[0] == '/' && !is_anonymous(path);
	if (!file->is_file) {
		if (file->is_vdso || strcmp(path, "[vsyscall]") == 0)
			file->module = path;
		return 0;
	}
	name = malloc(file->id.path_length + 1);
	if (!name)
		return -ENOMEM;
	file->module = weft_texts_intern(f->strings, name,
					 weft_maps_name(path, name, file->id.path_length + 1));
	free(name);
	return file->module ? 0 : -ENOMEM;
}

struct weft_file *weft_files_get(struct weft_files *f, const struct weft_file_id *id)
{
	uint64_t key = id_key(id);
	struct weft_file *first = weft_u64map_get(&f->map, key), *file;

	for (file = first; file; file = file->next)
		if (id_equal(&file->id, id))
			return file;
	if (f->n >= FILES_MOST) {
		f->files_refused++;
		return NULL;
	}
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->id = *id;
	file->id.path = weft_texts_intern(f->strings, id->path, id->path_length);
	if (!file->id.path)
		goto fail;
	file->id.path_length = strlen(file->id.path);
	if (name_file(f, file))
		goto fail;
	if (first) { /* behind the first, which the map points to */
		file->next = first->next;
		first->next = file;
	} else if (weft_u64map_put(&f->map, key, file)) {
		goto fail;
	}
	f->n++;
	return file;
fail:
	free(file);
	return NULL;
}

/* ---- images ---- */

static struct weft_elf_reader *reader_of(struct weft_files *f)
{
	if (!f->reader) {
		f->reader = weft_elf_reader_create(NULL);
		f->own_reader = f->reader;
	}
	return f->reader;
}

static struct weft_image *add_image(struct weft_files *f, int fd, uint64_t size, const char *path,
				    const char *root)
{
	struct weft_image *image = calloc(1, sizeof(*image));
	size_t room = SYMBOLS_MOST - f->symbols;
	struct weft_error *err;

	if (!image || !reader_of(f)) {
		free(image);
		return NULL;
	}
	err = weft_error_create();
	image->size = size;
	image->readable =
		!weft_symtab_load(f->reader, fd, path, root,
				  room < PER_FILE_MOST ? room : PER_FILE_MOST, &image->elf, err);
	if (!image->readable) {
		f->unreadable++;
		if (!f->why) {
			f->why = err;
			err = NULL;
		}
	}
	weft_error_destroy(err);
	f->symbols += image->elf.n_symbols;
	image->next = f->images;
	f->images = image;
	return image;
}

static bool image_is(const struct weft_image *image, const struct stat *st)
{
	return image->inode && image->device == st->st_dev && image->inode == st->st_ino &&
	       image->size == (uint64_t)st->st_size &&
	       image->modified_ns == weft_stat_ns(&st->st_mtim);
}

static void keep_lines(struct weft_files *f, struct weft_image *image, int fd,
		       const struct stat *st, const char *path, const char *root)
{
	if (!f->want_lines || !image->readable || f->n_lines >= LINES_FILES_MOST)
		return;
	image->lines = weft_lines_create(fd, st, path, root);
	f->n_lines += image->lines != NULL;
}

/* The image of an open file; takes the descriptor. */
static struct weft_image *image_of(struct weft_files *f, int fd, const struct stat *st,
				   const struct weft_file *file, int32_t tgid)
{
	struct weft_image *image = f->images;
	char root[64];

	while (image && !image_is(image, st))
		image = image->next;
	if (!image) {
		snprintf(root, sizeof(root), "/proc/%d/root", tgid);
		image = add_image(f, fd, (uint64_t)st->st_size, file->module, root);
		if (image) {
			image->device = st->st_dev;
			image->inode = st->st_ino;
			image->modified_ns = weft_stat_ns(&st->st_mtim);
			keep_lines(f, image, fd, st, file->module, root);
		}
	}
	close(fd);
	if (image)
		image->changed_ns = weft_stat_ns(&st->st_ctim);
	return image;
}

struct own_vdso {
	uint64_t address, size;
};

static int take_vdso(const struct weft_maps_entry *e, void *arg)
{
	struct own_vdso *own = arg;

	if (e->start != own->address)
		return 0;
	own->size = e->end - e->start;
	return 1;
}

/* Our own vdso as a file: it is read like others. */
static int vdso_file(const void *bytes, size_t size)
{
	int fd = memfd_create("weft:vdso", MFD_CLOEXEC);

	if (fd >= 0 && pwrite(fd, bytes, size, 0) != (ssize_t)size) {
		close(fd);
		return -1;
	}
	return fd;
}

/* What the kernel maps into every process of our kind is mapped into us too. */
static struct weft_image *vdso_image(struct weft_files *f, struct weft_file *file,
				     const struct weft_reach *reach)
{
	struct own_vdso vdso = {.address = getauxval(AT_SYSINFO_EHDR)};
	uint64_t size = reach->end - reach->start;
	int fd;

	if (!vdso.address || size > VDSO_MOST)
		return NULL;
	if (!file->image) {
		weft_maps_read("/proc/self/maps", true, take_vdso, &vdso);
		if (vdso.size != size) /* another kind of process: 32-bit */
			return NULL;
		/* NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel hands it over as a number */
		fd = vdso_file((const void *)(uintptr_t)vdso.address, size);
		if (fd < 0)
			return NULL;
		file->image = add_image(f, fd, size, "[vdso]", NULL);
		close(fd);
	}
	return file->image && file->image->size == size ? file->image : NULL;
}

/* Whether the image, which was once found for this file, is what this mapping maps. */
static bool good_for(const struct weft_file *file, const struct weft_image *image,
		     const struct weft_reach *reach)
{
	const struct weft_symtab *elf = &image->elf;

	if (file->id.build_id_size)
		return !image->readable ||
		       (elf->build_id_size == file->id.build_id_size &&
			memcmp(elf->build_id, file->id.build_id, elf->build_id_size) == 0);
	return weft_unchanged_since(image->modified_ns, image->changed_ns, file->by_map,
				    reach->seen_ns);
}

static struct weft_image *find_image(struct weft_files *f, struct weft_file *file,
				     const struct weft_reach *reach)
{
	struct weft_image *image;
	struct stat st;
	bool by_map;
	int fd;

	/* What one process could not lead to, another that maps the file perhaps can. */
	if (file->attempts >= ATTEMPTS_MOST || (file->attempts && file->refused_tgid == reach->tgid))
		return NULL;
	file->attempts++;
	file->refused_tgid = reach->tgid;
	fd = weft_open_mapped(file, reach, &st, &by_map);
	if (fd < 0)
		return NULL;
	image = image_of(f, fd, &st, file, reach->tgid);
	if (!image)
		return NULL;
	file->by_map = by_map;
	if (!good_for(file, image, reach))
		return NULL;
	file->image = image;
	return image;
}

struct weft_image *weft_files_image(struct weft_files *f, struct weft_file *file,
				    const struct weft_reach *reach)
{
	struct weft_image *image = file->image;

	if (file->is_vdso)
		image = vdso_image(f, file, reach);
	else if (!file->is_file)
		return NULL;
	else if (!image || !good_for(file, image, reach))
		image = find_image(f, file, reach);
	return image && image->readable ? image : NULL;
}

const char *weft_files_symbol(struct weft_files *f, struct weft_image *image, uint64_t address,
			      uint64_t *start)
{
	const char *name;
	size_t index;

	if (weft_symtab_find(&image->elf, address, &index))
		return NULL;
	*start = image->elf.base + image->elf.symbols[index].start;
	name = weft_u64map_get(&image->names, index + 1);
	if (name)
		return name;
	name = weft_symtab_name(&image->elf, index);
	name = weft_texts_intern(f->strings, name, strlen(name));
	if (name)
		weft_u64map_put(&image->names, index + 1, (void *)name); /* else asked again */
	return name;
}

bool weft_files_line(struct weft_files *f, struct weft_image *image, uint64_t address,
		     const char **file, uint32_t *line)
{
	return image->lines && weft_lines_find(image->lines, f->reader, address, file, line);
}
