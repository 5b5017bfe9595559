/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The shipped sets of kernel functions, as a user runs them, with workloads whose numbers are known. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "support.h"

#define SET(name) WEFT_SOURCE_DIR "/config/sets/" name

#define READS 200
#define BYTES 100

/* Runs a set on a shell's command line; the lines of its output. */
static json_t *run_set(const char *set, const char *param, const char *command)
{
	struct cli_run c;
	json_t *lines;

	if (param)
		CLI(&c, "run", BUILT_IN, set, "-o", "json", "--param", param, "-c", command);
	else
		CLI(&c, "run", BUILT_IN, set, "-o", "json", "-c", command);
	cr_assert_eq(c.status, 0, "%s%.2000s", c.err, c.out);
	lines = cli_json_lines(c.out);
	cli_finish(&c);
	return lines;
}

static json_int_t skipped; /* firings in the last run that the kernel says it left out */
static long workload_said; /* the number that the last workload printed */

/* The same for the whole system, while the workload runs: what wakes a thread, or takes a packet,
 * is mostly not the program that waits for it. */
static json_t *watch_set(const char *set, const char *param, const char *command)
{
	struct cli_run c;
	json_t *lines;
	FILE *out;

	cli_start(&c, NULL,
		  (const char *const[]){"run", BUILT_IN, "-v", set, "-o", "json", "--param", param,
					NULL});
	cli_wait_said(&c, "programs, attached");
	out = popen(command, "r");
	cr_assert_not_null(out);
	if (fscanf(out, "%ld", &workload_said) != 1)
		workload_said = -1;
	cr_assert_eq(pclose(out), 0);
	cr_assert_eq(kill(c.pid, SIGINT), 0);
	cli_wait(&c);
	lines = cli_json_lines(c.out);
	/* An interrupt that arrives in the middle of a program may fire another: counted, and said. */
	skipped = 0;
	for (size_t i = 0; i < cli_json_count(lines, "loss"); i++) {
		const json_t *loss = cli_json_nth(lines, "loss", i);

		cr_expect_str_eq(json_string_value(json_object_get(loss, "tag")), "PROGRAM_BUSY");
		skipped += json_integer_value(json_object_get(loss, "count"));
	}
	cr_assert_eq(c.status, skipped ? 3 : 0, "%s", c.err);
	cli_finish(&c);
	return lines;
}

static const json_t *table(const json_t *lines, const char *name)
{
	for (size_t i = 0; i < cli_json_count(lines, "aggregation"); i++) {
		const json_t *t = cli_json_nth(lines, "aggregation", i);

		if (!strcmp(json_string_value(json_object_get(t, "name")), name))
			return json_object_get(t, "rows");
	}
	return NULL;
}

/* The row whose key has that text, or all rows' sum of what their value counts. */
static json_int_t value_of(const json_t *row)
{
	const json_t *v = json_object_get(row, "value");

	return json_integer_value(json_is_object(v) ? json_object_get(v, "count") : v);
}

static json_int_t total(const json_t *rows, const char *key, const char *text)
{
	json_int_t n = 0;
	size_t i;
	const json_t *row;

	json_array_foreach(rows, i, row)
	{
		const json_t *k = json_object_get(json_object_get(row, "by"), key);

		if (!text || (k && !strcmp(json_string_value(k), text)))
			n += value_of(row);
	}
	return n;
}

/* busybox is static and reads nothing for itself: one block after the other. */
#define DD "/usr/bin/busybox dd if=/dev/zero of=/dev/null bs=100 count=200 status=none"

Test(fbt_sets, vfs_latency)
{
	json_t *lines = run_set(SET("vfs-latency.yaml"), NULL, DD);
	const json_t *latency = table(lines, "latency"), *bytes = table(lines, "bytes");

	cr_expect_eq(total(latency, "call", "vfs_read"), READS, "%lld",
		     (long long)total(latency, "call", "vfs_read"));
	cr_expect_eq(total(latency, "call", "vfs_write"), READS, "%lld",
		     (long long)total(latency, "call", "vfs_write"));
	cr_expect_eq(total(bytes, "call", "vfs_read"), READS * BYTES, "%lld",
		     (long long)total(bytes, "call", "vfs_read"));
	cr_expect_eq(total(bytes, "call", "vfs_write"), READS * BYTES, "%lld",
		     (long long)total(bytes, "call", "vfs_write"));
	cr_expect_geq(total(latency, "call", "vfs_open"), 2);
	json_decref(lines);

	/* Nothing of that takes a minute. */
	lines = run_set(SET("vfs-latency.yaml"), "threshold_us=60000000", DD);
	cr_expect_eq(total(table(lines, "latency"), "call", NULL), 0);
	json_decref(lines);
}

/* What was counted, of what there was: all, or all but what the kernel skipped. Others' firings may
 * be among those skipped. */
static void expect_counted(json_int_t counted, long all, const char *what)
{
	cr_expect_leq(counted, all, "%s: %lld of %ld", what, (long long)counted, all);
	cr_expect_geq(counted, all - skipped, "%s: %lld of %ld, %lld skipped", what,
		      (long long)counted, all, (long long)skipped);
}

/* Each sleep that leaves the processor ends in one wakeup of the sleeper, who then gets it back. */
Test(fbt_sets, run_queue)
{
	json_t *lines = watch_set(SET("run-queue.yaml"), "threshold_us=0", SET_WORKLOAD " sleep 50");
	json_int_t slow = total(table(lines, "slow"), "program", "sleeper");
	json_int_t wait = total(table(lines, "wait"), NULL, NULL);

	/* A sleep that is over before the thread has left the processor is none. */
	cr_assert_geq(workload_said, 30);
	expect_counted(slow, workload_said, "wakeups");
	cr_expect_eq(wait, total(table(lines, "slow"), "program", NULL), "0 us: all are slow");
	json_decref(lines);

	lines = watch_set(SET("run-queue.yaml"), "threshold_us=60000000", SET_WORKLOAD " sleep 5");
	cr_expect_eq(total(table(lines, "slow"), "program", NULL), 0);
	cr_expect_geq(total(table(lines, "wait"), NULL, NULL) + skipped, workload_said);
	json_decref(lines);
}

/* 20 connections that are accepted, 10 that are refused. */
Test(fbt_sets, tcp_connect)
{
	json_t *lines =
		watch_set(SET("tcp-connect.yaml"), "min_us=0", SET_WORKLOAD " connect 20 10");
	int connected = 0, refused = 0;

	for (size_t i = 0; i < cli_json_count(lines, "record"); i++) {
		const json_t *f = json_object_get(cli_json_nth(lines, "record", i), "fields");

		cr_expect_str_eq(json_string_value(json_object_get(f, "program")), "set_workload");
		cr_expect_str_eq(json_string_value(json_object_get(f, "address")), "127.0.0.1");
		if (json_integer_value(json_object_get(f, "connected"))) {
			connected++;
			cr_expect_eq(json_integer_value(json_object_get(f, "port")), 4321);
		} else {
			refused++;
			cr_expect_eq(json_integer_value(json_object_get(f, "port")), 4322);
		}
	}
	expect_counted(connected, 20, "accepted");
	expect_counted(refused, 10, "refused");
	cr_expect_eq(total(table(lines, "latency"), NULL, NULL), connected + refused);
	json_decref(lines);
}
