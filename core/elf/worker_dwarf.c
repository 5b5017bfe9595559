/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions in debugging information: which entry describes the code at an address, and what its
 * parameters are, as BTF (worker_types.c).
 *
 * What was written is what counts, not what an optimiser left: parameters come from the declaration
 * that a concrete function refers to, and where they lie follows from their types, since every
 * caller puts them there.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "core/elf/worker.h"
#include "core/elf/worker_cxx.h"
#include "core/elf/worker_types.h"

#define PARAMS_MOST   256u
#define FEW_FUNCTIONS 256u /* looked for by the index of addresses first */

struct finder {
	struct weft_elf_worker *w;
	const struct weft_elf_types_job *job;
	struct weft_types *types;
	struct weft_elf_typed *out;
	uint32_t found;
	bool cxx;
};

/* Languages whose functions are called as C's are; false: the convention is their own affair. */
static bool calls_like_c(int language, bool *cxx)
{
	*cxx = false;
	switch (language) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x2c: /* C17 */
	case DW_LANG_ObjC:
		return true;
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2b: /* C++17 */
	case 0x2a: /* C++20 */
	case DW_LANG_ObjC_plus_plus:
		*cxx = true;
		return true;
	default:
		return false;
	}
}

static uint32_t type_of(struct finder *f, Dwarf_Die *die, bool *hidden)
{
	switch (f->cxx ? weft_cxx_passing(die) : WEFT_CXX_AS_ITSELF) {
	case WEFT_CXX_BY_REFERENCE:
		*hidden = true;
		return weft_types_pointer(f->types, weft_types_of(f->types, die));
	case WEFT_CXX_UNKNOWN:
		return weft_types_opaque(f->types);
	default:
		return weft_types_of(f->types, die);
	}
}

/* The entry that has all parameters. */
static bool declared(Dwarf_Die *function, Dwarf_Die *out)
{
	Dwarf_Attribute a;

	*out = *function;
	for (int i = 0; i < 8 && dwarf_attr(out, DW_AT_abstract_origin, &a); i++)
		if (!dwarf_formref_die(&a, out))
			return false;
	return true;
}

/* The file that a function is declared in. In DWARF 5 the unit's own may be number 0, which libdw
 * takes for none. */
static const char *file_of(Dwarf_Die *function)
{
	const char *file = dwarf_decl_file(function);
	Dwarf_Half version = 0;
	Dwarf_Attribute a;
	Dwarf_Files *files;
	Dwarf_Die unit;
	Dwarf_Word index;
	size_t n;

	if (file || !dwarf_attr_integrate(function, DW_AT_decl_file, &a) ||
	    dwarf_formudata(&a, &index) || index ||
	    !dwarf_cu_die(function->cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) ||
	    version < 5 || dwarf_getsrcfiles(&unit, &files, &n) || !n)
		return file;
	return dwarf_filesrc(files, 0, NULL, NULL);
}

static void describe(struct finder *f, Dwarf_Die *function, struct weft_elf_typed *out)
{
	struct weft_types_param params[PARAMS_MOST];
	bool variadic = false, hidden = false, ignored;
	const char *file, *name = dwarf_diename(function);
	uint32_t n = 0, result;
	Dwarf_Die from, c;
	int line = 0;

	if (!declared(function, &from))
		return;
	for (int r = dwarf_child(&from, &c); r == 0; r = dwarf_siblingof(&c, &c)) {
		if (dwarf_tag(&c) == DW_TAG_unspecified_parameters)
			variadic = true;
		if (dwarf_tag(&c) != DW_TAG_formal_parameter)
			continue;
		if (n == PARAMS_MOST)
			return;
		params[n++] = (struct weft_types_param){.name = dwarf_diename(&c),
							.type = type_of(f, &c, &ignored)};
	}
	result = type_of(f, function, &hidden);
	out->func = weft_types_function(f->types, name,
					weft_types_proto(f->types, result, params, n, variadic));
	out->flags = hidden ? WEFT_ELF_HIDDEN_RESULT : 0;
	file = file_of(function);
	if (file && strnlen(file, WEFT_ELF_MAX_NAME) < WEFT_ELF_MAX_NAME) {
		out->file = weft_elf_string(f->w, file);
		if (!dwarf_decl_line(function, &line) && line > 0)
			out->line = (uint32_t)line;
	}
	f->found++;
}

