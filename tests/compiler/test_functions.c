/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions of strings and numbers in the kernel, against what they are worth worked out here. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

#define MOST 1024u

/* ---- what is expected ---- */

static void want_substr(const char *s, int64_t start, int64_t n, char *out)
{
	int64_t length = (int64_t)strlen(s), at = 0;

	if (start < 0)
		start = start + length < 0 ? 0 : start + length;
	for (int64_t i = start; i < length && at < n; i++)
		out[at++] = s[i];
	out[at] = '\0';
}

static void want_basename(const char *s, char *out)
{
	char copy[MOST], *last;
	size_t n;

	strcpy(copy, s);
	for (n = strlen(copy); n > 1 && copy[n - 1] == '/'; n--)
		copy[n - 1] = '\0';
	last = strrchr(copy, '/');
	strcpy(out, last && last[1] ? last + 1 : copy);
}

/* ---- what comes out ---- */

/* One emit of fields whose one input is the string at arg0, and arg1, arg2. */
struct run {
	struct rig r;
	const struct weft_record_header *h;
};

static void start(struct run *t, uint32_t strsize, const char *fields[8])
{
	const char *f[8] = {0};

	for (int i = 0; i < 8 && fields[i]; i++)
		f[i] = fields[i];
	rig_init(&t->r);
	t->r.set.options.strsize = strsize;
	rig_clause(&t->r, NULL, "emit", f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], NULL);
	rig_load(&t->r);
}

static bool run(struct run *t, const void *s, int64_t a, int64_t b)
{
	const uint64_t words[RIG_ARGS] = {(uintptr_t)s, (uint64_t)a, (uint64_t)b};
	uint32_t size;

	rig_run(&t->r, words);
	t->h = rig_record(&t->r, &size);
	return t->h != NULL;
}

static const char *at(const struct run *t, size_t i)
{
	return (const char *)(t->h + 1) + t->r.plan->schemas[0].fields[i].offset;
}

static int64_t number(const struct run *t, size_t i)
{
	const struct weft_field_layout *f = &t->r.plan->schemas[0].fields[i];
	int64_t v = 0;

	memcpy(&v, at(t, i), f->size);
	return v;
}

/* The text, and that nothing but zeros follows it. */
static void expect_text(const struct run *t, size_t i, const char *want, const char *of)
{
	const struct weft_field_layout *f = &t->r.plan->schemas[0].fields[i];
	char padded[MOST] = {0};

	cr_assert(strlen(want) < f->size, "%zu bytes of `%s` in %u", strlen(want), of, f->size);
	strcpy(padded, want);
	cr_expect(!memcmp(at(t, i), padded, f->size), "%s of `%s`: `%.*s`, not `%s`", f->name, of,
		  (int)f->size, at(t, i), want);
}

static const uint32_t sizes[] = {8, 13, 16, 64, 100, 128, 1024};

/* Strings of the lengths at which something changes, made of a few letters. */
static size_t lengths(uint32_t cap, uint32_t out[16])
{
	const uint32_t all[] = {0, 1, 2, 3, 6, 7, 8, 9, 15, 16, 63, 64, cap - 3, cap - 2, cap - 1};
	size_t n = 0;

	for (size_t i = 0; i < N(all); i++)
		if (all[i] < cap)
			out[n++] = all[i];
	return n;
}

static void fill(char *s, uint32_t n, unsigned seed)
{
	for (uint32_t i = 0; i < n; i++) {
		seed = seed * 1103515245 + 12345;
		s[i] = "ab/.b/xa"[seed >> 16 & 7];
	}
	s[n] = '\0';
}

Test(compiler_functions, strlen_and_basename)
{
	const char *fields[8] = {"|l|strlen(copyinstr(arg0))", "|b|basename(copyinstr(arg0))",
				 "|lb|strlen(basename(copyinstr(arg0)))"};
	char s[MOST], want[MOST];
	uint32_t n[16];

	for (size_t k = 0; k < N(sizes); k++) {
		struct run t;

		start(&t, sizes[k], fields);
		for (size_t i = 0; i < lengths(sizes[k], n); i++)
			for (unsigned seed = 0; seed < 6; seed++) {
				fill(s, n[i], seed * 77 + (unsigned)i);
				cr_assert(run(&t, s, 0, 0));
				want_basename(s, want);
				cr_expect(number(&t, 0) == n[i], "%s", s);
				expect_text(&t, 1, want, s);
				cr_expect(number(&t, 2) == (int64_t)strlen(want), "%s", s);
			}
		cr_expect(!rig_losses(&t.r));
		rig_finish(&t.r);
	}
}

