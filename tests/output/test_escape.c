/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/output/escape.h"

static void expect(void (*escape)(struct weft_buf *, const char *, size_t), const char *s, size_t n,
		   const char *want)
{
	struct weft_buf b = {0};

	escape(&b, s, n);
	weft_buf_put(&b, "", 1);
	cr_expect_str_eq(b.data, want);
	weft_buf_finish(&b);
}

#define TEXT(s, want) expect(weft_escape_text, s, sizeof(s) - 1, want)
#define WORD(s, want) expect(weft_escape_word, s, sizeof(s) - 1, want)
#define JSON(s, want) expect(weft_escape_json, s, sizeof(s) - 1, want)

Test(escape, text_keeps_what_is_harmless)
{
	TEXT("", "");
	TEXT("plain text", "plain text");
	TEXT("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\xa7",
	     "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\xa7");
}

Test(escape, text_disarms_commands_to_terminals)
{
	TEXT("\x1b[2J\x1b]0;owned\x07", "\\x1b[2J\\x1b]0;owned\\x07");
	TEXT("a\nb\tc\rd\x7f", "a\\nb\\tc\\x0dd\\x7f");
	TEXT("nul\0inside", "nul\\x00inside");
	/* CSI as one C1 character, and as a raw byte */
	TEXT("\xc2\x9b"
	     "31m",
	     "\\xc2\\x9b31m");
	TEXT("\x9b"
	     "31m",
	     "\\x9b31m");
	/* right-to-left override */
	TEXT("txt.\xe2\x80\xae"
	     "exe",
	     "txt.\\xe2\\x80\\xaeexe");
}

Test(escape, text_is_unambiguous)
{
	TEXT("\\x1b", "\\\\x1b");
	TEXT("\\", "\\\\");
}

Test(escape, text_shows_what_is_not_utf8)
{
	TEXT("\xff\xfe", "\\xff\\xfe");
	TEXT("caf\xe9", "caf\\xe9");
	TEXT("\xc3", "\\xc3");                            /* cut off */
	TEXT("\xc0\xaf", "\\xc0\\xaf");                   /* overlong */
	TEXT("\xe0\x80\xaf", "\\xe0\\x80\\xaf");          /* overlong */
	TEXT("\xed\xa0\x80", "\\xed\\xa0\\x80");          /* a surrogate */
	TEXT("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* beyond U+10FFFF */
	TEXT("\xe2\x82"
	     "a",
	     "\\xe2\\x82"
	     "a");
}

Test(escape, words_are_quoted_where_they_must_be)
{
	WORD("bash", "bash");
	WORD("", "\"\"");
	WORD("Web Content", "\"Web Content\"");
	WORD("a=b", "\"a=b\"");
	WORD("say \"hi\"", "\"say \\\"hi\\\"\"");
	WORD("a\nb", "a\\nb");
}

Test(escape, json_escapes_by_the_book)
{
	JSON("", "\"\"");
	JSON("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
	JSON("\b\f\n\r\t\x01\x1b\x7f", "\"\\b\\f\\n\\r\\t\\u0001\\u001b\\u007f\"");
	JSON("\xc3\xa9\xf0\x9f\x90\xa7", "\"\xc3\xa9\xf0\x9f\x90\xa7\"");
	JSON("\xc2\x9b", "\"\\u009b\"");
	JSON("\xe2\x80\xae", "\"\\u202e\"");
}

/* Undoes the escape for bytes: what a reader does who wants the original. */
static size_t undo(const char *s, char *out)
{
	size_t n = 0;

	for (; *s; s++) {
		unsigned int byte;

		if (sscanf(s, "\\uef%2x", &byte) == 1) {
			out[n++] = (char)byte;
			s += 5;
		} else {
			out[n++] = *s;
		}
	}
	return n;
}

Test(escape, json_keeps_every_byte)
{
	JSON("caf\xe9!", "\"caf\\uefe9!\"");
	/* the characters that stand for bytes are themselves written as bytes */
	JSON("\xee\xbe\x80", "\"\\uefee\\uefbe\\uef80\"");
	srand(7);
	for (int round = 0; round < 2000; round++) {
		char text[32], back[64];
		struct weft_buf b = {0};
		size_t n = (size_t)rand() % sizeof(text), got;

		for (size_t i = 0; i < n; i++)
			do /* of the others, escape sequences are the same as in C */
				text[i] =
					(char)(rand() % 3 ? 0x80 + rand() % 128 : 'a' + rand() % 26);
			while (text[i] == '\\');
		weft_escape_json(&b, text, n);
		b.data[b.n - 1] = '\0';
		got = undo(b.data + 1, back);
		/* C1 characters and marks of direction have escapes of their own */
		if (!strstr(b.data, "\\u00") && !strstr(b.data, "\\u20") && !strstr(b.data, "\\ufe"))
			cr_expect(got == n && memcmp(back, text, n) == 0, "round %d: %s", round,
				  b.data);
		weft_buf_finish(&b);
	}
}

Test(escape, folded_escapes_the_separator)
{
	struct weft_buf b = {0};

	weft_escape_folded(&b, "a;b\nc d");
	cr_expect(b.n == 11 && memcmp(b.data, "a\\x3bb\\nc d", 11) == 0);
	weft_buf_finish(&b);
}
