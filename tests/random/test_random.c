/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Clauses by chance: a case is a clause of some set, with all of its firings. The seed is fixed, so
 * that a failure stays; WEFT_RANDOM_SEED and WEFT_RANDOM_CASES make other and longer runs. A set
 * that fails is made as small as it can be and printed, with the number that alone makes it again:
 * WEFT_RANDOM_ONE. With WEFT_RANDOM_WHOLE it is printed as it is, WEFT_RANDOM_LISTING shows the
 * program and WEFT_RANDOM_LOG what the verifier says.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random/random.h"

#define SEED       20240917u
#define MANY       25000u
#define FEW        1000u
#define BIG        60u
#define STEPS_MOST 500000u /* of the verifier, which looks at no more than a million */
#define FAILURES   5u      /* that are looked at, before it is enough */

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

enum which { ANY, LARGE };

struct tally {
	unsigned clauses, sets, refusals, failures;
	uint32_t steps; /* of the verifier, at most */
	uint64_t steps_seed;
};

static bool one_case(uint64_t seed, enum which which, struct tally *t)
{
	struct weft_arena *arena = weft_arena_create();
	struct rnd_set *set = rnd_make(arena, seed, which == LARGE);
	const char *refused, *wrong, *again;

	wrong = rnd_check(set, &refused);
	t->sets++;
	t->clauses += set->n_clauses;
	t->refusals += refused != NULL;
	if (set->steps > t->steps) {
		t->steps = set->steps;
		t->steps_seed = seed;
	}
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
	struct tally t = {0};
	struct rnd_draw draw;

	rnd_seed(&draw, seed + PART);
	while (t.clauses < n && t.failures < FAILURES)
		t.failures += !one_case(rnd_next(&draw), which, &t);
	cr_log_info("%u clauses in %u sets, of which %u are refused as too large; the verifier took "
		    "%u steps at most, for set %" PRIu64,
		    t.clauses, t.sets, t.refusals, t.steps, t.steps_seed);
	cr_expect(!t.failures, "%u sets differ", t.failures);
	cr_expect(t.steps < STEPS_MOST, "%u steps, for set %" PRIu64, t.steps, t.steps_seed);
	cr_expect(t.refusals * (which == LARGE ? 2 : 20) <= t.sets,
		  "%u of %u sets are refused: that is too many", t.refusals, t.sets);
}

Test(random, many, .timeout = 36000)
{
	uint64_t one = number("WEFT_RANDOM_ONE", 0);
	struct tally t = {0};

	cr_assert(!rnd_memory_map());
	if (one)
		cr_expect(one_case(one, number("WEFT_RANDOM_LARGE", 0) ? LARGE : ANY, &t));
	else
		run(number("WEFT_RANDOM_SEED", SEED), ANY, number("WEFT_RANDOM_CASES", MANY));
}

/* For a machine that is slow. */
Test(random, few, .timeout = 3600)
{
	cr_assert(!rnd_memory_map());
	run(number("WEFT_RANDOM_SEED", SEED) + 100, ANY, FEW);
}

/* Clauses with as much as they have room for: what is not refused has to load. */
Test(random, large, .timeout = 3600)
{
	cr_assert(!rnd_memory_map());
	run(number("WEFT_RANDOM_SEED", SEED) + 200, LARGE, number("WEFT_RANDOM_CASES", BIG));
}
