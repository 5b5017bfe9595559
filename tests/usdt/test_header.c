/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What weft/usdt.h writes, as others read it: libelf, readelf and bpftrace. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "notes.h"
#include "usdt/operands.h"

static const char *const programs[] = {USDT_HEADER_PROGRAMS};
#define N_PROGRAMS (sizeof(programs) / sizeof(programs[0]))

static const struct {
	const char *name;
	uint32_t n_args;
	unsigned sites, guarded;
	int size[12]; /* negative: signed */
} wanted[] = {
	{"none", 0, 1, 0, {0}},
	{"one", 1, 1, 0, {-4}},
	{"three", 3, 1, 0, {-1, 2, 8}},
	{"twelve", 12, 1, 0, {-1, 1, -2, 2, -4, 4, -8, 8, 8, -4, 0, 8}},
	{"constants", 8, 1, 0, {-1, 1, -2, 2, -4, 4, -8, 8}},
	{"guarded", 2, 1, 1, {-4, -4}},
	{"both", 1, 2, 1, {-4}},
};
#define N_WANTED (sizeof(wanted) / sizeof(wanted[0]))

static void check_args(const struct test_note *n, const int *size, uint32_t n_args)
{
	const struct weft_usdt_site site = {.address = n->pc};
	struct weft_usdt_operand out[WEFT_USDT_MOST_ARGS];
	uint32_t n_out;

	weft_usdt_operands(&weft_usdt_x86_64, n->args, strlen(n->args), &site, out, &n_out);
	cr_assert_eq(n_out, n_args, "%s: %s", n->name, n->args);
	for (uint32_t i = 0; i < n_args; i++) {
		cr_expect_gt(out[i].n_ops, 0, "%s: %s: %s", n->name, n->args, out[i].why);
		/* 0: a comparison is an int in C, a bool in C++. */
		if (size[i])
			cr_expect_eq(out[i].is_signed ? -out[i].size : out[i].size, size[i],
				     "argument %u of %s: %s", i, n->name, n->args);
	}
}

static void check_notes(const char *path)
{
	unsigned sites[N_WANTED] = {0}, guarded[N_WANTED] = {0};
	struct test_file f;

	test_file_read(path, &f);
	for (size_t i = 0; i < f.n_notes; i++) {
		const struct test_note *n = &f.notes[i];
		size_t k = 0;

		cr_expect_str_eq(n->provider, "shop");
		cr_expect_eq(n->base, f.base);
		cr_expect_neq(n->base, 0);
		while (k < N_WANTED && strcmp(wanted[k].name, n->name) != 0)
			k++;
		cr_assert_lt(k, N_WANTED, "%s", n->name);
		sites[k]++;
		guarded[k] += n->semaphore != 0;
		check_args(n, wanted[k].size, wanted[k].n_args);
	}
	for (size_t k = 0; k < N_WANTED; k++) {
		/* An optimiser may make two of one: at least there is one. */
		cr_expect_geq(sites[k], wanted[k].sites, "%s", wanted[k].name);
		cr_expect_eq(guarded[k] != 0, wanted[k].guarded != 0, "%s", wanted[k].name);
	}
	test_file_free(&f);
}

Test(usdt_header, writes_notes)
{
	for (size_t i = 0; i < N_PROGRAMS; i++)
		check_notes(programs[i]);
}

Test(usdt_header, evaluates_nothing_unless_traced)
{
	for (size_t i = 0; i < N_PROGRAMS; i++)
		cr_expect_eq(system(programs[i]), 0, "%s", programs[i]);
}

/* The lines of a command's output that contain a text. */
static unsigned lines_with(const char *command, const char *text)
{
	char line[4096];
	unsigned n = 0;
	FILE *f = popen(command, "r");

	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, text) != NULL;
	cr_assert_eq(pclose(f), 0, "%s", command);
	return n;
}

Test(usdt_header, readelf_reads_it)
{
	char command[512];

	for (size_t i = 0; i < N_PROGRAMS; i++) {
		struct test_file f;

		test_file_read(programs[i], &f);
		snprintf(command, sizeof(command), "readelf -nW %s", programs[i]);
		cr_expect_eq(lines_with(command, "Provider: shop"), f.n_notes);
		cr_expect_eq(lines_with(command, "Name: twelve"), 1);
		cr_expect_eq(lines_with(command, "<corrupt"), 0);
		test_file_free(&f);
	}
}

Test(usdt_header, bpftrace_reads_it)
{
	char command[512];

	for (size_t i = 0; i < N_PROGRAMS; i++) {
		snprintf(command, sizeof(command), "bpftrace -l 'usdt:%s:*'", programs[i]);
		for (size_t k = 0; k < N_WANTED; k++) {
			char text[64];

			snprintf(text, sizeof(text), ":shop:%s", wanted[k].name);
			cr_expect_geq(lines_with(command, text), 1, "%s in %s", text, programs[i]);
		}
	}
}
