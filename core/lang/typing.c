/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What operators take and give. Conversions become CAST nodes here, so that the compiler never has
 * to think about them; constants are folded as the nodes are made, children first.
 *
 * A node is used in one place only. That is why a conversion may change a constant in place.
 */
#include "core/lang/ops.h"
#include "core/lang/kernel_types.h"

#include <stdio.h>
#include <string.h>

static bool is_const(const struct weft_node *n)
{
	return n->kind == WEFT_NODE_INT;
}

static struct weft_type int_type(uint8_t size, bool is_signed)
{
	struct weft_type t = {.kind = WEFT_VALUE_INT, .size = size, .is_signed = is_signed};

	return t;
}

struct weft_node *weft_node_new(struct weft_sema *s, enum weft_node_kind kind,
				struct weft_type type, const struct weft_ast *from)
{
	struct weft_node *n = weft_arena_alloc(s->src.arena, sizeof(*n));

	if (!n)
		return weft_sema_nomem(s);
	n->kind = kind;
	n->type = type;
	n->span.text = s->src.text;
	n->span.start = from->start;
	n->span.length = from->length;
	return n;
}

struct weft_node *weft_node_int(struct weft_sema *s, int64_t value, bool is_unsigned,
				const struct weft_ast *from)
{
	struct weft_node *n = weft_node_new(s, WEFT_NODE_INT, int_type(8, !is_unsigned), from);

	if (n)
		n->value = value;
	return n;
}

struct weft_node *weft_node_string(struct weft_sema *s, const char *string, uint32_t length,
				   const struct weft_ast *from)
{
	struct weft_type t = {.kind = WEFT_VALUE_STRING, .cap = length + 1};
	struct weft_node *n = weft_node_new(s, WEFT_NODE_STRING, t, from);

	if (n) {
		n->string = string;
		n->length = length;
	}
	return n;
}

struct weft_node *weft_node_convert(struct weft_sema *s, struct weft_node *n, uint8_t size,
				    bool is_signed)
{
	struct weft_node *cast;

	if (!n)
		return NULL;
	if (is_const(n)) {
		n->value = weft_fold_cast(n->value, size, is_signed);
		n->type = int_type(size, is_signed);
		return n;
	}
	if (n->type.size == size && n->type.is_signed == is_signed) {
		n->type.is_pointer = false; /* but a peek still knows whose memory it reads */
		return n;
	}
	cast = weft_arena_memdup(s->src.arena, n, sizeof(*n));
	if (!cast)
		return weft_sema_nomem(s);
	memset(cast->kid, 0, sizeof(cast->kid));
	cast->kind = WEFT_NODE_CAST;
	cast->type = int_type(size, is_signed);
	cast->kid[0] = n;
	return cast;
}

struct weft_node *weft_node_promote(struct weft_sema *s, struct weft_node *n)
{
	if (!n || n->type.size == 8)
		return n;
	return weft_node_convert(s, n, 8, true);
}

bool weft_node_balance(struct weft_sema *s, struct weft_node **a, struct weft_node **b)
{
	bool is_signed;

	*a = weft_node_promote(s, *a);
	*b = weft_node_promote(s, *b);
	if (!*a || !*b)
		return false;
	is_signed = (*a)->type.is_signed && (*b)->type.is_signed;
	if ((*a)->type.is_signed != is_signed)
		*a = weft_node_convert(s, *a, 8, is_signed);
	if ((*b)->type.is_signed != is_signed)
		*b = weft_node_convert(s, *b, 8, is_signed);
	return *a && *b;
}

bool weft_want_int(struct weft_sema *s, const struct weft_node *n, const char *what)
{
	char name[32];

	if (n->type.kind == WEFT_VALUE_INT)
		return true;
	weft_sema_fail(s, n->span.start, "EXPR_TYPE", "%s takes integers, and this is %s", what,
		       weft_type_phrase(&n->type, name));
	return false;
}

static bool is_comparison(enum weft_op op)
{
	return op >= WEFT_OP_EQ && op <= WEFT_OP_GE;
}

