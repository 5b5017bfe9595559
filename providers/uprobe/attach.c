/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* From probes to places in files. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/bpf.h"
#include "uprobe.h"

static void destroy(struct weft_attachment *at)
{
	if (!at)
		return;
	support_attachment_finish(&at->made);
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
	if (support_attachment_init(&at->made, request)) {
		free(at);
		return NULL;
	}
	at->probes = calloc(request->n_probes ? request->n_probes : 1, sizeof(*at->probes));
	if (!at->probes) {
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

/* Mostly one place; of a return in a Go program each instruction that returns. */
static int add_site(struct support_places *out, const struct weft_uprobe_attached *a,
		    struct weft_uprobe_site *s, uint32_t owner)
{
	struct support_place place = {.fd = s->file->fd, .cookie = a->cookie, .owner = owner};
	int ret = 0;

	if (s->n_returns) {
		for (size_t i = 0; i < s->n_returns && !ret; i++) {
			place.offset = s->offset + s->returns[i];
			ret = support_places_add(out, &place);
		}
		return ret;
	}
	place.is_return = a->probe->kind == WEFT_UPROBE_RETURN;
	place.offset = weft_uprobe_place(a->probe, s, &a->use);
	if (place.offset == WEFT_ELF_NO_OFFSET)
		place.error = -EOPNOTSUPP;
	return support_places_add(out, &place);
}

/* The places of sites that were not tried yet. */
static int untried(struct weft_attachment *at, struct support_places *out)
{
	*out = (struct support_places){0};
	for (uint32_t i = 0; i < at->made.n_probes; i++) {
		struct weft_uprobe_attached *a = &at->probes[i];

		for (; a->n_sites < a->probe->n_sites; a->n_sites++) {
			if (add_site(out, a, &a->probe->sites[a->n_sites], i)) {
				support_places_finish(out);
				return -ENOMEM;
			}
		}
	}
	return 0;
}

static const struct support_reason reasons[] = {
	{-EPERM, "UPROBE_DENIED", "it takes root, or CAP_BPF and CAP_PERFMON"},
	{-EACCES, "UPROBE_DENIED",
	 "it takes root, or CAP_BPF and CAP_PERFMON, and for events, as before Linux 6.6, also "
	 "CAP_SYS_ADMIN"},
	{-EMFILE, "UPROBE_DESCRIPTORS",
	 "this kernel takes a file descriptor for each place; raise the limit (ulimit -n)"},
	{-ENOMEM, "NO_MEMORY", "out of memory"},
	{-EOPNOTSUPP, "UPROBE_INSTRUCTION", "the instruction that is there cannot bear a probe"},
	{-ENODEV, "UPROBE_UNSUPPORTED", "this kernel has no uprobes"},
	{-ESRCH, "UPROBE_NO_PROCESS", "the target's processes have ended"},
};
static const struct support_reasons why = {reasons, sizeof(reasons) / sizeof(reasons[0]),
					   "UPROBE_ATTACH"};

int weft_uprobe_attach(struct weft_instance *in, const struct weft_attach_request *request,
		       struct weft_attachment **out, struct weft_error *err)
{
	struct weft_attachment *at = create(in, request);
	struct support_places places;
	int ret;

	if (!at || untried(at, &places)) {
		destroy(at);
		return in->host->fail(err, -ENOMEM, "NO_MEMORY", "out of memory");
	}
	weft_uprobe_settle_mechanism(in);
	ret = support_attachment_make(&at->made, &in->uprobes, &places, request, &why, err);
	support_places_finish(&places);
	if (ret) {
		destroy(at);
		return ret;
	}
	if (!in->said)
		in->host->log(in->host, WEFT_LOG_INFO, "%s", weft_uprobe_describe(in));
	in->said = true;
	at->next = in->attachments;
	in->attachments = at;
	weft_uprobe_watch(in);
	*out = at;
	return 0;
}

static void say_lost(struct weft_instance *in)
{
	in->host->loss(in->host, "UPROBE_EXEC", 1,
		       "a thread that was not the first executed a program, whose calls were not seen "
		       "until the probes were attached again");
}

void weft_uprobe_detach(struct weft_instance *in, struct weft_attachment *at)
{
	int32_t pid;

	/* What happened since it was looked at last. */
	if (support_fds_lost(&in->uprobes, &at->made.fds, &pid))
		say_lost(in);
	for (struct weft_attachment **p = &in->attachments; *p; p = &(*p)->next) {
		if (*p == at) {
			*p = at->next;
			break;
		}
	}
	destroy(at);
}

/* pid: of the target's processes only that one; 0: all. */
static void extend(struct weft_instance *in, struct weft_attachment *at, int32_t pid)
{
	struct support_uprobes uprobes = in->uprobes;
	struct support_places places;

	uprobes.only = pid;
	if (untried(at, &places)) {
		in->host->log(in->host, WEFT_LOG_WARNING,
			      "what appeared is not traced: out of memory");
		return;
	}
	support_attachment_extend(&at->made, &uprobes, &places, &why);
	support_places_finish(&places);
}

void weft_uprobe_extend(struct weft_instance *in, struct weft_uprobe_probe *probe)
{
	for (struct weft_attachment *at = in->attachments; at; at = at->next) {
		bool has = false;

		for (uint32_t i = 0; i < at->made.n_probes && !has; i++)
			has = at->probes[i].probe == probe && at->probes[i].n_sites < probe->n_sites;
		if (has)
			extend(in, at, 0);
	}
}

void weft_uprobe_renew(struct weft_instance *in)
{
	for (struct weft_attachment *at = in->attachments; at; at = at->next) {
		int32_t pid;

		while (support_fds_lost(&in->uprobes, &at->made.fds, &pid)) {
			say_lost(in);
			for (uint32_t i = 0; i < at->made.n_probes; i++)
				at->probes[i].n_sites = 0;
			extend(in, at, pid);
		}
	}
}
