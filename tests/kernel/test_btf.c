/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The reader against libbpf's reading of the same kernel, and against BTF made by hand. */
#include <bpf/btf.h>
#include <errno.h>
#include <linux/btf.h>
#include <sys/mman.h>

#include "core/kernel/btf_find.h"
#include "core/kernel/btf_objects.h"
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

static const struct btf_member *find_member(const struct btf *btf, const struct btf_type *t,
					    const char *name, long *base);

/* Looks for a member in a struct and its nameless parts; *base, in bits, becomes where it lies. */
static const struct btf_member *find_member(const struct btf *btf, const struct btf_type *t,
					    const char *name, long *base)
{
	const struct btf_member *m = btf_members(t), *inner;
	int i;

	for (i = 0; i < btf_vlen(t); i++) {
		long at = *base + btf_member_bit_offset(t, (uint32_t)i);
		const char *n = btf__name_by_offset(btf, m[i].name_off);
		const struct btf_type *type = btf__type_by_id(btf, m[i].type);

		if (*n ? !strcmp(n, name) : false) {
			*base = btf_member_bitfield_size(t, (uint32_t)i) ? -1 : at;
			return &m[i];
		}
		while (btf_is_mod(type))
			type = btf__type_by_id(btf, type->type);
		inner = *n || !btf_is_composite(type) ? NULL : find_member(btf, type, name, &at);
		if (inner) {
			*base = at;
			return inner;
		}
	}
	return NULL;
}

/* The truth: the byte offset of what a path names; -1: nothing that has one. */
static long libbpf_offset(const struct btf *btf, const char *path)
{
	char copy[256], *save = NULL, *part;
	long bits = 0;
	int id;

	strcpy(copy, path);
	id = btf__find_by_name_kind(btf, strtok_r(copy, ".", &save), BTF_KIND_STRUCT);
	while ((part = strtok_r(NULL, ".", &save))) {
		const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
		const struct btf_member *m;

		while (t && (btf_is_mod(t) || btf_is_typedef(t)))
			t = btf__type_by_id(btf, t->type);
		m = t && btf_is_composite(t) ? find_member(btf, t, part, &bits) : NULL;
		if (!m || bits < 0)
			return -1;
		id = (int)m->type;
	}
	return bits / 8;
}

Test(btf, members_have_the_offsets_that_libbpf_finds)
{
	struct weft_btf_member m[] = {
		{.path = "task_struct.tgid"},
		{.path = "task_struct.pid"},
		{.path = "task_struct.real_parent"},
		{.path = "task_struct.signal"},
		{.path = "signal_struct.live"},
		{.path = "task_struct.thread"},
		{.path = "page.mapping"},       /* in an anonymous union */
		{.path = "page.compound_head"}, /* two levels down */
		{.path = "inode.i_ino"},
		{.path = "perf_event.hw.hrtimer.node.expires"},
		{.path = "task_struct.se.avg.load_sum"},
		{.path = "task_struct.se.run_node.rb_left"},
		{.path = "signal_struct.live.counter"}, /* through a typedef */
		{.path = "file.f_path.dentry"},
		{.path = "inode.i_data.i_pages.xa_head"},
		{.path = "task_struct.no_such_member"},
		{.path = "no_such_struct.pid"},
		{.path = "task_struct.in_execve"},       /* a bit field */
		{.path = "task_struct.real_parent.pid"}, /* through a pointer */
		{.path = "task_struct.comm.counter"},    /* an array has no members */
		{.path = "task_struct.tgid.tgid"},
		{.path = "perf_event.hw.no_such_member.node"},
	};
	struct btf *btf = btf__load_vmlinux_btf();
	struct weft_error *err = weft_error_create();
	size_t i, n = sizeof(m) / sizeof(m[0]), found = 0;

	cr_assert_not_null(btf);
	cr_assert_eq(weft_btf_find_members(m, n, err), 0, "%s", weft_error_text(err));
	for (i = 0; i < n; i++) {
		long truth = libbpf_offset(btf, m[i].path);

		cr_expect_eq(m[i].found, truth >= 0, "%s is at %ld", m[i].path, truth);
		if (m[i].found)
			cr_expect_eq(m[i].offset, truth, "%s: %u, not %ld", m[i].path, m[i].offset,
				     truth);
		found += m[i].found;
	}
	cr_expect_geq(found, 14u);
	btf__free(btf);
	weft_error_destroy(err);
}

