/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The same reading again and again, with one more allocation succeeding before one fails: in the
 * parent, and in the children that it has as they are forked. Nothing may crash or leak; a reading
 * may fail, with a reason, but never tell less than the file says. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/rig.h"
#include "support/test_failing.h"

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t m), (n, m))
WRAP(void *, realloc, (void *p, size_t n), (p, n))

struct known {
	uint32_t n_symbols;
	uint64_t address;
	char prototype[256];
	uint32_t n_lines;
};

/* Reads, asks for a type, and compares with what is known; fills that in the first time. Returns
 * whether all went well, in the children too. */
static bool story(const char *path, struct known *known)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	struct weft_elf_request request = {.struct_size = sizeof(request),
					   .path = path,
					   .want = WEFT_ELF_WANT_FUNCTIONS |
						   WEFT_ELF_WANT_DEMANGLED | WEFT_ELF_WANT_DEBUG};
	struct weft_error *err = weft_error_create();
	const struct weft_elf_function *f;
	const struct weft_elf *elf = NULL;
	struct weft_elf_lines *lines = NULL;
	bool well = false;
	int ret;

	if (!r) {
		weft_error_destroy(err);
		return false;
	}
	request.fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_geq(request.fd, 0);
	ret = weft_elf_read(r, &request, &elf, err);
	cr_expect(!ret == !!elf);
	if (elf && !known->n_symbols) {
		known->n_symbols = elf->n_symbols;
		known->address = find_symbol(elf, "t_simple", NULL)->address;
	}
	/* Without its debug file, for which there was no memory, less is known. */
	cr_expect(!elf || elf->n_symbols == known->n_symbols || !elf->debug_file);
	if (elf) {
		ret = weft_elf_functions(r, elf, &request, &known->address, 1, &f, err);
		if (!ret && !f->status && !*known->prototype)
			strcpy(known->prototype, f->prototype);
		cr_expect(ret || f->status || !strcmp(f->prototype, known->prototype));
		well = !ret && !f->status;
	}
	if (elf) {
		ret = weft_elf_lines(r, &request, known->address, &lines, err);
		cr_expect(!ret == !!lines);
		if (lines && !known->n_lines)
			known->n_lines = lines->n;
		/* libdw does not tell a lack of memory from a unit that is not there. */
		cr_expect(!lines || !lines->n || lines->n == known->n_lines);
		well = well && lines && lines->n && !has_failed();
	}
	free(lines);
	weft_elf_release(r, elf);
	close(request.fd);
	armed = false;
	weft_error_destroy(err);
	weft_elf_reader_destroy(r);
	return well;
}

static void every_allocation_fails(const char *name)
{
	struct known known = {0};
	char path[4096];
	long n = 0;

	strcpy(path, built(name));
	story(path, &known);
	cr_assert(known.n_symbols && *known.prototype && known.n_lines);
	do {
		cr_assert_lt(n, 5000);
		fail_at((size_t)++n);
	} while (!story(path, &known));
	cr_expect_gt(n, 20, "%ld", n);
}

Test(elf_nomem, with_types_inside)
{
	every_allocation_fails("types-O2");
}

Test(elf_nomem, with_a_debug_file)
{
	every_allocation_fails("types-stripped");
}
