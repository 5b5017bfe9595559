/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Probes that come, go and come again while tracing, with exact counts in between. */
#include <fcntl.h>
#include <sys/stat.h>

#include "harness.h"

struct shared {
	char fifo[64];
	int attached;
	long steps;
};

static struct shared *shared_create(void)
{
	struct shared *s = worker_shared(sizeof(*s));

	snprintf(s->fifo, sizeof(s->fifo), "/tmp/weft-test-fifo-%d", getpid());
	cr_assert_eq(mkfifo(s->fifo, 0600), 0);
	return s;
}

static void wait_attached(const struct shared *s, int n)
{
	for (int i = 0; __atomic_load_n(&s->attached, __ATOMIC_SEQ_CST) < n; i++) {
		if (i == 5000)
			_exit(101);
		usleep(1000);
	}
}

static void tell(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		_exit(102);
}

static void call_all(int n)
{
	while (n--) {
		syscall(SYS_getppid);
		syscall(SYS_getuid);
		syscall(SYS_getgid);
	}
}

/* first is at getppid from the start. */
static void come_and_go(void *arg)
{
	struct shared *s = arg;
	int fd = open(s->fifo, O_RDWR);

	wait_attached(s, 1);
	call_all(1);
	tell(fd, "+second@getuid\n");
	wait_attached(s, 2);
	call_all(10);
	tell(fd,
	     "-second@getuid\n+third@getgid\n"); /* in order: once third is there, second has gone */
	wait_attached(s, 3);
	call_all(100);
	tell(fd, "+second@getuid\n-first\n");
	wait_attached(s, 4);
	/* attaching follows all commands of one reading, and the retirement precedes it */
	call_all(1000);
}

static void trace(struct rig *r, void (*fn)(void *), struct shared *s, const char *clauses)
{
	struct worker w;

	worker_fork(&w, fn, s);
	rig_init(r);
	r->n_attached = &s->attached;
	rig_trace(r, &w,
		  "version: 1\n"
		  "params: {pid: %d}\n"
		  "providers: {fx-discover: {fifo: %s}}\n"
		  "probes:\n%s",
		  w.pid, s->fifo, clauses);
	unlink(s->fifo);
	if (getenv("RIG_LOSSES"))
		fputs(r->said, stderr);
}

