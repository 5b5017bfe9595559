/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions of programs that move their stacks. Go's compiler begins most functions so:
 *
 *	f:	lea  -0x70(%rsp),%r12         for larger frames
 *		cmp  0x10(%r14),%rsp (%r12)   is there room?
 *		jbe  more
 *		...                           the function
 *	more:	...                           saves arguments
 *		call runtime.morestack        moves the stack elsewhere
 *		...                           takes them back
 *		jmp  f
 *
 * So the first instructions of one call run twice where the stack grows, and a probe on them would
 * count it twice: it sits behind the jump. All that the beginning changes are two registers that
 * nobody passes anything in.
 *
 * A return address that was replaced would break the search for what lies on a stack when it is
 * moved. So a return is probed where it happens, at each `ret`, which needs all of the function to
 * be decoded and no other way out of it.
 */
#include <string.h>

#include "arch.h"
#include "disasm_x86_64.h"

#define MOST_BEFORE 8  /* instructions up to the last jump of the check */
#define MOST_MORE   64 /* and where the stack grows */

static bool jumps_to(csh cs, const cs_insn *insn, uint64_t *to)
{
	const cs_x86_op *op = &insn->detail->x86.operands[0];

	if (!cs_insn_group(cs, insn, X86_GRP_JUMP) || op->type != X86_OP_IMM)
		return false;
	*to = (uint64_t)op->imm;
	return true;
}

/* Whether the code there calls something, and jumps to the function's beginning then; *end: behind
 * that jump, which is a function's last instruction. */
static bool grows_at(csh cs, cs_insn *insn, const uint8_t *code, size_t size, uint64_t address,
		     uint64_t there, uint64_t *end)
{
	unsigned int calls = 0;
	uint64_t pc = there, to;

	if (there <= address || there - address >= size)
		return false;
	code += there - address;
	size -= (size_t)(there - address);
	for (int i = 0; i < MOST_MORE && cs_disasm_iter(cs, &code, &size, &pc, insn); i++) {
		*end = pc;
		if (cs_insn_group(cs, insn, X86_GRP_CALL))
			calls++;
		else if (insn->id == X86_INS_JMP)
			return calls == 1 && jumps_to(cs, insn, &to) && to == address;
		else if (cs_insn_group(cs, insn, X86_GRP_JUMP) ||
			 cs_insn_group(cs, insn, X86_GRP_RET))
			return false;
	}
	return false;
}

/* Whether something jumps to an address. */
static bool is_jumped_to(csh cs, cs_insn *insn, const uint8_t *code, size_t size, uint64_t address,
			 uint64_t there)
{
	uint64_t pc = address, to;
	bool unknown;

	while (size) {
		if (!weft_uprobe_next(cs, &code, &size, &pc, insn, &unknown))
			return true;
		if (!unknown && jumps_to(cs, insn, &to) && to == there)
			return true;
	}
	return false;
}

uint32_t weft_uprobe_arch_behind_check(const uint8_t *code, size_t size, uint64_t address,
				       bool whole)
{
	csh cs = weft_uprobe_disassembler();
	cs_insn *insn = cs ? cs_malloc(cs) : NULL, *other = cs ? cs_malloc(cs) : NULL;
	const uint8_t *at = code;
	uint64_t pc = address, more = 0, to, end = address;
	uint32_t behind = 0;
	size_t left = size;

	for (int i = 0; insn && other && i < MOST_BEFORE; i++) {
		if (!cs_disasm_iter(cs, &at, &left, &pc, insn))
			break;
		if (!cs_insn_group(cs, insn, X86_GRP_JUMP)) {
			if (insn->id != X86_INS_LEA && insn->id != X86_INS_CMP &&
			    insn->id != X86_INS_MOV && insn->id != X86_INS_SUB)
				break;
			continue;
		}
		if (!jumps_to(cs, insn, &to) || (more && to != more) ||
		    (!more && !grows_at(cs, other, code, size, address, to, &end)))
			break;
		more = to;
		behind = (uint32_t)(pc - address);
	}
	if (!whole)
		size = (size_t)(end - address);
	if (behind && is_jumped_to(cs, insn, code, size, address, address + behind))
		behind = 0;
	if (insn)
		cs_free(insn, 1);
	if (other)
		cs_free(other, 1);
	if (cs)
		cs_close(&cs);
	return behind;
}

static const char *walk(csh cs, cs_insn *insn, const uint8_t *code, size_t size, uint64_t address,
			int (*found)(void *arg, uint32_t offset), void *arg)
{
	uint64_t pc = address, to, end = address + size;
	bool unknown, any = false;

	while (size) {
		if (!weft_uprobe_next(cs, &code, &size, &pc, insn, &unknown))
			return "not all of the function can be decoded";
		if (unknown)
			continue;
		if (cs_insn_group(cs, insn, X86_GRP_RET)) {
			if (found(arg, (uint32_t)(insn->address - address)))
				return "there is no memory";
			any = true;
		} else if (cs_insn_group(cs, insn, X86_GRP_JUMP)) {
			if (!jumps_to(cs, insn, &to))
				return "the function has jumps that may leave it";
			if (to < address || to >= end)
				return "the function ends by jumping to another";
		}
	}
	return any ? NULL : "the function never returns";
}

const char *weft_uprobe_arch_returns(const uint8_t *code, size_t size, uint64_t address,
				     int (*found)(void *arg, uint32_t offset), void *arg)
{
	csh cs = weft_uprobe_disassembler();
	cs_insn *insn = cs ? cs_malloc(cs) : NULL;
	const char *why = "there is no memory";

	if (insn) {
		why = walk(cs, insn, code, size, address, found, arg);
		cs_free(insn, 1);
	}
	if (cs)
		cs_close(&cs);
	return why;
}
