/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* With how little the tracer runs, and how little it keeps once it runs. */
#include <dirent.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "support.h"

#define NOBODY 65534

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

static const char *program;
static char workload[128];
static int paranoid; /* as it was found */

static void set_paranoid(int level)
{
	FILE *f = fopen(PARANOID, "w");

	cr_assert_not_null(f);
	cr_assert_gt(fprintf(f, "%d", level), 0);
	cr_assert_eq(fclose(f), 0);
}

static void setup(void)
{
	FILE *f = fopen(PARANOID, "r");
	char command[512];
	char *slash;

	cr_assert(f && fscanf(f, "%d", &paranoid) == 1);
	fclose(f);
	/* What is above is a distribution's own, and is not about capabilities any more. */
	if (paranoid > 2)
		set_paranoid(2);
	program = cli_public_copy();
	snprintf(workload, sizeof(workload), "%s", program);
	slash = strrchr(workload, '/');
	snprintf(slash, sizeof(workload) - (size_t)(slash - workload), "/functions");
	snprintf(command, sizeof(command), "cp " FIXTURE_WORKLOAD_DIR "/functions %s", workload);
	cr_assert_eq(system(command), 0);
}

static void teardown(void)
{
	if (paranoid > 2)
		set_paranoid(paranoid);
	cli_remove_public_copy();
	cli_unlink_sets();
}

TestSuite(privileges, .init = setup, .fini = teardown);

struct few {
	const cap_value_t *list;
	int n;
};

/* Nobody, but for these capabilities. */
static void become_few(void *arg)
{
	const struct few *few = arg;
	cap_t set = cap_init();

	if (prctl(PR_SET_KEEPCAPS, 1) || setgid(NOBODY) || setuid(NOBODY) ||
	    cap_set_flag(set, CAP_PERMITTED, few->n, few->list, CAP_SET) ||
	    cap_set_flag(set, CAP_EFFECTIVE, few->n, few->list, CAP_SET) ||
	    cap_set_flag(set, CAP_INHERITABLE, few->n, few->list, CAP_SET) || cap_set_proc(set))
		_exit(122);
	for (int i = 0; i < few->n; i++)
		if (cap_set_ambient(few->list[i], CAP_SET))
			_exit(123);
	/* The sanitizer's search for leaks is for who may trace. */
	setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
}

#define FEW(...)                                           \
	(&(struct few){(const cap_value_t[]){__VA_ARGS__}, \
		       sizeof((const cap_value_t[]){__VA_ARGS__}) / sizeof(cap_value_t)})

/* providers: their options, or "". */
static void run_few_with(struct cli_run *c, struct few *few, const char *probe,
			 const char *providers)
{
	const struct cli_how how = {.program = program, .prepare = become_few, .arg = few};
	char yaml[512], command[160];

	snprintf(yaml, sizeof(yaml),
		 "version: 1\n"
		 "%s"
		 "probes:\n"
		 "  - probe: '%s'\n"
		 "    do: [count: {into: n}]\n",
		 providers, probe);
	snprintf(command, sizeof(command), "%s 20", workload);
	CLI_HOW(c, &how, "run", cli_set(yaml), "-c", command);
}

static void run_few(struct cli_run *c, struct few *few, const char *probe)
{
	run_few_with(c, few, probe, "");
}

static void expect_count(struct few *few, const char *probe, const char *out)
{
	struct cli_run c;

	run_few(&c, few, probe);
	cli_expect(&c, 0, out, NULL);
	cli_finish(&c);
}

Test(privileges, loading_and_attaching_take_two)
{
	char probe[256];

	snprintf(probe, sizeof(probe), "uprobe:%s:factorial:entry", workload);
	expect_count(FEW(CAP_BPF, CAP_PERFMON), probe, "n (count): 120\n");
	expect_count(FEW(CAP_BPF, CAP_PERFMON), "tracepoint:process::exit", "n (count): 1\n");
}

Test(privileges, events_of_places_take_a_third)
{
	static const char providers[] = "providers: {uprobe: {mechanism: perf}}\n";
	char probe[256];
	struct cli_run c;

	snprintf(probe, sizeof(probe), "uprobe:%s:factorial:entry", workload);
	run_few_with(&c, FEW(CAP_BPF, CAP_PERFMON), probe, providers);
	cr_expect_eq(c.status, 1);
	cr_expect(strstr(c.err, "[UPROBE_DENIED]") && strstr(c.err, "CAP_SYS_ADMIN"), "%s", c.err);
	cli_finish(&c);
	run_few_with(&c, FEW(CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN), probe, providers);
	cli_expect(&c, 0, "n (count): 120\n", NULL);
	cli_finish(&c);
}

