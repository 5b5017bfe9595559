/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a program says that it looks at: a provider may rely on it to hold nothing else. */
#include "rig.h"

static void compiled(struct rig *r)
{
	cr_assert_eq(rig_compile(r), 0, "%s", weft_error_text(r->err));
}

Test(uses, nothing)
{
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "count", "into||n", "by||pid", NULL);
	compiled(&r);
	cr_expect_eq(r.program.used_args, 0);
	cr_expect_eq(r.program.uses, 0);
	rig_finish(&r);
}

Test(uses, arguments_of_all_clauses)
{
	struct rig r;

	rig_init(&r);
	rig_clause(&r, "arg1 > 3", "sum", "into||s", "value||arg4 + 1", NULL);
	rig_clause(&r, NULL, "count", "into||n", "by||arg5 & 7", NULL);
	compiled(&r);
	cr_expect_eq(r.program.used_args, 1u << 1 | 1u << 4 | 1u << 5);
	cr_expect_eq(r.program.uses, 0);
	rig_finish(&r);
}

Test(uses, user_memory)
{
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "count", "into||n", "by||copyinstr(arg2)", NULL);
	compiled(&r);
	cr_expect_eq(r.program.used_args, 1u << 2);
	cr_expect_eq(r.program.uses, WEFT_USES_MEMORY);
	rig_finish(&r);
}

Test(uses, user_stack)
{
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "count", "into||n", "by||ustack", NULL);
	compiled(&r);
	cr_expect_eq(r.program.uses, WEFT_USES_USTACK);
	rig_finish(&r);
}

Test(uses, registers)
{
	struct rig r;

	rig_init(&r);
	r.info.load.ctx_kind = WEFT_CTX_REGS;
	rig_clause(&r, NULL, "emit", "|r|regs", NULL);
	compiled(&r);
	cr_expect_eq(r.program.uses, WEFT_USES_REGS);
	rig_finish(&r);
}

Test(uses, frame_of_a_pairing)
{
	static const struct weft_loc_op frame[] = {{.op = WEFT_LOC_CTX, .size = 8}};
	struct rig r;

	rig_init(&r);
	r.info.pairing.role = WEFT_PAIRING_ENTRY;
	r.info.pairing.frame = (struct weft_location){.ops = frame, .n_ops = 1};
	rig_clause(&r, NULL, "count", "into||n", NULL);
	compiled(&r);
	cr_expect_eq(r.program.uses, 0);
	r.group.pairing_entry = true;
	compiled(&r);
	cr_expect_eq(r.program.uses, WEFT_USES_FRAME);
	rig_finish(&r);
}
