/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * loads HOW N LIBRARY...: loads the library (HOW: dlopen, or memfd: from a copy in memory), waits
 * until all of its sites are traced, passes them N times, with the numbers from 0 on, and unloads
 * it; then the next one. HOW plain: does not wait. HOW fork: the same in a child, and a child that
 * it execs.
 *
 * A site is traced if SIGUSR1 comes of it being passed with -1: that is what tracers do then. The
 * counter of a guarded probe would not do: where the kernel is asked for an event for each site, it
 * raises the counter before there is a program to run.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int in_memory(const char *path, char *out, size_t size)
{
	int from = open(path, O_RDONLY), to = memfd_create("loaded", 0);
	struct stat st;

	if (from < 0 || to < 0 || fstat(from, &st) ||
	    sendfile(to, from, NULL, (size_t)st.st_size) < 0)
		return 1;
	snprintf(out, size, "/proc/self/fd/%d", to);
	return 0;
}

static volatile sig_atomic_t heard;

static void hear(int signal)
{
	(void)signal;
	heard++;
}

static int pass(const char *path, int wait, int n)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*sites)(void) = library ? (int (*)(void))dlsym(library, "lib_sites") : NULL;
	void (*lib_pass)(int, int) = library ? (void (*)(int, int))dlsym(library, "lib_pass") : NULL;

	if (!sites || !lib_pass) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	for (int i = 0; wait; i++) {
		if (i == 30000)
			return 2;
		heard = 0;
		lib_pass(-1, 0);
		if (heard >= sites())
			break;
		usleep(1000);
	}
	lib_pass(0, n);
	return dlclose(library);
}

static int pass_all(char **paths, int wait, int n)
{
	int ret = 0;

	for (; *paths && !ret; paths++)
		ret = pass(*paths, wait, n);
	return ret;
}

int main(int argc, char **argv)
{
	char path[64];
	int n, status;

	if (argc < 4)
		return 3;
	signal(SIGUSR1, hear);
	n = atoi(argv[2]);
	if (!strcmp(argv[1], "memfd")) {
		if (in_memory(argv[3], path, sizeof(path)))
			return 4;
		return pass(path, 1, n);
	}
	if (!strcmp(argv[1], "fork")) {
		pid_t child = fork();

		if (child == 0)
			_exit(pass_all(argv + 3, 0, n));
		if (waitpid(child, &status, 0) != child || status)
			return 5;
		child = fork();
		if (child == 0) {
			execl("/proc/self/exe", argv[0], "plain", argv[2], argv[3], (char *)NULL);
			_exit(6);
		}
		return waitpid(child, &status, 0) != child || status ? 7 : 0;
	}
	return pass_all(argv + 3, !strcmp(argv[1], "dlopen"), n);
}
