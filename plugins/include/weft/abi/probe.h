/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Part of weft/provider.h: what a program needs to know of a probe, and what attach() is asked. */
#ifndef WEFT_ABI_PROBE_H
#define WEFT_ABI_PROBE_H

#include "weft/abi/values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a program needs to know of a probe ----------------------------------------------- */

#define WEFT_LOAD_SLEEPABLE     1u /* the program may be loaded sleepable (BPF_F_SLEEPABLE) */
#define WEFT_LOAD_COOKIE        2u /* the context has an attach cookie */
#define WEFT_LOAD_ONE_PER_PROBE 4u /* the kernel links such a program to one probe only */

/* How the context pointer of the program is to be read. */
enum weft_ctx_kind {
	WEFT_CTX_NONE = 0,       /* nothing in it */
	WEFT_CTX_REGS = 1,       /* struct pt_regs (kprobe, uprobe) */
	WEFT_CTX_WORDS = 2,      /* an array of 64-bit words (raw tracepoint, fentry) */
	WEFT_CTX_RECORD = 3,     /* a struct of fields (tracepoint) */
	WEFT_CTX_PERF_EVENT = 4, /* struct bpf_perf_event_data: pt_regs, then period and address */
};

struct weft_load_class {
	uint32_t struct_size;
	uint32_t prog_type;            /* BPF_PROG_TYPE_* */
	uint32_t expected_attach_type; /* BPF_*; 0 for none */
	uint32_t flags;                /* WEFT_LOAD_* */
	uint32_t attach_btf_id;        /* 0 for none */
	int32_t attach_btf_fd;         /* BTF object of attach_btf_id; 0: vmlinux */
	uint32_t ctx_kind;             /* enum weft_ctx_kind */
	uint32_t ctx_size; /* bytes that may be read; 0: what the kind implies, for WORDS 0 */
	uint32_t most;     /* of a program for each probe: how many are enabled at most; 0: any */
	uint32_t reserved;
	uint64_t reserved_words[1];
};

enum weft_identity_kind {
	WEFT_IDENTITY_CONST = 0,  /* the program is compiled for this one probe */
	WEFT_IDENTITY_COOKIE = 1, /* the attach cookie */
	WEFT_IDENTITY_FIELD = 2, /* key[0] yields a value; this probe is the one whose .value it is;
				  * a firing whose value belongs to no enabled probe is none */
	WEFT_IDENTITY_MAP = 3, /* keys yield the key of a BPF map that the provider owns (a hash or
				* an array, of each CPU or not) and whose value begins with the u64
				* cookie; no element: not a firing */
};

#define WEFT_IDENTITY_MAX_KEYS 4u

struct weft_identity {
	uint32_t struct_size;
	uint32_t kind;   /* enum weft_identity_kind */
	uint64_t value;  /* FIELD */
	int32_t map_fd;  /* MAP: stays the provider's; valid until close() */
	uint32_t n_keys; /* FIELD: 1; MAP: 1..WEFT_IDENTITY_MAX_KEYS */
	uint32_t key_size[WEFT_IDENTITY_MAX_KEYS]; /* MAP: 4 or 8 bytes each, packed in order;
						    * 4-byte keys must keep 8-byte ones aligned */
	struct weft_location key[WEFT_IDENTITY_MAX_KEYS]; /* an absent location stands for the tgid */
	uint64_t reserved_words[2];
};

/* Whom the event that attach() makes fires for. */
enum weft_scope {
	WEFT_SCOPE_NONE = 0,   /* everyone: the core checks its set of target processes */
	WEFT_SCOPE_COARSE = 1, /* the targets and perhaps more: the core checks too */
	WEFT_SCOPE_EXACT = 2,  /* only the targets, or the probe is not about processes (a timer) */
};

enum weft_pairing_role {
	WEFT_PAIRING_NONE = 0,
	WEFT_PAIRING_ENTRY = 1,
	WEFT_PAIRING_RETURN = 2,
};

/* Entry and return of one activation. Frames are matched by frame identity, the stack pointer at
 * the moment of the call; a constant where activations of a thread cannot nest (a system call). */
struct weft_pairing {
	uint32_t struct_size;
	uint32_t role;                /* enum weft_pairing_role */
	struct weft_probe_desc entry; /* RETURN: the probe that fires at its entry */
	struct weft_location frame;
	uint64_t reserved_words[2];
};

