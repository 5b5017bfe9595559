/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A library with a plain and a guarded probe. */
#include <weft/usdt.h>

WEFT_USDT_SEMAPHORE(lib, guarded);

__attribute__((visibility("default"))) int lib_sites(void);
__attribute__((visibility("default"))) void lib_pass(int from, int to);

int lib_sites(void)
{
	return 2;
}

void lib_pass(int from, int to)
{
	for (int i = from; i < to; i++) {
		WEFT_USDT(lib, plain, i);
		WEFT_USDT_GUARDED(lib, guarded, i);
	}
}
