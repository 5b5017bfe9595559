/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "machine.h"

#include <string.h>

#define STEPS 100000u

struct machine {
	uint64_t r[11];
	uint16_t known; /* registers that were written */
	_Alignas(8) uint8_t stack[512];
	uint8_t written[512]; /* bytes of the stack that were */
	const uint8_t *ctx;
	size_t ctx_size;
	uint8_t *state;
	size_t state_size;
	machine_helper *helper; /* NULL: nothing may be called */
	void *arg;
};

static bool within(uint64_t address, size_t size, const void *from, size_t bytes)
{
	uint64_t start = (uintptr_t)from;

	return address >= start && address + size <= start + bytes;
}

static bool is_known(const struct machine *m, unsigned reg)
{
	return m->known >> reg & 1;
}

static const char *load(struct machine *m, uint64_t address, size_t size, uint64_t *out)
{
	bool on_stack = within(address, size, m->stack, sizeof(m->stack));

	if (address % size)
		return "misaligned load";
	if (on_stack)
		for (size_t i = 0; i < size; i++)
			if (!m->written[address - (uintptr_t)m->stack + i])
				return "load of stack that was not written";
	if (!on_stack && !within(address, size, m->ctx, m->ctx_size) &&
	    !within(address, size, m->state, m->state_size))
		return "load out of bounds";
	*out = 0;
	memcpy(out, (const void *)(uintptr_t)address, size);
	return NULL;
}

static const char *store(struct machine *m, uint64_t address, size_t size, uint64_t value)
{
	if (address % size)
		return "misaligned store";
	if (within(address, size, m->stack, sizeof(m->stack)))
		memset(m->written + (address - (uintptr_t)m->stack), 1, size);
	else if (!within(address, size, m->state, m->state_size))
		return "store out of bounds";
	memcpy((void *)(uintptr_t)address, &value, size);
	return NULL;
}

static size_t size_of(uint8_t code)
{
	static const uint8_t sizes[] = {
		[BPF_W >> 3] = 4, [BPF_H >> 3] = 2, [BPF_B >> 3] = 1, [BPF_DW >> 3] = 8};

	return sizes[BPF_SIZE(code) >> 3];
}

static const char *alu(uint8_t op, uint64_t *d, uint64_t s)
{
	switch (op) {
	case BPF_ADD:
		*d += s;
		break;
	case BPF_SUB:
		*d -= s;
		break;
	case BPF_MUL:
		*d *= s;
		break;
	case BPF_DIV:
		*d = s ? *d / s : 0;
		break;
	case BPF_MOD:
		*d = s ? *d % s : *d;
		break;
	case BPF_AND:
		*d &= s;
		break;
	case BPF_OR:
		*d |= s;
		break;
	case BPF_XOR:
		*d ^= s;
		break;
	case BPF_LSH:
		*d <<= s & 63;
		break;
	case BPF_RSH:
		*d >>= s & 63;
		break;
	case BPF_ARSH:
		*d = (uint64_t)((int64_t)*d >> (s & 63));
		break;
	case BPF_NEG:
		*d = 0 - *d;
		break;
	case BPF_MOV:
		*d = s;
		break;
	default:
		return "unknown operation";
	}
	return NULL;
}

static bool jumps(uint8_t op, uint64_t a, uint64_t b)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case BPF_JA:
		return true;
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	case BPF_JLT:
		return a < b;
	case BPF_JLE:
		return a <= b;
	case BPF_JSGT:
		return sa > sb;
	case BPF_JSGE:
		return sa >= sb;
	case BPF_JSLT:
		return sa < sb;
	case BPF_JSET:
		return a & b;
	default: /* BPF_JSLE */
		return sa <= sb;
	}
}

static const char *step_alu(struct machine *m, const struct bpf_insn *i)
{
	bool wide = BPF_CLASS(i->code) == BPF_ALU64, moves = BPF_OP(i->code) == BPF_MOV;
	uint64_t s = BPF_SRC(i->code) == BPF_X ? m->r[i->src_reg] : (uint64_t)(int64_t)i->imm;
	const char *wrong;

	if ((BPF_SRC(i->code) == BPF_X && !is_known(m, i->src_reg)) ||
	    (!moves && !is_known(m, i->dst_reg)))
		return "register read before it was written";
	if (!wide && !moves)
		return "unknown 32-bit operation";
	wrong = alu(BPF_OP(i->code), &m->r[i->dst_reg], s);
	if (!wide)
		m->r[i->dst_reg] = (uint32_t)m->r[i->dst_reg];
	m->known |= (uint16_t)(1u << i->dst_reg);
	return wrong;
}

