/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The commands that only look: list, providers, schema, info, check and explain. */
#include "support.h"

/* ---- list ---- */

Test(look, list)
{
	struct cli_run c;

	CLI(&c, "list", FIXTURES, "fx-field");
	cli_expect(&c, 0,
		   "fx-field::getppid:call\nfx-field::getpid:call\nfx-field::gettid:call\n"
		   "fx-field::getuid:call\nfx-field::getgid:call\nfx-field::prctl:call\n",
		   "");
	cli_finish(&c);
	CLI(&c, "list", FIXTURES, "fx-field::get?id:");
	cli_expect(&c, 0,
		   "fx-field::getpid:call\nfx-field::gettid:call\nfx-field::getuid:call\n"
		   "fx-field::getgid:call\n",
		   "");
	cli_finish(&c);
	CLI(&c, "list", FIXTURES, "fx-field::110:call");
	cli_expect(&c, 0, "fx-field::110:call\n", "");
	cli_finish(&c);
}

Test(look, list_verbose)
{
	struct cli_run c;

	CLI(&c, "list", FIXTURES, "-v", "fx-trace:sched::");
	cr_expect_eq(c.status, 0, "%s", c.err);
	cr_expect(strstr(c.out, "fx-trace:sched:sched_process_exec:exec\n"
				"    (char *filename, pid_t pid, pid_t old_pid)\n"),
		  "%s", c.out);
	cr_expect(strstr(c.out, "    arg0     filename         string\n"), "%s", c.out);
	cr_expect(strstr(c.out, "    arg2     pid              int32\n"), "%s", c.out);
	cli_finish(&c);
	CLI(&c, "list", FIXTURES, "-v", "fx-pair::getppid:return");
	cr_expect(strstr(c.out, "    retval                    int64\n"), "%s", c.out);
	cr_expect(strstr(c.out, "    elapsed                   int64 (ns since the entry)\n"), "%s",
		  c.out);
	cli_finish(&c);
	CLI(&c, "list", FIXTURES, "-v", "fx-trace:::unreadable");
	cr_expect(strstr(c.out, "(cannot be read: the compiler has removed it)\n"), "%s", c.out);
	cli_finish(&c);
}

Test(look, list_of_nothing)
{
	struct cli_run c;

	CLI(&c, "list", FIXTURES, "fx-field::getpidd:call");
	cr_expect_eq(c.status, 2);
	cr_expect_str_eq(c.out, "");
	cr_expect_eq(strncmp(c.err, "trace-cli: error: ", 18), 0, "%s", c.err);
	cli_finish(&c);
	CLI(&c, "list", FIXTURES, "fx-feld");
	cr_expect_eq(c.status, 2);
	cr_expect(strstr(c.err, "[PROBE_NO_PROVIDER]\n  did you mean 'fx-field'?\n"), "%s", c.err);
	cli_finish(&c);
	CLI(&c, "list", FIXTURES, "fx-field:x");
	cli_expect(&c, 2, "", NULL);
	cr_expect(strstr(c.err, "[PATTERN_FIELDS]"), "%s", c.err);
	cli_finish(&c);
}

/* Without a pattern: everything, of all providers; a build tree finds its own. */
Test(look, list_everything)
{
	struct cli_run c;

	CLI(&c, "list");
	cli_expect(&c, 0, NULL, "");
	/* Too long for a message. */
	cr_expect_not_null(strstr(c.out, "\nprofile:::profile-997\n"));
	cr_expect_not_null(strstr(c.out, "\nprofile:::tick-1\n"));
	cr_expect_not_null(strstr(c.out, "\nfbt:vmlinux:vfs_read:return\n"));
	cli_finish(&c);
}

Test(look, list_of_a_process)
{
	struct cli_run c;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	CLI(&c, "list", FIXTURES, "-p", pid, "fx-field::prctl:call");
	cli_expect(&c, 0, "fx-field::prctl:call\n", "");
	cli_finish(&c);
	CLI(&c, "list", FIXTURES, "-p", "4194304", "fx-field::prctl:call");
	cr_expect_eq(c.status, 2);
	cr_expect(strstr(c.err, "[TARGET_NO_PROCESS]"), "%s", c.err);
	cli_finish(&c);
}

