/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Types, from DWARF to BTF. An id is given out when a type is first referred to, and its
 * description written in the order of ids: what a description refers to joins the end of the queue.
 * So nothing here recurses, however deep a file nests its types.
 *
 * The same header in fifty compilation units is described fifty times. Named types of one name,
 * size, and place of declaration are taken for one.
 */
#include "core/elf/worker_types.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "core/elf/worker.h"
#include "core/elf/worker_describe.h"

#define TYPES_MOST (1u << 20)
#define CHAIN_MOST 64 /* entries that only lead to another */

enum item_kind {
	ITEM_DIE,
	ITEM_DIMENSION,
	ITEM_POINTER,
	ITEM_OPAQUE,
	ITEM_INT,
	ITEM_PROTO,
	ITEM_FUNC
};

struct item {
	enum item_kind kind;
	Dwarf_Die die; /* DIE, DIMENSION */
	uint32_t a,
		b; /* DIMENSION: which; POINTER: to; INT: bytes; PROTO: result, count; FUNC: proto */
	bool variadic;
	const char *name;
	struct weft_types_param *params;
};

struct weft_types {
	struct item *items; /* id - 1 */
	uint32_t n, cap;
	struct weft_elf_table by_die, by_name;
	uint32_t index_type; /* of arrays */
	struct weft_btf_writer out;
	bool full;
};

struct weft_types *weft_types_create(void)
{
	struct weft_types *t = weft_elf_allocate(1, sizeof(*t));

	weft_btf_writer_init(&t->out);
	return t;
}

static uint32_t add_item(struct weft_types *t, const struct item *item)
{
	if (t->n >= TYPES_MOST) {
		t->full = true;
		return 0;
	}
	if (t->n == t->cap) {
		t->cap = t->cap ? t->cap * 2 : 256;
		t->items = weft_elf_reallocate(t->items, t->cap, sizeof(*t->items));
	}
	t->items[t->n++] = *item;
	return t->n;
}

uint32_t weft_types_pointer(struct weft_types *t, uint32_t to)
{
	return add_item(t, &(struct item){.kind = ITEM_POINTER, .a = to});
}

uint32_t weft_types_opaque(struct weft_types *t)
{
	return add_item(t, &(struct item){.kind = ITEM_OPAQUE});
}

uint32_t weft_types_proto(struct weft_types *t, uint32_t result,
			  const struct weft_types_param *params, uint32_t n, bool variadic)
{
	struct item item = {.kind = ITEM_PROTO, .a = result, .b = n, .variadic = variadic};

	item.params = weft_elf_allocate(n, sizeof(*params));
	memcpy(item.params, params, n * sizeof(*params));
	return add_item(t, &item);
}

uint32_t weft_types_function(struct weft_types *t, const char *name, uint32_t proto)
{
	return add_item(t, &(struct item){.kind = ITEM_FUNC, .a = proto, .name = name});
}

uint32_t weft_types_index(struct weft_types *t)
{
	if (!t->index_type)
		t->index_type = add_item(t, &(struct item){.kind = ITEM_INT, .a = 8});
	return t->index_type;
}

uint32_t weft_types_dimension(struct weft_types *t, const Dwarf_Die *die, uint32_t dimension)
{
	return add_item(t, &(struct item){.kind = ITEM_DIMENSION, .die = *die, .a = dimension});
}

/* ---- from references to ids ---- */

/* A key that equal declarations share; 0: it has no name, or is no whole type. */
static uint64_t key_of(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die), *file;
	int line = 0, tag = dwarf_tag(die);
	uint64_t h;

	if (!name)
		return 0;
	switch (tag) {
	case DW_TAG_base_type:
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_typedef:
		if (dwarf_decl_line(die, &line) || !line)
			return 0;
		break;
	default:
		return 0;
	}
	file = tag == DW_TAG_base_type ? "" : dwarf_decl_file(die);
	if (!file)
		return 0;
	h = weft_elf_hash_text((uint64_t)tag, name);
	h = weft_elf_hash_text(h ^ weft_elf_mix((uint64_t)line), file);
	h = weft_elf_mix(h + weft_die_number(die, DW_AT_byte_size, 0) * 4 +
			 (dwarf_hasattr(die, DW_AT_declaration) ? 1u : 0u));
	return weft_elf_mix(h + weft_die_number(die, DW_AT_encoding, 0));
}

