/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* printf formats: pieces and faults. */
#include "core/lang/format.h"
#include "rig.h"

static struct rig r;
static struct weft_format format;
static size_t at;

static void init(void)
{
	rig_init(&r);
}

static void finish(void)
{
	rig_finish(&r);
}

TestSuite(lang_format, .init = init, .fini = finish);

static int parse(const char *text)
{
	weft_error_clear(r.err);
	return weft_format_parse(text, r.arena, &format, &at, r.err);
}

static void expect_piece(size_t i, const char *literal, char conv)
{
	const struct weft_format_piece *p = &format.pieces[i];

	cr_assert(i < format.n_pieces);
	cr_expect(p->literal_size == strlen(literal) && !memcmp(p->literal, literal, p->literal_size),
		  "piece %zu is \"%.*s\"", i, (int)p->literal_size, p->literal);
	cr_expect(p->conv == conv, "piece %zu converts %c", i, p->conv);
}

Test(lang_format, pieces)
{
	cr_assert(parse("100%% of %s: %d%%\n") == 0);
	cr_expect(format.n_conversions == 2 && format.n_pieces == 3);
	expect_piece(0, "100% of ", 's');
	expect_piece(1, ": ", 'd');
	expect_piece(2, "%\n", 0);
	cr_assert(parse("") == 0);
	cr_expect(format.n_conversions == 0 && format.n_pieces == 1);
	expect_piece(0, "", 0);
	cr_assert(parse("%d%u") == 0);
	cr_expect(format.n_pieces == 3);
	expect_piece(1, "", 'u');
}

Test(lang_format, conversions)
{
	static const struct {
		const char *text;
		struct weft_format_piece piece;
	} rows[] = {
		{"%d", {.conv = 'd', .width = -1, .precision = -1}},
		{"%-8s", {.conv = 's', .left = true, .width = 8, .precision = -1}},
		{"%08x", {.conv = 'x', .zero = true, .width = 8, .precision = -1}},
		{"%+d", {.conv = 'd', .plus = true, .width = -1, .precision = -1}},
		{"% d", {.conv = 'd', .space = true, .width = -1, .precision = -1}},
		{"%#X", {.conv = 'X', .alternate = true, .width = -1, .precision = -1}},
		{"%-+ #0i",
		 {.conv = 'i',
		  .left = true,
		  .plus = true,
		  .space = true,
		  .alternate = true,
		  .zero = true,
		  .width = -1,
		  .precision = -1}},
		{"%.3s", {.conv = 's', .width = -1, .precision = 3}},
		{"%.s", {.conv = 's', .width = -1, .precision = 0}},
		{"%10.4o", {.conv = 'o', .width = 10, .precision = 4}},
		{"%1024u", {.conv = 'u', .width = 1024, .precision = -1}},
		{"%lld", {.conv = 'd', .width = -1, .precision = -1}},
		{"%zu", {.conv = 'u', .width = -1, .precision = -1}},
		{"%hhx", {.conv = 'x', .width = -1, .precision = -1}},
		{"%c", {.conv = 'c', .width = -1, .precision = -1}},
		{"%p", {.conv = 'p', .width = -1, .precision = -1}},
	};

	for (size_t i = 0; i < N(rows); i++) {
		const struct weft_format_piece *want = &rows[i].piece, *p;

		cr_assert(parse(rows[i].text) == 0, "%s", rows[i].text);
		p = &format.pieces[0];
		cr_expect(p->conv == want->conv && p->width == want->width &&
				  p->precision == want->precision && p->left == want->left &&
				  p->zero == want->zero && p->plus == want->plus &&
				  p->space == want->space && p->alternate == want->alternate,
			  "%s", rows[i].text);
	}
}

Test(lang_format, FORMAT_BAD)
{
	static const struct {
		const char *text;
		size_t at;
		const char *word;
	} rows[] = {
		{"%", 0, "%%"},
		{"ab%", 2, "not finished"},
		{"ab%-08l", 2, "not finished"},
		{"a %f", 3, "floating"},
		{"a %5.2g", 6, "floating"},
		{"%n", 1, "%n"},
		{"%*d", 1, "`*`"},
		{"%.*d", 2, "`*`"},
		{"%y", 1, "no such"},
		{"%d %\xc3", 4, "no such"},
		{"%1025d", 1, "1024"},
		{"%99999999999999999999d", 1, "1024"},
		{"%.1025d", 2, "1024"},
	};

	for (size_t i = 0; i < N(rows); i++) {
		cr_expect(parse(rows[i].text) < 0, "%s", rows[i].text);
		cr_expect_str_eq(weft_error_tag(r.err), "FORMAT_BAD");
		cr_expect(at == rows[i].at, "%s: at %zu", rows[i].text, at);
		cr_expect(strstr(weft_error_text(r.err), rows[i].word), "%s: %s", rows[i].text,
			  weft_error_text(r.err));
	}
}
