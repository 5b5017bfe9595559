/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A provider is not believed: whatever is wrong with a description is said, and nothing breaks. */
#include <sys/syscall.h>

#include "harness.h"
#include "kernel_objects.h"

static const struct wrong_info {
	const char *wrong, *pattern, *action, *tag, *words;
} cases[] = {
#define CALL "fx-wrong::0:call", "count: {into: n}", "PLUGIN_INFO"
#define PAIR "fx-wrong::pair:return", "count: {into: n, by: [elapsed]}", "PLUGIN_INFO"
	{"args-many", CALL, "more than 64 arguments"},
	{"args-nowhere", CALL, "arguments without a place"},
	{"arg-small", CALL, "of an impossible size"},
	{"arg-large", CALL, "of an impossible size"},
	{"arg-name", CALL, "not an identifier"},
	{"arg-name-long", CALL, "name that is too long"},
	{"arg-name-unending", CALL, "name that is too long"},
	{"arg-name-twice", CALL, "two arguments of one name"},
	{"arg-type", CALL, "unknown kind of type"},
	{"arg-size", CALL, "size is not 1, 2, 4 or 8"},
	{"arg-space", CALL, "unknown address space"},
	{"arg-flags", CALL, "unknown flags of a type"},
	{"arg-text", CALL, "type's text"},
	{"arg-unreadable", CALL, "a reason that is"},
	{"ops-many", CALL, "more than 64 operations"},
	{"ops-nowhere", CALL, "without operations"},
	{"names-many", CALL, "more than 8 names"},
	{"names-nowhere", CALL, "without the names"},
	{"name-none", CALL, "name that is empty"},
	{"name-empty", CALL, "name that is empty"},
	{"name-long", CALL, "or too long"},
	{"name-garbled", CALL, "name that is not printable"},
	{"layouts-many", CALL, "more than 65,536 layouts"},
	{"layouts-nowhere", CALL, "layouts without a place"},
	{"layout-small", CALL, "layouts without a place or of an impossible size"},
	{"layout-text", CALL, "a layout's text"},
	{"layout-arg", CALL, "more than 64 arguments"},
	{"layout-const", CALL, "layouts of a probe that is not identified by its cookie"},
	{"layout-pair", PAIR, "layouts of a probe that belongs to a pair"},
	{"scope", CALL, "unknown scope"},
	{"ctx-kind", CALL, "unknown kind of context"},
	{"ctx-size", CALL, "more than 64 KiB"},
	{"load-flags", CALL, "flags of a load class"},
	{"cookie", CALL, "a context that has none"},
	{"identity", CALL, "unknown kind of identity"},
	{"field-keys", CALL, "needs one location"},
	{"map-keys", CALL, "one to four keys"},
	{"map-fd", CALL, "needs a map"},
	{"map-size", CALL, "wrong size or alignment"},
	{"map-align", CALL, "wrong size or alignment"},
	{"retval", CALL, "return value without a place"},
	{"guard", CALL, "without operations"},
	{"prototype", CALL, "prototype"},
	{"no-due", CALL, "when a firing was due"},
	{"period", CALL, "more than 292 years"},
	{"role", PAIR, "unknown role"},
	{"no-frame", PAIR, "without a frame"},
	{"no-entry", PAIR, "entry has no description"},
	{"entry-other", PAIR, ""},
	{"entry-role", PAIR, "no entry"},
#undef CALL
#undef PAIR
	{"location", "fx-wrong::0:call", "emit: [arg0]", "LOCATION_CONTEXT", ""},
	{"name-path", "fx-wrong::0:call", "emit: [arg0]", "LOCATION_NAME", "task_struct->tgid"},
	{"silent-open", "fx-wrong::0:call", "exit", "PLUGIN_SILENT", "without a reason"},
	{"silent-populate", "fx-wrong::*:call", "exit", "PLUGIN_SILENT", "without a reason"},
	{"silent-provide", "fx-wrong::none:call", "exit", "PLUGIN_SILENT", "without a reason"},
	{"silent-info", "fx-wrong::0:call", "exit", "PLUGIN_SILENT", "without a reason"},
	{"open-null", "fx-wrong::0:call", "exit", "PLUGIN_OPEN_NULL", ""},
	{"watch", "fx-wrong::0:call", "exit", "PLUGIN_WATCH", "without a function"},
	{"info-size", "fx-wrong::0:call", "exit", "PLUGIN_INFO_SIZE", "has changed the size"},
	{"info-behind", "fx-wrong::0:call", "exit", "PLUGIN_INFO_SIZE", "has written behind"},
	{"write-host", "fx-wrong::0:call", "exit", "PLUGIN_WROTE_CONST", "the host's functions"},
	{"write-target", "fx-wrong::0:call", "exit", "PLUGIN_WROTE_CONST", "the session's target"},
	{"thread", "fx-wrong::0:call", "exit", "PLUGIN_HOST_CALL", "probe_add()"},
	{"old-error", "fx-wrong::0:call", "exit", "PLUGIN_HOST_CALL", "fail()"},
	{"discover-fd", "fx-wrong::0:call", "exit", "PLUGIN_DISCOVER_FD", "none of this process"},
	{"tag", "fx-wrong::none:call", "exit", "PLUGIN_TAG", "a tag that is none"},
};

