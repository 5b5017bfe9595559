/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Text for eyes: records. A record of emit is one line, "time probe name=value ...", with its
 * stacks, hexdumps and registers below; a record of printf is what the clause says and nothing else. */
#include <inttypes.h>
#include <string.h>

#include "core/output/escape.h"
#include "core/output/render.h"
#include "core/output/sinks.h"

static void put_emit(struct weft_buf *b, const struct weft_record *r)
{
	weft_buf_printf(b, "%" PRIu64 ".%06u ", r->time_ns / 1000000000u,
			(unsigned int)(r->time_ns % 1000000000u / 1000u));
	weft_escape_text(b, r->probe, strlen(r->probe));
	for (size_t i = 0; i < r->n_fields; i++) {
		const struct weft_named_value *f = &r->fields[i];

		if (weft_is_block(&f->value))
			continue;
		weft_buf_str(b, " ");
		weft_escape_text(b, f->name, strlen(f->name));
		weft_buf_str(b, "=");
		weft_render_value(b, &f->value, true);
	}
	weft_buf_str(b, "\n");
	for (size_t i = 0; i < r->n_fields; i++) {
		const struct weft_named_value *f = &r->fields[i];

		if (!weft_is_block(&f->value))
			continue;
		weft_buf_str(b, "    ");
		weft_escape_text(b, f->name, strlen(f->name));
		weft_buf_str(b, ":\n");
		weft_render_block(b, &f->value, 8);
	}
}

static int text_record(void *self, const struct weft_record *r)
{
	struct weft_output *o = self;
	struct weft_buf *b = &o->buf;

	if (r->format) {
		weft_render_printf(b, r, true);
		if (!b->n || b->data[b->n - 1] != '\n')
			weft_buf_str(b, "\n");
	} else {
		put_emit(b, r);
	}
	return weft_buf_write(b, o->options.out);
}

static int text_table(void *self, const struct weft_table *t)
{
	struct weft_output *o = self;
	int r = weft_text_table(o, t);

	return r ? r : weft_buf_write(&o->buf, o->options.out);
}

const struct weft_sink weft_text_sink = {
	.record = text_record,
	.table = text_table,
	.loss = weft_message_loss,
	.end = weft_message_end,
	.flush = weft_output_flush,
	.destroy = weft_output_destroy,
};
