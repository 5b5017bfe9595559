/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The consumer's parts, shared between the files of this folder only. */
#ifndef WEFT_CONSUMER_INTERNAL_H
#define WEFT_CONSUMER_INTERNAL_H

#include "core/arena.h"
#include "core/consumer.h"
#include "core/consumer/cgroups.h"
#include "core/consumer/rows.h"
#include "core/consumer/stream.h"

/* What is remembered of an aggregation, by its index in the plan. */
struct weft_agg_state {
	struct weft_map_reader *look; /* NULL until the first show while attached */
	struct weft_map_reader *take; /* of min and max: exchanges with 0 */
	struct weft_rows cleared;     /* sums as they were at the last clear */
	bool was_cleared;
	/* Within one handling of controls: the raw rows that a show read, for the clear after it. */
	struct weft_rows last;
	bool has_last;
	bool clear_follows;
	uint64_t last_ns, cleared_ns; /* when `last` was read; when it was cleared, or 0 */
	uint64_t unsettled;           /* rows that were left out, because they never stood still */
};

/* A schema's format, parsed when its first record comes. */
struct weft_schema_state {
	bool ready;
	const struct weft_format *format; /* NULL: emit */
};

struct weft_consumer {
	struct weft_consumer_env env;
	struct weft_arena *arena; /* formats */
	int epoll_fd;             /* the ring, edge-triggered, and again_fd */
	int again_fd;             /* an eventfd: there is more to do though nothing new comes */
	bool has_ring;
	struct weft_stream stream;

	/* records.c */
	struct weft_schema_state *schemas;
	size_t cap_schemas;
	struct weft_named_value *fields;
	size_t cap_fields;
	struct weft_frame *frames;
	size_t cap_frames;
	struct weft_reg *regs;
	size_t cap_regs;
	struct weft_cgroups cgroups;
	struct weft_error *err; /* during a delivery */

	/* aggregate.c */
	uint64_t start_ns, stop_ns; /* of the programs; 0: not yet */
	struct weft_agg_state *aggs;
	size_t n_aggs, cap_aggs;
	struct weft_map_reader *stacks_reader;

	/* controls.c */
	struct weft_captured {
		bool waiting;     /* want holds words that were not acted on yet */
		uint64_t time_ns; /* when they were read */
		bool exit;
		uint64_t *want, *done;  /* by index of plan->controls */
		uint64_t *apart;        /* shows that no clear of their clause came after */
		uint64_t half_since_ns; /* shows wait for their clears; 0: none */
		size_t n;
	} captured;
};

/* Grows a zeroed array to n elements. 0 or -ENOMEM. */
int weft_zero_grow(void *array_of_pointer, size_t *cap, size_t n, size_t size);

/* A sink that refused: names what could not be done, and returns code. */
int weft_sink_failed(struct weft_error *err, int code);

/* records.c */
int weft_record_deliver(const void *record, size_t size, void *consumer);
void weft_records_finish(struct weft_consumer *c);

/* The integer types of keys and fields, as values. */
void weft_value_int(struct weft_value *out, const struct weft_type *type, const void *at,
		    uint32_t size);

/* One frame of a stack. */
static inline void weft_symbolise(struct weft_consumer *c, bool user, uint32_t tgid,
				  uint64_t time_ns, uint64_t address, bool caller,
				  struct weft_frame *out)
{
	if (user)
		weft_symbols_user(c->env.symbols, (int32_t)tgid, time_ns, address, caller, out);
	else
		weft_symbols_kernel(c->env.symbols, address, caller, out);
}

/* aggregate.c */
/* view NULL: as the set wants it. */
int weft_aggregate_show(struct weft_consumer *c, size_t i, const struct weft_view *view,
			bool attached, struct weft_error *err);
int weft_aggregate_clear(struct weft_consumer *c, size_t i, bool attached, struct weft_error *err);
struct weft_agg_state *weft_agg_state(struct weft_consumer *c, size_t i); /* NULL: no memory */
void weft_aggregates_finish(struct weft_consumer *c);

