/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Every operator on values at the edges, signed and unsigned, against an evaluator of its own. */
#include <stdio.h>

#include "eval.h"
#include "rig.h"

static const uint64_t edges[] = {
	0,
	1,
	2,
	3,
	7,
	63,
	64,
	65,
	127,
	128,
	255,
	256,
	32767,
	32768,
	65535,
	65536,
	0x7fffffff,
	0x80000000,
	0xffffffff,
	0x100000000,
	0x7ffffffffffffffe,
	0x7fffffffffffffff,
	0x8000000000000000,
	0x8000000000000001,
	0xffffffff80000000,
	0xffffffff7fffffff,
	0xffffffffffffff80,
	0xffffffffffffffc0,
	0xfffffffffffffffd,
	0xfffffffffffffffe,
	0xffffffffffffffff,
};

/* Runs the newest program for arg0 and arg1 and compares sum's slot and the faults with eval(). */
static void check(struct rig *r, const char *text, uint64_t a, uint64_t b)
{
	const uint64_t words[RIG_ARGS] = {a, b};
	const struct weft_node *n = r->clauses[r->n_clauses - 1].actions[0].value;
	uint64_t faults = rig_loss(r, WEFT_LOSS_FAULT_DIVIDE), got;
	int64_t expected = 0;
	bool fine = eval(n, words, &expected);

	rig_clear_slots(r, "s");
	rig_run(r, words);
	got = rig_sum(r, "s");
	cr_expect(got == (fine ? (uint64_t)expected : 0), "%s of %lx, %lx is %lx, not %lx", text, a,
		  b, (uint64_t)expected, got);
	cr_expect(rig_loss(r, WEFT_LOSS_FAULT_DIVIDE) - faults == !fine,
		  "%s of %lx, %lx: %lu faults", text, a, b,
		  rig_loss(r, WEFT_LOSS_FAULT_DIVIDE) - faults);
}

static void check_all(const char *text, uint8_t size, bool is_signed)
{
	char value[128];
	struct rig r;

	rig_init(&r);
	for (unsigned i = 0; i < RIG_ARGS; i++)
		rig_arg(&r, i, size, is_signed);
	snprintf(value, sizeof(value), "value||(int64)(%s)", text);
	rig_clause(&r, NULL, "sum", "into||s", value, NULL);
	rig_load(&r);
	for (size_t i = 0; i < N(edges); i++)
		for (size_t k = 0; k < N(edges); k++)
			check(&r, text, edges[i], edges[k]);
	rig_finish(&r);
}

static const char *const binaries[] = {
	"arg0 + arg1",  "arg0 - arg1",  "arg0 * arg1",  "arg0 / arg1",  "arg0 % arg1",
	"arg0 & arg1",  "arg0 | arg1",  "arg0 ^ arg1",  "arg0 << arg1", "arg0 >> arg1",
	"arg0 == arg1", "arg0 != arg1", "arg0 < arg1",  "arg0 <= arg1", "arg0 > arg1",
	"arg0 >= arg1", "arg0 && arg1", "arg0 || arg1",
};

static const char *const unaries[] = {
	"-arg0",
	"~arg0",
	"!arg0",
	"+arg0",
	"(int8)arg0",
	"(int16)arg0",
	"(int32)arg0",
	"(int64)arg0 + 0 * arg1",
	"(uint8)arg0",
	"(uint16)arg0",
	"(uint32)arg0",
	"(uint64)arg0 / 3",
	"(int32)(uint8)arg0 - (int8)arg0",
};

/* One operand is a constant: other instructions are chosen. */
static const char *const constants[] = {
	"arg0 / 1",
	"arg0 / -1",
	"arg0 / 10",
	"arg0 / -10",
	"arg0 / 8",
	"arg0 / 4294967296",
	"arg0 % 1",
	"arg0 % -1",
	"arg0 % 8",
	"arg0 % 10",
	"arg0 % -10",
	"arg0 * 8",
	"arg0 * 10",
	"arg0 * -1",
	"arg0 + 2147483647",
	"arg0 + 2147483648",
	"arg0 - 9223372036854775807",
	"100 - arg0",
	"100 / arg0",
	"100 % arg0",
	"-1 >> arg0",
	"1 << arg0",
	"arg0 >> 63",
	"arg0 >> 64",
	"arg0 << 65",
	"arg0 & 4294967295",
	"arg0 | 4294967296",
	"arg0 == 4294967295",
	"arg0 < 4294967296",
	"5 < arg0",
	"arg0 > -5 ? arg1 : arg0 + 1",
	"arg0 ? arg1 ? 1 : 2 : 3",
	"(arg0 == 0 || 10 / arg0 > 2) && arg1 != 0",
	"!(arg0 < arg1) == (arg0 >= arg1)",
	"arg0 / arg1 * arg1 + arg0 % arg1 == arg0",
};

Test(compiler_operators, binary_signed)
{
	for (size_t i = 0; i < N(binaries); i++)
		check_all(binaries[i], 8, true);
}

Test(compiler_operators, binary_unsigned)
{
	for (size_t i = 0; i < N(binaries); i++)
		check_all(binaries[i], 8, false);
}

Test(compiler_operators, narrow_arguments)
{
	for (size_t i = 0; i < N(binaries); i++) {
		check_all(binaries[i], 4, true);
		check_all(binaries[i], 1, false);
	}
}

Test(compiler_operators, unary_and_casts)
{
	for (size_t i = 0; i < N(unaries); i++) {
		check_all(unaries[i], 8, true);
		check_all(unaries[i], 8, false);
		check_all(unaries[i], 2, true);
		check_all(unaries[i], 4, false);
	}
}

Test(compiler_operators, constant_operands)
{
	for (size_t i = 0; i < N(constants); i++) {
		check_all(constants[i], 8, true);
		check_all(constants[i], 4, true);
	}
}
