/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a probe says of itself. */
#include <string.h>

#include "core/base/registry_core.h"

uint64_t weft_probe_data(const struct weft_probe *p)
{
	return p->data;
}

bool weft_probe_retired(const struct weft_probe *p)
{
	return p->flags & PROBE_RETIRED;
}

uint32_t weft_probe_index(const struct weft_probe *p)
{
	return p->index;
}

void weft_probe_desc(const struct weft_probe *p, struct weft_probe_desc *out)
{
	const struct weft_registry_core *r = weft_probe_core(p);

	*out = (struct weft_probe_desc){
		.struct_size = sizeof(*out),
		.provider = weft_probe_text(r, p, WEFT_FIELD_PROVIDER),
		.module = weft_probe_text(r, p, WEFT_FIELD_MODULE),
		.function = weft_probe_text(r, p, WEFT_FIELD_FUNCTION),
		.name = weft_probe_text(r, p, WEFT_FIELD_NAME),
	};
}

/* snprintf() would do the same several times slower, and lists have tens of thousands of probes. */
int weft_probe_format(const struct weft_probe *p, char *buf, size_t size)
{
	const struct weft_registry_core *r = weft_probe_core(p);
	size_t used = 0;

	for (int f = 0; f < WEFT_N_FIELDS; f++) {
		const char *text = weft_probe_text(r, p, (enum weft_field)f);
		size_t n = strlen(text);
		size_t room = used < size ? size - used : 0;

		if (room > 0)
			memcpy(buf + used, text, n < room ? n : room);
		used += n;
		if (f + 1 < WEFT_N_FIELDS) {
			if (used < size)
				buf[used] = ':';
			used++;
		}
	}
	if (size > 0)
		buf[used < size ? used : size - 1] = '\0';
	return (int)used;
}
