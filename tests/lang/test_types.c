/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Types of BTF in expressions: what becomes of them, and every way in which one can be wrong. */
#include <errno.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>

#include "made_types.h"

static struct rig r;
static struct types types;
static void init(void)
{
	rig_init(&r);
	types_init(&types, &r);
}

static void finish(void)
{
	types_finish(&types);
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
		{"(enum color) RED", "1:enum color"},
		{"args.file.nums[(enum color) RED]", "(kernel+100:int32 arg0:struct file *)"},
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
		{"sizeof(unsigned long) + sizeof(short) + sizeof(unsigned)", "14:uint64"},
		{"((struct file *) 4096).f_mode", "(kernel+0:uint32 4096:struct file *)"},
	};

	for (size_t i = 0; i < N(cases); i++)
		expect(cases[i].text, cases[i].tree);
}

/* What a return says of its entry, and what it returns. */
Test(lang_types, entries_and_returns)
{
	r.env.entry_info = &r.info;
	r.info.retval_type = types.args[0].type;
	expect("entry.file.f_mode", "(kernel+0:uint32 entry.arg0:struct file *)");
	expect("retval->next", "(kernel+112:struct file * retval:struct file *)");
	expect("entry.color == RED", "(==:int64 (int64 entry.arg1:uint32) 1:int64)");
}

/* The sign of an enum whose constants reach 2^31, in an object that tells signs and in one that is
 * older than the flag which does. */
static bool great_is_signed(bool told, int64_t *value)
{
	struct btf *b = btf__new_empty();
	const struct weft_btf_enum *e;
	struct weft_btf *btf;
	const void *bytes;
	bool is_signed;
	uint32_t size;
	void *copy;

	btf__add_enum(b, "great", 4);
	btf__add_enum_value(b, "GREAT", 0x80000000);
	if (told) {
		btf__add_enum(b, "other", 4);
		btf__add_enum_value(b, "LESS", -1);
	}
	bytes = btf__raw_data(b, &size);
	copy = malloc(size);
	memcpy(copy, bytes, size);
	btf__free(b);
	cr_assert_eq(weft_btf_create(copy, size, false, NULL, &btf, r.err), 0);
	e = weft_btf_enum(btf, 1);
	is_signed = e->is_signed;
	cr_assert(weft_btf_enum_value(e, "GREAT", value));
	weft_btf_destroy(btf);
	return is_signed;
}

Test(lang_types, signs_of_enums)
{
	int64_t value;

	cr_expect(!great_is_signed(true, &value));
	cr_expect_eq(value, INT64_C(0x80000000));
	cr_expect(great_is_signed(false, &value));
	cr_expect_eq(value, -INT64_C(0x80000000));
}

/* A module's types go on where the kernel's end: what points to a type may be in either. */
Test(lang_types, pointers_of_a_split_object)
{
	struct weft_btf *base, *split;
	struct type_ids ids;
	struct btf *b = types_make(&ids), *m = btf__new_empty_split(b);
	int mine = btf__add_struct(m, "mine", 8), pointer = btf__add_ptr(m, mine);
	struct {
		struct btf *of;
		struct weft_btf **out;
	} objects[] = {{b, &base}, {m, &split}};
	uint32_t id, size;

	for (size_t i = 0; i < N(objects); i++) {
		const void *bytes = btf__raw_data(objects[i].of, &size);
		void *copy = malloc(size);

		memcpy(copy, bytes, size);
		cr_assert_eq(
			weft_btf_create(copy, size, false, i ? base : NULL, objects[i].out, r.err),
			0);
	}
	cr_expect(weft_btf_find_pointer(split, (uint32_t)ids.file, &id));
	cr_expect_eq(id, (uint32_t)ids.file_ptr);
	cr_expect(weft_btf_find_pointer(split, (uint32_t)mine, &id));
	cr_expect_eq(id, (uint32_t)pointer);
	cr_expect(!weft_btf_find_pointer(base, (uint32_t)mine, &id));
	weft_btf_destroy(split);
	weft_btf_destroy(base);
	btf__free(m);
	btf__free(b);
}

/* ---- variables ---- */

/* Sets a variable, emits an expression: its tree, or the tag of the error. */
static const char *emitted(const char *assignment, const char *second, const char *expr)
{
	struct weft_action *list[4] = {rig_action(&r, "set", assignment, NULL)};
	struct weft_typed_clause out;
	const char *wrong;
	char text[128];
	size_t n = 1;

	if (second)
		list[n++] = rig_action(&r, "set", second, NULL);
	snprintf(text, sizeof(text), "|x|%s", expr);
	list[n] = rig_action(&r, "emit", text, NULL);
	r.set.clauses = rig_clause(&r, NULL, list);
	r.set.n_clauses = 1;
	weft_error_clear(r.err);
	if (weft_lang_clause(&r.env, r.set.clauses, r.arena, &out, r.err))
		return weft_error_tag(r.err);
	wrong = weft_lang_verify_clause(&out);
	cr_expect(!wrong, "%s: %s", expr, wrong ? wrong : "");
	return weft_node_print(out.actions[n].fields[0].node, true, r.arena);
}

