/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Asks for 100 bytes 1,000 times and for 5,000 bytes ten times. */
#include <stdlib.h>

int main(void)
{
	for (int i = 0; i < 1000; i++)
		free(malloc(100));
	for (int i = 0; i < 10; i++)
		free(malloc(5000));
	return 0;
}
