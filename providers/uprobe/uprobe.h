/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the files of the uprobe provider share.
 *
 * A probe is a text: a module as it was written, a function, and entry, return or +0xOFF. Behind it
 * are sites: places in files. Mostly there is one; several where containers bring their own file of
 * that name, where a function's name is that of several functions, and where an indirect function
 * has several bodies. An event in the kernel belongs to a site, so one cookie may have many.
 */
#ifndef WEFT_UPROBE_H
#define WEFT_UPROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"
#include "support/attachment.h"
#include "weft/provider.h"

/* A name that can be asked for, in the order of strcmp, then of addresses. */
struct weft_uprobe_name {
	const char *text;
	uint32_t symbol;
};

/* A file that probes are in, known by what it is and not by where: it may have been replaced or
 * deleted since. The descriptor keeps it, and the kernel is shown it by that. */
struct weft_uprobe_file {
	struct weft_uprobe_file *next;
	uint64_t dev, ino;
	int fd;
	char *path; /* for people */
	char *root; /* "/proc/PID/root" of a process that sees it there; NULL: ours */
	const struct weft_elf *elf;
	bool go;
	struct weft_uprobe_name *names;
	size_t n_names;
	uint8_t *landings; /* landings.c: a bit for each byte of the executable segments */
	size_t n_landings;
	const struct weft_elf_function **types; /* types.c: of functions that were asked for */
	size_t n_types, cap_types;
};

/* Files that a module text stands for. */
struct weft_uprobe_files {
	struct weft_uprobe_file **at;
	size_t n, cap;
};

struct weft_uprobe_site {
	struct weft_uprobe_file *file;
	uint64_t address; /* of the function's first instruction, as linked */
	uint64_t offset;  /* of it in the file */
	uint64_t size;    /* of the function, bytes; 0: unknown */
	bool decided;     /* .cheap says what there is */
	struct weft_uprobe_place cheap;
	uint32_t begun;    /* bytes to where it has begun for good; 0: at once (returns.c) */
	uint32_t *returns; /* instructions by which it returns; NULL: the kernel's return probes do */
	size_t n_returns, cap_returns;
};

enum weft_uprobe_kind {
	WEFT_UPROBE_ENTRY = 0,
	WEFT_UPROBE_RETURN = 1,
	WEFT_UPROBE_OFFSET = 2, /* at .at of each function */
};

struct weft_uprobe_probe {
	struct weft_uprobe_probe *next;
	const struct weft_probe *registered;
	enum weft_uprobe_kind kind;
	uint64_t at;
	bool exact; /* the function was named, not matched */
	struct weft_uprobe_site *sites;
	size_t n_sites, cap_sites;
};

/* What was asked for, kept for files that appear later. */
struct weft_uprobe_wanted {
	struct weft_uprobe_wanted *next;
	char *module, *function, *name; /* fields of a pattern; or texts: */
	bool module_text, function_text, name_text;
};

/* A mapping that was announced and not yet looked at. */
struct weft_uprobe_mapping {
	int32_t pid;
	uint64_t address, length;
	uint64_t dev, ino;
	char *path;
};

struct weft_instance {
	const struct weft_host *host;
	const struct weft_params *params;
	struct support_uprobes uprobes;
	bool said; /* how, and what it costs whom */
	struct weft_uprobe_file *files;
	struct weft_uprobe_probe *probes;
	struct weft_uprobe_wanted *wanted;
	struct weft_attachment *attachments;
	/* late.c */
	int timer_fd;
	bool watching, looking;
	struct weft_uprobe_mapping *queue;
	size_t n_queue, cap_queue;
	struct weft_uprobe_seen {
		uint64_t dev, ino;
	} * seen; /* as the announcements name them, which need not be what stat() says */
	size_t n_seen, cap_seen;
	/* info.c: what the last probe_info() led to */
	struct weft_loc_op ops[WEFT_UPROBE_OPS];
	struct weft_arg args[WEFT_MAX_ARGS];
	char text[1024];
};

