/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What `trace-cli explain` shows of a program: the typed clauses; then the BPF instructions, each
 * run of them under the expression that it was made for, each beside the line of the intermediate
 * form that it was made from, with what a map or a word of STATE is there for. Clauses are counted
 * from 1, as errors do.
 */
#include "core/compiler/explain.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
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

/* Numbers that are as signed as the values that are counted. */
static void print_buckets(FILE *f, const struct weft_buckets *b)
{
	if (b->how == WEFT_BUCKETS_LINEAR)
		fprintf(f,
			b->is_unsigned ? "      from %" PRIu64 " to %" PRIu64 " step %" PRIu64 "\n"
				       : "      from %" PRId64 " to %" PRId64 " step %" PRIu64 "\n",
			b->from, b->to, b->step);
	else if (b->how == WEFT_BUCKETS_LOG_LINEAR)
		fprintf(f,
			"      factor %" PRIu64 " low %" PRIu64 " high %" PRIu64 " steps %" PRIu64
			"\n",
			b->factor, b->low, b->high, b->steps);
}

static int print_action(FILE *f, const struct weft_typed_action *a, struct weft_arena *arena)
{
	int ret;

	fprintf(f, "    %s", a->action->spec->name);
	if (a->into)
		fprintf(f, " %s", a->into);
	for (size_t i = 0; i < a->n_names; i++)
		fprintf(f, "%s %s", i ? "," : "", a->names[i]);
	if (a->signal)
		fprintf(f, " %d", a->signal);
	fputs("\n", f);
	print_buckets(f, &a->buckets);
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

	fprintf(f, "  clause %u, line %u\n", c->clause->index + 1, c->clause->pos.line);
	ret = print_node(f, "    when ", c->when, arena);
	if (c->clause->every > 1)
		fprintf(f, "    every %" PRIu64 "\n", c->clause->every);
	if (c->clause->limit.count)
		fprintf(f, "    limit %s\n", c->clause->limit.text.s);
	for (size_t i = 0; i < c->n_actions && !ret; i++)
		ret = print_action(f, &c->actions[i], arena);
	return ret;
}

int weft_explain_keep(struct weft_plan *plan, const struct weft_group *group,
		      const struct weft_ir *ir, struct weft_program *out)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	int ret = 0;

	if (!f)
		return -ENOMEM;
	fputs("typed clauses\n", f);
	for (size_t i = 0; i < group->n_clauses && !ret; i++)
		ret = print_clause(f, &group->clauses[i], plan->arena);
	if (fclose(f) && !ret)
		ret = -ENOMEM;
	if (!ret) {
		out->listing = weft_arena_strndup(plan->arena, text, size);
		out->ir_text = weft_ir_print(ir, plan->arena);
		ret = out->listing && out->ir_text ? 0 : -ENOMEM;
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
		fprintf(f, "; clause %u\n", p->clause_of[i] + 1);
		return;
	}
	fprintf(f, "; %u:%u: %.*s\n", weft_span_pos(*s).line, weft_span_pos(*s).column,
		(int)s->length, s->text->s + s->start);
}

/* ---- what is where ---- */

static const char *map_owner(const struct weft_plan *plan, int32_t map)
{
	for (size_t i = 0; i < plan->n_aggregations; i++)
		if (plan->aggregations[i].map == map)
			return plan->aggregations[i].name;
	for (size_t i = 0; i < plan->n_variables; i++)
		if (plan->variables[i].map == map && plan->variables[i].key_size)
			return plan->variables[i].var->name;
	return NULL;
}

