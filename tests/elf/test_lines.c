/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Lines of source code, beside what addr2line says of the same bytes. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/elf/check.h"
#include "elf/rig.h"

#define WANT  (WEFT_ELF_WANT_FUNCTIONS | WEFT_ELF_WANT_DEMANGLED | WEFT_ELF_WANT_DEBUG)
#define BYTES 96u /* of a function */

static int lines_of(struct weft_elf_reader *r, int fd, const char *path, uint64_t address,
		    struct weft_elf_lines **out, struct weft_error *err)
{
	const struct weft_elf_request request = {
		.struct_size = sizeof(request), .fd = fd, .path = path, .want = WANT};

	return weft_elf_lines(r, &request, address, out, err);
}

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "file.c:12", "?:?". */
static void look_up(const struct weft_elf_lines *l, uint64_t address, char out[256])
{
	uint32_t i = l->n;

	while (i && l->at[i - 1].address > address)
		i--;
	if (i && l->at[i - 1].line)
		snprintf(out, 256, "%s:%u", base(l->files[l->at[i - 1].file]), l->at[i - 1].line);
	else
		strcpy(out, "??:?");
}

static size_t compare(const struct weft_elf_lines *l, const char *path,
		      const struct weft_elf_symbol *s)
{
	char command[8192], ours[256], theirs[4096];
	size_t n, known = 0, size = s->size < BYTES ? s->size : BYTES;
	FILE *f;

	n = (size_t)snprintf(command, sizeof(command), "addr2line -e %s", path);
	for (uint64_t i = 0; i < size; i++)
		n += (size_t)snprintf(command + n, sizeof(command) - n, " 0x%lx",
				      (unsigned long)(s->address + i));
	f = popen(command, "r");
	cr_assert_not_null(f);
	for (uint64_t i = 0; i < size; i++) {
		cr_assert_not_null(fgets(theirs, sizeof(theirs), f));
		theirs[strcspn(theirs, " \n")] = '\0';
		look_up(l, s->address + i, ours);
		known += *ours != '?';
		cr_expect_str_eq(ours, base(theirs), "%s: %s+%lu: %s, not %s", path, s->name,
				 (unsigned long)i, ours, theirs);
	}
	pclose(f);
	return known;
}

static void every_function(const char *name)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	struct weft_error *err = weft_error_create();
	size_t known = 0;
	char path[4096];

	strcpy(path, built(name));
	const struct weft_elf *elf = read_file(r, path, WANT);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	for (uint32_t i = 0; i < elf->n_symbols; i++) {
		const struct weft_elf_symbol *s = weft_elf_symbol_at(elf, i);
		struct weft_elf_lines *l;

		if (strncmp(s->name, "t_", 2) != 0 || !s->size)
			continue;
		cr_assert_eq(lines_of(r, fd, path, s->address, &l, err), 0, "%s",
			     weft_error_text(err));
		known += compare(l, path, s);
		free(l);
	}
	cr_expect_gt(known, 100, "%s: %zu", name, known);
	close(fd);
	weft_elf_release(r, elf);
	weft_error_destroy(err);
	weft_elf_reader_destroy(r);
}

Test(elf_lines, as_addr2line_has_them)
{
	static const char *const files[] = {"types-O0", "types-O2", "types-dwarf4", "types-clang"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		every_function(files[i]);
}

Test(elf_lines, in_a_separate_debug_file)
{
	every_function("types-stripped");
}

Test(elf_lines, what_there_is_not)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	struct weft_elf_lines *l;
	const char *path = built("types-O2");
	int fd = open(path, O_RDONLY | O_CLOEXEC), other;

	/* No unit has that address, and no line is invented for it. */
	cr_assert_eq(lines_of(r, fd, path, 1, &l, NULL), 0);
	cr_expect_eq(l->n, 0);
	free(l);
	close(fd);
	/* busybox has no debugging information. */
	other = open("/bin/busybox", O_RDONLY | O_CLOEXEC);
	cr_assert_geq(other, 0);
	cr_expect_eq(lines_of(r, other, "/bin/busybox", 1, &l, NULL), -ENOENT);
	cr_expect_null(l);
	close(other);
	weft_elf_reader_destroy(r);
}

/* ---- hostile ---- */