/* What a program looks at, for the choice of a place. */
struct weft_uprobe_use {
	bool cheap;     /* it may be another than the exact one */
	uint32_t needs; /* of arguments: WEFT_UPROBE_TOUCHES_* that must not be */
	uint32_t uses;  /* WEFT_USES_* */
};

/* One probe of an attachment, for sites that come later. */
struct weft_uprobe_attached {
	struct weft_uprobe_probe *probe;
	uint64_t cookie;
	struct weft_uprobe_use use;
	size_t n_sites; /* of probe->sites that were tried */
};

struct weft_attachment {
	struct weft_attachment *next;
	struct support_attachment made;
	struct weft_uprobe_attached *probes;
};

/* Makes room for one element more; 0 or -ENOMEM. */
int weft_uprobe_grow(void *array, size_t *capacity, size_t n, size_t size);

/* where.c: the files that a module text stands for, opened. Fails with UPROBE_NO_FILE (-ENOENT) and
 * others. exact: the text is no glob. */
int weft_uprobe_where(struct weft_instance *in, const char *module, bool exact,
		      struct weft_uprobe_files *out, struct weft_error *err);

/* files.c */
/* The file behind a descriptor, which is taken over in any case. NULL with a reason in err. */
struct weft_uprobe_file *weft_uprobe_file_take(struct weft_instance *in, int fd, const char *path,
					       const char *root, bool *known,
					       struct weft_error *err);
int weft_uprobe_files_add(struct weft_uprobe_files *list, struct weft_uprobe_file *file);
/* Symbols and names; fails with what the ELF reader says, or UPROBE_MACHINE. */
int weft_uprobe_file_read(struct weft_instance *in, struct weft_uprobe_file *file,
			  struct weft_error *err);
void weft_uprobe_file_destroy(struct weft_instance *in, struct weft_uprobe_file *file);
/* Up to n bytes of code at an address as linked; how many there were. */
size_t weft_uprobe_file_code(const struct weft_uprobe_file *file, uint64_t address, void *buf,
			     size_t n);

/* functions.c */
/* The functions that a text names, added to the probe. Fails with UPROBE_NO_FUNCTION,
 * UPROBE_ADDRESS or UPROBE_IFUNC. */
int weft_uprobe_named(struct weft_instance *in, struct weft_uprobe_file *file, const char *function,
		      struct weft_uprobe_probe *probe, struct weft_error *err);
/* What weft_uprobe_matching() asks of its caller. */
struct weft_uprobe_matcher {
	const char *pattern; /* of the function */
	/* Whether there is a probe of that function text already; NULL: no. */
	bool (*there)(void *arg, const char *function);
	/* Registers; non-zero ends the walk. */
	int (*add)(void *arg, struct weft_uprobe_file *file, const char *function);
	void *arg;
};
/* One text for each function that the pattern matches by any of its names. */
int weft_uprobe_matching(struct weft_instance *in, struct weft_uprobe_file *file,
			 const struct weft_uprobe_matcher *m);
/* Whether a symbol is a part of a function that was put elsewhere: jumped to, not called. */
bool weft_uprobe_is_part(const char *name);
/* Where an address lies in the file, if there is code; WEFT_ELF_NO_OFFSET. */
uint64_t weft_uprobe_code_offset(const struct weft_elf *elf, uint64_t address);
int weft_uprobe_site_add(struct weft_uprobe_probe *probe, const struct weft_uprobe_site *site);
/* The symbol of the function that begins there, or NULL. */
const struct weft_elf_symbol *weft_uprobe_function_at(const struct weft_uprobe_file *file,
						      uint64_t address);

/* ifunc.c: the bodies of an indirect function. */
int weft_uprobe_ifunc(struct weft_instance *in, struct weft_uprobe_file *file,
		      const struct weft_elf_symbol *symbol, struct weft_uprobe_probe *probe);

