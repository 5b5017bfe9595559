/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the files of the usdt provider share.
 *
 * A probe is a text: a module as it was written, a USDT provider and a name. Behind it are sites:
 * notes of files, of which a record holds those of one name side by side, so that a probe is a few
 * runs of notes. Nothing of a site is worked out before somebody asks for it: of fifty thousand
 * probes that are listed, few are enabled.
 */
#ifndef WEFT_USDT_PROVIDER_H
#define WEFT_USDT_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/attachment.h"
#include "usdt/operands.h"
#include "usdt/record.h"
#include "usdt/stash.h"
#include "weft/provider.h"

/* A file that was looked at, known by what it is and not by where. */
struct weft_usdt_file {
	struct weft_usdt_file *next, *in_bucket;
	struct weft_usdt_key key;
	struct weft_usdt_record *record; /* NULL: it could not be read */
	char *path;                      /* for people, and to open it by */
	int fd;                          /* -1: it can be opened by its path again */
};

struct weft_usdt_run {
	struct weft_usdt_file *file;
	uint32_t first, count; /* notes of the record */
};

struct weft_usdt_probe {
	struct weft_usdt_probe *next;
	const struct weft_probe *registered;
	struct weft_usdt_run *runs;
	uint32_t n_runs;
	uint32_t n_sites; /* of all runs */
	/* info.c: the layout of each site, in the order of the runs; and those that are known. */
	uint32_t *layout_of;
	uint32_t n_placed; /* sites that have one */
	struct weft_usdt_place *layouts;
	uint32_t n_layouts;
	uint32_t n_told; /* layouts that came late and are accounted for */
};

/* What the sites of a layout have in common. */
struct weft_usdt_place {
	struct weft_usdt_operand *args; /* one block with their operations */
	uint32_t n_args;
	uint32_t n_sites;
	uint64_t hash;
	const char *text; /* of the first site, in its record */
	bool attached;
};

/* What was asked for, kept for files that appear later. */
struct weft_usdt_wanted {
	struct weft_usdt_wanted *next;
	char *module, *function, *name;
	bool exact;   /* texts, not patterns */
	bool literal; /* the module is a text */
};

/* A mapping that was announced and not yet looked at. */
struct weft_usdt_mapping {
	int32_t pid;
	uint64_t address, length;
	uint64_t dev, ino;
	char *path;
};

#define WEFT_USDT_BUCKETS 1024u

struct weft_instance {
	const struct weft_host *host;
	const struct weft_params *params;
	struct support_uprobes uprobes;
	struct weft_usdt_stash stash;
	struct weft_usdt_file *files;
	struct weft_usdt_file *buckets[WEFT_USDT_BUCKETS];
	struct weft_usdt_probe *probes;
	struct weft_usdt_wanted *wanted;
	struct weft_attachment *attachments;
	/* late.c */
	int timer_fd;
	bool watching;
	bool looking;    /* at paths of named processes */
	bool look_again; /* for what was mapped before the watching began */
	struct weft_usdt_mapping *queue;
	size_t n_queue, cap_queue;
	struct weft_usdt_seen *seen;
	/* info.c: what the last probe_info() led to */
	struct weft_layout *layouts;
	struct weft_arg *args;
	char text[512];
};

struct weft_attachment {
	struct weft_attachment *next;
	struct support_attachment made;
	struct weft_usdt_attached {
		struct weft_usdt_probe *probe;
		uint64_t cookie;
		uint32_t layout;
		uint32_t n_sites; /* of the probe's that were looked at */
	} * probes;
};

/* Files by device and inode, for walks that meet one again and again. */
struct weft_usdt_seen *weft_usdt_seen_create(void);
void weft_usdt_seen_destroy(struct weft_usdt_seen *s);
/* Whether it was seen before; from now on it was. */
bool weft_usdt_seen(struct weft_usdt_seen *s, uint64_t dev, uint64_t ino);
void weft_usdt_unsee(struct weft_usdt_seen *s, uint64_t dev, uint64_t ino);

