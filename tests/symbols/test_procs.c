/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The history of address spaces, told by made-up events and snapshots. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/symbols/procs.h"
#include "symbols/support.h"

#define NO_MODULE "-"

struct history {
	struct weft_texts texts;
	struct weft_files files;
	struct weft_procs procs;
};

static struct history h;

static void begin(void)
{
	h = (struct history){0};
	weft_files_init(&h.files, &h.texts);
	weft_procs_init(&h.procs, &h.files);
}

static void end(void)
{
	weft_procs_finish(&h.procs);
	weft_files_finish(&h.files);
	weft_texts_finish(&h.texts);
	remove_temporary();
}

TestSuite(procs, .init = begin, .fini = end);

static void event(enum weft_process_event_kind kind, uint64_t time, int32_t pid, int32_t parent)
{
	weft_procs_event(&h.procs, &(struct weft_process_event){
					   .struct_size = sizeof(struct weft_process_event),
					   .kind = kind,
					   .time_ns = time,
					   .pid = pid,
					   .parent = parent});
}

static void map(uint64_t time, int32_t pid, uint64_t start, uint64_t length, uint64_t offset,
		const char *path)
{
	weft_procs_event(&h.procs, &(struct weft_process_event){
					   .struct_size = sizeof(struct weft_process_event),
					   .kind = WEFT_PROCESS_MMAP,
					   .time_ns = time,
					   .pid = pid,
					   .address = start,
					   .length = length,
					   .file_offset = offset,
					   .text = path,
					   .inode = 1});
}

static int snapshot(uint64_t time, int32_t pid, const char *maps)
{
	char path[PATH_MAX];
	FILE *f;

	temporary_path("maps", path);
	f = fopen(path, "w");
	fputs(maps, f);
	fclose(f);
	return weft_procs_snapshot(&h.procs, pid, time, path);
}

/* The module at an address and a time, and the file offset there. */
static void expect(int32_t pid, uint64_t time, uint64_t address, const char *module, uint64_t offset)
{
	const struct weft_mapping *m = weft_procs_find(&h.procs, pid, time, address);
	const char *got = m ? m->file->module : NO_MODULE;

	cr_expect_str_eq(got, module, "%d at %d, %#x: %s, not %s", pid, (int)time,
			 (unsigned int)address, got, module);
	if (m && strcmp(got, module) == 0)
		cr_expect_eq(address - m->start + m->offset, offset, "offset of %#x",
			     (unsigned int)address);
}

Test(procs, a_mapping_is_there_from_its_event_on)
{
	event(WEFT_PROCESS_EXEC, 100, 1, 0);
	map(110, 1, 0x1000, 0x1000, 0x400, "/a");
	expect(1, 99, 0x1000, NO_MODULE, 0);
	expect(1, 109, 0x1000, NO_MODULE, 0);
	expect(1, 110, 0x1000, "/a", 0x400);
	expect(1, 110, 0x1fff, "/a", 0x13ff);
	expect(1, 110, 0x2000, NO_MODULE, 0);
	expect(1, 110, 0xfff, NO_MODULE, 0);
	expect(2, 110, 0x1000, NO_MODULE, 0);
	cr_expect(weft_procs_known(&h.procs, 1));
	cr_expect_not(weft_procs_known(&h.procs, 2));
}

Test(procs, a_mapping_replaced_by_a_later_one)
{
	event(WEFT_PROCESS_EXEC, 100, 1, 0);
	map(110, 1, 0x1000, 0x4000, 0, "/a");
	map(120, 1, 0x1000, 0x4000, 0, "/b");
	map(130, 1, 0x2000, 0x1000, 0x700, "/c"); /* in the middle */
	map(140, 1, 0x0, 0x1800, 0, "/d");        /* over the left end */
	map(150, 1, 0x4800, 0x1000, 0, "/e");     /* over the right end */
	expect(1, 115, 0x2800, "/a", 0x1800);
	expect(1, 120, 0x2800, "/b", 0x1800);
	expect(1, 129, 0x2800, "/b", 0x1800);
	expect(1, 130, 0x2800, "/c", 0xf00);
	expect(1, 130, 0x1800, "/b", 0x800);
	expect(1, 130, 0x3000, "/b", 0x2000);
	expect(1, 140, 0x17ff, "/d", 0x17ff);
	expect(1, 140, 0x1800, "/b", 0x800);
	expect(1, 149, 0x4800, "/b", 0x3800);
	expect(1, 150, 0x4800, "/e", 0);
	expect(1, 150, 0x47ff, "/b", 0x37ff);
	expect(1, 150, 0x2800, "/c", 0xf00);
}

