/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The parser of ELF files and the check of what it says, in one process and without the jail, so
 * that sanitizers see what the jail would only survive. The last byte of the input chooses symbols,
 * types or lines. A worker's memory ends with its process; here, what it and its libraries have
 * not freed is freed behind each run (held.c).
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "core/btf/btf.h"
#include "core/elf/abi.h"
#include "core/elf/check.h"
#include "tests/fuzz/fuzz.h"

static jmp_buf out;

/* In place of the jail's. */
void weft_jail_done(void)
{
	longjmp(out, 1);
}

void weft_jail_no_memory(void)
{
	longjmp(out, 2);
}

static void read_symbols(struct weft_region *region, const struct weft_elf_job *job)
{
	struct weft_elf_result *result;

	fuzz_hold();
	if (!setjmp(out))
		weft_elf_work(region, job);
	fuzz_free_held();
	(void)weft_elf_check(region, job->size, "FILE", &result, NULL);
}

static void read_types(struct weft_region *region, const struct weft_elf_job *file)
{
	uint64_t addresses[256];
	struct weft_elf_types_job job = {.file = *file, .addresses = addresses, .n = 256};
	struct weft_elf_types_result *result = (void *)(region->base + WEFT_REGION_HEAD);
	struct weft_btf *btf;
	void *bytes;

	for (uint64_t i = 0; i < job.n; i++)
		addresses[i] = 0x100 + i * 2;
	fuzz_hold();
	if (!setjmp(out))
		weft_elf_work_types(region, &job);
	fuzz_free_held();
	if (weft_elf_check_problem(region, &result->file, "FILE", NULL) || !result->btf_size)
		return;
	bytes = malloc(result->btf_size);
	memcpy(bytes, region->base + (size_t)(uintptr_t)result->btf, result->btf_size);
	if (!weft_btf_create(bytes, result->btf_size, false, NULL, &btf, NULL)) {
		char text[256];

		for (uint32_t id = 0; id < weft_btf_end(btf) && id < 1000; id++) {
			uint32_t types[2] = {id, id + 1};
			struct weft_abi_place places[2], result_place;

			weft_btf_print(btf, id, "x", text, sizeof(text));
			weft_abi_places(62, btf, types, 2, id, false, places, &result_place);
		}
		weft_btf_destroy(btf);
	}
}

static void read_lines(struct weft_region *region, const struct weft_elf_job *file)
{
	struct weft_elf_lines_job job = {.file = *file, .address = 0x110};
	struct weft_elf_lines_result *result;
	size_t n = 0;

	fuzz_hold();
	if (!setjmp(out))
		weft_elf_work_lines(region, &job);
	fuzz_free_held();
	if (weft_elf_check_lines(region, "FILE", &result, NULL))
		return;
	for (uint32_t i = 0; i < result->n; i++)
		if (result->lines[i].line)
			n += strlen(result->files[result->lines[i].file].path);
	free(malloc(n ? 1 : 2));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weft_elf_job job = {.want = 31, .size = size};
	struct weft_region region;
	char *copy;

	if (size < 4 || weft_region_init(&region, 8 << 20))
		return 0;
	copy = malloc(size);
	memcpy(copy, data, size);
	job.image = copy;
	elf_version(EV_CURRENT);
	if (data[size - 1] % 4 == 3)
		read_lines(&region, &job);
	else if (data[size - 1] % 2)
		read_types(&region, &job);
	else
		read_symbols(&region, &job);
	weft_region_finish(&region);
	free(copy);
	return 0;
}
