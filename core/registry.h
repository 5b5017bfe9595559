/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The registry: all probes of a session by 4-tuple. Exact look-up is by hash; patterns walk the
 * probes of one provider. Strings are interned, a probe is a few 32-bit indexes, so 100,000 probes
 * cost no more than about 100 bytes each beside their strings. struct weft_probe pointers are
 * stable until the registry is destroyed; probes are retired, never removed.
 */
#ifndef WEFT_CORE_REGISTRY_H
#define WEFT_CORE_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "weft/provider.h"

/* ---- descriptions and patterns ---- */

enum weft_field {
	WEFT_FIELD_PROVIDER,
	WEFT_FIELD_MODULE,
	WEFT_FIELD_FUNCTION,
	WEFT_FIELD_NAME,
	WEFT_N_FIELDS
};
extern const char *const weft_field_names[WEFT_N_FIELDS]; /* "provider" ... */

/* A pattern: four fields, each "" (any), exact text or a glob (* ? [a-z] [!a-z], \ escapes). */
struct weft_pattern {
	char *field[WEFT_N_FIELDS]; /* as written, escapes kept; owned */
	bool glob[WEFT_N_FIELDS];   /* has a live glob character */
};

/* provider:module:function:name. The provider ends at the first colon, the module at the second,
 * the name starts after the last; between lies the function (C++ names contain "::"). Fewer than
 * three colons is PATTERN_FIELDS. An escaped colon does not split. Also: PATTERN_EMPTY, PATTERN_BRACKET
 * (unclosed), PATTERN_ESCAPE (trailing backslash), PATTERN_TOO_LONG (over 4,096 bytes). */
int weft_pattern_parse(const char *text, struct weft_pattern *out, struct weft_error *err);
int weft_pattern_from_fields(const char *const field[WEFT_N_FIELDS], struct weft_pattern *out,
			     struct weft_error *err);
void weft_pattern_finish(struct weft_pattern *p);
/* A pattern with no glob and no empty field besides those that are meant to be empty cannot be told
 * from a description: literal means "no glob characters"; the unescaped fields are returned in desc
 * (strings owned by the caller through the arena-less buffer `storage`, freed with free()). */
bool weft_pattern_is_literal(const struct weft_pattern *p);
int weft_pattern_literal(const struct weft_pattern *p, struct weft_probe_desc *out, char **storage);

/* Whole texts, bytes. At most the product of the lengths in steps. */
bool weft_glob_match(const char *pattern, const char *text);
bool weft_glob_has_magic(const char *pattern);

/* The nearest of candidates to `word` by edit distance (transpositions count one), or NULL if none
 * is near enough to be worth saying. */
const char *weft_nearest(const char *word, const char *const *candidates, size_t n);

/* ---- the registry ---- */

struct weft_registry_core;

struct weft_registry_core *weft_registry_create(void);
void weft_registry_destroy(struct weft_registry_core *r);

/* The handle that a provider gets: adds only under `provider`. Borrowed; lives as long as r. */
struct weft_registry *weft_registry_of(struct weft_registry_core *r, const char *provider);

/* Adds a probe; the strings are copied. -EEXIST with *out set if it is there. A retired probe that
 * is added again comes alive with the new data. PROBE_NAME_BAD: a field with control characters or
 * over 4,096 bytes. */
int weft_registry_add(struct weft_registry *h, const struct weft_probe_desc *d, uint64_t data,
		      const struct weft_probe **out, struct weft_error *err);
/* NULL: not there, or retired. */
const struct weft_probe *weft_registry_find(struct weft_registry *h,
					    const struct weft_probe_desc *d);
void weft_registry_retire(struct weft_registry *h, const struct weft_probe *p);
/* Says that a live probe of the handle's has layouts more than it had. -ENOMEM. */
int weft_registry_extended(struct weft_registry *h, const struct weft_probe *p);

uint64_t weft_probe_data(const struct weft_probe *p);
void weft_probe_desc(const struct weft_probe *p, struct weft_probe_desc *out); /* borrowed strings */
bool weft_probe_retired(const struct weft_probe *p);
uint32_t weft_probe_index(const struct weft_probe *p); /* 0-based, in order of addition */
/* "provider:module:function:name", glob characters in fields NOT escaped; like snprintf. */
int weft_probe_format(const struct weft_probe *p, char *buf, size_t size);

size_t weft_registry_size(const struct weft_registry_core *r); /* retired ones included */
const struct weft_probe *weft_registry_at(const struct weft_registry_core *r, size_t i);
/* Bytes held, strings and the rest apart, for the benchmark. */
void weft_registry_memory(const struct weft_registry_core *r, size_t *strings, size_t *rest);

/* Calls fn for every live probe from index `from` on that matches, in order of addition. A non-zero
 * result of fn ends the walk and is returned. fn may add and retire probes; what it adds is not
 * walked. */
int weft_registry_match(const struct weft_registry_core *r, const struct weft_pattern *p,
			size_t from, int (*fn)(const struct weft_probe *, void *), void *arg);

/* The next of the probes that came alive again, or were said to be extended, since they were asked
 * for last, or NULL: their indexes are older than any `from`, so a match of what is new does not
 * see them. */
const struct weft_probe *weft_registry_next_changed(struct weft_registry_core *r, bool *revived);

/* Whether one probe, retired or not, matches. For many, weft_registry_match() is the faster. */
bool weft_probe_matches(const struct weft_probe *probe, const struct weft_pattern *p);

/* Explains why a pattern matches nothing: which field failed first (all before it match something)
 * and the nearest right name. Tags PROBE_NO_PROVIDER, PROBE_NO_MODULE, PROBE_NO_FUNCTION,
 * PROBE_NO_NAME. providers: the names that are loaded. Always returns -ENOENT. */
int weft_registry_explain(const struct weft_registry_core *r, const struct weft_pattern *p,
			  const char *const *providers, size_t n_providers, struct weft_error *err);

#endif
