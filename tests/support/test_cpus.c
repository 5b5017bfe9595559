/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <unistd.h>

#include "support/cpus.h"

Test(cpus, lists_are_read)
{
	static const struct {
		const char *text;
		uint32_t count;
		int members[8]; /* ends with -1 */
	} cases[] = {
		{"", 0, {-1}},
		{"\n", 0, {-1}},
		{"0", 1, {0, -1}},
		{"0-1\n", 2, {0, 1, -1}},
		{"0-3,5\n", 5, {0, 1, 2, 3, 5, -1}},
		{"1,63-64,8191", 4, {1, 63, 64, 8191, -1}},
		{"7,2", 2, {2, 7, -1}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct support_cpus s;
		cr_expect_eq(support_cpus_parse(cases[i].text, &s), 0, "'%s'", cases[i].text);
		cr_expect_eq(support_cpus_count(&s), cases[i].count, "'%s'", cases[i].text);
		int cpu = -1;
		for (size_t k = 0;; k++) {
			cpu = support_cpus_next(&s, cpu + 1);
			cr_expect_eq(cpu, cases[i].members[k], "'%s', member %zu: %d",
				     cases[i].text, k, cpu);
			if (cases[i].members[k] < 0)
				break;
			cr_expect(support_cpus_has(&s, (uint32_t)cpu));
		}
	}
}

Test(cpus, what_is_no_list_is_refused)
{
	static const char *const bad[] = {"x",  "-1",  "0-",   "0--1", "3-1",   "0,",
					  ",0", "0 1", "0-1x", "\n0",  "0\n\n", "0-1-2"};
	static const char *const far[] = {"8192", "0-8192", "99999999999999999999"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct support_cpus s;
		cr_expect_eq(support_cpus_parse(bad[i], &s), -EINVAL, "'%s'", bad[i]);
		cr_expect_eq(support_cpus_count(&s), 0);
	}
	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		struct support_cpus s;
		cr_expect_eq(support_cpus_parse(far[i], &s), -ERANGE, "'%s'", far[i]);
	}
}

Test(cpus, members_come_and_go)
{
	struct support_cpus s = {{0}};

	support_cpus_add(&s, 200);
	cr_expect(support_cpus_has(&s, 200));
	cr_expect_not(support_cpus_has(&s, 201));
	cr_expect_not(support_cpus_has(&s, SUPPORT_MAX_CPUS + 200), "beyond the set");
	support_cpus_add(&s, SUPPORT_MAX_CPUS);
	cr_expect_eq(support_cpus_count(&s), 1);
	cr_expect_eq(support_cpus_next(&s, 0), 200);
	cr_expect_eq(support_cpus_next(&s, 201), -1);
	support_cpus_remove(&s, 200);
	cr_expect_eq(support_cpus_count(&s), 0);
}

Test(cpus, this_machine_agrees_with_libc)
{
	struct support_cpus online, possible;

	cr_assert_eq(support_cpus_online(&online), 0);
	cr_assert_eq(support_cpus_possible(&possible), 0);
	cr_expect_eq(support_cpus_count(&online), (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	for (int cpu = support_cpus_next(&online, 0); cpu >= 0;
	     cpu = support_cpus_next(&online, cpu + 1))
		cr_expect(support_cpus_has(&possible, (uint32_t)cpu), "CPU %d", cpu);
}
