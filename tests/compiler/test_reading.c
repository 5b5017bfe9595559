/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reading memory: strings and bytes at the edge of what is there, integers, faults told apart. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"

/* Two pages of which the second cannot be read; what ends with the first is at the edge. */
static char *edge(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert(p != MAP_FAILED && !mprotect(p + page, page, PROT_NONE));
	memset(p, 'x', page);
	return p + page;
}

static void start(struct rig *r, uint32_t strsize, const char *field)
{
	rig_init(r);
	r->set.options.strsize = strsize;
	rig_clause(r, NULL, "emit", field, NULL);
	rig_load(r);
}

/* The field's bytes, or NULL where there is no record. */
static const char *run(struct rig *r, const void *p, uint64_t n)
{
	const uint64_t words[RIG_ARGS] = {(uintptr_t)p, n};
	const struct weft_record_header *h;
	uint32_t size;

	rig_run(r, words);
	h = rig_record(r, &size);
	return h ? (const char *)(h + 1) : NULL;
}

static void expect_text(struct rig *r, const void *p, uint64_t n, const char *want)
{
	uint32_t size = r->plan->schemas[0].fields[0].size;
	const char *got = run(r, p, n);
	char padded[1024] = {0};

	strcpy(padded, want);
	cr_assert(got, "no `%s`", want);
	cr_expect(!memcmp(got, padded, size), "`%.*s`, not `%s`", (int)size, got, want);
}

/* A string ends with n bytes, and nothing behind them is touched. */
Test(compiler_reading, strings_with_a_length)
{
	static const uint32_t sizes[] = {8, 16, 64, 128};
	char *end = edge(), want[1024];

	for (size_t k = 0; k < N(sizes); k++) {
		uint32_t cap = sizes[k];
		struct rig r;

		start(&r, cap, "|s|copyinstr(arg0, arg1)");
		for (uint32_t n = 0; n < cap; n++) {
			memset(want, 'x', n);
			want[n] = '\0';
			expect_text(&r, end - n, n, want);
		}
		cr_expect(!rig_losses(&r));
		/* As long as the buffer, or longer: cut, and counted. */
		memset(want, 'x', cap - 1);
		want[cap - 1] = '\0';
		expect_text(&r, end - cap, cap, want);
		expect_text(&r, end - 500, 500, want);
		expect_text(&r, end - 500, UINT64_C(1) << 32, want);
		cr_expect(rig_loss(&r, WEFT_LOSS_STRING_TRUNCATED) == 3 && rig_losses(&r) == 3);
		/* The zero byte comes first. */
		expect_text(&r, "ab", 3, "ab");
		expect_text(&r, "ab", 200, "ab");
		expect_text(&r, "abc", 2, "ab");
		expect_text(&r, "", 1, "");
		cr_expect(rig_losses(&r) == 3);
		rig_finish(&r);
	}
}

Test(compiler_reading, strings_with_a_constant_length)
{
	char *end = edge();
	struct rig r;

	start(&r, 64, "|s|copyinstr(arg0, 5)");
	cr_expect(r.plan->schemas[0].fields[0].size == 6);
	expect_text(&r, end - 5, 0, "xxxxx");
	expect_text(&r, "abcdefgh", 0, "abcde");
	expect_text(&r, "abc", 0, "abc");
	cr_expect(!rig_losses(&r), "what was not asked for is not lost");
	rig_finish(&r);
	start(&r, 8, "|s|copyinstr(arg0, 100)");
	expect_text(&r, "abcdefgh", 0, "abcdefg");
	cr_expect(rig_loss(&r, WEFT_LOSS_STRING_TRUNCATED) == 1 && rig_losses(&r) == 1);
	rig_finish(&r);
}

/* An argument whose place has a length. */
Test(compiler_reading, arguments_with_a_length)
{
	static const struct weft_loc_op ops[2] = {{.op = WEFT_LOC_CTX, .size = 8, .imm = 0},
						  {.op = WEFT_LOC_CTX, .size = 8, .imm = 8}};
	char *end = edge();
	struct rig r;

	rig_init(&r);
	rig_place(&r, 0, WEFT_TYPE_STRING, WEFT_SPACE_USER, ops, 2);
	r.set.options.strsize = 16;
	rig_clause(&r, NULL, "emit", "|s|arg0", NULL);
	rig_load(&r);
	expect_text(&r, end - 4, 4, "xxxx");
	expect_text(&r, "abcdef", 4, "abcd");
	expect_text(&r, "abcdef", 0, "");
	cr_expect(!rig_losses(&r));
	rig_finish(&r);
}