static const char *word_owner(const struct weft_plan *plan, uint32_t offset)
{
	if (offset == offsetof(struct weft_control, enabled))
		return "is the session running?";
	if (offset < sizeof(struct weft_control))
		return "control";
	if (offset >= plan->zeros_offset && offset < plan->zeros_offset + plan->zeros_size)
		return "zeros";
	for (size_t i = 0; i < plan->n_losses; i++) {
		if (plan->losses[i].state_offset == offset)
			return weft_losses[plan->losses[i].loss].tag;
		/* weft_plan_bucket(): behind its counter */
		if (plan->losses[i].loss == WEFT_LOSS_RATE_LIMITED &&
		    plan->losses[i].state_offset + sizeof(uint64_t) == offset)
			return "limit";
	}
	for (size_t i = 0; i < plan->n_controls; i++)
		if (plan->controls[i].state_offset == offset)
			return plan->controls[i].action->action->spec->name;
	for (size_t i = 0; i < plan->n_aggregations; i++)
		if (plan->aggregations[i].map < 0 && plan->aggregations[i].state_offset == offset)
			return plan->aggregations[i].name;
	for (size_t i = 0; i < plan->n_variables; i++)
		if (plan->variables[i].map == WEFT_PLAN_STATE && plan->variables[i].offset == offset)
			return plan->variables[i].var->name;
	return NULL;
}

static const char *owner(const struct weft_plan *plan, const struct bpf_insn *insn)
{
	if (!INSN_IS_LD_IMM64(insn))
		return NULL;
	if (insn->src_reg == BPF_PSEUDO_MAP_FD)
		return map_owner(plan, insn->imm);
	if (insn->src_reg == BPF_PSEUDO_MAP_VALUE && insn->imm == WEFT_PLAN_STATE)
		return word_owner(plan, (uint32_t)insn[1].imm);
	return NULL;
}

static void print_maps(FILE *f, const struct weft_plan *plan, const struct weft_program *prog)
{
	fputs("\nmaps\n", f);
	for (size_t map = 0; map < plan->n_maps; map++) {
		const char *name = map_owner(plan, (int32_t)map);

		for (uint32_t i = 0; i < prog->n_insns; i++) {
			const struct bpf_insn *insn = &prog->insns[i];

			if (!INSN_IS_LD_IMM64(insn))
				continue;
			i++;
			if (!insn->src_reg || insn->imm != (int32_t)map)
				continue;
			fprintf(f, "  map[%zu] %s%s%s\n", map, plan->maps[map].name,
				name ? ": " : "", name ? name : "");
			break;
		}
	}
}

/* ---- side by side ---- */

#define LEFT "%*s| " /* fills up the column of instructions */
#define WIDE 46

/* Lines of the intermediate form before the one numbered `to`, of which nothing has become. */
static void print_passed(FILE *f, const char **line, uint32_t *at, uint32_t to)
{
	for (; *at < to && **line; ++*at) {
		size_t n = strcspn(*line, "\n");

		fprintf(f, LEFT "%.*s\n", WIDE, "", (int)n, *line);
		*line += n + ((*line)[n] == '\n');
	}
}

static void print_insns(FILE *f, const struct weft_plan *plan, const struct weft_program *prog)
{
	const char *line = prog->ir_text ? prog->ir_text : "";
	uint32_t at = 0;

	for (uint32_t i = 0; i < prog->n_insns; i++) {
		const char *what = owner(plan, &prog->insns[i]);
		long start;

		if (prog->ir_of)
			print_passed(f, &line, &at, prog->ir_of[i]);
		if (!i || !same_place(prog, i - 1, i))
			print_place(f, prog, i);
		start = ftell(f);
		fprintf(f, "%5u: ", i);
		weft_disassemble(f, &prog->insns[i], i);
		if (prog->ir_of && at == prog->ir_of[i]) {
			size_t n = strcspn(line, "\n");
			int gap = WIDE - (int)(ftell(f) - start);

			fprintf(f, LEFT "%.*s", gap > 1 ? gap : 1, "", (int)n, line);
			line += n + (line[n] == '\n');
			at++;
		}
		fprintf(f, what ? "  (%s)\n" : "\n", what);
		i += INSN_IS_LD_IMM64(&prog->insns[i]);
	}
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
	print_maps(f, plan, prog);
	fprintf(f, "\ninstructions%s\n", prog->ir_text ? ", and what they were made from" : "");
	print_insns(f, plan, prog);
	if (fclose(f) || ret) {
		free(text);
		return -ENOMEM;
	}
	*out = weft_arena_strndup(arena, text, size);
	free(text);
	return *out ? 0 : -ENOMEM;
}
