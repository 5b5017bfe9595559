/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/syscall.h>

#include "tests/kernel/support.h"

/* Gives up the effective capabilities, and takes them back. */
static void effective_capabilities(bool wanted)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2];
	int i;

	cr_assert_eq(syscall(SYS_capget, &h, d), 0);
	for (i = 0; i < 2; i++)
		d[i].effective = wanted ? d[i].permitted : 0;
	cr_assert_eq(syscall(SYS_capset, &h, d), 0);
}

Test(maps, creates_what_is_used)
{
	struct test_plan t;
	size_t i;

	test_plan_init(&t);
	t.specs[WEFT_PLAN_STATE].used = true;
	t.specs[WEFT_PLAN_TARGETS].used = true;
	test_plan_create(&t);
	cr_expect_eq(t.maps.n, t.plan.n_maps);
	for (i = 0; i < t.maps.n; i++)
		cr_expect_eq(t.maps.fds[i] >= 0, t.specs[i].used, "map %zu", i);
	test_plan_finish(&t);
	cr_expect_null(t.maps.fds);
}

Test(maps, grow_with_the_plan)
{
	struct test_plan t;
	int before;

	test_plan_init(&t);
	t.specs[WEFT_PLAN_STATE].used = true;
	test_plan_create(&t);
	before = t.maps.fds[WEFT_PLAN_STATE];
	test_spec(&t, WEFT_PLAN_FIRST_FREE, WEFT_MAP_AGG, "weft_oncpu", BPF_MAP_TYPE_PERCPU_HASH, 8,
		  8, 100, BPF_F_NO_PREALLOC);
	t.specs[WEFT_PLAN_FIRST_FREE].used = true;
	test_plan_create(&t);
	cr_expect_eq(t.maps.fds[WEFT_PLAN_STATE], before, "what exists keeps its place");
	cr_expect_geq(t.maps.fds[WEFT_PLAN_FIRST_FREE], 0);
	test_plan_finish(&t);
}

Test(maps, state_is_shared_memory_with_room_to_grow)
{
	struct test_plan t;
	uint32_t zero = 0;
	uint8_t *copy;

	test_plan_init(&t);
	t.specs[WEFT_PLAN_STATE].used = true;
	t.plan.state_size = 5000;
	test_plan_create(&t);
	cr_expect_geq(t.plan.state_capacity, 5000 + WEFT_STATE_SLACK);
	cr_expect_geq(t.maps.state_size, t.plan.state_capacity);
	((uint64_t *)t.maps.state)[t.plan.state_capacity / 8 - 1] = 0x1122334455667788;
	copy = malloc(t.plan.state_capacity);
	cr_assert_eq(weft_bpf_map_lookup(t.maps.fds[WEFT_PLAN_STATE], &zero, copy), 0);
	cr_expect_eq(((uint64_t *)copy)[t.plan.state_capacity / 8 - 1], 0x1122334455667788u);
	free(copy);
	test_plan_finish(&t);
}

Test(maps, probes_are_shared_memory)
{
	struct test_plan t;
	uint64_t value = 0;
	uint32_t key = 999;

	test_plan_init(&t);
	t.specs[WEFT_PLAN_PROBES].used = true;
	test_plan_create(&t);
	cr_expect_geq(t.maps.probes_size, 8000u);
	t.maps.probes[999] = 42;
	cr_assert_eq(weft_bpf_map_lookup(t.maps.fds[WEFT_PLAN_PROBES], &key, &value), 0);
	cr_expect_eq(value, 42u);
	test_plan_finish(&t);
}

