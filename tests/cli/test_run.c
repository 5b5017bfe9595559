/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* trace-cli run: formats, exit statuses, the ways in which a run begins and ends. */
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "support.h"
#include "worker.h"

#define COUNT_CALLS                         \
	"version: 1\n"                      \
	"probes:\n"                         \
	"  - probe: 'fx-trace:::calls'\n"   \
	"    when: execname == \"calls\"\n" \
	"    do: [count: {into: n, by: {program: execname}}]\n"

#define TABLE(n) "n (count):\n  program  count\n  calls    " n "\n"

/* ---- targets ---- */

Test(run, command_after_dashes)
{
	const char *set = cli_set(COUNT_CALLS);
	struct cli_run c;

	CLI(&c, "run", FIXTURES, set, "--", CALLS, "17");
	cr_expect_eq(c.status, 0, "%s", c.err);
	cr_expect(strstr(c.out, "\n  calls       17\n"), "%s", c.out);
	cr_expect(strstr(c.err, "ended: target\n"), "%s", c.err);
	cli_finish(&c);
	/* Options behind the set, and an argument of the command's that looks like one of ours. */
	CLI(&c, "run", set, FIXTURES, "-o", "text", "--", "sh", "-c", "exit 0", "-p");
	cr_expect_eq(c.status, 0, "%s", c.err);
	cli_finish(&c);
	cli_unlink_sets();
}

Test(run, command_with_quotes)
{
	const char *set = cli_set(COUNT_CALLS);
	struct cli_run c;

	CLI(&c, "run", FIXTURES, set, "--follow", "-c",
	    "sh -c '" CALLS " 5; echo \"a  b\"; exit 3'");
	cr_expect_eq(c.status, 0, "the command's status is not ours: %s", c.err);
	cr_expect_eq(strncmp(c.out, "a  b\n", 5), 0, "%s", c.out);
	cr_expect(strstr(c.out, "\n  calls        5\n"), "%s", c.out);
	cli_finish(&c);
	cli_unlink_sets();
}

/* One CPU, and a priority that gives way to nobody of the same: the command has both, too. */
static void alone_on_a_cpu(void *arg)
{
	const struct sched_param first = {.sched_priority = 1};
	cpu_set_t one;

	(void)arg;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one) || sched_setscheduler(0, SCHED_FIFO, &first))
		_exit(121);
}

Test(run, a_command_where_nobody_gives_way)
{
	const struct cli_how how = {.prepare = alone_on_a_cpu};
	const char *set = cli_set(COUNT_CALLS);
	struct cli_run c;

	CLI_HOW(&c, &how, "run", FIXTURES, set, "-c", CALLS " 5");
	cli_expect(&c, 0, NULL, NULL);
	cr_expect(strstr(c.out, "\n  calls        5\n"), "%s", c.out);
	cli_finish(&c);
	cli_unlink_sets();
}

Test(run, TARGET_EXEC)
{
	const char *set = cli_set(COUNT_CALLS);
	struct cli_run c;

	CLI(&c, "run", FIXTURES, set, "--", "/does/not/exist");
	cr_expect_eq(c.status, 1);
	cr_expect_str_eq(c.out, "");
	cr_expect(strstr(c.err,
			 "cannot run /does/not/exist: No such file or directory [TARGET_EXEC]"),
		  "%s", c.err);
	cli_finish(&c);
	cli_unlink_sets();
}

static void call_for_ever(void *arg)
{
	long *n = arg;

	for (;;) {
		syscall(SYS_getppid);
		__atomic_add_fetch(n, 1, __ATOMIC_SEQ_CST);
		usleep(1000);
	}
}

/* -p takes the place of the set's own target, and the run ends with the process. */
Test(run, process)
{
	const char *set = cli_set("version: 1\n"
				  "target: {command: [/does/not/exist]}\n"
				  "probes:\n"
				  "  - probe: 'fx-trace:::calls'\n"
				  "    do: [count: {into: n, by: [pid]}]\n");
	long *n = worker_shared(sizeof(*n));
	char pid[16], row[64];
	struct cli_run c;
	struct worker w;

	worker_fork(&w, call_for_ever, n);
	snprintf(pid, sizeof(pid), "%d", w.pid);
	cli_start(&c, NULL, (const char *const[]){"run", FIXTURES, set, "-v", "-p", pid, NULL});
	cli_wait_said(&c, "maps take");
	worker_go(&w);
	while (__atomic_load_n(n, __ATOMIC_SEQ_CST) < 20)
		usleep(1000);
	worker_kill(&w);
	cli_wait(&c);
	cr_expect_eq(c.status, 0, "%s", c.err);
	cr_expect(strstr(c.err, "ended: target\n"), "%s", c.err);
	/* The worker may have been killed between the call and its own count. */
	snprintf(row, sizeof(row), "  %s", pid);
	cr_assert(strstr(c.out, row), "%s", c.out);
	long counted = strtol(strstr(c.out, row) + strlen(row), NULL, 10);
	cr_expect(counted == *n || counted == *n + 1, "%ld, %ld: %s", counted, *n, c.out);
	cli_finish(&c);
	cli_unlink_sets();
}