static void expect_refused(const struct wrong_info *w)
{
	static struct kernel_objects before;
	struct weft_report e;
	struct rig r;
	int ret;

	rig_init(&r);
	kernel_objects_read(&before);
	ret = rig_prepare(&r,
			  "version: 1\n"
			  "providers: {fx-wrong: {wrong: %s}}\n"
			  "probes:\n"
			  "  - probe: '%s'\n"
			  "    do: [%s]\n",
			  w->wrong, w->pattern, w->action);
	cr_expect_lt(ret, 0, "%s", w->wrong);
	cr_assert_gt(weft_error_count(r.err), 0, "%s", w->wrong);
	weft_error_report(r.err, 0, &e);
	if (!strcmp(w->wrong, "entry-other")) {
		/* The provider says itself that it has no such probe. */
		cr_expect_str_eq(e.tag, "FX_NONE");
		cr_expect_gt(e.n_contexts, 0);
	} else {
		cr_expect_str_eq(e.tag, w->tag, "%s: %s", w->wrong, rig_errors(&r));
		cr_expect(strstr(e.text, w->words), "%s: %s", w->wrong, e.text);
	}
	if (!strncmp(w->tag, "PLUGIN_", 7))
		cr_expect(strstr(rig_errors(&r), "fx-wrong"), "%s: %s", w->wrong, rig_errors(&r));
	cr_expect_eq(weft_error_count(r.err), 1, "%s: %s", w->wrong, rig_errors(&r));
	cr_expect_eq(rig_start(&r), -EINVAL, "%s: what was not prepared does not start", w->wrong);
	kernel_objects_expect_gone(&before);
	rig_finish(&r);
}

static void expect_tag_refused(const char *tag)
{
	int n = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(cases[i].tag, tag)) {
			expect_refused(&cases[i]);
			n++;
		}
	cr_assert_gt(n, 0);
}

Test(info, PLUGIN_INFO)
{
	expect_tag_refused("PLUGIN_INFO");
}

Test(info, LOCATION_NAME)
{
	expect_tag_refused("LOCATION_NAME");
}

Test(info, LOCATION_CONTEXT)
{
	expect_tag_refused("LOCATION_CONTEXT");
}

Test(info, PLUGIN_SILENT)
{
	expect_tag_refused("PLUGIN_SILENT");
}

Test(info, PLUGIN_OPEN_NULL)
{
	expect_tag_refused("PLUGIN_OPEN_NULL");
}

Test(info, PLUGIN_WATCH)
{
	expect_tag_refused("PLUGIN_WATCH");
}

