/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The mappings of one address space, with their times. At any moment at most one mapping holds an
 * address; over time several may have, when one library was unloaded and another took its place.
 * What is replaced is therefore not removed: it ends. If a new mapping covers only a part of an old
 * one, what remains on either side goes on as a mapping of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/symbols/procs.h"

void weft_mm_release(struct weft_mm *s)
{
	if (!s || --s->refs)
		return;
	free(s->mappings);
	free(s);
}

int weft_mm_own(struct weft_mm **mm)
{
	struct weft_mm *old = *mm, *s;

	if (old && old->refs == 1)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->refs = 1;
	if (old && old->n) {
		s->mappings = malloc(old->n * sizeof(*s->mappings));
		if (!s->mappings) {
			free(s);
			return -ENOMEM;
		}
		memcpy(s->mappings, old->mappings, old->n * sizeof(*s->mappings));
		s->n = s->cap = old->n;
	}
	weft_mm_release(old);
	*mm = s;
	return 0;
}

/* Number of mappings that begin at or before an address. */
static size_t count_before(const struct weft_mm *s, uint64_t address)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->mappings[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int insert(struct weft_mm *s, const struct weft_mapping *m)
{
	struct weft_mapping copy = *m; /* m may lie in what moves */
	size_t i = count_before(s, m->start);
	int r;

	r = weft_grow(&s->mappings, &s->cap, s->n, sizeof(*s->mappings));
	if (r)
		return r;
	memmove(s->mappings + i + 1, s->mappings + i, (s->n - i) * sizeof(*s->mappings));
	s->mappings[i] = copy;
	s->n++;
	return 0;
}

static bool is_live(const struct weft_mapping *m)
{
	return m->until == UINT64_MAX;
}

/* Same bytes of the same file at the same addresses. */
static bool is_part_of(const struct weft_mapping *m, const struct weft_mapping *whole)
{
	return m->file == whole->file && m->start >= whole->start && m->end <= whole->end &&
	       m->start - whole->start == m->offset - whole->offset;
}

/* One change adds at most three mappings. At the limit, what has ended makes room. */
static int make_room(struct weft_mm *s)
{
	size_t n = 0;

	if (s->n + 3 <= WEFT_MAPPINGS_MOST)
		return 0;
	for (size_t i = 0; i < s->n; i++)
		if (is_live(&s->mappings[i]))
			s->mappings[n++] = s->mappings[i];
	s->dropped += (uint32_t)(s->n - n);
	s->n = n;
	return n + 3 <= WEFT_MAPPINGS_MOST ? 0 : -E2BIG;
}

int weft_mm_unmap(struct weft_mm **mm, uint64_t start, uint64_t end, uint64_t time_ns)
{
	int r = weft_mm_own(mm);
	struct weft_mm *s = *mm;

	if (!r)
		r = make_room(s);
	if (r)
		return r;
	for (size_t i = 0; i < s->n; i++) {
		struct weft_mapping old = s->mappings[i], part;

		if (!is_live(&old) || old.start >= end || old.end <= start || old.seen > time_ns)
			continue;
		s->mappings[i].until = time_ns;
		part = old;
		part.from = time_ns;
		if (old.start < start) {
			part.end = start;
			r = insert(s, &part);
			i++; /* it was inserted behind the one it is part of */
		}
		if (!r && old.end > end) {
			part = old;
			part.from = time_ns;
			part.start = end;
			part.offset += end - old.start;
			r = insert(s, &part);
		}
		if (r)
			return r;
	}
	return 0;
}

int weft_mm_map(struct weft_mm **mm, const struct weft_mapping *m)
{
	int r = weft_mm_own(mm);
	struct weft_mm *s = *mm;
	struct weft_mapping new = *m;

	if (r)
		return r;
	for (size_t i = 0; i < s->n; i++) {
		struct weft_mapping *old = &s->mappings[i];

		if (!is_live(old) || old->start >= m->end || old->end <= m->start)
			continue;
		if (is_part_of(m, old)) { /* told twice: by an event and by a snapshot */
			if (old->seen < m->seen)
				old->seen = m->seen;
			if (old->from > m->from)
				old->from = m->from;
			return 0;
		}
		if (old->seen > m->seen) /* a late event: what was read after it is better */
			return 0;
		new.from = m->seen;
	}
	r = weft_mm_unmap(mm, m->start, m->end, new.from);
	return r ? r : insert(*mm, &new);
}

int weft_mm_split(struct weft_mm **mm, uint64_t time_ns, bool forget, struct weft_mm **later)
{
	struct weft_mm *new = NULL;
	int r = weft_mm_own(&new);

	for (size_t i = 0; !r && *mm && i < (*mm)->n; i++) {
		struct weft_mapping m = (*mm)->mappings[i];

		m.from = time_ns;
		if (is_live(&m))
			r = insert(new, &m);
	}
	if (!r && !forget)
		r = weft_mm_own(mm);
	if (r) {
		weft_mm_release(new);
		return r;
	}
	if (forget) {
		weft_mm_release(*mm);
		*mm = NULL;
	}
	for (size_t i = 0; *mm && i < (*mm)->n; i++)
		if ((*mm)->mappings[i].until > time_ns)
			(*mm)->mappings[i].until = time_ns;
	*later = new;
	return 0;
}

const struct weft_mapping *weft_mm_find(const struct weft_mm *s, uint64_t address, uint64_t time_ns)
{
	for (size_t i = count_before(s, address); i > 0; i--) {
		const struct weft_mapping *m = &s->mappings[i - 1];

		if (address < m->end && time_ns >= m->from && time_ns < m->until)
			return m;
	}
	return NULL;
}
