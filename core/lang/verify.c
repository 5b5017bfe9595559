/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The promises that lang.h makes of typed trees, one check for each kind of node. */
#include "core/lang/sema.h"

#include <string.h>

static bool is_int(const struct weft_node *n)
{
	return n && n->type.kind == WEFT_VALUE_INT;
}

static bool is_wide(const struct weft_node *n)
{
	return is_int(n) && n->type.size == 8;
}

static bool is_string(const struct weft_node *n)
{
	return n && n->type.kind == WEFT_VALUE_STRING;
}

static bool is_truth(const struct weft_node *n)
{
	return is_wide(n) && n->type.is_signed;
}

static bool same_int(const struct weft_node *a, const struct weft_node *b)
{
	return is_int(a) && is_int(b) && a->type.size == b->type.size &&
	       a->type.is_signed == b->type.is_signed;
}

static bool is_constant(const struct weft_node *n)
{
	return n->kind == WEFT_NODE_INT || n->kind == WEFT_NODE_STRING;
}

static const char *check_int(const struct weft_node *n)
{
	if (!is_int(n))
		return "a number that is no integer";
	if (weft_fold_cast(n->value, n->type.size, n->type.is_signed) != n->value)
		return "a number that is not extended as its type says";
	return NULL;
}

static const char *check_string(const struct weft_node *n)
{
	if (!is_string(n) || !n->string || n->type.cap <= n->length)
		return "a string without room for its end";
	return memchr(n->string, 0, n->length) ? "a string with a zero byte inside" : NULL;
}

static const char *check_var(const struct weft_node *n)
{
	if (!n->var)
		return "a variable without its row";
	switch (n->var->id) {
	case WEFT_VAR_ERRNO:
	case WEFT_VAR_STACK:
	case WEFT_VAR_USTACK:
	case WEFT_VAR_RETVAL:
	case WEFT_VAR_ELAPSED:
		return "a variable that has a kind of its own";
	default:
		return n->type.kind == n->var->type.kind ? NULL : "a variable of another type";
	}
}

static const char *check_leaf(const struct weft_node *n)
{
	return n->kid[0] ? "a leaf with children" : NULL;
}

static const char *check_entry(const struct weft_node *n)
{
	return n->index < WEFT_MAX_ARGS ? check_leaf(n) : "an argument of the entry that is none";
}

static const char *check_elapsed(const struct weft_node *n)
{
	return is_truth(n) ? NULL : "elapsed is not int64";
}

static const char *check_unary(const struct weft_node *n)
{
	if (n->op == WEFT_OP_LOGNOT)
		return is_truth(n) && is_int(n->kid[0]) ? NULL : "`!` of another type";
	if (n->op != WEFT_OP_NEG && n->op != WEFT_OP_NOT)
		return "a unary operator that should not be";
	return is_wide(n) && same_int(n, n->kid[0]) ? NULL : "a unary operator of another type";
}

static const char *check_binary(const struct weft_node *n)
{
	const struct weft_node *a = n->kid[0], *b = n->kid[1];
	bool equality = n->op == WEFT_OP_EQ || n->op == WEFT_OP_NE;

	if (!a || !b)
		return "a binary operator without operands";
	if (n->op > WEFT_OP_GE)
		return "a binary operator that should not be";
	if ((n->op == WEFT_OP_DIV || n->op == WEFT_OP_MOD) && b->kind == WEFT_NODE_INT && !b->value)
		return "a division by the constant 0";
	if (n->op >= WEFT_OP_EQ && !is_truth(n))
		return "a comparison that is not int64";
	if (is_string(a))
		return equality && is_string(b) ? NULL : "a string against something else";
	if (a->type.kind == WEFT_VALUE_PROBE)
		return equality && b->kind == WEFT_NODE_STRING
			       ? NULL
			       : "a probe field against something else than a constant";
	if (!is_wide(a) || !same_int(a, b))
		return "operands of two types, or narrow ones";
	return n->op >= WEFT_OP_EQ || same_int(n, a) ? NULL : "a result of another type";
}

