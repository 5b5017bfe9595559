/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A whole provider, pulse: found by the loader and taken through its whole life. Needs root. */
#include "support.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <time.h>

#include "core/registry.h"

#define INSN(opcode, dst, src, offset, immediate)                                      \
	{                                                                              \
		.code = (opcode), .dst_reg = (dst), .src_reg = (src), .off = (offset), \
		.imm = (immediate)                                                     \
	}

/* A perf_event program that adds one to the first word of the map. */
static int counting_program(int map)
{
	struct bpf_insn insns[] = {
		INSN(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_VALUE, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, 1),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_1, BPF_REG_2, 0, BPF_ADD),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "beat", "GPL", insns,
			     sizeof(insns) / sizeof(insns[0]), NULL);
}

static void wait_until(const volatile uint64_t *counter, uint64_t n)
{
	for (unsigned int i = 0; i < 1000 && *counter < n; i++)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

Test(loader_pulse, its_whole_life)
{
	struct weft_loader *loader = load_dir(FIXTURE_DIR "/pulse");
	const struct weft_loader_entry *e = weft_loader_find(loader, "pulse");
	struct weft_registry_core *probes = weft_registry_create();
	struct weft_error *err = weft_error_create();
	struct weft_host host = {.struct_size = sizeof(host),
				 .abi_version = WEFT_ABI_CURRENT,
				 .fail = weft_fail,
				 .probe_add = weft_registry_add};
	struct weft_probe_info info = {.struct_size = sizeof(info)};
	struct bpf_map_create_opts flags = {.sz = sizeof(flags), .map_flags = BPF_F_MMAPABLE};
	struct weft_attach_probe one = {.cookie = 0};
	struct weft_attach_request request = {.struct_size = sizeof(request),
					      .probes = &one,
					      .n_probes = 1,
					      .probe_size = sizeof(one)};
	struct weft_attachment *attachment;
	struct weft_instance *instance;
	volatile uint64_t *counter;
	uint64_t after;
	int map;

	cr_assert(e && probes && err);
	cr_assert_eq(e->provider->open(&host, NULL, &instance, err), 0);
	cr_assert_eq(e->provider->populate(instance, weft_registry_of(probes, "pulse"), err), 0);
	cr_assert_eq(weft_registry_size(probes), 1);
	one.probe = weft_registry_at(probes, 0);
	cr_assert_eq(e->provider->probe_info(instance, one.probe, NULL, &info, err), 0);
	cr_expect_eq(info.scope, WEFT_SCOPE_EXACT);
	cr_expect_eq(info.load.prog_type, BPF_PROG_TYPE_PERF_EVENT);
	cr_expect_eq(info.n_args, 1);
	cr_expect_str_eq(info.args[0].name, "pc");
	cr_expect_eq(info.args[0].where.ops[0].op, WEFT_LOC_KERNEL_PC);

	map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "beats", 4, 8, 1, &flags);
	cr_assert(map >= 0, "%s: this test needs root", strerror(errno));
	counter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	cr_assert(counter != MAP_FAILED);
	request.prog_fd = counting_program(map);
	cr_assert(request.prog_fd >= 0, "%s", strerror(errno));
	cr_assert_eq(e->provider->attach(instance, &request, &attachment, err), 0, "%s",
		     weft_error_text(err));
	wait_until(counter, 3);
	cr_expect(*counter >= 3, "%llu beats", (unsigned long long)*counter);
	e->provider->detach(instance, attachment);
	after = *counter;
	nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
	cr_expect_eq(*counter, after, "it beats after it was detached");

	e->provider->close(instance);
	close(request.prog_fd);
	munmap((void *)counter, 4096);
	close(map);
	weft_error_destroy(err);
	weft_registry_destroy(probes);
	weft_loader_destroy(loader);
}

Test(loader_pulse, failing_attach_says_why_and_leaves_nothing)
{
	struct weft_loader *loader = load_dir(FIXTURE_DIR "/pulse");
	const struct weft_loader_entry *e = weft_loader_find(loader, "pulse");
	struct weft_error *err = weft_error_create();
	struct weft_host host = {.struct_size = sizeof(host), .fail = weft_fail};
	struct weft_attach_request request = {.struct_size = sizeof(request), .prog_fd = -1};
	struct weft_attachment *attachment;
	struct weft_instance *instance;

	cr_assert(e && err);
	cr_assert_eq(e->provider->open(&host, NULL, &instance, err), 0);
	cr_expect_eq(e->provider->attach(instance, &request, &attachment, err), -EBADF);
	cr_expect_str_eq(weft_error_tag(err), "PULSE_CLOCK");
	e->provider->close(instance);
	weft_error_destroy(err);
	weft_loader_destroy(loader);
}
