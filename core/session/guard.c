/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The functions of the host work for a thread that is in a slot, and for no other: a plugin's own
 * thread would race with the session, and after a slot has returned its error object and what it
 * was told are gone. Such a call does nothing and returns -EPERM or its like. It cannot be reported
 * on the spot, since nothing of the session may be touched by another thread. So it is remembered,
 * with the shared object that it came from, until the next slot of that object's provider ends.
 */
#include "core/session/guard.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#include "core/session/session.h"

static __thread struct {
	const char *volatile provider;
	const char *volatile slot;
	const struct weft_error *err;
} now;

/* The last misuse; one is enough. */
static const char *misused;
static uintptr_t misuser;

void weft_guard_enter(const char *provider, const char *slot, const struct weft_error *err)
{
	now.slot = slot;
	now.provider = provider;
	now.err = err;
}

void weft_guard_leave(void)
{
	now.provider = NULL;
	now.slot = NULL;
	now.err = NULL;
}

bool weft_session_inside(const char **provider, const char **slot)
{
	*provider = now.provider;
	*slot = now.slot;
	return *provider && *slot;
}

static uintptr_t object_of(const void *code)
{
	Dl_info info;

	return dladdr(code, &info) ? (uintptr_t)info.dli_fbase : 0;
}

static bool refuse(const char *function, const void *caller)
{
	__atomic_store_n(&misuser, object_of(caller), __ATOMIC_RELAXED);
	__atomic_store_n(&misused, function, __ATOMIC_RELEASE);
	return false;
}

bool weft_guard_allows(const char *function, const void *caller)
{
	return now.provider || refuse(function, caller);
}

bool weft_guard_allows_error(const char *function, const struct weft_error *err, const void *caller)
{
	if (now.provider && (!err || err == now.err))
		return true;
	return refuse(function, caller);
}

const char *weft_guard_misuse(const void *code)
{
	const char *function = __atomic_load_n(&misused, __ATOMIC_ACQUIRE);

	if (!function || __atomic_load_n(&misuser, __ATOMIC_RELAXED) != object_of(code))
		return NULL;
	__atomic_store_n(&misused, NULL, __ATOMIC_RELAXED);
	return function;
}
