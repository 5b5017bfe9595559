/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Calls on integers, and what they give of constants. */
#include "core/lang/sema.h"

#include <endian.h>

/* Byte orders: what is swapped one way is swapped back the same way. */
static int64_t swapped(uint8_t size, int64_t v)
{
	if (size == 2)
		return htobe16((uint16_t)v);
	if (size == 4)
		return htobe32((uint32_t)v);
	return (int64_t)htobe64((uint64_t)v);
}

static int64_t magnitude(const struct weft_node *n)
{
	return n->type.is_signed && n->value < 0 ? (int64_t)(0 - (uint64_t)n->value) : n->value;
}

static struct weft_node *fold_log2(struct weft_sema *s, const struct weft_node *n,
				   const struct weft_ast *a)
{
	if (n->value == 0 || (n->type.is_signed && n->value < 0)) {
		if (s->dead)
			return weft_node_int(s, 0, false, a);
		return weft_sema_fail(s, n->span.start, "FUNCTION_ARGUMENTS",
				      "log2(x) is of 1 and more, and this constant is less");
	}
	return weft_node_int(s, 63 - __builtin_clzll((uint64_t)n->value), false, a);
}

static struct weft_node *fold(struct weft_sema *s, const struct weft_function *f,
			      const struct weft_node *n, struct weft_type t,
			      const struct weft_ast *a)
{
	struct weft_node *result;

	if (f->id == WEFT_FN_LOG2)
		return fold_log2(s, n, a);
	result = weft_node_int(s, f->id == WEFT_FN_ABS ? magnitude(n) : swapped(t.size, n->value),
			       !t.is_signed, a);
	if (result)
		result->type = t;
	return result;
}

struct weft_node *weft_call_unary(struct weft_sema *s, const struct weft_function *f,
				  struct weft_node **args, const struct weft_ast *a)
{
	struct weft_type t = f->result;

	if (!t.size)
		t = (struct weft_type){
			.kind = WEFT_VALUE_INT, .size = 8, .is_signed = args[0]->type.is_signed};
	if (args[0]->kind == WEFT_NODE_INT)
		return fold(s, f, args[0], t, a);
	return weft_node_call(s, f, args, t, a);
}

struct weft_node *weft_call_extreme(struct weft_sema *s, const struct weft_function *f,
				    struct weft_node **args, const struct weft_ast *a)
{
	struct weft_type t = {.kind = WEFT_VALUE_INT, .size = 8};
	int64_t less;

	if (!weft_node_balance(s, &args[0], &args[1]))
		return NULL;
	t.is_signed = args[0]->type.is_signed;
	if (args[0]->kind != WEFT_NODE_INT || args[1]->kind != WEFT_NODE_INT)
		return weft_node_call(s, f, args, t, a);
	weft_fold_binary(WEFT_OP_LT, t.is_signed, args[0]->value, args[1]->value, &less);
	return weft_node_int(s, args[(less != 0) == (f->id == WEFT_FN_MAX)]->value, !t.is_signed, a);
}
