/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What an expression is worth, worked out without the compiler: by the language's words, in C. */
#ifndef WEFT_TESTS_COMPILER_EVAL_H
#define WEFT_TESTS_COMPILER_EVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/lang/lang.h"

/* args: the words of the context. False: a division by zero. */
bool eval(const struct weft_node *n, const uint64_t *args, int64_t *out);

#endif
