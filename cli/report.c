/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Error reports for people: where, what, the line at fault, the nearest right thing, the causes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/output/escape.h"

static bool harmless(uint32_t code)
{
	if (code < ' ' || (code >= 0x7f && code < 0xa0))
		return false; /* controls */
	/* Marks that turn the direction of writing. */
	return code != 0x200e && code != 0x200f && (code < 0x202a || code > 0x202e) &&
	       (code < 0x2066 || code > 0x2069);
}

void cli_put(FILE *to, const char *text)
{
	size_t n = strlen(text), length, i;
	uint32_t code;

	for (; n; text += length, n -= length) {
		length = weft_utf8_length(text, n, &code);
		if (length && harmless(code)) {
			fwrite(text, 1, length, to);
			continue;
		}
		length = length ? length : 1;
		for (i = 0; i < length; i++)
			fprintf(to, "\\x%02x", (unsigned char)text[i]);
	}
}

/* Prints line `pos.line` of the file with a caret below pos.column; nothing if it cannot be read. */
static void print_line(const char *path, struct weft_pos pos)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0, length, i;
	uint32_t n = 0;
	ssize_t got;

	if (!f)
		return;
	while ((got = getline(&line, &size, f)) >= 0 && ++n < pos.line)
		;
	length = got > 0 ? strcspn(line, "\n") : 0;
	if (n != pos.line || got < 0 || length > 400 || !pos.column || pos.column > length + 1)
		goto out;
	line[length] = '\0';
	for (i = 0; i < length; i++)
		if (line[i] == '\t')
			line[i] = ' ';
	fprintf(stderr, "%6u | ", pos.line);
	cli_put(stderr, line);
	fprintf(stderr, "\n       | %*s^\n", (int)weft_utf8_count(line, pos.column - 1), "");
out:
	free(line);
	fclose(f);
}

static void print_report(const struct weft_error *err, size_t i, const struct weft_report *r)
{
	size_t k;

	cli_put(stderr, r->file ? r->file : "trace-cli");
	if (r->file && r->pos.line)
		fprintf(stderr, ":%u:%u", r->pos.line, r->pos.column);
	fputs(": error: ", stderr);
	cli_put(stderr, r->text);
	fprintf(stderr, " [%s]\n", r->tag);
	if (r->file && r->pos.line)
		print_line(r->file, r->pos);
	if (r->suggestion) {
		fputs("  did you mean '", stderr);
		cli_put(stderr, r->suggestion);
		fputs("'?\n", stderr);
	}
	for (k = 0; k < r->n_contexts; k++) {
		fputs("  in: ", stderr);
		cli_put(stderr, weft_error_context_text(err, i, k));
		fputc('\n', stderr);
	}
}

int cli_report(struct cli *cli, int status)
{
	struct weft_report r;
	size_t i;

	for (i = 0; i < weft_error_count(cli->err); i++)
		if (!weft_error_report(cli->err, i, &r))
			print_report(cli->err, i, &r);
	if (!weft_error_count(cli->err))
		fputs("trace-cli: error: failed without a reason\n", stderr);
	return status;
}
