/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What comes out: values of every kind, aggregations of every kind, losses and faults, names. */
#include <math.h>

#include "rig.h"
#include "fixtures/providers/fx_shape.h"

static void fire(int64_t a, int64_t b, int64_t c)
{
	syscall(SYS_prctl, MAGIC, a, b, c, 0);
}

static void fire_once(void *arg)
{
	(void)arg;
	fire(-2, 0x1234567887654321, 0);
}

/* What stands behind "stack=" at the end of a line: it is what the kernel is like. */
static const char *stack_of(struct rig *r)
{
	const char *at = strstr(rig_out(r), " stack=");
	static char text[4096];

	cr_assert(at);
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(at + 7, "\n"), at + 7);
	return text;
}

Test(embed_results, every_kind_of_value)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, fire_once, NULL);
	rig_open(&r, 0);
	rig_set(&r,
		"version: 1\n"
		"probes:\n"
		"  - probe: 'fx-trace:::math'\n"
		"    when: pid == %d\n"
		"    do:\n"
		"      - emit:\n"
		"          i8: (int8) args.a\n"
		"          u8: (uint8) args.a\n"
		"          i32: (int32) args.b\n"
		"          u64: (uint64) args.a\n"
		"          text: '\"a \\\"quoted\\\" one\"'\n"
		"          name: probename\n"
		"          pid: pid\n"
		"          v4: ipv4(htonl(0x7f000001))\n"
		"          sym: ksym(0)\n"
		"          stack: stack\n"
		"      - printf: ['%%d|%%s', args.a, probefunc]\n",
		w.pid);
	rig_run(&r, &w);
	rig_expect_line(&r,
			"record fx-trace:syscalls:sys_enter_prctl:math i8=i8:-2 u8=u8:254 "
			"i32=i32:-2023406815 u64=u64:18446744073709551614 text='a \"quoted\" one' "
			"name='math' pid=i32:%d v4=127.0.0.1 sym=symbol1/? stack=%s",
			w.pid, stack_of(&r));
	cr_expect(strstr(r.out, "/syscall") || strstr(r.out, "_syscall"), "named frames: %s", r.out);
	cr_expect(strstr(r.out, " \"-2|sys_enter_prctl\"\n"), "%s", r.out);
	cr_expect_eq(r.n_records, 2);
	rig_close(&r);
}

static struct fx_shape *shape;

static void fire_shape(void *arg)
{
	(void)arg;
	syscall(SYS_getpid, MAGIC, shape, 1);
	syscall(SYS_getpid, MAGIC, shape, 77);
}

Test(embed_results, kernel_types)
{
	struct worker w;
	struct rig r;

	shape = calloc(1, sizeof(*shape) + 8);
	memcpy(shape->name, "fullname", 8);
	shape->next = shape;
	worker_fork(&w, fire_shape, NULL);
	rig_open(&r, 0);
	rig_set(&r,
		"version: 1\n"
		"probes:\n"
		"  - probe: fx-types::sys_enter:shape\n"
		"    when: pid == %d && args.magic == %ld\n"
		"    do:\n"
		"      - emit: {color: args.color, at: args.shape, bytes: 'mem(args.shape, 4)'}\n",
		w.pid, MAGIC);
	rig_run(&r, &w);
	cr_expect(strstr(rig_out(&r), "color=e:1:FX_"), "%s", r.out);
	cr_expect(strstr(r.out, "color=e:77: "), "%s", r.out);
	cr_expect(strstr(r.out, "at=p:0x"), "%s", r.out);
	cr_expect(strstr(r.out, "bytes=b:"), "%s", r.out);
	free(shape);
	rig_close(&r);
}

Test(embed_results, registers)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, fire_once, NULL);
	rig_open(&r, 0);
	cr_assert_eq(weft_trace_plugins(r.t, WEFT_BINARY_DIR "/providers"), 0);
	rig_set(&r, "version: 1\n"
		    "probes:\n"
		    "  - {probe: 'profile:::profile-499hz', do: [emit: {all: regs}, exit: 7]}\n");
	rig_run(&r, NULL);
	cr_expect(strstr(rig_out(&r), "all=regs"), "%s", r.out);
	cr_expect(strstr(r.out, ",rip") || strstr(r.out, ",pc"), "%s", r.out);
	cr_expect_eq(weft_trace_end(r.t)->status, 7);
	cr_expect_str_eq(weft_trace_end(r.t)->reason, "exit");
	worker_go(&w);
	worker_join(&w);
	rig_close(&r);
}

static void fire_numbers(void *arg)
{
	(void)arg;
	for (int i = 0; i < 4; i++)
		fire(i == 3 ? -5 : i, i % 2, 0); /* 0 1 2 -5 */
}

