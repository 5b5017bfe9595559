/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* From text to tokens, by tables. The operators of assignment are known, so as to be refused well. */
#include "core/lang/ast.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct weft_pos weft_span_pos(struct weft_span s)
{
	struct weft_pos pos = {0, 0};

	if (!s.text)
		return pos;
	pos = s.text->pos;
	if (s.text->verbatim && pos.line)
		pos.column += s.start;
	return pos;
}

void weft_source_report(const struct weft_source *src, uint32_t at, const char *tag,
			const char *format, ...)
{
	struct weft_span span = {src->text, at, 0};
	va_list ap;

	va_start(ap, format);
	weft_vfail(src->err, -EINVAL, tag, format, ap);
	va_end(ap);
	weft_error_set_pos(src->err, weft_span_pos(span));
	/* Where columns cannot be told, the text must be. */
	if (!src->text->verbatim && src->text->s && src->text->s[0])
		weft_error_context(src->err, "in the expression `%.80s`", src->text->s);
}

#define CHANGES_NOTHING "an expression changes nothing"

struct punct {
	const char *text;
	enum weft_token_kind kind;
	int binary, prefix;
	const char *hint, *suggestion; /* WRONG */
};

#define BOTH(t, b, p)                              \
	{                                          \
		t, WEFT_TOKEN_OP, b, p, NULL, NULL \
	}
#define BINARY(t, b) BOTH(t, b, WEFT_NO_OP)
#define PREFIX(t, p) BOTH(t, WEFT_NO_OP, p)
#define PLAIN(t, k)                                      \
	{                                                \
		t, k, WEFT_NO_OP, WEFT_NO_OP, NULL, NULL \
	}
#define WRONG(t, h, s)                                            \
	{                                                         \
		t, WEFT_TOKEN_WRONG, WEFT_NO_OP, WEFT_NO_OP, h, s \
	}

/* Longer ones first: the first that matches is taken. */
static const struct punct puncts[] = {
	WRONG("<<=", CHANGES_NOTHING, NULL),
	WRONG(">>=", CHANGES_NOTHING, NULL),
	WRONG("===", "equality is written with two signs", "=="),
	WRONG("!==", "inequality is written with one sign after the `!`", "!="),
	WRONG("<=>", "there is no three-way comparison", NULL),
	BINARY("&&", WEFT_OP_LOGAND),
	BINARY("||", WEFT_OP_LOGOR),
	BINARY("<<", WEFT_OP_SHL),
	BINARY(">>", WEFT_OP_SHR),
	BINARY("==", WEFT_OP_EQ),
	BINARY("!=", WEFT_OP_NE),
	BINARY("<=", WEFT_OP_LE),
	BINARY(">=", WEFT_OP_GE),
	BINARY("??", WEFT_OP_DEFAULT),
	WRONG("=<", "less than or equal is written the other way round", "<="),
	WRONG("=>", "greater than or equal is written the other way round", ">="),
	WRONG("=~", "there are no regular expressions", NULL),
	WRONG("<>", "inequality is written as in C", "!="),
	WRONG("++", CHANGES_NOTHING, NULL),
	WRONG("--", CHANGES_NOTHING "; the negative of a negative is written `- -`", NULL),
	WRONG("+=", CHANGES_NOTHING, NULL),
	WRONG("-=", CHANGES_NOTHING, NULL),
	WRONG("*=", CHANGES_NOTHING, NULL),
	WRONG("/=", CHANGES_NOTHING, NULL),
	WRONG("%=", CHANGES_NOTHING, NULL),
	WRONG("&=", CHANGES_NOTHING, NULL),
	WRONG("|=", CHANGES_NOTHING, NULL),
	WRONG("^=", CHANGES_NOTHING, NULL),
	PLAIN("->", WEFT_TOKEN_DOT),
	WRONG("=", CHANGES_NOTHING "; equality is written with two signs", "=="),
	BOTH("+", WEFT_OP_ADD, WEFT_OP_PLUS),
	BOTH("-", WEFT_OP_SUB, WEFT_OP_NEG),
	BOTH("*", WEFT_OP_MUL, WEFT_OP_DEREF),
	BINARY("/", WEFT_OP_DIV),
	BINARY("%", WEFT_OP_MOD),
	BOTH("&", WEFT_OP_AND, WEFT_OP_ADDRESS),
	BINARY("|", WEFT_OP_OR),
	BINARY("^", WEFT_OP_XOR),
	BINARY("<", WEFT_OP_LT),
	BINARY(">", WEFT_OP_GT),
	PREFIX("!", WEFT_OP_LOGNOT),
	PREFIX("~", WEFT_OP_NOT),
	PLAIN("?", WEFT_TOKEN_QUESTION),
	PLAIN(":", WEFT_TOKEN_COLON),
	PLAIN("(", WEFT_TOKEN_OPEN),
	PLAIN(")", WEFT_TOKEN_CLOSE),
	PLAIN(".", WEFT_TOKEN_DOT),
	PLAIN(",", WEFT_TOKEN_COMMA),
	PLAIN("[", WEFT_TOKEN_INDEX_OPEN),
	PLAIN("]", WEFT_TOKEN_INDEX_CLOSE),
	WRONG("{", "an expression has no blocks", NULL),
	WRONG("}", "an expression has no blocks", NULL),
	WRONG(";", "an expression ends with the text, not with a semicolon", NULL),
};

static bool is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(char c)
{
	return is_name_start(c) || (c >= '0' && c <= '9');
}

