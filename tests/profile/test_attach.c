/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Probes that fire, counted by a program that knows nothing of weft. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/test_spin.h"
#include "test_profile.h"

#define S UINT64_C(1000000000)

struct counting {
	struct test_host h;
	struct test_words words;
	struct weft_probe_info info;
	const struct weft_probe *probe;
	int prog;
	struct test_attached at;
};

static void prepare(struct counting *c, const char *name)
{
	memset(c, 0, sizeof(*c));
	test_host_start(&c->h, &weft_provider_plugin, NULL);
	c->probe = test_host_probe(&c->h, "", "", name);
	cr_assert_not_null(c->probe, "%s", weft_error_text(c->h.err));
	test_host_info(&c->h, c->probe, &c->info);
	test_words_init(&c->words, (size_t)sysconf(_SC_NPROCESSORS_CONF) + 1);
	c->prog = test_prog_count(&c->info.load, &c->words);
	cr_assert_geq(c->prog, 0, "%s", strerror(-c->prog));
}

static void finish(struct counting *c)
{
	close(c->prog);
	test_words_finish(&c->words);
	test_host_stop(&c->h);
}

Test(profile_attach, fires_on_every_cpu_at_its_rate)
{
	struct support_cpus online;
	struct counting c;
	pid_t spin[SUPPORT_MAX_CPUS];

	cr_assert_eq(support_cpus_online(&online), 0);
	for (int cpu = support_cpus_next(&online, 0); cpu >= 0;
	     cpu = support_cpus_next(&online, cpu + 1))
		spin[cpu] = test_spin_start(cpu);

	prepare(&c, "profile-97");
	uint64_t before = test_now();
	cr_assert_eq(test_host_attach(&c.h, c.probe, c.prog, 0xc00c1e, &c.at), 0, "%s",
		     weft_error_text(c.h.err));
	usleep(1500000);
	test_host_detach(&c.h, &c.at);
	uint64_t most = (test_now() - before) * 97 / S;

	cr_expect_eq(c.at.status, 0);
	cr_expect_eq(c.at.done, support_cpus_count(&online));
	cr_expect_eq(c.at.total, support_cpus_count(&online));
	cr_expect_str_eq(c.at.unit, "CPUs");
	cr_expect_eq(c.h.n_log, 0);
	cr_expect_eq(c.words.word[c.words.n - 1], 0xc00c1e, "the cookie");
	for (size_t cpu = 0; cpu + 1 < c.words.n; cpu++) {
		if (!support_cpus_has(&online, (uint32_t)cpu)) {
			cr_expect_eq(c.words.word[cpu], 0, "CPU %zu is offline", cpu);
			continue;
		}
		test_spin_stop(spin[cpu]);
		/* A period that passes while the host runs something else is one firing fewer. */
		cr_expect_leq(c.words.word[cpu], most, "CPU %zu: %lu of %lu", cpu,
			      (unsigned long)c.words.word[cpu], (unsigned long)most);
		cr_expect_geq(c.words.word[cpu], 97, "CPU %zu: %lu of %lu", cpu,
			      (unsigned long)c.words.word[cpu], (unsigned long)most);
	}
	finish(&c);
}

Test(profile_attach, a_tick_fires_thirty_times_in_three_seconds_on_one_cpu)
{
	struct counting c;
	const uint64_t period = S / 10;
	int cpu = sched_getcpu();
	size_t fired = 0;

	test_pin(cpu);
	prepare(&c, "tick-100ms");
	uint64_t start = test_now();
	cr_assert_eq(test_host_attach(&c.h, c.probe, c.prog, 1, &c.at), 0);
	uint64_t attached = test_now();
	uint64_t missed = test_spin_watching(3 * S, period);
	uint64_t least = (test_now() - attached) / period;
	test_host_detach(&c.h, &c.at);
	uint64_t most = (test_now() - start) / period;

	cr_expect_eq(c.at.done, 1);
	cr_expect_eq(c.at.total, 1);
	for (size_t i = 0; i + 1 < c.words.n; i++)
		fired += c.words.word[i] != 0;
	cr_expect_eq(fired, 1, "CPUs that fired: %zu", fired);
	uint64_t got = c.words.word[cpu];
	/* The first and the last may be on either side of what was measured. */
	cr_expect(got + missed + 1 >= least && got <= most + 1, "%lu of %lu to %lu, %lu missed",
		  (unsigned long)got, (unsigned long)least, (unsigned long)most,
		  (unsigned long)missed);
	finish(&c);
}

