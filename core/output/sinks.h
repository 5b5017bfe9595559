/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the three formats share. */
#ifndef WEFT_OUTPUT_SINKS_H
#define WEFT_OUTPUT_SINKS_H

#include "core/output/buf.h"
#include "core/output/output.h"

struct weft_output {
	struct weft_output_options options;
	struct weft_buf buf;
	char **said; /* folded: tables of which it was said that they have no stacks */
	size_t n_said, cap_said;
	bool said_records;
};

extern const struct weft_sink weft_text_sink, weft_json_sink, weft_folded_sink; /* self is NULL */

/* A table for eyes, added to o->buf; long ones are written out as they come. 0 or -errno. */
int weft_text_table(struct weft_output *o, const struct weft_table *t);

/* For formats whose results are alone on `out`: losses and the end on `messages`. */
int weft_message_loss(void *self, const struct weft_loss_report *l);
int weft_message_end(void *self, const struct weft_end *e);
int weft_output_flush(void *self);
void weft_output_destroy(void *self);

#endif