/* probes.c */
int weft_uprobe_provide(struct weft_instance *in, struct weft_registry *registry,
			const struct weft_probe_desc *desc, struct weft_error *err);
int weft_uprobe_populate_match(struct weft_instance *in, struct weft_registry *registry,
			       const struct weft_probe_desc *pattern, struct weft_error *err);
/* What a file that has appeared means for what is wanted: registers probes, adds sites. */
int weft_uprobe_appeared(struct weft_instance *in, struct weft_registry *registry,
			 const struct weft_uprobe_wanted *wanted, struct weft_uprobe_file *file,
			 struct weft_error *err);
/* Whether the module text means a file that is mapped under that path. */
bool weft_uprobe_means(struct weft_instance *in, const struct weft_uprobe_wanted *wanted,
		       const char *path);

/* placement.c */
/* Finds out whether a site has a cheaper place than its first instruction. */
void weft_uprobe_decide(struct weft_uprobe_site *site);
/* Where in the file the probe of a site goes, for a program of this use; WEFT_ELF_NO_OFFSET: no
 * place will do. */
uint64_t weft_uprobe_place(const struct weft_uprobe_probe *probe, struct weft_uprobe_site *site,
			   const struct weft_uprobe_use *use);
bool weft_uprobe_wants_cheap(struct weft_instance *in, const struct weft_params *with);
/* For `list -v`. */
const char *weft_uprobe_note(struct weft_instance *in, const struct weft_probe *probe,
			     const struct weft_params *with);
/* Whether any jump of the file goes into (from, to]; landings.c. */
int weft_uprobe_landings(struct weft_uprobe_file *file, uint64_t from, uint64_t to, bool *found);

/* returns.c: functions of Go programs, which move their stacks. */
/* Finds the instructions by which a function returns. Fails with UPROBE_GO_RETURN. */
int weft_uprobe_find_returns(struct weft_instance *in, struct weft_uprobe_site *site,
			     const char *function, struct weft_error *err);
/* Finds out where such a function has begun. */
void weft_uprobe_find_begun(struct weft_uprobe_site *site);
/* Forgets all sites of a probe but the first n. */
void weft_uprobe_sites_cut(struct weft_uprobe_probe *probe, size_t n);

/* types.c */
/* What is known of the probe's function, or NULL. */
const struct weft_elf_function *weft_uprobe_types(struct weft_instance *in,
						  const struct weft_uprobe_probe *probe);
/* What has to be untouched for arguments to be readable. */
uint32_t weft_uprobe_needs(struct weft_instance *in, const struct weft_uprobe_probe *probe,
			   uint64_t used_args);

/* info.c */
int weft_uprobe_probe_info(struct weft_instance *in, const struct weft_probe *probe,
			   const struct weft_params *with, struct weft_probe_info *out,
			   struct weft_error *err);

/* mechanism.c */
void weft_uprobe_settle_mechanism(struct weft_instance *in);
/* Whether the events are made for the target's processes only. */
bool weft_uprobe_filtered(struct weft_instance *in);
const char *weft_uprobe_describe(struct weft_instance *in);

/* attach.c */
int weft_uprobe_attach(struct weft_instance *in, const struct weft_attach_request *request,
		       struct weft_attachment **out, struct weft_error *err);
void weft_uprobe_detach(struct weft_instance *in, struct weft_attachment *at);
/* Attaches sites that the probe got since, wherever it is attached. */
void weft_uprobe_extend(struct weft_instance *in, struct weft_uprobe_probe *probe);
/* Attaches anew what processes of the target lost when a thread of theirs executed a program. */
void weft_uprobe_renew(struct weft_instance *in);

/* late.c */
/* Has mappings announced from now on where files can appear that matter, and looks at links now and
 * then where they can be lost. */
void weft_uprobe_watch(struct weft_instance *in);
int weft_uprobe_discover_fd(struct weft_instance *in);
int weft_uprobe_discover(struct weft_instance *in, struct weft_registry *registry,
			 struct weft_error *err);

#endif