static const char *check_logical(const struct weft_node *n)
{
	if (n->op != WEFT_OP_LOGAND && n->op != WEFT_OP_LOGOR)
		return "a logical operator that is none";
	if (!is_truth(n) || !is_int(n->kid[0]) || !is_int(n->kid[1]))
		return "a logical operator of another type";
	return is_constant(n->kid[0]) ? "a logical operator that a constant decides" : NULL;
}

static const char *check_cond(const struct weft_node *n)
{
	const struct weft_node *a = n->kid[1], *b = n->kid[2];

	if (!is_int(n->kid[0]) || !a || !b)
		return "a condition that is incomplete";
	if (is_constant(n->kid[0]))
		return "a condition that is constant";
	if (is_int(n))
		return same_int(n, a) && same_int(n, b) ? NULL : "arms of other types";
	if (!is_string(n) || !is_string(a) || !is_string(b))
		return "arms that are neither integers nor strings";
	return a->type.cap <= n->type.cap && b->type.cap <= n->type.cap ? NULL : "arms too wide";
}

static const char *check_cast(const struct weft_node *n)
{
	if (!is_int(n) || !is_int(n->kid[0]))
		return "a cast of something else than integers";
	if (same_int(n, n->kid[0]))
		return "a cast that does nothing";
	return is_constant(n->kid[0]) ? "a cast of a constant" : NULL;
}

static const char *check_stack(const struct weft_node *n)
{
	return n->type.kind == WEFT_VALUE_STACK && n->type.cap ? NULL : "a stack without frames";
}

static const enum weft_value_kind param_kinds[] = {
	[WEFT_TAKES_INT] = WEFT_VALUE_INT,       [WEFT_TAKES_CONST] = WEFT_VALUE_INT,
	[WEFT_TAKES_USER] = WEFT_VALUE_INT,      [WEFT_TAKES_KERNEL] = WEFT_VALUE_INT,
	[WEFT_TAKES_STRING] = WEFT_VALUE_STRING, [WEFT_TAKES_TEXT] = WEFT_VALUE_STRING,
	[WEFT_TAKES_BYTES] = WEFT_VALUE_BYTES,
};

static const char *check_call(const struct weft_node *n)
{
	const struct weft_function *f;
	size_t args = 0;

	if ((size_t)n->function >= weft_n_functions)
		return "a call of no function";
	f = &weft_functions[n->function];
	while (args < 3 && n->kid[args])
		args++;
	if (f->id != n->function || args < f->min_args || args > f->max_args)
		return "a call with a wrong number of arguments";
	for (size_t i = 0; i < args; i++) {
		if (n->kid[i]->type.kind != param_kinds[f->params[i]])
			return "an argument of another type";
		if (is_int(n->kid[i]) && !is_wide(n->kid[i]))
			return "an argument that is narrow";
	}
	if (n->type.kind != f->result.kind)
		return "a call that gives another type";
	return n->type.kind == WEFT_VALUE_INT || n->type.kind == WEFT_VALUE_SYMBOL || n->type.cap
		       ? NULL
		       : "a call that gives something without a size";
}

static const char *check_state(const struct weft_node *n)
{
	const struct weft_node *k = n->kid[0];

	if (!n->state)
		return "a variable without its row";
	if (n->type.kind != n->state->type.kind ||
	    (is_int(n) && n->type.is_signed != n->state->type.is_signed))
		return "a variable of another type";
	if (is_int(n) ? !is_wide(n) : !is_string(n))
		return "a variable that is neither a wide integer nor a string";
	for (uint32_t i = 0; i < n->state->n_keys; i++, k = k->kid[1])
		if (!k || k->kind != WEFT_NODE_TUPLE || k->type.kind != n->state->keys[i].kind)
			return "an element without its keys";
	return k ? "too many keys" : NULL;
}