int weft_usdt_nomem(struct weft_instance *in, struct weft_error *err);

/* files.c */
/* The file behind a descriptor, which is taken over in any case, read or from the stash. NULL: no
 * regular file, or out of memory, with a reason. A file without a record could not be read: that is
 * counted as USDT_FILE_LOST, once, or said in err where it is not NULL. */
struct weft_usdt_file *weft_usdt_file_take(struct weft_instance *in, int fd, const char *path,
					   struct weft_error *err);
/* A descriptor to attach by, or -errno; -ESTALE: there is another file at that path by now. */
int weft_usdt_file_open(const struct weft_usdt_file *f);
void weft_usdt_files_finish(struct weft_instance *in);

/* where.c: files that a module text stands for. */
struct weft_usdt_search {
	const char *module;
	bool exact; /* a text, not a pattern */
	bool quick; /* the first way that finds one will do */
	/* module is what probes of this file are registered under. Non-zero ends the search. */
	int (*found)(struct weft_usdt_file *file, const char *module, void *arg);
	void *arg;
	struct weft_usdt_seen *seen;
	size_t n; /* files found */
};
int weft_usdt_where(struct weft_instance *in, struct weft_usdt_search *s, struct weft_error *err);
/* Whether a module text means a file with this path (and soname, or NULL): the text that its
 * probes are registered under, or NULL. */
const char *weft_usdt_means(struct weft_instance *in, const char *module, bool exact,
			    const char *path, const char *soname);
/* Whether it could, for all that the path says. */
bool weft_usdt_may_mean(struct weft_instance *in, const char *module, bool exact, const char *path);

/* probes.c */
int weft_usdt_provide(struct weft_instance *in, struct weft_registry *registry,
		      const struct weft_probe_desc *desc, struct weft_error *err);
int weft_usdt_populate_match(struct weft_instance *in, struct weft_registry *registry,
			     const struct weft_probe_desc *pattern, struct weft_error *err);
/* Registers the probes of a file that are wanted; *extended: probes that there were have sites more. */
int weft_usdt_announce(struct weft_instance *in, struct weft_registry *registry,
		       const struct weft_usdt_wanted *w, struct weft_usdt_file *file,
		       const char *module, size_t *n, bool *extended, struct weft_error *err);
void weft_usdt_probes_finish(struct weft_instance *in);

/* info.c */
int weft_usdt_probe_info(struct weft_instance *in, const struct weft_probe *probe,
			 const struct weft_params *with, struct weft_probe_info *out,
			 struct weft_error *err);
/* Finds the layouts of sites that have none yet: UINT32_MAX for those that are too many. */
int weft_usdt_place_sites(struct weft_usdt_probe *p);
void weft_usdt_info_finish(struct weft_instance *in);
const char *weft_usdt_probe_note(struct weft_instance *in, const struct weft_probe *probe,
				 const struct weft_params *with);

/* attach.c */
int weft_usdt_attach(struct weft_instance *in, const struct weft_attach_request *request,
		     struct weft_attachment **out, struct weft_error *err);
void weft_usdt_detach(struct weft_instance *in, struct weft_attachment *at);
/* Attaches sites that probes got since. */
void weft_usdt_extend(struct weft_instance *in);
void weft_usdt_settle(struct weft_instance *in);

/* late.c */
void weft_usdt_watch(struct weft_instance *in);
int weft_usdt_discover_fd(struct weft_instance *in);
int weft_usdt_discover(struct weft_instance *in, struct weft_registry *registry,
		       struct weft_error *err);
/* Counts sites that came late and that nobody attached: a clause may ask for an argument that
 * cannot be read there. */
void weft_usdt_account(struct weft_instance *in);
void weft_usdt_late_finish(struct weft_instance *in);

#endif
