/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * profile: probes that a clock fires.
 *
 *   probe             kernel event
 *   profile-N[unit]   perf software event cpu-clock, sample_period N units, one on each online CPU
 *   tick-N[unit]      the same, on one CPU
 *
 *   arg0, kpc         where the kernel was interrupted; 0 if it was not the kernel that ran
 *   arg1, upc         where the program was interrupted; 0 if the kernel ran
 *   arg2, late        how late the timer was, in ns (probes.c tells how far that can be trusted)
 *
 * The clock is a high-resolution timer in a hard interrupt, not an NMI: code that runs with
 * interrupts off is charged to the instruction that turns them on again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "profile.h"
#include "support/file.h"

static int profile_open(const struct weft_host *host, const struct weft_params *params,
			struct weft_instance **out, struct weft_error *err)
{
	(void)params;
	struct weft_instance *in = calloc(1, sizeof(*in));
	if (!in)
		return host->fail(err, -ENOMEM, "NO_MEMORY", "out of memory");
	in->host = host;
	in->uevent_fd = -1;
	*out = in;
	return 0;
}

static void profile_close(struct weft_instance *in)
{
	if (!in)
		return;
	support_close(in->uevent_fd);
	free(in);
}

static const char *profile_describe(struct weft_instance *in)
{
	struct support_cpus online;

	if (support_cpus_online(&online))
		return "perf cpu-clock, hrtimer (not NMI); /sys does not say which CPUs are online";
	uint32_t n = support_cpus_count(&online);
	snprintf(in->description, sizeof(in->description),
		 "perf cpu-clock, hrtimer (not NMI), %u CPU%s", n, n == 1 ? "" : "s");
	return in->description;
}

static const struct weft_option_spec idle = {
	.struct_size = sizeof(idle),
	.type = WEFT_OPTION_BOOL,
	.where = WEFT_OPTION_PER_SET | WEFT_OPTION_PER_PROBE,
	.name = "idle",
	.default_text = "true",
	.help = "Whether to fire on a CPU that is idle. An idle CPU may miss firings, which are counted "
		"(FIRINGS_MISSED) only if they are asked for.",
};
static const struct weft_option_spec *const options[] = {&idle, NULL};

WEFT_EXPORT const struct weft_provider weft_provider_plugin = {
	.struct_size = sizeof(struct weft_provider),
	.abi_version = WEFT_ABI_CURRENT,
	.name = "profile",
	.summary = "fires at a fixed rate, on every CPU (profile-N) or on one (tick-N)",
	.options = options,
	.open = profile_open,
	.close = profile_close,
	.populate = weft_profile_populate,
	.provide = weft_profile_provide,
	.probe_info = weft_profile_probe_info,
	.attach = weft_profile_attach,
	.detach = weft_profile_detach,
	.discover_fd = weft_profile_discover_fd,
	.discover = weft_profile_discover,
	.describe = profile_describe,
};
