/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* BPF instructions as text, in the notation of the kernel's own verifier log. */
#include "core/compiler/names.h"

#include <inttypes.h>

static const char *const alu_texts[16] = {
	[BPF_ADD >> 4] = "+",    [BPF_SUB >> 4] = "-", [BPF_MUL >> 4] = "*",  [BPF_DIV >> 4] = "/",
	[BPF_OR >> 4] = "|",     [BPF_AND >> 4] = "&", [BPF_LSH >> 4] = "<<", [BPF_RSH >> 4] = ">>",
	[BPF_NEG >> 4] = "-",    [BPF_MOD >> 4] = "%", [BPF_XOR >> 4] = "^",  [BPF_MOV >> 4] = "",
	[BPF_ARSH >> 4] = "s>>",
};

static const char *const jump_texts[16] = {
	[BPF_JEQ >> 4] = "==",   [BPF_JNE >> 4] = "!=",   [BPF_JGT >> 4] = ">",
	[BPF_JGE >> 4] = ">=",   [BPF_JLT >> 4] = "<",    [BPF_JLE >> 4] = "<=",
	[BPF_JSGT >> 4] = "s>",  [BPF_JSGE >> 4] = "s>=", [BPF_JSLT >> 4] = "s<",
	[BPF_JSLE >> 4] = "s<=", [BPF_JSET >> 4] = "&",
};

static const char *text_of(const char *const table[16], uint8_t code)
{
	const char *text = table[code >> 4];

	return text ? text : "?";
}

const char *weft_alu_text(uint8_t code)
{
	return text_of(alu_texts, code);
}

const char *weft_jump_text(uint8_t code)
{
	return text_of(jump_texts, code);
}

#define HELPER(name) [BPF_FUNC_##name] = #name

/* The helpers that the compiler calls. */
static const char *const helper_names[] = {
	HELPER(map_lookup_elem),
	HELPER(map_update_elem),
	HELPER(ktime_get_ns),
	HELPER(ktime_get_tai_ns),
	HELPER(get_smp_processor_id),
	HELPER(get_current_pid_tgid),
	HELPER(get_ns_current_pid_tgid),
	HELPER(get_current_uid_gid),
	HELPER(get_current_comm),
	HELPER(get_current_task),
	HELPER(get_current_task_btf),
	HELPER(get_current_cgroup_id),
	HELPER(task_pt_regs),
	HELPER(get_attach_cookie),
	HELPER(perf_prog_read_value),
	HELPER(get_stack),
	HELPER(probe_read_kernel),
	HELPER(probe_read_kernel_str),
	HELPER(probe_read_user),
	HELPER(probe_read_user_str),
	HELPER(copy_from_user),
	HELPER(ringbuf_reserve),
	HELPER(ringbuf_submit),
};

const char *weft_helper_name(int helper)
{
	size_t n = sizeof(helper_names) / sizeof(helper_names[0]);

	return helper >= 0 && (size_t)helper < n && helper_names[helper] ? helper_names[helper]
									 : "?";
}

static const char *size_text(uint8_t code)
{
	switch (BPF_SIZE(code)) {
	case BPF_B:
		return "u8";
	case BPF_H:
		return "u16";
	case BPF_W:
		return "u32";
	default:
		return "u64";
	}
}

static void print_atomic(FILE *f, const struct bpf_insn *i)
{
	switch (i->imm) {
	case BPF_XCHG:
		fprintf(f, "r%u = xchg((u64 *)(r%u %+d), r%u)", i->src_reg, i->dst_reg, i->off,
			i->src_reg);
		return;
	case BPF_ADD | BPF_FETCH:
		fprintf(f, "r%u = fetch_add((u64 *)(r%u %+d), r%u)", i->src_reg, i->dst_reg, i->off,
			i->src_reg);
		return;
	case BPF_CMPXCHG:
		fprintf(f, "r0 = cmpxchg((u64 *)(r%u %+d), r0, r%u)", i->dst_reg, i->off,
			i->src_reg);
		return;
	default:
		fprintf(f, "lock *(u64 *)(r%u %+d) %s= r%u", i->dst_reg, i->off,
			weft_alu_text((uint8_t)i->imm), i->src_reg);
	}
}

static void print_alu(FILE *f, const struct bpf_insn *i)
{
	char r = BPF_CLASS(i->code) == BPF_ALU64 ? 'r' : 'w';

	if (BPF_OP(i->code) == BPF_END) {
		fprintf(f, "r%u = be%d r%u", i->dst_reg, i->imm, i->dst_reg);
		return;
	}
	if (BPF_OP(i->code) == BPF_NEG) {
		fprintf(f, "%c%u = -%c%u", r, i->dst_reg, r, i->dst_reg);
		return;
	}
	fprintf(f, "%c%u %s= ", r, i->dst_reg, weft_alu_text(i->code));
	if (BPF_SRC(i->code) == BPF_X)
		fprintf(f, "%c%u", r, i->src_reg);
	else
		fprintf(f, "%d", i->imm);
}

static void print_jump(FILE *f, const struct bpf_insn *i, uint32_t pos)
{
	char r = BPF_CLASS(i->code) == BPF_JMP ? 'r' : 'w';

	switch (BPF_OP(i->code)) {
	case BPF_EXIT:
		fputs("exit", f);
		return;
	case BPF_CALL:
		fprintf(f, "call %s", weft_helper_name(i->imm));
		return;
	case BPF_JA:
		fprintf(f, "goto %u", pos + 1 + (uint32_t)i->off);
		return;
	default:
		fprintf(f, "if %c%u %s ", r, i->dst_reg, weft_jump_text(i->code));
		if (BPF_SRC(i->code) == BPF_X)
			fprintf(f, "%c%u", r, i->src_reg);
		else
			fprintf(f, "%d", i->imm);
		fprintf(f, " goto %u", pos + 1 + (uint32_t)i->off);
	}
}

void weft_disassemble(FILE *f, const struct bpf_insn *i, uint32_t pos)
{
	switch (BPF_CLASS(i->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		print_alu(f, i);
		break;
	case BPF_JMP:
	case BPF_JMP32:
		print_jump(f, i, pos);
		break;
	case BPF_LDX:
		fprintf(f, "r%u = *(%s *)(r%u %+d)", i->dst_reg, size_text(i->code), i->src_reg,
			i->off);
		break;
	case BPF_ST:
		fprintf(f, "*(%s *)(r%u %+d) = %d", size_text(i->code), i->dst_reg, i->off, i->imm);
		break;
	case BPF_STX:
		if (BPF_MODE(i->code) == BPF_ATOMIC)
			print_atomic(f, i);
		else
			fprintf(f, "*(%s *)(r%u %+d) = r%u", size_text(i->code), i->dst_reg, i->off,
				i->src_reg);
		break;
	default: /* BPF_LD: only the 64-bit constant occurs */
		if (i->src_reg == BPF_PSEUDO_MAP_FD)
			fprintf(f, "r%u = map[%d]", i->dst_reg, i->imm);
		else if (i->src_reg == BPF_PSEUDO_MAP_VALUE)
			fprintf(f, "r%u = map[%d][0]+%d", i->dst_reg, i->imm, i[1].imm);
		else
			fprintf(f, "r%u = 0x%" PRIx64 " ll", i->dst_reg,
				(uint64_t)(uint32_t)i[1].imm << 32 | (uint32_t)i->imm);
	}
}
