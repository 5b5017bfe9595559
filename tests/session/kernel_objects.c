/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "kernel_objects.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <dirent.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const struct {
	const char *name, *fdinfo;
	int next, open;
} kinds[KERNEL_KINDS] = {
	[KERNEL_PROGRAM] = {"program", "prog_id:", BPF_PROG_GET_NEXT_ID, BPF_PROG_GET_FD_BY_ID},
	[KERNEL_MAP] = {"map", "map_id:", BPF_MAP_GET_NEXT_ID, BPF_MAP_GET_FD_BY_ID},
	[KERNEL_LINK] = {"link", "link_id:", BPF_LINK_GET_NEXT_ID, BPF_LINK_GET_FD_BY_ID},
};

static int bpf(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static void add(struct kernel_objects *k, enum kernel_kind kind, uint32_t id)
{
	for (size_t i = 0; i < k->n[kind]; i++)
		if (k->ids[kind][i] == id)
			return;
	if (k->n[kind] < KERNEL_MAX_IDS)
		k->ids[kind][k->n[kind]++] = id;
}

static bool has(const struct kernel_objects *k, enum kernel_kind kind, uint32_t id)
{
	for (size_t i = 0; i < k->n[kind]; i++)
		if (k->ids[kind][i] == id)
			return true;
	return false;
}

static size_t count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

void kernel_objects_read(struct kernel_objects *k)
{
	memset(k, 0, sizeof(*k));
	for (int kind = 0; kind < KERNEL_KINDS; kind++) {
		union bpf_attr attr = {0};

		while (!bpf(kinds[kind].next, &attr)) {
			add(k, (enum kernel_kind)kind, attr.next_id);
			attr.start_id = attr.next_id;
		}
	}
	k->n_fds = count_fds();
}

/* ---- what others hold ---- */

static void read_fdinfo(const char *path, struct kernel_objects *held)
{
	FILE *f = fopen(path, "re");
	char line[256];
	bool is[KERNEL_KINDS] = {false};
	uint32_t ids[KERNEL_KINDS] = {0};

	while (f && fgets(line, sizeof(line), f)) {
		for (int kind = 0; kind < KERNEL_KINDS; kind++) {
			size_t n = strlen(kinds[kind].fdinfo);

			if (strncmp(line, kinds[kind].fdinfo, n))
				continue;
			is[kind] = true;
			ids[kind] = (uint32_t)strtoul(line + n, NULL, 10);
		}
	}
	if (f)
		fclose(f);
	for (int kind = 0; kind < KERNEL_KINDS; kind++)
		if (is[kind])
			add(held, (enum kernel_kind)kind, ids[kind]);
}

static void read_process(const char *pid, struct kernel_objects *held)
{
	char path[600];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, d->d_name);
		if (isdigit((unsigned char)d->d_name[0]))
			read_fdinfo(path, held);
	}
	if (dir)
		closedir(dir);
}

static int open_id(enum kernel_kind kind, uint32_t id)
{
	union bpf_attr attr = {0};

	attr.prog_id = id;
	return bpf(kinds[kind].open, &attr);
}

/* The program of a link, the maps of a program. */
static void follow(struct kernel_objects *held)
{
	for (size_t i = 0; i < held->n[KERNEL_LINK]; i++) {
		struct bpf_link_info info = {0};
		union bpf_attr attr = {0};
		int fd = open_id(KERNEL_LINK, held->ids[KERNEL_LINK][i]);

		attr.info.bpf_fd = (uint32_t)fd;
		attr.info.info_len = sizeof(info);
		attr.info.info = (uint64_t)(uintptr_t)&info;
		if (fd >= 0 && !bpf(BPF_OBJ_GET_INFO_BY_FD, &attr))
			add(held, KERNEL_PROGRAM, info.prog_id);
		if (fd >= 0)
			close(fd);
	}
	for (size_t i = 0; i < held->n[KERNEL_PROGRAM]; i++) {
		uint32_t maps[64];
		struct bpf_prog_info info = {.nr_map_ids = 64, .map_ids = (uint64_t)(uintptr_t)maps};
		union bpf_attr attr = {0};
		int fd = open_id(KERNEL_PROGRAM, held->ids[KERNEL_PROGRAM][i]);

		attr.info.bpf_fd = (uint32_t)fd;
		attr.info.info_len = sizeof(info);
		attr.info.info = (uint64_t)(uintptr_t)&info;
		if (fd >= 0 && !bpf(BPF_OBJ_GET_INFO_BY_FD, &attr))
			for (uint32_t m = 0; m < info.nr_map_ids && m < 64; m++)
				add(held, KERNEL_MAP, maps[m]);
		if (fd >= 0)
			close(fd);
	}
}

static void held_by_others(struct kernel_objects *held)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;

	memset(held, 0, sizeof(*held));
	while (dir && (d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0]) && strtol(d->d_name, NULL, 10) != getpid())
			read_process(d->d_name, held);
	if (dir)
		closedir(dir);
	follow(held);
}

/* ---- what is left ---- */

static struct kernel_objects now, others;

static size_t left(const struct kernel_objects *before, char *text, size_t size)
{
	size_t n = 0, at = 0;

	*text = '\0';
	kernel_objects_read(&now);
	for (int kind = 0; kind < KERNEL_KINDS; kind++)
		for (size_t i = 0; i < now.n[kind]; i++)
			n += !has(before, (enum kernel_kind)kind, now.ids[kind][i]);
	if (!n)
		return 0;
	held_by_others(&others);
	n = 0;
	for (int kind = 0; kind < KERNEL_KINDS; kind++) {
		for (size_t i = 0; i < now.n[kind]; i++) {
			uint32_t id = now.ids[kind][i];
			int fd;

			if (has(before, (enum kernel_kind)kind, id) ||
			    has(&others, (enum kernel_kind)kind, id))
				continue;
			fd = open_id((enum kernel_kind)kind, id); /* it may have gone since */
			if (fd < 0)
				continue;
			close(fd);
			n++;
			if (at < size)
				at += (size_t)snprintf(text + at, size - at, " %s %u",
						       kinds[kind].name, id);
		}
	}
	return n;
}

void kernel_objects_expect_gone(const struct kernel_objects *before)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	char text[512];
	size_t n;
	int i;

	for (i = 0; i < 250; i++) {
		n = left(before, text, sizeof(text));
		if (!n)
			break;
		nanosleep(&pause, NULL);
	}
	cr_expect_eq(n, 0, "left in the kernel:%s", text);
	cr_expect_eq(count_fds(), before->n_fds, "%zu descriptors, before %zu", count_fds(),
		     before->n_fds);
}
