/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The expressions of a clause, so that a mutation reaches the language without having to keep YAML
 * whole. The first byte chooses the probe. What follows are lines: the predicate, and then one
 * expression for each action, of which the line's first byte chooses the kind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static const char *const probes[] = {
	"fx-trace:syscalls:sys_enter_write:fields",
	"fx-trace:syscalls:sys_enter_write:memory",
	"fx-trace:syscalls:sys_enter_prctl:math",
	"fx-trace:sched:sched_process_exec:exec",
	"fx-pair:::return",
	"fx-call:::return",
	"fx-types:::*",
	"profile:::profile-97",
};

/* Up to the expression, and behind it. */
static const struct {
	const char *before, *after;
} forms[] = {
	{"count: {into: hits, by: [", "]}"},
	{"sum: {into: total, by: [pid], value: ", "}"},
	{"avg: {into: mean, value: ", "}"},
	{"quantize: {into: sizes, value: ", "}"},
	{"lquantize: {into: lines, from: 0, to: 100, step: 10, value: ", "}"},
	{"emit: {what: ", "}"},
	{"set: {shared: ", "}"},
	{"set: {self.mine: ", "}"},
	{"set: {this.here: ", "}"},
	{"set: {'table[pid, this.here ?? 1]': ", "}"},
	{"printf: [\"%s %d\\n\", ", ", 5]"},
	{"delete: ", ""},
};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A double-quoted scalar. */
static void quote(FILE *f, const uint8_t *text, size_t n)
{
	putc('"', f);
	for (size_t i = 0; i < n; i++)
		if (text[i] < ' ' || text[i] >= 0x7f || text[i] == '"' || text[i] == '\\')
			fprintf(f, "\\x%02x", text[i]);
		else
			putc(text[i], f);
	putc('"', f);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_load_providers();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size, *next;
	size_t length;
	char *yaml;
	FILE *f;

	if (!size)
		return 0;
	f = open_memstream(&yaml, &length);
	if (!f)
		abort();
	fprintf(f,
		"version: 1\nparams: {n: 5, word: hello, time: 5ms}\nprobes:\n"
		"  - probe: \"%s\"\n",
		probes[data[0] % COUNT(probes)]);
	for (const uint8_t *line = data + 1; line < end; line = next + 1) {
		next = memchr(line, '\n', (size_t)(end - line));
		if (!next)
			next = end;
		if (line == data + 1) {
			fputs("    when: ", f);
			quote(f, line, (size_t)(next - line));
			fputs("\n    do:\n", f);
		} else if (next > line) {
			size_t form = line[0] % COUNT(forms);

			fprintf(f, "      - %s", forms[form].before);
			quote(f, line + 1, (size_t)(next - line - 1));
			fprintf(f, "%s\n", forms[form].after);
		}
	}
	if (fclose(f))
		abort();
	fuzz_compile(yaml, length);
	free(yaml);
	return 0;
}
