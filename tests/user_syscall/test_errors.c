/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a kernel, a limit or a core can refuse the provider: each is said by its tag, and nothing is
 * left behind. The provider is called by its own functions, without a session.
 */
#include <bpf/libbpf.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../providers/support/bpf.h"
#include "support/test_bpf.h"
#include "support/test_host.h"
#include "user_syscall.h"
#include "weft/user.h"

#define ME "test-user-syscall-errors"

extern const struct weft_provider weft_provider_plugin;

static const struct weft_load_class tracepoint = {.struct_size = sizeof(tracepoint),
						  .prog_type = BPF_PROG_TYPE_TRACEPOINT};
static const struct weft_load_class raw = {.struct_size = sizeof(raw),
					   .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT};

/* The kernel's offsets, found while there are descriptors to be had. */
static uint32_t found[4];
static int cached_members(const struct weft_host *host, const char *const *paths, size_t n,
			  uint32_t *offsets, struct weft_error *err)
{
	(void)host;
	(void)paths;
	(void)err;
	cr_assert_leq(n, 4);
	memcpy(offsets, found, n * sizeof(*offsets));
	return 0;
}

static void start_with(struct test_host *h, const char *const *options)
{
	static const char *const paths[] = {"task_struct.tgid", "task_struct.pid",
					    "task_struct.signal", "signal_struct.live"};

	test_host_start(h, &weft_provider_plugin, options);
	test_host_target(h, getpid());
	cr_assert_eq(h->host.kernel_members(&h->host, paths, 4, found, h->err), 0);
	h->host.kernel_members = cached_members;
}

static void start(struct test_host *h)
{
	start_with(h, NULL);
}

/* A probe of this very process. */
static weft_probe *own;
static const struct weft_probe *declared(struct test_host *h)
{
	const struct weft_probe *p;
	struct weft_probe_info info;
	int error;

	own = weft_probe_declare("errors", "p", "uint64 v", &error);
	cr_assert_eq(error, 0);
	cr_assert_eq(weft_provider_plugin.populate(h->instance, h->registry, h->err), 0);
	p = test_host_probe(h, ME, "errors", "p");
	cr_assert_not_null(p, "%s", weft_error_text(h->err));
	test_host_info(h, p, &info); /* makes the map of identities, which is close()'s to remove */
	return p;
}

static void limit_descriptors(rlim_t n)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = n;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static int lowest_free(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

Test(user_syscall_errors, USER_SYSCALL_DESCRIPTORS)
{
	struct weft_instance *in = NULL;
	char before[8192], after[8192];
	struct test_host h = {0};

	start(&h); /* makes what open() is given */
	test_descriptors(before, sizeof(before));
	for (int more = 0; more < 5; more++) {
		limit_descriptors((rlim_t)(lowest_free() + more));
		cr_expect_eq(weft_provider_plugin.open(&h.host, h.params, &in, h.err), -EMFILE);
		cr_expect_null(in);
		limit_descriptors(1024);
		cr_expect_str_eq(test_host_tag(&h), "USER_SYSCALL_DESCRIPTORS", "%d", more);
	}
	test_descriptors(after, sizeof(after));
	cr_expect_str_eq(before, after);
	cr_expect_eq(weft_provider_plugin.open(&h.host, h.params, &in, h.err), 0);
	weft_provider_plugin.close(in);
	test_host_stop(&h);
}

/* Whatever it is that cannot be had for want of a descriptor: it is said, and nothing is left. The
 * way of the tracepoint needs one more for a while, so that all that comes after it has enough. */
static void for_want_of_descriptors(const struct weft_load_class *class, const char *tag)
{
	const char *const options[] = {"mechanism", class == &raw ? "raw" : "tracepoint", NULL};
	char before[8192], after[8192];
	const struct weft_probe *p;
	struct test_host h = {0};
	struct test_attached at;
	int prog, seen = 0, more = 0, ret = -1;

	start_with(&h, options);
	p = declared(&h);
	prog = test_prog_empty(class);
	test_descriptors(before, sizeof(before));
	for (; ret && more < 64; more++) {
		limit_descriptors((rlim_t)(lowest_free() + more));
		ret = test_host_attach(&h, p, prog, 0, &at);
		limit_descriptors(1024);
		if (!ret)
			break;
		const char *said = test_host_tag(&h);
		seen += !strcmp(said, tag);
		cr_expect(!strcmp(said, "USER_SYSCALL_ATTACH") ||
				  !strcmp(said, "USER_SYSCALL_EVENTS"),
			  "%d: %s", more, said);
		test_descriptors(after, sizeof(after));
		cr_expect_str_eq(before, after, "%d: %s", more, after);
		cr_expect_not(weft_probe_enabled(own), "%llx",
			      (unsigned long long)*(uint64_t *)(void *)own);
	}
	cr_expect_eq(ret, 0);
	cr_expect_gt(seen, 0, "it never came");
	cr_expect(weft_probe_enabled(own));
	test_host_detach(&h, &at);
	cr_expect_not(weft_probe_enabled(own), "%llx", (unsigned long long)*(uint64_t *)(void *)own);
	close(prog);
	test_host_stop(&h);
}

Test(user_syscall_errors, USER_SYSCALL_EVENTS)
{
	for_want_of_descriptors(&raw, "USER_SYSCALL_EVENTS");
}

Test(user_syscall_errors, USER_SYSCALL_ATTACH)
{
	for_want_of_descriptors(&tracepoint, "USER_SYSCALL_ATTACH");
}

/* Without privileges; why is said in words. */
static int attach_as_nobody(void)
{
	const struct weft_probe *p;
	struct test_host h = {0};
	struct test_attached at;
	int prog;

	start(&h);
	p = declared(&h);
	prog = test_prog_empty(&tracepoint);
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		return 2;
	if (!test_host_attach(&h, p, prog, 0, &at))
		return 3;
	if (!strstr(weft_error_text(h.err), "CAP_BPF"))
		return 4;
	if (strcmp(test_host_tag(&h), "USER_SYSCALL_ATTACH"))
		return 5;
	close(prog);
	test_host_stop(&h);
	return 0;
}

Test(user_syscall_errors, USER_SYSCALL_ATTACH_without_privileges)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(attach_as_nobody());
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0, "%d", WEXITSTATUS(status));
}

