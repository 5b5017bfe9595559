/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* From open to close: in the right order, in the wrong one, ended in each way, and again. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>

#include "rig.h"

#define COUNT_CALLS                       \
	"version: 1\n"                    \
	"probes:\n"                       \
	"  - probe: 'fx-trace:::calls'\n" \
	"    do: [count: {into: calls}, count: {into: by_pid, by: pid}]\n"

static void target(struct rig *r, const char *const *command, uint32_t flags)
{
	const struct weft_trace_target t = {
		.struct_size = sizeof(t),
		.flags = flags,
		.command = command,
	};

	cr_assert_eq(weft_trace_target(r->t, &t), 0, "%s", weft_trace_error(r->t));
}

static size_t count_fds(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* ---- runs ---- */

Test(embed_life, a_command)
{
	static const char *const command[] = {CALLS, "1234", NULL};
	struct rig r;

	rig_open(&r, 0);
	rig_set(&r, COUNT_CALLS);
	target(&r, command, 0);
	rig_run(&r, NULL);
	rig_expect_line(&r, "count calls: {} 1234 n=1234");
	cr_expect_str_eq(weft_trace_end(r.t)->reason, "target");
	cr_expect_eq(weft_trace_end(r.t)->status, 0);
	rig_close(&r);
}

Test(embed_life, a_command_and_its_children)
{
	static const char *const command[] = {CALLS, "100", "2", "3", NULL};
	struct rig r;

	rig_open(&r, 0);
	rig_set(&r, COUNT_CALLS);
	target(&r, command, WEFT_TRACE_FOLLOW);
	rig_run(&r, NULL);
	rig_expect_line(&r, "count calls: {} 800 n=800");
	rig_close(&r);
}

/* One handle, one set after the other; plugins, descriptors and memory do not add up. */
Test(embed_life, one_set_after_the_other)
{
	static const char *const command[] = {CALLS, "321", NULL};
	size_t before = 0;
	struct rig r;

	rig_open(&r, 0);
	for (int i = 0; i < 4; i++) {
		rig_set(&r, COUNT_CALLS);
		target(&r, command, 0);
		if (i == 1)
			cr_expect_eq(weft_trace_prepare(r.t), 0);
		rig_run(&r, NULL);
		cr_expect(weft_trace_counts(r.t)->n_probes == 1);
		if (i == 2)
			before = count_fds();
	}
	cr_expect_eq(count_fds(), before);
	rig_close(&r);
}

Test(embed_life, two_at_the_same_time)
{
	static const char *const command[] = {CALLS, "500", NULL};
	struct rig a, b;

	rig_open(&a, 0);
	rig_open(&b, 0);
	rig_set(&a, COUNT_CALLS);
	rig_set(&b, COUNT_CALLS);
	target(&a, command, 0);
	target(&b, command, 0);
	cr_assert_eq(weft_trace_start(a.t, NULL), 0, "%s", weft_trace_error(a.t));
	cr_assert_eq(weft_trace_start(b.t, NULL), 0, "%s", weft_trace_error(b.t));
	cr_expect_eq(weft_trace_run(b.t), 0);
	cr_expect_eq(weft_trace_run(a.t), 0);
	cr_expect_eq(weft_trace_stop(a.t), 0);
	cr_expect_eq(weft_trace_stop(b.t), 0);
	rig_expect_line(&a, "count calls: {} 500 n=500");
	rig_expect_line(&b, "count calls: {} 500 n=500");
	rig_close(&a);
	rig_close(&b);
}

/* A program that wants to hear of no child, or takes the status of each. */
Test(embed_life, children_are_not_waited_for)
{
	static const char *const command[] = {CALLS, "55", NULL};
	struct rig r;

	signal(SIGCHLD, SIG_IGN);
	rig_open(&r, 0);
	rig_set(&r, COUNT_CALLS);
	target(&r, command, 0);
	rig_run(&r, NULL);
	rig_expect_line(&r, "count calls: {} 55 n=55");
	rig_close(&r);
}

/* ---- the ends of runs ---- */

Test(embed_life, ends)
{
	struct weft_trace_run_options run = {.struct_size = sizeof(run), .duration_ns = 30000000};
	static const char *const sleeps[] = {"sleep", "2", NULL};
	struct rig r;

	rig_open(&r, 0);
	rig_set(&r, COUNT_CALLS);
	target(&r, sleeps, 0);
	cr_expect_null(weft_trace_end(r.t));
	cr_assert_eq(weft_trace_start(r.t, &run), 0, "%s", weft_trace_error(r.t));
	cr_expect_eq(weft_trace_run(r.t), 0);
	cr_expect_eq(weft_trace_poll(r.t, -1), 1, "over is over");
	cr_expect_eq(weft_trace_run(r.t), 0);
	cr_expect_null(weft_trace_end(r.t));
	cr_expect_eq(weft_trace_stop(r.t), 0);
	cr_expect_str_eq(weft_trace_end(r.t)->reason, "duration");

	rig_set(&r, COUNT_CALLS);
	cr_expect_null(weft_trace_end(r.t), "of the set before");
	run = (struct weft_trace_run_options){.struct_size = sizeof(run), WEFT_TRACE_STOP_FD};
	run.stop_fd = eventfd(1, EFD_CLOEXEC);
	cr_assert_eq(weft_trace_start(r.t, &run), 0);
	cr_expect_eq(weft_trace_poll(r.t, -1), 1);
	cr_expect_eq(weft_trace_stop(r.t), 0);
	cr_expect_str_eq(weft_trace_end(r.t)->reason, "signal");
	cr_expect_eq(fcntl(run.stop_fd, F_GETFD), FD_CLOEXEC, "it is the caller's");
	close(run.stop_fd);

	rig_set(&r, COUNT_CALLS);
	cr_assert_eq(weft_trace_start(r.t, NULL), 0);
	cr_expect_eq(weft_trace_poll(r.t, 0), 0);
	cr_expect_eq(weft_trace_stop(r.t), 0);
	cr_expect_str_eq(weft_trace_end(r.t)->reason, "stop");
	cr_expect_eq(weft_trace_end(r.t)->status, 0);

	/* Closing while it runs is no crime. */
	rig_set(&r, COUNT_CALLS);
	cr_assert_eq(weft_trace_start(r.t, NULL), 0);
	rig_close(&r);
}

static void fire_slowly(void *arg)
{
	(void)arg;
	for (int i = 0; i < 10; i++) {
		syscall(SYS_prctl, MAGIC, i, 0, 0, 0);
		usleep(3000);
	}
}

/* A loop that only ever looks at the descriptor misses nothing, and need not spin. */
Test(embed_life, a_loop_of_ones_own)
{
	struct weft_trace_run_options run = {.struct_size = sizeof(run), WEFT_TRACE_STOP_FD};
	int ret = 0, rounds = 0;
	struct pollfd p;
	struct worker w;
	struct rig r;

	worker_fork(&w, fire_slowly, NULL);
	rig_open(&r, 0);
	rig_set(&r,
		"version: 1\n"
		"probes: [{probe: 'fx-trace:::math', when: pid == %d, do: [emit: {a: args.a}]}]\n",
		w.pid);
	run.stop_fd = w.pidfd;
	cr_assert_eq(weft_trace_start(r.t, &run), 0, "%s", weft_trace_error(r.t));
	p = (struct pollfd){.fd = weft_trace_fd(r.t), .events = POLLIN};
	cr_assert_geq(p.fd, 0);
	cr_expect_eq(weft_trace_fd(r.t), p.fd);
	worker_go(&w);
	for (; !ret && rounds < 10000; rounds++) {
		cr_assert_eq(poll(&p, 1, 10000), 1);
		ret = weft_trace_poll(r.t, 0);
	}
	cr_expect_eq(ret, 1);
	cr_expect_leq(rounds, 200, "%d rounds for 10 records", rounds);
	cr_expect_eq(poll(&p, 1, 0), 1, "what is over stays readable");
	cr_expect_eq(weft_trace_stop(r.t), 0);
	cr_expect_eq(r.n_records, 10);
	worker_join(&w);
	rig_close(&r);
}

/* Records come while it runs, not only at its end. */
Test(embed_life, records_settle_by_the_descriptor)
{
	struct weft_trace_run_options run = {.struct_size = sizeof(run)};
	struct pollfd p;
	struct rig r;

	rig_open(&r, 0);
	rig_set(&r,
		"version: 1\n"
		"probes: [{probe: 'fx-trace:::math', when: pid == %d, do: [emit: {a: args.a}]}]\n",
		getpid());
	cr_assert_eq(weft_trace_start(r.t, &run), 0, "%s", weft_trace_error(r.t));
	p = (struct pollfd){.fd = weft_trace_fd(r.t), .events = POLLIN};
	syscall(SYS_prctl, MAGIC, 1, 0, 0, 0);
	for (int i = 0; i < 1000 && !r.n_records; i++) {
		cr_assert_eq(poll(&p, 1, 10000), 1);
		cr_expect_eq(weft_trace_poll(r.t, 0), 0);
	}
	cr_expect_eq(r.n_records, 1);
	cr_expect_eq(weft_trace_stop(r.t), 0);
	rig_close(&r);
}

/* ---- callbacks that refuse ---- */

Test(embed_life, OUTPUT_WRITE)
{
	struct worker w;
	struct rig r;
	int ret;

	worker_fork(&w, fire_slowly, NULL);
	rig_open(&r, 0);
	rig_set(&r,
		"version: 1\n"
		"probes: [{probe: 'fx-trace:::math', when: pid == %d, do: [emit: {a: args.a}]}]\n",
		w.pid);
	r.fail = -EDQUOT;
	cr_assert_eq(weft_trace_start(r.t, NULL), 0);
	worker_go(&w);
	do
		ret = weft_trace_poll(r.t, -1);
	while (!ret);
	rig_expect(&r, ret, -EDQUOT, "OUTPUT_WRITE");
	rig_expect(&r, weft_trace_poll(r.t, 0), -EDQUOT, "OUTPUT_WRITE"); /* and so it stays */
	rig_expect(&r, weft_trace_run(r.t), -EDQUOT, "OUTPUT_WRITE");
	r.fail = 0;
	rig_expect(&r, weft_trace_stop(r.t), -EDQUOT, "OUTPUT_WRITE");
	cr_expect_eq(weft_trace_n_reports(r.t), 1);
	cr_expect_str_eq(weft_trace_end(r.t)->reason, "error");
	cr_expect_eq(weft_trace_end(r.t)->status, 1);
	worker_kill(&w);
	rig_close(&r);
}

/* ---- misuse ---- */

Test(embed_life, TRACE_NULL)
{
	const struct weft_trace_frame *frame;
	const struct weft_trace_details *details;
	char path[16];
	struct rig r;

	cr_expect_eq(weft_trace_open(NULL, NULL), -EINVAL);
	cr_expect_eq(weft_trace_close(NULL), 0);
	cr_expect_eq(weft_trace_n_reports(NULL), 1);
	cr_expect_str_eq(weft_trace_report(NULL, 0)->tag, "TRACE_NULL");
	cr_expect_null(weft_trace_report(NULL, 1));
	cr_expect_null(weft_trace_cause(NULL, 0, 0));
	cr_expect_str_eq(weft_trace_error(NULL), "the handle is NULL [TRACE_NULL]");
	cr_expect_eq(weft_trace_plugins(NULL, NULL), -EINVAL);
	cr_expect_eq(weft_trace_n_plugins(NULL), 0);
	cr_expect_null(weft_trace_plugin(NULL, 0));
	cr_expect_eq(weft_trace_list(NULL, NULL, NULL, NULL), -EINVAL);
	cr_expect_eq(weft_trace_describe(NULL, NULL, &details), -EINVAL);
	cr_expect_eq(weft_trace_info(NULL, NULL, NULL), -EINVAL);
	cr_expect_eq(weft_trace_set(NULL, "x", "", 0), -EINVAL);
	cr_expect_eq(weft_trace_set_file(NULL, "x"), -EINVAL);
	cr_expect_null(weft_trace_set_info(NULL));
	cr_expect_eq(weft_trace_param(NULL, "x", "1"), -EINVAL);
	cr_expect_eq(weft_trace_target(NULL, NULL), -EINVAL);
	cr_expect_eq(weft_trace_prepare(NULL), -EINVAL);
	cr_expect_null(weft_trace_counts(NULL));
	cr_expect_eq(weft_trace_start(NULL, NULL), -EINVAL);
	cr_expect_null(weft_trace_verifier_log(NULL));
	cr_expect_eq(weft_trace_poll(NULL, 0), -EINVAL);
	cr_expect_eq(weft_trace_fd(NULL), -EINVAL);
	cr_expect_eq(weft_trace_run(NULL), -EINVAL);
	cr_expect_eq(weft_trace_stop(NULL), -EINVAL);
	cr_expect_null(weft_trace_end(NULL));
	cr_expect_eq(weft_trace_read(NULL, NULL, NULL, NULL), -EINVAL);
	cr_expect_eq(weft_trace_losses(NULL, NULL, NULL), -EINVAL);
	cr_expect_eq(weft_trace_symbol(NULL, 0, 0, 0, &frame), -EINVAL);
	cr_expect_eq(weft_trace_output(NULL, NULL), -EINVAL);
	cr_expect_eq(weft_trace_explain(NULL, NULL, NULL), -EINVAL);
	cr_expect_eq(weft_trace_page(NULL, WEFT_TRACE_REFERENCE, NULL, NULL), -EINVAL);
	cr_expect_eq(weft_trace_find_set(NULL, "x", path, sizeof(path)), -EINVAL);
	cr_expect_eq(weft_trace_sets(NULL, NULL, NULL), -EINVAL);

	rig_open(&r, WEFT_TRACE_EXPLAIN);
	rig_expect(&r, weft_trace_set(r.t, NULL, "x", 1), -EINVAL, "TRACE_NULL");
	cr_expect_str_eq(weft_trace_error(r.t), "name is NULL [TRACE_NULL]");
	rig_expect(&r, weft_trace_set(r.t, "x", NULL, 1), -EINVAL, "TRACE_NULL");
	rig_expect(&r, weft_trace_set_file(r.t, NULL), -EINVAL, "TRACE_NULL");
	rig_expect(&r, weft_trace_list(r.t, NULL, NULL, NULL), -EINVAL, "TRACE_NULL");
	rig_expect(&r, weft_trace_info(r.t, NULL, NULL), -EINVAL, "TRACE_NULL");
	rig_expect(&r, weft_trace_target(r.t, NULL), -EINVAL, "TRACE_NULL");
	rig_expect(&r, weft_trace_output(r.t, NULL), -EINVAL, "TRACE_NULL");
	rig_expect(&r, weft_trace_find_set(r.t, NULL, path, sizeof(path)), -EINVAL, "TRACE_NULL");
	rig_expect(&r, weft_trace_sets(r.t, NULL, NULL), -EINVAL, "TRACE_NULL");
	rig_set(&r, COUNT_CALLS);
	rig_expect(&r, weft_trace_param(r.t, NULL, "1"), -EINVAL, "TRACE_NULL");
	rig_expect(&r, weft_trace_param(r.t, "x", NULL), -EINVAL, "TRACE_NULL");
	cr_expect_eq(weft_trace_prepare(r.t), 0);
	rig_expect(&r, weft_trace_explain(r.t, NULL, NULL), -EINVAL, "TRACE_NULL");
	rig_close(&r);
}

static int write_nowhere(void *arg, const char *bytes, size_t n)
{
	(void)arg;
	(void)bytes;
	(void)n;
	return 0;
}

static int list_nothing(void *arg, const struct weft_trace_probe *probe)
{
	(void)arg;
	(void)probe;
	return 0;
}

static int read_nothing(void *arg, const struct weft_trace_aggregation *a)
{
	(void)arg;
	(void)a;
	return 0;
}

static int lose_nothing(void *arg, const struct weft_trace_loss *l)
{
	(void)arg;
	(void)l;
	return 0;
}

static int say_nothing(void *arg, const char *group, const char *what, const char *value)
{
	(void)arg;
	(void)group;
	(void)what;
	(void)value;
	return 0;
}

/* Every function in every state that it is not for. */
static void expect_order(struct rig *r, const char *allowed)
{
	const struct weft_trace_target t = {.struct_size = sizeof(t)};
	const struct weft_trace_output o = {
		.struct_size = sizeof(o), .format = "json", .results = write_nowhere};
	const struct weft_trace_frame *frame;
	const struct weft_trace_probe p = {.struct_size = sizeof(p), .handle = r};
	const struct weft_trace_details *details;

#define REFUSED(name, ...)                                                             \
	do {                                                                           \
		if (!strstr(allowed, " " #name " "))                                   \
			rig_expect(r, weft_trace_##name(r->t, ##__VA_ARGS__), -EINVAL, \
				   "TRACE_STATE");                                     \
	} while (0)
	REFUSED(plugins, FIXTURE_PROVIDER_DIR);
	REFUSED(list, NULL, list_nothing, NULL);
	REFUSED(describe, &p, &details);
	REFUSED(info, say_nothing, NULL);
	REFUSED(set, "x", "", 0);
	REFUSED(set_file, "/nowhere");
	REFUSED(param, "x", "1");
	REFUSED(target, &t);
	REFUSED(prepare);
	REFUSED(start, NULL);
	REFUSED(poll, 0);
	REFUSED(fd);
	REFUSED(run);
	REFUSED(stop);
	REFUSED(read, NULL, read_nothing, NULL);
	REFUSED(losses, lose_nothing, NULL);
	REFUSED(symbol, 0, 0, 16, &frame);
	REFUSED(output, &o);
	REFUSED(explain, write_nowhere, NULL);
#undef REFUSED
}

Test(embed_life, TRACE_STATE)
{
	struct weft_trace_options bad = {.struct_size = 12};
	struct rig r;

	rig_open(&r, WEFT_TRACE_EXPLAIN);
	expect_order(&r, " plugins list info set set_file target output ");
	cr_expect_eq(weft_trace_poll(r.t, 0), -EINVAL);
	cr_expect_str_eq(weft_trace_error(r.t),
			 "weft_trace_poll() cannot be called now: no probe set "
			 "was read [TRACE_STATE]");
	rig_set(&r, COUNT_CALLS);
	expect_order(&r, " plugins list info set set_file param target prepare start output ");
	cr_expect_eq(weft_trace_prepare(r.t), 0);
	expect_order(&r, " set set_file start output explain ");
	cr_assert_eq(weft_trace_start(r.t, NULL), 0);
	expect_order(&r, " poll fd run stop read losses symbol ");
	cr_expect_eq(weft_trace_poll(r.t, 0), 0, "refused calls do no harm");
	cr_expect_eq(weft_trace_stop(r.t), 0);
	expect_order(&r, " set set_file symbol output explain ");
	/* A set that cannot be prepared. */
	rig_set(&r, "version: 1\nprobes: [{probe: 'fx-trace:::nope', do: [count: {into: x}]}]\n");
	rig_expect(&r, weft_trace_start(r.t, NULL), -ENOENT, "PROBE_NO_NAME");
	expect_order(&r, " set set_file output ");
	/* One that cannot even be read: as if there were none. */
	rig_expect(&r, weft_trace_set(r.t, "x", "version: 2\n", 11), -EINVAL, "CONFIG_VERSION");
	expect_order(&r, " plugins list info set set_file target output ");
	rig_close(&r);

	/* Options that were refused leave a handle for the reason. */
	cr_expect_eq(weft_trace_open(&bad, &r.t), -EINVAL);
	cr_expect_str_eq(weft_trace_report(r.t, 0)->tag, "TRACE_OPTIONS");
	expect_order(&r, " ");
	rig_expect(&r, weft_trace_page(r.t, WEFT_TRACE_REFERENCE, write_nowhere, NULL), -EINVAL,
		   "TRACE_STATE");
	cr_expect_eq(weft_trace_close(r.t), 0);
}

/* ---- structs of other versions ---- */

struct longer {
	struct weft_trace_options options;
	uint64_t more;
};

Test(embed_life, TRACE_OPTIONS)
{
	struct longer l = {.options.struct_size = sizeof(l)};
	struct weft_trace_run_options run = {.struct_size = sizeof(run), .flags = 8};
	struct weft_trace_target target = {.struct_size = sizeof(target), .flags = 2};
	struct weft_trace_output output = {.struct_size = sizeof(output), .format = "json"};
	struct weft_trace *t;
	struct rig r;

	/* A newer program that asks for nothing new, and one that does. */
	cr_expect_eq(weft_trace_open(&l.options, &t), 0);
	weft_trace_close(t);
	l.more = 1;
	cr_expect_eq(weft_trace_open(&l.options, &t), -EINVAL);
	cr_expect_str_eq(weft_trace_report(t, 0)->tag, "TRACE_OPTIONS");
	cr_expect(strstr(weft_trace_error(t), "struct weft_trace_options has members"));
	weft_trace_close(t);
	l.options.struct_size = 8; /* an older one: what it does not reach is not read */
	l.options.record = (int (*)(void *, const struct weft_trace_record *))(uintptr_t)1;
	cr_expect_eq(weft_trace_open(&l.options, &t), 0);
	weft_trace_close(t);
	l.options.flags = 128;
	cr_expect_eq(weft_trace_open(&l.options, &t), -EINVAL);
	cr_expect(strstr(weft_trace_error(t), "flags"), "%s", weft_trace_error(t));
	weft_trace_close(t);
	cr_expect_eq(weft_trace_open(NULL, &t), 0);
	weft_trace_close(t);

	rig_open(&r, 0);
	rig_expect(&r, weft_trace_target(r.t, &target), -EINVAL, "TRACE_OPTIONS");
	target = (struct weft_trace_target){.struct_size = sizeof(target), .n_pids = 1};
	rig_expect(&r, weft_trace_target(r.t, &target), -EINVAL, "TRACE_NULL");
	rig_expect(&r, weft_trace_output(r.t, &output), -EINVAL, "TRACE_NULL");
	output.flags = 16;
	rig_expect(&r, weft_trace_output(r.t, &output), -EINVAL, "TRACE_OPTIONS");
	rig_expect(&r, weft_trace_page(r.t, 3, write_nowhere, NULL), -EINVAL, "TRACE_OPTIONS");
	rig_set(&r, COUNT_CALLS);
	rig_expect(&r, weft_trace_start(r.t, &run), -EINVAL, "TRACE_OPTIONS");
	cr_expect_eq(weft_trace_start(r.t, NULL), 0, "it could be started all the same");
	cr_expect_eq(weft_trace_stop(r.t), 0);
	rig_expect(&r, weft_trace_explain(r.t, write_nowhere, NULL), -EINVAL, "TRACE_OPTIONS");
	rig_close(&r);
}

/* A descriptor that cannot be waited for: what was attached for it is gone. */
Test(embed_life, RUN)
{
	struct weft_trace_run_options run = {.struct_size = sizeof(run), WEFT_TRACE_STOP_FD};
	static const char *const command[] = {CALLS, "9", NULL};
	struct rig r;

	rig_open(&r, 0);
	rig_set(&r, COUNT_CALLS);
	run.stop_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	rig_expect(&r, weft_trace_start(r.t, &run), -EPERM, "RUN");
	expect_order(&r, " set set_file output ");
	cr_expect_null(weft_trace_counts(r.t));
	rig_set(&r, COUNT_CALLS);
	target(&r, command, 0);
	rig_run(&r, NULL);
	rig_expect_line(&r, "count calls: {} 9 n=9");
	close(run.stop_fd);
	rig_close(&r);
}

/* ---- errors of the set ---- */

Test(embed_life, places_in_memory)
{
	const struct weft_trace_report *report;
	struct rig r;

	rig_open(&r, 0);
	rig_set(&r, "version: 1\n"
		    "params: {n: 1}\n"
		    "probes:\n"
		    "  - probe: 'fx-trace:::math'\n"
		    "    do: [count: {into: x, by: pit}, signal: KILL]\n");
	rig_expect(&r, weft_trace_param(r.t, "m", "2"), -ENOENT, "PARAM_UNKNOWN");
	cr_expect_eq(weft_trace_param(r.t, "n", "2"), 0);
	cr_expect_neq(weft_trace_prepare(r.t), 0);
	cr_assert_eq(weft_trace_n_reports(r.t), 2, "%s", weft_trace_error(r.t));
	report = weft_trace_report(r.t, 0);
	cr_expect_str_eq(report->tag, "NAME_UNKNOWN");
	cr_expect_str_eq(report->file, "set.yaml");
	cr_expect(report->line == 5 && report->column == 31, "%u:%u", report->line, report->column);
	cr_expect_str_eq(report->suggestion, "pid");
	cr_expect_null(weft_trace_cause(r.t, 0, report->n_causes));
	cr_expect_str_eq(weft_trace_report(r.t, 1)->tag, "DESTRUCTIVE");
	cr_expect_null(weft_trace_report(r.t, 2));
	cr_expect(!strncmp(weft_trace_error(r.t), "set.yaml:5:31: ", 15), "%s",
		  weft_trace_error(r.t));
	rig_close(&r);
	rig_open(&r, WEFT_TRACE_DESTRUCTIVE);
	rig_set(&r, "version: 1\nprobes: [{probe: 'fx-trace:::math', do: [signal: KILL]}]\n");
	cr_expect_eq(weft_trace_prepare(r.t), 0, "%s", weft_trace_error(r.t));
	rig_close(&r);
}

Test(embed_life, targets)
{
	static const char *const nowhere[] = {"/nowhere/at/all", NULL};
	static const int32_t pids[] = {1 << 30};
	struct weft_trace_target t = {.struct_size = sizeof(t), .pids = pids, .n_pids = 1};
	struct rig r;

	rig_open(&r, 0);
	cr_expect_eq(weft_trace_target(r.t, &t), 0);
	rig_expect(&r, weft_trace_list(r.t, "fx-trace", list_nothing, NULL), -ESRCH,
		   "TARGET_NO_PROCESS");
	rig_set(&r, COUNT_CALLS);
	rig_expect(&r, weft_trace_prepare(r.t), -ESRCH, "TARGET_NO_PROCESS");
	rig_set(&r, COUNT_CALLS);
	target(&r, nowhere, 0);
	rig_expect(&r, weft_trace_start(r.t, NULL), -ENOENT, "TARGET_EXEC");
	cr_expect_null(weft_trace_verifier_log(r.t));
	rig_close(&r);
}
