/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Time order. CPUs reserve records one after the other, stamp them after that, and commit them in
 * any order. The position of a record in the ring says nothing exact about its time, but this much:
 *
 *   Take a snapshot: first the clock, S, then the producer's position, P. A record at P or behind
 *   was reserved after P was read, hence after S, and was stamped later still: its time is above S.
 *   (The clock is the same for all CPUs, and the two loads are ordered; see kernel/clock.h.)
 *
 * So as soon as everything below P has been read, however many calls that takes because a record on
 * the way was busy, every record with a time up to S has been seen: those are settled, and go out
 * sorted. What is newer than S is held until the next snapshot. Between records of equal time the
 * position decides; one CPU's own records stay in their order.
 *
 * One snapshot is waited for at a time. Were a drain judged only by whether it ended clean, a storm
 * in which every drain meets some busy record would never settle anything; a snapshot settles as
 * soon as its own records are committed.
 *
 * Memory. Reading goes no further than P. What is held after a round is newer than its S though it
 * lies below its P; it was committed when it was read, so the next snapshot's S is above its time
 * and the next round settles it. Held are therefore at most the records below one P and what the
 * round before left: less than twice the ring. Should stamps lie in the future, which no program of
 * ours writes, HELD_MOST bounds the memory and the oldest go out unsettled.
 */
#include "core/consumer/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/arena.h"
#include "core/kernel/clock.h"
#include "core/plan.h"

#define ROUNDS        4 /* snapshots of one call: so that other work gets its turn */
#define HELD_RINGS    4 /* the most that is held, in sizes of the ring */
#define UNFINISHED_MS 2000

void weft_stream_finish(struct weft_stream *s)
{
	weft_ring_unmap(&s->ring);
	free(s->held);
	free(s->bytes);
	memset(s, 0, sizeof(*s));
}

/* ---- what is held ---- */

static int hold(struct weft_stream *s, const void *record, size_t size)
{
	const struct weft_record_header *h = record;
	size_t room = (size + 7) & ~(size_t)7;

	if (s->n_bytes + room > s->cap_bytes) {
		size_t cap = s->cap_bytes ? s->cap_bytes * 2 : 16 << 10;
		uint8_t *bytes;

		while (cap < s->n_bytes + room)
			cap *= 2;
		bytes = realloc(s->bytes, cap);
		if (!bytes)
			return -ENOMEM;
		s->bytes = bytes;
		s->cap_bytes = cap;
	}
	if (weft_grow(&s->held, &s->cap_held, s->n_held, sizeof(*s->held)))
		return -ENOMEM;
	memcpy(s->bytes + s->n_bytes, record, size);
	s->held[s->n_held++] = (struct weft_held){h->time_ns, s->sequence++, s->n_bytes, size};
	s->n_bytes += room;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct weft_held *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static int by_sequence(const void *a, const void *b)
{
	const struct weft_held *x = a, *y = b;

	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static void sort_held(struct weft_stream *s, int (*order)(const void *, const void *))
{
	size_t i;

	for (i = 1; i < s->n_held; i++)
		if (order(&s->held[i - 1], &s->held[i]) > 0)
			break;
	if (i < s->n_held)
		qsort(s->held, s->n_held, sizeof(*s->held), order);
}

/* Takes the first n of held out, and moves the bytes of the others together. */
static void forget(struct weft_stream *s, size_t n)
{
	size_t i, to = 0;

	if (!n)
		return;
	s->n_held -= n;
	memmove(s->held, s->held + n, s->n_held * sizeof(*s->held));
	if (s->n_held)
		sort_held(s, by_sequence); /* the order in which their bytes lie */
	for (i = 0; i < s->n_held; i++) {
		struct weft_held *h = &s->held[i];

		memmove(s->bytes + to, s->bytes + h->at, h->size);
		h->at = to;
		to += (h->size + 7) & ~(size_t)7;
	}
	s->n_bytes = to;
}

static int deliver(struct weft_stream *s, uint64_t until, weft_stream_fn fn, void *arg)
{
	size_t i;
	int ret = 0;

	sort_held(s, by_time);
	for (i = 0; i < s->n_held && !ret; i++) {
		if (s->held[i].time_ns > until)
			break;
		ret = fn(s->bytes + s->held[i].at, s->held[i].size, arg);
	}
	forget(s, i);
	return ret;
}

/* ---- reading ---- */

static int read_to(struct weft_stream *s, uint64_t limit, enum weft_ring_state *state,
		   struct weft_error *err)
{
	const void *record;
	size_t size;

	for (;;) {
		*state = weft_ring_next(&s->ring, limit, &record, &size);
		if (*state == WEFT_RING_BROKEN)
			return weft_fail(err, -EBADMSG, "RECORD_BROKEN",
					 "the buffer of records is damaged");
		if (*state != WEFT_RING_RECORD)
			return 0;
		if (size >= sizeof(struct weft_record_header) && hold(s, record, size))
			return weft_nomem(err);
		weft_ring_take(&s->ring);
	}
}

static bool nothing_left(const struct weft_stream *s)
{
	/* Our position is published before the producer's is looked at: who commits after this look
	 * sees it, and wakes us. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return !s->n_held && weft_ring_produced(&s->ring) == weft_ring_consumed(&s->ring);
}

int weft_stream_poll(struct weft_stream *s, weft_stream_fn fn, void *arg, bool *more,
		     struct weft_error *err)
{
	enum weft_ring_state state;
	bool fresh = false; /* whether a snapshot was taken in this call */
	int round, ret;

	*more = false;
	for (round = 0; round < ROUNDS; round++) {
		if (!s->waiting) {
			s->snapshot_time = weft_clock_before();
			s->snapshot_position = weft_ring_produced(&s->ring);
			s->waiting = fresh = true;
		}
		ret = read_to(s, s->snapshot_position, &state, err);
		if (ret)
			return ret;
		if (state == WEFT_RING_BUSY) {
			/* Its commit wakes us. */
			if (s->n_bytes > HELD_RINGS * s->ring.size)
				return deliver(s, UINT64_MAX, fn, arg);
			return 0;
		}
		s->waiting = false;
		s->settled = s->snapshot_time;
		ret = deliver(s, s->n_bytes > HELD_RINGS * s->ring.size ? UINT64_MAX : s->settled,
			      fn, arg);
		if (ret)
			return ret;
		if (fresh && nothing_left(s))
			return 0;
	}
	*more = !nothing_left(s);
	return 0;
}

int weft_stream_drain(struct weft_stream *s, weft_stream_fn fn, void *arg, struct weft_error *err)
{
	const struct timespec ms = {.tv_nsec = 1000000};
	enum weft_ring_state state;
	int ret, waited = 0;

	for (;;) {
		ret = read_to(s, weft_ring_produced(&s->ring), &state, err);
		if (ret)
			return ret;
		if (state != WEFT_RING_BUSY)
			break;
		if (waited++ == UNFINISHED_MS) {
			deliver(s, UINT64_MAX, fn, arg);
			return weft_fail(err, -ETIMEDOUT, "RECORD_UNFINISHED",
					 "a program began a record and does not finish it; what "
					 "follows it is lost");
		}
		nanosleep(&ms, NULL);
	}
	s->waiting = false;
	s->settled = weft_clock_before();
	return deliver(s, UINT64_MAX, fn, arg);
}