/* Reads a map of the plan: by a reader, made into *reader when first needed, if attached or if
 * values are to be exchanged with 0; else by system calls. A map that was not created has no rows. */
int weft_read_map(struct weft_consumer *c, size_t map, struct weft_map_reader **reader,
		  bool exchange, bool attached,
		  int (*fn)(const void *key, const void *value, void *arg), void *arg,
		  struct weft_error *err);
/* min and max. */
static inline bool weft_is_extreme(const struct weft_aggregation *agg)
{
	return agg->kind == WEFT_ACTION_MIN || agg->kind == WEFT_ACTION_MAX;
}
/* Whether values compare as uint64: see core/plan.h. Narrower ones are int64 by promotion. */
static inline bool weft_is_unsigned(const struct weft_aggregation *agg)
{
	return agg->value_type.size == 8 && !agg->value_type.is_signed;
}

/* words.c: the numbers of a row, WEFT_ROW_WORDS of them, in the form that its essay describes. */
/* Adds what one CPU's words, as programs keep them, stand for. */
void weft_words_take(const struct weft_aggregation *agg, uint64_t *to, const uint64_t *raw);
void weft_words_add(const struct weft_aggregation *agg, uint64_t *to, const uint64_t *from);
void weft_words_subtract(const struct weft_aggregation *agg, uint64_t *from, const uint64_t *what);
bool weft_words_are_empty(const struct weft_aggregation *agg, const uint64_t *words);
bool weft_words_can_be_unsettled(const struct weft_aggregation *agg);
void weft_words_sum(const struct weft_aggregation *agg, const uint64_t *words, struct weft_row *row);
double weft_words_stddev(const uint64_t *words);

/* stacks.c: the stacks of one table. Those that look alike are one class. */
struct weft_stack_classes {
	struct weft_consumer *c;
	struct weft_arena *arena;
	struct weft_rows ids; /* {id, space} -> { class + 1 } */
	struct weft_stack_class {
		const struct weft_frame *frames;
		size_t n;
		uint64_t hash;
	} * classes; /* [0] is the empty stack */
	size_t n, cap;
	uint32_t *index; /* class + 1, by hash */
	size_t index_size;
	struct weft_frame *scratch;
	size_t most_frames;
	int failed;
};
int weft_stacks_init(struct weft_stack_classes *s, struct weft_consumer *c,
		     struct weft_arena *arena);
void weft_stacks_finish(struct weft_stack_classes *s);
int weft_stacks_want(struct weft_stack_classes *s, uint64_t id, uint8_t space);
/* Reads and symbolises what is wanted, in one pass over STACKS. */
int weft_stacks_read(struct weft_stack_classes *s, bool attached, struct weft_error *err);
/* The class of a symbol of the kernel. */
int weft_stacks_symbol(struct weft_stack_classes *s, uint64_t address, uint64_t *class);
uint64_t weft_stacks_class(const struct weft_stack_classes *s, uint64_t id, uint8_t space);

/* table.c: from raw rows to a table for the sink. */
struct weft_table_request {
	const struct weft_aggregation *agg;
	const struct weft_rows *raw;
	const struct weft_rows *cleared; /* NULL: nothing to subtract */
	struct weft_view view;
	uint64_t elapsed_ns; /* since it began, or was cleared */
	bool attached;
};
int weft_table_emit(struct weft_consumer *c, const struct weft_table_request *request,
		    struct weft_error *err);
/* sort.c: the rows of a table as a view wants them; those that are equal by their keys. */
void weft_table_sort(struct weft_table *t, struct weft_row *rows, const struct weft_view *view);
int weft_frame_compare(const struct weft_frame *a, const struct weft_frame *b);
/* Whether a frame's place is its offset (from a symbol, or within a file) rather than its address,
 * which differs from process to process. */
static inline bool weft_frame_has_offset(const struct weft_frame *f)
{
	return f->symbol || (f->user && f->module);
}

/* controls.c */
int weft_controls_look(struct weft_consumer *c, bool attached);
bool weft_controls_changed(const struct weft_consumer *c);
int weft_controls_act(struct weft_consumer *c, bool attached, bool *exiting, struct weft_error *err);

#endif
