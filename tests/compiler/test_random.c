/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Well-typed integer expressions by chance, compiled, run by the kernel and compared with an
 * evaluator. The seed is fixed, so that a failure stays; WEFT_RANDOM_SEED and WEFT_RANDOM_ROUNDS
 * make other and longer runs. Several expressions share a program as clauses of one probe: that is
 * how they occur, and it tries what one clause leaves behind for the next.
 */
#include <stdio.h>
#include <stdlib.h>

#include "eval.h"
#include "rig.h"

#define ROUNDS      800u /* programs, each of */
#define EXPRESSIONS 4u   /* expressions, each on */
#define VALUES      3u   /* sets of arguments */

static uint64_t state;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static unsigned below(unsigned n)
{
	return (unsigned)((draw() >> 20) % n);
}

static uint64_t draw_value(void)
{
	uint64_t v = draw();

	switch (below(5)) {
	case 0:
		return v % 8;
	case 1:
		return 0 - v % 8;
	case 2:
		return UINT64_C(1) << below(64);
	case 3:
		return (UINT64_C(1) << below(64)) - 1;
	default:
		return v >> below(64);
	}
}

static void expression(FILE *f, unsigned depth)
{
	static const char *const operators[] = {"+",  "-",  "*",  "/", "%",  "&", "|",  "^",  "<<",
						">>", "==", "!=", "<", "<=", ">", ">=", "&&", "||"};
	static const char *const prefixes[] = {"-",        "~",        "!",       "(int8)",
					       "(int16)",  "(int32)",  "(int64)", "(uint8)",
					       "(uint16)", "(uint32)", "(uint64)"};

	if (!depth || !below(8)) {
		if (below(4))
			fprintf(f, "arg%u", below(RIG_ARGS));
		else if (below(3))
			fprintf(f, "%u", below(70));
		else
			fprintf(f, "%lu", draw_value() >> 1);
		return;
	}
	fputc('(', f);
	switch (below(10)) {
	case 0:
		expression(f, depth - 1);
		fputs(" ? ", f);
		expression(f, depth - 1);
		fputs(" : ", f);
		expression(f, depth - 1);
		break;
	case 1:
	case 2:
		fputs(prefixes[below(N(prefixes))], f);
		expression(f, depth - 1);
		break;
	default:
		expression(f, depth - 1);
		fprintf(f, " %s ", operators[below(N(operators))]);
		expression(f, depth - 1);
	}
	fputc(')', f);
}

/* A constant division by zero is an error of the language, not a program. */
static bool is_expression(struct rig *r, const char *text)
{
	struct weft_text t = {.s = text, .verbatim = true};
	struct weft_node *n;
	bool fine = !weft_lang_expr(&r->env, &t, r->arena, &n, r->err);

	weft_error_clear(r->err);
	return fine && n->type.kind == WEFT_VALUE_INT;
}

static void make_clause(struct rig *r, unsigned index)
{
	char *text, value[4096], into[32];
	size_t size;

	do {
		FILE *f = open_memstream(&text, &size);

		cr_assert(f);
		expression(f, 1 + below(5));
		fclose(f);
		snprintf(value, sizeof(value), "value||(int64)(%s)", text);
		free(text);
	} while (!is_expression(r, value + strlen("value||")));
	snprintf(into, sizeof(into), "into||s%u", index);
	rig_clause(r, NULL, "sum", into, value, NULL);
}

static unsigned one_program(void)
{
	unsigned failures = 0;
	struct rig r;

	rig_init(&r);
	for (unsigned i = 0; i < RIG_ARGS; i++) {
		static const uint8_t sizes[] = {8, 8, 8, 4, 2, 1};

		rig_arg(&r, i, sizes[below(N(sizes))], below(2));
	}
	for (unsigned i = 0; i < EXPRESSIONS; i++)
		make_clause(&r, i);
	rig_load(&r);
	for (unsigned v = 0; v < VALUES; v++) {
		uint64_t words[RIG_ARGS], before = rig_losses(&r), faults = 0;

		for (unsigned i = 0; i < RIG_ARGS; i++)
			words[i] = draw_value();
		for (unsigned i = 0; i < EXPRESSIONS; i++)
			rig_clear_slots(&r, r.clauses[i].actions[0].into);
		rig_run(&r, words);
		for (unsigned i = 0; i < EXPRESSIONS; i++) {
			int64_t expected = 0;
			uint64_t got = rig_slot(&r, r.clauses[i].actions[0].into, 0);

			if (!eval(r.clauses[i].actions[0].value, words, &expected)) {
				expected = 0;
				faults++;
			}
			if (got == (uint64_t)expected)
				continue;
			failures++;
			cr_expect_fail("%s of %lx %lx %lx %lx %lx %lx is %lx, not %lx",
				       r.raw[i].actions[0].items[1].text.s, words[0], words[1],
				       words[2], words[3], words[4], words[5], (uint64_t)expected,
				       got);
		}
		cr_expect(rig_losses(&r) - before == faults, "%lu faults, not %lu",
			  rig_losses(&r) - before, faults);
	}
	rig_finish(&r);
	return failures;
}

Test(compiler_random, differential, .timeout = 600)
{
	const char *seed = getenv("WEFT_RANDOM_SEED"), *rounds = getenv("WEFT_RANDOM_ROUNDS");
	unsigned long n = rounds ? strtoul(rounds, NULL, 10) : ROUNDS, failures = 0;

	state = seed ? strtoull(seed, NULL, 10) : 20240917;
	for (unsigned long i = 0; i < n && failures < 10; i++)
		failures += one_program();
}