Test(lang_types, variables_keep_types)
{
	cr_expect_str_eq(emitted("|v|args.file", NULL, "v.f_mode"),
			 "(kernel+0:uint32 v:struct file *)");
	cr_expect_str_eq(emitted("|self.v|args.file.next", NULL, "self.v->next.f_mode"),
			 "(kernel+0:uint32 (kernel+112:struct file * self.v:struct file *))");
	cr_expect_str_eq(emitted("|this.v|args.file", NULL, "this.v.c"),
			 "(kernel+156:int32 this#0:struct file *)");
	cr_expect_str_eq(emitted("|a[pid]|args.file", NULL, "a[pid].f_mode"),
			 "(kernel+0:uint32 (a:struct file * (key:int64 (int64 pid:int32))))");
	cr_expect_str_eq(emitted("|v|args.file.count", NULL, "v[2]"), "(kernel+8:int32 v:int *)");
	cr_expect_str_eq(emitted("|self.v|args.file.count", NULL, "self.v[2]"),
			 "(kernel+8:int32 self.v:int *)");
	cr_expect_str_eq(emitted("|v|args.color", NULL, "v == RED"),
			 "(==:int64 v:enum color 1:int64)");
	/* Two ways to one type are one, 0 is a pointer to anything, and others are refused. */
	cr_expect_str_eq(emitted("|v|args.file", "|v|args.file.next", "v.f_mode"),
			 "(kernel+0:uint32 v:struct file *)");
	cr_expect_str_eq(emitted("|v|args.file", "|v|NULL", "v.f_mode"),
			 "(kernel+0:uint32 v:struct file *)");
	cr_expect_str_eq(emitted("|v|args.file", "|v|(struct file *) args.n", "v.f_mode"),
			 "(kernel+0:uint32 v:struct file *)");
}

Test(lang_types, STATE_TYPE)
{
	cr_expect_str_eq(emitted("|v|args.file", "|v|args.path.dentry", "v"), "STATE_TYPE");
	cr_expect_str_eq(emitted("|v|args.file", "|v|args.n", "v"), "STATE_TYPE");
	cr_expect_str_eq(emitted("|v|args.file", "|v|(struct file __user *) args.n", "v"),
			 "STATE_TYPE");
	cr_expect_str_eq(emitted("|v|args.file.f_path", NULL, "v"), "OBJECT_VALUE");
	cr_expect_str_eq(emitted("|v|args.file", "|v|+= 1", "v"), "POINTER_ARITHMETIC");
}

/* Whose memory a string lies in: what the type says, unless the function says it. */
Test(lang_types, spaces)
{
	cr_expect_eq(rig_expr(&r, "str(args.file.text)")->type.space, WEFT_SPACE_USER);
	cr_expect_eq(rig_expr(&r, "str(args.file.name)")->type.space, WEFT_SPACE_KERNEL);
	cr_expect_eq(rig_expr(&r, "copyinstr((char *) args.n)")->type.space, WEFT_SPACE_USER);
	rig_expect_error(&r, "args.color == \"RED\"", "EXPR_TYPE", 0, "RED", "enum color");
	rig_expect_error(&r, "args.color == \"read\"", "EXPR_TYPE", 0, NULL, "enum color");
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
	rig_expect_error(&r, "args.file.f_path.zzzzz", "MEMBER_UNKNOWN", 17, NULL,
			 "it has `dentry` and `mnt`");
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
	rig_expect_error(&r, "args.n[1]", "DEREF_NONE", 0, NULL, "int64");
	rig_expect_error(&r, "args.file.name[0][1]", "DEREF_NONE", 0, NULL, "int8");
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
	rig_expect_error(&r, "sizeof(union file)", "TYPE_UNKNOWN", 7, "struct file", "union file");
	rig_expect_error(&r, "((file *) args.n).f_mode", "TYPE_UNKNOWN", 2, "struct file", "`file`");
	rig_expect_error(&r, "(double **) args.n", "TYPE_UNKNOWN", 1, NULL, "`double`");
	rig_expect_error(&r, "(char **) args.n", "TYPE_UNKNOWN", 1, NULL, "`(char *) peek(p, 8)`");
}

/* What is wrong with one text of a clause hides nothing of the next. */
Test(lang_types, each_text_is_looked_at)
{
	struct weft_typed_clause out;

	rig_type(&r,
		 rig_action(&r, "emit", "|a|nonsense", "|b|((struct fil *) args.n).f_mode",
			    "|c|(enum colour) args.n", NULL),
		 &out);
	cr_expect_eq(weft_error_count(r.err), 3u, "%s", weft_error_text(r.err));
}

Test(lang_types, TYPE_INCOMPLETE)
{
	rig_expect_error(&r, "args.file.gone.x", "TYPE_INCOMPLETE", 0, NULL, "struct gone");
	rig_expect_error(&r, "*args.file.gone", "TYPE_INCOMPLETE", 1, NULL, "struct gone");
	rig_expect_error(&r, "args.file.inside", "TYPE_INCOMPLETE", 10, NULL, "struct gone");
	rig_expect_error(&r, "sizeof(struct gone)", "TYPE_INCOMPLETE", 7, NULL, "struct gone");
	rig_expect_error(&r, "(struct gone *) args.n", "TYPE_INCOMPLETE", 1, NULL, "struct gone");
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
	types.args[0].type.btf_fd = 7;
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

Test(lang_types, NAME_UNKNOWN)
{
	rig_expect_error(&r, "args.color == REDD", "NAME_UNKNOWN", 14, "RED", "enum color");
	rig_expect_error(&r, "1 + (enum color) REDD", "NAME_UNKNOWN", 17, "RED", "enum color");
	rig_expect_error(&r, "(mode_t) RED", "NAME_UNKNOWN", 9, NULL, "`RED`");
	rig_expect_error(&r, "args.n == RED", "NAME_UNKNOWN", 10, NULL, NULL);
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
	struct type_ids ids;
	struct btf *b = types_make(&ids);
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
