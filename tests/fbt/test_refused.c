/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A kernel without kprobes that refuses fentry: probes are listed, and tracing them is one plain line. */
#include "support.h"

static const char *const counting = "version: 1\n"
				    "probes:\n"
				    "  - probe: 'fbt:vmlinux:vfs_read:entry'\n"
				    "    do: [count: {into: n}]\n";

Test(fbt_refused, FBT_UNSUPPORTED)
{
	struct cli_run c;
	const char *path = cli_set(counting);
	char *line;

	CLI(&c, "run", BUILT_IN, path, "--duration", "1s");
	cr_expect_eq(c.status, 1);
	cr_expect_str_empty(c.out);
	line = strstr(c.err, "[FBT_UNSUPPORTED]\n");
	cr_assert_not_null(line, "%s", c.err);
	cr_expect(strstr(c.err, "this kernel does not let its functions be traced"), "%s", c.err);
	cr_expect_eq(strchr(c.err, '\n'), line + strlen("[FBT_UNSUPPORTED]"), "%s", c.err);
	cr_expect_str_empty(strchr(c.err, '\n') + 1, "%s", c.err);
	cli_finish(&c);
	cli_unlink_sets();
}

Test(fbt_refused, what_needs_no_kernel_goes_well)
{
	struct cli_run c;
	const char *path = cli_set(counting);

	CLI(&c, "check", BUILT_IN, path);
	cr_expect_eq(c.status, 0, "%s", c.err);
	cli_finish(&c);
	CLI(&c, "list", BUILT_IN, "fbt:vmlinux:vfs_read:");
	cli_expect(&c, 0, "fbt:vmlinux:vfs_read:entry\nfbt:vmlinux:vfs_read:return\n", "");
	cli_finish(&c);
	CLI(&c, "info", BUILT_IN);
	cr_expect_eq(c.status, 0);
	cr_expect(strstr(c.out, "no kernel function can be traced; kprobe_multi: "), "%s", c.out);
	cli_finish(&c);
	cli_unlink_sets();
}

/* A probe that is only counted is described without its types; a second clause needs them. */
Test(fbt_refused, types_are_asked_for_when_they_are_needed)
{
	struct cli_run c;
	const char *path = cli_set("version: 1\n"
				   "probes:\n"
				   "  - probe: 'fbt:vmlinux:vfs_*:entry'\n"
				   "    do: [count: {into: n, by: {f: probefunc}}]\n"
				   "  - probe: 'fbt:vmlinux:vfs_read:entry'\n"
				   "    do: [sum: {into: bytes, value: args.count}]\n"
				   "  - probe: 'fbt:vmlinux:vfs_write:return'\n"
				   "    do: [sum: {into: bytes, value: entry.count + elapsed}]\n");

	CLI(&c, "check", BUILT_IN, path);
	cr_expect_eq(c.status, 0, "%s", c.err);
	cli_finish(&c);
	/* All of vfs_*, then vfs_read, which has a clause more, then vfs_write's entry and return. */
	CLI(&c, "explain", BUILT_IN, path);
	cr_expect_eq(c.status, 0, "%s", c.err);
	cr_expect(strstr(c.out, "program 4, ") && !strstr(c.out, "program 5, "), "%.600s", c.out);
	cli_finish(&c);
	cli_unlink_sets();
}

Test(fbt_refused, a_mechanism_that_is_asked_for)
{
	struct cli_run c;
	const char *path = cli_set("version: 1\n"
				   "providers: {fbt: {mechanism: kprobe}}\n"
				   "probes:\n"
				   "  - probe: 'fbt:vmlinux:vfs_read:entry'\n"
				   "    do: [count: {into: n}]\n");

	CLI(&c, "run", BUILT_IN, path, "--duration", "1s");
	cr_expect_eq(c.status, 1);
	cr_expect(strstr(c.err, "kernel functions cannot be traced by kprobe here: the kernel was "
				"built without it [FBT_UNSUPPORTED]"),
		  "%s", c.err);
	cli_finish(&c);
	cli_unlink_sets();
}
