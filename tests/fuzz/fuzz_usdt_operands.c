/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The text of a note's arguments; its first byte chooses the architecture. */
#include <stdlib.h>
#include <string.h>

#include "usdt/operands.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int find(void *arg, const char *name, size_t n, uint64_t *address)
{
	(void)arg;
	*address = 0x1000 + n;
	return n && name[0] == 'a' ? 0 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct weft_usdt_site site = {.address = 0x400000, .find = find};
	struct weft_usdt_operand out[WEFT_USDT_MOST_ARGS];
	uint32_t n = 0;

	if (!size)
		return 0;
	weft_usdt_operands(data[0] & 1 ? &weft_usdt_arm64 : &weft_usdt_x86_64,
			   (const char *)data + 1, size - 1, &site, out, &n);
	for (uint32_t i = 0; i < n && i < WEFT_USDT_MOST_ARGS; i++)
		if (out[i].n_ops > WEFT_USDT_MOST_OPS || out[i].start + out[i].length > size - 1 ||
		    (!out[i].n_ops && !out[i].why))
			abort();
	return 0;
}
