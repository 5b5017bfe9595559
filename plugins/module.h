/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Shared objects in this process.
 *
 * A module is loaded from the descriptor whose bytes were checked, by its name in /proc, so that no
 * other file can take its place between check and load. Three things follow from that:
 *
 *  - The dynamic linker takes two modules of one *name* for the same without looking at the files. A
 *    descriptor's number is such a name; so the descriptor stays open as long as the module is
 *    loaded, and a file that is loaded already is found here by its inode.
 *  - The name contains the pid, not "self": a debugger or a symboliser, which is another process,
 *    finds the file by it too.
 *  - $ORIGIN in a module's RUNPATH would lead to /proc. If a module cannot be loaded by descriptor,
 *    it is tried once more by its path, if that still leads to the file that was checked.
 *
 * Modules are never unloaded. Error objects and losses keep tags that are a plugin's static text. A
 * plugin may have started threads, registered atexit() handlers or thread-local destructors. Nothing
 * is gained by taking its code away before the process ends, and LeakSanitizer, which reports at
 * exit, could no longer name the frames of what a plugin leaked.
 */
#ifndef WEFT_PLUGINS_MODULE_H
#define WEFT_PLUGINS_MODULE_H

#include <sys/stat.h>

#include "core/error.h"

/* Loads the file fd, which st describes. Takes over fd, also on failure. path: its real path; file:
 * its name in messages. Tag: PLUGIN_DLOPEN. */
int weft_module_open(int fd, const struct stat *st, const char *path, const char *file,
		     void **handle, struct weft_error *err);

#endif
