/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What was meant by a tracepoint that this kernel does not have: an event of that name in another
 * category, or else the one of the category whose name differs least. The other providers have
 * support/nearest.h for this; this one is built against weft's header alone, as anybody's is. */
#include <stdio.h>
#include <string.h>

#include "format.h"

#define LONGEST 64u

struct search {
	const char *category, *event;
	unsigned int least; /* letters that differ */
	char *out;
	size_t size;
};

static unsigned int least_of(unsigned int a, unsigned int b, unsigned int c)
{
	return a < b ? (a < c ? a : c) : (b < c ? b : c);
}

/* Letters to insert, drop or change. */
static unsigned int distance(const char *a, const char *b)
{
	size_t n = strlen(b);
	unsigned int row[LONGEST + 1], before, above;

	if (n > LONGEST || strlen(a) > LONGEST)
		return LONGEST;
	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned int)j;
	for (; *a; a++) {
		before = row[0]++;
		for (size_t j = 1; j <= n; j++) {
			above = row[j];
			row[j] = least_of(above + 1, row[j - 1] + 1, before + (*a != b[j - 1]));
			before = above;
		}
	}
	return row[n];
}

static int compare(void *arg, const char *category, const char *event)
{
	struct search *s = arg;
	bool same = !strcmp(event, s->event);
	unsigned int d;

	if (!same && strcmp(category, s->category) != 0)
		return 0;
	d = distance(s->event, event);
	if (d >= s->least)
		return 0;
	s->least = d;
	snprintf(s->out, s->size, "%s::%s", category, event);
	return same;
}

struct all {
	int events;
	struct search *search;
};

static int enter(void *arg, const char *category)
{
	struct all *a = arg;

	return tracepoint_each(a->events, category, compare, a->search);
}

void tracepoint_nearest(int events, const char *category, const char *event, char *out, size_t size)
{
	struct search s = {.category = category,
			   .event = event,
			   .least = (unsigned int)strlen(event) / 3 + 1,
			   .out = out,
			   .size = size};
	struct all a = {.events = events, .search = &s};

	*out = '\0';
	tracepoint_categories(events, enter, &a);
}
