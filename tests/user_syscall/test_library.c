/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The library by itself: what it declares, where, and what it leaves alone. Each test is a process. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "layout.h"
#include "weft/user.h"

/* The table, found as a tracer finds it; NULL: there is none. */
static const struct weft_probe_table *table(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned long start = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (strstr(line, "/memfd:weft:probes"))
			start = strtoul(line, NULL, 16);
	}
	if (f)
		fclose(f);
	return (const struct weft_probe_table *)start;
}

static const struct weft_table_decl *decl(uint32_t i)
{
	const struct weft_probe_table *t = table();
	const char *p = (const char *)t + t->decls;

	while (i--)
		p += ((const struct weft_table_decl *)p)->size;
	return (const void *)p;
}

static uint64_t *word_of(weft_probe *p)
{
	return (void *)p;
}

Test(user_library, nothing_is_made_before_it_is_needed)
{
	cr_expect_null(table());
	weft_user_sandbox(WEFT_SANDBOX_ASK);
	cr_expect_null(table());
}

Test(user_library, what_a_tracer_sees)
{
	int error = 1;
	weft_probe *a = weft_probe_declare("jit", "compiled", "string name, uint64 bytes", &error);

	cr_assert_eq(error, 0, "%s", strerror(-error));
	weft_probe *b = weft_probe_declare("jit", "bare", NULL, &error);
	cr_assert_eq(error, 0);
	const struct weft_probe_table *t = table();
	cr_assert_not_null(t);
	cr_expect_arr_eq(t->magic, "weftprob", 8);
	cr_expect_eq(t->version, 1);
	cr_expect_eq(t->count, 2);
	cr_expect_lt(t->number, WEFT_TABLE_NUMBERS);
	cr_expect_eq((char *)word_of(a), (char *)t + t->words);
	cr_expect_eq(word_of(b), word_of(a) + 1);
	cr_expect_eq(*word_of(a), 0);
	cr_expect_not(weft_probe_enabled(a));
	cr_expect(WEFT_DECL_LIVE(decl(0)->state));
	cr_expect_arr_eq(decl(0)->text, "jit\0compiled\0string name, uint64 bytes", 39);
	cr_expect_arr_eq(decl(1)->text, "jit\0bare\0", 10);
	cr_expect_eq(weft_probe_word(a), 0x77656674ULL << 32 | (uint64_t)t->number << 20);
	cr_expect_eq(weft_probe_word(b), weft_probe_word(a) + 1);
	weft_probe_undeclare(a);
	cr_expect_not(WEFT_DECL_LIVE(decl(0)->state));
	cr_expect_eq(weft_probe_declare("jit", "compiled", "string name, uint64 bytes", &error), a);
	cr_expect(WEFT_DECL_LIVE(decl(0)->state));
	cr_expect_eq(t->count, 2);
}

Test(user_library, one_name_is_one_probe)
{
	int error;
	weft_probe *a = weft_probe_declare("p", "n", "int32 x", &error);

	cr_expect_eq(weft_probe_declare("p", "n", "int32 x", &error), a);
	cr_expect_eq(error, 0);
	weft_probe *other = weft_probe_declare("p", "n", "int64 x", &error);
	cr_expect_eq(error, -EEXIST);
	cr_expect_not(weft_probe_enabled(other));
	cr_expect_eq(weft_probe_word(other), 0);
	weft_probe_fire(other, 1, 2, 3, 4, 5);
	weft_probe_undeclare(a);
	other = weft_probe_declare("p", "n", "int64 x", &error);
	cr_expect_eq(error, 0);
	cr_expect_neq(other, a);
	weft_probe_declare("p", "n", "int32 x", &error);
	cr_expect_eq(error, -EEXIST);
}

