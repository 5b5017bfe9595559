/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A typed tree as one line, for tests and for explain. */
#include "core/lang/ops.h"
#include "core/lang/sema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_string(FILE *f, const char *s, uint32_t n)
{
	putc('"', f);
	for (uint32_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c == '\n')
			fputs("\\n", f);
		else if (c < ' ' || c == 0x7f)
			fprintf(f, "\\x%02x", c);
		else
			putc(c, f);
	}
	putc('"', f);
}

static void print_int(FILE *f, const struct weft_node *n)
{
	if (n->type.is_signed)
		fprintf(f, "%" PRId64, n->value);
	else
		fprintf(f, "%" PRIu64, (uint64_t)n->value);
}

/* The word that a list begins with, or all of a leaf. */
static void print_head(FILE *f, const struct weft_node *n)
{
	char name[32];

	switch (n->kind) {
	case WEFT_NODE_INT:
		print_int(f, n);
		break;
	case WEFT_NODE_STRING:
		print_string(f, n->string, n->length);
		break;
	case WEFT_NODE_VAR:
		fputs(n->var->name, f);
		break;
	case WEFT_NODE_ARG:
		fprintf(f, "arg%u", n->index);
		break;
	case WEFT_NODE_ENTRY:
		fprintf(f, "entry.arg%u", n->index);
		break;
	case WEFT_NODE_RETVAL:
		fputs("retval", f);
		break;
	case WEFT_NODE_ELAPSED:
		fputs("elapsed", f);
		break;
	case WEFT_NODE_COND:
		putc('?', f);
		break;
	case WEFT_NODE_CAST:
		fputs(weft_type_name(&n->type, name), f);
		break;
	case WEFT_NODE_STACK:
		fprintf(f, "%s(%u)", n->type.space == WEFT_SPACE_USER ? "ustack" : "stack",
			n->type.cap);
		break;
	case WEFT_NODE_CALL:
		fputs(weft_functions[n->function].name, f);
		break;
	case WEFT_NODE_STATE:
		fputs(n->state->name, f);
		break;
	case WEFT_NODE_LOCAL:
		fprintf(f, "this#%u", n->index);
		break;
	case WEFT_NODE_TUPLE:
		fputs("key", f);
		break;
	case WEFT_NODE_DEFAULT:
		fputs("??", f);
		break;
	case WEFT_NODE_DEFINED:
		fputs("defined", f);
		break;
	case WEFT_NODE_READ:
	case WEFT_NODE_PLACE:
		fprintf(f, "%s+%" PRId64, n->access.space == WEFT_SPACE_USER ? "user" : "kernel",
			n->value);
		if (n->access.bits)
			fprintf(f, "[%u:%u]", n->access.shift, n->access.bits);
		break;
	case WEFT_NODE_ELEMENT:
		fprintf(f, "element*%" PRId64, n->value);
		if (n->index)
			fprintf(f, "<%u", n->index);
		break;
	case WEFT_NODE_UNARY:
	case WEFT_NODE_BINARY:
	case WEFT_NODE_LOGICAL:
		fputs(weft_op_text(n->op), f);
		break;
	}
}

static void print_node(FILE *f, const struct weft_node *n, bool types)
{
	bool list = n->kid[0] != NULL;
	char name[32];

	if (list)
		putc('(', f);
	print_head(f, n);
	if (types && n->kind != WEFT_NODE_CAST)
		fprintf(f, ":%s", weft_type_name(&n->type, name));
	for (int i = 0; i < 3 && n->kid[i]; i++) {
		putc(' ', f);
		print_node(f, n->kid[i], types);
	}
	if (list)
		putc(')', f);
}

char *weft_node_print(const struct weft_node *n, bool types, struct weft_arena *arena)
{
	char *text = NULL, *copy = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	print_node(f, n, types);
	if (fclose(f) == 0)
		copy = weft_arena_strndup(arena, text, size);
	free(text);
	return copy;
}
