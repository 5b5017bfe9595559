/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "support/attachment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int support_places_add(struct support_places *list, const struct support_place *place)
{
	if (list->n == list->cap) {
		size_t cap = list->cap ? 2 * list->cap : 16;
		struct support_place *grown = reallocarray(list->at, cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		list->at = grown;
		list->cap = cap;
	}
	list->at[list->n++] = *place;
	return 0;
}

void support_places_finish(struct support_places *list)
{
	free(list->at);
	*list = (struct support_places){0};
}

int support_attachment_init(struct support_attachment *at, const struct weft_attach_request *request)
{
	int ret = -ENOMEM;

	*at = (struct support_attachment){.prog_fd = -1, .n_probes = request->n_probes};
	at->probes = calloc(at->n_probes ? at->n_probes : 1, sizeof(const struct weft_probe *));
	if (!at->probes)
		return ret;
	at->prog_fd = fcntl(request->prog_fd, F_DUPFD_CLOEXEC, 0);
	if (at->prog_fd < 0) {
		ret = -errno;
		support_attachment_finish(at);
		return ret;
	}
	for (uint32_t i = 0; i < at->n_probes; i++)
		at->probes[i] = weft_attach_probe_at(request, i)->probe;
	return 0;
}

void support_attachment_finish(struct support_attachment *at)
{
	support_fds_close(&at->fds);
	if (at->prog_fd >= 0)
		close(at->prog_fd);
	free(at->probes);
	*at = (struct support_attachment){.prog_fd = -1};
}

/* ---- results ---- */

static const struct support_reason *reason_of(const struct support_reasons *why, int code)
{
	for (size_t i = 0; i < why->n; i++)
		if (why->rows[i].code == code)
			return &why->rows[i];
	return NULL;
}

static const char *text_of(const struct support_reasons *why, int code)
{
	const struct support_reason *r = reason_of(why, code);

	return r ? r->text : strerror(-code);
}

static int fail(const struct weft_host *host, const struct support_attachment *at,
		const struct support_reasons *why, int code, struct weft_error *err)
{
	const struct support_reason *r = reason_of(why, code);
	struct weft_probe_desc d = {.struct_size = sizeof(d)};

	host->probe_desc(at->probes[0], &d);
	return host->fail(err, code, r ? r->tag : why->other, "%s:%s:%s cannot be probed: %s",
			  d.module, d.function, d.name, text_of(why, code));
}

static void say(const struct weft_host *host, const struct support_attachment *at,
		const struct support_reasons *why, const struct support_place *p)
{
	struct weft_probe_desc d = {.struct_size = sizeof(d)};

	host->probe_desc(at->probes[p->owner], &d);
	host->log(host, WEFT_LOG_WARNING, "a place of %s:%s:%s is not traced: %s", d.module,
		  d.function, d.name, text_of(why, p->error));
}

static uint32_t report(const struct weft_host *host, const struct support_attachment *at,
		       const struct support_places *places, const struct support_reasons *why,
		       int32_t *status)
{
	uint32_t good = 0;

	for (uint32_t i = 0; i < at->n_probes; i++)
		status[i] = -ENOENT;
	for (size_t i = 0; i < places->n; i++) {
		const struct support_place *p = &places->at[i];

		if (!p->error || status[p->owner] == -ENOENT)
			status[p->owner] = p->error;
	}
	for (size_t i = 0; i < places->n; i++)
		if (places->at[i].error && !status[places->at[i].owner])
			say(host, at, why, &places->at[i]);
	for (uint32_t i = 0; i < at->n_probes; i++)
		good += !status[i];
	return good;
}

int support_attachment_make(struct support_attachment *at, const struct support_uprobes *u,
			    struct support_places *places, const struct weft_attach_request *request,
			    const struct support_reasons *why, struct weft_error *err)
{
	int ret = support_uprobes_attach(u, at->prog_fd, places->at, places->n, &at->fds);

	if (ret)
		return u->host->fail(err, ret, "NO_MEMORY", "out of memory");
	*request->done = report(u->host, at, places, why, request->status);
	*request->total = request->n_probes;
	*request->unit = "probes";
	return *request->done ? 0 : fail(u->host, at, why, request->status[0], err);
}

void support_attachment_extend(struct support_attachment *at, const struct support_uprobes *u,
			       struct support_places *places, const struct support_reasons *why)
{
	int ret = support_uprobes_attach(u, at->prog_fd, places->at, places->n, &at->fds);

	for (size_t i = 0; i < places->n; i++) {
		if (ret)
			places->at[i].error = ret;
		if (places->at[i].error)
			say(u->host, at, why, &places->at[i]);
	}
}
