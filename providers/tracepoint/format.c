/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Format files: what the record of a tracepoint looks like. A line a field,
 *
 *	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
 *
 * in the words of C, but for __data_loc and __rel_data_loc, which are numbers that say where data
 *of any length lies in the record. (Documentation/trace/events.rst)
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

static bool number_of(const char *line, const char *key, uint32_t *out)
{
	const char *at = strstr(line, key);
	unsigned long v;
	char *end;

	if (!at)
		return false;
	at += strlen(key);
	errno = 0;
	v = strtoul(at, &end, 10);
	if (end == at || *end != ';' || errno || v > UINT16_MAX)
		return false;
	*out = (uint32_t)v;
	return true;
}

static bool begins(const char **text, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*text, word, n))
		return false;
	*text += n;
	return true;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Cuts "char prev_comm[16]" into type, name and number of elements. */
static bool cut_declaration(struct tracepoint_field *f, char *text)
{
	char *end = text + strlen(text), *bracket;

	f->place = FIELD_HERE;
	if (begins((const char **)&text, "__data_loc "))
		f->place = FIELD_DATA_LOC;
	else if (begins((const char **)&text, "__rel_loc ") ||
		 begins((const char **)&text, "__rel_data_loc "))
		f->place = FIELD_REL_LOC;
	if (end > text && end[-1] == ']') {
		bracket = strrchr(text, '[');
		if (!bracket)
			return false;
		*bracket = '\0';
		/* A size that is a macro's name is written as one: the bytes tell all the same. */
		f->elements = (uint32_t)strtoul(bracket + 1, NULL, 10);
		f->elements = f->elements ? f->elements : 1;
		end = bracket;
	}
	while (end > text && end[-1] == ' ')
		*--end = '\0';
	f->name = end;
	while (f->name > text && is_word(f->name[-1]))
		f->name--;
	if (!*f->name || f->name == text || isdigit((unsigned char)*f->name))
		return false;
	/* "char[] filename": the brackets stand with the type. */
	end = (char *)f->name;
	while (end > text && (end[-1] == ' ' || end[-1] == '[' || end[-1] == ']'))
		end--;
	if (end == text)
		return false;
	/* One byte between type and name is there to become the end of the type. */
	if (end == f->name)
		return false;
	*end = '\0';
	f->type = text;
	return true;
}

static bool is_common(const struct tracepoint_field *f)
{
	return !strncmp(f->name, "common_", 7);
}

static bool is_twice(const struct tracepoint_format *format, const char *name)
{
	for (uint32_t i = 0; i < format->n_fields; i++)
		if (!strcmp(format->fields[i].name, name))
			return true;
	return false;
}

/* A line that is no field, or one that is not understood, is passed over. */
static void read_line(struct tracepoint_format *format, char *line)
{
	struct tracepoint_field f = {0};
	uint32_t is_signed = 0;
	char *text, *end;

	while (*line == '\t' || *line == ' ')
		line++;
	if (strncmp(line, "field:", 6))
		return;
	text = line + 6;
	end = strchr(text, ';');
	if (!end || !number_of(end, "offset:", &f.offset) || !number_of(end, "size:", &f.size))
		return;
	number_of(end, "signed:", &is_signed);
	f.is_signed = is_signed;
	if (f.offset + f.size > format->size)
		format->size = f.offset + f.size;
	*end = '\0';
	if (!cut_declaration(&f, text) || is_common(&f) || is_twice(format, f.name) ||
	    format->n_fields == TRACEPOINT_FIELDS_MOST)
		return;
	format->fields[format->n_fields++] = f;
}

int tracepoint_parse(struct tracepoint_format *format)
{
	char *line = format->text, *next;

	format->n_fields = 0;
	format->size = 0;
	for (; line && strncmp(line, "print fmt", 9); line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		read_line(format, line);
	}
	/* What all records begin with is 8 bytes. */
	return format->size >= 8 ? 0 : -EINVAL;
}
