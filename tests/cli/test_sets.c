/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The probe sets that come along, by name. And the page about the subcommands. */
#include "cli/cli.h"
#include "support.h"

Test(sets, list)
{
	struct cli_run c;

	CLI(&c, "sets", "--names");
	cli_expect(&c, 0, NULL, "");
	cr_expect(strstr(c.out, "cpu-share\n"), "%s", c.out);
	cr_expect(strstr(c.out, "on-cpu\n"), "%s", c.out);
	cli_finish(&c);
	CLI(&c, "sets", "-v");
	cli_expect(&c, 0, NULL, "");
	cr_expect(strstr(c.out, "on-cpu               Where the CPU time goes"), "%s", c.out);
	cr_expect(strstr(c.out, WEFT_BINARY_DIR "/sets/on-cpu.yaml\n"), "%s", c.out);
	cli_finish(&c);
	CLI(&c, "sets", "x");
	cli_expect(&c, 2, "", NULL);
	cli_finish(&c);
}

Test(sets, by_name)
{
	struct cli_run c;

	CLI(&c, BUILT_IN, "check", "on-cpu");
	cr_expect_eq(c.status, 2); /* options follow the command */
	cli_finish(&c);
	CLI(&c, "check", BUILT_IN, "on-cpu");
	cli_expect(&c, 0, "on-cpu: ok: 1 clauses, 1 probes, 1 programs\n", "");
	cli_finish(&c);
	CLI(&c, "explain", BUILT_IN, "cpu-share");
	cr_expect_eq(c.status, 0, "%s", c.err);
	cli_finish(&c);
	CLI(&c, "run", BUILT_IN, "cpu-share", "--duration", "200ms");
	cr_expect_eq(c.status, 0, "%s", c.err);
	cli_finish(&c);
}

Test(sets, SET_UNKNOWN)
{
	struct cli_run c;

	CLI(&c, "check", "oncpu");
	cr_expect_eq(c.status, 2);
	cr_expect(strstr(c.err, "[SET_UNKNOWN]") && strstr(c.err, "did you mean 'on-cpu'?"), "%s",
		  c.err);
	cli_finish(&c);
	/* What has a suffix or a slash is a file. */
	CLI(&c, "check", "on-cpu.yaml");
	cr_expect_eq(c.status, 2);
	cr_expect(strstr(c.err, "[CONFIG_OPEN]"), "%s", c.err);
	cli_finish(&c);
	CLI(&c, "check", "./on-cpu");
	cr_expect_eq(c.status, 2);
	cr_expect(strstr(c.err, "[CONFIG_OPEN]"), "%s", c.err);
	cli_finish(&c);
}

Test(sets, sorted)
{
	char last[64] = "", name[64];
	struct cli_run c;
	size_t n = 0;

	CLI(&c, "sets", "--names");
	for (const char *at = c.out; sscanf(at, "%63s", name) == 1; at = strchr(at, '\n') + 1) {
		cr_expect_lt(strcmp(last, name), 0, "%s before %s", last, name);
		strcpy(last, name);
		n++;
	}
	cr_expect_geq(n, 2);
	cli_finish(&c);
}

Test(sets, the_committed_page_is_what_the_table_says)
{
	static char committed[65536];
	char *page = NULL;
	FILE *f = fopen(WEFT_SOURCE_DIR "/docs/reference/trace-cli.md", "r");
	size_t n;

	cr_assert_not_null(f);
	n = fread(committed, 1, sizeof(committed) - 1, f);
	committed[n] = '\0';
	fclose(f);
	cr_assert_eq(cli_reference(&page), 0);
	cr_expect_str_eq(committed, page, "build the target docs");
	free(page);
}
