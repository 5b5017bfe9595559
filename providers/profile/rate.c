/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "rate.h"
#include "support/file.h"
#include "support/nearest.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *prefix;
	bool tick;
} kinds[] = {
	{"profile-", false},
	{"tick-", true},
};

/* DTrace's units. A rate has no length of its own: ns is 0. */
static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	{"hz", 0},
	{"ns", 1},
	{"nsec", 1},
	{"us", 1000},
	{"usec", 1000},
	{"ms", 1000000},
	{"msec", 1000000},
	{"s", 1000000000},
	{"sec", 1000000000},
	{"m", UINT64_C(60) * 1000000000},
	{"min", UINT64_C(60) * 1000000000},
	{"h", UINT64_C(3600) * 1000000000},
	{"hour", UINT64_C(3600) * 1000000000},
	{"d", UINT64_C(86400) * 1000000000},
	{"day", UINT64_C(86400) * 1000000000},
};

#define NS_PER_SECOND UINT64_C(1000000000)
#define LONGEST_UNIT  15

static int fail_unit(const struct weft_host *host, const char *name, const char *unit,
		     struct weft_error *err)
{
	const char *names[COUNT(units)];
	for (size_t i = 0; i < COUNT(units); i++)
		names[i] = units[i].name;

	const char *nearest = support_nearest(unit, names, COUNT(names));
	return host->fail(err, -EINVAL, "PROFILE_UNIT",
			  "'%s' in '%s' is no unit%s%s%s; there are hz (the default), ns, us, ms, "
			  "s, m, h and d",
			  unit, name, nearest ? ": did you mean '" : "", nearest ? nearest : "",
			  nearest ? "'?" : "");
}

/* The period of `value` units. */
static int to_period(const struct weft_host *host, const char *name, uint64_t value, uint64_t unit,
		     uint64_t *period, struct weft_error *err)
{
	if (value == 0)
		return host->fail(err, -EINVAL, "PROFILE_RATE_ZERO",
				  "the number in '%s' is zero; it must be at least 1", name);
	if (unit == 0) {
		*period = NS_PER_SECOND / value + (NS_PER_SECOND % value >= value - value / 2);
		if (*period == 0)
			return host->fail(err, -EINVAL, "PROFILE_TOO_FAST",
					  "'%s' is faster than once a nanosecond; the kernel's "
					  "timers fire at most every %u us",
					  name, WEFT_PROFILE_FLOOR_NS / 1000);
		return 0;
	}
	if (__builtin_mul_overflow(value, unit, period) || *period > INT64_MAX)
		return host->fail(err, -ERANGE, "PROFILE_TOO_SLOW",
				  "the period of '%s' is longer than the kernel's timers can be set "
				  "to (2^63 ns, 292 years)",
				  name);
	return 0;
}

static int parse_number(const struct weft_host *host, const char *name, const char **p,
			uint64_t *out, struct weft_error *err)
{
	uint64_t value = 0;

	if (**p == '-' && isdigit((unsigned char)(*p)[1]))
		return host->fail(err, -EINVAL, "PROFILE_RATE_NEGATIVE",
				  "the number in '%s' is negative; it must be at least 1", name);
	if (!isdigit((unsigned char)**p))
		return host->fail(err, -EINVAL, "PROFILE_NAME",
				  "in '%s' a number is missing after '%.*s': write profile-99 or "
				  "tick-1s",
				  name, (int)(*p - name), name);
	for (; isdigit((unsigned char)**p); (*p)++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(**p - '0'), &value))
			return host->fail(err, -ERANGE, "PROFILE_RATE_OVERFLOW",
					  "the number in '%s' is larger than %" PRIu64, name,
					  UINT64_MAX);
	}
	*out = value;
	return 0;
}

static int parse_unit(const struct weft_host *host, const char *name, const char *p, uint64_t *ns,
		      struct weft_error *err)
{
	const char *end = p;
	while (isalpha((unsigned char)*end))
		end++;
	if (*end != '\0')
		return host->fail(err, -EINVAL, "PROFILE_TRAILING",
				  "'%s' does not belong at the end of '%s'; a number and a unit are "
				  "all there may be",
				  end, name);
	*ns = 0;
	if (end == p)
		return 0;
	for (size_t i = 0; i < COUNT(units); i++) {
		if (!strcasecmp(units[i].name, p)) {
			*ns = units[i].ns;
			return 0;
		}
	}
	return fail_unit(host, name, p, err);
}

int weft_profile_rate_parse(const struct weft_host *host, const char *name,
			    struct weft_profile_rate *out, struct weft_error *err)
{
	const char *p = NULL;

	for (size_t i = 0; i < COUNT(kinds) && !p; i++) {
		size_t n = strlen(kinds[i].prefix);
		if (!strncmp(name, kinds[i].prefix, n)) {
			p = name + n;
			out->tick = kinds[i].tick;
		}
	}
	if (!p)
		return host->fail(err, -EINVAL, "PROFILE_NAME",
				  "'%s' is no probe of profile: its probes are profile-N[unit], on "
				  "every CPU, and tick-N[unit], on one",
				  name);

	uint64_t value = 0, unit = 0;
	int ret = parse_number(host, name, &p, &value, err);
	if (!ret)
		ret = parse_unit(host, name, p, &unit, err);
	if (!ret)
		ret = to_period(host, name, value, unit, &out->period_ns, err);
	return ret;
}

static bool beyond_sysctl(const struct weft_profile_rate *rate,
			  const struct weft_profile_limits *limits)
{
	return limits->max_per_second && rate->period_ns < NS_PER_SECOND / limits->max_per_second;
}

bool weft_profile_rate_too_fast(const struct weft_profile_rate *rate,
				const struct weft_profile_limits *limits)
{
	return rate->period_ns < WEFT_PROFILE_FLOOR_NS || beyond_sysctl(rate, limits);
}

int weft_profile_rate_check(const struct weft_host *host, const char *name,
			    const struct weft_profile_rate *rate,
			    const struct weft_profile_limits *limits, struct weft_error *err)
{
	if (rate->period_ns < WEFT_PROFILE_FLOOR_NS)
		return host->fail(err, -EINVAL, "PROFILE_TOO_FAST",
				  "'%s' asks for a period of %" PRIu64 " ns; the kernel's timers "
				  "for perf events fire at most every %u us",
				  name, rate->period_ns, WEFT_PROFILE_FLOOR_NS / 1000);
	if (beyond_sysctl(rate, limits))
		return host->fail(err, -EINVAL, "PROFILE_TOO_FAST",
				  "'%s' fires more than %" PRIu64 " times a second, the limit that "
				  "the sysctl kernel.perf_event_max_sample_rate sets",
				  name, limits->max_per_second);
	return 0;
}

void weft_profile_limits_read(struct weft_profile_limits *out)
{
	if (support_read_u64("/proc/sys/kernel/perf_event_max_sample_rate", &out->max_per_second))
		out->max_per_second = 0;
}
