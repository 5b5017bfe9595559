/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What there is in the kernel: programs, maps and links by id, and this process's descriptors.
 * Other processes of the machine make such objects at the same time; whatever one of them holds, by
 * a descriptor or by what its descriptors hold, is not counted as left behind.
 */
#ifndef TEST_SESSION_KERNEL_OBJECTS_H
#define TEST_SESSION_KERNEL_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

enum kernel_kind { KERNEL_PROGRAM, KERNEL_MAP, KERNEL_LINK, KERNEL_KINDS };

#define KERNEL_MAX_IDS 4096

struct kernel_objects {
	uint32_t ids[KERNEL_KINDS][KERNEL_MAX_IDS];
	size_t n[KERNEL_KINDS];
	size_t n_fds; /* of this process */
};

void kernel_objects_read(struct kernel_objects *k);

/* Waits until everything that is there now and was not there `before` has gone (the kernel frees
 * late), at most five seconds, and fails the test if something stays, or if this process has other
 * descriptors than before. */
void kernel_objects_expect_gone(const struct kernel_objects *before);

#endif
