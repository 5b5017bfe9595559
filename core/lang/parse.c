/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From tokens to the untyped tree, by precedence climbing over the operator table.
 *
 * Two bounds keep every recursion finite, here and in what follows: `nesting` counts open
 * parentheses, prefix operators and the like while parsing; the depth of the tree counts also long
 * chains of operators, which are parsed by a loop but make a tree that leans to the left.
 */
#include "core/lang/ast.h"
#include "core/lang/ops.h"
#include "core/lang/parser.h"

#include <string.h>

static int parse_cond(struct weft_parser *p, struct weft_ast **out);

static const struct {
	const char *name;
	struct weft_type type;
} casts[] = {
	{"int8", {.kind = WEFT_VALUE_INT, .size = 1, .is_signed = true}},
	{"int16", {.kind = WEFT_VALUE_INT, .size = 2, .is_signed = true}},
	{"int32", {.kind = WEFT_VALUE_INT, .size = 4, .is_signed = true}},
	{"int64", {.kind = WEFT_VALUE_INT, .size = 8, .is_signed = true}},
	{"uint8", {.kind = WEFT_VALUE_INT, .size = 1}},
	{"uint16", {.kind = WEFT_VALUE_INT, .size = 2}},
	{"uint32", {.kind = WEFT_VALUE_INT, .size = 4}},
	{"uint64", {.kind = WEFT_VALUE_INT, .size = 8}},
};

const struct weft_type *weft_cast_type(const char *name, uint32_t n)
{
	for (size_t i = 0; i < sizeof(casts) / sizeof(casts[0]); i++)
		if (strlen(casts[i].name) == n && memcmp(casts[i].name, name, n) == 0)
			return &casts[i].type;
	return NULL;
}

/* Words of other languages where an operator or a type stands here. */
static const struct {
	const char *word, *instead;
} words[] = {
	{"and", "&&"},          {"or", "||"},           {"not", "!"},
	{"eq", "=="},           {"ne", "!="},           {"mod", "%"},
	{"size_t", "uint64"},   {"int8_t", "int8"},     {"int16_t", "int16"},
	{"int32_t", "int32"},   {"int64_t", "int64"},   {"uint8_t", "uint8"},
	{"uint16_t", "uint16"}, {"uint32_t", "uint32"}, {"uint64_t", "uint64"},
	{"u8", "uint8"},        {"u16", "uint16"},      {"u32", "uint32"},
	{"u64", "uint64"},
};

static const char *word_instead(const char *name)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].word, name) == 0)
			return words[i].instead;
	return NULL;
}

static int fail_deep(struct weft_parser *p, uint32_t at)
{
	return weft_source_fail(&p->lx.src, at, "EXPR_TOO_DEEP",
				"the expression is nested more than %u deep (each operator of a chain "
				"counts)",
				WEFT_EXPR_MAX_DEPTH);
}

static int enter(struct weft_parser *p)
{
	if (++p->nesting > WEFT_EXPR_MAX_DEPTH)
		return fail_deep(p, p->tok.start);
	return 0;
}

/* What stands where something else should. */
static int fail_unexpected(struct weft_parser *p, const char *wanted)
{
	const struct weft_token *t = &p->tok;
	const char *s = p->lx.src.text->s + t->start, *instead;
	int rc;

	if (t->kind == WEFT_TOKEN_END)
		return weft_source_fail(
			&p->lx.src, t->start, "EXPR_SYNTAX",
			"the expression ends where %s is expected%s", wanted,
			p->open ? " (inside { } of YAML, an expression with a comma or "
				  "a colon must be quoted)"
				: "");
	rc = weft_source_fail(&p->lx.src, t->start, "EXPR_SYNTAX",
			      "`%.*s` stands where %s is expected",
			      t->length > 40 ? 40 : (int)t->length, s, wanted);
	instead = t->kind == WEFT_TOKEN_NAME ? word_instead(t->s) : NULL;
	if (instead)
		weft_error_suggest(p->lx.src.err, instead);
	return rc;
}

