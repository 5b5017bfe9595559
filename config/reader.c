/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Errors of a reading, and what can be asked of a node. */
#include "config/tree.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"

#define SHOWN_MAX 60 /* bytes of a text that a message shows */

static void count_error(struct weft_reader *r, struct weft_pos pos)
{
	r->last_error = pos;
	if (++r->n_errors < WEFT_CONFIG_MAX_ERRORS)
		return;
	r->stop = -E2BIG;
	weft_error_context(r->err, "the first %u errors of the file; there may be more",
			   WEFT_CONFIG_MAX_ERRORS);
}

void weft_reader_fail(struct weft_reader *r, struct weft_pos pos, const char *tag,
		      const char *format, ...)
{
	va_list ap;

	if (r->stop)
		return;
	va_start(ap, format);
	weft_vfail(r->err, -EINVAL, tag, format, ap);
	va_end(ap);
	weft_error_set_pos(r->err, pos);
	count_error(r, pos);
}

void weft_reader_note(struct weft_reader *r, int rc)
{
	if (r->stop || rc == 0)
		return;
	if (rc == -ENOMEM)
		r->stop = -ENOMEM;
	else
		count_error(r, (struct weft_pos){0});
}

void weft_reader_nomem(struct weft_reader *r)
{
	if (r->stop != -ENOMEM)
		weft_nomem(r->err);
	r->stop = -ENOMEM;
}

void *weft_reader_alloc(struct weft_reader *r, size_t n, size_t size)
{
	void *p = weft_arena_array(r->arena, n, size);

	if (!p)
		weft_reader_nomem(r);
	return p;
}

bool weft_tree_is_null(const struct weft_tree_node *node)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};

	if (node->kind != WEFT_TREE_SCALAR || node->quoted)
		return false;
	for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++) {
		if (strcmp(node->text.s, nulls[i]) == 0)
			return true;
	}
	return false;
}

/* Whether brackets or strings open in the text and do not close in it. */
static bool is_open(const char *s, size_t size)
{
	long depth = 0;
	char quote = 0;

	for (size_t i = 0; i < size; i++) {
		if (quote) {
			if (s[i] == '\\')
				i++;
			else if (s[i] == quote)
				quote = 0;
		} else if (s[i] == '"') {
			quote = s[i];
		} else {
			depth += (s[i] == '(') - (s[i] == ')');
		}
	}
	return quote || depth > 0;
}

const char *weft_tree_cut(struct weft_reader *r, const struct weft_tree_node *node, bool is_key)
{
	const struct weft_source *s = r->source;
	const char *quoted;
	size_t length;

	if (node->kind != WEFT_TREE_SCALAR || node->quoted || !node->flow ||
	    !is_open(node->text.s, node->size))
		return NULL;
	length = weft_source_extent(s, node->offset,
				    WEFT_EXTENT_FLOW | (is_key ? WEFT_EXTENT_KEY : 0));
	if (length <= node->size || is_open(s->data + node->offset, length))
		return NULL;
	quoted = weft_source_quoted(s, node->offset, length, r->arena);
	if (!quoted)
		weft_reader_nomem(r);
	return quoted;
}

void weft_tree_fail_cut(struct weft_reader *r, const struct weft_tree_node *node, const char *whole)
{
	struct weft_tree_words words;

	weft_reader_fail(r, node->pos, "CONFIG_QUOTE",
			 "a comma inside { } or [ ] ends a value, so that this one is only %s: "
			 "an expression with a comma needs quotes: %s",
			 weft_tree_describe(node, &words), whole);
}

/* Copies a text for a message: one line, and cut at a whole character. */
static void shorten(char *out, const char *s, size_t size)
{
	size_t n = size < SHOWN_MAX ? size : SHOWN_MAX;

	while (n > 0 && n < size && ((unsigned char)s[n] & 0xc0) == 0x80)
		n--;
	memcpy(out, s, n);
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)out[i] < 0x20)
			out[i] = ' ';
	}
	strcpy(out + n, n < size ? "..." : "");
}

const char *weft_tree_describe(const struct weft_tree_node *node, struct weft_tree_words *buf)
{
	char text[SHOWN_MAX + 4];

	if (node->kind == WEFT_TREE_LIST)
		return node->n ? "a list" : "an empty list";
	if (node->kind == WEFT_TREE_MAP)
		return node->n ? "a map" : "an empty map";
	if (weft_tree_is_null(node))
		return "nothing";
	shorten(text, node->text.s, node->size);
	snprintf(buf->s, sizeof(buf->s), node->quoted ? "\"%s\"" : "`%s`", text);
	return buf->s;
}
