/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes the reference page of the losses to the file named. */
#include <stdio.h>

#include "core/arena.h"
#include "core/loss.h"

int main(int argc, char **argv)
{
	struct weft_arena *arena = weft_arena_create();
	char *page = arena ? weft_loss_reference(arena) : NULL;
	FILE *f = argc == 2 && page ? fopen(argv[1], "w") : NULL;
	int bad = 1;

	if (f) {
		bad = fputs(page, f) < 0;
		bad |= fclose(f) != 0;
	}
	if (bad)
		fprintf(stderr, "usage: base-gen FILE (a file that can be written)\n");
	weft_arena_destroy(arena);
	return bad;
}
