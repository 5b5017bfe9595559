/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * bpf(2), raw. Every function returns what the kernel returned, or a negative errno. File
 * descriptors are close-on-exec, as the kernel makes them. No library lies between: probing for what
 * a kernel can do, as libraries do on first use, costs loads of programs that nobody asked for.
 */
#ifndef WEFT_KERNEL_BPF_H
#define WEFT_KERNEL_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan.h"

int weft_bpf(int cmd, union bpf_attr *attr, size_t size);

int weft_bpf_map_create(const struct weft_map_spec *spec);
/* Of maps that are like inner_fd. */
int weft_bpf_map_of_maps_create(const struct weft_map_spec *spec, int inner_fd);
int weft_bpf_map_lookup(int map_fd, const void *key, void *value);
int weft_bpf_map_update(int map_fd, const void *key, const void *value, uint64_t flags);
int weft_bpf_map_delete(int map_fd, const void *key);
/* key NULL: the first. */
int weft_bpf_map_next_key(int map_fd, const void *key, void *next);
/* *count: room on entry, elements on return, also with -ENOENT (the end was reached). */
int weft_bpf_map_lookup_batch(int map_fd, const void *from, void *to, void *keys, void *values,
			      uint32_t *count);

struct weft_bpf_program {
	const char *name;
	const struct weft_load_class *load;
	const struct bpf_insn *insns;
	uint32_t n_insns;
	char *log; /* NULL: none is asked for */
	uint32_t log_size;
	/* Where functions of the program are handed to the kernel: what they are. */
	int btf_fd;
	const struct bpf_func_info *functions;
	uint32_t n_functions;
};
int weft_bpf_program_load(const struct weft_bpf_program *p);
/* Types, as linux/btf.h has them. */
int weft_bpf_btf_load(const void *btf, size_t size);
int weft_bpf_program_info(int prog_fd, struct bpf_prog_info *info);

int weft_bpf_raw_tracepoint_open(const char *name, int prog_fd);
/* A link of an iterator program; target says what it walks. */
int weft_bpf_iter_link(int prog_fd, const union bpf_iter_link_info *target);
int weft_bpf_iter_create(int link_fd);

#endif