/* ---- providers ---- */

static void rejected(const char *situation, const char *tag)
{
	char dir[512], words[64];
	struct cli_run c;

	snprintf(dir, sizeof(dir), "%s/%s", REJECTED_PLUGIN_DIR, situation);
	snprintf(words, sizeof(words), "[%s]\n", tag);
	CLI(&c, "providers", "--plugin-dir", dir, BUILT_IN);
	cli_expect(&c, 0, NULL, "");
	cr_expect(strstr(c.out, "rejected"), "%s: %s", situation, c.out);
	cr_expect(strstr(c.out, dir), "%s: %s", situation, c.out);
	cr_expect(strstr(c.out, words), "%s: %s", situation, c.out);
	cr_expect(strstr(c.out, "\nprofile          ABI "), "%s", c.out);
	cr_expect(strstr(c.out, "    usable    " WEFT_BINARY_DIR "/providers/profile.so\n"), "%s",
		  c.out);
	cli_finish(&c);

	/* It does not stop the others, and is said. */
	CLI(&c, "list", "--plugin-dir", dir, BUILT_IN, "profile:::tick-1");
	cli_expect(&c, 0, "profile:::tick-1\n", NULL);
	cr_expect_eq(strncmp(c.err, "trace-cli: warning: plugin ", 27), 0, "%s", c.err);
	cr_expect(strstr(c.err, words), "%s", c.err);
	cli_finish(&c);
}

Test(look, providers_that_are_rejected)
{
	rejected("newer-major", "PLUGIN_VERSION_NEWER");
	rejected("older-minor", "PLUGIN_VERSION_OLDER");
	rejected("short", "PLUGIN_STRUCT_SHORT");
	rejected("long-number", "PLUGIN_STRUCT_TAIL");
	rejected("no-symbol", "PLUGIN_NO_SYMBOL");
	rejected("name-upper", "PLUGIN_NAME");
	rejected("without-attach", "PLUGIN_SLOT");
	rejected("duplicate", "PLUGIN_DUPLICATE");
	rejected("option-name", "PLUGIN_OPTION_NAME");
}

/* A struct that is longer than ours, with nothing in the rest, is as good as any. */
Test(look, providers_that_are_usable)
{
	struct cli_run c;

	CLI(&c, "providers", "--plugin-dir", REJECTED_PLUGIN_DIR "/long-zero");
	cr_expect_eq(c.status, 0);
	cr_expect(strstr(c.out, "usable"), "%s", c.out);
	cli_finish(&c);
}

Test(look, PLUGIN_DIR)
{
	struct cli_run c;

	CLI(&c, "providers", "--plugin-dir", "/does/not/exist");
	cr_expect_eq(c.status, 2);
	cr_expect(strstr(c.err, "/does/not/exist"), "%s", c.err);
	cr_expect(strstr(c.err, "[PLUGIN_DIR]"), "%s", c.err);
	cli_finish(&c);
}

/* ---- schema and info ---- */

Test(look, schema)
{
	struct cli_run c;
	json_t *schema, *provider;
	json_error_t error;

	CLI(&c, "schema", FIXTURES);
	cli_expect(&c, 0, NULL, "");
	schema = json_loads(c.out, JSON_REJECT_DUPLICATES, &error);
	cr_assert_not_null(schema, "%s at %d:%d", error.text, error.line, error.column);
	cr_expect_str_eq(json_string_value(json_object_get(schema, "$schema")),
			 "https://json-schema.org/draft/2020-12/schema");
	provider = json_object_get(
		json_object_get(json_object_get(json_object_get(schema, "properties"), "providers"),
				"properties"),
		"fx-trace");
	cr_expect(json_object_get(json_object_get(provider, "properties"), "magic"));
	json_decref(schema);
	cli_finish(&c);

	CLI(&c, "schema", FIXTURES, "--reference");
	cli_expect(&c, 0, NULL, "");
	cr_expect(strstr(c.out, "# The format of probe sets\n"), "%s", c.out);
	cr_expect(strstr(c.out, "fx-trace"), "the options of the providers");
	cli_finish(&c);
}

