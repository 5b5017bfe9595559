/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "tests/random/random.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "core/kernel/insn.h"
#include "core/kernel/load.h"

#define PAGES     6u
#define READABLE  (RND_MEMORY + RND_PAGE)
#define N_TEXTS   16u
#define USER_MOST (UINT64_C(1) << 56) /* no process has addresses from here on */

static uint64_t texts[N_TEXTS];
static uint8_t *kernels; /* our view of what lies at kernels_at in the kernel */
static uint64_t kernels_at;

/* The value of an array that can be mapped: a program tells its address, and behind it the kernel
 * has nothing. */
static int map_kernel(void)
{
	const struct weft_map_spec spec = {.name = "random",
					   .type = BPF_MAP_TYPE_ARRAY,
					   .key_size = 4,
					   .value_size = 2 * RND_PAGE,
					   .max_entries = 1,
					   .flags = BPF_F_MMAPABLE,
					   .extern_fd = -1};
	const struct weft_load_class load = {.struct_size = sizeof(load),
					     .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT};
	int fd = weft_bpf_map_create(&spec), prog, ret;
	const struct bpf_insn insns[] = {INSN_LD_MAP_VALUE(BPF_REG_1, fd, 0),
					 INSN_STX(BPF_DW, BPF_REG_1, 0, BPF_REG_1),
					 INSN_MOV64_IMM(BPF_REG_0, 0), INSN_EXIT()};
	struct weft_error *err = weft_error_create();

	if (fd < 0)
		return fd;
	kernels = mmap(NULL, 2 * RND_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (kernels == MAP_FAILED)
		return -errno;
	ret = weft_program_load_own("random", &load, insns, N(insns), &prog, err);
	if (!ret)
		ret = weft_program_run(prog, err);
	if (!ret)
		close(prog);
	memcpy(&kernels_at, kernels, sizeof(kernels_at));
	weft_error_destroy(err);
	close(fd); /* the mapping keeps it */
	return ret;
}

int rnd_memory_map(void)
{
	void *at = (void *)(uintptr_t)RND_MEMORY;

	if (mmap(at, PAGES * RND_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
		 -1, 0) != at)
		return -errno;
	if (mprotect((void *)(uintptr_t)READABLE, 2 * RND_PAGE, PROT_READ | PROT_WRITE) ||
	    mprotect((uint8_t *)at + 4 * RND_PAGE, RND_PAGE, PROT_READ))
		return -errno;
	return map_kernel();
}

/* The lengths at which something changes. */
static uint32_t length(struct rnd_draw *d, uint32_t strsize)
{
	switch (rnd_below(d, 4)) {
	case 0:
		return rnd_below(d, 4);
	case 1:
		return strsize - 2 + rnd_below(d, 4);
	case 2:
		return rnd_below(d, 2 * strsize);
	default:
		return rnd_below(d, 20);
	}
}

void rnd_memory_fill(struct rnd_draw *d, uint32_t strsize)
{
	static const char *const known[] = {"/usr/bin/cat", "cat", "/",  "//", "a/b/", ".",
					    "ab",           "/a",  "b//"};
	uint8_t *at = (uint8_t *)(uintptr_t)READABLE, *end = at + 2 * RND_PAGE;
	struct weft_arena *arena = weft_arena_create();

	memset(at, 'x', 2 * RND_PAGE); /* no zero up to the end */
	for (uint32_t i = 0; i < N_TEXTS; i++) {
		struct rnd_text t = rnd_text(d, arena, length(d, strsize));
		/* Most lie somewhere; some end where the page does, with their zero or without. */
		uint8_t *to = at + rnd_below(d, 2 * RND_PAGE - 3000);

		if (i == 0)
			to = end - t.n - 1;
		else if (i == 1)
			to = end - t.n;
		else if (i == 2)
			to = at + RND_PAGE - t.n / 2;
		else if (rnd_one_in(d, 3))
			t.s = (const uint8_t *)known[rnd_below(d, N(known))],
			t.n = (uint32_t)strlen((const char *)t.s);
		memcpy(to, t.s, t.n);
		if (to + t.n < end)
			to[t.n] = 0;
		texts[i] = (uintptr_t)to;
	}
	memcpy(kernels, at, 2 * RND_PAGE);
	weft_arena_destroy(arena);
}

uint64_t rnd_kernel_address(struct rnd_draw *d)
{
	uint64_t address = rnd_address(d);

	if (address >= READABLE && address < READABLE + 2 * RND_PAGE)
		return address - READABLE + kernels_at;
	return address;
}

uint64_t rnd_address(struct rnd_draw *d)
{
	static const uint64_t bad[] = {
		0,
		1,
		RND_PAGE - 1,
		RND_PAGE,
		RND_MEMORY,
		READABLE - 1,
		RND_MEMORY + 3 * RND_PAGE,
		RND_MEMORY + 3 * RND_PAGE - 1,
		RND_MEMORY + 3 * RND_PAGE - 4,
		RND_MEMORY + 4 * RND_PAGE,
		RND_MEMORY + 4 * RND_PAGE + 100,
		UINT64_C(1) << 55,
		USER_MOST,
		UINT64_C(0xffff800000000000),
		UINT64_MAX,
		UINT64_MAX - 7,
	};

	if (rnd_one_in(d, 12))
		return bad[rnd_below(d, N(bad))];
	if (rnd_one_in(d, 8))
		return READABLE + rnd_below(d, 2 * RND_PAGE);
	return texts[rnd_below(d, N_TEXTS)];
}

enum rnd_read rnd_memory_read(uint64_t address, uint64_t n, bool user, uint8_t *out)
{
	if (!n)
		return RND_READ;
	if (!user && address >= kernels_at && n <= 2 * RND_PAGE &&
	    address - kernels_at <= 2 * RND_PAGE - n) {
		memcpy(out, kernels + (address - kernels_at), n);
		return RND_READ;
	}
	if (user && address >= READABLE && n <= 2 * RND_PAGE &&
	    address - READABLE <= 2 * RND_PAGE - n) {
		memcpy(out, (const void *)(uintptr_t)address, n);
		return RND_READ;
	}
	return user && address >= RND_PAGE && address < USER_MOST ? RND_NOT_THERE : RND_NO_ADDRESS;
}
