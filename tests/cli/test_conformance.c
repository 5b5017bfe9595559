/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* trace-cli providers --check: every fixture that misbehaves is found out, and nobody else. */
#include "support.h"
#include "support/test_long.h"

#define WRONG_PLUGIN  OWN_PROVIDER_DIR "/fx-wrong.so"
#define CHECK(c, ...) CLI(c, "providers", "--check", __VA_ARGS__)

/* What fx-wrong can be told to do wrong, the check that finds it, and the tag. */
static const struct {
	const char *wrong, *check, *tag;
} cases[] = {
	{"static-state", "opens", "PLUGIN_STATIC"},
	{"describe-endless", "opens", "PLUGIN_TEXT"},
	{"discover-fd", "opens", "PLUGIN_DISCOVER_FD"},
	{"write-host", "populates", "PLUGIN_WROTE_CONST"},
	{"thread", "populates", "PLUGIN_HOST_CALL"},
	{"leave-thread", "populates", "PLUGIN_LEFT_THREAD"},
	{"crash-populate", "populates", "PLUGIN_CRASHED"},
	{"unwind", "populates", "PLUGIN_UNWINDS"},
	{"silent-provide", "refuses", "PLUGIN_SILENT"},
	{"args-many", "describes", "PLUGIN_INFO"},
	{"arg-name-unending", "describes", "PLUGIN_INFO"},
	{"info-behind", "describes", "PLUGIN_INFO_SIZE"},
	{"old-error", "describes", "PLUGIN_HOST_CALL"},
	{"unsteady", "describes", "PLUGIN_UNSTEADY"},
	{"location", "compiles", "LOCATION_CONTEXT"},
	{"attach-null", "attaches", "PLUGIN_ATTACH_NULL"},
	{"attach-again", "attaches", "PLUGIN_ATTACH_TWICE"},
	{"attach-status", "attaches", "PLUGIN_ATTACH"},
	{"write-request", "attaches", "PLUGIN_WROTE_CONST"},
	{"twice", "attaches", "IDENTITY_TWICE"},
	{"verifier", "attaches", "PROGRAM_REJECTED"},
	{"cookie-unknown", "attaches", "PLUGIN_COOKIE"},
	{"crash-attach", "attaches", "PLUGIN_CRASHED"},
	{"leave-open", "attaches", "PLUGIN_LEFT_OPEN"},
};

static void finds(const char *wrong, const char *check, const char *seconds, const char *tag)
{
	char option[64], words[64];
	struct cli_run c;

	snprintf(option, sizeof(option), "wrong=%s", wrong);
	snprintf(words, sizeof(words), "[%s]\n", tag);
	CHECK(&c, WRONG_PLUGIN, "--option", option, "--only", check, "--time", seconds);
	cr_expect_eq(c.status, 1, "%s: %s%s", wrong, c.out, c.err);
	cr_expect(strstr(c.out, "FAILED\n"), "%s: %s", wrong, c.out);
	cr_expect(strstr(c.out, words), "%s: no %s in: %s", wrong, tag, c.out);
	if (strncmp(tag, "LOCATION_", 9) && strcmp(tag, "PROGRAM_REJECTED"))
		cr_expect(strstr(c.out, "fx-wrong"), "%s: %s", wrong, c.out);
	cli_finish(&c);
}

Test(conformance, every_fixture_that_misbehaves_is_found_out)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		finds(cases[i].wrong, cases[i].check, "30", cases[i].tag);
}

Test(conformance, PLUGIN_HANGS)
{
	finds("hang", "populates", "1", "PLUGIN_HANGS");
}

Test(conformance, PLUGIN_PROVIDES_ANYTHING)
{
	struct cli_run c;

	CHECK(&c, FIXTURE_PROVIDER_DIR "/fx-call.so", "--only", "refuses");
	cr_expect_eq(c.status, 0, "%s", c.out);
	cli_finish(&c);
	finds("provide-anything", "refuses", "30", "PLUGIN_PROVIDES_ANYTHING");
}

Test(conformance, PLUGIN_CRASHED_by_an_exception)
{
	struct cli_run c;

	CHECK(&c, THROWING_DIR "/throws.so", "--only", "populates");
	cr_expect_eq(c.status, 1, "%s", c.out);
	cr_expect(strstr(c.out, "provider throws crashes in populate() [PLUGIN_CRASHED]\n"), "%s",
		  c.out);
	cli_finish(&c);
}

/* What the loader refuses needs no more checks. */
Test(conformance, PLUGIN_NO_SYMBOL)
{
	struct cli_run c;

	CLI(&c, "--plugin-check", REJECTED_PLUGIN_DIR "/no-symbol/no-symbol.so");
	cr_expect_eq(c.status, 1, "%s", c.err);
	cr_expect(strstr(c.out, "[PLUGIN_NO_SYMBOL]\n1 finding\n"), "%s", c.out);
	cli_finish(&c);
	CLI(&c, "--plugin-check", "/does/not/exist.so");
	cr_expect_eq(c.status, 1, "%s", c.err);
	cr_expect(strstr(c.out, "[PLUGIN_OPEN]\n"), "%s", c.out);
	cli_finish(&c);
}

/* The whole suite takes a minute with all providers and sanitizers, since each step is a session of
 * its own: WEFT_LONG=1 asks for it. Else those that ask much of the machine have some checks only. */
static void passes(const char *plugin, const char *probe, const char *only)
{
	const char *args[10] = {"providers", "--check"};
	char path[512];
	struct cli_run c;
	size_t n = 2;

	snprintf(path, sizeof(path), "%s/providers/%s.so", WEFT_BINARY_DIR, plugin);
	args[n++] = path;
	if (probe) {
		args[n++] = "--probe";
		args[n++] = probe;
	}
	if (only && !test_is_long()) {
		args[n++] = "--only";
		args[n++] = only;
	}
	cli_start(&c, NULL, args);
	cli_wait(&c);
	cr_expect_eq(c.status, 0, "%s%s", c.out, c.err);
	cr_expect(strstr(c.out, "0 findings\n"), "%s", c.out);
	cli_finish(&c);
}

Test(conformance, the_built_in_providers_pass)
{
	passes("profile", NULL, NULL);
	passes("tracepoint", "tracepoint:sched:::", NULL);
	passes("fbt", "fbt:vmlinux:vfs_read:", "describes");
	passes("fbt", "fbt:vmlinux:vfs_read:", "attaches");
	passes("uprobe", "uprobe:libc.so.6:getpid:entry", "describes");
	passes("uprobe", "uprobe:libc.so.6:getpid:entry", "attaches");
	passes("usdt", NULL, "describes");
	passes("usdt", NULL, "attaches");
	passes("user-syscall", NULL, NULL);
}

Test(conformance, fixtures_with_nothing_wrong_pass)
{
	struct cli_run c;

	CHECK(&c, WRONG_PLUGIN);
	cr_expect_eq(c.status, 0, "%s", c.out);
	cr_expect(strstr(c.out, "  attaches   ok (6 of 6 probes attached, "), "%s", c.out);
	cli_finish(&c);
}

Test(conformance, usage)
{
	struct cli_run c;

	CLI(&c, "providers", "--probe", "x:::");
	cr_expect_eq(c.status, 2);
	cr_expect(strstr(c.err, "--probe goes with --check"), "%s", c.err);
	cli_finish(&c);
	CHECK(&c, WRONG_PLUGIN, "--only", "nothing");
	cr_expect_eq(c.status, 2);
	cr_expect(strstr(c.err, "usage: weft-plugin-check"), "%s", c.err);
	cli_finish(&c);
}
