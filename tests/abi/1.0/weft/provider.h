/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * weft/provider.h: the boundary between weft's core and a provider plugin.
 *
 * A provider knows one kind of probe: where such probes are, how the kernel is asked for the event,
 * where the values lie when it fires. It knows nothing of clauses, of BPF code or of output. The
 * core knows those and no kind of probe. Everything they say to each other is in this file and
 * those that it includes, which need no other header of weft's and no library:
 *
 *   weft/provider.h     what the core does for a provider, and the provider itself
 *   weft/abi/basics.h   versions, handles, descriptions of probes, options
 *   weft/abi/values.h   arguments: where values lie, and their types
 *   weft/abi/probe.h    what a program needs to know of a probe; attaching
 *   weft/abi/kernel.h   process events and the kernel's types
 *   weft/abi/elf.h      ELF files
 *
 * Include this one: how the rest is distributed may change.
 *
 * Rules that hold for every struct of them:
 *
 *  - The first member is struct_size, the sizeof of the struct as its *writer* was compiled. The
 *    reader reads a member only if struct_size covers it, and takes a missing member as zero. The
 *    elements of an array have no struct_size where their size, the stride, stands beside it.
 *  - Structs are append-only: members are added at the end, never moved, resized or removed. None
 *    has padding, in the middle or at its end, where a member could hide from struct_size. A
 *    struct that lies inside another cannot grow there: it has reserved words at its end instead,
 *    which are zero until they are given a meaning, and its struct_size may be left zero.
 *  - Enumerators and flags are added too. A plugin passes over a kind of thing that it does not
 *    know; the core refuses what a plugin says and it does not know.
 *  - Handles (struct weft_registry, weft_probe, weft_params, weft_error) are opaque; reach into
 *    them with the functions of struct weft_host.
 *  - Functions return 0 or a negative errno. Before returning an error they describe it with
 *    host->fail(); an error without a description is reported as the plugin's defect.
 *  - Every slot is called on one thread, one call at a time. The functions of struct weft_host are
 *    for that thread while a slot, or a callback, is being called; elsewhere they refuse.
 *  - No exception, longjmp or end of the thread may leave a slot.
 *  - A pointer handed to a function is valid until the function returns, unless said otherwise.
 *    What is const is not written to.
 *
 * plugins/ABI.md tells the same as a story, with the rule for versions.
 */
#ifndef WEFT_PROVIDER_H
#define WEFT_PROVIDER_H

#include "weft/abi/basics.h"
#include "weft/abi/elf.h"
#include "weft/abi/kernel.h"
#include "weft/abi/probe.h"
#include "weft/abi/values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what the core does for a provider ------------------------------------------------------ */

/* Levels of log(). */
enum weft_log_level {
	WEFT_LOG_DEBUG = 0,
	WEFT_LOG_INFO = 1,    /* shown with -v */
	WEFT_LOG_WARNING = 2, /* always shown */
};

struct weft_host {
	uint32_t struct_size;
	uint32_t abi_version;
	void *core; /* the core's; not for plugins */

