/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A probe set: YAML, schema, and the compiler on what they let through. */
#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_load_providers();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_compile((const char *)data, size);
	return 0;
}