Test(embed_results, every_kind_of_aggregation)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, fire_numbers, NULL);
	rig_open(&r, 0);
	rig_set(&r,
		"version: 1\n"
		"aggregations: {top1: {sort: key, order: desc, top: 1}, halves: {divide: 2}}\n"
		"probes:\n"
		"  - probe: 'fx-trace:::math'\n"
		"    when: pid == %d\n"
		"    do:\n"
		"      - count: {into: n, by: {odd: args.b}}\n"
		"      - count: {into: top1, by: args.b}\n"
		"      - sum: {into: s, value: args.a}\n"
		"      - sum: {into: wide, value: '(uint64) args.a'}\n"
		"      - sum: {into: halves, value: args.a}\n"
		"      - avg: {into: m, value: args.a}\n"
		"      - stddev: {into: d, value: args.a}\n"
		"      - min: {into: lo, value: args.a}\n"
		"      - max: {into: hi, value: '(uint64) args.a'}\n"
		"      - quantize: {into: q, value: args.a, unit: ns}\n"
		"      - lquantize: {into: l, value: args.a, from: 0, to: 4, step: 2}\n",
		w.pid);
	rig_run(&r, &w);
	rig_expect_line(&r, "count n: {odd=i64:0} 2 n=2");
	rig_expect_line(&r, "count n: {odd=i64:1} 2 n=2");
	rig_expect_line(&r, "count top1 left_out=1: {args.b=i64:1} 2 n=2");
	rig_expect_line(&r, "sum s: {} -2 -1:18446744073709551614");
	/* 0 + 1 + 2 + (2^64 - 5): more than 64 bits would be a 1 above, here it just fits. */
	rig_expect_line(&r, "sum wide: {} 1.84467e+19 0:18446744073709551614");
	rig_expect_line(&r, "sum halves: {} -1 -1:18446744073709551614");
	rig_expect_line(&r, "avg m: {} -0.5 avg=-0.5 count=4 -1:18446744073709551614");
	rig_expect_line(&r, "stddev d: {} %g avg=-0.5 count=4 -1:18446744073709551614",
			sqrt((0 + 1 + 4 + 25) / 4.0 - 0.25));
	rig_expect_line(&r, "min lo: {} -5 -1:18446744073709551611");
	rig_expect_line(&r, "max hi: {} 1.84467e+19 0:18446744073709551611");
	rig_expect_line(&r, "quantize q unit=ns: {} 0 n=4 [-7,-3)=1 [0,1)=1 [1,2)=1 [2,4)=1");
	rig_expect_line(&r, "lquantize l: {} 0 n=4 [<-9223372036854775808,0)=1 [0,2)=2 [2,4)=1");
	cr_expect_str_eq(weft_trace_end(r.t)->reason, "signal");
	cr_expect_eq(weft_trace_end(r.t)->status, 0);
	rig_close(&r);
}

Test(embed_results, losses_and_faults)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, fire_numbers, NULL);
	rig_open(&r, 0);
	rig_set(&r,
		"version: 1\n"
		"probes:\n"
		"  - probe: 'fx-trace:::math'\n"
		"    when: pid == %d\n"
		"    do: [count: {into: n, by: args.a / args.b}]\n"
		"  - probe: 'fx-trace:::math'\n"
		"    when: pid == %d\n"
		"    every: 2\n"
		"    do: [count: {into: half}]\n",
		w.pid, w.pid);
	rig_run(&r, &w);
	rig_expect_line(&r, "fault 2 FAULT_DIVIDE set.yaml:5:31: args.a / args.b");
	rig_expect_line(&r, "skipped 2 SAMPLED_OUT set.yaml:6:5");
	rig_expect_line(&r, "count half: {} 2 n=2");
	cr_expect_eq(weft_trace_end(r.t)->status, 3);
	rig_close(&r);
}

/* ---- while it runs ---- */

struct steps {
	int go;
};

static void fire_and_wait(void *arg)
{
	struct steps *s = arg;

	for (int i = 0; i < 100; i++)
		fire(i, 0, 0);
	__atomic_store_n(&s->go, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&s->go, __ATOMIC_SEQ_CST) != 2)
		usleep(1000);
	for (int i = 0; i < 23; i++)
		fire(i, 0, 0);
}

static int put_one(void *arg, const struct weft_trace_aggregation *a)
{
	rig_put_aggregation(arg, a);
	return 0;
}

static int put_loss(void *arg, const struct weft_trace_loss *l)
{
	fprintf(arg, "%u %s %llu\n", l->kind, l->tag, (unsigned long long)l->count);
	return 0;
}

static int refuse(void *arg, const struct weft_trace_aggregation *a)
{
	(void)arg;
	(void)a;
	return 5;
}

