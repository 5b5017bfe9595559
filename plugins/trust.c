/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

/* ---- whom to trust ---- */

static bool has_capability(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &header, data))
		return true; /* not to be known: the careful answer */
	return data[0].effective || data[1].effective;
}

static bool user_trusted(const struct weft_trust *t, uid_t uid)
{
	for (size_t i = 0; i < t->n_users; i++) {
		if (t->users[i] == uid)
			return true;
	}
	return false;
}

static bool group_trusted(const struct weft_trust *t, gid_t gid)
{
	for (size_t i = 0; i < t->n_groups; i++) {
		if (t->groups[i] == gid)
			return true;
	}
	return false;
}

static void trust_user(struct weft_trust *t, uid_t uid)
{
	if (!user_trusted(t, uid) && t->n_users < sizeof(t->users) / sizeof(t->users[0]))
		t->users[t->n_users++] = uid;
}

static void trust_group(struct weft_trust *t, gid_t gid)
{
	if (!group_trusted(t, gid) && t->n_groups < sizeof(t->groups) / sizeof(t->groups[0]))
		t->groups[t->n_groups++] = gid;
}

/* Who owns this piece of the program's path can replace the program, and so can its group. */
static void trust_writers(struct weft_trust *t, const struct stat *st)
{
	trust_user(t, st->st_uid);
	if (st->st_mode & S_IWGRP)
		trust_group(t, st->st_gid);
}

static void trust_program(struct weft_trust *t, const char *program)
{
	char path[PATH_MAX];
	struct stat st;
	size_t length = strlen(program);

	if (length >= sizeof(path) || program[0] != '/')
		return;
	memcpy(path, program, length + 1);
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	trust_writers(t, &st);
	for (char *slash = strrchr(path, '/'); slash && t->n_above < WEFT_TRUST_MAX;
	     slash = slash == path ? NULL : strrchr(path, '/')) {
		*slash = '\0';
		if (stat(slash == path ? "/" : path, &st))
			return;
		t->above[t->n_above].device = st.st_dev;
		t->above[t->n_above++].inode = st.st_ino;
		trust_writers(t, &st);
	}
}

void weft_trust_init_from(struct weft_trust *t, bool privileged, bool secure, const char *program)
{
	*t = (struct weft_trust){.privileged = privileged};
	trust_user(t, 0);
	trust_group(t, 0);
	if (secure)
		return;
	trust_user(t, geteuid());
	if (program)
		trust_program(t, program);
}

void weft_trust_init(struct weft_trust *t)
{
	char program[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (n >= 0)
		program[n] = '\0';
	weft_trust_init_from(t, geteuid() == 0 || has_capability(), getauxval(AT_SECURE) != 0,
			     n > 0 ? program : NULL);
}

/* ---- the rule ---- */

static bool above_program(const struct weft_trust *t, const struct stat *st)
{
	for (size_t i = 0; i < t->n_above; i++) {
		if (t->above[i].device == st->st_dev && t->above[i].inode == st->st_ino)
			return true;
	}
	return false;
}

/* With an access control list the group's bits are the most that anyone on the list may do. */
static bool has_acl(int fd)
{
	char path[sizeof("/proc/self/fd/") + 12];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return getxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}

static int unsafe(const char *file, const char *component, const struct stat *st, const char *what,
		  const char *remedy, struct weft_error *err)
{
	return weft_fail(err, -EPERM, "PLUGIN_UNSAFE",
			 "%s would run with this process's privileges, but %s %s %s (owner %u, "
			 "group %u, mode %04o): %s",
			 file, S_ISDIR(st->st_mode) ? "the directory" : "the file", component, what,
			 st->st_uid, st->st_gid, st->st_mode & 07777, remedy);
}

/* last: the directory that holds the file, or the file. */
static int check_component(const struct weft_trust *t, int fd, const struct stat *st, bool last,
			   const char *component, const char *file, struct weft_error *err)
{
	if (!t->privileged)
		return 0;
	if (S_ISDIR(st->st_mode) && above_program(t, st))
		return 0;
	if (!user_trusted(t, st->st_uid))
		return unsafe(file, component, st, "belongs to another user",
			      "chown it to root, or move the plugin", err);
	if (S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX) && !last)
		return 0;
	if (st->st_mode & S_IWOTH)
		return unsafe(file, component, st, "may be written by everyone",
			      "chmod o-w it, or move the plugin", err);
	if (!(st->st_mode & S_IWGRP))
		return 0;
	if (!group_trusted(t, st->st_gid))
		return unsafe(file, component, st, "may be written by its group",
			      "chmod g-w it, or move the plugin", err);
	if (has_acl(fd))
		return unsafe(file, component, st, "may be written by those on its access list",
			      "take them off it with setfacl, or move the plugin", err);
	return 0;
}

