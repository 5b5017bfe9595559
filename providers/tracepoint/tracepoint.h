/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* tracepoint: what its files share. */
#ifndef WEFT_TRACEPOINT_H
#define WEFT_TRACEPOINT_H

#include "format.h"

#define TRACEPOINT_OPS_MOST 8

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
