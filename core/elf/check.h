/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Judging what a worker left in its region (check.c). */
#ifndef WEFT_ELF_CHECK_H
#define WEFT_ELF_CHECK_H

#include "core/elf/worker.h"
#include "core/error.h"

/* Checks everything and turns offsets into pointers. The worker is gone. On success *out lies in
 * the region. Errors are about `path`: ELF_RESULT_INVALID, or what the worker found. */
int weft_elf_check(struct weft_region *region, uint64_t file_size, const char *path,
		   struct weft_elf_result **out, struct weft_error *err);

/* The same for types of functions. The BTF object in it is for core/btf to judge. */
int weft_elf_check_types(struct weft_region *region, const struct weft_elf_types_job *job,
			 const char *path, struct weft_elf_types_result **out,
			 struct weft_error *err);
/* And for lines. */
int weft_elf_check_lines(struct weft_region *region, const char *path,
			 struct weft_elf_lines_result **out, struct weft_error *err);

/* What the worker says is wrong, or that its result has no proper beginning; 0: go on. Sets the
 * region's last byte. */
int weft_elf_check_problem(struct weft_region *region, const struct weft_elf_result *result,
			   const char *path, struct weft_error *err);
int weft_elf_invalid(struct weft_error *err, const char *path, const char *what);

/* For other kinds of results. A place for an array; claims are collected to prove that no two
 * arrays share memory, since turning offsets into pointers in one would change the other. */
struct weft_claims {
	const struct weft_region *region;
	size_t end;        /* of what was claimed so far: arrays must come in this order */
	const char *wrong; /* what is wrong; NULL: nothing yet */
};

/* *member, an offset in pointer's clothes, becomes a pointer to n elements. n 0: becomes NULL. */
bool weft_claim_array(struct weft_claims *c, const void *member, uint32_t n, size_t size,
		      const char *what);
/* The same for a string; optional: it may be absent. */
bool weft_claim_string(struct weft_claims *c, const char **member, bool optional, const char *what);
bool weft_claim_bytes(struct weft_claims *c, const uint8_t **member, uint32_t n, const char *what);

#endif
