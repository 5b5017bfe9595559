/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Registers under pressure, without the kernel: what is computed stays right when most of it lies
 * on the stack. Lists of instructions are made by hand or by chance; a straightforward walk over
 * the same list with as many registers as it likes says what is right.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/compiler/emit.h"
#include "machine.h"
#include "rig.h"

#define WORDS 64u /* of memory that stands for map 0 */

static int compile(struct weft_ir *ir, struct weft_arena *arena, struct weft_program *p,
		   struct weft_allocation *regs)
{
	int ret = weft_ir_clean(ir);
	uint32_t too_far;

	if (!ret)
		ret = weft_ir_narrow(ir);
	if (!ret)
		ret = weft_regalloc(ir, regs);
	if (!ret)
		ret = weft_emit(ir, regs, arena, p, &too_far);
	return ret;
}

/* n values are loaded, then all of them are folded from the last to the first. */
static void nested_sum(unsigned n, uint32_t *spilled)
{
	uint64_t state[WORDS] = {0}, ctx[WORDS], expected;
	struct weft_arena *arena = weft_arena_create();
	struct weft_allocation regs;
	struct weft_program p = {0};
	weft_vreg v[WORDS], sum, context;
	const char *wrong;
	struct weft_ir ir;

	cr_assert(!weft_ir_init(&ir));
	context = weft_ir_context(&ir);
	for (unsigned i = 0; i < n; i++) {
		ctx[i] = 0x9e3779b97f4a7c15u * (i + 1);
		v[i] = weft_ir_load(&ir, 8, context, 8 * (int32_t)i);
	}
	sum = v[n - 1];
	expected = ctx[n - 1];
	for (unsigned i = n - 1; i--;) {
		sum = weft_ir_alu(&ir, i % 2 ? BPF_SUB : BPF_XOR, v[i], sum);
		expected = i % 2 ? ctx[i] - expected : ctx[i] ^ expected;
	}
	weft_ir_store(&ir, 8, weft_ir_map_value(&ir, 0, 8), 0, sum);
	weft_ir_exit(&ir);
	cr_assert(!compile(&ir, arena, &p, &regs));
	wrong = machine_run(p.insns, p.n_insns, ctx, sizeof(ctx), state, sizeof(state));
	cr_expect(!wrong, "%u values: %s", n, wrong ? wrong : "");
	cr_expect(state[1] == expected, "%u values: %lx, not %lx", n, state[1], expected);
	*spilled = regs.n_spilled;
	weft_allocation_finish(&regs);
	weft_ir_finish(&ir);
	weft_arena_destroy(arena);
}

Test(compiler_registers, many_values)
{
	uint32_t spilled;

	nested_sum(9, &spilled);
	cr_expect(spilled == 0, "nine values and the context, which dies last, fit ten registers");
	for (unsigned n = 2; n <= 60; n++)
		nested_sum(n, &spilled);
	nested_sum(30, &spilled);
	cr_expect(spilled >= 20 && spilled <= 22, "%u", spilled);
}

/* More than the BPF stack holds is an error that says how much it would be. */
Test(compiler_registers, too_many_values)
{
	struct weft_allocation regs;
	weft_vreg v[200], sum, context;
	struct weft_ir ir;

	cr_assert(!weft_ir_init(&ir));
	context = weft_ir_context(&ir);
	for (unsigned i = 0; i < N(v); i++)
		v[i] = weft_ir_load(&ir, 8, context, 8 * (int32_t)i);
	sum = v[N(v) - 1];
	for (unsigned i = N(v) - 1; i--;)
		sum = weft_ir_alu(&ir, BPF_ADD, v[i], sum);
	weft_ir_store(&ir, 8, context, 0, sum);
	weft_ir_exit(&ir);
	cr_assert(!weft_ir_clean(&ir));
	cr_expect(weft_regalloc(&ir, &regs) == -E2BIG);
	cr_expect(regs.stack_bytes > WEFT_BPF_STACK && regs.stack_bytes <= 8 * N(v));
	weft_ir_finish(&ir);
}

/* ---- calls ---- */

/* row = lookup(); if (!row) { insert(kept); row = lookup(); } row + kept: the first is written anew
 * behind the call that it spans, the second is read behind all of them. */
