/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The function table: how many arguments, and what makes a node of the call. */
#include "core/lang/sema.h"

static struct weft_node *type_stack_call(struct weft_sema *s, const struct weft_function *f,
					 struct weft_node **args, const struct weft_ast *a)
{
	const struct weft_node *n = args[0];
	struct weft_type t = {.kind = WEFT_VALUE_STACK};
	uint32_t most = weft_env_stackframes(s->env);

	if (n->kind != WEFT_NODE_INT)
		return weft_sema_fail(
			s, n->span.start, "FUNCTION_ARGUMENTS",
			"%s keeps a constant number of frames, and this is not a constant "
			"integer",
			f->signature);
	if (n->value < 1 || n->value > most)
		return weft_sema_fail(s, n->span.start, "FUNCTION_ARGUMENTS",
				      "%s keeps 1 to %u frames (options.stackframes, at most %u)",
				      f->signature, most, WEFT_MAX_STACKFRAMES);
	t.space = f->name[0] == 'u' ? WEFT_SPACE_USER : WEFT_SPACE_KERNEL;
	t.cap = (uint32_t)n->value;
	return weft_node_new(s, WEFT_NODE_STACK, t, a);
}

const struct weft_function weft_functions[] = {
	{"stack", "stack(N)", 1, 1, type_stack_call,
	 "The kernel stack, its N innermost frames at most; N is a constant."},
	{"ustack", "ustack(N)", 1, 1, type_stack_call,
	 "The user stack, its N innermost frames at most; N is a constant."},
};
const size_t weft_n_functions = sizeof(weft_functions) / sizeof(weft_functions[0]);
