/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* ELF files made up in memory, for what linkers seldom do. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "symbols/made_elf.h"

static struct made_elf m;

static void load(struct weft_symtab *elf, int want)
{
	cr_assert_eq(made_load(&m, 1000, elf), want);
}

static void expect(const struct weft_symtab *elf, uint64_t address, const char *name)
{
	size_t index;
	int r = weft_symtab_find(elf, address, &index);

	if (!name) {
		cr_expect_eq(r, -ENOENT, "%#x", (unsigned int)address);
		return;
	}
	cr_assert_eq(r, 0, "%#x is nothing, not %s", (unsigned int)address, name);
	cr_expect_str_eq(weft_symtab_name(elf, index), name);
}

Test(elf, two_executable_segments_in_one_page_of_the_file)
{
	struct weft_symtab elf;
	uint64_t address;

	made_begin(&m);
	made_segment(&m, 0x1000, 0x401000, 0x800);
	made_segment(&m, 0x1800, 0x602800, 0x100);
	made_symbol(&m, "low", 0x401000, 0x800, STT_FUNC, STB_GLOBAL);
	made_symbol(&m, "high", 0x602800, 0x100, STT_FUNC, STB_GLOBAL);
	made_end(&m);
	load(&elf, 0);
	cr_expect(weft_symtab_address(&elf, 0x1000, 0x1010, &address) && address == 0x401010);
	cr_expect(weft_symtab_address(&elf, 0x1000, 0x1810, &address) && address == 0x602810);
	cr_expect_not(weft_symtab_address(&elf, 0x1000, 0x1900, &address));
	cr_expect_not(weft_symtab_address(&elf, 0, 0xfff, &address));
	expect(&elf, 0x401010, "low");
	expect(&elf, 0x602810, "high");
	expect(&elf, 0x602900, NULL);
	weft_symtab_finish(&elf);
}

Test(elf, bytes_that_two_segments_map)
{
	struct weft_symtab elf;
	uint64_t address;

	made_begin(&m);
	made_segment(&m, 0x1000, 0x401000, 0x3000);
	made_segment(&m, 0x2000, 0x702000, 0x1000);
	made_end(&m);
	load(&elf, 0);
	/* the mapping's own beginning tells which it is */
	cr_expect(weft_symtab_address(&elf, 0x1000, 0x2010, &address) && address == 0x402010);
	cr_expect(weft_symtab_address(&elf, 0x2000, 0x2010, &address) && address == 0x702010);
	weft_symtab_finish(&elf);
}

Test(elf, nested_overlapping_and_without_size)
{
	struct weft_symtab elf;

	made_begin(&m);
	made_segment(&m, 0x1000, 0x1000, 0x1000);
	made_symbol(&m, "outer", 0x1000, 0x100, STT_FUNC, STB_LOCAL);
	made_symbol(&m, "inner", 0x1040, 0x10, STT_FUNC, STB_LOCAL);
	made_symbol(&m, "label_in_outer", 0x1080, 0, STT_NOTYPE, STB_GLOBAL);
	made_symbol(&m, "soft", 0x1200, 0, STT_FUNC, STB_GLOBAL);
	made_symbol(&m, "next", 0x1240, 8, STT_FUNC, STB_GLOBAL);
	made_symbol(&m, "local_label", 0x1220, 0, STT_NOTYPE, STB_LOCAL);
	made_symbol(&m, "object", 0x1300, 8, STT_OBJECT, STB_GLOBAL);
	made_symbol(&m, "outside", 0x9000, 8, STT_FUNC, STB_GLOBAL);
	made_symbol(&m, "last_soft", 0x1f00, 0, STT_FUNC, STB_GLOBAL);
	made_symbol(&m, "too_long", 0x1e00, 0x10000, STT_FUNC, STB_GLOBAL);
	made_end(&m);
	load(&elf, 0);
	expect(&elf, 0x0fff, NULL);
	expect(&elf, 0x1000, "outer");
	expect(&elf, 0x1040, "inner");
	expect(&elf, 0x104f, "inner");
	expect(&elf, 0x1050, "outer");
	expect(&elf, 0x1090, "outer");
	expect(&elf, 0x1100, NULL);
	expect(&elf, 0x1200, "soft");
	expect(&elf, 0x123f, "soft");
	expect(&elf, 0x1240, "next");
	expect(&elf, 0x1248, NULL);
	expect(&elf, 0x1300, NULL);
	expect(&elf, 0x1fff, "too_long"); /* cut at the end of its section; it has a size */
	expect(&elf, 0x2000, NULL);
	expect(&elf, 0x9000, NULL);
	weft_symtab_finish(&elf);
}

