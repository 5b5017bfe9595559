/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tables of enums, made once and kept with their object: two mentions of a type have one table. */
#include "core/btf/enums.h"

#include <stdlib.h>
#include <string.h>

#include "core/btf/internal.h"

static int by_value(const void *a, const void *b)
{
	const struct weft_btf_constant *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static struct weft_btf_enum *make(const struct weft_btf *b, const struct weft_btf_type *t)
{
	struct weft_btf_enum *e = calloc(1, sizeof(*e));

	if (e)
		e->constants = calloc((size_t)t->vlen + 1, sizeof(*e->constants));
	if (!e || !e->constants) {
		free(e);
		return NULL;
	}
	e->id = t->id;
	e->n = t->vlen;
	e->is_signed = weft_btf_enum_is_signed(b, t);
	for (uint32_t i = 0; i < t->vlen; i++)
		weft_btf_constant(b, t, i, e->is_signed, &e->constants[i]);
	qsort(e->constants, e->n, sizeof(*e->constants), by_value);
	return e;
}

const struct weft_btf_enum *weft_btf_enum(struct weft_btf *b, uint32_t id)
{
	struct weft_btf_type t;
	struct weft_btf_enum *e;

	for (e = b->enums; e; e = e->next)
		if (e->id == id)
			return e;
	if (!weft_btf_type(b, id, &t) || !weft_btf_is_enum(&t))
		return NULL;
	e = make(b, &t);
	if (e) {
		e->next = b->enums;
		b->enums = e;
	}
	return e;
}

void weft_btf_enums_destroy(struct weft_btf_enum *e)
{
	while (e) {
		struct weft_btf_enum *next = e->next;

		free(e->constants);
		free(e);
		e = next;
	}
}

const char *weft_btf_enum_name(const struct weft_btf_enum *e, int64_t value)
{
	uint32_t low = 0, high = e ? e->n : 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (e->constants[middle].value < value)
			low = middle + 1;
		else
			high = middle;
	}
	return e && low < e->n && e->constants[low].value == value && *e->constants[low].name
		       ? e->constants[low].name
		       : NULL;
}

bool weft_btf_enum_value(const struct weft_btf_enum *e, const char *name, int64_t *value)
{
	for (uint32_t i = 0; e && i < e->n; i++)
		if (!strcmp(e->constants[i].name, name)) {
			*value = e->constants[i].value;
			return true;
		}
	return false;
}