static int lex_name(struct weft_lexer *lx, uint32_t from, struct weft_token *out)
{
	const char *s = lx->src.text->s;

	for (lx->at = from; is_name(s[lx->at]); lx->at++)
		;
	out->n = lx->at - from;
	out->s = weft_arena_strndup(lx->src.arena, s + from, out->n);
	return out->s ? 0 : weft_nomem(lx->src.err);
}

static int lex_param(struct weft_lexer *lx, struct weft_token *out)
{
	out->kind = WEFT_TOKEN_PARAM;
	if (!is_name_start(lx->src.text->s[lx->at + 1]))
		return weft_source_fail(&lx->src, lx->at, "EXPR_SYNTAX",
					"`$` must be followed by the name of a parameter");
	return lex_name(lx, lx->at + 1, out);
}

static int lex_number(struct weft_lexer *lx, struct weft_token *out)
{
	out->kind = WEFT_TOKEN_INT;
	weft_number_read(lx->src.text->s + lx->at, &out->number);
	if (out->number.tag)
		return weft_source_fail(&lx->src, lx->at, out->number.tag, "%s",
					out->number.message);
	lx->at += out->number.length;
	return 0;
}

/* What stands between quotes, with escapes resolved. */
static int lex_quoted(struct weft_lexer *lx, const char **out, uint32_t *n)
{
	const char *s = lx->src.text->s, *why = NULL;
	char quote = s[lx->at];
	uint32_t start = lx->at, end = start + 1;
	uint8_t *buf;

	while (s[end] != quote && s[end] != '\0' && s[end] != '\n')
		end += s[end] == '\\' && s[end + 1] != '\0' ? 2 : 1;
	if (s[end] != quote)
		return weft_source_fail(&lx->src, start, "EXPR_STRING_UNCLOSED",
					"nothing closes what this quotation mark (%c) opens", quote);
	buf = weft_arena_alloc(lx->src.arena, end - start);
	if (!buf) {
		weft_nomem(lx->src.err);
		return -ENOMEM;
	}
	lx->at = start + 1;
	for (*n = 0; lx->at < end; (*n)++) {
		uint32_t length = 1;

		buf[*n] = (uint8_t)s[lx->at];
		if (s[lx->at] == '\\') {
			length = weft_escape_read(s + lx->at, &buf[*n], &why);
			if (length == 0)
				return weft_source_fail(&lx->src, lx->at, "EXPR_ESCAPE",
							"this backslash escapes nothing: %s", why);
			if (buf[*n] == 0 && quote == '"')
				return weft_source_fail(&lx->src, lx->at, "EXPR_ESCAPE",
							"a string cannot contain the byte 0, which "
							"ends strings in memory");
		}
		lx->at += length;
	}
	lx->at = end + 1;
	*out = (const char *)buf;
	return 0;
}

static int lex_string(struct weft_lexer *lx, struct weft_token *out)
{
	out->kind = WEFT_TOKEN_STRING;
	return lex_quoted(lx, &out->s, &out->n);
}

static int lex_character(struct weft_lexer *lx, struct weft_token *out)
{
	uint32_t start = lx->at, n;
	const char *s;
	int rc = lex_quoted(lx, &s, &n);

	if (rc)
		return rc;
	if (n != 1)
		return weft_source_fail(&lx->src, start, "EXPR_SYNTAX",
					"between single quotes stands one byte; strings have double "
					"quotes");
	out->kind = WEFT_TOKEN_INT;
	out->number.value = (uint8_t)s[0];
	return 0;
}

static int lex_punct(struct weft_lexer *lx, struct weft_token *out)
{
	const char *s = lx->src.text->s + lx->at;

	for (size_t i = 0; i < sizeof(puncts) / sizeof(puncts[0]); i++) {
		const struct punct *p = &puncts[i];

		if (strncmp(s, p->text, strlen(p->text)) != 0)
			continue;
		if (p->kind == WEFT_TOKEN_WRONG) {
			int rc = weft_source_fail(&lx->src, lx->at, "EXPR_SYNTAX",
						  "`%s` is not an operator here: %s", p->text,
						  p->hint);

			if (p->suggestion)
				weft_error_suggest(lx->src.err, p->suggestion);
			return rc;
		}
		out->kind = p->kind;
		out->binary = p->binary;
		out->prefix = p->prefix;
		lx->at += (uint32_t)strlen(p->text);
		return 0;
	}
	if (*s > ' ' && *s < 0x7f)
		return weft_source_fail(&lx->src, lx->at, "EXPR_CHARACTER",
					"`%c` has no meaning in an expression", *s);
	return weft_source_fail(&lx->src, lx->at, "EXPR_CHARACTER",
				"the byte 0x%02x has no meaning outside a string",
				(unsigned char)*s);
}

int weft_lex(struct weft_lexer *lx, struct weft_token *out)
{
	const char *s = lx->src.text->s;
	int rc;
	char c;

	memset(out, 0, sizeof(*out));
	out->binary = out->prefix = WEFT_NO_OP;
	while (s[lx->at] == ' ' || s[lx->at] == '\t' || s[lx->at] == '\n' || s[lx->at] == '\r')
		lx->at++;
	out->start = lx->at;
	c = s[lx->at];
	if (c == '\0') {
		rc = 0;
	} else if (is_name_start(c)) {
		out->kind = WEFT_TOKEN_NAME;
		rc = lex_name(lx, lx->at, out);
	} else if (c >= '0' && c <= '9') {
		rc = lex_number(lx, out);
	} else if (c == '"') {
		rc = lex_string(lx, out);
	} else if (c == '\'') {
		rc = lex_character(lx, out);
	} else if (c == '$') {
		rc = lex_param(lx, out);
	} else {
		rc = lex_punct(lx, out);
	}
	out->length = lx->at - out->start;
	return rc;
}