Test(look, info)
{
	struct cli_run c;

	CLI(&c, "info", FIXTURES);
	cli_expect(&c, 0, NULL, "trace-cli: warning: fx-process: fx-process: warning\n");
	cr_expect_eq(strncmp(c.out, "kernel\n  release ", 17), 0, "%s", c.out);
	cr_expect(strstr(c.out, "  fx-trace                     tracepoints through perf events\n"),
		  "%s", c.out);
	cr_expect(strstr(c.out, "tracepoint programs"), "%s", c.out);
	cli_finish(&c);
}

/* ---- check ---- */

#define GOOD                                                    \
	"version: 1\n"                                          \
	"probes:\n"                                             \
	"  - probe: 'fx-trace:::calls'\n"                       \
	"    when: execname == \"cat\"\n"                       \
	"    do: [count: {into: n, by: {program: execname}}]\n" \
	"  - probe: 'fx-field:::'\n"                            \
	"    do: [count: {into: m}]\n"

Test(look, check_of_what_is_right)
{
	const char *set = cli_set(GOOD);
	struct cli_run c;
	char out[128];

	CLI(&c, "check", FIXTURES, set);
	snprintf(out, sizeof(out), "%s: ok: 2 clauses, 7 probes, 2 programs\n", set);
	cli_expect(&c, 0, out, "");
	cli_finish(&c);
	cli_unlink_sets();
}

/* Where, what, the line, the place in it, and what was meant. */
Test(look, check_of_what_is_wrong)
{
	const char *set = cli_set("version: 1\n"
				  "probes:\n"
				  "  - probe: 'fx-trace:::calls'\n"
				  "    when: pid != 0 && execnam == \"cat\"\n"
				  "    do:\n"
				  "      - count: {into: n, bye: {program: execname}}\n");
	struct cli_run c;
	char err[512];

	CLI(&c, "check", FIXTURES, set);
	snprintf(err, sizeof(err),
		 "%s:6:26: error: count has no field `bye` [ACTION_FIELD_UNKNOWN]\n"
		 "     6 |       - count: {into: n, bye: {program: execname}}\n"
		 "       |                          ^\n"
		 "  did you mean 'by'?\n",
		 set);
	cr_expect_eq(c.status, 2);
	cr_expect_str_eq(c.out, "");
	/* The words are config's affair; their frame is ours. */
	cr_expect(strstr(c.err, ":6:26: error: "), "%s", c.err);
	cr_expect(strstr(c.err, strstr(err, "     6 |")), "%s", c.err);
	cli_finish(&c);
	cli_unlink_sets();

	set = cli_set("version: 1\n"
		      "probes:\n"
		      "  - probe: 'fx-trace:::calls'\n"
		      "    when: pid != 0 && execnam == \"cat\"\n"
		      "    do: [count: {into: n, by: [argg0]}]\n"
		      "  - probe: 'fx-trace:::cals'\n"
		      "    do: [exit]\n");
	CLI(&c, "check", FIXTURES, set);
	cr_expect_eq(c.status, 2);
	snprintf(err, sizeof(err),
		 "%s:4:23: error: there is no `execnam` [NAME_UNKNOWN]\n"
		 "     4 |     when: pid != 0 && execnam == \"cat\"\n"
		 "       |                       ^\n"
		 "  did you mean 'execname'?\n",
		 set);
	cr_expect(strstr(c.err, err), "%s", c.err);
	cr_expect(strstr(c.err, ":5:32: error: there is no `argg0` [NAME_UNKNOWN]\n"), "%s", c.err);
	cr_expect(strstr(c.err, "[PROBE_NO_NAME]\n"
				"     6 |   - probe: 'fx-trace:::cals'\n"
				"       |             ^\n"
				"  did you mean 'calls'?\n"),
		  "%s", c.err);
	cli_finish(&c);
	cli_unlink_sets();
}

Test(look, check_of_a_file_that_is_not_there)
{
	struct cli_run c;

	CLI(&c, "check", "/does/not/exist.yaml");
	cr_expect_eq(c.status, 2);
	cr_expect(strstr(c.err, "/does/not/exist.yaml"), "%s", c.err);
	cr_expect(strstr(c.err, "[CONFIG_OPEN]"), "%s", c.err);
	cli_finish(&c);
}