Test(profile_attach, detach_stops_it_and_leaves_nothing)
{
	static char before[8192], during[8192], after[8192];
	struct counting c;

	test_pin(sched_getcpu());
	prepare(&c, "profile-997");
	test_descriptors(before, sizeof(before));
	cr_assert_eq(test_host_attach(&c.h, c.probe, c.prog, 1, &c.at), 0);
	test_descriptors(during, sizeof(during));
	cr_expect_str_neq(during, before);
	test_spin_for(S / 10);
	test_host_detach(&c.h, &c.at);
	uint64_t then = test_words_sum(&c.words);
	cr_expect_gt(then, 0);
	test_descriptors(after, sizeof(after));
	cr_expect_str_eq(after, before);
	test_spin_for(S / 10);
	cr_expect_eq(test_words_sum(&c.words), then, "fired after detach()");
	finish(&c);
}

Test(profile_attach, one_program_serves_several_probes)
{
	struct counting c;
	int32_t status[2] = {-1, -1};
	uint32_t done = 0, total = 0;
	const char *unit = NULL;
	int cpu = sched_getcpu();

	test_pin(cpu);
	prepare(&c, "tick-100");
	const struct weft_attach_probe both[] = {
		{.probe = c.probe, .cookie = 1, .with = c.h.with},
		{.probe = test_host_probe(&c.h, "", "", "profile-100"), .cookie = 2, .with = c.h.with},
	};
	const struct weft_attach_request request = {
		.struct_size = sizeof(request),
		.prog_fd = c.prog,
		.probes = both,
		.n_probes = 2,
		.probe_size = sizeof(both[0]),
		.status = status,
		.done = &done,
		.total = &total,
		.unit = &unit,
	};
	cr_assert_eq(weft_provider_plugin.attach(c.h.instance, &request, &c.at.attachment, c.h.err),
		     0);
	cr_expect_eq(status[0], 0);
	cr_expect_eq(status[1], 0);
	cr_expect_eq(done, total);
	cr_expect_eq(total, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	uint64_t start = test_now();
	test_spin_for(S / 2);
	test_host_detach(&c.h, &c.at);
	uint64_t each = (test_now() - start) * 100 / S;
	cr_expect_gt(c.words.word[cpu], each, "more than either alone");
	cr_expect_leq(c.words.word[cpu], 2 * each + 4);
	finish(&c);
}

/* ---- what the kernel may refuse ---- */

/* Leaves room for so many more descriptors; test_room(-1) for all again. */
static void room(int n)
{
	struct rlimit lim;

	getrlimit(RLIMIT_NOFILE, &lim);
	lim.rlim_cur = lim.rlim_max;
	if (n >= 0) {
		int end = 0;
		for (; n > 0 || fcntl(end, F_GETFD) >= 0; end++)
			n -= fcntl(end, F_GETFD) < 0;
		lim.rlim_cur = (rlim_t)end;
	}
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &lim), 0);
}

Test(profile_attach, partial_success_is_said_with_numbers)
{
	struct support_cpus online;
	struct counting c;

	cr_assert_eq(support_cpus_online(&online), 0);
	int first = support_cpus_next(&online, 0);
	int second = support_cpus_next(&online, first + 1);
	cr_assert_geq(second, 0, "this test needs two CPUs");

	prepare(&c, "profile-97");
	room(4); /* the program's duplicate; event and link of one CPU; one for reading /sys */
	int ret = test_host_attach(&c.h, c.probe, c.prog, 1, &c.at);
	room(-1);
	cr_assert_eq(ret, 0, "%s", weft_error_text(c.h.err));
	cr_expect_eq(c.at.status, 0, "it fires somewhere");
	cr_expect_eq(c.at.done, 1);
	cr_expect_eq(c.at.total, support_cpus_count(&online));
	char want[128];
	snprintf(want, sizeof(want), "profile-97 does not fire on CPU %d: %s", second,
		 strerror(EMFILE));
	cr_expect(test_host_logged(&c.h, want), "'%s' in the log of %zu lines: %s", want, c.h.n_log,
		  c.h.log[0].text);
	cr_expect_eq(c.h.log[0].level, WEFT_LOG_WARNING);
	cr_expect_eq(weft_error_count(c.h.err), 0, "a success leaves no error");
	test_host_detach(&c.h, &c.at);
	finish(&c);
}

