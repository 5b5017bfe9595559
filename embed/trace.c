/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The handle: opened, closed, when which function may be called, and the reports. */
#include "embed/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/number.h"
#include "core/output/escape.h"

#define TEXT_OF(x)  #x
#define TEXT_OF2(x) TEXT_OF(x)

uint32_t weft_version(void)
{
	return WEFT_VERSION;
}

const char *weft_version_text(void)
{
	return TEXT_OF2(WEFT_VERSION_MAJOR) "." TEXT_OF2(WEFT_VERSION_MINOR) "." TEXT_OF2(
		WEFT_VERSION_PATCH);
}

uint32_t weft_version_provider_abi(void)
{
	return WEFT_ABI_CURRENT;
}

/* ---- what every function does ---- */

static const struct {
	enum weft_trace_state state;
	const char *text;
} states[] = {
	{WEFT_AT_NEW, "no probe set was read"},
	{WEFT_AT_SET, "the probe set is not prepared"},
	{WEFT_AT_PREPARED, "the probe set is prepared, and not started"},
	{WEFT_AT_RUNNING, "it is running"},
	{WEFT_AT_STOPPED, "it was stopped"},
	{WEFT_AT_BROKEN, "the probe set could not be prepared or started"},
	{WEFT_AT_REFUSED, "its options were refused when it was opened"},
};

int weft_enter(struct weft_trace *t, const char *what, unsigned int allowed)
{
	size_t i = 0;

	if (!t)
		return -EINVAL;
	if (t->inside)
		return weft_fail(t->err, -EBUSY, "TRACE_BUSY",
				 "weft_trace_%s() was called inside a callback", what);
	weft_error_clear(t->err);
	if (!(t->state & allowed)) {
		while (states[i].state != t->state)
			i++;
		return weft_fail(t->err, -EINVAL, "TRACE_STATE",
				 "weft_trace_%s() cannot be called now: %s", what, states[i].text);
	}
	t->inside = true;
	return 0;
}

int weft_leave(struct weft_trace *t, int ret)
{
	t->inside = false;
	if (!ret)
		weft_error_clear(t->err);
	else if (!weft_error_count(t->err))
		weft_fail(t->err, ret, ret == -ENOMEM ? "NO_MEMORY" : "TRACE_CALLBACK", "%s",
			  ret == -ENOMEM ? "out of memory" : "ended by a callback");
	return ret;
}

int weft_null(struct weft_trace *t, const char *what)
{
	return weft_fail(t->err, -EINVAL, "TRACE_NULL", "%s is NULL", what);
}

int weft_called(int ret)
{
	return ret > 0 ? -ECANCELED : ret;
}

int weft_copy_in(struct weft_trace *t, void *out, size_t size, const void *in, uint32_t flags,
		 const char *what)
{
	uint32_t head[2];
	size_t i;

	memset(out, 0, size);
	memcpy(head, in, sizeof(head[0]));
	if (head[0] < sizeof(head) || head[0] % sizeof(uint64_t))
		return weft_fail(t->err, -EINVAL, "TRACE_OPTIONS",
				 "struct_size of struct weft_trace_%s is %u", what, head[0]);
	for (i = size; i < head[0]; i++)
		if (((const char *)in)[i])
			return weft_fail(t->err, -EINVAL, "TRACE_OPTIONS",
					 "struct weft_trace_%s has members that this libweft (%s) "
					 "does not know, and they are set",
					 what, weft_version_text());
	memcpy(head, in, sizeof(head));
	if (head[1] & ~flags)
		return weft_fail(t->err, -EINVAL, "TRACE_OPTIONS",
				 "struct weft_trace_%s has flags that this libweft (%s) does not "
				 "know: 0x%x",
				 what, weft_version_text(), head[1] & ~flags);
	memcpy(out, in, head[0] < size ? head[0] : size);
	return 0;
}

void *weft_room(struct weft_trace *t, enum weft_room_of room, size_t n, size_t size)
{
	struct weft_room *r = &t->rooms[room];
	size_t wanted = (n ? n : 1) * size; /* of things that lie in memory already */
	void *data;

	if (wanted > r->cap) {
		data = realloc(r->data, wanted + wanted / 2);
		if (!data) {
			weft_nomem(t->err);
			return NULL;
		}
		r->data = data;
		r->cap = wanted + wanted / 2;
	}
	return r->data;
}

/* ---- open and close ---- */

