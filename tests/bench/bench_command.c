/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* bench-command LABEL COMMAND...: runs a command 11 times; times from exec to exit, and its peak memory. */
#include <stdio.h>

#include "measure.h"

#define ROUNDS 11

int main(int argc, char **argv)
{
	struct sample samples[ROUNDS];
	int i;

	if (argc < 3) {
		fprintf(stderr, "usage: bench-command LABEL COMMAND...\n");
		return 2;
	}
	for (i = 0; i < ROUNDS; i++)
		if (measure_run(argv + 2, &samples[i]) || samples[i].status) {
			fprintf(stderr, "%s: failed with status %d\n", argv[2], samples[i].status);
			return 1;
		}
	measure_header("");
	measure_row(argv[1], samples, ROUNDS);
	return 0;
}
