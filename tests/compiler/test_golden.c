/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The code of four small clauses, whole. Not that it might not be otherwise: a change here is to be
 * looked at, and to be made for a reason. WEFT_GOLDEN_PRINT=1 prints what the compiler makes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/compiler/names.h"
#include "core/kernel/insn.h"
#include "rig.h"

static char *disassemble(const struct weft_program *p)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	cr_assert(f);
	for (uint32_t i = 0; i < p->n_insns; i++) {
		fprintf(f, "%u: ", i);
		weft_disassemble(f, &p->insns[i], i);
		fputc('\n', f);
		if (INSN_IS_LD_IMM64(&p->insns[i]))
			i++;
	}
	fclose(f);
	return text;
}

static void expect_code(struct rig *r, const char *golden)
{
	char *text;

	r->plan->n_cpus = 1;
	cr_assert(!rig_compile(r), "%s", weft_error_text(r->err));
	text = disassemble(&r->program);
	if (getenv("WEFT_GOLDEN_PRINT"))
		fprintf(stderr, "%s\n", text);
	cr_expect_str_eq(text, golden);
	free(text);
	rig_finish(r);
}

Test(compiler_golden, count_without_keys)
{
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "count", "into||c", NULL);
	expect_code(&r, "0: r0 = map[0][0]+16\n"
			"2: r0 = *(u64 *)(r0 +0)\n"
			"3: if r0 == 0 goto 8\n"
			"4: r0 = map[0][0]+1088\n"
			"6: r1 = 1\n"
			"7: lock *(u64 *)(r0 +0) += r1\n"
			"8: r0 = 0\n"
			"9: exit\n");
}

Test(compiler_golden, predicate)
{
	struct rig r;

	rig_init(&r);
	rig_arg(&r, 1, 4, true);
	rig_clause(&r, "arg0 > 10 && arg1 != 0 || pid == 1", "sum", "into||s", "value||arg0", NULL);
	expect_code(&r, "0: r6 = r1\n"
			"1: r0 = map[0][0]+16\n"
			"3: r0 = *(u64 *)(r0 +0)\n"
			"4: if r0 == 0 goto 31\n"
			"5: r0 = *(u64 *)(r6 +0)\n"
			"6: if r0 s<= 10 goto 9\n"
			"7: r0 = *(u32 *)(r6 +8)\n"
			"8: if w0 != 0 goto 12\n"
			"9: call get_current_pid_tgid\n"
			"10: r0 >>= 32\n"
			"11: if r0 != 1 goto 31\n"
			"12: r0 = *(u64 *)(r6 +0)\n"
			"13: r1 = map[0][0]+1088\n"
			"15: r2 = 1\n"
			"16: lock *(u64 *)(r1 +24) += r2\n"
			"17: r2 = r0\n"
			"18: r2 = fetch_add((u64 *)(r1 +8), r2)\n"
			"19: r3 = r2\n"
			"20: r3 += r0\n"
			"21: r4 = r3\n"
			"22: r4 ^= r0\n"
			"23: r2 ^= r3\n"
			"24: r2 &= r4\n"
			"25: if r2 s>= 0 goto 29\n"
			"26: r0 s>>= 63\n"
			"27: r0 |= 1\n"
			"28: lock *(u64 *)(r1 +16) += r0\n"
			"29: r0 = 1\n"
			"30: lock *(u64 *)(r1 +0) += r0\n"
			"31: r0 = 0\n"
			"32: exit\n");
}

