/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/output/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/output/escape.h"
#include "core/output/sinks.h"
#include "core/registry.h"

const char *const weft_output_formats[] = {"text", "json", "folded", NULL};

static const struct weft_sink *const sinks[] = {&weft_text_sink, &weft_json_sink, &weft_folded_sink};

int weft_output_create(const char *format, const struct weft_output_options *options,
		       struct weft_sink *out, struct weft_error *err)
{
	struct weft_output *o;
	size_t i = 0;
	int r;

	while (weft_output_formats[i] && strcmp(weft_output_formats[i], format) != 0)
		i++;
	if (!weft_output_formats[i]) {
		r = weft_fail(err, -EINVAL, "OUTPUT_FORMAT",
			      "\"%s\" is no output format; there are text, json and folded", format);
		weft_error_suggest(err, weft_nearest(format, weft_output_formats, i));
		return r;
	}
	o = calloc(1, sizeof(*o));
	if (!o)
		return weft_nomem(err);
	o->options = *options;
	*out = *sinks[i];
	out->self = o;
	return 0;
}

/* What is said about the run comes behind the results that it is about, also where both go to one place. */
static int write_message(struct weft_output *o)
{
	int r = weft_output_flush(o);

	if (r)
		o->buf.n = 0;
	return r ? r : weft_buf_write(&o->buf, o->options.messages);
}

int weft_message_loss(void *self, const struct weft_loss_report *l)
{
	struct weft_output *o = self;
	struct weft_buf *b = &o->buf;

	if (o->options.color && !l->asked)
		weft_buf_str(b, "\033[33m");
	weft_buf_printf(b, "%s: %" PRIu64 " x %s: %s", l->asked ? "skipped" : "lost", l->count,
			l->tag, l->meaning);
	if (l->remedy)
		weft_buf_printf(b, " (%s)", l->remedy);
	if (l->where) { /* may quote a file's name */
		weft_buf_str(b, " at ");
		weft_escape_text(b, l->where, strlen(l->where));
	}
	if (o->options.color && !l->asked)
		weft_buf_str(b, "\033[0m");
	weft_buf_str(b, "\n");
	return write_message(o);
}

int weft_message_end(void *self, const struct weft_end *e)
{
	struct weft_output *o = self;

	weft_buf_printf(&o->buf, "ended: %s", e->reason);
	if (e->status)
		weft_buf_printf(&o->buf, ", status %d", e->status);
	weft_buf_str(&o->buf, "\n");
	return write_message(o);
}

int weft_output_flush(void *self)
{
	struct weft_output *o = self;

	errno = 0;
	if (fflush(o->options.out) || ferror(o->options.out))
		return errno ? -errno : -EIO;
	return 0;
}

void weft_output_destroy(void *self)
{
	struct weft_output *o = self;

	if (!o)
		return;
	for (size_t i = 0; i < o->n_said; i++)
		free(o->said[i]);
	free(o->said);
	weft_buf_finish(&o->buf);
	free(o);
}
