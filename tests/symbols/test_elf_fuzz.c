/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Real and made-up files, damaged in a way that can be repeated. Whatever comes of it, nothing is
 * read or written where it must not be: AddressSanitizer is the judge. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/made_elf.h"
#include "symbols/support.h"

TestSuite(elf_fuzz, .fini = remove_temporary);

static uint64_t state;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* All that the library does with a file. */
static void use(const unsigned char *bytes, size_t size)
{
	/* exactly as large as it is, so that one byte too far is seen */
	unsigned char *copy = malloc(size ? size : 1);
	struct weft_symtab_source source = {.fd = -1, .memory = copy, .size = size};
	struct weft_symtab elf;
	char name[WEFT_SYMTAB_NAME_MOST];

	memcpy(copy, bytes, size);
	if (weft_symtab_load(&source, 5000, &elf) == 0) {
		for (int i = 0; i < 20; i++) {
			uint64_t address = i % 2 ? next() : elf.base + next() % 0x4000;
			size_t index;

			weft_symtab_address(&elf, next() & ~0xfffull, next() % (size + 1), &address);
			if (weft_symtab_find(&elf, address, &index) == 0) {
				cr_assert_lt(index, elf.n_symbols);
				weft_symtab_name(&elf, &source, index, name,
						 i % 3 ? sizeof(name) : 2);
			}
		}
	}
	weft_symtab_finish(&elf);
	free(copy);
}

static const uint64_t evil[] = {0,       1,          0x7f,       0xff,      0x7fff,
				0xffff,  0x7fffffff, 0xffffffff, INT64_MAX, UINT64_MAX,
				0x10000, 0x1000,     0x40,       8};

/* Where the claims are: headers, and the section headers at the file's end. */
static void damage(unsigned char *bytes, size_t size)
{
	uint64_t shoff;
	int n = 1 + (int)(next() % 6);

	memcpy(&shoff, bytes + offsetof(Elf64_Ehdr, e_shoff), 8);
	while (n--) {
		size_t region = next() % 4, at, width = (size_t)1 << next() % 4;
		uint64_t value =
			next() % 2 ? evil[next() % (sizeof(evil) / sizeof(evil[0]))] : next();

		at = region == 0                   ? next() % sizeof(Elf64_Ehdr)
		     : region == 1                 ? sizeof(Elf64_Ehdr) + next() % 800
		     : region == 2 && shoff < size ? shoff + next() % (size - shoff)
						   : next() % size;
		if (at < size)
			memcpy(bytes + at, &value, width < size - at ? width : size - at);
	}
}

static void fuzz(const unsigned char *bytes, size_t size, uint64_t seed, int rounds)
{
	unsigned char *copy = malloc(size);

	for (int i = 0; i < rounds; i++) {
		state = seed + (uint64_t)i * 0x9e3779b97f4a7c15ull + 1;
		memcpy(copy, bytes, size);
		damage(copy, size);
		use(copy, next() % 8 ? size : next() % size);
	}
	free(copy);
}

static unsigned char *read_target(const char *name, size_t *size)
{
	char path[PATH_MAX];
	unsigned char *bytes;
	FILE *f;

	target_path(name, path);
	f = fopen(path, "r");
	cr_assert_not_null(f);
	fseek(f, 0, SEEK_END);
	*size = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(*size);
	cr_assert_eq(fread(bytes, 1, *size, f), *size);
	fclose(f);
	return bytes;
}

Test(elf_fuzz, real_files)
{
	static const char *const names[] = {"pie", "nopie", "stripped", "together",
					    "lib-separate-code"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t size;
		unsigned char *bytes = read_target(names[i], &size);

		fuzz(bytes, size, i << 32, 800);
		free(bytes);
	}
}

Test(elf_fuzz, made_up_files)
{
	static struct made_elf m;

	made_begin(&m);
	made_segment(&m, 0x1000, 0x1000, 0x1000);
	made_segment(&m, 0x2000, 0x6000, 0x800);
	for (uint64_t i = 0; i < 200; i++)
		made_symbol(&m, "name", 0x1000 + i * 8, i % 16, STT_FUNC, i % 2);
	made_end(&m);
	fuzz(m.bytes, sizeof(m.bytes), 77, 3000);
	/* as a 32-bit file, which it is not */
	m.bytes[EI_CLASS] = ELFCLASS32;
	fuzz(m.bytes, sizeof(m.bytes), 78, 1000);
}

Test(elf_fuzz, every_length)
{
	size_t size;
	unsigned char *bytes = read_target("stripped", &size);

	state = 1;
	for (size_t n = 0; n < 1500; n++)
		use(bytes, n);
	for (size_t n = size - 2500; n <= size; n += 7)
		use(bytes, n);
	free(bytes);
}

/* A file that shrinks after it was opened is an error, not a signal. */
Test(elf_fuzz, a_file_that_shrinks)
{
	struct weft_symtab_source source;
	char from[PATH_MAX], path[PATH_MAX], buf[64];
	struct weft_symtab elf;
	FILE *f;

	target_path("pie", from);
	temporary_path("shrinks", path);
	copy_file(from, path);
	f = fopen(path, "r+");
	fseek(f, 0, SEEK_END);
	source = (struct weft_symtab_source){.fd = fileno(f), .size = (uint64_t)ftell(f)};
	cr_assert_eq(weft_symtab_load(&source, 100000, &elf), 0);
	cr_assert_gt(elf.n_symbols, 0u);
	cr_assert_eq(ftruncate(fileno(f), 100), 0);
	cr_expect_eq(weft_symtab_name(&elf, &source, 0, buf, sizeof(buf)), -ENODATA);
	weft_symtab_finish(&elf);
	cr_expect_eq(weft_symtab_load(&source, 100000, &elf), -ENOEXEC);
	fclose(f);
}