static uint32_t depth_of(const struct weft_ast *n)
{
	return n ? n->depth : 0;
}

/* Makes a node of what lies between start and the last token taken. */
static int make(struct weft_parser *p, const struct weft_ast *proto, uint32_t start,
		struct weft_ast **out)
{
	struct weft_ast *n = weft_arena_memdup(p->lx.src.arena, proto, sizeof(*proto));

	*out = n;
	if (!n) {
		weft_nomem(p->lx.src.err);
		return -ENOMEM;
	}
	n->start = start;
	n->length = p->end - start;
	for (size_t i = 0; i < 3; i++)
		if (depth_of(n->kid[i]) > n->depth)
			n->depth = depth_of(n->kid[i]);
	if (++n->depth > WEFT_EXPR_MAX_DEPTH)
		return fail_deep(p, start);
	return 0;
}

static int expect_close(struct weft_parser *p)
{
	if (p->tok.kind != WEFT_TOKEN_CLOSE)
		return fail_unexpected(p, "`)`");
	p->open--;
	return weft_parser_advance(p);
}

/* What opens the list is the next token: expressions with commas between them, into of->n and the
 * chain that begins at *tail. */
static int parse_list(struct weft_parser *p, struct weft_ast *of, struct weft_ast **tail,
		      enum weft_token_kind close)
{
	int rc;

	p->open++;
	rc = weft_parser_advance(p);
	while (!rc && (p->tok.kind != close || of->n)) {
		struct weft_ast *item = NULL;

		rc = parse_cond(p, &item);
		if (rc || !item)
			return rc;
		of->n++;
		if (item->depth > of->depth)
			of->depth = item->depth;
		*tail = item;
		tail = &item->next;
		if (p->tok.kind != WEFT_TOKEN_COMMA)
			break;
		rc = weft_parser_advance(p);
	}
	return rc;
}

static int parse_call(struct weft_parser *p, const struct weft_token *name, struct weft_ast **out)
{
	struct weft_ast call = {.kind = WEFT_AST_CALL, .s = name->s};
	int rc = enter(p);

	if (!rc)
		rc = parse_list(p, &call, &call.kid[0], WEFT_TOKEN_CLOSE);
	if (!rc)
		rc = expect_close(p);
	p->nesting--;
	return rc ? rc : make(p, &call, name->start, out);
}

/* Whether what follows a name in parentheses is the operand of a cast. */
static bool is_operand(const struct weft_token *t)
{
	return t->kind == WEFT_TOKEN_NAME || t->kind == WEFT_TOKEN_INT ||
	       t->kind == WEFT_TOKEN_PARAM || t->kind == WEFT_TOKEN_OPEN;
}

static int keep_ctype(struct weft_parser *p, const struct weft_ctype *type,
		      const struct weft_ctype **out)
{
	*out = weft_arena_memdup(p->lx.src.arena, type, sizeof(*type));
	return *out ? 0 : weft_nomem(p->lx.src.err);
}

/* `(int) x`: C's words have better names here. */
static int refuse_type(struct weft_parser *p, uint32_t start, uint32_t length, const char *ours)
{
	int rc = weft_source_fail(&p->lx.src, start, "EXPR_SYNTAX",
				  "`%.*s` is not a type of this language: casts are to int8, int16, "
				  "int32, int64, uint8, uint16, uint32 and uint64",
				  (int)length, p->lx.src.text->s + start);

	weft_error_suggest(p->lx.src.err, ours);
	return rc;
}

