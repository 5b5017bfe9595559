/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A sink that remembers, as text, what it was given; and symbols that the tests can foresee:
 * address A of the kernel is k<A / 256> in vmlinux, address A of process P is u<R / 256> in
 * /bin/app, where R = A - 0x10000 * P; from R = 0x7000 on without a symbol, from 0x8000 on nothing
 * is known.
 */
#ifndef WEFT_TEST_CONSUMER_SUPPORT_H
#define WEFT_TEST_CONSUMER_SUPPORT_H

#include <stdio.h>

#include "core/consumer.h"
#include "core/consumer/internal.h"
#include "tests/kernel/support.h"

struct seen_sink {
	char *text; /* one line for each thing */
	size_t size;
	FILE *file;
	size_t n_records, n_tables;
	uint64_t last_time, disorder;
	uint64_t elapsed_ns; /* of the last table's scale */
	int fail;            /* what record() and table() return */
};

void seen_init(struct seen_sink *s, struct weft_sink *out);
void seen_finish(struct seen_sink *s);
/* What was seen since the last call; valid until the next. */
const char *seen_text(struct seen_sink *s);

/* A plan, a consumer over it, and its sink. */
struct fixture {
	struct test_plan t;
	struct weft_aggregation aggs[4];
	struct weft_schema schemas[4];
	struct weft_control_site controls[4];
	struct seen_sink seen;
	struct weft_sink sink;
	struct weft_consumer *c;
};
/* The plan is the test's to complete before fixture_start(). */
void fixture_init(struct fixture *f);
void fixture_start(struct fixture *f);
void fixture_finish(struct fixture *f);
void fixture_poll(struct fixture *f, bool attached, bool *exiting);
const char *fixture_show(struct fixture *f, bool attached);

#endif
