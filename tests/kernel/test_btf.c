/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The scan against libbpf's reading of the same kernel, and against BTF made by hand. */
#include <bpf/btf.h>
#include <errno.h>
#include <linux/btf.h>
#include <sys/mman.h>

#include "core/kernel/btf_scan.h"
#include "tests/kernel/support.h"

/* ---- this kernel ---- */

Test(btf, functions_have_the_ids_that_libbpf_finds)
{
	const char *const names[] = {"bpf_iter_bpf_map_elem", "vfs_read", "do_exit", "schedule"};
	struct btf *btf = btf__load_vmlinux_btf();
	struct weft_error *err = weft_error_create();
	size_t i;

	cr_assert_not_null(btf);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint32_t id = 0;

		cr_expect_eq(weft_btf_find_func(names[i], &id, err), 0, "%s", names[i]);
		cr_expect_eq((int)id, btf__find_by_name_kind(btf, names[i], BTF_KIND_FUNC), "%s",
			     names[i]);
	}
	btf__free(btf);
	weft_error_destroy(err);
}

/* The truth: byte offset of a member, looked for in anonymous parts too; -1: none. */
static long libbpf_offset(const struct btf *btf, uint32_t id, const char *name, long base)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	const struct btf_member *m;
	int i;

	while (btf_is_mod(t))
		t = btf__type_by_id(btf, t->type);
	if (!btf_is_composite(t))
		return -1;
	m = btf_members(t);
	for (i = 0; i < btf_vlen(t); i++) {
		long at = base + btf_member_bit_offset(t, (uint32_t)i);
		const char *n = btf__name_by_offset(btf, m[i].name_off);

		if (*n && !strcmp(n, name))
			return btf_member_bitfield_size(t, (uint32_t)i) ? -1 : at / 8;
		if (!*n) {
			at = libbpf_offset(btf, m[i].type, name, at);
			if (at >= 0)
				return at;
		}
	}
	return -1;
}

Test(btf, members_have_the_offsets_that_libbpf_finds)
{
	struct weft_btf_member m[] = {
		{.structure = "task_struct", .member = "tgid"},
		{.structure = "task_struct", .member = "pid"},
		{.structure = "task_struct", .member = "real_parent"},
		{.structure = "task_struct", .member = "signal"},
		{.structure = "signal_struct", .member = "live"},
		{.structure = "task_struct", .member = "thread"},
		{.structure = "page", .member = "mapping"},       /* in an anonymous union */
		{.structure = "page", .member = "compound_head"}, /* two levels down */
		{.structure = "inode", .member = "i_ino"},
		{.structure = "task_struct", .member = "no_such_member"},
		{.structure = "no_such_struct", .member = "pid"},
		{.structure = "task_struct", .member = "in_execve"}, /* a bit field */
	};
	struct btf *btf = btf__load_vmlinux_btf();
	struct weft_error *err = weft_error_create();
	size_t i, n = sizeof(m) / sizeof(m[0]), found = 0;

	cr_assert_not_null(btf);
	cr_assert_eq(weft_btf_find_members(m, n, err), 0, "%s", weft_error_text(err));
	for (i = 0; i < n; i++) {
		int id = btf__find_by_name_kind(btf, m[i].structure, BTF_KIND_STRUCT);
		long truth = id < 0 ? -1 : libbpf_offset(btf, (uint32_t)id, m[i].member, 0);

		cr_expect_eq(m[i].found, truth >= 0, "%s.%s", m[i].structure, m[i].member);
		if (m[i].found)
			cr_expect_eq(m[i].offset, truth, "%s.%s: %u, not %ld", m[i].structure,
				     m[i].member, m[i].offset, truth);
		found += m[i].found;
	}
	cr_expect_geq(found, 8u);
	btf__free(btf);
	weft_error_destroy(err);
}

Test(btf, task_offsets)
{
	struct weft_task_offsets o = {0};
	struct weft_error *err = weft_error_create();

	cr_expect_eq(weft_btf_task_offsets(&o, err), 0);
	cr_expect(o.known);
	cr_expect_neq(o.tgid, o.pid);
	weft_error_destroy(err);
}