Test(compiler_functions, basename_of_paths)
{
	static const char *const paths[][2] = {
		{"", ""},
		{"/", "/"},
		{"//", "/"},
		{"a", "a"},
		{"/a", "a"},
		{"a/", "a"},
		{"/usr/lib/x", "x"},
		{"/usr/lib/x//", "x"},
		{"a//b", "b"},
		{"///a///", "a"},
		{"/1234567", "1234567"},
		{"dir/.x", ".x"},
	};
	const char *fields[8] = {"|b|basename(copyinstr(arg0))"};
	struct run t;

	start(&t, 16, fields);
	for (size_t i = 0; i < N(paths); i++) {
		cr_assert(run(&t, paths[i][0], 0, 0));
		expect_text(&t, 0, paths[i][1], paths[i][0]);
	}
	rig_finish(&t.r);
}

Test(compiler_functions, substr)
{
	const char *fields[8] = {
		"|a|substr(copyinstr(arg0), arg1)", "|b|substr(copyinstr(arg0), arg1, arg2)",
		"|c|substr(copyinstr(arg0), 2, 3)", "|d|substr(copyinstr(arg0), -3)",
		"|e|substr(copyinstr(arg0), (uint64) arg1, (uint64) arg2)"};
	static const int64_t numbers[] = {0,  1,  2,    3,    7,         8,         100,
					  -1, -2, -100, 1023, INT64_MAX, INT64_MIN, 127};
	static const uint32_t caps[] = {8, 64, 128, 1024};
	char s[MOST], want[MOST];
	uint32_t n[16];

	for (size_t k = 0; k < N(caps); k++) {
		struct run t;

		start(&t, caps[k], fields);
		for (size_t i = 0; i < lengths(caps[k], n); i++)
			for (size_t a = 0; a < N(numbers) * N(numbers); a++) {
				int64_t from = numbers[a / N(numbers)], of = numbers[a % N(numbers)];

				fill(s, n[i], (unsigned)a);
				cr_assert(run(&t, s, from, of));
				want_substr(s, from, INT64_MAX, want);
				expect_text(&t, 0, want, s);
				want_substr(s, from, of, want);
				expect_text(&t, 1, want, s);
				want_substr(s, 2, 3, want);
				expect_text(&t, 2, want, s);
				want_substr(s, -3, INT64_MAX, want);
				expect_text(&t, 3, want, s);
				/* unsigned, a negative one is beyond every end */
				want_substr(s, from < 0 ? INT64_MAX : from, of < 0 ? INT64_MAX : of,
					    want);
				expect_text(&t, 4, want, s);
			}
		cr_expect(!rig_losses(&t.r));
		rig_finish(&t.r);
	}
}

Test(compiler_functions, searching)
{
	static const char *const needles[] = {"a",
					      "/",
					      "ab",
					      "b/x",
					      "xa/b",
					      "ab/.b",
					      "/usr/",
					      "ab/.b/x",
					      "ab/.b/xa",
					      "ab/.b/xab",
					      "zzzzzzzzzzzzzzzzz"};
	static const uint32_t caps[] = {32, 128, 1024};
	char s[MOST], field[3][80];
	uint32_t n[16];

	for (size_t k = 0; k < N(caps); k++)
		for (size_t w = 0; w < N(needles); w++) {
			const char *what = needles[w];
			const char *fields[8] = {field[0], field[1], field[2]};
			size_t long_ = strlen(what);
			struct run t;

			snprintf(field[0], 80, "|c|strcontains(copyinstr(arg0), \"%s\")", what);
			snprintf(field[1], 80, "|s|startswith(copyinstr(arg0), \"%s\")", what);
			snprintf(field[2], 80, "|e|endswith(copyinstr(arg0), \"%s\")", what);
			start(&t, caps[k], fields);
			for (size_t i = 0; i < lengths(caps[k], n); i++)
				for (unsigned seed = 0; seed < 12; seed++) {
					fill(s, n[i], seed * 31 + (unsigned)w);
					/* there by intent: at the end, at the beginning, between */
					if (n[i] >= long_ && seed % 4 == 1)
						memcpy(s + n[i] - long_, what, long_);
					if (n[i] >= long_ && seed % 4 == 2)
						memcpy(s, what, long_);
					if (n[i] >= long_ && seed % 4 == 3)
						memcpy(s + (n[i] - long_) / 2, what, long_);
					cr_assert(run(&t, s, 0, 0));
					cr_expect(number(&t, 0) == (strstr(s, what) != NULL),
						  "contains `%s`: `%s`", what, s);
					cr_expect(number(&t, 1) == !strncmp(s, what, long_),
						  "begins with `%s`: `%s`", what, s);
					cr_expect(number(&t, 2) == (n[i] >= long_ &&
								    !strcmp(s + n[i] - long_, what)),
						  "ends with `%s`: `%s`", what, s);
				}
			cr_expect(!rig_losses(&t.r));
			rig_finish(&t.r);
		}
}

