/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Types clauses, once per class of probe that they meet, and finds the variables that they share. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/session/compile.h"

/* ---- clauses ---- */

struct weft_btf_source *weft_session_types(struct weft_session *s)
{
	return weft_btfs_source(weft_session_btfs(s, NULL));
}

static bool list_mentions_entry(const struct weft_session *s, uint32_t list)
{
	for (; list; list = s->lists[list].parent)
		if (weft_lang_entry_mentions(&s->set->clauses[s->lists[list].clause]))
			return true;
	return false;
}

const struct weft_class *weft_entry_class(const struct weft_session *s,
					  const struct weft_enabling *e, uint32_t list)
{
	if (!e->entry || !list_mentions_entry(s, list))
		return NULL;
	return s->enablings[e->entry - 1].class;
}

static struct weft_typed_entry **typed_slot(struct weft_typed_entry **table, size_t size,
					    uint32_t clause, const struct weft_class *class,
					    const struct weft_class *entry)
{
	uint64_t h = (uintptr_t) class >> 4;
	size_t i;

	h = (h ^ (uint64_t)clause << 40 ^ (uint64_t)(uintptr_t)entry << 8) * 0x9e3779b97f4a7c15u;
	for (i = (h >> 24) & (size - 1); table[i]; i = (i + 1) & (size - 1))
		if (table[i]->clause == clause && table[i]->class == class &&
		    table[i]->entry_class == entry)
			break;
	return &table[i];
}

static int reserve_typed(struct weft_session *s)
{
	size_t size = s->size_typed ? 2 * s->size_typed : 64;
	struct weft_typed_entry **table;

	if (!s->typed_of)
		s->typed_of = weft_arena_array(s->arena, s->set->n_clauses + 1,
					       sizeof(struct weft_typed_entry *));
	if (!s->typed_of)
		return -ENOMEM;
	if (2 * s->n_typed < s->size_typed)
		return 0;
	table = calloc(size, sizeof(struct weft_typed_entry *));
	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < s->size_typed; i++) {
		struct weft_typed_entry *e = s->typed[i];

		if (e)
			*typed_slot(table, size, e->clause, e->class, e->entry_class) = e;
	}
	free(s->typed);
	s->typed = table;
	s->size_typed = size;
	return 0;
}

static int typed_clause(struct weft_session *s, uint32_t clause, const struct weft_enabling *on,
			struct weft_typed_entry **out, struct weft_error *err)
{
	struct weft_lang_env env = {
		.set = s->set,
		.destructive = s->env.destructive,
		.state = s->variables,
		.btf = weft_session_types(s),
	};
	const struct weft_class *class = on->class, *entry = NULL;
	struct weft_typed_entry *e, **slot;
	char name[512];

	if (on->entry && weft_lang_entry_mentions(&s->set->clauses[clause]))
		entry = s->enablings[on->entry - 1].class;
	if (reserve_typed(s))
		return weft_nomem(err);
	slot = typed_slot(s->typed, s->size_typed, clause, class, entry);
	*out = *slot;
	if (*out)
		return (*out)->result;
	/* One report of a bad clause is enough, however many classes it meets; but what cannot be
	 * traced of a file that appeared must not keep out the next. */
	*out = s->typed_of[clause];
	if (*out && (*out)->result && s->state != WEFT_SESSION_RUNNING)
		return (*out)->result;
	e = weft_arena_alloc(s->arena, sizeof(*e));
	if (!e)
		return weft_nomem(err);
	weft_probe_format(on->probe, name, sizeof(name));
	env.info = &class->info;
	env.probe = name;
	env.entry_info = entry ? &entry->info : NULL;
	e->clause = clause;
	e->class = class;
	e->entry_class = entry;
	e->result = weft_lang_clause(&env, &s->set->clauses[clause], s->arena, &e->typed, err);
	*slot = e;
	s->n_typed++;
	if (!s->typed_of[clause] || e->result)
		s->typed_of[clause] = e;
	*out = e;
	return e->result;
}

int weft_typed_list(struct weft_session *s, uint32_t list, const struct weft_enabling *e,
		    struct weft_typed_clause *clauses, struct weft_needs *needs,
		    struct weft_error *err)
{
	uint32_t n = list ? s->lists[list].length : 0;
	int ret = 0, failed;

	for (; list; list = s->lists[list].parent) {
		struct weft_typed_entry *t;

		failed = typed_clause(s, s->lists[list].clause, e, &t, err);
		if (failed) {
			if (!ret)
				ret = failed;
			continue;
		}
		n--;
		if (clauses)
			clauses[n] = t->typed;
		needs->elapsed |= t->typed.uses_elapsed;
		needs->entry_args |= t->typed.entry_args;
		needs->args |= t->typed.args;
	}
	return ret;
}

uint64_t weft_kept_texts(const struct weft_session *s, const struct weft_enabling *entry,
			 uint64_t args)
{
	struct weft_type type;
	uint64_t texts = 0;

	for (uint32_t i = 0; i < WEFT_MAX_ARGS; i++)
		if (args >> i & 1 && weft_lang_arg_type(s->set, &entry->class->info, i, &type) &&
		    (type.kind == WEFT_VALUE_STRING || type.kind == WEFT_VALUE_BYTES))
			texts |= UINT64_C(1) << i;
	return texts;
}

