/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Texts of arguments against what they mean, worked out here by hand. Register N holds
 * 0x1122334455660000 * (N + 1) and some; memory holds a number made from its address.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "eval.h"
#include "usdt/operands.h"

#define SITE     UINT64_C(0x401000) /* as linked */
#define BIAS     UINT64_C(0x550000000000)
#define REG(n)   (UINT64_C(0x8182838485868788) + UINT64_C(0x0102030405060708) * (n))
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static uint64_t memory_at(uint64_t address, unsigned size)
{
	return (address * UINT64_C(0x9e3779b97f4a7c15)) ^ (size * UINT64_C(0x8080808080808081));
}

static int find_symbol(void *arg, const char *name, size_t n, uint64_t *address)
{
	static const struct {
		const char *name;
		uint64_t address;
	} all[] = {{"counter", 0x404010},
		   {"CheckpointStats", 0x500000},
		   {"_ZL3foo", 0x404020},
		   {"a.b$c", 0x404030}};

	(void)arg;
	for (size_t i = 0; i < COUNT(all); i++) {
		if (strlen(all[i].name) == n && !memcmp(all[i].name, name, n)) {
			*address = all[i].address;
			return 0;
		}
	}
	return -ENOENT;
}

static const struct weft_usdt_site site = {.address = SITE, .find = find_symbol};

static struct test_machine machine(void)
{
	struct test_machine m = {.pc = SITE + BIAS, .memory = memory_at};

	for (unsigned i = 0; i < COUNT(m.reg); i++)
		m.reg[i] = REG(i);
	return m;
}

struct expectation {
	const char *text;
	uint64_t value;
};

#define MEM(address, size) memory_at((address), (size))
#define S1(v)              ((uint64_t)(int8_t)(v))
#define S2(v)              ((uint64_t)(int16_t)(v))
#define S4(v)              ((uint64_t)(int32_t)(v))
#define U1(v)              ((uint8_t)(v))
#define U2(v)              ((uint16_t)(v))
#define U4(v)              ((uint32_t)(v))
#define BIG                UINT64_C(0xf7f6f5f4f3f2f1f0)

static void check(const struct weft_usdt_arch *arch, const struct expectation *all, size_t n)
{
	struct test_machine m = machine();

	for (size_t i = 0; i < n; i++) {
		struct weft_usdt_operand out[WEFT_USDT_MOST_ARGS];
		uint32_t n_args = 0;

		weft_usdt_operands(arch, all[i].text, strlen(all[i].text), &site, out, &n_args);
		cr_assert_eq(n_args, 1, "%s: %u arguments", all[i].text, n_args);
		cr_assert_gt(out[0].n_ops, 0, "%s: %s", all[i].text, out[0].why);
		cr_expect_eq(test_eval(&m, out[0].ops, out[0].n_ops), all[i].value,
			     "%s: 0x%llx, not 0x%llx", all[i].text,
			     (unsigned long long)test_eval(&m, out[0].ops, out[0].n_ops),
			     (unsigned long long)all[i].value);
		cr_expect_eq(out[0].start, 0);
		cr_expect_eq(out[0].length, strlen(all[i].text), "%s", all[i].text);
	}
}

/* ---- x86-64 ---- */

Test(operands_x86_64, registers)
{
	const struct expectation all[] = {
		{"8@%rax", REG(0)},         {"-8@%rdx", REG(1)},
		{"4@%ecx", U4(REG(2))},     {"-4@%ebx", S4(REG(3))},
		{"2@%si", U2(REG(4))},      {"-2@%di", S2(REG(5))},
		{"1@%al", U1(REG(0))},      {"-1@%al", S1(REG(0))},
		{"1@%ah", U1(REG(0) >> 8)}, {"-1@%bh", S1(REG(3) >> 8)},
		{"1@%ch", U1(REG(2) >> 8)}, {"-1@%dh", S1(REG(1) >> 8)},
		{"1@%sil", U1(REG(4))},     {"-1@%dil", S1(REG(5))},
		{"1@%bpl", U1(REG(6))},     {"1@%spl", U1(REG(7))},
		{"8@%rsp", REG(7)},         {"8@%rbp", REG(6)},
		{"8@%r8", REG(8)},          {"-4@%r9d", S4(REG(9))},
		{"2@%r10w", U2(REG(10))},   {"-1@%r11b", S1(REG(11))},
		{"4@%r12d", U4(REG(12))},   {"8@%r13", REG(13)},
		{"8@%r14", REG(14)},        {"-8@%r15", REG(15)},
		{"4@%rax", U4(REG(0))},     {"-1@%rax", S1(REG(0))},
		{"8@%eax", U4(REG(0))}, /* the upper half is something else's */
		{"-8@%eax", S4(REG(0))},    {"-4@%ah", S1(REG(0) >> 8)},
		{"8@%RAX", REG(0)},         {"8@%rip", SITE + BIAS},
	};
	check(&weft_usdt_x86_64, all, COUNT(all));
}