/* The `(` of a cast to a C type was taken; else nothing more of it is. */
static int parse_ctype_cast(struct weft_parser *p, struct weft_ast *cast, bool *is_cast)
{
	struct weft_parser before = *p;
	struct weft_ctype type;
	bool found, bare;
	int rc = weft_parse_ctype(p, &type, &found, &bare);

	*is_cast = false;
	if (rc || (!found && !bare))
		return rc;
	rc = weft_parser_advance(p);
	if (rc)
		return rc;
	if (bare && type.ours && is_operand(&p->tok))
		return refuse_type(p, type.start, type.length, type.ours);
	*is_cast = found || (is_operand(&p->tok) && !word_instead(type.name) &&
			     !weft_cast_type(type.name, (uint32_t)strlen(type.name)));
	if (!*is_cast) {
		*p = before;
		return 0;
	}
	p->open--;
	return keep_ctype(p, &type, &cast->ctype);
}

/* `(` was taken: a cast or something in parentheses. */
static int parse_paren(struct weft_parser *p, uint32_t start, bool *is_cast, struct weft_ast *cast,
		       struct weft_ast **out)
{
	const struct weft_type *t =
		p->tok.kind == WEFT_TOKEN_NAME ? weft_cast_type(p->tok.s, p->tok.n) : NULL;
	struct weft_token name = p->tok;
	int rc = parse_ctype_cast(p, cast, is_cast);

	if (rc || *is_cast)
		return rc;
	*is_cast = t != NULL;
	if (t) {
		cast->type = *t;
		rc = weft_parser_advance(p);
		return rc ? rc : expect_close(p);
	}
	rc = parse_cond(p, out);
	if (!rc)
		rc = expect_close(p);
	if (rc)
		return rc;
	/* `(u32) x`: a name alone in parentheses, then a value. */
	if (name.kind == WEFT_TOKEN_NAME && (*out)->kind == WEFT_AST_NAME && word_instead(name.s) &&
	    is_operand(&p->tok))
		return refuse_type(p, name.start, name.length, word_instead(name.s));
	(*out)->start = start; /* parentheses belong to what they enclose */
	(*out)->length = p->end - start;
	return 0;
}

/* sizeof was taken, and `(` is the next token: a type's name, or an expression. */
static int parse_sizeof(struct weft_parser *p, uint32_t start, struct weft_ast **out)
{
	struct weft_ast node = {.kind = WEFT_AST_SIZEOF};
	struct weft_parser before;
	struct weft_ctype type;
	bool found, bare;
	int rc = enter(p);

	p->open++;
	if (!rc)
		rc = weft_parser_advance(p);
	before = *p;
	if (!rc)
		rc = weft_parse_ctype(p, &type, &found, &bare);
	if (!rc && bare && !type.ours && !word_instead(type.name) &&
	    !weft_cast_type(type.name, (uint32_t)strlen(type.name)))
		*p = before; /* what it is, is known later */
	else if (!rc && (found || bare))
		rc = keep_ctype(p, &type, &node.ctype);
	if (!rc && !node.ctype)
		rc = parse_cond(p, &node.kid[0]);
	if (!rc)
		rc = expect_close(p);
	p->nesting--;
	return rc ? rc : make(p, &node, start, out);
}

/* name[a, b]; the bracket is the next token. */
static int parse_index(struct weft_parser *p, uint32_t start, struct weft_ast **out)
{
	struct weft_ast index = {.kind = WEFT_AST_INDEX, .kid = {*out}};
	int rc = enter(p);

	if (!rc)
		rc = parse_list(p, &index, &index.kid[1], WEFT_TOKEN_INDEX_CLOSE);
	if (!rc && !index.n)
		rc = fail_unexpected(p, "a key");
	if (!rc && p->tok.kind != WEFT_TOKEN_INDEX_CLOSE)
		rc = fail_unexpected(p, "`]`");
	p->open--;
	p->nesting--;
	if (!rc)
		rc = weft_parser_advance(p);
	return rc ? rc : make(p, &index, start, out);
}

