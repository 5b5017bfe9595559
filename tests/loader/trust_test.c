/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Who may have changed a plugin. Needs root: it gives files away. */
#include "support.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "plugins/trust.h"

#define NOBODY 65534u

/* scratch/dir/sub/x.so, all of it root's and closed to others. */
static void with_plugin(void)
{
	cr_assert_eq(geteuid(), 0, "these tests need root");
	scratch_create();
	cr_assert_eq(mkdir(in_scratch("dir"), 0755), 0);
	cr_assert_eq(mkdir(in_scratch("dir/sub"), 0755), 0);
	copy_file(GOOD, in_scratch("dir/sub/x.so"));
}

TestSuite(loader_trust, .init = with_plugin, .fini = scratch_remove);

#define expect_unsafe(component, ...)                                                          \
	expect_rejected(in_scratch("dir/sub"), "PLUGIN_UNSAFE", "x.so", in_scratch(component), \
			__VA_ARGS__)

static void expect_safe(void)
{
	expect_usable(in_scratch("dir/sub"), "fixture");
}

static void set(const char *name, uid_t uid, gid_t gid, mode_t mode)
{
	cr_assert_eq(chown(in_scratch(name), uid, gid), 0);
	cr_assert_eq(chmod(in_scratch(name), mode), 0);
}

Test(loader_trust, PLUGIN_UNSAFE)
{
	expect_safe();
	set("dir/sub/x.so", NOBODY, 0, 0644);
	expect_unsafe("dir/sub/x.so", "the file", "belongs to another user", "owner 65534",
		      "chown it to root");
	set("dir/sub/x.so", 0, 0, 0666);
	expect_unsafe("dir/sub/x.so", "may be written by everyone", "mode 0666", "chmod o-w");
	set("dir/sub/x.so", 0, 1234, 0664);
	expect_unsafe("dir/sub/x.so", "may be written by its group", "group 1234", "chmod g-w");
	set("dir/sub/x.so", 0, 0, 0664);
	expect_safe();
}

Test(loader_trust, every_directory_of_the_path_is_checked)
{
	set("dir/sub", NOBODY, 0, 0755);
	expect_unsafe("dir/sub", "the directory", "belongs to another user");
	set("dir/sub", 0, 0, 0777);
	expect_unsafe("dir/sub", "may be written by everyone");
	set("dir/sub", 0, 1234, 0775);
	expect_unsafe("dir/sub", "may be written by its group");
	set("dir/sub", 0, 1234, 0755);
	expect_safe();

	set("dir", NOBODY, 0, 0755);
	expect_unsafe("dir", "the directory", "belongs to another user");
	set("dir", 0, 0, 0757);
	expect_unsafe("dir", "may be written by everyone");
	set("dir", 0, 0, 0775);
	expect_safe();
}

Test(loader_trust, sticky_directory_above_is_safe_if_what_it_holds_is)
{
	set("dir", 0, 0, 01777);
	expect_safe();
	/* Another's entry in it is that other's. */
	set("dir/sub", NOBODY, 0, 0755);
	expect_unsafe("dir/sub", "belongs to another user");
	/* And the owner of a sticky directory may rename what others own in it. */
	set("dir", NOBODY, 0, 01777);
	set("dir/sub", 0, 0, 0755);
	expect_unsafe("dir", "belongs to another user");
}

Test(loader_trust, sticky_directory_that_holds_the_file_is_unsafe)
{
	set("dir/sub", 0, 0, 01777);
	expect_unsafe("dir/sub", "may be written by everyone");
}

Test(loader_trust, the_real_path_is_checked)
{
	static const char *const good[] = {"x.so", "dir/other", "belongs to another user", NULL};
	struct weft_loader *loader;

	/* A safe directory with a link into an unsafe one. */
	cr_assert_eq(mkdir(in_scratch("dir/other"), 0755), 0);
	copy_file(GOOD, in_scratch("dir/other/y.so"));
	set("dir/other", NOBODY, 0, 0755);
	cr_assert_eq(unlink(in_scratch("dir/sub/x.so")), 0);
	cr_assert_eq(symlink("../other/y.so", in_scratch("dir/sub/x.so")), 0);
	loader = load_dir(in_scratch("dir/sub"));
	cr_assert_eq(weft_loader_count(loader), 1);
	expect_entry(loader, 0, "PLUGIN_UNSAFE", good);
	weft_loader_destroy(loader);
}

/* A plugin that is refused because of where it lies is not even read. */
Test(loader_trust, unsafe_comes_before_everything_else)
{
	write_file(in_scratch("dir/sub/x.so"), "text", 4);
	set("dir/sub/x.so", 0, 0, 0666);
	expect_unsafe("dir/sub/x.so", "may be written by everyone");
}

/* One access control list entry in the form of the attribute (linux/posix_acl_xattr.h). */
struct acl_entry {
	uint16_t tag, perm;
	uint32_t id;
};

Test(loader_trust, access_control_lists_count)
{
	static const struct {
		uint32_t version;
		struct acl_entry entries[5];
	} acl = {2,
		 {{0x01, 6, UINT32_MAX},   /* owner */
		  {0x02, 6, NOBODY},       /* a user by name may write */
		  {0x04, 4, UINT32_MAX},   /* group */
		  {0x10, 6, UINT32_MAX},   /* mask: what the group's bits of the mode show */
		  {0x20, 4, UINT32_MAX}}}; /* others */

	if (setxattr(in_scratch("dir/sub/x.so"), "system.posix_acl_access", &acl, sizeof(acl), 0)) {
		/* No lists on this file system: there is nothing that could go wrong. */
		cr_assert_eq(errno, ENOTSUP, "%s", strerror(errno));
		expect_safe();
		return;
	}
	expect_unsafe("dir/sub/x.so", "access list");
}

