/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A growing text, and JSON written into one. Errors stick: they are asked for once, at the end. */
#ifndef WEFT_CONFIG_OUT_H
#define WEFT_CONFIG_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_out {
	char *s;
	size_t n, cap;
	int rc; /* 0 or -ENOMEM */
};

void weft_out_text(struct weft_out *out, const char *s, size_t n);
void weft_out_printf(struct weft_out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Moves the text, NUL-terminated, to *s (freed with free()), or frees it and returns -ENOMEM. */
int weft_out_move(struct weft_out *out, char **s);

/* JSON, a member a line. name NULL: an element of an array, or the whole. */
struct weft_json {
	struct weft_out *out;
	unsigned int depth;
	bool first;
};

void weft_json_open(struct weft_json *j, const char *name, char bracket); /* '{' or '[' */
void weft_json_close(struct weft_json *j, char bracket);                  /* '}' or ']' */
void weft_json_string(struct weft_json *j, const char *name, const char *s);
void weft_json_uint(struct weft_json *j, const char *name, uint64_t v);
void weft_json_int(struct weft_json *j, const char *name, int64_t v);
void weft_json_bool(struct weft_json *j, const char *name, bool v);

#endif
