/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The file for a bug report: what is in it, and what is not. */
#include <sys/resource.h>
#include <sys/stat.h>

#include "support.h"

#define MARK "s3cret-marker"

static char dir[64], path[128], text[65536];

static void setup(void)
{
	char command[512];

	strcpy(dir, "/tmp/" MARK "-XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/report.txt", dir);
	/* A folder of plugins whose name tells something: one that is usable, one that is not. */
	snprintf(command, sizeof(command),
		 "cp " WEFT_BINARY_DIR "/providers/profile.so %s/ && "
		 "cp " REJECTED_PLUGIN_DIR "/newer-major/*.so %s/newer.so",
		 dir, dir);
	cr_assert_eq(system(command), 0);
}

static void teardown(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	cr_expect_eq(system(command), 0);
}

TestSuite(bundle, .init = setup, .fini = teardown);

static void bundle(struct cli_run *c)
{
	char option[160];

	snprintf(option, sizeof(option), "--bundle=%s", path);
	CLI(c, "info", "--plugin-dir", dir, option);
}

static void mark_environment(void *arg)
{
	(void)arg;
	setenv("HOME", "/home/" MARK, 1);
	setenv("USER", MARK, 1);
	setenv("SECRET", MARK, 1);
}

static void read_text(void)
{
	FILE *f = fopen(path, "r");
	size_t n;

	cr_assert_not_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
}

Test(bundle, has_what_a_maintainer_asks_for)
{
	static const char *const wanted[] = {
		"weft " TRACE_CLI_VERSION ", provider ABI ",
		"machine\n  system ",
		"\n  CPUs ",
		"\nkernel\n  release ",
		"\nproviders\n  profile  ",
		"\nprivileges\n  weft          CAP_BPF ",
		"\nplugins\n",
		"\n  profile.so: profile, ABI ",
		"\n  newer.so: ?, ABI 7.0, PLUGIN_VERSION_NEWER\n",
	};
	struct stat st;
	struct cli_run c;

	bundle(&c);
	cr_expect_eq(c.status, 0, "%s", c.err);
	cr_expect_eq(strncmp(c.out, "wrote ", 6), 0, "%s", c.out);
	cli_finish(&c);
	read_text();
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		cr_expect(strstr(text, wanted[i]), "'%s' is not in\n%s", wanted[i], text);
	cr_expect_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_mode & 0777, 0600);
}

Test(bundle, names_nobody_and_nothing)
{
	const struct cli_how how = {.prepare = mark_environment};
	char option[160], host[256] = "";
	struct cli_run c;

	snprintf(option, sizeof(option), "--bundle=%s", path);
	CLI_HOW(&c, &how, "info", "--plugin-dir", dir, option);
	cr_expect_eq(c.status, 0, "%s", c.err);
	cli_finish(&c);
	read_text();
	cr_expect(!strstr(text, MARK), "%s", text);
	cr_expect(!strstr(text, WEFT_BINARY_DIR), "%s", text);
	cr_assert_eq(gethostname(host, sizeof(host) - 1), 0);
	/* A host may be called like something that stands there by right. */
	if (strlen(host) > 6 && strcmp(host, "localhost"))
		cr_expect(!strstr(text, host), "%s", text);
}

Test(bundle, BUNDLE)
{
	struct cli_run c;

	bundle(&c);
	cr_expect_eq(c.status, 0);
	cli_finish(&c);
	bundle(&c); /* nothing is written over */
	cr_expect_eq(c.status, 1);
	cr_expect(strstr(c.err, "/report.txt cannot be written: File exists [BUNDLE]\n"), "%s",
		  c.err);
	cli_finish(&c);
	CLI(&c, "info", "--bundle=/nowhere/at/all");
	cr_expect_eq(c.status, 1);
	cr_expect(strstr(c.err, "[BUNDLE]"), "%s", c.err);
	cli_finish(&c);
	cr_expect_eq(unlink(path), 0);
	cr_expect_eq(symlink("/dev/null", path), 0);
	bundle(&c); /* nor through a link */
	cr_expect_eq(c.status, 1);
	cli_finish(&c);
}

/* As on a full disk: some of it can be written. */
static void limit_files(void *arg)
{
	(void)arg;
	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){512, 512}))
		_exit(121);
}

Test(bundle, a_file_that_cannot_be_written)
{
	const struct cli_how how = {.prepare = limit_files};
	char option[160];
	struct cli_run c;

	snprintf(option, sizeof(option), "--bundle=%s", path);
	CLI_HOW(&c, &how, "info", "--plugin-dir", dir, option);
	cli_expect(&c, 1, "", NULL);
	cr_expect(strstr(c.err, "/report.txt cannot be written: File too large [BUNDLE]\n"), "%s",
		  c.err);
	cr_expect_eq(access(path, F_OK), -1, "half of it was left");
	cli_finish(&c);
}
