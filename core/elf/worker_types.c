/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Types, from DWARF to BTF. An id is given out when a type is first referred to, and its
 * description written in the order of ids: what a description refers to joins the end of the queue.
 * So nothing here recurses, however deep a file nests its types.
 *
 * The same header in fifty compilation units is described fifty times. Named types of one name,
 * size, and place of declaration are taken for one.
 *
 * What BTF has no word for keeps its size: vectors, and what is broken, become structs without
 * members, of which the parent knows that it does not know how they are passed. C++ becomes C:
 * references are pointers, a base class is a nameless member, so that its members are the class's.
 */
#include "core/elf/worker_types.h"

#include <dwarf.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#include "core/elf/worker.h"

#define TYPES_MOST      (1u << 20)
#define STRINGS_MOST    (64u << 20)
#define MEMBERS_MOST    65535u
#define DIMENSIONS_MOST 16u
#define CHAIN_MOST      64 /* entries that only lead to another */

#ifndef BTF_KIND_ENUM64 /* linux/btf.h since 6.0 */
#define BTF_KIND_ENUM64 19
#endif

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

/* Open addressing; 0 is no value. */
struct table {
	struct slot {
		uint64_t key;
		uint32_t value;
	} * slots;
	size_t n, size;
};

struct weft_types {
	struct item *items; /* id - 1 */
	uint32_t n, cap;
	struct table by_die, by_name, texts;
	uint32_t index_type; /* of arrays */
	char *strings;
	size_t n_strings, cap_strings;
	uint32_t *words; /* descriptions */
	size_t n_words, cap_words;
	bool full;
};

static uint64_t mix(uint64_t h)
{
	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdu;
	h ^= h >> 33;
	h *= 0xc4ceb9fe1a85ec53u;
	return h ^ h >> 33;
}

