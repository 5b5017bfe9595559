/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Makes a set smaller by greed: whatever can be left out, or be replaced by a part of itself, while
 * the case still fails, is. Nothing that is tried needs to be right: a set that is refused for what
 * was done to it does not count as failing, unless that is how it failed.
 */
#include "tests/random/random.h"

#include <string.h>

struct shrinker {
	struct rnd_set *set;
	bool (*fails)(struct rnd_set *set, void *arg);
	void *arg;
	bool smaller; /* something was done in this round */
};

static bool tried(struct shrinker *s)
{
	bool yes = s->fails(s->set, s->arg);

	s->smaller |= yes;
	return yes;
}

/* Tries a change of size bytes at p. */
static bool try(struct shrinker *s, void *p, const void *instead, size_t size)
{
	uint8_t old[sizeof(struct rnd_clause)];

	if (!memcmp(p, instead, size))
		return false;
	memcpy(old, p, size);
	memcpy(p, instead, size);
	if (tried(s))
		return true;
	memcpy(p, old, size);
	return false;
}

/* What stands for x: of its type, so that all that hangs on it stays what it was. */
static struct rnd_x instead_of(struct shrinker *s, const struct rnd_x *x, const struct rnd_x *y)
{
	struct rnd_x cast = {.node = X_CAST, .type = x->type, .n_kids = 1};

	if (x->type.kind != RND_INT ||
	    (x->type.size == y->type.size && x->type.is_signed == y->type.is_signed))
		return *y;
	cast.kid[0] = weft_arena_memdup(s->set->arena, y, sizeof(*y));
	return cast;
}

static struct rnd_x small(struct shrinker *s, const struct rnd_x *x, int64_t n)
{
	struct rnd_x v = {.node = X_INT, .type = {.kind = RND_INT, .size = 8, .is_signed = true}};

	v.bits = n;
	v.spelling = weft_arena_printf(s->set->arena, "%ld", n);
	if (x->type.kind == RND_TEXT) {
		v = (struct rnd_x){.node = X_TEXT, .type = {.kind = RND_TEXT}};
		v.text = (struct rnd_text){(const uint8_t *)"ab", n ? 1 : 0};
		v.type.cap = v.text.n + 1;
	}
	return instead_of(s, x, &v);
}

static bool is_small(const struct rnd_x *x)
{
	if (x->node == X_CAST)
		return is_small(x->kid[0]);
	return x->node == X_INT || x->node == X_TEXT;
}

static void shrink_x(struct shrinker *s, struct rnd_x *x)
{
	struct rnd_x other;

	if (!x || x->type.kind == RND_BYTES)
		return;
	for (int64_t n = 0; n < 2 && !is_small(x); n++) {
		other = small(s, x, n);
		if (try(s, x, &other, sizeof(other)))
			return;
	}
	for (uint32_t i = 0; i < x->n_kids && x->node != X_CAST; i++)
		if (x->type.kind == x->kid[i]->type.kind) {
			other = instead_of(s, x, x->kid[i]);
			if (try(s, x, &other, sizeof(other))) {
				shrink_x(s, x);
				return;
			}
		}
	for (uint32_t i = 0; i < x->n_kids; i++)
		shrink_x(s, x->kid[i]);
}

static void shrink_var(struct shrinker *s, struct rnd_x *var)
{
	for (uint32_t i = 0; var && i < var->n_kids; i++)
		shrink_x(s, var->kid[i]);
}

static void shrink_actions(struct shrinker *s, struct rnd_clause *c)
{
	for (uint32_t i = c->n_actions; i--;) {
		struct rnd_clause less = *c;

		memmove(&less.actions[i], &less.actions[i + 1],
			(less.n_actions - i - 1) * sizeof(less.actions[0]));
		less.n_actions--;
		if (less.n_actions && try(s, c, &less, sizeof(less)))
			continue;
		if (c->actions[i].kind == A_TABLE || c->actions[i].kind == A_DELETE)
			continue;
		for (uint32_t k = c->actions[i].n_items; k--;) {
			struct rnd_action a = c->actions[i];

			memmove(&a.items[k], &a.items[k + 1],
				(a.n_items - k - 1) * sizeof(a.items[0]));
			a.n_items--;
			if (a.n_items)
				try(s, &c->actions[i], &a, sizeof(a));
		}
	}
}

static void shrink_clause(struct shrinker *s, struct rnd_clause *c)
{
	const uint32_t none = 0;
	struct rnd_x *always = NULL;

	try(s, &c->when, &always, sizeof(always));
	try(s, &c->every, &none, sizeof(none));
	try(s, &c->limit, &none, sizeof(none));
	shrink_actions(s, c);
	shrink_x(s, c->when);
	for (uint32_t i = 0; i < c->n_actions; i++) {
		struct rnd_action *a = &c->actions[i];

		shrink_x(s, a->value);
		for (uint32_t k = 0; k < a->n_items; k++) {
			shrink_x(s, a->items[k].x);
			shrink_var(s, a->items[k].var);
		}
	}
}

static void shrink_firings(struct shrinker *s)
{
	struct rnd_set *set = s->set;
	const uint64_t zero = 0;

	for (uint32_t i = set->n_firings; i-- && set->n_firings > 1;) {
		struct rnd_set old = *set;
		uint32_t behind = set->n_firings - i - 1;

		memmove(set->firings[i], set->firings[i + 1], behind * sizeof(set->firings[0]));
		memmove(&set->probe[i], &set->probe[i + 1], behind * sizeof(set->probe[0]));
		memmove(&set->cpus[i], &set->cpus[i + 1], behind * sizeof(set->cpus[0]));
		set->n_firings--;
		if (!tried(s))
			*set = old;
	}
	for (uint32_t i = 0; i < set->n_firings; i++)
		for (uint32_t k = 0; k < RND_WORDS - 1; k++) /* the last tells the probe */
			try(s, &set->firings[i][k], &zero, sizeof(zero));
}

void rnd_shrink(struct rnd_set *set, bool (*fails)(struct rnd_set *set, void *arg), void *arg)
{
	struct shrinker s = {.set = set, .fails = fails, .arg = arg};

	do {
		s.smaller = false;
		for (uint32_t i = set->n_clauses; i-- && set->n_clauses > 1;) {
			struct rnd_clause gone = set->clauses[i];

			memmove(&set->clauses[i], &set->clauses[i + 1],
				(set->n_clauses - i - 1) * sizeof(gone));
			set->n_clauses--;
			if (tried(&s))
				continue;
			memmove(&set->clauses[i + 1], &set->clauses[i],
				(set->n_clauses - i) * sizeof(gone));
			set->clauses[i] = gone;
			set->n_clauses++;
		}
		shrink_firings(&s);
		for (uint32_t i = 0; i < set->n_clauses; i++)
			shrink_clause(&s, &set->clauses[i]);
	} while (s.smaller);
}
