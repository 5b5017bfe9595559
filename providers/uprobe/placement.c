/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where a probe on the entry of a function is put. arch_ARCH.c tells which later instruction would
 * be cheaper and what is no longer there as it was; what a program uses decides whether that
 * matters. Return probes stay at the first instruction, where the return address is on top of the
 * stack, and so does what shows all registers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uprobe.h"

#define MOST_CODE 65536u /* bytes of a function that are looked at */

bool weft_uprobe_wants_cheap(struct weft_instance *in, const struct weft_params *with)
{
	return !strcmp(in->host->param_string(with, "placement"), "cheap");
}

void weft_uprobe_decide(struct weft_uprobe_site *site)
{
	struct weft_uprobe_place *place = &site->cheap;
	size_t size = site->size && site->size < MOST_CODE ? (size_t)site->size : MOST_CODE;
	bool found;

	if (site->decided)
		return;
	site->decided = true;
	if (site->file->go)
		weft_uprobe_find_begun(site);
	*place = (struct weft_uprobe_place){.reason = "out of memory"};
	uint8_t *code = malloc(size);
	if (!code)
		return;
	size_t n = weft_uprobe_file_code(site->file, site->address, code, size);
	weft_uprobe_arch_place(code, n, site->address, site->size && n == site->size, place);
	free(code);
	if (!place->cheap)
		return;
	if (weft_uprobe_landings(site->file, site->address, site->address + place->delta, &found) ||
	    found)
		*place = (struct weft_uprobe_place){
			.unfit = place->unfit, .reason = "code elsewhere in the file jumps between"};
}

/* What the program uses that is not there any more. */
static bool conflict(uint32_t touched, const struct weft_uprobe_use *use)
{
	uint32_t needs = use->needs;

	if (use->uses & WEFT_USES_FRAME)
		needs |= WEFT_UPROBE_TOUCHES_STACK;
	if (use->uses & WEFT_USES_USTACK)
		needs |= WEFT_UPROBE_TOUCHES_FRAME;
	if (use->uses & WEFT_USES_MEMORY)
		needs |= WEFT_UPROBE_TOUCHES_MEMORY;
	return use->uses & WEFT_USES_REGS || touched & needs;
}

uint64_t weft_uprobe_place(const struct weft_uprobe_probe *p, struct weft_uprobe_site *site,
			   const struct weft_uprobe_use *use)
{
	const struct weft_uprobe_place *place = &site->cheap;
	bool moves;

	if (p->kind == WEFT_UPROBE_OFFSET)
		return site->offset + p->at;
	weft_uprobe_decide(site);
	if (site->begun)
		return site->offset + site->begun;
	moves = place->cheap;
	/* A return probe finds the return address on top of the stack. It and what is to be exact
	 * move only where there is nothing else. */
	if (p->kind == WEFT_UPROBE_RETURN)
		moves &= place->unfit && !(place->touched & WEFT_UPROBE_TOUCHES_STACK);
	else
		moves &= (use->cheap || place->unfit) && !conflict(place->touched, use);
	if (moves)
		return site->offset + place->delta;
	return place->unfit ? WEFT_ELF_NO_OFFSET : site->offset;
}

/* ---- for people ---- */

static void say_touched(char *buf, size_t size, uint32_t touched)
{
	static const struct {
		uint32_t bit;
		const char *what;
	} others[] = {
		{WEFT_UPROBE_TOUCHES_STACK, "arguments on the stack or elapsed"},
		{WEFT_UPROBE_TOUCHES_FRAME, "ustack"},
		{WEFT_UPROBE_TOUCHES_MEMORY, "memory"},
	};
	size_t n = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < weft_uprobe_arch.n_reg_args && n < size; i++)
		if (touched >> i & 1)
			n += (size_t)snprintf(buf + n, size - n, "%sarg%" PRIu32, n ? ", " : "", i);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && n < size; i++)
		if (touched & others[i].bit)
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "",
					      others[i].what);
}

const char *weft_uprobe_note(struct weft_instance *in, const struct weft_probe *probe,
			     const struct weft_params *with)
{
	struct weft_uprobe_probe *p =
		(struct weft_uprobe_probe *)(uintptr_t)in->host->probe_data(probe);
	struct weft_uprobe_site *s = p->sites;
	char more[48] = "", behind[24] = "", place[400] = "", but[160];

	if (!p->n_sites)
		return NULL;
	if (p->n_sites > 1)
		snprintf(more, sizeof(more), " and %zu more places", p->n_sites - 1);
	if (p->kind == WEFT_UPROBE_OFFSET)
		snprintf(behind, sizeof(behind), "+0x%" PRIx64, p->at);
	if (s->n_returns)
		snprintf(place, sizeof(place), "; at the %zu instructions that return",
			 s->n_returns);
	if (p->kind == WEFT_UPROBE_ENTRY)
		weft_uprobe_decide(s);
	if (p->kind == WEFT_UPROBE_ENTRY && s->begun) {
		snprintf(place, sizeof(place),
			 "; at +0x%" PRIx32
			 ": before it room on the stack is made, which begins anew",
			 s->begun);
	} else if (p->kind == WEFT_UPROBE_ENTRY && !weft_uprobe_wants_cheap(in, with)) {
		snprintf(place, sizeof(place), "; placement exact");
	} else if (p->kind == WEFT_UPROBE_ENTRY) {
		if (!s->cheap.cheap) {
			snprintf(place, sizeof(place), "; placement exact: %s", s->cheap.reason);
		} else {
			say_touched(but, sizeof(but), s->cheap.touched);
			snprintf(place, sizeof(place), "; placement cheap, +0x%" PRIx32 ": %s%s%s",
				 s->cheap.delta, s->cheap.reason,
				 *but ? "; exact for clauses that use regs, " : "", but);
		}
	}
	snprintf(in->text, sizeof(in->text), "0x%" PRIx64 "%s in %.150s%s%s", s->address, behind,
		 s->file->path, more, place);
	return in->text;
}
