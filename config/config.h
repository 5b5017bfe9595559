/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Probe sets in YAML: reading them, and describing the format. One table (config/schema.c) says
 * which keys exist, what they take and what they mean; it drives the checks, the JSON Schema and
 * the reference page. Actions come from the language's table (core/lang/actions.h).
 *
 * What is checked here is the form: keys, types, ranges, the shapes of actions. Expressions are
 * texts with places, for the language to parse. Providers' settings are names and texts, for the
 * session to check against the providers that are loaded.
 *
 * Tags of errors
 *   the file    CONFIG_OPEN, CONFIG_SIZE, CONFIG_EMPTY, CONFIG_ENCODING
 *   YAML        CONFIG_YAML, CONFIG_ALIAS, CONFIG_TAG, CONFIG_DOCUMENTS, CONFIG_DEPTH,
 *               CONFIG_NODES, CONFIG_KEY, CONFIG_KEY_TWICE, CONFIG_QUOTE
 *   the format  CONFIG_VERSION, CONFIG_KEY_UNKNOWN, CONFIG_TYPE, CONFIG_RANGE, CONFIG_MISSING,
 *               CONFIG_NAME, CONFIG_CHOICE
 *   actions     ACTION_UNKNOWN, ACTION_SHAPE, ACTION_FIELD_UNKNOWN, ACTION_FIELD_MISSING,
 *               ACTION_CHOICE
 * and those of weft_pattern_parse() and weft_lang_check_views().
 */
#ifndef WEFT_CONFIG_H
#define WEFT_CONFIG_H

#include <stddef.h>

#include "core/error.h"
#include "core/set.h"
#include "weft/provider.h"

#define WEFT_CONFIG_VERSION    1
#define WEFT_CONFIG_MAX_SIZE   1048576u /* bytes of a file */
#define WEFT_CONFIG_MAX_DEPTH  32u      /* collections inside each other */
#define WEFT_CONFIG_MAX_NODES  100000u  /* keys, values and collections of a file */
#define WEFT_CONFIG_MAX_ERRORS 20u      /* reported for one file */

/* Read a probe set. On success *out is the caller's (weft_set_destroy()); on failure it is NULL and
 * err holds up to WEFT_CONFIG_MAX_ERRORS reports with places. -EINVAL: the set is wrong; -ENOMEM;
 * for load_file also the errno of what failed (-ENOENT, -EACCES, -EISDIR ...). `name` stands in
 * messages. The data may hold anything; it is not needed after the call. */
int weft_config_load_file(const char *path, struct weft_set **out, struct weft_error *err);
int weft_config_load_memory(const char *name, const char *data, size_t size, struct weft_set **out,
			    struct weft_error *err);

/* A provider whose options the descriptions of the format include. */
struct weft_config_provider {
	const char *name;
	const char *summary;
	const struct weft_option_spec *const *options; /* NULL-terminated; NULL: none */
};

/* The JSON Schema (draft 2020-12) of probe sets. Without providers their settings are open; with
 * some, only theirs are allowed. *out is a NUL-terminated text, freed with free(). */
int weft_config_schema(const struct weft_config_provider *providers, size_t n, char **out,
		       struct weft_error *err);

/* The reference page of the format, in Markdown. *out as above. */
int weft_config_reference(const struct weft_config_provider *providers, size_t n, char **out,
			  struct weft_error *err);

#endif
