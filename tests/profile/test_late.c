/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * arg2 against the truth. The truth is the timer's own time of expiry, which a program can read
 * from the kernel's struct perf_event with the offsets that BTF tells: CLOCK_MONOTONIC now, less that.
 */
#include <bpf/btf.h>
#include <criterion/criterion.h>
#include <linux/bpf_perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel/insn.h"
#include "support/test_spin.h"
#include "test_profile.h"

#define S          UINT64_C(1000000000)
#define MAX_FIRED  1024u
#define WORDS_EACH 4u

/* Bytes from the start of a struct to a member, looking into nameless structs and unions; the
 * member's type in *type. */
static int member(const struct btf *btf, uint32_t structure, const char *name, uint32_t *type)
{
	const struct btf_type *t = btf__type_by_id(btf, structure);

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = btf_members(t) + i;
		int offset = (int)(btf_member_bit_offset(t, i) / 8);
		const char *text = btf__name_by_offset(btf, m->name_off);
		if (!strcmp(text, name)) {
			*type = m->type;
			return offset;
		}
		if (*text == '\0') {
			int inner = member(btf, m->type, name, type);
			if (inner >= 0)
				return offset + inner;
		}
	}
	return -1;
}

static int expiry_offset(void)
{
	static const char *const path[] = {"hw", "hrtimer", "node", "expires"};
	struct btf *btf = btf__load_vmlinux_btf();
	int offset = 0;

	cr_assert_not_null(btf);
	int id = btf__find_by_name_kind(btf, "perf_event", BTF_KIND_STRUCT);
	cr_assert_gt(id, 0);
	uint32_t type = (uint32_t)id;
	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++) {
		int step = member(btf, type, path[i], &type);
		cr_assert_geq(step, 0, "perf_event: no %s", path[i]);
		offset += step;
	}
	btf__free(btf);
	return offset;
}