Test(btf, BTF_NOT_FOUND)
{
	struct weft_error *err = weft_error_create();
	uint32_t id;

	cr_expect_eq(weft_btf_find_func("no_such_function_anywhere", &id, err), -ENOENT);
	cr_expect_str_eq(weft_error_tag(err), "BTF_NOT_FOUND");
	/* A type of another kind does not count. */
	weft_error_clear(err);
	cr_expect_eq(weft_btf_find_func("task_struct", &id, err), -ENOENT);
	weft_error_destroy(err);
}

Test(btf, BTF_UNAVAILABLE)
{
	struct weft_error *err = weft_error_create();
	struct weft_btf_scan *scan;

	cr_expect_eq(weft_btf_scan_open("/nonexistent/vmlinux", &scan, err), -ENOENT);
	cr_expect_str_eq(weft_error_tag(err), "BTF_UNAVAILABLE");
	weft_error_destroy(err);
}

/* ---- made by hand ---- */

struct blob {
	uint8_t bytes[1 << 20];
	size_t size;
	char strings[200 << 10];
	size_t n_strings;
	uint8_t types[512 << 10];
	size_t n_types;
};

static uint32_t string(struct blob *b, const char *s)
{
	size_t at = b->n_strings;

	memcpy(b->strings + at, s, strlen(s) + 1);
	b->n_strings += strlen(s) + 1;
	return (uint32_t)at;
}

static void word(struct blob *b, uint32_t w)
{
	memcpy(b->types + b->n_types, &w, 4);
	b->n_types += 4;
}

static void type(struct blob *b, uint32_t name, uint32_t kind, uint32_t vlen, bool flag,
		 uint32_t size_or_type)
{
	word(b, name);
	word(b, (uint32_t)flag << 31 | kind << 24 | vlen);
	word(b, size_or_type);
}

static void member(struct blob *b, uint32_t name, uint32_t t, uint32_t bits)
{
	word(b, name);
	word(b, t);
	word(b, bits);
}

static struct blob *blob_new(void)
{
	struct blob *b = calloc(1, sizeof(*b));

	string(b, "");
	return b;
}

/* The blob as a file; `cut` bytes are missing at its end. */
static int blob_file(struct blob *b, size_t cut)
{
	struct btf_header h = {.magic = BTF_MAGIC,
			       .version = BTF_VERSION,
			       .hdr_len = sizeof(h),
			       .type_len = (uint32_t)b->n_types,
			       .str_off = (uint32_t)b->n_types,
			       .str_len = (uint32_t)b->n_strings};
	int fd = memfd_create("btf", MFD_CLOEXEC);

	memcpy(b->bytes, &h, sizeof(h));
	memcpy(b->bytes + sizeof(h), b->types, b->n_types);
	memcpy(b->bytes + sizeof(h) + b->n_types, b->strings, b->n_strings);
	b->size = sizeof(h) + b->n_types + b->n_strings;
	cr_assert_eq(write(fd, b->bytes, b->size - cut), (ssize_t)(b->size - cut));
	return fd;
}

static int func_of(int fd, const char *name, uint32_t *id, struct weft_error *err)
{
	struct weft_btf_scan *scan;
	int ret = weft_btf_scan_fd(fd, &scan, err);

	if (ret)
		return ret;
	ret = weft_btf_scan_func(scan, name, id, err);
	weft_btf_scan_close(scan);
	return ret;
}

static int members_of(int fd, struct weft_btf_member *m, size_t n, struct weft_error *err)
{
	struct weft_btf_scan *scan;
	int ret = weft_btf_scan_fd(fd, &scan, err);

	if (ret)
		return ret;
	ret = weft_btf_scan_members(scan, m, n, err);
	weft_btf_scan_close(scan);
	return ret;
}

