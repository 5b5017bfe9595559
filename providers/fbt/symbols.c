/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Three files of the kernel, all of lines, all made by the kernel as they are read: the reader's
 * part is to touch each byte once. The buffer holds 64 KiB; a line that does not fit is no line of
 * these files (a name has 511 characters at most) and ends the walk.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/file.h"
#include "support/tracefs.h"
#include "symbols.h"

#define BUFFER (64u << 10)

typedef int (*line_fn)(void *arg, char *line, size_t length);

static int read_lines(const char *path, line_fn fn, void *arg)
{
	size_t have = 0;
	int ret = 0, fd;
	char *buf;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	buf = malloc(BUFFER);
	if (!buf) {
		close(fd);
		return -ENOMEM;
	}
	while (!ret) {
		ssize_t n = read(fd, buf + have, BUFFER - have);
		char *line = buf, *end;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			ret = -errno;
		if (n <= 0)
			break;
		have += (size_t)n;
		while (!ret && (end = memchr(line, '\n', (size_t)(buf + have - line)))) {
			*end = '\0';
			ret = fn(arg, line, (size_t)(end - line));
			line = end + 1;
		}
		have = (size_t)(buf + have - line);
		memmove(buf, line, have);
		if (have == BUFFER)
			ret = -EBADMSG;
	}
	free(buf);
	close(fd);
	return ret;
}

/* Hexadecimal digits, as many as there are. strtoull() would take a third of the whole time. */
static char *take_hex(char *p, uint64_t *out)
{
	uint64_t v = 0;

	for (;; p++) {
		unsigned digit;

		if (*p >= '0' && *p <= '9')
			digit = (unsigned)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			digit = (unsigned)(*p - 'a') + 10;
		else
			break;
		v = v << 4 | digit;
	}
	*out = v;
	return p;
}

struct walk {
	int (*fn)(void *arg, const struct weft_fbt_symbol *symbol);
	void *arg;
};

/* Splits "name<blank>[module]". */
static bool take_name(char *p, char blank, struct weft_fbt_symbol *s)
{
	char *end = strchr(p, blank);
	size_t n;

	s->name = p;
	s->module = "vmlinux";
	s->length = end ? (size_t)(end - p) : strlen(p);
	if (!end)
		return s->length && s->length < WEFT_FBT_NAME_MOST;
	*end++ = '\0';
	n = strlen(end);
	if (n < 3 || end[0] != '[' || end[n - 1] != ']')
		return false;
	end[n - 1] = '\0';
	s->module = end + 1;
	return s->length && s->length < WEFT_FBT_NAME_MOST;
}

static int symbol_line(void *arg, char *line, size_t length)
{
	const struct walk *w = arg;
	struct weft_fbt_symbol s = {0};
	char *p = take_hex(line, &s.address);

	(void)length;
	if (p == line || p[0] != ' ' || !p[1] || p[2] != ' ')
		return 0;
	s.type = p[1];
	return take_name(p + 3, '\t', &s) ? w->fn(w->arg, &s) : 0;
}

int weft_fbt_read_symbols(int (*fn)(void *arg, const struct weft_fbt_symbol *symbol), void *arg)
{
	struct walk w = {.fn = fn, .arg = arg};

	return read_lines("/proc/kallsyms", symbol_line, &w);
}

static int traceable_line(void *arg, char *line, size_t length)
{
	const struct walk *w = arg;
	struct weft_fbt_symbol s = {.type = 't'};

	(void)length;
	return take_name(line, ' ', &s) ? w->fn(w->arg, &s) : 0;
}

static int traceable_address_line(void *arg, char *line, size_t length)
{
	const struct walk *w = arg;
	struct weft_fbt_symbol s = {.type = 't'};
	char *p = take_hex(line, &s.address);

	(void)length;
	if (p == line || *p != ' ')
		return 0;
	return take_name(p + 1, ' ', &s) ? w->fn(w->arg, &s) : 0;
}

int weft_fbt_read_traceable(int (*fn)(void *arg, const struct weft_fbt_symbol *symbol), void *arg)
{
	const char *tracefs = support_tracefs_path();
	struct walk w = {.fn = fn, .arg = arg};
	char path[256];
	int ret;

	if (!tracefs)
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/available_filter_functions_addrs", tracefs);
	ret = read_lines(path, traceable_address_line, &w);
	if (ret != -ENOENT)
		return ret;
	snprintf(path, sizeof(path), "%s/available_filter_functions", tracefs);
	return read_lines(path, traceable_line, &w);
}

struct ranges {
	int (*fn)(void *arg, uint64_t start, uint64_t end);
	void *arg;
};

static int blacklist_line(void *arg, char *line, size_t length)
{
	const struct ranges *r = arg;
	uint64_t start, end;
	char *p;

	(void)length;
	if (strncmp(line, "0x", 2))
		return 0;
	p = take_hex(line + 2, &start);
	if (strncmp(p, "-0x", 3))
		return 0;
	take_hex(p + 3, &end);
	return start < end ? r->fn(r->arg, start, end) : 0;
}

int weft_fbt_read_blacklist(int (*fn)(void *arg, uint64_t start, uint64_t end), void *arg)
{
	struct ranges r = {.fn = fn, .arg = arg};

	return read_lines("/sys/kernel/debug/kprobes/blacklist", blacklist_line, &r);
}

bool weft_fbt_is_function(const struct weft_fbt_symbol *s)
{
	/* Padding in front of functions, places in their middle, tables of calls: all of type t. */
	static const char *const prefixes[] = {
		"__pfx_",     "__cfi_", "__SCT__",  "__SCK__", "__ftrace_invalid_address_",
		"__kstrtab_", "__ksym", "__UNIQUE", ".L",
	};

	if (s->type != 't' && s->type != 'T' && s->type != 'w' && s->type != 'W')
		return false;
	if (s->name[0] == '_' || s->name[0] == '.')
		for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
			if (!strncmp(s->name, prefixes[i], strlen(prefixes[i])))
				return false;
	/* A program's, a trampoline's: nothing that could be named twice. */
	return s->module[0] != '_' && strcmp(s->module, "bpf");
}
