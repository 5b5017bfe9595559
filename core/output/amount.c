/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Numbers for eyes: what has a unit is rounded to three digits in the multiple that suits it. */
#include <inttypes.h>
#include <string.h>

#include "core/output/render.h"

static const struct weft_unit units[] = {
	{"ns", 1000, {"ns", "us", "ms", "s"}},
	{"us", 1000, {"us", "ms", "s"}},
	{"ms", 1000, {"ms", "s"}},
	{"s", 1000, {"s"}},
	{"bytes", 1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}},
	{NULL, 1024, {"", "K", "M", "G", "T", "P", "E"}},
};

const struct weft_unit *weft_unit_find(const char *name)
{
	const struct weft_unit *u = units;

	while (u->name && (!name || strcmp(u->name, name) != 0))
		u++;
	return u;
}

void weft_render_rounded(struct weft_buf *b, double v, const char *suffix)
{
	char text[40];
	int places = v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
	int n = snprintf(text, sizeof(text), "%.*f", places, v);

	while (places && n > 0 && text[n - 1] == '0')
		text[--n] = '\0', places--;
	if (n > 0 && (text[n - 1] == '.' || text[n - 1] == ','))
		text[--n] = '\0';
	weft_buf_printf(b, "%s%s", text, suffix);
}

void weft_render_amount(struct weft_buf *b, long double v, const char *unit)
{
	const struct weft_unit *u = weft_unit_find(unit);
	size_t i = 0;

	if (v < 0) {
		weft_buf_str(b, "-");
		v = -v;
	}
	while (u->scale[i + 1] && v >= (long double)u->step - 0.5L) {
		v /= u->step;
		i++;
	}
	weft_render_rounded(b, (double)v, u->scale[i]);
}

void weft_render_wide(struct weft_buf *b, weft_wide v)
{
	weft_uwide rest = v < 0 ? 0 - (weft_uwide)v : (weft_uwide)v;
	char digits[48], *at = digits + sizeof(digits);

	do {
		*--at = (char)('0' + (int)(rest % 10));
		rest /= 10;
	} while (rest);
	if (v < 0)
		*--at = '-';
	weft_buf_put(b, at, (size_t)(digits + sizeof(digits) - at));
}
