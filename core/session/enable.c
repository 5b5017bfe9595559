/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From patterns to enablings. An enabling is a probe that is wanted, with the list of its clauses
 * in file order. A probe that several patterns of one clause match fires once for that clause; a
 * probe named with different options in two clauses is enabled once for each set of options.
 *
 * Lists of clauses are interned: "list L and clause c" is always the same number, so that ten
 * thousand probes with the same clauses compare by one integer, and that integer with the class of
 * the probe names the program that serves them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/session/internal.h"

/* ---- options of probes ---- */

static bool same_settings(const struct weft_with *a, const struct weft_clause *c)
{
	size_t i;

	if (a->n_settings != c->n_with)
		return false;
	for (i = 0; i < c->n_with; i++)
		if (strcmp(a->settings[i].name.s, c->with[i].name.s) ||
		    strcmp(a->settings[i].value.s, c->with[i].value.s))
			return false;
	return true;
}

static int with_of(struct weft_session *s, const struct weft_clause *c, uint32_t *out,
		   struct weft_error *err)
{
	struct weft_with *w;
	size_t i;

	for (i = 0; i < s->n_withs; i++) {
		if (same_settings(&s->withs[i], c)) {
			*out = (uint32_t)i;
			return 0;
		}
	}
	if (weft_grow(&s->withs, &s->cap_withs, s->n_withs, sizeof(*s->withs)))
		return weft_nomem(err);
	w = &s->withs[s->n_withs];
	w->settings = c->with;
	w->n_settings = c->n_with;
	w->params = calloc(s->n_providers ? s->n_providers : 1, sizeof(struct weft_params *));
	if (!w->params)
		return weft_nomem(err);
	*out = (uint32_t)s->n_withs++;
	return 0;
}

static int with_params(struct weft_session *s, struct weft_opened *o, uint32_t with,
		       struct weft_params **out, struct weft_error *err)
{
	struct weft_params **slot = &s->withs[with].params[o - s->providers];

	if (!*slot) {
		int ret = weft_params_create(o->provider->name, o->provider->options,
					     WEFT_OPTION_PER_PROBE, s->withs[with].settings,
					     s->withs[with].n_settings, slot, err);

		if (ret)
			return ret;
		weft_params_inherit(*slot, o->params);
	}
	*out = *slot;
	return 0;
}

const struct weft_params *weft_enabling_params(struct weft_session *s, const struct weft_enabling *e)
{
	return s->withs[e->with].params[e->class->provider - s->providers];
}

/* ---- lists of clauses ---- */

static int list_append(struct weft_session *s, uint32_t list, uint32_t clause, uint32_t *out,
		       struct weft_error *err)
{
	size_t i;

	if (list && s->lists[list].clause == clause) {
		*out = list; /* a second pattern of the same clause */
		return 0;
	}
	for (i = list + 1; i < s->n_lists; i++) {
		if (s->lists[i].parent == list && s->lists[i].clause == clause) {
			*out = (uint32_t)i;
			return 0;
		}
	}
	if (weft_grow(&s->lists, &s->cap_lists, s->n_lists, sizeof(*s->lists)))
		return weft_nomem(err);
	s->lists[s->n_lists] = (struct weft_clause_list){
		.parent = list,
		.clause = clause,
		.length = list ? s->lists[list].length + 1 : 1,
	};
	*out = (uint32_t)s->n_lists++;
	return 0;
}

/* ---- enablings ---- */

static uint64_t enabling_hash(const struct weft_probe *probe, uint32_t with)
{
	uint64_t h = (uint64_t)weft_probe_index(probe) << 20 ^ with;

	h *= 0x9e3779b97f4a7c15u;
	return h ^ h >> 32;
}