Test(user_library, bad_declarations)
{
	static const char *const args[] = {"int32",   "int32 a,",  "int33 a",   "int32 1a",
					   "int32  ", "float f",   "double d",  "int32 a int32 b",
					   ",",       "int32 a;b", "int32 a, ", "struct x y"};
	char name[200];
	int error;

	for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++) {
		weft_probe_declare("p", "n", args[i], &error);
		cr_expect_eq(error, -EINVAL, "'%s'", args[i]);
	}
	memset(name, 'x', sizeof(name));
	name[128] = '\0';
	weft_probe_declare(name, "n", "", &error);
	cr_expect_eq(error, -EINVAL);
	weft_probe_declare("p", "", "", &error);
	cr_expect_eq(error, -EINVAL);
	weft_probe_declare(NULL, "n", "", &error);
	cr_expect_eq(error, -EINVAL);
	name[127] = '\0';
	weft_probe_declare(name, "n", " int8  a ,bytes b ", &error);
	cr_expect_eq(error, 0);
}

Test(user_library, thousands_of_them)
{
	static weft_probe *probes[20000];
	char name[32];
	int error = 0, n;

	for (n = 0; n < 20000; n++) {
		snprintf(name, sizeof(name), "probe_%d", n);
		probes[n] = weft_probe_declare("many", name, "uint64 v", &error);
		if (error)
			break;
	}
	cr_expect_eq(error, -ENOSPC);
	cr_expect_eq(n, (int)table()->capacity);
	cr_expect_geq(n, 16000);
	for (int i = 0; i < n; i += 97) {
		snprintf(name, sizeof(name), "probe_%d", i);
		cr_expect_eq(weft_probe_declare("many", name, "uint64 v", &error), probes[i]);
	}
	cr_expect_str_eq(decl((uint32_t)n - 1)->text + 5, "probe_16383");
}

static void *declare_some(void *arg)
{
	char name[32];

	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "n%d", i % 2 ? i : i + 1000 * (int)(intptr_t)arg);
		weft_probe_declare("threads", name, "uint64 v", NULL);
	}
	return NULL;
}

Test(user_library, threads)
{
	pthread_t threads[8];

	for (intptr_t i = 0; i < 8; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, declare_some, (void *)(i + 1)), 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	/* Of each the even ones are its own, the odd ones everybody's. */
	cr_expect_eq(table()->count, 8 * 250 + 250);
}

Test(user_library, errno_is_left_alone)
{
	weft_probe *p;

	errno = 77;
	p = weft_probe_declare("p", "n", "", NULL);
	weft_probe_declare("", "n", "", NULL);
	*word_of(p) = 1;
	weft_probe_fire(p, 1, 2, 3, 4, 5);
	weft_probe_undeclare(p);
	cr_expect_eq(errno, 77);
}

/* A file beyond the limit is answered with a signal that ends the program. */
Test(user_library, limit_of_files)
{
	struct rlimit limit = {.rlim_cur = 100000, .rlim_max = 100000};
	int error;

	setrlimit(RLIMIT_FSIZE, &limit);
	weft_probe_declare("p", "n", "", &error);
	cr_expect_eq(error, 0);
	cr_expect_leq(table()->capacity, 256);
	for (uint32_t i = 0; i < 500 && !error; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%u", i);
		weft_probe_declare("p", name, "", &error);
	}
	cr_expect_eq(error, -ENOSPC);
}

Test(user_library, no_room_for_any_file)
{
	struct rlimit limit = {.rlim_cur = 1000, .rlim_max = 1000};
	int error;
	weft_probe *p;

	setrlimit(RLIMIT_FSIZE, &limit);
	p = weft_probe_declare("p", "n", "", &error);
	cr_expect_eq(error, -ENOSPC);
	WEFT_FIRE(p, 1, 2);
	weft_probe_undeclare(p);
}

static int evaluated;
static int count_up(void)
{
	return ++evaluated;
}

Test(user_library, arguments_of_the_macro)
{
	weft_probe *p = weft_probe_declare("p", "n", "int32 a, int32 b", NULL);

	WEFT_FIRE(p, count_up(), 2);
	cr_expect_eq(evaluated, 0, "nobody traces it");
	*word_of(p) = 1;
	((struct weft_table_slot *)((char *)table() + WEFT_TABLE_SLOTS_AT))[0].beat = 1;
	WEFT_FIRE(p);
	WEFT_FIRE(p, count_up());
	WEFT_FIRE(p, "x", count_up(), 3, 4, 5);
	cr_expect_eq(evaluated, 2);
	cr_expect_eq(*word_of(p), 1, "the tracer lives");
}