Test(procs, anonymous_memory_takes_a_place_without_a_name)
{
	event(WEFT_PROCESS_EXEC, 100, 1, 0);
	map(110, 1, 0x1000, 0x2000, 0, "/a");
	map(120, 1, 0x1000, 0x1000, 0, "//anon");
	expect(1, 119, 0x1000, "/a", 0);
	expect(1, 120, 0x1000, NO_MODULE, 0);
	expect(1, 120, 0x2000, "/a", 0x1000);
	map(130, 1, 0x2000, 0x1000, 0, NULL);
	expect(1, 130, 0x2000, NO_MODULE, 0);
}

Test(procs, exec_begins_anew)
{
	event(WEFT_PROCESS_EXEC, 100, 1, 0);
	map(110, 1, 0x1000, 0x1000, 0, "/a");
	event(WEFT_PROCESS_EXEC, 200, 1, 0);
	map(210, 1, 0x1000, 0x1000, 0, "/b");
	expect(1, 199, 0x1000, "/a", 0);
	expect(1, 200, 0x1000, NO_MODULE, 0);
	expect(1, 210, 0x1000, "/b", 0);
	event(WEFT_PROCESS_EXIT, 300, 1, 0);
	expect(1, 150, 0x1000, "/a", 0);
	expect(1, 299, 0x1000, "/b", 0);
}

Test(procs, fork_copies_and_both_go_their_ways)
{
	event(WEFT_PROCESS_EXEC, 100, 1, 0);
	map(110, 1, 0x1000, 0x1000, 0, "/a");
	event(WEFT_PROCESS_FORK, 200, 2, 1);
	event(WEFT_PROCESS_FORK, 200, 1, 1); /* a thread: nothing */
	map(210, 1, 0x3000, 0x1000, 0, "/parent");
	map(220, 2, 0x3000, 0x1000, 0, "/child");
	map(230, 2, 0x1000, 0x1000, 0, "/instead");
	expect(2, 199, 0x1000, NO_MODULE, 0);
	expect(2, 200, 0x1000, "/a", 0);
	expect(2, 215, 0x3000, NO_MODULE, 0);
	expect(2, 220, 0x3000, "/child", 0);
	expect(2, 230, 0x1000, "/instead", 0);
	expect(1, 230, 0x3000, "/parent", 0);
	expect(1, 230, 0x1000, "/a", 0);
	cr_expect(weft_procs_known(&h.procs, 2));
	event(WEFT_PROCESS_FORK, 300, 4, 3); /* of an unknown parent */
	cr_expect_not(weft_procs_known(&h.procs, 4));
	map(310, 4, 0x1000, 0x1000, 0, "/x"); /* one mapping is not all */
	cr_expect_not(weft_procs_known(&h.procs, 4));
	expect(4, 310, 0x1000, "/x", 0);
}

#define MAPS_AB                                          \
	"1000-2000 r--p 00000000 00:01 1 /a\n"           \
	"2000-3000 r-xp 00001000 00:01 1 /a\n"           \
	"5000-6000 r-xp 00000000 00:01 2 /b (deleted)\n" \
	"7000-8000 rwxp 00000000 00:00 0 \n"             \
	"8000-9000 r-xp 00000000 00:00 0 [vdso]\n"       \
	"9000-a000 rwxp 00000000 00:05 9 /dev/zero (deleted)\n"

Test(procs, a_first_snapshot_holds_for_the_past)
{
	cr_assert_eq(snapshot(500, 1, MAPS_AB), 0);
	cr_expect(weft_procs_known(&h.procs, 1));
	expect(1, 1, 0x2000, "/a", 0x1000);
	expect(1, 900, 0x2fff, "/a", 0x1fff);
	expect(1, 900, 0x1000, NO_MODULE, 0); /* not executable */
	expect(1, 900, 0x5800, "/b", 0x800);
	expect(1, 900, 0x7000, NO_MODULE, 0);
	expect(1, 900, 0x8010, "[vdso]", 0x10);
	expect(1, 900, 0x9000, NO_MODULE, 0);
}

