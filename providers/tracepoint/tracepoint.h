/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* tracepoint: what its files share. */
#ifndef WEFT_TRACEPOINT_H
#define WEFT_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft/provider.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Longer formats are those with very long texts for printing, which come last. */
#define TRACEPOINT_FORMAT_MOST 65536
#define TRACEPOINT_FIELDS_MOST WEFT_MAX_ARGS
#define TRACEPOINT_OPS_MOST    8

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

struct weft_instance {
	const struct weft_host *host;
	int events;        /* the folder "events" of tracefs; negative: the errno of why not */
	bool hidden_mount; /* it is mounted for us alone */
	/* Of the last probe_info. */
	struct tracepoint_format format;
	struct weft_arg args[WEFT_MAX_ARGS];
	struct weft_loc_op ops[WEFT_MAX_ARGS][TRACEPOINT_OPS_MOST];
	char texts[WEFT_MAX_ARGS][64]; /* of types */
	struct weft_loc_op guard[5];
	char prototype[4096];
	char description[160];
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

/* format.c */
/* Reads format->text. 0, or -EINVAL: no format file. */
int tracepoint_parse(struct tracepoint_format *format);

/* fields.c */
/* Arguments of the fields: in->args, their number. */
uint32_t tracepoint_args(struct weft_instance *in, const char *category);

/* raw.c */
int tracepoint_raw_info(struct weft_instance *in, const char *event, struct weft_probe_info *out,
			struct weft_error *err);

/* process.c: module "process" */
#define PROCESS_MODULE "process"
struct tracepoint_life {
	const char *name;             /* of the probe */
	const char *category, *event; /* behind it */
	bool raw;
	const struct weft_arg *args;
	uint32_t n_args;
	struct weft_location guard;
	const char *prototype;
};
const struct tracepoint_life *tracepoint_life(size_t i); /* NULL: behind the last */
const struct tracepoint_life *tracepoint_life_of(const char *name);
int tracepoint_life_info(struct weft_instance *in, const struct tracepoint_life *life,
			 struct weft_probe_info *out, struct weft_error *err);

/* attach.c */
bool tracepoint_is_raw(const struct weft_instance *in, const struct weft_probe_desc *desc,
		       const struct weft_params *with);
int tracepoint_attach(struct weft_instance *in, const struct weft_attach_request *request,
		      struct weft_attachment **out, struct weft_error *err);
void tracepoint_detach(struct weft_instance *in, struct weft_attachment *at);

#endif
