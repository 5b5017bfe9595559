/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * BTF without loading it. The file is a header, a section of types and a section of strings; types
 * have no index, their ids are their order. A question is answered by two sweeps through one window
 * of 64 KiB: one over the strings, to learn at which offsets the wanted names lie, one over the
 * types. That takes no memory to speak of, where loading the whole takes 13 MB.
 *
 * A type that refers to another is followed by id. The sweep leaves a mark at every so many types,
 * a thousand at most (when they run out every second one is dropped), and from the mark before it
 * the type is a few hundred steps away; one that the sweep has not come to yet is reached by going
 * on from the last mark.
 *
 * Strings of BTF are deduplicated by everything that makes it, so the sweep of strings first stops
 * as soon as it has each name once. Only when that leads to nothing it is made again to the end,
 * taking further places of the same text into account.
 *
 * The file may be hostile (a path other than the kernel's) or cut short: every place is checked
 * against its section before it is read, and a type of unknown kind ends the scan, because its size
 * is unknown too.
 */
#include "core/kernel/btf_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/kernel/btf_window.h"

int weft_btf_malformed(struct weft_error *err, const char *what)
{
	return weft_fail(err, -EBADMSG, "BTF_MALFORMED", "the type information is malformed: %s",
			 what);
}

/* ---- opening ---- */

int weft_btf_scan_fd(int fd, struct weft_btf_scan **out, struct weft_error *err)
{
	struct weft_btf_scan *scan = calloc(1, sizeof(*scan));
	const struct btf_header *h;
	uint64_t size;
	struct stat st;

	if (!scan)
		return weft_nomem(err);
	scan->fd = fd;
	scan->stride = 64;
	scan->window = malloc(WEFT_BTF_WINDOW);
	if (!scan->window) {
		free(scan);
		return weft_nomem(err);
	}
	if (fstat(fd, &st) || st.st_size < (off_t)sizeof(*h)) {
		weft_btf_scan_close(scan);
		return weft_btf_malformed(err, "it is shorter than its header");
	}
	size = (uint64_t)st.st_size;
	h = weft_btf_take(scan, 0, sizeof(*h));
	if (!h || h->magic != BTF_MAGIC || h->version != BTF_VERSION || h->hdr_len < sizeof(*h)) {
		weft_btf_scan_close(scan);
		return weft_btf_malformed(err,
					  "its header is not of this kind, version and byte order");
	}
	scan->types = (uint64_t)h->hdr_len + h->type_off;
	scan->types_end = scan->types + h->type_len;
	scan->strings = (uint64_t)h->hdr_len + h->str_off;
	scan->strings_end = scan->strings + h->str_len;
	if (scan->types_end > size || scan->strings_end > size || scan->types % 4) {
		weft_btf_scan_close(scan);
		return weft_btf_malformed(err, "a section reaches beyond its end or is out of line");
	}
	*out = scan;
	return 0;
}

int weft_btf_scan_open(const char *path, struct weft_btf_scan **out, struct weft_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;

	*out = NULL;
	if (fd < 0)
		return weft_fail(err, -errno, "BTF_UNAVAILABLE",
				 "the kernel's type information, %s, cannot be opened: %s", path,
				 strerror(errno));
	ret = weft_btf_scan_fd(fd, out, err);
	if (*out)
		(*out)->owns_fd = true;
	else
		close(fd);
	return ret;
}

void weft_btf_scan_close(struct weft_btf_scan *scan)
{
	if (!scan)
		return;
	if (scan->owns_fd)
		close(scan->fd);
	free(scan->window);
	free(scan);
}

const void *weft_btf_take(struct weft_btf_scan *scan, uint64_t at, size_t size)
{
	if (at < scan->window_at || at + size > scan->window_at + scan->window_size) {
		scan->window_at = at & ~UINT64_C(3);
		scan->window_size = 0;
		while (scan->window_size < WEFT_BTF_WINDOW) {
			ssize_t n = pread(scan->fd, scan->window + scan->window_size,
					  WEFT_BTF_WINDOW - scan->window_size,
					  (off_t)(scan->window_at + scan->window_size));

			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0)
				break;
			scan->window_size += (size_t)n;
		}
		if (scan->window_at + scan->window_size < at + size)
			return NULL;
	}
	return scan->window + (at - scan->window_at);
}

/* ---- names ---- */

static bool meet_string(struct weft_btf_name *names, size_t n, const char *s, size_t size,
			uint32_t at, bool all)
{
	bool complete = !all;
	size_t i;

	for (i = 0; i < n; i++) {
		if (names[i].size == size && names[i].n < WEFT_BTF_PLACES &&
		    !memcmp(names[i].text, s, size))
			names[i].at[names[i].n++] = at;
		if (!names[i].n)
			complete = false;
	}
	return complete;
}

