/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A sink that keeps everything: what a session hands out is borrowed for the length of a call, so
 * it is copied, and tests ask the copy. Questions whose answer does not exist fail the test.
 */
#ifndef TEST_SESSION_CAPTURE_H
#define TEST_SESSION_CAPTURE_H

#include "core/arena.h"
#include "core/value.h"

struct cap_record {
	uint64_t time_ns;
	uint32_t cpu;
	const char *probe;
	bool is_printf;
	struct weft_named_value *fields;
	size_t n_fields;
};

struct cap_table {
	const char *name;
	enum weft_action_kind kind;
	const char *unit;
	struct weft_row *rows;
	size_t n_rows, n_left_out;
	struct weft_scale scale;
};

struct cap_loss {
	const char *tag, *where;
	uint64_t count;
	bool asked;
};

struct capture {
	struct weft_arena *arena;
	struct cap_record *records;
	size_t n_records, cap_records;
	struct cap_table *tables; /* in the order they were printed */
	size_t n_tables, cap_tables;
	struct cap_loss *losses;
	size_t n_losses, cap_losses;
	struct weft_end end;
	int n_ends, n_flushes;
	int fail;  /* what record() and table() return from now on */
	int *seen; /* memory shared with workers, counts tables as they are printed; or NULL */
};

void capture_init(struct capture *c);
void capture_finish(struct capture *c);
struct weft_sink capture_sink(struct capture *c);

/* Of records: the value of a field. */
const struct weft_value *cap_field(const struct cap_record *r, const char *name);
int64_t cap_int(const struct cap_record *r, const char *name);
bool cap_is_text(const struct cap_record *r, const char *name, const char *text);
bool cap_is_bytes(const struct cap_record *r, const char *name, const void *bytes, size_t n);

/* The only record of a probe whose name ends so; the number of them. */
const struct cap_record *cap_only(const struct capture *c, const char *probe_end);
size_t cap_count(const struct capture *c, const char *probe_end);

/* The last table of that name; its only row; the row of a key; the total of its counts. */
const struct cap_table *cap_last_table(const struct capture *c, const char *name);
const struct weft_row *cap_only_row(const struct capture *c, const char *name);
const struct weft_row *cap_row_int(const struct cap_table *t, const char *key, int64_t value);
const struct weft_row *cap_row_text(const struct cap_table *t, const char *key, const char *text);
const struct weft_value *cap_key(const struct weft_row *row, const char *name);
uint64_t cap_total(const struct cap_table *t);
uint64_t cap_bucket(const struct weft_row *row, int64_t from, int64_t to);

/* The sum of the losses of one tag, and that there is none at all. */
uint64_t cap_lost(const struct capture *c, const char *tag);
void cap_expect_no_loss(const struct capture *c);
/* That nothing was lost but firings of a clock that the test does not count. */
void cap_expect_only_ticks_missed(const struct capture *c);
/* That nothing was lost but `count` of `tag`. */
void cap_expect_loss(const struct capture *c, const char *tag, uint64_t count);

#endif