static const char *check_local(const struct weft_node *n)
{
	return is_wide(n) || is_string(n) ? NULL : "a local that is no wide integer and no string";
}

static const char *check_tuple(const struct weft_node *n)
{
	if (n->kid[0]->type.kind != n->type.kind)
		return "a key of another type";
	return is_int(n) && !same_int(n, n->kid[0]) ? "a key that is not wide" : NULL;
}

static const char *check_default(const struct weft_node *n)
{
	const struct weft_node *v = n->kid[0], *d = n->kid[1];

	if (!d || v->kind != WEFT_NODE_STATE || v->state->counts)
		return "a default of nothing that can be unset";
	if (is_int(n))
		return same_int(n, v) && same_int(n, d) ? NULL : "a default of another type";
	if (!is_string(n) || !is_string(v) || !is_string(d))
		return "a default of neither integers nor strings";
	return v->type.cap <= n->type.cap && d->type.cap <= n->type.cap ? NULL
									: "a default too wide";
}

static const char *check_defined(const struct weft_node *n)
{
	const enum weft_node_kind kind = n->kid[0]->kind;

	return is_truth(n) && (kind == WEFT_NODE_STATE || kind == WEFT_NODE_ELAPSED)
		       ? NULL
		       : "defined of no variable";
}

static const char *check_read(const struct weft_node *n)
{
	const struct weft_access *a = &n->access;

	if (!is_int(n) || !is_wide(n->kid[0]))
		return "a read of no integer, or from no address";
	if (n->value < INT32_MIN || n->value > INT32_MAX || a->space > WEFT_SPACE_USER)
		return "a read from too far";
	if (!a->bits)
		return a->bytes == n->type.size ? NULL : "a read of another size";
	return a->bytes && a->bytes <= 8 && a->shift < 8 && a->shift + a->bits <= a->bytes * 8 &&
			       a->bits <= n->type.size * 8
		       ? NULL
		       : "a bit field that does not fit";
}

static const char *check_element(const struct weft_node *n)
{
	return is_wide(n) && is_wide(n->kid[0]) && n->kid[1] && is_wide(n->kid[1])
		       ? NULL
		       : "an element of another type";
}

static const char *check_place(const struct weft_node *n)
{
	(void)n;
	return "a place that was not made a value";
}

static const char *(*const checks[])(const struct weft_node *) = {
	[WEFT_NODE_INT] = check_int,         [WEFT_NODE_STRING] = check_string,
	[WEFT_NODE_VAR] = check_var,         [WEFT_NODE_ARG] = check_leaf,
	[WEFT_NODE_RETVAL] = check_leaf,     [WEFT_NODE_ELAPSED] = check_elapsed,
	[WEFT_NODE_UNARY] = check_unary,     [WEFT_NODE_BINARY] = check_binary,
	[WEFT_NODE_LOGICAL] = check_logical, [WEFT_NODE_COND] = check_cond,
	[WEFT_NODE_CAST] = check_cast,       [WEFT_NODE_STACK] = check_stack,
	[WEFT_NODE_ENTRY] = check_entry,     [WEFT_NODE_CALL] = check_call,
	[WEFT_NODE_STATE] = check_state,     [WEFT_NODE_LOCAL] = check_local,
	[WEFT_NODE_TUPLE] = check_tuple,     [WEFT_NODE_DEFAULT] = check_default,
	[WEFT_NODE_DEFINED] = check_defined, [WEFT_NODE_READ] = check_read,
	[WEFT_NODE_ELEMENT] = check_element, [WEFT_NODE_PLACE] = check_place,
};

static bool is_leaf_kind(enum weft_node_kind k)
{
	return k <= WEFT_NODE_ELAPSED || k == WEFT_NODE_STACK || k == WEFT_NODE_ENTRY ||
	       k == WEFT_NODE_LOCAL;
}

