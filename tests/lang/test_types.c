/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Types of BTF in expressions: what becomes of them, and every way in which one can be wrong. */
#include <bpf/btf.h>
#include <errno.h>
#include <linux/btf.h>
#include <stdlib.h>

#include "rig.h"

struct types {
	struct weft_btf_source source;
	struct weft_btf *btf;
	int opened; /* how often it was asked for */
	int error;
};

static struct rig r;
static struct types types;
static struct weft_arg args[6];
static const struct weft_loc_op nothing = {.op = WEFT_LOC_CONST};

static int get(struct weft_btf_source *source, int fd, struct weft_btf **out, struct weft_error *err)
{
	struct types *t = (struct types *)(void *)source;

	t->opened++;
	if (t->error)
		return weft_fail(err, t->error, "BTF_MISSING", "there are no types");
	if (fd)
		return weft_fail(err, -EBADF, "BTF_FD", "another descriptor");
	*out = t->btf;
	return 0;
}

/*
 * struct file { unsigned f_mode; struct path { struct dentry *dentry; void *mnt; } f_path; char
 * name[16]; unsigned char raw[16]; unsigned bit:3; enum color color; double real; struct gone
 * *gone; int *count; void (*call)(void); int nums[4]; struct file *next; const char __user *text;
 * __int128 wide; struct gone inside; union { long a; struct { int b, c; }; }; struct path paths[2];
 * int flex[]; };
 */
struct ids {
	int file_ptr, file, color, path;
};

static struct btf *make(struct ids *ids)
{
	struct btf *b = btf__new_empty();
	int i32 = btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	int u32 = btf__add_int(b, "unsigned int", 4, 0), c = btf__add_int(b, "char", 1, 0);
	int uc = btf__add_int(b, "unsigned char", 1, 0), i64 = btf__add_int(b, "long int", 8, 1);
	int wide = btf__add_int(b, "__int128", 16, 1), real = btf__add_float(b, "double", 8);
	int gone = btf__add_fwd(b, "gone", BTF_FWD_STRUCT), vp = btf__add_ptr(b, 0);
	int dentry, path, color, either, inner, file, user, call;

	dentry = btf__add_struct(b, "dentry", 8);
	btf__add_field(b, "d_inode", i64, 0, 0);
	path = btf__add_struct(b, "path", 16);
	btf__add_field(b, "dentry", (int)btf__type_cnt(b), 0, 0);
	btf__add_field(b, "mnt", vp, 64, 0);
	btf__add_ptr(b, dentry);
	btf__add_enum(b, "color", 4);
	color = (int)btf__type_cnt(b) - 1;
	btf__add_enum_value(b, "RED", 1);
	btf__add_enum_value(b, "pid", 2);
	inner = btf__add_struct(b, NULL, 8);
	btf__add_field(b, "b", i32, 0, 0);
	btf__add_field(b, "c", i32, 32, 0);
	either = btf__add_union(b, NULL, 8);
	btf__add_field(b, "a", i64, 0, 0);
	btf__add_field(b, NULL, inner, 0, 0);
	user = btf__add_ptr(b, btf__add_type_tag(b, "user", btf__add_const(b, c)));
	call = btf__add_ptr(b, btf__add_func_proto(b, 0));
	ids->file_ptr = btf__add_ptr(b, (int)btf__type_cnt(b) + 1);
	file = btf__add_struct(b, "file", 320);
	btf__add_field(b, "f_mode", u32, 0, 0);
	btf__add_field(b, "f_path", path, 64, 0);
	ids->file = file;
	ids->color = color;
	ids->path = path;
	/* The types of what follows come behind the struct. */
#define LATER(n) ((int)file + (n))
	btf__add_field(b, "name", LATER(1), 192, 0);
	btf__add_field(b, "raw", LATER(2), 320, 0);
	btf__add_field(b, "bit", u32, 448, 3);
	btf__add_field(b, "color", color, 480, 0);
	btf__add_field(b, "real", real, 512, 0);
	btf__add_field(b, "gone", LATER(3), 576, 0);
	btf__add_field(b, "count", LATER(4), 640, 0);
	btf__add_field(b, "call", call, 704, 0);
	btf__add_field(b, "nums", LATER(5), 768, 0);
	btf__add_field(b, "next", ids->file_ptr, 896, 0);
	btf__add_field(b, "text", user, 960, 0);
	btf__add_field(b, "wide", wide, 1024, 0);
	btf__add_field(b, "inside", gone, 1152, 0);
	btf__add_field(b, NULL, either, 1216, 0);
	btf__add_field(b, "paths", LATER(6), 1280, 0);
	btf__add_field(b, "flex", LATER(7), 1536, 0);
	btf__add_array(b, i32, c, 16);
	btf__add_array(b, i32, uc, 16);
	btf__add_ptr(b, gone);
	btf__add_ptr(b, i32);
	btf__add_array(b, i32, i32, 4);
	btf__add_array(b, i32, path, 2);
	btf__add_array(b, i32, i32, 0);
	btf__add_typedef(b, "mode_t", u32);
	return b;
}

