/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What attach() takes and gives back, and what it says where it cannot. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test_bpf.h"
#include "support/test_host.h"
#include "uprobe.h"

#define PIE UPROBE_PROGRAM_DIR "/pie-O2"
#define TEN UPROBE_PROGRAM_DIR "/ten-thousand"

extern const struct weft_provider weft_provider_plugin;

static const char *const perf[] = {"mechanism", "perf", NULL};

struct attaching {
	struct test_host h;
	const struct weft_probe *probe;
	struct weft_probe_info info;
	struct test_attached at;
	int prog;
};

static void prepare(struct attaching *a, const char *const *options, const char *module,
		    const char *function, const char *name)
{
	memset(a, 0, sizeof(*a));
	test_host_start(&a->h, &weft_provider_plugin, options);
	a->probe = test_host_probe(&a->h, module, function, name);
	cr_assert_not_null(a->probe, "%s", weft_error_text(a->h.err));
	test_host_info(&a->h, a->probe, &a->info);
	a->prog = test_prog_empty(&a->info.load);
	cr_assert_geq(a->prog, 0, "%s", strerror(-a->prog));
}

static void finish(struct attaching *a)
{
	close(a->prog);
	test_host_stop(&a->h);
}

static void refused(struct attaching *a, const char *tag)
{
	static char before[65536], after[65536];

	test_descriptors(before, sizeof(before));
	cr_expect_lt(test_host_attach(&a->h, a->probe, a->prog, 1, &a->at), 0);
	cr_expect_str_eq(test_host_tag(&a->h), tag);
	cr_expect_neq(a->at.status, 0);
	test_descriptors(after, sizeof(after));
	cr_expect_str_eq(after, before);
	finish(a);
}

/* Ten thousand places: one link, and our own copy of the program. */
Test(attach, no_descriptor_for_each_place)
{
	static const struct weft_probe_desc pattern = {.struct_size = sizeof(pattern),
						       .provider = "uprobe",
						       .module = TEN,
						       .function = "t[0-9]*",
						       .name = "entry"};
	static char before[65536], during[65536], after[65536];
	static struct weft_attach_probe probes[10001];
	static int32_t status[10001];
	struct weft_attachment *at;
	uint32_t done, total, n = 0;
	struct attaching a;
	const char *unit;
	int more = 0;

	prepare(&a, NULL, TEN, "t0", "entry");
	cr_assert_eq(
		weft_provider_plugin.populate_match(a.h.instance, a.h.registry, &pattern, a.h.err),
		0, "%s", weft_error_text(a.h.err));
	for (; n < weft_registry_size(a.h.core) && n < 10001; n++)
		probes[n] = (struct weft_attach_probe){
			.probe = weft_registry_at(a.h.core, n), .cookie = n, .with = a.h.with};
	cr_assert_eq(n, 10000);
	const struct weft_attach_request request = {
		.struct_size = sizeof(request),
		.prog_fd = a.prog,
		.probes = probes,
		.n_probes = n,
		.probe_size = sizeof(probes[0]),
		.status = status,
		.done = &done,
		.total = &total,
		.unit = &unit,
	};
	test_descriptors(before, sizeof(before));
	cr_assert_eq(weft_provider_plugin.attach(a.h.instance, &request, &at, a.h.err), 0, "%s",
		     weft_error_text(a.h.err));
	test_descriptors(during, sizeof(during));
	for (const char *p = during; (p = strchr(p, '\n')); p++)
		more++;
	for (const char *p = before; (p = strchr(p, '\n')); p++)
		more--;
	cr_expect_eq(more, 2);
	cr_expect_eq(done, n);
	cr_expect_str_eq(unit, "probes");
	weft_provider_plugin.detach(a.h.instance, at);
	test_descriptors(after, sizeof(after));
	cr_expect_str_eq(after, before);
	finish(&a);
}

Test(attach, UPROBE_INSTRUCTION)
{
	struct attaching a;
	struct weft_attachment *at;
	int32_t status = 0;
	uint32_t done, total;
	const char *unit;

	prepare(&a, NULL, UPROBE_PROGRAM_DIR "/odd", "locked_only", "entry");
	const struct weft_attach_probe probe = {
		.probe = a.probe, .with = a.h.with, .uses = WEFT_USES_REGS};
	const struct weft_attach_request request = {
		.struct_size = sizeof(request),
		.prog_fd = a.prog,
		.probes = &probe,
		.n_probes = 1,
		.probe_size = sizeof(probe),
		.status = &status,
		.done = &done,
		.total = &total,
		.unit = &unit,
	};
	cr_expect_eq(weft_provider_plugin.attach(a.h.instance, &request, &at, a.h.err), -EOPNOTSUPP);
	cr_expect_str_eq(test_host_tag(&a.h), "UPROBE_INSTRUCTION");
	finish(&a);
}

Test(attach, UPROBE_ATTACH)
{
	struct attaching a;

	/* A program that no link and no such event is for. */
	prepare(&a, NULL, PIE, "eight", "entry");
	close(a.prog);
	a.info.load.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	a.info.load.expected_attach_type = 0;
	a.info.load.flags = 0;
	a.info.load.ctx_kind = WEFT_CTX_NONE;
	a.prog = test_prog_empty(&a.info.load);
	cr_assert_geq(a.prog, 0);
	refused(&a, "UPROBE_ATTACH");
}

Test(attach, UPROBE_DENIED)
{
	struct attaching a;

	prepare(&a, perf, PIE, "eight", "entry");
	cr_assert_eq(setresuid(65534, 65534, 0), 0);
	refused(&a, "UPROBE_DENIED");
	/* LeakSanitizer looks at the process from outside when it ends. */
	cr_assert_eq(setresuid(0, 0, 0), 0);
	cr_assert_eq(prctl(PR_SET_DUMPABLE, 1), 0);
}

Test(attach, UPROBE_DESCRIPTORS)
{
	struct rlimit few;
	struct attaching a;

	prepare(&a, perf, PIE, "eight", "entry");
	int top = dup(0);
	few.rlim_cur = few.rlim_max = (rlim_t)top + 1; /* the copy of the program takes the last */
	close(top);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	refused(&a, "UPROBE_DESCRIPTORS");
}

Test(attach, UPROBE_NO_PROCESS)
{
	struct attaching a;

	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	prepare(&a, NULL, PIE, "eight", "entry");
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	test_host_target(&a.h, pid);
	refused(&a, "UPROBE_NO_PROCESS");
}

Test(attach, UPROBE_UNSUPPORTED)
{
	struct attaching a;

	prepare(&a, perf, PIE, "eight", "entry");
	a.h.instance->uprobes.perf_type = 0;
	refused(&a, "UPROBE_UNSUPPORTED");
}

/* The events are for the process, where there is one and not its children. */
Test(attach, scope)
{
	struct attaching a;

	prepare(&a, NULL, PIE, "eight", "entry");
	cr_expect_eq(a.info.scope, WEFT_SCOPE_NONE);
	test_host_target(&a.h, getpid());
	test_host_info(&a.h, a.probe, &a.info);
	if (a.h.instance->uprobes.pid_filter)
		cr_expect_eq(a.info.scope, WEFT_SCOPE_COARSE);
	a.h.target.follow = 1;
	test_host_info(&a.h, a.probe, &a.info);
	cr_expect_eq(a.info.scope, WEFT_SCOPE_NONE);
	finish(&a);
}
