/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* From probes to places, and from what the kernel says of places back to probes. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/bpf.h"
#include "uprobe.h"

static void destroy(struct weft_attachment *at)
{
	if (!at)
		return;
	support_fds_close(&at->fds);
	if (at->prog_fd >= 0)
		close(at->prog_fd);
	free(at->probes);
	free(at);
}

/* An older core does not say what is used: then everything is. */
static struct weft_uprobe_use use_of(struct weft_instance *in,
				     const struct weft_attach_request *request,
				     const struct weft_attach_probe *r,
				     const struct weft_uprobe_probe *p)
{
	bool says =
		request->probe_size >= offsetof(struct weft_attach_probe, uses) + sizeof(r->uses);

	return (struct weft_uprobe_use){
		.cheap = weft_uprobe_wants_cheap(in, r->with),
		.needs = says ? weft_uprobe_needs(in, p, r->used_args) : UINT32_MAX,
		.uses = says ? r->uses : UINT32_MAX,
	};
}

static struct weft_attachment *create(struct weft_instance *in,
				      const struct weft_attach_request *request)
{
	struct weft_attachment *at = calloc(1, sizeof(*at));

	if (!at)
		return NULL;
	at->prog_fd = fcntl(request->prog_fd, F_DUPFD_CLOEXEC, 0);
	at->n_probes = request->n_probes;
	at->probes = calloc(request->n_probes ? request->n_probes : 1, sizeof(*at->probes));
	if (at->prog_fd < 0 || !at->probes) {
		destroy(at);
		return NULL;
	}
	for (uint32_t i = 0; i < request->n_probes; i++) {
		const struct weft_attach_probe *r = weft_attach_probe_at(request, i);
		struct weft_uprobe_probe *p =
			(struct weft_uprobe_probe *)(uintptr_t)in->host->probe_data(r->probe);

		at->probes[i] = (struct weft_uprobe_attached){
			.probe = p,
			.cookie = r->cookie,
			.use = use_of(in, request, r, p),
		};
	}
	return at;
}

/* ---- places ---- */

/* The places of sites that were not tried yet. */
static struct weft_uprobe_place_at *untried(struct weft_attachment *at, size_t *out_n)
{
	struct weft_uprobe_place_at *places;
	size_t n = 0, k = 0;

	for (size_t i = 0; i < at->n_probes; i++)
		n += at->probes[i].probe->n_sites - at->probes[i].n_sites;
	places = calloc(n ? n : 1, sizeof(*places));
	if (!places)
		return NULL;
	for (size_t i = 0; i < at->n_probes; i++) {
		struct weft_uprobe_attached *a = &at->probes[i];

		for (; a->n_sites < a->probe->n_sites; a->n_sites++) {
			struct weft_uprobe_site *s = &a->probe->sites[a->n_sites];

			places[k++] = (struct weft_uprobe_place_at){
				.file = s->file,
				.offset = weft_uprobe_place(a->probe, s, &a->use),
				.cookie = a->cookie,
				.is_return = a->probe->kind == WEFT_UPROBE_RETURN,
				.probe = (uint32_t)i,
			};
			if (places[k - 1].offset == WEFT_ELF_NO_OFFSET)
				places[k - 1].error = -EOPNOTSUPP;
		}
	}
	*out_n = k;
	return places;
}

/* ---- results ---- */

static const struct reason {
	int code;
	const char *tag, *text;
} reasons[] = {
	{-EPERM, "UPROBE_DENIED", "it takes root, or CAP_BPF and CAP_PERFMON"},
	{-EACCES, "UPROBE_DENIED", "it takes root, or CAP_BPF and CAP_PERFMON"},
	{-EMFILE, "UPROBE_DESCRIPTORS",
	 "this kernel takes a file descriptor for each place; raise the limit (ulimit -n)"},
	{-ENOMEM, "NO_MEMORY", "out of memory"},
	{-EOPNOTSUPP, "UPROBE_INSTRUCTION", "the instruction that is there cannot bear a probe"},
	{-ENODEV, "UPROBE_UNSUPPORTED", "this kernel has no uprobes"},
	{-ESRCH, "UPROBE_NO_PROCESS", "the target's processes have ended"},
};

static int fail_attach(struct weft_instance *in, const struct weft_uprobe_probe *p, int code,
		       struct weft_error *err)
{
	struct weft_probe_desc d = {.struct_size = sizeof(d)};

	in->host->probe_desc(p->registered, &d);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].code == code)
			return in->host->fail(err, code, reasons[i].tag,
					      "%s:%s:%s cannot be probed: %s", d.module, d.function,
					      d.name, reasons[i].text);
	return in->host->fail(err, code, "UPROBE_ATTACH", "%s:%s:%s cannot be probed: %s", d.module,
			      d.function, d.name, strerror(-code));
}

