/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef WEFT_PLUGINS_CAPABILITIES_H
#define WEFT_PLUGINS_CAPABILITIES_H

#include "core/error.h"
#include "weft/provider.h"

/* What is demanded of a provider's list (NULL: it has none). PLUGIN_CAPABILITY. */
int weft_capabilities_check(const struct weft_capability_spec *const *specs, const char *provider,
			    struct weft_error *err);

#endif