Test(compiler_registers, a_call_in_a_gap_of_a_life)
{
	struct weft_allocation regs;
	weft_vreg row, kept;
	struct weft_ir ir;
	uint32_t found;

	cr_assert(!weft_ir_init(&ir));
	row = weft_ir_variable(&ir);
	found = weft_ir_label(&ir);
	kept = weft_ir_load(&ir, 8, weft_ir_context(&ir), 0);
	weft_ir_assign(&ir, row, weft_ir_call(&ir, BPF_FUNC_ktime_get_ns, true, NULL, 0));
	weft_ir_branch_imm(&ir, BPF_JNE, row, 0, found);
	weft_ir_call(&ir, BPF_FUNC_get_smp_processor_id, false, NULL, 0);
	weft_ir_assign(&ir, row, weft_ir_call(&ir, BPF_FUNC_ktime_get_ns, true, NULL, 0));
	weft_ir_place(&ir, found);
	weft_ir_store(&ir, 8, WEFT_FP, -8, weft_ir_alu(&ir, BPF_ADD, row, kept));
	weft_ir_exit(&ir);
	cr_assert(!weft_ir_clean(&ir));
	cr_assert(!weft_regalloc(&ir, &regs));
	cr_expect(regs.reg[row] == BPF_REG_0, "r%u", regs.reg[row]);
	cr_expect(regs.reg[kept] >= BPF_REG_6, "r%u", regs.reg[kept]);
	weft_allocation_finish(&regs);
	weft_ir_finish(&ir);
}

/* v = a - v is not to be written before it is read: the move stays. */
Test(compiler_registers, a_result_that_reads_its_own_place)
{
	uint64_t state[WORDS] = {0}, ctx[1] = {7};
	struct weft_arena *arena = weft_arena_create();
	struct weft_allocation regs;
	struct weft_program p = {0};
	weft_vreg v, seven;
	const char *wrong;
	struct weft_ir ir;

	cr_assert(!weft_ir_init(&ir));
	v = weft_ir_variable(&ir);
	seven = weft_ir_load(&ir, 8, weft_ir_context(&ir), 0);
	weft_ir_assign(&ir, v, seven);
	weft_ir_step(&ir, BPF_ADD, v, 3);
	weft_ir_assign(&ir, v, weft_ir_alu(&ir, BPF_SUB, seven, v)); /* 7 - 10 */
	weft_ir_store(&ir, 8, weft_ir_map_value(&ir, 0, 0), 0, v);
	weft_ir_exit(&ir);
	cr_assert(!compile(&ir, arena, &p, &regs));
	wrong = machine_run(p.insns, p.n_insns, ctx, sizeof(ctx), state, sizeof(state));
	cr_expect(!wrong, "%s", wrong ? wrong : "");
	cr_expect((int64_t)state[0] == -3, "%ld", (int64_t)state[0]);
	weft_allocation_finish(&regs);
	weft_ir_finish(&ir);
	weft_arena_destroy(arena);
}

/* ---- comparing lower halves ---- */

static uint64_t decide(uint8_t code, uint64_t x, int32_t than, bool used, uint32_t *n_insns)
{
	uint64_t state[WORDS] = {0};
	struct weft_arena *arena = weft_arena_create();
	struct weft_allocation regs;
	struct weft_program p = {0};
	const char *wrong;
	struct weft_ir ir;
	weft_vreg v, out;
	uint32_t taken;

	cr_assert(!weft_ir_init(&ir));
	taken = weft_ir_label(&ir);
	v = weft_ir_extend(&ir, weft_ir_load(&ir, 8, weft_ir_context(&ir), 0), 4, true);
	out = weft_ir_map_value(&ir, 0, 0);
	if (used)
		weft_ir_store(&ir, 8, out, 8, v);
	weft_ir_branch_imm(&ir, code, v, than, taken);
	weft_ir_store_imm(&ir, 8, out, 0, 1);
	weft_ir_place(&ir, taken);
	weft_ir_exit(&ir);
	cr_assert(!compile(&ir, arena, &p, &regs));
	wrong = machine_run(p.insns, p.n_insns, &x, sizeof(x), state, sizeof(state));
	cr_expect(!wrong, "%s", wrong ? wrong : "");
	cr_expect(!used || state[1] == (uint64_t)(int32_t)x);
	*n_insns = p.n_insns;
	weft_allocation_finish(&regs);
	weft_ir_finish(&ir);
	weft_arena_destroy(arena);
	return !state[0];
}

