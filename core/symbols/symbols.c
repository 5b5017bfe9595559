/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/symbols/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/symbols/kallsyms.h"
#include "core/symbols/perf_map.h"
#include "core/symbols/procs.h"

struct weft_symbols {
	struct weft_texts strings;
	struct weft_kallsyms kallsyms;
	bool kallsyms_tried;
	struct weft_files files;
	struct weft_procs procs;
	struct weft_perf_maps perf_maps;
};

struct weft_symbols *weft_symbols_create(void)
{
	struct weft_symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	weft_files_init(&s->files, &s->strings);
	weft_procs_init(&s->procs, &s->files);
	weft_perf_maps_init(&s->perf_maps, &s->strings);
	return s;
}

void weft_symbols_use_reader(struct weft_symbols *s, struct weft_elf_reader *reader)
{
	if (!s->files.reader)
		s->files.reader = reader;
}

void weft_symbols_want_lines(struct weft_symbols *s)
{
	s->files.want_lines = true;
}

void weft_symbols_destroy(struct weft_symbols *s)
{
	if (!s)
		return;
	weft_perf_maps_finish(&s->perf_maps);
	weft_procs_finish(&s->procs);
	weft_files_finish(&s->files);
	weft_kallsyms_finish(&s->kallsyms);
	weft_texts_finish(&s->strings);
	free(s);
}

/* A return address is looked up by the instruction before it: a call that never returns can be the
 * last of its function. Where nothing is before it (the kernel puts a frame at the very beginning
 * of the signal trampoline), by itself. */
static const char *kernel_symbol(struct weft_symbols *s, uint64_t address, bool caller,
				 uint64_t *start, const char **module)
{
	const char *name =
		weft_kallsyms_find(&s->kallsyms, address - caller, &s->strings, start, module);

	if (!name && caller)
		name = weft_kallsyms_find(&s->kallsyms, address, &s->strings, start, module);
	return name;
}

void weft_symbols_kernel(struct weft_symbols *s, uint64_t address, bool caller,
			 struct weft_frame *out)
{
	uint64_t start;

	*out = (struct weft_frame){.address = address};
	if (!s->kallsyms_tried) {
		s->kallsyms_tried = true;
		weft_kallsyms_load(&s->kallsyms, WEFT_KALLSYMS_PATH, &s->strings);
	}
	out->symbol = kernel_symbol(s, address, caller, &start, &out->module);
	if (out->symbol)
		out->offset = address - start;
}

/* Names the byte at `look` of a mapping; offsets are those of `address`. */
static bool name_in(struct weft_symbols *s, const struct weft_mapping *m,
		    const struct weft_reach *reach, uint64_t address, uint64_t look,
		    struct weft_frame *out)
{
	struct weft_file *file = m->file;
	struct weft_image *image = weft_files_image(&s->files, file, reach);
	uint64_t linked, start;

	if (!image ||
	    !weft_symtab_address(&image->elf, m->offset, look - m->start + m->offset, &linked))
		return false;
	out->symbol = weft_files_symbol(&s->files, image, linked, &start);
	out->offset = linked + (address - look);
	if (out->symbol)
		out->offset -= start;
	if (!weft_files_line(&s->files, image, linked, &out->file, &out->line))
		out->line = 0;
	return out->symbol;
}

static void name_made(struct weft_symbols *s, int32_t tgid, uint64_t address, uint64_t look,
		      struct weft_frame *out)
{
	uint64_t start;
	const char *module;

	out->symbol = weft_perf_maps_find(&s->perf_maps, tgid, look, &start, &module);
	if (!out->symbol)
		return;
	out->offset = address - start;
	out->module = module;
}

void weft_symbols_user(struct weft_symbols *s, int32_t tgid, uint64_t time_ns, uint64_t address,
		       bool caller, struct weft_frame *out)
{
	const struct weft_mapping *m;
	struct weft_reach reach;

	*out = (struct weft_frame){.address = address, .user = true};
	for (int back = caller && address; back >= 0 && !out->symbol; back--) {
		uint64_t look = address - (uint64_t)back;

		m = weft_procs_find(&s->procs, tgid, time_ns, look);
		if (!m) {
			name_made(s, tgid, address, look, out);
			continue;
		}
		reach = (struct weft_reach){
			.tgid = tgid, .start = m->start, .end = m->end, .seen_ns = m->seen};
		if (!out->module)
			out->offset = address - m->start + m->offset;
		out->module = m->file->module;
		if (!name_in(s, m, &reach, address, look, out) && weft_file_may_be_made(m->file))
			name_made(s, tgid, address, look, out);
	}
}

void weft_symbols_event(struct weft_symbols *s, const struct weft_process_event *event)
{
	weft_procs_event(&s->procs, event);
	if (event->kind == WEFT_PROCESS_EXEC || event->kind == WEFT_PROCESS_FORK)
		weft_perf_maps_forget(&s->perf_maps, event->pid);
	else if (event->kind == WEFT_PROCESS_MMAP && event->text && !strcmp(event->text, "//anon"))
		weft_perf_maps_note(&s->perf_maps, event->pid);
}

int weft_symbols_snapshot(struct weft_symbols *s, int32_t tgid, uint64_t time_ns)
{
	char path[32];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/maps", tgid);
	r = weft_procs_snapshot(&s->procs, tgid, time_ns, path);
	if (!r && weft_procs_makes_code(&s->procs, tgid))
		weft_perf_maps_note(&s->perf_maps, tgid);
	return r;
}

bool weft_symbols_known(const struct weft_symbols *s, int32_t tgid)
{
	return weft_procs_known(&s->procs, tgid);
}

void weft_symbols_stats(const struct weft_symbols *s, struct weft_symbols_stats *out)
{
	*out = (struct weft_symbols_stats){
		.kernel_hidden = s->kallsyms.hidden,
		.forgotten = s->procs.forgotten + s->files.files_refused,
		.kernel_bytes = weft_kallsyms_memory(&s->kallsyms),
		.unreadable = s->files.unreadable,
		.why_unreadable = weft_error_text(s->files.why),
	};
	for (const struct weft_image *i = s->files.images; i; i = i->next)
		out->file_bytes += weft_symtab_memory(&i->elf);
}
