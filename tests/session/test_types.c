/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Kernel types and a provider's own, read by running programs, against what /proc and this test know. */
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "harness.h"
#include "tests/fixtures/providers/fx_shape.h"

/* ---- the kernel's ---- */

static void exec_true(void *arg)
{
	(void)arg;
	execl("/bin/true", "true", NULL);
	_exit(1);
}

/* A process that executes: what its task_struct and its file say. */
Test(types, a_task_that_executes)
{
	const struct cap_record *rec;
	char real[PATH_MAX];
	struct worker w;
	struct stat st;
	struct rig r;

	cr_assert_eq(stat("/bin/true", &st), 0);
	cr_assert_not_null(realpath("/bin/true", real)); /* it may be a link */
	worker_fork(&w, exec_true, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: fx-types::sched_process_exec:raw\n"
		  "    when: args.p.tgid == %d && args.p != NULL\n"
		  "    do:\n"
		  "      - emit:\n"
		  "          tgid: args.p.tgid\n"
		  "          arrow: args.p->pid\n"
		  "          old: args.old_pid\n"
		  "          parent: args.p.real_parent.tgid\n"
		  "          grand: args.p->real_parent->real_parent.tgid\n"
		  "          comm: args.p.comm\n"
		  "          letter: 'args.p.comm[1]'\n"
		  "          name: str(args.bprm.file.f_path.dentry.d_name.name)\n"
		  "          file: kstr(args.bprm.filename)\n"
		  "          ino: args.bprm->file->f_inode->i_ino\n"
		  "          size: args.bprm.file.f_inode.i_size\n"
		  "          self: args.p.group_leader == args.p\n"
		  "          cast: ((struct task_struct *) arg0).tgid\n"
		  "          word: (pid_t) args.p.pid\n"
		  "          sizes: 'sizeof(struct list_head) + sizeof(args.p.comm) + sizeof(pid_t)'\n"
		  "          through: '*&args.p.tgid'\n"
		  "          first: '*&args.p.comm[0] == args.p.comm[0]'\n"
		  "          is_true: 'args.p.comm == \"true\"'\n",
		  w.pid);
	rec = cap_only(&r.cap, "exec:raw");
	cr_expect_eq(cap_int(rec, "tgid"), w.pid);
	cr_expect_eq(cap_int(rec, "arrow"), w.pid);
	cr_expect_eq(cap_int(rec, "old"), w.pid);
	cr_expect_eq(cap_int(rec, "parent"), getpid());
	cr_expect_eq(cap_int(rec, "grand"), getppid());
	cr_expect(cap_is_text(rec, "comm", "true"));
	cr_expect_eq(cap_int(rec, "letter"), 'r');
	cr_expect(cap_is_text(rec, "name", strrchr(real, '/') + 1));
	cr_expect(cap_is_text(rec, "file", "/bin/true"));
	cr_expect_eq(cap_int(rec, "ino"), (int64_t)st.st_ino);
	cr_expect_eq(cap_int(rec, "size"), st.st_size);
	cr_expect_eq(cap_int(rec, "self"), 1);
	cr_expect_eq(cap_int(rec, "cast"), w.pid);
	cr_expect_eq(cap_int(rec, "word"), w.pid);
	cr_expect_eq(cap_int(rec, "sizes"), 16 + 16 + 4);
	cr_expect_eq(cap_int(rec, "through"), w.pid);
	cr_expect_eq(cap_int(rec, "first"), 1);
	cr_expect_eq(cap_int(rec, "is_true"), 1);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* The same by what the fields of one struct say of another: memory of the worker's, by its
 * /proc/self/stat. */
static void fork_once(void *arg)
{
	pid_t pid = fork();

	(void)arg;
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

Test(types, the_memory_of_a_task)
{
	unsigned long start_code, end_code, start_stack;
	const struct cap_record *rec;
	char text[4096], *p;
	struct worker w;
	struct rig r;
	FILE *f;

	f = fopen("/proc/self/stat", "r"); /* a worker has the same, as a copy */
	cr_assert(f && fgets(text, sizeof(text), f));
	fclose(f);
	p = strrchr(text, ')') + 2;
	for (int field = 3; field < 26; field++)
		p = strchr(p, ' ') + 1;
	cr_assert_eq(sscanf(p, "%lu %lu %lu", &start_code, &end_code, &start_stack), 3);
	worker_fork(&w, fork_once, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: fx-types::sched_process_fork:raw\n"
		  "    when: args.parent.tgid == %d\n"
		  "    do:\n"
		  "      - set: {this.mm: args.parent.mm, self.child: args.child}\n"
		  "      - emit:\n"
		  "          code: args.parent.mm.start_code\n"
		  "          end: this.mm.end_code\n"
		  "          stack: args.child.mm.start_stack\n"
		  "          parent: self.child.real_parent.tgid\n"
		  "          bit: args.parent.in_execve\n"
		  "          flag: args.child.flags & 0x40\n",
		  w.pid);
	rec = cap_only(&r.cap, "fork:raw");
	cr_expect_eq(cap_int(rec, "code"), (int64_t)start_code);
	cr_expect_eq(cap_int(rec, "end"), (int64_t)end_code);
	cr_expect_eq(cap_int(rec, "stack"), (int64_t)start_stack);
	cr_expect_eq(cap_int(rec, "parent"), w.pid);
	cr_expect_eq(cap_int(rec, "bit"), 0);
	cr_expect_eq(cap_int(rec, "flag"), 0x40); /* PF_FORKNOEXEC */
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- a provider's own ---- */

static struct fx_shape *one, *two;

static uint32_t old_fields; /* two: bits 0 and 1, seven: bits 5 to 11 */

static void fill(void)
{
	if (!one)
		one = calloc(1, sizeof(*one) + 8);
	if (!two)
		two = calloc(1, sizeof(*two) + 8);
	memcpy(one->name, "fullname", 8);
	one->text = "some text";
	one->points[1].x = -7;
	one->points[1].y[3] = -128;
	one->high = 0x89abcdef;
	one->low = 0x01234567;
	one->three = 5;
	one->five = -9;
	one->forty = 0xfedcba9876;
	one->color = FX_BELOW;
	one->next = two;
	one->grid[1][2] = 0xfff0;
	one->big = FX_HUGE;
	one->n = 4000000000u;
	one->tail[3] = -30000;
	memcpy(two->name, "ab", 3);
	two->color = (enum fx_color)77;
	two->next = one;
	two->n = 2;
	old_fields = 2u | (0x40u | 3u) << 5; /* seven: -61 */
}

/* What a child has not touched yet of a file's pages cannot be read where the kernel may not wait. */
static void fire_shapes(void *arg)
{
	(void)arg;
	(void)*(const volatile char *)one->text;
	syscall(SYS_getpid, MAGIC, one, FX_GREEN);
}

static void fire_old(void *arg)
{
	(void)arg;
	syscall(SYS_getpid, MAGIC, &old_fields, 0);
}

static void trace_shape(struct rig *r, void (*fn)(void *), const char *fields)
{
	struct worker w;

	fill();
	worker_fork(&w, fn, NULL);
	rig_init(r);
	rig_trace(r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: fx-types::sys_enter:shape\n"
		  "    when: pid == %d && args.magic == %ld\n"
		  "    do:\n"
		  "      - emit: {%s}\n",
		  w.pid, MAGIC, fields);
}

Test(types, every_shape_of_a_struct)
{
	static const struct {
		const char *expr;
		int64_t value;
	} all[] = {
		{"args.shape.points[1].x", -7},
		{"args.shape.points[args.color - 4].y[3]", -128},
		{"args.whole.points[1].y[args.shape.n - 3999999997]", -128},
		{"args.shape.both", 0x89abcdef01234567},
		{"args.shape.high", 0x89abcdef},
		{"args.whole.low", 0x01234567},
		{"args.shape.three", 5},
		{"args.shape.five", -9},
		{"args.shape.forty", 0xfedcba9876},
		{"args.shape.color", FX_BELOW},
		{"args.shape.color == FX_BELOW", 1},
		{"FX_RED <= args.color", 1},
		{"args.color == FX_GREEN", 1},
		{"args.shape.next.color", 77},
		{"args.shape.next.next.n", 4000000000},
		{"args.shape->next->next == args.shape", 1},
		{"args.shape.next != NULL", 1},
		{"args.shape.grid[1][2]", 0xfff0},
		{"args.shape.grid[args.color % 2][2]", 0xfff0},
		{"args.shape.big", (int64_t)FX_HUGE},
		{"args.shape.big == FX_HUGE", 1},
		{"args.shape.n", 4000000000},
		{"args.shape.tail[3]", -30000},
		{"args.shape.tail[args.color - 2]", -30000},
		{"(*args.shape).n", 4000000000},
		{"args.shape[0].n", 4000000000},
		{"(*args.shape.next).n", 2},
		{"*args.shape.text", 's'},
		{"args.shape.text[5]", 't'},
		{"sizeof(args.whole)", sizeof(struct fx_shape)},
		{"sizeof(struct fx_shape)", sizeof(struct fx_shape)},
		{"sizeof(args.shape.points)", sizeof(one->points)},
		{"(uint64) &args.shape.n - (uint64) args.shape", offsetof(struct fx_shape, n)},
		{"(uint64) &args.shape.grid[1] - (uint64) args.shape",
		 offsetof(struct fx_shape, grid[1])},
		{"((struct fx_point *) &args.shape.points[1]).x", -7},
		{"((struct fx_shape __user *) arg1).n", 4000000000},
		{"*(int32 __user *) &args.shape.points[1].x", -7},
		{"(enum fx_color) 5 == args.color", 1},
		{"args.shape.name == \"fullname\"", 1},
		{"args.shape.next.name == \"ab\"", 1},
		{"strlen(args.shape.name)", 8},
		{"startswith(args.whole.name, \"full\")", 1},
	};
	char fields[8192] = "";
	struct rig r;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		snprintf(fields + strlen(fields), sizeof(fields) - strlen(fields), "%sf%zu: '%s'",
			 i ? ", " : "", i, all[i].expr);
	trace_shape(&r, fire_shapes, fields);
	const struct cap_record *rec = cap_only(&r.cap, "sys_enter:shape");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char name[8];

		snprintf(name, sizeof(name), "f%zu", i);
		cr_expect_eq(cap_int(rec, name), all[i].value, "%s is %lld, not %lld", all[i].expr,
			     (long long)cap_int(rec, name), (long long)all[i].value);
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(types, texts_and_bytes)
{
	struct rig r;

	trace_shape(&r, fire_shapes,
		    "name: args.shape.name, short: args.shape.next.name, text: str(args.shape.text), "
		    "part: 'str(args.shape.text, 4)', bytes: 'mem(args.shape.grid, "
		    "sizeof(args.shape.grid))', copy: copyinstr(args.shape.text)");
	const struct cap_record *rec = cap_only(&r.cap, "sys_enter:shape");
	cr_expect(cap_is_text(rec, "name", "fullname"));
	cr_expect(cap_is_text(rec, "short", "ab"));
	cr_expect(cap_is_text(rec, "text", "some text"));
	cr_expect(cap_is_text(rec, "part", "some"));
	cr_expect(cap_is_text(rec, "copy", "some text"));
	cr_expect(cap_is_bytes(rec, "bytes", one->grid, sizeof(one->grid)));
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* The encoding of old, where the type says how many bits there are. */
Test(types, bit_fields_of_old)
{
	struct rig r;

	trace_shape(&r, fire_old, "two: args.old.two, seven: args.old.seven");
	const struct cap_record *rec = cap_only(&r.cap, "sys_enter:shape");
	cr_expect_eq(cap_int(rec, "two"), 2);
	cr_expect_eq(cap_int(rec, "seven"), -61);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- enums by name ---- */

Test(types, enums_have_names)
{
	struct worker w;
	struct rig r;

	fill();
	worker_fork(&w, fire_shapes, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: fx-types::sys_enter:shape\n"
		  "    when: pid == %d && args.magic == %ld\n"
		  "    do:\n"
		  "      - set: {self.color: args.color}\n"
		  "      - emit: {c: args.color, b: args.shape.big, k: self.color, u: "
		  "args.shape.next.color}\n"
		  "      - count: {into: n, by: {color: args.shape.color}}\n",
		  w.pid, MAGIC);
	const struct cap_record *rec = cap_only(&r.cap, "sys_enter:shape");
	const struct weft_value *key = cap_key(cap_only_row(&r.cap, "n"), "color");
	static const char *const names[] = {"c", "b", "k"}, *const texts[] = {"FX_GREEN", "FX_HUGE",
									      "FX_GREEN"};

	for (size_t i = 0; i < 3; i++) {
		const struct weft_value *v = cap_field(rec, names[i]);

		cr_assert_not_null(v->type.names);
		cr_expect_str_eq(weft_btf_enum_name(v->type.names, v->i), texts[i]);
	}
	cr_expect_null(weft_btf_enum_name(cap_field(rec, "u")->type.names, cap_int(rec, "u")));
	cr_expect_str_eq(weft_btf_enum_name(key->type.names, key->i), "FX_BELOW");
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- what goes wrong while tracing ---- */

/* Each of these ends the clause, counts once and invents nothing. */
static void expect_fault(const char *expr, const char *tag)
{
	struct worker w;
	struct rig r;

	fill();
	worker_fork(&w, fire_shapes, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: fx-types::sys_enter:shape\n"
		  "    when: pid == %d && args.magic == %ld\n"
		  "    do:\n"
		  "      - emit: {v: '%s'}\n",
		  w.pid, MAGIC, expr);
	cr_expect_eq(r.cap.n_records, 0, "%s", expr);
	cap_expect_loss(&r.cap, tag, 1);
	rig_finish(&r);
}

Test(types, FAULT_INDEX)
{
	expect_fault("args.shape.points[args.color].x", "FAULT_INDEX");
	expect_fault("args.shape.points[args.shape.color].x", "FAULT_INDEX");
}

Test(types, FAULT_ADDRESS)
{
	expect_fault("args.shape.next.next.points[0].x + *(int32 __user *) 8", "FAULT_ADDRESS");
	expect_fault("((struct fx_shape __user *) 0).next.n", "FAULT_ADDRESS");
}