/* ---- the walk ---- */

static int cannot_open(const char *file, const char *component, int ret, struct weft_error *err)
{
	return weft_fail(err, ret, "PLUGIN_OPEN", "%s cannot be opened: %s: %s", file, component,
			 strerror(-ret));
}

static const char *kind_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a directory";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	case S_IFCHR:
	case S_IFBLK:
		return "a device";
	default:
		return "no regular file";
	}
}

/* Opens a file that was looked at before, and passed. */
static int open_file(int dir, const char *name, const struct stat *seen, const char *path,
		     const char *file, int *fd, struct stat *st, struct weft_error *err)
{
	int opened, ret;

	opened = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	if (opened < 0)
		return cannot_open(file, path, -errno, err);
	if (fstat(opened, st)) {
		ret = cannot_open(file, path, -errno, err);
	} else if (st->st_dev != seen->st_dev || st->st_ino != seen->st_ino) {
		ret = weft_fail(err, -EAGAIN, "PLUGIN_OPEN", "%s was replaced while it was checked",
				file);
	} else {
		*fd = opened;
		return 0;
	}
	close(opened);
	return ret;
}

/* Goes from the directory *dir to its entry `name`, whose path is `path`. */
static int enter(const struct weft_trust *t, int *dir, const char *name, bool last,
		 const char *path, const char *file, struct weft_error *err)
{
	struct stat st;
	int ret, next = openat(*dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (next < 0 || fstat(next, &st))
		ret = cannot_open(file, path, -errno, err);
	else
		ret = check_component(t, next, &st, last, path, file, err);
	if (*dir >= 0)
		close(*dir);
	*dir = next;
	return ret;
}

/* The last step: the file itself. Nothing but a regular file is opened, since to open a device or a
 * FIFO may block, or do something. */
static int enter_file(const struct weft_trust *t, int dir, const char *name, const char *path,
		      const char *file, int *fd, struct stat *st, struct weft_error *err)
{
	struct stat seen;
	int ret, looked = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (looked < 0 || fstat(looked, &seen))
		ret = cannot_open(file, path, -errno, err);
	else if (!S_ISREG(seen.st_mode))
		ret = weft_fail(err, -EINVAL, "PLUGIN_OPEN",
				"%s is %s; a plugin is an ELF shared object", file,
				kind_name(seen.st_mode));
	else
		ret = check_component(t, looked, &seen, true, path, file, err);
	if (!ret)
		ret = open_file(dir, name, &seen, path, file, fd, st, err);
	if (looked >= 0)
		close(looked);
	return ret;
}

int weft_trust_open(const struct weft_trust *t, const char *path, const char *file, int *fd,
		    struct stat *st, struct weft_error *err)
{
	/* done: the path up to the component `name`, which is the next; both end at its slash. */
	char *done, *name, *slash;
	int dir = AT_FDCWD, ret;

	if (path[0] != '/' || path[1] == '\0')
		return cannot_open(file, path, -EINVAL, err);
	done = strdup(path);
	if (!done)
		return weft_nomem(err);
	name = done + 1;
	slash = strchr(name, '/');
	ret = enter(t, &dir, "/", !slash, "/", file, err);
	while (!ret && slash) {
		char *next = slash + 1;

		*slash = '\0';
		ret = enter(t, &dir, name, !strchr(next, '/'), done, file, err);
		*slash = '/';
		name = next;
		slash = strchr(name, '/');
	}
	if (!ret)
		ret = enter_file(t, dir, name, path, file, fd, st, err);
	if (dir >= 0)
		close(dir);
	free(done);
	return ret;
}
