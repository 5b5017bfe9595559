/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The blocks that a run holds, by the hooks of the sanitizer's allocator: for code that is made to
 * end with its process, and that a fuzzer runs a million times in one.
 */
#include <sanitizer/allocator_interface.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define N_SLOTS (1u << 18)
#define FREED   ((const volatile void *)(uintptr_t)1)

/* A set of addresses, open addressing. Static, since what notes allocations may make none. */
static const volatile void *held[N_SLOTS];
static uint32_t used[N_SLOTS / 2]; /* the slots that are not NULL */
static size_t n_used;
static bool holding;

static size_t slot_of(const volatile void *p)
{
	return (size_t)(((uintptr_t)p >> 4) * 0x9e3779b97f4a7c15u >> 46);
}

static void note(const volatile void *p, size_t size)
{
	size_t i = slot_of(p);

	(void)size;
	/* What would fill the set is not held: it leaks. */
	if (!holding || !p || n_used == N_SLOTS / 2)
		return;
	while (held[i] && held[i] != FREED)
		i = (i + 1) % N_SLOTS;
	if (!held[i])
		used[n_used++] = (uint32_t)i;
	held[i] = p;
}

static void forget(const volatile void *p)
{
	if (!holding || !p)
		return;
	for (size_t i = slot_of(p); held[i]; i = (i + 1) % N_SLOTS)
		if (held[i] == p) {
			held[i] = FREED;
			return;
		}
}

void fuzz_hold(void)
{
	static bool hooked;

	if (!hooked && !__sanitizer_install_malloc_and_free_hooks(note, forget))
		abort();
	hooked = true;
	holding = true;
}

void fuzz_free_held(void)
{
	holding = false;
	while (n_used) {
		const volatile void **slot = &held[used[--n_used]];

		if (*slot != FREED)
			free((void *)(uintptr_t)*slot);
		*slot = NULL;
	}
}
