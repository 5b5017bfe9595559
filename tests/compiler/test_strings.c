/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Strings: predicates on them, strings from memory, padding, truncation, memory that is not there. */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "rig.h"

static const struct weft_loc_op pointer[1] = {{.op = WEFT_LOC_CTX, .size = 8, .imm = 0}};
static const struct weft_loc_op pointer_length[2] = {{.op = WEFT_LOC_CTX, .size = 8, .imm = 0},
						     {.op = WEFT_LOC_CTX, .size = 8, .imm = 8}};
static const struct weft_loc_op second[1] = {{.op = WEFT_LOC_CTX, .size = 8, .imm = 16}};

static void expect_name(const char *name, const char *expression, bool truth)
{
	struct rig r;

	cr_assert(!prctl(PR_SET_NAME, name));
	rig_init(&r);
	rig_clause(&r, expression, "count", "into||c", NULL);
	rig_load(&r);
	rig_run(&r, NULL);
	cr_expect(rig_slot(&r, "c", 0) == truth, "%s with the name `%s`", expression, name);
	cr_expect(!rig_losses(&r));
	rig_finish(&r);
}

Test(compiler_strings, execname)
{
	expect_name("bash", "execname == \"bash\"", true);
	expect_name("bash", "execname != \"bash\"", false);
	expect_name("bash", "\"bash\" == execname", true);
	expect_name("bas", "execname == \"bash\"", false);
	expect_name("bashX", "execname == \"bash\"", false);
	expect_name("", "execname == \"\"", true);
	expect_name("x", "execname == \"\"", false);
	expect_name("sevenby", "execname == \"sevenby\"", true);
	expect_name("eightbyt", "execname == \"eightbyt\"", true);
	expect_name("eightbytX", "execname == \"eightbyt\"", false);
	expect_name("fifteen-letters", "execname == \"fifteen-letters\"", true);
	expect_name("fifteen-letters", "execname == \"fifteen-letterX\"", false);
	expect_name("bash", "execname == execname", true);
	expect_name("bash", "(execname == \"bash\") + 1 == 2", true);
	expect_name("bash", "(pid ? execname : \"none\") == \"bash\"", true);
	expect_name("none", "(pid ? \"other\" : execname) == execname", false);
	expect_name("zsh", "execname == \"bash\" || execname == \"zsh\"", true);
	expect_name("zsh", "!(execname == \"bash\") && !(execname != \"zsh\")", true);
}

/* One string argument from user memory, as key. */
static void load_string(struct rig *r, const struct weft_loc_op *ops, uint32_t n, uint32_t space,
			uint32_t strsize)
{
	rig_init(r);
	r->set.options.strsize = strsize;
	rig_place(r, 0, WEFT_TYPE_STRING, space, ops, n);
	rig_clause(r, NULL, "count", "into||c", "by|s|arg0", NULL);
	rig_load(r);
}

static uint64_t count_of(struct rig *r, const char *key, uint32_t cap)
{
	struct rig_row rows[32];
	char padded[1024] = {0};
	size_t n = rig_rows(r, rig_agg(r, "c")->map, rows, N(rows));

	strncpy(padded, key, sizeof(padded) - 1);
	for (size_t i = 0; i < n; i++)
		if (!memcmp(rows[i].key, padded, cap))
			return rows[i].value[0];
	return 0;
}

Test(compiler_strings, from_user_memory)
{
	static const uint32_t sizes[] = {8, 16, 13, 64, 128, 1024};

	for (size_t i = 0; i < N(sizes); i++) {
		char text[] = "hello";
		const uint64_t words[RIG_ARGS] = {(uintptr_t)text};
		struct rig r;

		load_string(&r, pointer, 1, WEFT_SPACE_USER, sizes[i]);
		rig_run(&r, words);
		strcpy(text, "hi");
		rig_run(&r, words);
		rig_run(&r, words);
		cr_expect(count_of(&r, "hello", sizes[i]) == 1, "size %u", sizes[i]);
		cr_expect(count_of(&r, "hi", sizes[i]) == 2,
			  "size %u: nothing of an earlier string is left", sizes[i]);
		cr_expect(!rig_losses(&r));
		rig_finish(&r);
	}
}

