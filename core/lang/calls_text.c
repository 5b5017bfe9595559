/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Calls on strings: what they give of constants, and how long what they give of others can be. */
#include "core/lang/sema.h"

#include <string.h>

static bool is_text(const struct weft_node *n)
{
	return n->kind == WEFT_NODE_STRING;
}

static bool is_number(const struct weft_node *n)
{
	return n->kind == WEFT_NODE_INT;
}

struct weft_node *weft_call_strlen(struct weft_sema *s, const struct weft_function *f,
				   struct weft_node **args, const struct weft_ast *a)
{
	if (is_text(args[0]))
		return weft_node_int(s, args[0]->length, false, a);
	return weft_node_call(s, f, args, f->result, a);
}

/* ---- parts ---- */

static struct weft_node *part(struct weft_sema *s, const struct weft_node *of, uint64_t from,
			      uint64_t n, const struct weft_ast *a)
{
	char *copy = weft_arena_strndup(s->src.arena, of->string + from, n);

	return copy ? weft_node_string(s, copy, (uint32_t)n, a) : weft_sema_nomem(s);
}

/* A start as int64, or what is beyond every end. */
static int64_t start_of(const struct weft_node *n)
{
	return !n->type.is_signed && n->value < 0 ? INT64_MAX : n->value;
}

/* How many bytes a count asks for: none if it is negative. */
static uint64_t count_of(const struct weft_node *n)
{
	return n->type.is_signed && n->value < 0 ? 0 : (uint64_t)n->value;
}

static struct weft_node *fold_substr(struct weft_sema *s, struct weft_node **args,
				     const struct weft_ast *a)
{
	const struct weft_node *of = args[0];
	int64_t from = start_of(args[1]), length = of->length;
	uint64_t n = args[2] ? count_of(args[2]) : UINT64_MAX;

	if (from < 0)
		from = from + length < 0 ? 0 : from + length;
	if (from > length)
		from = length;
	if (n > (uint64_t)(length - from))
		n = (uint64_t)(length - from);
	return part(s, of, (uint64_t)from, n, a);
}

struct weft_node *weft_call_substr(struct weft_sema *s, const struct weft_function *f,
				   struct weft_node **args, const struct weft_ast *a)
{
	struct weft_type t = f->result;

	if (is_text(args[0]) && is_number(args[1]) && (!args[2] || is_number(args[2])))
		return fold_substr(s, args, a);
	t.cap = args[0]->type.cap;
	if (args[2] && is_number(args[2]) && count_of(args[2]) < t.cap)
		t.cap = (uint32_t)count_of(args[2]) + 1;
	return weft_node_call(s, f, args, t, a);
}

struct weft_node *weft_call_basename(struct weft_sema *s, const struct weft_function *f,
				     struct weft_node **args, const struct weft_ast *a)
{
	const struct weft_node *of = args[0];
	struct weft_type t = f->result;
	uint32_t from, end;

	if (is_text(of)) {
		for (end = of->length; end > 1 && of->string[end - 1] == '/'; end--)
			;
		for (from = end; from > 0 && of->string[from - 1] != '/'; from--)
			;
		if (end == 1 && from == 1)
			from = 0;
		return part(s, of, from, end - from, a);
	}
	t.cap = of->type.cap;
	return weft_node_call(s, f, args, t, a);
}

/* ---- searching ---- */

static bool found(enum weft_function_id id, const struct weft_node *in, const struct weft_node *what)
{
	uint32_t n = what->length;

	if (n > in->length)
		return false;
	if (id == WEFT_FN_STARTSWITH)
		return !memcmp(in->string, what->string, n);
	if (id == WEFT_FN_ENDSWITH)
		return !memcmp(in->string + in->length - n, what->string, n);
	return memmem(in->string, in->length, what->string, n) != NULL;
}

struct weft_node *weft_call_find(struct weft_sema *s, const struct weft_function *f,
				 struct weft_node **args, const struct weft_ast *a)
{
	const struct weft_node *in = args[0], *what = args[1];

	if (is_text(in))
		return weft_node_int(s, found(f->id, in, what), false, a);
	if (what->length >= in->type.cap)
		return weft_sema_fail(s, what->span.start, "STRING_TOO_LONG",
				      "this string has %u bytes, and the one it is looked for in "
				      "never has more than %u",
				      what->length, in->type.cap - 1);
	return weft_node_call(s, f, args, f->result, a);
}