static void expect_bytes(struct rig *r, const void *p, uint64_t n, uint32_t want)
{
	const char *got = run(r, p, n);
	uint32_t length;

	cr_assert(got);
	memcpy(&length, got, 4);
	cr_expect(length == want, "%u bytes, not %u", length, want);
	cr_expect(!memcmp(got + 8, p, want));
}

Test(compiler_reading, bytes)
{
	static const char *const fields[] = {"|b|copyin(arg0, arg1)", "|b|mem(arg0, arg1)"};
	char *end = edge();
	struct rig r;

	for (size_t i = 0; i < N(fields); i++) {
		start(&r, 64, fields[i]);
		cr_expect(r.plan->schemas[0].fields[0].type.is_dump == (i == 1));
		for (uint32_t n = 0; n <= 64; n++)
			expect_bytes(&r, end - n, n, n);
		cr_expect(!rig_losses(&r));
		expect_bytes(&r, end - 65, 65, 64);
		cr_expect(rig_loss(&r, WEFT_LOSS_STRING_TRUNCATED) == 1 && rig_losses(&r) == 1);
		cr_expect(!run(&r, end - 4, 5));
		cr_expect(rig_loss(&r, WEFT_LOSS_NOT_RESIDENT) == 1 && rig_losses(&r) == 2);
		rig_finish(&r);
	}
	start(&r, 64, "|b|copyin(arg0, 3000)");
	expect_bytes(&r, end - 3000, 0, 3000);
	cr_expect(!run(&r, end - 2999, 0));
	cr_expect(rig_losses(&r) == 1);
	rig_finish(&r);
}

/* FAULT_RANGE: a negative length, as of a read that failed. */
Test(compiler_reading, FAULT_RANGE)
{
	struct rig r;

	start(&r, 64, "|b|copyin(arg0, arg1)");
	cr_expect(!run(&r, "abc", (uint64_t)-1));
	cr_expect(rig_loss(&r, WEFT_LOSS_FAULT_RANGE) == 1 && rig_losses(&r) == 1);
	rig_finish(&r);
	start(&r, 64, "|s|copyinstr(arg0, arg1)");
	cr_expect(!run(&r, "abc", (uint64_t)INT64_MIN));
	cr_expect(rig_loss(&r, WEFT_LOSS_FAULT_RANGE) == 1 && rig_losses(&r) == 1);
	rig_finish(&r);
}

/* A size known as unsigned is never negative: it is large, and what there is is cut. */
Test(compiler_reading, large_sizes)
{
	char *end = edge();
	struct rig r;

	start(&r, 64, "|b|copyin(arg0, (uint64) arg1)");
	expect_bytes(&r, end - 64, UINT64_MAX, 64);
	cr_expect(rig_loss(&r, WEFT_LOSS_STRING_TRUNCATED) == 1 && rig_losses(&r) == 1);
	rig_finish(&r);
}

Test(compiler_reading, peek)
{
	static const uint64_t word = 0xfedcba9876543210;
	static const struct {
		const char *field;
		int64_t want;
	} cases[] = {
		{"|v|peek(arg0, 1)", 0x10},
		{"|v|peek(arg0, 2)", 0x3210},
		{"|v|peek(arg0, 4)", 0x76543210},
		{"|v|peek(arg0, 8)", (int64_t)0xfedcba9876543210},
		{"|v|(int32) peek(arg0 + 4, 4)", (int32_t)0xfedcba98},
		{"|v|(int64) (int8) peek(arg0 + 7, 1)", -2},
		{"|v|peek(arg0 + 7, 1) * 2", 0x1fc},
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct rig r;
		const char *got;
		int64_t v = 0;

		start(&r, 64, cases[i].field);
		got = run(&r, &word, 0);
		cr_assert(got);
		memcpy(&v, got, r.plan->schemas[0].fields[0].size);
		if (r.plan->schemas[0].fields[0].type.is_signed &&
		    r.plan->schemas[0].fields[0].size == 4)
			v = (int32_t)v;
		cr_expect(v == cases[i].want, "%s: %lx", cases[i].field, v);
		rig_finish(&r);
	}
}