/* STRING_TRUNCATED: a string that just fits is none, one byte more is. */
Test(compiler_strings, STRING_TRUNCATED)
{
	static const char fits[] = "1234567", over[] = "12345678", longer[] = "123456789";
	const char *const texts[] = {fits, over, longer};

	for (size_t i = 0; i < N(texts); i++) {
		const uint64_t words[RIG_ARGS] = {(uintptr_t)texts[i]};
		struct rig r;

		load_string(&r, pointer, 1, WEFT_SPACE_USER, 8);
		rig_run(&r, words);
		cr_expect(count_of(&r, "1234567", 8) == 1);
		cr_expect(rig_loss(&r, WEFT_LOSS_STRING_TRUNCATED) == (i > 0), "%s", texts[i]);
		cr_expect(rig_losses(&r) == (i > 0));
		rig_finish(&r);
	}
}

/* A string with a length need not end in NUL. */
Test(compiler_strings, with_length)
{
	static const char text[] = "abcdef";
	const uint64_t words[RIG_ARGS] = {(uintptr_t)text, 4}, all[RIG_ARGS] = {(uintptr_t)text, 7};
	struct rig r;

	load_string(&r, pointer_length, 2, WEFT_SPACE_USER, 16);
	rig_run(&r, all);
	cr_expect(count_of(&r, "abcdef", 16) == 1);
	rig_run(&r, words);
	cr_expect(count_of(&r, "abcd", 16) + count_of(&r, "abc", 16) == 1);
	cr_expect(!rig_losses(&r));
	rig_finish(&r);
}

/* NOT_RESIDENT: a page that nobody touched is a fault in a program that cannot wait. */
Test(compiler_strings, NOT_RESIDENT)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t words[RIG_ARGS] = {(uintptr_t)page};
	struct rig_row rows[2];
	struct rig r;

	cr_assert(page != MAP_FAILED);
	load_string(&r, pointer, 1, WEFT_SPACE_USER, 16);
	rig_run(&r, words);
	cr_expect(rig_loss(&r, WEFT_LOSS_NOT_RESIDENT) == 1 && rig_losses(&r) == 1);
	cr_expect(rig_rows(&r, rig_agg(&r, "c")->map, rows, 2) == 0, "no invented value");
	strcpy(page, "there");
	rig_run(&r, words);
	cr_expect(count_of(&r, "there", 16) == 1 && rig_losses(&r) == 1);
	rig_finish(&r);
}

/* FAULT_ADDRESS: kernel memory that is not there. */
Test(compiler_strings, FAULT_ADDRESS)
{
	const uint64_t words[RIG_ARGS] = {0x10};
	struct rig r;

	load_string(&r, pointer, 1, WEFT_SPACE_KERNEL, 16);
	rig_run(&r, words);
	cr_expect(rig_loss(&r, WEFT_LOSS_FAULT_ADDRESS) == 1 && rig_losses(&r) == 1);
	rig_finish(&r);
}

static uint64_t compare(const char *expression, const char *a, const char *b)
{
	const uint64_t words[RIG_ARGS] = {(uintptr_t)a, 0, (uintptr_t)b};
	uint64_t n;
	struct rig r;

	rig_init(&r);
	r.set.options.strsize = 96;
	rig_place(&r, 0, WEFT_TYPE_STRING, WEFT_SPACE_USER, pointer, 1);
	rig_place(&r, 2, WEFT_TYPE_STRING, WEFT_SPACE_USER, second, 1);
	rig_clause(&r, expression, "count", "into||c", NULL);
	rig_load(&r);
	rig_run(&r, words);
	n = rig_slot(&r, "c", 0);
	cr_expect(!rig_losses(&r));
	rig_finish(&r);
	return n;
}

Test(compiler_strings, compared_with_each_other)
{
	cr_expect(compare("arg0 == arg2", "one", "one") == 1);
	cr_expect(compare("arg0 == arg2", "one", "ones") == 0);
	cr_expect(compare("arg0 != arg2", "one", "two") == 1);
	cr_expect(compare("arg0 == \"one\"", "one", "") == 1);
	cr_expect(compare("arg0 == \"one\"", "ones", "") == 0);
	cr_expect(compare("arg2 == \"a string of more than eight bytes\"", "",
			  "a string of more than eight bytes") == 1);
	cr_expect(compare("arg2 == \"a string of more than eight bytes\"", "",
			  "a string of more than eight bytez") == 0);
	cr_expect(compare("execname == arg0", "certainly-not", "") == 0);
}
