/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The tracer is killed while the kernel puts breakpoints into a program, and while it takes them
 * out: thousands of them, so that the moment can be seen in the program's memory. Each time all of
 * them go, and its static probe's counter is 0 again. Kernels abandon such work where a fatal
 * signal is pending (providers/support/shield.h).
 *
 * WEFT_LONG=1: 200 times each. Otherwise 5.
 */
#include <fcntl.h>
#include <sys/wait.h>

#include "kernel_objects.h"
#include "support.h"

#define ALL (CROWD_FUNCTIONS + CROWD_SITES)

static const char set_text[] =
	"version: 1\n"
	"probes:\n"
	"  - probe: ['uprobe:" CROWD ":many_*:entry', 'usdt:" CROWD ":crowd:site']\n"
	"    do: [count: {into: calls}]\n";

struct crowd {
	FILE *to, *from;
	pid_t pid;
	int memory;
	unsigned long code, length, counter;
	unsigned char *was, *is;
};

static void look(const struct crowd *v, void *out, size_t n, unsigned long at)
{
	cr_assert_eq(pread(v->memory, out, n, (off_t)at), (ssize_t)n, "it has ended");
}

/* How many bytes of its code are not what they were. */
static size_t changed(const struct crowd *v)
{
	size_t n = 0;

	look(v, v->is, v->length, v->code);
	for (size_t i = 0; i < v->length; i++)
		n += v->is[i] != v->was[i];
	return n;
}

static unsigned int counter(const struct crowd *v)
{
	uint16_t value;

	look(v, &value, sizeof(value), v->counter);
	return value;
}

static void crowd_start(struct crowd *v)
{
	int in[2], out[2];
	char path[64];

	cr_assert(!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC));
	v->pid = fork();
	cr_assert_geq(v->pid, 0);
	if (!v->pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(CROWD, CROWD, NULL);
		_exit(126);
	}
	close(in[0]);
	close(out[1]);
	v->to = fdopen(in[1], "w");
	v->from = fdopen(out[0], "r");
	cr_assert(v->to && v->from);
	cr_assert_eq(fscanf(v->from, "%lu %lu %lu", &v->code, &v->length, &v->counter), 3);
	snprintf(path, sizeof(path), "/proc/%d/mem", v->pid);
	v->memory = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_geq(v->memory, 0);
	v->was = malloc(v->length);
	v->is = malloc(v->length);
	cr_assert(v->was && v->is);
	look(v, v->was, v->length, v->code);
}

static void crowd_end(struct crowd *v)
{
	int status;

	fclose(v->to);
	cr_assert_eq(waitpid(v->pid, &status, 0), v->pid);
	cr_expect_eq(status, 0);
	fclose(v->from);
	close(v->memory);
	free(v->was);
	free(v->is);
}

static void assert_clean(const struct crowd *v, const char *when, int round)
{
	for (int i = 0; i < 3000 && (changed(v) || counter(v)); i++)
		usleep(10000);
	/* What stays would be there the next time, too. */
	cr_assert(!changed(v) && !counter(v),
		  "killed while it %s, time %d: %zu breakpoints stay, the counter is %u", when,
		  round, changed(v), counter(v));
}

/* So that its whole group can be killed, and nobody else. */
static void lead_a_group(void *arg)
{
	(void)arg;
	setpgid(0, 0);
}

static size_t wait_for_more(const struct crowd *v, size_t than)
{
	size_t n = 0;

	for (int i = 0; i < 60000 && n <= than; i++) {
		n = changed(v);
		usleep(n <= than ? 500 : 0);
	}
	cr_assert_gt(n, than, "it never attaches");
	return n;
}

static size_t wait_for_fewer(const struct crowd *v, size_t than)
{
	size_t n = than;

	for (int i = 0; i < 60000 && n >= than; i++) {
		n = changed(v);
		usleep(n >= than ? 500 : 0);
	}
	cr_assert_lt(n, than, "it never detaches");
	return n;
}

/* Whether it was seen with its work half done. */
static bool kill_once(const struct crowd *v, bool detaching, int round, const char *set)
{
	static const struct cli_how how = {.prepare = lead_a_group};
	const char *const args[] = {"run", BUILT_IN, set, NULL};
	struct cli_run c;
	size_t n;

	cli_start(&c, &how, args);
	if (detaching) {
		wait_for_more(v, ALL - 1);
		kill(c.pid, SIGINT);
		n = wait_for_fewer(v, ALL);
	} else {
		n = wait_for_more(v, 0);
	}
	kill(round % 2 ? -c.pid : c.pid, SIGKILL);
	cli_wait(&c);
	cr_expect(c.status == 128 + SIGKILL || c.status == 0, "%d: %s", c.status, c.err);
	cli_finish(&c);
	assert_clean(v, detaching ? "detaches" : "attaches", round);
	return n && n < ALL;
}

/* One after the other: what is traced is the file, for everybody who runs it. */
Test(trust_killed_amid, attaching_and_detaching, .timeout = 4000)
{
	const bool is_long = getenv("WEFT_LONG") && strcmp(getenv("WEFT_LONG"), "0") != 0;
	const int times = is_long ? 200 : 5;
	const char *set = cli_set(set_text);
	int amid[2] = {0};
	struct kernel_objects before;
	struct crowd v;

	kernel_objects_read(&before);
	crowd_start(&v);
	for (int i = 0; i < times; i++) {
		amid[0] += kill_once(&v, false, i, set);
		amid[1] += kill_once(&v, true, i, set);
	}
	crowd_end(&v);
	kernel_objects_expect_gone(&before);
	cli_unlink_sets();
	fprintf(stderr, "killed %d times each, half done: attaching %d, detaching %d\n", times,
		amid[0], amid[1]);
	cr_expect_gt(amid[0], 0);
	cr_expect_gt(amid[1], 0);
}
