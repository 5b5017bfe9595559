/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/kernel/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define CPUS_MOST 65536u

static bool number(const char **at, unsigned long *out)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*out = strtoul(*at, &end, 10);
	*at = end;
	return *out < CPUS_MOST;
}

int weft_cpus_parse(const char *list, unsigned int **out, size_t *n)
{
	unsigned int *cpus = NULL, *grown;
	unsigned long from, to;
	size_t count = 0;

	while (*list && *list != '\n') {
		if (count && *list++ != ',')
			goto invalid;
		if (!number(&list, &from))
			goto invalid;
		to = from;
		if (*list == '-') {
			list++;
			if (!number(&list, &to) || to < from)
				goto invalid;
		}
		grown = realloc(cpus, (count + to - from + 1) * sizeof(*cpus));
		if (!grown) {
			free(cpus);
			return -ENOMEM;
		}
		cpus = grown;
		for (; from <= to; from++)
			cpus[count++] = (unsigned int)from;
	}
	if (!count)
		goto invalid;
	*out = cpus;
	*n = count;
	return 0;
invalid:
	free(cpus);
	return -EINVAL;
}

static int read_list(const char *path, unsigned int **out, size_t *n)
{
	char text[4096];
	ssize_t size;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (size <= 0)
		return -EIO;
	text[size] = '\0';
	return weft_cpus_parse(text, out, n);
}

int weft_cpus_online(unsigned int **out, size_t *n)
{
	return read_list("/sys/devices/system/cpu/online", out, n);
}

int weft_cpus_possible(unsigned int **out, size_t *n)
{
	return read_list("/sys/devices/system/cpu/possible", out, n);
}