static uint64_t count_when(const char *when, const char *s, int64_t a)
{
	const uint64_t words[RIG_ARGS] = {(uintptr_t)s, (uint64_t)a};
	struct rig r;
	uint64_t n;

	/* A forked child has none of the file's pages yet: what the program reads must be resident. */
	(void)*(const volatile char *)s;
	rig_init(&r);
	rig_clause(&r, when, "count", "into||c", NULL);
	rig_load(&r);
	rig_run(&r, words);
	n = rig_slot(&r, "c", 0);
	cr_expect(!rig_losses(&r), "%s", when);
	rig_finish(&r);
	return n;
}

Test(compiler_functions, in_conditions)
{
	cr_expect(count_when("strcontains(copyinstr(arg0), \"lib\")", "/usr/lib/x", 0) == 1);
	cr_expect(count_when("!strcontains(copyinstr(arg0), \"lib\")", "/usr/lib/x", 0) == 0);
	cr_expect(count_when("strcontains(copyinstr(arg0), \"\")", "", 0) == 1);
	cr_expect(count_when("startswith(copyinstr(arg0), \"\")", "x", 0) == 1);
	cr_expect(count_when("endswith(copyinstr(arg0), \"\")", "", 0) == 1);
	cr_expect(count_when("basename(copyinstr(arg0)) == \"x\"", "/usr/lib/x", 0) == 1);
	cr_expect(count_when("\"xyz\" != basename(copyinstr(arg0))", "/usr/lib/x", 0) == 1);
	cr_expect(count_when("copyinstr(arg0) == copyinstr(arg0)", "same", 0) == 1);
	cr_expect(count_when("substr(copyinstr(arg0), 1) == substr(copyinstr(arg0), 2)", "aab",
			     0) == 0);
	cr_expect(count_when("substr(\"abcdef\", arg1) == \"def\"", "", 3) == 1);
	cr_expect(count_when("(arg1 ? copyinstr(arg0) : \"none\") == \"none\"", "some", 0) == 1);
	cr_expect(count_when("(arg1 ? copyinstr(arg0) : \"none\") == \"some\"", "some", 1) == 1);
	cr_expect(count_when("strlen(execname) > 0 && strlen(copyinstr(arg0)) == 3", "abc", 0) == 1);
	cr_expect(
		count_when("startswith(basename(substr(copyinstr(arg0), 1)), \"b\") && "
			   "endswith(copyinstr(arg0), \"b\") && strcontains(copyinstr(arg0), \"/\")",
			   "x/a/b", 0) == 1);
}

/* Several functions of the longest strings in one clause: a verifier must not be worn out. */
Test(compiler_functions, many_in_one_clause)
{
	static const char text[] = "/usr/lib/a/b/c";
	const uint64_t words[RIG_ARGS] = {(uintptr_t)text};
	char when[2048] = "1";
	struct rig r;

	for (int i = 0; i < 16; i++)
		snprintf(when + strlen(when), sizeof(when) - strlen(when),
			 " && strcontains(copyinstr(arg0), \"lib\") && strlen(basename("
			 "copyinstr(arg0))) == 1");
	rig_init(&r);
	r.set.options.strsize = 1024;
	rig_clause(&r, when, "count", "into||c", "by|b|basename(copyinstr(arg0))", NULL);
	rig_load(&r);
	rig_run(&r, words);
	cr_expect(!rig_losses(&r));
	rig_finish(&r);
}

/* CLAUSE_TOO_LARGE: what the verifier would not go through is refused before it is asked. */
Test(compiler_functions, CLAUSE_TOO_LARGE)
{
	char when[8192] = "1";
	struct rig r;

	for (int i = 0; i < 40; i++)
		snprintf(when + strlen(when), sizeof(when) - strlen(when),
			 " && strlen(basename(copyinstr(arg0))) == 1");
	rig_init(&r);
	r.set.options.strsize = 1024;
	rig_clause(&r, when, "count", "into||c", NULL);
	cr_expect(rig_compile(&r) == -E2BIG);
	cr_expect_str_eq(rig_tag(&r), "CLAUSE_TOO_LARGE");
	rig_finish(&r);
}

