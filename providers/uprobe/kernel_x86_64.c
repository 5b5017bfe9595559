/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the kernel does with an instruction that a probe is put on (arch/x86/kernel/uprobes.c, 6.1
 * to 6.18): some it emulates, most it has the processor step over, some it refuses. It refuses when
 * the breakpoint is written, which is when a process maps the file: of a file that nobody has
 * mapped yet one would never hear. So it has to be known here.
 *
 * And some it gets wrong. Of an instruction with a VEX or EVEX prefix it looks at the opcode as if
 * there were none, so that vpbroadcastb (7a) is a jump to it, kmovw (90) does nothing, and vpor
 * (eb) goes somewhere. A program whose strchr() begins with one does not find letters any more
 * while it is traced. No probe is put there.
 */
#include <string.h>

#include "arch.h"

struct insn {
	bool bad_prefix;   /* lock, or a segment's */
	bool operand_size; /* 66 */
	bool vector;       /* VEX or EVEX */
	const uint8_t *opcode;
	size_t left; /* bytes from the opcode on */
};

/* Finds the opcode as the kernel does. */
static bool parse(const uint8_t *p, size_t n, struct insn *out)
{
	size_t vector = 0;

	*out = (struct insn){.bad_prefix = false};
	for (; n; p++, n--) {
		if (*p == 0xf0 || *p == 0x2e || *p == 0x36 || *p == 0x3e || *p == 0x26)
			out->bad_prefix = true;
		else if (*p == 0x66)
			out->operand_size = true;
		else if (*p != 0x67 && *p != 0xf2 && *p != 0xf3 && *p != 0x64 && *p != 0x65)
			break;
	}
	if (n && (*p & 0xf0) == 0x40) {
		p++;
		n--;
	} else if (n && *p == 0xc5) {
		vector = 2;
	} else if (n && *p == 0xc4) {
		vector = 3;
	} else if (n && *p == 0x62) {
		vector = 4;
	}
	if (n <= vector)
		return false;
	out->vector = vector != 0;
	out->opcode = p + vector;
	out->left = n - vector;
	return true;
}

/* Rows of sixteen opcodes, the lowest in the lowest bit. */
static bool in_table(const uint16_t *rows, uint8_t opcode)
{
	return rows[opcode >> 4] >> (opcode & 15) & 1;
}

/* Opcodes of one byte that it has the processor step over, and 0f, whatever follows. tests/uprobe
 * asks the kernel that runs. */
static const uint16_t good[16] = {
	[0x0] = 0xbf3f, [0x1] = 0x3f3f, [0x2] = 0x3f3f, [0x3] = 0x3f3f,
	[0x4] = 0x0000, [0x5] = 0xffff, [0x6] = 0x0f38, [0x7] = 0xffff,
	[0x8] = 0xfffb, [0x9] = 0xfbff, [0xa] = 0xffff, [0xb] = 0xffff,
	[0xc] = 0x0fcf, [0xd] = 0xff8f, [0xe] = 0x0b0f, [0xf] = 0xf3ec,
};

const char *weft_uprobe_arch_unfit(const uint8_t *code, size_t size)
{
	static const char refused[] = "the kernel puts no probe on this instruction";
	struct insn i;

	if (!parse(code, size, &i))
		return "there is no instruction";
	uint8_t op = *i.opcode;
	if (i.vector &&
	    ((op >= 0x70 && op <= 0x7f) || op == 0xe8 || op == 0xe9 || op == 0xeb || op == 0x90))
		return "the kernel takes this instruction for another when a probe is on it";
	if (i.bad_prefix)
		return refused;
	if (i.operand_size && !i.vector &&
	    ((op >= 0x70 && op <= 0x7f) || op == 0xe8 || op == 0xe9 || op == 0xeb ||
	     (op == 0x0f && i.left > 1 && (i.opcode[1] & 0xf0) == 0x80)))
		return refused;
	return in_table(good, op) ? NULL : refused;
}

bool weft_uprobe_arch_emulated(const uint8_t *p, size_t n)
{
	if (n == 1 && (p[0] == 0x90 || (p[0] >= 0x50 && p[0] <= 0x57)))
		return true;
	if (n == 2 && p[0] == 0x41 && p[1] >= 0x50 && p[1] <= 0x57)
		return true;
	if (n == 2 && (p[0] == 0xeb || (p[0] >= 0x70 && p[0] <= 0x7f)))
		return true;
	if (n == 5 && (p[0] == 0xe8 || p[0] == 0xe9))
		return true;
	return n == 6 && p[0] == 0x0f && p[1] >= 0x80 && p[1] <= 0x8f;
}

/* ModRM, SIB and displacement: bytes behind the opcode. */
static size_t operand_bytes(const uint8_t *p, size_t n)
{
	size_t length = 1;

	if (!n)
		return 0;
	uint8_t mod = p[0] >> 6, rm = p[0] & 7;
	if (mod == 3)
		return 1;
	if (rm == 4) {
		if (n < 2)
			return 0;
		length++;
		if (mod == 0 && (p[1] & 7) == 5)
			length += 4;
	} else if (mod == 0 && rm == 5) {
		length += 4;
	}
	return length + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

size_t weft_uprobe_arch_vector_length(const uint8_t *code, size_t size)
{
	size_t prefix = size && code[0] == 0x62 ? 4 : size && code[0] == 0xc4 ? 3 : 2;
	uint8_t map;

	if (size < 6 || (code[0] != 0x62 && code[0] != 0xc4 && code[0] != 0xc5))
		return 0;
	map = code[0] == 0xc5 ? 1 : code[1] & (code[0] == 0x62 ? 7 : 31);
	uint8_t op = code[prefix];
	size_t operands =
		op == 0x77 && map == 1 ? 0 : operand_bytes(code + prefix + 1, size - prefix - 1);
	bool imm = map == 3 || (map == 1 && ((op >= 0x70 && op <= 0x73) || op == 0xc2 ||
					     (op >= 0xc4 && op <= 0xc6)));
	size_t length = prefix + 1 + operands + imm;
	return map >= 1 && map <= 6 && length <= size ? length : 0;
}
