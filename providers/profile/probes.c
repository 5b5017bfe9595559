/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which probes there are, and what a program of theirs needs to know.
 *
 * A probe is known by its name as it was written: profile-99 and profile-99hz are two probes that
 * do the same. Output then says what the user said, and a clause on both runs for both.
 *
 * How late a firing came (arg2)
 * -----------------------------
 * The event's timer runs on CLOCK_MONOTONIC and is set forward by whole periods, and the program
 * runs before it is set forward: the timer's time of expiry, in the kernel's struct perf_event, is
 * still the one that this firing was due at. The firing is late by the time at its beginning less
 * that, exactly, so that (timestamp - late) % period is the same number for all firings of an
 * event, until the kernel stops and restarts it because another perf event comes or goes on that
 * CPU: then the grid moves.
 *
 * The two clocks are one, but a program reads it in a way that cannot wait for an update of it and
 * may then be a few ns behind. The difference is signed, so that this would show as what it is.
 *
 * Where the structs lie is the kernel's business and known from its type information, which the
 * core reads if a clause uses the argument. A kernel that keeps the time elsewhere has no arg2.
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

static const struct weft_loc_op kpc[] = {{.op = WEFT_LOC_KERNEL_PC}};
static const struct weft_loc_op upc[] = {{.op = WEFT_LOC_USER_PC}};
static const char *const timer_names[] = {
	"bpf_perf_event_data_kern.event", /* what the context of a perf event's program really is */
	"perf_event.hw.hrtimer.node.expires",
};
static const struct weft_loc_op due[] = {
	{.op = WEFT_LOC_CTX_ADDR},        {.op = WEFT_LOC_MEMBER, .imm = 0},
	{.op = WEFT_LOC_LOAD, .size = 8}, {.op = WEFT_LOC_MEMBER, .imm = 1},
	{.op = WEFT_LOC_LOAD, .size = 8},
};
static const struct weft_loc_op late[] = {
	{.op = WEFT_LOC_TIME},
	{.op = WEFT_LOC_CTX_ADDR},
	{.op = WEFT_LOC_MEMBER, .imm = 0},
	{.op = WEFT_LOC_LOAD, .size = 8},
	{.op = WEFT_LOC_MEMBER, .imm = 1},
	{.op = WEFT_LOC_LOAD, .size = 8},
	{.op = WEFT_LOC_SUB},
};

static const struct weft_loc_op counted[] = {{.op = WEFT_LOC_TIMER_COUNT}};

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
			 .size = 8,
			 .flags = WEFT_TYPE_SIGNED},
		.where = {.ops = late,
			  .n_ops = COUNT(late),
			  .n_names = COUNT(timer_names),
			  .names = timer_names},
	},
	{
		.struct_size = sizeof(struct weft_arg),
		.name = "counted",
		.type = {.struct_size = sizeof(struct weft_arg_type),
			 .kind = WEFT_TYPE_INT,
			 .size = 8},
		.where = {.ops = counted, .n_ops = COUNT(counted)},
	},
};

int weft_profile_probe_info(struct weft_instance *in, const struct weft_probe *probe,
			    const struct weft_params *with, struct weft_probe_info *out,
			    struct weft_error *err)
{
	struct weft_profile_rate rate;

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
	out->prototype = "(kernel void *kpc, user void *upc, int64 late, uint64 counted)";
	/* Without idle time, what does not come may well be idle. */
	if (in->host->param_int(with, "idle"))
		out->schedule = (struct weft_schedule){
			.struct_size = sizeof(out->schedule),
			.period_ns = rate.period_ns,
			.due = {.ops = due,
				.n_ops = COUNT(due),
				.n_names = COUNT(timer_names),
				.names = timer_names},
		};
	return 0;
}
