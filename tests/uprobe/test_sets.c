/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The shipped sets about functions, as a user runs them. */
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>

#include "support.h"

#define PROGRAM  UPROBE_PROGRAM_DIR "/pie-O2"
#define ALLOCATE UPROBE_PROGRAM_DIR "/allocate"
#define SETS     WEFT_SOURCE_DIR "/config/sets/"

#define OVER_AREA_LINE 8 /* of the first overload's body in workloads/over.cc */

static const json_t *table(const json_t *lines, const char *name)
{
	for (size_t i = 0; i < cli_json_count(lines, "aggregation"); i++) {
		const json_t *t = cli_json_nth(lines, "aggregation", i);

		if (!strcmp(json_string_value(json_object_get(t, "name")), name))
			return t;
	}
	cr_assert_fail("no table %s", name);
	return NULL;
}

static const json_t *only_row(const json_t *t)
{
	const json_t *rows = json_object_get(t, "rows");

	cr_assert_eq(json_array_size(rows), 1);
	return json_array_get(rows, 0);
}

/* The program asks 1,000 times for 100 bytes and 10 times for 5,000. */
Test(sets, malloc_sizes)
{
	struct cli_run c;

	CLI(&c, "run", BUILT_IN, SETS "malloc-sizes.yaml", "-o", "json", "-c", ALLOCATE);
	cr_assert_eq(c.status, 0, "%s", c.err);
	json_t *lines = cli_json_lines(c.out);
	const json_t *sizes = json_object_get(only_row(table(lines, "sizes")), "value");
	const json_t *buckets = json_object_get(sizes, "buckets");
	bool small = false, large = false;
	for (size_t i = 0; i < json_array_size(buckets); i++) {
		const json_t *b = json_array_get(buckets, i);
		json_int_t from = json_integer_value(json_object_get(b, "from"));
		json_int_t count = json_integer_value(json_object_get(b, "count"));

		/* libc asks for a few on its own. */
		small |= from == 64 && count >= 1000 && count < 1010;
		large |= from == 4096 && count >= 10 && count < 20;
	}
	cr_expect(small && large, "%s", c.out);
	json_int_t sum =
		json_integer_value(json_object_get(only_row(table(lines, "requested")), "value"));
	cr_expect(sum >= 150000 && sum < 400000, "%lld", (long long)sum);
	json_decref(lines);
	cli_finish(&c);
}

Test(sets, slow_calls)
{
	struct cli_run c;

	/* sleep's call is slow, what else the pattern matches is not called. */
	CLI(&c, "run", BUILT_IN, SETS "slow-calls.yaml", "--param", "function=*nanosleep",
	    "--param", "slow=20ms", "-o", "json", "-c", "/bin/sleep 0.05");
	cr_assert_eq(c.status, 0, "%s", c.err);
	json_t *lines = cli_json_lines(c.out);
	cr_expect_eq(cli_json_count(lines, "record"), 2, "%s", c.out);
	for (size_t i = 0; i < cli_json_count(lines, "record"); i++) {
		const json_t *fields = json_object_get(cli_json_nth(lines, "record", i), "fields");
		json_int_t took = json_integer_value(json_object_get(fields, "took"));

		cr_expect(took >= 50000000, "%lld", (long long)took);
		cr_expect_str_eq(json_string_value(json_object_get(fields, "program")), "sleep");
	}
	cr_expect_eq(json_array_size(json_object_get(table(lines, "latency"), "rows")), 2);
	json_decref(lines);
	cli_finish(&c);

	/* None too slow: the histogram is there all the same. */
	CLI(&c, "run", BUILT_IN, SETS "slow-calls.yaml", "--param", "file=" PROGRAM, "--param",
	    "function=factorial", "--param", "slow=1h", "-o", "json", "-c", PROGRAM " calls 10");
	cr_assert_eq(c.status, 0, "%s", c.err);
	lines = cli_json_lines(c.out);
	cr_expect_eq(cli_json_count(lines, "record"), 0);
	const json_t *value = json_object_get(only_row(table(lines, "latency")), "value");
	cr_expect_eq(json_integer_value(json_object_get(value, "count")), 60);
	json_decref(lines);
	cli_finish(&c);
}

/* -v adds lines of source code; names are as they were written either way. */
static void frame_of_an_overload(bool verbose)
{
	const char *set =
		cli_set("version: 1\n"
			"probes:\n"
			"  - probe: 'uprobe:" UPROBE_PROGRAM_DIR "/over:shapes::area(long):entry'\n"
			"    do: [{emit: {stack: ustack(4)}}]\n");
	struct cli_run c;

	if (verbose)
		CLI(&c, "run", BUILT_IN, set, "-v", "-o", "json", "-c", UPROBE_PROGRAM_DIR "/over");
	else
		CLI(&c, "run", BUILT_IN, set, "-o", "json", "-c", UPROBE_PROGRAM_DIR "/over");
	cr_assert_eq(c.status, 0, "%s", c.err);
	json_t *lines = cli_json_lines(c.out);
	cr_assert_eq(cli_json_count(lines, "record"), 10, "%s", c.out);
	const json_t *stack = json_object_get(
		json_object_get(cli_json_nth(lines, "record", 0), "fields"), "stack");
	const json_t *frame = json_array_get(stack, 0);
	const char *file = json_string_value(json_object_get(frame, "file"));
	cr_expect_str_eq(json_string_value(json_object_get(frame, "symbol")), "shapes::area(long)");
	cr_expect(!verbose == !file);
	cr_expect(!verbose || strstr(file, "workloads/over.cc"), "%s", file);
	cr_expect_eq(json_integer_value(json_object_get(frame, "line")),
		     verbose ? OVER_AREA_LINE : 0);
	json_decref(lines);
	cli_finish(&c);
	cli_unlink_sets();
}