int weft_trace_open(const struct weft_trace_options *options, struct weft_trace **out)
{
	struct weft_trace *t;
	int ret = 0;

	if (!out)
		return -EINVAL;
	*out = t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->state = WEFT_AT_NEW;
	t->err = weft_error_create();
	t->loader = weft_loader_create();
	if (!t->err || !t->loader) {
		weft_trace_close(t);
		*out = NULL;
		return -ENOMEM;
	}
	if (options)
		ret = weft_copy_in(t, &t->options, sizeof(t->options), options,
				   WEFT_TRACE_DESTRUCTIVE | WEFT_TRACE_EXPLAIN | WEFT_TRACE_LINES,
				   "options");
	if (ret)
		t->state = WEFT_AT_REFUSED;
	return ret;
}

int weft_trace_close(struct weft_trace *t)
{
	size_t i;

	if (!t)
		return 0;
	if (t->inside)
		return weft_enter(t, "close", ~0u);
	weft_trace_forget(t);
	weft_output_close(t);
	weft_loader_destroy(t->loader);
	free(t->providers);
	weft_arena_destroy(t->target_arena);
	weft_arena_destroy(t->details_arena);
	for (i = 0; i < WEFT_N_ROOMS; i++)
		free(t->rooms[i].data);
	free(t->probe_text);
	free(t->printf_text);
	weft_error_destroy(t->err);
	free(t);
	return 0;
}

/* ---- reports ---- */

size_t weft_trace_n_reports(const struct weft_trace *t)
{
	return t ? weft_error_count(t->err) : 1;
}

const struct weft_trace_report *weft_trace_report(struct weft_trace *t, size_t i)
{
	static const struct weft_trace_report no_handle = {
		.struct_size = sizeof(no_handle),
		.code = -EINVAL,
		.tag = "TRACE_NULL",
		.text = "the handle is NULL",
	};
	struct weft_report r;

	if (!t)
		return i ? NULL : &no_handle;
	if (weft_error_report(t->err, i, &r))
		return NULL;
	t->report = (struct weft_trace_report){
		.struct_size = sizeof(t->report),
		.code = r.code,
		.tag = r.tag,
		.text = r.text,
		.file = r.file,
		.line = r.pos.line,
		.column = r.pos.line ? r.pos.column : 0,
		.suggestion = r.suggestion,
		.n_causes = (uint32_t)r.n_contexts,
	};
	return &t->report;
}

const char *weft_trace_cause(const struct weft_trace *t, size_t i, size_t k)
{
	struct weft_report r;

	if (!t || weft_error_report(t->err, i, &r) || k >= r.n_contexts)
		return NULL;
	return weft_error_context_text(t->err, i, k);
}

const char *weft_trace_error(struct weft_trace *t)
{
	const struct weft_trace_report *r = weft_trace_report(t, 0);
	char place[64] = "";

	if (!t)
		return "the handle is NULL [TRACE_NULL]";
	if (!r)
		return "";
	if (r->file && r->line)
		snprintf(place, sizeof(place), ":%u:%u", r->line, r->column);
	snprintf(t->line, sizeof(t->line), "%s%s%s%s [%s]", r->file ? r->file : "", place,
		 r->file ? ": " : "", r->text, r->tag);
	return t->line;
}

/* ---- helpers that need no handle ---- */

static bool harmless(uint32_t code)
{
	if (code < ' ' || (code >= 0x7f && code < 0xa0))
		return false; /* controls */
	/* Marks that turn the direction of writing. */
	return code != 0x200e && code != 0x200f && (code < 0x202a || code > 0x202e) &&
	       (code < 0x2066 || code > 0x2069);
}

size_t weft_trace_printable(const char *text, char *buf, size_t size)
{
	size_t left = text ? strlen(text) : 0, wanted = 0, end = 0, length, n, i;
	bool fits = size > 0, plain;
	uint32_t code;
	char hex[8];

	for (; left; text += length, left -= length) {
		length = weft_utf8_length(text, left, &code);
		plain = length && harmless(code);
		length = length ? length : 1;
		n = plain ? length : 4 * length;
		fits = fits && wanted + n < size; /* what does not fit whole is left out */
		if (fits && plain)
			memcpy(buf + wanted, text, length);
		for (i = 0; fits && !plain && i < length; i++) {
			snprintf(hex, sizeof(hex), "\\x%02x", (unsigned char)text[i]);
			memcpy(buf + wanted + 4 * i, hex, 4);
		}
		wanted += n;
		if (fits)
			end = wanted;
	}
	if (size)
		buf[end] = '\0';
	return wanted;
}

int weft_trace_in_plugin(const char **provider, const char **slot)
{
	return weft_session_inside(provider, slot);
}

const char *weft_trace_nearest(const char *word, const char *const *candidates, size_t n)
{
	return word && candidates ? weft_nearest(word, candidates, n) : NULL;
}

int weft_trace_duration(const char *text, uint64_t *ns)
{
	return text && ns ? weft_parse_duration(text, ns) : -EINVAL;
}
