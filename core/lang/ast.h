/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is between the text and the typed tree: tokens and the untyped tree. Places are byte offsets
 * into the text; everything else lives in the arena.
 */
#ifndef WEFT_LANG_AST_H
#define WEFT_LANG_AST_H

#include <errno.h>

#include "core/lang/lang.h"

#define WEFT_EXPR_MAX_SIZE  16384u /* bytes of an expression's text */
#define WEFT_EXPR_MAX_DEPTH 200u   /* levels of nesting, and of the tree */

/* Where errors of one expression go. */
struct weft_source {
	const struct weft_text *text;
	uint32_t from; /* where in the text the expression begins: behind `+=`, for one */
	struct weft_arena *arena;
	struct weft_error *err;
};

/* Reports a fault at an offset; as an expression it is -EINVAL, for those who read and those who
 * check code alike. */
#define weft_source_fail(...) (weft_source_report(__VA_ARGS__), -EINVAL)
void weft_source_report(const struct weft_source *src, uint32_t at, const char *tag,
			const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---- literals ---- */

struct weft_number {
	uint64_t value;
	uint32_t length;   /* bytes of the text */
	bool is_unsigned;  /* does not fit in int64, or says so */
	bool says_so;      /* has the suffix u */
	bool is_decimal;   /* without unit or suffix: a minus before it may make it INT64_MIN */
	const char *tag;   /* NULL, or the error's */
	char message[160]; /* of the error */
};

/* Reads the number that text begins with; it begins with a digit. Reads all letters and digits that
 * follow, so that `12abc` is an error and not two tokens. */
void weft_number_read(const char *text, struct weft_number *out);

/* Reads an escape; text begins with the backslash. Returns its length, or 0 with *why set. */
uint32_t weft_escape_read(const char *text, uint8_t *byte, const char **why);

/* ---- tokens ---- */

enum weft_token_kind {
	WEFT_TOKEN_END,
	WEFT_TOKEN_INT,
	WEFT_TOKEN_STRING,
	WEFT_TOKEN_NAME,
	WEFT_TOKEN_PARAM, /* s is without the $ */
	WEFT_TOKEN_OP,    /* binary, prefix */
	WEFT_TOKEN_QUESTION,
	WEFT_TOKEN_COLON,
	WEFT_TOKEN_OPEN,
	WEFT_TOKEN_CLOSE,
	WEFT_TOKEN_INDEX_OPEN,
	WEFT_TOKEN_INDEX_CLOSE,
	WEFT_TOKEN_DOT,
	WEFT_TOKEN_COMMA,
	WEFT_TOKEN_WRONG, /* of other languages, with a hint; the lexer never returns it */
};

#define WEFT_NO_OP (-1)

struct weft_token {
	enum weft_token_kind kind;
	uint32_t start, length;
	int binary, prefix; /* enum weft_op or WEFT_NO_OP */
	struct weft_number number;
	const char *s; /* NAME, PARAM; STRING: with escapes resolved */
	uint32_t n;
};

struct weft_lexer {
	struct weft_source src;
	uint32_t at;
};

/* 0, or an error that was reported. */
int weft_lex(struct weft_lexer *lx, struct weft_token *out);

/* ---- the untyped tree ---- */

enum weft_ast_kind {
	WEFT_AST_INT,    /* value, is_unsigned */
	WEFT_AST_STRING, /* s, n */
	WEFT_AST_NAME,   /* s */
	WEFT_AST_PARAM,  /* s */
	WEFT_AST_UNARY,  /* op, kid[0] */
	WEFT_AST_BINARY, /* op, kid[0], kid[1]; &&, || and ?? too */
	WEFT_AST_COND,
	WEFT_AST_CAST,   /* type or ctype, kid[0] */
	WEFT_AST_SIZEOF, /* ctype, or kid[0] */
	WEFT_AST_MEMBER, /* kid[0], s */
	WEFT_AST_CALL,   /* s, kid[0]: the first argument, the others by next */
	WEFT_AST_INDEX,  /* kid[0][kid[1], ...]: the first of n keys, the others by next */
};

enum weft_ctype_tag { WEFT_CTYPE_NAME, WEFT_CTYPE_STRUCT, WEFT_CTYPE_UNION, WEFT_CTYPE_ENUM };

/* The name of a type of the kernel's. */
struct weft_ctype {
	enum weft_ctype_tag tag;
	const char *name;
	const char *ours; /* of C's words for integers: what they are called here; else NULL */
	uint8_t stars;
	bool user; /* __user: in the memory of a process */
	uint32_t start, length;
};

struct weft_ast {
	enum weft_ast_kind kind;
	enum weft_op op;
	uint32_t start, length;
	uint32_t at;    /* MEMBER: of its name */
	uint32_t depth; /* of the tree: 1 for a leaf */
	int64_t value;
	bool is_unsigned;
	const char *s;
	uint32_t n; /* bytes of s; CALL: arguments; INDEX: keys */
	struct weft_type type;
	const struct weft_ctype *ctype; /* NULL: type */
	struct weft_ast *kid[3];
	struct weft_ast *next; /* among the arguments of a call, the keys of an element */
};

/* Parses all of the text. 0, or an error that was reported (the first: what follows a slip of
 * syntax is guesswork). */
int weft_parse(const struct weft_source *src, struct weft_ast **out);

/* int8 .. uint64: the names that casts know. */
const struct weft_type *weft_cast_type(const char *name, uint32_t n);

#endif