Test(embed_results, read_while_running)
{
	struct steps *s = worker_shared(sizeof(*s));
	struct weft_trace_run_options run = {.struct_size = sizeof(run), WEFT_TRACE_STOP_FD};
	size_t size;
	struct worker w;
	struct rig r;
	char *text;
	FILE *to = open_memstream(&text, &size);

	worker_fork(&w, fire_and_wait, s);
	rig_open(&r, 0);
	rig_set(&r,
		"version: 1\n"
		"probes:\n"
		"  - probe: 'fx-trace:::math'\n"
		"    when: pid == %d\n"
		"    do: [count: {into: n}, max: {into: most, value: args.a}, sum: {into: no, value: "
		"args.a / args.b}]\n",
		w.pid);
	run.stop_fd = w.pidfd;
	cr_assert_eq(weft_trace_start(r.t, &run), 0, "%s", weft_trace_error(r.t));
	worker_go(&w);
	while (__atomic_load_n(&s->go, __ATOMIC_SEQ_CST) != 1)
		cr_assert_eq(weft_trace_poll(r.t, 10), 0, "%s", weft_trace_error(r.t));
	for (int i = 0; i < 2; i++) /* reading changes nothing */
		cr_expect_eq(weft_trace_read(r.t, "n", put_one, to), 0, "%s", weft_trace_error(r.t));
	cr_expect_eq(weft_trace_read(r.t, NULL, put_one, to), 0);
	cr_expect_eq(weft_trace_losses(r.t, put_loss, to), 0);
	rig_expect(&r, weft_trace_read(r.t, "mots", put_one, to), -ENOENT, "AGGREGATION_UNKNOWN");
	cr_expect_str_eq(weft_trace_report(r.t, 0)->suggestion, "most");
	rig_expect(&r, weft_trace_read(r.t, "n", refuse, to), -ECANCELED, "OUTPUT_WRITE");
	rig_expect(&r, weft_trace_read(r.t, "n", NULL, to), -EINVAL, "TRACE_NULL");
	rig_expect(&r, weft_trace_losses(r.t, NULL, to), -EINVAL, "TRACE_NULL");
	fclose(to);
	cr_expect_str_eq(text, "count n: {} 100 n=100\ncount n: {} 100 n=100\n"
			       "count n: {} 100 n=100\nmax most: {} 99 0:99\n"
			       "2 FAULT_DIVIDE 100\n");
	cr_expect_str_eq(rig_out(&r), "", "only the function that was given");
	__atomic_store_n(&s->go, 2, __ATOMIC_SEQ_CST);
	cr_expect_eq(weft_trace_run(r.t), 0);
	cr_expect_eq(weft_trace_stop(r.t), 0);
	worker_join(&w);
	rig_expect_line(&r, "count n: {} 123 n=123");
	rig_expect_line(&r, "fault 123 FAULT_DIVIDE set.yaml:5:85: args.a / args.b");
	free(text);
	rig_close(&r);
}

/* ---- names of addresses ---- */

/* All in one line: where a function begins is for the compiler to choose. */
enum { OF_THIS_PROGRAM = __LINE__ + 3 };
/* clang-format off */

__attribute__((noinline)) static void of_this_program(void) { __asm__ volatile(""); }
/* clang-format on */

static int name_inside(struct rig *r, const struct weft_trace_record *record)
{
	const struct weft_trace_frame *f;

	(void)record;
	cr_expect_eq(weft_trace_symbol(r->t, getpid(), 0, (uint64_t)(uintptr_t)of_this_program, &f),
		     0);
	fprintf(r->to, "%s+%llu %s:%u\n", f->symbol ? f->symbol : "?",
		(unsigned long long)f->offset, f->file ? strrchr(f->file, '/') : "?", f->line);
	cr_expect_eq(weft_trace_poll(r->t, 0), -EBUSY);
	cr_expect_eq(weft_trace_close(r->t), -EBUSY);
	cr_expect_eq(weft_trace_stop(r->t), -EBUSY);
	cr_expect_str_eq(weft_trace_report(r->t, 0)->tag, "TRACE_BUSY");
	return 0;
}

/* TRACE_BUSY is the tag of the other functions there. */
Test(embed_results, TRACE_BUSY_and_symbols_in_a_callback)
{
	const struct weft_trace_frame *f;
	struct worker w;
	struct rig r;

	worker_fork(&w, fire_once, NULL);
	rig_open(&r, WEFT_TRACE_LINES);
	r.on_record = name_inside;
	rig_set(&r,
		"version: 1\nprobes: [{probe: 'fx-trace:::math', when: pid == %d, do: [emit: {a: args.a}]}]\n",
		w.pid);
	rig_expect(&r, weft_trace_symbol(r.t, 0, 0, 1, &f), -EINVAL, "TRACE_STATE");
	rig_run(&r, &w);
	rig_expect_line(&r, "of_this_program+0 /test_results.c:%d", OF_THIS_PROGRAM);
	/* After stop too; and what nobody has. */
	cr_expect_eq(weft_trace_symbol(r.t, getpid(), 0, 16, &f), 0);
	cr_expect(f->address == 16 && !f->symbol && !f->module && f->is_user);
	cr_expect_eq(weft_trace_symbol(r.t, 0, 0, 16, &f), 0);
	cr_expect(!f->symbol && !f->is_user);
	rig_expect(&r, weft_trace_symbol(r.t, 0, 0, 1, NULL), -EINVAL, "TRACE_NULL");
	rig_close(&r);
}