/* A probe is attached if one place of it is. Says of the others why not. */
static size_t report(struct weft_instance *in, const struct weft_attachment *at,
		     const struct weft_uprobe_place_at *places, size_t n, int32_t *status)
{
	size_t good = 0;

	for (size_t i = 0; i < at->n_probes; i++)
		status[i] = -ENOENT;
	for (size_t i = 0; i < n; i++)
		if (!places[i].error || status[places[i].probe] == -ENOENT)
			status[places[i].probe] = places[i].error;
	for (size_t i = 0; i < n; i++) {
		const struct weft_uprobe_place_at *p = &places[i];

		if (p->error && !status[p->probe])
			in->host->log(in->host, WEFT_LOG_WARNING,
				      "a place of a probe in %s could not be had: %s",
				      p->file->path, strerror(-p->error));
	}
	for (size_t i = 0; i < at->n_probes; i++)
		good += !status[i];
	return good;
}

int weft_uprobe_attach(struct weft_instance *in, const struct weft_attach_request *request,
		       struct weft_attachment **out, struct weft_error *err)
{
	struct weft_attachment *at = create(in, request);
	struct weft_uprobe_place_at *places = NULL;
	size_t n = 0, good = 0;
	int ret = -ENOMEM;

	if (at)
		places = untried(at, &n);
	if (places)
		ret = weft_uprobe_events_make(in, at, places, n);
	if (!ret)
		good = report(in, at, places, n, request->status);
	free(places);
	if (ret) {
		destroy(at);
		return in->host->fail(err, ret, "NO_MEMORY", "out of memory");
	}
	if (!good) {
		ret = fail_attach(in, at->probes[0].probe, request->status[0], err);
		destroy(at);
		return ret;
	}
	if (!in->said)
		in->host->log(in->host, WEFT_LOG_INFO, "%s", weft_uprobe_describe(in));
	in->said = true;
	*request->done = (uint32_t)good;
	*request->total = request->n_probes;
	*request->unit = "probes";
	at->next = in->attachments;
	in->attachments = at;
	weft_uprobe_watch(in);
	*out = at;
	return 0;
}

void weft_uprobe_detach(struct weft_instance *in, struct weft_attachment *at)
{
	for (struct weft_attachment **p = &in->attachments; *p; p = &(*p)->next) {
		if (*p == at) {
			*p = at->next;
			break;
		}
	}
	destroy(at);
}

void weft_uprobe_extend(struct weft_instance *in, struct weft_uprobe_probe *probe)
{
	for (struct weft_attachment *at = in->attachments; at; at = at->next) {
		struct weft_uprobe_place_at *places;
		bool has = false;
		size_t n = 0;

		for (size_t i = 0; i < at->n_probes && !has; i++)
			has = at->probes[i].probe == probe && at->probes[i].n_sites < probe->n_sites;
		if (!has)
			continue;
		places = untried(at, &n);
		if (!places || weft_uprobe_events_make(in, at, places, n)) {
			in->host->log(in->host, WEFT_LOG_WARNING,
				      "a file that appeared is not traced: out of memory");
			free(places);
			continue;
		}
		for (size_t i = 0; i < n; i++)
			if (places[i].error)
				in->host->log(in->host, WEFT_LOG_WARNING,
					      "a function of %s, which appeared, is not traced: %s",
					      places[i].file->path, strerror(-places[i].error));
		free(places);
	}
}

/* Closes links that are for nobody any more; whether there were some. */
static bool drop_dead_links(struct weft_attachment *at)
{
	bool some = false;

	for (size_t i = at->fds.n; i-- > 0;) {
		int32_t pid;

		if (support_uprobe_multi_pid(at->fds.at[i], &pid) || pid)
			continue;
		close(at->fds.at[i]);
		at->fds.at[i] = at->fds.at[--at->fds.n];
		some = true;
	}
	return some;
}

/*
 * A link for a process is one for its first thread. Where another thread executes a program, that one
 * becomes the first, and the link is for nobody: what the new program did until now was not seen.
 */
void weft_uprobe_renew(struct weft_instance *in, int32_t pid)
{
	bool lost = false;

	if (in->uprobes.way != SUPPORT_UPROBE_LINKS || !support_uprobes_filtered(&in->uprobes))
		return;
	for (struct weft_attachment *at = in->attachments; at; at = at->next) {
		struct weft_uprobe_place_at *places;
		size_t n = 0;

		if (!drop_dead_links(at))
			continue;
		lost = true;
		for (size_t i = 0; i < at->n_probes; i++)
			at->probes[i].n_sites = 0;
		places = untried(at, &n);
		if (places)
			weft_uprobe_events_for(in, at, places, n, pid);
		free(places);
	}
	if (lost)
		in->host->loss(in->host, "UPROBE_EXEC", 1,
			       "a thread that was not the first executed a program, whose calls were "
			       "not seen until the probes were attached again");
}
