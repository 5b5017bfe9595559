/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the core itself asks of the kernel's type information: ids of functions and offsets of
 * members. The walk over the types ends when every struct that a path begins with has been met and
 * searched; from there paths are followed by type id: into the member that the next part of the
 * path names, and into nameless structs and unions on the way.
 *
 * A struct of that name which lacks the member is passed over, for there can be others.
 */
#include "core/kernel/btf_find.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/btf_objects.h"

struct path {
	struct weft_btf_member *member;
	char *text;         /* its parts, each with its NUL */
	const char **parts; /* the struct's name, then members' */
	size_t n;
};

struct member_search {
	const struct weft_btf *btf;
	struct weft_error *err;
	struct path *paths;
	size_t n;
};

/* Follows the parts of a path behind the struct's name. What is no struct has no members. */
static int follow(struct member_search *s, const struct path *p, const struct weft_btf_type *t)
{
	struct weft_btf_type at = *t;
	struct weft_btf_member_at m;
	uint64_t bits = 0;
	int ret;

	for (size_t part = 1; part < p->n; part++) {
		ret = weft_btf_find_member(s->btf, &at, p->parts[part], &m);
		if (ret <= 0)
			return ret ? weft_btf_malformed(s->err, "its structs nest too deep") : 0;
		bits += m.bit;
		if (part + 1 < p->n && !weft_btf_strip(s->btf, m.type, &at, NULL))
			return weft_btf_malformed(s->err, "its types go round in circles");
	}
	if (!m.bits && bits % 8 == 0 && bits / 8 <= INT32_MAX) {
		p->member->offset = (uint32_t)(bits / 8);
		p->member->found = true;
	}
	return 0;
}

static int meet_struct(const struct weft_btf_type *t, void *arg)
{
	struct member_search *s = arg;
	bool complete = true;
	int ret;

	for (size_t i = 0; i < s->n; i++) {
		const struct path *p = &s->paths[i];

		if (weft_btf_is_struct(t) && !p->member->found && !strcmp(t->name, p->parts[0])) {
			ret = follow(s, p, t);
			if (ret)
				return ret;
		}
		complete &= p->member->found;
	}
	return complete;
}

/* ---- paths ---- */

/* The number of names in a path; 0: it is none. */
static size_t count_parts(const char *path)
{
	size_t n = 1, length;

	for (;; path += length + 1, n++) {
		length = strcspn(path, ".");
		if (!length || n > WEFT_MEMBER_PARTS)
			return 0;
		if (!path[length])
			return n > 1 ? n : 0;
	}
}

static bool split(struct path *p)
{
	char *at = p->text = strdup(p->member->path);

	p->parts = calloc(p->n, sizeof(*p->parts));
	for (size_t i = 0; at && p->parts && i < p->n; i++) {
		size_t length = strcspn(at, ".");

		at[length] = '\0';
		p->parts[i] = at;
		at += length + 1;
	}
	return p->text && p->parts;
}

int weft_btf_members(const struct weft_btf *btf, struct weft_btf_member *members, size_t n,
		     struct weft_error *err)
{
	struct member_search s = {.btf = btf, .err = err};
	int ret = 0;
	size_t i;

	s.paths = calloc(n + 1, sizeof(*s.paths));
	if (!s.paths)
		return weft_nomem(err);
	for (i = 0; !ret && i < n; i++) {
		struct path *p = &s.paths[s.n];

		members[i].found = false;
		p->member = &members[i];
		p->n = count_parts(members[i].path);
		if (!p->n)
			continue;
		s.n++;
		if (!split(p))
			ret = weft_nomem(err);
	}
	if (!ret && s.n)
		ret = weft_btf_each(btf, meet_struct, &s);
	for (i = 0; i < s.n; i++) {
		free(s.paths[i].text);
		free((void *)s.paths[i].parts);
	}
	free(s.paths);
	return ret < 0 ? ret : 0;
}

/* ---- the kernel's own ---- */

static int open_vmlinux(struct weft_btf **out, struct weft_error *err)
{
	return weft_btf_open(WEFT_BTF_VMLINUX, NULL, out, err);
}

int weft_btf_find_func(const char *name, uint32_t *id, struct weft_error *err)
{
	struct weft_btf *btf;
	int ret = open_vmlinux(&btf, err);

	if (ret)
		return ret;
	if (!weft_btf_find(btf, name, WEFT_BTF_KINDS(BTF_KIND_FUNC), id, NULL))
		ret = weft_fail(err, -ENOENT, "BTF_NOT_FOUND",
				"the kernel's type information has no function %s", name);
	weft_btf_destroy(btf);
	return ret;
}

int weft_btf_find_members(struct weft_btf_member *members, size_t n, struct weft_error *err)
{
	struct weft_btf *btf;
	int ret = open_vmlinux(&btf, err);

	if (ret)
		return ret;
	ret = weft_btf_members(btf, members, n, err);
	weft_btf_destroy(btf);
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
