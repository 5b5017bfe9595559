/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files that lie, and files that are damaged. */
#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/rig.h"

static const char *tag_of(struct weft_elf_reader *r, int fd)
{
	struct weft_error *err = weft_error_create();
	struct weft_elf_request request = {
		.struct_size = sizeof(request), .fd = fd, .want = RIG_WANT_ALL, .path = "FILE"};
	const struct weft_elf *elf = NULL;
	static char tag[64];

	weft_elf_read(r, &request, &elf, err);
	strncpy(tag, weft_error_tag(err), sizeof(tag) - 1);
	weft_elf_release(r, elf);
	weft_error_destroy(err);
	return tag;
}

Test(elf_hostile, ELF_NOT_ELF)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	int fd = scratch("#!/bin/sh\n", 10), empty = scratch("", 0), magic = scratch("\177ELF", 4);

	cr_assert_str_eq(tag_of(r, fd), "ELF_NOT_ELF");
	cr_assert_str_eq(tag_of(r, empty), "ELF_NOT_ELF");
	cr_assert_str_eq(tag_of(r, magic), "ELF_NOT_ELF");
	close(fd);
	close(empty);
	close(magic);
	weft_elf_reader_destroy(r);
}

Test(elf_hostile, ELF_NOT_REGULAR)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	int folder = open("/tmp", O_RDONLY | O_CLOEXEC), device = open("/dev/zero", O_RDONLY);

	cr_assert_str_eq(tag_of(r, folder), "ELF_NOT_REGULAR");
	cr_assert_str_eq(tag_of(r, device), "ELF_NOT_REGULAR");
	close(folder);
	close(device);
	weft_elf_reader_destroy(r);
}

Test(elf_hostile, ELF_TOO_LARGE)
{
	struct weft_elf_limits limits = {.file = 4096};
	struct weft_elf_reader *r = weft_elf_reader_create(&limits);

	cr_assert_str_eq(read_tag(r, built("pie"), RIG_WANT_ALL), "ELF_TOO_LARGE");
	weft_elf_reader_destroy(r);
}

Test(elf_hostile, ELF_UNREADABLE)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	char path[] = "/tmp/weft-elf-XXXXXX";
	int fd = mkstemp(path), written = open(path, O_WRONLY | O_CLOEXEC);

	unlink(path);
	cr_assert_eq(write(fd, "\177ELF", 4), 4);
	cr_assert_str_eq(tag_of(r, written), "ELF_UNREADABLE");
	close(fd);
	close(written);
	weft_elf_reader_destroy(r);
}

Test(elf_hostile, ELF_REQUEST)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	struct weft_error *err = weft_error_create();
	struct weft_elf_request request = {.struct_size = sizeof(request), .fd = 0, .want = 1u << 20};
	const struct weft_elf *elf = (void *)1;

	cr_assert_eq(weft_elf_read(r, &request, &elf, err), -EINVAL);
	cr_assert_str_eq(weft_error_tag(err), "ELF_REQUEST");
	cr_assert_null(elf);
	weft_error_clear(err);
	request = (struct weft_elf_request){.struct_size = 4};
	cr_assert_eq(weft_elf_read(r, &request, &elf, err), -EINVAL);
	weft_error_clear(err);
	request = (struct weft_elf_request){.struct_size = sizeof(request), .fd = -1};
	cr_assert_eq(weft_elf_read(r, &request, &elf, err), -EINVAL);
	weft_error_destroy(err);
	weft_elf_reader_destroy(r);
}

/* A program header that claims more than there can be. */
Test(elf_hostile, ELF_DAMAGED)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	size_t n;
	unsigned char *bytes = contents(built("pie"), &n);
	Elf64_Ehdr *h = (void *)bytes;
	Elf64_Phdr *p = (void *)(bytes + h->e_phoff);
	int fd;

	for (int i = 0; i < h->e_phnum; i++)
		if (p[i].p_type == PT_LOAD)
			p[i].p_filesz = UINT64_MAX - 8;
	fd = scratch(bytes, n);
	cr_assert_str_eq(tag_of(r, fd), "ELF_DAMAGED");
	close(fd);
	free(bytes);
	weft_elf_reader_destroy(r);
}

