/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a worker tells that was taken over by the file that it read. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/btf/btf.h"
#include "core/elf/abi.h"
#include "core/elf/check.h"
#include "elf/rig.h"

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
			.job = {.want = RIG_WANT_ALL, .image = (char *)bytes, .size = size},
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

/* ---- of types ---- */

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
