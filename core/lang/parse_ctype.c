/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names of C types in casts and in sizeof(): struct sock, const char __user *, unsigned long. What
 * C calls integers by several words is one name of the kernel's type information.
 */
#include <string.h>

#include "core/lang/parser.h"

#define WORDS_MOST 4u

static const struct {
	const char *word;
	enum weft_ctype_tag tag;
} tags[] = {
	{"struct", WEFT_CTYPE_STRUCT},
	{"union", WEFT_CTYPE_UNION},
	{"enum", WEFT_CTYPE_ENUM},
};

static bool is_word(const struct weft_token *t, const char *word)
{
	return t->kind == WEFT_TOKEN_NAME && !strcmp(t->s, word);
}

static bool is_qualifier(const struct weft_token *t, struct weft_ctype *out)
{
	out->user |= is_word(t, "__user");
	return is_word(t, "const") || is_word(t, "volatile") || is_word(t, "restrict") ||
	       is_word(t, "__user") || is_word(t, "__kernel");
}

static int qualifiers(struct weft_parser *p, struct weft_ctype *out, bool *found)
{
	int rc = 0;

	while (!rc && is_qualifier(&p->tok, out)) {
		*found = true;
		rc = weft_parser_advance(p);
	}
	return rc;
}

/* ---- integers of several words ---- */

static const char *const int_words[] = {"unsigned", "signed", "long", "short", "int", "char"};

/* By how often a word is there, in that order; int counts only where it stands alone. */
static const struct {
	uint8_t counts[6];
	const char *name, *ours;
} ints[] = {
	{{0, 0, 0, 0, 1, 0}, "int", "int32"},
	{{0, 1, 0, 0, 0, 0}, "int", "int32"},
	{{1, 0, 0, 0, 0, 0}, "unsigned int", "uint32"},
	{{0, 0, 1, 0, 0, 0}, "long int", "int64"},
	{{1, 0, 1, 0, 0, 0}, "long unsigned int", "uint64"},
	{{0, 0, 2, 0, 0, 0}, "long long int", "int64"},
	{{1, 0, 2, 0, 0, 0}, "long long unsigned int", "uint64"},
	{{0, 0, 0, 1, 0, 0}, "short int", "int16"},
	{{1, 0, 0, 1, 0, 0}, "short unsigned int", "uint16"},
	{{0, 0, 0, 0, 0, 1}, "char", "int8"},
	{{0, 1, 0, 0, 0, 1}, "signed char", "int8"},
	{{1, 0, 0, 0, 0, 1}, "unsigned char", "uint8"},
};

static int int_word(const struct weft_token *t)
{
	for (int i = 0; i < 6; i++)
		if (is_word(t, int_words[i]))
			return i;
	return -1;
}

static int integer(struct weft_parser *p, struct weft_ctype *out)
{
	uint8_t counts[6] = {0};
	unsigned n = 0;
	int rc = 0, i;

	while (!rc && n < WORDS_MOST && (i = int_word(&p->tok)) >= 0) {
		counts[i]++;
		n++;
		rc = weft_parser_advance(p);
	}
	if (n > 1)
		counts[4] = 0;
	if (n > 1 && counts[1] && !counts[5])
		counts[1] = 0;
	if (!memcmp(counts, (uint8_t[6]){0}, 6))
		counts[4] = 1;
	for (size_t k = 0; k < sizeof(ints) / sizeof(ints[0]); k++)
		if (!memcmp(counts, ints[k].counts, sizeof(counts))) {
			out->name = ints[k].name;
			out->ours = ints[k].ours;
		}
	return rc;
}

/* ---- the whole ---- */

static int base(struct weft_parser *p, struct weft_ctype *out, bool *found)
{
	int rc;

	if (p->tok.kind != WEFT_TOKEN_NAME)
		return 0;
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		if (!is_word(&p->tok, tags[i].word))
			continue;
		rc = weft_parser_advance(p);
		if (rc || p->tok.kind != WEFT_TOKEN_NAME)
			return rc;
		out->tag = tags[i].tag;
		*found = true;
		break;
	}
	if (out->tag == WEFT_CTYPE_NAME && int_word(&p->tok) >= 0)
		return integer(p, out);
	out->name = p->tok.s;
	return weft_parser_advance(p);
}

int weft_parse_ctype(struct weft_parser *p, struct weft_ctype *out, bool *found, bool *bare)
{
	struct weft_parser before = *p;
	int rc;

	memset(out, 0, sizeof(*out));
	*found = *bare = false;
	out->start = p->tok.start;
	rc = qualifiers(p, out, found);
	if (!rc)
		rc = base(p, out, found);
	if (!rc)
		rc = qualifiers(p, out, found);
	while (!rc && p->tok.kind == WEFT_TOKEN_OP && p->tok.binary == WEFT_OP_MUL &&
	       out->stars < UINT8_MAX) {
		out->stars++;
		rc = weft_parser_advance(p);
		if (!rc)
			rc = qualifiers(p, out, found);
	}
	if (rc)
		return rc;
	*found = (*found || out->stars) && out->name && p->tok.kind == WEFT_TOKEN_CLOSE;
	*bare = !*found && out->name && p->tok.kind == WEFT_TOKEN_CLOSE;
	out->length = p->end - out->start;
	if (!*found && !*bare)
		*p = before;
	return 0;
}
