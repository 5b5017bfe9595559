/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A plugin as the bytes of its file say it is, read without running any of them.
 *
 * The struct that the symbol weft_provider_plugin names lies in the file as the linker left it:
 * numbers are there, pointers are not. What a pointer will be is said by the relocations that cover
 * it, in one of two forms (.rela.dyn, and .relr.dyn for packed relative ones), and the string that
 * the name leads to is again bytes of the file. From these a view is made which looks like the
 * struct in memory with the file loaded at address 0, and which check.h judges.
 *
 * The file may be anything: cut short, scrambled, made to harm. Everything is read by pread()
 * within bounds, and the sections read are together not larger than the file, so that a section
 * table in which a million sections share the same bytes costs no more than an honest one. What
 * this cannot do is to keep the dynamic linker from a file whose segments tell another story than
 * its sections; the view of the struct in memory is checked for that.
 */
#ifndef WEFT_PLUGINS_IMAGE_H
#define WEFT_PLUGINS_IMAGE_H

#include "check.h"

/* The largest file that is read, in bytes. */
#define WEFT_PLUGIN_MAX_FILE (256u << 20)

/* Reads and checks the regular file fd, `size` bytes long. view->file is set by the caller; on
 * success view is complete. Tags: PLUGIN_OPEN, PLUGIN_NOT_ELF ... PLUGIN_SLOT (loader.h). */
int weft_image_check(int fd, uint64_t size, struct weft_provider_view *view, struct weft_error *err);

/* The same of the struct at `symbol`, in memory; nothing is known of its size but what it says. */
int weft_live_check(const void *symbol, struct weft_provider_view *view, struct weft_error *err);

#endif
