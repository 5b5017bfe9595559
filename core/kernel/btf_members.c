/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Offsets of members. The sweep over the types ends when every struct that a path begins with has
 * been met and searched; from there paths are followed by type id: into the member that the next
 * part of the path names, and into nameless structs and unions on the way.
 *
 * A struct of that name which lacks the member is passed over, for there can be others. In hostile
 * BTF a struct can contain itself, so that there is a limit on how deep a path is followed and on
 * how many types are looked at for it.
 */
#include <errno.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/btf_window.h"

#define PATH_DEPTH  32u  /* types within types, nameless ones and qualifiers included */
#define PATH_LOOKUP 512u /* types looked at for one path in one struct */

struct path {
	struct weft_btf_member *member;
	struct weft_btf_name *parts; /* the struct's name, then members' */
	size_t n;
};

struct member_search {
	struct weft_btf_scan *scan;
	struct weft_error *err;
	struct path *paths;
	size_t n;
	unsigned budget;
};

static bool is_struct(const struct weft_btf_type *t)
{
	return t->kind == BTF_KIND_STRUCT || t->kind == BTF_KIND_UNION;
}

static bool is_qualifier(const struct weft_btf_type *t)
{
	return t->kind == BTF_KIND_CONST || t->kind == BTF_KIND_VOLATILE ||
	       t->kind == BTF_KIND_TYPEDEF || t->kind == BTF_KIND_RESTRICT ||
	       t->kind == BTF_KIND_TYPE_TAG;
}

static int look_into(struct member_search *s, const struct path *p, size_t part,
		     const struct weft_btf_type *t, uint64_t bits, unsigned depth);

/* The same by id, past qualifiers. What is no struct has no members. */
static int look_into_id(struct member_search *s, const struct path *p, size_t part, uint32_t id,
			uint64_t bits, unsigned depth)
{
	struct weft_btf_type t = {0};
	int ret;

	do {
		if (!id)
			return 0; /* void */
		if (depth++ >= PATH_DEPTH || !s->budget--)
			return weft_btf_malformed(s->err, "its structs nest too deep");
		ret = weft_btf_type_by_id(s->scan, id, &t, s->err);
		if (ret)
			return ret;
		id = t.type;
	} while (is_qualifier(&t));
	return is_struct(&t) ? look_into(s, p, part, &t, bits, depth) : 0;
}

/* Looks for a part of the path among the members of a struct that lies at `bits` of the first. */
static int look_into(struct member_search *s, const struct path *p, size_t part,
		     const struct weft_btf_type *t, uint64_t bits, unsigned depth)
{
	uint32_t i;
	int ret;

	for (i = 0; i < t->vlen && !p->member->found; i++) {
		const struct btf_member *raw =
			weft_btf_take(s->scan, t->body + i * sizeof(*raw), sizeof(*raw));
		uint32_t width = 0, type;
		uint64_t at = bits;

		if (!raw)
			return weft_btf_malformed(s->err, "it ends within a type");
		at += t->kind_flag ? BTF_MEMBER_BIT_OFFSET(raw->offset) : raw->offset;
		if (t->kind_flag)
			width = BTF_MEMBER_BITFIELD_SIZE(raw->offset);
		type = raw->type;
		if (!raw->name_off) {
			ret = width ? 0 : look_into_id(s, p, part, type, at, depth);
		} else if (!weft_btf_is_name(&p->parts[part], raw->name_off)) {
			continue;
		} else if (part + 1 < p->n) {
			return look_into_id(s, p, part + 1, type, at, depth);
		} else {
			if (!width && at % 8 == 0 && at / 8 <= INT32_MAX) {
				p->member->offset = (uint32_t)(at / 8);
				p->member->found = true;
			}
			return 0;
		}
		if (ret)
			return ret;
	}
	return 0;
}

static int meet_struct(const struct weft_btf_type *t, void *arg)
{
	struct member_search *s = arg;
	bool complete = true;
	size_t i;
	int ret;

	for (i = 0; i < s->n; i++) {
		const struct path *p = &s->paths[i];

		if (is_struct(t) && !p->member->found && weft_btf_is_name(&p->parts[0], t->name)) {
			s->budget = PATH_LOOKUP;
			ret = look_into(s, p, 1, t, 0, 0);
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

/* Splits `from` into names, whose texts lie in `text`. */
static void split(struct path *p, const char *from, struct weft_btf_name *names, char *text)
{
	size_t i;

	strcpy(text, from);
	p->parts = names;
	for (i = 0; i < p->n; i++) {
		size_t length = strcspn(text, ".");

		text[length] = '\0';
		names[i].text = text;
		text += length + 1;
	}
}

static int search(struct member_search *s, struct weft_btf_name *names, size_t n_names)
{
	int all, ret = 0;

	for (all = 0; !ret && all < 2; all++) {
		ret = weft_btf_find_names(s->scan, names, n_names, all, s->err);
		if (!ret)
			ret = weft_btf_each_type(s->scan, meet_struct, s, s->err);
	}
	return ret < 0 ? ret : 0;
}

int weft_btf_scan_members(struct weft_btf_scan *scan, struct weft_btf_member *members, size_t n,
			  struct weft_error *err)
{
	struct member_search s = {.scan = scan, .err = err};
	struct weft_btf_name *names = NULL;
	size_t i, n_names = 0, bytes = 0;
	char *texts = NULL;
	int ret;

	s.paths = calloc(n + 1, sizeof(*s.paths));
	for (i = 0; s.paths && i < n; i++) {
		struct path *p = &s.paths[s.n];

		members[i].found = false;
		p->member = &members[i];
		p->n = count_parts(members[i].path);
		if (!p->n)
			continue;
		s.n++;
		n_names += p->n;
		bytes += strlen(members[i].path) + 1;
	}
	names = calloc(n_names + 1, sizeof(*names));
	texts = malloc(bytes + 1);
	if (!s.paths || !names || !texts) {
		ret = weft_nomem(err);
		goto out;
	}
	n_names = bytes = 0;
	for (i = 0; i < s.n; i++) {
		split(&s.paths[i], s.paths[i].member->path, names + n_names, texts + bytes);
		n_names += s.paths[i].n;
		bytes += strlen(s.paths[i].member->path) + 1;
	}
	ret = s.n ? search(&s, names, n_names) : 0;
out:
	free(texts);
	free(names);
	free(s.paths);
	return ret;
}
