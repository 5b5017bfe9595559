/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the targets share (fuzz.c). */
#ifndef WEFT_TESTS_FUZZ_H
#define WEFT_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file of these bytes that lies in memory: its descriptor, and in path (32 bytes) its name. */
int fuzz_file(const void *data, size_t size, char *path);

/* From here on, what is allocated is noted; what of it is still there at fuzz_free_held() is freed. */
void fuzz_hold(void);
void fuzz_free_held(void);

/* Loads the providers that sets are made for: the fixtures, and profile. */
void fuzz_load_providers(void);
/* Reads a probe set and compiles it whole, as `trace-cli explain` does. What is not right must come
 * out as an error with a tag; what is accepted must have a text that explains it. */
void fuzz_compile(const char *yaml, size_t size);

#endif
