/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "support/cpus.h"
#include "support/file.h"

/* Reads a number at *p and steps past it. */
static int number(const char **p, uint32_t *out)
{
	uint32_t value = 0;

	if (**p < '0' || **p > '9')
		return -EINVAL;
	for (; **p >= '0' && **p <= '9'; (*p)++) {
		value = value * 10 + (uint32_t)(**p - '0');
		if (value >= SUPPORT_MAX_CPUS)
			return -ERANGE;
	}
	*out = value;
	return 0;
}

static int parse(const char *p, struct support_cpus *out)
{
	if (*p == '\0' || *p == '\n')
		return p[0] == '\n' && p[1] != '\0' ? -EINVAL : 0;

	for (;;) {
		uint32_t first, last;
		int err = number(&p, &first);
		if (err)
			return err;
		last = first;
		if (*p == '-') {
			p++;
			err = number(&p, &last);
			if (err)
				return err;
			if (last < first)
				return -EINVAL;
		}
		for (uint32_t cpu = first; cpu <= last; cpu++)
			support_cpus_add(out, cpu);
		if (*p == ',') {
			p++;
			continue;
		}
		if (*p == '\n')
			p++;
		return *p == '\0' ? 0 : -EINVAL;
	}
}

int support_cpus_parse(const char *text, struct support_cpus *out)
{
	memset(out, 0, sizeof(*out));
	int err = parse(text, out);
	if (err)
		memset(out, 0, sizeof(*out));
	return err;
}

static int read_list(const char *path, struct support_cpus *out)
{
	char text[4096];

	memset(out, 0, sizeof(*out));
	long n = support_read_text(path, text, sizeof(text));
	return n < 0 ? (int)n : support_cpus_parse(text, out);
}

int support_cpus_online(struct support_cpus *out)
{
	return read_list("/sys/devices/system/cpu/online", out);
}

int support_cpus_possible(struct support_cpus *out)
{
	return read_list("/sys/devices/system/cpu/possible", out);
}

bool support_cpus_has(const struct support_cpus *set, uint32_t cpu)
{
	return cpu < SUPPORT_MAX_CPUS && (set->bits[cpu / 64] >> (cpu % 64) & 1);
}

void support_cpus_add(struct support_cpus *set, uint32_t cpu)
{
	if (cpu < SUPPORT_MAX_CPUS)
		set->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

void support_cpus_remove(struct support_cpus *set, uint32_t cpu)
{
	if (cpu < SUPPORT_MAX_CPUS)
		set->bits[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
}

uint32_t support_cpus_count(const struct support_cpus *set)
{
	uint32_t n = 0;

	for (size_t i = 0; i < SUPPORT_MAX_CPUS / 64; i++)
		n += (uint32_t)__builtin_popcountll(set->bits[i]);
	return n;
}

int support_cpus_next(const struct support_cpus *set, int from)
{
	if (from < 0)
		from = 0;
	for (uint32_t cpu = (uint32_t)from; cpu < SUPPORT_MAX_CPUS;) {
		uint64_t rest = set->bits[cpu / 64] >> (cpu % 64);
		if (rest)
			return (int)cpu + __builtin_ctzll(rest);
		cpu = (cpu / 64 + 1) * 64;
	}
	return -1;
}
