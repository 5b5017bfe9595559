/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Texts of /proc and of JIT compilers: the first byte chooses kallsyms, the maps of a process, or
 * the file of names that a process leaves in /tmp. What is found in them is asked for, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/symbols/kallsyms.h"
#include "core/symbols/maps.h"
#include "core/symbols/perf_map.h"
#include "fuzz.h"

static void expect_within(const char *name, uint64_t start, uint64_t address)
{
	if (name && (strlen(name) > 4096 || start > address))
		abort();
}

static void kallsyms(const char *path, struct weft_texts *strings, const uint64_t *addresses)
{
	struct weft_kallsyms k;
	const char *module;
	uint64_t start;

	if (weft_kallsyms_load(&k, path, strings))
		return;
	for (size_t i = 0; i < 8; i++)
		expect_within(weft_kallsyms_find(&k, addresses[i], strings, &start, &module), start,
			      addresses[i]);
	weft_kallsyms_finish(&k);
}

static int entry(const struct weft_maps_entry *e, void *arg)
{
	size_t *n = arg;

	if (e->end <= e->start || strlen(e->path) > 65536)
		abort();
	++*n;
	return 0;
}

static void perf_map(const uint8_t *data, size_t size, struct weft_texts *strings,
		     const uint64_t *addresses)
{
	struct weft_perf_maps maps;
	const char *module;
	uint64_t start;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "w");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f))
		abort();
	weft_perf_maps_init(&maps, strings);
	weft_perf_maps_note(&maps, getpid());
	for (size_t i = 0; i < 8; i++)
		expect_within(weft_perf_maps_find(&maps, getpid(), addresses[i], &start, &module),
			      start, addresses[i]);
	weft_perf_maps_finish(&maps);
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t addresses[8] = {0, 1, 0x1000, 0xffffffff81000000, UINT64_MAX};
	struct weft_texts strings = {0};
	char path[32];
	size_t n = 0;
	int fd;

	if (!size)
		return 0;
	/* The rest are of the text itself: what its first lines begin with. */
	for (size_t i = 1, k = 5; i + 16 < size && k < 8; i++)
		if (i == 1 || data[i - 1] == '\n') {
			char digits[17] = {0};

			memcpy(digits, data + i, 16);
			addresses[k++] = strtoull(digits, NULL, 16);
		}
	switch (data[0] % 3) {
	case 0:
		fd = fuzz_file(data + 1, size - 1, path);
		kallsyms(path, &strings, addresses);
		close(fd);
		break;
	case 1:
		fd = fuzz_file(data + 1, size - 1, path);
		(void)weft_maps_read(path, false, entry, &n);
		close(fd);
		break;
	default:
		perf_map(data + 1, size - 1, &strings, addresses);
	}
	weft_texts_finish(&strings);
	return 0;
}
