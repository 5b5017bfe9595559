/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the files of the fbt provider share. */
#ifndef WEFT_FBT_H
#define WEFT_FBT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols.h"
#include "weft/provider.h"

enum weft_fbt_mechanism {
	WEFT_FBT_NONE,
	WEFT_FBT_KPROBE_MULTI,
	WEFT_FBT_KPROBE,
	WEFT_FBT_FENTRY,
	WEFT_FBT_N_MECHANISMS,
};
extern const char *const weft_fbt_mechanism_names[WEFT_FBT_N_MECHANISMS];

/* What trying a mechanism gave. */
enum weft_fbt_verdict {
	WEFT_FBT_UNTRIED,
	WEFT_FBT_WORKS,
	WEFT_FBT_DENIED, /* for want of privilege: says nothing of the kernel */
	WEFT_FBT_FAILS,
};

/* A function. Probes refer to it by its number: data = number << 1 | is return. */
struct weft_fbt_function {
	uint64_t address; /* where it begins; 0: not known, the kernel is asked by name */
	uint32_t name;    /* offsets in the pool; the name is the kernel's, without "@" */
	uint32_t module;
	uint32_t nth;  /* several of this name in the module: which of them, from 1; else 0 */
	uint32_t next; /* the next of this name and module + 1; else 0 */
	bool listed;   /* it is one of those that can be traced, as far as is known */
};

/* The stretches of the kernel's code that no probe may go into. */
struct weft_fbt_range {
	uint64_t start, end;
	const char *why;
};

struct weft_fbt_ranges {
	struct weft_fbt_range *all; /* sorted by start after weft_fbt_ranges_settle() */
	size_t n, cap;
	uint64_t mark[32]; /* the places of the symbols that bound sections */
};

struct weft_fbt_pool {
	char *text;
	size_t size, cap;
};

#define WEFT_FBT_ARGS_MOST 32u

struct weft_instance {
	const struct weft_host *host;
	const struct weft_params *params;
	struct weft_fbt_pool pool;
	struct weft_fbt_function *functions;
	size_t n_functions, cap_functions;
	bool all; /* all functions of the kernel are there */

	bool settled; /* the mechanism is */
	bool said_mechanism;
	bool said_silent; /* that the kernel does not tell what it suppresses */
	enum weft_fbt_mechanism mechanism;
	enum weft_fbt_verdict verdict[WEFT_FBT_N_MECHANISMS];
	int verdict_code[WEFT_FBT_N_MECHANISMS]; /* -errno */
	char description[512];
	struct weft_arg args[WEFT_FBT_ARGS_MOST]; /* of the last probe_info() */
	struct weft_loc_op ops[WEFT_FBT_ARGS_MOST][4];
	uint32_t n_args;
};

/* functions.c */
int weft_fbt_pool_add(struct weft_fbt_pool *pool, const char *text, size_t length, uint32_t *at);
int weft_fbt_populate_match(struct weft_instance *in, struct weft_registry *registry,
			    const struct weft_probe_desc *pattern, struct weft_error *err);
/* Registers the probes of a function, or only the one named so; name "" or NULL: both. */
int weft_fbt_register(struct weft_instance *in, struct weft_registry *registry, uint32_t function,
		      const char *name, struct weft_error *err);
/* Adds a function, unless it is known; *out is its number. */
int weft_fbt_add_function(struct weft_instance *in, const char *name, const char *module,
			  uint64_t address, uint32_t nth, uint32_t *out);
const char *weft_fbt_text(const struct weft_instance *in, uint32_t at);
struct weft_fbt_function *weft_fbt_function_of(struct weft_instance *in,
					       const struct weft_probe *probe, bool *is_return);

/* provide.c */
int weft_fbt_provide(struct weft_instance *in, struct weft_registry *registry,
		     const struct weft_probe_desc *desc, struct weft_error *err);