Test(discover, exact_after_each_step)
{
	struct shared *s = shared_create();
	struct rig r;

	trace(&r, come_and_go, s,
	      "  - probe: 'fx-discover:::*'\n"
	      "    when: pid == $pid\n"
	      "    do: [count: {into: n, by: {name: probename}}]\n");
	const struct cap_table *t = cap_last_table(&r.cap, "n");
	cr_expect_eq(t->n_rows, 3);
	cr_expect_eq(cap_row_text(t, "name", "first")->count, 111);
	cr_expect_eq(cap_row_text(t, "name", "second@getuid")->count, 1010);
	cr_expect_eq(cap_row_text(t, "name", "third@getgid")->count, 1100);
	cr_expect_eq(weft_session_n_programs(r.session), 1, "newcomers join the program");
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* A newcomer that matches a clause which had no probe yet: a program is made while others run, with
 * an aggregation that nobody knew, and a comparison that was decided for those that were there. */
static void new_program(void *arg)
{
	struct shared *s = arg;
	int fd = open(s->fifo, O_RDWR);

	wait_attached(s, 1);
	call_all(1);
	tell(fd, "+late@getuid\n");
	wait_attached(s, 2);
	call_all(10);
	tell(fd, "+other@getgid\n");
	wait_attached(s, 3);
	call_all(100);
}

Test(discover, newcomers_can_need_programs_of_their_own)
{
	struct shared *s = shared_create();
	struct rig r;

	trace(&r, new_program, s,
	      "  - probe: 'fx-discover:::*'\n"
	      "    when: pid == $pid && probename != \"other@getgid\"\n"
	      "    do: [count: {into: n, by: {name: probename}}]\n"
	      "  - probe: 'fx-discover:::late*'\n"
	      "    when: pid == $pid\n"
	      "    do: [sum: {into: late, by: {x: pid}, value: 2}, emit: {name: probename}]\n");
	const struct cap_table *t = cap_last_table(&r.cap, "n");
	cr_expect_eq(t->n_rows, 2);
	cr_expect_eq(cap_row_text(t, "name", "first")->count, 111);
	cr_expect_eq(cap_row_text(t, "name", "late@getuid")->count, 110);
	cr_expect_eq(cap_only_row(&r.cap, "late")->value.i, 220);
	cr_expect_eq(cap_count(&r.cap, "late@getuid"), 110);
	cr_expect_eq(r.cap.n_records, 110);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* A probe that cannot be attached, and a command that is none: said, and the others go on. */
static void mishaps(void *arg)
{
	struct shared *s = arg;
	int fd = open(s->fifo, O_RDWR);

	wait_attached(s, 1);
	tell(fd, "+bad@no_such_call\n");
	call_all(1);
	tell(fd, "nonsense\n+good@getuid\n");
	wait_attached(s, 2);
	call_all(10);
}

Test(discover, a_newcomer_that_fails_does_not_stop_the_others)
{
	struct shared *s = shared_create();
	struct rig r;

	trace(&r, mishaps, s,
	      "  - probe: 'fx-discover:::*'\n"
	      "    when: pid == $pid\n"
	      "    do: [count: {into: n, by: {name: probename}}]\n");
	const struct cap_table *t = cap_last_table(&r.cap, "n");
	cr_expect_eq(t->n_rows, 2);
	cr_expect_eq(cap_row_text(t, "name", "first")->count, 11);
	cr_expect_eq(cap_row_text(t, "name", "good@getuid")->count, 10);
	cr_expect(rig_has_said(&r, "weft: a probe that appeared is not traced: 'nonsense' is no "
				   "command\n"),
		  "%s", r.said);
	cr_expect(rig_has_said(&r, "fx-discover:::bad@no_such_call: not attached: No such file"),
		  "%s", r.said);
	rig_finish(&r);
}

/* One clause asks a newcomer for what it does not have, the other does not: the newcomer is given
 * up once, and those after it are traced. */
static void untyped(void *arg)
{
	struct shared *s = arg;
	int fd = open(s->fifo, O_RDWR);

	wait_attached(s, 1);
	tell(fd, "+bad@getuid\n");
	call_all(1);
	tell(fd, "+good@getgid\n");
	wait_attached(s, 2);
	call_all(10);
}

Test(discover, a_newcomer_that_cannot_be_typed_does_not_stop_the_others)
{
	struct shared *s = shared_create();
	const char *said;
	struct rig r;

	trace(&r, untyped, s,
	      "  - probe: 'fx-discover:::*'\n"
	      "    when: pid == $pid\n"
	      "    do: [count: {into: n, by: {name: probename}}]\n"
	      "  - probe: 'fx-discover:::bad*'\n"
	      "    do: [emit: {x: arg3}]\n");
	const struct cap_table *t = cap_last_table(&r.cap, "n");
	cr_expect_eq(t->n_rows, 2);
	cr_expect_eq(cap_row_text(t, "name", "first")->count, 11);
	cr_expect_eq(cap_row_text(t, "name", "good@getgid")->count, 10);
	said = r.said ? strstr(r.said, "not traced") : NULL;
	cr_assert_not_null(said);
	cr_expect_null(strstr(said + 1, "not traced"), "said more than once: %s", r.said);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* The return comes when its entry is traced already, and by a program that keeps no arguments. */
static void late_return(void *arg)
{
	struct shared *s = arg;
	int fd = open(s->fifo, O_RDWR);

	wait_attached(s, 1);
	tell(fd, "+entry@getuid\n");
	wait_attached(s, 2);
	call_all(1);
	tell(fd, "+return@getuid\n");
	call_all(10);
	tell(fd, "+entry@getgid\n+return@getgid\n");
	wait_attached(s, 4);
	call_all(100);
}

Test(discover, ENTRY_LATE)
{
	struct shared *s = shared_create();
	struct rig r;

	trace(&r, late_return, s,
	      "  - probe: ['fx-discover:::first', 'fx-discover:::entry@getuid']\n"
	      "    when: pid == $pid\n"
	      "    do: [count: {into: entries, by: {name: probename}}]\n"
	      "  - probe: 'fx-discover:::return@*'\n"
	      "    when: pid == $pid\n"
	      "    do: [count: {into: returns, by: {name: probename, of: entry.arg0 * 0}}]\n");
	cr_expect_eq(cap_row_text(cap_last_table(&r.cap, "entries"), "name", "entry@getuid")->count,
		     111, "the entry is traced as it was");
	cr_expect_eq(cap_only_row(&r.cap, "returns")->count, 100);
	cr_expect(rig_has_said(&r, "a probe that appeared is not traced: fx-discover:::return@getuid "
				   "appeared after its entry, which is traced already without "
				   "keeping the arguments that the return asks for"),
		  "%s", r.said);
	rig_finish(&r);
}

/* A set whose pattern matches nothing yet may be started: it waits. */
static void first_of_all(void *arg)
{
	struct shared *s = arg;
	int fd = open(s->fifo, O_RDWR);

	tell(fd, "+future@getuid\n");
	wait_attached(s, 1);
	call_all(7);
}

Test(discover, waits_for_what_may_come)
{
	struct shared *s = shared_create();
	struct rig r;

	trace(&r, first_of_all, s,
	      "  - probe: 'fx-discover:::fut*'\n"
	      "    when: pid == $pid\n"
	      "    do: [count: {into: n, by: {name: probename}}]\n");
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, 7);
	cr_expect(rig_has_said(&r, "waiting for one to appear"), "%s", r.said);
	rig_finish(&r);
}

/* More newcomers than the table of comparisons has room for, which is 4,096 cookies, two a probe. */
static void too_many(void *arg)
{
	struct shared *s = arg;
	int fd = open(s->fifo, O_RDWR);
	char text[32];

	wait_attached(s, 2); /* first, and the eight of fx-wrong */
	call_all(1);
	for (int i = 0; i < 2200; i++) {
		snprintf(text, sizeof(text), "+n%d@nothing\n", i);
		tell(fd, text);
	}
	for (int i = 0; !__atomic_load_n(&s->steps, __ATOMIC_SEQ_CST); i++) {
		if (i == 60000)
			_exit(104);
		usleep(1000);
	}
	call_all(10);
}

static void note_too_many(const char *text, void *arg)
{
	struct shared *s = arg;

	if (strstr(text, "more probes appeared while tracing than there is room for"))
		__atomic_store_n(&s->steps, 1, __ATOMIC_SEQ_CST);
}

Test(discover, TOO_MANY_PROBES)
{
	struct shared *s = shared_create();
	struct worker w;
	struct rig r;

	worker_fork(&w, too_many, s);
	rig_init(&r);
	r.n_attached = &s->attached;
	r.on_said = note_too_many;
	r.on_said_arg = s;
	rig_trace(&r, &w,
		  "version: 1\n"
		  "params: {pid: %d}\n"
		  "providers: {fx-discover: {fifo: %s}}\n"
		  "probes:\n"
		  "  - probe: 'fx-discover:::*'\n"
		  "    when: pid == $pid && probename == \"first\"\n"
		  "    do: [count: {into: n}]\n"
		  "  - probe: 'fx-wrong::[0-7]:call'\n"
		  "    when: pid == $pid && probefunc == \"3\"\n"
		  "    do: [count: {into: m}]\n",
		  w.pid, s->fifo);
	unlink(s->fifo);
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, 11, "the run goes on");
	cr_expect_eq(cap_only_row(&r.cap, "m")->count, 11, "fx-wrong's 3 is at getuid");
	rig_finish(&r);
}

/* ---- process events ---- */

static void exec_true(void *arg)
{
	pid_t *child = arg, pid = fork();

	if (pid == 0) {
		execl("/bin/true", "true", NULL);
		_exit(126);
	}
	*child = pid;
	usleep(300000);
}

struct found {
	const char *want;
	int n;
};

static int find(const struct weft_probe *probe, void *arg)
{
	struct found *f = arg;
	char name[256];

	weft_probe_format(probe, name, sizeof(name));
	f->n += !strncmp(name, f->want, strlen(f->want));
	return 0;
}

static int count_probes(struct rig *r, const char *pattern_format, pid_t pid)
{
	struct found f = {.want = "fx-process:"};
	struct weft_pattern pattern;
	char text[128];

	snprintf(text, sizeof(text), pattern_format, pid);
	cr_assert_eq(weft_pattern_parse(text, &pattern, r->err), 0);
	weft_session_find(r->session, &pattern, find, &f, r->err);
	weft_pattern_finish(&pattern);
	return f.n;
}

/* Each event becomes a probe of fx-process, which nobody can attach to; the run goes on. */
Test(discover, process_events)
{
	pid_t *child = worker_shared(sizeof(*child));
	char parent[64];
	struct worker w;
	struct rig r;

	worker_fork(&w, exec_true, child);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::calls'\n"
		  "    do: [count: {into: n}]\n"
		  "  - probe: 'fx-process:nothing::'\n"
		  "    do: [count: {into: n}]\n");
	snprintf(parent, sizeof(parent), "fx-process:fork:%d:%%d", w.pid);
	cr_expect_eq(count_probes(&r, parent, *child), 1);
	cr_expect_eq(count_probes(&r, "fx-process:exec:true:%d", *child), 1);
	cr_expect_eq(count_probes(&r, "fx-process:exit::%d", *child), 1);
	cr_expect_eq(count_probes(&r, "fx-process:mmap:libc.so.6:%d", *child), 1);
	cr_expect(rig_has_said(&r, "fx-process: warning"));
	rig_finish(&r);
}