Test(compiler_registers, lower_halves_decide_as_extended_values)
{
	static const uint8_t codes[] = {BPF_JEQ,  BPF_JNE,  BPF_JGT,  BPF_JGE,  BPF_JLT, BPF_JLE,
					BPF_JSGT, BPF_JSGE, BPF_JSLT, BPF_JSLE, BPF_JSET};
	static const int32_t values[] = {0, 1, -1, 17, -17, INT32_MAX, INT32_MIN, INT32_MIN + 1};

	for (size_t c = 0; c < N(codes); c++) {
		for (size_t i = 0; i < N(values); i++) {
			for (size_t k = 0; k < N(values); k++) {
				/* what lies in the upper half does not count */
				uint64_t x = 0x5a5a5a5a00000000u | (uint32_t)values[i];
				bool holds = weft_ir_compare(codes[c], values[i], values[k]);
				uint32_t narrow, wide;

				cr_expect(decide(codes[c], x, values[k], false, &narrow) == holds);
				cr_expect(decide(codes[c], x, values[k], true, &wide) == holds);
				cr_expect(wide == narrow + 3, "%u, %u", narrow, wide);
			}
		}
	}
}

/* ---- by chance: straight lines, branches and loops ---- */

static uint64_t seed = 88172645463325252u;

static unsigned below(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)((seed >> 11) % n);
}

/* What the list means, with a register file without end. */
static void walk(const struct weft_ir *ir, const uint64_t *ctx, uint64_t *state)
{
	int64_t *v = calloc(ir->n_vregs, sizeof(*v));

	cr_assert(v);
	for (size_t i = 0; i < ir->n_insns; i++) {
		const struct weft_ir_insn *n = &ir->insns[i];
		int64_t b = n->b ? v[n->b] : n->imm;
		bool jump = n->op == WEFT_IR_JUMP;

		switch (n->op) {
		case WEFT_IR_CONST:
			v[n->dst] = n->imm;
			break;
		case WEFT_IR_MOVE:
			v[n->dst] = v[n->a];
			break;
		case WEFT_IR_ALU:
			cr_assert(weft_ir_compute(n->code, v[n->a], b, &v[n->dst]));
			break;
		case WEFT_IR_NEG:
			v[n->dst] = (int64_t)(0 - (uint64_t)v[n->a]);
			break;
		case WEFT_IR_LOW32:
			v[n->dst] = (uint32_t)v[n->a];
			break;
		case WEFT_IR_SET:
			v[n->dst] = weft_ir_compare(n->code, v[n->a], b);
			break;
		case WEFT_IR_LOAD:
			v[n->dst] = (int64_t)ctx[n->off / 8];
			break;
		case WEFT_IR_STORE:
			state[n->off / 8] = (uint64_t)b;
			break;
		case WEFT_IR_BRANCH:
			jump = weft_ir_compare(n->code, v[n->a], b);
			break;
		case WEFT_IR_EXIT:
			free(v);
			return;
		default:
			break;
		}
		for (size_t k = 0; jump && k < ir->n_insns; k++)
			if (ir->insns[k].op == WEFT_IR_LABEL && ir->insns[k].label == n->label)
				i = k;
	}
	free(v);
}

static const uint8_t alus[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_AND, BPF_OR,
			       BPF_XOR, BPF_LSH, BPF_RSH, BPF_ARSH};
static const uint8_t tests[] = {BPF_JEQ, BPF_JNE,  BPF_JGT,  BPF_JGE,  BPF_JLT,
				BPF_JLE, BPF_JSGT, BPF_JSGE, BPF_JSLT, BPF_JSLE};

struct maker {
	struct weft_ir ir;
	weft_vreg pool[48]; /* variables, all of them defined */
	unsigned n;
};

static weft_vreg any(struct maker *m)
{
	return m->pool[below(m->n)];
}

static void make_one(struct maker *m)
{
	weft_vreg dst = any(m), a = any(m), b = any(m);
	weft_vreg v;

	switch (below(6)) {
	case 0:
		v = weft_ir_alu_imm(&m->ir, alus[below(6)], a, (int64_t)(seed >> below(60)));
		break;
	case 1:
		v = weft_ir_neg(&m->ir, a);
		break;
	case 2:
		v = weft_ir_set(&m->ir, tests[below(N(tests))], a, b);
		break;
	case 3:
		v = weft_ir_extend(&m->ir, a, (uint8_t)(1u << below(4)), below(2));
		break;
	default:
		v = weft_ir_alu(&m->ir, alus[below(N(alus))], a, b);
		break;
	}
	weft_ir_assign(&m->ir, dst, v);
}

