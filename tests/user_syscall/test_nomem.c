/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every allocation of a whole life of the provider fails once, each in a life of its own: finding,
 * describing, attaching, taking in what is declared meanwhile, detaching. Nothing crashes, nothing
 * is lost, what fails says so, and nothing is left enabled.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/test_bpf.h"
#include "support/test_failing.h"
#include "support/test_host.h"
#include "user_syscall.h"
#include "weft/user.h"

extern const struct weft_provider weft_provider_plugin;

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t m), (n, m))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(char *, strdup, (const char *s), (s))

#define PROBES 20

static weft_probe *probes[PROBES], *late;
static uint32_t found[4];

static int cached_members(const struct weft_host *host, const char *const *paths, size_t n,
			  uint32_t *offsets, struct weft_error *err)
{
	(void)host;
	(void)paths;
	(void)err;
	memcpy(offsets, found, n * sizeof(*offsets));
	return 0;
}

static int describe(struct test_host *h, struct weft_instance *in, struct weft_registry_core *core,
		    struct weft_error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < weft_registry_size(core); i++) {
		const struct weft_probe *p = weft_registry_at(core, i);
		struct weft_probe_info info = {.struct_size = sizeof(info)};

		ret = weft_provider_plugin.probe_info(in, p, h->with, &info, err);
		weft_provider_plugin.probe_note(in, p, h->with);
	}
	return ret;
}

/* 0: attached and detached. 1: not all of it, which may be without an error. */
static int attach(struct test_host *h, struct weft_instance *in, struct weft_registry_core *core,
		  int prog, struct weft_error *err)
{
	struct weft_attach_probe what[PROBES + 1];
	int32_t status[PROBES + 1] = {0};
	struct weft_attach_request request = {.struct_size = sizeof(request),
					      .prog_fd = prog,
					      .probes = what,
					      .probe_size = sizeof(what[0]),
					      .status = status};
	struct weft_attachment *at = NULL;
	int ret;

	memset(what, 0, sizeof(what));
	for (size_t i = 0; i < weft_registry_size(core) && i < PROBES; i++)
		what[request.n_probes++] = (struct weft_attach_probe){
			.probe = weft_registry_at(core, i), .with = h->with};
	if (!request.n_probes)
		return 1;
	ret = weft_provider_plugin.attach(in, &request, &at, err);
	if (ret)
		return ret;
	armed = false;
	late = weft_probe_declare("nomem", "late", "uint64 v", NULL);
	armed = true;
	for (int i = 0; !ret && i < 2; i++)
		ret = weft_provider_plugin.discover(in, weft_registry_of(core, "user-syscall"), err);
	weft_provider_plugin.detach(in, at);
	return ret;
}

static int work(struct test_host *h, int prog, struct weft_error *err)
{
	struct weft_registry_core *core = weft_registry_create();
	struct weft_registry *registry = core ? weft_registry_of(core, "user-syscall") : NULL;
	struct weft_instance *in = NULL;
	int ret;

	cr_assert_not_null(registry);
	armed = true;
	ret = weft_provider_plugin.open(&h->host, h->params, &in, err);
	if (!ret)
		ret = weft_provider_plugin.populate(in, registry, err);
	if (!ret)
		ret = describe(h, in, core, err);
	if (!ret)
		ret = attach(h, in, core, prog, err);
	if (in)
		weft_provider_plugin.close(in);
	armed = false;
	weft_registry_destroy(core);
	return ret;
}

static void expect_nothing_enabled(void)
{
	for (int i = 0; i < PROBES; i++)
		cr_expect_not(weft_probe_enabled(probes[i]), "allocation %zu", countdown);
	cr_expect_not(late && weft_probe_enabled(late), "allocation %zu", countdown);
	if (late)
		weft_probe_undeclare(late);
	late = NULL;
}

Test(user_syscall_nomem, every_allocation_fails_once)
{
	static const char *const paths[] = {"task_struct.tgid", "task_struct.pid",
					    "task_struct.signal", "signal_struct.live"};
	static const struct weft_load_class class = {.struct_size = sizeof(class),
						     .prog_type = BPF_PROG_TYPE_TRACEPOINT};
	char before[8192], after[8192], name[16];
	struct test_host h = {0};
	int prog = test_prog_empty(&class);

	for (int i = 0; i < PROBES; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		probes[i] = weft_probe_declare("nomem", name, "uint64 v, string s", NULL);
	}
	test_host_start(&h, &weft_provider_plugin, NULL);
	test_host_target(&h, getpid());
	cr_assert_eq(h.host.kernel_members(&h.host, paths, 4, found, h.err), 0);
	h.host.kernel_members = cached_members;
	test_descriptors(before, sizeof(before));
	for (countdown = 0;; countdown++) {
		struct weft_error *err = weft_error_create();

		calls = 0;
		h.n_log = 0;
		int ret = work(&h, prog, err);
		if (ret < 0)
			cr_expect_neq(weft_error_count(err), 0, "allocation %zu: %d is not said",
				      countdown, ret);
		if (!countdown || calls < countdown)
			cr_expect_eq(ret, 0, "%s", weft_error_text(err));
		weft_error_destroy(err);
		expect_nothing_enabled();
		if (countdown && calls < countdown)
			break;
		cr_assert_lt(countdown, 2000);
	}
	test_descriptors(after, sizeof(after));
	cr_expect_str_eq(before, after);
	cr_expect_gt(countdown, 50, "%zu", countdown);
	close(prog);
	test_host_stop(&h);
}
