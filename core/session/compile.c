/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From enablings to programs: clauses are typed once per class of probe, enablings of one class
 * with one list of clauses form a gang, and a gang is compiled into one program. Runs again, for
 * what is new, when probes are discovered while tracing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/session/internal.h"

/* ---- typing ---- */

/* Opens nothing yet. */
static struct weft_btf_source *types_of(struct weft_session *s)
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

/* What the entry of a return is like, where its clauses use the entry's arguments. */
static const struct weft_class *entry_class(const struct weft_session *s,
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
		.btf = types_of(s),
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

/* What the clauses of a return want of its entry. */
struct needs {
	bool elapsed;
	uint64_t entry_args;
	uint64_t args; /* and of its own probe */
};

/* The clauses of a list, first to last, into clauses[length]. */
static int typed_list(struct weft_session *s, uint32_t list, const struct weft_enabling *e,
		      struct weft_typed_clause *clauses, struct needs *needs, struct weft_error *err)
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

/* Of the arguments that an entry keeps, those that are strings or bytes. */
static uint64_t texts_of(const struct weft_session *s, const struct weft_enabling *entry,
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
	ret = weft_plan_entry_texts(s->plan,
				    (uint32_t)__builtin_popcountll(texts_of(s, entry, all)), err);
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
	struct needs needs = {0};
	int ret = 0;

	if (returns_unpaired(s, i))
		ret = weft_enable_entry(s, (uint32_t)i, false, err);
	if (!ret)
		ret = typed_list(s, list, &s->enablings[i], NULL, &needs, err);
	if (!ret && needs.elapsed && !s->enablings[i].entry)
		ret = weft_enable_entry(s, (uint32_t)i, true, err);
	if (!ret && needs.entry_args)
		ret = capture(s, &s->enablings[i], needs.entry_args, err);
	return ret;
}

static int type_all(struct weft_session *s, struct weft_error *err)
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
	ret = weft_state_build(s->set, met_info, &m, types_of(s), s->arena, &s->variables, err);
	free(m.enablings);
	for (i = 0; !ret && s->variables && i < s->variables->n_vars; i++)
		ret = weft_plan_variable(s->plan, s->variables->vars[i], &index, err);
	return ret;
}

/* ---- gangs ---- */

static bool alone(const struct weft_class *class)
{
	return class->info.identity.kind == WEFT_IDENTITY_CONST ||
	       class->info.load.flags & WEFT_LOAD_ONE_PER_PROBE ||
	       class->info.schedule.period_ns; /* what was due last is kept for one probe */
}

/*
 * A loaded program can take a probe more if nothing in it was decided by the probes that it had:
 * comparisons of probe fields are decided when compiling where all agree, so a newcomer must agree
 * as well, and the elements of a dispatch map are written before its program is loaded.
 */
static bool takes_more(struct weft_session *s, const struct weft_gang *g,
		       const struct weft_enabling *e)
{
	const struct weft_probe *first = s->enablings[g->members[0]].probe;

	if (g->dropped)
		return false;
	if (!g->closed)
		return true;
	if (g->class->info.identity.kind == WEFT_IDENTITY_FIELD || g->shape)
		return false;
	return !((weft_plan_probe_bits(s->plan, e->probe) ^ weft_plan_probe_bits(s->plan, first)) &
		 g->program.decided_bits);
}

/* The arguments that frames of this entry, or of this return's entry, keep. */
static const struct weft_enabling *entry_of(const struct weft_session *s,
					    const struct weft_enabling *e)
{
	return e->entry ? &s->enablings[e->entry - 1] : e;
}

static uint64_t capture_of(const struct weft_session *s, const struct weft_enabling *e)
{
	return entry_of(s, e)->capture;
}

/*
 * Probes that differ only in what their clauses do not ask for are served by one program: they have
 * one view. Where there are too many views that differ only in where the arguments lie, that is in
 * one shape, what comes beyond is served by a program that looks the places up.
 */
#define WEFT_MOST_VIEWS 8u

static bool scatters(const struct weft_enabling *e)
{
	return e->shape && e->shape->kinds > WEFT_MOST_VIEWS;
}

