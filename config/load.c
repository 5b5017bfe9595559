/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* From a file or from memory to a set. */
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/schema.h"
#include "core/lang/lang.h"

/* ---- the set ---- */

/* Clauses are counted in the order in which they can run, not in that of their keys. */
static void number_clauses(struct weft_set *set)
{
	uint32_t index = 0;

	for (size_t i = 0; i < set->n_begin; i++)
		set->begin[i].index = index++;
	for (size_t i = 0; i < set->n_clauses; i++)
		set->clauses[i].index = index++;
	for (size_t i = 0; i < set->n_end; i++)
		set->end[i].index = index++;
}

/* A set of another version is told so, and nothing else: most of what it has would be an error. */
static bool is_other_version(struct weft_reader *r, const struct weft_tree_node *root)
{
	unsigned int errors = r->n_errors;

	if (root->kind != WEFT_TREE_MAP)
		return false;
	for (const struct weft_tree_node *v = root->first; v; v = v->next) {
		struct weft_tree_words words;
		const char *s = v->text.s;

		if (strcmp(v->key->text.s, "version") != 0 || v->kind != WEFT_TREE_SCALAR ||
		    v->quoted || !*s || strspn(s, "0123456789") != strlen(s))
			continue;
		if (strtoull(s, NULL, 10) == WEFT_CONFIG_VERSION)
			continue;
		weft_reader_fail(r, v->pos, "CONFIG_VERSION",
				 "the probe set is of version %s; this weft reads version %d",
				 weft_tree_describe(v, &words), WEFT_CONFIG_VERSION);
	}
	return r->n_errors > errors;
}

static int read_set(struct weft_set *set, struct weft_source *source, struct weft_error *err)
{
	struct weft_reader r = {.arena = set->arena, .source = source, .err = err};
	struct weft_tree_node *root = weft_tree_parse(&r);

	if (root && !is_other_version(&r, root)) {
		weft_read_defaults(&r, &weft_level_top, set);
		weft_read_level(&r, &weft_level_top, root, set);
		number_clauses(set);
	}
	if (r.stop == -ENOMEM)
		return -ENOMEM;
	if (r.n_errors > 0 || !root)
		return -EINVAL;
	return weft_lang_check_views(set, err);
}

static struct weft_set *set_create(const char *name)
{
	struct weft_arena *arena = weft_arena_create();
	struct weft_set *set = arena ? weft_arena_alloc(arena, sizeof(*set)) : NULL;

	if (!set) {
		weft_arena_destroy(arena);
		return NULL;
	}
	set->arena = arena;
	set->file = weft_arena_strdup(arena, name);
	if (!set->file) {
		weft_set_destroy(set);
		return NULL;
	}
	return set;
}

int weft_config_load_memory(const char *name, const char *data, size_t size, struct weft_set **out,
			    struct weft_error *err)
{
	struct weft_source source;
	struct weft_set *set;
	int rc;

	*out = NULL;
	set = set_create(name);
	if (!set)
		return weft_nomem(err);
	rc = weft_source_init(&source, data, size, err);
	if (rc == 0) {
		rc = read_set(set, &source, err);
		weft_source_finish(&source);
	}
	weft_error_set_file(err, name);
	if (rc) {
		weft_set_destroy(set);
		return rc;
	}
	*out = set;
	return 0;
}

/* ---- files ---- */

static int fail_open(struct weft_error *err, const char *path, int code, const char *why)
{
	weft_fail(err, code, "CONFIG_OPEN", "cannot read the probe set %s: %s", path, why);
	weft_error_set_file(err, path);
	return code;
}

static const char *kind_of(mode_t mode)
{
	if (S_ISDIR(mode))
		return "it is a directory";
	if (S_ISFIFO(mode))
		return "it is a FIFO";
	if (S_ISSOCK(mode))
		return "it is a socket";
	return "it is a device";
}

/* Opens without waiting for a FIFO's writer, and takes nothing but regular files. */
static int open_file(const char *path, struct weft_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int rc;

	if (fd < 0) {
		rc = -errno;
		return fail_open(err, path, rc, strerror(-rc));
	}
	if (fstat(fd, &st) < 0) {
		rc = -errno;
		fail_open(err, path, rc, strerror(-rc));
	} else if (!S_ISREG(st.st_mode)) {
		rc = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
		fail_open(err, path, rc, kind_of(st.st_mode));
	} else {
		return fd;
	}
	close(fd);
	return rc;
}

/* Reads up to one byte more than is allowed, so that a file that is too large shows. */
static int read_all(int fd, char *buf, size_t most, size_t *size)
{
	*size = 0;
	while (*size < most) {
		ssize_t n = read(fd, buf + *size, most - *size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		*size += (size_t)n;
	}
	return 0;
}

/* The buffer for a file: its size as it is now, and room to see that it grew. */
static size_t buffer_size(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && st.st_size >= 0 && st.st_size < (off_t)WEFT_CONFIG_MAX_SIZE)
		return (size_t)st.st_size + 1;
	return WEFT_CONFIG_MAX_SIZE + 1;
}

int weft_config_load_file(const char *path, struct weft_set **out, struct weft_error *err)
{
	size_t most, size;
	char *data;
	int fd, rc;

	*out = NULL;
	fd = open_file(path, err);
	if (fd < 0)
		return fd;
	most = buffer_size(fd);
	data = malloc(most);
	if (!data) {
		rc = weft_nomem(err);
		goto out;
	}
	rc = read_all(fd, data, most, &size);
	if (rc)
		fail_open(err, path, rc, strerror(-rc));
	else
		rc = weft_config_load_memory(path, data, size, out, err);
	free(data);
out:
	close(fd);
	return rc;
}
