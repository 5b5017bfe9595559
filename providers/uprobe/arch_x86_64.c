/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * x86-64: where values lie, and which instructions are cheap.
 *
 * The kernel emulates a few instructions when a breakpoint on them was hit and lets the processor
 * step over all others, which costs two more exceptions (arch/x86/kernel/uprobes.c: push of a
 * register, jumps, calls, the one-byte nop). A probe on the entry of a function that begins with
 * another one may as well sit a few instructions later, if nobody can tell the difference:
 *
 * What has to hold wherever the probe sits: every instruction before the place is executed exactly
 * once before it, whenever the function is called. They follow each other in a straight line, none
 * of them traps, and nothing jumps between them. One that uses memory may fail: a call that dies of
 * it does not come as far as the probe, which placement: exact would have seen. A function with
 * indirect jumps may jump anywhere, except between the places where it saves its caller's
 * registers: what was pushed has to be popped as often.
 *
 * What need only hold for those who look: registers of arguments, the stack pointer, the frame
 * pointer and memory are as they were. Which are not is put down, and a program that uses none of
 * those may be attached there.
 */
#include <capstone/capstone.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "disasm_x86_64.h"

#define MOST_STEPS 24 /* instructions that are looked at */
#define REDZONE    128

const struct weft_uprobe_arch weft_uprobe_arch = {
	.machine = EM_X86_64,
	.dwarf_sp = 7,
	.n_reg_args = 6,
	.stack_args = 8,
	.return_pops = 8,
};

static const char already[] = "the first instruction is one that the kernel emulates";
static const char moved[] = "the first instruction that the kernel emulates";
static const char behind[] =
	"the first instruction that the kernel emulates; before it memory is used";
static const char instead[] = "the first instruction that can bear a probe";

/* ---- registers ---- */

uint32_t weft_uprobe_arch_register(int64_t dwarf)
{
	/* rax rdx rcx rbx rsi rdi rbp rsp r8 r9 */
	static const int8_t args[] = {-1, 2, 3, -1, 1, 0, -1, -1, 4, 5};

	if (dwarf == 6)
		return WEFT_UPROBE_TOUCHES_FRAME;
	if (dwarf < 0 || dwarf > 9 || args[dwarf] < 0)
		return UINT32_MAX;
	return 1u << args[dwarf];
}