	/* Errors. fail() records a reason with a stable tag (SHOUTING_SNAKE) and returns code, so
	 * that `return host->fail(err, -EINVAL, "PROFILE_RATE_ZERO", "...", ...)` reads well.
	 * context() adds what the caller was doing to the reason that a callee left. */
	int (*fail)(struct weft_error *, int code, const char *tag, const char *format, ...)
		__attribute__((format(printf, 4, 5)));
	void (*context)(struct weft_error *, const char *format, ...)
		__attribute__((format(printf, 2, 3)));
	void (*log)(const struct weft_host *, uint32_t level, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

	/* The registry. probe_add() copies the description's module, function and name; the
	 * provider is the caller's own. data is the provider's to use. -EEXIST: already there (its
	 * data stays); *out, where wanted, is set to the probe in both cases. */
	int (*probe_add)(struct weft_registry *, const struct weft_probe_desc *, uint64_t data,
			 const struct weft_probe **out, struct weft_error *);
	const struct weft_probe *(*probe_find)(struct weft_registry *,
					       const struct weft_probe_desc *);
	void (*probe_retire)(struct weft_registry *, const struct weft_probe *);
	uint64_t (*probe_data)(const struct weft_probe *);
	/* Fills in borrowed strings that live as long as the registry. */
	void (*probe_desc)(const struct weft_probe *, struct weft_probe_desc *out);

	/* Options: the value given, else the default. The name must be in the provider's table.
	 * *_is_set() tells whether there is either. Strings are borrowed and live as long as params. */
	int (*param_is_set)(const struct weft_params *, const char *name);
	int64_t (*param_int)(const struct weft_params *,
			     const char *name); /* BOOL, INT, DURATION, SIZE */
	const char *(*param_string)(const struct weft_params *, const char *name); /* STRING, ENUM */

	/* The session's target; lives until close(). */
	const struct weft_target *(*target)(const struct weft_host *);

	/* Events that were lost: counted under tag, reported at the end, exit status 3. */
	void (*loss)(const struct weft_host *, const char *tag, uint64_t count, const char *detail);

	/* An empty program (`return 0`) of the class given, to try an attachment with. A file
	 * descriptor that the caller closes, or -errno. */
	int (*trial_program)(const struct weft_host *, const struct weft_load_class *,
			     struct weft_error *);

	/* Asks for process events from now until close(). Called between slots, on the same thread,
	 * in time order; events lost are counted by the core under PROCESS_EVENTS_LOST. */
	int (*watch_processes)(const struct weft_host *,
			       void (*event)(struct weft_instance *,
					     const struct weft_process_event *),
			       struct weft_instance *, struct weft_error *);

	/* Whether a field of a pattern, which may be a glob, matches a whole text; an empty one
	 * matches any. */
	int (*field_match)(const char *field, const char *text);

	/* Types of the kernel, by name. module NULL, "" or "vmlinux": the kernel's own; a module's
	 * name: what that module adds. Needs no privilege where /sys/kernel/btf can be read. The
	 * first question costs what opening the type information costs, about a millisecond.
	 * -ENOENT, with the reason: no such function or type (BTF_NOT_FOUND), several functions of
	 * that name (BTF_AMBIGUOUS), no such module (BTF_MODULE), a kernel without (BTF_MISSING).
	 * err may be NULL where the reason does not matter. */
	int (*kernel_function)(const struct weft_host *, const char *module, const char *name,
			       struct weft_func_info *out, struct weft_error *);
	int (*kernel_type)(const struct weft_host *, const char *module, const char *name,
			   uint32_t kind, struct weft_type_info *out, struct weft_error *);
	/* The same for a type that is known by number: a function, its prototype, or a pointer or
	 * typedef that leads to one ("btf_trace_NAME", whose first parameter is the tracepoint's own). */
	int (*function_type)(const struct weft_host *, int32_t btf_fd, uint32_t btf_id,
			     struct weft_func_info *out, struct weft_error *);

	/* ELF files. elf_read() parses an open file in a locked child process and hands out what
	 * `want` asks for; nothing is invented: a file that cannot be read whole is an error
	 * (ELF_*), and costs nothing but itself. *out lives until elf_release(), which accepts
	 * NULL. A file that was read before and did not change may be answered from memory. */
	int (*elf_read)(const struct weft_host *, const struct weft_elf_request *,
			const struct weft_elf **out, struct weft_error *);
	void (*elf_release)(const struct weft_host *, const struct weft_elf *);

	/* Types of functions, many at a time, since each call costs a process: addresses are those
	 * of function symbols, fd is the same file. *out is an array of n with stride
	 * out[0]->struct_size (the order of addresses), and lives until the elf is released. BTF
	 * types in it belong to one BTF object whose descriptor the core keeps open as long. No
	 * debugging information at all is no error: every status is then -ENOENT. */
	int (*elf_functions)(const struct weft_host *, const struct weft_elf *,
			     const struct weft_elf_request *, const uint64_t *addresses, uint32_t n,
			     const struct weft_elf_function **out, struct weft_error *);

	/* The offsets of members of kernel structs, in bytes, for programs of the provider's own;
	 * paths as in WEFT_LOC_MEMBER. All are found in one pass over the running kernel's type
	 * information, which takes milliseconds. Fails if one is missing. */
	int (*kernel_members)(const struct weft_host *, const char *const *paths, size_t n,
			      uint32_t *offsets, struct weft_error *);

	/* Calls fn with the name of each function of which the kernel, or a module, has the type; a
	 * result other than 0 ends that and is returned. -ENOENT as above. */
	int (*kernel_functions)(const struct weft_host *, const char *module,
				int (*fn)(void *arg, const char *name), void *arg,
				struct weft_error *);

	/* A probe with layouts has more of them than probe_info() said. Called from discover(); the
	 * core asks probe_info() again, which gives those that there were, as they were, and the
	 * new ones after them, and attaches the new ones. -ENOMEM. */
	int (*probe_extended)(struct weft_registry *, const struct weft_probe *);
};

/* ---- the provider --------------------------------------------------------------------------- */

struct weft_provider {
	/* These two are frozen for ever. */
	uint32_t struct_size; /* sizeof(struct weft_provider) */
	uint32_t abi_version; /* WEFT_ABI_CURRENT */

