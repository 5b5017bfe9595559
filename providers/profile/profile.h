/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the files of the profile provider share. */
#ifndef WEFT_PROFILE_H
#define WEFT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rate.h"
#include "support/cpus.h"
#include "weft/provider.h"

struct weft_instance {
	const struct weft_host *host;
	struct weft_attachment *attachments; /* live ones, a list through .next */
	int uevent_fd;                       /* -1 until discover_fd() */
	char description[96];
};

/* One probe of an attachment. */
struct weft_profile_attached {
	struct weft_profile_rate rate;
	uint64_t cookie;
	const char *name; /* the registry's */
	int error;        /* -errno of the last event that could not be had */
	bool idle;        /* fires on idle CPUs too */
	bool too_fast;    /* refused by attach(): it has no events */
};

/* One event in the kernel. */
struct weft_profile_event {
	uint32_t probe; /* index of the attachment's probe */
	int cpu;
	int hold;   /* the descriptor that keeps event and program together */
	int enable; /* the event, while it is not enabled; else -1 */
};

/* An event that could not be had. */
struct weft_profile_failure {
	uint32_t probe;
	int cpu;
	int error;
};

struct weft_attachment {
	struct weft_attachment *next;
	int prog_fd; /* our own duplicate: CPUs may come long after attach() */
	struct weft_profile_attached *probes;
	size_t n_probes;
	struct weft_profile_event *events;
	size_t n_events, cap_events;
	struct weft_profile_failure *failures; /* of one call; empty between calls */
	size_t n_failures, cap_failures;
};

/* probes.c */
int weft_profile_populate(struct weft_instance *in, struct weft_registry *registry,
			  struct weft_error *err);
int weft_profile_provide(struct weft_instance *in, struct weft_registry *registry,
			 const struct weft_probe_desc *desc, struct weft_error *err);
int weft_profile_probe_info(struct weft_instance *in, const struct weft_probe *probe,
			    const struct weft_params *with, struct weft_probe_info *out,
			    struct weft_error *err);
void weft_profile_rate_of(const struct weft_host *host, const struct weft_probe *probe,
			  struct weft_profile_rate *out);

/* events.c */
int weft_profile_attach(struct weft_instance *in, const struct weft_attach_request *request,
			struct weft_attachment **out, struct weft_error *err);
void weft_profile_detach(struct weft_instance *in, struct weft_attachment *at);
/* Drops the events on CPUs of `gone` and on such as are not online; then puts every probe on the
 * CPUs where it should be and is not. */
void weft_profile_follow(struct weft_instance *in, struct weft_attachment *at,
			 const struct support_cpus *gone, const struct support_cpus *online);

/* hotplug.c */
int weft_profile_discover_fd(struct weft_instance *in);
int weft_profile_discover(struct weft_instance *in, struct weft_registry *registry,
			  struct weft_error *err);

#endif
