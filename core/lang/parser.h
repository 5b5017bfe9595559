/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The parser's state, for the files that parse. */
#ifndef WEFT_LANG_PARSER_H
#define WEFT_LANG_PARSER_H

#include "core/lang/ast.h"

struct weft_parser {
	struct weft_lexer lx;
	struct weft_token tok; /* the next, not yet taken */
	uint32_t end;          /* of the last token taken */
	uint32_t nesting;
	uint32_t open; /* parentheses */
};

static inline int weft_parser_advance(struct weft_parser *p)
{
	p->end = p->tok.start + p->tok.length;
	return weft_lex(&p->lx, &p->tok);
}

/*
 * The name of a C type, where one could stand: *found tells whether it is one for certain, by a
 * keyword, a `*` or a qualifier; of a bare name, *bare tells that it may be. The parser goes on
 * behind it then, and stays where it was otherwise.
 */
int weft_parse_ctype(struct weft_parser *p, struct weft_ctype *out, bool *found, bool *bare);

#endif