Test(compiler_golden, count_by_pid)
{
	struct rig r;

	rig_init(&r);
	r.plan->target_check = true;
	r.info.scope = WEFT_SCOPE_COARSE;
	rig_clause(&r, NULL, "count", "into||c", "by|pid|pid", NULL);
	expect_code(&r, "0: r0 = map[0][0]+16\n"
			"2: r0 = *(u64 *)(r0 +0)\n"
			"3: if r0 == 0 goto 53\n"
			"4: call get_current_pid_tgid\n"
			"5: r6 = r0\n"
			"6: r0 >>= 32\n"
			"7: *(u32 *)(r10 -8) = r0\n"
			"8: r1 = map[5]\n"
			"10: r2 = r10\n"
			"11: r2 += -8\n"
			"12: call map_lookup_elem\n"
			"13: if r0 == 0 goto 53\n"
			"14: r6 >>= 32\n"
			"15: *(u32 *)(r10 -8) = r6\n"
			"16: *(u32 *)(r10 -4) = 0\n"
			"17: r1 = map[8]\n"
			"19: r2 = r10\n"
			"20: r2 += -8\n"
			"21: call map_lookup_elem\n"
			"22: if r0 != 0 goto 51\n"
			"23: r3 = map[0][0]+64\n"
			"25: r1 = map[8]\n"
			"27: r2 = r10\n"
			"28: r2 += -8\n"
			"29: r4 = 1\n"
			"30: call map_update_elem\n"
			"31: r1 = r0\n"
			"32: if w1 == 0 goto 37\n"
			"33: if w1 == -17 goto 37\n"
			"34: if w1 == -7 goto 46\n"
			"35: if w1 == -12 goto 49\n"
			"36: goto 43\n"
			"37: r1 = map[8]\n"
			"39: r2 = r10\n"
			"40: r2 += -8\n"
			"41: call map_lookup_elem\n"
			"42: if r0 != 0 goto 51\n"
			"43: r0 = map[0][0]+1088\n"
			"45: goto 51\n"
			"46: r0 = map[0][0]+1096\n"
			"48: goto 51\n"
			"49: r0 = map[0][0]+1104\n"
			"51: r1 = 1\n"
			"52: lock *(u64 *)(r0 +0) += r1\n"
			"53: r0 = 0\n"
			"54: exit\n");
}

Test(compiler_golden, emit)
{
	struct rig r;

	rig_init(&r);
	rig_clause(&r, "arg1", "emit", "|tid|tid", "|quotient|arg0 / arg1", NULL);
	expect_code(&r, "0: r6 = r1\n"
			"1: r0 = map[0][0]+16\n"
			"3: r0 = *(u64 *)(r0 +0)\n"
			"4: if r0 == 0 goto 53\n"
			"5: r0 = *(u64 *)(r6 +8)\n"
			"6: if r0 == 0 goto 53\n"
			"7: call get_current_pid_tgid\n"
			"8: w7 = w0\n"
			"9: r0 = *(u64 *)(r6 +0)\n"
			"10: r1 = *(u64 *)(r6 +8)\n"
			"11: if r1 == 0 goto 46\n"
			"12: r2 = r0\n"
			"13: r2 s>>= 63\n"
			"14: r3 = r1\n"
			"15: r3 s>>= 63\n"
			"16: r0 ^= r2\n"
			"17: r0 -= r2\n"
			"18: r1 ^= r3\n"
			"19: r1 -= r3\n"
			"20: r0 /= r1\n"
			"21: r2 ^= r3\n"
			"22: r0 ^= r2\n"
			"23: r6 = r0\n"
			"24: r6 -= r2\n"
			"25: call get_smp_processor_id\n"
			"26: r8 = r0\n"
			"27: r1 = map[1]\n"
			"29: r2 = 40\n"
			"30: r3 = 0\n"
			"31: call ringbuf_reserve\n"
			"32: r9 = r0\n"
			"33: if r9 == 0 goto 49\n"
			"34: call ktime_get_ns\n"
			"35: *(u64 *)(r9 +0) = r0\n"
			"36: *(u32 *)(r9 +8) = 0\n"
			"37: *(u32 *)(r9 +12) = r8\n"
			"38: *(u64 *)(r9 +16) = 2\n"
			"39: *(u32 *)(r9 +24) = r7\n"
			"40: *(u64 *)(r9 +32) = r6\n"
			"41: *(u32 *)(r9 +28) = 0\n"
			"42: r1 = r9\n"
			"43: r2 = 0\n"
			"44: call ringbuf_submit\n"
			"45: goto 53\n"
			"46: r0 = map[0][0]+1088\n"
			"48: goto 51\n"
			"49: r0 = map[0][0]+1096\n"
			"51: r1 = 1\n"
			"52: lock *(u64 *)(r0 +0) += r1\n"
			"53: r0 = 0\n"
			"54: exit\n");
}
