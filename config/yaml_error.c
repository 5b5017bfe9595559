/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * libyaml says what its grammar lacked ("did not find expected ',' or '}'"), not what the writer
 * did. In a probe set that is mostly one of two things: an expression that needs quotes, or a line
 * that is not indented as its neighbours are. The report keeps libyaml's words and adds which it
 * is: if the text from the last value to its natural end is longer than what YAML made of it, it is
 * shown in the quotes that it needs.
 */
#include "config/yaml_error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct hint {
	const char *problem; /* how libyaml's sentence begins */
	bool value;          /* quotes may help: look for the value that was meant */
	const char *text;    /* what to say otherwise; NULL: nothing */
};

static const struct hint hints[] = {
	{"mapping values are not allowed", true,
	 "a value with `: ` in it or a colon at its end needs quotes; if this is a key, it is not "
	 "indented like its neighbours"},
	{"did not find expected ',' or '}'", true,
	 "a value in { } with a comma, a colon or a bracket in it needs quotes; or a } is missing"},
	{"did not find expected ',' or ']'", true,
	 "a value in [ ] with a comma, a colon or a bracket in it needs quotes; or a ] is missing"},
	{"did not find expected key", true, "it is not indented like its neighbours"},
	{"did not find expected '-' indicator", true,
	 "every entry of a list begins with `- ` in the same column"},
	{"found character that cannot start any token", true, NULL},
	{"found unexpected ':'", true, "a value with a colon at its end needs quotes"},
	{"did not find expected alphabetic or numeric character", true, NULL},
	{"did not find expected whitespace or line break", true, NULL},
	{"did not find expected comment or line break", true, NULL},
	{"did not find expected tag URI", true, NULL},
	{"could not find expected ':'", false,
	 "a key is followed by `: `, and an entry of a list begins with `- `"},
	{"found unknown escape character", false,
	 "in double quotes a backslash begins an escape; write \\\\, or use single quotes"},
	{"found unexpected end of stream", false, "a quote is never closed"},
	{"block sequence entries are not allowed", false, "a list begins on the line after its key"},
	{"found a tab character", false, "indent with blanks"},
};

static const struct hint *find_hint(const char *problem)
{
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		if (strncmp(problem, hints[i].problem, strlen(hints[i].problem)) == 0)
			return &hints[i];
	}
	return NULL;
}

/* Where the value that quotes might save begins, and what YAML made of it. */
struct suspect {
	size_t offset;
	size_t taken; /* bytes up to where YAML stopped */
	bool flow;
};

static bool find_suspect(struct weft_reader *r, const yaml_parser_t *p, size_t problem,
			 const struct weft_tree_node *last, struct suspect *out)
{
	bool scanning = p->context && strncmp(p->context, "while scanning a", 16) == 0;
	bool token = p->context && strcmp(p->context, "while scanning for the next token") == 0;
	bool flow = p->flow_level > 0 || (p->context && strstr(p->context, "flow"));

	if (scanning || token) {
		size_t start =
			scanning ? weft_source_offset(r->source, p->context_mark.index) : problem;

		*out = (struct suspect){start, 0, flow};
		return true;
	}
	if (!last || weft_source_pos(r->source, last->offset).line !=
			     weft_source_pos(r->source, problem).line)
		return false;
	*out = (struct suspect){last->offset, problem - last->offset, last->flow};
	return problem >= last->offset;
}

/* The quoted text of the value that was meant, or NULL where that cannot be told. */
static const char *find_value(struct weft_reader *r, const yaml_parser_t *p, size_t problem,
			      const struct weft_tree_node *last)
{
	struct suspect s;
	size_t length;

	if (!find_suspect(r, p, problem, last, &s))
		return NULL;
	length = weft_source_extent(r->source, s.offset, s.flow ? WEFT_EXTENT_FLOW : 0);
	if (length == 0 || length <= s.taken || r->source->data[s.offset] == '\t')
		return NULL;
	return weft_source_quoted(r->source, s.offset, length, r->arena);
}

void weft_yaml_error(struct weft_reader *r, const yaml_parser_t *p,
		     const struct weft_tree_node *last)
{
	const char *problem = p->problem ? p->problem : "an error without a name";
	const struct hint *hint = find_hint(problem);
	struct weft_pos pos, begin;
	const char *value = NULL;
	size_t offset;
	char context[128] = "";

	if (p->error == YAML_MEMORY_ERROR) {
		weft_reader_nomem(r);
		return;
	}
	/* The reader counts bytes and has no mark. */
	offset = p->error == YAML_READER_ERROR
			 ? p->problem_offset
			 : weft_source_offset(r->source, p->problem_mark.index);
	pos = weft_source_pos(r->source, offset);
	/* A refused tag or alias often breaks its line as well: one report is enough. */
	if (r->n_errors > 0 && r->last_error.line == pos.line)
		return;
	begin = weft_source_pos(r->source, weft_source_offset(r->source, p->context_mark.index));
	if (p->context && (begin.line != pos.line || begin.column != pos.column))
		snprintf(context, sizeof(context), " %s that begins at line %u, column %u",
			 p->context, (unsigned int)begin.line, (unsigned int)begin.column);
	else if (p->context)
		snprintf(context, sizeof(context), " %s", p->context);
	if (hint && hint->value)
		value = find_value(r, p, offset, last);
	if (offset < r->source->size && r->source->data[offset] == '\t')
		weft_reader_fail(r, pos, "CONFIG_YAML", "%s%s: indent with blanks, not with tabs",
				 problem, context);
	else if (value)
		weft_reader_fail(r, pos, "CONFIG_YAML",
				 "%s%s: if this is one value, it needs quotes: %s", problem,
				 context, value);
	else if (hint && hint->text)
		weft_reader_fail(r, pos, "CONFIG_YAML", "%s%s: %s", problem, context, hint->text);
	else
		weft_reader_fail(r, pos, "CONFIG_YAML", "%s%s", problem, context);
}
