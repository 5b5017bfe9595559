/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Events at places in files: uprobes, for the providers that know such places. The kernel is asked
 * in one of two ways: a link on many places (uprobe_multi, Linux 6.6), or a perf event for each.
 */
#ifndef WEFT_SUPPORT_UPROBES_H
#define WEFT_SUPPORT_UPROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft/provider.h"

enum support_uprobe_way {
	SUPPORT_UPROBE_UNKNOWN = 0,
	SUPPORT_UPROBE_LINKS,
	SUPPORT_UPROBE_EVENTS,
};

/* Capabilities that such a provider can use; NULL ends them. */
extern const struct weft_capability_spec *const support_uprobe_capabilities[];

/* What this kernel can, found out by trying. */
struct support_uprobes {
	const struct weft_host *host;
	enum support_uprobe_way way;
	bool pid_filter; /* events may be for one process alone (links: right since 6.10) */
	uint64_t perf_type;
	int32_t only; /* of the target's processes; 0: all */
};

/* Tries once; later calls do nothing. events_only: links are not to be used. */
void support_uprobes_settle(struct support_uprobes *u, const struct weft_host *host,
			    bool events_only);
/* Whether events are made for the target's processes only, or mostly: what shares memory with one
 * (a child of vfork) fires too, and so does everybody where each of several processes would take an
 * event of its own. So the core has to look as well. */
bool support_uprobes_filtered(const struct support_uprobes *u);
/* The class of programs for them. */
void support_uprobes_class(const struct support_uprobes *u, struct weft_load_class *out);

struct support_place {
	int fd;             /* the file */
	uint64_t offset;    /* in it, of the instruction */
	uint64_t semaphore; /* in it, of a counter of 16 bits that the kernel keeps; 0: none */
	uint64_t cookie;
	uint32_t owner; /* the caller's */
	bool is_return;
	int error; /* set: 0, or why there is no event at this place: EOPNOTSUPP is the
		    * instruction's fault, ENODEV that of a kernel without uprobes. A place that
		    * comes with an error is left alone */
};

/* Descriptors that keep events alive, each with the process that it is for; 0: everyone. */
struct support_fds {
	struct support_fd {
		int fd;
		int32_t pid;
	} * at;
	size_t n, cap;
};

/* Attaches the program to each place; each has its own result. Sorts the places. -ENOMEM: nothing
 * was done. */
int support_uprobes_attach(const struct support_uprobes *u, int prog_fd,
			   struct support_place *places, size_t n, struct support_fds *out);
void support_fds_close(struct support_fds *fds);

/*
 * A link for a process is one for its first thread. Where another thread executes a program, that
 * one becomes the first, and the link is for nobody: whether that happened to a process, *pid. Its
 * links are closed.
 */
bool support_fds_lost(const struct support_uprobes *u, struct support_fds *fds, int32_t *pid);

#endif
