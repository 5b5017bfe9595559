/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Error objects. They are written when things go wrong, memory among them, so none of this may
 * fail: a report whose sentence finds no memory keeps its tag and code and says so; a report that
 * finds no room at all is dropped, which can only happen when earlier ones are there to be read.
 */
#include "core/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"

#define ROOM_AT_START 4

static const char no_memory_text[] = "out of memory";
static const char unsaid_text[] = "(out of memory while describing this error)";

struct entry {
	const char *tag;
	int code;
	struct weft_pos pos;
	char *text; /* NULL: fixed is the text */
	const char *fixed;
	char *file;
	char *suggestion;
	char **contexts;
	size_t n_contexts, cap_contexts;
};

struct weft_error {
	struct entry *entries;
	size_t n, cap;
	bool newest_dropped; /* what is added to the newest report must not reach an older one */
};

struct weft_error *weft_error_create(void)
{
	struct weft_error *err = calloc(1, sizeof(*err));

	if (!err)
		return NULL;
	err->entries = calloc(ROOM_AT_START, sizeof(*err->entries));
	if (!err->entries) {
		free(err);
		return NULL;
	}
	err->cap = ROOM_AT_START;
	return err;
}

static void entry_finish(struct entry *e)
{
	for (size_t i = 0; i < e->n_contexts; i++)
		free(e->contexts[i]);
	free(e->contexts);
	free(e->suggestion);
	free(e->file);
	free(e->text);
}

void weft_error_truncate(struct weft_error *err, size_t n)
{
	if (!err)
		return;
	for (; err->n > n; err->n--)
		entry_finish(&err->entries[err->n - 1]);
	err->newest_dropped = false;
}

static bool says_the_same(const struct entry *a, const struct entry *b)
{
	return a->pos.line && a->pos.line == b->pos.line && a->pos.column == b->pos.column &&
	       !strcmp(a->tag, b->tag) && a->text && b->text && !strcmp(a->text, b->text);
}

static bool is_repeated(const struct weft_error *err, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (says_the_same(&err->entries[err->n - 1], &err->entries[i]))
			return true;
	return false;
}

void weft_error_drop_repeated(struct weft_error *err, size_t n)
{
	while (err && err->n > n && is_repeated(err, n))
		weft_error_truncate(err, err->n - 1);
}

static bool is_before(const struct entry *a, const struct entry *b)
{
	if (!a->pos.line || !b->pos.line)
		return false;
	return a->pos.line != b->pos.line ? a->pos.line < b->pos.line
					  : a->pos.column < b->pos.column;
}

void weft_error_sort(struct weft_error *err)
{
	for (size_t i = 1; err && i < err->n; i++)
		for (size_t k = i; k && is_before(&err->entries[k], &err->entries[k - 1]); k--) {
			struct entry e = err->entries[k];

			err->entries[k] = err->entries[k - 1];
			err->entries[k - 1] = e;
		}
}

void weft_error_clear(struct weft_error *err)
{
	weft_error_truncate(err, 0);
}

void weft_error_destroy(struct weft_error *err)
{
	if (!err)
		return;
	weft_error_clear(err);
	free(err->entries);
	free(err);
}

static struct entry *entry_new(struct weft_error *err, int code, const char *tag)
{
	struct entry *e;

	err->newest_dropped = weft_grow(&err->entries, &err->cap, err->n, sizeof(*e)) != 0;
	if (err->newest_dropped)
		return NULL;
	e = &err->entries[err->n++];
	*e = (struct entry){.tag = tag, .code = code, .fixed = unsaid_text};
	return e;
}

static struct entry *newest(struct weft_error *err)
{
	if (!err || err->n == 0 || err->newest_dropped)
		return NULL;
	return &err->entries[err->n - 1];
}

static char *format_text(const char *format, va_list ap)
{
	char *text;

	return vasprintf(&text, format, ap) < 0 ? NULL : text;
}

int weft_vfail(struct weft_error *err, int code, const char *tag, const char *format, va_list ap)
{
	struct entry *e = err ? entry_new(err, code, tag) : NULL;

	if (e)
		e->text = format_text(format, ap);
	return code;
}

int weft_fail(struct weft_error *err, int code, const char *tag, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	weft_vfail(err, code, tag, format, ap);
	va_end(ap);
	return code;
}

int weft_fail_at(struct weft_error *err, struct weft_pos pos, int code, const char *tag,
		 const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	weft_vfail(err, code, tag, format, ap);
	va_end(ap);
	weft_error_set_pos(err, pos);
	return code;
}

int weft_nomem(struct weft_error *err)
{
	struct entry *e = err ? entry_new(err, -ENOMEM, "NO_MEMORY") : NULL;

	if (e)
		e->fixed = no_memory_text;
	return -ENOMEM;
}

void weft_error_vcontext(struct weft_error *err, const char *format, va_list ap)
{
	struct entry *e = newest(err);
	char *text;

	if (!e)
		return;
	text = format_text(format, ap);
	if (!text)
		return;
	if (weft_grow(&e->contexts, &e->cap_contexts, e->n_contexts, sizeof(*e->contexts))) {
		free(text);
		return;
	}
	e->contexts[e->n_contexts++] = text;
}

void weft_error_context(struct weft_error *err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	weft_error_vcontext(err, format, ap);
	va_end(ap);
}

void weft_error_suggest(struct weft_error *err, const char *suggestion)
{
	struct entry *e = newest(err);

	if (!e || !suggestion)
		return;
	free(e->suggestion);
	e->suggestion = strdup(suggestion);
}

void weft_error_set_file(struct weft_error *err, const char *file)
{
	if (!err || !file)
		return;
	for (size_t i = 0; i < err->n; i++) {
		if (!err->entries[i].file)
			err->entries[i].file = strdup(file);
	}
}

void weft_error_set_pos(struct weft_error *err, struct weft_pos pos)
{
	struct entry *e = newest(err);

	if (e && e->pos.line == 0)
		e->pos = pos;
}

size_t weft_error_count(const struct weft_error *err)
{
	return err ? err->n : 0;
}

int weft_error_report(const struct weft_error *err, size_t i, struct weft_report *out)
{
	const struct entry *e;

	if (i >= weft_error_count(err))
		return -ENOENT;
	e = &err->entries[i];
	*out = (struct weft_report){
		.tag = e->tag,
		.code = e->code,
		.text = e->text ? e->text : e->fixed,
		.file = e->file,
		.pos = e->pos,
		.suggestion = e->suggestion,
		.n_contexts = e->n_contexts,
	};
	return 0;
}

const char *weft_error_context_text(const struct weft_error *err, size_t i, size_t k)
{
	if (i >= weft_error_count(err) || k >= err->entries[i].n_contexts)
		return NULL;
	return err->entries[i].contexts[k];
}

const char *weft_error_tag(const struct weft_error *err)
{
	return weft_error_count(err) ? err->entries[0].tag : "";
}

int weft_error_code(const struct weft_error *err)
{
	return weft_error_count(err) ? err->entries[0].code : 0;
}

const char *weft_error_text(const struct weft_error *err)
{
	struct weft_report r;

	return weft_error_report(err, 0, &r) ? "" : r.text;
}
