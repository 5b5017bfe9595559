/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Whatever the text, the answer is a tree that keeps its promises or an error at a place inside it. */
#include <stdlib.h>

#include "core/lang/format.h"
#include "rig.h"

static struct rig r;
static uint64_t seed;

static void init(void)
{
	rig_init(&r);
}

static void finish(void)
{
	rig_finish(&r);
}

TestSuite(lang_hostile, .init = init, .fini = finish);

static uint64_t pick(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % n;
}

static void expect_answer(const char *text)
{
	struct weft_report report;

	if (rig_expr(&r, text))
		return;
	for (size_t i = 0; !weft_error_report(r.err, i, &report); i++)
		cr_assert(report.pos.line == RIG_LINE && report.pos.column >= RIG_COLUMN &&
				  report.pos.column <= RIG_COLUMN + strlen(text) &&
				  report.text[0] && report.tag[0],
			  "`%s`: %s", text, report.text);
}

Test(lang_hostile, random_bytes, .timeout = 110)
{
	seed = 0xb17e5;
	for (int i = 0; i < 20000; i++) {
		char text[65];
		size_t n = pick(64);

		for (size_t k = 0; k < n; k++)
			text[k] = (char)(1 + pick(255));
		text[n] = '\0';
		expect_answer(text);
		if (i % 1000 == 999) {
			rig_finish(&r);
			rig_init(&r);
		}
	}
}

/* Pieces of the language in no order get further than bytes do. */
Test(lang_hostile, random_tokens, .timeout = 110)
{
	static const char *const pieces[] = {
		"pid",
		"arg0",
		"args",
		".",
		"fd",
		"$n",
		"$zero",
		"$word",
		"execname",
		"\"cat\"",
		"'x'",
		"0",
		"1",
		"-1",
		"0x",
		"5ms",
		"99999999999999999999",
		"(",
		")",
		"(",
		")",
		"?",
		":",
		"+",
		"-",
		"*",
		"/",
		"%",
		"<<",
		">>",
		"<",
		"==",
		"&&",
		"||",
		"!",
		"~",
		"(uint8)",
		"(int)",
		",",
		"stack",
		"(1)",
		"ustack",
		"errno",
		"retval",
		"\"",
		"'",
		"\\",
		"=",
		"[",
		"probefunc",
		"arg5",
		"arg4",
	};
	size_t good = 0;

	seed = 0x70ce5;
	for (int i = 0; i < 40000; i++) {
		char text[512] = "";
		size_t n = 1 + pick(12);

		for (size_t k = 0; k < n; k++) {
			strcat(text, pieces[pick(N(pieces))]);
			if (pick(2))
				strcat(text, " ");
		}
		expect_answer(text);
		good += weft_error_count(r.err) == 0;
		if (i % 1000 == 999) {
			rig_finish(&r);
			rig_init(&r);
		}
	}
	cr_expect(good > 500, "%zu", good);
}

Test(lang_hostile, random_formats)
{
	static const char alphabet[] = "%%%%dsxn*.0123456789-+ #lhz ab\xff";
	struct weft_format format;

	seed = 0xf0f0;
	for (int i = 0; i < 20000; i++) {
		char text[33];
		size_t n = pick(32), at, total = 0;

		for (size_t k = 0; k < n; k++)
			text[k] = alphabet[pick(sizeof(alphabet) - 1)];
		text[n] = '\0';
		weft_error_clear(r.err);
		if (weft_format_parse(text, r.arena, &format, &at, r.err)) {
			cr_assert(at <= n, "%s", text);
			continue;
		}
		for (size_t k = 0; k < format.n_pieces; k++)
			total += format.pieces[k].literal_size + (format.pieces[k].conv != 0);
		cr_assert(total <= n && !format.pieces[format.n_pieces - 1].conv, "%s", text);
	}
}

/* As long as a text may be, of what makes most of the least. */
Test(lang_hostile, long_texts)
{
	static const char *const pieces[] = {"-",   "!",  "~ ",   "(",   "\"\"", "'",
					     "1+",  "a.", "1?",   "1:1", "&&",   "stack(",
					     "$n+", "0x", "\\\"", "<<"};
	char *text = malloc(16385);

	cr_assert(text);
	for (size_t i = 0; i < N(pieces); i++) {
		size_t n = strlen(pieces[i]), k = 0;

		for (; k + n <= 16384; k += n)
			memcpy(text + k, pieces[i], n);
		text[k] = '\0';
		expect_answer(text);
		cr_expect(weft_error_count(r.err) == 1, "%s", pieces[i]);
	}
	free(text);
}
