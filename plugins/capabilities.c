/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "capabilities.h"

#include <errno.h>
#include <string.h>

#define SMALLEST (offsetof(struct weft_capability_spec, what_for) + sizeof(char *))
/* The kernel's sets have 64 bits; the greatest of today's is 40. */
#define MOST 63u

int weft_capabilities_check(const struct weft_capability_spec *const *specs, const char *provider,
			    struct weft_error *err)
{
	for (size_t i = 0; specs && specs[i]; i++) {
		const struct weft_capability_spec *s = specs[i];
		const char *defect = NULL;

		if (s->struct_size < SMALLEST)
			defect = "a struct_size that is too small";
		else if (s->capability > MOST)
			defect = "a number that no capability has";
		else if (s->flags & ~WEFT_CAPABILITY_REQUIRED)
			defect = "flags that this weft does not know";
		else if (!s->what_for || !*s->what_for)
			defect = "no word of what it is for";
		if (defect)
			return weft_fail(err, -EINVAL, "PLUGIN_CAPABILITY",
					 "capability %zu of provider '%s' has %s", i + 1, provider,
					 defect);
	}
	return 0;
}
