/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* One debugging entry of a type, in BTF. What it refers to gets an id and is described later. */
#ifndef WEFT_ELF_WORKER_DESCRIBE_H
#define WEFT_ELF_WORKER_DESCRIBE_H

#include "core/elf/worker_btf.h"
#include "core/elf/worker_types.h"

void weft_describe_die(struct weft_types *t, struct weft_btf_writer *w, Dwarf_Die *die);
/* From that dimension of it on; 0: all of it. */
void weft_describe_array(struct weft_types *t, struct weft_btf_writer *w, Dwarf_Die *die,
			 uint32_t dimension);

/* An attribute that is a number; `otherwise` if there is none. */
uint64_t weft_die_number(Dwarf_Die *die, unsigned int name, uint64_t otherwise);

/* worker_types.c: the ids of the rest of an array, and of what arrays are indexed by. */
uint32_t weft_types_dimension(struct weft_types *t, const Dwarf_Die *die, uint32_t dimension);
uint32_t weft_types_index(struct weft_types *t);

#endif