static int parse_members(struct weft_parser *p, uint32_t start, struct weft_ast **out)
{
	int rc = 0;

	while (!rc && (p->tok.kind == WEFT_TOKEN_DOT || p->tok.kind == WEFT_TOKEN_INDEX_OPEN)) {
		struct weft_ast member = {.kind = WEFT_AST_MEMBER, .kid = {*out}};

		if (p->tok.kind == WEFT_TOKEN_INDEX_OPEN) {
			rc = parse_index(p, start, out);
			continue;
		}
		rc = weft_parser_advance(p);
		if (rc)
			return rc;
		if (p->tok.kind != WEFT_TOKEN_NAME)
			return fail_unexpected(p, "the name of a member");
		member.at = p->tok.start;
		member.s = p->tok.s;
		member.n = p->tok.n;
		rc = weft_parser_advance(p);
		if (!rc)
			rc = make(p, &member, start, out);
	}
	return rc;
}

static int parse_leaf(struct weft_parser *p, struct weft_ast **out)
{
	struct weft_token t = p->tok;
	struct weft_ast leaf = {.s = t.s, .n = t.n};
	int rc;

	switch (t.kind) {
	case WEFT_TOKEN_INT:
		leaf.kind = WEFT_AST_INT;
		leaf.value = (int64_t)t.number.value;
		leaf.is_unsigned = t.number.is_unsigned;
		break;
	case WEFT_TOKEN_STRING:
		leaf.kind = WEFT_AST_STRING;
		break;
	case WEFT_TOKEN_PARAM:
		leaf.kind = WEFT_AST_PARAM;
		break;
	case WEFT_TOKEN_NAME:
		leaf.kind = WEFT_AST_NAME;
		break;
	default:
		return fail_unexpected(p, "a value");
	}
	rc = weft_parser_advance(p);
	if (rc)
		return rc;
	if (t.kind == WEFT_TOKEN_NAME && p->tok.kind == WEFT_TOKEN_OPEN)
		return strcmp(t.s, "sizeof") ? parse_call(p, &t, out)
					     : parse_sizeof(p, t.start, out);
	return make(p, &leaf, t.start, out);
}

static int parse_unary(struct weft_parser *p, struct weft_ast **out);

/* Prefix operators and casts apply to another such. */
static int parse_operand(struct weft_parser *p, struct weft_ast proto, uint32_t start,
			 struct weft_ast **out)
{
	int rc = parse_unary(p, &proto.kid[0]);

	if (rc)
		return rc;
	return make(p, &proto, start, out);
}

static int parse_prefix(struct weft_parser *p, struct weft_ast **out)
{
	struct weft_ast node = {.kind = WEFT_AST_UNARY, .op = (enum weft_op)p->tok.prefix};
	uint32_t start = p->tok.start;
	int rc = weft_parser_advance(p);

	if (rc)
		return rc;
	/* INT64_MIN is written as the negative of a number that int64 does not have. */
	if (node.op == WEFT_OP_NEG && p->tok.kind == WEFT_TOKEN_INT && p->tok.number.is_decimal &&
	    p->tok.number.value == (uint64_t)INT64_MIN) {
		struct weft_ast least = {.kind = WEFT_AST_INT, .value = INT64_MIN};

		rc = weft_parser_advance(p);
		return rc ? rc : make(p, &least, start, out);
	}
	return parse_operand(p, node, start, out);
}

static int parse_open(struct weft_parser *p, struct weft_ast **out)
{
	struct weft_ast node = {.kind = WEFT_AST_CAST};
	uint32_t start = p->tok.start;
	bool is_cast;
	int rc = weft_parser_advance(p);

	p->open++;
	if (!rc)
		rc = parse_paren(p, start, &is_cast, &node, out);
	if (rc)
		return rc;
	return is_cast ? parse_operand(p, node, start, out) : parse_members(p, start, out);
}

