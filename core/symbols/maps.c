/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * /proc/PID/maps: "start-end perms offset major:minor inode      path". The path is whatever comes
 * after the padding: it may hold blanks, and of what it holds only the newline is escaped (\012),
 * not even the backslash, so that the escape cannot be told from the same four characters.
 */
#include "core/symbols/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MOST (4u * PATH_MAX + 128u) /* an escape takes four bytes */

/* Digits of a base up to 16; false if there is none or the value does not fit. */
static bool take_number(const char **p, unsigned int base, uint64_t most, uint64_t *out)
{
	const char *start = *p;
	uint64_t n = 0;

	for (;; (*p)++) {
		char c = **p;
		unsigned int digit = c >= '0' && c <= '9'   ? (unsigned int)(c - '0')
				     : c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10
							    : 99;

		if (digit >= base)
			break;
		if (n > (most - digit) / base)
			return false;
		n = n * base + digit;
	}
	*out = n;
	return *p != start;
}

static bool take_char(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

int weft_maps_parse(char *line, size_t length, struct weft_maps_entry *out)
{
	const char *p = line;
	uint64_t major, minor;

	line[length] = '\0';
	*out = (struct weft_maps_entry){0};
	if (!take_number(&p, 16, UINT64_MAX, &out->start) || !take_char(&p, '-') ||
	    !take_number(&p, 16, UINT64_MAX, &out->end) || !take_char(&p, ' ') ||
	    out->end <= out->start)
		return -EINVAL;
	if (strnlen(p, 5) < 5 || p[4] != ' ')
		return -EINVAL;
	out->executable = p[2] == 'x';
	p += 5;
	if (!take_number(&p, 16, UINT64_MAX, &out->offset) || !take_char(&p, ' ') ||
	    !take_number(&p, 16, UINT32_MAX, &major) || !take_char(&p, ':') ||
	    !take_number(&p, 16, UINT32_MAX, &minor) || !take_char(&p, ' ') ||
	    !take_number(&p, 10, UINT64_MAX, &out->inode))
		return -EINVAL;
	if (*p && *p != ' ')
		return -EINVAL;
	out->major = (uint32_t)major;
	out->minor = (uint32_t)minor;
	p += strspn(p, " ");
	out->path = p;
	out->path_length = strlen(p);
	return 0;
}

int weft_maps_read(const char *path, bool executable,
		   int (*fn)(const struct weft_maps_entry *, void *), void *arg)
{
	char *buf;
	size_t have = 0;
	bool skipping = false;
	int fd, r = 0;

	buf = malloc(LINE_MOST);
	if (!buf)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		r = -errno;
		free(buf);
		return r;
	}
	while (!r) {
		ssize_t got = read(fd, buf + have, LINE_MOST - have);
		char *line = buf, *end;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			r = got < 0 ? -errno : 0;
			break;
		}
		have += (size_t)got;
		while (!r && (end = memchr(line, '\n', have - (size_t)(line - buf)))) {
			struct weft_maps_entry e;

			if (!skipping && weft_maps_parse(line, (size_t)(end - line), &e) == 0 &&
			    (e.executable || !executable))
				r = fn(&e, arg);
			skipping = false;
			line = end + 1;
		}
		have -= (size_t)(line - buf);
		memmove(buf, line, have);
		if (have == LINE_MOST) {
			skipping = true;
			have = 0;
		}
	}
	close(fd);
	free(buf);
	return r;
}

size_t weft_maps_name(const char *path, char *buf, size_t size)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(path), n = 0;

	if (length > sizeof(deleted) - 1 &&
	    strcmp(path + length - (sizeof(deleted) - 1), deleted) == 0)
		length -= sizeof(deleted) - 1;
	for (size_t i = 0; i < length && n + 1 < size; i++) {
		if (strncmp(path + i, "\\012", 4) == 0 && i + 4 <= length) {
			buf[n++] = '\n';
			i += 3;
		} else {
			buf[n++] = path[i];
		}
	}
	buf[n] = '\0';
	return n;
}
