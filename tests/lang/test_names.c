/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What names mean, and what is said of those that mean nothing. */
#include "rig.h"

static struct rig r;

static void init(void)
{
	rig_init(&r);
}

static void finish(void)
{
	rig_finish(&r);
}

TestSuite(lang_names, .init = init, .fini = finish);

Test(lang_names, variables)
{
	static const struct {
		const char *text, *tree;
		enum weft_node_kind kind;
	} rows[] = {
		{"pid", "pid:int32", WEFT_NODE_VAR},
		{"tid", "tid:int32", WEFT_NODE_VAR},
		{"ppid", "ppid:int32", WEFT_NODE_VAR},
		{"uid", "uid:uint32", WEFT_NODE_VAR},
		{"gid", "gid:uint32", WEFT_NODE_VAR},
		{"execname", "execname:string", WEFT_NODE_VAR},
		{"cpu", "cpu:uint32", WEFT_NODE_VAR},
		{"timestamp", "timestamp:int64", WEFT_NODE_VAR},
		{"walltimestamp", "walltimestamp:int64", WEFT_NODE_VAR},
		{"cgroup", "cgroup:uint64", WEFT_NODE_VAR},
		{"probeprov", "probeprov:probe field", WEFT_NODE_VAR},
		{"probemod", "probemod:probe field", WEFT_NODE_VAR},
		{"probefunc", "probefunc:probe field", WEFT_NODE_VAR},
		{"probename", "probename:probe field", WEFT_NODE_VAR},
		{"stack", "stack(64):stack", WEFT_NODE_STACK},
		{"ustack", "ustack(64):stack", WEFT_NODE_STACK},
		{"stack(1)", "stack(1):stack", WEFT_NODE_STACK},
		{"ustack(8 * 2)", "ustack(16):stack", WEFT_NODE_STACK},
		{"ustack($n)", "ustack(5):stack", WEFT_NODE_STACK},
		{"retval", "retval:int64", WEFT_NODE_RETVAL},
		{"elapsed", "elapsed:int64", WEFT_NODE_ELAPSED},
		{"arg0", "arg0:int32", WEFT_NODE_ARG},
		{"args.buf", "arg1:address", WEFT_NODE_ARG},
		{"args.count", "arg2:uint64", WEFT_NODE_ARG},
		{"args.path", "arg3:string", WEFT_NODE_ARG},
		{"arg4", "arg4:bytes", WEFT_NODE_ARG},
		{"args.file", "arg6:struct file *", WEFT_NODE_ARG},
		{"arg8", "arg8:uint8", WEFT_NODE_ARG},
		{"arg9", "arg9:int16", WEFT_NODE_ARG},
		{"$word", "\"hello\":string", WEFT_NODE_STRING},
		{"$quoted", "\"12\":string", WEFT_NODE_STRING},
		{"$address", "\"10.0.0.1\":string", WEFT_NODE_STRING},
		{"$n", "5:int64", WEFT_NODE_INT},
	};

	for (size_t i = 0; i < N(rows); i++) {
		struct weft_node *n = rig_expr(&r, rows[i].text);
		const char *tree = n ? weft_node_print(n, true, r.arena) : weft_error_text(r.err);

		cr_expect(!strcmp(tree, rows[i].tree), "`%s` gave %s", rows[i].text, tree);
		cr_expect(n && n->kind == rows[i].kind, "`%s` has another kind", rows[i].text);
	}
}

/* Every row of the table is a name that resolves. */
Test(lang_names, every_row_of_the_table)
{
	for (size_t i = 0; i < weft_n_vars; i++)
		cr_expect(rig_expr(&r, weft_vars[i].name), "%s", weft_vars[i].name);
}

Test(lang_names, errno_is_a_tree)
{
	const char *tree = rig_print(&r, "errno", true);

	cr_expect_str_eq(tree,
			 "(int32 (?:int64 (&&:int64 (<:int64 retval:int64 0:int64) "
			 "(>=:int64 retval:int64 -4095:int64)) (-:int64 retval:int64) 0:int64))");
	r.info.retval_type.size = 4;
	tree = rig_print(&r, "errno == 2", false);
	cr_expect_str_eq(tree, "(== (int64 (int32 (? (&& (< (int64 retval) 0) (>= (int64 retval) "
			       "-4095)) (- (int64 retval)) 0))) 2)");
	r.info.retval_type.kind = WEFT_TYPE_POINTER;
	tree = rig_print(&r, "errno", false);
	cr_expect_str_eq(tree, "(int32 (? (&& (< (int64 retval) 0) (>= (int64 retval) -4095)) "
			       "(- (int64 retval)) 0))");
	r.info.retval_type.kind = WEFT_TYPE_STRING;
	rig_expect_error(&r, "errno", "EXPR_TYPE", 0, NULL, "string");
}