static bool belongs(const struct weft_session *s, const struct weft_gang *g,
		    const struct weft_enabling *e)
{
	if (g->shape ? !scatters(e) || g->shape != e->shape : g->view != e->view)
		return false;
	return g->list == e->list && g->pairing_entry == e->pairing_entry &&
	       g->capture == capture_of(s, e) && g->entry_class == entry_class(s, e, e->list);
}

/* Whether the places of these arguments can be looked up. */
static bool can_scatter(const struct weft_enabling *e, uint64_t args)
{
	const struct weft_probe_info *info = &e->class->info;
	uint32_t i;

	if (info->identity.kind != WEFT_IDENTITY_COOKIE || info->load.ctx_kind != WEFT_CTX_REGS ||
	    info->pairing.role != WEFT_PAIRING_NONE || !args)
		return false;
	for (i = 0; i < info->n_args; i++)
		if (args >> i & 1 && !weft_places_fit(&info->args[i].where, &info->args[i].type))
			return false;
	return true;
}

static int find_view(struct weft_session *s, struct weft_enabling *e, struct weft_error *err)
{
	struct needs needs = {0};
	bool made, ignored;
	int ret;

	ret = typed_list(s, e->list, e, NULL, &needs, err);
	if (!ret)
		ret = weft_class_view(s, e->class, e->list, needs.args | e->capture, true, &e->view,
				      &made, err);
	e->shape = NULL;
	if (ret || !can_scatter(e, needs.args))
		return ret;
	ret = weft_class_view(s, e->class, e->list, needs.args, false, &e->shape, &ignored, err);
	if (!ret && made)
		e->shape->kinds++;
	return ret;
}

static struct weft_gang *find_gang(struct weft_session *s, const struct weft_enabling *e)
{
	size_t i = s->n_gangs;

	if (alone(e->class))
		return NULL;
	while (i--) {
		struct weft_gang *g = s->gangs[i];

		if (belongs(s, g, e) && takes_more(s, g, e))
			return g;
	}
	return NULL;
}

static int gang_all(struct weft_session *s, struct weft_error *err)
{
	struct weft_gang *last = NULL, *g;
	size_t i;
	int ret;

	/* All views are known before any program is begun: their number decides. */
	for (i = 0; i < s->n_enablings; i++) {
		if (s->enablings[i].grouped)
			continue;
		ret = find_view(s, &s->enablings[i], err);
		if (ret)
			return ret;
	}
	for (i = 0; i < s->n_enablings; i++) {
		struct weft_enabling *e = &s->enablings[i];

		if (e->grouped)
			continue;
		/* Neighbours are mostly alike. */
		if (last && !alone(e->class) && !last->closed && belongs(s, last, e))
			g = last;
		else
			g = find_gang(s, e);
		if (!g) {
			if (weft_grow(&s->gangs, &s->cap_gangs, s->n_gangs,
				      sizeof(struct weft_gang *)))
				return weft_nomem(err);
			g = calloc(1, sizeof(*g));
			if (!g)
				return weft_nomem(err);
			g->provider = e->class->provider;
			g->class = e->class;
			g->view = e->view;
			g->shape = scatters(e) ? e->shape : NULL;
			g->list = e->list;
			g->pairing_entry = e->pairing_entry;
			g->capture = capture_of(s, e);
			g->entry_class = entry_class(s, e, e->list);
			g->fd = -1;
			s->gangs[s->n_gangs++] = g;
		}
		if (weft_grow(&g->members, &g->cap_members, g->n_members, sizeof(*g->members)))
			return weft_nomem(err);
		g->members[g->n_members++] = (uint32_t)i;
		e->grouped = true;
		last = g;
	}
	return 0;
}

void weft_gang_destroy(struct weft_gang *g)
{
	if (!g)
		return;
	if (g->fd >= 0)
		close(g->fd);
	free(g->members);
	free(g);
}

/* ---- programs ---- */

static int compile_group(struct weft_session *s, const struct weft_group *group,
			 struct weft_program *out, struct weft_error *err)
{
	size_t before = weft_error_count(err);
	int ret;

	out->dispatch_map = -1;
	ret = weft_compile_group(s->plan, group, out, err);
	if (ret == -EAGAIN) {
		weft_error_truncate(err, before);
		ret = weft_btf_resolve(s->plan, err);
		if (!ret)
			ret = weft_compile_group(s->plan, group, out, err);
	}
	return ret;
}

