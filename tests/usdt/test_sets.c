/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The shipped sets, run as people run them, against the programs that they are for. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLI  WEFT_BINARY_DIR "/cli/trace-cli"
#define SETS WEFT_SOURCE_DIR "/config/sets/"

static char dir[] = "/tmp/weft-sets-XXXXXX";

static void make_dir(void)
{
	cr_assert(mkdtemp(dir));
	chmod(dir, 0755);
}

static void remove_dir(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_expect_eq(system(command), 0);
}

static int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int shell(const char *format, ...)
{
	char command[2048];
	va_list ap;

	va_start(ap, format);
	vsnprintf(command, sizeof(command), format, ap);
	va_end(ap);
	int status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char *read_file(const char *name)
{
	char path[128], *text = calloc(1, 16u << 20);
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f = fopen(path, "r");
	cr_assert(f && text, "%s", path);
	n = fread(text, 1, (16u << 20) - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static unsigned times(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* "value":N of the row that has this text in its keys. */
static long value_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	at = at ? strstr(at, "\"value\":") : NULL;
	return at ? strtol(at + 8, NULL, 10) : -1;
}

static const char *table(const char *text, const char *name)
{
	char head[128];

	snprintf(head, sizeof(head), "\"aggregation\",\"name\":\"%s\"", name);
	const char *at = strstr(text, head);
	cr_assert(at, "no table %s in %s", name, text);
	return at;
}

/* Runs a set until the command ends; what it printed. */
static char *run_set(const char *set, const char *command)
{
	int status = shell(CLI " run " SETS "%s.yaml -o json -c '%s' > %s/out 2> %s/err", set,
			   command, dir, dir);
	char *err = read_file("err"), *out = read_file("out");

	cr_assert_eq(status, 0, "%s: %d: %s", set, status, err);
	cr_expect_eq(times(out, "\"type\":\"loss\""), 0, "%s", out);
	free(err);
	return out;
}

Test(usdt_sets, exceptions, .init = make_dir, .fini = remove_dir)
{
	char *out = run_set("exceptions", USDT_THROWS " 25");

	cr_expect_eq(value_of(table(out, "thrown"), "St13runtime_error"), 25);
	cr_expect_eq(value_of(table(out, "thrown"), "\"3own\""), 25);
	cr_expect_eq(value_of(table(out, "caught"), "St13runtime_error"), 25);
	cr_expect_eq(value_of(table(out, "caught"), "\"3own\""), 50);
	cr_expect_eq(value_of(table(out, "rethrown"), "\"3own\""), 25);
	cr_expect(strstr(out, "__cxa_throw"), "the stack has no names");
	free(out);
}

Test(usdt_sets, python_calls, .init = make_dir, .fini = remove_dir)
{
	char command[256], file[128];

	cr_assert_eq(
		shell("printf 'def fib(n):\\n    return n if n < 2 else fib(n - 1) + fib(n - "
		      "2)\\ndef outer():\\n    return fib(5)\\nfor i in range(3):\\n    outer()\\n"
		      "print(sorted([3, 1, 2], key=lambda x: -x))\\n' > %s/program.py",
		      dir),
		0);
	snprintf(command, sizeof(command), "/usr/bin/python3.11 -S %s/program.py", dir);
	snprintf(file, sizeof(file), "\"file\":\"%s/program.py\",\"function\":\"fib\",\"line\":2",
		 dir);
	char *out = run_set("python-calls", command);
	/* fib(5) makes 15 calls. */
	cr_expect_eq(times(out, file), 45);
	snprintf(file, sizeof(file), "\"file\":\"%s/program.py\",\"function\":\"outer\",\"line\":4",
		 dir);
	cr_expect_eq(times(out, file), 3);
	cr_expect_eq(value_of(table(out, "calls"), "\"function\":\"fib\""), 45);
	cr_expect_eq(value_of(table(out, "calls"), "\"function\":\"<lambda>\""), 3);
	/* Where there is an entry there is a time. */
	cr_expect_gt(times(out, "\"depth\":0,\"ns\":"), 0);
	free(out);
}

Test(usdt_sets, jvm_gc, .init = make_dir, .fini = remove_dir)
{
	char command[512];

	/* Known from before, so that its first collections are seen. */
	cr_assert_eq(shell(CLI " list 'usdt:/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so:"
			       "hotspot:gc*' > %s/list",
			   dir),
		     0);
	snprintf(command, sizeof(command),
		 "/usr/lib/jvm/java-17-openjdk-amd64/bin/keytool -J-Xmx16m -J-XX:+UseSerialGC "
		 "-J-Xlog:gc:file=%s/gc.log -genkeypair -alias a -keyalg RSA -keysize 2048 -dname "
		 "CN=a -keystore %s/keys -storepass abcdef",
		 dir, dir);
	char *out = run_set("jvm-gc", command), *log = read_file("gc.log");

	cr_expect_gt(times(log, "Pause"), 0);
	cr_expect_eq(times(out, "\"probe\":\"usdt:libjvm.so:hotspot:gc__end\""),
		     times(log, "Pause"));
	cr_expect(strstr(table(out, "used_after"), "Tenured Gen"));
	free(out);
	free(log);
}

/* ---- PostgreSQL ---- */

#define PG "/usr/lib/postgresql/15/bin/"

static void wait_for(const char *file, const char *text)
{
	for (int i = 0; i < 1200; i++) {
		char *now = read_file(file);
		int there = strstr(now, text) != NULL;

		free(now);
		if (there)
			return;
		usleep(25000);
	}
	cr_assert_fail("%s never said %s", file, text);
}

static void stop_postgres(void)
{
	shell("su postgres -s /bin/sh -c '" PG
	      "pg_ctl -D %s/data -m immediate -w stop' >/dev/null 2>&1",
	      dir);
	remove_dir();
}

static void start_postgres(void)
{
	make_dir();
	cr_assert_eq(shell("chown postgres %s && cd / && su postgres -s /bin/sh -c '" PG
			   "initdb -D %s/data -A trust && " PG
			   "pg_ctl -D %s/data -w -l %s/log -o \"-k %s -c listen_addresses= -c "
			   "shared_buffers=3MB -F\" start && " PG
			   "pgbench -h %s -i -q postgres' > /dev/null 2> /tmp/weft-sets-postgres",
			   dir, dir, dir, dir, dir, dir),
		     0, "see /tmp/weft-sets-postgres");
	unlink("/tmp/weft-sets-postgres");
}

/* Runs a command as PostgreSQL's user while a set traces the machine; what the set printed. */
static char *while_traced(const char *set, const char *command)
{
	char out[64], err[64];
	int status;

	snprintf(out, sizeof(out), "%s/out", dir);
	snprintf(err, sizeof(err), "%s/err", dir);
	close(open(err, O_CREAT | O_WRONLY, 0600));
	pid_t tracer = fork();
	if (tracer == 0) {
		if (freopen(out, "w", stdout) && freopen(err, "w", stderr))
			execl(CLI, CLI, "run", set, "-v", "-o", "json", (char *)NULL);
		_exit(127);
	}
	wait_for("err", " after the start");
	cr_expect_eq(shell("cd / && su postgres -s /bin/sh -c '%s' > %s/bench 2>&1", command, dir),
		     0);
	kill(tracer, SIGINT);
	cr_assert_eq(waitpid(tracer, &status, 0), tracer);
	char *text = read_file("out");
	cr_expect_eq(times(text, "\"type\":\"loss\""), 0, "%s", strstr(text, "\"loss\""));
	return text;
}

Test(usdt_sets, postgres_queries_are_pgbench_s_transactions, .init = start_postgres,
     .fini = stop_postgres, .timeout = 120)
{
	char command[128];

	snprintf(command, sizeof(command), PG "pgbench -h %s -n -S -c 2 -t 500 postgres", dir);
	char *text = while_traced(SETS "postgres-queries.yaml", command),
	     *bench = read_file("bench");
	cr_expect(strstr(bench, "actually processed: 1000/1000"), "%s", bench);
	cr_expect_eq(times(text, "\"query\":\"SELECT abalance FROM pgbench_accounts"), 1000);
	free(bench);
	free(text);
}

/* An argument that lies at a symbol: "-4@NBuffers(%rip)", 3 MiB in pages of 8 KiB. */
Test(usdt_sets, postgres_arguments_at_symbols, .init = start_postgres, .fini = stop_postgres,
     .timeout = 120)
{
	char set[64], command[128];

	snprintf(set, sizeof(set), "%s/set.yaml", dir);
	cr_assert_eq(shell("printf 'version: 1\nname: t\nprobes:\n"
			   "  - probe: usdt:postgres:postgresql:buffer__sync__done\n"
			   "    do: [{emit: {buffers: arg0, written: arg1}}]\n"
			   "  - probe: usdt:postgres:postgresql:checkpoint__done\n"
			   "    do: [{emit: {written: arg0, buffers: arg1}}]\n' > %s",
			   set),
		     0);
	snprintf(command, sizeof(command),
		 PG
		 "psql -h %s -c \"update pgbench_tellers set tbalance = 1\" -c checkpoint postgres",
		 dir);
	char *text = while_traced(set, command);
	cr_expect_geq(times(text, "buffer__sync__done"), 1, "%s", text);
	cr_expect_geq(times(text, "checkpoint__done"), 1, "%s", text);
	cr_expect_eq(times(text, "\"buffers\":"), times(text, "\"buffers\":384"), "%s", text);
	/* How many were written is at a symbol and an offset. */
	char *log = read_file("log"), written[64];
	const char *wrote = strstr(log, "checkpoint complete: wrote ");
	cr_assert_not_null(wrote);
	for (const char *next; (next = strstr(wrote + 1, "checkpoint complete: wrote "));)
		wrote = next;
	snprintf(written, sizeof(written), "\"written\":%ld,\"buffers\":384",
		 strtol(wrote + 27, NULL, 10));
	cr_expect(strstr(text, written), "%s not in %s", written, text);
	free(log);
	free(text);
}
