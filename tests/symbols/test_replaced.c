/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A file that is replaced, changed or gone is never taken for the one that was mapped. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "symbols/support.h"

TestSuite(replaced, .fini = remove_temporary);

struct scene {
	struct weft_symbols *s;
	struct target t;
	char lib[PATH_MAX], other[PATH_MAX];
	uint64_t time;
	const struct place *p;
};

/* A program has a copy of a library mapped, and it is known. */
static void begin_as(struct scene *c, const char *name)
{
	char program[PATH_MAX], lib[PATH_MAX];

	target_path("pie", program);
	target_path("lib-separate-code", lib);
	target_path("stripped", c->other); /* some other ELF file */
	temporary_path(name, c->lib);
	copy_file(lib, c->lib);
	c->s = weft_symbols_create();
	target_start(&c->t, program, c->lib);
	cr_assert_eq(weft_symbols_snapshot(c->s, c->t.pid, now_ns()), 0);
	c->time = now_ns();
	c->p = target_find(&c->t, "lib", "library_function");
	usleep(20000); /* file times are as coarse as a tick of the timer */
}

static void begin(struct scene *c)
{
	begin_as(c, "lib.so");
}

static void expect(struct scene *c, const char *symbol)
{
	expect_symbol(c->s, c->t.pid, c->time, c->p->address, symbol, 0, c->lib);
}

static void finish(struct scene *c)
{
	weft_symbols_destroy(c->s);
}

static void replace(struct scene *c)
{
	char new[PATH_MAX];

	temporary_path("new.so", new);
	copy_file(c->other, new);
	cr_assert_eq(rename(new, c->lib), 0);
}

/* Whether this machine lets us follow a mapping to its file. */
static bool may_follow_mappings(struct scene *c)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/map_files", c->t.pid);
	return access(path, R_OK | X_OK) == 0;
}

Test(replaced, while_it_lives_the_old_file_is_read)
{
	struct scene c;

	begin(&c);
	replace(&c);
	cr_assert(may_follow_mappings(&c), "run as root");
	expect(&c, "library_function");
	target_stop(&c.t);
	expect(&c, "library_function"); /* it is open already */
	finish(&c);
}

Test(replaced, snapshot_of_a_deleted_library)
{
	struct scene c;

	begin(&c);
	replace(&c);
	cr_assert_eq(weft_symbols_snapshot(c.s, c.t.pid, now_ns()), 0);
	c.time = now_ns();
	expect(&c, "library_function");
	target_stop(&c.t);
	finish(&c);
}

Test(replaced, after_its_end_the_new_file_is_not_taken)
{
	struct scene c;

	begin(&c);
	target_stop(&c.t);
	replace(&c);
	expect(&c, NULL);
	finish(&c);
}

Test(replaced, after_its_end_the_same_file_is_read)
{
	struct scene c;

	begin(&c);
	target_stop(&c.t);
	expect(&c, "library_function");
	expect_symbol(c.s, c.t.pid, c.time, c.p->address - 16, "library_before", 0, c.lib);
	finish(&c);
}

Test(replaced, a_file_changed_in_place_is_not_taken)
{
	struct scene c;

	begin(&c);
	target_stop(&c.t);
	copy_file(c.other, c.lib); /* the same inode */
	expect(&c, NULL);
	finish(&c);
}

Test(replaced, a_file_changed_after_it_was_read_has_the_names_it_had)
{
	struct scene c;

	begin(&c);
	target_stop(&c.t);
	expect_symbol(c.s, c.t.pid, c.time, c.p->address, "library_function", 0, c.lib);
	copy_file(c.other, c.lib);
	expect(&c, "library_function");
	finish(&c);
}

Test(replaced, a_deleted_file_is_unknown)
{
	struct scene c;

	begin(&c);
	target_stop(&c.t);
	cr_assert_eq(unlink(c.lib), 0);
	expect(&c, NULL);
	finish(&c);
}

