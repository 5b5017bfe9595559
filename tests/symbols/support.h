/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Starting the programs whose addresses are to be named, and what they say of themselves. */
#ifndef TESTS_SYMBOLS_SUPPORT_H
#define TESTS_SYMBOLS_SUPPORT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "core/symbols/symbols.h"

#define TARGET_PLACES 32

struct place {
	char kind[16]; /* at, local, caller, lib */
	uint64_t address;
	char name[64]; /* "-": none */
	uint64_t offset;
};

struct target {
	pid_t pid;
	FILE *from, *to;
	char path[PATH_MAX];
	struct place places[TARGET_PLACES];
	size_t n;
};

uint64_t now_ns(void); /* CLOCK_MONOTONIC */
/* The path of a program or library of this folder: "pie", "lib-separate-code". */
void target_path(const char *name, char out[PATH_MAX]);
/* Starts a program and waits until it has said everything; lib may be NULL. */
void target_start(struct target *t, const char *path, const char *lib);
/* Makes it call exec and waits again. */
void target_exec(struct target *t, const char *path);
void target_stop(struct target *t);
const struct place *target_find(const struct target *t, const char *kind, const char *name);

/* Asserts that every place is named exactly as the program says; `stripped`: local ones not at all. */
void expect_places(struct weft_symbols *s, const struct target *t, int32_t tgid, uint64_t time_ns,
		   const char *module, bool stripped);
/* Asserts what one address is. */
void expect_symbol(struct weft_symbols *s, int32_t tgid, uint64_t time_ns, uint64_t address,
		   const char *symbol, uint64_t offset, const char *module);
void copy_file(const char *from, const char *to);
/* A path in a fresh folder below /tmp; both are removed by remove_temporary(). */
void temporary_path(const char *name, char out[PATH_MAX]);
void remove_temporary(void);

#endif
