/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One attach() of a provider whose probes are places in files: a copy of the program, what keeps
 * the events alive, and how the results of places become those of probes. A probe is attached if
 * one place of it is; what is lacking is said.
 */
#ifndef WEFT_SUPPORT_ATTACHMENT_H
#define WEFT_SUPPORT_ATTACHMENT_H

#include "support/uprobes.h"
#include "weft/provider.h"

struct support_places {
	struct support_place *at;
	size_t n, cap;
};
/* owner is the index of the probe. 0 or -ENOMEM. */
int support_places_add(struct support_places *list, const struct support_place *place);
void support_places_finish(struct support_places *list);

struct support_attachment {
	int prog_fd;
	uint32_t n_probes;
	const struct weft_probe **probes; /* in the order of the request */
	struct support_fds fds;
};
/* 0, or -errno with nothing to finish. */
int support_attachment_init(struct support_attachment *at,
			    const struct weft_attach_request *request);
void support_attachment_finish(struct support_attachment *at);

/* What an error of a place means, in the provider's words. */
struct support_reasons {
	const struct support_reason {
		int code;
		const char *tag, *text;
	} * rows;
	size_t n;
	const char *other; /* the tag of the rest */
};

/* Attaches the program to the places, and fills in what the request wants to know. Where no probe
 * is attached it fails with the first one's reason. The places are sorted. */
int support_attachment_make(struct support_attachment *at, const struct support_uprobes *u,
			    struct support_places *places, const struct weft_attach_request *request,
			    const struct support_reasons *why, struct weft_error *err);
/* Places that probes got since: those that cannot be had are said. */
void support_attachment_extend(struct support_attachment *at, const struct support_uprobes *u,
			       struct support_places *places, const struct support_reasons *why);

#endif
