/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Types of C as a user meets them: listed, explained, wrong, and in what is printed. */
#include "support.h"

#define EXEC "fx-types::sched_process_exec:raw"

#define GOOD                                                                          \
	"version: 1\n"                                                                \
	"probes:\n"                                                                   \
	"  - probe: " EXEC "\n"                                                       \
	"    when: args.p.real_parent.tgid > 0\n"                                     \
	"    do: [emit: {name: str(args.bprm.file.f_path.dentry.d_name.name), comm: " \
	"args.p.comm}]\n"

Test(types, list)
{
	struct cli_run c;

	CLI(&c, "list", "-v", FIXTURES, EXEC);
	cli_expect(&c, 0, NULL, "");
	cr_expect(strstr(c.out, "arg0     p                struct task_struct *\n"), "%s", c.out);
	cr_expect(strstr(c.out, "arg2     bprm             struct linux_binprm *\n"), "%s", c.out);
	cli_finish(&c);
	/* Its provider gives these no text: the core says what they are. */
	CLI(&c, "list", "-v", FIXTURES, "fx-types::sys_enter:shape");
	cli_expect(&c, 0,
		   "fx-types::sys_enter:shape\n"
		   "    arg0     magic            uint64\n"
		   "    arg1     shape            struct fx_shape *\n"
		   "    arg2     whole            struct fx_shape\n"
		   "    arg3     color            enum fx_color\n"
		   "    arg4     old              struct fx_old *\n",
		   "");
	cli_finish(&c);
}

Test(types, explain)
{
	const char *set = cli_set(GOOD);
	struct cli_run c;

	CLI(&c, "explain", FIXTURES, set);
	cli_expect(&c, 0, NULL, "");
	cr_expect(strstr(c.out, ":struct task_struct * arg0:struct task_struct *)"), "%s", c.out);
	cr_expect(strstr(c.out, ":const unsigned char * "), "%s", c.out);
	cr_expect(strstr(c.out, "call probe_read_kernel"), "%s", c.out);
	cli_finish(&c);
	cli_unlink_sets();
}

/* The kernel's file of types is for everyone. */
Test(types, as_nobody)
{
	struct cli_how how = {.program = cli_public_copy(), .nobody = true};
	const char *set = cli_set(GOOD);
	struct cli_run c;
	char more[128];

	snprintf(more, sizeof(more), "%.64s", how.program);
	strcpy(strstr(more, "/cli/"), "/more");
	CLI_HOW(&c, &how, "check", "--plugin-dir", more, set);
	cli_expect(&c, 0, NULL, "");
	cli_finish(&c);
	CLI_HOW(&c, &how, "list", "-v", "--plugin-dir", more, EXEC);
	cli_expect(&c, 0, NULL, "");
	cr_expect(strstr(c.out, "struct task_struct *"), "%s", c.out);
	cli_finish(&c);
	cli_unlink_sets();
	cli_remove_public_copy();
}

Test(types, MEMBER_UNKNOWN)
{
	const char *set = cli_set("version: 1\n"
				  "probes:\n"
				  "  - probe: " EXEC "\n"
				  "    do: [emit: {t: args.p.tgd}]\n");
	struct cli_run c;

	CLI(&c, "check", FIXTURES, set);
	cli_expect(&c, 2, NULL, NULL);
	cr_expect(strstr(c.err, ":4:27: error: struct task_struct has no member `tgd` "
				"[MEMBER_UNKNOWN]\n"),
		  "%s", c.err);
	cr_expect(strstr(c.err, "did you mean 'tgid'?"), "%s", c.err);
	cli_finish(&c);
	cli_unlink_sets();
}
