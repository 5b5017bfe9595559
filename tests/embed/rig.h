/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A handle whose callbacks write down all that they are given, as text that tests compare: only
 *what the header has is known here. A line each:
 *
 *	record PROBE NAME=VALUE ... ["TEXT"]
 *	KIND NAME [unit=UNIT] [left_out=N]: {NAME=VALUE ...} NUMBERS
 *	lost|fault|skipped COUNT TAG [WHERE]
 */
#ifndef TEST_EMBED_RIG_H
#define TEST_EMBED_RIG_H

#include <criterion/criterion.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "weft/weft.h"
#include "worker.h"

#define MAGIC 0x77656674L /* what fx-trace's math and fx-types listen to */
#define CALLS FIXTURE_WORKLOAD_DIR "/calls"

struct rig {
	struct weft_trace *t;
	struct weft_trace_options options;
	char *out, *log;
	size_t out_size, log_size;
	FILE *to, *to_log;
	uint64_t first_ns, last_ns; /* of records */
	size_t n_records;
	int (*on_record)(struct rig *r, const struct weft_trace_record *record); /* or NULL */
	int fail; /* what the callbacks return */
};

void rig_open(struct rig *r, uint32_t flags); /* with the fixtures' plugins */
void rig_close(struct rig *r);
/* A set from memory, named "set.yaml". */
void rig_set(struct rig *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Starts, runs until the worker has ended (or the run of itself), stops: that all went well. */
void rig_run(struct rig *r, struct worker *w);

const char *rig_out(struct rig *r);
/* What the callbacks wrote has this line. */
void rig_expect_line(struct rig *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rig_put_aggregation(FILE *to, const struct weft_trace_aggregation *a);
void rig_put_value(FILE *to, const struct weft_trace_value *v);

/* That a call returned `code`, with a first report of this tag. */
void rig_expect(struct rig *r, int ret, int code, const char *tag);

/* A weft_trace_write() to a stream. */
int rig_write(void *to, const char *bytes, size_t n);

#endif