Test(maps, a_providers_map_stays_the_providers)
{
	struct test_plan t, other;
	uint32_t key = 7;
	uint64_t value = 1;
	int theirs;

	test_plan_init(&other);
	other.specs[WEFT_PLAN_TARGETS].used = true;
	test_plan_create(&other);
	theirs = other.maps.fds[WEFT_PLAN_TARGETS];

	test_plan_init(&t);
	t.specs[WEFT_PLAN_TARGETS].used = true;
	t.specs[WEFT_PLAN_TARGETS].extern_fd = theirs;
	test_plan_create(&t);
	cr_expect_eq(weft_bpf_map_update(t.maps.fds[WEFT_PLAN_TARGETS], &key, &value, 0), 0);
	test_plan_finish(&t);

	value = 0;
	cr_expect_eq(weft_bpf_map_lookup(theirs, &key, &value), 0, "it is still open");
	cr_expect_eq(value, 1u, "and it is the same map");
	test_plan_finish(&other);
}

Test(maps, memory_is_what_the_kernel_accounts_for)
{
	struct test_plan t;
	uint64_t one, two;

	test_plan_init(&t);
	cr_expect_eq(weft_maps_memory(&t.maps), 0u);
	t.specs[WEFT_PLAN_EXECGEN].used = true;
	test_plan_create(&t);
	one = weft_maps_memory(&t.maps);
	cr_expect_geq(one, 8 * WEFT_EXECGEN_SLOTS, "%lu", one);
	cr_expect_leq(one, 2 * 8 * WEFT_EXECGEN_SLOTS, "%lu", one);
	t.specs[WEFT_PLAN_RING].used = true;
	test_plan_create(&t);
	two = weft_maps_memory(&t.maps);
	cr_expect_geq(two, one + (64 << 10));
	test_plan_finish(&t);
}

Test(maps, MAP_CREATE)
{
	struct test_plan t;

	test_plan_init(&t);
	t.specs[WEFT_PLAN_RING].used = true;
	t.specs[WEFT_PLAN_RING].max_entries = 12345; /* no power of two */
	cr_expect_eq(weft_maps_create(&t.maps, &t.plan, t.err), -EINVAL);
	cr_expect_str_eq(weft_error_tag(t.err), "MAP_CREATE");
	cr_expect(strstr(weft_error_text(t.err), "weft_ring"), "%s", weft_error_text(t.err));
	test_plan_finish(&t);
}

Test(maps, MAP_CREATE_without_privilege)
{
	struct test_plan t;

	test_plan_init(&t);
	t.specs[WEFT_PLAN_TARGETS].used = true;
	effective_capabilities(false);
	cr_expect_eq(weft_maps_create(&t.maps, &t.plan, t.err), -EPERM);
	effective_capabilities(true);
	cr_expect_str_eq(weft_error_tag(t.err), "MAP_CREATE");
	cr_expect(strstr(weft_error_text(t.err), "CAP_BPF"), "%s", weft_error_text(t.err));
	cr_expect(strstr(weft_error_text(t.err), "weft_targets"), "%s", weft_error_text(t.err));
	test_plan_finish(&t);
}

Test(maps, MAP_UPDATE)
{
	const struct weft_map_pair pairs[] = {{7, 1}, {UINT64_MAX, 2}, {7, 3}, {9, 4}};
	struct test_plan t;
	uint64_t value = 0;
	size_t failed;
	int fd;

	test_plan_init(&t);
	t.specs[WEFT_PLAN_FRAMES].used = true;
	t.specs[WEFT_PLAN_FRAMES].value_size = 8;
	test_plan_create(&t);
	fd = t.maps.fds[WEFT_PLAN_FRAMES];
	cr_expect_eq(weft_map_put(fd, pairs, sizeof(pairs) / sizeof(pairs[0]), &failed, t.err),
		     -EEXIST);
	cr_expect_eq(failed, 2);
	cr_expect_str_eq(weft_error_tag(t.err), "MAP_UPDATE");
	for (size_t i = 0; i < 2; i++) {
		cr_expect_eq(weft_bpf_map_lookup(fd, &pairs[i].key, &value), 0);
		cr_expect_eq(value, pairs[i].value);
	}
	cr_expect_eq(weft_bpf_map_lookup(fd, &pairs[3].key, &value), -ENOENT);
	test_plan_finish(&t);
}

/* ---- programs ---- */

#define COUNT_INSNS 5