static void init(void)
{
	static const char *const names[] = {"file", "color", "path", "n", "buf", "old"};
	struct ids ids;
	struct btf *b = make(&ids);
	const void *bytes;
	uint32_t size;
	void *copy;

	rig_init(&r);
	bytes = btf__raw_data(b, &size);
	copy = malloc(size);
	memcpy(copy, bytes, size);
	cr_assert_eq(weft_btf_create(copy, size, false, NULL, &types.btf, r.err), 0);
	btf__free(b);
	types.source.get = get;
	types.opened = types.error = 0;
	for (size_t i = 0; i < N(args); i++)
		args[i] = (struct weft_arg){.struct_size = sizeof(args[i]),
					    .name = names[i],
					    .type = {.kind = WEFT_TYPE_BTF, .size = 8},
					    .where = {.ops = &nothing, .n_ops = 1}};
	args[0].type.btf_id = (uint32_t)ids.file_ptr;
	args[0].type.text = "struct file *";
	args[1].type.btf_id = (uint32_t)ids.color;
	args[1].type.size = 4;
	args[2].type.btf_id = (uint32_t)ids.path;
	args[2].type.size = 16;
	args[3].type = (struct weft_arg_type){.kind = WEFT_TYPE_INT, .size = 8, .flags = 1};
	args[4].type = (struct weft_arg_type){.kind = WEFT_TYPE_POINTER, .space = WEFT_SPACE_USER};
	args[5].type.btf_id = (uint32_t)ids.file; /* the struct's own id: a pointer to it */
	args[5].type.text = "struct file *";
	r.info.args = args;
	r.info.n_args = N(args);
	r.info.arg_size = sizeof(args[0]);
	r.env.btf = &types.source;
}

static void finish(void)
{
	weft_btf_destroy(types.btf);
	rig_finish(&r);
}

TestSuite(lang_types, .init = init, .fini = finish);

static void expect(const char *text, const char *tree)
{
	const char *got = rig_print(&r, text, true);

	cr_expect_str_eq(got, tree, "`%s` gave %s (%s)", text, got, weft_error_text(r.err));
}