Test(procs, a_second_snapshot_tells_what_changed)
{
	cr_assert_eq(snapshot(500, 1, MAPS_AB), 0);
	cr_assert_eq(snapshot(600, 1,
			      "2000-3000 r-xp 00001000 00:01 1 /a\n"
			      "5000-5800 r-xp 00000000 00:01 3 /c\n"
			      "b000-c000 r-xp 00000000 00:01 4 /d\n"),
		     0);
	expect(1, 599, 0x2000, "/a", 0x1000);
	expect(1, 600, 0x2000, "/a", 0x1000);
	expect(1, 599, 0x5000, "/b", 0);
	expect(1, 600, 0x5000, "/c", 0);
	expect(1, 599, 0x5900, "/b", 0x900);
	expect(1, 600, 0x5900, NO_MODULE, 0);
	expect(1, 599, 0xb000, NO_MODULE, 0);
	expect(1, 600, 0xb000, "/d", 0);
	expect(1, 600, 0x8000, NO_MODULE, 0);
}

Test(procs, a_snapshot_after_exec_adds_what_no_event_tells)
{
	event(WEFT_PROCESS_EXEC, 100, 1, 0);
	map(110, 1, 0x2000, 0x1000, 0x1000, "/other");
	cr_assert_eq(snapshot(500, 1, MAPS_AB), 0);
	expect(1, 120, 0x2000, "/other", 0x1000);
	expect(1, 500, 0x2000, "/a", 0x1000);
}

Test(procs, an_event_told_after_the_snapshot_that_saw_it)
{
	cr_assert_eq(snapshot(500, 1, "2000-3000 r-xp 00001000 00:00 1 /a\n"), 0);
	map(450, 1, 0x2000, 0x1000, 0x1000, "/a"); /* known already */
	map(440, 1, 0x2000, 0x1000, 0, "/older");  /* replaced since */
	expect(1, 600, 0x2000, "/a", 0x1000);
	event(WEFT_PROCESS_EXEC, 400, 1, 0);
	expect(1, 399, 0x2000, NO_MODULE, 0);
	expect(1, 400, 0x2000, "/a", 0x1000);
	cr_expect(weft_procs_known(&h.procs, 1));
}

Test(procs, exec_told_late_in_a_forked_process)
{
	event(WEFT_PROCESS_EXEC, 100, 1, 0);
	map(110, 1, 0x2000, 0x1000, 0, "/parent");
	event(WEFT_PROCESS_FORK, 200, 2, 1);
	cr_assert_eq(snapshot(500, 2, "2000-3000 r-xp 00000000 00:00 7 /new\n"), 0);
	event(WEFT_PROCESS_EXEC, 400, 2, 0);
	expect(2, 399, 0x2000, "/parent", 0); /* what fork handed down is still known */
	expect(2, 400, 0x2000, "/new", 0);
	expect(2, 600, 0x2000, "/new", 0);
	expect(1, 600, 0x2000, "/parent", 0);
}

Test(procs, a_number_used_again)
{
	event(WEFT_PROCESS_EXEC, 100, 1, 0);
	map(110, 1, 0x2000, 0x1000, 0, "/old");
	event(WEFT_PROCESS_EXIT, 200, 1, 0);
	event(WEFT_PROCESS_FORK, 300, 1, 9);
	cr_expect_not(weft_procs_known(&h.procs, 1));
	expect(1, 150, 0x2000, "/old", 0);
	expect(1, 300, 0x2000, NO_MODULE, 0);
	cr_assert_eq(snapshot(400, 1, "2000-3000 r-xp 00000000 00:00 7 /new\n"), 0);
	expect(1, 350, 0x2000, "/new", 0);
	expect(1, 299, 0x2000, "/old", 0);
	/* the dead are counted once, and the living do not count */
	cr_expect_eq(h.procs.n_dead, 0u);
	event(WEFT_PROCESS_EXIT, 500, 1, 0);
	event(WEFT_PROCESS_EXIT, 500, 1, 0);
	cr_expect_eq(h.procs.n_dead, 1u);
}

Test(procs, the_longest_dead_are_forgotten_and_counted)
{
	h.procs.dead_most = 10;
	for (int32_t pid = 1; pid <= 30; pid++) {
		event(WEFT_PROCESS_EXEC, 100, pid, 0);
		map(110, pid, 0x2000, 0x1000, 0, "/a");
	}
	for (int32_t pid = 1; pid <= 25; pid++)
		event(WEFT_PROCESS_EXIT, 200, pid, 0);
	cr_expect_eq(h.procs.n_dead, 10u);
	cr_expect_eq(h.procs.forgotten, 15u);
	expect(15, 150, 0x2000, NO_MODULE, 0);
	expect(16, 150, 0x2000, "/a", 0);
	expect(30, 150, 0x2000, "/a", 0);
}