/* Has the entry of a return keep arguments. Its program is made when it is grouped. */
static int capture(struct weft_session *s, const struct weft_enabling *returning, uint64_t args,
		   struct weft_error *err)
{
	struct weft_enabling *entry = &s->enablings[returning->entry - 1];
	uint64_t all = entry->capture | args;
	char probe[512];
	int ret;

	weft_probe_format(returning->probe, probe, sizeof(probe));
	if (entry->grouped && s->state == WEFT_SESSION_RUNNING && all != entry->capture)
		return weft_fail(err, -EBUSY, "ENTRY_LATE",
				 "%s appeared after its entry, which is traced already without "
				 "keeping the arguments that the return asks for",
				 probe);
	ret = weft_plan_entry_texts(
		s->plan, (uint32_t)__builtin_popcountll(weft_kept_texts(s, entry, all)), err);
	if (ret == -EBUSY)
		return weft_fail(err, ret, "ENTRY_LATE",
				 "%s appeared while tracing, and frames have no room for the strings "
				 "that it asks of its entry: no return asked for any at the start",
				 probe);
	if (!ret)
		entry->capture = all;
	return ret;
}

/* Whether a return's clauses use arguments of its entry, which is not enabled yet. */
static bool returns_unpaired(const struct weft_session *s, size_t i)
{
	const struct weft_enabling *e = &s->enablings[i];

	return e->class->info.pairing.role == WEFT_PAIRING_RETURN && !e->entry &&
	       list_mentions_entry(s, e->list);
}

static int type_enabling(struct weft_session *s, size_t i, struct weft_error *err)
{
	uint32_t list = s->enablings[i].list;
	struct weft_needs needs = {0};
	int ret = 0;

	if (returns_unpaired(s, i))
		ret = weft_enable_entry(s, (uint32_t)i, false, err);
	if (!ret)
		ret = weft_typed_list(s, list, &s->enablings[i], NULL, &needs, err);
	if (!ret && needs.elapsed && !s->enablings[i].entry)
		ret = weft_enable_entry(s, (uint32_t)i, true, err);
	if (!ret && needs.entry_args)
		ret = capture(s, &s->enablings[i], needs.entry_args, err);
	return ret;
}

int weft_session_type_all(struct weft_session *s, struct weft_error *err)
{
	int ret = 0, failed;
	size_t i;

	/* Enabling the entries of returns makes the array grow behind i, and move. */
	for (i = 0; i < s->n_enablings; i++) {
		if (s->enablings[i].grouped)
			continue;
		failed = type_enabling(s, i, err);
		if (failed)
			s->enablings[i].grouped = true; /* with none: it is given up */
		if (failed && !ret)
			ret = failed;
	}
	return ret;
}

/* ---- variables ---- */

/* By clause: a kind of probe that it meets, for the types of what it assigns. */
struct met {
	const struct weft_session *s;
	uint32_t *enablings; /* index + 1, by position in set->clauses */
	size_t n;
	uint32_t first; /* index of the first of them in file order */
};

static const struct weft_probe_info *met_info(void *arg, uint32_t clause,
					      const struct weft_probe_info **entry)
{
	const struct met *m = arg;
	const struct weft_enabling *e;

	clause -= m->first;
	if (clause >= m->n || !m->enablings[clause])
		return NULL;
	e = &m->s->enablings[m->enablings[clause] - 1];
	if (e->entry)
		*entry = &m->s->enablings[e->entry - 1].class->info;
	return &e->class->info;
}

/* What the entries of returns are like has to be known before what is made of their arguments can
 * be typed. What is wrong with one is said when the clauses are typed. */
static void find_entries(struct weft_session *s, struct weft_error *err)
{
	size_t n = s->n_enablings; /* others join behind them */

	for (size_t i = 0; i < n; i++) {
		size_t before = weft_error_count(err);

		if (returns_unpaired(s, i) && weft_enable_entry(s, (uint32_t)i, false, err))
			weft_error_truncate(err, before);
	}
}

int weft_session_find_variables(struct weft_session *s, struct weft_error *err)
{
	struct met m = {.s = s, .n = s->set->n_clauses};
	uint32_t index;
	size_t i;
	int ret;

	find_entries(s, err);
	m.enablings = calloc(m.n + 1, sizeof(*m.enablings));
	if (!m.enablings)
		return weft_nomem(err);
	if (m.n)
		m.first = s->set->clauses[0].index;
	for (i = 0; i < s->n_enablings; i++)
		for (uint32_t l = s->enablings[i].list; l; l = s->lists[l].parent)
			if (!m.enablings[s->lists[l].clause])
				m.enablings[s->lists[l].clause] = (uint32_t)i + 1;
	ret = weft_state_build(s->set, met_info, &m, weft_session_types(s), s->arena, &s->variables,
			       err);
	free(m.enablings);
	for (i = 0; !ret && s->variables && i < s->variables->n_vars; i++)
		ret = weft_plan_variable(s->plan, s->variables->vars[i], &index, err);
	return ret;
}
