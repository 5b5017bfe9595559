/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef WEFT_COMPILER_EXPLAIN_H
#define WEFT_COMPILER_EXPLAIN_H

#include "core/compiler/ir.h"
#include "core/plan.h"

/* Keeps typed clauses and the intermediate form as text, in the plan's arena. -ENOMEM. */
int weft_explain_keep(struct weft_plan *plan, const struct weft_group *group,
		      const struct weft_ir *ir, struct weft_program *out);

#endif