Test(procs, generations_are_bounded)
{
	for (uint64_t i = 0; i < 200; i++) {
		event(WEFT_PROCESS_EXEC, 1000 + i * 10, 1, 0);
		map(1001 + i * 10, 1, 0x2000, 0x1000, i * 0x1000, "/a");
	}
	cr_expect_eq(h.procs.forgotten, 200u - WEFT_GENERATIONS_MOST);
	expect(1, 2995, 0x2000, "/a", 199 * 0x1000);
	expect(1, 1000 + 136 * 10 + 5, 0x2000, "/a", 136 * 0x1000);
	expect(1, 1000 + 135 * 10 + 5, 0x2000, NO_MODULE, 0);
}

Test(procs, mappings_are_bounded)
{
	event(WEFT_PROCESS_EXEC, 100, 1, 0);
	/* one that is loaded and replaced for ever: only the past is dropped */
	for (uint64_t i = 0; i < 10000; i++)
		map(1000 + i, 1, 0x2000, 0x1000, 0, i % 2 ? "/a" : "/b");
	expect(1, 20000, 0x2000, "/a", 0);
	expect(1, 1000 + 9998, 0x2000, "/b", 0);
	cr_expect_gt(h.procs.forgotten, 5000u);
	/* and one with more at a time than is sensible */
	event(WEFT_PROCESS_EXEC, 50000, 1, 0);
	for (uint64_t i = 0; i < 10000; i++)
		map(60000 + i, 1, i * 0x2000, 0x1000, 0, "/a");
	expect(1, 80000, 0x2000, "/a", 0);
	expect(1, 80000, 9999 * 0x2000, NO_MODULE, 0);
}

Test(procs, nonsense_does_no_harm)
{
	map(10, 1, 0x1000, 0, 0, "/a");
	map(10, 1, UINT64_MAX, 2, 0, "/a");
	map(10, 1, UINT64_MAX - 0xfff, 0xfff, UINT64_MAX, "/a");
	weft_procs_event(&h.procs, &(struct weft_process_event){.kind = 77, .pid = 1});
	weft_procs_event(&h.procs, &(struct weft_process_event){.kind = 0, .pid = 1});
	event(WEFT_PROCESS_EXIT, 10, 99, 0);
	event(WEFT_PROCESS_FORK, 10, -1, -2);
	cr_expect_eq(snapshot(10, 5, "rubbish\n\n1000-2000 r-xp\n"), 0);
	expect(5, 10, 0x1000, NO_MODULE, 0);
	expect(1, 10, 0, NO_MODULE, 0);
}

/* Random histories against a table of who owned each page at each moment. */
Test(procs, random_histories_against_a_table)
{
	enum { PAGES = 16, TIMES = 60 };

	for (unsigned int seed = 0; seed < 200; seed++) {
		int owner[TIMES][PAGES];
		uint64_t offset[TIMES][PAGES];
		char path[8];

		begin();
		srand(seed);
		event(WEFT_PROCESS_EXEC, 1, 1, 0);
		memset(owner, -1, sizeof(owner));
		for (int t = 1; t < TIMES; t++) {
			uint64_t first = (uint64_t)(rand() % PAGES),
				 n = 1 + (uint64_t)rand() % (PAGES - first);
			int file = rand() % 5;

			memcpy(owner[t], owner[t - 1], sizeof(owner[t]));
			memcpy(offset[t], offset[t - 1], sizeof(offset[t]));
			snprintf(path, sizeof(path), "/%d", file);
			map(1 + (uint64_t)t, 1, first << 12, n << 12, (uint64_t)t << 12,
			    file == 4 ? "//anon" : path);
			for (uint64_t p = first; p < first + n; p++) {
				owner[t][p] = file == 4 ? -1 : file;
				offset[t][p] = ((uint64_t)t + p - first) << 12;
			}
		}
		for (int t = 1; t < TIMES; t++)
			for (uint64_t p = 0; p < PAGES; p++) {
				snprintf(path, sizeof(path), "/%d", owner[t][p]);
				expect(1, 1 + (uint64_t)t, (p << 12) + 5,
				       owner[t][p] < 0 ? NO_MODULE : path, offset[t][p] + 5);
			}
		if (seed != 199)
			end();
	}
}