/* STATE[64] += 1 */
static void count_program(struct weft_program *p, struct bpf_insn *insns)
{
	const struct bpf_insn code[] = {
		INSN_LD_MAP_VALUE(BPF_REG_1, WEFT_PLAN_STATE, 64),
		INSN_MOV64_IMM(BPF_REG_0, 1),
		INSN_ATOMIC(BPF_DW, BPF_ADD, BPF_REG_1, 0, BPF_REG_0),
		INSN_EXIT(),
	};

	memcpy(insns, code, sizeof(code));
	*p = (struct weft_program){
		.name = "weft_count",
		.load = {.struct_size = sizeof(p->load), .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT},
		.insns = insns,
		.n_insns = COUNT_INSNS};
}

Test(program, binds_maps_by_index_and_runs)
{
	struct bpf_insn insns[COUNT_INSNS];
	struct weft_program p;
	struct test_plan t;
	uint64_t misses = 99;
	char *log;
	int fd, i;

	test_plan_init(&t);
	t.specs[WEFT_PLAN_STATE].used = true;
	test_plan_create(&t);
	count_program(&p, insns);
	cr_assert_eq(weft_program_load(&p, &t.maps, &fd, &log, t.err), 0, "%s",
		     weft_error_text(t.err));
	cr_expect_null(log);
	cr_expect_eq(insns[0].imm, WEFT_PLAN_STATE, "the plan's program is left as it was");
	for (i = 0; i < 3; i++)
		cr_expect_eq(weft_program_run(fd, t.err), 0, "%s", weft_error_text(t.err));
	cr_expect_eq(((uint64_t *)t.maps.state)[8], 3u);
	cr_expect_eq(weft_program_misses(fd, &misses), 0);
	cr_expect_eq(misses, 0u);
	close(fd);
	test_plan_finish(&t);
}

Test(program, PROGRAM_RUN)
{
	struct test_plan t;

	test_plan_init(&t);
	cr_expect_eq(weft_program_run(-1, t.err), -EBADF);
	cr_expect_str_eq(weft_error_tag(t.err), "PROGRAM_RUN");
	test_plan_finish(&t);
}

Test(program, PROGRAM_REJECTED_names_clause_and_expression)
{
	const struct weft_text text = {
		.s = "arg0 / arg1", .pos = {.line = 12, .column = 9}, .verbatim = true};
	struct bpf_insn insns[] = {
		INSN_MOV64_IMM(BPF_REG_2, 0),
		INSN_MOV64_IMM(BPF_REG_3, 8),
		INSN_LDX(BPF_DW, BPF_REG_0, BPF_REG_2, 0), /* through a number */
		INSN_EXIT(),
	};
	struct weft_span spans[4] = {{0}};
	uint32_t clauses[] = {UINT32_MAX, 1, 1, UINT32_MAX};
	struct weft_program p = {
		.name = "weft_bad",
		.load = {.struct_size = sizeof(p.load), .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT},
		.insns = insns,
		.spans = spans,
		.clause_of = clauses,
		.n_insns = 4};
	struct weft_report r;
	struct test_plan t;
	char *log;
	int fd = -1;

	spans[1] = (struct weft_span){&text, 0, 4};
	spans[2] = (struct weft_span){&text, 7, 4};
	test_plan_init(&t);
	cr_expect_lt(weft_program_load(&p, &t.maps, &fd, &log, t.err), 0);
	cr_expect_eq(fd, -1);
	cr_expect_str_eq(weft_error_tag(t.err), "PROGRAM_REJECTED");
	cr_assert_eq(weft_error_report(t.err, 0, &r), 0);
	cr_expect_eq(r.pos.line, 12u);
	cr_expect_eq(r.pos.column, 16u, "column %u", r.pos.column);
	cr_expect(strstr(r.text, "clause 2"), "%s", r.text);
	cr_expect(strstr(r.text, "`arg1`"), "%s", r.text);
	cr_expect(strstr(r.text, "R2"), "the verifier's own reason: %s", r.text);
	cr_assert_not_null(log);
	cr_expect(strstr(log, "2: (79)"), "%s", log);
	free(log);
	test_plan_finish(&t);
}

