/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which plugin's slot this thread is in, and what is called on the host when it is in none. */
#ifndef WEFT_SESSION_GUARD_H
#define WEFT_SESSION_GUARD_H

#include <stdbool.h>

#include "core/error.h"

/* Texts are borrowed until weft_guard_leave(). err: the only one that the slot was given. */
void weft_guard_enter(const char *provider, const char *slot, const struct weft_error *err);
void weft_guard_leave(void);

/* Whether a function of the host may do its work for the caller at `caller`, a return address. If
 * not, the call is remembered as a misuse by the plugin that the address lies in. */
bool weft_guard_allows(const char *function, const void *caller);
/* The same for one that is given an error object: it must be the slot's own, or NULL. */
bool weft_guard_allows_error(const char *function, const struct weft_error *err, const void *caller);

/* The function that the plugin which has `code` in it has misused since it was asked last, or NULL. */
const char *weft_guard_misuse(const void *code);

#endif
