/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* syscall: what its files share. */
#ifndef WEFT_SYSCALL_H
#define WEFT_SYSCALL_H

#include "tracepoint/format.h"
#include "weft/provider.h"

#define SYSCALL_MOST_ARGS 6

/* A system call of the architecture, as its table of calls has it. */
struct syscall_call {
	int number;         /* -1: not known here, found among the kernel's events */
	const char *name;   /* by which programs and strace(1) know it */
	const char *kernel; /* of its function and event in the kernel; NULL: the same */
};

/* arch_*.c: one of them has something in it. */
struct syscall_arch {
	const struct syscall_call *calls; /* ascending numbers */
	size_t n_calls;
	/* Locations in the program on the raw tracepoint sys_exit, resp. either: the call's number,
	 * and whether its caller uses this table (not zero) and not that of 32-bit programs. */
	struct weft_location exit_number, native;
};
extern const struct syscall_arch syscall_arch;

/* What serves a probe. RAW: one program on what all calls pass. */
enum syscall_mechanism { SYSCALL_RECORD, SYSCALL_RAW };

struct weft_instance {
	const struct weft_host *host;
	int events;         /* the folder "events" of tracefs; negative: the errno of why not */
	bool hidden_mount;  /* it is mounted for us alone */
	const char **names; /* of all calls; those beyond the table's are ours to free */
	size_t n_names;
	size_t n_records; /* probes that were registered to be served so */
	/* Of the last probe_info. */
	struct tracepoint_format format;
	struct weft_arg args[SYSCALL_MOST_ARGS];
	struct weft_loc_op ops[SYSCALL_MOST_ARGS][2];
	char prototype[1024];
	char note[160];
};

/* One probe: which call, which side of it. */
struct syscall_probe {
	struct syscall_call call;
	bool leaves;
	bool looked; /* for the kernel's description */
	int why_not; /* -ENOENT: there is none, and most likely no such call; or tracefs is closed */
	enum syscall_mechanism mechanism;
};

/* calls.c */
const struct syscall_call *syscall_by_name(const char *name);
const struct syscall_call *syscall_by_kernel_name(const char *name);
const char *syscall_kernel_name(const struct syscall_call *call);
/* Names of the table's calls, then of those that only the kernel's events tell of. 0 or -ENOMEM. */
int syscall_list(struct weft_instance *in);
void syscall_unlist(struct weft_instance *in);
/* Why tracefs cannot be read; -ENODEV and the like where it can be had in no way. */
int syscall_no_events(struct weft_instance *in, int code, struct weft_error *err);

/* probe.c */
/* What serves this probe with these options. Fails where the mechanism asked for cannot. */
int syscall_probe_of(struct weft_instance *in, const struct weft_probe *probe,
		     const struct weft_params *with, struct syscall_probe *out,
		     struct weft_error *err);
int syscall_probe_info(struct weft_instance *in, const struct weft_probe *probe,
		       const struct weft_params *with, struct weft_probe_info *out,
		       struct weft_error *err);
const char *syscall_probe_note(struct weft_instance *in, const struct weft_probe *probe,
			       const struct weft_params *with);

/* args.c */
/* in->args and in->prototype from in->format, or of registers where there is none. Their number. */
uint32_t syscall_args(struct weft_instance *in, const struct syscall_probe *p);

/* attach.c */
int syscall_attach(struct weft_instance *in, const struct weft_attach_request *request,
		   struct weft_attachment **out, struct weft_error *err);
void syscall_detach(struct weft_instance *in, struct weft_attachment *at);

#endif
