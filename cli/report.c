/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Error reports for people: where, what, the line at fault, the nearest right thing, the causes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* Prints line `pos.line` of the file with a caret below pos.column; nothing if it cannot be read. */
static void print_line(const char *path, struct weft_pos pos)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	uint32_t n = 0;
	ssize_t length;

	if (!f)
		return;
	while ((length = getline(&line, &size, f)) >= 0 && ++n < pos.line)
		;
	if (length >= 0 && n == pos.line && length < 400) {
		ssize_t i;

		for (i = 0; i < length; i++)
			if ((unsigned char)line[i] < ' ' || line[i] == 127)
				line[i] = line[i] == '\n' ? '\0' : ' ';
		fprintf(stderr, "%6u | %s\n", pos.line, line);
		if (pos.column && pos.column <= (uint32_t)length + 1)
			fprintf(stderr, "       | %*s^\n", (int)pos.column - 1, "");
	}
	free(line);
	fclose(f);
}

int cli_report(struct cli *cli, int status)
{
	struct weft_report r;
	size_t i, k;

	for (i = 0; i < weft_error_count(cli->err); i++) {
		if (weft_error_report(cli->err, i, &r))
			continue;
		if (r.file && r.pos.line)
			fprintf(stderr, "%s:%u:%u: ", r.file, r.pos.line, r.pos.column);
		else if (r.file)
			fprintf(stderr, "%s: ", r.file);
		else
			fputs("trace-cli: ", stderr);
		fprintf(stderr, "error: %s [%s]\n", r.text, r.tag);
		if (r.file && r.pos.line)
			print_line(r.file, r.pos);
		if (r.suggestion)
			fprintf(stderr, "  did you mean '%s'?\n", r.suggestion);
		for (k = 0; k < r.n_contexts; k++)
			fprintf(stderr, "  in: %s\n", weft_error_context_text(cli->err, i, k));
	}
	if (!weft_error_count(cli->err))
		fputs("trace-cli: error: failed without a reason\n", stderr);
	return status;
}
