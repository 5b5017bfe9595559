/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The texts of modules, for providers whose modules are files. */
#ifndef WEFT_SUPPORT_MODULE_H
#define WEFT_SUPPORT_MODULE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether it is a pattern: a glob character that no backslash escapes. */
bool support_is_glob(const char *text);
/* What is behind the last slash. */
const char *support_base_name(const char *path);
/* The path of a program in PATH. 0, or -ENOENT. */
int support_program(const char *name, char *path, size_t size);

#endif
