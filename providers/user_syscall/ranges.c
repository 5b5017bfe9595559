/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Ranges of PROBES: what the dispatcher finds a probe in by its index. Written through the mapping. */
#include <errno.h>
#include <string.h>

#include "kernel.h"

#define UNITS (US_MAX_PROBES / US_RANGE)

static uint32_t base_of(uint64_t range)
{
	return (uint32_t)range;
}

static uint32_t size_of(uint64_t range)
{
	return (uint32_t)(range >> 32);
}

/* The first of n units in a row that nobody has; UNITS: there are none. */
static uint32_t find_free(const struct us_kernel *k, uint32_t n)
{
	uint32_t row = 0;

	for (uint32_t u = 0; u < UNITS; u++) {
		row = k->owners[u] ? 0 : row + 1;
		if (row == n)
			return u + 1 - n;
	}
	return UNITS;
}

static int grow(struct us_kernel *k, uint32_t family, uint32_t index)
{
	struct us_family_value *f = &k->families[family];
	uint32_t size = US_RANGE, base, unit;

	while (size <= index)
		size *= 2;
	unit = size <= US_MAX_PROBES ? find_free(k, size / US_RANGE) : UNITS;
	if (unit == UNITS)
		return -ENOSPC;
	for (uint32_t u = unit; u < unit + size / US_RANGE; u++)
		k->owners[u] = (uint16_t)family;
	base = unit * US_RANGE;
	memcpy(&k->probes[base], &k->probes[base_of(f->range)],
	       size_of(f->range) * sizeof(k->probes[0]));
	__atomic_store_n(&f->range, (uint64_t)size << 32 | base, __ATOMIC_RELEASE);
	return 0;
}

int us_kernel_set_probe(struct us_kernel *k, uint32_t family, uint32_t index, uint64_t cookie,
			uint32_t slot)
{
	struct us_family_value *f = &k->families[family];
	struct us_probe_value *p;
	int ret;

	if (index >= size_of(f->range)) {
		ret = grow(k, family, index);
		if (ret)
			return ret;
	}
	p = &k->probes[base_of(f->range) + index];
	__atomic_store_n(&p->slot1, 0, __ATOMIC_SEQ_CST);
	if (slot == US_NO_SLOT)
		return 0;
	__atomic_store_n(&p->cookie, cookie, __ATOMIC_RELAXED);
	__atomic_store_n(&p->slot1, slot + 1, __ATOMIC_RELEASE);
	return 0;
}

void us_kernel_drop_family(struct us_kernel *k, uint32_t family)
{
	memset(&k->families[family], 0, sizeof(k->families[family]));
	for (uint32_t u = 0; u < UNITS; u++) {
		if (k->owners[u] != family)
			continue;
		memset(&k->probes[(size_t)u * US_RANGE], 0, US_RANGE * sizeof(k->probes[0]));
		k->owners[u] = 0;
	}
}
