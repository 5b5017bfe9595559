/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef WEFT_COMPILER_EXPLAIN_H
#define WEFT_COMPILER_EXPLAIN_H

#include "core/compiler/ir.h"
#include "core/plan.h"

/* Typed clauses and IR as text, in the plan's arena. */
int weft_explain_listing(struct weft_plan *plan, const struct weft_group *group,
			 const struct weft_ir *ir, const char **out);

#endif
