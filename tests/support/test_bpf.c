/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <bpf/bpf.h>
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/kernel/insn.h"
#include "support/test_bpf.h"

void test_words_init(struct test_words *w, size_t n)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	w->n = n;
	w->fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "test_words", 4, (uint32_t)(8 * n), 1, &opts);
	cr_assert_geq(w->fd, 0, "map: %s", strerror(errno));
	w->word = mmap(NULL, 8 * n, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
	cr_assert(w->word != MAP_FAILED, "mmap: %s", strerror(errno));
}

void test_words_finish(struct test_words *w)
{
	munmap((void *)w->word, 8 * w->n);
	close(w->fd);
}

int test_prog_load(const struct weft_load_class *load, const struct bpf_insn *insns, size_t n,
		   char *log, size_t log_size)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = load->expected_attach_type,
		    .attach_btf_id = load->attach_btf_id,
		    .attach_btf_obj_fd = (uint32_t)load->attach_btf_fd, .log_buf = log,
		    .log_size = (uint32_t)log_size, .log_level = log ? 1 : 0);

	if (load->flags & WEFT_LOAD_SLEEPABLE)
		opts.prog_flags |= BPF_F_SLEEPABLE;
	int fd = bpf_prog_load(load->prog_type, "test", "GPL", insns, n, &opts);
	return fd < 0 ? -errno : fd;
}

int test_prog_empty(const struct weft_load_class *load)
{
	const struct bpf_insn insns[] = {INSN_MOV64_IMM(BPF_REG_0, 0), INSN_EXIT()};

	return test_prog_load(load, insns, 2, NULL, 0);
}

int test_prog_count(const struct weft_load_class *load, const struct test_words *w)
{
	return test_prog_count_of(load, w, 0);
}

int test_prog_count_of(const struct weft_load_class *load, const struct test_words *w, uint32_t tgid)
{
	const struct bpf_insn insns[] = {
		INSN_MOV64_REG(BPF_REG_6, BPF_REG_1),
		INSN_CALL(BPF_FUNC_get_current_pid_tgid),
		INSN_ALU64_IMM(BPF_RSH, BPF_REG_0, 32),
		INSN_JMP32_IMM(BPF_JEQ, BPF_REG_0, (int32_t)tgid, 3),
		INSN_MOV64_IMM(BPF_REG_1, (int32_t)tgid),
		INSN_JMP_IMM(BPF_JEQ, BPF_REG_1, 0, 1),
		INSN_JA(13),
		INSN_LD_MAP_VALUE(BPF_REG_7, w->fd, 0),
		INSN_CALL(BPF_FUNC_get_smp_processor_id),
		INSN_JMP_IMM(BPF_JGE, BPF_REG_0, (int32_t)w->n - 1, 9),
		INSN_MOV64_REG(BPF_REG_8, BPF_REG_7),
		INSN_ALU64_IMM(BPF_LSH, BPF_REG_0, 3),
		INSN_ALU64_REG(BPF_ADD, BPF_REG_8, BPF_REG_0),
		INSN_MOV64_IMM(BPF_REG_1, 1),
		INSN_ATOMIC(BPF_DW, BPF_ADD, BPF_REG_8, 0, BPF_REG_1),
		/* r1 is 1: the rest is skipped where there is no cookie, and never where there is. */
		INSN_JMP_IMM(load->flags & WEFT_LOAD_COOKIE ? BPF_JEQ : BPF_JNE, BPF_REG_1, 0, 3),
		INSN_MOV64_REG(BPF_REG_1, BPF_REG_6),
		load->flags & WEFT_LOAD_COOKIE ? INSN_CALL(BPF_FUNC_get_attach_cookie)
					       : INSN_MOV64_IMM(BPF_REG_0, 0),
		INSN_STX(BPF_DW, BPF_REG_7, (int16_t)(8 * (w->n - 1)), BPF_REG_0),
		INSN_MOV64_IMM(BPF_REG_0, 0),
		INSN_EXIT(),
	};
	return test_prog_load(load, insns, sizeof(insns) / sizeof(insns[0]), NULL, 0);
}

uint64_t test_words_sum(const struct test_words *w)
{
	uint64_t sum = 0;

	for (size_t i = 0; i + 1 < w->n; i++)
		sum += w->word[i];
	return sum;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void test_descriptors(char *buf, size_t size)
{
	char *lines[256];
	size_t n = 0, used = 0;

	DIR *dir = opendir("/proc/self/fd");
	cr_assert_not_null(dir);
	for (struct dirent *e; (e = readdir(dir)) && n < 256;) {
		char path[300], target[256];
		if (e->d_name[0] == '.' || atoi(e->d_name) == dirfd(dir))
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%s", e->d_name);
		ssize_t len = readlink(path, target, sizeof(target) - 1);
		target[len < 0 ? 0 : len] = '\0';
		cr_assert(asprintf(&lines[n], "%s %s\n", e->d_name, target) > 0);
		n++;
	}
	closedir(dir);
	qsort(lines, n, sizeof(lines[0]), by_name);
	buf[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		used += (size_t)snprintf(buf + used, used < size ? size - used : 0, "%s", lines[i]);
		free(lines[i]);
	}
	cr_assert(used < size);
}