/* Every type by its id, from the last to the first: what the marks lead to is what libbpf has. */
Test(btf, types_have_the_ids_that_libbpf_gives_them)
{
	struct btf *truth = btf__load_vmlinux_btf();
	struct weft_error *err = weft_error_create();
	struct weft_btf_type t;
	struct weft_btf *btf;
	uint32_t id, n;

	cr_assert_not_null(truth);
	cr_assert_eq(weft_btf_open(WEFT_BTF_VMLINUX, NULL, &btf, err), 0);
	n = btf__type_cnt(truth);
	cr_assert_eq(weft_btf_end(btf), n);
	for (id = n - 1; id > 0; id = id > 97 ? id - 97 : id - 1) {
		const struct btf_type *of = btf__type_by_id(truth, id);

		cr_assert(weft_btf_type(btf, id, &t));
		cr_assert(t.id == id && t.type == of->type && t.kind == btf_kind(of) &&
				  t.vlen == btf_vlen(of) &&
				  !strcmp(t.name, btf__name_by_offset(truth, of->name_off)),
			  "type %u", id);
	}
	cr_expect_not(weft_btf_type(btf, n, &t));
	cr_expect(weft_btf_type(btf, 0, &t) && t.kind == BTF_KIND_UNKN);
	weft_btf_destroy(btf);
	btf__free(truth);
	weft_error_destroy(err);
}

/* What older kernels do not let be mapped is copied, and the same. */
Test(btf, a_copy)
{
	struct weft_error *err = weft_error_create();
	struct weft_btf *mapped, *copied;
	struct weft_btf_type a, b;

	cr_assert_eq(weft_btf_open(WEFT_BTF_VMLINUX, NULL, &mapped, err), 0);
	cr_assert_eq(weft_btf_open_copy(WEFT_BTF_VMLINUX, NULL, &copied, err), 0);
	cr_assert_eq(weft_btf_end(mapped), weft_btf_end(copied));
	for (uint32_t id = 1; id < weft_btf_end(mapped); id += 31) {
		cr_assert(weft_btf_type(mapped, id, &a) && weft_btf_type(copied, id, &b));
		cr_assert(a.kind == b.kind && a.type == b.type && !strcmp(a.name, b.name));
	}
	weft_btf_destroy(mapped);
	weft_btf_destroy(copied);
	weft_error_destroy(err);
}

Test(btf, task_offsets)
{
	struct weft_task_offsets o = {0};
	struct weft_error *err = weft_error_create();

	cr_expect_eq(weft_btf_task_offsets(&o, err), 0);
	cr_expect_neq(o.tgid, o.pid);
	weft_error_destroy(err);
}