/* The 64-bit register that a register is a part of. */
static x86_reg whole_register(x86_reg r)
{
	static const struct {
		x86_reg whole, parts[5];
	} all[] = {
#define R(w, ...)                   \
	{                           \
		X86_REG_##w,        \
		{                   \
			__VA_ARGS__ \
		}                   \
	}
		R(RDI, X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL),
		R(RSI, X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL),
		R(RDX, X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH),
		R(RCX, X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH),
		R(R8, X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B),
		R(R9, X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B),
		R(RBP, X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL),
		R(RSP, X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL),
#undef R
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (size_t k = 0; k < 5; k++)
			if (r != X86_REG_INVALID && all[i].parts[k] == r)
				return all[i].whole;
	return X86_REG_INVALID;
}

/* What the instruction changes, WEFT_UPROBE_TOUCHES_*; false: it cannot be told. */
static bool touches(csh cs, const cs_insn *insn, uint32_t *touched)
{
	static const x86_reg args[] = {X86_REG_RDI, X86_REG_RSI, X86_REG_RDX,
				       X86_REG_RCX, X86_REG_R8,  X86_REG_R9};
	cs_regs read, written;
	uint8_t n_read, n_written;

	if (cs_regs_access(cs, insn, read, &n_read, written, &n_written))
		return false;
	for (uint8_t i = 0; i < n_written; i++) {
		x86_reg whole = whole_register((x86_reg)written[i]);

		for (uint32_t k = 0; k < sizeof(args) / sizeof(args[0]); k++)
			if (whole == args[k])
				*touched |= 1u << k;
		if (whole == X86_REG_RSP)
			*touched |= WEFT_UPROBE_TOUCHES_STACK;
		if (whole == X86_REG_RBP)
			*touched |= WEFT_UPROBE_TOUCHES_FRAME;
	}
	return true;
}

/* The stack pointer before an instruction, as bytes below that of the entry; unknown once it was
 * moved by something else than a constant. */
struct stack {
	bool known;
	int32_t below;
};

/* Whether an operand lies within the function's frame, its return address, and the first arguments
 * on the stack: all of it is there for certain. */
static bool on_stack(const cs_x86_op *op, const struct stack *sp, int64_t *at)
{
	if (!sp->known || op->mem.base != X86_REG_RSP || op->mem.index != X86_REG_INVALID ||
	    op->mem.segment != X86_REG_INVALID)
		return false;
	*at = op->mem.disp - sp->below; /* from the stack pointer at the entry */
	return *at >= -(int64_t)sp->below - REDZONE && *at < 64;
}

/* What the instruction changes in memory; *sure is false if it may fail. A fault that is mended (a
 * page that is brought in, a signal's handler that returns) ends at the same instruction. */
static void memory(const cs_insn *insn, const struct stack *sp, uint32_t *touched, bool *sure)
{
	const cs_x86 *x = &insn->detail->x86;

	if (insn->id == X86_INS_LEA || insn->id == X86_INS_NOP || insn->id == X86_INS_ENDBR64)
		return;
	for (uint8_t i = 0; i < x->op_count; i++) {
		const cs_x86_op *op = &x->operands[i];
		int64_t at = 0;

		if (op->type != X86_OP_MEM)
			continue;
		/* Data of the file and of the thread are there for certain, too. */
		bool stack = on_stack(op, sp, &at);
		bool plain = op->mem.index == X86_REG_INVALID;
		bool data = plain &&
			    (op->mem.base == X86_REG_RIP ||
			     (op->mem.segment == X86_REG_FS && op->mem.base == X86_REG_INVALID));
		if (!stack && !data)
			*sure = false;
		if ((!op->access || op->access & CS_AC_WRITE) && !(stack && at + op->size <= 0))
			*touched |= WEFT_UPROBE_TOUCHES_MEMORY;
	}
}

static void follow_stack(const cs_insn *insn, uint32_t touched, struct stack *sp)
{
	const cs_x86 *x = &insn->detail->x86;

	if (!(touched & WEFT_UPROBE_TOUCHES_STACK))
		return;
	if ((insn->id != X86_INS_SUB && insn->id != X86_INS_ADD) || x->op_count != 2 ||
	    x->operands[0].type != X86_OP_REG || x->operands[0].reg != X86_REG_RSP ||
	    x->operands[1].type != X86_OP_IMM || x->operands[1].imm < -65536 ||
	    x->operands[1].imm > 65536) {
		sp->known = false;
		return;
	}
	sp->below += (int32_t)(insn->id == X86_INS_SUB ? x->operands[1].imm : -x->operands[1].imm);
	if (sp->below < 0)
		sp->known = false;
}

/* Instructions that do nothing but compute: all that may come before the place. */
static bool computes(csh cs, const cs_insn *insn)
{
	static const uint8_t groups[] = {X86_GRP_JUMP, X86_GRP_CALL, X86_GRP_RET,
					 X86_GRP_INT,  X86_GRP_IRET, X86_GRP_PRIVILEGE};
	static const unsigned int others[] = {
		X86_INS_DIV,     X86_INS_IDIV,     X86_INS_SYSCALL, X86_INS_SYSENTER,
		X86_INS_UD2,     X86_INS_POP,      X86_INS_LEAVE,   X86_INS_POPF,
		X86_INS_POPFQ,   X86_INS_XBEGIN,   X86_INS_CPUID,   X86_INS_RDTSC,
		X86_INS_RDTSCP,  X86_INS_XGETBV,   X86_INS_PUSH,    X86_INS_PUSHFQ,
		X86_INS_ENTER,   X86_INS_UD2B,     X86_INS_WAIT,    X86_INS_XCHG,
		X86_INS_LDMXCSR, X86_INS_VZEROALL,
	};

	for (size_t i = 0; i < sizeof(groups); i++)
		if (cs_insn_group(cs, insn, groups[i]))
			return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (insn->id == others[i])
			return false;
	/* What is repeated may be interrupted in between. endbr64 bears that prefix. */
	return insn->id == X86_INS_ENDBR64 || insn->id == X86_INS_NOP ||
	       !insn->detail->x86.prefix[0] || insn->detail->x86.prefix[0] == X86_PREFIX_LOCK;
}

/* ---- cheap ones ---- */

/* push of a register that belongs to the caller: rbx, rbp, r12 to r15 */
static bool saves(const uint8_t *p, size_t n)
{
	if (n == 1)
		return p[0] == 0x53 || p[0] == 0x55;
	return n == 2 && p[0] == 0x41 && p[1] >= 0x54 && p[1] <= 0x57;
}

/* ---- the rest of the function ---- */

bool weft_uprobe_next(csh cs, const uint8_t **at, size_t *size, uint64_t *pc, cs_insn *insn,
		      bool *unknown)
{
	size_t n;

	*unknown = false;
	if (cs_disasm_iter(cs, at, size, pc, insn))
		return true;
	n = weft_uprobe_arch_vector_length(*at, *size);
	if (!n)
		return false;
	*at += n;
	*size -= n;
	*pc += n;
	*unknown = true;
	return true;
}

/* Whether a jump of the function lands in (0, delta], and whether it has indirect ones. */
static bool scan(csh cs, const uint8_t *code, size_t size, uint64_t address, uint32_t delta,
		 bool *lands, bool *indirect)
{
	cs_insn *insn = cs_malloc(cs);
	const uint8_t *at = code;
	uint64_t pc = address;
	bool good = true, unknown;

	*lands = *indirect = false;
	if (!insn)
		return false;
	while (size) {
		if (!weft_uprobe_next(cs, &at, &size, &pc, insn, &unknown)) {
			good = false; /* data among the code */
			break;
		}
		if (unknown)
			continue;
		if (!cs_insn_group(cs, insn, X86_GRP_JUMP) && insn->id != X86_INS_LOOP &&
		    insn->id != X86_INS_LOOPE && insn->id != X86_INS_LOOPNE &&
		    insn->id != X86_INS_XBEGIN)
			continue;
		const cs_x86_op *op = &insn->detail->x86.operands[0];
		if (op->type != X86_OP_IMM)
			*indirect = true;
		else if ((uint64_t)op->imm > address && (uint64_t)op->imm <= address + delta)
			*lands = true;
	}
	cs_free(insn, 1);
	return good;
}

/* Capstone does not always look whether it got the memory that it asks for, which is less than
 * this. volatile, since compilers know how to do without a block that is not used. */
static bool has_room(void)
{
	void *volatile p = malloc(64u << 10);
	const bool room = p;

	free(p);
	return room;
}

csh weft_uprobe_disassembler(void)
{
	csh cs;

	if (!has_room() || cs_open(CS_ARCH_X86, CS_MODE_64, &cs))
		return 0;
	if (cs_option(cs, CS_OPT_DETAIL, CS_OPT_ON)) {
		cs_close(&cs);
		return 0;
	}
	return cs;
}

/* Whether the place of the probe may be at an instruction behind the first: where that cannot bear
 * one at all, any that can will do. */
static bool fits(const cs_insn *insn, const struct weft_uprobe_place *place)
{
	if (place->unfit)
		return !weft_uprobe_arch_unfit(insn->bytes, insn->size);
	return weft_uprobe_arch_emulated(insn->bytes, insn->size);
}

/* Walks the straight line. NULL: out says the place; else why there is none. */
static const char *straight(csh cs, const uint8_t *code, size_t size, uint64_t address,
			    struct weft_uprobe_place *out, bool *push)
{
	cs_insn *insn = cs_malloc(cs);
	const char *why = "no instruction that the kernel emulates comes soon";
	struct stack sp = {.known = true};
	const uint8_t *at = code;
	uint64_t pc = address;

	if (!insn)
		return "out of memory";
	for (int i = 0; i < MOST_STEPS; i++) {
		if (!cs_disasm_iter(cs, &at, &size, &pc, insn)) {
			why = "the code cannot be decoded";
			break;
		}
		if (i ? fits(insn, out) : weft_uprobe_arch_emulated(insn->bytes, insn->size)) {
			out->delta = (uint32_t)(insn->address - address);
			*push = saves(insn->bytes, insn->size);
			why = NULL;
			break;
		}
		if (!computes(cs, insn)) {
			why = cs_insn_group(cs, insn, X86_GRP_RET) ||
					      cs_insn_group(cs, insn, X86_GRP_JUMP)
				      ? "it ends before an instruction that the kernel emulates"
				      : "an instruction comes first that does more than compute";
			break;
		}
		uint32_t changed = 0;
		memory(insn, &sp, &changed, &out->sure);
		if (!touches(cs, insn, &changed)) {
			why = "an instruction that cannot be judged comes first";
			break;
		}
		follow_stack(insn, changed, &sp);
		out->touched |= changed;
	}
	cs_free(insn, 1);
	return why;
}

void weft_uprobe_arch_place(const uint8_t *code, size_t size, uint64_t address, bool whole,
			    struct weft_uprobe_place *out)
{
	bool push = false, lands, indirect;
	csh cs = weft_uprobe_disassembler();

	*out = (struct weft_uprobe_place){
		.sure = true,
		.unfit = weft_uprobe_arch_unfit(code, size) != NULL,
		.reason = "the code cannot be decoded",
	};
	if (!cs)
		return;
	out->reason = straight(cs, code, size, address, out, &push);
	if (!out->reason && !out->delta) {
		out->reason = already;
	} else if (!out->reason) {
		/* What goes on in the rest decides. */
		if (!whole)
			out->reason = "the function's end is not known";
		else if (!scan(cs, code, size, address, out->delta, &lands, &indirect))
			out->reason = "not all of the function can be decoded";
		else if (lands)
			out->reason = "the function jumps back between";
		else if (indirect && !push)
			out->reason = "the function has jumps that may go anywhere";
		out->cheap = !out->reason;
		if (out->cheap)
			out->reason = out->unfit ? instead : out->sure ? moved : behind;
	}
	if (!out->cheap)
		out->delta = out->touched = 0;
	cs_close(&cs);
}

bool weft_uprobe_arch_begins(const uint8_t *code, size_t size, uint64_t address, uint64_t at)
{
	csh cs = weft_uprobe_disassembler();
	cs_insn *insn = cs ? cs_malloc(cs) : NULL;
	const uint8_t *p = code;
	uint64_t pc = address;
	bool found = at == 0, unknown;

	while (insn && !found && pc - address <= at) {
		if (pc - address == at)
			found = size > 0;
		if (found || !weft_uprobe_next(cs, &p, &size, &pc, insn, &unknown))
			break;
	}
	if (insn)
		cs_free(insn, 1);
	if (cs)
		cs_close(&cs);
	return found;
}

void weft_uprobe_arch_landings(const uint8_t *code, size_t size, uint64_t address,
			       void (*mark)(void *arg, uint64_t to), void *arg)
{
	/* A jump may begin at any byte: opcode, then 32 bits from the end of the instruction. */
	for (size_t i = 0; i + 5 <= size; i++) {
		size_t rel = 0;
		int32_t by;

		if (code[i] == 0xe9 || code[i] == 0xe8)
			rel = i + 1;
		else if (code[i] == 0x0f && code[i + 1] >= 0x80 && code[i + 1] <= 0x8f)
			rel = i + 2;
		if (!rel || rel + 4 > size)
			continue;
		memcpy(&by, code + rel, sizeof(by));
		mark(arg, address + rel + 4 + (uint64_t)(int64_t)by);
	}
}
