/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The bounds of histograms, and how aggregations are to be shown. */
#include "rig.h"

static struct rig r;
static struct weft_typed_clause out;

static void init(void)
{
	rig_init(&r);
}

static void finish(void)
{
	rig_finish(&r);
}

TestSuite(lang_constants, .init = init, .fini = finish);

#define TYPE(...)     rig_type(&r, rig_action(&r, __VA_ARGS__, NULL), &out)
#define LINEAR(...)   TYPE("lquantize", "into||x", "value||pid", __VA_ARGS__)
#define UNSIGNED(...) TYPE("lquantize", "into||x", "value||arg2", __VA_ARGS__)
#define LOG_LINEAR(factor, low, high, steps)                                                       \
	TYPE("llquantize", "into||x", "value||pid", "factor||" factor, "low||" low, "high||" high, \
	     "steps||" steps)

static void expect(int rc, const char *tag, const char *word)
{
	struct weft_report report;

	cr_expect(rc < 0);
	cr_expect(weft_error_count(r.err) == 1, "%zu reports: %s", weft_error_count(r.err),
		  weft_error_text(r.err));
	if (weft_error_report(r.err, 0, &report))
		return;
	cr_expect_str_eq(report.tag, tag, "%s: %s", report.tag, report.text);
	cr_expect(strstr(report.text, word) != NULL, "%s", report.text);
	cr_expect(report.pos.line != 0);
}

Test(lang_constants, buckets)
{
	const struct weft_buckets *b;

	cr_assert(LINEAR("from||-5", "to||$n * 2", "step||1us") == 0);
	b = &out.actions[0].buckets;
	cr_expect(b->how == WEFT_BUCKETS_LINEAR && !b->is_unsigned && b->from == -5 &&
		  b->to == 10 && b->step == 1000);
	cr_assert(LINEAR("to||10", "from||0") == 0);
	cr_expect(out.actions[0].buckets.step == 1, "the width is 1 where it is not given");
	cr_assert(UNSIGNED("from||0", "to||$big", "step||0x100000000000000") == 0);
	b = &out.actions[0].buckets;
	cr_expect(b->is_unsigned && b->to == -1 && b->step == UINT64_C(1) << 56);
	cr_assert(LINEAR("from||$least", "to||9223372036854775807", "step||18446744073709551615") ==
		  0);
	cr_assert(LOG_LINEAR("10", "0", "6", "20") == 0);
	b = &out.actions[0].buckets;
	cr_expect(b->how == WEFT_BUCKETS_LOG_LINEAR && b->factor == 10 && b->low == 0 &&
		  b->high == 6 && b->steps == 20);
	cr_assert(TYPE("quantize", "into||x", "value||arg2") == 0);
	cr_expect(out.actions[0].buckets.how == WEFT_BUCKETS_POWERS &&
		  out.actions[0].buckets.is_unsigned);
}

Test(lang_constants, CONSTANT_NEEDED)
{
	expect(LINEAR("from||pid", "to||10"), "CONSTANT_NEEDED", "`from`");
	expect(LINEAR("from||0", "to||10 + tid"), "CONSTANT_NEEDED", "`to`");
	expect(LOG_LINEAR("arg0", "0", "6", "20"), "CONSTANT_NEEDED", "`factor`");
	expect(LINEAR("from||0", "to||\"ten\""), "EXPR_TYPE", "`to`");
	expect(TYPE("show", "top||pid"), "CONSTANT_NEEDED", "`top`");
}

Test(lang_constants, BUCKETS_BAD)
{
	expect(LINEAR("from||10", "to||10"), "BUCKETS_BAD", "less than `to`");
	expect(LINEAR("from||11", "to||10"), "BUCKETS_BAD", "less than `to`");
	expect(LINEAR("from||0", "to||10", "step||0"), "BUCKETS_BAD", "`step`");
	expect(LINEAR("from||0", "to||10", "step||-1"), "BUCKETS_BAD", "`step`");
	expect(LINEAR("from||0", "to||65537"), "BUCKETS_BAD", "65536");
	cr_expect(LINEAR("from||0", "to||65536") == 0);
	expect(LINEAR("from||$least", "to||9223372036854775807"), "BUCKETS_BAD", "65536");
	expect(LINEAR("from||0", "to||$big", "step||0x100000000000000"), "BUCKETS_BAD", "int64");
	expect(UNSIGNED("from||-1", "to||10"), "BUCKETS_BAD", "negative");
	expect(LOG_LINEAR("1", "0", "6", "10"), "BUCKETS_BAD", "`factor`");
	expect(LOG_LINEAR("0", "0", "6", "10"), "BUCKETS_BAD", "`factor`");
	expect(LOG_LINEAR("-10", "0", "6", "10"), "BUCKETS_BAD", "`factor`");
	expect(LOG_LINEAR("10", "7", "6", "10"), "BUCKETS_BAD", "`low`");
	expect(LOG_LINEAR("10", "-1", "6", "10"), "BUCKETS_BAD", "`low` from 0 to 62");
	expect(LOG_LINEAR("10", "0", "18", "10"), "BUCKETS_BAD", "64 bits");
	cr_expect(LOG_LINEAR("10", "0", "17", "10") == 0);
	expect(LOG_LINEAR("2", "0", "62", "2"), "BUCKETS_BAD", "64 bits");
	cr_expect(LOG_LINEAR("2", "0", "61", "2") == 0);
	expect(LOG_LINEAR("10", "0", "6", "15"), "BUCKETS_BAD", "multiple of `factor`");
	expect(LOG_LINEAR("10", "0", "6", "0"), "BUCKETS_BAD", "multiple of `factor`");
	expect(LOG_LINEAR("10", "0", "6", "30"), "BUCKETS_BAD", "divide each magnitude");
	cr_expect(LOG_LINEAR("10", "0", "0", "30") == 0, "1 wide below the steps");
	expect(LOG_LINEAR("10", "5", "17", "100000"), "BUCKETS_BAD", "65536");
}