/* The same functions on the kernel's memory: a pointer to the task, whose name is somewhere in it. */
Test(compiler_reading, kernel_memory)
{
	static const char *const fields[] = {"|v|kpeek(arg0, 8)", "|v|kstr(arg0)",
					     "|v|kmem(arg0, 16)"};
	const char *got;
	struct rig r;

	for (size_t i = 0; i < N(fields); i++) {
		static const char here[64] = "in user space";

		start(&r, 64, fields[i]);
		got = run(&r, (void *)0x10, 0);
		cr_expect(!got && rig_loss(&r, WEFT_LOSS_FAULT_ADDRESS) == 1, "%s", fields[i]);
		got = run(&r, here, 0);
		cr_expect(!got && rig_loss(&r, WEFT_LOSS_FAULT_ADDRESS) == 2, "%s", fields[i]);
		cr_expect(rig_losses(&r) == 2);
		rig_finish(&r);
	}
}

/* FAULT_ADDRESS: an address that nothing can ever be at is told from a page that is out. */
Test(compiler_reading, FAULT_ADDRESS)
{
	static const char *const fields[] = {"|v|copyinstr(arg0)", "|v|copyin(arg0, 8)",
					     "|v|mem(arg0, 70)", "|v|peek(arg0, 4)", "|v|str(arg0)"};
	static const uint64_t bad[] = {
		0, 1, 0x10, 4095, UINT64_C(1) << 63, UINT64_MAX, UINT64_C(0xffffffff81000000)};
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < N(fields); i++) {
		struct rig r;

		cr_assert(!madvise(page, 4096, MADV_DONTNEED));
		start(&r, 64, fields[i]);
		for (size_t k = 0; k < N(bad); k++)
			cr_expect(!run(&r, (void *)(uintptr_t)bad[k], 0));
		cr_expect(rig_loss(&r, WEFT_LOSS_FAULT_ADDRESS) == N(bad), "%s", fields[i]);
		cr_expect(!run(&r, page, 0));
		cr_expect(rig_loss(&r, WEFT_LOSS_NOT_RESIDENT) == 1, "%s", fields[i]);
		cr_expect(rig_losses(&r) == N(bad) + 1);
		rig_finish(&r);
		page[0] = 1;
	}
}

/* ---- what is neither a number nor a string ---- */

Test(compiler_reading, addresses)
{
	static const uint8_t six[16] = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
	const char *got;
	struct rig r;

	start(&r, 64, "|a|ipv4(arg1)");
	got = run(&r, NULL, 0x0100007f);
	cr_assert(got && r.plan->schemas[0].fields[0].size == 4);
	cr_expect(!memcmp(got, "\x7f\0\0\1", 4));
	rig_finish(&r);
	start(&r, 64, "|a|ipv6(copyin(arg0, 16))");
	got = run(&r, six, 0);
	cr_assert(got && !memcmp(got, six, 16));
	rig_finish(&r);
	start(&r, 64, "|a|ipv6(copyin(arg0, arg1))");
	got = run(&r, six, 16);
	cr_assert(got && !memcmp(got, six, 16));
	cr_expect(!run(&r, six, 15) && !run(&r, six, 0));
	cr_expect(rig_loss(&r, WEFT_LOSS_FAULT_RANGE) == 2 && rig_losses(&r) == 2);
	rig_finish(&r);
}

Test(compiler_reading, keys)
{
	static const uint8_t six[16] = {0xfe, 0x80, [15] = 9};
	const uint64_t words[RIG_ARGS] = {(uintptr_t)six, 0x0100007f, 0xffffffff81000042};
	struct rig_row rows[4];
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "count", "into||c", "by|f|ipv4(arg1)", "by|s|ipv6(copyin(arg0, 16))",
		   "by|k|ksym(arg2)", NULL);
	rig_action(&r, "count", "into||u", "by|u|usym(arg0)", "by|p|pid", NULL);
	rig_load(&r);
	for (int i = 0; i < 3; i++)
		rig_run(&r, words);
	cr_expect(!rig_losses(&r));
	cr_assert(rig_rows(&r, rig_agg(&r, "c")->map, rows, 4) == 1 && rows[0].value[0] == 3);
	cr_expect(!memcmp(rows[0].key + rig_agg(&r, "c")->keys[0].offset, &words[1], 4));
	cr_expect(!memcmp(rows[0].key + rig_agg(&r, "c")->keys[1].offset, six, 16));
	cr_expect(!memcmp(rows[0].key + rig_agg(&r, "c")->keys[2].offset, &words[2], 8));
	cr_assert(rig_rows(&r, rig_agg(&r, "u")->map, rows, 4) == 1 && rows[0].value[0] == 3);
	cr_expect(r.plan->uses_ustack);
	/* The symbol is a stack of one frame. */
	cr_assert(rig_rows(&r, WEFT_PLAN_STACKS, rows + 1, 3) == 1);
	cr_expect(!memcmp(rows[1].key, rows[0].key, 8));
	cr_expect(rows[1].value[3] == words[0]);
	cr_expect((uint32_t)rows[1].value[2] == (uint32_t)getpid() && rows[1].value[2] >> 32 == 1);
	rig_finish(&r);
}

