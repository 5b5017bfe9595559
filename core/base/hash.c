/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/base/hash.h"

#include <sys/random.h>
#include <time.h>

struct weft_hash_key weft_hash_key_random(void)
{
	struct weft_hash_key key;

	/* Early in boot there may be no randomness yet; waiting for it would be worse than a key
	 * that can be guessed. */
	if (getrandom(&key, sizeof(key), GRND_NONBLOCK) != (ssize_t)sizeof(key)) {
		struct timespec now;

		clock_gettime(CLOCK_MONOTONIC, &now);
		key.k[0] = (uint64_t)now.tv_nsec * UINT64_C(0x9e3779b97f4a7c15);
		key.k[1] = (uint64_t)(uintptr_t)&now ^ UINT64_C(0xd1b54a32d192ed03);
	}
	/* An even factor would lose bits. */
	key.k[1] |= 1;
	return key;
}