/* Nothing is said twice: what is absent or wrong is not judged with the rest. */
Test(lang_constants, one_error_makes_one_report)
{
	expect(LINEAR("from||10"), "VALUE_MISSING", "`to`");
	expect(LINEAR("from||pidd", "to||10"), "NAME_UNKNOWN", "pidd");
	expect(LINEAR("from||0", "to||10", "step||pid"), "CONSTANT_NEEDED", "`step`");
}

/* ---- views ---- */

static int type_show(const char *a, const char *b, const char *c, const char *d)
{
	struct weft_action *list[] = {rig_action(&r, "count", "into||n", NULL),
				      rig_action(&r, "max", "into||m", "value||pid", NULL),
				      rig_action(&r, "quantize", "into||q", "value||pid", NULL),
				      rig_action(&r, "avg", "into||mean", "value||pid", NULL),
				      rig_action(&r, "show", a, b, c, d, NULL),
				      NULL};

	weft_error_clear(r.err);
	r.set.clauses = rig_clause(&r, NULL, list);
	r.set.n_clauses = 1;
	return weft_lang_clause(&r.env, r.set.clauses, r.arena, &out, r.err);
}

Test(lang_constants, views)
{
	const struct weft_view *v;

	cr_assert(type_show("name||n", "top||$n * 2", "sort||key", "order||desc") == 0);
	v = &out.actions[4].view;
	cr_expect(out.actions[4].n_names == 1 && v->top == 10 && v->sort == WEFT_SORT_KEY &&
		  v->order == WEFT_ORDER_DESC && !v->divide && !v->per_ns);
	cr_assert(type_show("name||n", "per||1s", "divide||4k", "sort||count") == 0);
	v = &out.actions[4].view;
	cr_expect(v->per_ns == 1000000000 && v->divide == 4096 && v->sort == WEFT_SORT_COUNT &&
		  !v->top && !v->order);
	cr_assert(type_show("||n", "||m", NULL, NULL) == 0);
	v = &out.actions[4].view;
	cr_expect(out.actions[4].n_names == 2 && !v->top && !v->sort);
	cr_assert(type_show("per||1s", "sort||count", NULL, NULL) == 0,
		  "without names, it is for those that it suits");
	cr_expect(out.actions[4].n_names == 0);
	cr_expect(!weft_lang_verify_clause(&out));
}

Test(lang_constants, VIEW_BAD)
{
	expect(type_show("name||n", "top||0", NULL, NULL), "VIEW_BAD", "`top`");
	expect(type_show("name||n", "top||-1", NULL, NULL), "VIEW_BAD", "`top`");
	expect(type_show("name||n", "divide||0", NULL, NULL), "VIEW_BAD", "`divide`");
	expect(type_show("name||n", "per||0", NULL, NULL), "VIEW_BAD", "`per`");
	expect(type_show("name||m", "per||1s", NULL, NULL), "VIEW_BAD", "`m` is filled by `max`");
	expect(type_show("name||n", "name||mean", "per||1s", NULL), "VIEW_BAD", "`mean`");
	expect(type_show("name||q", "divide||2", NULL, NULL), "VIEW_BAD", "histograms");
	expect(type_show("name||m", "sort||count", NULL, NULL), "VIEW_BAD", "sort by count");
	cr_expect(type_show("name||mean", "sort||count", "divide||2", NULL) == 0);
}

Test(lang_constants, AGGREGATION_UNKNOWN)
{
	expect(type_show("name||men", "top||1", NULL, NULL), "AGGREGATION_UNKNOWN", "`men`");
}

Test(lang_constants, NAME_UNKNOWN)
{
	expect(type_show("sort||size", NULL, NULL, NULL), "NAME_UNKNOWN", "value|key|count");
	expect(type_show("order||up", NULL, NULL, NULL), "NAME_UNKNOWN", "desc|asc");
}

/* `aggregations` of a set, as config hands it over. */
Test(lang_constants, views_of_a_set)
{
	struct weft_named_view views[] = {
		{{"n", {1, 2}, true}, {.top = 3, .per_ns = 5}},
		{{"m", {2, 2}, true}, {.per_ns = 5}},
		{{"x", {3, 2}, true}, {.top = 5}},
	};
	struct weft_report report;

	cr_assert(type_show("name||n", NULL, NULL, NULL) == 0);
	r.set.views = views;
	r.set.n_views = 1;
	cr_expect(weft_lang_check_views(&r.set, r.err) == 0);
	r.set.n_views = 3;
	cr_expect(weft_lang_check_views(&r.set, r.err) < 0);
	cr_assert(weft_error_count(r.err) == 2);
	cr_expect(!weft_error_report(r.err, 0, &report) && !strcmp(report.tag, "VIEW_BAD") &&
		  report.pos.line == 2);
	cr_expect(!weft_error_report(r.err, 1, &report) &&
		  !strcmp(report.tag, "AGGREGATION_UNKNOWN") && report.pos.line == 3);
}
