/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What BTF has no word for keeps its size: vectors, and what is broken, become structs without
 * members, of which the parent knows that it does not know how they are passed. C++ becomes C:
 * references are pointers, a base class is a nameless member, so that its members are the class's.
 */
#include "core/elf/worker_describe.h"

#include <dwarf.h>
#include <stdlib.h>

#include "core/elf/worker.h"

#define MEMBERS_MOST    65535u
#define DIMENSIONS_MOST 16u
#define TYPEDEFS_MOST   64 /* between an enum and its integer */

uint64_t weft_die_number(Dwarf_Die *die, unsigned int name, uint64_t otherwise)
{
	Dwarf_Attribute a;
	Dwarf_Word v;

	return dwarf_attr_integrate(die, name, &a) && !dwarf_formudata(&a, &v) ? v : otherwise;
}

static void write_base(struct weft_btf_writer *w, Dwarf_Die *die, const char *name)
{
	uint64_t size = weft_die_number(die, DW_AT_byte_size, 0);
	uint32_t bytes = (uint32_t)size;

	if (size != 1 && size != 2 && size != 4 && size != 8 && size != 16) {
		weft_btf_opaque(w, name, size);
		return;
	}
	switch (weft_die_number(die, DW_AT_encoding, 0)) {
	case DW_ATE_boolean:
		weft_btf_int(w, name, bytes, BTF_INT_BOOL);
		break;
	case DW_ATE_signed_char:
		weft_btf_int(w, name, bytes, BTF_INT_SIGNED | BTF_INT_CHAR);
		break;
	case DW_ATE_signed:
		weft_btf_int(w, name, bytes, BTF_INT_SIGNED);
		break;
	case DW_ATE_unsigned_char:
		weft_btf_int(w, name, bytes, BTF_INT_CHAR);
		break;
	case DW_ATE_unsigned:
	case DW_ATE_UTF:
	case DW_ATE_address:
		weft_btf_int(w, name, bytes, 0);
		break;
	case DW_ATE_float:
		if (size != 1) {
			weft_btf_head(w, weft_btf_text(w, name), BTF_KIND_FLOAT, 0, false, bytes);
			break;
		}
		/* fall through */
	default: /* complex, decimal, fixed point */
		weft_btf_opaque(w, name, size);
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
	uint64_t at = weft_die_number(die, DW_AT_data_member_location, UINT64_MAX), from_top;

	m->bits = weft_die_number(die, DW_AT_bit_size, 0);
	m->bit = weft_die_number(die, DW_AT_data_bit_offset, UINT64_MAX);
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
	from_top = weft_die_number(die, DW_AT_bit_offset, UINT64_MAX);
	if (m->bits && from_top != UINT64_MAX) { /* as DWARF 3 counts, big-endian */
		Dwarf_Attribute a;
		Dwarf_Die type;
		uint64_t unit = weft_die_number(die, DW_AT_byte_size, 0);

		if (!unit && dwarf_attr_integrate(die, DW_AT_type, &a) &&
		    dwarf_formref_die(&a, &type) && !dwarf_peel_type(&type, &type))
			unit = weft_die_number(&type, DW_AT_byte_size, 0);
		if (!unit || unit > 16 || from_top + m->bits > unit * 8)
			return false;
		m->bit += unit * 8 - from_top - m->bits;
	}
	return true;
}

static void write_members(struct weft_types *t, struct weft_btf_writer *w, Dwarf_Die *die,
			  const char *name, bool is_union)
{
	uint64_t size = weft_die_number(die, DW_AT_byte_size, UINT64_MAX);
	struct member *members = NULL;
	uint32_t n = 0, cap = 0;
	bool bits = false;
	Dwarf_Die c;

	if (dwarf_hasattr(die, DW_AT_declaration)) {
		weft_btf_head(w, weft_btf_text(w, name), BTF_KIND_FWD, 0, is_union, 0);
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
		weft_btf_opaque(w, name, 0);
	} else {
		uint32_t kept = 0;

		for (uint32_t i = 0; i < n; i++)
			if (members[i].bit <= (bits ? 0xffffffu : UINT32_MAX) &&
			    members[i].bits <= 128)
				members[kept++] = members[i];
		weft_btf_head(w, weft_btf_text(w, name), is_union ? BTF_KIND_UNION : BTF_KIND_STRUCT,
			      kept, bits, (uint32_t)size);
		for (uint32_t i = 0; i < kept; i++) {
			weft_btf_word(w, weft_btf_text(w, members[i].name));
			weft_btf_word(w, members[i].type);
			weft_btf_word(w, (uint32_t)members[i].bit |
						 (bits ? (uint32_t)members[i].bits << 24 : 0));
		}
	}
	free(members);
}

/* gcc says it of the enum, clang of the integer that it is made of; else it is not known. */
static bool is_unsigned_enum(Dwarf_Die *die)
{
	Dwarf_Die at = *die;
	Dwarf_Attribute a;
	uint64_t encoding;

	for (int i = 0; i < TYPEDEFS_MOST && !dwarf_hasattr(&at, DW_AT_encoding); i++)
		if (!dwarf_attr_integrate(&at, DW_AT_type, &a) || !dwarf_formref_die(&a, &at))
			return false;
	encoding = weft_die_number(&at, DW_AT_encoding, DW_ATE_signed);
	return encoding == DW_ATE_unsigned || encoding == DW_ATE_unsigned_char ||
	       encoding == DW_ATE_boolean;
}

static void write_enum(struct weft_btf_writer *w, Dwarf_Die *die, const char *name)
{
	uint64_t size = weft_die_number(die, DW_AT_byte_size, 4);
	uint64_t bits = size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX;
	bool wide = size == 8, negative = false, great = false;
	bool is_unsigned = is_unsigned_enum(die);
	uint32_t n = 0;
	Dwarf_Die c;

	if (dwarf_hasattr(die, DW_AT_declaration) ||
	    (size != 1 && size != 2 && size != 4 && size != 8)) {
		weft_btf_head(w, weft_btf_text(w, name), BTF_KIND_INT, 0, false, 4);
		weft_btf_word(w, 32);
		return;
	}
	for (int pass = 0; pass < 2; pass++) {
		uint32_t i = 0;

		if (pass)
			weft_btf_head(w, weft_btf_text(w, name),
				      wide ? BTF_KIND_ENUM64 : BTF_KIND_ENUM, n, negative,
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
				negative |= v < 0 && !is_unsigned;
				great |= ((uint64_t)v & bits) > INT32_MAX;
				continue;
			}
			if (!negative)
				v = (Dwarf_Sword)((uint64_t)v & bits);
			weft_btf_word(w, weft_btf_text(w, dwarf_diename(&c)));
			weft_btf_word(w, (uint32_t)v);
			if (wide)
				weft_btf_word(w, (uint32_t)((uint64_t)v >> 32));
		}
		n = i;
		/* In 32 bits a great constant could as well be a negative one. */
		wide |= great && !negative;
	}
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
		count = weft_die_number(&c, DW_AT_count, UINT64_MAX);
		if (count == UINT64_MAX) {
			count = weft_die_number(&c, DW_AT_upper_bound, UINT64_MAX);
			/* No bound: a flexible array. The bound of [0] is -1 in some compilers' words. */
			count = count >= UINT32_MAX ? 0 : count + 1;
		}
		counts[n++] = count > UINT32_MAX ? 0 : count;
	}
	return n;
}

