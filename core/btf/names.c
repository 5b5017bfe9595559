/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Types by name. A set asks for a name or two, for which one walk over all types each is cheaper
 * than a table; a provider of functions asks for thousands. So the first few questions are answered
 * by walking, then a table is made: buckets by hash with chains, which take a blob of a hundred
 * thousand equal names as well as any other.
 */
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/btf/internal.h"

#define WALKS 3u

static bool is_named(const struct weft_btf_type *t, uint32_t kinds)
{
	return WEFT_BTF_KINDS(t->kind) & kinds && *t->name;
}

/* What is looked for, and what was found. */
struct search {
	const char *name;
	uint32_t kinds;
	uint32_t id;
	unsigned n;
};

static int meet(const struct weft_btf_type *t, void *arg)
{
	struct search *s = arg;

	if (WEFT_BTF_KINDS(t->kind) & s->kinds && *t->name == *s->name && !strcmp(t->name, s->name)) {
		if (!s->n++ || t->id < s->id)
			s->id = t->id;
	}
	return 0;
}

static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	while (*s)
		h = (h ^ (uint8_t)*s++) * 16777619u;
	return h ^ h >> 16;
}

#define TABLED                                                              \
	(WEFT_BTF_KINDS(BTF_KIND_INT) | WEFT_BTF_KINDS(BTF_KIND_STRUCT) |   \
	 WEFT_BTF_KINDS(BTF_KIND_UNION) | WEFT_BTF_KINDS(BTF_KIND_ENUM) |   \
	 WEFT_BTF_KINDS(BTF_KIND_ENUM64) | WEFT_BTF_KINDS(BTF_KIND_FWD) |   \
	 WEFT_BTF_KINDS(BTF_KIND_TYPEDEF) | WEFT_BTF_KINDS(BTF_KIND_FUNC) | \
	 WEFT_BTF_KINDS(BTF_KIND_FLOAT))

static int enter(const struct weft_btf_type *t, void *arg)
{
	struct weft_btf *b = arg;
	uint32_t *head;

	if (!is_named(t, TABLED))
		return 0;
	head = &b->heads[hash(t->name) & (b->n_heads - 1)];
	b->next[t->id - b->first] = *head;
	*head = t->id - b->first + 1;
	return 0;
}

static bool make_table(struct weft_btf *b)
{
	uint32_t n = b->end - b->first;

	for (b->n_heads = 256; b->n_heads < n / 2 && b->n_heads < UINT32_C(1) << 20;)
		b->n_heads *= 2;
	b->heads = calloc(b->n_heads, sizeof(*b->heads));
	b->next = calloc((size_t)n + 1, sizeof(*b->next));
	if (!b->heads || !b->next) { /* then by walking, as before */
		free(b->heads);
		free(b->next);
		b->heads = b->next = NULL;
		return false;
	}
	weft_btf_each(b, enter, b);
	return true;
}

static void look(struct weft_btf *b, struct search *s)
{
	struct weft_btf_type t;
	uint32_t at;

	if (!b->heads && (b->lookups++ < WALKS || s->kinds & ~TABLED || !make_table(b))) {
		weft_btf_each(b, meet, s);
		return;
	}
	for (at = b->heads[hash(s->name) & (b->n_heads - 1)]; at; at = b->next[at - 1])
		if (weft_btf_type(b, b->first + at - 1, &t))
			meet(&t, s);
}

bool weft_btf_find(struct weft_btf *b, const char *name, uint32_t kinds, uint32_t *id, unsigned *n)
{
	struct search s = {.name = name, .kinds = kinds};

	if (*name)
		look(b, &s);
	if (*name && !s.n && b->base)
		look((struct weft_btf *)b->base, &s);
	*id = s.id;
	if (n)
		*n = s.n;
	return s.n;
}

/* ---- pointers ---- */

struct pointer_search {
	uint32_t to, id;
};

static int meet_pointer(const struct weft_btf_type *t, void *arg)
{
	struct pointer_search *p = arg;

	if (t->kind != BTF_KIND_PTR || t->type != p->to)
		return 0;
	p->id = t->id;
	return 1;
}

bool weft_btf_find_pointer(const struct weft_btf *b, uint32_t to, uint32_t *id)
{
	struct pointer_search p = {.to = to};

	for (; b; b = b->base)
		if (weft_btf_each(b, meet_pointer, &p) > 0) {
			*id = p.id;
			return true;
		}
	return false;
}

/* ---- the nearest ---- */

struct nearest {
	struct weft_near *near;
	uint32_t kinds;
};

static int offer(const struct weft_btf_type *t, void *arg)
{
	struct nearest *s = arg;

	if (is_named(t, s->kinds))
		weft_near_offer(s->near, t->name);
	return 0;
}

void weft_btf_offer(const struct weft_btf *b, uint32_t kinds, struct weft_near *near)
{
	struct nearest s = {.near = near, .kinds = kinds};

	for (; b; b = b->base)
		weft_btf_each(b, offer, &s);
}
