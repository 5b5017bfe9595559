/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every allocation of the library fails once, each in a run of its own: the linker leads them here
 * (--wrap). Nothing crashes or leaks, and what the caller gets is -ENOMEM with the tag NO_MEMORY,
 * or all that was asked for.
 */
#include "rig.h"
#include "support/test_failing.h"

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t m), (n, m))
WRAP(void *, realloc, (void *p, size_t n), (p, n))

static int list_one(void *arg, const struct weft_trace_probe *probe)
{
	const struct weft_trace_details *d;

	return weft_trace_describe(arg, probe, &d);
}

static int nothing(void *arg, const char *bytes, size_t n)
{
	(void)arg;
	(void)bytes;
	(void)n;
	return 0;
}

static int set_nothing(void *arg, const char *name, const char *path)
{
	(void)arg;
	(void)name;
	(void)path;
	return 0;
}

static const char yaml[] =
	"version: 1\n"
	"params: {a: 1}\n"
	"probes:\n"
	"  - probe: 'fx-trace:::calls'\n"
	"    when: pid != $a\n"
	"    do: [count: {into: n, by: execname}, emit: {a: stack, b: execname}]\n";

/* Short of the kernel. */
static int look(struct weft_trace *t)
{
	static const char *const command[] = {CALLS, "3", NULL};
	const struct weft_trace_target target = {.struct_size = sizeof(target), .command = command};
	const struct weft_trace_output o = {
		.struct_size = sizeof(o), .format = "text", .results = nothing};
	int ret;

	ret = weft_trace_plugins(t, FIXTURE_PROVIDER_DIR);
	if (!ret)
		ret = weft_trace_list(t, "fx-trace:::math", list_one, t);
	if (!ret)
		ret = weft_trace_set(t, "set.yaml", yaml, sizeof(yaml) - 1);
	if (!ret && !weft_trace_set_info(t))
		ret = -ENOMEM;
	if (!ret)
		ret = weft_trace_param(t, "a", "7");
	if (!ret)
		ret = weft_trace_target(t, &target);
	if (!ret)
		ret = weft_trace_output(t, &o);
	return ret;
}

static int prepare(struct weft_trace *t)
{
	char path[4096];
	int ret;

	ret = look(t);
	if (!ret)
		ret = weft_trace_prepare(t);
	if (!ret)
		ret = weft_trace_explain(t, nothing, NULL);
	if (!ret && weft_trace_find_set(t, "nowhere", path, sizeof(path)) == -ENOMEM)
		ret = -ENOMEM;
	if (!ret && weft_trace_sets(t, set_nothing, NULL) == -ENOMEM)
		ret = -ENOMEM;
	return ret;
}

static int put_record(void *arg, const struct weft_trace_record *record)
{
	(void)arg;
	(void)record;
	return 0;
}

static int put_aggregation(void *arg, const struct weft_trace_aggregation *a)
{
	(void)arg;
	(void)a;
	return 0;
}

/* Of a call that failed: the reports of the one that follows it are others. */
static void expect_said(struct weft_trace *t, int ret)
{
	const struct weft_trace_report *r = weft_trace_report(t, 0);

	if (!ret)
		return;
	cr_assert(r, "allocation %zu: %d is not said", countdown, ret);
	if (ret == -ENOMEM) /* what is written may be what there is no memory for */
		cr_expect(!strcmp(r->tag, "NO_MEMORY") || !strcmp(r->tag, "OUTPUT_WRITE"),
			  "allocation %zu: %s", countdown, r->tag);
}

static int run(struct weft_trace *t)
{
	int ret, stopped;

	ret = look(t);
	if (!ret)
		ret = weft_trace_start(t, NULL);
	if (ret)
		return ret;
	ret = weft_trace_read(t, NULL, put_aggregation, NULL);
	expect_said(t, ret);
	ret = weft_trace_run(t);
	expect_said(t, ret);
	stopped = weft_trace_stop(t);
	cr_expect(!ret || stopped == ret);
	return stopped;
}

/* Each step-th allocation of the work. Returns how many there are. */
static size_t fail_each(int (*work)(struct weft_trace *t), size_t step)
{
	const struct weft_trace_options options = {
		.struct_size = sizeof(options),
		.flags = WEFT_TRACE_EXPLAIN,
		.record = put_record,
		.aggregation = put_aggregation,
	};
	struct weft_trace *t;
	size_t n;
	int ret;

	for (n = 1;; n += step) {
		countdown = n;
		calls = 0;
		armed = true;
		ret = weft_trace_open(&options, &t);
		if (ret) {
			cr_expect(ret == -ENOMEM && !t);
			armed = false;
			continue;
		}
		ret = work(t);
		armed = false;
		if (calls < countdown) {
			cr_expect_eq(ret, 0, "without a failure: %s", weft_trace_error(t));
			weft_trace_close(t);
			return calls;
		}
		expect_said(t, ret);
		cr_expect_eq(weft_trace_close(t), 0);
	}
}

Test(embed_nomem, looking)
{
	cr_expect_gt(fail_each(prepare, 1), 100);
}

Test(embed_nomem, running)
{
	cr_expect_gt(fail_each(run, 7), 100);
}