Test(compiler_reading, symbols_in_records)
{
	const char *got;
	struct {
		uint64_t address;
		uint32_t tgid, zero;
	} v;
	struct rig r;

	start(&r, 64, "|u|usym(arg0)");
	got = run(&r, (void *)0x1234, 0);
	cr_assert(got);
	memcpy(&v, got, sizeof(v));
	cr_expect(v.address == 0x1234 && v.tgid == (uint32_t)getpid() && v.zero == 0);
	rig_finish(&r);
	start(&r, 64, "|k|ksym(arg0)");
	got = run(&r, (void *)0x1234, 0);
	cr_assert(got);
	memcpy(&v, got, sizeof(v));
	cr_expect(v.address == 0x1234 && v.tgid == 0);
	rig_finish(&r);
}

Test(compiler_reading, cgroups_are_told)
{
	uint64_t id, name;
	const char *got;
	struct rig r;

	start(&r, 64, "|c|cgroup");
	got = run(&r, NULL, 0);
	cr_assert(got && !r.plan->uses_cgroups);
	memcpy(&id, got, 8);
	rig_finish(&r);
	start(&r, 64, "|c|cgroupname");
	got = run(&r, NULL, 0);
	cr_assert(got && r.plan->uses_cgroups);
	memcpy(&name, got, 8);
	cr_expect(id && id == name);
	rig_finish(&r);
}

/* Of no bytes an address is no matter, in whatever memory and wherever it leads. */
Test(compiler_reading, no_bytes_of_a_bad_address)
{
	static const uint64_t bad[] = {0, 1, UINT64_C(1) << 56, UINT64_C(0xffff800000000000),
				       UINT64_MAX};
	static const char *const fields[] = {"|b|kmem(arg0, arg1)", "|b|copyin(arg0, arg1)",
					     "|b|copyinstr(arg0, arg1)", "|b|kstr(arg0, arg1)"};

	for (size_t f = 0; f < N(fields); f++) {
		struct rig r;

		start(&r, 64, fields[f]);
		for (size_t i = 0; i < N(bad); i++) {
			const char *got = run(&r, (void *)(uintptr_t)bad[i], 0);

			cr_assert(got, "%s at %lx", fields[f], bad[i]);
			cr_expect(!*got, "%s at %lx", fields[f], bad[i]);
		}
		cr_expect(!rig_losses(&r), "%s", fields[f]);
		rig_finish(&r);
	}
}

/* What is made of a peek does not change whose memory it reads. */
Test(compiler_reading, a_peek_keeps_its_memory)
{
	static const char *const fields[] = {"|v|(uint64)peek(arg0, 8)", "|v|peek(arg0, 8)",
					     "|v|(uint32)peek(arg0, 4)",
					     "|v|1 ? peek(arg0, 8) : 0u"};
	const uint64_t there = UINT64_C(0x1122334455667788);

	for (size_t f = 0; f < N(fields); f++) {
		const char *got;
		uint32_t word;
		struct rig r;

		start(&r, 64, fields[f]);
		got = run(&r, &there, 0);
		cr_assert(got && !rig_losses(&r), "%s", fields[f]);
		memcpy(&word, got, sizeof(word));
		cr_expect(word == 0x55667788, "%s", fields[f]);
		rig_finish(&r);
	}
}

/* The same where a variable takes it. */
Test(compiler_reading, a_peek_into_a_variable)
{
	const uint64_t there = 4711;
	const uint64_t words[RIG_ARGS] = {(uintptr_t)&there};
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "set", "|this.x|peek(arg0, 8)", "|g|(uint64) peek(arg0, 8)", NULL);
	rig_action(&r, "sum", "into||s", "value||this.x + g", NULL);
	rig_load(&r);
	rig_run(&r, words);
	cr_expect(!rig_losses(&r));
	cr_expect(rig_sum(&r, "s") == 2 * there);
	rig_finish(&r);
}