Test(look, check_of_the_shipped_sets)
{
	static const char *const sets[] = {"on-cpu", "cpu-share"};
	struct cli_run c;
	char path[256], out[512];

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/config/sets/%s.yaml", WEFT_SOURCE_DIR, sets[i]);
		snprintf(out, sizeof(out), "%s: ok: 1 clauses, 1 probes, 1 programs\n", path);
		CLI(&c, "check", path);
		cli_expect(&c, 0, out, "");
		cli_finish(&c);
	}
}

Test(look, explain)
{
	const char *set = cli_set(GOOD);
	struct cli_run c;

	CLI(&c, "explain", FIXTURES, set);
	cli_expect(&c, 0, NULL, "");
	cr_expect_eq(strncmp(c.out, "program 1, ", 11), 0, "%s", c.out);
	cr_expect(strstr(c.out, ": fx-field::getppid:call and 5 more\n"), "%s", c.out);
	cr_expect(strstr(c.out, "execname"), "%s", c.out);
	cr_expect(strstr(c.out, "call get_current_comm"), "%s", c.out);
	cli_finish(&c);
	cli_unlink_sets();
}

/* In the order in which they run. */
Test(look, explain_of_lists)
{
	const char *set = cli_set("version: 1\n"
				  "begin: [printf: hello]\n"
				  "probes:\n"
				  "  - probe: 'fx-trace:::calls'\n"
				  "    do: [count: {into: n}]\n"
				  "end: [emit: {last: 1 + 2}]\n");
	char *program, *end;
	struct cli_run c;

	CLI(&c, "explain", FIXTURES, set);
	cli_expect(&c, 0, NULL, "");
	cr_expect_eq(strncmp(c.out, "begin, ", 7), 0, "%s", c.out);
	cr_expect(strstr(c.out, "program weft_begin"), "%s", c.out);
	program = strstr(c.out, "\n\nprogram 1, ");
	cr_assert(program, "%s", c.out);
	end = strstr(program, "\n\nend, ");
	cr_assert(end && strstr(end, "field last = 3:int64"), "%s", c.out);
	cli_finish(&c);
	cli_unlink_sets();
}

/* ---- without privileges ---- */

Test(look, as_nobody)
{
	struct cli_how how = {.program = cli_public_copy(), .nobody = true};
	const char *set = cli_set(GOOD);
	char more[128], out[128];
	struct cli_run c;

	snprintf(more, sizeof(more), "%.64s", how.program);
	strcpy(strstr(more, "/cli/"), "/more");
	snprintf(out, sizeof(out), "%s: ok: 2 clauses, 7 probes, 2 programs\n", set);
	CLI_HOW(&c, &how, "check", "--plugin-dir", more, set);
	cli_expect(&c, 0, out, "");
	cli_finish(&c);
	CLI_HOW(&c, &how, "explain", "--plugin-dir", more, set);
	cli_expect(&c, 0, NULL, "");
	cli_finish(&c);
	CLI_HOW(&c, &how, "list", "profile:::tick-1");
	cli_expect(&c, 0, "profile:::tick-1\n", "");
	cli_finish(&c);
	CLI_HOW(&c, &how, "info");
	cli_expect(&c, 0, NULL, "");
	cr_expect(strstr(c.out, "asked without root"), "%s", c.out);
	cli_finish(&c);

	/* Running takes more, and that is said in one line. */
	set = cli_set("version: 1\n"
		      "probes:\n"
		      "  - probe: 'profile:::tick-1'\n"
		      "    do: [count: {into: n}]\n");
	CLI_HOW(&c, &how, "run", set, "--duration", "1s");
	cli_expect(&c, 1, "", NULL);
	cr_expect(strstr(c.err, "root"), "%s", c.err);
	cr_expect_eq(strchr(c.err, '\n'), c.err + strlen(c.err) - 1, "more than one line:\n%s",
		     c.err);
	cli_finish(&c);
	cli_unlink_sets();
	cli_remove_public_copy();
}
