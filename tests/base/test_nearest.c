/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/base.h"

static const char *const actions[] = {"count",  "sum",      "avg",       "min",        "max",
				      "stddev", "quantize", "lquantize", "llquantize", "emit",
				      "printf", "show",     "clear",     "exit"};
static const char *const functions[] = {
	"vfs_read",    "vfs_write",        "vfs_readv", "do_sys_open",
	"tcp_sendmsg", "kmem_cache_alloc", "x"};

#define N(a) (sizeof(a) / sizeof((a)[0]))

Test(nearest, table)
{
	static const struct {
		const char *word;
		const char *const *candidates;
		size_t n;
		const char *near;
	} rows[] = {
		{"count", actions, N(actions), "count"},
		{"cuont", actions, N(actions), "count"},  /* transposition */
		{"coun", actions, N(actions), "count"},   /* deletion */
		{"countt", actions, N(actions), "count"}, /* insertion */
		{"sim", actions, N(actions), "sum"},      /* substitution; "min" is two away */
		{"Count", actions, N(actions), "count"},  /* case */
		{"COUNT", actions, N(actions), "count"},
		{"SUM", actions, N(actions), "sum"},
		{"quantise", actions, N(actions), "quantize"},
		{"quantile", actions, N(actions), "quantize"},
		{"lquantise", actions, N(actions), "lquantize"},
		{"print", actions, N(actions), "printf"},
		{"std", actions, N(actions), "stddev"}, /* broken off */
		{"emit_record", actions, N(actions), NULL},
		{"emitted", actions, N(actions), "emit"}, /* went on */
		{"aggregate", actions, N(actions), NULL},
		{"zz", actions, N(actions), NULL},
		{"", actions, N(actions), NULL},
		{"q", actions, N(actions), NULL},
		{"vfs_raed", functions, N(functions), "vfs_read"},
		{"vfs_reads", functions, N(functions), "vfs_read"},
		{"vfs_reda", functions, N(functions), "vfs_read"},
		{"vsf_wirte", functions, N(functions), "vfs_write"},
		{"do_sys_opne", functions, N(functions), "do_sys_open"},
		{"kmem_cache_aloc", functions, N(functions), "kmem_cache_alloc"},
		{"kmem_cahce_aloc", functions, N(functions), "kmem_cache_alloc"},
		{"kmem_cache_free", functions, N(functions), NULL},
		{"tcp", functions, N(functions), "tcp_sendmsg"},
		{"y", functions, N(functions), NULL},
	};

	for (size_t i = 0; i < N(rows); i++) {
		const char *near = weft_nearest(rows[i].word, rows[i].candidates, rows[i].n);

		cr_expect(near == rows[i].near ||
				  (near && rows[i].near && !strcmp(near, rows[i].near)),
			  "'%s' gave '%s', not '%s'", rows[i].word, near ? near : "(none)",
			  rows[i].near ? rows[i].near : "(none)");
	}
}

Test(nearest, an_edit_is_nearer_than_a_prefix_and_the_shorter_prefix_nearer)
{
	static const char *const a[] = {"profile-99hz-long", "profile-98hz"};
	static const char *const b[] = {"sched_switch_to", "sched_switch"};

	cr_expect_str_eq(weft_nearest("profile-99hz", a, N(a)), "profile-98hz");
	cr_expect_str_eq(weft_nearest("sched", b, N(b)), "sched_switch");
}

Test(nearest, the_first_of_equals_is_taken_and_the_candidate_itself_returned)
{
	static const char *const c[] = {"cat", "car"};

	cr_expect_eq(weft_nearest("cap", c, N(c)), c[0]);
	cr_expect_null(weft_nearest("cap", NULL, 0));
}

Test(nearest, long_words_are_no_trouble)
{
	char word[4097], candidate[4097];
	const char *const c[] = {candidate};

	memset(word, 'a', 4096);
	word[4096] = '\0';
	memcpy(candidate, word, sizeof(word));
	candidate[0] = 'b';
	candidate[2000] = 'c';
	candidate[4095] = '\0';
	cr_expect_eq(weft_nearest(word, c, 1), candidate, "three edits");
	candidate[3000] = 'd';
	cr_expect_null(weft_nearest(word, c, 1), "four edits");
}

/* The same cost from the whole table, as the textbook has it: 2 an edit, 1 a change of case. */
static unsigned int whole_table(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned int d[16][16];

	for (size_t i = 0; i <= na; i++) {
		for (size_t j = 0; j <= nb; j++) {
			unsigned int cost, best;

			if (i == 0 || j == 0) {
				d[i][j] = (unsigned int)(i + j) * 2;
				continue;
			}
			cost = a[i - 1] == b[j - 1] ? 0 : (a[i - 1] ^ b[j - 1]) == 0x20 ? 1 : 2;
			best = d[i - 1][j - 1] + cost;
			if (d[i - 1][j] + 2 < best)
				best = d[i - 1][j] + 2;
			if (d[i][j - 1] + 2 < best)
				best = d[i][j - 1] + 2;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 2 < best)
				best = d[i - 2][j - 2] + 2;
			d[i][j] = best;
		}
	}
	return d[na][nb];
}

static size_t random_word(char *word, unsigned int *seed)
{
	size_t n = 1 + (size_t)rand_r(seed) % 12;

	for (size_t i = 0; i < n; i++)
		word[i] = "abcA"[rand_r(seed) % 4];
	word[n] = '\0';
	return n;
}

Test(nearest, agrees_with_the_whole_table)
{
	unsigned int seed = 7, near = 0;

	for (int i = 0; i < 200000; i++) {
		char a[16], b[16];
		const char *const c[] = {b};
		size_t na = random_word(a, &seed), nb = random_word(b, &seed);
		unsigned int most = na >= 9 ? 6 : na >= 3 ? (unsigned int)na / 3 * 2 : 1;
		bool expected = whole_table(a, na, b, nb) <= most;

		if (strncasecmp(a, b, na < nb ? na : nb) == 0)
			continue; /* near for another reason */
		near += expected;
		cr_assert_eq(weft_nearest(a, c, 1) != NULL, expected, "'%s' and '%s'", a, b);
	}
	cr_expect_gt(near, 1000, "both answers were seen");
}

Test(nearest, lists_all_that_there_is)
{
	static const char *const names[] = {"one", "two", "three"};
	char out[64];

	cr_expect_str_eq(weft_list_names(names, 0, out, sizeof(out)), "");
	cr_expect_str_eq(weft_list_names(names, 1, out, sizeof(out)), "`one`");
	cr_expect_str_eq(weft_list_names(names, 2, out, sizeof(out)), "`one` and `two`");
	cr_expect_str_eq(weft_list_names(names, 3, out, sizeof(out)), "`one`, `two` and `three`");
	cr_expect_str_eq(weft_list_names(names, 3, out, 20), "`one`, `two` ...");
}