static uint32_t *index_slot(uint32_t *index, size_t size, const struct weft_enabling *all,
			    const struct weft_probe *probe, uint32_t with)
{
	size_t i = enabling_hash(probe, with) & (size - 1);

	while (index[i] && (all[index[i] - 1].probe != probe || all[index[i] - 1].with != with))
		i = (i + 1) & (size - 1);
	return &index[i];
}

static int index_reserve(struct weft_session *s)
{
	size_t size = s->enabling_index_size ? s->enabling_index_size * 2 : 64, i;
	uint32_t *index;

	if (s->enabling_index_size && s->n_enablings * 2 < s->enabling_index_size)
		return 0;
	index = calloc(size, sizeof(*index));
	if (!index)
		return -ENOMEM;
	for (i = 0; i < s->n_enablings; i++)
		if (s->enablings[i].n_layouts)
			*index_slot(index, size, s->enablings, s->enablings[i].probe,
				    s->enablings[i].with) = (uint32_t)i + 1;
	free(s->enabling_index);
	s->enabling_index = index;
	s->enabling_index_size = size;
	return 0;
}

static int remember_cookie(struct weft_session *s, uint64_t cookie, uint32_t enabling)
{
	while (s->cap_by_cookie <= cookie) {
		size_t cap = s->cap_by_cookie ? s->cap_by_cookie * 2 : 128;
		uint32_t *grown = realloc(s->by_cookie, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		memset(grown + s->cap_by_cookie, 0, (cap - s->cap_by_cookie) * sizeof(*grown));
		s->by_cookie = grown;
		s->cap_by_cookie = cap;
	}
	s->by_cookie[cookie] = enabling + 1;
	return 0;
}

/* An entry gets the even cookie of a pair, its return the odd one. A return whose entry is enabled
 * later (compile.c finds out that a clause wants `elapsed`) keeps its cookie: the entry takes the
 * partner. */
static int give_cookie(struct weft_session *s, struct weft_enabling *e, uint32_t index)
{
	bool is_return = e->class->info.pairing.role == WEFT_PAIRING_RETURN;

	e->cookie = 2 * s->next_pair + is_return;
	if (remember_cookie(s, e->cookie, index))
		return -ENOMEM;
	s->next_pair++;
	return 0;
}

/* What was asked about in brief is needed in full. */
static int complete(struct weft_session *s, struct weft_enabling *e, struct weft_error *err)
{
	struct weft_opened *o = e->class->provider;
	struct weft_described described;
	struct weft_params *params;
	int ret;

	ret = with_params(s, o, e->with, &params, err);
	if (!ret)
		ret = weft_info_describe(o, e->probe, params, false, &described, err);
	if (ret)
		return ret;
	if (described.n != e->n_layouts)
		return weft_fail(err, -EPROTO, "PLUGIN_INFO",
				 "provider %s has other layouts of a probe when asked in brief",
				 o->provider->name);
	for (uint32_t i = 0; i < described.n; i++) {
		e[i].class = described.classes[i];
		e[i].brief = false;
	}
	return 0;
}

int weft_enable_probe(struct weft_session *s, const struct weft_probe *probe, uint32_t with,
		      bool brief, uint32_t *index, struct weft_error *err)
{
	struct weft_opened *o = weft_session_provider_of(s, probe);
	struct weft_params *params;
	struct weft_described described;
	struct weft_enabling e = {.probe = probe, .with = with, .brief = brief};
	uint32_t *slot;
	int ret;

	if (index_reserve(s))
		return weft_nomem(err);
	slot = index_slot(s->enabling_index, s->enabling_index_size, s->enablings, probe, with);
	if (*slot) {
		*index = *slot - 1;
		if (!brief && s->enablings[*index].brief)
			return complete(s, &s->enablings[*index], err);
		return 0;
	}
	ret = with_params(s, o, with, &params, err);
	if (ret)
		return ret;
	ret = weft_info_describe(o, probe, params, brief, &described, err);
	if (ret)
		return ret;
	*index = (uint32_t)s->n_enablings;
	e.class = described.classes[0];
	e.identity_value = described.identity_value;
	e.entry_desc = described.entry;
	if (e.class->info.load.most && e.class->info.load.flags & WEFT_LOAD_ONE_PER_PROBE) {
		o->most = e.class->info.load.most;
		o->n_alone++;
	}
	if (give_cookie(s, &e, *index))
		return weft_nomem(err);
	/* Layouts share the cookie: which probe fired is the same to whoever asks. */
	for (e.layout = 0; e.layout < described.n; e.layout++) {
		if (weft_grow(&s->enablings, &s->cap_enablings, s->n_enablings,
			      sizeof(*s->enablings))) {
			s->n_enablings = *index;
			return weft_nomem(err);
		}
		e.class = described.classes[e.layout];
		e.n_layouts = e.layout ? 0 : described.n;
		s->enablings[s->n_enablings++] = e;
	}
	*slot = *index + 1;
	return 0;
}

/* The entry of a return, enabled for the sake of its frames, with the partner of the return's cookie. */
int weft_enable_entry(struct weft_session *s, uint32_t returning, bool brief, struct weft_error *err)
{
	struct weft_enabling *r = &s->enablings[returning];
	struct weft_opened *o = r->class->provider;
	const struct weft_probe *probe;
	uint32_t entry;
	int ret;

	probe = weft_registry_find(o->registry, &r->entry_desc);
	if (!probe && o->provider->provide) {
		ret = weft_slot_provide(o, &r->entry_desc, err);
		if (ret) {
			weft_error_context(err, "as the entry of a return");
			return ret;
		}
		probe = weft_registry_find(o->registry, &r->entry_desc);
	}
	if (!probe)
		return weft_fail(err, -EPROTO, "PLUGIN_INFO",
				 "provider %s pairs a return with an entry that it does not have",
				 o->provider->name);
	ret = weft_enable_probe(s, probe, r->with, brief, &entry, err);
	if (ret)
		return ret;
	r = &s->enablings[returning];
	if (s->enablings[entry].class->info.pairing.role != WEFT_PAIRING_ENTRY)
		return weft_fail(err, -EPROTO, "PLUGIN_INFO",
				 "provider %s pairs a return with a probe that is no entry",
				 o->provider->name);
	s->enablings[entry].pairing_entry = true;
	r->entry = entry + 1;
	if (s->enablings[entry].cookie >> 1 != r->cookie >> 1) {
		/* The entry was enabled on its own: the return becomes its partner. */
		s->by_cookie[r->cookie] = 0;
		r->cookie = s->enablings[entry].cookie | 1;
		if (remember_cookie(s, r->cookie, returning))
			return weft_nomem(err);
	}
	return 0;
}

/* ---- matching ---- */

/* One more that would take a program of its own, when there are as many as there may be. */
static bool is_beyond(struct weft_session *s, const struct weft_probe *probe, uint32_t with)
{
	const struct weft_opened *o = weft_session_provider_of(s, probe);

	return o->most && o->n_alone >= o->most &&
	       !*index_slot(s->enabling_index, s->enabling_index_size, s->enablings, probe, with);
}

struct match {
	struct weft_session *s;
	uint32_t clause;
	uint32_t with;
	bool brief; /* the clause uses nothing of what probes give */
	bool glob;  /* the pattern names no probe, so one of those that it matches may be refused */
	struct weft_refusal refused;
	struct weft_error *err;
	size_t count;
};

static int enable_match(const struct weft_probe *probe, void *arg)
{
	struct match *m = arg;
	struct weft_session *s = m->s;
	size_t before = weft_error_count(m->err);
	struct weft_opened *o = weft_session_provider_of(s, probe);
	uint32_t index, i, list = 0;
	struct weft_params *params;
	int ret;

	/* Options that are wrong are no refusal of the probe. */
	ret = with_params(s, o, m->with, &params, m->err);
	if (!ret && is_beyond(s, probe, m->with)) {
		o->n_beyond++;
		return 0;
	}
	if (!ret) {
		ret = weft_enable_probe(s, probe, m->with, m->brief, &index, m->err);
		if (ret == -ENOENT && m->glob) {
			weft_probe_refuse(s, probe, ret, before, &m->refused, m->err);
			return 0;
		}
	}
	if (ret && ret != -ENOMEM && s->state == WEFT_SESSION_RUNNING) {
		weft_session_give_up(s, ret, before, m->err);
		return 0;
	}
	if (!ret)
		ret = list_append(s, s->enablings[index].list, m->clause, &list, m->err);
	if (ret)
		return ret;
	for (i = 0; i < s->enablings[index].n_layouts; i++)
		s->enablings[index + i].list = list;
	m->count++;
	return 0;
}

static bool too_broad(const struct weft_pattern *p)
{
	size_t i;

	for (i = 0; i < WEFT_N_FIELDS; i++)
		if (*p->field[i] && strcmp(p->field[i], "*"))
			return false;
	return true;
}

/* The first of the reports from `before` on. */
static const char *first_reason(struct weft_error *err, size_t before)
{
	struct weft_report r;

	return weft_error_report(err, before, &r) ? "there is none" : r.text;
}

static int match_pattern(struct weft_session *s, struct match *m,
			 const struct weft_pattern *pattern, struct weft_pos pos, size_t from)
{
	size_t before = weft_error_count(m->err);
	bool may_come = false;
	int ret;

	if (s->state == WEFT_SESSION_IDLE) {
		if (too_broad(pattern))
			return weft_fail_at(
				m->err, pos, -EINVAL, "PATTERN_TOO_BROAD",
				"this matches every probe of every provider: name at least "
				"one field");
		ret = weft_session_ask(s, pattern, &may_come, m->err);
		if (ret == -ENOENT && may_come) {
			weft_session_log(
				s, WEFT_LOG_WARNING,
				"line %u: no probe matches yet, waiting for one to appear: %s",
				pos.line, first_reason(m->err, before));
			weft_error_truncate(m->err, before);
			return 0;
		}
		if (ret) {
			/* What is wrong with the provider's own settings is wrong for all of its probes. */
			weft_error_drop_repeated(m->err, before);
			weft_error_set_pos(m->err, pos);
			return ret;
		}
	}
	m->glob = false;
	for (size_t i = 0; i < WEFT_N_FIELDS; i++)
		m->glob |= pattern->glob[i] || !*pattern->field[i];
	m->count = 0;
	ret = weft_registry_match(s->registry, pattern, from, enable_match, m);
	if (!ret && m->refused.n && !m->count && s->state == WEFT_SESSION_IDLE)
		ret = weft_refusal_fail(&m->refused, m->err);
	weft_refusal_finish(&m->refused);
	if (ret)
		weft_error_set_pos(m->err, pos);
	return ret;
}

int weft_enable_init(struct weft_session *s, struct weft_error *err)
{
	/* List 0 is the empty one. */
	if (weft_grow(&s->lists, &s->cap_lists, 0, sizeof(*s->lists)))
		return weft_nomem(err);
	s->lists[0] = (struct weft_clause_list){0};
	s->n_lists = 1;
	return 0;
}

/* Matches all patterns against the probes with index `from` and up. Goes on after an error, to
 * report every pattern that is wrong. */
int weft_enable_match(struct weft_session *s, size_t from, struct weft_error *err)
{
	int ret = 0, failed;
	size_t i, k;

	for (i = 0; i < s->set->n_clauses; i++) {
		const struct weft_clause *c = &s->set->clauses[i];
		struct match m = {.s = s,
				  .clause = (uint32_t)i,
				  .brief = !weft_lang_args_mentions(c),
				  .err = err};

		failed = with_of(s, c, &m.with, err);
		if (failed)
			return failed;
		for (k = 0; k < c->n_patterns; k++) {
			failed = match_pattern(s, &m, &c->patterns[k], c->pattern_pos[k], from);
			if (failed && !ret)
				ret = failed;
			if (failed == -ENOMEM)
				return failed;
		}
	}
	s->matched_probes = weft_registry_size(s->registry);
	return ret;
}

/* A probe that came alive again: its provider's event went when it was retired, so it joins a gang
 * again and is attached anew. One that was never enabled (it was retired before patterns were
 * matched) is matched now. */
static int enable_revived(struct weft_session *s, const struct weft_probe *probe,
			  struct weft_error *err)
{
	bool known = false;
	size_t i, k;
	int ret;

	for (i = 0; i < s->n_enablings; i++) {
		if (s->enablings[i].probe != probe)
			continue;
		s->enablings[i].grouped = s->enablings[i].attached = false;
		known = true;
	}
	for (i = 0; !known && i < s->set->n_clauses; i++) {
		const struct weft_clause *c = &s->set->clauses[i];
		struct match m = {.s = s,
				  .clause = (uint32_t)i,
				  .brief = !weft_lang_args_mentions(c),
				  .err = err};

		ret = with_of(s, c, &m.with, err);
		for (k = 0; !ret && k < c->n_patterns; k++)
			if (weft_probe_matches(probe, &c->patterns[k]))
				ret = enable_match(probe, &m);
		if (ret)
			return ret;
	}
	return 0;
}

int weft_enable_discovered(struct weft_session *s, struct weft_error *err)
{
	const struct weft_probe *probe;
	bool revived;
	int ret;

	while ((probe = weft_registry_next_changed(s->registry, &revived))) {
		ret = revived ? enable_revived(s, probe, err) : 0;
		if (!ret)
			ret = weft_enable_extended(s, probe, err);
		if (ret)
			return ret;
	}
	return weft_enable_match(s, s->matched_probes, err);
}

/* ---- names for the consumer ---- */

const char *weft_enabling_text(struct weft_session *s, uint64_t cookie, int field)
{
	struct weft_probe_desc d = {.struct_size = sizeof(d)};
	const struct weft_probe *probe;
	char small[1];
	int n;

	if (cookie == WEFT_COOKIE_BEGIN)
		return field < 0 || field == WEFT_FIELD_NAME ? "begin" : "";
	if (cookie == WEFT_COOKIE_END)
		return field < 0 || field == WEFT_FIELD_NAME ? "end" : "";
	if (cookie >= s->cap_by_cookie || !s->by_cookie[cookie])
		return NULL;
	probe = s->enablings[s->by_cookie[cookie] - 1].probe;
	if (field >= 0) {
		weft_probe_desc(probe, &d);
		switch (field) {
		case WEFT_FIELD_PROVIDER:
			return d.provider;
		case WEFT_FIELD_MODULE:
			return d.module;
		case WEFT_FIELD_FUNCTION:
			return d.function;
		default:
			return d.name;
		}
	}
	n = weft_probe_format(probe, small, sizeof(small));
	if (n < 0)
		return NULL;
	if ((size_t)n + 1 > s->text_size) {
		char *text = realloc(s->text, (size_t)n + 64);

		if (!text)
			return NULL;
		s->text = text;
		s->text_size = (size_t)n + 64;
	}
	weft_probe_format(probe, s->text, s->text_size);
	return s->text;
}

void weft_enable_finish(struct weft_session *s)
{
	size_t i, k;

	for (i = 0; i < s->n_withs; i++) {
		for (k = 0; k < s->n_providers; k++)
			weft_params_destroy(s->withs[i].params[k]);
		free(s->withs[i].params);
	}
	free(s->withs);
	free(s->lists);
	free(s->enablings);
	free(s->enabling_index);
	free(s->by_cookie);
	free(s->text);
}