Test(operands_x86_64, constants_of_every_size_and_sign)
{
	const struct expectation all[] = {
		{"8@$0", 0},
		{"-4@$-1", UINT64_MAX},
		{"4@$-1", UINT32_MAX},
		{"1@$-1", 0xff},
		{"-1@$255", UINT64_MAX},
		{"-2@$65535", UINT64_MAX},
		{"2@$65535", 65535},
		{"-2@$-32768", (uint64_t)INT16_MIN},
		{"-4@$2147483648", (uint64_t)INT32_MIN},
		{"8@$0xf7f6f5f4f3f2f1f0", BIG},
		{"-8@$0xf7f6f5f4f3f2f1f0", BIG},
		{"4@$0xf7f6f5f4f3f2f1f0", U4(BIG)},
		{"-4@$0xf7f6f5f4f3f2f1f0", S4(BIG)},
		{"2@$0xf7f6f5f4f3f2f1f0", U2(BIG)},
		{"-2@$0xf7f6f5f4f3f2f1f0", S2(BIG)},
		{"1@$0xf7f6f5f4f3f2f1f0", U1(BIG)},
		{"-1@$0xf7f6f5f4f3f2f1f0", S1(BIG)},
		{"8@$-579005069656919568", BIG},
		{"8@$18446744073709551615", UINT64_MAX},
		{"-8@$-9223372036854775808", (uint64_t)INT64_MIN},
		{"4@$0777", 0777},
		{"4@$0X1F", 0x1f},
		{"4@$1+2", 3},
		{"-4@$10-12", (uint64_t)-2},
		{"-4@$--4", 4},
		{"8@$counter", 0x404010 + BIAS},
		{"8@$counter+8", 0x404018 + BIAS},
		{"4@$counter", U4(0x404010 + BIAS)},
	};
	check(&weft_usdt_x86_64, all, COUNT(all));
}

Test(operands_x86_64, memory)
{
	const struct expectation all[] = {
		{"8@(%rdi)", MEM(REG(5), 8)},
		{"-4@-8(%rbp)", S4(MEM(REG(6) - 8, 4))},
		{"4@0x10(%rsp)", U4(MEM(REG(7) + 16, 4))},
		{"1@8+16(%rax)", U1(MEM(REG(0) + 24, 1))},
		{"8@8(%rax,%rbx,4)", MEM(REG(0) + 4 * REG(3) + 8, 8)},
		{"8@(%rax,%rbx)", MEM(REG(0) + REG(3), 8)},
		{"-2@(%rax,%rbx,8)", S2(MEM(REG(0) + 8 * REG(3), 2))},
		{"8@(,%rcx,8)", MEM(8 * REG(2), 8)},
		{"8@16(,%rcx,2)", MEM(2 * REG(2) + 16, 8)},
		{"8@-16(,%rcx,2)", MEM(2 * REG(2) - 16, 8)},
		{"8@(,%rcx)", MEM(REG(2), 8)},
		{"8@8(%rax, %rbx, 4)", MEM(REG(0) + 4 * REG(3) + 8, 8)},
		{"8@( %rax , %rbx , 4 )", MEM(REG(0) + 4 * REG(3), 8)},
		{"8@(%eax)", MEM(U4(REG(0)), 8)},
		{"8@0x404010", MEM(0x404010, 8)},
		{"8@0x7fffffffffff(%rax)", MEM(REG(0) + UINT64_C(0x7fffffffffff), 8)},
		{"-4@counter(%rip)", S4(MEM(0x404010 + BIAS, 4))},
		{"-4@40+CheckpointStats(%rip)", S4(MEM(0x500000 + 40 + BIAS, 4))},
		{"-4@CheckpointStats+40(%rip)", S4(MEM(0x500000 + 40 + BIAS, 4))},
		{"4@CheckpointStats-40(%rip)", U4(MEM(0x500000 - 40 + BIAS, 4))},
		{"4@-8+_ZL3foo(%rip)", U4(MEM(0x404018 + BIAS, 4))},
		{"8@counter", MEM(0x404010 + BIAS, 8)},
		{"8@a.b$c(%rip)", MEM(0x404030 + BIAS, 8)},
		{"8@counter(,%rax,8)", MEM(0x404010 + BIAS + 8 * REG(0), 8)},
		{"8@counter+8(%rbx)", MEM(0x404018 + BIAS + REG(3), 8)},
		{"8@8+counter(%rax,%rbx,2)", MEM(0x404018 + BIAS + REG(0) + 2 * REG(3), 8)},
	};
	check(&weft_usdt_x86_64, all, COUNT(all));
}

