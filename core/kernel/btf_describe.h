/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Types of the kernel as providers are told of them (weft_host). */
#ifndef WEFT_KERNEL_BTF_DESCRIBE_H
#define WEFT_KERNEL_BTF_DESCRIBE_H

#include "core/arena.h"
#include "core/kernel/btf_objects.h"
#include "weft/provider.h"

/* What is told lies in the arena. BTF_NOT_FOUND, BTF_AMBIGUOUS (both -ENOENT), BTF_NO_FUNCTION
 * (-EINVAL) and what opening the object says. */
int weft_btf_tell_function(struct weft_btfs *o, struct weft_arena *arena, const char *module,
			   const char *name, struct weft_func_info *out, struct weft_error *err);
int weft_btf_tell_function_type(struct weft_btfs *o, struct weft_arena *arena, int fd, uint32_t id,
				struct weft_func_info *out, struct weft_error *err);
int weft_btf_tell_type(struct weft_btfs *o, struct weft_arena *arena, const char *module,
		       const char *name, uint32_t kind, struct weft_type_info *out,
		       struct weft_error *err);

#endif
