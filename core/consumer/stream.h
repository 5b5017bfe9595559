/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The records of a ring in time order. */
#ifndef WEFT_CONSUMER_STREAM_H
#define WEFT_CONSUMER_STREAM_H

#include "core/consumer/ring.h"

struct weft_held {
	uint64_t time_ns;
	uint64_t sequence; /* order in the ring */
	size_t at;         /* into bytes */
	size_t size;
};

struct weft_stream {
	struct weft_ring ring;
	/* The snapshot that is waited for: the clock, then the producer's position. */
	bool waiting;
	uint64_t snapshot_time, snapshot_position;
	uint64_t settled; /* every record up to this time has been delivered */
	/* Records that were read and not yet delivered. */
	struct weft_held *held;
	size_t n_held, cap_held;
	uint8_t *bytes;
	size_t n_bytes, cap_bytes;
	uint64_t sequence;
};

/* Frees what a stream holds, its ring included. A zeroed stream without a ring can be finished. */
void weft_stream_finish(struct weft_stream *s);

/* A record: struct weft_record_header and what follows. */
typedef int (*weft_stream_fn)(const void *record, size_t size, void *arg);

/* Reads what is there and delivers, in time order, what is settled. *more: records are left that
 * nobody will announce; call again soon. A result of fn other than 0 ends it and is returned.
 * RECORD_BROKEN: what the ring holds is no sequence of records. */
int weft_stream_poll(struct weft_stream *s, weft_stream_fn fn, void *arg, bool *more,
		     struct weft_error *err);
/* Once no program can write: reads and delivers everything. Waits for programs that are in the
 * midst of writing; RECORD_UNFINISHED if one does not end. */
int weft_stream_drain(struct weft_stream *s, weft_stream_fn fn, void *arg, struct weft_error *err);

#endif
