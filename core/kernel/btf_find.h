/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Offsets of members in any object. */
#ifndef WEFT_KERNEL_BTF_FIND_H
#define WEFT_KERNEL_BTF_FIND_H

#include "core/btf/btf.h"
#include "core/kernel/kernel.h"

int weft_btf_members(const struct weft_btf *btf, struct weft_btf_member *members, size_t n,
		     struct weft_error *err);

#endif
