/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The USDT notes of a file as libelf reads them: what weft's own reading is held against. */
#ifndef TEST_USDT_NOTES_H
#define TEST_USDT_NOTES_H

#include <stddef.h>
#include <stdint.h>

struct test_note {
	char *provider, *name, *args;
	uint64_t pc, base, semaphore; /* as the note says */
};

struct test_symbol {
	char *name;
	uint64_t address;
};

struct test_file {
	struct test_note *notes;
	size_t n_notes;
	struct test_symbol *symbols;
	size_t n_symbols;
	uint64_t base; /* of .stapsdt.base; 0: none */
};

/* Fails the test if there is no such file. */
void test_file_read(const char *path, struct test_file *out);
void test_file_free(struct test_file *f);
int test_file_find(void *file, const char *name, size_t n, uint64_t *address);

#endif
