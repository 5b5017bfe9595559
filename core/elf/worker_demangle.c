/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names of C++ and Rust (legacy and v0), by libiberty, which is linked in statically. */
#include <libiberty/demangle.h>
#include <string.h>

#include "core/elf/worker.h"

char *weft_elf_demangle(const char *name, bool parameters)
{
	if (strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0)
		return NULL;
	return cplus_demangle(name, DMGL_AUTO | (parameters ? DMGL_PARAMS | DMGL_ANSI : 0));
}
