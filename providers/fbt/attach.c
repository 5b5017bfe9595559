/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Attaching and detaching, whichever the mechanism. All that an attachment owns is links, whose
 * descriptors are all that the kernel needs to forget it. Before they are closed the kernel is
 * asked what it suppressed there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fbt.h"

int weft_fbt_keep(struct weft_attachment *at, int link)
{
	if (at->n_links == at->cap_links) {
		size_t cap = at->cap_links ? 2 * at->cap_links : 8;
		int *grown = realloc(at->links, cap * sizeof(*grown));

		if (!grown) {
			close(link);
			return -ENOMEM;
		}
		at->links = grown;
		at->cap_links = cap;
	}
	at->links[at->n_links++] = link;
	return 0;
}

static void destroy(struct weft_attachment *at)
{
	for (size_t i = 0; i < at->n_links; i++)
		close(at->links[i]);
	free(at->links);
	free(at);
}

static const struct {
	int code;
	const char *tag, *why;
} reasons[] = {
	{-EPERM, "FBT_DENIED", "it takes root, or CAP_BPF and CAP_PERFMON"},
	{-EACCES, "FBT_DENIED", "it takes root, or CAP_BPF and CAP_PERFMON"},
	{-ENOMEM, "NO_MEMORY", "out of memory"},
	{-EINVAL, "FBT_REFUSED", "the kernel cannot trace it (notrace, or too short)"},
	{-EADDRNOTAVAIL, "FBT_REFUSED", "the kernel has several functions of this name"},
	{-ENOENT, "FBT_REFUSED", "the kernel has no such function any more"},
	{-ESRCH, "FBT_REFUSED", "the kernel has no such function any more"},
	{-524, "FBT_REFUSED", "this kernel's fentry takes no function of so many arguments"},
	{-EBUSY, "FBT_REFUSED", "something else has changed its first instructions"},
};

static int fail_all(struct weft_instance *in, const struct weft_attach_request *request,
		    struct weft_error *err)
{
	struct weft_probe_desc d = {.struct_size = sizeof(d)};
	int code = request->status[0];

	in->host->probe_desc(weft_attach_probe_at(request, 0)->probe, &d);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].code == code)
			return in->host->fail(err, code, reasons[i].tag,
					      "%s%s cannot be attached: %s", d.function,
					      request->n_probes > 1 ? " and the others" : "",
					      reasons[i].why);
	return in->host->fail(err, code, "FBT_ATTACH", "%s%s cannot be attached: %s", d.function,
			      request->n_probes > 1 ? " and the others" : "", strerror(-code));
}

int weft_fbt_attach(struct weft_instance *in, const struct weft_attach_request *request,
		    struct weft_attachment **out, struct weft_error *err)
{
	static int (*const attach[])(struct weft_instance *, const struct weft_attach_request *,
				     struct weft_attachment *, struct weft_error *) = {
		[WEFT_FBT_KPROBE_MULTI] = weft_fbt_attach_multi,
		[WEFT_FBT_KPROBE] = weft_fbt_attach_kprobes,
		[WEFT_FBT_FENTRY] = weft_fbt_attach_tracing,
	};
	struct weft_attachment *at;
	int ret;

	weft_fbt_settle(in);
	if (in->mechanism == WEFT_FBT_NONE)
		return weft_fbt_fail_unsupported(in, err);
	if (!in->said_mechanism)
		in->host->log(in->host, WEFT_LOG_INFO, "mechanism: %s", weft_fbt_describe(in));
	in->said_mechanism = true;
	at = calloc(1, sizeof(*at));
	if (!at)
		return in->host->fail(err, -ENOMEM, "NO_MEMORY", "out of memory");
	at->mechanism = in->mechanism;
	ret = attach[in->mechanism](in, request, at, err);
	if (!ret && !at->n_links)
		ret = fail_all(in, request, err);
	if (ret) {
		destroy(at);
		return ret;
	}
	*out = at;
	return 0;
}

void weft_fbt_detach(struct weft_instance *in, struct weft_attachment *at)
{
	uint64_t missed = 0;
	bool said = true;

	/* fentry has no such limits: what it skips is counted by the program. */
	for (size_t i = 0; i < at->n_links && at->mechanism != WEFT_FBT_FENTRY; i++) {
		uint64_t of_this = 0;

		said &= weft_fbt_link_missed(at->links[i], &of_this);
		missed += of_this;
	}
	in->host->loss(in->host, "FBT_MISSED", missed,
		       "firings inside firings, and returns beyond the kernel's room for them");
	if (!said && !in->said_silent) {
		in->said_silent = true;
		in->host->log(in->host, WEFT_LOG_INFO,
			      "this kernel does not say which firings it suppressed (firings inside "
			      "firings, returns beyond its room for them): some may be missing");
	}
	destroy(at);
}