Test(lang_names, NAME_UNKNOWN)
{
	rig_expect_error(&r, "1 + pidd", "NAME_UNKNOWN", 4, "pid", "`pidd`");
	rig_expect_error(&r, "exename == \"x\"", "NAME_UNKNOWN", 0, "execname", NULL);
	rig_expect_error(&r, "comm == \"x\"", "NAME_UNKNOWN", 0, "execname", NULL);
	rig_expect_error(&r, "selff.n", "NAME_UNKNOWN", 0, "self", NULL);
	rig_expect_error(&r, "kstack", "NAME_UNKNOWN", 0, "stack", NULL);
	rig_expect_error(&r, "true", "NAME_UNKNOWN", 0, "1", NULL);
	rig_expect_error(&r, "fd", "NAME_UNKNOWN", 0, "args.fd", NULL);
	rig_expect_error(&r, "cuont", "NAME_UNKNOWN", 0, "args.count", NULL);
	rig_expect_error(&r, "time", "NAME_UNKNOWN", 0, "$time", NULL);
	rig_expect_error(&r, "quotd", "NAME_UNKNOWN", 0, "$quoted", NULL);
	rig_expect_error(&r, "arg01", "NAME_UNKNOWN", 0, NULL, NULL);
	rig_expect_error(&r, "zzzzzzzzzzz", "NAME_UNKNOWN", 0, NULL, NULL);
	rig_expect_error(&r, "1 + self", "NAME_UNKNOWN", 4, NULL, "self.NAME");
	rig_expect_error(&r, "self.x", "STATE_UNASSIGNED", 0, NULL, NULL);
}

Test(lang_names, ARG_UNKNOWN)
{
	rig_expect_error(&r, "1 + arg12", "ARG_UNKNOWN", 4, NULL, "12 arguments");
	rig_expect_error(&r, "arg9999", "ARG_UNKNOWN", 0, NULL, "test:::probe");
	rig_expect_error(&r, "1 + args.pth", "ARG_UNKNOWN", 4, "args.path", "`pth`");
	rig_expect_error(&r, "args", "ARG_UNKNOWN", 0, NULL, "args.NAME");
	rig_expect_error(&r, "args.zzzzz", "ARG_UNKNOWN", 0, NULL, "`fd`, ");
	r.info.n_args = 0;
	r.info.pairing.role = WEFT_PAIRING_RETURN;
	rig_expect_error(&r, "arg0", "ARG_UNKNOWN", 0, NULL, "entry.argN");
	rig_expect_error(&r, "args.fd", "ARG_UNKNOWN", 0, NULL, "entry.NAME");
	r.info.pairing.role = WEFT_PAIRING_NONE;
	rig_expect_error(&r, "arg0", "ARG_UNKNOWN", 0, NULL, "no arguments");
	rig_expect_error(&r, "args.fd", "ARG_UNKNOWN", 0, NULL, "none");
	r.env.info = NULL;
	rig_expect_error(&r, "arg0", "ARG_UNKNOWN", 0, NULL, "`begin`");
	rig_expect_error(&r, "args.fd", "ARG_UNKNOWN", 0, NULL, "`begin`");
}

Test(lang_names, ARG_UNREADABLE)
{
	rig_expect_error(&r, "1 + args.hidden", "ARG_UNREADABLE", 4, NULL,
			 "the compiler left it out");
	rig_expect_error(&r, "arg5", "ARG_UNREADABLE", 0, NULL, "`arg5` of test:::probe");
	rig_expect_error(&r, "arg7", "ARG_UNREADABLE", 0, NULL, "struct inode");
	rig_expect_error(&r, "arg11", "ARG_UNREADABLE", 0, NULL, "place");
	r.info.retval_type.size = 3;
	rig_expect_error(&r, "retval", "ARG_UNREADABLE", 0, NULL, "retval");
	r.info.retval_type.kind = 99;
	rig_expect_error(&r, "retval", "ARG_UNREADABLE", 0, NULL, "type");
}

Test(lang_names, RETVAL_NONE)
{
	r.info.retval_type.kind = 0;
	rig_expect_error(&r, "1 + retval", "RETVAL_NONE", 4, NULL, "test:::probe");
	rig_expect_error(&r, "errno", "RETVAL_NONE", 0, NULL, "`errno`");
	r.env.info = NULL;
	rig_expect_error(&r, "retval", "RETVAL_NONE", 0, NULL, "`begin`");
}

Test(lang_names, ELAPSED_NONE)
{
	r.info.pairing.role = WEFT_PAIRING_ENTRY;
	rig_expect_error(&r, "1 + elapsed", "ELAPSED_NONE", 4, NULL, "the return probe");
	r.env.info = NULL;
	rig_expect_error(&r, "elapsed", "ELAPSED_NONE", 0, NULL, "`begin`");
}