/* A million steps are too many for the verifier: what can be done is said. */
Test(program, PROGRAM_REJECTED_for_its_size)
{
	struct bpf_insn insns[] = {
		INSN_MOV64_IMM(BPF_REG_0, 0),
		INSN_ALU64_IMM(BPF_ADD, BPF_REG_0, 1),
		INSN_JMP_IMM(BPF_JLT, BPF_REG_0, 1000000, -2),
		INSN_EXIT(),
	};
	struct weft_program p = {
		.name = "weft_bad",
		.load = {.struct_size = sizeof(p.load), .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT},
		.insns = insns,
		.n_insns = 4};
	struct test_plan t;
	char *log;
	int fd;

	test_plan_init(&t);
	cr_expect_lt(weft_program_load(&p, &t.maps, &fd, &log, t.err), 0);
	cr_expect(strstr(weft_error_text(t.err), "too large"), "%s", weft_error_text(t.err));
	cr_assert_not_null(weft_error_context_text(t.err, 0, 0));
	cr_expect(strstr(weft_error_context_text(t.err, 0, 0), "a probe set of their own"));
	free(log);
	test_plan_finish(&t);
}

Test(program, PROGRAM_REJECTED_for_its_shape)
{
	struct bpf_insn insns[] = {
		INSN_MOV64_IMM(BPF_REG_0, 0),
		INSN_EXIT(),
		INSN_MOV64_IMM(BPF_REG_0, 1), /* unreachable */
		INSN_EXIT(),
	};
	struct weft_program p = {
		.name = "weft_bad",
		.load = {.struct_size = sizeof(p.load), .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT},
		.insns = insns,
		.n_insns = 4};
	struct test_plan t;
	char *log;
	int fd;

	test_plan_init(&t);
	cr_expect_eq(weft_program_load(&p, &t.maps, &fd, &log, t.err), -EINVAL);
	cr_expect(strstr(weft_error_text(t.err), "instruction 2"), "%s", weft_error_text(t.err));
	cr_expect(strstr(weft_error_text(t.err), "unreachable"), "%s", weft_error_text(t.err));
	free(log);
	test_plan_finish(&t);
}

Test(program, PROGRAM_REJECTED_for_a_map_that_is_not_there)
{
	struct bpf_insn insns[COUNT_INSNS];
	struct weft_program p;
	struct test_plan t;
	char *log;
	int fd;

	test_plan_init(&t);
	t.specs[WEFT_PLAN_TARGETS].used = true;
	test_plan_create(&t);
	count_program(&p, insns);
	cr_expect_eq(weft_program_load(&p, &t.maps, &fd, &log, t.err), -EINVAL);
	cr_expect_str_eq(weft_error_tag(t.err), "PROGRAM_REJECTED");
	insns[0].imm = 1000;
	weft_error_clear(t.err);
	cr_expect_eq(weft_program_load(&p, &t.maps, &fd, &log, t.err), -EINVAL);
	cr_expect_str_eq(weft_error_tag(t.err), "PROGRAM_REJECTED");
	test_plan_finish(&t);
}

/* The log of a long program outgrows the first buffer. */
Test(program, PROGRAM_REJECTED_with_a_long_log)
{
	enum { N = 3000 };
	struct bpf_insn *insns = calloc(N, sizeof(*insns));
	struct weft_program p = {
		.name = "weft_long",
		.load = {.struct_size = sizeof(p.load), .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT},
		.insns = insns,
		.n_insns = N};
	struct test_plan t;
	char *log;
	int fd, i;

	for (i = 0; i < N - 2; i++)
		insns[i] = INSN_MOV64_IMM(BPF_REG_0, i);
	insns[N - 2] = INSN_LDX(BPF_DW, BPF_REG_0, BPF_REG_0, 0);
	insns[N - 1] = INSN_EXIT();
	test_plan_init(&t);
	cr_expect_lt(weft_program_load(&p, &t.maps, &fd, &log, t.err), 0);
	cr_expect(strstr(weft_error_text(t.err), "instruction 2998"), "%s", weft_error_text(t.err));
	cr_assert_not_null(log);
	cr_expect_gt(strlen(log), 64u << 10);
	cr_expect(strstr(log, "0: (b7) r0 = 0"), "the log is whole");
	free(log);
	free(insns);
	test_plan_finish(&t);
}

