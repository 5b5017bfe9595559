/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reading aggregations, and clearing them without deleting a row. Sums, counts and buckets are
 * cleared by remembering them: what is shown is the difference. Minima and maxima are exchanged
 * with "nothing", each word in one atomic step, so that what a program adds meanwhile belongs to
 * one side or the other.
 *
 * A value that is being added to a sum while it is read may be half in it. The words tell (see
 * core/plan.h), and what was met in such a moment is read again; it is left out of the table, and
 * counted as a loss, if it never stands still.
 *
 * Shows that are followed by a clear show what the clear then takes away: one reading serves them
 * all, and nothing that happens between them is missed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/consumer/internal.h"
#include "core/kernel/clock.h"

#define READINGS_MOST 20 /* of rows that do not stand still */
#define READINGS_FAST 3  /* before there is a pause between them */

struct reading {
	const struct weft_aggregation *agg;
	struct weft_rows *rows;
	uint32_t n_cpus; /* values of one row */
	bool failed;
};

struct weft_agg_state *weft_agg_state(struct weft_consumer *c, size_t i)
{
	const struct weft_plan *plan = c->env.plan;

	if (weft_zero_grow(&c->aggs, &c->cap_aggs, plan->n_aggregations, sizeof(*c->aggs)))
		return NULL;
	for (; c->n_aggs < plan->n_aggregations; c->n_aggs++) {
		uint32_t key_size = plan->aggregations[c->n_aggs].key_size;

		weft_rows_init(&c->aggs[c->n_aggs].cleared, key_size);
		weft_rows_init(&c->aggs[c->n_aggs].last, key_size);
	}
	return &c->aggs[i];
}

void weft_aggregates_finish(struct weft_consumer *c)
{
	size_t i;

	for (i = 0; i < c->n_aggs; i++) {
		weft_map_reader_destroy(c->aggs[i].look);
		weft_map_reader_destroy(c->aggs[i].take);
		weft_rows_finish(&c->aggs[i].cleared);
		weft_rows_finish(&c->aggs[i].last);
	}
	free(c->aggs);
	weft_map_reader_destroy(c->stacks_reader);
}

int weft_read_map(struct weft_consumer *c, size_t map, struct weft_map_reader **reader,
		  bool exchange, bool attached,
		  int (*fn)(const void *key, const void *value, void *arg), void *arg,
		  struct weft_error *err)
{
	const struct weft_plan *plan = c->env.plan;
	const struct weft_maps *maps = c->env.maps;
	int ret;

	if (map >= maps->n || maps->fds[map] < 0)
		return 0;
	if (!attached && !exchange)
		return weft_map_walk(maps->fds[map], &plan->maps[map], plan->n_cpus, fn, arg, err);
	if (!*reader) {
		ret = weft_map_reader_create(maps->fds[map], &plan->maps[map], plan->n_cpus,
					     exchange, reader, err);
		if (ret)
			return ret;
	}
	return weft_map_reader_run(*reader, fn, arg, err);
}

static int meet_row(const void *key, const void *value, void *arg)
{
	struct reading *r = arg;
	uint64_t words[WEFT_ROW_WORDS] = {0}, raw[WEFT_MOST_WORDS], *into;
	const uint8_t *at = value;
	size_t size = r->agg->value_words * sizeof(*raw);
	uint32_t cpu;
	bool is_new;

	for (cpu = 0; cpu < r->n_cpus; cpu++, at += size) {
		memcpy(raw, at, size);
		weft_words_take(r->agg, words, raw);
	}
	into = weft_rows_put(r->rows, key, &is_new);
	if (!into) {
		r->failed = true;
		return -ENOMEM;
	}
	/* A reader may show a row twice: sums are replaced, extremes can be combined. */
	if (weft_is_extreme(r->agg))
		weft_words_add(r->agg, into, words);
	else if (is_new || !words[WEFT_ROW_UNSETTLED])
		memcpy(into, words, sizeof(words));
	return 0;
}

/* Slots in STATE, one per CPU. They are atomic for programs and for us. */
static int read_slots(struct weft_consumer *c, const struct weft_aggregation *agg,
		      struct weft_rows *rows, bool take)
{
	uint64_t words[WEFT_ROW_WORDS] = {0}, raw[WEFT_MOST_WORDS], *into, *slot;
	uint32_t cpu, w;
	bool is_new;

	into = weft_rows_put(rows, "", &is_new);
	if (!into)
		return -ENOMEM;
	for (cpu = 0; cpu < c->env.plan->n_cpus; cpu++) {
		slot = (uint64_t *)((uint8_t *)c->env.maps->state + agg->state_offset +
				    (size_t)cpu * WEFT_SLOT_STRIDE);
		for (w = 0; w < agg->value_words; w++)
			raw[w] = take ? __atomic_exchange_n(&slot[w], 0, __ATOMIC_SEQ_CST)
				      : __atomic_load_n(&slot[w], __ATOMIC_SEQ_CST);
		weft_words_take(agg, words, raw);
	}
	memcpy(into, words, sizeof(words));
	return 0;
}

