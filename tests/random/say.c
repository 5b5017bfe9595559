/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "tests/random/random.h"

#include <inttypes.h>

void rnd_say_int(FILE *f, int64_t bits, uint8_t size, bool is_signed)
{
	if (is_signed)
		fprintf(f, "i%u:%" PRId64, 8 * size, bits);
	else
		fprintf(f, "u%u:%" PRIu64, 8 * size, (uint64_t)bits);
}

void rnd_say_text(FILE *f, const char *quote, const void *s, size_t n)
{
	const uint8_t *p = s;

	fputs(quote, f);
	for (size_t i = 0; i < n; i++)
		if (p[i] > ' ' && p[i] < 0x7f && p[i] != '"' && p[i] != '\\')
			fputc(p[i], f);
		else
			fprintf(f, "\\x%02x", p[i]);
	fputs(quote, f);
}
