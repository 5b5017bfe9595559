/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the provider believes of the kernel, asked of the kernel that runs: which instructions it
 * puts no probe on. It says so when the file is mapped, so the bytes are in a file that this
 * process maps as code, which it never runs.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/bpf.h"
#include "support/file.h"
#include "support/test_bpf.h"
#include "uprobe.h"

#define STEP 16

struct sample {
	uint8_t bytes[STEP];
};

/* Every one-byte and two-byte opcode plain, with 66, with a segment, locked; and vector ones.
 * *plain is how many have no prefix or 66. */
static size_t make_samples(struct sample *out, size_t *plain)
{
	static const uint8_t fronts[][4] = {{0},       {1, 0x66}, {1, 0x2e},
					    {1, 0xf0}, {1, 0x48}, {1, 0x64}};
	size_t n = 0;

	for (size_t f = 0; f < sizeof(fronts) / sizeof(fronts[0]); f++) {
		if (f == 2)
			*plain = n;
		for (unsigned int op = 0; op < 512; op++) {
			/* A prefix, to kernels that know the newest instructions. And one that is
			 * refused whatever follows need not be asked for everything. */
			if (op == 0xd5 || (f && op % 16))
				continue;
			uint8_t *p = out[n++].bytes;
			size_t k = 0;

			memset(p, 0x90, STEP);
			for (size_t i = 0; i < fronts[f][0]; i++)
				p[k++] = fronts[f][1 + i];
			if (op >= 256)
				p[k++] = 0x0f;
			p[k++] = (uint8_t)op;
			p[k++] = 0xc0; /* register to register, where it takes operands */
		}
	}
	for (unsigned int op = 0; op < 256; op++) {
		const uint8_t c5[] = {0xc5, 0xf9, (uint8_t)op, 0xc0};
		const uint8_t c4[] = {0xc4, 0xe2, 0x79, (uint8_t)op, 0xc0};

		memset(out[n].bytes, 0x90, STEP);
		memcpy(out[n++].bytes, c5, sizeof(c5));
		memset(out[n].bytes, 0x90, STEP);
		memcpy(out[n++].bytes, c4, sizeof(c4));
	}
	return n;
}

struct asking {
	const char *path;
	uint64_t type;
	int prog; /* for links; -1: the kernel has none */
	const struct sample *samples;
	size_t wrong;
};

static int try_event(const struct asking *a, size_t sample)
{
	struct perf_event_attr attr = {
		.type = (uint32_t)a->type,
		.uprobe_path = (uint64_t)(uintptr_t)a->path,
		.probe_offset = sample * STEP,
		.disabled = 1,
	};
	int fd = support_perf_open(&attr, getpid(), -1);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int try_link(const struct asking *a, const uint64_t *offsets, size_t n)
{
	uint64_t *cookies = calloc(n, sizeof(*cookies));
	const struct support_uprobe_multi what = {.path = a->path,
						  .offsets = offsets,
						  .cookies = cookies,
						  .count = (uint32_t)n,
						  .pid = getpid()};
	int fd = support_uprobe_multi_link(a->prog, &what);

	free(cookies);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* What no processor knows the kernel does not decode: no program has it. */
static void said(struct asking *a, uint64_t offset, int ret, bool want)
{
	const uint8_t *b = a->samples[offset / STEP].bytes;

	if (ret == -ENOEXEC || (ret == 0) == want)
		return;
	a->wrong++;
	cr_log_warn("%02x %02x %02x %02x: %s, which was not expected", b[0], b[1], b[2], b[3],
		    ret ? "refused" : "taken");
}

/* All should be taken: one link for all of them, and halves where it is not so. */
static void expect_taken(struct asking *a, const uint64_t *offsets, size_t n)
{
	int ret = try_link(a, offsets, n);

	if (ret && n > 1) {
		expect_taken(a, offsets, n / 2);
		expect_taken(a, offsets + n / 2, n - n / 2);
	} else {
		said(a, offsets[0], ret, true);
	}
}

Test(kernel, which_instructions_it_refuses, .timeout = 120)
{
	static const struct weft_load_class load = {
		.struct_size = sizeof(load),
		.prog_type = BPF_PROG_TYPE_KPROBE,
		.expected_attach_type = SUPPORT_BPF_TRACE_UPROBE_MULTI,
		.flags = WEFT_LOAD_COOKIE,
		.ctx_kind = WEFT_CTX_REGS,
	};
	static struct sample samples[8192];
	static uint64_t taken[8192];
	static const uint64_t zero;
	size_t plain = 0, n = make_samples(samples, &plain), n_taken = 0;
	struct asking a = {.samples = samples};
	char path[64];

	cr_assert_lt(n, 8192);
	cr_assert_eq(support_read_u64("/sys/bus/event_source/devices/uprobe/type", &a.type), 0);
	int fd = memfd_create("samples", MFD_CLOEXEC);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, samples, n * STEP), (ssize_t)(n * STEP));
	void *code = mmap(NULL, n * STEP, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	cr_assert_neq(code, MAP_FAILED);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	a.path = path;
	a.prog = test_prog_empty(&load);
	cr_assert_geq(a.prog, 0);
	bool links = try_link(&(struct asking){.path = "/", .prog = a.prog}, &zero, 1) == -EBADF;

	/* An event takes long: without links the plain ones have to do. */
	for (size_t i = 0; i < (links ? n : 255); i++) {
		const char *unfit = weft_uprobe_arch_unfit(samples[i].bytes, STEP);

		/* What it takes for something else it takes. */
		if (unfit && strstr(unfit, "for another"))
			continue;
		taken[n_taken] = i * STEP;
		if (!links)
			said(&a, i * STEP, try_event(&a, i), !unfit);
		else if (unfit && (i < plain || samples[i].bytes[0] == 0xf0))
			said(&a, i * STEP, try_link(&a, &taken[n_taken], 1), false);
		else if (!unfit)
			n_taken++; /* of others, one place less is no harm */
	}
	if (links)
		expect_taken(&a, taken, n_taken);
	cr_expect_eq(a.wrong, 0, "%zu of %zu", a.wrong, n);
	munmap(code, n * STEP);
	close(fd);
	close(a.prog);
}
