/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files that are no plugin, no shared object or no longer one. */
#include "support.h"

#include <elf.h>
#include <sys/prctl.h>

#include "plugins/image.h"

static void with_scratch(void)
{
	scratch_create();
}

TestSuite(loader_file, .init = with_scratch, .fini = scratch_remove);

/* ---- not regular, not readable ---- */

Test(loader_file, PLUGIN_OPEN)
{
	cr_assert_eq(mkdir(in_scratch("x.so"), 0755), 0);
	expect_rejected(scratch_path, "PLUGIN_OPEN", "x.so is a directory");
	cr_assert_eq(rmdir(in_scratch("x.so")), 0);

	/* Opening it would wait for a writer. */
	cr_assert_eq(mkfifo(in_scratch("x.so"), 0644), 0);
	expect_rejected(scratch_path, "PLUGIN_OPEN", "x.so is a FIFO");
	cr_assert_eq(unlink(in_scratch("x.so")), 0);

	cr_assert_eq(symlink("nowhere", in_scratch("x.so")), 0);
	expect_rejected(scratch_path, "PLUGIN_OPEN", "x.so", "No such file");
	cr_assert_eq(unlink(in_scratch("x.so")), 0);

	cr_assert_eq(symlink("x.so", in_scratch("x.so")), 0);
	expect_rejected(scratch_path, "PLUGIN_OPEN", "x.so", "Too many levels");
	cr_assert_eq(unlink(in_scratch("x.so")), 0);

	cr_assert_eq(symlink("/dev/null", in_scratch("x.so")), 0);
	expect_rejected(scratch_path, "PLUGIN_OPEN", "x.so is a device");
	cr_assert_eq(unlink(in_scratch("x.so")), 0);

	write_file(in_scratch("x.so"), "", 0);
	cr_assert_eq(truncate(in_scratch("x.so"), (off_t)WEFT_PLUGIN_MAX_FILE + 1), 0);
	expect_rejected(scratch_path, "PLUGIN_OPEN", "268435457 bytes");
}

/* Root reads everything; the test needs a user who does not. */
Test(loader_file, unreadable_file)
{
	copy_file(GOOD, in_scratch("x.so"));
	cr_assert_eq(chmod(in_scratch("x.so"), 0), 0);
	if (geteuid() == 0)
		cr_assert_eq(setresuid(65534, 65534, 0), 0);
	expect_rejected(scratch_path, "PLUGIN_OPEN", "x.so", "Permission denied");
	cr_assert(geteuid() == 65534 ? setresuid(0, 0, 0) == 0 : true);
}

/* ---- not ELF, not of this machine ---- */

static void expect_bytes_rejected(const void *bytes, size_t size, const char *tag, const char *text)
{
	write_file(in_scratch("x.so"), bytes, size);
	expect_rejected(scratch_path, tag, "x.so", text);
}

Test(loader_file, PLUGIN_NOT_ELF)
{
	size_t size;
	unsigned char *bytes = read_file(GOOD, &size);

	expect_bytes_rejected("", 0, "PLUGIN_NOT_ELF", "is empty");
	expect_bytes_rejected("#!/bin/sh\n", 10, "PLUGIN_NOT_ELF", "is not an ELF file");
	expect_bytes_rejected("\177ELF", 4, "PLUGIN_NOT_ELF", "ends within its header");
	expect_bytes_rejected("!<arch>\n", 8, "PLUGIN_NOT_ELF", "is not an ELF file");
	((Elf64_Ehdr *)bytes)->e_type = ET_REL;
	expect_bytes_rejected(bytes, size, "PLUGIN_NOT_ELF", "not linked");
	((Elf64_Ehdr *)bytes)->e_type = ET_EXEC;
	expect_bytes_rejected(bytes, size, "PLUGIN_NOT_ELF", "is a program");
	((Elf64_Ehdr *)bytes)->e_type = ET_DYN;
	((Elf64_Ehdr *)bytes)->e_shnum = 0;
	expect_bytes_rejected(bytes, size, "PLUGIN_NOT_ELF", "no sections");
	free(bytes);
}