/* A beat that was never seen to change is the beat of nobody. */
Test(user_library, a_byte_without_a_beat)
{
	weft_probe *p = weft_probe_declare("p", "n", "", NULL);

	*word_of(p) = 0x0100;
	weft_probe_fire(p, 0, 0, 0, 0, 0);
	cr_expect_eq(*word_of(p), 0);
	cr_expect_eq(((struct weft_table_slot *)((char *)table() + WEFT_TABLE_SLOTS_AT))[1].expired,
		     1);
}

/* ---- fork ---- */

static ino_t inode_of_table(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long inode = 0;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "/memfd:weft:probes"))
			sscanf(line, "%*s %*s %*s %*s %lu", &inode);
	if (f)
		fclose(f);
	return inode;
}

static void in_child(int (*fn)(weft_probe *), weft_probe *p)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(fn(p));
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && !WEXITSTATUS(status), "step %d of the child failed (0x%x)",
		  WEXITSTATUS(status), status);
}

static ino_t parents;

static int child_shares(weft_probe *p)
{
	if (inode_of_table() != parents || *word_of(p) != 1)
		return 1;
	*word_of(p) = 3;
	return 0;
}

static int child_declares(weft_probe *p)
{
	int error;
	uint64_t word = weft_probe_word(p);
	weft_probe *b = weft_probe_declare("fork", "b", "", &error);

	if (error)
		return 1;
	if (inode_of_table() == parents || table()->count != 2)
		return 2;
	if (*word_of(p) != 3 || weft_probe_word(p) != word)
		return 3; /* what was enabled goes on */
	*word_of(p) = 0;
	if (weft_probe_word(b) != word + 1 || *word_of(b))
		return 4;
	if (weft_probe_declare("fork", "a", "", &error) != p)
		return 5;
	return 0;
}

Test(user_library, children)
{
	weft_probe *p = weft_probe_declare("fork", "a", "", NULL);

	parents = inode_of_table();
	*word_of(p) = 1;
	in_child(child_shares, p);
	cr_expect_eq(*word_of(p), 3, "one memory");
	in_child(child_declares, p);
	cr_expect_eq(*word_of(p), 3, "the child's own is its own");
	cr_expect_eq(table()->count, 1);
	in_child(child_declares, p);
}

/* The lock that another thread holds as a process forks is free in the child. */
static volatile int stop;
static void *declare_for_ever(void *arg)
{
	char name[32];

	(void)arg;
	for (int i = 0; !stop; i++) {
		snprintf(name, sizeof(name), "n%d", i % 1000);
		weft_probe_undeclare(weft_probe_declare("busy", name, "", NULL));
	}
	return NULL;
}

static int child_of_busy(weft_probe *p)
{
	int error;

	(void)p;
	alarm(5);
	weft_probe_declare("child", "c", "", &error);
	return error != 0;
}

Test(user_library, fork_while_others_declare)
{
	weft_probe *p = weft_probe_declare("fork", "a", "", NULL);
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, declare_for_ever, NULL);
	for (int i = 0; i < 200; i++)
		in_child(child_of_busy, p);
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* ---- before main, in handlers ---- */

/* The program is run again by its test, and does not come as far as main. */
__attribute__((constructor(101))) static void before_main(void)
{
	int error;
	weft_probe *p;

	if (!getenv("WEFT_TEST_EARLY"))
		return;
	p = weft_probe_declare("early", "bird", "", &error);
	_exit(error || !weft_probe_word(p) || table()->count != 1);
}

Test(user_library, before_main)
{
	cr_expect_eq(system("WEFT_TEST_EARLY=1 /proc/$PPID/exe"), 0);
}

static weft_probe *in_handler;
static volatile int handled;
static void handler(int sig)
{
	(void)sig;
	WEFT_FIRE(in_handler, 1, 2);
	handled++;
}

Test(user_library, in_a_signal_handler)
{
	in_handler = weft_probe_declare("p", "n", "", NULL);
	((struct weft_table_slot *)((char *)table() + WEFT_TABLE_SLOTS_AT))[0].beat = 1;
	*word_of(in_handler) = 1;
	signal(SIGUSR1, handler);
	for (int i = 0; i < 100; i++)
		raise(SIGUSR1);
	cr_expect_eq(handled, 100);
}