/* Programs are running by the layouts that there were. */
Test(info, layouts_that_change_while_they_are_traced)
{
	static const char *const all[] = {"layouts-fewer", "layouts-changed"};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct rig r;

		rig_init(&r);
		cr_assert_eq(rig_prepare(&r,
					 "version: 1\n"
					 "providers: {fx-wrong: {wrong: %s}}\n"
					 "probes:\n"
					 "  - probe: 'fx-wrong::1:call'\n"
					 "    when: pid == %d\n"
					 "    do: [count: {into: n, by: {a: args.nr}}]\n",
					 all[i], getpid()),
			     0, "%s", rig_errors(&r));
		cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
		syscall(SYS_getpid);
		cr_expect_eq(rig_run(&r, -1, 200000000), 0, "%s", rig_errors(&r));
		cr_expect(rig_has_said(&r, "changed a layout of a probe that is traced"), "%s: %s",
			  all[i], r.said);
		cr_expect_geq(cap_total(cap_last_table(&r.cap, "n")), 1, "the old ones go on");
		rig_finish(&r);
	}
}

Test(info, PLUGIN_INFO_SIZE)
{
	expect_tag_refused("PLUGIN_INFO_SIZE");
}

Test(info, PLUGIN_WROTE_CONST)
{
	expect_tag_refused("PLUGIN_WROTE_CONST");
}

Test(info, PLUGIN_HOST_CALL)
{
	expect_tag_refused("PLUGIN_HOST_CALL");
}

Test(info, PLUGIN_DISCOVER_FD)
{
	expect_tag_refused("PLUGIN_DISCOVER_FD");
}

Test(info, PLUGIN_TAG)
{
	expect_tag_refused("PLUGIN_TAG");
}

/* The same provider, with nothing wrong. */
Test(info, nothing_wrong)
{
	struct rig r;

	rig_init(&r);
	cr_expect_eq(rig_prepare(&r, "version: 1\n"
				     "providers: {fx-wrong: {wrong: none}}\n"
				     "probes:\n"
				     "  - probe: ['fx-wrong::*:call', 'fx-wrong::pair:return']\n"
				     "    do: [count: {into: n}]\n"),
		     0, "%s", rig_errors(&r));
	rig_finish(&r);
}

/* ---- arguments ---- */

Test(info, ARG_UNREADABLE)
{
	struct weft_report e;
	struct rig r;

	rig_init(&r);
	cr_expect_eq(rig_prepare(&r, "version: 1\n"
				     "probes:\n"
				     "  - probe: 'fx-trace:::unreadable'\n"
				     "    do: [emit: {s: args.secret}]\n"),
		     -EINVAL);
	rig_expect_tag(&r, 0, "ARG_UNREADABLE");
	weft_error_report(r.err, 0, &e);
	cr_expect(strstr(e.text, "the compiler has removed it"), "%s", e.text);
	cr_expect(e.pos.line == 4 && e.pos.column == 20, "%s", rig_errors(&r));
	cr_expect_str_eq(e.file, "set.yaml");
	rig_finish(&r);
}

static void call_once(void *arg)
{
	(void)arg;
	syscall(SYS_getppid);
}

/* An argument that cannot be read does not spoil the others; one without a name has its place. */
Test(info, arguments_beside_an_unreadable_one)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, call_once, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::unreadable'\n"
		  "    when: pid == %d\n"
		  "    do: [emit: {nr: args.nr, third: arg2}]\n",
		  w.pid);
	cr_assert_eq(r.cap.n_records, 1);
	cr_expect_eq(cap_int(&r.cap.records[0], "nr"), SYS_getppid);
	cr_expect_eq(cap_int(&r.cap.records[0], "third"), 42);
	rig_finish(&r);
}

/* ---- looking at probes ---- */

static int describe(const struct weft_probe *probe, void *arg)
{
	struct rig *r = arg;
	const struct weft_layout *layouts;
	const struct weft_probe_info *info;
	uint32_t n_layouts;

	cr_assert_eq(weft_session_describe(r->session, probe, &info, &layouts, &n_layouts, r->err),
		     0, "%s", rig_errors(r));
	cr_assert_eq(info->n_args, 4);
	cr_expect_str_eq(info->args[0].name, "filename");
	cr_expect_eq(info->args[0].type.kind, WEFT_TYPE_STRING);
	cr_expect_str_eq(info->prototype, "(char *filename, pid_t pid, pid_t old_pid)");
	return 0;
}

