/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files that appear at the paths of processes that are named. Mappings are announced for the whole
 * machine, and some are lost on a busy one; such a path is looked at again and again instead.
 */
#ifndef WEFT_SUPPORT_LATE_H
#define WEFT_SUPPORT_LATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "weft/provider.h"

#define SUPPORT_LOOK_NS 200000000 /* between two looks */

/* Whether the target is some processes and nobody else. */
bool support_is_named(const struct weft_target *t);
/* Has a timerfd, if there is one, be readable after so much time; again: and with each look then. */
void support_wake(int timer_fd, long ns, bool again);
/* The regular file at a path of a process, and the path by which we have it. */
bool support_file_of(int32_t pid, const char *path, char *ours, size_t size, struct stat *st);

#endif
