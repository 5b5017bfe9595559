/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The kernel's own lists of functions, read line by line in memory that does not grow. */
#ifndef WEFT_FBT_SYMBOLS_H
#define WEFT_FBT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT_FBT_NAME_MOST 512u /* KSYM_NAME_LEN */

struct weft_fbt_symbol {
	uint64_t address;   /* 0: the reader may not know */
	const char *name;   /* terminated; valid during the call */
	size_t length;      /* of the name */
	const char *module; /* "vmlinux" for the kernel itself */
	char type;          /* kallsyms only: t, T, w, W ... */
};

/* Calls fn for each symbol of /proc/kallsyms, of whatever type, in the kernel's order. A result
 * other than 0 ends the walk and is returned. -errno: the file cannot be read. */
int weft_fbt_read_symbols(int (*fn)(void *arg, const struct weft_fbt_symbol *symbol), void *arg);

/* The same for the functions that ftrace can reach (available_filter_functions). Where the kernel
 * tells where their probes go (6.5), symbol->address is that place: some bytes into the function.
 * -ENOENT: tracefs is not mounted, or the kernel has no such file. */
int weft_fbt_read_traceable(int (*fn)(void *arg, const struct weft_fbt_symbol *symbol), void *arg);

/* The parts of the kernel that probes may not go into. */
int weft_fbt_read_blacklist(int (*fn)(void *arg, uint64_t start, uint64_t end), void *arg);

/* Whether this symbol is code by its type and by its name: not the padding, trampolines and call
 * thunks that compilers and the kernel make. */
bool weft_fbt_is_function(const struct weft_fbt_symbol *symbol);

#endif
