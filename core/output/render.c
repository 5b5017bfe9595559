/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/output/render.h"

#include <inttypes.h>
#include <string.h>

#include "core/lang/actions.h"
#include "core/output/escape.h"

const char *weft_kind_name(enum weft_action_kind kind)
{
	for (size_t i = 0; i < weft_n_actions; i++)
		if (weft_actions[i].kind == kind)
			return weft_actions[i].name;
	return "";
}

void weft_render_int(struct weft_buf *b, const struct weft_value *v)
{
	if (v->type.is_pointer)
		weft_buf_printf(b, "0x%" PRIx64, v->u);
	else if (v->type.is_signed)
		weft_buf_printf(b, "%" PRId64, v->i);
	else
		weft_buf_printf(b, "%" PRIu64, v->u);
}

void weft_render_value(struct weft_buf *b, const struct weft_value *v, bool word)
{
	switch (v->type.kind) {
	case WEFT_VALUE_INT:
		weft_render_int(b, v);
		break;
	case WEFT_VALUE_STRING:
	case WEFT_VALUE_PROBE:
		(word ? weft_escape_word : weft_escape_text)(b, v->text.s, v->text.n);
		break;
	case WEFT_VALUE_BYTES:
		weft_escape_hex(b, v->text.s, v->text.n);
		break;
	case WEFT_VALUE_STACK:
		break;
	}
}

void weft_render_frame(struct weft_buf *b, const struct weft_frame *f)
{
	if (f->symbol) {
		weft_escape_text(b, f->symbol, strlen(f->symbol));
		weft_buf_printf(b, "+0x%" PRIx64, f->offset);
	} else {
		weft_buf_printf(b, "0x%" PRIx64, f->address);
	}
	if (!f->module || (!f->user && strcmp(f->module, "vmlinux") == 0))
		return;
	weft_buf_str(b, " (");
	weft_escape_text(b, f->module, strlen(f->module));
	if (!f->symbol)
		weft_buf_printf(b, "+0x%" PRIx64, f->offset);
	weft_buf_str(b, ")");
}

void weft_render_stack(struct weft_buf *b, const struct weft_value *v, size_t indent)
{
	for (size_t i = 0; i < v->stack.n; i++) {
		weft_buf_fill(b, ' ', indent);
		weft_render_frame(b, &v->stack.frames[i]);
		weft_buf_str(b, "\n");
	}
}

void weft_render_stacks(struct weft_buf *b, const struct weft_named_value *values, size_t n,
			size_t indent)
{
	static const enum weft_space order[] = {WEFT_SPACE_KERNEL, WEFT_SPACE_USER};

	for (size_t o = 0; o < 2; o++)
		for (size_t i = 0; i < n; i++)
			if (values[i].value.type.kind == WEFT_VALUE_STACK &&
			    values[i].value.type.space == order[o])
				weft_render_stack(b, &values[i].value, indent);
}

long double weft_average(const struct weft_row *row)
{
	return row->count ? (long double)weft_row_sum(row) / (long double)row->count : 0;
}
