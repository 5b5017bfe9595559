/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The loader: from plugin directories to providers.
 *
 * Every *.so of a directory becomes one entry, USABLE or REJECTED. A rejected entry carries a tag
 * and a sentence and never stops the others. A plugin is judged by the bytes of its file before any
 * of its code runs (image.h, check.h) and, with privileges, by who could have changed it (trust.h);
 * then that very file is loaded (module.h) and judged once more as it is in memory.
 *
 * Tags of rejected entries, in the order of the checks:
 *   PLUGIN_DIR            a directory cannot be read, or what is named is none
 *   PLUGIN_UNSAFE         running with privileges, and others could have changed the file
 *   PLUGIN_OPEN           the file cannot be read, or is no regular file
 *   PLUGIN_NOT_ELF        not a shared object, or a damaged one
 *   PLUGIN_FOREIGN        for another kind of machine
 *   PLUGIN_NO_SYMBOL      a shared object, but no plugin of weft's
 *   PLUGIN_SYMBOL         the symbol is there, but is not the struct it ought to be
 *   PLUGIN_VERSION_NEWER  \ the ABI version is
 *   PLUGIN_VERSION_OLDER  / outside the window
 *   PLUGIN_STRUCT_SHORT   the struct ends before what every provider must have
 *   PLUGIN_STRUCT_TAIL    the struct has members that this weft does not know, and they are set
 *   PLUGIN_NAME           the provider's name breaks the rule for names
 *   PLUGIN_SLOT           a required function is missing, or half of a pair is
 *   PLUGIN_DUPLICATE      a provider of that name is there already
 *   PLUGIN_DLOPEN         the dynamic linker refuses the file
 *   PLUGIN_OPTION...      the table of options is wrong (core/params.h)
 *   PLUGIN_CAPABILITY     the list of capabilities is
 *
 * A loader is used by one thread at a time. The modules of all loaders of a process are shared, and
 * loaders of several threads wait for each other there.
 */
#ifndef WEFT_PLUGINS_LOADER_H
#define WEFT_PLUGINS_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "weft/provider.h"

struct weft_loader;

enum weft_loader_state { WEFT_LOADER_REJECTED, WEFT_LOADER_USABLE };

/* What became of one file. Borrowed; lives as long as the loader. */
struct weft_loader_entry {
	const char *path; /* absolute: the directory's real path and the file's name in it */
	enum weft_loader_state state;
	const char *name;     /* the provider's; NULL if it did not get as far as a valid name */
	uint32_t abi_version; /* as the plugin was built; 0 if unknown */
	const char *tag;      /* REJECTED: why, stable; else NULL */
	const char *text;     /* REJECTED: why, a sentence; else NULL */
	const struct weft_error *error; /* REJECTED: the same with all its reports; else NULL */
	void *handle; /* from dlopen(), never to be closed; NULL if it was not loaded */
	/* USABLE: the provider, else NULL. A copy with this core's struct_size: members that the
	 * plugin's struct does not reach are zero, so every member may be read; summary is
	 * printable, at most 200 bytes long and not NULL. */
	const struct weft_provider *provider;
};

/* NULL: out of memory. Whether the process has privileges is found out here, once. */
struct weft_loader *weft_loader_create(void);

/* Frees the entries. Modules stay loaded (module.h says why). */
void weft_loader_destroy(struct weft_loader *loader);

/* Adds an entry for each *.so of the directory, in the order of their names; names that begin with
 * a dot are no plugins. A directory that does not exist is an error (PLUGIN_DIR) if it is required,
 * else nothing; one that exists and cannot be read is an error if required, else a rejected entry.
 * Returns 0 or -errno; what is wrong with single files is never an error here. */
int weft_loader_add_dir(struct weft_loader *loader, const char *path, bool required,
			struct weft_error *err);

/* Adds an entry for one file, whatever its name; what is wrong with it is an error here too. */
int weft_loader_add_file(struct weft_loader *loader, const char *path, struct weft_error *err);

size_t weft_loader_count(const struct weft_loader *loader);
const struct weft_loader_entry *weft_loader_entry(const struct weft_loader *loader, size_t i);

/* The usable entry with that provider name, or NULL. */
const struct weft_loader_entry *weft_loader_find(const struct weft_loader *loader, const char *name);

#endif
