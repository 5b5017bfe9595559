/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files that lie, and workers that were taken over by them. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/btf/btf.h"
#include "core/elf/abi.h"
#include "core/elf/check.h"
#include "elf/rig.h"

#define ALL                                                                       \
	(WEFT_ELF_WANT_FUNCTIONS | WEFT_ELF_WANT_DATA | WEFT_ELF_WANT_DEMANGLED | \
	 WEFT_ELF_WANT_NOTES | WEFT_ELF_WANT_DEBUG)

static const char *tag_of(struct weft_elf_reader *r, int fd)
{
	struct weft_error *err = weft_error_create();
	struct weft_elf_request request = {
		.struct_size = sizeof(request), .fd = fd, .want = ALL, .path = "FILE"};
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

	cr_assert_str_eq(read_tag(r, built("pie"), ALL), "ELF_TOO_LARGE");
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

	cr_assert_str_eq(read_tag(r, "/lib/x86_64-linux-gnu/libc.so.6", ALL), "ELF_MEMORY_LIMIT");
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

/* ---- results of a worker that was taken over ---- */

struct forgery {
	const char *what;
	void (*forge)(struct weft_region *region, struct weft_elf_result *result);
};

#define FORGE(name, statement)                                                                      \
	static void name(struct weft_region *region, struct weft_elf_result *r)                     \
	{                                                                                           \
		struct weft_elf_symbol *s =                                                         \
			(void *)(region->base + (size_t)(uintptr_t)r->elf.symbols);                 \
		struct weft_elf_section *c =                                                        \
			(void *)(region->base + (size_t)(uintptr_t)r->elf.sections);                \
		struct weft_elf_note *n = (void *)(region->base + (size_t)(uintptr_t)r->elf.notes); \
		struct weft_elf_segment *g =                                                        \
			(void *)(region->base + (size_t)(uintptr_t)r->elf.segments);                \
		(void)s;                                                                            \
		(void)c;                                                                            \
		(void)n;                                                                            \
		(void)g;                                                                            \
		statement;                                                                          \
	}
#define AT(offset) ((void *)(uintptr_t)(offset))

FORGE(no_magic, r->magic = 1)
FORGE(unknown_problem, r->problem = 77)
FORGE(short_struct, r->elf.struct_size = 8)
FORGE(other_size, r->elf.file_size += 1)
FORGE(narrow_symbols, r->elf.symbol_size = 8)
FORGE(wide_notes, r->elf.note_size = 4096)
FORGE(no_sections_size, r->elf.section_size = 0)
FORGE(many_symbols, r->elf.n_symbols = UINT32_MAX)
FORGE(many_sections, r->elf.n_sections = UINT32_MAX)
FORGE(many_notes, r->elf.n_notes = 1u << 30)
FORGE(many_segments, r->elf.n_segments = 1u << 28)
FORGE(far_symbols, r->elf.symbols = AT(region->zone * 2))
FORGE(wild_symbols, r->elf.symbols = AT(UINT64_MAX - 7))
FORGE(crooked_symbols, r->elf.symbols = AT((uintptr_t)r->elf.symbols + 1))
FORGE(symbols_in_the_head, r->elf.symbols = AT(8))
FORGE(symbols_in_sections, r->elf.symbols = (void *)r->elf.sections)
FORGE(sections_in_segments, r->elf.sections = (void *)r->elf.segments)
FORGE(null_symbols, r->elf.symbols = NULL)
FORGE(long_build_id, r->elf.build_id_size = 65)
FORGE(wild_build_id, r->elf.build_id = AT(12))
FORGE(wild_soname, r->elf.soname = AT(region->zone * 2))
FORGE(near_soname, r->elf.soname = AT(16))
FORGE(wild_interpreter, r->elf.interpreter = AT(INT64_MAX))
FORGE(wild_debug_link, r->debug_link = AT(region->zone - 1))
FORGE(given_debug_file, r->elf.debug_file = AT(region->zone))
FORGE(null_name, s[1].name = NULL)
FORGE(name_among_records, s[1].name = AT(64))
FORGE(name_beyond, s[1].name = AT(region->zone * 2))
FORGE(empty_name, s[1].name = AT(region->zone * 2 - 1))
FORGE(endless_name, memset(region->base + region->zone * 2 - 100000, 'x', 100000);
      s[1].name = AT(region->zone * 2 - 100000))
FORGE(wild_version, s[1].version = AT(1))
FORGE(half_demangled, s[1].demangled = AT(region->zone))
FORGE(wild_plain, s[1].plain = AT(3))
FORGE(wild_unit, s[1].unit = AT(UINT64_MAX))
FORGE(unordered, s[0].address = UINT64_MAX)
FORGE(far_offset, s[0].offset = r->elf.file_size)
FORGE(no_such_section, s[0].section = r->elf.n_sections)
FORGE(no_such_source, s[0].source = 9)
FORGE(source_zero, s[0].source = 0)
FORGE(wild_section_name, c[1].name = AT(0))
FORGE(long_note, n[0].size = 1u << 20)
FORGE(wild_note, n[0].bytes = AT(0))
FORGE(note_beyond, (n[0].bytes = AT(region->zone * 2 - 1), n[0].size = 2))
FORGE(wild_note_name, n[0].name = AT(40))
FORGE(wild_note_section, n[0].section = AT(0))
FORGE(large_segment, (g[0].size = UINT64_MAX, g[0].address = 2))
FORGE(segment_beyond_the_file, g[0].offset = r->elf.file_size)
FORGE(more_file_than_memory, g[0].size = 0)

static const struct forgery forgeries[] = {
#define F(name)             \
	{                   \
#name, name \
	}
	F(no_magic),
	F(unknown_problem),
	F(short_struct),
	F(other_size),
	F(narrow_symbols),
	F(wide_notes),
	F(no_sections_size),
	F(many_symbols),
	F(many_sections),
	F(many_notes),
	F(many_segments),
	F(far_symbols),
	F(wild_symbols),
	F(crooked_symbols),
	F(symbols_in_the_head),
	F(symbols_in_sections),
	F(sections_in_segments),
	F(null_symbols),
	F(long_build_id),
	F(wild_build_id),
	F(wild_soname),
	F(near_soname),
	F(wild_interpreter),
	F(wild_debug_link),
	F(given_debug_file),
	F(null_name),
	F(name_among_records),
	F(name_beyond),
	F(empty_name),
	F(endless_name),
	F(wild_version),
	F(half_demangled),
	F(wild_plain),
	F(wild_unit),
	F(unordered),
	F(far_offset),
	F(no_such_section),
	F(no_such_source),
	F(source_zero),
	F(wild_section_name),
	F(long_note),
	F(wild_note),
	F(note_beyond),
	F(wild_note_name),
	F(wild_note_section),
	F(large_segment),
	F(segment_beyond_the_file),
	F(more_file_than_memory),
#undef F
};

struct forged_job {
	struct weft_elf_job job;
	const struct forgery *forgery;
};

static void forging_work(struct weft_region *region, const void *arg)
{
	const struct forged_job *job = arg;

	weft_elf_work(region, &job->job);
	if (job->forgery)
		job->forgery->forge(region, (void *)(region->base + WEFT_REGION_HEAD));
}

Test(elf_hostile, ELF_RESULT_INVALID)
{
	size_t size, n = sizeof(forgeries) / sizeof(forgeries[0]);
	unsigned char *bytes = contents(built("library"), &size);

	/* Without a forgery it is valid. */
	for (size_t i = 0; i <= n; i++) {
		struct forged_job job = {
			.job = {.want = ALL, .image = (char *)bytes, .size = size},
			.forgery = i < n ? &forgeries[i] : NULL,
		};
		const char *what = i < n ? forgeries[i].what : "none";
		struct weft_error *err = weft_error_create();
		struct weft_elf_result *result;
		struct weft_region region;
		int ret;

		cr_assert_eq(weft_region_init(&region, 1 << 20), 0);
		cr_assert_eq(weft_jail_run(forging_work, &job, &region, 20000000000u, 256u << 20,
					   "FILE", err),
			     0, "%s: %s", what, weft_error_text(err));
		ret = weft_elf_check(&region, size, "FILE", &result, err);
		cr_expect_eq(ret, i < n ? -EBADMSG : 0, "%s: %d", what, ret);
		cr_expect_str_eq(weft_error_tag(err), i < n ? "ELF_RESULT_INVALID" : "", "%s", what);
		weft_error_destroy(err);
		weft_region_finish(&region);
	}
	free(bytes);
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
			struct weft_elf_request request = {
				.struct_size = sizeof(request), .want = ALL, .path = "FILE"};
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

/* The types that a worker tells of, before and behind the check of BTF. */
static struct weft_btf *object_of(const void *bytes, size_t size)
{
	struct weft_btf *btf = NULL;
	void *copy = malloc(size);

	memcpy(copy, bytes, size);
	weft_btf_create(copy, size, false, NULL, &btf, NULL);
	return btf;
}

/* Types that were made up to take for ever, or to lead nowhere: where arguments lie is found out of
 * them in the parent. */
Test(elf_hostile, types_that_go_round_in_circles)
{
	/* 1: struct of 16 bytes whose two members are type 2, which is as the first and so on; the
	 * last is a pointer to itself, a struct that contains itself, and an id that is not there. */
	enum { DEPTH = 40 };
	uint32_t words[6 + (DEPTH + 4) * 9 + 1] = {0}, *w = words + 6, types[4], n = 0;
	struct weft_abi_place places[4], result;
	struct weft_btf *btf;

	for (uint32_t i = 1; i <= DEPTH; i++) {
		uint32_t next_id = i + 1;

		*w++ = 0, *w++ = 4u << 24 | 2, *w++ = 16;
		*w++ = 0, *w++ = next_id, *w++ = 0;
		*w++ = 0, *w++ = next_id, *w++ = 0;
	}
	*w++ = 0, *w++ = 4u << 24 | 1, *w++ = 16; /* contains itself */
	*w++ = 0, *w++ = DEPTH + 1, *w++ = 0;
	*w++ = 0, *w++ = 10u << 24, *w++ = DEPTH + 2; /* const of itself */
	*w++ = 0, *w++ = 4u << 24 | 1, *w++ = 8;      /* of what is not there */
	*w++ = 0, *w++ = 0x00fffff0, *w++ = 0;
	n = (uint32_t)(w - words - 6) * 4;
	words[0] = 0xeb9f | 1u << 16;
	words[1] = 24;
	words[3] = n; /* types at 0, strings behind them */
	words[4] = n;
	words[5] = 1;
	btf = object_of(words, 24 + n + 1);
	cr_assert(btf);
	types[0] = 1, types[1] = DEPTH + 1, types[2] = DEPTH + 2, types[3] = DEPTH + 3;
	for (uint32_t i = 0; i < 4; i++) {
		cr_assert(weft_abi_places(62, btf, &types[i], 1, types[3 - i], false, places,
					  &result));
		cr_assert(!places[0].n_ops && places[0].unreadable, "%u", i);
	}
	weft_btf_destroy(btf);
}

struct forged_types {
	struct weft_elf_types_job job;
	int what;
};

static void forging_types(struct weft_region *region, const void *arg)
{
	const struct forged_types *f = arg;
	struct weft_elf_types_result *r = (void *)(region->base + WEFT_REGION_HEAD);
	struct weft_elf_typed *typed;

	weft_elf_work_types(region, &f->job);
	typed = (void *)(region->base + (size_t)(uintptr_t)r->functions);
	switch (f->what) {
	case 1:
		r->n++;
		break;
	case 2:
		r->functions = AT(region->zone - 8);
		break;
	case 3:
		r->btf_size = UINT32_MAX;
		break;
	case 4:
		r->btf = AT(8);
		break;
	case 5:
		typed->file = AT(8);
		break;
	case 6:
		r->file.magic = 0;
		break;
	case 7: /* the object itself */
		memset(region->base + (size_t)(uintptr_t)r->btf, 0xff, 64);
		break;
	default:
		break;
	}
}

Test(elf_hostile, ELF_RESULT_INVALID_of_types)
{
	size_t size;
	unsigned char *bytes = contents(built("types-O2"), &size);
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	const struct weft_elf *elf = read_file(r, built("types-O2"), WEFT_ELF_WANT_FUNCTIONS);
	uint64_t address = find_symbol(elf, "t_simple", NULL)->address;

	for (int what = 0; what < 8; what++) {
		struct forged_types f = {.job = {.file = {.image = (char *)bytes, .size = size},
						 .addresses = &address,
						 .n = 1},
					 .what = what};
		struct weft_error *err = weft_error_create();
		struct weft_elf_types_result *result = NULL;
		struct weft_btf *btf = NULL;
		struct weft_region region;
		int ret;

		cr_assert_eq(weft_region_init(&region, 1 << 20), 0);
		cr_assert_eq(weft_jail_run(forging_types, &f, &region, 20000000000u, 256u << 20,
					   "FILE", err),
			     0, "%d: %s", what, weft_error_text(err));
		ret = weft_elf_check_types(&region, &f.job, "FILE", &result, err);
		if (what == 7) {
			cr_assert_eq(ret, 0);
			btf = object_of(result->btf, result->btf_size);
			cr_assert_null(btf);
		} else {
			cr_expect_eq(ret, what ? -EBADMSG : 0, "%d: %d", what, ret);
			cr_expect_str_eq(weft_error_tag(err), what ? "ELF_RESULT_INVALID" : "");
		}
		weft_error_destroy(err);
		weft_region_finish(&region);
	}
	free(bytes);
	weft_elf_release(r, elf);
	weft_elf_reader_destroy(r);
}

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