/* More symbols than there is room for. */
Test(elf_hostile, ELF_MEMORY_LIMIT_of_the_result)
{
	struct weft_elf_limits limits = {.result = 65536};
	struct weft_elf_reader *r = weft_elf_reader_create(&limits);

	cr_assert_str_eq(read_tag(r, "/lib/x86_64-linux-gnu/libc.so.6", RIG_WANT_ALL),
			 "ELF_MEMORY_LIMIT");
	weft_elf_reader_destroy(r);
}

/* A file of which nothing is there is read as such, and a large hole costs nothing. */
Test(elf_hostile, a_file_that_is_mostly_hole)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	size_t n;
	unsigned char *bytes = contents(built("pie"), &n);
	int fd = scratch(bytes, n);

	cr_assert_eq(ftruncate(fd, 1ll << 32), 0);
	cr_assert_str_empty(tag_of(r, fd));
	close(fd);
	free(bytes);
	weft_elf_reader_destroy(r);
}

/* ---- damaged files, in a way that can be repeated ---- */

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void damage(unsigned char *bytes, size_t size)
{
	static const uint64_t evil[] = {0,      1,          0x7f,       0xff,      0x7fff,
					0xffff, 0x7fffffff, 0xffffffff, INT64_MAX, UINT64_MAX,
					0x1000, 0x40,       8};
	const Elf64_Ehdr *h = (void *)bytes;
	uint64_t shoff = h->e_shoff;

	for (unsigned int i = 0, n = 1 + (unsigned int)(next() % 6); i < n; i++) {
		uint64_t value = next() % 2 ? evil[next() % 13] : next();
		size_t width = (size_t)1 << next() % 4, at;

		switch (next() % 4) {
		case 0: /* the headers at the beginning */
			at = next() % 1024;
			break;
		case 1: /* those of sections */
			at = shoff < size ? shoff + next() % (size - shoff) : next() % size;
			break;
		default:
			at = next() % size;
			break;
		}
		if (at + width <= size)
			memcpy(bytes + at, &value, width);
	}
}

/* Whatever is handed out can be walked: AddressSanitizer watches. */
static uint64_t walk(const struct weft_elf *elf)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < elf->n_symbols; i++) {
		const struct weft_elf_symbol *s = weft_elf_symbol_at(elf, i);

		sum += strlen(s->name) + (s->version ? strlen(s->version) : 0) +
		       (s->plain ? strlen(s->plain) + strlen(s->demangled) : 0) +
		       (s->unit ? strlen(s->unit) : 0);
		if (s->section != WEFT_ELF_NO_SECTION)
			sum += strlen(weft_elf_section_at(elf, s->section)->name);
	}
	for (uint32_t i = 0; i < elf->n_notes; i++) {
		const struct weft_elf_note *n = weft_elf_note_at(elf, i);

		sum += strlen(n->name) + strlen(n->section);
		for (uint32_t k = 0; k < n->size; k++)
			sum += n->bytes[k];
	}
	return sum + weft_elf_offset(elf, elf->entry);
}

Test(elf_hostile, damaged_files_cost_only_themselves)
{
	static const char *const names[] = {"pie", "library", "minidebug", "linked"};
	static const char *const allowed[] = {"",
					      "ELF_NOT_ELF",
					      "ELF_DAMAGED",
					      "ELF_WORKER_DIED",
					      "ELF_MEMORY_LIMIT",
					      "ELF_TIME_LIMIT",
					      "ELF_FILE_CHANGED"};
	struct weft_elf_limits limits = {
		.time_ns = 2000000000, .memory = 64 << 20, .result = 8 << 20};
	struct weft_elf_reader *r = weft_elf_reader_create(&limits);
	unsigned int good = 0;

	for (size_t f = 0; f < sizeof(names) / sizeof(names[0]); f++) {
		size_t size;
		unsigned char *bytes = contents(built(names[f]), &size), *copy = malloc(size);

		for (int i = 0; i < 60; i++) {
			struct weft_error *err = weft_error_create();
			struct weft_elf_request request = {.struct_size = sizeof(request),
							   .want = RIG_WANT_ALL,
							   .path = "FILE"};
			const struct weft_elf *elf = NULL;
			const char *tag;
			bool known = false;

			memcpy(copy, bytes, size);
			damage(copy, size);
			request.fd = scratch(copy, next() % 8 ? size : next() % size);
			weft_elf_read(r, &request, &elf, err);
			close(request.fd);
			tag = weft_error_tag(err);
			for (size_t k = 0; k < sizeof(allowed) / sizeof(allowed[0]); k++)
				known |= !strcmp(tag, allowed[k]);
			cr_assert(known, "%s: %s", tag, weft_error_text(err));
			if (elf) {
				good++;
				cr_assert_geq(walk(elf), 0);
			}
			weft_elf_release(r, elf);
			weft_error_destroy(err);
		}
		free(bytes);
		free(copy);
	}
	cr_assert_gt(good, 0);
	weft_elf_reader_destroy(r);
}