	const char *name;    /* the first field of a probe description: [a-z][a-z0-9-]{0,31} */
	const char *summary; /* one line */
	const struct weft_option_spec *const *options; /* NULL-terminated; NULL: none */

	/* Required. Once per session, before any other slot. Learns what this kernel can do by trying
	 * and settles the mechanisms; must not fail for lack of privilege (check and list run without):
	 * that is attach()'s to say. host lives until close(); params until close(). */
	int (*open)(const struct weft_host *, const struct weft_params *,
		    struct weft_instance **out, struct weft_error *);

	/* Required. Last; after every attachment was detached. Must release everything. */
	void (*close)(struct weft_instance *);

	/* Optional. Registers the probes that exist of themselves. Creates nothing in the kernel.
	 * Called at most once, only if a pattern needs it. */
	int (*populate)(struct weft_instance *, struct weft_registry *, struct weft_error *);

	/* Optional. Asked for a description without globs that nobody registered: registers it if
	 * it makes sense, else fails with the reason. Creates nothing in the kernel. */
	int (*provide)(struct weft_instance *, struct weft_registry *,
		       const struct weft_probe_desc *, struct weft_error *);

	/* Required. Says what a program for this probe needs. Creates nothing in the kernel. out is
	 * zeroed but for out->struct_size. */
	int (*probe_info)(struct weft_instance *, const struct weft_probe *,
			  const struct weft_params *with, struct weft_probe_info *out,
			  struct weft_error *);

	/* Required. Creates the kernel's events and attaches the program to a batch of probes. All
	 * that it made is owned by *out until detach(). Returns 0 if at least one probe was
	 * attached, with request->status saying which; an error means that nothing stays behind. */
	int (*attach)(struct weft_instance *, const struct weft_attach_request *,
		      struct weft_attachment **out, struct weft_error *);

	/* Required. Undoes one attach(); cannot fail. After it no program of that attachment starts. */
	void (*detach)(struct weft_instance *, struct weft_attachment *);

	/* Optional, both or neither. A descriptor that becomes readable when probes may have come
	 * or gone; it stays the provider's. Or -errno if there is nothing to watch. */
	int (*discover_fd)(struct weft_instance *);
	/* Reads it without blocking; registers and retires probes; may extend its own attachments. */
	int (*discover)(struct weft_instance *, struct weft_registry *, struct weft_error *);

	/* Optional. One line for `trace-cli info`: the mechanism in use, and why not another.
	 * Borrowed, valid until the next call. */
	const char *(*describe)(struct weft_instance *);

	/* Optional. Takes the place of populate() where it is too much to register all that exist: it
	 * is called for each pattern that needs more than provide() and registers the probes that
	 * match it. The fields of the pattern are as the user wrote them: globs with their escapes,
	 * "" for any. May fail with the reason why there is none, or none that could be meant; patterns
	 * are then matched with what there is. Creates nothing in the kernel. */
	int (*populate_match)(struct weft_instance *, struct weft_registry *,
			      const struct weft_probe_desc *pattern, struct weft_error *);

	/* Optional. One line for `list -v` about this probe alone: where it is, and how. NULL:
	 * there is nothing to say. Borrowed, valid until the next call. */
	const char *(*probe_note)(struct weft_instance *, const struct weft_probe *,
				  const struct weft_params *with);

	const struct weft_capability_spec *const *capabilities; /* NULL-terminated; NULL: none */
};

#ifdef __cplusplus
}
#endif

#endif
