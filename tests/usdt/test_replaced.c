/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A library is replaced on disk, and one process has had both: its path leads to the new one. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "harness.h"

#define TIMES 50

static char folder[64], path[96], new_path[96];
static void *old;

static void copy(const char *to)
{
	int in = open(USDT_LOADED, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	struct stat st;

	cr_assert(in >= 0 && out >= 0 && !fstat(in, &st));
	cr_assert_eq(sendfile(out, in, NULL, (size_t)st.st_size), st.st_size);
	close(in);
	close(out);
}

static void setup(void)
{
	strcpy(folder, "/tmp/weft-replaced-XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/libreplaced.so", folder);
	snprintf(new_path, sizeof(new_path), "%s/new", folder);
	copy(path);
	copy(new_path);
	old = dlopen(path, RTLD_NOW); /* workers have it, too */
	cr_assert_not_null(old);
}

static void teardown(void)
{
	dlclose(old);
	cr_expect(!unlink(path) && !rmdir(folder));
}

TestSuite(usdt_replaced, .init = setup, .fini = teardown);

static volatile sig_atomic_t heard;

static void hear(int signal)
{
	(void)signal;
	heard++;
}

/* Waits until the tracer answers to each of the two sites, and then passes them. */
static void pass(void *library)
{
	void (*lib_pass)(int, int) = NULL;

	if (library)
		*(void **)&lib_pass = dlsym(library, "lib_pass");
	if (!lib_pass)
		_exit(1);
	heard = 0;
	for (int i = 0; heard < 2; i++) {
		if (i == 30000)
			_exit(2);
		heard = 0;
		lib_pass(-1, 0);
		usleep(1000);
	}
	lib_pass(0, TIMES);
}

/* arg: the old one is in its place until it was passed. */
static void pass_old_and_new(void *arg)
{
	signal(SIGUSR1, hear);
	pass(old);
	if (arg && rename(new_path, path))
		_exit(3);
	dlclose(old); /* which the same name would mean */
	pass(dlopen(path, RTLD_NOW));
}

static void expect_both(void *while_traced)
{
	const struct cap_table *t;
	struct worker w;
	struct rig r;

	worker_fork(&w, pass_old_and_new, while_traced);
	rig_init(&r);
	r.destructive = true;
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "providers: {usdt: {stash: 'off'}}\n"
		  "probes:\n"
		  "  - probe: 'usdt:%s:lib:*'\n"
		  "    when: arg0 < 0\n"
		  "    do: [signal: USR1]\n"
		  "  - probe: 'usdt:%s:lib:*'\n"
		  "    when: arg0 >= 0\n"
		  "    do: [{count: {into: n, by: {name: probename}}}]\n",
		  w.pid, path, path);
	t = cap_last_table(&r.cap, "n");
	cr_assert_not_null(t);
	cr_expect_eq(t->n_rows, 2);
	for (size_t i = 0; i < t->n_rows; i++)
		cr_expect_eq(t->rows[i].count, 2 * TIMES);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(usdt_replaced, before_tracing)
{
	cr_assert_eq(rename(new_path, path), 0);
	expect_both(NULL);
}

Test(usdt_replaced, while_traced)
{
	expect_both(path);
}