const char *weft_lang_verify(const struct weft_node *n)
{
	bool constant = true;
	const char *wrong;

	if (!n)
		return "a node that is missing";
	if ((size_t)n->kind >= sizeof(checks) / sizeof(checks[0]))
		return "a node of no kind";
	if (n->type.kind == WEFT_VALUE_INT && n->type.size != 1 && n->type.size != 2 &&
	    n->type.size != 4 && n->type.size != 8)
		return "an integer of no size";
	if (!n->span.text)
		return "a node without a place";
	if (n->kind != WEFT_NODE_STATE && is_leaf_kind(n->kind) == (n->kid[0] != NULL))
		return "a leaf with children, or an operator without";
	for (int i = 0; i < 3 && n->kid[i]; i++) {
		wrong = weft_lang_verify(n->kid[i]);
		if (wrong)
			return wrong;
		constant = constant && is_constant(n->kid[i]);
	}
	if (n->kid[0] && constant && n->kind != WEFT_NODE_CALL && n->kind != WEFT_NODE_TUPLE &&
	    n->kind != WEFT_NODE_READ)
		return "an operator on constants";
	return checks[n->kind](n);
}

static const char *verify_items(const struct weft_typed_item *items, size_t n)
{
	const char *wrong;

	for (size_t i = 0; i < n; i++) {
		if (!items[i].item || !items[i].name || !items[i].name[0])
			return "an item without a name";
		wrong = weft_lang_verify(items[i].node);
		if (wrong)
			return wrong;
	}
	return NULL;
}

static const char *verify_assignments(const struct weft_typed_action *a)
{
	if (a->n_fields != (a->action->spec->kind == WEFT_ACTION_SET ? a->n_keys : 0))
		return "variables and values that do not go together";
	for (size_t i = 0; i < a->n_keys; i++) {
		const struct weft_node *to = a->keys[i].node;

		if (to->kind != WEFT_NODE_STATE && to->kind != WEFT_NODE_LOCAL)
			return "an assignment to no variable";
		if (i < a->n_fields && (a->fields[i].node->type.kind != to->type.kind ||
					(is_int(to) && !same_int(to, a->fields[i].node))))
			return "an assignment of another type";
	}
	return NULL;
}

static const char *verify_action(const struct weft_typed_action *a)
{
	bool aggregation = a->action->spec->group == WEFT_GROUP_AGGREGATION;
	const char *wrong = verify_items(a->keys, a->n_keys);

	if (!wrong)
		wrong = verify_items(a->fields, a->n_fields);
	if (!wrong && a->value)
		wrong = weft_lang_verify(a->value);
	if (wrong)
		return wrong;
	if (aggregation && !a->into)
		return "an aggregation without a name";
	if (aggregation && (a->action->spec->kind == WEFT_ACTION_COUNT) != (a->value == NULL))
		return "an aggregation without its value";
	if (aggregation && a->value && !is_wide(a->value))
		return "an aggregation of something else than 64 bits";
	if ((a->action->spec->kind == WEFT_ACTION_SIGNAL) != (a->signal != 0))
		return "a signal without its number, or a number without a signal";
	if (a->value && !is_int(a->value))
		return "a value that is no integer";
	for (size_t i = 0; i < a->n_keys; i++)
		if (a->keys[i].node->type.kind == WEFT_VALUE_BYTES ||
		    a->keys[i].node->type.kind == WEFT_VALUE_REGS)
			return "a key that can be none";
	return a->action->spec->group == WEFT_GROUP_STATE ? verify_assignments(a) : NULL;
}

const char *weft_lang_verify_clause(const struct weft_typed_clause *c)
{
	const char *wrong = c->when ? weft_lang_verify(c->when) : NULL;

	if (!wrong && c->when && !is_int(c->when))
		wrong = "a condition that is no integer";
	for (size_t i = 0; !wrong && i < c->n_actions; i++)
		wrong = verify_action(&c->actions[i]);
	return wrong;
}