static void attach_fails(struct counting *c, int code, const char *tag)
{
	static char before[8192], after[8192];

	test_descriptors(before, sizeof(before));
	int ret = test_host_attach(&c->h, c->probe, c->prog, 1, &c->at);
	cr_expect_eq(ret, code, "%d", ret);
	cr_expect_null(c->at.attachment);
	cr_expect_eq(c->at.status, code, "%d", c->at.status);
	cr_expect_str_eq(weft_error_tag(c->h.err), tag, "%s", weft_error_text(c->h.err));
	cr_expect_eq(weft_error_count(c->h.err), 1);
	test_descriptors(after, sizeof(after));
	cr_expect_str_eq(after, before, "a failure leaves nothing");
}

Test(profile_attach, PROFILE_DESCRIPTORS)
{
	struct counting c;

	prepare(&c, "profile-97");
	room(2);
	int ret = test_host_attach(&c.h, c.probe, c.prog, 1, &c.at);
	room(-1);
	cr_expect_eq(ret, -EMFILE);
	cr_expect_eq(c.at.status, -EMFILE);
	cr_expect_str_eq(test_host_tag(&c.h), "PROFILE_DESCRIPTORS");
	finish(&c);
}

Test(profile_attach, PROFILE_DENIED)
{
	struct counting c;

	prepare(&c, "profile-97");
	cr_assert_eq(seteuid(65534), 0);
	int ret = test_host_attach(&c.h, c.probe, c.prog, 1, &c.at);
	cr_assert_eq(seteuid(0), 0);
	prctl(PR_SET_DUMPABLE, 1); /* LeakSanitizer looks at this process */
	cr_expect(ret == -EACCES || ret == -EPERM, "%d", ret);
	cr_expect_eq(c.at.status, ret);
	cr_expect_str_eq(test_host_tag(&c.h), "PROFILE_DENIED");
	finish(&c);
}

Test(profile_attach, PROFILE_ATTACH)
{
	const struct weft_load_class other = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER};
	struct counting c;

	prepare(&c, "profile-97");
	close(c.prog);
	c.prog = test_prog_empty(&other);
	cr_assert_geq(c.prog, 0);
	attach_fails(&c, -EINVAL, "PROFILE_ATTACH");
	finish(&c);
}

/* Shows this process another content of a file of /proc or /sys. */
static void pretend(const char *path, const char *content)
{
	char name[] = "/tmp/weft-pretend-XXXXXX";

	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	int fd = mkstemp(name);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, content, strlen(content)), (ssize_t)strlen(content));
	close(fd);
	cr_assert_eq(mount(name, path, NULL, MS_BIND, NULL), 0);
	unlink(name);
}

Test(profile_attach, PROFILE_TOO_FAST)
{
	struct counting c;

	prepare(&c, "tick-5000");
	cr_assert_eq(weft_provider_plugin.populate(c.h.instance, c.h.registry, c.h.err), 0);
	pretend("/proc/sys/kernel/perf_event_max_sample_rate", "4000\n");
	attach_fails(&c, -EINVAL, "PROFILE_TOO_FAST");
	cr_expect(strstr(weft_error_text(c.h.err), "4000 times a second"));
	weft_error_clear(c.h.err);

	/* Beside one that fires it is a warning. */
	int32_t status[2] = {-1, -1};
	uint32_t done, total;
	const char *unit;
	const struct weft_attach_probe both[] = {
		{.probe = c.probe, .with = c.h.with},
		{.probe = test_host_probe(&c.h, "", "", "tick-10"), .with = c.h.with},
	};
	const struct weft_attach_request request = {
		.struct_size = sizeof(request),
		.prog_fd = c.prog,
		.probes = both,
		.n_probes = 2,
		.probe_size = sizeof(both[0]),
		.status = status,
		.done = &done,
		.total = &total,
		.unit = &unit,
	};
	cr_assert_eq(weft_provider_plugin.attach(c.h.instance, &request, &c.at.attachment, c.h.err),
		     0);
	cr_expect_eq(status[0], -EINVAL);
	cr_expect_eq(status[1], 0);
	cr_expect(test_host_logged(&c.h, "tick-5000 does not fire"));
	test_host_detach(&c.h, &c.at);
	finish(&c);
}

Test(profile_attach, PROFILE_CPUS)
{
	struct counting c;

	prepare(&c, "profile-97");
	pretend("/sys/devices/system/cpu/online", "none of them\n");
	int ret = test_host_attach(&c.h, c.probe, c.prog, 1, &c.at);
	cr_expect_eq(ret, -EINVAL);
	cr_expect_str_eq(test_host_tag(&c.h), "PROFILE_CPUS");
	finish(&c);
}