/* ---- numbers ---- */

static const int64_t edges[] = {0,
				1,
				-1,
				2,
				-2,
				255,
				256,
				65535,
				65536,
				1 << 30,
				INT32_MAX,
				INT32_MIN,
				1LL << 32,
				1LL << 62,
				INT64_MAX,
				INT64_MIN,
				0x0102030405060708,
				-255};

static uint64_t magnitude(int64_t v)
{
	return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

Test(compiler_functions, abs_min_max)
{
	const char *fields[8] = {"|a|abs(arg1)",
				 "|b|abs((uint64) arg1)",
				 "|c|min(arg1, arg2)",
				 "|d|max(arg1, arg2)",
				 "|e|min((uint64) arg1, arg2)",
				 "|f|max((uint64) arg1, arg2)",
				 "|g|min((int8) arg1, 5)"};
	struct run t;

	start(&t, 64, fields);
	for (size_t i = 0; i < N(edges) * N(edges); i++) {
		int64_t a = edges[i / N(edges)], b = edges[i % N(edges)];
		uint64_t ua = (uint64_t)a, ub = (uint64_t)b;

		cr_assert(run(&t, NULL, a, b));
		cr_expect((uint64_t)number(&t, 0) == magnitude(a), "abs %ld", a);
		cr_expect(number(&t, 1) == a);
		cr_expect(number(&t, 2) == (a < b ? a : b), "min %ld %ld", a, b);
		cr_expect(number(&t, 3) == (a > b ? a : b), "max %ld %ld", a, b);
		cr_expect((uint64_t)number(&t, 4) == (ua < ub ? ua : ub));
		cr_expect((uint64_t)number(&t, 5) == (ua > ub ? ua : ub));
		cr_expect(number(&t, 6) == ((int8_t)a < 5 ? (int8_t)a : 5));
	}
	cr_expect(!rig_losses(&t.r));
	rig_finish(&t.r);
}

Test(compiler_functions, byte_orders)
{
	const char *fields[8] = {"|a|ntohs(arg1)",    "|b|ntohl(arg1)", "|c|ntohll(arg1)",
				 "|d|htons(arg1)",    "|e|htonl(arg1)", "|f|htonll(arg1)",
				 "|g|ntohs(arg1) + 1"};
	struct run t;

	start(&t, 64, fields);
	for (size_t i = 0; i < N(edges); i++) {
		int64_t v = edges[i];

		cr_assert(run(&t, NULL, v, 0));
		cr_expect(number(&t, 0) == be16toh((uint16_t)v) && number(&t, 3) == number(&t, 0));
		cr_expect(number(&t, 1) == be32toh((uint32_t)v) && number(&t, 4) == number(&t, 1));
		cr_expect(number(&t, 2) == (int64_t)be64toh((uint64_t)v) &&
			  number(&t, 5) == number(&t, 2));
		cr_expect(number(&t, 6) == be16toh((uint16_t)v) + 1);
	}
	rig_finish(&t.r);
}

/* FAULT_RANGE: of what has no logarithm there is none. */
Test(compiler_functions, FAULT_RANGE)
{
	const char *fields[8] = {"|l|log2(arg1)"}, *unsigned_[8] = {"|l|log2((uint64) arg1)"};
	struct run t, u;
	uint64_t faults = 0, none = 0;

	start(&t, 64, fields);
	start(&u, 64, unsigned_);
	for (unsigned k = 0; k < 64; k++)
		for (int d = -1; d <= 1; d++) {
			uint64_t v = (UINT64_C(1) << k) + (uint64_t)d;

			if (run(&t, NULL, (int64_t)v, 0))
				cr_expect((int64_t)v > 0 && number(&t, 0) == 63 - __builtin_clzll(v),
					  "%lu", v);
			else
				faults++;
			cr_expect((t.h == NULL) == ((int64_t)v <= 0), "%lu", v);
			if (run(&u, NULL, (int64_t)v, 0))
				cr_expect(v && number(&u, 0) == 63 - __builtin_clzll(v), "%lu", v);
			else
				none++;
		}
	cr_expect(none == 1 && faults == 3);
	cr_expect(rig_loss(&t.r, WEFT_LOSS_FAULT_RANGE) == faults && rig_losses(&t.r) == faults);
	cr_expect(rig_loss(&u.r, WEFT_LOSS_FAULT_RANGE) == none && rig_losses(&u.r) == none);
	rig_finish(&t.r);
	rig_finish(&u.r);
}
