/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Error reports for people: where, what, the line at fault, the nearest right thing, the causes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

void cli_put(FILE *to, const char *text)
{
	char small[1024], *printable = small;
	size_t n = weft_trace_printable(text, small, sizeof(small));

	if (n >= sizeof(small)) {
		printable = malloc(n + 1);
		if (printable)
			weft_trace_printable(text, printable, n + 1);
		else
			printable = small; /* cut short */
	}
	fputs(printable, to);
	if (printable != small)
		free(printable);
}

/* Of the first n bytes. */
static size_t count_characters(const char *text, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count +=
			((unsigned char)text[i] & 0xc0) != 0x80; /* those that go on do not count */
	return count;
}

/* Prints the line of the file with a caret below the column; nothing if it cannot be read. */
static void print_line(const char *path, uint32_t wanted, uint32_t column)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0, length, i;
	uint32_t n = 0;
	ssize_t got;

	if (!f)
		return;
	while ((got = getline(&line, &size, f)) >= 0 && ++n < wanted)
		;
	length = got > 0 ? strcspn(line, "\n") : 0;
	if (n != wanted || got < 0 || length > 400 || !column || column > length + 1)
		goto out;
	line[length] = '\0';
	for (i = 0; i < length; i++)
		if (line[i] == '\t')
			line[i] = ' ';
	fprintf(stderr, "%6u | ", wanted);
	cli_put(stderr, line);
	fprintf(stderr, "\n       | %*s^\n", (int)count_characters(line, column - 1), "");
out:
	free(line);
	fclose(f);
}

static void print_report(const struct cli *cli, size_t i, const struct weft_trace_report *r)
{
	cli_put(stderr, r->file ? r->file : "trace-cli");
	if (r->file && r->line)
		fprintf(stderr, ":%u:%u", r->line, r->column);
	fputs(": error: ", stderr);
	cli_put(stderr, r->text);
	fprintf(stderr, " [%s]\n", r->tag);
	if (r->file && r->line)
		print_line(r->file, r->line, r->column);
	if (r->suggestion) {
		fputs("  did you mean '", stderr);
		cli_put(stderr, r->suggestion);
		fputs("'?\n", stderr);
	}
	for (size_t k = 0; k < r->n_causes; k++) {
		fputs("  in: ", stderr);
		cli_put(stderr, weft_trace_cause(cli->t, i, k));
		fputc('\n', stderr);
	}
}

int cli_report(struct cli *cli, int status)
{
	const struct weft_trace_report *r;
	size_t i;

	for (i = 0; (r = weft_trace_report(cli->t, i)); i++)
		print_report(cli, i, r);
	if (!i)
		fputs("trace-cli: error: failed without a reason\n", stderr);
	return status;
}
