/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Carries locations out over given registers and memory. */
#ifndef TEST_USDT_EVAL_H
#define TEST_USDT_EVAL_H

#include <stdint.h>

#include "weft/provider.h"

struct test_machine {
	uint64_t reg[64]; /* by DWARF number */
	uint64_t pc;
	/* What size bytes at an address hold. */
	uint64_t (*memory)(uint64_t address, unsigned size);
};

/* Fails the test if the location is no proper program. */
uint64_t test_eval(const struct test_machine *m, const struct weft_loc_op *ops, uint32_t n);

#endif
