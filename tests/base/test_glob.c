/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/registry.h"

struct row {
	const char *pattern, *text;
	bool matches;
};

static const struct row rows[] = {
	{"", "", true},
	{"", "a", false},
	{"a", "", false},
	{"abc", "abc", true},
	{"abc", "abd", false},
	{"abc", "ab", false},
	{"ab", "abc", false},
	/* stars */
	{"*", "", true},
	{"*", "anything", true},
	{"**", "", true},
	{"a*", "a", true},
	{"a*", "abc", true},
	{"a*", "ba", false},
	{"*c", "abc", true},
	{"*c", "abcd", false},
	{"a*c", "ac", true},
	{"a*c", "abbbc", true},
	{"a*c", "abbb", false},
	{"*b*", "abc", true},
	{"*b*", "ac", false},
	{"a*b*c", "aXbYbZc", true},
	{"a*bc", "abbc", true},
	{"*ab", "aab", true},
	{"*aab", "aaab", true},
	{"a**b", "ab", true},
	{"*a*a*a*", "aa", false},
	{"*a*a*a*", "aaa", true},
	/* question marks */
	{"?", "", false},
	{"?", "a", true},
	{"?", "ab", false},
	{"a?c", "abc", true},
	{"a?c", "ac", false},
	{"*?", "", false},
	{"*?", "a", true},
	{"?*?", "a", false},
	{"?*?", "ab", true},
	/* classes */
	{"[abc]", "b", true},
	{"[abc]", "d", false},
	{"[abc]", "", false},
	{"[abc]", "ab", false},
	{"[a-c]x", "bx", true},
	{"[a-c]x", "dx", false},
	{"[!a-c]", "d", true},
	{"[!a-c]", "b", false},
	{"[c-a]", "b", false},
	{"[]]", "]", true},
	{"[]a]", "a", true},
	{"[!]]", "]", false},
	{"[!]]", "a", true},
	{"[a-]", "-", true},
	{"[a-]", "b", false},
	{"[-a]", "-", true},
	{"[a-c-e]", "d", false},
	{"[a-c-e]", "-", true},
	{"[a-cx-z]", "y", true},
	{"[\\]]", "]", true},
	{"[\\]]", "\\", false},
	{"[a\\-c]", "b", false},
	{"[a\\-c]", "-", true},
	{"[\\!a]", "!", true},
	{"[*]", "*", true},
	{"[*]", "a", false},
	{"[?]", "a", false},
	{"*[0-9]", "fn7", true},
	{"*[0-9]", "fn", false},
	{"*[0-9]*[0-9]", "a1b2", true},
	{"*[0-9]*[0-9]", "a1b", false},
	{"[^a]", "^", true},
	{"[^a]", "b", false},
	/* escapes */
	{"\\*", "*", true},
	{"\\*", "a", false},
	{"\\?", "?", true},
	{"\\[a]", "[a]", true},
	{"\\a", "a", true},
	{"\\\\", "\\", true},
	{"operator\\[\\]", "operator[]", true},
	{"a\\:b", "a:b", true},
	{"*\\*", "ab*", true},
	{"*\\*", "ab", false},
	/* not closed, nothing to escape: themselves */
	{"[", "[", true},
	{"[abc", "[abc", true},
	{"[abc", "a", false},
	{"a\\", "a\\", true},
	{"[!", "[!", true},
	{"[]", "[]", true},
	/* bytes above 127 are bytes */
	{"m\xc3\xbcller", "m\xc3\xbcller", true},
	{"m?ller", "m\xc3\xbcller", false},
	{"m??ller", "m\xc3\xbcller", true},
	{"[\x80-\xff]", "\xc3", true},
	{"[a-\xff]", "\xfe", true},
	{"\xff*", "\xff\xfe", true},
	/* C++ */
	{"std::*", "std::vector<int>::push_back(int&&)", true},
	{"*::push_back*", "std::vector<int>::push_back(int&&)", true},
};

Test(glob, table)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];

		cr_expect_eq(weft_glob_match(r->pattern, r->text), r->matches, "'%s' against '%s'",
			     r->pattern, r->text);
	}
}

/* The meaning, in as few words as it takes. */
static bool simple_match(const char *p, const char *t)
{
	if (*p == '\0')
		return *t == '\0';
	if (*p == '*')
		return simple_match(p + 1, t) || (*t != '\0' && simple_match(p, t + 1));
	return *t != '\0' && (*p == '?' || *p == *t) && simple_match(p + 1, t + 1);
}

static void random_text(char *to, const char *alphabet, unsigned int *seed)
{
	size_t n = (size_t)rand_r(seed) % 9;

	for (size_t i = 0; i < n; i++)
		to[i] = alphabet[(size_t)rand_r(seed) % strlen(alphabet)];
	to[n] = '\0';
}

Test(glob, agrees_with_the_simple_matcher)
{
	unsigned int seed = 11, matches = 0;

	for (int i = 0; i < 200000; i++) {
		char pattern[16], text[16];

		random_text(pattern, "ab*?", &seed);
		random_text(text, "ab", &seed);
		matches += simple_match(pattern, text);
		cr_assert_eq(weft_glob_match(pattern, text), simple_match(pattern, text),
			     "'%s' against '%s'", pattern, text);
	}
	cr_expect_gt(matches, 1000, "both answers were seen");
}

/* Exponential matchers do not come back from these. */
Test(glob, pathological_patterns_finish, .timeout = 60)
{
	char pattern[4097], text[4097];

	memset(text, 'a', 4096);
	text[4096] = '\0';
	for (size_t i = 0; i < 4094; i += 2)
		memcpy(&pattern[i], "a*", 2);
	strcpy(&pattern[4094], "b");
	cr_expect_not(weft_glob_match(pattern, text));
	for (size_t i = 0; i < 4092; i += 6)
		memcpy(&pattern[i], "*[!b]*", 6);
	strcpy(&pattern[4092], "b");
	cr_expect_not(weft_glob_match(pattern, text));
	memset(pattern, '*', 4095);
	strcpy(&pattern[4095], "b");
	cr_expect_not(weft_glob_match(pattern, text));
	memset(pattern, '[', 4095);
	pattern[0] = '*';
	pattern[4095] = '\0';
	cr_expect_not(weft_glob_match(pattern, text));
	memset(pattern, '?', 4096);
	pattern[4096] = '\0';
	cr_expect(weft_glob_match(pattern, text));
}

Test(glob, has_magic)
{
	static const struct {
		const char *pattern;
		bool magic;
	} magic[] = {
		{"", false},      {"plain", false},     {"a*", true},     {"?", true},
		{"[a]", true},    {"a\\*b", false},     {"\\[a]", false}, {"[a", false},
		{"\\\\*", true},  {"a\\", false},       {"[]", false},    {"[]]", true},
		{"a-b!c", false}, {"\\?\\*\\[", false}, {"[\\]", false},
	};

	for (size_t i = 0; i < sizeof(magic) / sizeof(magic[0]); i++)
		cr_expect_eq(weft_glob_has_magic(magic[i].pattern), magic[i].magic, "'%s'",
			     magic[i].pattern);
}