static const char *step_atomic(struct machine *m, const struct bpf_insn *i, uint64_t at,
			       uint64_t old)
{
	uint64_t s = m->r[i->src_reg];

	switch (i->imm) {
	case BPF_ADD:
		return store(m, at, 8, old + s);
	case BPF_OR:
		return store(m, at, 8, old | s);
	case BPF_ADD | BPF_FETCH:
		m->r[i->src_reg] = old;
		return store(m, at, 8, old + s);
	case BPF_XCHG:
		m->r[i->src_reg] = old;
		return store(m, at, 8, s);
	case BPF_CMPXCHG:
		if (m->r[0] == old)
			return store(m, at, 8, s);
		m->r[0] = old;
		return NULL;
	default:
		return "unknown atomic operation";
	}
}

static const char *step_call(struct machine *m, const struct bpf_insn *i)
{
	if (!m->helper)
		return "call";
	m->r[0] = m->helper(m->arg, i->imm, &m->r[1]);
	m->known = (uint16_t)((m->known & ~0x3fu) | 1u);
	/* What a helper fills in, it may have. */
	memset(m->written, 1, sizeof(m->written));
	return NULL;
}

static const char *step_memory(struct machine *m, const struct bpf_insn *i)
{
	uint64_t at = m->r[i->dst_reg] + (uint64_t)(int64_t)i->off, old;
	const char *wrong;

	switch (BPF_CLASS(i->code)) {
	case BPF_LDX:
		if (!is_known(m, i->src_reg))
			return "register read before it was written";
		m->known |= (uint16_t)(1u << i->dst_reg);
		return load(m, m->r[i->src_reg] + (uint64_t)(int64_t)i->off, size_of(i->code),
			    &m->r[i->dst_reg]);
	case BPF_ST:
		return store(m, at, size_of(i->code), (uint64_t)(int64_t)i->imm);
	default:
		if (!is_known(m, i->src_reg) || !is_known(m, i->dst_reg))
			return "register read before it was written";
		if (BPF_MODE(i->code) == BPF_MEM)
			return store(m, at, size_of(i->code), m->r[i->src_reg]);
		wrong = load(m, at, 8, &old);
		return wrong ? wrong : step_atomic(m, i, at, old);
	}
}

const char *machine_run(const struct bpf_insn *insns, uint32_t n, const void *ctx, size_t ctx_size,
			void *state, size_t state_size)
{
	return machine_run_calling(insns, n, ctx, ctx_size, state, state_size, NULL, NULL);
}

static const char *step_load64(struct machine *m, const struct bpf_insn *i)
{
	uint64_t value = (uint64_t)(uint32_t)i[1].imm << 32 | (uint32_t)i->imm;

	if (i->src_reg == BPF_PSEUDO_MAP_FD)
		value = (uint32_t)i->imm;
	else if (i->src_reg == BPF_PSEUDO_MAP_VALUE && !i->imm)
		value = (uintptr_t)m->state + (uint32_t)i[1].imm;
	else if (i->src_reg)
		return "unknown map";
	m->r[i->dst_reg] = value;
	m->known |= (uint16_t)(1u << i->dst_reg);
	return NULL;
}

const char *machine_run_calling(const struct bpf_insn *insns, uint32_t n, const void *ctx,
				size_t ctx_size, void *state, size_t state_size,
				machine_helper *helper, void *arg)
{
	struct machine m = {.ctx = ctx,
			    .ctx_size = ctx_size,
			    .state = state,
			    .state_size = state_size,
			    .helper = helper,
			    .arg = arg};
	const char *wrong = NULL;
	uint32_t pc = 0;

	m.r[1] = (uintptr_t)ctx;
	m.r[10] = (uintptr_t)(m.stack + sizeof(m.stack));
	m.known = 1u << 1 | 1u << 10;
	for (unsigned steps = 0; steps < STEPS; steps++) {
		const struct bpf_insn *i = &insns[pc];

		if (pc >= n)
			return "ran off the end";
		pc++;
		switch (BPF_CLASS(i->code)) {
		case BPF_ALU:
		case BPF_ALU64:
			wrong = step_alu(&m, i);
			break;
		case BPF_LD:
			wrong = step_load64(&m, i);
			pc++;
			break;
		case BPF_JMP32:
			/* The sign makes no difference to any of the comparisons. */
			if (BPF_SRC(i->code) == BPF_X)
				return "a comparison of halves of registers";
			if (jumps(BPF_OP(i->code), (uint64_t)(int64_t)(int32_t)m.r[i->dst_reg],
				  (uint64_t)(int64_t)i->imm))
				pc += (uint32_t)i->off;
			break;
		case BPF_JMP:
			if (BPF_OP(i->code) == BPF_EXIT)
				return is_known(&m, 0) ? NULL : "exit without a result";
			if (BPF_OP(i->code) == BPF_CALL)
				wrong = step_call(&m, i);
			else if (jumps(BPF_OP(i->code), m.r[i->dst_reg],
				       BPF_SRC(i->code) == BPF_X ? m.r[i->src_reg]
								 : (uint64_t)(int64_t)i->imm))
				pc += (uint32_t)i->off;
			break;
		default:
			wrong = step_memory(&m, i);
		}
		if (wrong)
			return wrong;
	}
	return "too many steps";
}
