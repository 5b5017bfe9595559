/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Short ways to fill a registry and to ask it. */
#ifndef WEFT_TESTS_BASE_PROBES_H
#define WEFT_TESTS_BASE_PROBES_H

#include <criterion/criterion.h>
#include <string.h>

#include "core/registry.h"

static inline struct weft_probe_desc desc(const char *module, const char *function, const char *name)
{
	return (struct weft_probe_desc){
		.struct_size = sizeof(struct weft_probe_desc),
		.provider = "",
		.module = module,
		.function = function,
		.name = name,
	};
}

static inline const struct weft_probe *add(struct weft_registry *h, const char *module,
					   const char *function, const char *name, uint64_t data)
{
	struct weft_probe_desc d = desc(module, function, name);
	const struct weft_probe *p = NULL;

	cr_assert_eq(weft_registry_add(h, &d, data, &p, NULL), 0, "%s:%s:%s", module, function,
		     name);
	cr_assert_not_null(p);
	return p;
}

static inline int append_name(const struct weft_probe *p, void *arg)
{
	char text[256], *to = arg;

	weft_probe_format(p, text, sizeof(text));
	strcat(to, *to ? " " : "");
	strcat(to, text);
	return 0;
}

/* What a pattern matches, as descriptions with blanks between; static storage. */
static inline const char *matched_from(const struct weft_registry_core *r, const char *pattern,
				       size_t from)
{
	static char text[4096];
	struct weft_pattern p;

	text[0] = '\0';
	cr_assert_eq(weft_pattern_parse(pattern, &p, NULL), 0, "%s", pattern);
	cr_assert_eq(weft_registry_match(r, &p, from, append_name, text), 0);
	weft_pattern_finish(&p);
	return text;
}

static inline const char *matched(const struct weft_registry_core *r, const char *pattern)
{
	return matched_from(r, pattern, 0);
}

#endif
