/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where the jumps of a file go. The proof that nothing lands between a function's beginning and a
 * place a few instructions later looks at the function itself; this looks at everything else,
 * parts of it that the compiler put elsewhere (".cold") above all. Every byte is taken for the
 * beginning of a long jump or call, so that what is really one is among them: a bit that is set by
 * mere chance keeps a probe on its first instruction, which costs time and nothing else.
 *
 * Short jumps from other functions are not seen: compilers make none.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "uprobe.h"

#define MOST_BYTES (UINT64_C(1) << 30) /* of code; more is not proven */
#define CHUNK      65536u
#define OVERLAP    8u

struct span {
	struct weft_uprobe_file *file;
	uint64_t from, bytes; /* lowest address of code, and how far it goes */
};

static bool code_span(const struct weft_elf *elf, struct span *s)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (uint32_t i = 0; i < elf->n_segments; i++) {
		const struct weft_elf_segment *g = weft_elf_segment_at(elf, i);

		if (!(g->flags & PF_X) || g->address + g->file_size < g->address)
			continue;
		if (g->address < low)
			low = g->address;
		if (g->address + g->file_size > high)
			high = g->address + g->file_size;
	}
	s->from = low;
	s->bytes = high > low ? high - low : 0;
	return s->bytes && s->bytes <= MOST_BYTES;
}

static void mark(void *arg, uint64_t to)
{
	const struct span *s = arg;

	if (to < s->from || to - s->from >= s->bytes)
		return;
	to -= s->from;
	s->file->landings[to / 8] |= (uint8_t)(1u << to % 8);
}

static int scan(struct weft_uprobe_file *f, struct span *s)
{
	uint8_t *buf = malloc(CHUNK);

	if (!buf)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->elf->n_segments; i++) {
		const struct weft_elf_segment *g = weft_elf_segment_at(f->elf, i);
		uint64_t at = g->address, end = g->address + g->file_size;

		while (g->flags & PF_X && at < end) {
			size_t n = weft_uprobe_file_code(f, at, buf, CHUNK);

			weft_uprobe_arch_landings(buf, n, at, mark, s);
			if (n < CHUNK)
				break;
			at += CHUNK - OVERLAP;
		}
	}
	free(buf);
	return 0;
}

int weft_uprobe_landings(struct weft_uprobe_file *f, uint64_t from, uint64_t to, bool *found)
{
	struct span s = {.file = f};

	*found = true;
	if (!code_span(f->elf, &s))
		return -EFBIG;
	if (!f->landings) {
		f->n_landings = (size_t)(s.bytes / 8 + 1);
		f->landings = calloc(f->n_landings, 1);
		if (!f->landings)
			return -ENOMEM;
		int ret = scan(f, &s);
		if (ret) {
			free(f->landings);
			f->landings = NULL;
			return ret;
		}
	}
	for (uint64_t a = from + 1; a <= to; a++) {
		if (a < s.from || a - s.from >= s.bytes)
			return -ERANGE;
		if (f->landings[(a - s.from) / 8] >> (a - s.from) % 8 & 1)
			return 0;
	}
	*found = false;
	return 0;
}
