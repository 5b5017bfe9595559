/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How C++ passes objects (worker_cxx.c); runs in the jail. */
#ifndef WEFT_ELF_WORKER_CXX_H
#define WEFT_ELF_WORKER_CXX_H

#include <elfutils/libdw.h>

enum weft_cxx_passing {
	WEFT_CXX_AS_ITSELF = 0, /* as C passes it */
	WEFT_CXX_BY_REFERENCE, /* its address, or as a result at an address that the caller passes */
	WEFT_CXX_UNKNOWN,
};

/* Of a value of the type that an entry's DW_AT_type says. */
enum weft_cxx_passing weft_cxx_passing(Dwarf_Die *die);

#endif