Test(loader_file, PLUGIN_FOREIGN)
{
	size_t size;
	unsigned char *bytes = read_file(GOOD, &size);
	Elf64_Ehdr *head = (Elf64_Ehdr *)bytes;
	uint16_t machine = head->e_machine;

	head->e_machine = EM_S390;
	expect_bytes_rejected(bytes, size, "PLUGIN_FOREIGN", "for s390");
	head->e_machine = machine == EM_X86_64 ? EM_AARCH64 : EM_X86_64;
	expect_bytes_rejected(bytes, size, "PLUGIN_FOREIGN",
			      machine == EM_X86_64 ? "for arm64" : "for x86-64");
	head->e_machine = 0xfedc;
	expect_bytes_rejected(bytes, size, "PLUGIN_FOREIGN", "ELF machine 65244");
	head->e_machine = machine;
	bytes[EI_CLASS] = ELFCLASS32;
	expect_bytes_rejected(bytes, size, "PLUGIN_FOREIGN", "32-bit");
	bytes[EI_CLASS] = ELFCLASS64;
	bytes[EI_DATA] = ELFDATA2MSB;
	expect_bytes_rejected(bytes, size, "PLUGIN_FOREIGN", "big-endian");
	free(bytes);
}

Test(loader_file, names_of_files_are_made_printable)
{
	write_file(in_scratch("\x1b[31m.so"), "", 0);
	expect_rejected(scratch_path, "PLUGIN_NOT_ELF", "\\x1b[31m.so is empty");
}

/* ---- damaged ---- */

/* Sections by type, of a file that is known to be good. */
static Elf64_Shdr *section_of(unsigned char *bytes, uint32_t type)
{
	Elf64_Ehdr *head = (Elf64_Ehdr *)bytes;
	Elf64_Shdr *sh = (Elf64_Shdr *)(bytes + head->e_shoff);

	for (unsigned int i = 0; i < head->e_shnum; i++) {
		if (sh[i].sh_type == type)
			return &sh[i];
	}
	cr_assert_fail("no section of type %u", type);
	return NULL;
}

static Elf64_Sym *symbol_of(unsigned char *bytes)
{
	Elf64_Ehdr *head = (Elf64_Ehdr *)bytes;
	Elf64_Shdr *table = section_of(bytes, SHT_DYNSYM);
	Elf64_Shdr *names = (Elf64_Shdr *)(bytes + head->e_shoff) + table->sh_link;
	Elf64_Sym *sym = (Elf64_Sym *)(bytes + table->sh_offset);

	for (size_t i = 0; i < table->sh_size / sizeof(*sym); i++) {
		if (strcmp((char *)bytes + names->sh_offset + sym[i].st_name,
			   WEFT_PROVIDER_SYMBOL) == 0)
			return &sym[i];
	}
	cr_assert_fail("no symbol");
	return NULL;
}

static Elf64_Rela *relocation_of(unsigned char *bytes, uint64_t address)
{
	Elf64_Shdr *table = section_of(bytes, SHT_RELA);
	Elf64_Rela *rela = (Elf64_Rela *)(bytes + table->sh_offset);

	for (size_t i = 0; i < table->sh_size / sizeof(*rela); i++) {
		if (rela[i].r_offset == address)
			return &rela[i];
	}
	cr_assert_fail("no relocation");
	return NULL;
}

#ifdef WEFT_LINKS_RELR
/* The fixtures of that name are what they say; loader_test.c has the rest. */
Test(loader_file, packed_relocations_are_packed)
{
	size_t size;
	unsigned char *bytes = read_file(FIXTURE_DIR "/relr/relr.so", &size);

	cr_expect_gt(section_of(bytes, SHT_RELR)->sh_size, 0);
	free(bytes);
}
#endif