static int parse_unary(struct weft_parser *p, struct weft_ast **out)
{
	uint32_t start = p->tok.start;
	int rc = enter(p);

	if (rc)
		return rc;
	if (p->tok.kind == WEFT_TOKEN_OP && p->tok.prefix != WEFT_NO_OP) {
		rc = parse_prefix(p, out);
	} else if (p->tok.kind == WEFT_TOKEN_OPEN) {
		rc = parse_open(p, out);
	} else {
		rc = parse_leaf(p, out);
		if (!rc)
			rc = parse_members(p, start, out);
	}
	p->nesting--;
	return rc;
}

static int parse_binary(struct weft_parser *p, unsigned precedence, struct weft_ast **out)
{
	uint32_t start = p->tok.start;
	int rc = parse_unary(p, out);

	while (!rc && p->tok.kind == WEFT_TOKEN_OP && p->tok.binary != WEFT_NO_OP &&
	       weft_ops[p->tok.binary].precedence >= precedence) {
		struct weft_ast node = {
			.kind = WEFT_AST_BINARY, .op = (enum weft_op)p->tok.binary, .kid = {*out}};

		rc = weft_parser_advance(p);
		if (!rc && node.op == WEFT_OP_MUL && p->tok.prefix == WEFT_OP_DEREF &&
		    p->tok.start == p->end)
			rc = weft_source_fail(&p->lx.src, p->end - 1, "EXPR_SYNTAX",
					      "`**` is not an operator here: there is no power "
					      "operator");
		if (!rc)
			rc = parse_binary(
				p, weft_ops[node.op].precedence + (node.op != WEFT_OP_DEFAULT),
				&node.kid[1]);
		if (!rc)
			rc = make(p, &node, start, out);
	}
	return rc;
}

static int parse_cond(struct weft_parser *p, struct weft_ast **out)
{
	struct weft_ast node = {.kind = WEFT_AST_COND};
	uint32_t start = p->tok.start;
	int rc = parse_binary(p, WEFT_PRECEDENCE_LOOSEST, out);

	if (rc || p->tok.kind != WEFT_TOKEN_QUESTION)
		return rc;
	node.kid[0] = *out;
	rc = enter(p);
	if (!rc)
		rc = weft_parser_advance(p);
	if (!rc)
		rc = parse_cond(p, &node.kid[1]);
	if (!rc && p->tok.kind != WEFT_TOKEN_COLON)
		rc = fail_unexpected(p, "the `:` of `? :`");
	if (!rc)
		rc = weft_parser_advance(p);
	if (!rc)
		rc = parse_cond(p, &node.kid[2]);
	p->nesting--;
	return rc ? rc : make(p, &node, start, out);
}

int weft_parse(const struct weft_source *src, struct weft_ast **out)
{
	struct weft_parser p = {.lx = {.src = *src, .at = src->from}};
	int rc;

	if (strnlen(src->text->s, WEFT_EXPR_MAX_SIZE + 1) > WEFT_EXPR_MAX_SIZE)
		return weft_source_fail(src, 0, "EXPR_TOO_LONG",
					"the expression is longer than %u bytes",
					WEFT_EXPR_MAX_SIZE);
	rc = weft_lex(&p.lx, &p.tok);
	if (rc)
		return rc;
	if (p.tok.kind == WEFT_TOKEN_END)
		return weft_source_fail(src, src->from, "EXPR_SYNTAX", "the expression is empty");
	rc = parse_cond(&p, out);
	if (!rc && p.tok.kind == WEFT_TOKEN_CLOSE)
		rc = weft_source_fail(src, p.tok.start, "EXPR_SYNTAX", "this `)` closes nothing");
	else if (!rc && p.tok.kind == WEFT_TOKEN_INDEX_CLOSE)
		rc = weft_source_fail(src, p.tok.start, "EXPR_SYNTAX", "this `]` closes nothing");
	else if (!rc && p.tok.kind != WEFT_TOKEN_END)
		rc = fail_unexpected(&p, "an operator or the end");
	return rc;
}