Test(lang_types, trees)
{
	static const struct {
		const char *text, *tree;
	} cases[] = {
		{"args.file.f_mode", "(kernel+0:uint32 arg0:struct file *)"},
		{"args.file->f_mode", "(kernel+0:uint32 arg0:struct file *)"},
		{"args.old.f_mode", "(kernel+0:uint32 arg5:struct file *)"},
		{"args.file.f_path.dentry.d_inode",
		 "(kernel+0:int64 (kernel+8:struct dentry * arg0:struct file *))"},
		{"args.file.next.next.c",
		 "(kernel+156:int32 (kernel+112:struct file * (kernel+112:struct file * arg0:struct "
		 "file *)))"},
		{"args.file.bit", "(kernel+56[0:3]:uint32 arg0:struct file *)"},
		{"args.file.color", "(kernel+60:enum color arg0:struct file *)"},
		{"args.file.nums[3]", "(kernel+108:int32 arg0:struct file *)"},
		{"args.file.nums[args.n]",
		 "(kernel+96:int32 (element*4<4:int * arg0:struct file * arg3:int64))"},
		{"args.file.flex[7]", "(kernel+220:int32 arg0:struct file *)"},
		{"args.file.flex[args.n]",
		 "(kernel+192:int32 (element*4:int * arg0:struct file * arg3:int64))"},
		{"args.file.paths[1].dentry", "(kernel+176:struct dentry * arg0:struct file *)"},
		{"args.file.count[-1]", "(kernel+-4:int32 (kernel+80:int * arg0:struct file *))"},
		{"*args.file.count", "(kernel+0:int32 (kernel+80:int * arg0:struct file *))"},
		{"&args.file.nums[1]", "(+:int * arg0:struct file * 100:uint64)"},
		{"&args.file.f_mode", "arg0:unsigned int *"},
		{"*&args.file.nums[1]", "(kernel+0:int32 (+:int * arg0:struct file * 100:uint64))"},
		{"args.path.mnt", "(kernel+8:void * arg2:struct path *)"},
		{"args.color == RED", "(==:int64 (int64 arg1:enum color) 1:int64)"},
		{"RED != args.color", "(!=:int64 1:int64 (int64 arg1:enum color))"},
		{"args.color == pid", "(==:int64 (int64 arg1:enum color) (int64 pid:int32))"},
		{"args.file == NULL", "(==:int64 arg0:struct file * 0:uint64)"},
		{"args.file.next == args.file",
		 "(==:int64 (kernel+112:struct file * arg0:struct file *) arg0:struct file *)"},
		{"args.file.name",
		 "(str:string (+:char (*)[16] arg0:struct file * 24:uint64) 16:int64)"},
		{"str(args.file.text)",
		 "(str:string (kernel+120:const char __user * arg0:struct file *))"},
		{"str(args.file.raw)",
		 "(str:string (+:unsigned char (*)[16] arg0:struct file * 40:uint64) 16:int64)"},
		{"((struct file *) args.n).f_mode", "(kernel+0:uint32 (struct file * arg3:int64))"},
		{"((struct file *) args.buf).f_mode", "(user+0:uint32 arg4:struct file *)"},
		{"((struct file __user *) args.n).next.f_mode",
		 "(user+0:uint32 (user+112:struct file * (struct file * arg3:int64)))"},
		{"*(unsigned int *) args.buf", "(user+0:uint32 arg4:unsigned int *)"},
		{"*(int32 *) args.n", "(kernel+0:int32 (int * arg3:int64))"},
		{"(mode_t) args.n", "(uint32 arg3:int64)"},
		{"(enum color) args.n", "(enum color arg3:int64)"},
		{"(uint64) args.file + 8", "(+:uint64 arg0:uint64 8:uint64)"},
		{"args.file.text + 1",
		 "(+:const char __user * (kernel+120:const char __user * arg0:struct file *) "
		 "1:uint64)"},
		{"args.file.color + 1",
		 "(+:int64 (int64 (kernel+60:enum color arg0:struct file *)) 1:int64)"},
		{"sizeof(struct file)", "320:uint64"},
		{"sizeof(args.file.paths)", "32:uint64"},
		{"sizeof(args.file)", "8:uint64"},
		{"sizeof(mode_t) + sizeof(uint16) + sizeof(struct file *)", "14:uint64"},
		{"((struct file *) 4096).f_mode", "(kernel+0:uint32 4096:struct file *)"},
	};

	for (size_t i = 0; i < N(cases); i++)
		expect(cases[i].text, cases[i].tree);
}

/* Whose memory a string lies in: what the type says, unless the function says it. */
Test(lang_types, spaces)
{
	cr_expect_eq(rig_expr(&r, "str(args.file.text)")->type.space, WEFT_SPACE_USER);
	cr_expect_eq(rig_expr(&r, "str(args.file.name)")->type.space, WEFT_SPACE_KERNEL);
	cr_expect_eq(rig_expr(&r, "copyinstr((char *) args.n)")->type.space, WEFT_SPACE_USER);
	rig_expect_error(&r, "kstr(args.file.text)", "EXPR_TYPE", 5, NULL, "of a process");
}

/* Nothing is opened for what does not look into a type. */
Test(lang_types, laziness)
{
	static const char *const blind[] = {
		"args.file",           "args.file != NULL",     "args.n + 1",
		"kpeek(args.file, 8)", "args.file == args.old", "(uint64) args.file + 8"};

	for (size_t i = 0; i < N(blind); i++)
		cr_expect(rig_expr(&r, blind[i]), "`%s`: %s", blind[i], weft_error_text(r.err));
	cr_expect_eq(types.opened, 0);
	cr_expect(rig_expr(&r, "args.file.f_mode"));
	cr_expect_gt(types.opened, 0);
}

/* ---- errors ---- */

Test(lang_types, MEMBER_UNKNOWN)
{
	rig_expect_error(&r, "args.file.f_mod", "MEMBER_UNKNOWN", 10, "f_mode", "struct file");
	rig_expect_error(&r, "args.file.f_path.dentri", "MEMBER_UNKNOWN", 17, "dentry",
			 "struct path");
	rig_expect_error(&r, "args.file->next->zzzzz", "MEMBER_UNKNOWN", 17, NULL, "zzzzz");
}

