/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "test_profile.h"

#define S UINT64_C(1000000000)

static const struct weft_profile_limits usual = {.max_per_second = 100000};

Test(profile_rate, names_and_their_periods)
{
	static const struct {
		const char *name;
		uint64_t period_ns;
		bool tick;
	} cases[] = {
		{"profile-99", 10101010, false},
		{"profile-99hz", 10101010, false},
		{"profile-997Hz", 1003009, false},
		{"profile-997HZ", 1003009, false},
		{"profile-4999", 200040, false},
		{"profile-1", S, false},
		{"profile-100000", 10000, false},
		{"tick-3", 333333333, true},
		{"tick-1", S, true},
		{"tick-1hz", S, true},
		{"tick-10000ns", 10000, true},
		{"tick-10000nsec", 10000, true},
		{"tick-10us", 10000, true},
		{"tick-10usec", 10000, true},
		{"tick-100ms", S / 10, true},
		{"tick-100msec", S / 10, true},
		{"tick-1s", S, true},
		{"tick-1sec", S, true},
		{"tick-1m", 60 * S, true},
		{"tick-1min", 60 * S, true},
		{"tick-1h", 3600 * S, true},
		{"tick-1hour", 3600 * S, true},
		{"tick-1d", 86400 * S, true},
		{"tick-1day", 86400 * S, true},
		{"tick-106751d", UINT64_C(106751) * 86400 * S, true},
		{"tick-9223372036854775807ns", INT64_MAX, true},
		{"profile-007ms", 7000000, false},
	};
	struct test_host h = {0};

	test_host_start(&h, &weft_provider_plugin, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_profile_rate rate;
		cr_assert_eq(weft_profile_rate_parse(&h.host, cases[i].name, &rate, h.err), 0,
			     "%s: %s", cases[i].name, weft_error_text(h.err));
		cr_expect_eq(rate.period_ns, cases[i].period_ns, "%s: %lu", cases[i].name,
			     (unsigned long)rate.period_ns);
		cr_expect_eq(rate.tick, cases[i].tick, "%s", cases[i].name);
		cr_expect_eq(weft_profile_rate_check(&h.host, cases[i].name, &rate, &usual, h.err),
			     0, "%s", cases[i].name);
	}
	test_host_stop(&h);
}

/* Every name is refused with that tag, by parsing or by checking, and the text names it. */
static void refused(const char *tag, int code, const struct weft_profile_limits *limits,
		    const char *const *names, const char *says)
{
	struct test_host h = {0};

	test_host_start(&h, &weft_provider_plugin, NULL);
	for (; *names; names++) {
		struct weft_profile_rate rate;
		int ret = weft_profile_rate_parse(&h.host, *names, &rate, h.err);
		if (!ret)
			ret = weft_profile_rate_check(&h.host, *names, &rate, limits, h.err);
		cr_expect_eq(ret, code, "'%s': %d", *names, ret);
		cr_expect_eq(weft_error_count(h.err), 1, "'%s'", *names);
		cr_expect_str_eq(weft_error_tag(h.err), tag, "'%s'", *names);
		cr_expect(strstr(weft_error_text(h.err), *names), "'%s' in: %s", *names,
			  weft_error_text(h.err));
		cr_expect(strstr(weft_error_text(h.err), says), "'%s' in: %s", says,
			  weft_error_text(h.err));
		weft_error_clear(h.err);
	}
	test_host_stop(&h);
}

#define REFUSED(tag, code, limits, says, ...) \
	refused(tag, code, limits, (const char *const[]){__VA_ARGS__, NULL}, says)

Test(profile_rate, PROFILE_NAME)
{
	REFUSED("PROFILE_NAME", -EINVAL, &usual, "profile-N[unit]", "profile", "tick", "tock-1",
		"Profile-99", " profile-99", "profile99", "entry");
	REFUSED("PROFILE_NAME", -EINVAL, &usual, "number is missing", "profile-", "tick-s",
		"tick-+1", "tick- 1", "profile-hz", "tick--", "tick-.5s");
}

Test(profile_rate, PROFILE_RATE_ZERO)
{
	REFUSED("PROFILE_RATE_ZERO", -EINVAL, &usual, "zero", "profile-0", "tick-0s", "tick-000");
}

Test(profile_rate, PROFILE_RATE_NEGATIVE)
{
	REFUSED("PROFILE_RATE_NEGATIVE", -EINVAL, &usual, "negative", "profile--1", "tick--5ms",
		"tick--0");
}

Test(profile_rate, PROFILE_RATE_OVERFLOW)
{
	REFUSED("PROFILE_RATE_OVERFLOW", -ERANGE, &usual, "18446744073709551615",
		"profile-18446744073709551616", "tick-99999999999999999999999s");
}

Test(profile_rate, PROFILE_TRAILING)
{
	REFUSED("PROFILE_TRAILING", -EINVAL, &usual, "does not belong", "profile-99 ",
		"profile-99.5", "tick-1s2", "tick-1s ", "tick-10hz/2", "tick-1 s", "tick-1-2");
}

Test(profile_rate, PROFILE_UNIT)
{
	REFUSED("PROFILE_UNIT", -EINVAL, &usual, "did you mean 'msec'?", "tick-5mesc");
	REFUSED("PROFILE_UNIT", -EINVAL, &usual, "did you mean 'hz'?", "profile-99hzz");
	REFUSED("PROFILE_UNIT", -EINVAL, &usual, "did you mean 'hour'?", "tick-2hours");
	REFUSED("PROFILE_UNIT", -EINVAL, &usual, "there are hz", "tick-2x", "tick-2fortnights");
}

Test(profile_rate, PROFILE_TOO_FAST)
{
	static const struct weft_profile_limits low = {.max_per_second = 1000}, unknown = {0};

	REFUSED("PROFILE_TOO_FAST", -EINVAL, &usual, "every 10 us", "profile-100100",
		"profile-1000000000", "tick-9999ns", "tick-9us", "tick-1ns");
	REFUSED("PROFILE_TOO_FAST", -EINVAL, &usual, "once a nanosecond", "profile-3000000000",
		"tick-18446744073709551615");
	REFUSED("PROFILE_TOO_FAST", -EINVAL, &low,
		"1000 times a second, the limit that the sysctl "
		"kernel.perf_event_max_sample_rate",
		"profile-1001", "tick-100us");
	REFUSED("PROFILE_TOO_FAST", -EINVAL, &unknown, "every 10 us", "profile-200000");
}

Test(profile_rate, PROFILE_TOO_SLOW)
{
	REFUSED("PROFILE_TOO_SLOW", -ERANGE, &usual, "292 years", "tick-106752d",
		"tick-9223372036854775808ns", "profile-18446744073709551615day");
}

Test(profile_rate, limits_of_this_kernel)
{
	struct weft_profile_limits limits;

	weft_profile_limits_read(&limits);
	cr_expect_gt(limits.max_per_second, 0, "/proc/sys/kernel/perf_event_max_sample_rate");
}