/* ---- parameters and durations ---- */

Test(run, parameters)
{
	const char *set = cli_set("version: 1\n"
				  "params: {number: 1, word: none, time: 1ms}\n"
				  "begin:\n"
				  "  - printf: [\"%d %s %d\", $number, $word, $time]\n"
				  "  - exit: $number\n"
				  "probes:\n"
				  "  - probe: 'profile:::tick-1'\n"
				  "    do: [exit]\n");
	struct cli_run c;

	CLI(&c, "run", set);
	cli_expect(&c, 1, "1 none 1000000\n", NULL);
	cli_finish(&c);
	CLI(&c, "run", "--param", "number=5", set, "--param", "word=a=b c", "--param", "time=2s");
	cli_expect(&c, 5, "5 a=b c 2000000000\n", NULL);
	cli_finish(&c);
	CLI(&c, "run", set, "--param", "wrd=x");
	cr_expect_eq(c.status, 2);
	cr_expect(strstr(c.err, "[PARAM_UNKNOWN]") && strstr(c.err, "did you mean 'word'?"), "%s",
		  c.err);
	cli_finish(&c);
	cli_unlink_sets();
}

Test(run, duration)
{
	const char *set = cli_set("version: 1\n"
				  "probes:\n"
				  "  - probe: 'profile:::tick-10ms'\n"
				  "    with: {idle: false}\n"
				  "    do: [count: {into: n}]\n");
	struct cli_run c;

	CLI(&c, "run", set, "--duration", "300ms");
	cr_expect_eq(c.status, 0, "%s", c.err);
	cr_expect(strstr(c.err, "ended: duration\n"), "%s", c.err);
	cr_expect(strstr(c.out, "n (count)"), "%s", c.out);
	cli_finish(&c);
	cli_unlink_sets();
}

/* ---- signals ---- */

static void ends_by(int signal_number)
{
	const char *set = cli_set("version: 1\n"
				  "probes:\n"
				  "  - probe: 'fx-trace:::calls'\n"
				  "    when: execname == \"calls\"\n"
				  "    do: [count: {into: n}]\n"
				  "end: [printf: \"the end\"]\n");
	struct cli_run c;

	cli_start(&c, NULL, (const char *const[]){"run", FIXTURES, set, "-v", NULL});
	cli_wait_said(&c, "maps take");
	cr_assert_eq(system(CALLS " 23"), 0);
	kill(c.pid, signal_number);
	cli_wait(&c);
	cli_expect(&c, 0, "the end\nn (count): 23\n", NULL);
	cr_expect(strstr(c.err, "ended: signal\n"), "%s", c.err);
	cli_finish(&c);
	cli_unlink_sets();
}

Test(run, interrupted)
{
	ends_by(SIGINT);
}

Test(run, terminated)
{
	ends_by(SIGTERM);
}

Test(run, hung_up)
{
	ends_by(SIGHUP);
}

/* ---- statuses ---- */

Test(run, status_1_of_a_run_that_fails)
{
	const char *set = cli_set("version: 1\n"
				  "providers: {fx-wrong: {wrong: attach-all}}\n"
				  "probes:\n"
				  "  - probe: 'fx-wrong::[0-7]:call'\n"
				  "    do: [count: {into: n}]\n");
	struct cli_run c;

	CLI(&c, "run", WRONG, set);
	cli_expect(&c, 1, "", NULL);
	cr_expect(strstr(c.err, "error: provider fx-wrong attached none of 8 probes"), "%s", c.err);
	cr_expect(strstr(c.err, "[ATTACH_NONE]\n"), "%s", c.err);
	cli_finish(&c);
	cli_unlink_sets();
}

Test(run, status_2_of_a_set_that_is_wrong)
{
	const char *set = cli_set("version: 1\nprobes: [x]\n");
	struct cli_run c;

	CLI(&c, "run", set);
	cr_expect_eq(c.status, 2);
	cr_expect_str_eq(c.out, "");
	cr_expect(strstr(c.err, "error: "), "%s", c.err);
	cli_finish(&c);
	cli_unlink_sets();
}

