/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The operator table: one row serves the parser, messages and the reference page. */
#ifndef WEFT_LANG_OPS_H
#define WEFT_LANG_OPS_H

#include "core/lang/lang.h"

/* Binary operators bind the tighter the higher: C's order. 0: a prefix operator. The conditional
 * operator binds more loosely than all of them, prefix operators and casts more tightly. */
struct weft_op_spec {
	enum weft_op op;
	const char *text;
	unsigned precedence;
	const char *help;
};

extern const struct weft_op_spec weft_ops[]; /* indexed by enum weft_op */
extern const size_t weft_n_ops;

#define WEFT_PRECEDENCE_LOOSEST 1u

#endif
