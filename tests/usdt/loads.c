/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * loads HOW LIBRARY N: loads the library (HOW: dlopen, or memfd: from a copy in memory), waits
 * until somebody traces its guarded probe, passes its probe N times and unloads it. HOW plain: does
 * not wait. HOW fork: the same in a child, and a child that it execs.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <fcntl.h>
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

static int pass(const char *path, int wait, int n)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*traced)(void) = library ? (int (*)(void))dlsym(library, "lib_traced") : NULL;
	int (*lib_pass)(int) = library ? (int (*)(int))dlsym(library, "lib_pass") : NULL;

	if (!traced || !lib_pass) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	for (int i = 0; wait && !traced(); i++) {
		if (i == 10000)
			return 2;
		usleep(1000);
	}
	lib_pass(n);
	return dlclose(library);
}

int main(int argc, char **argv)
{
	char path[64];
	int n, status;

	if (argc != 4)
		return 3;
	n = atoi(argv[3]);
	if (!strcmp(argv[1], "memfd")) {
		if (in_memory(argv[2], path, sizeof(path)))
			return 4;
		return pass(path, 1, n);
	}
	if (!strcmp(argv[1], "fork")) {
		pid_t child = fork();

		if (child == 0)
			_exit(pass(argv[2], 0, n));
		if (waitpid(child, &status, 0) != child || status)
			return 5;
		child = fork();
		if (child == 0) {
			execl("/proc/self/exe", argv[0], "plain", argv[2], argv[3], (char *)NULL);
			_exit(6);
		}
		return waitpid(child, &status, 0) != child || status ? 7 : 0;
	}
	return pass(argv[2], !strcmp(argv[1], "dlopen"), n);
}