#define LOSING                              \
	"version: 1\n"                      \
	"probes:\n"                         \
	"  - probe: 'fx-trace:::calls'\n"   \
	"    when: execname == \"calls\"\n" \
	"    do:\n"                         \
	"      - count: {into: n}\n"        \
	"      - emit: {x: 10 / (pid - pid)}\n"

Test(run, status_3_of_a_run_with_losses)
{
	const char *set = cli_set(LOSING);
	struct cli_run c;

	CLI(&c, "run", FIXTURES, set, "--", CALLS, "4");
	cli_expect(&c, 3, "n (count): 4\n", NULL);
	cr_expect(strstr(c.err, "FAULT_DIVIDE"), "%s", c.err);
	cr_expect(strstr(c.err, ":7:19: 10 / (pid - pid)"), "%s", c.err);
	cli_finish(&c);
	cli_unlink_sets();
}

/* ---- formats ---- */

static void expect_frames(const json_t *stack, const char *space)
{
	cr_assert(json_is_array(stack));
	for (size_t i = 0; i < json_array_size(stack); i++) {
		const json_t *f = json_array_get(stack, i);

		cr_expect_eq(strncmp(json_string_value(json_object_get(f, "addr")), "0x", 2), 0);
		cr_expect_str_eq(json_string_value(json_object_get(f, "space")), space);
		if (json_object_get(f, "symbol"))
			cr_expect(json_is_integer(json_object_get(f, "offset")));
	}
}

Test(run, json)
{
	const char *set = cli_set(
		"version: 1\n"
		"probes:\n"
		"  - probe: 'fx-trace:::memory'\n"
		"    when: execname == \"fire\"\n"
		"    do:\n"
		"      - emit: {s: args.string, b: args.bytes, n: (int8) args.u8,\n"
		"               p: probefunc, k: stack, us: ustack, pid: pid}\n"
		"      - printf: [\"wrote %s\", args.string]\n"
		"      - avg: {into: mean, by: {s: args.string, n: args.u8}, value: args.u8, unit: ns}\n"
		"      - quantize: {into: spread, value: args.u8}\n"
		"      - count: {into: n, by: {k: stack}}\n"
		"      - emit: {x: 1 / (pid - pid)}\n");
	const json_t *line, *fields, *row;
	struct cli_run c;
	json_t *lines;

	/* The texts are arguments of the program, in memory already. */
	CLI(&c, "run", FIXTURES, set, "-o", "json", "--", FIXTURE_WORKLOAD_DIR "/fire",
	    "write,-1,text:a\"\n\x01\xff,5", "write,-1,text:\xe2\x82\xac,3");
	cr_expect_eq(c.status, 3, "%s", c.err);
	cr_expect_str_eq(c.err, "");
	lines = cli_json_lines(c.out);
	cr_assert_eq(cli_json_count(lines, "record"), 4, "%s", c.out);
	cr_assert_eq(cli_json_count(lines, "aggregation"), 3, "%s", c.out);
	cr_assert_eq(cli_json_count(lines, "loss"), 1, "%s", c.out);
	cr_assert_eq(cli_json_count(lines, "end"), 1);
	cr_expect_eq(json_array_size(lines), 9);

	line = cli_json_nth(lines, "record", 0);
	cr_expect_gt(json_integer_value(json_object_get(line, "time_ns")), 0);
	cr_expect(json_is_integer(json_object_get(line, "cpu")));
	cr_expect_str_eq(json_string_value(json_object_get(line, "probe")),
			 "fx-trace:syscalls:sys_enter_write:memory");
	fields = json_object_get(line, "fields");
	cr_expect_eq(json_object_size(fields), 7);
	cr_expect(json_is_string(json_object_get(fields, "s")), "%s", c.out);
	cr_expect_eq(strncmp(json_string_value(json_object_get(fields, "s")), "a\"\n\x01", 4), 0);
	cr_expect_str_eq(json_string_value(json_object_get(fields, "b")), "61220a01ff");
	cr_expect_eq(json_integer_value(json_object_get(fields, "n")), 'a');
	cr_expect_str_eq(json_string_value(json_object_get(fields, "p")), "sys_enter_write");
	expect_frames(json_object_get(fields, "k"), "kernel");
	expect_frames(json_object_get(fields, "us"), "user");
	cr_expect_gt(json_array_size(json_object_get(fields, "k")), 0);
	line = cli_json_nth(lines, "record", 3);
	cr_expect_str_eq(json_string_value(json_object_get(line, "text")), "wrote \xe2\x82\xac");

	line = cli_json_nth(lines, "aggregation", 0);
	cr_expect_str_eq(json_string_value(json_object_get(line, "name")), "mean");
	cr_expect_str_eq(json_string_value(json_object_get(line, "kind")), "avg");
	cr_expect_str_eq(json_string_value(json_object_get(line, "unit")), "ns");
	cr_assert_eq(json_array_size(json_object_get(line, "rows")), 2);
	row = json_array_get(json_object_get(line, "rows"), 0);
	cr_expect_eq(json_integer_value(json_object_get(json_object_get(row, "by"), "n")), 0xe2);
	row = json_object_get(row, "value");
	cr_expect_eq(json_real_value(json_object_get(row, "avg")), 226.0);
	cr_expect_eq(json_integer_value(json_object_get(row, "count")), 1);
	cr_expect_eq(json_integer_value(json_object_get(row, "sum")), 0xe2);

	line = cli_json_nth(lines, "aggregation", 1);
	row = json_object_get(json_array_get(json_object_get(line, "rows"), 0), "value");
	cr_expect_eq(json_integer_value(json_object_get(row, "count")), 2);
	cr_assert_eq(json_array_size(json_object_get(row, "buckets")), 2);
	row = json_array_get(json_object_get(row, "buckets"), 0);
	cr_expect_eq(json_integer_value(json_object_get(row, "from")), 64);
	cr_expect_eq(json_integer_value(json_object_get(row, "to")), 128);
	cr_expect_eq(json_integer_value(json_object_get(row, "count")), 1);

	line = cli_json_nth(lines, "aggregation", 2);
	row = json_array_get(json_object_get(line, "rows"), 0);
	cr_expect_eq(json_integer_value(json_object_get(row, "value")), 2);
	expect_frames(json_object_get(json_object_get(row, "by"), "k"), "kernel");

	line = cli_json_nth(lines, "loss", 0);
	cr_expect_str_eq(json_string_value(json_object_get(line, "tag")), "FAULT_DIVIDE");
	cr_expect_eq(json_integer_value(json_object_get(line, "count")), 2);
	cr_expect(json_is_string(json_object_get(line, "meaning")));
	cr_expect(strstr(json_string_value(json_object_get(line, "where")),
			 ":12:19: 1 / (pid - pid)"));

	line = json_array_get(lines, 8);
	cr_expect_str_eq(json_string_value(json_object_get(line, "type")), "end");
	cr_expect_str_eq(json_string_value(json_object_get(line, "reason")), "target");
	cr_expect_eq(json_integer_value(json_object_get(line, "status")), 3);
	json_decref(lines);
	cli_finish(&c);
	cli_unlink_sets();
}

