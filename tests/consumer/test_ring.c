/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The ring and its time order, on memory that the test plays the kernel for. */
#include <errno.h>
#include <sys/mman.h>

#include "core/kernel/clock.h"
#include "tests/consumer/support.h"

enum { SIZE = 4096 };

struct fake {
	uint64_t consumer, producer;
	uint8_t *data;
	struct weft_stream s;
	char got[2000]; /* ids as delivered */
	size_t n_got;
	uint64_t last;
};

struct fake_record {
	struct weft_record_header h;
	uint64_t id;
};

static struct fake *fake_new(void)
{
	struct fake *f = calloc(1, sizeof(*f));
	int fd = memfd_create("ring", MFD_CLOEXEC);

	cr_assert_eq(ftruncate(fd, SIZE), 0);
	f->data = mmap(NULL, 2 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mmap(f->data, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	mmap(f->data + SIZE, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	close(fd);
	f->s.ring = (struct weft_ring){
		.consumer = &f->consumer, .producer = &f->producer, .data = f->data, .size = SIZE};
	return f;
}

static void fake_free(struct fake *f)
{
	weft_stream_finish(&f->s);
	munmap(f->data, 2 * SIZE);
	free(f);
}

static uint32_t *reserve(struct fake *f, uint32_t length)
{
	uint32_t *header = (uint32_t *)(f->data + f->producer % SIZE);

	cr_assert_leq(f->producer + (length + 15) / 8 * 8 - f->consumer, SIZE, "the ring is full");
	header[0] = length | BPF_RINGBUF_BUSY_BIT;
	header[1] = 0;
	f->producer += (length + 15) / 8 * 8;
	return header;
}

static uint32_t *begin(struct fake *f)
{
	return reserve(f, sizeof(struct fake_record));
}

static void commit(uint32_t *header, uint64_t time, uint64_t id)
{
	struct fake_record r = {.h.time_ns = time, .id = id};

	memcpy(header + 2, &r, sizeof(r));
	header[0] &= ~(uint32_t)BPF_RINGBUF_BUSY_BIT;
}

static void discard(uint32_t *header)
{
	header[0] = (header[0] & ~(uint32_t)BPF_RINGBUF_BUSY_BIT) | BPF_RINGBUF_DISCARD_BIT;
}

static void put(struct fake *f, uint64_t time, uint64_t id)
{
	commit(begin(f), time, id);
}

static int meet(const void *record, size_t size, void *arg)
{
	const struct fake_record *r = record;
	struct fake *f = arg;

	cr_expect_eq(size, sizeof(*r));
	cr_expect_geq(r->h.time_ns, f->last, "in time order");
	f->last = r->h.time_ns;
	f->n_got += (size_t)snprintf(f->got + f->n_got, sizeof(f->got) - f->n_got, "%lu ", r->id);
	return 0;
}

static void expect(struct fake *f, const char *ids)
{
	bool more;

	f->n_got = 0;
	f->got[0] = '\0';
	cr_expect_eq(weft_stream_poll(&f->s, meet, f, &more, NULL), 0);
	cr_expect_str_eq(f->got, ids);
	cr_expect_not(more);
}

static void expect_drain(struct fake *f, const char *ids)
{
	f->n_got = 0;
	f->got[0] = '\0';
	cr_expect_eq(weft_stream_drain(&f->s, meet, f, NULL), 0);
	cr_expect_str_eq(f->got, ids);
}

static const uint64_t far = UINT64_MAX / 2; /* a time that never comes */

Test(ring, nothing)
{
	struct fake *f = fake_new();

	expect(f, "");
	expect_drain(f, "");
	fake_free(f);
}

Test(ring, sorted_by_time_and_by_place_where_equal)
{
	struct fake *f = fake_new();

	put(f, 30, 1);
	put(f, 10, 2);
	put(f, 20, 3);
	put(f, 20, 4);
	put(f, 10, 5);
	expect(f, "2 5 3 4 1 ");
	cr_expect_eq(f->consumer, f->producer);
	fake_free(f);
}

Test(ring, discarded_records_are_passed_over)
{
	struct fake *f = fake_new();

	discard(begin(f));
	put(f, 1, 1);
	discard(reserve(f, 100));
	put(f, 2, 2);
	discard(begin(f));
	expect(f, "1 2 ");
	cr_expect_eq(f->consumer, f->producer);
	fake_free(f);
}

Test(ring, around_the_end_many_times)
{
	struct fake *f = fake_new();
	uint64_t id = 0;
	int i, k;

	for (i = 0; i < 200; i++) {
		char want[200];
		size_t n = 0;

		for (k = 0; k < 7; k++) {
			discard(reserve(f, (uint32_t)(8 * k + 1)));
			put(f, id + 1, id);
			n += (size_t)snprintf(want + n, sizeof(want) - n, "%lu ", id++);
		}
		expect(f, want);
	}
	cr_expect_gt(f->producer, 10u * SIZE);
	fake_free(f);
}

Test(ring, a_full_ring)
{
	struct fake *f = fake_new();
	char want[2000];
	size_t n = 0;
	uint64_t i;

	for (i = 0; i < SIZE / 40; i++) {
		put(f, i, i);
		n += (size_t)snprintf(want + n, sizeof(want) - n, "%lu ", i);
	}
	expect(f, want);
	fake_free(f);
}

/* Behind a busy record nothing is final, not even what lies before it: it may be older. */
Test(ring, a_busy_record_holds_back)
{
	struct fake *f = fake_new();
	uint32_t *busy;

	put(f, 20, 1);
	busy = begin(f);
	put(f, 5, 3);
	expect(f, "");
	expect(f, "");
	cr_expect_eq(f->consumer, 40u, "it stands at the busy record");
	commit(busy, 10, 2);
	expect(f, "3 2 1 ");
	fake_free(f);
}

/* A snapshot settles when its own records are there, whatever is busy behind it. */
Test(ring, a_storm_of_busy_records_settles)
{
	struct fake *f = fake_new();
	uint32_t *busy = begin(f), *next;
	uint64_t i;

	expect(f, "");
	for (i = 1; i < 50; i++) {
		char want[40];
		uint64_t now = weft_clock_before();

		next = begin(f); /* always one is busy */
		commit(busy, now - 1000000, i);
		/* The record that was committed was below the last snapshot. */
		snprintf(want, sizeof(want), "%lu ", i);
		expect(f, want);
		busy = next;
	}
	commit(busy, weft_clock_before(), i);
	expect_drain(f, "50 ");
	fake_free(f);
}

Test(ring, what_is_newer_than_the_snapshot_waits)
{
	struct fake *f = fake_new();
	bool more = false;

	put(f, 1, 1);
	put(f, far, 2);
	put(f, 2, 3);
	f->n_got = 0;
	cr_expect_eq(weft_stream_poll(&f->s, meet, f, &more, NULL), 0);
	cr_expect_str_eq(f->got, "1 3 ");
	cr_expect(more, "somebody must call again");
	cr_expect_eq(f->consumer, f->producer, "but it has left the ring");
	put(f, 3, 4);
	f->n_got = 0;
	cr_expect_eq(weft_stream_poll(&f->s, meet, f, &more, NULL), 0);
	cr_expect_str_eq(f->got, "4 ");
	expect_drain(f, "2 ");
	fake_free(f);
}

/* Stamps of the future, without end: memory stays bounded. */
Test(ring, held_records_are_bounded)
{
	struct fake *f = fake_new();
	bool more;
	int i, k;

	for (i = 0; i < 100; i++) {
		for (k = 0; k < 50; k++)
			put(f, far + (uint64_t)(i * 50 + k), 0);
		f->n_got = 0;
		cr_expect_eq(weft_stream_poll(&f->s, meet, f, &more, NULL), 0);
		cr_expect_leq(f->s.n_bytes, 5u * SIZE);
		cr_expect_leq(f->s.cap_bytes, 16u * SIZE);
	}
	fake_free(f);
}

static int refuse(const void *record, size_t size, void *arg)
{
	(void)record;
	(void)size;
	++*(int *)arg;
	return -EPIPE;
}

Test(ring, what_the_reader_refuses_is_not_repeated)
{
	struct fake *f = fake_new();
	bool more;
	int n = 0;

	put(f, 1, 1);
	put(f, 2, 2);
	cr_expect_eq(weft_stream_poll(&f->s, refuse, &n, &more, NULL), -EPIPE);
	cr_expect_eq(n, 1);
	expect(f, "2 ");
	fake_free(f);
}

Test(ring, RECORD_BROKEN)
{
	static const uint32_t lengths[] = {SIZE, 0x3fffffff, 0x3ffffff0, 2000, 41};
	struct weft_error *err = weft_error_create();
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct fake *f = fake_new();
		uint32_t *header;
		bool more;

		put(f, 1, 1);
		header = begin(f);
		commit(header, 2, 2);
		header[0] = lengths[i];
		weft_error_clear(err);
		cr_expect_eq(weft_stream_poll(&f->s, meet, f, &more, err), -EBADMSG, "%u",
			     lengths[i]);
		cr_expect_str_eq(weft_error_tag(err), "RECORD_BROKEN");
		weft_error_clear(err);
		cr_expect_eq(weft_stream_drain(&f->s, meet, f, err), -EBADMSG);
		fake_free(f);
	}
	weft_error_destroy(err);
}

/* A record that is too short for our header is none. */
Test(ring, short_records_are_passed_over)
{
	struct fake *f = fake_new();
	uint32_t *header = reserve(f, 8);

	header[0] &= ~(uint32_t)BPF_RINGBUF_BUSY_BIT;
	header = reserve(f, 0);
	header[0] &= ~(uint32_t)BPF_RINGBUF_BUSY_BIT;
	put(f, 1, 1);
	expect(f, "1 ");
	fake_free(f);
}

Test(ring, RECORD_UNFINISHED)
{
	struct fake *f = fake_new();
	struct weft_error *err = weft_error_create();

	put(f, 1, 1);
	begin(f);
	put(f, 2, 2);
	cr_expect_eq(weft_stream_drain(&f->s, meet, f, err), -ETIMEDOUT);
	cr_expect_str_eq(weft_error_tag(err), "RECORD_UNFINISHED");
	cr_expect_str_eq(f->got, "1 ", "what came before it is delivered");
	fake_free(f);
	weft_error_destroy(err);
}

Test(ring, RECORD_BUFFER)
{
	struct weft_error *err = weft_error_create();
	struct weft_ring r = {0};

	cr_expect_eq(weft_ring_map(&r, -1, SIZE, err), -EBADF);
	cr_expect_str_eq(weft_error_tag(err), "RECORD_BUFFER");
	weft_ring_unmap(&r);
	weft_error_destroy(err);
}
