/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A library with a plain and a guarded probe. */
#include <weft/usdt.h>

WEFT_USDT_SEMAPHORE(lib, guarded);

__attribute__((visibility("default"))) int lib_traced(void);
__attribute__((visibility("default"))) int lib_pass(int n);

int lib_traced(void)
{
	return WEFT_USDT_ENABLED(lib, guarded);
}

int lib_pass(int n)
{
	for (int i = 0; i < n; i++) {
		WEFT_USDT(lib, plain, i);
		WEFT_USDT_GUARDED(lib, guarded, i);
	}
	return 0;
}