/* Integers of the full range; no reader of JSON here takes them, so they are looked for as text. */
Test(run, json_integers)
{
	const char *set = cli_set("version: 1\n"
				  "begin:\n"
				  "  - emit: {u: (uint64) 0 - 1, i: -9223372036854775807 - 1}\n"
				  "  - max: {into: most, value: (uint64) 0 - 2}\n"
				  "  - exit\n"
				  "probes:\n"
				  "  - probe: 'profile:::tick-1'\n"
				  "    do: [exit]\n");
	struct cli_run c;

	CLI(&c, "run", set, "-o", "json");
	cli_expect(&c, 0, NULL, "");
	cr_expect(strstr(c.out, "\"fields\":{\"u\":18446744073709551615,\"i\":-9223372036854775808}"),
		  "%s", c.out);
	cr_expect(strstr(c.out, "\"rows\":[{\"by\":{},\"value\":18446744073709551614}]"), "%s",
		  c.out);
	cli_finish(&c);
	cli_unlink_sets();
}

/* A line is frames from the outside in, a blank, and a count. */
Test(run, folded)
{
	char set[256];
	size_t spin = 0, total = 0;
	struct cli_run c;

	snprintf(set, sizeof(set), "%s/config/sets/on-cpu.yaml", WEFT_SOURCE_DIR);
	CLI(&c, "run", set, "-o", "folded", "--", FIXTURE_WORKLOAD_DIR "/spin", "0.7");
	cr_expect_eq(c.status, 0, "%s", c.err);
	for (char *save = NULL, *line = strtok_r(c.out, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *blank = strrchr(line, ' '), *end;
		unsigned long n;

		if (!strncmp(line, "heavy ", 6))
			continue; /* what the program says itself */
		cr_assert_not_null(blank, "%s", line);
		n = strtoul(blank + 1, &end, 10);
		cr_expect(end != blank + 1 && !*end && n > 0, "%s", line);
		total += n;
		*blank = '\0';
		if (!strncmp(line, "spin;", 5) && strstr(line, ";main;work;heavy"))
			spin += n;
	}
	cr_expect_gt(spin, 20, "%zu of %zu", spin, total);
	cli_finish(&c);
}

/* Many records and no target: written out as they come, whole lines. */
Test(run, text_records)
{
	const char *set = cli_set("version: 1\n"
				  "probes:\n"
				  "  - probe: 'fx-trace:::calls'\n"
				  "    when: execname == \"calls\"\n"
				  "    do: [printf: [\"%s %d\", execname, 1 + 1]]\n");
	struct cli_run c;
	size_t n = 0;

	CLI(&c, "run", FIXTURES, set, "--", CALLS, "500");
	cr_expect_eq(c.status, 0, "%s", c.err);
	for (const char *p = c.out; *p; p += 8, n++)
		cr_assert_eq(strncmp(p, "calls 2\n", 8), 0, "line %zu: %.20s", n, p);
	cr_expect_eq(n, 500);
	cli_finish(&c);
	cli_unlink_sets();
}

/* ---- output that cannot be written ---- */

#define RECORDS                             \
	"version: 1\n"                      \
	"probes:\n"                         \
	"  - probe: 'profile:::tick-1ms'\n" \
	"    do: [emit: {x: timestamp}]\n"

/* The reader has gone: the run ends by itself, and says nothing, as the reader knows. */
Test(run, reader_has_gone)
{
	static const char *const formats[] = {"text", "json"};
	const char *set = cli_set(RECORDS);
	int fds[2];

	for (int i = 0; i < 2; i++) {
		struct cli_run c;

		cr_assert_eq(pipe(fds), 0);
		close(fds[0]);
		CLI_HOW(&c, &(struct cli_how){.out = fds[1]}, "run", set, "-o", formats[i]);
		cli_expect(&c, 1, NULL, "");
		close(fds[1]);
		cli_finish(&c);
	}
	cli_unlink_sets();
}

Test(run, reader_of_a_list_has_gone)
{
	struct cli_run c;
	int fds[2];

	cr_assert_eq(pipe(fds), 0);
	close(fds[0]);
	CLI_HOW(&c, &(struct cli_how){.out = fds[1]}, "list");
	cr_expect(c.status == 1 || c.status == 128 + SIGPIPE, "%d: %s", c.status, c.err);
	close(fds[1]);
	cli_finish(&c);
}

Test(run, OUTPUT_WRITE)
{
	const char *set = cli_set(RECORDS);
	struct cli_run c;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	cr_assert_geq(full, 0);
	CLI_HOW(&c, &(struct cli_how){.out = full}, "run", set);
	cli_expect(&c, 1, NULL,
		   "trace-cli: error: results cannot be written: No space left on device "
		   "[OUTPUT_WRITE]\n");
	cli_finish(&c);

	/* Closed: nothing else that is opened may take its place. */
	CLI_HOW(&c, &(struct cli_how){.out = -1}, "run", set);
	cli_expect(&c, 1, NULL,
		   "trace-cli: error: results cannot be written: Bad file descriptor "
		   "[OUTPUT_WRITE]\n");
	cli_finish(&c);
	close(full);
	cli_unlink_sets();
}

/* What fits is there, line by line; the run ends when no more does, and says so. */
Test(run, a_disk_gets_full)
{
	enum { SIZE = 64 << 10 };
	char dir[] = "/tmp/weft-full-XXXXXX", path[64], *text, *last;
	const char *set = cli_set(RECORDS);
	struct cli_run c;
	struct stat st;

	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(mount("none", dir, "tmpfs", 0, "size=64k"), 0);
	snprintf(path, sizeof(path), "%s/out", dir);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	CLI_HOW(&c, &(struct cli_how){.out = fd}, "run", set, "-o", "json");
	cli_expect(&c, 1, NULL,
		   "trace-cli: error: results cannot be written: No space left on device "
		   "[OUTPUT_WRITE]\n");
	cr_assert_eq(fstat(fd, &st), 0);
	cr_expect_eq(st.st_size, SIZE, "%ld bytes are there", (long)st.st_size);
	text = calloc(1, SIZE + 1);
	cr_assert(text && pread(fd, text, SIZE, 0) == st.st_size);
	last = strrchr(text, '\n');
	cr_assert_not_null(last);
	last[1] = '\0';
	json_t *lines = cli_json_lines(text);
	cr_expect_gt(cli_json_count(lines, "record"), 500);
	json_decref(lines);
	free(text);
	cli_finish(&c);
	close(fd);
	umount(dir);
	rmdir(dir);
	cli_unlink_sets();
}