/* ---- arm64 ---- */

Test(operands_arm64, registers_and_constants)
{
	const struct expectation all[] = {
		{"8@x0", REG(0)},
		{"-4@w1", S4(REG(1))},
		{"4@w30", U4(REG(30))},
		{"2@w2", U2(REG(2))},
		{"-1@w3", S1(REG(3))},
		{"4@x4", U4(REG(4))},
		{"8@w5", U4(REG(5))},
		{"8@sp", REG(31)},
		{"4@wsp", U4(REG(31))},
		{"8@x29", REG(29)},
		{"8@xzr", 0},
		{"-4@wzr", 0},
		{"-4@5", 5},
		{"-4@-1", UINT64_MAX},
		{"4@-1", UINT32_MAX},
		{"8@#7", 7},
		{"-8@#-7", (uint64_t)-7},
		{"2@0xf7f6f5f4f3f2f1f0", U2(BIG)},
		{"-1@0xf7f6f5f4f3f2f1f0", S1(BIG)},
		{"8@0xf7f6f5f4f3f2f1f0", BIG},
	};
	check(&weft_usdt_arm64, all, COUNT(all));
}

Test(operands_arm64, memory)
{
	const struct expectation all[] = {
		{"8@[x0]", MEM(REG(0), 8)},
		{"-4@[x1, 8]", S4(MEM(REG(1) + 8, 4))},
		{"-4@[x1,8]", S4(MEM(REG(1) + 8, 4))},
		{"4@[sp, #-16]", U4(MEM(REG(31) - 16, 4))},
		{"4@[sp, 12]", U4(MEM(REG(31) + 12, 4))},
		{"1@[ x2 , #0x10 ]", U1(MEM(REG(2) + 16, 1))},
		{"8@[x0, x1]", MEM(REG(0) + REG(1), 8)},
		{"8@[x0, x1, lsl 3]", MEM(REG(0) + (REG(1) << 3), 8)},
		{"8@[x0, x1, lsl #3]", MEM(REG(0) + (REG(1) << 3), 8)},
		{"8@[x0, w1, sxtw]", MEM(REG(0) + S4(REG(1)), 8)},
		{"8@[x0, w1, sxtw 2]", MEM(REG(0) + (S4(REG(1)) << 2), 8)},
		{"8@[x0, w1, uxtw #1]", MEM(REG(0) + ((uint64_t)U4(REG(1)) << 1), 8)},
		{"8@[x0, xzr]", MEM(REG(0), 8)},
	};
	check(&weft_usdt_arm64, all, COUNT(all));
}

/* ---- what cannot be read ---- */

static void check_unreadable(const struct weft_usdt_arch *arch, const char *text, const char *why)
{
	struct weft_usdt_operand out[WEFT_USDT_MOST_ARGS];
	uint32_t n_args = 0;

	weft_usdt_operands(arch, text, strlen(text), &site, out, &n_args);
	cr_assert_eq(n_args, 1, "%s: %u arguments", text, n_args);
	cr_assert_eq(out[0].n_ops, 0, "%s was read", text);
	cr_assert_not_null(out[0].why);
	cr_expect(strstr(out[0].why, why), "%s: %s", text, out[0].why);
}

