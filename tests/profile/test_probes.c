/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/bpf_perf_event.h>
#include <stdio.h>
#include <string.h>

#include "core/compiler/location.h"
#include "test_profile.h"

static const char *const standing[] = {
	"profile-49",   "profile-97",   "profile-199", "profile-499", "profile-997",
	"profile-1999", "profile-4999", "tick-1",      "tick-10",     "tick-100",
	"tick-500",     "tick-1000",    "tick-5000",
};
#define N_STANDING (sizeof(standing) / sizeof(standing[0]))

Test(profile, populates_exactly_the_standing_rates)
{
	struct test_host h = {0};

	test_host_start(&h, &weft_provider_plugin, NULL);
	cr_assert_eq(weft_provider_plugin.populate(h.instance, h.registry, h.err), 0);
	cr_assert_eq(weft_registry_size(h.core), N_STANDING);
	for (size_t i = 0; i < N_STANDING; i++) {
		struct weft_probe_desc d = {.struct_size = sizeof(d)};
		weft_probe_desc(weft_registry_at(h.core, i), &d);
		cr_expect_str_eq(d.provider, "profile");
		cr_expect_str_eq(d.module, "");
		cr_expect_str_eq(d.function, "");
		cr_expect_str_eq(d.name, standing[i]);
	}
	test_host_stop(&h);
}

Test(profile, a_probe_keeps_the_name_it_was_asked_by)
{
	struct test_host h = {0};
	struct weft_profile_rate a, b;

	test_host_start(&h, &weft_provider_plugin, NULL);
	const struct weft_probe *plain = test_host_probe(&h, "", "", "profile-99");
	const struct weft_probe *hz = test_host_probe(&h, "", "", "profile-99hz");
	cr_assert(plain && hz);
	cr_expect_neq(plain, hz, "two names, two probes");
	weft_profile_rate_of(&h.host, plain, &a);
	weft_profile_rate_of(&h.host, hz, &b);
	cr_expect_eq(a.period_ns, b.period_ns, "that do the same");
	cr_expect_eq(a.tick, b.tick);

	const struct weft_probe_desc again = {.struct_size = sizeof(again),
					      .provider = "profile",
					      .module = "",
					      .function = "",
					      .name = "profile-99"};
	cr_expect_eq(weft_provider_plugin.provide(h.instance, h.registry, &again, h.err), 0,
		     "asked twice");
	cr_expect_eq(weft_registry_size(h.core), 2);
	test_host_stop(&h);
}

Test(profile, PROFILE_NAME)
{
	struct test_host h = {0};

	test_host_start(&h, &weft_provider_plugin, NULL);
	cr_expect_null(test_host_probe(&h, "vmlinux", "", "profile-99"));
	cr_expect_str_eq(test_host_tag(&h), "PROFILE_NAME");
	cr_expect_null(test_host_probe(&h, "", "read", "profile-99"));
	cr_expect_str_eq(test_host_tag(&h), "PROFILE_NAME");
	cr_expect_null(test_host_probe(&h, "", "", "profle-99"));
	cr_expect_str_eq(test_host_tag(&h), "PROFILE_NAME");
	cr_expect_null(test_host_probe(&h, "", "", "tick-1ns"));
	cr_expect_str_eq(test_host_tag(&h), "PROFILE_TOO_FAST");
	cr_expect_eq(weft_registry_size(h.core), 0);
	test_host_stop(&h);
}

Test(profile, what_a_program_needs_to_know)
{
	struct test_host h = {0};
	struct weft_probe_info sample, tick;

	test_host_start(&h, &weft_provider_plugin, NULL);
	test_host_info(&h, test_host_probe(&h, "", "", "profile-99"), &sample);
	test_host_info(&h, test_host_probe(&h, "", "", "tick-1s"), &tick);

	cr_expect_eq(sample.scope, WEFT_SCOPE_NONE, "fires whoever runs");
	cr_expect_eq(tick.scope, WEFT_SCOPE_EXACT, "a timer is about no process");
	cr_expect_eq(memcmp(&sample.load, &tick.load, sizeof(tick.load)), 0, "one program serves");
	cr_expect_eq(sample.load.prog_type, BPF_PROG_TYPE_PERF_EVENT);
	cr_expect_eq(sample.load.flags, WEFT_LOAD_COOKIE);
	cr_expect_eq(sample.load.ctx_kind, WEFT_CTX_PERF_EVENT);
	cr_expect_eq(sample.load.ctx_size, sizeof(struct bpf_perf_event_data));
	cr_expect_eq(sample.identity.kind, WEFT_IDENTITY_COOKIE);
	cr_expect_eq(sample.guard.n_ops, 0);
	cr_expect_eq(sample.pairing.role, WEFT_PAIRING_NONE);
	cr_expect_eq(sample.retval.n_ops, 0);
	cr_expect_eq(weft_location_check_info(&sample, h.err), 0, "%s", weft_error_text(h.err));
	cr_assert_eq(sample.n_args, 4);
	cr_expect_eq(sample.arg_size, sizeof(struct weft_arg));
	static const char *const names[] = {"kpc", "upc", "late", "counted"};
	for (size_t i = 0; i < 3; i++) {
		cr_expect_str_eq(sample.args[i].name, names[i]);
		cr_expect_gt(sample.args[i].where.n_ops, 0);
	}
	cr_expect_eq(sample.args[2].type.flags, WEFT_TYPE_SIGNED);
	cr_expect_eq(sample.args[0].type.space, WEFT_SPACE_KERNEL);
	cr_expect_eq(sample.args[1].type.space, WEFT_SPACE_USER);
	test_host_stop(&h);
}

Test(profile, nothing_is_created_before_attach)
{
	static char before[8192], after[8192];
	struct test_host h = {0};
	struct weft_probe_info info;

	test_descriptors(before, sizeof(before));
	test_host_start(&h, &weft_provider_plugin, NULL);
	cr_assert_eq(weft_provider_plugin.populate(h.instance, h.registry, h.err), 0);
	cr_assert_not_null(test_host_probe(&h, "", "", "profile-1234hz"));
	for (size_t i = 0; i < weft_registry_size(h.core); i++)
		test_host_info(&h, weft_registry_at(h.core, i), &info);
	cr_expect_not_null(weft_provider_plugin.describe(h.instance));
	/* An event, a link, a map and a socket each are a descriptor: there is none. */
	test_descriptors(after, sizeof(after));
	cr_expect_str_eq(after, before);
	test_host_stop(&h);
}

Test(profile, describes_itself)
{
	struct test_host h = {0};
	struct support_cpus online;
	char want[64];

	cr_assert_eq(support_cpus_online(&online), 0);
	uint32_t n = support_cpus_count(&online);
	test_host_start(&h, &weft_provider_plugin, NULL);
	snprintf(want, sizeof(want), "perf cpu-clock, hrtimer (not NMI), %u CPU%s", n,
		 n == 1 ? "" : "s");
	cr_expect_str_eq(weft_provider_plugin.describe(h.instance), want);
	test_host_stop(&h);
}
