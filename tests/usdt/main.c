/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A program whose static probes are in a library. */
#include <stdlib.h>

int sites(int rounds);

int main(int argc, char **argv)
{
	return sites(argc > 1 ? atoi(argv[1]) : 1);
}
