/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which probes there are, and what a program of theirs needs to know.
 *
 * A probe is known by its name as it was written: profile-99 and profile-99hz are two probes that
 * do the same. Output then says what the user said, and a clause on both runs for both.
 *
 * How late a firing came (arg2)
 * -----------------------------
 * The event counts the nanoseconds since it was enabled: cpu_clock_event_start() notes
 * local_clock() and, in the next instruction, starts a timer of one period, which is then set
 * forward by whole periods. So the k-th firing is due when the count is k periods, and what the
 * count is beyond that is by how much the firing came late. The program reads the count itself (it
 * is the helper that brings it up to date), so the time from the interrupt to the program is
 * included. Checked on 6.18 against the timer's own time of expiry: they differ by about a
 * microsecond in the first seconds.
 *
 * Two things move the count against the timer. The count runs on the scheduler's clock and the
 * timer on CLOCK_MONOTONIC, which time daemons slew: parts per million, so microseconds a
 * second. And when someone opens or closes another perf event on that CPU the kernel may stop and
 * restart ours, which loses the few hundred nanoseconds to few microseconds that this takes. What
 * is true to a microsecond at the start is therefore true to some tens after minutes, and arg2
 * is for looking at bursts of lateness, not at its mean over an hour. Where the count has fallen
 * behind the timer a firing that came in time has a remainder of almost a whole period; a remainder
 * beyond half of it is taken for that, and lateness is 0.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <string.h>

#include "profile.h"

#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))
#define TICK_FLAG (UINT64_C(1) << 63) /* probe data: the period, and this */

static const char *const standing[] = {
	"profile-49",   "profile-97",   "profile-199", "profile-499", "profile-997",
	"profile-1999", "profile-4999", "tick-1",      "tick-10",     "tick-100",
	"tick-500",     "tick-1000",    "tick-5000",
};

static int add(struct weft_instance *in, struct weft_registry *registry, const char *name,
	       const struct weft_profile_rate *rate, struct weft_error *err)
{
	const struct weft_probe_desc desc = {
		.struct_size = sizeof(desc),
		.provider = "profile",
		.module = "",
		.function = "",
		.name = name,
	};
	uint64_t data = rate->period_ns | (rate->tick ? TICK_FLAG : 0);
	int ret = in->host->probe_add(registry, &desc, data, NULL, err);
	return ret == -EEXIST ? 0 : ret;
}

int weft_profile_populate(struct weft_instance *in, struct weft_registry *registry,
			  struct weft_error *err)
{
	for (size_t i = 0; i < COUNT(standing); i++) {
		struct weft_profile_rate rate;
		int ret = weft_profile_rate_parse(in->host, standing[i], &rate, err);
		if (!ret)
			ret = add(in, registry, standing[i], &rate, err);
		if (ret)
			return ret;
	}
	return 0;
}

int weft_profile_provide(struct weft_instance *in, struct weft_registry *registry,
			 const struct weft_probe_desc *desc, struct weft_error *err)
{
	const struct weft_host *host = in->host;
	struct weft_profile_limits limits;
	struct weft_profile_rate rate;

	if (*desc->module || *desc->function)
		return host->fail(err, -EINVAL, "PROFILE_NAME",
				  "a probe of profile has no module and no function: write "
				  "profile:::%s",
				  desc->name);

	int ret = weft_profile_rate_parse(host, desc->name, &rate, err);
	if (ret)
		return ret;
	weft_profile_limits_read(&limits);
	ret = weft_profile_rate_check(host, desc->name, &rate, &limits, err);
	return ret ? ret : add(in, registry, desc->name, &rate, err);
}

void weft_profile_rate_of(const struct weft_host *host, const struct weft_probe *probe,
			  struct weft_profile_rate *out)
{
	uint64_t data = host->probe_data(probe);

	*out = (struct weft_profile_rate){
		.period_ns = data & ~TICK_FLAG,
		.tick = (data & TICK_FLAG) != 0,
	};
}

#define PERIOD                                                             \
	{                                                                  \
		.op = WEFT_LOC_CTX, .size = sizeof(uint64_t),              \
		.imm = offsetof(struct bpf_perf_event_data, sample_period) \
	}

static const struct weft_loc_op kpc[] = {{.op = WEFT_LOC_KERNEL_PC}};
static const struct weft_loc_op upc[] = {{.op = WEFT_LOC_USER_PC}};
/* The period is the context's: one program serves all rates. */
static const struct weft_loc_op late[] = {
	{.op = WEFT_LOC_TIMER_COUNT},
	PERIOD,
	{.op = WEFT_LOC_MOD}, /* r */
	{.op = WEFT_LOC_DUP},
	PERIOD,
	{.op = WEFT_LOC_CONST, .imm = 1},
	{.op = WEFT_LOC_SHR},
	{.op = WEFT_LOC_LE},  /* r, r <= period / 2 */
	{.op = WEFT_LOC_MUL}, /* r or 0 */
};

static const struct weft_arg args[] = {
	{
		.struct_size = sizeof(struct weft_arg),
		.name = "kpc",
		.type = {.struct_size = sizeof(struct weft_arg_type),
			 .kind = WEFT_TYPE_POINTER,
			 .size = 8,
			 .space = WEFT_SPACE_KERNEL},
		.where = {.ops = kpc, .n_ops = COUNT(kpc)},
	},
	{
		.struct_size = sizeof(struct weft_arg),
		.name = "upc",
		.type = {.struct_size = sizeof(struct weft_arg_type),
			 .kind = WEFT_TYPE_POINTER,
			 .size = 8,
			 .space = WEFT_SPACE_USER},
		.where = {.ops = upc, .n_ops = COUNT(upc)},
	},
	{
		.struct_size = sizeof(struct weft_arg),
		.name = "late",
		.type = {.struct_size = sizeof(struct weft_arg_type),
			 .kind = WEFT_TYPE_INT,
			 .size = 8},
		.where = {.ops = late, .n_ops = COUNT(late)},
	},
};

int weft_profile_probe_info(struct weft_instance *in, const struct weft_probe *probe,
			    const struct weft_params *with, struct weft_probe_info *out,
			    struct weft_error *err)
{
	struct weft_profile_rate rate;

	(void)with;
	(void)err;
	weft_profile_rate_of(in->host, probe, &rate);
	/* A tick is about time, not about the process that it happens to interrupt. */
	out->scope = rate.tick ? WEFT_SCOPE_EXACT : WEFT_SCOPE_NONE;
	out->load = (struct weft_load_class){
		.struct_size = sizeof(out->load),
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.flags = WEFT_LOAD_COOKIE,
		.ctx_kind = WEFT_CTX_PERF_EVENT,
		.ctx_size = sizeof(struct bpf_perf_event_data),
	};
	out->identity = (struct weft_identity){
		.struct_size = sizeof(out->identity),
		.kind = WEFT_IDENTITY_COOKIE,
	};
	out->args = args;
	out->n_args = COUNT(args);
	out->arg_size = sizeof(args[0]);
	out->prototype = "(kernel void *kpc, user void *upc, uint64 late)";
	return 0;
}