static int read_once(struct weft_consumer *c, size_t i, bool take, bool attached,
		     struct weft_rows *rows, struct weft_error *err)
{
	const struct weft_aggregation *agg = &c->env.plan->aggregations[i];
	struct weft_agg_state *state = &c->aggs[i];
	struct reading r = {.agg = agg, .rows = rows, .n_cpus = 1};
	int ret;

	if (agg->map < 0) {
		if (c->env.maps->state && read_slots(c, agg, rows, take))
			return weft_nomem(err);
		return 0;
	}
	if (c->env.plan->maps[agg->map].type == BPF_MAP_TYPE_PERCPU_HASH)
		r.n_cpus = c->env.plan->n_cpus;
	ret = weft_read_map(c, (size_t)agg->map, take ? &state->take : &state->look, take, attached,
			    meet_row, &r, err);
	return r.failed ? weft_nomem(err) : ret;
}

static bool is_settled(const struct weft_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		if (weft_rows_words(rows, i)[WEFT_ROW_UNSETTLED])
			return false;
	return true;
}

/* Into state->last. */
static int read_raw(struct weft_consumer *c, size_t i, bool take, bool attached,
		    struct weft_error *err)
{
	const struct weft_aggregation *agg = &c->env.plan->aggregations[i];
	static const struct timespec pause = {.tv_nsec = 1000000};
	struct weft_agg_state *state = &c->aggs[i];
	unsigned int n = 0;
	int ret;

	if (agg->value_words > WEFT_MOST_WORDS)
		return weft_fail(err, -EINVAL, "MAP_READ", "the aggregation %s has %u words a row",
				 agg->name, agg->value_words);
	state->last_ns = weft_clock_before();
	do {
		if (n > READINGS_FAST)
			nanosleep(&pause, NULL);
		ret = read_once(c, i, take, attached, &state->last, err);
	} while (!ret && weft_words_can_be_unsettled(agg) && !is_settled(&state->last) &&
		 ++n < READINGS_MOST);
	return ret;
}

static void forget_last(struct weft_agg_state *state)
{
	weft_rows_finish(&state->last);
	state->has_last = false;
}

static uint64_t elapsed_ns(const struct weft_consumer *c, const struct weft_agg_state *state)
{
	uint64_t from = state->cleared_ns > c->start_ns ? state->cleared_ns : c->start_ns;
	uint64_t to = c->stop_ns && c->stop_ns < state->last_ns ? c->stop_ns : state->last_ns;

	return to > from ? to - from : 1;
}

int weft_aggregate_show(struct weft_consumer *c, size_t i, const struct weft_view *view,
			bool attached, struct weft_error *err)
{
	const struct weft_aggregation *agg = &c->env.plan->aggregations[i];
	struct weft_agg_state *state = weft_agg_state(c, i);
	struct weft_table_request request = {
		.agg = agg,
		.view = view ? weft_view_over(view, &agg->view) : agg->view,
		.attached = attached,
	};
	bool again = state && state->has_last; /* behind a show with the same clear behind it */
	int ret = 0;

	if (!state)
		return weft_nomem(err);
	if (!again) {
		forget_last(state);
		ret = read_raw(c, i, state->clear_follows && weft_is_extreme(agg), attached, err);
	}
	if (!ret) {
		request.raw = &state->last;
		request.cleared = state->was_cleared ? &state->cleared : NULL;
		request.elapsed_ns = elapsed_ns(c, state);
		ret = weft_table_emit(c, &request, err);
	}
	for (size_t k = 0; !ret && !again && k < state->last.n; k++)
		state->unsettled += weft_rows_words(&state->last, k)[WEFT_ROW_UNSETTLED];
	if (!ret && state->clear_follows)
		state->has_last = true;
	else
		forget_last(state);
	return ret;
}

/* What was not shown is not cleared either. */
static void keep_unsettled(struct weft_agg_state *state)
{
	for (size_t i = 0; i < state->last.n; i++) {
		uint64_t *words = weft_rows_words(&state->last, i), *then;

		if (!words[WEFT_ROW_UNSETTLED])
			continue;
		then = weft_rows_find(&state->cleared, weft_rows_key(&state->last, i));
		if (then)
			memcpy(words, then, WEFT_ROW_WORDS * sizeof(*words));
		else
			memset(words, 0, WEFT_ROW_WORDS * sizeof(*words));
	}
}

int weft_aggregate_clear(struct weft_consumer *c, size_t i, bool attached, struct weft_error *err)
{
	const struct weft_aggregation *agg = &c->env.plan->aggregations[i];
	struct weft_agg_state *state = weft_agg_state(c, i);
	int ret = 0;

	if (!state)
		return weft_nomem(err);
	if (!state->has_last)
		ret = read_raw(c, i, weft_is_extreme(agg), attached, err);
	if (!ret)
		state->cleared_ns = state->last_ns;
	if (!ret && !weft_is_extreme(agg)) {
		struct weft_rows old = state->cleared;

		keep_unsettled(state);
		state->cleared = state->last;
		state->last = old;
		state->was_cleared = true;
	}
	forget_last(state);
	return ret;
}