Test(loader_file, relocations_where_they_may_not_be)
{
	size_t size;
	unsigned char *bytes = read_file(GOOD, &size);
	Elf64_Rela *summary;
	uint64_t begin = symbol_of(bytes)->st_value;

	summary = relocation_of(bytes, begin + offsetof(struct weft_provider, summary));
	summary->r_offset = begin;
	expect_bytes_rejected(bytes, size, "PLUGIN_SYMBOL", "written by the dynamic linker");
	summary->r_offset = begin - 4;
	expect_bytes_rejected(bytes, size, "PLUGIN_SYMBOL", "written by the dynamic linker");
	summary->r_offset = begin + offsetof(struct weft_provider, summary) + 4;
	expect_bytes_rejected(bytes, size, "PLUGIN_SYMBOL", "across two of its members");
	free(bytes);
}

Test(loader_file, symbols_that_lead_nowhere)
{
	size_t size;
	unsigned char *bytes = read_file(GOOD, &size);
	Elf64_Sym *symbol = symbol_of(bytes), good = *symbol;

	symbol->st_value = UINT64_MAX & ~UINT64_C(7);
	expect_bytes_rejected(bytes, size, "PLUGIN_NOT_ELF", "outside the file");
	*symbol = good;
	symbol->st_value += 4;
	expect_bytes_rejected(bytes, size, "PLUGIN_SYMBOL", "not aligned");
	*symbol = good;
	symbol->st_shndx = SHN_ABS;
	expect_bytes_rejected(bytes, size, "PLUGIN_SYMBOL", "in no section");
	symbol->st_shndx = 0xfe00;
	expect_bytes_rejected(bytes, size, "PLUGIN_SYMBOL", "in no section");
	*symbol = good;
	symbol->st_info = STB_GLOBAL << 4 | STT_NOTYPE;
	expect_bytes_rejected(bytes, size, "PLUGIN_SYMBOL", "no variable");
	*symbol = good;
	symbol->st_size = sizeof(struct weft_provider) - 8;
	expect_bytes_rejected(bytes, size, "PLUGIN_STRUCT_SHORT", "bytes long");
	free(bytes);
}

/* Every section header says that it is the whole file's relocations: reading each would take as
 * many times the size of the file. */
Test(loader_file, sections_that_share_their_bytes)
{
	size_t good_size, size, table;
	unsigned char *good = read_file(GOOD, &good_size), *bytes;
	unsigned int count = SHN_LORESERVE - 1;
	Elf64_Ehdr *head;
	Elf64_Shdr *sh;

	table = (good_size + 15) & ~(size_t)15;
	size = table + count * sizeof(*sh);
	bytes = calloc(1, size);
	cr_assert(bytes);
	memcpy(bytes, good, good_size);
	head = (Elf64_Ehdr *)bytes;
	sh = (Elf64_Shdr *)(bytes + table);
	memcpy(sh, good + head->e_shoff, head->e_shnum * sizeof(*sh));
	for (unsigned int i = head->e_shnum; i < count; i++)
		sh[i] = (Elf64_Shdr){.sh_type = SHT_RELA,
				     .sh_flags = SHF_ALLOC,
				     .sh_size = size / 24 * 24,
				     .sh_entsize = 24};
	head->e_shoff = table;
	head->e_shnum = (uint16_t)count;
	expect_bytes_rejected(bytes, size, "PLUGIN_NOT_ELF", "relocations cannot be read");
	free(bytes);
	free(good);
}

/* The check of the file alone: what a damaged file does to the dynamic linker is not the question. */
static int check_bytes(int fd, const unsigned char *bytes, size_t size)
{
	struct weft_provider_view *view = calloc(1, sizeof(*view));
	struct weft_error *err = weft_error_create();
	int ret;

	cr_assert(view && err);
	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_assert_eq(pwrite(fd, bytes, size, 0), (ssize_t)size);
	view->file = "x.so";
	ret = weft_image_check(fd, size, view, err);
	cr_expect_eq(ret != 0, weft_error_count(err) == 1, "%d and %zu reports", ret,
		     weft_error_count(err));
	cr_expect(ret == 0 || strncmp(weft_error_tag(err), "PLUGIN_", 7) == 0, "%s: %s",
		  weft_error_tag(err), weft_error_text(err));
	weft_error_destroy(err);
	free(view);
	return ret;
}

