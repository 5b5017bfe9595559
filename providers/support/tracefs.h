/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Classic tracepoints: their numbers and the places of their fields, from tracefs. */
#ifndef WEFT_SUPPORT_TRACEFS_H
#define WEFT_SUPPORT_TRACEFS_H

#include <stdbool.h>
#include <stdint.h>

/* Where tracefs is mounted, or NULL. */
const char *support_tracefs_path(void);

/* Mounts it at /sys/kernel/tracing if it is nowhere. Returns 0 or -errno. */
int support_tracefs_mount(void);

/* The number for perf_event_attr.config; -ENOENT: no such tracepoint; -ENODEV: no tracefs. */
int support_tracepoint_id(const char *category, const char *name, uint64_t *id);

struct support_field {
	uint32_t offset; /* bytes, in the record that is the program's context */
	uint32_t size;
	bool is_signed;
	bool data_loc; /* a u32: offset of the data in the record, and its length << 16 */
};

/* A field by its name. -ENOENT: the tracepoint or the field does not exist. */
int support_tracepoint_field(const char *category, const char *name, const char *field,
			     struct support_field *out);

/* The same from the text of a format file. */
int support_format_field(const char *format, const char *field, struct support_field *out);

#endif