Test(operands_x86_64, what_cannot_be_read_is_named)
{
	static const struct {
		const char *text, *why;
	} all[] = {
		{"8f@%xmm0", "floating-point"},
		{"-8f@-8(%rbp)", "floating-point"},
		{"4f@(%rax)", "floating-point"},
		{"8@%xmm0", "floating-point"},
		{"8@%zmm31", "floating-point"},
		{"8@%st(0)", "floating-point"},
		{"8@%mm0", "floating-point"},
		{"%rax", "size"},
		{"3@%rax", "size"},
		{"16@%rax", "size"},
		{"@%rax", "size"},
		{"8@%rxx", "register"},
		{"8@%", "register"},
		{"8@%fs:40", "segment"},
		{"8@nosuch(%rip)", "does not list"},
		{"8@.LC0(%rip)", "does not list"},
		{"8@counter@GOTPCREL(%rip)", "relocation"},
		{"8@counter+_ZL3foo(%rip)", "two symbols"},
		{"8@-counter(%rip)", "known"},
		{"8@8(%rip)", "relative"},
		{"8@(%rip)", "relative"},
		{"8@(%rax,%rip)", "register"},
		{"8@(%rax,%rbx,3)", "scaled"},
		{"8@(%rax,%rbx,16)", "scaled"},
		{"8@(%rax,%rbx,)", "scaled"},
		{"8@(%rax", "known"},
		{"8@(", "known"},
		{"8@()", "known"},
		{"8@", "known"},
		{"8@$", "known"},
		{"8@$-", "known"},
		{"8@$18446744073709551616", "64 bits"},
		{"8@$0x1f7f6f5f4f3f2f1f0", "64 bits"},
		{"8@$08", "number"},
		{"8@$0x", "number"},
		{"8@$12ab", "number"},
		{"8@(%al)", "no addresses"},
		{"8@(%xmm0)", "no addresses"},
		{"8@%rax)", "follows"},
		{"8@$1,", "follows"},
		{"8@*%rax", "known"},
	};
	for (size_t i = 0; i < COUNT(all); i++)
		check_unreadable(&weft_usdt_x86_64, all[i].text, all[i].why);
}

Test(operands_arm64, what_cannot_be_read_is_named)
{
	static const struct {
		const char *text, *why;
	} all[] = {
		{"8@[x0, #:lo12:counter]", "lo12"},
		{"8@[x0,#:lo12:.LANCHOR0]", "lo12"},
		{"8@#:lo12:counter", "lo12"},
		{"8f@d0", "floating-point"},
		{"8@d0", "floating-point"},
		{"4@s31", "floating-point"},
		{"8@v0", "floating-point"},
		{"8@q1", "floating-point"},
		{"8@[x0, 8]!", "changes"},
		{"8@[x0], 8", "changes"},
		{"8@counter", "known"},
		{"8@x31", "known"},
		{"8@[w0, w1, ror 2]", "widened"},
		{"8@[x0, x1, lsl 9]", "shifted"},
		{"8@[x0", "known"},
		{"8@[", "known"},
		{"8@[5]", "known"},
	};
	for (size_t i = 0; i < COUNT(all); i++)
		check_unreadable(&weft_usdt_arm64, all[i].text, all[i].why);
}

/* ---- several ---- */

static void check_list(const struct weft_usdt_arch *arch, const char *text, uint32_t n,
		       const char *const *parts)
{
	struct weft_usdt_operand out[WEFT_USDT_MOST_ARGS];
	uint32_t n_args = 0;

	weft_usdt_operands(arch, text, strlen(text), &site, out, &n_args);
	cr_assert_eq(n_args, n, "'%s': %u arguments", text, n_args);
	for (uint32_t i = 0; i < n && i < WEFT_USDT_MOST_ARGS; i++) {
		cr_expect_eq(out[i].length, strlen(parts[i]), "'%s': %u is '%.*s'", text, i,
			     (int)out[i].length, text + out[i].start);
		cr_expect_eq(strncmp(text + out[i].start, parts[i], strlen(parts[i])), 0);
	}
}

