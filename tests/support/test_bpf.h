/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Small BPF programs written by hand, and arrays that they share with the test by mmap. */
#ifndef WEFT_TEST_BPF_H
#define WEFT_TEST_BPF_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "weft/provider.h"

/* Words shared with programs: one element of an mmapable array map. */
struct test_words {
	int fd;
	size_t n;
	volatile uint64_t *word;
};
void test_words_init(struct test_words *w, size_t n); /* the test fails if it cannot be had */
void test_words_finish(struct test_words *w);

/* Loads a program of a class; -errno. Where log is not NULL it gets the verifier's. */
int test_prog_load(const struct weft_load_class *load, const struct bpf_insn *insns, size_t n,
		   char *log, size_t log_size);
int test_prog_empty(const struct weft_load_class *load); /* return 0 */

/* A program that adds one to w->word[CPU number], and stores the attach cookie, if the class has
 * one, in w->word[n - 1]. w needs as many words as there are possible CPUs, and one. */
int test_prog_count(const struct weft_load_class *load, const struct test_words *w);

/* The same, but only where the current process is tgid (0: any), as the initial pid namespace
 * counts. */
int test_prog_count_of(const struct weft_load_class *load, const struct test_words *w,
		       uint32_t tgid);

uint64_t test_words_sum(const struct test_words *w); /* all but the last */

/* Descriptors of this process: number, and what each is, sorted; for "nothing is left". */
void test_descriptors(char *buf, size_t size);

#endif
