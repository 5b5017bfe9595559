/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A sink that writes into memory, and short ways to write down values. */
#ifndef TESTS_OUTPUT_SUPPORT_H
#define TESTS_OUTPUT_SUPPORT_H

#include <stddef.h>
#include <string.h>

#include "core/output/output.h"

struct capture {
	struct weft_sink sink;
	FILE *out, *messages;
	char *out_text, *messages_text;
	size_t out_size, messages_size;
};

void capture_begin(struct capture *c, const char *format, int width);
void capture_end(struct capture *c); /* out_text and messages_text are complete after it */
void capture_free(struct capture *c);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define SIGNED(value)                                                                        \
	{                                                                                    \
		.type = {.kind = WEFT_VALUE_INT, .size = 8, .is_signed = true}, .i = (value) \
	}
#define SIGNED_OF(bytes, value)                                                                    \
	{                                                                                          \
		.type = {.kind = WEFT_VALUE_INT, .size = (bytes), .is_signed = true}, .i = (value) \
	}
#define UNSIGNED(value)                                                   \
	{                                                                 \
		.type = {.kind = WEFT_VALUE_INT, .size = 8}, .u = (value) \
	}
#define POINTER(value)                                                                        \
	{                                                                                     \
		.type = {.kind = WEFT_VALUE_INT, .size = 8, .is_pointer = true}, .u = (value) \
	}
/* A constant of tests/output's enum: RED is 1, "a b" 2. */
extern const struct weft_btf_enum test_enum;
#define ENUM(value)                                                                                  \
	{                                                                                            \
		.type = {.kind = WEFT_VALUE_INT, .size = 4, .is_signed = true, .names = &test_enum}, \
		.i = (value)                                                                         \
	}
#define SYMBOL(where, frame)                                                             \
	{                                                                                \
		.type = {.kind = WEFT_VALUE_SYMBOL, .space = (where)}, .symbol = (frame) \
	}
/* The bytes of an address, as a string literal. */
#define INET(string)                                                                    \
	{                                                                               \
		.type = {.kind = WEFT_VALUE_INET, .cap = sizeof(string) - 1}, .text = { \
			(string),                                                       \
			sizeof(string) - 1                                              \
		}                                                                       \
	}
#define CGROUP(string)                                                                       \
	{                                                                                    \
		.type = {.kind = WEFT_VALUE_CGROUP}, .text = {(string), sizeof(string) - 1 } \
	}
#define DUMP(string)                                                                       \
	{                                                                                  \
		.type = {.kind = WEFT_VALUE_BYTES, .cap = 128, .is_dump = true}, .text = { \
			(string),                                                          \
			sizeof(string) - 1                                                 \
		}                                                                          \
	}
#define REGS(array)                                                                 \
	{                                                                           \
		.type = {.kind = WEFT_VALUE_REGS}, .regs = {(array), COUNT(array) } \
	}
/* A string literal, without its NUL. */
#define TEXT(string)                                                       \
	{                                                                  \
		.type = {.kind = WEFT_VALUE_STRING, .cap = 128}, .text = { \
			(string),                                          \
			sizeof(string) - 1                                 \
		}                                                          \
	}
#define BYTES(string)                                                     \
	{                                                                 \
		.type = {.kind = WEFT_VALUE_BYTES, .cap = 128}, .text = { \
			(string),                                         \
			sizeof(string) - 1                                \
		}                                                         \
	}
#define PROBE(string)                                                                       \
	{                                                                                   \
		.type = {.kind = WEFT_VALUE_PROBE}, .text = {(string), sizeof(string) - 1 } \
	}
#define STACK(where, array)                                                                 \
	{                                                                                   \
		.type = {.kind = WEFT_VALUE_STACK, .space = (where), .cap = 64}, .stack = { \
			(array),                                                            \
			COUNT(array)                                                        \
		}                                                                           \
	}

#endif
