/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "output/support.h"

#include <stdlib.h>

void capture_begin(struct capture *c, const char *format, int width)
{
	struct weft_output_options options = {.width = width};

	*c = (struct capture){0};
	c->out = options.out = open_memstream(&c->out_text, &c->out_size);
	c->messages = options.messages = open_memstream(&c->messages_text, &c->messages_size);
	if (!c->out || !c->messages || weft_output_create(format, &options, &c->sink, NULL))
		abort();
}

void capture_end(struct capture *c)
{
	if (c->sink.flush(c->sink.self))
		abort();
	c->sink.destroy(c->sink.self);
	fclose(c->out);
	fclose(c->messages);
}

void capture_free(struct capture *c)
{
	free(c->out_text);
	free(c->messages_text);
}

static struct weft_btf_constant constants[] = {{"RED", 1}, {"a b", 2}, {"TWO", 2}};
const struct weft_btf_enum test_enum = {.n = COUNT(constants), .constants = constants};
