/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Lines of source code. Of a file's many units of compilation only the one that has the address is
 * read, and all of it: addresses that are asked about lie close together.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "core/elf/worker.h"

#define LINES_MOST (4u << 20)

struct lister {
	struct weft_elf_worker *w;
	struct weft_elf_line *lines;
	uint32_t n, cap;
	const char **files; /* libdw's, so that equal ones are the same pointer */
	uint32_t n_files, cap_files;
};

static uint32_t file_index(struct lister *l, const char *path, uint32_t last)
{
	if (last < l->n_files && l->files[last] == path)
		return last;
	for (uint32_t i = 0; i < l->n_files; i++)
		if (l->files[i] == path)
			return i;
	if (l->n_files == l->cap_files) {
		l->cap_files = l->cap_files ? 2 * l->cap_files : 64;
		l->files = weft_elf_reallocate(l->files, l->cap_files, sizeof(const char *));
	}
	l->files[l->n_files] = path;
	return l->n_files++;
}

static void add(struct lister *l, Dwarf_Line *from)
{
	struct weft_elf_line line = {.line = 0};
	const char *path = dwarf_linesrc(from, NULL, NULL);
	bool end = false;
	Dwarf_Addr address;
	int number = 0;

	if (dwarf_lineaddr(from, &address) || dwarf_lineendsequence(from, &end))
		return;
	line.address = address;
	if (!end && !dwarf_lineno(from, &number) && number > 0 && path &&
	    strnlen(path, WEFT_ELF_MAX_NAME) < WEFT_ELF_MAX_NAME) {
		line.file = file_index(l, path, l->n ? l->lines[l->n - 1].file : 0);
		line.line = (uint32_t)number;
	}
	if (l->n && l->lines[l->n - 1].address > line.address)
		return; /* libdw sorts them */
	/* Of several at one address the last is the one that counts, but for the end of what lies
	 * before. */
	if (l->n && l->lines[l->n - 1].address == line.address) {
		if (!end)
			l->lines[l->n - 1] = line;
		return;
	}
	if (l->n && l->lines[l->n - 1].line == line.line && l->lines[l->n - 1].file == line.file)
		return;
	if (l->n == LINES_MOST)
		weft_elf_give_up(l->w, WEFT_ELF_TOO_MUCH);
	if (l->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 1024;
		l->lines = weft_elf_reallocate(l->lines, l->cap, sizeof(*l->lines));
	}
	l->lines[l->n++] = line;
}

/* The unit that has an address. An index may be missing: then each is asked. */
static bool find_unit(Dwarf *dwarf, Dwarf_Addr address, Dwarf_Die *unit)
{
	Dwarf_CU *cu = NULL;
	uint8_t type;

	if (dwarf_addrdie(dwarf, address, unit))
		return true;
	while (!dwarf_get_units(dwarf, cu, &cu, NULL, &type, unit, NULL))
		if ((type == DW_UT_compile || type == DW_UT_skeleton) &&
		    dwarf_haspc(unit, address) == 1)
			return true;
	return false;
}

static void list(struct lister *l, Dwarf *dwarf, Dwarf_Addr address)
{
	Dwarf_Lines *lines;
	Dwarf_Die unit;
	size_t n;

	if (!find_unit(dwarf, address, &unit) || dwarf_getsrclines(&unit, &lines, &n))
		return;
	for (size_t i = 0; i < n; i++)
		add(l, dwarf_onesrcline(lines, i));
}

void weft_elf_work_lines(struct weft_region *region, const void *arg)
{
	const struct weft_elf_lines_job *job = arg;
	struct weft_elf_worker w = {.job = &job->file, .region = region};
	struct lister l = {.w = &w};
	struct weft_elf_lines_result *result = weft_region_record(region, sizeof(*result));
	struct weft_elf_line_file *files;
	struct weft_elf_line *lines;
	Elf *file, *other;
	Dwarf *dwarf;

	if (!result)
		weft_jail_no_memory();
	w.result = &result->file;
	weft_elf_work_file(&w);
	other = weft_elf_work_debug_file(&w);
	file = other && weft_elf_work_has(other, "debug_line") ? other : w.file;
	dwarf = dwarf_begin_elf(file, DWARF_C_READ, NULL);
	if (dwarf) {
		dwarf_new_oom_handler(dwarf, weft_jail_no_memory);
		list(&l, dwarf, job->address);
	}
	/* Nothing is known behind the last one. */
	if (l.n && l.lines[l.n - 1].line)
		l.lines[l.n - 1].line = 0;
	lines = weft_elf_record(&w, l.n * sizeof(*lines));
	if (l.n)
		memcpy(lines, l.lines, l.n * sizeof(*lines));
	files = weft_elf_record(&w, l.n_files * sizeof(*files));
	for (uint32_t i = 0; i < l.n_files; i++)
		files[i].path = weft_elf_string(&w, l.files[i]);
	result->lines = weft_region_offset(region, lines);
	result->files = weft_region_offset(region, files);
	result->n = l.n;
	result->n_files = l.n_files;
	result->file.magic = WEFT_ELF_RESULT_MAGIC;
}