Test(lang_types, MEMBER_NONE)
{
	rig_expect_error(&r, "args.file.f_mode.x", "MEMBER_NONE", 17, NULL, "no member `x`");
	rig_expect_error(&r, "args.file.count.x", "MEMBER_NONE", 16, NULL, "no struct");
	rig_expect_error(&r, "args.buf.x", "MEMBER_NONE", 9, NULL, "a cast says it");
	rig_expect_error(&r, "args.file.f_path[0]", "MEMBER_NONE", 0, NULL, "no array");
	rig_expect_error(&r, "args.file.nums.x", "MEMBER_NONE", 15, NULL, "no struct");
}

Test(lang_types, DEREF_NONE)
{
	rig_expect_error(&r, "*pid", "DEREF_NONE", 0, NULL, "takes a pointer");
	rig_expect_error(&r, "* 3", "DEREF_NONE", 0, NULL, "int64");
	rig_expect_error(&r, "*args.buf", "DEREF_NONE", 0, NULL, "a cast says it");
}

Test(lang_types, DEREF_VOID)
{
	rig_expect_error(&r, "*args.path.mnt", "DEREF_VOID", 0, NULL, "void");
	rig_expect_error(&r, "args.path.mnt[2]", "DEREF_VOID", 0, NULL, "void");
	rig_expect_error(&r, "*args.file.call", "DEREF_VOID", 0, NULL, "function");
}

Test(lang_types, ADDRESS_NONE)
{
	rig_expect_error(&r, "&pid", "ADDRESS_NONE", 0, NULL, "no address");
	rig_expect_error(&r, "&args.file", "ADDRESS_NONE", 0, NULL, "no address");
	rig_expect_error(&r, "&args.file.bit", "ADDRESS_NONE", 0, NULL, "bit field");
}

Test(lang_types, INDEX_RANGE)
{
	rig_expect_error(&r, "args.file.nums[4]", "INDEX_RANGE", 15, NULL, "0 to 3");
	rig_expect_error(&r, "args.file.nums[-1]", "INDEX_RANGE", 15, NULL, "4 elements");
	rig_expect_error(&r, "args.file.paths[1, 0]", "INDEX_RANGE", 19, NULL, "x[i][j]");
	rig_expect_error(&r, "args.file.count[3000000000]", "INDEX_RANGE", 16, NULL, "2 GiB");
	rig_expect_error(&r, "args.file.flex[600000000]", "INDEX_RANGE", 0, NULL, "2 GiB");
}

Test(lang_types, OBJECT_VALUE)
{
	rig_expect_error(&r, "args.file.f_path", "OBJECT_VALUE", 0, NULL, "struct path");
	rig_expect_error(&r, "args.file.nums + 1", "OBJECT_VALUE", 0, NULL, "int[4]");
	rig_expect_error(&r, "args.file.raw", "OBJECT_VALUE", 0, NULL, "unsigned char[16]");
	rig_expect_error(&r, "abs(args.file.f_path)", "OBJECT_VALUE", 4, NULL, NULL);
	rig_expect_error(&r, "(struct file) args.n", "OBJECT_VALUE", 1, NULL, "to a pointer");
}

Test(lang_types, POINTER_ARITHMETIC)
{
	rig_expect_error(&r, "args.file + 1", "POINTER_ARITHMETIC", 0, NULL, "&p[i]");
	rig_expect_error(&r, "args.file.next - args.file", "POINTER_ARITHMETIC", 0, NULL, NULL);
	rig_expect_error(&r, "1 + args.file.count", "POINTER_ARITHMETIC", 0, NULL, NULL);
	cr_expect(rig_expr(&r, "args.path.mnt + 8"));
	cr_expect(rig_expr(&r, "args.buf + 8"));
}

Test(lang_types, TYPE_UNKNOWN)
{
	rig_expect_error(&r, "((struct fil *) args.n).f_mode", "TYPE_UNKNOWN", 2, "struct file",
			 "struct fil");
	rig_expect_error(&r, "(enum colour) args.n", "TYPE_UNKNOWN", 1, "enum color", NULL);
	rig_expect_error(&r, "(node_t) args.n", "TYPE_UNKNOWN", 1, "mode_t", NULL);
	rig_expect_error(&r, "sizeof(union file)", "TYPE_UNKNOWN", 7, NULL, "union file");
	rig_expect_error(&r, "(double **) args.n", "TYPE_UNKNOWN", 1, NULL, NULL);
}

Test(lang_types, TYPE_INCOMPLETE)
{
	rig_expect_error(&r, "args.file.gone.x", "TYPE_INCOMPLETE", 0, NULL, "struct gone");
	rig_expect_error(&r, "*args.file.gone", "TYPE_INCOMPLETE", 1, NULL, "struct gone");
	rig_expect_error(&r, "args.file.inside", "TYPE_INCOMPLETE", 10, NULL, "struct gone");
}