static int compile_gang(struct weft_session *s, struct weft_gang *g, struct weft_error *err)
{
	struct weft_group group = {
		.info = &g->class->info,
		.pairing_entry = g->pairing_entry,
		.capture = g->capture,
		.texts = texts_of(s, entry_of(s, &s->enablings[g->members[0]]), g->capture),
		.scattered = g->shape,
	};
	struct weft_typed_clause *clauses;
	struct weft_group_probe *probes;
	struct needs ignored = {0};
	size_t i;
	int ret;

	group.n_clauses = g->list ? s->lists[g->list].length : 0;
	clauses = weft_arena_array(s->arena, group.n_clauses + 1, sizeof(*clauses));
	probes = weft_arena_array(s->arena, g->n_members, sizeof(*probes));
	if (!clauses || !probes)
		return weft_nomem(err);
	ret = typed_list(s, g->list, &s->enablings[g->members[0]], clauses, &ignored, err);
	if (ret)
		return ret;
	for (i = 0; i < g->n_members; i++) {
		const struct weft_enabling *e = &s->enablings[g->members[i]];

		probes[i].cookie = e->cookie;
		probes[i].probe = e->probe;
		probes[i].identity_value = e->identity_value;
		probes[i].info = &e->class->info;
	}
	group.clauses = clauses;
	group.probes = probes;
	group.n_probes = g->n_members;
	ret = compile_group(s, &group, &g->program, err);
	if (!ret)
		g->closed = true;
	return ret;
}

/* begin and end: one clause each, whose program no probe fires. */
static int compile_list(struct weft_session *s, const struct weft_clause *clause, uint64_t cookie,
			struct weft_typed_clause *typed, struct weft_program *out,
			struct weft_error *err)
{
	struct weft_lang_env env = {
		.set = s->set,
		.destructive = s->env.destructive,
		.state = s->variables,
		.btf = types_of(s),
	};
	struct weft_group_probe *probe;
	struct weft_group group = {0};
	int ret;

	ret = weft_lang_clause(&env, clause, s->arena, typed, err);
	if (ret)
		return ret;
	probe = weft_arena_alloc(s->arena, sizeof(*probe));
	if (!probe)
		return weft_nomem(err);
	probe->cookie = cookie;
	group.clauses = typed;
	group.n_clauses = 1;
	group.probes = probe;
	group.n_probes = 1;
	return compile_group(s, &group, out, err);
}

/* A clause that met no probe (yet) is checked as far as it can be without one. */
int weft_session_check_unmatched(struct weft_session *s, struct weft_error *err)
{
	const struct weft_lang_env env = {
		.set = s->set,
		.destructive = s->env.destructive,
		.state = s->variables,
		.btf = types_of(s),
	};
	int ret = 0, failed;
	size_t i;

	for (i = 0; i < s->set->n_clauses; i++) {
		if (s->typed_of && s->typed_of[i])
			continue;
		failed = weft_lang_check_clause(&env, &s->set->clauses[i], err);
		if (failed && !ret)
			ret = failed;
	}
	return ret;
}

int weft_session_compile_lists(struct weft_session *s, struct weft_error *err)
{
	int ret = 0, failed;

	if (s->set->n_begin) {
		ret = compile_list(s, s->set->begin, WEFT_COOKIE_BEGIN, &s->begin_typed, &s->begin,
				   err);
		s->has_begin = !ret;
	}
	if (s->set->n_end) {
		failed = compile_list(s, s->set->end, WEFT_COOKIE_END, &s->end_typed, &s->end, err);
		s->has_end = !failed;
		if (failed && !ret)
			ret = failed;
	}
	return ret;
}

int weft_session_compile(struct weft_session *s, struct weft_error *err)
{
	int ret, failed;
	size_t i;

	ret = type_all(s, err);
	if (ret && s->state != WEFT_SESSION_RUNNING)
		return ret;
	failed = gang_all(s, err);
	if (failed)
		return failed;
	for (i = 0; i < s->n_gangs; i++) {
		if (s->gangs[i]->closed || s->gangs[i]->dropped)
			continue;
		failed = compile_gang(s, s->gangs[i], err);
		s->gangs[i]->dropped = failed != 0;
		if (failed && !ret)
			ret = failed;
	}
	return ret;
}
