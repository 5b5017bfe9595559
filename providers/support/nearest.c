/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <ctype.h>
#include <string.h>

#include "support/nearest.h"

#define LONGEST 32u /* longer words have no near neighbour worth naming */

static unsigned int min(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static int same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned int distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned int d[LONGEST + 1][LONGEST + 1];

	for (size_t i = 0; i <= n; i++)
		d[i][0] = (unsigned int)i;
	for (size_t j = 0; j <= m; j++)
		d[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= n; i++) {
		for (size_t j = 1; j <= m; j++) {
			unsigned int best = d[i - 1][j - 1] + !same(a[i - 1], b[j - 1]);
			best = min(best, d[i - 1][j] + 1);
			best = min(best, d[i][j - 1] + 1);
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				best = min(best, d[i - 2][j - 2] + 1);
			d[i][j] = best;
		}
	}
	return d[n][m];
}

const char *support_nearest(const char *word, const char *const *candidates, size_t n)
{
	size_t length = strlen(word);
	const char *nearest = NULL;
	unsigned int best = (unsigned int)(length / 2) + 1;

	if (length > LONGEST)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t m = strlen(candidates[i]);
		if (m > LONGEST)
			continue;
		unsigned int d = distance(word, length, candidates[i], m);
		if (d < best) {
			best = d;
			nearest = candidates[i];
		}
	}
	return nearest;
}
