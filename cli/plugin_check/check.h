/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * weft-plugin-check: the conformance suite for plugins, which `trace-cli providers --check` starts.
 *
 * Each check runs in a child process of its own, so that what one does to the process (or to
 * itself) is no concern of the next: main.c. What it finds goes to the parent as lines, a tag and a
 * sentence each. The checks drive the plugin through real sessions, as a probe set would; much of
 * what they find is found by the session, which believes no plugin (core/session/slots.c, info.c).
 */
#ifndef WEFT_PLUGIN_CHECK_H
#define WEFT_PLUGIN_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "core/session/session.h"
#include "plugins/loader.h"

/* What is to be checked. */
struct check_plan {
	const char *path;
	const char *const *options; /* "name=value" */
	size_t n_options;
	const char *const *probes; /* patterns; none: all that the provider announces */
	size_t n_probes;
	unsigned int seconds; /* for one step of a check: a session, mostly */
	const char *only;     /* one check; NULL: all */
};

/* In the child. */
struct check {
	const struct check_plan *plan;
	struct weft_loader *loader;
	const struct weft_provider *provider;
	struct weft_error *err;
};

/* A defect. One tag and sentence is said once in a check. */
void check_found(const char *tag, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Something that is to be known, and is no defect. */
void check_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The time of a step begins anew. */
void check_step(const struct check *c);

struct check_kind {
	const char *name;
	const char *what; /* for --help */
	bool root;        /* needs privileges */
	void (*run)(struct check *c);
};
extern const struct check_kind check_kinds[];
extern const size_t check_n_kinds;

#endif
