/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* One case: both sides, compared. */
#include "tests/random/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is right to refuse: too much for a kernel, said when the set is checked. */
static const char *const too_much[] = {"CLAUSE_TOO_LARGE", "RECORD_TOO_LARGE", "KEY_TOO_LARGE",
				       "STATE_TOO_LARGE",  "EXPR_TOO_LONG",    "EXPR_TOO_DEEP"};

/* Lines are equal byte for byte; standard deviations to twelve digits. */
static bool same_line(const char *a, size_t na, const char *b, size_t nb)
{
	const char *x = memmem(a, na, "+-", 2), *y = memmem(b, nb, "+-", 2);
	double p, q;

	if (na == nb && !memcmp(a, b, na))
		return true;
	if (!x || !y || x - a != y - b || memcmp(a, b, (size_t)(x - a)) != 0)
		return false;
	p = strtod(x + 2, NULL);
	q = strtod(y + 2, NULL);
	return fabs(p - q) <= 1e-12 * fabs(p);
}

bool rnd_same(const char *a, const char *b)
{
	while (*a && *b) {
		size_t na = strcspn(a, "\n"), nb = strcspn(b, "\n");

		if (!same_line(a, na, b, nb))
			return false;
		a += na + (a[na] == '\n');
		b += nb + (b[nb] == '\n');
	}
	return *a == *b;
}

const char *rnd_explain(struct rnd_set *set)
{
	char *text, *copy;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	fprintf(f, "seed %" PRIu64 "\n%s", set->seed, rnd_write(set));
	for (uint32_t i = 0; i < RND_INTS; i++)
		fprintf(f, "%sarg%u: %sint%u", i ? ", " : "", i, set->args[i].is_signed ? "" : "u",
			8 * set->args[i].size);
	fputc('\n', f);
	for (uint32_t i = 0; i < set->n_firings; i++) {
		fprintf(f, "firing %u:", i + 1);
		for (uint32_t k = 0; k < RND_WORDS; k++)
			fprintf(f, " %" PRIx64, set->firings[i][k]);
		fputc('\n', f);
	}
	fclose(f);
	copy = weft_arena_strdup(set->arena, text);
	free(text);
	return copy;
}

const char *rnd_check(struct rnd_set *set, const char **refused)
{
	const char *yaml = rnd_write(set), *expected, *seen;
	enum rnd_outcome outcome;

	/* No memory for an element is a loss that is counted, and none of the language's. */
	for (int i = 0; i < 5; i++) {
		outcome = rnd_run(set, yaml, &seen);
		if (!strstr(seen, "_NOMEM"))
			break;
	}
	*refused = NULL;
	if (outcome == RND_REFUSED) {
		*refused = seen;
		for (size_t i = 0; i < N(too_much); i++)
			if (!strncmp(seen, too_much[i], strlen(too_much[i])))
				return NULL;
		return weft_arena_printf(set->arena, "refused: %s\n", seen);
	}
	if (outcome == RND_BROKEN)
		return weft_arena_printf(set->arena, "broken: %s\n", seen);
	expected = rnd_expect(set);
	if (rnd_same(expected, seen))
		return NULL;
	return weft_arena_printf(set->arena, "expected:\n%sseen:\n%s", expected, seen);
}