Test(elf, an_outer_symbol_behind_many_inner_ones)
{
	struct weft_symtab elf;

	made_begin(&m);
	made_segment(&m, 0x1000, 0x1000, 0x4000);
	made_symbol(&m, "outer", 0x1000, 0x3000, STT_FUNC, STB_GLOBAL);
	for (uint64_t i = 0; i < 500; i++)
		made_symbol(&m, "inner", 0x1010 + i * 16, 8, STT_FUNC, STB_GLOBAL);
	made_end(&m);
	load(&elf, 0);
	for (uint64_t i = 0; i < 500; i += 7) {
		expect(&elf, 0x1010 + i * 16, "inner");
		expect(&elf, 0x1018 + i * 16, "outer");
	}
	expect(&elf, 0x3fff, "outer");
	expect(&elf, 0x4000, NULL);
	weft_symtab_finish(&elf);
}

Test(elf, aliases)
{
	struct weft_symtab elf;

	made_begin(&m);
	made_segment(&m, 0x1000, 0x1000, 0x1000);
	made_symbol(&m, "r", 0x1000, 8, STT_FUNC, STB_LOCAL);
	made_symbol(&m, "__read", 0x1000, 8, STT_FUNC, STB_GLOBAL);
	made_symbol(&m, "read@@GLIBC_2.2.5", 0x1000, 8, STT_FUNC, STB_WEAK);
	made_symbol(&m, "readlong", 0x1000, 8, STT_FUNC, STB_GLOBAL);
	made_symbol(&m, "zz", 0x1100, 8, STT_FUNC, STB_GLOBAL);
	made_symbol(&m, "aa", 0x1100, 8, STT_FUNC, STB_GLOBAL);
	made_end(&m);
	load(&elf, 0);
	expect(&elf, 0x1001, "read");
	expect(&elf, 0x1107, "aa");
	weft_symtab_finish(&elf);
}

Test(elf, claims_that_do_not_hold)
{
	static const struct {
		size_t offset, size;
		uint64_t value;
		int want;
	} cases[] = {
		{0, 1, 0, -ENOEXEC}, /* magic */
		{EI_CLASS, 1, 3, -ENOEXEC},
		{EI_DATA, 1, 3, -ENOEXEC},
		{offsetof(Elf64_Ehdr, e_phoff), 8, UINT64_MAX - 8, -ENOEXEC},
		{offsetof(Elf64_Ehdr, e_phoff), 8, MADE_SIZE, -ENOEXEC},
		/* what the kernel would not mind either is read as far as it can be */
		{offsetof(Elf64_Ehdr, e_shoff), 8, UINT64_MAX - 8, 0},
		{offsetof(Elf64_Ehdr, e_shoff), 8, MADE_SIZE - 8, 0},
		{offsetof(Elf64_Ehdr, e_phentsize), 2, 8, 0},
		{offsetof(Elf64_Ehdr, e_shentsize), 2, 8, 0},
		{offsetof(Elf64_Ehdr, e_phnum), 2, 0xfffe, -ENOEXEC},
		{offsetof(Elf64_Ehdr, e_shnum), 2, 0xfffe, 0},
		{offsetof(Elf64_Ehdr, e_shoff), 8, 0, 0}, /* no sections: no symbols */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_symtab elf;

		made_begin(&m);
		made_segment(&m, 0x1000, 0x1000, 0x1000);
		made_symbol(&m, "f", 0x1000, 8, STT_FUNC, STB_GLOBAL);
		made_end(&m);
		memcpy(m.bytes + cases[i].offset, &cases[i].value, cases[i].size);
		cr_expect_eq(made_load(&m, 1000, &elf), cases[i].want, "case %zu", i);
		weft_symtab_finish(&elf);
	}
}

Test(elf, limits)
{
	struct weft_symtab elf;

	made_begin(&m);
	made_segment(&m, 0x1000, 0x1000, 0x1000);
	for (int i = 0; i < 10; i++)
		made_symbol(&m, "f", 0x1000 + (uint64_t)i, 1, STT_FUNC, STB_GLOBAL);
	made_end(&m);
	cr_expect_eq(made_load(&m, 10, &elf), 0);
	cr_expect_eq(elf.n_symbols, 10u);
	weft_symtab_finish(&elf);
	cr_expect_eq(made_load(&m, 9, &elf), -EFBIG);
	cr_expect_eq(elf.n_symbols, 0u);
	m.size = 0;
	cr_expect_eq(made_load(&m, 10, &elf), -ENOEXEC);
	made_begin(&m);
	for (int i = 0; i < 40; i++)
		made_segment(&m, 0x1000, 0x1000, 0x1000);
	made_end(&m);
	cr_expect_eq(made_load(&m, 10, &elf), -EFBIG);
}