Test(privileges, the_list_of_tracepoints_takes_a_third)
{
	struct cli_run c;

	run_few(&c, FEW(CAP_BPF, CAP_PERFMON), "tracepoint:sched::sched_process_exit");
	cr_expect_eq(c.status, 2);
	cr_expect(strstr(c.err, "[TRACEPOINT_DENIED]"), "%s", c.err);
	cli_finish(&c);
	expect_count(FEW(CAP_BPF, CAP_PERFMON, CAP_DAC_READ_SEARCH),
		     "tracepoint:sched::sched_process_exit", "n (count): 1\n");
}

/* Where the kernel's default is above 2, that is a level that it knows. */
Test(privileges, PERF_PARANOID)
{
	struct cli_run c;

	set_paranoid(3);
	run_few(&c, FEW(CAP_BPF, CAP_PERFMON, CAP_DAC_READ_SEARCH),
		"tracepoint:sched::sched_process_exit");
	set_paranoid(paranoid > 2 ? 2 : paranoid);
	if (paranoid > 2) {
		cr_expect_eq(c.status, 1);
		cr_expect(strstr(c.err, "[TRACEPOINT_DENIED]"), "%s", c.err);
		cr_expect(strstr(c.err, "kernel.perf_event_paranoid is 3"), "%s", c.err);
		cr_expect(strstr(c.err, "[PERF_PARANOID]"), "%s", c.err);
	} else {
		cli_expect(&c, 0, "n (count): 1\n", NULL);
	}
	cli_finish(&c);
}

Test(privileges, info_says_which_are_there)
{
	const struct cli_how how = {
		.program = program, .prepare = become_few, .arg = FEW(CAP_BPF, CAP_DAC_READ_SEARCH)};
	struct cli_run c;

	CLI_HOW(&c, &how, "info");
	cr_expect_eq(c.status, 0, "%s", c.err);
	cr_expect(strstr(c.out, "CAP_BPF                 have: loading programs"), "%s", c.out);
	cr_expect(strstr(c.out, "CAP_PERFMON             lack, nothing works without it: "), "%s",
		  c.out);
	cr_expect(strstr(c.out, "CAP_SYSLOG              lack: names of kernel functions"), "%s",
		  c.out);
	cr_expect(strstr(c.out, "tracepoint    CAP_DAC_READ_SEARCH     have: tracepoints"), "%s",
		  c.out);
	cli_finish(&c);
}

static void read_status(pid_t pid, const char *key, char *out, size_t size)
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	cr_assert_not_null(f);
	*out = '\0';
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			snprintf(out, size, "%s",
				 line + strlen(key) + strspn(line + strlen(key), "\t "));
	fclose(f);
	out[strcspn(out, "\n")] = '\0';
}

#define BIT(c) (1ull << (c))

Test(privileges, what_is_not_needed_is_given_up)
{
	const uint64_t kept = BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYSLOG) |
			      BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) |
			      BIT(CAP_CHECKPOINT_RESTORE);
	const char *set = cli_set("version: 1\n"
				  "probes:\n"
				  "  - probe: 'profile:::profile-97'\n"
				  "    do: [count: {into: n, by: {s: ustack(4)}}]\n");
	const char *const keys[] = {"CapEff:", "CapPrm:"};
	char text[64];
	struct cli_run c;

	cli_start(&c, NULL, (const char *const[]){"run", BUILT_IN, set, "-v", NULL});
	cli_wait_said(&c, "of all privileges");
	for (size_t i = 0; i < 2; i++) {
		read_status(c.pid, keys[i], text, sizeof(text));
		cr_expect_eq(strtoull(text, NULL, 16), kept, "%s %s", keys[i], text);
	}
	read_status(c.pid, "NoNewPrivs:", text, sizeof(text));
	cr_expect_str_eq(text, "1");
	read_status(c.pid, "Seccomp:", text, sizeof(text));
	cr_expect_str_eq(text, "2");
	kill(c.pid, SIGINT);
	cli_wait(&c);
	cr_expect(c.status == 0 || c.status == 3, "%s", c.err);
	cli_finish(&c);
}

Test(privileges, the_command_keeps_its_own)
{
	const char *set = cli_set("version: 1\n"
				  "probes:\n"
				  "  - probe: 'tracepoint:process::exit'\n"
				  "    do: [count: {into: n}]\n");
	char own[64], command[] = "sh -c 'grep -h -e CapEff -e NoNew -e Seccomp: /proc/self/status'";
	char expected[256];
	struct cli_run c;

	read_status(getpid(), "CapEff:", own, sizeof(own));
	snprintf(expected, sizeof(expected), "CapEff:\t%s\nNoNewPrivs:\t0\nSeccomp:\t0\n", own);
	CLI(&c, "run", BUILT_IN, set, "-c", command);
	cr_expect_eq(c.status, 0, "%s", c.err);
	cr_expect_eq(strncmp(c.out, expected, strlen(expected)), 0, "%s", c.out);
	cli_finish(&c);
}