struct forged_job {
	struct weft_elf_lines_job job; /* first */
	int forgery;
};

static void forging_work(struct weft_region *region, const void *arg)
{
	const struct forged_job *job = arg;

	weft_elf_work_lines(region, arg);
	struct weft_elf_lines_result *r = (void *)(region->base + WEFT_REGION_HEAD);
	struct weft_elf_line *l = (void *)(region->base + (size_t)(uintptr_t)r->lines);
	struct weft_elf_line_file *f = (void *)(region->base + (size_t)(uintptr_t)r->files);
	switch (job->forgery) {
	case 1:
		l[0].file = r->n_files;
		break;
	case 2:
		l[1].address = l[0].address;
		break;
	case 3:
		l[r->n - 1].line = 7;
		break;
	case 4:
		/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
		f[0].path = (const char *)(uintptr_t)64;
		break;
	case 5:
		r->n = UINT32_MAX;
		break;
	case 6:
		r->n_files = UINT32_MAX;
		break;
	case 7:
		r->files = (const void *)r->lines;
		break;
	case 8:
		r->file.magic = 0;
		break;
	default:
		break;
	}
}

Test(elf_lines, ELF_RESULT_INVALID)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	const struct weft_elf *elf = read_file(r, built("types-O2"), WANT);
	size_t size;
	unsigned char *bytes = contents(built("types-O2"), &size);

	for (int i = 0; i <= 8; i++) {
		struct forged_job job = {
			.job = {.file = {.image = (char *)bytes, .size = size},
				.address = find_symbol(elf, "t_simple", NULL)->address},
			.forgery = i,
		};
		struct weft_error *err = weft_error_create();
		struct weft_elf_lines_result *result;
		struct weft_region region;

		cr_assert_eq(weft_region_init(&region, 1 << 20), 0);
		cr_assert_eq(weft_jail_run(forging_work, &job, &region, 20000000000u, 256u << 20,
					   "FILE", err),
			     0, "%s", weft_error_text(err));
		cr_expect_eq(weft_elf_check_lines(&region, "FILE", &result, err), i ? -EBADMSG : 0,
			     "%d", i);
		cr_expect_str_eq(weft_error_tag(err), i ? "ELF_RESULT_INVALID" : "", "%d", i);
		weft_error_destroy(err);
		weft_region_finish(&region);
	}
	free(bytes);
	weft_elf_release(r, elf);
	weft_elf_reader_destroy(r);
}

/* Bytes of debugging information that are wrong in a way that can be repeated: the worker may die
 * of them, and nothing else. What it says is in order. */
Test(elf_lines, damaged_information_costs_only_itself)
{
	struct weft_elf_limits limits = {
		.time_ns = 2000000000, .memory = 64 << 20, .result = 8 << 20};
	struct weft_elf_reader *r = weft_elf_reader_create(&limits);
	const struct weft_elf *elf = read_file(r, built("types-O2"), WANT);
	uint64_t address = find_symbol(elf, "t_simple", NULL)->address, from = 0, n = 0;
	size_t size;
	unsigned char *bytes = contents(built("types-O2"), &size), *copy = malloc(size);

	srand(1);
	for (int i = 0; i < 60; i++) {
		struct weft_elf_lines *l;
		static const char *const names[] = {".debug_line", ".debug_info", ".debug_abbrev",
						    ".debug_aranges", ".debug_line_str"};

		for (uint32_t k = 0; k < elf->n_sections; k++) {
			const struct weft_elf_section *s = weft_elf_section_at(elf, k);

			if (!strcmp(s->name, names[i % 5])) {
				from = s->offset;
				n = s->size;
			}
		}
		memcpy(copy, bytes, size);
		for (int k = 0; k < 3 && n; k++)
			copy[from + (uint64_t)rand() % n] = (unsigned char)rand();
		int fd = scratch(copy, size);
		if (!lines_of(r, fd, "FILE", address, &l, NULL))
			for (uint32_t k = 0; k < l->n; k++)
				cr_expect(!l->at[k].line || strlen(l->files[l->at[k].file]) < 16384);
		free(l);
		close(fd);
	}
	free(copy);
	free(bytes);
	weft_elf_release(r, elf);
	weft_elf_reader_destroy(r);
}
