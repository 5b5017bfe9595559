/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Itanium C++ ABI, 3.1.2.3: an object is passed by its address if its copy constructor, its move
 * constructor or its destructor is not trivial. clang says so of each class
 * (DW_AT_calling_convention). Of others it follows from what the class declares: one of these three
 * that somebody wrote, a virtual function or base, or a base or member that is itself of that kind.
 * What was not written is made by the compiler, and is trivial if nothing else forbids it. A class
 * whose copy constructor is deleted may be passed either way: that is not known.
 */
#include "core/elf/worker_cxx.h"

#include <dwarf.h>
#include <stdbool.h>
#include <string.h>

#define DEPTH_MOST 16
#define STEPS_MOST 20000

#ifndef DW_CC_pass_by_reference
#define DW_CC_pass_by_reference 4
#define DW_CC_pass_by_value     5
#endif

static enum weft_cxx_passing class_passing(Dwarf_Die *type, int depth, int *steps);

static bool is_class(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* The class that an entry's type is, or that arrays of it are of. */
static bool class_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Die at = *die;
	Dwarf_Attribute a;

	for (int i = 0; i < DEPTH_MOST; i++) {
		if (!dwarf_attr_integrate(&at, DW_AT_type, &a) || !dwarf_formref_die(&a, type) ||
		    dwarf_peel_type(type, type))
			return false;
		if (dwarf_tag(type) != DW_TAG_array_type)
			return is_class(dwarf_tag(type));
		at = *type;
	}
	return false;
}

static bool has(Dwarf_Die *die, unsigned int name, Dwarf_Word *value)
{
	Dwarf_Attribute a;

	return dwarf_attr(die, name, &a) && !dwarf_formudata(&a, value);
}

/* Whether a constructor's first parameter is a reference to its own class. */
static bool takes_its_own(Dwarf_Die *function, Dwarf_Die *class)
{
	Dwarf_Attribute a;
	Dwarf_Die c, to;
	int n = 0;

	for (int r = dwarf_child(function, &c); r == 0; r = dwarf_siblingof(&c, &c)) {
		if (dwarf_tag(&c) != DW_TAG_formal_parameter || n++ == 0) /* the first is this */
			continue;
		if (!dwarf_attr_integrate(&c, DW_AT_type, &a) || !dwarf_formref_die(&a, &to) ||
		    (dwarf_tag(&to) != DW_TAG_reference_type &&
		     dwarf_tag(&to) != DW_TAG_rvalue_reference_type))
			return false;
		return class_of(&to, &to) && to.addr == class->addr;
	}
	return false;
}

static enum weft_cxx_passing function_says(Dwarf_Die *function, Dwarf_Die *class)
{
	const char *name = dwarf_diename(function), *own = dwarf_diename(class);
	size_t length = own ? strcspn(own, "<") : 0;
	Dwarf_Word how;
	bool special;

	if (has(function, DW_AT_virtuality, &how) && how)
		return WEFT_CXX_BY_REFERENCE;
	if (!name || !own)
		return WEFT_CXX_AS_ITSELF;
	special = name[0] == '~' || (strlen(name) == length && !strncmp(name, own, length) &&
				     takes_its_own(function, class));
	if (!special || dwarf_hasattr(function, DW_AT_artificial))
		return WEFT_CXX_AS_ITSELF;
	if (dwarf_hasattr(function, DW_AT_deleted))
		return WEFT_CXX_UNKNOWN;
	/* "= default" in the class makes it as trivial as if it were not there. */
	return has(function, DW_AT_defaulted, &how) && how == 1 ? WEFT_CXX_AS_ITSELF
								: WEFT_CXX_BY_REFERENCE;
}

static enum weft_cxx_passing child_says(Dwarf_Die *c, Dwarf_Die *class, int depth, int *steps)
{
	Dwarf_Word how;
	Dwarf_Die type;

	switch (dwarf_tag(c)) {
	case DW_TAG_subprogram:
		return function_says(c, class);
	case DW_TAG_inheritance:
		if (has(c, DW_AT_virtuality, &how) && how)
			return WEFT_CXX_BY_REFERENCE;
		break;
	case DW_TAG_member:
		if (dwarf_hasattr(c, DW_AT_external) || dwarf_hasattr(c, DW_AT_declaration))
			return WEFT_CXX_AS_ITSELF; /* static */
		break;
	default:
		return WEFT_CXX_AS_ITSELF;
	}
	return class_of(c, &type) ? class_passing(&type, depth + 1, steps) : WEFT_CXX_AS_ITSELF;
}

static enum weft_cxx_passing class_passing(Dwarf_Die *type, int depth, int *steps)
{
	enum weft_cxx_passing all = WEFT_CXX_AS_ITSELF;
	Dwarf_Word convention;
	Dwarf_Die c;

	if (depth > DEPTH_MOST || dwarf_hasattr(type, DW_AT_declaration))
		return WEFT_CXX_UNKNOWN;
	if (has(type, DW_AT_calling_convention, &convention)) {
		if (convention == DW_CC_pass_by_reference)
			return WEFT_CXX_BY_REFERENCE;
		return convention == DW_CC_pass_by_value ? WEFT_CXX_AS_ITSELF : WEFT_CXX_UNKNOWN;
	}
	for (int r = dwarf_child(type, &c); r == 0; r = dwarf_siblingof(&c, &c)) {
		enum weft_cxx_passing says;

		if (!(*steps)--) {
			*steps = 0;
			return WEFT_CXX_UNKNOWN;
		}
		says = child_says(&c, type, depth, steps);
		if (says == WEFT_CXX_BY_REFERENCE)
			return says;
		if (says == WEFT_CXX_UNKNOWN)
			all = says;
	}
	return all;
}

enum weft_cxx_passing weft_cxx_passing(Dwarf_Die *die)
{
	int steps = STEPS_MOST;
	Dwarf_Attribute a;
	Dwarf_Die type;

	if (!dwarf_attr_integrate(die, DW_AT_type, &a) || !dwarf_formref_die(&a, &type) ||
	    dwarf_peel_type(&type, &type) || !is_class(dwarf_tag(&type)))
		return WEFT_CXX_AS_ITSELF;
	return class_passing(&type, 0, &steps);
}