/* ---- whose privileges ---- */

static void become_nobody(void)
{
	cr_assert_eq(setresgid(NOBODY, NOBODY, NOBODY), 0);
	cr_assert_eq(setresuid(NOBODY, NOBODY, 0), 0);
}

static void become_root(void)
{
	cr_assert_eq(setresuid(0, 0, 0), 0);
	cr_assert_eq(setresgid(0, 0, 0), 0);
}

Test(loader_trust, without_privileges_everything_goes)
{
	set("dir/sub", 1234, 1234, 0777);
	set("dir/sub/x.so", 1234, 1234, 0666);
	become_nobody();
	expect_safe();
	become_root();
	expect_unsafe("dir/sub", "belongs to another user");
}

Test(loader_trust, one_capability_is_a_privilege)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	set("dir/sub/x.so", 1234, 1234, 0644);
	cr_assert_eq(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0), 0);
	become_nobody();
	/* Permitted is enough to come back; effective is what the loader asks for. */
	cr_assert_eq(syscall(SYS_capget, &header, data), 0);
	data[0].effective = 1u << CAP_NET_RAW;
	data[1].effective = 0;
	cr_assert_eq(syscall(SYS_capset, &header, data), 0);
	expect_unsafe("dir/sub/x.so", "belongs to another user");
	become_root();
}

static int open_with(const struct weft_trust *trust, const char *path, struct weft_error *err)
{
	struct stat st;
	int fd, ret = weft_trust_open(trust, path, "x.so", &fd, &st, err);

	if (!ret)
		close(fd);
	return ret;
}

static int open_trusting(bool secure, const char *program)
{
	struct weft_error *err = weft_error_create();
	struct weft_trust trust;
	int ret;

	weft_trust_init_from(&trust, true, secure, program);
	ret = open_with(&trust, in_scratch("dir/sub/x.so"), err);
	cr_expect(ret == 0 || strcmp(weft_error_tag(err), "PLUGIN_UNSAFE") == 0, "%s",
		  weft_error_text(err));
	weft_error_destroy(err);
	return ret;
}

Test(loader_trust, who_could_replace_the_program_is_trusted)
{
	/* A person's tree: the program in it, the plugin in it, and root runs the program. */
	set("dir", 1234, 1234, 0775);
	set("dir/sub", 1234, 1234, 0775);
	set("dir/sub/x.so", 1234, 1234, 0664);
	write_file(in_scratch("dir/program"), "", 0);
	set("dir/program", 1234, 1234, 0775);
	cr_expect_neq(open_trusting(false, NULL), 0);
	cr_expect_eq(open_trusting(false, in_scratch("dir/program")), 0);
	/* Not another person's. */
	set("dir/sub/x.so", 1235, 1234, 0664);
	cr_expect_neq(open_trusting(false, in_scratch("dir/program")), 0);
	set("dir/sub/x.so", 1234, 1235, 0664);
	cr_expect_neq(open_trusting(false, in_scratch("dir/program")), 0);
	set("dir/sub/x.so", 1234, 1235, 0644);
	cr_expect_eq(open_trusting(false, in_scratch("dir/program")), 0);
}

Test(loader_trust, directories_above_the_program_are_not_looked_at)
{
	write_file(in_scratch("dir/program"), "", 0);
	set("dir", 0, 0, 0777);
	cr_expect_neq(open_trusting(false, NULL), 0);
	cr_expect_eq(open_trusting(false, in_scratch("dir/program")), 0);
	set("dir/sub", 0, 0, 0777);
	cr_expect_neq(open_trusting(false, in_scratch("dir/program")), 0);
}

/* With set-user-ID or file capabilities the person who starts the program chooses its path. */
Test(loader_trust, a_program_with_privileges_of_its_own_trusts_only_root)
{
	write_file(in_scratch("dir/program"), "", 0);
	set("dir", 1234, 1234, 0755);
	set("dir/program", 1234, 1234, 0755);
	cr_expect_eq(open_trusting(false, in_scratch("dir/program")), 0);
	cr_expect_neq(open_trusting(true, in_scratch("dir/program")), 0);
	set("dir", 0, 0, 0755);
	cr_expect_eq(open_trusting(true, in_scratch("dir/program")), 0);
	/* The effective user as well: what it owns would get the privileges of the program. */
	set("dir/sub/x.so", NOBODY, NOBODY, 0644);
	cr_assert_eq(setresuid(-1, NOBODY, 0), 0);
	cr_expect_eq(open_trusting(false, NULL), 0);
	cr_expect_neq(open_trusting(true, NULL), 0);
	cr_assert_eq(setresuid(0, 0, 0), 0);
}

Test(loader_trust, links_in_the_path_are_not_followed)
{
	struct weft_error *err = weft_error_create();
	struct weft_trust trust;

	weft_trust_init(&trust);
	cr_assert_eq(symlink("sub", in_scratch("dir/link")), 0);
	cr_expect_neq(open_with(&trust, in_scratch("dir/link/x.so"), err), 0);
	cr_expect_str_eq(weft_error_tag(err), "PLUGIN_OPEN");
	cr_expect_eq(open_with(&trust, in_scratch("dir/sub/x.so"), err), 0);
	weft_error_destroy(err);
}
