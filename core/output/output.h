/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The three ways of writing results: text for eyes, NDJSON, folded stacks. They write to a FILE that
 * the caller owns; losses and the end go to `messages` in text and folded, to `out` in json. */
#ifndef WEFT_OUTPUT_H
#define WEFT_OUTPUT_H

#include <stdio.h>

#include "../error.h"
#include "../value.h"

struct weft_output_options {
	FILE *out;      /* results */
	FILE *messages; /* what is said about the run */
	int width;      /* columns of the terminal; 0: not one */
	bool color;
};

/* format: "text", "json" or "folded"; OUTPUT_FORMAT otherwise. */
int weft_output_create(const char *format, const struct weft_output_options *options,
		       struct weft_sink *out, struct weft_error *err);
extern const char *const weft_output_formats[]; /* NULL-terminated */

#endif