/* A program that does not fit beside the provider's own. */
Test(user_syscall_errors, USER_SYSCALL_PROGRAM)
{
	char before[8192], after[8192];
	const struct weft_probe *p;
	struct test_host h = {0};
	struct test_attached at;
	int prog;

	start(&h);
	p = declared(&h);
	prog = test_prog_empty(&raw);
	/* The first one drops what populate() has found. */
	cr_expect_neq(test_host_attach(&h, p, prog, 0, &at), 0);
	cr_expect_str_eq(test_host_tag(&h), "USER_SYSCALL_PROGRAM");
	test_descriptors(before, sizeof(before));
	cr_expect_neq(test_host_attach(&h, p, prog, 0, &at), 0);
	cr_expect_str_eq(test_host_tag(&h), "USER_SYSCALL_PROGRAM");
	cr_expect_not(weft_probe_enabled(own), "%llx", (unsigned long long)*(uint64_t *)(void *)own);
	test_descriptors(after, sizeof(after));
	cr_expect_str_eq(before, after);
	close(prog);
	test_host_stop(&h);
}

Test(user_syscall_errors, USER_SYSCALL_TWICE)
{
	const struct weft_probe *p;
	struct test_host h = {0};
	struct test_attached at, again;
	int prog;

	start(&h);
	p = declared(&h);
	prog = test_prog_empty(&tracepoint);
	cr_assert_eq(test_host_attach(&h, p, prog, 0, &at), 0, "%s", weft_error_text(h.err));
	cr_expect_eq(test_host_attach(&h, p, prog, 2, &again), -EEXIST);
	cr_expect_eq(again.status, -EEXIST);
	cr_expect_str_eq(test_host_tag(&h), "USER_SYSCALL_TWICE");
	cr_expect(weft_probe_enabled(own), "the first one goes on");
	test_host_detach(&h, &at);
	cr_expect_not(weft_probe_enabled(own), "%llx", (unsigned long long)*(uint64_t *)(void *)own);
	close(prog);
	test_host_stop(&h);
}

/* ---- children that fire before anyone could look at them ---- */

/* What is known of a process, as if it had been looked at for the first time just now. */
static void forget_tables(struct weft_instance *in, uint32_t tgid)
{
	const struct us_proc nothing = {.news = US_NEWS_LOOKING};

	cr_assert_eq(support_map_update(in->kernel.maps[US_PROCS], &tgid, &nothing), 0);
}

static char lost_tag[64];
static uint64_t n_lost;
static void keep_loss(const struct weft_host *host, const char *tag, uint64_t n, const char *detail)
{
	(void)host;
	(void)detail;
	snprintf(lost_tag, sizeof(lost_tag), "%s", tag);
	n_lost += n;
}

#define CHILDREN 20
#define FIRINGS  10

static int *shared;

static int wait_for(int i, int n)
{
	for (int k = 0; k < 10000 && __atomic_load_n(&shared[i], __ATOMIC_SEQ_CST) < n; k++)
		usleep(1000);
	return __atomic_load_n(&shared[i], __ATOMIC_SEQ_CST) >= n;
}

