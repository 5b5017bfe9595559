/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Patterns against the registry. Three roads, from the fastest: module, function and name exact, a
 * look-up in the table for each provider; the provider exact, a walk over its probes; else a walk
 * over all. Each keeps to the probes that were there when it began, in order of addition, and holds
 * no pointer into a table across a call of fn, which may add probes.
 */
#include <string.h>

#include "core/base/base.h"
#include "core/base/registry_core.h"

static void field_init(struct weft_field_matcher *m, const struct weft_strings *strings,
		       const char *text, bool glob)
{
	char plain[WEFT_STRING_MOST + 1];

	*m = (struct weft_field_matcher){.kind = MATCH_ANY, .last = WEFT_STRING_NONE};
	if (text[0] == '\0' || strcmp(text, "*") == 0)
		return;
	if (glob) {
		m->kind = MATCH_GLOB;
		m->glob = text;
		return;
	}
	m->kind = MATCH_EXACT;
	m->id = WEFT_STRING_NONE;
	if (strlen(text) > WEFT_STRING_MOST)
		return;
	weft_glob_unescape(text, plain);
	m->id = weft_strings_find(strings, plain);
}

void weft_matcher_init(struct weft_matcher *m, const struct weft_registry_core *r,
		       const struct weft_pattern *p)
{
	m->core = r;
	m->nothing = false;
	for (int f = 0; f < WEFT_N_FIELDS; f++) {
		field_init(&m->field[f], &r->strings, p->field[f], p->glob[f]);
		if (m->field[f].kind == MATCH_EXACT && m->field[f].id == WEFT_STRING_NONE)
			m->nothing = true;
	}
}

bool weft_matcher_field(struct weft_matcher *m, const struct weft_probe *p, enum weft_field f)
{
	struct weft_field_matcher *field = &m->field[f];

	switch (field->kind) {
	case MATCH_ANY:
		return true;
	case MATCH_EXACT:
		return p->field[f] == field->id;
	case MATCH_GLOB:
		break;
	}
	if (p->field[f] != field->last) {
		field->last = p->field[f];
		field->last_matched = weft_glob_match(field->glob, weft_probe_text(m->core, p, f));
	}
	return field->last_matched;
}

bool weft_probe_matches(const struct weft_probe *probe, const struct weft_pattern *p)
{
	struct weft_matcher m;

	weft_matcher_init(&m, weft_probe_core(probe), p);
	for (int f = 0; f < WEFT_N_FIELDS; f++) {
		if (!weft_matcher_field(&m, probe, (enum weft_field)f))
			return false;
	}
	return true;
}

/* The fields with the most different texts come last: globs on them are the dearest. */
static bool matches(struct weft_matcher *m, const struct weft_probe *p)
{
	return !(p->flags & PROBE_RETIRED) && weft_matcher_field(m, p, WEFT_FIELD_PROVIDER) &&
	       weft_matcher_field(m, p, WEFT_FIELD_MODULE) &&
	       weft_matcher_field(m, p, WEFT_FIELD_NAME) &&
	       weft_matcher_field(m, p, WEFT_FIELD_FUNCTION);
}

/* The first of a provider's probes with an index of at least `from`. */
static size_t first_from(const struct weft_registry *h, size_t from)
{
	size_t low = 0, high = h->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (h->probes[middle] < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int walk_provider(struct weft_matcher *m, const struct weft_registry *h, size_t from,
			 int (*fn)(const struct weft_probe *, void *), void *arg)
{
	size_t n = h->n;

	for (size_t i = first_from(h, from); i < n; i++) {
		const struct weft_probe *p = weft_registry_probe(m->core, h->probes[i]);
		int rc = matches(m, p) ? fn(p, arg) : 0;

		if (rc)
			return rc;
	}
	return 0;
}

static int walk_all(struct weft_matcher *m, size_t from,
		    int (*fn)(const struct weft_probe *, void *), void *arg)
{
	size_t n = m->core->n;

	for (size_t i = from; i < n; i++) {
		const struct weft_probe *p = weft_registry_probe(m->core, i);
		int rc = matches(m, p) ? fn(p, arg) : 0;

		if (rc)
			return rc;
	}
	return 0;
}

/* Of the probes that have exactly these three fields, one for each provider at most, the first with
 * an index of at least `from` that matches. */
static const struct weft_probe *next_exact(struct weft_matcher *m, size_t from, size_t end)
{
	const struct weft_probe *first = NULL;
	uint32_t field[WEFT_N_FIELDS];

	for (int f = WEFT_FIELD_MODULE; f < WEFT_N_FIELDS; f++)
		field[f] = m->field[f].id;
	for (size_t i = 0; i < m->core->n_providers; i++) {
		const struct weft_probe *p;

		field[WEFT_FIELD_PROVIDER] = m->core->providers[i]->name;
		p = weft_registry_lookup(m->core, field);
		if (p && p->index >= from && p->index < end &&
		    (!first || p->index < first->index) && matches(m, p))
			first = p;
	}
	return first;
}

static int walk_exact(struct weft_matcher *m, size_t from,
		      int (*fn)(const struct weft_probe *, void *), void *arg)
{
	const struct weft_probe *p;
	size_t end = m->core->n;

	while ((p = next_exact(m, from, end)) != NULL) {
		int rc = fn(p, arg);

		if (rc)
			return rc;
		from = (size_t)p->index + 1;
	}
	return 0;
}

int weft_registry_match(const struct weft_registry_core *r, const struct weft_pattern *p,
			size_t from, int (*fn)(const struct weft_probe *, void *), void *arg)
{
	struct weft_matcher m;
	const struct weft_registry *h;

	weft_matcher_init(&m, r, p);
	if (m.nothing)
		return 0;
	if (m.field[WEFT_FIELD_MODULE].kind == MATCH_EXACT &&
	    m.field[WEFT_FIELD_FUNCTION].kind == MATCH_EXACT &&
	    m.field[WEFT_FIELD_NAME].kind == MATCH_EXACT)
		return walk_exact(&m, from, fn, arg);
	if (m.field[WEFT_FIELD_PROVIDER].kind != MATCH_EXACT)
		return walk_all(&m, from, fn, arg);
	h = weft_registry_handle(r, m.field[WEFT_FIELD_PROVIDER].id);
	return h ? walk_provider(&m, h, from, fn, arg) : 0;
}
