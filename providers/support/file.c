/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "support/file.h"

long support_read_text(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;

	size_t n = 0;
	long ret = -E2BIG;
	while (n < size) {
		ssize_t got = read(fd, buf + n, size - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			ret = -errno;
			break;
		}
		if (got == 0) {
			buf[n] = '\0';
			ret = (long)n;
			break;
		}
		n += (size_t)got;
	}
	close(fd);
	return ret;
}

int support_read_u64(const char *path, uint64_t *out)
{
	char text[32] = "";
	long n = support_read_text(path, text, sizeof(text));
	if (n < 0)
		return (int)n;

	uint64_t value = 0;
	const char *p = text;
	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return -ERANGE;
	}
	if (*p == '\n')
		p++;
	if (*p != '\0')
		return -EINVAL;
	*out = value;
	return 0;
}

int support_close(int fd)
{
	int saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
	return -1;
}