void weft_describe_array(struct weft_types *t, struct weft_btf_writer *w, Dwarf_Die *die,
			 uint32_t dimension)
{
	uint64_t counts[DIMENSIONS_MOST];
	int n = dimensions(die, counts);
	uint32_t of;

	if (n <= (int)dimension || dwarf_hasattr(die, DW_AT_GNU_vector)) {
		weft_btf_opaque(w, NULL, weft_die_number(die, DW_AT_byte_size, 0));
		return;
	}
	if ((int)dimension + 1 < n)
		of = weft_types_dimension(t, die, dimension + 1);
	else
		of = weft_types_of(t, die);
	weft_btf_head(w, 0, BTF_KIND_ARRAY, 0, false, 0);
	weft_btf_word(w, of);
	weft_btf_word(w, weft_types_index(t));
	weft_btf_word(w, (uint32_t)counts[dimension]);
}

static void write_subroutine(struct weft_types *t, struct weft_btf_writer *w, Dwarf_Die *die)
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
	weft_btf_head(w, 0, BTF_KIND_FUNC_PROTO, n + variadic, false, result);
	for (uint32_t i = 0; i < n; i++) {
		weft_btf_word(w, 0);
		weft_btf_word(w, types[i]);
	}
	if (variadic) {
		weft_btf_word(w, 0);
		weft_btf_word(w, 0);
	}
}

static void write_member_pointer(struct weft_btf_writer *w, Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Die to;

	/* To a function, it is two words; to a variable, an offset. */
	if (dwarf_attr_integrate(die, DW_AT_type, &a) && dwarf_formref_die(&a, &to) &&
	    dwarf_tag(&to) == DW_TAG_subroutine_type)
		weft_btf_opaque(w, NULL, 16);
	else
		weft_btf_int(w, "ptrdiff_t", 8, BTF_INT_SIGNED);
}

void weft_describe_die(struct weft_types *t, struct weft_btf_writer *w, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	switch (dwarf_tag(die)) {
	case DW_TAG_base_type:
		write_base(w, die, name);
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		weft_btf_head(w, 0, BTF_KIND_PTR, 0, false, weft_types_of(t, die));
		break;
	case DW_TAG_const_type:
		weft_btf_head(w, 0, BTF_KIND_CONST, 0, false, weft_types_of(t, die));
		break;
	case DW_TAG_volatile_type:
		weft_btf_head(w, 0, BTF_KIND_VOLATILE, 0, false, weft_types_of(t, die));
		break;
	case DW_TAG_restrict_type:
		weft_btf_head(w, 0, BTF_KIND_RESTRICT, 0, false, weft_types_of(t, die));
		break;
	case DW_TAG_typedef:
		if (!weft_btf_text(w, name)) /* the core's reader wants one to have a name */
			name = "typedef";
		weft_btf_head(w, weft_btf_text(w, name), BTF_KIND_TYPEDEF, 0, false,
			      weft_types_of(t, die));
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		write_members(t, w, die, name, false);
		break;
	case DW_TAG_union_type:
		write_members(t, w, die, name, true);
		break;
	case DW_TAG_enumeration_type:
		write_enum(w, die, name);
		break;
	case DW_TAG_array_type:
		weft_describe_array(t, w, die, 0);
		break;
	case DW_TAG_subroutine_type:
		write_subroutine(t, w, die);
		break;
	case DW_TAG_ptr_to_member_type:
		write_member_pointer(w, die);
		break;
	case DW_TAG_unspecified_type: /* of nullptr */
		weft_btf_int(w, name, 8, 0);
		break;
	default:
		weft_btf_opaque(w, name, 0);
		break;
	}
}
