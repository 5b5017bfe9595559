/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Why a pattern matches nothing. Its fields are taken in order: the first that no probe matches,
 * among those that match all before it, is the one at fault, and its nearest right name is looked
 * for among the same probes. Two walks: one finds the field, one offers names.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/registry_core.h"

static const char *const field_tags[WEFT_N_FIELDS] = {
	[WEFT_FIELD_PROVIDER] = "PROBE_NO_PROVIDER",
	[WEFT_FIELD_MODULE] = "PROBE_NO_MODULE",
	[WEFT_FIELD_FUNCTION] = "PROBE_NO_FUNCTION",
	[WEFT_FIELD_NAME] = "PROBE_NO_NAME",
};

/* How many fields of p match, from the front. */
static int depth_of(struct weft_matcher *m, const struct weft_probe *p)
{
	int f = 0;

	while (f < WEFT_N_FIELDS && weft_matcher_field(m, p, (enum weft_field)f))
		f++;
	return f;
}

/* The word to find a near name for: the field without escapes and stars, which a name that is nearly
 * right may be surrounded with. "" where other glob characters leave no word. Has the room of the field. */
static void word_of(const char *field, char *word)
{
	size_t n = 0;

	for (const char *p = field; *p != '\0'; p++) {
		if (*p == '*')
			continue;
		if (*p == '?' || (*p == '[' && weft_glob_bracket_end(p))) {
			n = 0;
			break;
		}
		if (*p == '\\' && p[1] != '\0')
			p++;
		word[n++] = *p;
	}
	word[n] = '\0';
}

static const char *shown(const char *field)
{
	return field[0] != '\0' ? field : "*";
}

static int fail_provider(const struct weft_pattern *p, const char *const *providers,
			 size_t n_providers, char *word, struct weft_error *err)
{
	if (n_providers == 0)
		return weft_fail(err, -ENOENT, field_tags[WEFT_FIELD_PROVIDER],
				 "no provider '%s': none is loaded at all",
				 shown(p->field[WEFT_FIELD_PROVIDER]));
	weft_fail(err, -ENOENT, field_tags[WEFT_FIELD_PROVIDER], "no provider '%s' is loaded",
		  p->field[WEFT_FIELD_PROVIDER]);
	word_of(p->field[WEFT_FIELD_PROVIDER], word);
	weft_error_suggest(err, weft_nearest(word, providers, n_providers));
	return -ENOENT;
}

static bool provider_loaded(const struct weft_pattern *p, const char *const *providers,
			    size_t n_providers)
{
	const char *pattern = p->field[WEFT_FIELD_PROVIDER];

	for (size_t i = 0; i < n_providers; i++) {
		if (pattern[0] == '\0' || weft_glob_match(pattern, providers[i]))
			return true;
	}
	return false;
}

/* Offers field f of the probes that match all fields before it. *any: there is one that has it. */
static void offer(struct weft_matcher *m, enum weft_field f, struct weft_near *near, bool *any)
{
	const struct weft_registry_core *r = m->core;
	uint32_t last = WEFT_STRING_NONE;

	for (size_t i = 0; i < r->n; i++) {
		const struct weft_probe *p = weft_registry_probe(r, i);

		if ((p->flags & PROBE_RETIRED) || p->field[f] == last || depth_of(m, p) != (int)f)
			continue;
		last = p->field[f];
		*any |= last != 0;
		weft_near_offer(near, weft_probe_text(r, p, f));
	}
}

/* "no function 'vfs_raed' in 'fbt:vmlinux'". empty: all probes there leave the field empty. */
static void fail_field(const struct weft_pattern *p, enum weft_field f, bool empty,
		       struct weft_error *err)
{
	const char *field = weft_field_names[f];
	char *where;
	size_t size = 1;

	for (int k = 0; k < (int)f; k++)
		size += strlen(p->field[k]) + 2;
	where = malloc(size);
	if (!where) {
		weft_nomem(err);
		return;
	}
	where[0] = '\0';
	for (int k = 0; k < (int)f; k++) {
		strcat(where, k > 0 ? ":" : "");
		strcat(where, shown(p->field[k]));
	}
	if (p->field[f][0] == '\0') /* it asks for nothing, and still: there is nothing */
		weft_fail(err, -ENOENT, field_tags[f], "no probe at all in '%s'", where);
	else
		weft_fail(err, -ENOENT, field_tags[f], "no %s '%s' in '%s'%s%s", field, p->field[f],
			  where, empty ? ": its probes have no " : "", empty ? field : "");
	free(where);
}

/* No probe of the provider is known: the field to blame is the first that asks for something. */
static enum weft_field first_asked(const struct weft_matcher *m)
{
	for (int f = WEFT_FIELD_MODULE; f < WEFT_N_FIELDS; f++) {
		if (m->field[f].kind != MATCH_ANY)
			return (enum weft_field)f;
	}
	return WEFT_FIELD_NAME;
}

int weft_registry_explain(const struct weft_registry_core *r, const struct weft_pattern *p,
			  const char *const *providers, size_t n_providers, struct weft_error *err)
{
	char word[WEFT_STRING_MOST + 1] = "";
	struct weft_matcher m;
	struct weft_near near;
	bool any = false;
	int depth = 0;
	enum weft_field f;

	if (!provider_loaded(p, providers, n_providers))
		return fail_provider(p, providers, n_providers, word, err);
	weft_matcher_init(&m, r, p);
	for (size_t i = 0; i < r->n; i++) {
		const struct weft_probe *probe = weft_registry_probe(r, i);
		int d = probe->flags & PROBE_RETIRED ? 0 : depth_of(&m, probe);

		depth = d > depth ? d : depth;
	}
	if (depth == 0 || depth == WEFT_N_FIELDS) {
		fail_field(p, first_asked(&m), false, err);
		return -ENOENT;
	}
	f = (enum weft_field)depth;
	if (strlen(p->field[f]) <= WEFT_STRING_MOST)
		word_of(p->field[f], word);
	weft_near_init(&near, word);
	offer(&m, f, &near, &any);
	fail_field(p, f, !any, err);
	weft_error_suggest(err, near.best);
	return -ENOENT;
}