int weft_btf_find_names(struct weft_btf_scan *scan, struct weft_btf_name *names, size_t n, bool all,
			struct weft_error *err)
{
	uint64_t at = scan->strings, sizes = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		names[i].n = 0;
		names[i].size = strlen(names[i].text);
		sizes |= UINT64_C(1) << (names[i].size < 63 ? names[i].size : 63);
	}
	while (at < scan->strings_end) {
		const char *s = weft_btf_take(scan, at, 1), *nul;
		size_t room, size;

		if (!s)
			return weft_btf_malformed(err, "it ends within its strings");
		room = (size_t)(scan->window_at + scan->window_size - at);
		if (room > scan->strings_end - at)
			room = (size_t)(scan->strings_end - at);
		nul = memchr(s, '\0', room);
		if (!nul) {
			/* Cut by the window: look again with the window at its beginning. One that
			 * fills a window is longer than any name; step over that part of it. */
			if (at - scan->window_at >= 4 && at + room < scan->strings_end)
				scan->window_size = 0;
			else if (scan->window_size == WEFT_BTF_WINDOW ||
				 at + room >= scan->strings_end)
				at += room;
			else
				return weft_btf_malformed(err, "it ends within its strings");
			continue;
		}
		size = (size_t)(nul - s);
		if (sizes >> (size < 63 ? size : 63) & 1 &&
		    meet_string(names, n, s, size, (uint32_t)(at - scan->strings), all))
			return 0;
		at += size + 1;
	}
	return 0;
}

bool weft_btf_is_name(const struct weft_btf_name *name, uint32_t at)
{
	size_t i;

	for (i = 0; i < name->n; i++)
		if (name->at[i] == at)
			return true;
	return false;
}

/* ---- types ---- */

/* Bytes behind struct btf_type: a fixed number, or one for each of vlen. */
static const struct {
	uint8_t known, fixed, each;
} kinds[] = {
	[BTF_KIND_INT] = {1, 4, 0},        [BTF_KIND_PTR] = {1, 0, 0},
	[BTF_KIND_ARRAY] = {1, 12, 0},     [BTF_KIND_STRUCT] = {1, 0, 12},
	[BTF_KIND_UNION] = {1, 0, 12},     [BTF_KIND_ENUM] = {1, 0, 8},
	[BTF_KIND_FWD] = {1, 0, 0},        [BTF_KIND_TYPEDEF] = {1, 0, 0},
	[BTF_KIND_VOLATILE] = {1, 0, 0},   [BTF_KIND_CONST] = {1, 0, 0},
	[BTF_KIND_RESTRICT] = {1, 0, 0},   [BTF_KIND_FUNC] = {1, 0, 0},
	[BTF_KIND_FUNC_PROTO] = {1, 0, 8}, [BTF_KIND_VAR] = {1, 4, 0},
	[BTF_KIND_DATASEC] = {1, 0, 12},   [BTF_KIND_FLOAT] = {1, 0, 0},
	[BTF_KIND_DECL_TAG] = {1, 4, 0},   [BTF_KIND_TYPE_TAG] = {1, 0, 0},
	[BTF_KIND_ENUM64] = {1, 0, 12},
};

static void leave_mark(struct weft_btf_scan *scan, uint32_t id, uint64_t at)
{
	uint32_t i;

	if ((id - 1) % scan->stride || (id - 1) / scan->stride != scan->n_marks)
		return;
	if (scan->n_marks == WEFT_BTF_MARKS) {
		for (i = 0; i < WEFT_BTF_MARKS / 2; i++)
			scan->marks[i] = scan->marks[(size_t)2 * i];
		scan->n_marks = WEFT_BTF_MARKS / 2;
		scan->stride *= 2;
	}
	scan->marks[scan->n_marks++] = (uint32_t)(at - scan->types);
}

/* The type that begins at *at, of this id; *at moves to the next. */
static int take_type(struct weft_btf_scan *scan, uint64_t *at, uint32_t id, struct weft_btf_type *t,
		     struct weft_error *err)
{
	const struct btf_type *raw = NULL;
	uint64_t behind;

