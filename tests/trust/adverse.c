/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loaded into a program before everything else (LD_PRELOAD), it makes the program's life hard:
 *
 *   ADVERSE_ALLOCATION=N   the N-th allocation fails, whoever makes it; the file of ADVERSE_MARK is
 *                          made when that happens
 *   ADVERSE_SIGNALS=US     a signal every so many microseconds, with a handler that does nothing
 *                          and restarts nothing, so that every wait is interrupted
 *
 * Children of the program are left alone: they may be anybody's command.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static unsigned long countdown; /* 0: nothing fails */
static const char *mark;

/* These do not bear it: what weft can do is not to ask them where there is no memory. */
static bool is_spared(const void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) && info.dli_fname &&
	       (strstr(info.dli_fname, "/libcapstone.") || strstr(info.dli_fname, "/libseccomp."));
}

/* Plugins and libraries allocate from threads of none, but a reader of ELF files is a child. */
static bool fails(const void *caller)
{
	int fd;

	if (!countdown || __atomic_sub_fetch(&countdown, 1, __ATOMIC_RELAXED))
		return false;
	if (is_spared(caller)) {
		countdown = 1; /* the next one */
		return false;
	}
	fd = mark ? open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (fd >= 0)
		close(fd);
	errno = ENOMEM;
	return true;
}

#define WRAP(result, name, params, args)                                      \
	result name params __attribute__((visibility("default")));            \
	result name params                                                    \
	{                                                                     \
		static result(*next) params;                                  \
		if (!next)                                                    \
			*(void **)&next = dlsym(RTLD_NEXT, #name);            \
		return fails(__builtin_return_address(0)) ? NULL : next args; \
	}

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t m), (n, m))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(void *, reallocarray, (void *p, size_t n, size_t m), (p, n, m))
WRAP(char *, strdup, (const char *s), (s))
WRAP(char *, strndup, (const char *s, size_t n), (s, n))

static void nothing(int signal)
{
	(void)signal;
}

__attribute__((constructor)) static void begin(void)
{
	const char *n = getenv("ADVERSE_ALLOCATION"), *us = getenv("ADVERSE_SIGNALS");

	mark = getenv("ADVERSE_MARK");
	unsetenv("LD_PRELOAD");
	if (us) {
		const long every = strtol(us, NULL, 10);
		const struct itimerval timer = {.it_interval.tv_usec = every,
						.it_value.tv_usec = every};
		const struct sigaction action = {.sa_handler = nothing};

		sigaction(SIGALRM, &action, NULL);
		setitimer(ITIMER_REAL, &timer, NULL);
	}
	if (n)
		countdown = strtoul(n, NULL, 10);
}