static uint64_t hash_text(uint64_t h, const char *s)
{
	for (; s && *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	return mix(h + 1);
}

/* The value's place; the key is taken. */
static uint32_t *place(struct table *t, uint64_t key)
{
	size_t at;

	key |= 1; /* 0 is no key */
	if (t->n * 2 >= t->size) {
		size_t size = t->size ? t->size * 2 : 256;
		struct slot *slots = weft_elf_allocate(size, sizeof(*slots));

		for (size_t i = 0; i < t->size; i++) {
			if (!t->slots[i].key)
				continue;
			at = mix(t->slots[i].key) & (size - 1);
			while (slots[at].key)
				at = (at + 1) & (size - 1);
			slots[at] = t->slots[i];
		}
		free(t->slots);
		t->slots = slots;
		t->size = size;
	}
	at = mix(key) & (t->size - 1);
	while (t->slots[at].key && t->slots[at].key != key)
		at = (at + 1) & (t->size - 1);
	if (!t->slots[at].key) {
		t->slots[at].key = key;
		t->n++;
	}
	return &t->slots[at].value;
}

struct weft_types *weft_types_create(void)
{
	struct weft_types *t = weft_elf_allocate(1, sizeof(*t));

	t->strings = weft_elf_allocate(1, 4096);
	t->cap_strings = 4096;
	t->n_strings = 1; /* "" */
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

/* ---- from references to ids ---- */

static uint64_t number(Dwarf_Die *die, unsigned int name, uint64_t otherwise)
{
	Dwarf_Attribute a;
	Dwarf_Word v;

	return dwarf_attr_integrate(die, name, &a) && !dwarf_formudata(&a, &v) ? v : otherwise;
}

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
	h = hash_text((uint64_t)tag, name);
	h = hash_text(h ^ mix((uint64_t)line), file);
	h = mix(h + number(die, DW_AT_byte_size, 0) * 4 +
		(dwarf_hasattr(die, DW_AT_declaration) ? 1u : 0u));
	return mix(h + number(die, DW_AT_encoding, 0));
}

/* Entries that say nothing that C could say. */
static bool leads_on(int tag)
{
	return tag == DW_TAG_atomic_type || tag == DW_TAG_packed_type || tag == DW_TAG_shared_type ||
	       tag == DW_TAG_immutable_type || tag == DW_TAG_subrange_type;
}

static uint32_t id_of(struct weft_types *t, Dwarf_Die *die)
{
	uint32_t *seen = place(&t->by_die, (uint64_t)(uintptr_t)die->addr << 1), id;
	uint64_t key;

	if (*seen)
		return *seen;
	key = key_of(die);
	if (key) {
		uint32_t *same = place(&t->by_name, key);

		if (!*same)
			*same = add_item(t, &(struct item){.kind = ITEM_DIE, .die = *die});
		id = *same;
	} else {
		id = add_item(t, &(struct item){.kind = ITEM_DIE, .die = *die});
	}
	*place(&t->by_die, (uint64_t)(uintptr_t)die->addr << 1) = id;
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

static void word(struct weft_types *t, uint32_t w)
{
	if (t->n_words == t->cap_words) {
		t->cap_words = t->cap_words ? t->cap_words * 2 : 1024;
		t->words = weft_elf_reallocate(t->words, t->cap_words, sizeof(*t->words));
	}
	t->words[t->n_words++] = w;
}

static uint32_t text(struct weft_types *t, const char *s)
{
	size_t n = s ? strnlen(s, WEFT_ELF_MAX_NAME) : 0;
	uint32_t *at;

	if (!n || n == WEFT_ELF_MAX_NAME)
		return 0;
	at = place(&t->texts, hash_text(0xcbf29ce484222325u, s));
	if (*at && !strcmp(t->strings + *at, s))
		return *at;
	if (t->n_strings + n + 1 > STRINGS_MOST) {
		t->full = true;
		return 0;
	}
	while (t->n_strings + n + 1 > t->cap_strings) {
		t->cap_strings *= 2;
		t->strings = weft_elf_reallocate(t->strings, t->cap_strings, 1);
	}
	*at = (uint32_t)t->n_strings;
	memcpy(t->strings + t->n_strings, s, n + 1);
	t->n_strings += n + 1;
	return *at;
}

/* The three words of struct btf_type. */
static void head(struct weft_types *t, uint32_t name, uint32_t kind, uint32_t vlen, bool flag,
		 uint32_t size_or_type)
{
	word(t, name);
	word(t, kind << 24 | vlen | (flag ? 1u << 31 : 0));
	word(t, size_or_type);
}

static void write_opaque(struct weft_types *t, const char *name, uint64_t size)
{
	head(t, text(t, name), BTF_KIND_STRUCT, 0, false, size <= UINT32_MAX ? (uint32_t)size : 0);
}

static void write_int(struct weft_types *t, const char *name, uint32_t size, uint32_t encoding)
{
	head(t, text(t, name), BTF_KIND_INT, 0, false, size);
	word(t, encoding << 24 | size * 8);
}

static void write_base(struct weft_types *t, Dwarf_Die *die, const char *name)
{
	uint64_t size = number(die, DW_AT_byte_size, 0);
	uint32_t bytes = (uint32_t)size;

	if (size != 1 && size != 2 && size != 4 && size != 8 && size != 16) {
		write_opaque(t, name, size);
		return;
	}
	switch (number(die, DW_AT_encoding, 0)) {
	case DW_ATE_boolean:
		write_int(t, name, bytes, BTF_INT_BOOL);
		break;
	case DW_ATE_signed_char:
		write_int(t, name, bytes, BTF_INT_SIGNED | BTF_INT_CHAR);
		break;
	case DW_ATE_signed:
		write_int(t, name, bytes, BTF_INT_SIGNED);
		break;
	case DW_ATE_unsigned_char:
		write_int(t, name, bytes, BTF_INT_CHAR);
		break;
	case DW_ATE_unsigned:
	case DW_ATE_UTF:
	case DW_ATE_address:
		write_int(t, name, bytes, 0);
		break;
	case DW_ATE_float:
		if (size != 1) {
			head(t, text(t, name), BTF_KIND_FLOAT, 0, false, bytes);
			break;
		}
		/* fall through */
	default: /* complex, decimal, fixed point */
		write_opaque(t, name, size);
		break;
	}
}

struct member {
	const char *name;
	uint32_t type;
	uint64_t bit, bits;
};

/* Where a member lies, in bits; false: that depends, or it is none of the object's. */
static bool place_of(Dwarf_Die *die, struct member *m)
{
	uint64_t at = number(die, DW_AT_data_member_location, UINT64_MAX), from_top;

	m->bits = number(die, DW_AT_bit_size, 0);
	m->bit = number(die, DW_AT_data_bit_offset, UINT64_MAX);
	if (m->bit != UINT64_MAX)
		return true;
	if (at == UINT64_MAX) {
		if (dwarf_hasattr(die, DW_AT_data_member_location)) /* an expression */
			return false;
		at = 0; /* of a union */
	}
	if (at > UINT32_MAX / 8)
		return false;
	m->bit = at * 8;
	from_top = number(die, DW_AT_bit_offset, UINT64_MAX);
	if (m->bits && from_top != UINT64_MAX) { /* as DWARF 3 counts, big-endian */
		Dwarf_Attribute a;
		Dwarf_Die type;
		uint64_t unit = number(die, DW_AT_byte_size, 0);

		if (!unit && dwarf_attr_integrate(die, DW_AT_type, &a) &&
		    dwarf_formref_die(&a, &type) && !dwarf_peel_type(&type, &type))
			unit = number(&type, DW_AT_byte_size, 0);
		if (!unit || unit > 16 || from_top + m->bits > unit * 8)
			return false;
		m->bit += unit * 8 - from_top - m->bits;
	}
	return true;
}

static void write_members(struct weft_types *t, Dwarf_Die *die, const char *name, bool is_union)
{
	uint64_t size = number(die, DW_AT_byte_size, UINT64_MAX);
	struct member *members = NULL;
	uint32_t n = 0, cap = 0;
	bool bits = false;
	Dwarf_Die c;

	if (dwarf_hasattr(die, DW_AT_declaration)) {
		head(t, text(t, name), BTF_KIND_FWD, 0, is_union, 0);
		return;
	}
	for (int r = dwarf_child(die, &c); r == 0; r = dwarf_siblingof(&c, &c)) {
		int tag = dwarf_tag(&c);
		struct member m = {0};

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    dwarf_hasattr(&c, DW_AT_external) || dwarf_hasattr(&c, DW_AT_declaration) ||
		    !place_of(&c, &m))
			continue;
		m.name = tag == DW_TAG_member ? dwarf_diename(&c) : NULL;
		m.type = weft_types_of(t, &c);
		bits |= m.bits != 0;
		if (n == cap) {
			cap = cap ? cap * 2 : 16;
			members = weft_elf_reallocate(members, cap, sizeof(*members));
		}
		members[n++] = m;
		if (n > MEMBERS_MOST)
			break;
	}
	if (size > UINT32_MAX || n > MEMBERS_MOST) {
		write_opaque(t, name, 0);
	} else {
		uint32_t kept = 0;

		for (uint32_t i = 0; i < n; i++)
			if (members[i].bit <= (bits ? 0xffffffu : UINT32_MAX) &&
			    members[i].bits <= 128)
				members[kept++] = members[i];
		head(t, text(t, name), is_union ? BTF_KIND_UNION : BTF_KIND_STRUCT, kept, bits,
		     (uint32_t)size);
		for (uint32_t i = 0; i < kept; i++) {
			word(t, text(t, members[i].name));
			word(t, members[i].type);
			word(t, (uint32_t)members[i].bit |
					(bits ? (uint32_t)members[i].bits << 24 : 0));
		}
	}
	free(members);
}

static void write_enum(struct weft_types *t, Dwarf_Die *die, const char *name)
{
	uint64_t size = number(die, DW_AT_byte_size, 4);
	bool wide = size == 8, negative = false;
	uint32_t n = 0;
	Dwarf_Die c;

	if (dwarf_hasattr(die, DW_AT_declaration) ||
	    (size != 1 && size != 2 && size != 4 && size != 8)) {
		head(t, text(t, name), BTF_KIND_INT, 0, false, 4);
		word(t, 32);
		return;
	}
	for (int pass = 0; pass < 2; pass++) {
		uint32_t i = 0;

		if (pass)
			head(t, text(t, name), wide ? BTF_KIND_ENUM64 : BTF_KIND_ENUM, n, negative,
			     (uint32_t)size);
		for (int r = dwarf_child(die, &c); r == 0 && i < MEMBERS_MOST;
		     r = dwarf_siblingof(&c, &c)) {
			Dwarf_Attribute a;
			Dwarf_Sword v;

			if (dwarf_tag(&c) != DW_TAG_enumerator ||
			    !dwarf_attr(&c, DW_AT_const_value, &a) || dwarf_formsdata(&a, &v))
				continue;
			i++;
			if (!pass) {
				/* A value in one byte may be either: the enum's own type says. */
				negative |= v < 0 && number(die, DW_AT_encoding, DW_ATE_signed) !=
							     DW_ATE_unsigned;
				continue;
			}
			word(t, text(t, dwarf_diename(&c)));
			word(t, (uint32_t)v);
			if (wide)
				word(t, (uint32_t)((uint64_t)v >> 32));
		}
		n = i;
	}
}

static uint32_t index_type(struct weft_types *t)
{
	if (!t->index_type)
		t->index_type = add_item(t, &(struct item){.kind = ITEM_INT, .a = 8});
	return t->index_type;
}

/* The dimensions of an array; -1: more than are kept. */
static int dimensions(Dwarf_Die *die, uint64_t *counts)
{
	int n = 0;
	Dwarf_Die c;

	for (int r = dwarf_child(die, &c); r == 0; r = dwarf_siblingof(&c, &c)) {
		uint64_t count;

		if (dwarf_tag(&c) != DW_TAG_subrange_type)
			continue;
		if (n == (int)DIMENSIONS_MOST)
			return -1;
		count = number(&c, DW_AT_count, UINT64_MAX);
		if (count == UINT64_MAX) {
			count = number(&c, DW_AT_upper_bound, UINT64_MAX);
			/* No bound: a flexible array. The bound of [0] is -1 in some compilers' words. */
			count = count >= UINT32_MAX ? 0 : count + 1;
		}
		counts[n++] = count > UINT32_MAX ? 0 : count;
	}
	return n;
}

static void write_array(struct weft_types *t, Dwarf_Die *die, uint32_t dimension)
{
	uint64_t counts[DIMENSIONS_MOST];
	int n = dimensions(die, counts);
	uint32_t of;

	if (n <= (int)dimension || dwarf_hasattr(die, DW_AT_GNU_vector)) {
		write_opaque(t, NULL, number(die, DW_AT_byte_size, 0));
		return;
	}
	if ((int)dimension + 1 < n)
		of = add_item(
			t, &(struct item){.kind = ITEM_DIMENSION, .die = *die, .a = dimension + 1});
	else
		of = weft_types_of(t, die);
	head(t, 0, BTF_KIND_ARRAY, 0, false, 0);
	word(t, of);
	word(t, index_type(t));
	word(t, (uint32_t)counts[dimension]);
}

static void write_subroutine(struct weft_types *t, Dwarf_Die *die)
{
	uint32_t result = weft_types_of(t, die), types[64], n = 0;
	bool variadic = false;
	Dwarf_Die c;

	for (int r = dwarf_child(die, &c); r == 0 && n < 64; r = dwarf_siblingof(&c, &c)) {
		if (dwarf_tag(&c) == DW_TAG_formal_parameter)
			types[n++] = weft_types_of(t, &c);
		else if (dwarf_tag(&c) == DW_TAG_unspecified_parameters)
			variadic = true;
	}
	head(t, 0, BTF_KIND_FUNC_PROTO, n + variadic, false, result);
	for (uint32_t i = 0; i < n; i++) {
		word(t, 0);
		word(t, types[i]);
	}
	if (variadic) {
		word(t, 0);
		word(t, 0);
	}
}

static void write_member_pointer(struct weft_types *t, Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Die to;

	/* To a function, it is two words; to a variable, an offset. */
	if (dwarf_attr_integrate(die, DW_AT_type, &a) && dwarf_formref_die(&a, &to) &&
	    dwarf_tag(&to) == DW_TAG_subroutine_type)
		write_opaque(t, NULL, 16);
	else
		write_int(t, "ptrdiff_t", 8, BTF_INT_SIGNED);
}

static void write_die(struct weft_types *t, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	switch (dwarf_tag(die)) {
	case DW_TAG_base_type:
		write_base(t, die, name);
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		head(t, 0, BTF_KIND_PTR, 0, false, weft_types_of(t, die));
		break;
	case DW_TAG_const_type:
		head(t, 0, BTF_KIND_CONST, 0, false, weft_types_of(t, die));
		break;
	case DW_TAG_volatile_type:
		head(t, 0, BTF_KIND_VOLATILE, 0, false, weft_types_of(t, die));
		break;
	case DW_TAG_restrict_type:
		head(t, 0, BTF_KIND_RESTRICT, 0, false, weft_types_of(t, die));
		break;
	case DW_TAG_typedef:
		if (!text(t, name)) /* the core's reader wants one to have a name */
			name = "typedef";
		head(t, text(t, name), BTF_KIND_TYPEDEF, 0, false, weft_types_of(t, die));
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		write_members(t, die, name, false);
		break;
	case DW_TAG_union_type:
		write_members(t, die, name, true);
		break;
	case DW_TAG_enumeration_type:
		write_enum(t, die, name);
		break;
	case DW_TAG_array_type:
		write_array(t, die, 0);
		break;
	case DW_TAG_subroutine_type:
		write_subroutine(t, die);
		break;
	case DW_TAG_ptr_to_member_type:
		write_member_pointer(t, die);
		break;
	case DW_TAG_unspecified_type: /* of nullptr */
		write_int(t, name, 8, 0);
		break;
	default:
		write_opaque(t, name, 0);
		break;
	}
}

static void write_item(struct weft_types *t, const struct item *i)
{
	Dwarf_Die die = i->die;

	switch (i->kind) {
	case ITEM_DIE:
		write_die(t, &die);
		break;
	case ITEM_DIMENSION:
		write_array(t, &die, i->a);
		break;
	case ITEM_POINTER:
		head(t, 0, BTF_KIND_PTR, 0, false, i->a);
		break;
	case ITEM_OPAQUE:
		write_opaque(t, NULL, 0);
		break;
	case ITEM_INT:
		write_int(t, "unsigned long", i->a, 0);
		break;
	case ITEM_FUNC:
		head(t, text(t, i->name), BTF_KIND_FUNC, 1, false, i->a);
		break;
	case ITEM_PROTO:
		head(t, 0, BTF_KIND_FUNC_PROTO, i->b + i->variadic, false, i->a);
		for (uint32_t k = 0; k < i->b; k++) {
			word(t, text(t, i->params[k].name));
			word(t, i->params[k].type);
		}
		if (i->variadic) {
			word(t, 0);
			word(t, 0);
		}
		break;
	}
}

bool weft_types_write(struct weft_types *t, void **bytes, size_t *size)
{
	struct btf_header h = {.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(h)};
	char *to;

	for (uint32_t i = 0; i < t->n && !t->full; i++) {
		struct item item = t->items[i]; /* the array moves as it grows */

		write_item(t, &item);
	}
	if (t->full || t->n_words > UINT32_MAX / 8)
		return false;
	h.type_len = (uint32_t)(t->n_words * 4);
	h.str_off = h.type_len;
	h.str_len = (uint32_t)t->n_strings;
	*size = sizeof(h) + h.type_len + h.str_len;
	to = weft_elf_allocate(*size, 1);
	memcpy(to, &h, sizeof(h));
	if (t->n_words)
		memcpy(to + sizeof(h), t->words, h.type_len);
	memcpy(to + sizeof(h) + h.str_off, t->strings, t->n_strings);
	*bytes = to;
	return true;
}
