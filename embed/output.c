/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What comes out as text: results in the formats of core/output, explanations, pages. */
#include "embed/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "core/output/output.h"

/* ---- results: core/output writes to streams, and these lead to the caller's functions ---- */

static ssize_t pass(struct weft_trace *t, weft_trace_write *write, const char *bytes, size_t n)
{
	int ret = write ? write(t->output.arg, bytes, n) : 0;

	if (!ret)
		return (ssize_t)n;
	errno = ret < 0 ? -ret : ECANCELED;
	return 0;
}

static ssize_t pass_results(void *cookie, const char *bytes, size_t n)
{
	struct weft_trace *t = cookie;

	return pass(t, t->output.results, bytes, n);
}

static ssize_t pass_messages(void *cookie, const char *bytes, size_t n)
{
	struct weft_trace *t = cookie;

	return pass(t, t->output.messages, bytes, n);
}

/* Closing writes what is left; nobody listens any more. */
void weft_output_close(struct weft_trace *t)
{
	t->output.results = t->output.messages = NULL;
	if (t->sink.self && t->sink.destroy)
		t->sink.destroy(t->sink.self);
	t->sink = (struct weft_sink){0};
	if (t->results)
		fclose(t->results);
	if (t->messages)
		fclose(t->messages);
	t->results = t->messages = NULL;
}

int weft_trace_output(struct weft_trace *t, const struct weft_trace_output *output)
{
	const cookie_io_functions_t to_results = {.write = pass_results};
	const cookie_io_functions_t to_messages = {.write = pass_messages};
	struct weft_output_options options = {0};
	struct weft_trace_output copy;
	int ret;

	ret = weft_enter(t, "output", WEFT_AT_REST | WEFT_AT_BROKEN);
	if (ret)
		return ret;
	if (!output)
		return weft_leave(t, weft_null(t, "output"));
	ret = weft_copy_in(t, &copy, sizeof(copy), output, WEFT_TRACE_COLOR, "output");
	if (!ret && (!copy.format || !copy.results))
		ret = weft_null(t, copy.format ? "results" : "format");
	if (ret)
		return weft_leave(t, ret);
	weft_output_close(t);
	t->output = copy;
	t->output.format = NULL; /* the caller's */
	t->results = fopencookie(t, "w", to_results);
	t->messages = fopencookie(t, "w", to_messages);
	if (!t->results || !t->messages) {
		ret = weft_nomem(t->err);
	} else {
		/* As stderr is: what is said stands in its place among the results. */
		setvbuf(t->messages, NULL, _IONBF, 0);
		setvbuf(t->results, NULL, _IOFBF, 65536);
		options.out = t->results;
		options.messages = t->messages;
		options.width = copy.width > INT_MAX ? 0 : (int)copy.width;
		options.color = copy.flags & WEFT_TRACE_COLOR;
		ret = weft_output_create(copy.format, &options, &t->sink, t->err);
	}
	if (ret)
		weft_output_close(t);
	return weft_leave(t, ret);
}

/* ---- explanations ---- */

static int put(weft_trace_write *write, void *arg, const char *text)
{
	return weft_called(write(arg, text, strlen(text)));
}

struct explaining {
	struct weft_trace *t;
	weft_trace_write *write;
	void *arg;
	size_t n; /* programs before this one */
};

/* what: its number, or the list that it is made of; where: of a list, "". */
static int explain(struct explaining *e, const struct weft_program *prog, const char *what,
		   const char *where)
{
	struct weft_arena *arena = weft_arena_create();
	char *head = NULL, *text;
	int ret;

	if (arena)
		head = weft_arena_printf(arena, "%s%s, %u instructions%s%s\n", e->n++ ? "\n" : "",
					 what, prog->n_insns, *where ? ": " : "", where);
	if (!head || weft_plan_explain(weft_session_plan(e->t->session), prog, arena, &text)) {
		weft_arena_destroy(arena);
		return weft_nomem(e->t->err);
	}
	ret = put(e->write, e->arg, head);
	if (!ret)
		ret = put(e->write, e->arg, text);
	weft_arena_destroy(arena);
	return ret;
}

static int explain_program(struct explaining *e, size_t i)
{
	const struct weft_probe *first;
	size_t n;
	const struct weft_program *prog = weft_session_program(e->t->session, i, &first, &n);
	char what[32], where[512 + 32];
	size_t length;

	snprintf(what, sizeof(what), "program %zu", i + 1);
	weft_probe_format(first, where, 512);
	length = strlen(where);
	if (n > 1)
		snprintf(where + length, sizeof(where) - length, " and %zu more", n - 1);
	return explain(e, prog, what, where);
}

int weft_trace_explain(struct weft_trace *t, weft_trace_write *write, void *arg)
{
	struct explaining e = {.t = t, .write = write, .arg = arg};
	const struct weft_program *begin, *end;
	size_t i;
	int ret;

	ret = weft_enter(t, "explain", WEFT_AT_PREPARED | WEFT_AT_STOPPED);
	if (ret)
		return ret;
	if (!write)
		return weft_leave(t, weft_null(t, "write"));
	if (!(t->options.flags & WEFT_TRACE_EXPLAIN))
		return weft_leave(t, weft_fail(t->err, -EINVAL, "TRACE_OPTIONS",
					       "the handle was opened without "
					       "WEFT_TRACE_EXPLAIN"));
	begin = weft_session_begin(t->session);
	end = weft_session_end(t->session);
	ret = begin ? explain(&e, begin, "begin", "") : 0;
	for (i = 0; !ret && i < weft_session_n_programs(t->session); i++)
		ret = explain_program(&e, i);
	if (!ret && end)
		ret = explain(&e, end, "end", "");
	return weft_leave(t, ret);
}

/* ---- pages ---- */

int weft_trace_page(struct weft_trace *t, int page, weft_trace_write *write, void *arg)
{
	struct weft_config_provider *list;
	size_t i, n, k = 0;
	char *text = NULL;
	int ret;

	ret = weft_enter(t, "page", ~(unsigned int)WEFT_AT_REFUSED);
	if (ret)
		return ret;
	if (!write)
		return weft_leave(t, weft_null(t, "write"));
	if (page != WEFT_TRACE_JSON_SCHEMA && page != WEFT_TRACE_REFERENCE)
		return weft_leave(t, weft_fail(t->err, -EINVAL, "TRACE_OPTIONS",
					       "there is no page %d", page));
	n = weft_loader_count(t->loader);
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return weft_leave(t, weft_nomem(t->err));
	for (i = 0; i < n; i++) {
		const struct weft_provider *p = weft_loader_entry(t->loader, i)->provider;

		if (p)
			list[k++] = (struct weft_config_provider){p->name, p->summary, p->options};
	}
	ret = page == WEFT_TRACE_REFERENCE ? weft_config_reference(list, k, &text, t->err)
					   : weft_config_schema(list, k, &text, t->err);
	if (!ret)
		ret = put(write, arg, text);
	free(text);
	free(list);
	return weft_leave(t, ret);
}