Test(btf_synthetic, every_kind_is_stepped_over)
{
	struct blob *b = blob_new();
	struct weft_error *err = weft_error_create();
	uint32_t name = string(b, "wanted"), other = string(b, "xwanted"), id = 0, k;
	const struct {
		uint32_t kind, vlen, words;
	} all[] = {
		{BTF_KIND_INT, 0, 1},      {BTF_KIND_PTR, 0, 0},      {BTF_KIND_ARRAY, 0, 3},
		{BTF_KIND_STRUCT, 2, 6},   {BTF_KIND_UNION, 1, 3},    {BTF_KIND_ENUM, 3, 6},
		{BTF_KIND_FWD, 0, 0},      {BTF_KIND_TYPEDEF, 0, 0},  {BTF_KIND_VOLATILE, 0, 0},
		{BTF_KIND_CONST, 0, 0},    {BTF_KIND_RESTRICT, 0, 0}, {BTF_KIND_FUNC_PROTO, 2, 4},
		{BTF_KIND_VAR, 0, 1},      {BTF_KIND_DATASEC, 2, 6},  {BTF_KIND_FLOAT, 0, 0},
		{BTF_KIND_DECL_TAG, 0, 1}, {BTF_KIND_TYPE_TAG, 0, 0}, {BTF_KIND_ENUM64, 2, 6}};
	size_t i;
	int fd;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		type(b, name, all[i].kind, all[i].vlen, false, 0);
		for (k = 0; k < all[i].words; k++)
			word(b, name);
	}
	type(b, other, BTF_KIND_FUNC, 0, false, 1);
	type(b, name, BTF_KIND_FUNC, 0, false, 1);
	fd = blob_file(b, 0);
	cr_expect_eq(func_of(fd, "wanted", &id, err), 0, "%s", weft_error_text(err));
	cr_expect_eq(id, sizeof(all) / sizeof(all[0]) + 2);
	close(fd);
	free(b);
	weft_error_destroy(err);
}

/* Strings are cut by the window at every place, and one is longer than it. */
Test(btf_synthetic, strings_across_windows)
{
	struct weft_error *err = weft_error_create();
	int pad, fd;

	for (pad = 65536 - 60; pad < 65536 + 20; pad += 3) {
		struct blob *b = blob_new();
		char *filler = calloc(1, 80000);
		uint32_t name, id = 0;

		memset(filler, 'x', (size_t)pad);
		string(b, filler);
		name = string(b, "bpf_iter_bpf_map_elem");
		memset(filler, 'y', 70000);
		string(b, filler);
		string(b, "last");
		type(b, name, BTF_KIND_FUNC, 0, false, 1);
		type(b, (uint32_t)(b->n_strings - 5), BTF_KIND_FUNC, 0, false, 1);
		fd = blob_file(b, 0);
		cr_expect_eq(func_of(fd, "bpf_iter_bpf_map_elem", &id, err), 0, "pad %d", pad);
		cr_expect_eq(id, 1u);
		cr_expect_eq(func_of(fd, "last", &id, err), 0, "pad %d", pad);
		cr_expect_eq(id, 2u);
		close(fd);
		free(filler);
		free(b);
	}
	weft_error_destroy(err);
}

/* One text at two places: the first belongs to nothing that fits. */
Test(btf_synthetic, a_text_that_is_there_twice)
{
	struct blob *b = blob_new();
	struct weft_error *err = weft_error_create();
	uint32_t first = string(b, "wanted"), second = string(b, "wanted"), id = 0;
	int fd;

	type(b, first, BTF_KIND_FWD, 0, false, 0);
	type(b, second, BTF_KIND_FUNC, 0, false, 1);
	fd = blob_file(b, 0);
	cr_expect_eq(func_of(fd, "wanted", &id, err), 0);
	cr_expect_eq(id, 2u);
	close(fd);
	free(b);
	weft_error_destroy(err);
}