static int consider(Dwarf_Die *function, void *arg)
{
	struct finder *f = arg;
	uint32_t low = 0, high = f->job->n;
	Dwarf_Addr address;

	if (dwarf_tag(function) != DW_TAG_subprogram || dwarf_entrypc(function, &address))
		return DWARF_CB_OK;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (f->job->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < f->job->n && f->job->addresses[low] == address && !f->out[low].func)
		describe(f, function, &f->out[low]);
	return DWARF_CB_OK;
}

static void search_unit(struct finder *f, Dwarf_Die *unit)
{
	if (dwarf_tag(unit) == DW_TAG_compile_unit && calls_like_c(dwarf_srclang(unit), &f->cxx))
		dwarf_getfuncs(unit, consider, f, 0);
}

static void search(struct finder *f, Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	uint8_t type;

	if (f->job->n <= FEW_FUNCTIONS)
		for (uint32_t i = 0; i < f->job->n; i++)
			if (!f->out[i].func && dwarf_addrdie(dwarf, f->job->addresses[i], &unit))
				search_unit(f, &unit);
	/* An index may be missing or have gaps: only then is all of it looked through. */
	while (f->found < f->job->n && !dwarf_get_units(dwarf, cu, &cu, NULL, &type, &unit, NULL))
		if (type == DW_UT_compile)
			search_unit(f, &unit);
}

bool weft_elf_work_has(Elf *file, const char *wanted)
{
	GElf_Shdr h;
	size_t names;

	if (elf_getshdrstrndx(file, &names))
		return false;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(file, s));) {
		const char *name = gelf_getshdr(s, &h) ? elf_strptr(file, names, h.sh_name) : NULL;

		if (name && h.sh_type != SHT_NOBITS && *name == '.' &&
		    !strcmp(name + 1 + (name[1] == 'z'), wanted))
			return true;
	}
	return false;
}

void weft_elf_work_types(struct weft_region *region, const void *arg)
{
	const struct weft_elf_types_job *job = arg;
	struct weft_elf_worker w = {.job = &job->file, .region = region};
	struct finder f = {.w = &w, .job = job};
	struct weft_elf_types_result *result;
	Elf *file, *other;
	void *btf = NULL;
	size_t size = 0;
	Dwarf *dwarf;

	result = weft_region_record(region, sizeof(*result));
	if (!result)
		weft_jail_no_memory();
	w.result = &result->file;
	weft_elf_work_file(&w);
	other = weft_elf_work_debug_file(&w);
	file = other && weft_elf_work_has(other, "debug_info") ? other : w.file;
	f.out = weft_elf_record(&w, job->n * sizeof(*f.out));
	f.types = weft_types_create();
	dwarf = weft_elf_work_has(file, "debug_info") ? dwarf_begin_elf(file, DWARF_C_READ, NULL)
						      : NULL;
	if (dwarf) {
		dwarf_new_oom_handler(dwarf, weft_jail_no_memory);
		search(&f, dwarf);
	}
	if (f.found) {
		if (!weft_types_write(f.types, &btf, &size) || size > UINT32_MAX)
			weft_elf_give_up(&w, WEFT_ELF_TOO_MUCH);
		result->btf = weft_elf_bytes(&w, btf, size);
		result->btf_size = (uint32_t)size;
	}
	result->functions = weft_region_offset(region, f.out);
	result->n = job->n;
	result->file.magic = WEFT_ELF_RESULT_MAGIC;
}
