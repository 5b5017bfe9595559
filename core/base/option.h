/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* One option of a provider's table: reading its row, reading a value for it. */
#ifndef WEFT_CORE_BASE_OPTION_H
#define WEFT_CORE_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "weft/provider.h"

/* The row as this core knows it, whatever the size of the plugin's. */
void weft_option_read(const struct weft_option_spec *spec, struct weft_option_spec *out);

/* Whether the type is one that this core knows. */
bool weft_option_type_known(uint32_t type);
bool weft_option_is_text(uint32_t type); /* STRING, ENUM: kept as text */

/* Reads text as a value of the option into *value, which is left alone for STRING and ENUM. On
 * failure reports under tag, beginning the sentence with subject. */
int weft_option_value(const struct weft_option_spec *spec, const char *text, int64_t *value,
		      const char *tag, const char *subject, struct weft_error *err);

#endif
