/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* DWARF types as BTF (worker_types.c); runs in the jail. */
#ifndef WEFT_ELF_WORKER_TYPES_H
#define WEFT_ELF_WORKER_TYPES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_types;

struct weft_types *weft_types_create(void);

/* The BTF id of what a debugging entry's DW_AT_type says; 0: void. Its description follows when
 * all are written. */
uint32_t weft_types_of(struct weft_types *t, Dwarf_Die *die);

/* A pointer to that type; a type of that size of which nothing else is known. */
uint32_t weft_types_pointer(struct weft_types *t, uint32_t to);
uint32_t weft_types_opaque(struct weft_types *t);

/* A function's type. A parameter's name may be NULL. variadic appends "...". */
struct weft_types_param {
	const char *name;
	uint32_t type;
};
uint32_t weft_types_proto(struct weft_types *t, uint32_t result,
			  const struct weft_types_param *params, uint32_t n, bool variadic);
/* A function of that type, with its name. */
uint32_t weft_types_function(struct weft_types *t, const char *name, uint32_t proto);

/* Describes all that was asked for, and what that refers to. The bytes are malloc'd. false: there
 * are more types than a file may have. */
bool weft_types_write(struct weft_types *t, void **bytes, size_t *size);

#endif
