/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "support/file.h"
#include "support/tracefs.h"

const char *support_tracefs_path(void)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char path[64];
		snprintf(path, sizeof(path), "%s/events", places[i]);
		if (!access(path, F_OK))
			return places[i];
	}
	return NULL;
}

int support_tracefs_mount(void)
{
	if (support_tracefs_path())
		return 0;
	if (mount("tracefs", "/sys/kernel/tracing", "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  NULL))
		return -errno;
	return 0;
}

static int event_path(char *buf, size_t size, const char *category, const char *name,
		      const char *file)
{
	const char *root = support_tracefs_path();

	if (!root)
		return -ENODEV;
	int n = snprintf(buf, size, "%s/events/%s/%s/%s", root, category, name, file);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

int support_tracepoint_id(const char *category, const char *name, uint64_t *id)
{
	char path[256];
	int err = event_path(path, sizeof(path), category, name, "id");

	return err ? err : support_read_u64(path, id);
}

/* "\tfield:unsigned int fd;\toffset:16;\tsize:8;\tsigned:0;": the name is the last word before the
 * first semicolon, less the brackets of an array. */
static bool parse_line(const char *line, const char *field, struct support_field *out)
{
	static const char data_loc[] = "__data_loc ";
	const char *decl = strstr(line, "field:");
	const char *eol = strchr(line, '\n');
	const char *end = strchr(line, ';');
	unsigned int offset, size, is_signed;

	if (!decl || !end || (eol && (decl > eol || end > eol)) || end < decl)
		return false;
	decl += strlen("field:");
	if (sscanf(end, "; offset:%u; size:%u; signed:%u;", &offset, &size, &is_signed) != 3)
		return false;

	const char *stop = end;
	const char *name;
	if (stop > decl && stop[-1] == ']') {
		while (stop > decl && stop[-1] != '[')
			stop--;
		stop--;
	}
	for (name = stop; name > decl && name[-1] != ' ' && name[-1] != '*'; name--)
		;
	if ((size_t)(stop - name) != strlen(field) || strncmp(name, field, strlen(field)) != 0)
		return false;
	*out = (struct support_field){
		.offset = offset,
		.size = size,
		.is_signed = is_signed != 0,
		.data_loc = !strncmp(decl, data_loc, sizeof(data_loc) - 1),
	};
	return true;
}

int support_format_field(const char *format, const char *field, struct support_field *out)
{
	for (const char *line = format; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (*line && parse_line(line, field, out))
			return 0;
	}
	return -ENOENT;
}

int support_tracepoint_field(const char *category, const char *name, const char *field,
			     struct support_field *out)
{
	char path[256], text[16384];
	int err = event_path(path, sizeof(path), category, name, "format");
	if (err)
		return err;

	long n = support_read_text(path, text, sizeof(text));
	return n < 0 ? (int)n : support_format_field(text, field, out);
}
