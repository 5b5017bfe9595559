/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where type information comes from, for who only reads it. */
#ifndef WEFT_BTF_SOURCE_H
#define WEFT_BTF_SOURCE_H

#include "core/btf/btf.h"

struct weft_btf_source {
	/* By descriptor, as struct weft_arg_type has it; 0: the kernel's. Borrowed. */
	int (*get)(struct weft_btf_source *source, int fd, struct weft_btf **out,
		   struct weft_error *err);
};

#endif
