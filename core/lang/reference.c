/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The reference page, made of the tables alone: what is not in a table is not in the language. */
#include "core/lang/ops.h"
#include "core/lang/sema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cell of a table: `|` would end it. */
static void cell(FILE *f, const char *text, bool code)
{
	fputs(code ? " `" : " ", f);
	for (; *text; text++)
		fprintf(f, *text == '|' ? "\\%c" : "%c", *text);
	fputs(code ? "` |" : " |", f);
}

static void head(FILE *f, const char *const *names, size_t n)
{
	putc('|', f);
	for (size_t i = 0; i < n; i++)
		cell(f, names[i], false);
	fputs("\n|", f);
	for (size_t i = 0; i < n; i++)
		fputs(" --- |", f);
	putc('\n', f);
}

#define HEAD(f, ...)                                                 \
	do {                                                         \
		static const char *const names_[] = {__VA_ARGS__};   \
		head(f, names_, sizeof(names_) / sizeof(names_[0])); \
	} while (0)

static void variables(FILE *f)
{
	char name[32];

	fputs("## Variables\n\n", f);
	HEAD(f, "name", "type", "meaning");
	for (size_t i = 0; i < weft_n_vars; i++) {
		const struct weft_var *v = &weft_vars[i];

		putc('|', f);
		cell(f, v->name, true);
		cell(f, v->id == WEFT_VAR_RETVAL ? "the probe's" : weft_type_name(&v->type, name),
		     false);
		cell(f, v->help, false);
		putc('\n', f);
	}
	fputs("| `NAME` | int64, uint64 or string | A variable of the whole run, given a value by "
	      "`set`. |\n"
	      "| `self.NAME` | the same | A variable that each thread has of its own. |\n"
	      "| `this.NAME` | the same | A variable of this firing of the clause. |\n"
	      "| `NAME[KEY, ...]` | the same | An element of an array. |\n"
	      "| `arg0` ... `argN` | the probe's | An argument by its place. |\n"
	      "| `args.NAME` | the probe's | An argument by its name, where it has one. |\n"
	      "| `entry.NAME`, `entry.argN` | the entry's | In a clause of a return: an argument of the "
	      "entry that it belongs to, as it was then. Integers, addresses, strings and bytes. |\n"
	      "| `$NAME` | int64, uint64 or string | A parameter of the set: a constant. |\n\n",
	      f);
}

static void functions(FILE *f)
{
	char name[32];

	fputs("## Functions\n\nWhat a function does not take is an error; an argument in quotes, and N "
	      "and size, are constants. An address that cannot be read ends the clause and is counted, "
	      "as FAULT_ADDRESS or NOT_RESIDENT.\n\n",
	      f);
	HEAD(f, "call", "gives", "meaning");
	for (size_t i = 0; i < weft_n_functions; i++) {
		const struct weft_type *t = &weft_functions[i].result;
		bool own = t->kind == WEFT_VALUE_INT && !t->size;

		putc('|', f);
		cell(f, weft_functions[i].signature, true);
		cell(f,
		     !own                                              ? weft_type_name(t, name)
		     : weft_functions[i].params[1] == WEFT_TAKES_CONST ? "uint8 to uint64"
								       : "int64 or uint64",
		     false);
		cell(f, weft_functions[i].help, false);
		putc('\n', f);
	}
	putc('\n', f);
}

static void operator_rows(FILE *f, unsigned precedence, unsigned level)
{
	for (size_t i = 0; i < weft_n_ops; i++) {
		if (weft_ops[i].precedence != precedence)
			continue;
		fprintf(f, "| %u |", level);
		cell(f, precedence && weft_ops[i].op != WEFT_OP_DEFAULT ? "left" : "right", false);
		cell(f, weft_ops[i].text, true);
		cell(f, weft_ops[i].help, false);
		putc('\n', f);
	}
}

static void operators(FILE *f)
{
	unsigned p = 0, level = 1;

	for (size_t i = 0; i < weft_n_ops; i++)
		if (weft_ops[i].precedence > p)
			p = weft_ops[i].precedence;
	fputs("## Operators\n\nAs in C; level 1 binds tightest.\n\n", f);
	HEAD(f, "level", "groups from the", "operator", "gives");
	operator_rows(f, 0, level);
	fprintf(f,
		"| %u | right | `(int8) x` ... `(uint64) x` | x cut to that many bits, or extended by "
		"its own sign |\n",
		level);
	for (; p >= WEFT_PRECEDENCE_LOOSEST; p--)
		operator_rows(f, p, ++level);
	fprintf(f,
		"| %u | right | `c ? a : b` | a if c is not 0, else b; only one of them is evaluated "
		"|\n\n",
		level + 1);
}

static const char *const shapes[] = {
	[WEFT_SHAPE_EXPR] = "expression",
	[WEFT_SHAPE_NAME] = "name",
	[WEFT_SHAPE_NAMES] = "name or list of names",
	[WEFT_SHAPE_KEYS] = "expression, list or map of expressions",
	[WEFT_SHAPE_FIELDS] = "map or list of expressions",
	[WEFT_SHAPE_FORMAT] = "format, or list of format and expressions",
	[WEFT_SHAPE_CHOICE] = "",
	[WEFT_SHAPE_SIGNAL] = "",
	[WEFT_SHAPE_CONSTANT] = "constant expression",
	[WEFT_SHAPE_ASSIGN] = "map from variable to expression",
	[WEFT_SHAPE_VARIABLES] = "variable or list of variables",
};

static void action(FILE *f, const struct weft_action_spec *a)
{
	fprintf(f, "### %s\n\n%s\n\n```yaml\n- %s\n```\n\n", a->name, a->help, a->example);
	HEAD(f, "field", "required", "takes", "meaning");
	for (size_t i = 0; i < a->n_fields; i++) {
		const struct weft_action_field *field = &a->fields[i];

		putc('|', f);
		if (field->name[0])
			cell(f, field->name, true);
		else
			cell(f, "(the value)", false);
		cell(f, field->required ? "yes" : "no", false);
		if (field->choices)
			cell(f, field->choices, true);
		else
			cell(f, shapes[field->shape], false);
		cell(f, field->help, false);
		putc('\n', f);
	}
	putc('\n', f);
}

static void actions(FILE *f)
{
	static const char *const groups[] = {
		[WEFT_GROUP_AGGREGATION] = "Aggregations",
		[WEFT_GROUP_RECORD] = "Records",
		[WEFT_GROUP_CONTROL] = "Control",
		[WEFT_GROUP_DESTRUCTIVE] = "Destructive",
		[WEFT_GROUP_STATE] = "State",
	};

	for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
		fprintf(f, "## %s\n\n", groups[g]);
		for (size_t i = 0; i < weft_n_actions; i++)
			if (weft_actions[i].group == g)
				action(f, &weft_actions[i]);
	}
}

char *weft_lang_reference(struct weft_arena *arena)
{
	char *text = NULL, *copy = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fputs("<!-- Made from the tables of core/lang; edit those. -->\n"
	      "# Reference: variables, operators, actions\n\n"
	      "What they mean together is told in [language.md](../language.md).\n\n",
	      f);
	variables(f);
	functions(f);
	operators(f);
	actions(f);
	if (fclose(f) == 0 && size) {
		while (size > 1 && text[size - 1] == '\n' && text[size - 2] == '\n')
			size--;
		copy = weft_arena_strndup(arena, text, size);
	}
	free(text);
	return copy;
}
