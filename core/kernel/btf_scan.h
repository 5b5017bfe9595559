/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The scan of BTF, from any file that can be read at offsets. */
#ifndef WEFT_KERNEL_BTF_SCAN_H
#define WEFT_KERNEL_BTF_SCAN_H

#include "core/kernel/kernel.h"

#define WEFT_BTF_VMLINUX "/sys/kernel/btf/vmlinux"

/* Opens a file and checks its header. BTF_UNAVAILABLE, BTF_MALFORMED. */
struct weft_btf_scan;
int weft_btf_scan_open(const char *path, struct weft_btf_scan **out, struct weft_error *err);
/* The same of an open file, which stays the caller's. */
int weft_btf_scan_fd(int fd, struct weft_btf_scan **out, struct weft_error *err);
void weft_btf_scan_close(struct weft_btf_scan *scan);

int weft_btf_scan_func(struct weft_btf_scan *scan, const char *name, uint32_t *id,
		       struct weft_error *err);
int weft_btf_scan_members(struct weft_btf_scan *scan, struct weft_btf_member *members, size_t n,
			  struct weft_error *err);

#endif
