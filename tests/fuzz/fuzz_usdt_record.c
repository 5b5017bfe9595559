/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A record of the stash, with its sum made right: what is accepted can be used. */
#include <stdlib.h>
#include <string.h>

#include "usdt/operands.h"
#include "usdt/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(struct weft_usdt_record *r)
{
	for (uint32_t i = 0; i < r->n_notes; i++) {
		const struct weft_usdt_note *n = &weft_usdt_notes(r)[i];
		const char *args = weft_usdt_text(r, n->args);
		const struct weft_usdt_site site = {
			.address = n->address, .find = weft_usdt_record_find, .arg = r};
		struct weft_usdt_operand out[WEFT_USDT_MOST_ARGS];
		uint32_t n_args;

		/* Texts may share bytes, so that each is within, and not their sum. */
		if (strlen(weft_usdt_text(r, n->name)) > r->total ||
		    strlen(weft_usdt_text(r, n->provider)) > r->total)
			abort();
		weft_usdt_operands(&weft_usdt_x86_64, args, strlen(args), &site, out, &n_args);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weft_usdt_record *r;

	if (size < sizeof(*r))
		return 0;
	r = malloc(size);
	if (!r)
		return 0;
	memcpy(r, data, size);
	memcpy(r->magic, "weftusdt", 8);
	r->version = WEFT_USDT_RECORD_VERSION;
	r->order = 0x01020304;
	r->total = size;
	/* Mostly a layout that holds together: the rest is for what is within. */
	if (data[0] & 7) {
		size_t room = (size - sizeof(*r)) / sizeof(struct weft_usdt_note);

		r->n_notes = (uint32_t)(data[1] % (room + 1));
		r->n_symbols = 0;
		r->texts = (uint32_t)(sizeof(*r) + r->n_notes * sizeof(struct weft_usdt_note));
		r->texts_size = (uint32_t)(size - r->texts);
		r->build_id_size = data[2] % 80;
		if (r->texts_size && data[0] & 6)
			((char *)r)[size - 1] = '\0';
	}
	weft_usdt_record_seal(r);
	if (weft_usdt_record_check(r, size))
		use(r);
	free(r);
	return 0;
}
