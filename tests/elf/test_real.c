/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files of the system, read as readelf reads them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/rig.h"

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"

Test(elf_real, libc_is_described)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	const struct weft_elf *elf =
		read_file(r, LIBC, WEFT_ELF_WANT_FUNCTIONS | WEFT_ELF_WANT_DATA);
	const struct weft_elf_symbol *s;

	cr_assert_str_eq(elf->soname, "libc.so.6");
	cr_assert_eq(elf->type, 3);
	cr_assert_eq(elf->machine, 62);
	cr_assert_eq(elf->wide, 1);
	cr_assert_eq(elf->flags, WEFT_ELF_STRIPPED);
	cr_assert_eq(elf->build_id_size, 20);
	cr_assert_eq(elf->n_sections, told("readelf -SW %s | grep -c '^  \\[ *[0-9]'", LIBC));
	cr_assert_eq(elf->n_segments, told("readelf -lW %s | grep -c '^  LOAD'", LIBC));
	/* One symbol a line, less what is undefined, absolute, and the names of versions. */
	cr_assert_eq(elf->n_symbols,
		     told("readelf --dyn-syms -W %s | awk "
			  "'$7 ~ /^[0-9]+$/ && $4 ~ /FUNC|OBJECT|TLS|NOTYPE/' | wc -l",
			  LIBC));
	s = find_symbol(elf, "memcpy", "GLIBC_2.14");
	cr_assert(s && s->type == 10 && s->flags & WEFT_ELF_DEFAULT_VERSION);
	s = find_symbol(elf, "memcpy", "GLIBC_2.2.5");
	cr_assert(s && !(s->flags & WEFT_ELF_DEFAULT_VERSION));
	s = find_symbol(elf, "malloc", NULL);
	cr_assert(s && s->type == 2 && s->source == WEFT_ELF_DYNSYM);
	cr_assert_eq(s->offset, weft_elf_offset(elf, s->address));
	cr_assert_str_eq(weft_elf_section_at(elf, s->section)->name, ".text");
	cr_assert_eq(s->address, told("readelf --dyn-syms -W %s | awk '$8 ~ /^malloc@/ {print "
				      "\"0x\"$2}'",
				      LIBC));
	weft_elf_release(r, elf);
	weft_elf_reader_destroy(r);
}

Test(elf_real, cxx_names_are_demangled)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	const struct weft_elf *elf =
		read_file(r, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
			  WEFT_ELF_WANT_FUNCTIONS | WEFT_ELF_WANT_DEMANGLED | WEFT_ELF_WANT_NOTES);
	const struct weft_elf_symbol *s = find_symbol(elf, "_ZNSs6appendEPKcm", NULL);
	unsigned int probes = 0;

	cr_assert(s);
	cr_assert_str_eq(s->demangled, "std::string::append(char const*, unsigned long)");
	cr_assert_str_eq(s->plain, "std::string::append");
	for (uint32_t i = 0; i < elf->n_notes; i++) {
		const struct weft_elf_note *n = weft_elf_note_at(elf, i);

		if (!strcmp(n->section, ".note.stapsdt") && !strcmp(n->name, "stapsdt"))
			probes++;
	}
	cr_assert_eq(probes, 3);
	weft_elf_release(r, elf);
	weft_elf_reader_destroy(r);
}

Test(elf_real, one_reading_serves_those_who_follow)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	const struct weft_elf *a = read_file(r, LIBC, WEFT_ELF_WANT_FUNCTIONS);
	const struct weft_elf *b = read_file(r, LIBC, WEFT_ELF_WANT_FUNCTIONS);
	const struct weft_elf *c = read_file(r, LIBC, WEFT_ELF_WANT_NOTES);

	cr_assert_eq(a, b);
	cr_assert_neq(a, c);
	weft_elf_release(r, a);
	cr_assert_str_eq(b->soname, "libc.so.6");
	weft_elf_release(r, b);
	weft_elf_release(r, c);
	weft_elf_reader_destroy(r);
}

/* Every symbol that nm lists, by name, version and address, and no other. */
static void as_nm(const char *path)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	const struct weft_elf *elf =
		read_file(r, path, WEFT_ELF_WANT_FUNCTIONS | WEFT_ELF_WANT_DATA);
	char command[512], line[16384];
	unsigned int n = 0, listed = 0;
	FILE *f;

	snprintf(command, sizeof(command), "nm -D --defined-only '%s'", path);
	f = popen(command, "r");
	cr_assert(f);
	while (fgets(line, sizeof(line), f)) {
		char *end, *name, *version;
		uint64_t address = strtoull(line, &end, 16);
		uint32_t i;

		if (end - line < 16 || end[1] == 'A') /* the names of versions */
			continue;
		listed++;
		name = end + 3;
		name[strcspn(name, "\n")] = '\0';
		version = strchr(name, '@');
		if (version) {
			*version++ = '\0';
			version += *version == '@';
		}
		for (i = weft_elf_symbol_from(elf, address); i < elf->n_symbols; i++) {
			const struct weft_elf_symbol *s = weft_elf_symbol_at(elf, i);

			if (s->address != address) {
				i = elf->n_symbols;
				break;
			}
			/* A program has copies of others' variables, which nm shows with theirs. */
			if (!strcmp(s->name, name) &&
			    (!elf->soname ||
			     !strcmp(s->version ? s->version : "", version ? version : "")))
				break;
		}
		cr_expect_lt(i, elf->n_symbols, "%s: %s@%s is not there", path, name,
			     version ? version : "");
		n += i < elf->n_symbols;
	}
	pclose(f);
	cr_expect_gt(n, 100, "%s", path);
	cr_expect_eq(elf->n_symbols, listed, "%s: %u of %u", path, elf->n_symbols, listed);
	weft_elf_release(r, elf);
	weft_elf_reader_destroy(r);
}

Test(elf_real, as_nm_lists_them)
{
	as_nm(LIBC);
	as_nm("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
	as_nm("/bin/bash");
	as_nm("/usr/bin/python3.11");
}
