/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Who could have changed a plugin's file.
 *
 * A process with privileges (effective uid 0, or any effective capability) lends them to every
 * plugin that it loads. So it loads only what nobody but the *trusted* could have put there or
 * changed.
 *
 * Trusted are root; the effective user; and whoever could replace the running program itself, which
 * is to say the owners of its file and of the directories above it: they have nothing to gain from
 * a plugin. This is what lets `sudo build/.../trace-cli` work in a tree that a person built under
 * their own name. If the program got its privileges from its own file (set-user-ID or file
 * capabilities: AT_SECURE), the person who starts it is the one to be kept out, may have chosen the
 * path it is started by (a hard link to it), and only root is trusted.
 *
 * The rule, for the file and for each directory of its real path (all symbolic links resolved):
 *
 *  1. Its owner is trusted.
 *  2. Others may not write it: not by the bits for others; not by those for the group, unless the
 *     group is root's or may write the program's file or a directory above it; and a group's bits
 *     together with an access control list count as others'.
 *  3. A sticky directory may break 2 as long as it is not the one that holds the file. In
 * /tmp/mine/x.so, /tmp being root's, nobody but its owner can rename or remove `mine`, and the
 * owner of `mine` is trusted by 1. But in /tmp/x.so everyone may add a name: even one for a file of
 * root's, by a hard link, that was never meant to be loaded.
 *  4. Directories that are also above the running program are not looked at: whoever may write them
 *     can replace the program.
 *
 * The walk goes from directory to directory by descriptor, and the file is opened from the last, so
 * what was checked is what is opened.
 */
#ifndef WEFT_PLUGINS_TRUST_H
#define WEFT_PLUGINS_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "core/error.h"

/* Deeper paths exist; from there on the program's own directories earn no trust. */
#define WEFT_TRUST_MAX 32u

struct weft_trust {
	bool privileged; /* false: anything goes */
	uid_t users[WEFT_TRUST_MAX + 3];
	size_t n_users;
	gid_t groups[WEFT_TRUST_MAX + 2];
	size_t n_groups;
	struct {
		dev_t device;
		ino_t inode;
	} above[WEFT_TRUST_MAX]; /* the directories above the program */
	size_t n_above;
};

/* Of this process as it is now. */
void weft_trust_init(struct weft_trust *trust);
/* The same, given the parts: program is the real path of the running one, or NULL. */
void weft_trust_init_from(struct weft_trust *trust, bool privileged, bool secure,
			  const char *program);

/* Opens the regular file at `path` for reading; no component may be a symbolic link. *fd is the
 * caller's. `file` names it in messages. Tags: PLUGIN_OPEN, PLUGIN_UNSAFE. */
int weft_trust_open(const struct weft_trust *trust, const char *path, const char *file, int *fd,
		    struct stat *st, struct weft_error *err);

#endif
