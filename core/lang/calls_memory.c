/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Calls that read memory. Whose memory it is, is settled here: the function says it, or the type of
 * the address does; an address that is a plain integer is one of the process, which is what probes
 * of programs and of system calls hand over.
 */
#include "core/lang/sema.h"

static uint8_t space_of(const struct weft_function *f, const struct weft_node *address)
{
	if (f->params[0] != WEFT_TAKES_INT)
		return f->result.space;
	return address->type.is_pointer ? address->type.space : f->result.space;
}

/* A constant length within [1, most]; else it is reported. */
static bool length_fits(struct weft_sema *s, const struct weft_function *f,
			const struct weft_node *n, uint32_t most)
{
	if (n->value >= 1 && (!most || (uint64_t)n->value <= most))
		return true;
	if (most)
		weft_sema_fail(s, n->span.start, "FUNCTION_ARGUMENTS", "%s copies 1 to %u bytes",
			       f->signature, most);
	else
		weft_sema_fail(s, n->span.start, "FUNCTION_ARGUMENTS", "%s copies at least 1 byte",
			       f->signature);
	return false;
}

struct weft_node *weft_call_string_read(struct weft_sema *s, const struct weft_function *f,
					struct weft_node **args, const struct weft_ast *a)
{
	struct weft_type t = f->result;
	const struct weft_node *n = args[1];

	t.space = space_of(f, args[0]);
	t.cap = weft_env_strsize(s->env);
	if (n && n->kind == WEFT_NODE_INT) {
		if (!length_fits(s, f, n, 0))
			return NULL;
		if ((uint64_t)n->value < t.cap)
			t.cap = (uint32_t)n->value + 1;
	}
	return weft_node_call(s, f, args, t, a);
}

struct weft_node *weft_call_bytes_read(struct weft_sema *s, const struct weft_function *f,
				       struct weft_node **args, const struct weft_ast *a)
{
	struct weft_type t = f->result;
	const struct weft_node *n = args[1];

	t.space = space_of(f, args[0]);
	t.cap = weft_env_strsize(s->env);
	if (n->kind == WEFT_NODE_INT) {
		if (!length_fits(s, f, n, WEFT_MAX_BYTES))
			return NULL;
		t.cap = (uint32_t)n->value;
	}
	return weft_node_call(s, f, args, t, a);
}

struct weft_node *weft_call_peek(struct weft_sema *s, const struct weft_function *f,
				 struct weft_node **args, const struct weft_ast *a)
{
	struct weft_type t = f->result;
	const struct weft_node *size = args[1];

	if (size->value != 1 && size->value != 2 && size->value != 4 && size->value != 8)
		return weft_sema_fail(s, size->span.start, "FUNCTION_ARGUMENTS",
				      "%s reads 1, 2, 4 or 8 bytes", f->signature);
	t.space = space_of(f, args[0]);
	t.size = (uint8_t)size->value;
	return weft_node_call(s, f, args, t, a);
}

/* ---- what is shown as something else ---- */

struct weft_node *weft_call_symbol(struct weft_sema *s, const struct weft_function *f,
				   struct weft_node **args, const struct weft_ast *a)
{
	return weft_node_call(s, f, args, f->result, a);
}

struct weft_node *weft_call_ipv4(struct weft_sema *s, const struct weft_function *f,
				 struct weft_node **args, const struct weft_ast *a)
{
	struct weft_type t = f->result;

	t.cap = 4;
	return weft_node_call(s, f, args, t, a);
}

struct weft_node *weft_call_ipv6(struct weft_sema *s, const struct weft_function *f,
				 struct weft_node **args, const struct weft_ast *a)
{
	struct weft_type t = f->result;

	t.cap = 16;
	if (args[0]->type.cap < t.cap)
		return weft_sema_fail(s, args[0]->span.start, "FUNCTION_ARGUMENTS",
				      "%s takes 16 bytes, and these are never more than %u",
				      f->signature, args[0]->type.cap);
	return weft_node_call(s, f, args, t, a);
}