/* ---- binary operators ---- */

static bool keeps_address(enum weft_op op)
{
	return op == WEFT_OP_ADD || op == WEFT_OP_SUB || op == WEFT_OP_AND;
}

struct weft_node *weft_node_binary(struct weft_sema *s, enum weft_op op, struct weft_node *a,
				   struct weft_node *b, const struct weft_ast *from)
{
	struct weft_node *n;
	struct weft_type address;
	bool one_address, ok;
	uint8_t space;
	int64_t value;
	char what[8];

	snprintf(what, sizeof(what), "`%s`", weft_op_text(op));
	if (!a || !b) {
		/* One side is wrong already; what can be said of the other is said now. */
		if ((a || b) && op != WEFT_OP_EQ && op != WEFT_OP_NE)
			weft_want_int(s, a ? a : b, what);
		return NULL;
	}
	if (a->type.kind != WEFT_VALUE_INT || b->type.kind != WEFT_VALUE_INT)
		return weft_node_compare(s, op, a, b, from);
	if (!weft_pointer_operands(s, op, a, b, from))
		return NULL;
	one_address = a->type.is_pointer != b->type.is_pointer;
	address = a->type.is_pointer ? a->type : b->type;
	space = b->type.is_pointer ? b->type.space : a->type.space;
	if (op == WEFT_OP_SHL || op == WEFT_OP_SHR) {
		/* As in C, the left side alone decides; the count's low six bits are the same anyway. */
		a = weft_node_promote(s, a);
		ok = a && (b = weft_node_convert(s, b, 8, a->type.is_signed));
	} else {
		ok = weft_node_balance(s, &a, &b);
	}
	if (!ok)
		return NULL;
	if ((op == WEFT_OP_DIV || op == WEFT_OP_MOD) && is_const(b) && b->value == 0) {
		if (s->dead) /* `$n ? x / $n : 0` is the right way to ask */
			return weft_node_int(s, 0, !a->type.is_signed, from);
		return weft_sema_fail(s, b->span.start, "DIVIDE_BY_ZERO",
				      "`%s` by 0: the divisor is a constant, and it is 0",
				      weft_op_text(op));
	}
	if (is_const(a) && is_const(b)) {
		weft_fold_binary(op, a->type.is_signed, a->value, b->value, &value);
		return weft_node_int(s, value, !is_comparison(op) && !a->type.is_signed, from);
	}
	n = weft_node_new(s, WEFT_NODE_BINARY,
			  is_comparison(op) ? int_type(8, true) : weft_type_plain(a->type), from);
	if (!n)
		return NULL;
	if (one_address && (op == WEFT_OP_ADD || op == WEFT_OP_SUB) &&
	    n->type.is_signed == address.is_signed)
		n->type = address;
	n->type.is_pointer = one_address && keeps_address(op);
	n->type.space = n->type.is_pointer ? space : 0;
	n->op = op;
	n->kid[0] = a;
	n->kid[1] = b;
	return n;
}

struct weft_node *weft_node_unary(struct weft_sema *s, enum weft_op op, struct weft_node *a,
				  const struct weft_ast *from)
{
	char what[8] = {'`', weft_op_text(op)[0], '`'};
	struct weft_node *n;
	bool is_unsigned;

	if (!a || !weft_want_int(s, a, what))
		return NULL;
	if (op != WEFT_OP_LOGNOT)
		a = weft_node_promote(s, a);
	if (!a || op == WEFT_OP_PLUS)
		return a;
	is_unsigned = op != WEFT_OP_LOGNOT && !a->type.is_signed;
	if (is_const(a))
		return weft_node_int(s, weft_fold_unary(op, a->value), is_unsigned, from);
	n = weft_node_new(s, WEFT_NODE_UNARY, int_type(8, !is_unsigned), from);
	if (!n)
		return NULL;
	n->op = op;
	n->kid[0] = a;
	return n;
}

/* ---- what decides ---- */