Test(program, PROGRAM_DENIED)
{
	struct bpf_insn insns[COUNT_INSNS];
	struct weft_program p;
	struct test_plan t;
	char *log;
	int fd;

	test_plan_init(&t);
	t.specs[WEFT_PLAN_STATE].used = true;
	test_plan_create(&t);
	count_program(&p, insns);
	effective_capabilities(false);
	cr_expect_eq(weft_program_load(&p, &t.maps, &fd, &log, t.err), -EPERM);
	effective_capabilities(true);
	cr_expect_str_eq(weft_error_tag(t.err), "PROGRAM_DENIED");
	cr_expect(strstr(weft_error_text(t.err), "CAP_BPF and CAP_PERFMON are missing"), "%s",
		  weft_error_text(t.err));
	cr_expect_null(log);
	test_plan_finish(&t);
}

Test(program, trial_of_each_class)
{
	struct weft_load_class load = {.struct_size = sizeof(load),
				       .prog_type = BPF_PROG_TYPE_PERF_EVENT};
	struct test_plan t;
	int fd;

	test_plan_init(&t);
	fd = weft_program_trial(&load, t.err);
	cr_expect_geq(fd, 0, "%s", weft_error_text(t.err));
	close(fd);
	load.prog_type = BPF_PROG_TYPE_KPROBE; /* also uprobes, which may sleep */
	load.flags = WEFT_LOAD_SLEEPABLE;
	fd = weft_program_trial(&load, t.err);
	cr_expect_geq(fd, 0, "%s", weft_error_text(t.err));
	close(fd);
	load.prog_type = BPF_PROG_TYPE_PERF_EVENT; /* which may not */
	cr_expect_lt(weft_program_trial(&load, t.err), 0);
	cr_expect_str_eq(weft_error_tag(t.err), "PROGRAM_REJECTED");
	cr_expect(strstr(weft_error_text(t.err), "sleepable"), "the verifier's own reason: %s",
		  weft_error_text(t.err));
	test_plan_finish(&t);
}

/* ---- verdicts ---- */

static void expect_verdict(const char *log, bool has, uint32_t insn, const char *reason)
{
	struct weft_verdict v;

	weft_verdict_read(log, strlen(log), &v);
	cr_expect_eq(v.has_insn, has, "%s", log);
	cr_expect_eq(v.insn, insn, "%u of %s", v.insn, log);
	cr_expect(v.reason_size == strlen(reason) && !memcmp(v.reason, reason, v.reason_size),
		  "`%.*s` of %s", (int)v.reason_size, v.reason, log);
}

Test(verdict, the_last_instruction_counts)
{
	expect_verdict("", false, 0, "");
	expect_verdict("\n\n", false, 0, "");
	expect_verdict("0: R1=ctx(off=0,imm=0) R10=fp0\n0: (b7) r2 = 0 ; R2_w=0\n"
		       "1: (79) r0 = *(u64 *)(r2 +0)\nR2 invalid mem access 'scalar'\n"
		       "processed 2 insns (limit 1000000) max_states_per_insn 0\n",
		       true, 1, "R2 invalid mem access 'scalar'");
	expect_verdict("11: (05) goto pc+1\n\nfrom 11 to 13: R0=0\n13: (95) exit\n"
		       "R0 !read_ok\nprocessed 9 insns\n",
		       true, 13, "R0 !read_ok");
	expect_verdict("jump out of range from insn 5 to 99\nprocessed 0 insns\n", true, 5,
		       "jump out of range from insn 5 to 99");
	expect_verdict("unknown opcode 8d\n", false, 0, "unknown opcode 8d");
	expect_verdict("12: (85", false, 0, "");
	expect_verdict("99999999999999: (85) x\n\n", false, 0, "99999999999999: (85) x");
}