Test(operands, are_not_split_at_blanks)
{
	check_list(&weft_usdt_arm64, "8@[x0, 8] -4@[sp, x1, lsl 2]  2@w3 8@[x1, #:lo12:a] 4@5", 5,
		   (const char *const[]){"8@[x0, 8]", "-4@[sp, x1, lsl 2]", "2@w3",
					 "8@[x1, #:lo12:a]", "4@5"});
	check_list(&weft_usdt_x86_64, "  8@8(%rax, %rbx, 4) 4@$1\t-2@%ax ", 3,
		   (const char *const[]){"8@8(%rax, %rbx, 4)", "4@$1", "-2@%ax"});
	check_list(&weft_usdt_x86_64, "", 0, NULL);
	check_list(&weft_usdt_x86_64, "   ", 0, NULL);
}

Test(operands, one_that_cannot_be_read_leaves_the_others)
{
	check_list(&weft_usdt_x86_64, "8f@%xmm0 4@%eax 8@?? what -4@$1 8@ 1@%al", 6,
		   (const char *const[]){"8f@%xmm0", "4@%eax", "8@?? what", "-4@$1", "8@", "1@%al"});
}

Test(operands, twelve_are_kept_and_more_are_counted)
{
	struct weft_usdt_operand out[WEFT_USDT_MOST_ARGS];
	const char *text = "1@$1 1@$2 1@$3 1@$4 1@$5 1@$6 1@$7 1@$8 1@$9 1@$10 1@$11 1@$12 1@$13";
	struct test_machine m = machine();
	uint32_t n_args = 0;

	weft_usdt_operands(&weft_usdt_x86_64, text, strlen(text), &site, out, &n_args);
	cr_assert_eq(n_args, 13);
	for (uint32_t i = 0; i < WEFT_USDT_MOST_ARGS; i++)
		cr_expect_eq(test_eval(&m, out[i].ops, out[i].n_ops), i + 1);
}

Test(operands, sizes_and_signs)
{
	struct weft_usdt_operand out[WEFT_USDT_MOST_ARGS];
	const char *text = "1@%al -1@%al 2@%al -2@%al 4@%al -4@%al 8@%al -8@%al -4f@%xmm0";
	static const uint8_t size[] = {1, 1, 2, 2, 4, 4, 8, 8, 4};
	uint32_t n_args = 0;

	weft_usdt_operands(&weft_usdt_x86_64, text, strlen(text), &site, out, &n_args);
	cr_assert_eq(n_args, COUNT(size));
	for (uint32_t i = 0; i < n_args; i++) {
		cr_expect_eq(out[i].size, size[i]);
		cr_expect_eq(out[i].is_signed, i % 2 || i == 8);
	}
}

/* Changed texts: whatever comes out is a proper program or has a reason. */
Test(operands, changed_texts)
{
	static const char *const seeds[] = {
		"8@8(%rax,%rbx,4) -4@40+CheckpointStats(%rip) 1@%ah 8f@%xmm0 4@$0xf7f6f5f4f3f2f1f0",
		"8@[x0, w1, sxtw 2] -4@[sp, #-16] 8@[x0, #:lo12:counter] -1@-1 4@wzr",
	};
	static const char alphabet[] = "0123456789abcdefxlr%$#@()[],+-.: \t*!\x80\xff";
	const struct weft_usdt_arch *const arch[] = {&weft_usdt_x86_64, &weft_usdt_arm64};
	struct test_machine m = machine();
	uint32_t random = 12345;

	for (unsigned round = 0; round < 40000; round++) {
		struct weft_usdt_operand out[WEFT_USDT_MOST_ARGS];
		uint32_t n_args = 0;
		size_t n = strlen(seeds[round % 2]);
		char *text =
			strdup(seeds[round % 2]); /* exactly as long: ASan sees what is beyond */

		for (unsigned k = 0; k <= round % 7; k++) {
			random = random * 1664525 + 1013904223;
			text[(random >> 8) % n] = alphabet[(random >> 20) % (sizeof(alphabet) - 1)];
		}
		n -= (random >> 4) % (n / 2);
		char *exact = memcpy(malloc(n), text, n);
		weft_usdt_operands(arch[random >> 31], exact, n, &site, out, &n_args);
		for (uint32_t i = 0; i < n_args && i < WEFT_USDT_MOST_ARGS; i++) {
			cr_assert_leq(out[i].start + out[i].length, n);
			cr_assert_leq(out[i].n_ops, WEFT_USDT_MOST_OPS);
			if (out[i].n_ops)
				test_eval(&m, out[i].ops, out[i].n_ops);
			else
				cr_assert_not_null(out[i].why);
		}
		free(exact);
		free(text);
	}
}