/* entry.NAME, typed by the entry; the return's own arguments are others. */
Test(lang_names, entry)
{
	static struct weft_probe_info entry;

	entry = r.info;
	entry.pairing.role = WEFT_PAIRING_ENTRY;
	r.env.entry_info = &entry;
	r.info.n_args = 0;
	cr_expect_str_eq(rig_print(&r, "entry.fd", true), "entry.arg0:int32");
	cr_expect_str_eq(rig_print(&r, "entry.arg2 + 1", true),
			 "(+:uint64 entry.arg2:uint64 1:uint64)");
	cr_expect_str_eq(rig_print(&r, "entry . arg8 == 3", false), "(== (int64 entry.arg8) 3)");
	cr_expect_str_eq(rig_print(&r, "entry.count", true), "entry.arg2:uint64");
	rig_expect_error(&r, "1 + entry", "ARG_UNKNOWN", 4, NULL, "entry.NAME");
	rig_expect_error(&r, "entry.cuont", "ARG_UNKNOWN", 0, "entry.count", "`cuont`");
	rig_expect_error(&r, "entry.arg12", "ARG_UNKNOWN", 0, NULL, "12 arguments");
	rig_expect_error(&r, "entry.hidden", "ARG_UNREADABLE", 0, NULL, "cannot be read");
	cr_expect_str_eq(rig_print(&r, "strlen(entry.path)", false), "(strlen entry.arg3)");
}

Test(lang_names, ENTRY_NONE)
{
	rig_expect_error(&r, "1 + entry.fd", "ENTRY_NONE", 4, NULL, "the return probe");
	r.env.entry_info = &r.info;
	cr_expect_str_eq(rig_print(&r, "entry.fd", false), "entry.arg0");
	r.info.pairing.role = WEFT_PAIRING_ENTRY;
	rig_expect_error(&r, "entry.fd", "ENTRY_NONE", 0, NULL, "test:::probe");
	r.env.info = NULL;
	rig_expect_error(&r, "entry.fd", "ENTRY_NONE", 0, NULL, "`begin`");
}

Test(lang_names, PARAM_UNKNOWN)
{
	rig_expect_error(&r, "1 + $tme", "PARAM_UNKNOWN", 4, "$time", "`tme`");
	r.set.n_params = 0;
	rig_expect_error(&r, "$time", "PARAM_UNKNOWN", 0, NULL, "no params");
	r.env.set = NULL;
	rig_expect_error(&r, "$time", "PARAM_UNKNOWN", 0, NULL, NULL);
}

Test(lang_names, FUNCTION_UNKNOWN)
{
	rig_expect_error(&r, "1 + ustac(3)", "FUNCTION_UNKNOWN", 4, "ustack", "`ustac`");
	rig_expect_error(&r, "strftime(arg1)", "FUNCTION_UNKNOWN", 0, NULL, NULL);
	rig_expect_error(&r, "pid()", "FUNCTION_UNKNOWN", 0, NULL, NULL);
}

Test(lang_names, FUNCTION_ARGUMENTS)
{
	rig_expect_error(&r, "stack()", "FUNCTION_ARGUMENTS", 0, NULL, "stack(N)");
	rig_expect_error(&r, "stack(1, 2)", "FUNCTION_ARGUMENTS", 0, NULL, "2 arguments");
	rig_expect_error(&r, "stack(pid)", "FUNCTION_ARGUMENTS", 6, NULL, "constant");
	rig_expect_error(&r, "stack(\"a\")", "FUNCTION_ARGUMENTS", 6, NULL, "integer");
	rig_expect_error(&r, "ustack(0)", "FUNCTION_ARGUMENTS", 7, NULL, "1 to 64");
	rig_expect_error(&r, "ustack(-1)", "FUNCTION_ARGUMENTS", 7, NULL, "1 to 64");
	rig_expect_error(&r, "ustack(65)", "FUNCTION_ARGUMENTS", 7, NULL, "stackframes");
	rig_expect_error(&r, "ustack(18446744073709551615)", "FUNCTION_ARGUMENTS", 7, NULL, NULL);
	r.set.options.stackframes = 127;
	cr_expect(rig_expr(&r, "ustack(127)"));
}

/* A plugin's struct may be longer or shorter than ours. */
Test(lang_names, arguments_of_another_stride)
{
	struct {
		struct weft_arg arg;
		char more[24];
	} longer[2] = {{.arg = r.info.args[0]}, {.arg = r.info.args[8]}};

	r.info.args = &longer[0].arg;
	r.info.n_args = 2;
	r.info.arg_size = sizeof(longer[0]);
	cr_expect_str_eq(rig_print(&r, "arg1", true), "arg1:uint8");
}
