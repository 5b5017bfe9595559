/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdlib.h>

#include "core/arena.h"
#include "output/support.h"

/* What a format makes of values, in the text format and without the newline that ends it. */
static void expect(const char *format, const struct weft_value *values, size_t n, const char *want)
{
	struct weft_arena *arena = weft_arena_create();
	struct weft_named_value fields[4];
	struct weft_format parsed;
	struct capture c;
	size_t at;

	for (size_t i = 0; i < n; i++)
		fields[i] = (struct weft_named_value){"v", values[i]};
	cr_assert_eq(weft_format_parse(format, arena, &parsed, &at, NULL), 0, "%s", format);
	capture_begin(&c, "text", 0);
	cr_assert_eq(c.sink.record(c.sink.self, &(struct weft_record){.probe = "p",
								      .fields = fields,
								      .n_fields = n,
								      .format = &parsed}),
		     0);
	capture_end(&c);
	c.out_text[c.out_size - 1] = '\0';
	cr_expect_str_eq(c.out_text, want, "%s: \"%s\" is not \"%s\"", format, c.out_text, want);
	capture_free(&c);
	weft_arena_destroy(arena);
}

#define EXPECT(format, want, ...)                                  \
	do {                                                       \
		const struct weft_value values_[] = {__VA_ARGS__}; \
		expect(format, values_, COUNT(values_), want);     \
	} while (0)

Test(printf, enums_by_name)
{
	EXPECT("%s|%5s|%d|%x", "RED|  RED|1|1", ENUM(1), ENUM(1), ENUM(1), ENUM(1));
	EXPECT("%s", "7", ENUM(7));
}

/* Where the meaning is C's, C is the judge. */
Test(printf, integers_as_in_c)
{
	static const char *const flags[] = {"",   "-",  "0",  "+",  " ", "#",
					    "-#", "0#", "+0", " 0", "-+"};
	static const char *const sizes[] = {"",   "1",   "12",   "24",   ".0",
					    ".1", ".12", "12.5", "24.20"};
	static const char convs[] = "diuxXo";
	static const int64_t numbers[] = {0, 1, -1, 7, 255, 4096, INT64_MAX, INT64_MIN, -123456789};
	char format[32], c_format[32], want[128];

	for (size_t f = 0; f < COUNT(flags); f++)
		for (size_t s = 0; s < COUNT(sizes); s++)
			for (size_t k = 0; convs[k]; k++)
				for (size_t n = 0; n < COUNT(numbers); n++) {
					bool decimal = convs[k] == 'd' || convs[k] == 'i';

					if (!decimal && strpbrk(flags[f], "+ "))
						continue; /* undefined in C */
					if ((decimal || convs[k] == 'u') && strchr(flags[f], '#'))
						continue;
					snprintf(format, sizeof(format), "%%%s%s%c", flags[f],
						 sizes[s], convs[k]);
					snprintf(c_format, sizeof(c_format), "%%%s%sll%c", flags[f],
						 sizes[s], convs[k]);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
					snprintf(want, sizeof(want), c_format,
						 (long long)numbers[n]);
#pragma GCC diagnostic pop
					EXPECT(format, want, SIGNED(numbers[n]));
				}
}

Test(printf, numbers_are_what_their_type_says)
{
	EXPECT("%d", "18446744073709551615", UNSIGNED(UINT64_MAX));
	EXPECT("%u", "18446744073709551615", SIGNED(-1));
	EXPECT("%u %x %o", "4294967295 ffffffff 37777777777", SIGNED_OF(4, -1), SIGNED_OF(4, -1),
	       SIGNED_OF(4, -1));
	EXPECT("%x", "ff", SIGNED_OF(1, -1));
	EXPECT("%d", "-1", SIGNED_OF(1, -1));
	EXPECT("%+d", "+18446744073709551615", UNSIGNED(UINT64_MAX));
	EXPECT("%lld %hhu %zx", "1 2 3", SIGNED(1), SIGNED(2), SIGNED(3));
	EXPECT("%%%d%%", "%5%", SIGNED(5));
}

Test(printf, pointers)
{
	EXPECT("%p", "0x7fff0000", POINTER(0x7fff0000));
	EXPECT("%p", "0x0", POINTER(0));
	EXPECT("%12p|%-12p|", "        0x10|0x10        |", POINTER(16), POINTER(16));
	EXPECT("%s %x %d", "0x10 10 16", POINTER(16), POINTER(16), POINTER(16));
}

Test(printf, strings)
{
	EXPECT("[%s]", "[bash]", TEXT("bash"));
	EXPECT("[%8s] [%-8s]", "[    bash] [bash    ]", TEXT("bash"), TEXT("bash"));
	EXPECT("[%.2s] [%8.2s] [%.0s]", "[ba] [      ba] []", TEXT("bash"), TEXT("bash"),
	       TEXT("bash"));
	/* width and precision count characters */
	EXPECT("[%6s] [%.3s]", "[  gr\xc3\xbcn] [gr\xc3\xbc]", TEXT("gr\xc3\xbcn"),
	       TEXT("gr\xc3\xbcn"));
	EXPECT("[%s]", "[\\x1b[2J\\xff\\n]", TEXT("\x1b[2J\xff\n"));
	EXPECT("[%s]", "[read]", PROBE("read"));
	EXPECT("[%s]", "[-5]", SIGNED(-5));
	EXPECT("[%s] [%x]", "[a\\x00b] [610062]", BYTES("a\0b"), BYTES("a\0b"));
}

Test(printf, characters)
{
	EXPECT("%c%c", "A\\x1b", SIGNED('A'), UNSIGNED(27));
	EXPECT("[%3c] [%-3c]", "[  A] [A  ]", SIGNED('A'), SIGNED('A'));
	EXPECT("%c", "\\xff", SIGNED(-1));
}

Test(printf, stacks_are_frames)
{
	static const struct weft_frame frames[] = {
		{.address = 1, .symbol = "vfs_read", .offset = 0x10, .module = "vmlinux"},
		{.address = 0x20},
	};

	EXPECT("at:%s\n", "at:\n    vfs_read+0x10\n    0x20", STACK(WEFT_SPACE_KERNEL, frames));
	EXPECT("at:%s, %d", "at:\n    vfs_read+0x10\n    0x20, 7", STACK(WEFT_SPACE_KERNEL, frames),
	       SIGNED(7));
}

Test(printf, symbols_addresses_dumps_and_registers)
{
	static const struct weft_frame frame = {
		.symbol = "main", .offset = 4, .module = "/bin/x", .user = true};
	static const struct weft_reg regs[] = {{"ip", 1}, {"sp", 2}};

	EXPECT("<%s|%20s>", "<main+0x4 (/bin/x)|   main+0x4 (/bin/x)>",
	       SYMBOL(WEFT_SPACE_USER, &frame), SYMBOL(WEFT_SPACE_USER, &frame));
	EXPECT("<%s|%-12s>", "<10.1.2.3|10.1.2.3    >", INET("\x0a\1\2\3"), INET("\x0a\1\2\3"));
	EXPECT("<%s|%3.4s>", "</x|/sys>", CGROUP("/x"), CGROUP("/system"));
	EXPECT("buf%s|",
	       "buf\n    00000000  61 62                                             |ab||",
	       DUMP("ab"));
	EXPECT("buf%s|%x", "buf\n|6162", DUMP(""), DUMP("ab"));
	EXPECT("%s|", "\n    ip       0000000000000001  sp       0000000000000002|", REGS(regs));
}
