/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reading aggregations, and clearing them without deleting a row. Sums, counts and buckets are
 * cleared by remembering them: what is shown is the difference. Minima and maxima are exchanged
 * with "nothing", each word in one atomic step, so that what a program adds meanwhile belongs to
 * one side or the other.
 *
 * A show that is followed by a clear shows what the clear then takes away: one reading serves both,
 * and nothing that happens between them is missed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/consumer/internal.h"

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
	uint64_t words[WEFT_ROW_WORDS] = {0}, *into, word;
	const uint8_t *at = value;
	uint32_t cpu, w;
	bool is_new;

	for (cpu = 0; cpu < r->n_cpus; cpu++) {
		for (w = 0; w < r->agg->value_words; w++, at += sizeof(word)) {
			memcpy(&word, at, sizeof(word));
			words[w] += word;
		}
	}
	into = weft_rows_put(r->rows, key, &is_new);
	if (!into) {
		r->failed = true;
		return -ENOMEM;
	}
	/* An iterator may show a row twice: sums are replaced, extremes can be combined. */
	if (weft_is_extreme(r->agg))
		weft_words_add(r->agg, into, words);
	else
		memcpy(into, words, sizeof(words));
	return 0;
}

/* Slots in STATE, one per CPU. They are atomic for programs and for us. */
static int read_slots(struct weft_consumer *c, const struct weft_aggregation *agg,
		      struct weft_rows *rows, bool take)
{
	uint64_t words[WEFT_ROW_WORDS], *into, *slot;
	uint32_t cpu, w;
	bool is_new;

	into = weft_rows_put(rows, "", &is_new);
	if (!into)
		return -ENOMEM;
	for (cpu = 0; cpu < c->env.plan->n_cpus; cpu++) {
		slot = (uint64_t *)((uint8_t *)c->env.maps->state + agg->state_offset +
				    (size_t)cpu * WEFT_SLOT_STRIDE);
		memset(words, 0, sizeof(words));
		for (w = 0; w < agg->value_words; w++)
			words[w] = take ? __atomic_exchange_n(&slot[w], 0, __ATOMIC_SEQ_CST)
					: __atomic_load_n(&slot[w], __ATOMIC_SEQ_CST);
		weft_words_add(agg, into, words);
	}
	return 0;
}

static int read_raw(struct weft_consumer *c, size_t i, bool take, bool attached,
		    struct weft_rows *rows, struct weft_error *err)
{
	const struct weft_aggregation *agg = &c->env.plan->aggregations[i];
	struct weft_agg_state *state = &c->aggs[i];
	struct reading r = {.agg = agg, .rows = rows, .n_cpus = 1};
	int ret;

	if (agg->value_words > WEFT_ROW_WORDS)
		return weft_fail(err, -EINVAL, "MAP_READ", "the aggregation %s has %u words a row",
				 agg->name, agg->value_words);
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

static void forget_last(struct weft_agg_state *state)
{
	weft_rows_finish(&state->last);
	state->has_last = false;
}

int weft_aggregate_show(struct weft_consumer *c, size_t i, bool attached, struct weft_error *err)
{
	const struct weft_aggregation *agg = &c->env.plan->aggregations[i];
	struct weft_agg_state *state = weft_agg_state(c, i);
	int ret;

	if (!state)
		return weft_nomem(err);
	forget_last(state);
	ret = read_raw(c, i, state->clear_follows && weft_is_extreme(agg), attached, &state->last,
		       err);
	if (!ret)
		ret = weft_table_emit(c, agg, &state->last,
				      state->was_cleared ? &state->cleared : NULL, attached, err);
	if (!ret && state->clear_follows)
		state->has_last = true;
	else
		forget_last(state);
	return ret;
}

int weft_aggregate_clear(struct weft_consumer *c, size_t i, bool attached, struct weft_error *err)
{
	const struct weft_aggregation *agg = &c->env.plan->aggregations[i];
	struct weft_agg_state *state = weft_agg_state(c, i);
	int ret = 0;

	if (!state)
		return weft_nomem(err);
	if (!state->has_last)
		ret = read_raw(c, i, weft_is_extreme(agg), attached, &state->last, err);
	if (!ret && !weft_is_extreme(agg)) {
		struct weft_rows old = state->cleared;

		state->cleared = state->last;
		state->last = old;
		state->was_cleared = true;
	}
	forget_last(state);
	return ret;
}
