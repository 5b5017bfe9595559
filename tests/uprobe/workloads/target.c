/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program whose calls are known, built in every way that matters.
 *
 * target calls N       N rounds of round_of()
 * target threads T N   T threads, N rounds each
 * target fork N        N rounds, and N in a child
 * target exec N        N rounds, then exec of "target calls N"
 * target deep N         one call of factorial(N), N + 1 calls deep
 * target texec N        exec of "target calls N" by a thread that is not the first
 * target load FILE N   N times: dlopen FILE, call its lib_fn(i), dlclose
 * target wait MODE ... the same, after a byte was read from standard input
 *
 * A round i is: eight(i, -i, 2i, 3i, 4i, 5i, 6i, 7i) = 27i; helper(i) of this file and of the
 * other; factorial(5), six calls deep; jump(), whose inner() leaves outer() by longjmp; tail(i),
 * which ends in a jump to tailed(i + 1), where the compiler optimises.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__
#define KEEP   __attribute__((noinline, used, visibility("default")))
#define STATIC static __attribute__((noinline, used))
#else
#define KEEP   __attribute__((noinline, noclone, used, externally_visible, visibility("default")))
#define STATIC static __attribute__((noinline, noclone, used))
#endif

long other_round(long i);

KEEP long eight(long a, long b, long c, long d, long e, long f, long g, long h)
{
	__asm__ volatile("" ::: "memory");
	return a + b + c + d + e + f + g + h;
}

STATIC long helper(long i)
{
	__asm__ volatile("" ::: "memory");
	return i + 1;
}

KEEP long factorial(long n)
{
	long below;

	if (n <= 0)
		return 1;
	below = factorial(n - 1);
	__asm__ volatile("" : "+r"(below)); /* or a compiler makes a loop of it */
	return n * below;
}

static __thread jmp_buf away;

KEEP void inner(void)
{
	longjmp(away, 1);
}

KEEP void outer(void)
{
	inner();
	__asm__ volatile("" ::: "memory");
}

KEEP int jump(void)
{
	if (!setjmp(away))
		outer();
	return 1;
}

KEEP long tailed(long i)
{
	__asm__ volatile("" ::: "memory");
	return 10 * i;
}

KEEP long tail(long i)
{
	return tailed(i + 1);
}

KEEP long round_of(long i)
{
	long sum = eight(i, -i, 2 * i, 3 * i, 4 * i, 5 * i, 6 * i, 7 * i);

	sum += helper(i);
	sum += other_round(i);
	sum += factorial(5);
	sum += jump();
	sum += tail(i);
	return sum;
}

static long rounds(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += round_of(i);
	return sum;
}

static void *thread(void *arg)
{
	rounds(*(long *)arg);
	return NULL;
}

static void *executes(void *arg)
{
	execl("/proc/self/exe", "target", "calls", (const char *)arg, (char *)NULL);
	return NULL;
}

static int thread_executes(char *n)
{
	pthread_t t;

	if (pthread_create(&t, NULL, executes, n))
		return 1;
	pthread_join(t, NULL);
	return 1;
}

static int threads(long t, long n)
{
	pthread_t all[64];

	for (long i = 0; i < t; i++)
		if (pthread_create(&all[i], NULL, thread, &n))
			return 1;
	for (long i = 0; i < t; i++)
		pthread_join(all[i], NULL);
	return 0;
}

static int forks(long n)
{
	pid_t pid = fork();
	int status = 0;

	rounds(n);
	if (pid == 0)
		_exit(0);
	return waitpid(pid, &status, 0) != pid || status;
}

#ifndef TARGET_STATIC
static int loads(const char *file, long n)
{
	for (long i = 0; i < n; i++) {
		void *lib = dlopen(file, RTLD_NOW);
		long (*fn)(long) = lib ? (long (*)(long))dlsym(lib, "lib_fn") : NULL;

		if (!fn) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		fn(i);
		dlclose(lib);
		usleep(50);
	}
	return 0;
}
#endif

int main(int argc, char **argv)
{
	char byte;

	if (argc > 1 && !strcmp(argv[1], "wait")) {
		if (read(0, &byte, 1) != 1)
			return 2;
		argv++;
		argc--;
	}
	if (argc > 2 && !strcmp(argv[1], "calls"))
		return rounds(atol(argv[2])) == -1;
	if (argc > 2 && !strcmp(argv[1], "texec"))
		return thread_executes(argv[2]);
	if (argc > 2 && !strcmp(argv[1], "deep"))
		return factorial(atol(argv[2])) == 1;
	if (argc > 3 && !strcmp(argv[1], "threads"))
		return threads(atol(argv[2]), atol(argv[3]));
	if (argc > 2 && !strcmp(argv[1], "fork"))
		return forks(atol(argv[2]));
	if (argc > 2 && !strcmp(argv[1], "exec")) {
		rounds(atol(argv[2]));
		execl("/proc/self/exe", "target", "calls", argv[2], (char *)NULL);
		return 1;
	}
#ifndef TARGET_STATIC
	if (argc > 3 && !strcmp(argv[1], "load"))
		return loads(argv[2], atol(argv[3]));
#endif
	return 2;
}