	if (scan->types_end - *at >= sizeof(*raw))
		raw = weft_btf_take(scan, *at, sizeof(*raw));
	if (!raw)
		return weft_btf_malformed(err, "it ends within a type");
	leave_mark(scan, id, *at);
	t->id = id;
	t->kind = BTF_INFO_KIND(raw->info);
	t->vlen = BTF_INFO_VLEN(raw->info);
	t->kind_flag = BTF_INFO_KFLAG(raw->info);
	t->name = raw->name_off;
	t->type = raw->type;
	t->body = *at + sizeof(*raw);
	if (t->kind >= sizeof(kinds) / sizeof(kinds[0]) || !kinds[t->kind].known)
		return weft_btf_malformed(err, "it has a type of unknown kind");
	behind = kinds[t->kind].fixed + (uint64_t)kinds[t->kind].each * t->vlen;
	if (behind > scan->types_end - t->body)
		return weft_btf_malformed(err, "it ends within a type");
	*at = t->body + behind;
	return 0;
}

int weft_btf_each_type(struct weft_btf_scan *scan, int (*fn)(const struct weft_btf_type *, void *),
		       void *arg, struct weft_error *err)
{
	struct weft_btf_type t = {.id = 0};
	uint64_t at = scan->types;
	int ret = 0;

	while (!ret && at < scan->types_end) {
		ret = take_type(scan, &at, t.id + 1, &t, err);
		if (!ret)
			ret = fn(&t, arg);
	}
	return ret;
}

int weft_btf_type_by_id(struct weft_btf_scan *scan, uint32_t id, struct weft_btf_type *out,
			struct weft_error *err)
{
	uint32_t mark = 0, i;
	uint64_t at = scan->types;
	int ret;

	if (id && scan->n_marks) {
		mark = (id - 1) / scan->stride;
		if (mark >= scan->n_marks)
			mark = scan->n_marks - 1;
		at += scan->marks[mark];
	}
	for (i = mark * scan->stride + 1; id && at < scan->types_end; i++) {
		ret = take_type(scan, &at, i, out, err);
		if (ret || i == id)
			return ret;
	}
	return weft_btf_malformed(err, "it refers to a type that it does not have");
}

/* ---- functions ---- */

struct func_search {
	struct weft_btf_name name;
	uint32_t id;
};

static int meet_func(const struct weft_btf_type *t, void *arg)
{
	struct func_search *f = arg;

	if (t->kind != BTF_KIND_FUNC || !weft_btf_is_name(&f->name, t->name))
		return 0;
	f->id = t->id;
	return 1;
}

int weft_btf_scan_func(struct weft_btf_scan *scan, const char *name, uint32_t *id,
		       struct weft_error *err)
{
	struct func_search f = {.name.text = name};
	int ret, all;

	for (all = 0; all < 2; all++) {
		ret = weft_btf_find_names(scan, &f.name, 1, all, err);
		if (!ret && f.name.n)
			ret = weft_btf_each_type(scan, meet_func, &f, err);
		if (ret < 0)
			return ret;
		if (ret > 0) {
			*id = f.id;
			return 0;
		}
		if (!f.name.n)
			break;
	}
	return weft_fail(err, -ENOENT, "BTF_NOT_FOUND",
			 "the kernel's type information has no function %s", name);
}

/* ---- the kernel's own ---- */

int weft_btf_find_func(const char *name, uint32_t *id, struct weft_error *err)
{
	struct weft_btf_scan *scan = NULL;
	int ret = weft_btf_scan_open(WEFT_BTF_VMLINUX, &scan, err);

	if (ret || !scan)
		return ret;
	ret = weft_btf_scan_func(scan, name, id, err);
	weft_btf_scan_close(scan);
	return ret;
}

int weft_btf_find_members(struct weft_btf_member *members, size_t n, struct weft_error *err)
{
	struct weft_btf_scan *scan = NULL;
	int ret = weft_btf_scan_open(WEFT_BTF_VMLINUX, &scan, err);

	if (ret || !scan)
		return ret;
	ret = weft_btf_scan_members(scan, members, n, err);
	weft_btf_scan_close(scan);
	return ret;
}

int weft_btf_resolve(struct weft_plan *plan, struct weft_error *err)
{
	struct weft_btf_member *found = calloc(plan->n_members + 1, sizeof(*found));
	size_t i, n = 0;
	int ret;

	if (!found)
		return weft_nomem(err);
	for (i = 0; i < plan->n_members; i++)
		if (plan->members[i].state == WEFT_MEMBER_WANTED)
			found[n++].path = plan->members[i].path;
	ret = n ? weft_btf_find_members(found, n, err) : 0;
	if (ret)
		weft_error_context(err, "while looking for %s", found[0].path);
	for (i = n = 0; !ret && i < plan->n_members; i++) {
		struct weft_kernel_member *m = &plan->members[i];

		if (m->state != WEFT_MEMBER_WANTED)
			continue;
		m->state = found[n].found ? WEFT_MEMBER_KNOWN : WEFT_MEMBER_ABSENT;
		m->offset = found[n++].offset;
	}
	free(found);
	return ret;
}
