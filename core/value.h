/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the consumer hands to sinks: typed values, rows, losses. Everything is borrowed during the call. */
#ifndef WEFT_CORE_VALUE_H
#define WEFT_CORE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lang/format.h"
#include "lang/lang.h"
#include "wide.h"

/* One frame of a stack, symbolised. */
struct weft_frame {
	uint64_t address;
	const char *symbol; /* NULL: unknown */
	uint64_t offset; /* from the symbol's start; without a symbol but in a module of user space: the
			  * address as linked, which addr2line takes, or failing that the file offset */
	const char *module; /* path of the file, "vmlinux" or a kernel module; NULL: unknown */
	bool user;
	const char *file; /* of the source code, as the compiler noted it; NULL: not known */
	uint32_t line;    /* 0: not known */
};

/* One register. */
struct weft_reg {
	const char *name;
	uint64_t value;
};

struct weft_value {
	struct weft_type type;
	union {
		int64_t i;  /* INT, sign-extended if type.is_signed */
		uint64_t u; /* INT, zero-extended otherwise */
		struct {
			const char *s; /* STRING (not NUL-terminated), BYTES, INET (network order);
					* the text of PROBE and CGROUP */
			size_t n;
		} text;
		struct {
			const struct weft_frame *frames; /* innermost first */
			size_t n;
		} stack;
		const struct weft_frame *symbol; /* SYMBOL */
		struct {
			const struct weft_reg *regs;
			size_t n;
		} regs; /* REGS */
	};
};

struct weft_named_value {
	const char *name;
	struct weft_value value;
};

struct weft_record {
	uint64_t time_ns;
	uint32_t cpu;
	const char *probe; /* "provider:module:function:name"; "begin", "end" */
	const struct weft_named_value *fields;
	size_t n_fields;
	const struct weft_format *format; /* printf; NULL: emit */
};

struct weft_bucket {
	int64_t from, to; /* from inclusive, to exclusive; as uint64 where is_unsigned */
	uint64_t count;
	bool is_unsigned;
	bool to_is_max; /* the last bucket: `to` would be 2^63 (or 2^64) and is given as the type's maximum */
	bool from_is_min; /* nothing bounds it from below: `from` is the type's minimum */
	int32_t number;   /* core/buckets.h */
};

struct weft_row {
	const struct weft_named_value *keys;
	size_t n_keys;
	uint64_t count;          /* COUNT, AVG, STDDEV; histograms: all of their buckets */
	struct weft_value value; /* SUM, MIN, MAX (INT); AVG, STDDEV: the sum */
	int64_t wraps;           /* of a sum: it is value + wraps * 2^64 */
	double stddev;           /* STDDEV: of all values, so divided by count */
	const struct weft_bucket *buckets; /* histograms: ascending, empty ones left out */
	size_t n_buckets;
};

static inline weft_wide weft_row_sum(const struct weft_row *row)
{
	return weft_wide_of(row->value.u, row->wraps, !row->value.type.is_signed);
}

/* What values are multiplied with before they are shown: per / elapsed / divide. */
struct weft_scale {
	uint64_t divide;             /* 0: not */
	uint64_t per_ns, elapsed_ns; /* 0: not */
};

static inline bool weft_is_scaled(const struct weft_scale *s)
{
	return s->divide || s->per_ns;
}

static inline long double weft_scaled(const struct weft_scale *s, long double v)
{
	if (s->divide)
		v /= (long double)s->divide;
	if (s->per_ns)
		v = v * (long double)s->per_ns / (long double)s->elapsed_ns;
	return v;
}

struct weft_table {
	const char *name;
	enum weft_action_kind kind;
	const char *unit;                   /* or NULL */
	const struct weft_buckets *buckets; /* histograms */
	struct weft_scale scale; /* all 0: values are as they are. Rows hold them as they are always */
	const struct weft_row
		*rows; /* sorted as was asked for; ties by key, so that output is stable */
	size_t n_rows;
	size_t n_left_out; /* further rows, which `top` cut off */
};

struct weft_loss_report {
	const char *tag;
	const char *meaning;
	uint64_t count;
	const char *where; /* "set.yaml:12:9: arg0 / arg1" or a program's or provider's name; NULL */
	const char *remedy; /* or NULL */
	bool asked; /* the probe set asks for it (`limit`, `every`): no loss, but good to know */
};

struct weft_end {
	const char *reason; /* duration | target | exit | signal | interrupted by an error: "error" */
	int status;
};

/* A way of writing results. Functions return 0 or -errno (EPIPE ends the run). */
struct weft_sink {
	int (*record)(void *self, const struct weft_record *r);
	int (*table)(void *self, const struct weft_table *t);
	int (*loss)(void *self, const struct weft_loss_report *l);
	int (*end)(void *self, const struct weft_end *e);
	int (*flush)(void *self);
	void (*destroy)(void *self);
	void *self;
};

#endif
