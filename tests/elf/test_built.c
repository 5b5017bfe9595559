/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files built for the purpose: what is read is what was written. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "elf/rig.h"

#define ALL (WEFT_ELF_WANT_FUNCTIONS | WEFT_ELF_WANT_DATA | WEFT_ELF_WANT_DEMANGLED)

static const char mark[] = "\xc3WEFTmark!";

/* The symbol's place in the file holds what the source put there. */
static void check_mark(const char *name, const struct weft_elf *elf)
{
	const struct weft_elf_symbol *s = find_symbol(elf, "target_marker", NULL);
	unsigned char *bytes;
	uint64_t address = 0;
	size_t n;

	cr_assert(s, "%s", name);
	bytes = contents(built(name), &n);
	cr_assert_leq(s->offset, n - 10, "%s", name);
	cr_assert_arr_eq(bytes + s->offset, mark, 10, "%s", name);
	cr_assert_eq(weft_elf_offset(elf, s->address), s->offset);
	cr_assert(weft_elf_address(elf, s->offset, &address));
	cr_assert_eq(address, s->address, "%s", name);
	cr_assert_eq(s->size, 10);
	free(bytes);
}

Test(elf_built, symbols_lie_where_the_file_has_their_bytes)
{
	static const struct {
		const char *name;
		uint32_t flags;
		uint16_t type;
		bool interpreted;
	} files[] = {
		{"pie", WEFT_ELF_PIE, 3, true},
		{"plain", WEFT_ELF_PIE, 3, true},
		{"nopie", 0, 2, true},
		{"static", WEFT_ELF_STATIC, 2, false},
		{"static-pie", WEFT_ELF_STATIC | WEFT_ELF_PIE, 3, false},
		{"together", WEFT_ELF_PIE, 3, true},
		{"library", 0, 3, false},
		{"linked", WEFT_ELF_PIE | WEFT_ELF_STRIPPED, 3, true},
		{"minidebug", WEFT_ELF_PIE | WEFT_ELF_STRIPPED, 3, true},
	};
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const struct weft_elf *elf =
			read_file(r, built(files[i].name), ALL | WEFT_ELF_WANT_DEBUG);

		cr_assert_eq(elf->flags, files[i].flags, "%s: %u", files[i].name, elf->flags);
		cr_assert_eq(elf->type, files[i].type, "%s", files[i].name);
		cr_assert_eq(!elf->interpreter, !files[i].interpreted, "%s", files[i].name);
		check_mark(files[i].name, elf);
		weft_elf_release(r, elf);
	}
	weft_elf_reader_destroy(r);
}

Test(elf_built, kinds_of_symbols)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	const struct weft_elf *elf = read_file(r, built("pie"), ALL);
	const struct weft_elf_symbol *marker = find_symbol(elf, "target_marker", NULL), *s;

	s = find_symbol(elf, "target_alias", NULL);
	cr_assert(s && s->address == marker->address, "aliases are kept");
	s = find_symbol(elf, "target_untyped", NULL);
	cr_assert(s && s->type == 0 && s->address == marker->address + 10);
	s = find_symbol(elf, "target_indirect", NULL);
	cr_assert(s && s->type == 10, "an indirect function says that it is one");
	s = find_symbol(elf, "target_local", NULL);
	cr_assert(s && s->binding == 0 && s->source == WEFT_ELF_SYMTAB);
	cr_assert_str_eq(s->unit, "target.c");
	cr_assert_null(marker->unit);
	s = find_symbol(elf, "target_data", NULL);
	cr_assert(s && s->type == 1 && s->size == 4);
	cr_assert_str_eq(weft_elf_section_at(elf, s->section)->name, ".data");
	cr_assert_neq(s->offset, WEFT_ELF_NO_OFFSET);
	s = find_symbol(elf, "target_bss", NULL);
	cr_assert(s && s->offset == WEFT_ELF_NO_OFFSET && s->size == 400);
	s = find_symbol(elf, "target_tls", NULL);
	cr_assert(s && s->type == 6 && s->offset == WEFT_ELF_NO_OFFSET);
	for (uint32_t i = 1; i < elf->n_symbols; i++)
		cr_assert_leq(weft_elf_symbol_at(elf, i - 1)->address,
			      weft_elf_symbol_at(elf, i)->address);
	s = weft_elf_symbol_at(elf, weft_elf_symbol_from(elf, marker->address));
	cr_assert_eq(s->address, marker->address);
	weft_elf_release(r, elf);

	/* What is not wanted is not read. */
	elf = read_file(r, built("nopie"), WEFT_ELF_WANT_FUNCTIONS);
	cr_assert_null(find_symbol(elf, "target_data", NULL));
	cr_assert(find_symbol(elf, "target_marker", NULL));
	weft_elf_release(r, elf);
	weft_elf_reader_destroy(r); /* it would answer from memory */
	r = weft_elf_reader_create(NULL);
	elf = read_file(r, built("nopie"), 0);
	cr_assert_eq(elf->n_symbols, 0);
	cr_assert_eq(elf->build_id_size, 20);
	weft_elf_release(r, elf);
	weft_elf_reader_destroy(r);
}

Test(elf_built, names_of_cxx_and_rust)
{
	static const struct {
		const char *name, *demangled, *plain;
	} names[] = {
		{"_ZN2ns4type6methodEi", "ns::type::method(int)", "ns::type::method"},
		{"_ZN2ns5twiceIiEET_S1_", "int ns::twice<int>(int)", "ns::twice<int>"},
		{"_RNvCs1234_7mycrate3foo", "mycrate::foo", "mycrate::foo"},
		{"_ZN7mycrate3bar17h05af221e174051e9E", "mycrate::bar", "mycrate::bar"},
	};
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	const struct weft_elf *elf = read_file(r, built("pie"), ALL);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct weft_elf_symbol *s = find_symbol(elf, names[i].name, NULL);

		cr_assert(s && s->demangled && s->plain, "%s", names[i].name);
		cr_expect_str_eq(s->demangled, names[i].demangled);
		cr_expect_str_eq(s->plain, names[i].plain);
	}
	cr_assert_null(find_symbol(elf, "target_marker", NULL)->demangled);
	weft_elf_release(r, elf);
	weft_elf_reader_destroy(r);
}

Test(elf_built, versions)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	const struct weft_elf *elf = read_file(r, built("library"), ALL);
	const struct weft_elf_symbol *old = find_symbol(elf, "versioned", "V1");
	const struct weft_elf_symbol *new = find_symbol(elf, "versioned", "V2");
	unsigned int n = 0;

	cr_assert_str_eq(elf->soname, "libtarget.so.1");
	cr_assert(old && new);
	cr_assert_neq(old->address, new->address);
	cr_assert_eq(old->flags & WEFT_ELF_DEFAULT_VERSION, 0);
	cr_assert_eq(new->flags &WEFT_ELF_DEFAULT_VERSION, WEFT_ELF_DEFAULT_VERSION);
	/* In both tables, and here once. */
	for (uint32_t i = 0; i < elf->n_symbols; i++)
		n += !strcmp(weft_elf_symbol_at(elf, i)->name, "versioned");
	cr_assert_eq(n, 2);
	weft_elf_release(r, elf);
	weft_elf_reader_destroy(r);
}