static int scratch_file(void)
{
	int fd = open(in_scratch("x.so"), O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	cr_assert(fd >= 0);
	return fd;
}

Test(loader_file, cut_short_at_every_16th_byte)
{
	size_t size;
	unsigned char *bytes = read_file(GOOD, &size);

	/* Through the whole loader: the section headers come last, so no cut is a plugin. */
	for (size_t n = 0; n < size; n += 16) {
		struct weft_loader *loader;

		write_file(in_scratch("x.so"), bytes, n);
		loader = load_dir(scratch_path);
		cr_assert_eq(weft_loader_count(loader), 1);
		cr_expect_eq(weft_loader_entry(loader, 0)->state, WEFT_LOADER_REJECTED,
			     "a plugin of %zu bytes of %zu is usable", n, size);
		cr_expect_null(weft_loader_entry(loader, 0)->handle);
		weft_loader_destroy(loader);
	}
	free(bytes);
}

/* Every byte of the tables that the check reads, and of the struct, set to some hostile values. */
static void scramble(int fd, unsigned char *bytes, size_t size, size_t from, size_t n)
{
	static const unsigned char values[] = {0x00, 0x01, 0x7f, 0xff};

	for (size_t i = from; i < from + n && i < size; i++) {
		unsigned char was = bytes[i];

		for (size_t k = 0; k < sizeof(values); k++) {
			bytes[i] = values[k];
			check_bytes(fd, bytes, size);
		}
		bytes[i] = was;
	}
}

Test(loader_file, scrambled_headers_and_tables, .timeout = 100)
{
	size_t size;
	unsigned char *bytes = read_file(GOOD, &size);
	Elf64_Ehdr *head = (Elf64_Ehdr *)bytes;
	int fd = scratch_file();

	cr_assert_eq(check_bytes(fd, bytes, size), 0);
	scramble(fd, bytes, size, 0, sizeof(*head));
	scramble(fd, bytes, size, head->e_phoff, head->e_phnum * sizeof(Elf64_Phdr));
	scramble(fd, bytes, size, (size_t)((unsigned char *)section_of(bytes, SHT_DYNSYM) - bytes),
		 sizeof(Elf64_Shdr));
	scramble(fd, bytes, size, (size_t)((unsigned char *)section_of(bytes, SHT_STRTAB) - bytes),
		 sizeof(Elf64_Shdr));
	scramble(fd, bytes, size, (size_t)((unsigned char *)section_of(bytes, SHT_RELA) - bytes),
		 sizeof(Elf64_Shdr));
	scramble(fd, bytes, size, (size_t)((unsigned char *)symbol_of(bytes) - bytes),
		 sizeof(Elf64_Sym));
	scramble(fd, bytes, size, section_of(bytes, SHT_RELA)->sh_offset, 12 * sizeof(Elf64_Rela));
	close(fd);
	free(bytes);
}

/* A generator of its own, so that a failure can be had again. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

Test(loader_file, garbage_in_random_places)
{
	uint64_t state = 0x9e3779b97f4a7c15;
	size_t size;
	unsigned char *good = read_file(GOOD, &size), *bytes = malloc(size);
	int fd = scratch_file();

	cr_assert(bytes);
	for (unsigned int round = 0; round < 2000; round++) {
		memcpy(bytes, good, size);
		for (unsigned int k = 0; k < 64; k++)
			bytes[next_random(&state) % size] = (unsigned char)next_random(&state);
		check_bytes(fd, bytes, size);
	}
	/* Behind a good header nothing but noise. */
	for (unsigned int round = 0; round < 200; round++) {
		for (size_t i = sizeof(Elf64_Ehdr); i < size; i++)
			bytes[i] = (unsigned char)next_random(&state);
		memcpy(bytes, good, sizeof(Elf64_Ehdr));
		cr_expect_neq(check_bytes(fd, bytes, size), 0);
	}
	close(fd);
	free(bytes);
	free(good);
}
