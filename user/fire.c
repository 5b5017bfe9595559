/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Firing, and giving up tracers that are dead.
 *
 * A tracer counts up the beat of its slot once a second for as long as it has probes enabled. Who
 * fires compares the beat with the one seen before: if it has not changed for WEFT_LEASE_MS by our
 * own clock, the tracer was killed, and its byte of the probe's word is cleared. Only our own
 * readings of our own clock are compared, so that time namespaces do not matter. The clock is the
 * coarse one, which the vDSO answers from memory: 5 ns and never a system call.
 *
 * beat[] and since[] are written by any thread that sees a change: all write nearly the same, and
 * an older value in `since` means at worst that the beat is looked at once more in 10 s.
 */
#include <string.h>
#include <time.h>

#include "internal.h"

static uint64_t now_ms(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_MONOTONIC_COARSE, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool is_alive(struct weft_table_slot *slot, unsigned s, uint64_t now)
{
	uint64_t beat = __atomic_load_n(&slot->beat, __ATOMIC_RELAXED), since;

	if (!beat)
		return false;
	if (beat != __atomic_load_n(&weft_user.beat[s], __ATOMIC_RELAXED)) {
		__atomic_store_n(&weft_user.since[s], now, __ATOMIC_RELAXED);
		__atomic_store_n(&weft_user.beat[s], beat, __ATOMIC_RELEASE);
		return true;
	}
	since = __atomic_load_n(&weft_user.since[s], __ATOMIC_RELAXED);
	return now < since + WEFT_LEASE_MS;
}

/* Clears the bytes of dead tracers; false: nobody is left. */
static bool check_leases(uint64_t *word, uint64_t value)
{
	struct weft_table_slot *slots = (void *)((char *)weft_user.table + WEFT_TABLE_SLOTS_AT);
	uint64_t now = now_ms();
	bool any = false;

	while (value) {
		unsigned s = (unsigned)__builtin_ctzll(value) / 8;

		value &= ~(UINT64_C(0xff) << 8 * s);
		if (is_alive(&slots[s], s, now)) {
			any = true;
			continue;
		}
		__atomic_store_n((uint8_t *)word + s, 0, __ATOMIC_RELAXED);
		__atomic_fetch_add(&slots[s].expired, 1, __ATOMIC_RELAXED);
	}
	return any;
}

static bool is_ours(const uint64_t *word)
{
	return __atomic_load_n(&weft_user.table, __ATOMIC_ACQUIRE) &&
	       (uint64_t)word - (uint64_t)weft_user.words < weft_user.words_size;
}

uint64_t weft_probe_word(const weft_probe *probe)
{
	const uint64_t *word = (const void *)probe;

	if (!is_ours(word))
		return 0;
	return weft_user.call + (uint64_t)(word - weft_user.words);
}

void weft_probe_fire(weft_probe *probe, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	uint64_t *word = (void *)probe;

	if (!is_ours(word) || __atomic_load_n(&weft_user.off, __ATOMIC_RELAXED) ||
	    !check_leases(word, __atomic_load_n(word, __ATOMIC_RELAXED)))
		return;
	weft_user_call(weft_user.call + (uint64_t)(word - weft_user.words), a, b, c, d, e);
}

void weft_probe_fire_words(weft_probe *probe, const uint64_t *words, unsigned n)
{
	uint64_t w[WEFT_TABLE_INLINE] = {0};

	if (n > WEFT_TABLE_INLINE) {
		weft_probe_fire(probe, (uint64_t)words, n, 0, 0, 0);
		return;
	}
	memcpy(w, words, n * sizeof(w[0]));
	weft_probe_fire(probe, w[0], w[1], w[2], w[3], w[4]);
}

void weft_user_announce(void)
{
	weft_user_call(WEFT_CALL_WORD(WEFT_CALL_REGISTER), weft_user.number, 0, 0, 0, 0);
}
