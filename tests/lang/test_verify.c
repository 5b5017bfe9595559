/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The checker of trees must see what is wrong: each tree here is right until one thing is changed. */
#include "rig.h"

static struct rig r;

static void init(void)
{
	rig_init(&r);
}

static void finish(void)
{
	rig_finish(&r);
}

TestSuite(lang_verify, .init = init, .fini = finish);

static struct weft_node *tree(const char *text)
{
	struct weft_node *n = rig_expr(&r, text);

	cr_assert(n, "%s", weft_error_text(r.err));
	return n;
}

static void expect_wrong(const struct weft_node *n, const char *word)
{
	const char *wrong = weft_lang_verify(n);

	cr_expect(wrong && strstr(wrong, word), "%s, not %s", wrong ? wrong : "nothing wrong", word);
}

Test(lang_verify, leaves)
{
	struct weft_node *n;

	expect_wrong(NULL, "missing");
	n = tree("300");
	n->type.size = 1;
	expect_wrong(n, "not extended");
	n->type.size = 3;
	expect_wrong(n, "no size");
	n = tree("pid");
	n->span.text = NULL;
	expect_wrong(n, "place");
	n = tree("pid");
	n->var = &weft_vars[WEFT_VAR_ERRNO];
	expect_wrong(n, "kind of its own");
	n->var = NULL;
	expect_wrong(n, "row");
	n = tree("pid");
	n->kid[0] = tree("1");
	expect_wrong(n, "children");
	n = tree("\"abc\"");
	n->type.cap = 3;
	expect_wrong(n, "room");
	n = tree("stack");
	n->type.cap = 0;
	expect_wrong(n, "frames");
	n = tree("elapsed");
	n->type.is_signed = false;
	expect_wrong(n, "int64");
}

Test(lang_verify, operators)
{
	struct weft_node *n = tree("pid + 1");

	n->kid[0] = n->kid[0]->kid[0];
	expect_wrong(n, "two types, or narrow");
	n = tree("retval + 1");
	n->kid[0] = tree("2");
	expect_wrong(n, "constants");
	n = tree("retval + 1");
	n->kid[1] = NULL;
	expect_wrong(n, "without operands");
	n = tree("retval + 1");
	n->type.is_signed = false;
	expect_wrong(n, "result");
	n = tree("retval / 2");
	n->kid[1]->value = 0;
	expect_wrong(n, "constant 0");
	n = tree("retval < 2");
	n->type.size = 4;
	expect_wrong(n, "not int64");
	n = tree("execname == arg3");
	n->op = WEFT_OP_LT;
	expect_wrong(n, "string");
	n = tree("probefunc == \"x\"");
	n->kid[1] = tree("execname");
	expect_wrong(n, "constant");
	n = tree("-retval");
	n->op = WEFT_OP_PLUS;
	expect_wrong(n, "should not be");
	n = tree("-(int64) pid");
	n->kid[0] = n->kid[0]->kid[0];
	expect_wrong(n, "another type");
	n = tree("(uint8) pid");
	n->type = n->kid[0]->type;
	expect_wrong(n, "does nothing");
	n->kid[0] = tree("execname");
	expect_wrong(n, "than integers");
}

Test(lang_verify, decisions)
{
	struct weft_node *n = tree("pid && cpu");

	n->kid[0] = tree("1");
	expect_wrong(n, "decides");
	n->kid[0] = tree("execname");
	expect_wrong(n, "another type");
	n = tree("pid ? retval : 1");
	n->kid[0] = tree("1");
	expect_wrong(n, "constant");
	n = tree("pid ? retval : 1");
	n->kid[1] = tree("arg2");
	expect_wrong(n, "other types");
	n = tree("pid ? retval : 1");
	n->kid[2] = NULL;
	expect_wrong(n, "incomplete");
	n = tree("pid ? execname : \"x\"");
	n->type.cap = 2;
	expect_wrong(n, "too wide");
	n = tree("pid ? execname : \"x\"");
	n->kid[1] = tree("stack");
	expect_wrong(n, "neither");
	/* and what is wrong deep below is found */
	n = tree("!(pid ? retval + (1 + cpu) : 1)");
	n->kid[0]->kid[1]->kid[1]->op = WEFT_OP_LOGNOT;
	expect_wrong(n, "should not be");
}

Test(lang_verify, clauses)
{
	struct weft_typed_clause c;

	cr_assert(rig_type(&r, rig_action(&r, "sum", "into||x", "by||pid", "value||arg0", NULL),
			   &c) == 0);
	cr_expect(!weft_lang_verify_clause(&c));
	c.actions[0].value = c.actions[0].value->kid[0];
	cr_expect_str_eq(weft_lang_verify_clause(&c),
			 "an aggregation of something else than 64 bits");
	c.actions[0].value = NULL;
	cr_expect_str_eq(weft_lang_verify_clause(&c), "an aggregation without its value");
	c.actions[0].into = NULL;
	cr_expect_str_eq(weft_lang_verify_clause(&c), "an aggregation without a name");
	c.actions[0].keys[0].name = "";
	cr_expect_str_eq(weft_lang_verify_clause(&c), "an item without a name");
	c.when = tree("execname");
	cr_expect_str_eq(weft_lang_verify_clause(&c), "a condition that is no integer");
}
