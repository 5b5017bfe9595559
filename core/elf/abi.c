/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/elf/abi.h"

#include <elf.h>
#include <stddef.h>

static const struct {
	uint16_t machine;
	void (*places)(const struct weft_btf *btf, const uint32_t *types, uint32_t n,
		       uint32_t result, bool hidden, struct weft_abi_place *places,
		       struct weft_abi_place *result_place);
} machines[] = {
	{EM_X86_64, weft_abi_x86_64},
};

bool weft_abi_places(uint16_t machine, const struct weft_btf *btf, const uint32_t *types,
		     uint32_t n, uint32_t result, bool hidden, struct weft_abi_place *places,
		     struct weft_abi_place *result_place)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (machines[i].machine != machine)
			continue;
		machines[i].places(btf, types, n, result, hidden, places, result_place);
		return true;
	}
	return false;
}
