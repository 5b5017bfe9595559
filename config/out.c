/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "config/out.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct weft_out *out, size_t n)
{
	size_t cap = out->cap ? out->cap : 1024;
	char *s;

	if (out->rc)
		return false;
	while (cap - out->n <= n)
		cap *= 2;
	if (cap == out->cap)
		return true;
	s = realloc(out->s, cap);
	if (!s) {
		out->rc = -ENOMEM;
		return false;
	}
	out->s = s;
	out->cap = cap;
	return true;
}

void weft_out_text(struct weft_out *out, const char *s, size_t n)
{
	if (!make_room(out, n))
		return;
	memcpy(out->s + out->n, s, n);
	out->n += n;
	out->s[out->n] = '\0';
}

void weft_out_printf(struct weft_out *out, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n < 0)
		out->rc = -ENOMEM;
	if (n < 0 || !make_room(out, (size_t)n))
		return;
	va_start(ap, format);
	vsnprintf(out->s + out->n, (size_t)n + 1, format, ap);
	va_end(ap);
	out->n += (size_t)n;
}

int weft_out_move(struct weft_out *out, char **s)
{
	int rc;

	weft_out_text(out, "", 0);
	rc = out->rc;
	if (rc)
		free(out->s);
	*s = rc ? NULL : out->s;
	*out = (struct weft_out){.s = NULL};
	return rc;
}

/* ---- JSON ---- */

static void quote(struct weft_out *out, const char *s)
{
	weft_out_text(out, "\"", 1);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			weft_out_printf(out, "\\%c", *s);
		else if (*s == '\n')
			weft_out_text(out, "\\n", 2);
		else if ((unsigned char)*s < 0x20)
			weft_out_printf(out, "\\u%04x", (unsigned int)(unsigned char)*s);
		else
			weft_out_text(out, s, 1);
	}
	weft_out_text(out, "\"", 1);
}

static void begin_line(struct weft_json *j, const char *name)
{
	if (j->depth > 0)
		weft_out_printf(j->out, "%s\n%*s", j->first ? "" : ",", (int)(2 * j->depth), "");
	j->first = false;
	if (!name)
		return;
	quote(j->out, name);
	weft_out_text(j->out, ": ", 2);
}

void weft_json_open(struct weft_json *j, const char *name, char bracket)
{
	begin_line(j, name);
	weft_out_text(j->out, &bracket, 1);
	j->depth++;
	j->first = true;
}

void weft_json_close(struct weft_json *j, char bracket)
{
	j->depth--;
	if (!j->first)
		weft_out_printf(j->out, "\n%*s", (int)(2 * j->depth), "");
	weft_out_text(j->out, &bracket, 1);
	j->first = false;
	if (j->depth == 0)
		weft_out_text(j->out, "\n", 1);
}

void weft_json_string(struct weft_json *j, const char *name, const char *s)
{
	begin_line(j, name);
	quote(j->out, s);
}

void weft_json_uint(struct weft_json *j, const char *name, uint64_t v)
{
	begin_line(j, name);
	weft_out_printf(j->out, "%" PRIu64, v);
}

void weft_json_int(struct weft_json *j, const char *name, int64_t v)
{
	begin_line(j, name);
	weft_out_printf(j->out, "%" PRId64, v);
}

void weft_json_bool(struct weft_json *j, const char *name, bool v)
{
	begin_line(j, name);
	weft_out_printf(j->out, "%s", v ? "true" : "false");
}