static void make_block(struct maker *m, unsigned depth)
{
	for (unsigned i = 0; i < 3 + below(8); i++)
		make_one(m);
	if (!depth)
		return;
	if (below(2)) { /* a branch */
		uint32_t over = weft_ir_label(&m->ir), done = weft_ir_label(&m->ir);

		weft_ir_branch(&m->ir, tests[below(N(tests))], any(m), any(m), over);
		make_block(m, depth - 1);
		weft_ir_jump(&m->ir, done);
		weft_ir_place(&m->ir, over);
		make_block(m, depth - 1);
		weft_ir_place(&m->ir, done);
	} else { /* a loop of a few rounds */
		uint32_t again = weft_ir_label(&m->ir);
		weft_vreg round = weft_ir_variable(&m->ir);

		weft_ir_assign_const(&m->ir, round, 1 + below(4));
		weft_ir_place(&m->ir, again);
		make_block(m, depth - 1);
		weft_ir_step(&m->ir, BPF_SUB, round, 1);
		weft_ir_branch_imm(&m->ir, BPF_JNE, round, 0, again);
	}
	make_block(m, depth - 1);
}

static void one_program(unsigned variables)
{
	uint64_t ctx[WORDS], expected[WORDS] = {0}, state[WORDS] = {0};
	struct weft_arena *arena = weft_arena_create();
	struct maker m = {.n = variables};
	struct weft_allocation regs;
	struct weft_program p = {0};
	weft_vreg context, memory;
	const char *wrong;

	cr_assert(!weft_ir_init(&m.ir));
	context = weft_ir_context(&m.ir);
	for (unsigned i = 0; i < variables; i++) {
		ctx[i] = seed * (i + 1) >> below(50);
		m.pool[i] = weft_ir_variable(&m.ir);
		weft_ir_assign(&m.ir, m.pool[i], weft_ir_load(&m.ir, 8, context, 8 * (int32_t)i));
	}
	make_block(&m, below(4));
	memory = weft_ir_map_value(&m.ir, 0, 0);
	for (unsigned i = 0; i < variables; i++)
		weft_ir_store(&m.ir, 8, memory, 8 * (int32_t)i, m.pool[i]);
	weft_ir_exit(&m.ir);
	cr_assert(!m.ir.status);
	walk(&m.ir, ctx, expected);
	cr_assert(!compile(&m.ir, arena, &p, &regs));
	wrong = machine_run(p.insns, p.n_insns, ctx, sizeof(ctx), state, sizeof(state));
	cr_expect(!wrong, "%s", wrong ? wrong : "");
	cr_expect(!memcmp(state, expected, sizeof(state)), "%u variables", variables);
	weft_allocation_finish(&regs);
	weft_ir_finish(&m.ir);
	weft_arena_destroy(arena);
}

Test(compiler_registers, by_chance, .timeout = 120)
{
	for (unsigned i = 0; i < 3000; i++)
		one_program(1 + i % 40);
}

/* ---- through the whole compiler ---- */

/* Thirty values that live at a time within one expression, run without the kernel. */
Test(compiler_registers, expression)
{
	const uint64_t words[RIG_ARGS] = {3, 5, 7, 11, 13, 17};
	char value[1024] = "value||", state[65536] = {0}, *at = value + strlen(value);
	uint64_t expected = 1, got;
	const char *wrong;
	struct rig r;

	rig_init(&r);
	for (unsigned i = 0; i < 30; i++)
		at += sprintf(at, "arg%u * %u - (", i % RIG_ARGS, i + 2);
	at += sprintf(at, "1");
	memset(at, ')', 30);
	at[30] = '\0';
	for (unsigned i = 30; i--;)
		expected = words[i % RIG_ARGS] * (i + 2) - expected;
	rig_clause(&r, NULL, "sum", "into||s", value, NULL);
	r.plan->n_cpus = 1; /* no call for the number of the CPU */
	cr_assert(!rig_compile(&r), "%s", weft_error_text(r.err));
	((struct weft_control *)state)->enabled = 1;
	wrong = machine_run(r.program.insns, r.program.n_insns, words, sizeof(words), state,
			    sizeof(state));
	cr_expect(!wrong, "%s", wrong ? wrong : "");
	memcpy(&got, state + rig_agg(&r, "s")->state_offset + 8 * WEFT_SUM_WORD, sizeof(got));
	cr_expect(got == expected, "%lx, not %lx", got, expected);
	rig_finish(&r);
}