Test(lang_types, TYPE_UNREADABLE)
{
	rig_expect_error(&r, "args.file.real", "TYPE_UNREADABLE", 10, NULL, "double");
	rig_expect_error(&r, "args.file.wide", "TYPE_UNREADABLE", 10, NULL, "__int128");
}

Test(lang_types, BTF_MISSING)
{
	types.error = -ENOENT;
	rig_expect_error(&r, "args.file.f_mode", "BTF_MISSING", 0, NULL, "no types");
	rig_expect_error(&r, "((struct file *) args.n).f_mode", "BTF_MISSING", 2, NULL, NULL);
	cr_expect(rig_expr(&r, "args.file"));
	r.env.btf = NULL;
	rig_expect_error(&r, "args.file.f_mode", "BTF_MISSING", 0, NULL, "none here");
}

Test(lang_types, BTF_FD)
{
	args[0].type.btf_fd = 7;
	rig_expect_error(&r, "args.file.f_mode", "BTF_FD", 0, NULL, NULL);
}

Test(lang_types, EXPR_SYNTAX)
{
	rig_expect_error(&r, "2 ** 3", "EXPR_SYNTAX", 2, NULL, "power");
	rig_expect_error(&r, "(struct) args.n", "EXPR_SYNTAX", 9, NULL, NULL);
	rig_expect_error(&r, "(struct file * args.n", "EXPR_SYNTAX", 8, NULL, NULL);
	rig_expect_error(&r, "(int) args.n", "EXPR_SYNTAX", 1, "int32", NULL);
	rig_expect_error(&r, "sizeof(struct file", "EXPR_SYNTAX", 14, NULL, NULL);
	rig_expect_error(&r, "sizeof()", "EXPR_SYNTAX", 7, NULL, NULL);
}

/* Types that are not known before a probe is: nothing is said of them. */
Test(lang_types, a_probe_that_is_not_known)
{
	struct weft_action *a =
		rig_action(&r, "emit", "|a|args.x.y.z", "|b|args.state == TASK_RUNNING",
			   "|c|args.x->y[3].z", "|d|((struct sock *) arg0).sk_family",
			   "|e|sizeof(struct sock)", "|f|*arg1 + 1", NULL);
	struct weft_action *const actions[] = {a, NULL};

	r.env.btf = NULL;
	cr_expect_eq(weft_lang_check_clause(&r.env, rig_clause(&r, NULL, actions), r.err), 0, "%s",
		     weft_error_text(r.err));
}

/* ---- broken types ---- */

static uint64_t seed = 0x7e57ab1e;

static uint64_t pick(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % n;
}

/* Words of the types replaced by others: an answer every time, and trees that keep their promises. */
Test(lang_types, BTF_MALFORMED_or_right, .timeout = 110)
{
	static const char *const texts[] = {"args.file.f_path.dentry.d_inode",
					    "args.file.nums[args.n] + args.file.bit",
					    "args.file.paths[1].dentry.d_inode",
					    "str(args.file.name)",
					    "args.color == RED",
					    "&args.file.c",
					    "sizeof(struct file)",
					    "((struct path *) args.n).mnt",
					    "*args.file.count + args.file.flex[2]",
					    "args.file.gone.x",
					    "args.path.mnt",
					    "args.file.colour",
					    "(mode_t) args.n"};
	struct ids ids;
	struct btf *b = make(&ids);
	const uint8_t *bytes;
	uint32_t size, words;
	unsigned opened = 0;

	bytes = btf__raw_data(b, &size);
	words = ((const struct btf_header *)(const void *)bytes)->type_len / 4;
	for (int round = 0; round < 4000; round++) {
		uint32_t *copy = malloc(size);

		memcpy(copy, bytes, size);
		for (uint64_t n = 1 + pick(3); n; n--) {
			uint32_t *w = &copy[sizeof(struct btf_header) / 4 + pick(words)];

			*w = pick(3) ? (uint32_t)pick(60) : *w ^ UINT32_C(1) << pick(32);
		}
		weft_btf_destroy(types.btf);
		types.btf = NULL;
		if (weft_btf_create(copy, size, false, NULL, &types.btf, NULL)) {
			types.error = -ENOENT;
		} else {
			types.error = 0;
			opened++;
		}
		for (size_t i = 0; i < N(texts); i++)
			rig_expr(&r, texts[i]);
		if (round % 100 == 99) {
			weft_arena_destroy(r.arena);
			r.arena = weft_arena_create();
		}
	}
	cr_expect_gt(opened, 1000u);
	btf__free(b);
}