/* ---- debugging information ---- */

/* Asks for the types of all functions, walks over what is told, and returns the tag. */
static const char *types_tag(struct weft_elf_reader *r, int fd, unsigned int *known)
{
	struct weft_error *err = weft_error_create();
	struct weft_elf_request request = {.struct_size = sizeof(request),
					   .fd = fd,
					   .want = WEFT_ELF_WANT_FUNCTIONS,
					   .path = "FILE"};
	const struct weft_elf_function *f;
	const struct weft_elf *elf = NULL;
	static char tag[64];
	uint64_t addresses[64];
	uint32_t n = 0;

	weft_elf_read(r, &request, &elf, err);
	for (; elf && n < 64 && n < elf->n_symbols; n++)
		addresses[n] = weft_elf_symbol_at(elf, n)->address;
	if (n && !weft_elf_functions(r, elf, &request, addresses, n, &f, err)) {
		for (uint32_t i = 0; i < n; i++) {
			if (f[i].status)
				continue;
			++*known;
			cr_assert_geq(strlen(f[i].prototype), 3);
			for (uint32_t k = 0; k < f[i].n_args; k++)
				cr_assert(!f[i].args[k].where.n_ops == !!f[i].args[k].unreadable &&
					  f[i].args[k].type.text);
		}
	}
	strncpy(tag, weft_error_tag(err), sizeof(tag) - 1);
	weft_elf_release(r, elf);
	weft_error_destroy(err);
	return tag;
}

/* A place in one of the sections of debugging information. */
static size_t place_in_debug(const struct weft_elf *elf)
{
	for (;;) {
		const struct weft_elf_section *s =
			weft_elf_section_at(elf, (uint32_t)(next() % elf->n_sections));

		if (!strncmp(s->name, ".debug_", 7) && s->size > 8)
			return s->offset + next() % (s->size - 8);
	}
}

Test(elf_hostile, damaged_types_cost_only_themselves)
{
	static const char *const names[] = {"types-O2", "types-dwarf4", "types-clang", "types-cxx"};
	static const char *const allowed[] = {"", "ELF_WORKER_DIED", "ELF_MEMORY_LIMIT",
					      "ELF_TIME_LIMIT", "ELF_RESULT_INVALID"};
	struct weft_elf_limits limits = {
		.time_ns = 2000000000, .memory = 64 << 20, .result = 8 << 20};
	struct weft_elf_reader *r = weft_elf_reader_create(&limits);
	unsigned int known = 0;

	for (size_t f = 0; f < sizeof(names) / sizeof(names[0]); f++) {
		const struct weft_elf *elf = read_file(r, built(names[f]), 0);
		size_t size;
		unsigned char *bytes = contents(built(names[f]), &size), *copy = malloc(size);

		for (int i = 0; i < 40; i++) {
			const char *tag;
			bool fine = false;
			int fd;

			memcpy(copy, bytes, size);
			for (uint64_t k = 0, n = 1 + next() % 4; k < n; k++) {
				uint64_t value = next();

				memcpy(copy + place_in_debug(elf), &value, (size_t)1 << next() % 4);
			}
			fd = scratch(copy, size);
			tag = types_tag(r, fd, &known);
			close(fd);
			for (size_t k = 0; k < sizeof(allowed) / sizeof(allowed[0]); k++)
				fine |= !strcmp(tag, allowed[k]);
			cr_assert(fine, "%s", tag);
		}
		free(bytes);
		free(copy);
		weft_elf_release(r, elf);
	}
	cr_assert_gt(known, 100);
	weft_elf_reader_destroy(r);
}
