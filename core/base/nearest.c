/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The nearest right name, for "did you mean ...?". Nearness is a cost: an insertion, a deletion, a
 * substitution and a transposition of neighbours cost 2 each, a letter in the other case 1. Up to
 * about a third of the word may be wrong, at most three characters. Beyond that a word that was
 * broken off, or went on too long, still is near: it costs more than any number of typing mistakes.
 *
 * All names of a registry may be candidates, so the table of distances is computed only in the band
 * of the few diagonals that can matter, and given up as soon as nothing in it is near enough.
 */
#include "core/base/base.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define EDIT         2u
#define CASE         1u
#define MOST_EDITS   3u
#define BAND         (2 * MOST_EDITS + 1)
#define FAR          (UINT_MAX / 2)
#define PREFIX_COST  (EDIT * MOST_EDITS + 1)
#define PREFIX_LEAST 2u /* a prefix shorter than this says nothing */

static unsigned char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c - 'A' + 'a') : (unsigned char)c;
}

static unsigned int substitution(char a, char b)
{
	if (a == b)
		return 0;
	return lower(a) == lower(b) ? CASE : EDIT;
}

static void least(unsigned int *to, unsigned int cost)
{
	if (cost < *to)
		*to = cost;
}

/* Row i of the band: column o stands for the first i characters of a against the first
 * i + o - MOST_EDITS of b. before is row i - 1, before2 row i - 2. Returns the least of the row. */
static unsigned int band_row(const char *a, size_t i, const char *b, size_t nb,
			     const unsigned int *before2, const unsigned int *before,
			     unsigned int *row)
{
	unsigned int smallest = FAR;

	for (size_t o = 0; o < BAND; o++) {
		size_t j = i + o - MOST_EDITS;

		row[o] = FAR;
		if (i + o < MOST_EDITS || j > nb)
			continue;
		if (i == 0) {
			row[o] = (unsigned int)j * EDIT;
		} else {
			if (j > 0)
				least(&row[o], before[o] + substitution(a[i - 1], b[j - 1]));
			if (o + 1 < BAND)
				least(&row[o], before[o + 1] + EDIT);
			if (o > 0 && j > 0)
				least(&row[o], row[o - 1] + EDIT);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				least(&row[o], before2[o] + EDIT);
		}
		least(&smallest, row[o]);
	}
	return smallest;
}

/* The cost of turning a into b, or FAR if it is more than most. */
static unsigned int edit_cost(const char *a, size_t na, const char *b, size_t nb, unsigned int most)
{
	unsigned int rows[3][BAND];
	unsigned int smallest_before = 0;

	for (size_t i = 0; i <= na; i++) {
		unsigned int smallest =
			band_row(a, i, b, nb, rows[(i + 1) % 3], rows[(i + 2) % 3], rows[i % 3]);

		/* A transposition reaches back over one row. */
		if (smallest > most && smallest_before > most)
			return FAR;
		smallest_before = smallest;
	}
	return rows[na % 3][nb + MOST_EDITS - na];
}

static unsigned int most_cost(size_t length)
{
	size_t edits = length / 3;

	if (edits > MOST_EDITS)
		edits = MOST_EDITS;
	return edits > 0 ? (unsigned int)edits * EDIT : CASE;
}

static unsigned int prefix_cost(const char *a, size_t na, const char *b, size_t nb)
{
	size_t shorter = na < nb ? na : nb;
	size_t longer = na < nb ? nb : na;

	if (shorter < PREFIX_LEAST || strncasecmp(a, b, shorter) != 0)
		return FAR;
	/* Of a word that goes on, half at least must be right. */
	if (na > nb && nb * 2 < na)
		return FAR;
	return PREFIX_COST + (unsigned int)(longer - shorter);
}

static unsigned int cost_of(const struct weft_near *near, const char *candidate)
{
	size_t n = strlen(candidate);
	size_t apart = n > near->length ? n - near->length : near->length - n;
	unsigned int most = most_cost(near->length);

	if (apart * EDIT <= most) {
		unsigned int cost = edit_cost(near->word, near->length, candidate, n, most);

		if (cost <= most)
			return cost;
	}
	return prefix_cost(near->word, near->length, candidate, n);
}

void weft_near_init(struct weft_near *near, const char *word)
{
	*near = (struct weft_near){.word = word, .length = strlen(word), .cost = FAR};
}

void weft_near_offer(struct weft_near *near, const char *candidate)
{
	unsigned int cost;

	if (near->length == 0 || candidate[0] == '\0')
		return;
	cost = cost_of(near, candidate);
	if (cost >= near->cost)
		return;
	near->cost = cost;
	near->best = candidate;
}

const char *weft_nearest(const char *word, const char *const *candidates, size_t n)
{
	struct weft_near near;

	weft_near_init(&near, word);
	for (size_t i = 0; i < n; i++)
		weft_near_offer(&near, candidates[i]);
	return near.best;
}

const char *weft_list_names(const char *const *names, size_t n, char *out, size_t size)
{
	static const char dots[] = " ...";
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		const char *before = i == 0 ? "" : i + 1 < n ? ", " : " and ";

		if (used + strlen(before) + strlen(names[i]) + sizeof("``") + sizeof(dots) > size) {
			snprintf(out + used, size - used, "%s", dots);
			break;
		}
		used += (size_t)snprintf(out + used, size - used, "%s`%s`", before, names[i]);
	}
	return out;
}
