/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Option values of a provider, checked against the provider's own table: what struct weft_params
 * holds. The table is a plugin's, so it is checked itself first, by the loader.
 */
#ifndef WEFT_CORE_PARAMS_H
#define WEFT_CORE_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/set.h"
#include "weft/provider.h"

/* Checks a provider's table (NULL: it has no options). Reports every defect: PLUGIN_OPTION_SIZE (a
 * struct_size that is too small), PLUGIN_OPTION_NAME (bad or twice), PLUGIN_OPTION_TYPE (type,
 * place, choices or range that make no sense) and PLUGIN_OPTION_DEFAULT. */
int weft_params_check_specs(const struct weft_option_spec *const *specs, const char *provider,
			    struct weft_error *err);

/* Checks settings against the options of a table that passed weft_params_check_specs() and that may
 * stand at `where` (one of WEFT_OPTION_PER_SET, WEFT_OPTION_PER_PROBE). What is not given has its
 * default. Texts are copied; the table and provider are borrowed and must outlive *out. Reports
 * every error, with its place: OPTION_UNKNOWN, OPTION_VALUE, OPTION_TWICE, OPTION_PLACE. */
int weft_params_create(const char *provider, const struct weft_option_spec *const *specs,
		       uint32_t where, const struct weft_setting *settings, size_t n_settings,
		       struct weft_params **out, struct weft_error *err);
void weft_params_destroy(struct weft_params *params);

/* For options that may stand in both places: a probe's params take the set's value where the probe
 * has none of its own. `set` is of the same table, and must outlive params. */
void weft_params_inherit(struct weft_params *params, const struct weft_params *set);

/* As struct weft_host describes them. A name that is not in the table, or that is unset: 0, NULL. */
int weft_params_is_set(const struct weft_params *params, const char *name);
int64_t weft_params_int(const struct weft_params *params, const char *name);
const char *weft_params_string(const struct weft_params *params, const char *name);

#endif