/* A probe that fires by the clock: every period_ns on each CPU that it is attached on, in a context
 * that nothing of its own interrupts. `due` yields the time at which the firing was due, in ns; of
 * two firings on a CPU it differs by a multiple of the period. The core counts the times that were
 * due and brought no firing as FIRINGS_MISSED. `done` of the attach request is then the number of
 * CPUs. Where the running kernel has none of the members that `due` names, nothing is counted. */
struct weft_schedule {
	uint32_t struct_size;
	uint32_t reserved;
	uint64_t period_ns; /* 0: the probe does not fire by the clock */
	struct weft_location due;
	uint64_t reserved_words[2];
};

/* What probe_info() says. The core copies all of it before it calls the plugin again, so pointers
 * may lead into storage that the next call of probe_info() reuses. */
struct weft_probe_info {
	uint32_t struct_size; /* set by the core: its own sizeof; the plugin writes no further */
	uint32_t scope;       /* enum weft_scope */
	struct weft_load_class load;
	const struct weft_arg *args;
	uint32_t n_args;
	uint32_t arg_size;          /* sizeof(struct weft_arg) as the plugin saw it */
	struct weft_location guard; /* yields 0: the firing is not this provider's and is ignored */
	struct weft_identity identity;
	struct weft_pairing pairing;
	struct weft_arg_type retval_type; /* with RETVAL below; kind 0: no return value */
	struct weft_location retval;
	const char *prototype; /* for `list -v`, or NULL */
	struct weft_schedule schedule;
	/* Where sites of the probe differ in their arguments: a layout for each kind of site. args is
	 * then not looked at. attach() is given each layout by its index. Not for probes of a pair. */
	const struct weft_layout *layouts;
	uint32_t n_layouts;
	uint32_t layout_size; /* sizeof(struct weft_layout) as the plugin saw it */
	/* Set by the core: nobody is going to use arguments, value returned and prototype of this
	 * probe. They may be left out, and should be where they take time or set probes apart that
	 * are alike otherwise. Everything else must be the same either way. */
	uint32_t brief;
	uint32_t reserved;
};

/* ---- attaching ----------------------------------------------------------------------------- */

/* What else a program looks at beside arguments. */
#define WEFT_USES_REGS   1u /* all registers of the context, as they are */
#define WEFT_USES_USTACK 2u /* the user stack */
#define WEFT_USES_MEMORY 4u /* the process's memory */
#define WEFT_USES_FRAME  8u /* the frame identity of a pairing */

struct weft_attach_probe {
	const struct weft_probe *probe;
	uint64_t cookie;
	const struct weft_params *with; /* the probe's own options; never NULL */
	/* What the program asks of this probe. A provider that may choose among places can take one
	 * where nothing else holds any more. Where probe_size does not cover them: everything. */
	uint64_t used_args; /* bit i: argument i */
	uint32_t uses;      /* WEFT_USES_* */
	/* Of a probe with layouts: the one whose sites this is about. The same probe may be there
	 * again for its other layouts, with other cookies, or come with another program. */
	uint32_t layout;
};

/* The target of the session: the processes it is about. */
struct weft_target {
	uint32_t struct_size;
	uint32_t follow;     /* not 0: and all that they start */
	const int32_t *pids; /* in the tracer's pid namespace; a -c command's among them */
	uint32_t n_pids;     /* 0: the whole system */
	uint32_t reserved;
	/* What a -c command will run, NULL-terminated, or NULL. It is known from open() on; the
	 * command's pid is among pids from attach() on. command[0] is as execvp() takes it. */
	const char *const *command;
};

struct weft_attach_request {
	uint32_t struct_size;
	int32_t prog_fd; /* stays the core's; dup it to use it after attach() */
	const struct weft_attach_probe *probes; /* an array with stride probe_size */
	uint32_t n_probes;
	uint32_t probe_size;
	/* The plugin writes 0 or -errno for each probe; preset to 0. With an error returned and
	 * every status set, it is these probes that were refused and not the session: others of
	 * the same clauses are traced without them. */
	int32_t *status;
	/* How complete the attachment is, for the report "attached on 7 of 8 CPUs": written by the
	 * plugin where it has something to say, preset to 0 and NULL. unit is static text. */
	uint32_t *done, *total;
	const char **unit;
};

static inline const struct weft_attach_probe *weft_attach_probe_at(
	const struct weft_attach_request *request, uint32_t i)
{
	return (const struct weft_attach_probe *)((const char *)request->probes +
						  (size_t)i * request->probe_size);
}

#ifdef __cplusplus
}
#endif

#endif
