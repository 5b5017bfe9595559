/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Comparing what is no integer. Strings are equal byte by byte up to their ends. A field of the
 * probe is not text when a program runs but the identity of the probe, so it is compared with
 * constants only: the answer for each probe is known before it fires.
 */
#include "core/lang/sema.h"

#include <stdio.h>
#include <string.h>

#include "core/btf/enums.h"

static const struct weft_type truth = {.kind = WEFT_VALUE_INT, .size = 8, .is_signed = true};

bool weft_string_fits(struct weft_sema *s, const struct weft_node *n)
{
	uint32_t cap = weft_env_strsize(s->env);

	if (n->kind != WEFT_NODE_STRING || n->length < cap)
		return true;
	weft_sema_fail(s, n->span.start, "STRING_TOO_LONG",
		       "this string has %u bytes, and options.strsize (%u) leaves room for %u",
		       n->length, cap, cap - 1);
	return false;
}

static struct weft_node *compare_constants(struct weft_sema *s, enum weft_op op,
					   const struct weft_node *a, const struct weft_node *b,
					   const struct weft_ast *from)
{
	bool equal = a->length == b->length && memcmp(a->string, b->string, a->length) == 0;

	return weft_node_int(s, equal == (op == WEFT_OP_EQ), false, from);
}

static struct weft_node *compare_strings(struct weft_sema *s, enum weft_op op, struct weft_node *a,
					 struct weft_node *b, const struct weft_ast *from)
{
	const struct weft_node *constant = a->kind == WEFT_NODE_STRING ? a : b;
	const struct weft_node *other = constant == a ? b : a;
	struct weft_node *n;

	if (a->kind == WEFT_NODE_STRING && b->kind == WEFT_NODE_STRING)
		return compare_constants(s, op, a, b, from);
	if (constant->kind == WEFT_NODE_STRING && constant->length >= other->type.cap)
		return weft_sema_fail(s, constant->span.start, "STRING_TOO_LONG",
				      "this string has %u bytes, and what it is compared with never "
				      "has more than %u",
				      constant->length, other->type.cap - 1);
	n = weft_node_new(s, WEFT_NODE_BINARY, truth, from);
	if (!n)
		return NULL;
	n->op = op;
	n->kid[0] = a;
	n->kid[1] = b;
	return n;
}

static struct weft_node *compare_probe(struct weft_sema *s, enum weft_op op, struct weft_node *a,
				       struct weft_node *b, const struct weft_ast *from)
{
	struct weft_node *probe = a->type.kind == WEFT_VALUE_PROBE ? a : b;
	struct weft_node *other = probe == a ? b : a, *n;

	if (other->kind != WEFT_NODE_STRING)
		return weft_sema_fail(s, other->span.start, "EXPR_TYPE",
				      "a field of the probe is compared with a constant string, and "
				      "this is none");
	n = weft_node_new(s, WEFT_NODE_BINARY, truth, from);
	if (!n)
		return NULL;
	n->op = op;
	n->kid[0] = probe;
	n->kid[1] = other;
	return n;
}

void weft_suggest_reading(struct weft_sema *s, const struct weft_node *n)
{
	const struct weft_type *t = &n->type;
	char text[80];

	if (!t->is_pointer || n->span.length > 64 ||
	    (t->role != WEFT_ROLE_NONE && !(t->text && strstr(t->text, "char *"))))
		return;
	snprintf(text, sizeof(text), "str(%.*s)", (int)n->span.length,
		 n->span.text->s + n->span.start);
	weft_error_suggest(s->src.err, text);
}

/* What becomes text only when it is printed: what can be compared in its place. */
static const char *in_its_place(enum weft_value_kind a, enum weft_value_kind b)
{
	if (a == WEFT_VALUE_CGROUP || b == WEFT_VALUE_CGROUP)
		return ", as it is text only when it is printed; its id can, `cgroup`";
	if (a == WEFT_VALUE_SYMBOL || b == WEFT_VALUE_SYMBOL)
		return ", as it is text only when it is printed; its address can";
	if (a == WEFT_VALUE_INET || b == WEFT_VALUE_INET)
		return ", as it is text only when it is printed; its number can";
	return "";
}

/* `args.how == "GREEN"`: constants of enums have no quotes. */
static void suggest_constant(struct weft_sema *s, const struct weft_node *n,
			     const struct weft_node *text)
{
	int64_t value;

	if (text->kind == WEFT_NODE_STRING &&
	    weft_btf_enum_value(n->type.names, text->string, &value))
		weft_error_suggest(s->src.err, text->string);
}

struct weft_node *weft_node_compare(struct weft_sema *s, enum weft_op op, struct weft_node *a,
				    struct weft_node *b, const struct weft_ast *from)
{
	enum weft_value_kind ka = a->type.kind, kb = b->type.kind;
	const struct weft_node *odd = ka == WEFT_VALUE_INT ? b : a;
	char na[32], nb[32];

	if (op != WEFT_OP_EQ && op != WEFT_OP_NE)
		return weft_sema_fail(s, odd->span.start, "EXPR_TYPE",
				      "`%s` takes integers, and this is %s", weft_op_text(op),
				      weft_type_phrase(&odd->type, na));
	if (ka == WEFT_VALUE_STRING && kb == WEFT_VALUE_STRING)
		return compare_strings(s, op, a, b, from);
	if ((ka == WEFT_VALUE_PROBE && (kb == WEFT_VALUE_PROBE || kb == WEFT_VALUE_STRING)) ||
	    (kb == WEFT_VALUE_PROBE && ka == WEFT_VALUE_STRING))
		return compare_probe(s, op, a, b, from);
	weft_sema_fail(s, a->span.start, "EXPR_TYPE", "%s cannot be compared with %s%s",
		       weft_type_phrase(&a->type, na), weft_type_phrase(&b->type, nb),
		       in_its_place(ka, kb));
	if (ka == WEFT_VALUE_STRING || kb == WEFT_VALUE_STRING) {
		weft_suggest_reading(s, ka == WEFT_VALUE_STRING ? b : a);
		suggest_constant(s, ka == WEFT_VALUE_STRING ? b : a,
				 ka == WEFT_VALUE_STRING ? a : b);
	}
	return NULL;
}