/* safety.c: why a function is not to be traced, or NULL. */
const char *weft_fbt_unsafe(const char *name);
const char *weft_fbt_never_returns(const char *name);
/* The table, for documentation: entry i, or false. */
bool weft_fbt_unsafe_row(size_t i, const char **pattern, const char **why);
/* Whether it is a piece of a function that nobody calls (gcc's .cold). */
bool weft_fbt_is_fragment(const char *name);
/* Notes a symbol that bounds a section. */
void weft_fbt_ranges_mark(struct weft_fbt_ranges *r, const struct weft_fbt_symbol *symbol);
/* All symbols seen: the sections, and the kernel's own list. -ENOMEM. */
int weft_fbt_ranges_settle(struct weft_fbt_ranges *r);
/* Why no probe may go to this address, or NULL. */
const char *weft_fbt_ranges_find(const struct weft_fbt_ranges *r, uint64_t address);
bool weft_fbt_is_init(const struct weft_fbt_ranges *r, uint64_t address);
void weft_fbt_ranges_finish(struct weft_fbt_ranges *r);

/* mechanism.c */
void weft_fbt_settle(struct weft_instance *in);
const char *weft_fbt_describe(struct weft_instance *in);
/* The BTF id of a function, for fentry, into load->attach_btf_*. -ENOENT: it has none. */
int weft_fbt_fentry_target(struct weft_instance *in, const char *function, const char *module,
			   struct weft_load_class *load);
/* Says why nothing can be attached. */
int weft_fbt_fail_unsupported(struct weft_instance *in, struct weft_error *err);

/* info.c */
int weft_fbt_probe_info(struct weft_instance *in, const struct weft_probe *probe,
			const struct weft_params *with, struct weft_probe_info *out,
			struct weft_error *err);
void weft_fbt_load_class(enum weft_fbt_mechanism mechanism, bool is_return,
			 struct weft_load_class *out);

/* arch_*.c: where a frame's identity lies: the address of the return address at the moment of the call. */
extern const struct weft_location weft_fbt_frame_entry, weft_fbt_frame_return;
extern const uint32_t weft_fbt_reg_args; /* integer arguments that are passed in registers */
extern const struct weft_loc_op weft_fbt_stack_pointer;
extern const int64_t
	weft_fbt_stack_args; /* at the entry, from the stack pointer to those on the stack */

/* arguments.c: fills in->args; words: the context is an array of words. Returns how many registers,
 * or words, arguments take. */
uint32_t weft_fbt_arguments(struct weft_instance *in, const struct weft_func_info *info, bool words);
/* The value returned; word: where in the context, or -1 for the register. */
void weft_fbt_retval(struct weft_instance *in, const struct weft_func_info *info, int word,
		     struct weft_probe_info *out);

/* attach.c */
struct weft_attachment {
	enum weft_fbt_mechanism mechanism;
	bool is_return;
	int *links; /* -1: none */
	size_t n_links, cap_links;
};
int weft_fbt_attach(struct weft_instance *in, const struct weft_attach_request *request,
		    struct weft_attachment **out, struct weft_error *err);
void weft_fbt_detach(struct weft_instance *in, struct weft_attachment *at);
/* Takes a link over; closes it where it cannot. */
int weft_fbt_keep(struct weft_attachment *at, int link);
/* attach_kprobe.c, attach_multi.c, attach_tracing.c: attach what can be, write status. 0, or an
 * error that concerns all of them and was described. */
int weft_fbt_attach_kprobes(struct weft_instance *in, const struct weft_attach_request *request,
			    struct weft_attachment *at, struct weft_error *err);
int weft_fbt_attach_multi(struct weft_instance *in, const struct weft_attach_request *request,
			  struct weft_attachment *at, struct weft_error *err);
int weft_fbt_attach_tracing(struct weft_instance *in, const struct weft_attach_request *request,
			    struct weft_attachment *at, struct weft_error *err);
/* One kprobe on a function of the kernel. The link, or -errno. */
int weft_fbt_kprobe(int prog_fd, const char *symbol, uint64_t address, bool is_return,
		    uint64_t cookie);

/* misses.c: what the kernel says it suppressed at this link; false: it does not say. */
bool weft_fbt_link_missed(int link_fd, uint64_t *missed);

#endif
