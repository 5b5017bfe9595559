/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Stacks as keys. A row holds the id of its stack; the frames are in STACKS. Ids differ where
 * frames do, and where processes do: the same function called in two processes has two addresses
 * and two ids, and must still be one row. So frames are symbolised first, and stacks whose frames
 * look alike (the same symbol, or no symbol in the same file, at the same offset; the same address
 * where nothing is known) become one class.
 *
 * Only stacks that the table at hand has are symbolised. STACKS is read after the rows: whatever a
 * row refers to was stored before the row was.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/consumer/internal.h"

struct stack_id {
	uint64_t id, space;
};

int weft_stacks_init(struct weft_stack_classes *s, struct weft_consumer *c, struct weft_arena *arena)
{
	memset(s, 0, sizeof(*s));
	s->c = c;
	s->arena = arena;
	weft_rows_init(&s->ids, sizeof(struct stack_id));
	if (weft_grow(&s->classes, &s->cap, 0, sizeof(*s->classes)))
		return -ENOMEM;
	s->classes[0] = (struct weft_stack_class){0};
	s->n = 1;
	return 0;
}

void weft_stacks_finish(struct weft_stack_classes *s)
{
	weft_rows_finish(&s->ids);
	free(s->classes);
	free(s->index);
	free(s->scratch);
}

int weft_stacks_want(struct weft_stack_classes *s, uint64_t id, uint8_t space)
{
	const struct stack_id key = {id, space};
	bool is_new;

	if (!id)
		return 0;
	return weft_rows_put(&s->ids, &key, &is_new) ? 0 : -ENOMEM;
}

uint64_t weft_stacks_class(const struct weft_stack_classes *s, uint64_t id, uint8_t space)
{
	const struct stack_id key = {id, space};
	const uint64_t *words = id ? weft_rows_find(&s->ids, &key) : NULL;

	return words && words[0] ? words[0] - 1 : 0;
}

/* ---- classes ---- */

static uint64_t hash_text(uint64_t h, struct weft_hash_key key, const char *s)
{
	return weft_hash_step(key, h, s ? weft_hash_bytes(key, s, strlen(s)) : 1);
}

static uint64_t hash_frames(const struct weft_stack_classes *s, const struct weft_frame *f, size_t n)
{
	struct weft_hash_key key = s->ids.hash;
	uint64_t h = n;
	size_t i;

	for (i = 0; i < n; i++) {
		h = hash_text(h, key, f[i].symbol);
		h = hash_text(h, key, f[i].module);
		h = weft_hash_step(key, h,
				   weft_frame_has_offset(&f[i]) ? f[i].offset : f[i].address);
	}
	return h;
}

static bool same_frames(const struct weft_stack_class *c, const struct weft_frame *f, size_t n)
{
	size_t i;

	if (c->n != n)
		return false;
	for (i = 0; i < n; i++)
		if (weft_frame_compare(&c->frames[i], &f[i]))
			return false;
	return true;
}

static int grow_index(struct weft_stack_classes *s)
{
	size_t size = s->index_size ? s->index_size * 2 : 64, i, k;
	uint32_t *index = calloc(size, sizeof(*index));

	if (!index)
		return -ENOMEM;
	for (i = 1; i < s->n; i++) {
		for (k = s->classes[i].hash & (size - 1); index[k]; k = (k + 1) & (size - 1))
			;
		index[k] = (uint32_t)i + 1;
	}
	free(s->index);
	s->index = index;
	s->index_size = size;
	return 0;
}

static int class_of(struct weft_stack_classes *s, const struct weft_frame *f, size_t n,
		    uint64_t *class)
{
	uint64_t h = hash_frames(s, f, n);
	const struct weft_frame *copy;
	size_t k;

	*class = 0;
	if (!n)
		return 0;
	if (s->n * 2 >= s->index_size && grow_index(s))
		return -ENOMEM;
	for (k = h & (s->index_size - 1); s->index[k]; k = (k + 1) & (s->index_size - 1)) {
		*class = s->index[k] - 1;
		if (s->classes[*class].hash == h && same_frames(&s->classes[*class], f, n))
			return 0;
	}
	copy = weft_arena_memdup(s->arena, f, n * sizeof(*f));
	if (!copy || weft_grow(&s->classes, &s->cap, s->n, sizeof(*s->classes)))
		return -ENOMEM;
	s->classes[s->n] = (struct weft_stack_class){copy, n, h};
	s->index[k] = (uint32_t)s->n + 1;
	*class = s->n++;
	return 0;
}

int weft_stacks_symbol(struct weft_stack_classes *s, uint64_t address, uint64_t *class)
{
	struct weft_frame frame;

	weft_symbolise(s->c, false, 0, 0, address, false, &frame);
	return class_of(s, &frame, 1, class);
}

/* ---- reading ---- */

static int symbolise_row(struct weft_stack_classes *s, const struct weft_stack_row *row, bool user,
			 uint64_t *words)
{
	size_t n = row->n_frames < s->most_frames ? row->n_frames : s->most_frames, i;
	uint64_t class;
	int ret;

	for (i = 0; i < n; i++)
		weft_symbolise(s->c, user, row->tgid, row->time_ns, row->frames[i], i > 0,
			       &s->scratch[i]);
	ret = class_of(s, s->scratch, n, &class);
	if (!ret)
		words[0] = class + 1;
	return ret;
}

static int meet_stack(const void *key, const void *value, void *arg)
{
	struct weft_stack_classes *s = arg;
	struct stack_id want = {0};
	int ret = 0;

	memcpy(&want.id, key, sizeof(want.id));
	for (want.space = 0; want.space <= WEFT_SPACE_USER && !ret; want.space++) {
		uint64_t *words = weft_rows_find(&s->ids, &want);

		if (words && !words[0])
			ret = symbolise_row(s, value, want.space == WEFT_SPACE_USER, words);
	}
	s->failed = ret;
	return ret;
}

int weft_stacks_read(struct weft_stack_classes *s, bool attached, struct weft_error *err)
{
	const struct weft_map_spec *spec = &s->c->env.plan->maps[WEFT_PLAN_STACKS];
	int ret;

	if (!s->ids.n || spec->value_size < sizeof(struct weft_stack_row))
		return 0;
	s->most_frames = (spec->value_size - sizeof(struct weft_stack_row)) / 8;
	s->scratch = calloc(s->most_frames + 1, sizeof(*s->scratch));
	if (!s->scratch)
		return weft_nomem(err);
	ret = weft_read_map(s->c, WEFT_PLAN_STACKS, &s->c->stacks_reader, false, attached,
			    meet_stack, s, err);
	return s->failed ? weft_nomem(err) : ret;
}
