/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Integers of 128 bits: what sums are in once they have left the kernel. */
#ifndef WEFT_CORE_WIDE_H
#define WEFT_CORE_WIDE_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef __int128 weft_wide;
__extension__ typedef unsigned __int128 weft_uwide;

/* The two words of a sum as a program keeps them: core/plan.h. */
static inline weft_wide weft_wide_of(uint64_t low, int64_t high, bool is_unsigned)
{
	weft_wide v = is_unsigned ? (weft_wide)low : (weft_wide)(int64_t)low;

	return v + (weft_wide)((weft_uwide)high << 64);
}

#endif
