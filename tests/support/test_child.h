/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Programs that wait for the test before they begin, so that probes are there from the start. */
#ifndef WEFT_TEST_CHILD_H
#define WEFT_TEST_CHILD_H

#include <stddef.h>
#include <sys/types.h>

struct test_child {
	pid_t pid;  /* before and after it begins */
	int start;  /* a byte written here lets it begin */
	int output; /* what it prints */
};

/* argv[0] is a path; NULL ends it. It dies with the test. */
void test_child_start(struct test_child *c, const char *const *argv);
void test_child_begin(struct test_child *c);
/* Waits for its end and returns its exit status (128 + the signal that ended it); the first size -
 * 1 bytes that it printed are put in output, if that is not NULL. */
int test_child_finish(struct test_child *c, char *output, size_t size);

/* All three. */
int test_child_run(const char *const *argv, char *output, size_t size);

#endif
