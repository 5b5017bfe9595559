/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names of code that lies in no file, from what its maker wrote to /tmp/perf-PID.map. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/support.h"

struct maker {
	pid_t pid;
	uint64_t code; /* 64 KiB of it, at the same place in parent and child */
	char map[64];
	struct weft_symbols *s;
	uint64_t time;
};

static void begin(struct maker *m)
{
	void *code = mmap(NULL, 65536, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(code, MAP_FAILED);
	m->code = (uint64_t)(uintptr_t)code;
	m->pid = fork();
	if (!m->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	snprintf(m->map, sizeof(m->map), "/tmp/perf-%d.map", m->pid);
	unlink(m->map);
	m->s = weft_symbols_create();
	cr_assert_eq(weft_symbols_snapshot(m->s, m->pid, now_ns()), 0);
	m->time = now_ns();
}

static void stop(struct maker *m)
{
	if (m->pid <= 0)
		return;
	kill(m->pid, SIGKILL);
	waitpid(m->pid, NULL, 0);
}

static void finish(struct maker *m)
{
	stop(m);
	unlink(m->map);
	weft_symbols_destroy(m->s);
	munmap((void *)(uintptr_t)m->code, 65536);
}

static void say(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(const char *path, const char *format, ...)
{
	FILE *f = fopen(path, "a");
	va_list ap;

	cr_assert(f, "%s", strerror(errno));
	va_start(ap, format);
	vfprintf(f, format, ap);
	va_end(ap);
	fclose(f);
}

static void expect(struct maker *m, uint64_t at, const char *name, uint64_t offset)
{
	usleep(60000); /* it does not look more often */
	expect_symbol(m->s, m->pid, m->time, m->code + at, name, offset, name ? m->map : NULL);
}

Test(perf_map, code_has_the_names_that_its_maker_gave)
{
	struct maker m;

	begin(&m);
	say(m.map, "%lx 20 Function:~fib /app/x.js:3\n%lx 40 other\nunfinished", m.code + 0x100,
	    m.code + 0x200);
	expect(&m, 0x100, "Function:~fib /app/x.js:3", 0);
	expect(&m, 0x11f, "Function:~fib /app/x.js:3", 0x1f);
	expect(&m, 0x120, NULL, 0);
	expect(&m, 0x23f, "other", 0x3f);
	/* What is made later, and what takes the place of another. */
	say(m.map, "\n%lx 10 later\n%lx 10 anew\n", m.code + 0x300, m.code + 0x108);
	expect(&m, 0x300, "later", 0);
	expect(&m, 0x10f, "anew", 7);
	expect(&m, 0x107, "Function:~fib /app/x.js:3", 7);
	/* After its end. */
	stop(&m);
	expect(&m, 0x301, "later", 1);
	m.pid = 0;
	finish(&m);
}

Test(perf_map, a_process_that_has_ended)
{
	struct maker m;

	begin(&m);
	say(m.map, "%lx 20 gone\n", m.code);
	stop(&m);
	expect(&m, 8, "gone", 8);
	m.pid = 0;
	finish(&m);
}

Test(perf_map, lines_that_are_none)
{
	struct maker m;

	begin(&m);
	say(m.map, "\n \nx\n-1 20 minus\n%lx\n%lx 20\n%lx 0 nothing\n%lx zz text\n%lx 20 \n",
	    m.code, m.code, m.code, m.code, m.code);
	say(m.map, "ffffffffffffffff ffffffffffffffff wraps\n11111111111111111111 10 large\n");
	expect(&m, 0, NULL, 0);
	say(m.map, "%lx 20 good\n", m.code);
	expect(&m, 1, "good", 1);
	finish(&m);
}

/* /tmp is everybody's. */
Test(perf_map, what_others_put_there_is_not_believed)
{
	struct maker m;
	char other[] = "/tmp/weft-perf-XXXXXX";
	int fd = mkstemp(other);

	begin(&m);
	say(m.map, "%lx 20 forged\n", m.code);
	cr_assert_eq(chown(m.map, 65534, 65534), 0);
	expect(&m, 0, NULL, 0);
	unlink(m.map);
	cr_assert_eq(mkfifo(m.map, 0666), 0);
	expect(&m, 0, NULL, 0);
	unlink(m.map);
	say(other, "%lx 20 linked\n", m.code);
	cr_assert_eq(symlink(other, m.map), 0);
	expect(&m, 0, NULL, 0);
	unlink(m.map);
	close(fd);
	unlink(other);
	/* Left by an earlier process of that number, which is gone. */
	say(m.map, "%lx 20 old\n", m.code);
	cr_assert_eq(utimensat(AT_FDCWD, m.map, (struct timespec[2]){{1000, 0}, {1000, 0}}, 0), 0);
	stop(&m);
	expect(&m, 0, NULL, 0);
	m.pid = 0;
	finish(&m);
}

Test(perf_map, exec_makes_another_program_of_it)
{
	struct maker m;

	begin(&m);
	say(m.map, "%lx 20 before\n", m.code);
	expect(&m, 0, "before", 0);
	weft_symbols_event(
		m.s, &(struct weft_process_event){.struct_size = sizeof(struct weft_process_event),
						  .kind = WEFT_PROCESS_EXEC,
						  .time_ns = now_ns(),
						  .pid = m.pid,
						  .text = "x"});
	unlink(m.map);
	expect(&m, 0, NULL, 0);
	finish(&m);
}
