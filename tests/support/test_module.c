/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/module.h"

Test(support_module, patterns)
{
	cr_expect(!support_is_glob("") && !support_is_glob("/usr/bin/x") &&
		  !support_is_glob("a\\*b"));
	cr_expect(!support_is_glob("\\") && !support_is_glob("a]"));
	cr_expect(support_is_glob("*") && support_is_glob("lib?.so") && support_is_glob("a[bc]"));
	cr_expect(support_is_glob("\\**"));
	cr_expect_str_eq(support_base_name("/usr/bin/x"), "x");
	cr_expect_str_eq(support_base_name("x"), "x");
	cr_expect_str_empty(support_base_name("/usr/bin/"));
}

static void make(const char *folder, const char *name, mode_t mode)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);
	cr_assert_geq(fd, 0);
	close(fd);
}

/* The first in PATH that is a file and may be run. */
Test(support_module, programs)
{
	char one[] = "/tmp/weft-path-XXXXXX", two[] = "/tmp/weft-path-XXXXXX";
	char dirs[256], path[128], wanted[128], command[128];

	cr_assert(mkdtemp(one) && mkdtemp(two));
	snprintf(dirs, sizeof(dirs), "/does/not/exist:%s:%s", one, two);
	cr_assert_eq(setenv("PATH", dirs, 1), 0);
	make(one, "text", 0644);
	make(two, "text", 0755);
	make(two, "both", 0755);
	make(one, "both", 0755);
	snprintf(wanted, sizeof(wanted), "%s/folder", one);
	cr_assert_eq(mkdir(wanted, 0755), 0);
	make(two, "folder", 0755);

	snprintf(wanted, sizeof(wanted), "%s/text", two);
	cr_expect_eq(support_program("text", path, sizeof(path)), 0);
	cr_expect_str_eq(path, wanted);
	snprintf(wanted, sizeof(wanted), "%s/both", one);
	cr_expect_eq(support_program("both", path, sizeof(path)), 0);
	cr_expect_str_eq(path, wanted);
	snprintf(wanted, sizeof(wanted), "%s/folder", two);
	cr_expect_eq(support_program("folder", path, sizeof(path)), 0);
	cr_expect_str_eq(path, wanted);
	cr_expect_eq(support_program("nothing", path, sizeof(path)), -ENOENT);
	cr_expect_eq(support_program("both", path, 8), -ENOENT, "no room for its path");
	/* An empty part is the folder that one is in. */
	cr_assert(!chdir(two) && !setenv("PATH", ":", 1));
	cr_expect_eq(support_program("both", path, sizeof(path)), 0);
	cr_expect_str_eq(path, "./both");
	cr_assert(!chdir("/"));
	snprintf(command, sizeof(command), "/bin/rm -r %s %s", one, two);
	cr_expect_eq(system(command), 0);
}
