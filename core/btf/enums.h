/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The constants of an enum by value and by name. */
#ifndef WEFT_BTF_ENUMS_H
#define WEFT_BTF_ENUMS_H

#include "core/btf/btf.h"

struct weft_btf_enum {
	uint32_t id, n;
	bool is_signed;
	struct weft_btf_constant
		*constants; /* by value; of one value in the order of their names' places */
	struct weft_btf_enum *next;
};

/* Lives as long as the object; NULL: no enum, or out of memory. */
const struct weft_btf_enum *weft_btf_enum(struct weft_btf *btf, uint32_t id);
void weft_btf_enums_destroy(struct weft_btf_enum *first);

/* NULL: no constant has that value. e may be NULL. */
const char *weft_btf_enum_name(const struct weft_btf_enum *e, int64_t value);
bool weft_btf_enum_value(const struct weft_btf_enum *e, const char *name, int64_t *value);

#endif
