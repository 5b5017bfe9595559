/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "tests/random/random.h"

#include <string.h>

/* splitmix64: every seed is as good as any other. */
void rnd_seed(struct rnd_draw *d, uint64_t seed)
{
	d->state = seed;
}

uint64_t rnd_next(struct rnd_draw *d)
{
	uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint32_t rnd_below(struct rnd_draw *d, uint32_t n)
{
	return (uint32_t)((rnd_next(d) >> 32) * n >> 32);
}

uint64_t rnd_value(struct rnd_draw *d)
{
	static const uint64_t ends[] = {
		0,
		1,
		UINT64_MAX,
		127,
		128,
		255,
		256,
		32767,
		32768,
		65535,
		65536,
		INT32_MAX,
		0x80000000,
		UINT32_MAX,
		INT64_MAX,
		10000000000,
		47,
		4095,
		4096,
		UINT64_C(1) << 32,
		UINT64_C(1) << 63,
	};
	uint64_t v = rnd_next(d);

	switch (rnd_below(d, 8)) {
	case 0:
	case 1:
		return v % 5;
	case 2:
		return 0 - v % 5;
	case 3:
		return UINT64_C(1) << rnd_below(d, 64);
	case 4:
		return (UINT64_C(1) << rnd_below(d, 64)) - 1;
	case 5:
		v = ends[rnd_below(d, N(ends))];
		return rnd_one_in(d, 3) ? 0 - v : v;
	default:
		return v >> rnd_below(d, 64);
	}
}

struct rnd_text rnd_text(struct rnd_draw *d, struct weft_arena *arena, uint32_t most)
{
	static const char letters[] = "ab/ab/abc.";
	uint32_t n = rnd_one_in(d, 3) ? most : rnd_below(d, most < 12 ? most + 1 : 12);
	bool odd = rnd_one_in(d, 4);
	uint8_t *s = weft_arena_alloc(arena, n + 1);

	if (n && rnd_one_in(d, 6))
		n--;
	for (uint32_t i = 0; i < n; i++)
		s[i] = odd ? (uint8_t)(1 + rnd_below(d, 255))
			   : (uint8_t)letters[rnd_below(d, sizeof(letters) - 1)];
	return (struct rnd_text){s, n};
}
