/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * x86-64. struct pt_regs: arch/x86/include/asm/ptrace.h; DWARF numbers, arguments and the return
 * value: System V ABI, AMD64 supplement, 3.2.3 and figure 3.36; system calls: its appendix A.2.1.
 */
#if defined(__x86_64__)
#include "core/compiler/arch.h"

enum {
	R15 = 0,
	R14 = 8,
	R13 = 16,
	R12 = 24,
	RBP = 32,
	RBX = 40,
	R11 = 48,
	R10 = 56,
	R9 = 64,
	R8 = 72,
	RAX = 80,
	RCX = 88,
	RDX = 96,
	RSI = 104,
	RDI = 112,
	ORIG_RAX = 120,
	RIP = 128,
	CS = 136,
	EFLAGS = 144,
	RSP = 152,
	SS = 160,
	SIZE = 168,
};

static const int16_t dwarf[] = {RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8,
				R9,  R10, R11, R12, R13, R14, R15, RIP};

static const char *const reg_names[] = {"rip", "rsp", "rbp", "eflags", "rax", "rbx", "rcx",
					"rdx", "rsi", "rdi", "r8",     "r9",  "r10", "r11",
					"r12", "r13", "r14", "r15",    "cs",  "ss",  "orig_rax"};
static const int16_t regs[] = {RIP, RSP, RBP, EFLAGS, RAX, RBX, RCX, RDX, RSI, RDI,     R8,
			       R9,  R10, R11, R12,    R13, R14, R15, CS,  SS,  ORIG_RAX};
_Static_assert(sizeof(regs) / sizeof(regs[0]) == sizeof(reg_names) / sizeof(reg_names[0]),
	       "a name for each register");

const struct weft_arch weft_arch = {
	.name = "x86-64",
	.regs_size = SIZE,
	.ip = RIP,
	.sp = RSP,
	.retval = RAX,
	.c_args = {RDI, RSI, RDX, RCX, R8, R9},
	.n_c_args = 6,
	.syscall_args = {RDI, RSI, RDX, R10, R8, R9},
	.dwarf = dwarf,
	.n_dwarf = sizeof(dwarf) / sizeof(dwarf[0]),
	.reg_names = reg_names,
	.regs = regs,
	.n_regs = sizeof(regs) / sizeof(regs[0]),
	.mode = CS,
	.mode_mask = 3,
	.mode_user = 3,
};
#endif