/* Entries that say nothing that C could say. */
static bool leads_on(int tag)
{
	return tag == DW_TAG_atomic_type || tag == DW_TAG_packed_type || tag == DW_TAG_shared_type ||
	       tag == DW_TAG_immutable_type || tag == DW_TAG_subrange_type;
}

static uint32_t id_of(struct weft_types *t, Dwarf_Die *die)
{
	uint32_t *seen = weft_elf_place(&t->by_die, (uint64_t)(uintptr_t)die->addr << 1), id;
	uint64_t key;

	if (*seen)
		return *seen;
	key = key_of(die);
	if (key) {
		uint32_t *same = weft_elf_place(&t->by_name, key);

		if (!*same)
			*same = add_item(t, &(struct item){.kind = ITEM_DIE, .die = *die});
		id = *same;
	} else {
		id = add_item(t, &(struct item){.kind = ITEM_DIE, .die = *die});
	}
	*weft_elf_place(&t->by_die, (uint64_t)(uintptr_t)die->addr << 1) = id;
	return id;
}

uint32_t weft_types_of(struct weft_types *t, Dwarf_Die *die)
{
	Dwarf_Die at = *die, to;
	Dwarf_Attribute a;

	for (int i = 0; i < CHAIN_MOST; i++) {
		if (!dwarf_attr_integrate(&at, DW_AT_type, &a))
			return i ? weft_types_opaque(t) : 0;
		if (!dwarf_formref_die(&a, &to))
			break; /* it says a type that is not here */
		if (!leads_on(dwarf_tag(&to)))
			return id_of(t, &to);
		at = to;
	}
	return weft_types_opaque(t);
}

/* ---- writing ---- */

static void write_item(struct weft_types *t, const struct item *i)
{
	struct weft_btf_writer *w = &t->out;
	Dwarf_Die die = i->die;

	switch (i->kind) {
	case ITEM_DIE:
		weft_describe_die(t, w, &die);
		break;
	case ITEM_DIMENSION:
		weft_describe_array(t, w, &die, i->a);
		break;
	case ITEM_POINTER:
		weft_btf_head(w, 0, BTF_KIND_PTR, 0, false, i->a);
		break;
	case ITEM_OPAQUE:
		weft_btf_opaque(w, NULL, 0);
		break;
	case ITEM_INT:
		weft_btf_int(w, "unsigned long", i->a, 0);
		break;
	case ITEM_FUNC:
		weft_btf_head(w, weft_btf_text(w, i->name), BTF_KIND_FUNC, 1, false, i->a);
		break;
	case ITEM_PROTO:
		weft_btf_head(w, 0, BTF_KIND_FUNC_PROTO, i->b + i->variadic, false, i->a);
		for (uint32_t k = 0; k < i->b; k++) {
			weft_btf_word(w, weft_btf_text(w, i->params[k].name));
			weft_btf_word(w, i->params[k].type);
		}
		if (i->variadic) {
			weft_btf_word(w, 0);
			weft_btf_word(w, 0);
		}
		break;
	}
}

bool weft_types_write(struct weft_types *t, void **bytes, size_t *size)
{
	for (uint32_t i = 0; i < t->n && !t->full && !t->out.full; i++) {
		struct item item = t->items[i]; /* the array moves as it grows */

		write_item(t, &item);
	}
	return !t->full && weft_btf_finish(&t->out, bytes, size);
}