static bool is_truth(const struct weft_node *n)
{
	return n->kind == WEFT_NODE_LOGICAL ||
	       (n->kind == WEFT_NODE_BINARY && is_comparison(n->op)) ||
	       (n->kind == WEFT_NODE_UNARY && n->op == WEFT_OP_LOGNOT);
}

struct weft_node *weft_node_logical(struct weft_sema *s, enum weft_op op, struct weft_node *a,
				    struct weft_node *b, const struct weft_ast *from)
{
	const char *what = op == WEFT_OP_LOGAND ? "`&&`" : "`||`";
	struct weft_node *n;
	bool ok;

	ok = a && weft_want_int(s, a, what);
	if (!b || !weft_want_int(s, b, what) || !ok)
		return NULL;
	if (is_const(a)) {
		if ((a->value != 0) == (op == WEFT_OP_LOGOR))
			return weft_node_int(s, op == WEFT_OP_LOGOR, false, from);
		if (is_truth(b))
			return b;
		return weft_node_binary(s, WEFT_OP_NE, b, weft_node_int(s, 0, false, from), from);
	}
	n = weft_node_new(s, WEFT_NODE_LOGICAL, int_type(8, true), from);
	if (!n)
		return NULL;
	n->op = op;
	n->kid[0] = a;
	n->kid[1] = b;
	return n;
}

struct weft_node *weft_node_cond(struct weft_sema *s, struct weft_node *c, struct weft_node *a,
				 struct weft_node *b, const struct weft_ast *from)
{
	bool ints, address;
	struct weft_type pointer;
	struct weft_node *n;
	char na[32], nb[32];

	if (!c || !weft_want_int(s, c, "the condition of `? :`") || !a || !b)
		return NULL;
	ints = a->type.kind == WEFT_VALUE_INT;
	if (a->type.kind != b->type.kind || (!ints && a->type.kind != WEFT_VALUE_STRING))
		return weft_sema_fail(
			s, a->span.start, "EXPR_TYPE",
			"`? :` chooses between two integers or two strings, not between a "
			"%s and %s",
			weft_type_phrase(&a->type, na), weft_type_phrase(&b->type, nb));
	address = ints && a->type.is_pointer && b->type.is_pointer && a->type.space == b->type.space;
	pointer = weft_same_pointer(&a->type, &b->type) ? a->type : weft_type_plain(a->type);
	if (ints && !weft_node_balance(s, &a, &b))
		return NULL;
	if (!ints && (!weft_string_fits(s, a) || !weft_string_fits(s, b)))
		return NULL;
	if (is_const(c))
		return c->value ? a : b;
	n = weft_node_new(s, WEFT_NODE_COND, ints ? weft_type_plain(a->type) : a->type, from);
	if (!n)
		return NULL;
	if (address)
		n->type = pointer;
	n->type.is_pointer = address;
	if (b->type.cap > n->type.cap)
		n->type.cap = b->type.cap;
	n->type.space = address ? a->type.space : 0;
	n->kid[0] = c;
	n->kid[1] = a;
	n->kid[2] = b;
	return n;
}

/* ---- the walk ---- */

/* Operators beside which a bare name may be a constant of an enum. */
static bool has_names(enum weft_op op)
{
	return is_comparison(op) || op == WEFT_OP_AND;
}

static struct weft_node *type_name(struct weft_sema *s, const struct weft_ast *name,
				   const struct weft_node *beside)
{
	bool wrong;
	struct weft_node *n = weft_enum_constant(s, name, beside, &wrong);

	if (wrong)
		return NULL;
	if (n || name->kind != WEFT_AST_NAME || beside || !s->unknown_probe)
		return n || s->rc == -ENOMEM ? n : weft_type_ast(s, name);
	/* What stands beside it is not known yet. */
	return weft_name_is_taken(name->s) || weft_state_find(s->state, name->s)
		       ? weft_type_ast(s, name)
		       : NULL;
}

static struct weft_node *type_beside(struct weft_sema *s, const struct weft_ast *a)
{
	struct weft_node *x, *y;