Test(replaced, what_is_no_file_is_not_opened)
{
	struct scene c;

	begin(&c);
	target_stop(&c.t);
	cr_assert_eq(unlink(c.lib), 0);
	cr_assert_eq(mkfifo(c.lib, 0600), 0); /* to open it would wait for ever */
	expect(&c, NULL);
	finish(&c);
}

/* The list of mappings escapes a newline and marks what is deleted; names may look like either. */
Test(replaced, names_that_look_like_escapes_and_marks)
{
	static const struct {
		const char *name, *shown;
	} cases[] = {
		{"two\nlines.so", "two\nlines.so"},
		{"back\\012slash.so", "back\nslash.so"}, /* cannot be told from the one above */
		{"lib (deleted)", "lib"},
		{"a b\tc.so", "a b\tc.so"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene c;

		begin_as(&c, cases[i].name);
		target_stop(&c.t); /* so that the path alone leads to it */
		temporary_path(cases[i].shown, c.lib);
		expect(&c, "library_function");
		finish(&c);
	}
}

/* Events carry a build ID or an inode, and either must be held against the file. */
static void expect_event(const char *lib, const uint8_t *id, uint32_t id_size, uint64_t inode,
			 dev_t device, const char *symbol, const struct place *p, uint64_t start,
			 uint64_t offset)
{
	struct weft_symbols *s = weft_symbols_create();
	const int32_t tgid = 0x7ffffff0;
	struct weft_process_event e = {
		.struct_size = sizeof(e),
		.kind = WEFT_PROCESS_EXEC,
		.time_ns = now_ns(),
		.pid = tgid,
		.text = "x",
	};

	weft_symbols_event(s, &e);
	e.kind = WEFT_PROCESS_MMAP;
	e.text = lib;
	e.address = start;
	e.length = 0x1000;
	e.file_offset = offset;
	e.inode = inode;
	e.device_major = major(device);
	e.device_minor = minor(device);
	e.build_id = id;
	e.build_id_size = id_size;
	weft_symbols_event(s, &e);
	expect_symbol(s, tgid, now_ns(), p->address, symbol, 0, lib);
	weft_symbols_destroy(s);
}

Test(replaced, build_id_and_inode_of_an_event_are_checked)
{
	uint8_t id[64], wrong[20] = {1};
	uint32_t id_size = 0;
	char path[64], line[512];
	uint64_t start = 0, offset = 0;
	unsigned char bytes[4096];
	struct scene c;
	struct stat st;
	FILE *file;

	begin(&c);
	snprintf(path, sizeof(path), "/proc/%d/maps", c.t.pid);
	file = fopen(path, "r");
	while (fgets(line, sizeof(line), file))
		if (strstr(line, c.lib) && strstr(line, "r-xp"))
			cr_assert_eq(sscanf(line, "%lx-%*x r-xp %lx", &start, &offset), 2);
	fclose(file);
	cr_assert_neq(start, 0u);
	/* the note, found the simple way */
	file = fopen(c.lib, "r");
	cr_assert_gt(fread(bytes, 1, sizeof(bytes), file), 1000u);
	fclose(file);
	for (size_t i = 0; i + 36 < sizeof(bytes) && !id_size; i += 4)
		if (memcmp(bytes + i, "\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU", 16) == 0) {
			id_size = 20;
			memcpy(id, bytes + i + 16, id_size);
		}
	cr_assert_eq(id_size, 20u);
	target_stop(&c.t);
	cr_assert_eq(stat(c.lib, &st), 0);
	expect_event(c.lib, id, id_size, 0, 0, "library_function", c.p, start, offset);
	expect_event(c.lib, wrong, 20, 0, 0, NULL, c.p, start, offset);
	expect_event(c.lib, NULL, 0, st.st_ino, st.st_dev, "library_function", c.p, start, offset);
	expect_event(c.lib, NULL, 0, st.st_ino + 1, st.st_dev, NULL, c.p, start, offset);
	expect_event(c.lib, NULL, 0, st.st_ino, st.st_dev + 1, NULL, c.p, start, offset);
	finish(&c);
}