/* Stores {count, period, now, expiry} of each firing. */
static int record(const struct weft_load_class *load, const struct test_words *w, int expiry)
{
	static char log[65536];
	const int32_t event_of_ctx = 2 * sizeof(void *); /* struct bpf_perf_event_data_kern */
	const struct bpf_insn insns[] = {
		INSN_MOV64_REG(BPF_REG_6, BPF_REG_1),
		INSN_CALL(BPF_FUNC_ktime_get_ns),
		INSN_MOV64_REG(BPF_REG_8, BPF_REG_0),
		INSN_MOV64_REG(BPF_REG_1, BPF_REG_6),
		INSN_MOV64_REG(BPF_REG_2, BPF_REG_10),
		INSN_ALU64_IMM(BPF_ADD, BPF_REG_2, -24),
		INSN_MOV64_IMM(BPF_REG_3, 24),
		INSN_CALL(BPF_FUNC_perf_prog_read_value),
		INSN_MOV64_REG(BPF_REG_1, BPF_REG_10),
		INSN_ALU64_IMM(BPF_ADD, BPF_REG_1, -32),
		INSN_MOV64_IMM(BPF_REG_2, 8),
		INSN_MOV64_REG(BPF_REG_3, BPF_REG_6),
		INSN_ALU64_IMM(BPF_ADD, BPF_REG_3, event_of_ctx),
		INSN_CALL(BPF_FUNC_probe_read_kernel),
		INSN_MOV64_REG(BPF_REG_1, BPF_REG_10),
		INSN_ALU64_IMM(BPF_ADD, BPF_REG_1, -40),
		INSN_MOV64_IMM(BPF_REG_2, 8),
		INSN_LDX(BPF_DW, BPF_REG_3, BPF_REG_10, -32),
		INSN_ALU64_IMM(BPF_ADD, BPF_REG_3, expiry),
		INSN_CALL(BPF_FUNC_probe_read_kernel),
		INSN_LD_MAP_VALUE(BPF_REG_7, w->fd, 0),
		INSN_LDX(BPF_DW, BPF_REG_1, BPF_REG_7, 0),
		INSN_JMP_IMM(BPF_JGE, BPF_REG_1, MAX_FIRED, 12),
		INSN_MOV64_REG(BPF_REG_2, BPF_REG_1),
		INSN_ALU64_IMM(BPF_ADD, BPF_REG_2, 1),
		INSN_STX(BPF_DW, BPF_REG_7, 0, BPF_REG_2),
		INSN_ALU64_IMM(BPF_LSH, BPF_REG_2, 5),
		INSN_ALU64_REG(BPF_ADD, BPF_REG_7, BPF_REG_2),
		INSN_LDX(BPF_DW, BPF_REG_1, BPF_REG_10, -24),
		INSN_STX(BPF_DW, BPF_REG_7, 0, BPF_REG_1),
		INSN_LDX(BPF_DW, BPF_REG_1, BPF_REG_6,
			 offsetof(struct bpf_perf_event_data, sample_period)),
		INSN_STX(BPF_DW, BPF_REG_7, 8, BPF_REG_1),
		INSN_STX(BPF_DW, BPF_REG_7, 16, BPF_REG_8),
		INSN_LDX(BPF_DW, BPF_REG_1, BPF_REG_10, -40),
		INSN_STX(BPF_DW, BPF_REG_7, 24, BPF_REG_1),
		INSN_MOV64_IMM(BPF_REG_0, 0),
		INSN_EXIT(),
	};
	int fd = test_prog_load(load, insns, sizeof(insns) / sizeof(insns[0]), log, sizeof(log));
	cr_assert_geq(fd, 0, "%s", log);
	return fd;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The location of the argument `late`, worked out by hand. */
static uint64_t late(uint64_t count, uint64_t period)
{
	uint64_t r = count % period;

	return r <= period / 2 ? r : 0;
}

static void compare(const char *name, uint64_t period)
{
	struct test_host h = {0};
	struct test_words w;
	struct test_attached at;
	struct weft_probe_info info;
	int64_t error[MAX_FIRED], lateness[MAX_FIRED];

	test_pin(sched_getcpu());
	test_host_start(&h, &weft_provider_plugin, NULL);
	const struct weft_probe *probe = test_host_probe(&h, "", "", name);
	cr_assert_not_null(probe);
	test_host_info(&h, probe, &info);
	test_words_init(&w, WORDS_EACH * (MAX_FIRED + 1));
	int prog = record(&info.load, &w, expiry_offset());
	cr_assert_eq(test_host_attach(&h, probe, prog, 1, &at), 0);
	test_spin_for(S / 2);
	test_host_detach(&h, &at);

	size_t n = w.word[0];
	cr_assert_geq(n, 5, "%zu firings", n);
	for (size_t i = 0; i < n; i++) {
		volatile uint64_t *r = &w.word[WORDS_EACH * (i + 1)];
		cr_expect_eq(r[1], period, "the context's period: %lu", (unsigned long)r[1]);
		lateness[i] = (int64_t)late(r[0], r[1]);
		error[i] = lateness[i] - (int64_t)(r[2] - r[3]);
		cr_expect_lt(lateness[i], (int64_t)period);
	}
	/* Medians: a host that takes the CPU away between two reads spoils single ones. */
	qsort(error, n, sizeof(error[0]), by_value);
	qsort(lateness, n, sizeof(lateness[0]), by_value);
	cr_expect(llabs(error[n / 2]) < 10000, "%s differs from the timer by %ld ns", name,
		  (long)error[n / 2]);
	cr_expect(lateness[n / 2] > 0 && lateness[n / 2] < 1000000, "%s is late by %ld ns", name,
		  (long)lateness[n / 2]);
	close(prog);
	test_words_finish(&w);
	test_host_stop(&h);
}

Test(profile_late, is_what_the_timer_says_on_a_tick)
{
	compare("tick-20ms", S / 50);
}

Test(profile_late, is_what_the_timer_says_at_a_high_rate)
{
	compare("tick-1000", S / 1000);
}

Test(profile_late, a_count_behind_the_timer_is_not_a_period_late)
{
	cr_expect_eq(late(10 * S + 1500, S), 1500);
	cr_expect_eq(late(10 * S - 3, S), 0, "the count runs behind the timer");
	cr_expect_eq(late(S / 2, S), S / 2, "half a period late is late");
}