Test(info, describe_and_mechanism)
{
	struct weft_session_env env = {0};
	struct weft_pattern pattern;
	const char *how;
	struct rig r;

	rig_init(&r);
	env.providers = r.providers;
	env.n_providers = r.n_providers;
	cr_assert_eq(weft_session_create(&env, &r.session, r.err), 0);
	cr_assert_eq(weft_pattern_parse("fx-trace:sched::exec", &pattern, r.err), 0);
	cr_expect_eq(weft_session_find(r.session, &pattern, describe, &r, r.err), 0);
	weft_pattern_finish(&pattern);
	cr_expect_eq(weft_session_mechanism(r.session, "fx-trace", &how, r.err), 0);
	cr_expect_str_eq(how, "tracepoints through perf events");
	cr_expect_eq(weft_session_mechanism(r.session, "fx-wrong", &how, r.err), 0);
	cr_expect_null(how);
	cr_expect_eq(weft_session_mechanism(r.session, "nobody", &how, r.err), -ENOENT);
	rig_expect_tag(&r, 0, "PROBE_NO_PROVIDER");
	rig_finish(&r);
}

static int note(const struct weft_probe *probe, void *arg)
{
	struct rig *r = arg;
	const char *text;

	cr_expect_eq(weft_session_note(r->session, probe, &text, r->err), -EPROTO);
	cr_expect_null(text);
	return 1;
}

Test(info, PLUGIN_TEXT)
{
	struct weft_pattern pattern;
	const char *how;
	struct rig r;

	rig_init(&r);
	rig_prepare(&r, "version: 1\n"
			"providers: {fx-wrong: {wrong: describe-endless}}\n"
			"probes: [{probe: 'fx-wrong::0:call', do: [exit]}]\n");
	cr_expect_eq(weft_session_mechanism(r.session, "fx-wrong", &how, r.err), -EPROTO);
	cr_expect_null(how);
	rig_expect_tag(&r, 0, "PLUGIN_TEXT");
	rig_finish(&r);

	rig_init(&r);
	rig_prepare(&r, "version: 1\n"
			"providers: {fx-wrong: {wrong: note-control}}\n"
			"probes: [{probe: 'fx-wrong::0:call', do: [exit]}]\n");
	cr_assert_eq(weft_pattern_parse("fx-wrong::0:call", &pattern, r.err), 0);
	cr_expect_eq(weft_session_find(r.session, &pattern, note, &r, r.err), 1);
	weft_pattern_finish(&pattern);
	rig_expect_tag(&r, 0, "PLUGIN_TEXT");
	rig_finish(&r);
}

/* ---- patterns that match nothing ---- */

static void no_match(const char *pattern, const char *tag, const char *suggestion)
{
	struct weft_report e;
	struct rig r;

	rig_init(&r);
	cr_expect_lt(rig_prepare(&r,
				 "version: 1\n"
				 "probes:\n"
				 "  - probe: '%s'\n"
				 "    do: [count: {into: n}]\n",
				 pattern),
		     0, "%s", pattern);
	rig_expect_tag(&r, 0, tag);
	weft_error_report(r.err, 0, &e);
	cr_expect(e.pos.line == 3 && e.pos.column == 13, "%s: %s", pattern, rig_errors(&r));
	if (suggestion)
		cr_expect_str_eq(e.suggestion, suggestion, "%s", pattern);
	rig_finish(&r);
}

Test(info, patterns_that_match_nothing)
{
	no_match("fx-trase:::exec", "PROBE_NO_PROVIDER", "fx-trace");
	no_match("fx-trace:shed::exec", "PROBE_NO_MODULE", "sched");
	no_match("fx-trace:sched:sched_process_exek:exec", "PROBE_NO_FUNCTION",
		 "sched_process_exec");
	no_match("fx-trace:sched:sched_process_exec:exek", "PROBE_NO_NAME", "exec");
	no_match("fx-map::medium:3", "FX_NO_ID", NULL);
}

Test(info, PATTERN_TOO_BROAD)
{
	no_match(":::", "PATTERN_TOO_BROAD", NULL);
	no_match("*:::", "PATTERN_TOO_BROAD", NULL);
}