/* What is wanted is looked for; what is known is left alone. */
Test(btf, members_of_a_plan)
{
	struct weft_kernel_member m[] = {
		{.path = "task_struct.tgid", .state = WEFT_MEMBER_KNOWN, .offset = 7},
		{.path = "task_struct.pid"},
		{.path = "task_struct.no_such_member"},
		{.path = "task_struct.tgid"},
	};
	struct weft_plan plan = {.members = m, .n_members = 4};
	struct weft_error *err = weft_error_create();
	struct weft_task_offsets o = {0};

	cr_assert_eq(weft_btf_task_offsets(&o, err), 0);
	cr_assert_eq(weft_btf_resolve(&plan, err), 0, "%s", weft_error_text(err));
	cr_expect(m[0].state == WEFT_MEMBER_KNOWN && m[0].offset == 7);
	cr_expect(m[1].state == WEFT_MEMBER_KNOWN && m[1].offset == o.pid);
	cr_expect(m[2].state == WEFT_MEMBER_ABSENT);
	cr_expect(m[3].state == WEFT_MEMBER_KNOWN && m[3].offset == o.tgid);
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

Test(btf, BTF_MISSING)
{
	struct weft_error *err = weft_error_create();
	struct weft_btf *btf;

	cr_expect_eq(weft_btf_open("/nonexistent/vmlinux", NULL, &btf, err), -ENOENT);
	cr_expect_str_eq(weft_error_tag(err), "BTF_MISSING");
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
	struct weft_btf *btf;
	int ret = weft_btf_open_fd(fd, NULL, &btf, err);

	if (ret)
		return ret;
	ret = weft_btf_find(btf, name, WEFT_BTF_KINDS(BTF_KIND_FUNC), id, NULL) ? 0 : -ENOENT;
	weft_btf_destroy(btf);
	return ret;
}

static int members_of(int fd, struct weft_btf_member *m, size_t n, struct weft_error *err)
{
	struct weft_btf *btf;
	int ret = weft_btf_open_fd(fd, NULL, &btf, err);

	if (ret)
		return ret;
	ret = weft_btf_members(btf, m, n, err);
	weft_btf_destroy(btf);
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

/* Strings of any length. */
Test(btf_synthetic, long_strings)
{
	struct weft_error *err = weft_error_create();
	int pad, fd;

	for (pad = 65536 - 60; pad < 65536 + 20; pad += 30) {
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
	struct weft_btf_member m[] = {
		{.path = "s.a"}, {.path = "s.c"}, {.path = "s.d"}, {.path = "s.f"}};
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

/* s.h.e through a typedef and a const, past a struct of the same name that lacks it; types refer
 * forwards and backwards, and some members' names are those of other levels. */
Test(btf_synthetic, members_of_members)
{
	struct blob *b = blob_new();
	struct weft_error *err = weft_error_create();
	uint32_t s = string(b, "s"), h = string(b, "h"), e = string(b, "e"), x = string(b, "x");
	struct weft_btf_member m[] = {{.path = "s.h.e"},     {.path = "s.h"},   {.path = "s.h.x.e"},
				      {.path = "s.e"},       {.path = "s.p.e"}, {.path = "s.h.e.e"},
				      {.path = "s.h.x.e.h"}, {.path = "s"},     {.path = "s."},
				      {.path = ".s"},        {.path = ""},      {.path = "s..e"}};
	static const long truth[] = {24, 8, 36, -1, -1, -1, -1, -1, -1, -1, -1, -1};
	size_t i, n = sizeof(m) / sizeof(m[0]);
	uint32_t p = string(b, "p");
	int fd;

	type(b, s, BTF_KIND_STRUCT, 1, false, 8); /* 1: not the one that is meant */
	member(b, x, 5, 0);
	type(b, 0, BTF_KIND_UNION, 2, false, 16); /* 2: nameless */
	member(b, x, 7, 64);
	member(b, e, 5, 64);
	type(b, s, BTF_KIND_STRUCT, 2, false, 64); /* 3 */
	member(b, h, 4, 64);
	member(b, p, 9, 512);
	type(b, 0, BTF_KIND_CONST, 0, false, 6); /* 4 */
	type(b, x, BTF_KIND_INT, 0, false, 8);   /* 5 */
	word(b, 64);
	type(b, h, BTF_KIND_TYPEDEF, 0, false, 8); /* 6 */
	type(b, x, BTF_KIND_STRUCT, 1, false, 16); /* 7 */
	member(b, e, 5, 96);
	type(b, h, BTF_KIND_STRUCT, 2, false, 32); /* 8 */
	member(b, s, 5, 0);
	member(b, 0, 2, 64);
	type(b, 0, BTF_KIND_PTR, 0, false, 8); /* 9 */
	fd = blob_file(b, 0);
	cr_assert_eq(members_of(fd, m, n, err), 0, "%s", weft_error_text(err));
	for (i = 0; i < n; i++)
		cr_expect_eq(m[i].found ? (long)m[i].offset : -1, truth[i], "%s: %ld", m[i].path,
			     m[i].found ? (long)m[i].offset : -1);
	close(fd);
	free(b);
	weft_error_destroy(err);
}

/* A struct that contains itself, by members without a name or with one, must not go on for ever. */
Test(btf_synthetic, a_struct_within_itself)
{
	struct weft_error *err = weft_error_create();
	uint32_t s, a, i;
	int fd, named;

	for (named = 0; named < 2; named++) {
		struct weft_btf_member m = {.path = named ? "s.a.a.a.a.a.a.b" : "s.b"};
		struct blob *b = blob_new();

		s = string(b, "s");
		a = string(b, "a");
		string(b, "b");
		type(b, s, BTF_KIND_STRUCT, 200, false, 64);
		for (i = 0; i < 200; i++)
			member(b, named ? a : 0, 1, 0xffffff);
		fd = blob_file(b, 0);
		weft_error_clear(err);
		cr_expect_eq(members_of(fd, &m, 1, err), named ? 0 : -EBADMSG);
		cr_expect_str_eq(weft_error_tag(err), named ? "" : "BTF_MALFORMED");
		cr_expect_not(m.found);
		close(fd);
		free(b);
	}
	weft_error_destroy(err);
}

/* A typedef of itself, and nameless structs in a circle. */
Test(btf_synthetic, circles)
{
	struct weft_error *err = weft_error_create();
	struct weft_btf_member m = {.path = "s.a"};
	struct blob *b = blob_new();
	uint32_t s = string(b, "s");
	int fd;

	string(b, "a");
	type(b, 0, BTF_KIND_TYPEDEF, 0, false, 1);
	type(b, s, BTF_KIND_STRUCT, 1, false, 8);
	member(b, 0, 1, 0);
	fd = blob_file(b, 0);
	cr_expect_eq(members_of(fd, &m, 1, err), -EBADMSG);
	cr_expect_str_eq(weft_error_tag(err), "BTF_MALFORMED");
	close(fd);
	free(b);
	weft_error_destroy(err);
}

Test(btf_synthetic, BTF_MALFORMED_at_every_length)
{
	struct blob *b = blob_new();
	struct weft_error *err = weft_error_create();
	uint32_t name = string(b, "s");
	struct weft_btf_member m = {.path = "s.a"};
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
			struct weft_btf_member m[] = {{.path = "s.a"}, {.path = "s.s.a"}};
			uint32_t id;

			cr_assert_eq(pwrite(fd, &values[k], 1, (off_t)i), 1);
			members_of(fd, m, 2, NULL);
			func_of(fd, "a", &id, NULL);
		}
		cr_assert_eq(pwrite(fd, b->bytes + i, 1, (off_t)i), 1);
	}
	close(fd);
	free(b);
}
