/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Clauses by chance: a case is a clause of some set, with all of its firings. The seed is fixed, so
 * that a failure stays; WEFT_RANDOM_SEED and WEFT_RANDOM_CASES make other and longer runs. A set
 * that fails is made as small as it can be and printed, with the number that alone makes it again:
 * WEFT_RANDOM_ONE. With WEFT_RANDOM_WHOLE it is printed as it is, WEFT_RANDOM_LISTING shows the
 * program and WEFT_RANDOM_LOG what the verifier says.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random/random.h"

#define SEED     20240917u
#define MANY     25000u
#define FEW      1000u
#define BIG      60u
#define FAILURES 5u /* that are looked at, before it is enough */

/* Sets that are wrong are refused, and rightly: a set that is refused fails only if that is what is
 * looked for, for the same reason. */
static bool fails(struct rnd_set *set, void *arg)
{
	const char *tag = arg, *refused, *wrong = rnd_check(set, &refused);

	if (!wrong || !refused || !tag)
		return wrong && !refused && !tag;
	return strcspn(refused, " ") == strcspn(tag, " ") &&
	       !strncmp(refused, tag, strcspn(tag, " "));
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s ? strtoull(s, NULL, 0) : otherwise;
}

/* Few actions and short strings, which are the least work for an emulated verifier. */
static bool is_small(const struct rnd_set *set)
{
	for (uint32_t i = 0; i < set->n_clauses; i++)
		if (set->clauses[i].n_actions > 8)
			return false;
	return set->strsize <= 128;
}

enum which { ANY, SMALL, LARGE };

static bool one_case(uint64_t seed, enum which which, unsigned *clauses, unsigned *refusals)
{
	struct weft_arena *arena = weft_arena_create();
	struct rnd_set *set = rnd_make(arena, seed, which == LARGE);
	const char *refused, *wrong, *again;

	if (which == SMALL && !is_small(set)) {
		weft_arena_destroy(arena);
		return true;
	}
	wrong = rnd_check(set, &refused);
	*clauses += set->n_clauses;
	*refusals += refused != NULL;
	if (refused && getenv("WEFT_RANDOM_SHOW"))
		fprintf(stderr, "%s\n", refused);
	if (getenv("WEFT_RANDOM_ONE"))
		fprintf(stderr, "%s\n", rnd_explain(set));
	if (wrong) {
		if (!getenv("WEFT_RANDOM_WHOLE"))
			rnd_shrink(set, fails, (void *)refused);
		again = rnd_check(set, &refused);
		if (!again)
			fprintf(stderr, "only once:\n");
		fprintf(stderr, "%s%s\n", rnd_explain(set), again ? again : wrong);
	}
	weft_arena_destroy(arena);
	return !wrong;
}

static void run(uint64_t seed, enum which which, uint64_t n)
{
	unsigned clauses = 0, refusals = 0, failures = 0, sets = 0;
	struct rnd_draw draw;

	rnd_seed(&draw, seed + PART);
	while (clauses < n && failures < FAILURES) {
		unsigned before = clauses;

		failures += !one_case(rnd_next(&draw), which, &clauses, &refusals);
		sets += clauses > before;
	}
	cr_log_info("%u clauses in %u sets, of which %u are refused as too large", clauses, sets,
		    refusals);
	cr_expect(!failures, "%u sets differ", failures);
	cr_expect(refusals * (which == LARGE ? 2 : 20) <= sets,
		  "%u of %u sets are refused: that is too many", refusals, sets);
}

Test(random, many, .timeout = 36000)
{
	uint64_t one = number("WEFT_RANDOM_ONE", 0);
	unsigned n = 0;

	cr_assert(!rnd_memory_map());
	if (one)
		cr_expect(one_case(one, number("WEFT_RANDOM_LARGE", 0) ? LARGE : ANY, &n, &n));
	else
		run(number("WEFT_RANDOM_SEED", SEED), ANY, number("WEFT_RANDOM_CASES", MANY));
}

/* Of small sets. */
Test(random, few, .timeout = 3600)
{
	cr_assert(!rnd_memory_map());
	run(SEED + 100, SMALL, FEW);
}

/* Clauses with as much as they have room for: what is not refused has to load. */
Test(random, large, .timeout = 3600)
{
	cr_assert(!rnd_memory_map());
	run(number("WEFT_RANDOM_SEED", SEED) + 200, LARGE, number("WEFT_RANDOM_CASES", BIG));
}
