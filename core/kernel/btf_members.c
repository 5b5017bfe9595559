/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Offsets of members. A member may lie in an anonymous struct or union within the one that is named;
 * the type of that part may come earlier or later in the file. So the search keeps a list of structs
 * to look into, sweeps over the types, and sweeps again for the anonymous parts that it met.
 */
#include <errno.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/btf_window.h"

#define MEMBER_PLACES 64 /* structs to look into in one sweep */
#define MEMBER_SWEEPS 8  /* how deep anonymous structs are followed */

/* A struct that a member is looked for in: by name at first, by id where it is an anonymous part of
 * the one that was named. */
struct place {
	size_t member; /* index of what is looked for */
	uint32_t id;   /* 0: by name */
	uint64_t bits; /* where it lies in the struct that was named */
};

struct member_search {
	struct weft_btf_scan *scan;
	struct weft_btf_member *members;
	size_t n;
	struct weft_btf_name *structures, *names; /* n each */
	struct place now[MEMBER_PLACES], next[MEMBER_PLACES];
	size_t n_now, n_next;
	bool truncated;
};

static void look_later(struct member_search *s, size_t member, uint32_t id, uint64_t bits)
{
	if (s->n_next < MEMBER_PLACES)
		s->next[s->n_next++] = (struct place){member, id, bits};
}

static void look_into(struct member_search *s, const struct weft_btf_type *t, const struct place *p)
{
	struct weft_btf_member *m = &s->members[p->member];
	uint32_t i;

	for (i = 0; i < t->vlen; i++) {
		const struct btf_member *raw =
			weft_btf_take(s->scan, t->body + i * sizeof(*raw), sizeof(*raw));
		uint32_t bits, width;

		if (!raw) {
			s->truncated = true;
			return;
		}
		bits = t->kind_flag ? BTF_MEMBER_BIT_OFFSET(raw->offset) : raw->offset;
		width = t->kind_flag ? BTF_MEMBER_BITFIELD_SIZE(raw->offset) : 0;
		if (!raw->name_off) {
			look_later(s, p->member, raw->type, p->bits + bits);
		} else if (weft_btf_is_name(&s->names[p->member], raw->name_off)) {
			if (width || (p->bits + bits) % 8 || (p->bits + bits) / 8 > UINT32_MAX)
				continue;
			m->offset = (uint32_t)((p->bits + bits) / 8);
			m->found = true;
			return;
		}
	}
}

static int meet_struct(const struct weft_btf_type *t, void *arg)
{
	struct member_search *s = arg;
	bool is_struct = t->kind == BTF_KIND_STRUCT || t->kind == BTF_KIND_UNION;
	bool complete = true;
	size_t i;

	for (i = 0; i < s->n_now; i++) {
		const struct place *p = &s->now[i];

		if (s->members[p->member].found)
			continue;
		if (p->id ? p->id == t->id
			  : is_struct && weft_btf_is_name(&s->structures[p->member], t->name)) {
			if (is_struct)
				look_into(s, t, p);
			else if (t->kind == BTF_KIND_CONST || t->kind == BTF_KIND_VOLATILE ||
				 t->kind == BTF_KIND_TYPEDEF || t->kind == BTF_KIND_TYPE_TAG)
				look_later(s, p->member, t->type, p->bits);
		}
		complete &= s->members[p->member].found;
	}
	if (s->truncated)
		return -EBADMSG;
	return complete;
}

static int sweep_members(struct member_search *s, struct weft_error *err)
{
	size_t i;
	int ret, sweep;

	s->n_now = 0;
	for (i = 0; i < s->n; i++)
		if (!s->members[i].found && s->n_now < MEMBER_PLACES)
			s->now[s->n_now++] = (struct place){.member = i};
	for (sweep = 0; s->n_now && sweep < MEMBER_SWEEPS; sweep++) {
		s->n_next = 0;
		ret = weft_btf_each_type(s->scan, meet_struct, s, err);
		if (ret < 0)
			return s->truncated ? weft_btf_malformed(err, "it ends within a type") : ret;
		memcpy(s->now, s->next, s->n_next * sizeof(s->now[0]));
		s->n_now = s->n_next;
		for (i = s->n_now; i-- > 0;)
			if (s->members[s->now[i].member].found)
				s->now[i] = s->now[--s->n_now];
	}
	return 0;
}

int weft_btf_scan_members(struct weft_btf_scan *scan, struct weft_btf_member *members, size_t n,
			  struct weft_error *err)
{
	struct member_search *s = calloc(1, sizeof(*s));
	struct weft_btf_name *names = calloc(2 * n + 1, sizeof(*names));
	bool missing = true;
	int ret = 0, all;
	size_t i;

	if (!s || !names) {
		ret = weft_nomem(err);
		goto out;
	}
	s->scan = scan;
	s->members = members;
	s->n = n;
	s->structures = names;
	s->names = names + n;
	for (i = 0; i < n; i++) {
		members[i].found = false;
		s->structures[i].text = members[i].structure;
		s->names[i].text = members[i].member;
	}
	for (all = 0; missing && all < 2; all++) {
		ret = weft_btf_find_names(scan, names, 2 * n, all, err);
		if (!ret)
			ret = sweep_members(s, err);
		if (ret)
			break;
		missing = false;
		for (i = 0; i < n; i++)
			missing |= !members[i].found;
	}
out:
	free(names);
	free(s);
	return ret;
}
