/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every allocation of a piece of work fails once, each in a run of its own. The linker leads the
 * calls here (--wrap: weft_failing_allocations() in the suite's CMakeLists.txt), those of the
 * libraries under test and not those of the C library or the test framework.
 */
#ifndef WEFT_TEST_FAILING_H
#define WEFT_TEST_FAILING_H

#include <stddef.h>

#include "core/error.h"

/* Runs work() again and again, with the n-th allocation failing, until it makes fewer than n. After
 * a run in which one failed, work() must have returned 0 (it could do without) or an error that is
 * described in err. Returns how many failed. */
size_t failing_run(int (*work)(void *arg, struct weft_error *err), void *arg);

#endif
