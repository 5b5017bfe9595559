/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* CPUs that go and come back. The last CPU is taken offline for a moment, and always brought back. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test_spin.h"
#include "test_profile.h"

#define S UINT64_C(1000000000)

struct counting {
	struct test_host h;
	struct test_words words;
	const struct weft_probe *probe;
	int prog;
	struct test_attached at;
};

static void prepare(struct counting *c, const char *name)
{
	struct weft_probe_info info;

	memset(c, 0, sizeof(*c));
	test_host_start(&c->h, &weft_provider_plugin, NULL);
	c->probe = test_host_probe(&c->h, "", "", name);
	cr_assert_not_null(c->probe);
	test_host_info(&c->h, c->probe, &info);
	test_words_init(&c->words, (size_t)sysconf(_SC_NPROCESSORS_CONF) + 1);
	c->prog = test_prog_count(&info.load, &c->words);
	cr_assert_geq(c->prog, 0);
}

static void finish(struct counting *c)
{
	close(c->prog);
	test_words_finish(&c->words);
	test_host_stop(&c->h);
}

/* ---- taking a CPU away ---- */

static char switch_path[96];
static int victim = -1;
static pid_t keeper = -1;

static int set_online(const char *value)
{
	int fd = open(switch_path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int ret = write(fd, value, 1) == 1 ? 0 : -errno;
	close(fd);
	return ret;
}

/* A process that outlives this one and brings the CPU back, however this one ends. */
static void keep(void)
{
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	keeper = fork();
	cr_assert_geq(keeper, 0);
	if (keeper == 0) {
		char c;
		setsid();
		for (int sig = 1; sig < 32; sig++)
			signal(sig, SIG_IGN);
		close(ends[1]);
		while (read(ends[0], &c, 1) < 0 && errno == EINTR)
			;
		set_online("1");
		_exit(0);
	}
	close(ends[0]); /* ends[1] closes when this process ends */
}

/* The CPU to take away, the last; -1 if this machine lets none go. */
static int find_victim(void)
{
	struct support_cpus online;
	int last = 0;

	cr_assert_eq(support_cpus_online(&online), 0);
	for (int cpu = support_cpus_next(&online, 1); cpu >= 0;
	     cpu = support_cpus_next(&online, cpu + 1))
		last = cpu;
	snprintf(switch_path, sizeof(switch_path), "/sys/devices/system/cpu/cpu%d/online", last);
	return last && !access(switch_path, W_OK) ? last : -1;
}

static void go(const char *value)
{
	int ret = set_online(value);

	cr_assert_eq(ret, 0, "CPU %d to %s: %s", victim, value, strerror(-ret));
}

/* Lets the provider see what the kernel announced. */
static void discover(struct counting *c, int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	cr_assert_eq(poll(&p, 1, 5000), 1, "the kernel announced nothing");
	cr_assert_eq(weft_provider_plugin.discover(c->h.instance, c->h.registry, c->h.err), 0, "%s",
		     weft_error_text(c->h.err));
}

static void restore(void)
{
	if (victim > 0)
		set_online("1");
}

static uint64_t fired_on(struct counting *c, int cpu)
{
	uint64_t before = c->words.word[cpu];
	pid_t spin = test_spin_start(cpu);

	usleep(300000);
	test_spin_stop(spin);
	return c->words.word[cpu] - before;
}

Test(profile_hotplug, an_event_returns_with_its_cpu, .fini = restore)
{
	struct counting c;

	victim = find_victim();
	if (victim < 0) {
		cr_log_warn("no CPU of this machine can be taken offline; see the other tests");
		return;
	}
	keep();
	prepare(&c, "profile-97");
	cr_assert_eq(test_host_attach(&c.h, c.probe, c.prog, 1, &c.at), 0);
	int fd = weft_provider_plugin.discover_fd(c.h.instance);
	cr_assert_geq(fd, 0);
	cr_expect_eq(weft_provider_plugin.discover_fd(c.h.instance), fd, "asked twice");
	cr_expect_gt(fired_on(&c, victim), 0);
	size_t all = c.at.attachment->n_events;

	go("0");
	discover(&c, fd);
	cr_expect_eq(c.at.attachment->n_events, all - 1, "the event of a CPU that went is dropped");
	go("1");
	discover(&c, fd);
	cr_expect_eq(c.at.attachment->n_events, all);
	cr_expect_gt(fired_on(&c, victim), 0, "and fires again");

	/* Away and back between two looks. */
	go("0");
	go("1");
	discover(&c, fd);
	cr_expect_eq(c.at.attachment->n_events, all);
	cr_expect_gt(fired_on(&c, victim), 0);
	cr_expect_eq(c.h.n_log, 0, "%s", c.h.log[0].text);

	test_host_detach(&c.h, &c.at);
	finish(&c);
}

Test(profile_hotplug, a_tick_moves_when_its_cpu_goes, .fini = restore)
{
	struct counting c;

	victim = find_victim();
	if (victim < 0) {
		cr_log_warn("no CPU of this machine can be taken offline; see the other tests");
		return;
	}
	keep();
	test_pin(victim);
	prepare(&c, "tick-100");
	cr_assert_eq(test_host_attach(&c.h, c.probe, c.prog, 1, &c.at), 0);
	int fd = weft_provider_plugin.discover_fd(c.h.instance);
	cr_assert_geq(fd, 0);
	cr_assert_eq(c.at.attachment->n_events, 1);
	cr_expect_eq(c.at.attachment->events[0].cpu, victim, "where the tracer runs");

	go("0");
	discover(&c, fd);
	cr_assert_eq(c.at.attachment->n_events, 1);
	int now = c.at.attachment->events[0].cpu;
	cr_expect_neq(now, victim);
	cr_expect_gt(fired_on(&c, now), 0);
	go("1");
	discover(&c, fd);
	cr_assert_eq(c.at.attachment->n_events, 1);
	cr_expect_eq(c.at.attachment->events[0].cpu, now, "it stays");
	test_host_detach(&c.h, &c.at);
	finish(&c);
}

/* ---- the same without touching a CPU ---- */

Test(profile_hotplug, follows_what_it_is_told)
{
	struct support_cpus online, fewer, none = {{0}};
	struct counting c;

	cr_assert_eq(support_cpus_online(&online), 0);
	uint32_t n = support_cpus_count(&online);
	int first = support_cpus_next(&online, 0);
	fewer = online;
	support_cpus_remove(&fewer, (uint32_t)first);

	prepare(&c, "profile-97");
	cr_assert_eq(test_host_attach(&c.h, c.probe, c.prog, 1, &c.at), 0);
	cr_assert_eq(c.at.attachment->n_events, n);
	weft_profile_follow(c.h.instance, c.at.attachment, &none, &fewer);
	cr_expect_eq(c.at.attachment->n_events, n - 1);
	weft_profile_follow(c.h.instance, c.at.attachment, &none, &online);
	cr_expect_eq(c.at.attachment->n_events, n);
	cr_expect_gt(fired_on(&c, first), 0);
	int hold = c.at.attachment->events[0].hold;
	weft_profile_follow(c.h.instance, c.at.attachment, &none, &online);
	cr_expect_eq(c.at.attachment->events[0].hold, hold, "nothing to do, nothing done");
	weft_profile_follow(c.h.instance, c.at.attachment, &online, &online);
	cr_expect_eq(c.at.attachment->n_events, n, "all were away");
	cr_expect_gt(fired_on(&c, first), 0);

	/* A CPU that is said to be online and is not: said, and no reason to stop. */
	uint32_t absent = SUPPORT_MAX_CPUS - 1;
	support_cpus_add(&online, absent);
	weft_profile_follow(c.h.instance, c.at.attachment, &none, &online);
	cr_expect_eq(c.at.attachment->n_events, n);
	cr_expect(test_host_logged(&c.h, "profile-97 does not fire on CPU 8191"));
	test_host_detach(&c.h, &c.at);
	finish(&c);
}

Test(profile_hotplug, PROFILE_HOTPLUG)
{
	struct counting c;
	int ends[2];

	prepare(&c, "profile-97");
	cr_assert_eq(pipe(ends), 0);
	c.h.instance->uevent_fd = ends[0]; /* no socket */
	cr_expect_eq(weft_provider_plugin.discover(c.h.instance, c.h.registry, c.h.err), -ENOTSOCK);
	cr_expect_str_eq(test_host_tag(&c.h), "PROFILE_HOTPLUG");
	close(ends[1]);
	finish(&c);
}

Test(profile_hotplug, nothing_to_discover_without_a_socket)
{
	struct counting c;

	prepare(&c, "profile-97");
	cr_expect_eq(weft_provider_plugin.discover(c.h.instance, c.h.registry, c.h.err), 0);
	finish(&c);
}
