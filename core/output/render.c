/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/output/render.h"

#include <arpa/inet.h>
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

void weft_render_inet(struct weft_buf *b, const struct weft_value *v)
{
	char text[INET6_ADDRSTRLEN], bytes[16] = {0};

	memcpy(bytes, v->text.s, v->text.n < sizeof(bytes) ? v->text.n : sizeof(bytes));
	if (inet_ntop(v->text.n == 4 ? AF_INET : AF_INET6, bytes, text, sizeof(text)))
		weft_buf_str(b, text);
}

/* A frame, in quotes where it has a blank; its texts are escaped already. */
static void render_symbol(struct weft_buf *b, const struct weft_value *v, bool word)
{
	struct weft_buf text = {0};
	bool quote;

	weft_render_frame(&text, v->symbol);
	weft_buf_put(&text, "", 1);
	if (text.status) {
		b->status = text.status;
		weft_buf_finish(&text);
		return;
	}
	quote = word && strpbrk(text.data, " \"=");
	if (quote)
		weft_buf_str(b, "\"");
	for (const char *s = text.data; *s; s++)
		weft_buf_printf(b, quote && *s == '"' ? "\\%c" : "%c", *s);
	if (quote)
		weft_buf_str(b, "\"");
	weft_buf_finish(&text);
}

void weft_render_value(struct weft_buf *b, const struct weft_value *v, bool word)
{
	const char *name;

	switch (v->type.kind) {
	case WEFT_VALUE_INT:
		name = weft_btf_enum_name(v->type.names, v->i);
		if (name)
			(word ? weft_escape_word : weft_escape_text)(b, name, strlen(name));
		else
			weft_render_int(b, v);
		break;
	case WEFT_VALUE_STRING:
	case WEFT_VALUE_PROBE:
	case WEFT_VALUE_CGROUP:
		(word ? weft_escape_word : weft_escape_text)(b, v->text.s, v->text.n);
		break;
	case WEFT_VALUE_BYTES:
		weft_escape_hex(b, v->text.s, v->text.n);
		break;
	case WEFT_VALUE_SYMBOL:
		render_symbol(b, v, word);
		break;
	case WEFT_VALUE_INET:
		weft_render_inet(b, v);
		break;
	case WEFT_VALUE_STACK:
	case WEFT_VALUE_REGS:
	case WEFT_VALUE_OBJECT:
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
	if (f->module && (f->user || strcmp(f->module, "vmlinux") != 0)) {
		weft_buf_str(b, " (");
		weft_escape_text(b, f->module, strlen(f->module));
		if (!f->symbol)
			weft_buf_printf(b, "+0x%" PRIx64, f->offset);
		weft_buf_str(b, ")");
	}
	if (f->line) {
		weft_buf_str(b, " at ");
		weft_escape_text(b, f->file, strlen(f->file));
		weft_buf_printf(b, ":%" PRIu32, f->line);
	}
}

void weft_render_stack(struct weft_buf *b, const struct weft_value *v, size_t indent)
{
	for (size_t i = 0; i < v->stack.n; i++) {
		weft_buf_fill(b, ' ', indent);
		weft_render_frame(b, &v->stack.frames[i]);
		weft_buf_str(b, "\n");
	}
}

/* ---- blocks ---- */

bool weft_is_block(const struct weft_value *v)
{
	return v->type.kind == WEFT_VALUE_STACK || v->type.kind == WEFT_VALUE_REGS ||
	       (v->type.kind == WEFT_VALUE_BYTES && v->type.is_dump);
}

#define DUMP_BYTES 16u /* a line */

/* 00000010  68 65 6c 6c 6f 20 77 6f  72 6c 64 0a              |hello world.| */
static void render_dump(struct weft_buf *b, const struct weft_value *v, size_t indent)
{
	const uint8_t *bytes = (const uint8_t *)v->text.s;

	for (size_t at = 0; at < v->text.n; at += DUMP_BYTES) {
		size_t n = v->text.n - at < DUMP_BYTES ? v->text.n - at : DUMP_BYTES;

		weft_buf_fill(b, ' ', indent);
		weft_buf_printf(b, "%08zx ", at);
		for (size_t i = 0; i < DUMP_BYTES; i++) {
			weft_buf_str(b, i == DUMP_BYTES / 2 ? "  " : " ");
			if (i < n)
				weft_buf_printf(b, "%02x", bytes[at + i]);
			else
				weft_buf_str(b, "  ");
		}
		weft_buf_str(b, "  |");
		for (size_t i = 0; i < n; i++) {
			uint8_t c = bytes[at + i];

			weft_buf_fill(b, (char)(c >= 0x20 && c < 0x7f ? c : '.'), 1);
		}
		weft_buf_str(b, "|\n");
	}
}

#define REGS_COLUMNS 4u

static void render_regs(struct weft_buf *b, const struct weft_value *v, size_t indent)
{
	for (size_t i = 0; i < v->regs.n; i++) {
		const struct weft_reg *r = &v->regs.regs[i];
		bool last = i % REGS_COLUMNS == REGS_COLUMNS - 1 || i + 1 == v->regs.n;

		weft_buf_fill(b, ' ', i % REGS_COLUMNS ? 2 : indent);
		weft_buf_printf(b, "%-8s %016" PRIx64 "%s", r->name, r->value, last ? "\n" : "");
	}
}

void weft_render_block(struct weft_buf *b, const struct weft_value *v, size_t indent)
{
	if (v->type.kind == WEFT_VALUE_STACK)
		weft_render_stack(b, v, indent);
	else if (v->type.kind == WEFT_VALUE_REGS)
		render_regs(b, v, indent);
	else
		render_dump(b, v, indent);
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
