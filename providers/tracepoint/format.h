/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The kernel's description of its tracepoints: what other providers that are made of them need too. */
#ifndef WEFT_TRACEPOINT_FORMAT_H
#define WEFT_TRACEPOINT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft/provider.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Longer formats are those with very long texts for printing, which come last. */
#define TRACEPOINT_FORMAT_MOST 65536
#define TRACEPOINT_FIELDS_MOST WEFT_MAX_ARGS

/* One field of a record, as its format file says. Texts lie in the format. */
struct tracepoint_field {
	const char *name, *type;
	uint32_t offset, size;
	uint32_t elements; /* of an array; 0: none, or of a size of its own */
	bool is_signed;
	enum { FIELD_HERE, FIELD_DATA_LOC, FIELD_REL_LOC } place;
};

struct tracepoint_format {
	char text[TRACEPOINT_FORMAT_MOST]; /* cut into the texts of the fields */
	struct tracepoint_field fields[TRACEPOINT_FIELDS_MOST];
	uint32_t n_fields; /* without those that all records have */
	uint32_t size;     /* bytes of the record */
};

/* tracefs.c: negative errno where a function fails */
int tracepoint_open_events(bool *hidden_mount);
/* Reads events/CATEGORY/EVENT/FILE whole, NUL-terminated; its length. */
long tracepoint_read(int events, const char *category, const char *event, const char *file,
		     char *buf, size_t size);
/* Calls fn for each event of the categories and names that match, as long as it returns 0. */
int tracepoint_each(int events, const char *category,
		    int (*fn)(void *arg, const char *category, const char *event), void *arg);
int tracepoint_categories(int events, int (*fn)(void *arg, const char *category), void *arg);

/* nearest.c: what was meant, as CATEGORY::EVENT; "" where nothing is near */
void tracepoint_nearest(int events, const char *category, const char *event, char *out, size_t size);

/* format.c */
/* Reads format->text. 0, or -EINVAL: no format file. */
int tracepoint_parse(struct tracepoint_format *format);

/* words.c */
/* "const struct sock *", but not "struct sock **": the struct's name. */
bool tracepoint_struct_of(const char *type, char *name, size_t size);
/* The name of a type without qualifiers; whether it is an address's. */
const char *tracepoint_bare(const char *type);
bool tracepoint_is_pointer(const char *type);
/* A system call's argument, which came in a register: what it is, and the bytes of the register
 * that hold it, from the lowest. Its text is the type given. */
struct weft_arg_type tracepoint_word_type(const struct weft_host *host, const char *type,
					  uint32_t *size, bool *is_signed);

#endif