Test(sets, names_and_lines_of_frames)
{
	frame_of_an_overload(false);
	frame_of_an_overload(true);
}

Test(sets, PARAM_UNKNOWN)
{
	struct cli_run c;
	const char *set = cli_set("version: 1\n"
				  "params: {functon: main}\n"
				  "probes:\n"
				  "  - probe: uprobe:bash:$function:entry\n"
				  "    do: [{count: {into: n}}]\n");

	CLI(&c, "check", BUILT_IN, set);
	cr_expect_eq(c.status, 2);
	cr_expect(strstr(c.err, ":4:12: error: the probe set has no parameter 'function'") &&
			  strstr(c.err, "did you mean 'functon'?"),
		  "%s", c.err);
	cli_finish(&c);
	cli_unlink_sets();
}

/* A shell on a terminal, which is typed into. */
Test(sets, bash_readline)
{
	static const char typed[] = "echo typed-$((40+2))\nexit\n";
	struct timespec nap = {.tv_nsec = 300000000};
	struct cli_run c;
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	cr_assert(master >= 0 && !grantpt(master) && !unlockpt(master));
	cli_start(&c, NULL,
		  (const char *const[]){"run", BUILT_IN, SETS "bash-readline.yaml", "-o", "json",
					"-v", NULL});
	cli_wait_said(&c, "attached");
	nanosleep(&nap, NULL); /* until all of it is */
	pid_t shell = fork();
	if (shell == 0) {
		setsid();
		int slave = open(ptsname(master), O_RDWR);
		ioctl(slave, TIOCSCTTY, 0);
		for (int fd = 0; fd < 3; fd++)
			dup2(slave, fd);
		execl("/bin/bash", "bash", "--norc", "--noprofile", "-i", (char *)NULL);
		_exit(127);
	}
	nanosleep(&nap, NULL);
	cr_assert_eq(write(master, typed, sizeof(typed) - 1), (ssize_t)sizeof(typed) - 1);
	char sink[4096];
	while (read(master, sink, sizeof(sink)) > 0)
		;
	waitpid(shell, NULL, 0);
	kill(c.pid, SIGINT);
	cli_wait(&c);
	json_t *lines = cli_json_lines(c.out);
	bool echo = false, end = false;
	for (size_t i = 0; i < cli_json_count(lines, "record"); i++) {
		const json_t *fields = json_object_get(cli_json_nth(lines, "record", i), "fields");
		const char *line = json_string_value(json_object_get(fields, "line"));

		if (json_integer_value(json_object_get(fields, "pid")) != shell)
			continue; /* somebody else's shell */
		echo |= !strcmp(line, "echo typed-$((40+2))");
		end |= !strcmp(line, "exit");
	}
	cr_expect(echo && end, "%s", c.out);
	json_decref(lines);
	cli_finish(&c);
	close(master);
}

/* The first byte of `eight` in a process: the program is position-independent. */
static int code_byte(pid_t pid)
{
	unsigned long at = 0, base = 0;
	unsigned char byte = 0;
	struct cli_run c;
	const char *text;
	char path[64];
	FILE *f;

	CLI(&c, "list", BUILT_IN, "-v", "uprobe:" PROGRAM ":eight:entry");
	text = strstr(c.out, "    0x");
	cr_assert(text && sscanf(text, " %lx", &at) == 1, "%s", c.out);
	cli_finish(&c);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "r");
	cr_assert(f && fscanf(f, "%lx", &base) == 1);
	fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_eq(pread(fd, &byte, 1, (off_t)(base + at)), 1);
	close(fd);
	return byte;
}

/* The tracer is killed: the target goes on as if there had never been one, and its code is as it was. */
Test(sets, a_tracer_that_is_killed)
{
	struct timespec nap = {.tv_nsec = 200000000};
	struct cli_run c;
	int status, gate[2];

	cr_assert_eq(pipe(gate), 0);
	pid_t target = fork();
	if (target == 0) {
		dup2(gate[0], 0);
		close(gate[1]);
		execl(PROGRAM, "target", "wait", "calls", "3000000", (char *)NULL);
		_exit(127);
	}
	char pid[16];
	snprintf(pid, sizeof(pid), "%d", target);
	cli_start(&c, NULL,
		  (const char *const[]){"run", BUILT_IN, SETS "slow-calls.yaml", "--param",
					"file=" PROGRAM, "--param", "function=eight", "-p", pid,
					"-v", NULL});
	cli_wait_said(&c, "attached");
	cr_assert_eq(write(gate[1], "x", 1), 1);
	nanosleep(&nap, NULL);
	kill(target, SIGSTOP); /* or it might have come to its end before anybody looked */
	cr_expect_eq(code_byte(target), 0xcc);
	kill(c.pid, SIGKILL);
	cli_wait(&c);
	cr_expect_eq(c.status, 128 + SIGKILL);
	for (int i = 0; i < 50 && code_byte(target) == 0xcc; i++)
		nanosleep(&nap, NULL);
	cr_expect_neq(code_byte(target), 0xcc);
	kill(target, SIGCONT);
	cr_assert_eq(waitpid(target, &status, 0), target);
	cr_expect_eq(status, 0);
	cli_finish(&c);
	close(gate[0]);
	close(gate[1]);
}
