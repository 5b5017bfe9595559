/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From enablings to programs: clauses are typed once per class of probe (typing.c), enablings of
 * one class with one list of clauses form a gang (gangs.c), and a gang is compiled into one
 * program. Runs again, for what is new, when probes are discovered while tracing.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/session/compile.h"

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
		.texts = weft_kept_texts(s, weft_entry_of(s, &s->enablings[g->members[0]]),
					 g->capture),
		.scattered = g->shape,
	};
	struct weft_typed_clause *clauses;
	struct weft_group_probe *probes;
	struct weft_needs ignored = {0};
	size_t i;
	int ret;

	group.n_clauses = g->list ? s->lists[g->list].length : 0;
	clauses = weft_arena_array(s->arena, group.n_clauses + 1, sizeof(*clauses));
	probes = weft_arena_array(s->arena, g->n_members, sizeof(*probes));
	if (!clauses || !probes)
		return weft_nomem(err);
	ret = weft_typed_list(s, g->list, &s->enablings[g->members[0]], clauses, &ignored, err);
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
		.btf = weft_session_types(s),
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
		.btf = weft_session_types(s),
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

	ret = weft_session_type_all(s, err);
	if (ret && s->state != WEFT_SESSION_RUNNING)
		return ret;
	failed = weft_session_gang_all(s, err);
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
