/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Plugins that bring the process down: it is said whose doing it was, and nothing stays attached. */
#include "kernel_objects.h"
#include "support.h"

#define WRONG_SET(wrong)                              \
	"version: 1\n"                                \
	"providers: {fx-wrong: {wrong: " wrong "}}\n" \
	"probes:\n"                                   \
	"  - probe: 'fx-wrong::*:call'\n"             \
	"    do: [count: {into: n}]\n"

static struct kernel_objects before;

static void brings_down(const char *command, const char *yaml, const char *words, const char *tag)
{
	const char *set = cli_set(yaml);
	struct cli_run c;

	kernel_objects_read(&before);
	CLI(&c, command, WRONG, set);
	cr_expect_neq(c.status, 0, "%s", c.err);
	cr_expect(strstr(c.err, words), "%s", c.err);
	cr_expect(strstr(c.err, tag), "%s", c.err);
	cli_finish(&c);
	kernel_objects_expect_gone(&before);
	cli_unlink_sets();
}

Test(crash, PLUGIN_CRASHED)
{
	brings_down("check", WRONG_SET("crash-populate"),
		    "trace-cli: error: the plugin fx-wrong (" OWN_PROVIDER_DIR
		    "/fx-wrong.so) has crashed in populate() with SIGSEGV",
		    "[PLUGIN_CRASHED]\n");
	brings_down("run", WRONG_SET("crash-attach"),
		    "/fx-wrong.so) has crashed in attach() with SIGSEGV", "[PLUGIN_CRASHED]\n");
	brings_down("run", WRONG_SET("abort"), "/fx-wrong.so) has crashed in attach() with SIGABRT",
		    "[PLUGIN_CRASHED]\n");
}

Test(crash, PLUGIN_CRASHED_by_an_exception)
{
	struct cli_run c;

	CLI(&c, "list", "--plugin-dir", THROWING_DIR, "throws");
	cr_expect_eq(c.status, 128 + SIGABRT, "%s", c.err);
	cr_expect(strstr(c.err, "nobody catches this"), "%s", c.err);
	cr_expect(strstr(c.err, "/throws.so) has crashed in populate() with SIGABRT"), "%s", c.err);
	cli_finish(&c);
}

Test(crash, PLUGIN_UNWINDS)
{
	brings_down("check", WRONG_SET("unwind"), "provider fx-wrong: an exception, or the end of",
		    "leaves populate(), which must not be");
}

Test(crash, PLUGIN_SLOW)
{
	const char *set = cli_set(WRONG_SET("slow"));
	struct cli_run c;

	CLI(&c, "check", WRONG, set);
	cr_expect_eq(c.status, 0, "%s", c.err);
	cr_expect(strstr(c.err, "provider fx-wrong took 5"), "%s", c.err);
	cr_expect(strstr(c.err, " ms in populate(), during which nothing else is done [PLUGIN_SLOW]"),
		  "%s", c.err);
	cli_finish(&c);
	cli_unlink_sets();
}