	if (a->kid[0]->kind == WEFT_AST_NAME && a->kid[1]->kind != WEFT_AST_NAME) {
		y = weft_type_ast(s, a->kid[1]);
		x = type_name(s, a->kid[0], y);
	} else {
		x = weft_type_ast(s, a->kid[0]);
		y = type_name(s, a->kid[1], x);
	}
	return weft_node_binary(s, a->op, x, y, a);
}

static struct weft_node *type_binary(struct weft_sema *s, const struct weft_ast *a)
{
	struct weft_node *x, *y;
	bool logical = a->op == WEFT_OP_LOGAND || a->op == WEFT_OP_LOGOR;
	bool dead;

	if (a->op == WEFT_OP_DEFAULT)
		return weft_resolve_default(s, a);
	if (has_names(a->op))
		return type_beside(s, a);
	x = weft_type_ast(s, a->kid[0]);
	dead = logical && x && is_const(x) && (x->value != 0) == (a->op == WEFT_OP_LOGOR);
	s->dead += dead;
	y = weft_type_ast(s, a->kid[1]);
	s->dead -= dead;
	return logical ? weft_node_logical(s, a->op, x, y, a) : weft_node_binary(s, a->op, x, y, a);
}

static struct weft_node *type_cond(struct weft_sema *s, const struct weft_ast *a)
{
	struct weft_node *c = weft_type_ast(s, a->kid[0]), *arm[2];

	for (int i = 0; i < 2; i++) {
		bool dead = c && is_const(c) && (c->value != 0) == (i == 1);

		s->dead += dead;
		arm[i] = weft_type_ast(s, a->kid[i + 1]);
		s->dead -= dead;
	}
	return weft_node_cond(s, c, arm[0], arm[1], a);
}

static struct weft_node *type_cast(struct weft_sema *s, const struct weft_ast *a)
{
	struct weft_node *of, *n;

	if (a->ctype)
		return weft_resolve_ctype_cast(s, a);
	of = weft_type_ast(s, a->kid[0]);
	if (!of || !weft_want_int(s, of, "a cast"))
		return NULL;
	n = weft_node_convert(s, of, a->type.size, a->type.is_signed);
	if (n && n->type.text) /* (uint64) p is a number */
		n = weft_node_retype(s, n, weft_type_plain(n->type));
	if (n && (n != of || is_const(n))) { /* a cast to the type it has changes nothing */
		n->span.start = a->start;
		n->span.length = a->length;
	}
	return n;
}

static struct weft_node *type_unary(struct weft_sema *s, const struct weft_ast *a)
{
	if (a->op == WEFT_OP_DEREF)
		return weft_resolve_deref(s, a);
	if (a->op == WEFT_OP_ADDRESS)
		return weft_resolve_address(s, a);
	return weft_node_unary(s, a->op, weft_type_ast(s, a->kid[0]), a);
}

struct weft_node *weft_type_ast(struct weft_sema *s, const struct weft_ast *a)
{
	return weft_node_decay(s, weft_type_place(s, a));
}

struct weft_node *weft_type_place(struct weft_sema *s, const struct weft_ast *a)
{
	switch (a->kind) {
	case WEFT_AST_INT:
		return weft_node_int(s, a->value, a->is_unsigned, a);
	case WEFT_AST_STRING:
		return weft_node_string(s, a->s, a->n, a);
	case WEFT_AST_NAME:
		return weft_resolve_name(s, a);
	case WEFT_AST_PARAM:
		return weft_resolve_param(s, a);
	case WEFT_AST_UNARY:
		return type_unary(s, a);
	case WEFT_AST_BINARY:
		return type_binary(s, a);
	case WEFT_AST_COND:
		return type_cond(s, a);
	case WEFT_AST_CAST:
		return type_cast(s, a);
	case WEFT_AST_SIZEOF:
		return weft_resolve_sizeof(s, a);
	case WEFT_AST_MEMBER:
		return weft_resolve_member(s, a);
	case WEFT_AST_CALL:
		return weft_resolve_call(s, a);
	case WEFT_AST_INDEX:
		return weft_resolve_index(s, a);
	}
	return NULL;
}
