/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where the calling convention of C has a function's arguments at its first instruction: one file
 * an architecture (abi_*.c). */
#ifndef WEFT_ELF_ABI_H
#define WEFT_ELF_ABI_H

#include "core/btf/btf.h"
#include "weft/provider.h"

#define WEFT_ABI_PLACE_OPS 2u

/* A value's place. */
struct weft_abi_place {
	struct weft_loc_op ops[WEFT_ABI_PLACE_OPS];
	uint32_t n_ops;         /* 0: it cannot be read */
	const char *unreadable; /* why; static */
};

/* Places of n arguments of the types given; what follows one whose passing is unknown is unknown.
 * result is the type of the result, 0 for void; hidden: it goes where a hidden first argument
 * points. Returns false for a machine that is not known. */
bool weft_abi_places(uint16_t machine, const struct weft_btf *btf, const uint32_t *types,
		     uint32_t n, uint32_t result, bool hidden, struct weft_abi_place *places,
		     struct weft_abi_place *result_place);

/* abi_x86_64.c */
void weft_abi_x86_64(const struct weft_btf *btf, const uint32_t *types, uint32_t n, uint32_t result,
		     bool hidden, struct weft_abi_place *places,
		     struct weft_abi_place *result_place);

#endif
