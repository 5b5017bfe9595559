/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The names of profile's probes and the periods they stand for. */
#ifndef WEFT_PROFILE_RATE_H
#define WEFT_PROFILE_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "weft/provider.h"

struct weft_profile_rate {
	uint64_t period_ns; /* 1 .. INT64_MAX, rounded to the nearest for rates */
	bool tick;          /* on one CPU; else on all */
};

/* What the kernel allows. */
struct weft_profile_limits {
	uint64_t max_per_second; /* kernel.perf_event_max_sample_rate; 0: unknown */
};

/* A timer that is asked for less than this is silently set to it (perf_swevent_start_hrtimer() in
 * kernel/events/core.c, at least 2.6.32 to 6.18), so less is refused here. */
#define WEFT_PROFILE_FLOOR_NS 10000u

/*
 * Parses "profile-N[unit]" or "tick-N[unit]". Units are in the tables of rate.c, upper or lower
 * case; none is hz. Fails with PROFILE_NAME (neither prefix, or no number), PROFILE_RATE_NEGATIVE,
 * PROFILE_RATE_ZERO, PROFILE_RATE_OVERFLOW (N over 64 bits), PROFILE_UNIT (unknown unit, with the
 * nearest), PROFILE_TRAILING (characters behind a number or a unit), PROFILE_TOO_SLOW (a period
 * over 2^63 ns, 292 years) or PROFILE_TOO_FAST (a period of 0 ns).
 */
int weft_profile_rate_parse(const struct weft_host *host, const char *name,
			    struct weft_profile_rate *out, struct weft_error *err);

/* Whether the kernel would not fire that often, */
bool weft_profile_rate_too_fast(const struct weft_profile_rate *rate,
				const struct weft_profile_limits *limits);

/* and the same as an error: fails with PROFILE_TOO_FAST, naming the limit. */
int weft_profile_rate_check(const struct weft_host *host, const char *name,
			    const struct weft_profile_rate *rate,
			    const struct weft_profile_limits *limits, struct weft_error *err);

/* Reads the limits of this kernel. */
void weft_profile_limits_read(struct weft_profile_limits *out);

#endif
