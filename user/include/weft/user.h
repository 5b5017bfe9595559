/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * weft/user.h: probes that a program declares and fires itself, with the values in hand.
 *
 *	weft_probe *compiled = weft_probe_declare("jit", "compiled", "string name, uint64 bytes", NULL);
 *	...
 *	WEFT_FIRE(compiled, name, bytes);
 *
 * A probe that nobody traces costs a load and a branch. One that is traced costs a system call that
 * does nothing else (getpid): the values travel in its registers. It needs no privileges.
 *
 * Arguments: int8 int16 int32 int64 uint8 uint16 uint32 uint64 pointer string (one word each; a
 * string is the address of text that ends with a NUL) and text bytes (two words: address, length).
 * Up to 5 words travel in registers; more, up to 32, in memory: weft_probe_fire_words().
 *
 * What may be called where:
 *  - weft_probe_enabled(), weft_probe_fire(), WEFT_FIRE: by any thread at any time, in signal
 *    handlers and before main, in a child of fork() or vfork(). They leave errno alone.
 *  - weft_probe_declare(), weft_probe_undeclare(): by any thread, before main too, and in a child
 *    of fork(); not in signal handlers, not in a child of vfork(). They leave errno alone.
 *
 * docs/user-syscall.md says what happens in memory: any language can do the same without this
 * library. Only 64-bit programs can.
 */
#ifndef WEFT_USER_H
#define WEFT_USER_H

#include <stdint.h>

#if UINTPTR_MAX != UINT64_MAX
#error "weft/user.h is for 64-bit programs: the call's words do not fit the registers of others"
#endif

#define WEFT_USER_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* The address of a probe's 64-bit word in memory that is shared with tracers: not zero if the probe
 * is traced. Stays valid for as long as the process lives, also after weft_probe_undeclare(). */
typedef struct weft_probe weft_probe;

/*
 * Declares a probe, or finds the one that was declared with the same texts. Always returns a probe:
 * when it cannot be had one that is never enabled, with the reason in *error, where that is wanted:
 *   -EINVAL  a name is empty or longer than 127 bytes, or the arguments are not as above
 *   -EEXIST  a probe of that name is declared with other arguments
 *   -ENOSPC  too many probes, or no room for their texts (the limit for files counts: ulimit -f)
 *   -EACCES  a sandbox (seccomp) is in force: see weft_user_sandbox()
 *   -ENOSYS  this kernel or machine cannot do it, or the sandbox hides the call from tracers
 *   another  what a system call said
 */
WEFT_USER_API weft_probe *weft_probe_declare(const char *provider, const char *name,
					     const char *args, int *error);

/* The probe fires no more. Declared again with the same texts it is the same probe. */
WEFT_USER_API void weft_probe_undeclare(weft_probe *probe);

/* Fires; to be called if the probe is enabled. Words that the arguments do not use are ignored. */
WEFT_USER_API void weft_probe_fire(weft_probe *probe, uint64_t a, uint64_t b, uint64_t c,
				   uint64_t d, uint64_t e);

/* The first argument of the call that fires this probe, for code generators; 0: it never fires.
 * They should emit: load, branch, weft_probe_fire(); or the call, and weft_probe_fire() every
 * thousandth time, for it gives up what a tracer that was killed left enabled. */
WEFT_USER_API uint64_t weft_probe_word(const weft_probe *probe);

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif
static inline int weft_probe_enabled(const weft_probe *probe)
{
#if defined(__x86_64__) && defined(__GNUC__)
	/* A comparison with memory and a branch, which compilers do not make of an atomic load. */
	__asm__ goto("cmpq $0, %0\n\tjne %l[enabled]"
		     :
		     : "m"(*(const uint64_t *)(const void *)probe)
		     : "cc"
		     : enabled);
	return 0;
enabled:
	return __builtin_expect(1, 0);
#else
	return __builtin_expect(
		__atomic_load_n((const uint64_t *)(const void *)probe, __ATOMIC_RELAXED) != 0, 0);
#endif
}

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/*
 * Sandboxes. A filter (seccomp) may kill a program for a call that it does not allow, and nobody
 * can ask it beforehand. So under a filter the library does nothing, unless it is told to: */
enum weft_sandbox {
	WEFT_SANDBOX_ASK = 0, /* the default: nothing is tried under a filter */
	/* Under a filter a child process is started that tries the calls: the filter has to allow
	 * clone, wait4 and exit_group. The environment WEFT_USER_SANDBOX=try says the same. */
	WEFT_SANDBOX_TRY = 1,
	/* The filter is known to allow memfd_create, ftruncate, fcntl, mmap, madvise, close, getpid. */
	WEFT_SANDBOX_ALLOWED = 2,
	/* From now on no probe fires: before a filter is put in force that kills for getpid. */
	WEFT_SANDBOX_OFF = 3,
};
/* Before the first probe is declared, but for OFF. A program that puts a filter in force after it
 * has declared probes is not enabled by tracers, unless it has said ALLOWED or TRY first. */
WEFT_USER_API void weft_user_sandbox(enum weft_sandbox how);

/* The same for arguments of more than 5 words, up to 32: they are read where they lie. */
WEFT_USER_API void weft_probe_fire_words(weft_probe *probe, const uint64_t *words, unsigned n);

/* A word of any integer or pointer. */
#ifdef __cplusplus
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif
extern "C++" {
template <typename T> static inline uint64_t weft_word_(T x)
{
	return (uint64_t)x;
}
}
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#define WEFT_WORD(x) weft_word_(x)
#else
#define WEFT_WORD(x) ((uint64_t)(x))
#endif

/* WEFT_FIRE(probe, words...): probe is a variable; up to 5 words, evaluated only if it is enabled. */
#define WEFT_FIRE(...)                                                    \
	do {                                                              \
		if (weft_probe_enabled(WEFT_FIRE_FIRST_(__VA_ARGS__, 0))) \
			WEFT_FIRE_ANY_(__VA_ARGS__);                      \
	} while (0)

#define WEFT_FIRE_FIRST_(p, ...)                      p
#define WEFT_FIRE_PICK_(p, a, b, c, d, e, macro, ...) macro
#define WEFT_FIRE_ALL_(p, a, b, c, d, e) \
	weft_probe_fire(p, WEFT_WORD(a), WEFT_WORD(b), WEFT_WORD(c), WEFT_WORD(d), WEFT_WORD(e))
#define WEFT_FIRE_0_(p)                WEFT_FIRE_ALL_(p, 0, 0, 0, 0, 0)
#define WEFT_FIRE_1_(p, a)             WEFT_FIRE_ALL_(p, a, 0, 0, 0, 0)
#define WEFT_FIRE_2_(p, a, b)          WEFT_FIRE_ALL_(p, a, b, 0, 0, 0)
#define WEFT_FIRE_3_(p, a, b, c)       WEFT_FIRE_ALL_(p, a, b, c, 0, 0)
#define WEFT_FIRE_4_(p, a, b, c, d)    WEFT_FIRE_ALL_(p, a, b, c, d, 0)
#define WEFT_FIRE_5_(p, a, b, c, d, e) WEFT_FIRE_ALL_(p, a, b, c, d, e)
#define WEFT_FIRE_ANY_(...)                                                                  \
	WEFT_FIRE_PICK_(__VA_ARGS__, WEFT_FIRE_5_, WEFT_FIRE_4_, WEFT_FIRE_3_, WEFT_FIRE_2_, \
			WEFT_FIRE_1_, WEFT_FIRE_0_, 0)                                       \
	(__VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
