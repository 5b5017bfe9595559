/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/kernel/bpf.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel wants bytes that it does not know to be zero: pass no more than what is meant. */
#define ATTR_SIZE(last) (offsetof(union bpf_attr, last) + sizeof(((union bpf_attr *)0)->last))

/* A signal that is pending while a program is verified makes the kernel give up with EAGAIN. */
#define LOAD_TRIES 5

static uint64_t pointer(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* Cuts what is longer than the kernel takes. The rest of `to` is zero already. */
static void copy_name(char to[BPF_OBJ_NAME_LEN], const char *name)
{
	memcpy(to, name, strnlen(name, BPF_OBJ_NAME_LEN - 1));
}

int weft_bpf(int cmd, union bpf_attr *attr, size_t size)
{
	long ret = syscall(SYS_bpf, cmd, attr, size);

	return ret < 0 ? -errno : (int)ret;
}

static int map_create(const struct weft_map_spec *spec, int inner_fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = spec->type;
	attr.key_size = spec->key_size;
	attr.value_size = spec->value_size;
	attr.max_entries = spec->max_entries;
	attr.map_flags = spec->flags;
	attr.inner_map_fd = (uint32_t)inner_fd;
	copy_name(attr.map_name, spec->name);
	return weft_bpf(BPF_MAP_CREATE, &attr, ATTR_SIZE(map_name));
}

int weft_bpf_map_create(const struct weft_map_spec *spec)
{
	return map_create(spec, 0);
}

int weft_bpf_map_of_maps_create(const struct weft_map_spec *spec, int inner_fd)
{
	return map_create(spec, inner_fd);
}

static int map_element(int cmd, int map_fd, const void *key, const void *value, uint64_t flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map_fd;
	attr.key = pointer(key);
	attr.value = pointer(value);
	attr.flags = flags;
	return weft_bpf(cmd, &attr, ATTR_SIZE(flags));
}

int weft_bpf_map_lookup(int map_fd, const void *key, void *value)
{
	return map_element(BPF_MAP_LOOKUP_ELEM, map_fd, key, value, 0);
}

int weft_bpf_map_update(int map_fd, const void *key, const void *value, uint64_t flags)
{
	return map_element(BPF_MAP_UPDATE_ELEM, map_fd, key, value, flags);
}

int weft_bpf_map_delete(int map_fd, const void *key)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map_fd;
	attr.key = pointer(key);
	return weft_bpf(BPF_MAP_DELETE_ELEM, &attr, ATTR_SIZE(key));
}

int weft_bpf_map_next_key(int map_fd, const void *key, void *next)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map_fd;
	attr.key = pointer(key);
	attr.next_key = pointer(next);
	return weft_bpf(BPF_MAP_GET_NEXT_KEY, &attr, ATTR_SIZE(next_key));
}

int weft_bpf_map_lookup_batch(int map_fd, const void *from, void *to, void *keys, void *values,
			      uint32_t *count)
{
	union bpf_attr attr;
	int ret;

	memset(&attr, 0, sizeof(attr));
	attr.batch.in_batch = pointer(from);
	attr.batch.out_batch = pointer(to);
	attr.batch.keys = pointer(keys);
	attr.batch.values = pointer(values);
	attr.batch.count = *count;
	attr.batch.map_fd = (uint32_t)map_fd;
	ret = weft_bpf(BPF_MAP_LOOKUP_BATCH, &attr, ATTR_SIZE(batch.flags));
	*count = attr.batch.count;
	return ret;
}

int weft_bpf_program_load(const struct weft_bpf_program *p)
{
	const struct weft_load_class *load = p->load;
	union bpf_attr attr;
	sigset_t all, mask;
	int ret, tries;

	for (tries = 0; tries < LOAD_TRIES; tries++) {
		memset(&attr, 0, sizeof(attr));
		attr.prog_type = load->prog_type;
		attr.insns = pointer(p->insns);
		attr.insn_cnt = p->n_insns;
		attr.license = pointer("Dual BSD/GPL");
		if (p->log) {
			attr.log_level = 1;
			attr.log_buf = pointer(p->log);
			attr.log_size = p->log_size;
		}
		if (load->flags & WEFT_LOAD_SLEEPABLE)
			attr.prog_flags = BPF_F_SLEEPABLE;
		copy_name(attr.prog_name, p->name);
		attr.expected_attach_type = load->expected_attach_type;
		attr.attach_btf_id = load->attach_btf_id;
		if (load->attach_btf_fd > 0)
			attr.attach_btf_obj_fd = (uint32_t)load->attach_btf_fd;
		if (p->n_functions) {
			attr.prog_btf_fd = (uint32_t)p->btf_fd;
			attr.func_info_rec_size = sizeof(*p->functions);
			attr.func_info = pointer(p->functions);
			attr.func_info_cnt = p->n_functions;
		}
		ret = weft_bpf(BPF_PROG_LOAD, &attr, ATTR_SIZE(attach_btf_obj_fd));
		if (ret != -EAGAIN)
			break;
		/* The verifier gives up when a signal is waiting. A clause's takes milliseconds, so
		 * signals can wait for it: with a timer's every so often it would never end. */
		if (!tries) {
			sigfillset(&all);
			pthread_sigmask(SIG_SETMASK, &all, &mask);
		}
	}
	if (tries)
		pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return ret;
}

int weft_bpf_btf_load(const void *btf, size_t size)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.btf = pointer(btf);
	attr.btf_size = (uint32_t)size;
	return weft_bpf(BPF_BTF_LOAD, &attr, ATTR_SIZE(btf_log_level));
}

int weft_bpf_program_info(int prog_fd, struct bpf_prog_info *info)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	memset(info, 0, sizeof(*info));
	attr.info.bpf_fd = (uint32_t)prog_fd;
	attr.info.info_len = sizeof(*info);
	attr.info.info = pointer(info);
	return weft_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, ATTR_SIZE(info));
}

int weft_bpf_raw_tracepoint_open(const char *name, int prog_fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = pointer(name);
	attr.raw_tracepoint.prog_fd = (uint32_t)prog_fd;
	return weft_bpf(BPF_RAW_TRACEPOINT_OPEN, &attr, ATTR_SIZE(raw_tracepoint.prog_fd));
}

int weft_bpf_iter_link(int prog_fd, const union bpf_iter_link_info *target)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (uint32_t)prog_fd;
	attr.link_create.attach_type = BPF_TRACE_ITER;
	attr.link_create.iter_info = pointer(target);
	attr.link_create.iter_info_len = sizeof(*target);
	return weft_bpf(BPF_LINK_CREATE, &attr, ATTR_SIZE(link_create.iter_info_len));
}

int weft_bpf_iter_create(int link_fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.iter_create.link_fd = (uint32_t)link_fd;
	return weft_bpf(BPF_ITER_CREATE, &attr, ATTR_SIZE(iter_create.flags));
}
