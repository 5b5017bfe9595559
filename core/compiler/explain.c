/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What `trace-cli explain` shows of a program: the typed clauses, the intermediate form, and the
 * BPF instructions, each run of them under the expression that it was made for.
 */
#include "core/compiler/explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/compiler/names.h"
#include "core/kernel/insn.h"

/* ---- typed clauses ---- */

static int print_node(FILE *f, const char *before, const struct weft_node *n,
		      struct weft_arena *arena)
{
	char *text = n ? weft_node_print(n, true, arena) : NULL;

	if (n && !text)
		return -ENOMEM;
	if (text)
		fprintf(f, "%s%s\n", before, text);
	return 0;
}

static int print_items(FILE *f, const char *what, const struct weft_typed_item *items, size_t n,
		       struct weft_arena *arena)
{
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		fprintf(f, "      %s %s", what, items[i].name ? items[i].name : "");
		ret = print_node(f, " = ", items[i].node, arena);
	}
	return ret;
}

static int print_action(FILE *f, const struct weft_typed_action *a, struct weft_arena *arena)
{
	int ret;

	fprintf(f, "    %s %s\n", a->action->spec->name, a->into ? a->into : "");
	ret = print_items(f, a->action->spec->group == WEFT_GROUP_STATE ? "variable" : "by",
			  a->keys, a->n_keys, arena);
	if (!ret)
		ret = print_node(f, "      value ", a->value, arena);
	if (!ret)
		ret = print_items(f, "field", a->fields, a->n_fields, arena);
	return ret;
}

static int print_clause(FILE *f, const struct weft_typed_clause *c, struct weft_arena *arena)
{
	int ret;

	fprintf(f, "  clause %u, line %u\n", c->clause->index, c->clause->pos.line);
	ret = print_node(f, "    when ", c->when, arena);
	for (size_t i = 0; i < c->n_actions && !ret; i++)
		ret = print_action(f, &c->actions[i], arena);
	return ret;
}

int weft_explain_listing(struct weft_plan *plan, const struct weft_group *group,
			 const struct weft_ir *ir, const char **out)
{
	char *text = NULL, *ir_text = weft_ir_print(ir, plan->arena);
	size_t size = 0;
	int ret = -ENOMEM;
	FILE *f;

	if (!ir_text)
		return -ENOMEM;
	f = open_memstream(&text, &size);
	if (!f)
		return -ENOMEM;
	fputs("typed clauses\n", f);
	ret = 0;
	for (size_t i = 0; i < group->n_clauses && !ret; i++)
		ret = print_clause(f, &group->clauses[i], plan->arena);
	fprintf(f, "\nintermediate form\n%s", ir_text);
	if (fclose(f) && !ret)
		ret = -ENOMEM;
	if (!ret) {
		*out = weft_arena_strndup(plan->arena, text, size);
		if (!*out)
			ret = -ENOMEM;
	}
	free(text);
	return ret;
}

/* ---- variables ---- */

static int print_variables(FILE *f, const struct weft_plan *plan, struct weft_arena *arena)
{
	if (plan->n_variables)
		fputs("\nvariables\n", f);
	for (size_t i = 0; i < plan->n_variables; i++) {
		const struct weft_variable *v = &plan->variables[i];
		char *text = weft_state_var_text(v->var, arena);

		if (!text)
			return -ENOMEM;
		fprintf(f, "  %s  (%s + %u)\n", text, plan->maps[v->map].name, v->offset);
	}
	return 0;
}

/* ---- instructions ---- */

static bool same_place(const struct weft_program *p, uint32_t a, uint32_t b)
{
	return p->spans[a].text == p->spans[b].text && p->spans[a].start == p->spans[b].start &&
	       p->spans[a].length == p->spans[b].length && p->clause_of[a] == p->clause_of[b];
}

static void print_place(FILE *f, const struct weft_program *p, uint32_t i)
{
	const struct weft_span *s = &p->spans[i];

	if (p->clause_of[i] == UINT32_MAX && !s->text) {
		fputs("; the program\n", f);
		return;
	}
	if (!s->text) {
		fprintf(f, "; clause %u\n", p->clause_of[i]);
		return;
	}
	fprintf(f, "; %u:%u: %.*s\n", weft_span_pos(*s).line, weft_span_pos(*s).column,
		(int)s->length, s->text->s + s->start);
}

int weft_plan_explain(const struct weft_plan *plan, const struct weft_program *prog,
		      struct weft_arena *arena, char **out)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	int ret;

	if (!f)
		return -ENOMEM;
	fprintf(f, "program %s: %u instructions\n", prog->name, prog->n_insns);
	if (prog->listing)
		fprintf(f, "\n%s", prog->listing);
	ret = print_variables(f, plan, arena);
	fputs("\nmaps\n", f);
	for (size_t i = 0; i < plan->n_maps; i++)
		if (plan->maps[i].used)
			fprintf(f, "  map[%zu] %s\n", i, plan->maps[i].name);
	fputs("\ninstructions\n", f);
	for (uint32_t i = 0; i < prog->n_insns; i++) {
		if (!i || !same_place(prog, i - 1, i))
			print_place(f, prog, i);
		fprintf(f, "%5u: ", i);
		weft_disassemble(f, &prog->insns[i], i);
		fputc('\n', f);
		if (INSN_IS_LD_IMM64(&prog->insns[i]))
			i++;
	}
	if (fclose(f) || ret) {
		free(text);
		return -ENOMEM;
	}
	*out = weft_arena_strndup(arena, text, size);
	free(text);
	return *out ? 0 : -ENOMEM;
}