/* 0: how many are ready; 1: the probe is enabled; 2: how many have fired; 3: they may end, or fire. */
static void many_children(void)
{
	weft_probe *p;

	alarm(30);
	p = weft_probe_declare("errors", "early", "uint64 v", NULL);
	__atomic_add_fetch(&shared[0], 1, __ATOMIC_SEQ_CST);
	if (!wait_for(1, 1))
		_exit(2);
	/* The session's core has no time for events now. */
	for (int i = 0; i < CHILDREN; i++) {
		if (fork())
			continue;
		for (int k = 0; k < FIRINGS; k++)
			weft_probe_fire(p, 1, 0, 0, 0, 0);
		__atomic_add_fetch(&shared[2], 1, __ATOMIC_SEQ_CST);
		/* Some end before they are known, others go on. */
		if (i % 2)
			_exit(0);
		if (!wait_for(3, 1))
			_exit(3);
		for (int k = 0; k < FIRINGS; k++)
			weft_probe_fire(p, 1, 0, 0, 0, 0);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	_exit(0);
}

static void discover(struct test_host *h)
{
	for (int i = 0; i < 5; i++) {
		cr_expect_eq(weft_provider_plugin.discover(h->instance, h->registry, h->err), 0);
		usleep(20000);
	}
}

/*
 * The element of the parent is made to say that it is being looked at, as it does while a look
 * takes its time: its children are not known then, though what they fire is enabled.
 */
Test(user_syscall_errors, USER_SYSCALL_EARLY)
{
	const struct weft_probe *p;
	struct test_host h = {0};
	struct test_words words;
	struct test_attached at;
	uint64_t counted;
	int prog, status;
	pid_t pid;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(shared, MAP_FAILED);
	start(&h);
	h.target.n_pids = 0;
	h.host.loss = keep_loss;
	pid = fork();
	if (!pid)
		many_children();
	cr_assert(wait_for(0, 1));
	cr_assert_eq(weft_provider_plugin.populate(h.instance, h.registry, h.err), 0);
	p = test_host_probe(&h, ME, "errors", "early");
	cr_assert_not_null(p);
	test_words_init(&words, (size_t)libbpf_num_possible_cpus() + 1);
	prog = test_prog_count(&tracepoint, &words);
	cr_assert_eq(test_host_attach(&h, p, prog, 0, &at), 0, "%s", weft_error_text(h.err));
	forget_tables(h.instance, (uint32_t)pid);
	__atomic_add_fetch(&shared[1], 1, __ATOMIC_SEQ_CST);
	cr_assert(wait_for(2, CHILDREN));
	usleep(50000); /* half of them have ended */
	discover(&h);
	__atomic_add_fetch(&shared[3], 1, __ATOMIC_SEQ_CST);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0);
	discover(&h);
	counted = test_words_sum(&words);
	test_host_detach(&h, &at);
	cr_expect_eq(counted, CHILDREN / 2 * FIRINGS);
	cr_expect_eq(n_lost, CHILDREN * FIRINGS, "%llu", (unsigned long long)n_lost);
	cr_expect_str_eq(lost_tag, "USER_SYSCALL_EARLY");
	close(prog);
	test_words_finish(&words);
	test_host_stop(&h);
}

/* ---- nobody keeps the tracer from its other work ---- */

/* Who announces all the time is looked at, but a call of discover() comes to its end. */
Test(user_syscall_errors, endless_announcements)
{
	const struct weft_probe *p;
	struct test_host h = {0};
	struct test_attached at;
	pid_t pids[3];
	int prog, status;

	start(&h);
	h.target.n_pids = 0;
	p = declared(&h);
	prog = test_prog_empty(&tracepoint);
	cr_assert_eq(test_host_attach(&h, p, prog, 0, &at), 0, "%s", weft_error_text(h.err));
	for (int i = 0; i < 3; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			weft_probe_declare("errors", "child", "", NULL);
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				syscall(SYS_getpid, 0x77656674ffffffffUL, 0, 0, 0, 0, 0);
		}
	}
	for (int i = 0; i < 200; i++) {
		struct pollfd fd = {.fd = weft_provider_plugin.discover_fd(h.instance),
				    .events = POLLIN};

		alarm(20); /* the test fails if one does not come back */
		poll(&fd, 1, 100);
		cr_expect_eq(weft_provider_plugin.discover(h.instance, h.registry, h.err), 0);
	}
	alarm(0);
	cr_expect_not_null(test_host_probe(&h, ME, "errors", "child"));
	for (int i = 0; i < 3; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], &status, 0);
	}
	test_host_detach(&h, &at);
	close(prog);
	test_host_stop(&h);
}