Test(btf_synthetic, anonymous_parts_earlier_later_and_behind_qualifiers)
{
	struct blob *b = blob_new();
	struct weft_error *err = weft_error_create();
	uint32_t s = string(b, "s"), a = string(b, "a"), c = string(b, "c"), d = string(b, "d"),
		 f = string(b, "f");
	struct weft_btf_member m[] = {{.structure = "s", .member = "a"},
				      {.structure = "s", .member = "c"},
				      {.structure = "s", .member = "d"},
				      {.structure = "s", .member = "f"}};
	int fd;

	type(b, 0, BTF_KIND_UNION, 1, false, 8); /* 1: earlier than s */
	member(b, a, 9, 32);
	type(b, s, BTF_KIND_STRUCT, 4, true, 64); /* 2 */
	member(b, 0, 1, 64);
	member(b, 0, 3, 128);
	member(b, f, 9, 3 << 24 | 256); /* a bit field */
	member(b, 0, 5, 320);
	type(b, 0, BTF_KIND_CONST, 0, false, 4);  /* 3: a qualifier between */
	type(b, 0, BTF_KIND_STRUCT, 1, false, 8); /* 4 */
	member(b, c, 9, 8);
	type(b, 0, BTF_KIND_STRUCT, 1, false, 8); /* 5: another level */
	member(b, 0, 6, 64);
	type(b, 0, BTF_KIND_UNION, 1, false, 8); /* 6 */
	member(b, d, 9, 16);
	fd = blob_file(b, 0);
	cr_assert_eq(members_of(fd, m, 4, err), 0, "%s", weft_error_text(err));
	cr_expect(m[0].found && m[0].offset == 12, "%u", m[0].offset);
	cr_expect(m[1].found && m[1].offset == 17, "%u", m[1].offset);
	cr_expect(m[2].found && m[2].offset == 50, "%u", m[2].offset);
	cr_expect_not(m[3].found);
	close(fd);
	free(b);
	weft_error_destroy(err);
}

/* A struct that contains itself by name-less members must not go on for ever. */
Test(btf_synthetic, a_struct_within_itself)
{
	struct blob *b = blob_new();
	struct weft_error *err = weft_error_create();
	uint32_t s = string(b, "s"), i;
	struct weft_btf_member m = {.structure = "s", .member = "a"};
	int fd;

	string(b, "a");
	type(b, s, BTF_KIND_STRUCT, 200, false, 64);
	for (i = 0; i < 200; i++)
		member(b, 0, 1, 0xffffff);
	fd = blob_file(b, 0);
	cr_expect_eq(members_of(fd, &m, 1, err), 0);
	cr_expect_not(m.found);
	close(fd);
	free(b);
	weft_error_destroy(err);
}

Test(btf_synthetic, BTF_MALFORMED_at_every_length)
{
	struct blob *b = blob_new();
	struct weft_error *err = weft_error_create();
	uint32_t name = string(b, "s");
	struct weft_btf_member m = {.structure = "s", .member = "a"};
	size_t cut;
	int fd;

	string(b, "a");
	type(b, name, BTF_KIND_STRUCT, 1, false, 8);
	member(b, name, 1, 0);
	fd = blob_file(b, 0);
	close(fd);
	for (cut = 1; cut <= b->size; cut++) {
		weft_error_clear(err);
		fd = blob_file(b, cut);
		cr_expect_eq(members_of(fd, &m, 1, err), -EBADMSG, "cut by %zu", cut);
		cr_expect_str_eq(weft_error_tag(err), "BTF_MALFORMED");
		close(fd);
	}
	free(b);
	weft_error_destroy(err);
}

/* Every byte of a small file replaced by every value that matters: no crash, no endless loop. */
Test(btf_synthetic, every_byte_damaged)
{
	static const uint8_t values[] = {0, 1, 3, 4, 13, 20, 31, 127, 128, 255};
	struct blob *b = blob_new();
	uint32_t s = string(b, "s"), a = string(b, "a");
	size_t i, k;
	int fd;

	type(b, s, BTF_KIND_STRUCT, 2, false, 8);
	member(b, 0, 2, 0);
	member(b, s, 1, 8);
	type(b, 0, BTF_KIND_UNION, 1, false, 8);
	member(b, a, 1, 0);
	type(b, a, BTF_KIND_FUNC, 0, false, 1);
	fd = blob_file(b, 0);
	for (i = 0; i < b->size; i++) {
		for (k = 0; k < sizeof(values); k++) {
			struct weft_btf_member m = {.structure = "s", .member = "a"};
			uint32_t id;

			cr_assert_eq(pwrite(fd, &values[k], 1, (off_t)i), 1);
			members_of(fd, &m, 1, NULL);
			func_of(fd, "a", &id, NULL);
		}
		cr_assert_eq(pwrite(fd, b->bytes + i, 1, (off_t)i), 1);
	}
	close(fd);
	free(b);
}
