/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A set as YAML. Parentheses stand where precedence needs them, and now and then where it does not.
 * Every node is told the line and the column that a message about it has to name: its own where
 * the text stands in the file as it is, else the beginning of the scalar.
 */
#include "tests/random/random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct writer {
	struct rnd_set *set;
	FILE *f;
	char *text;
	size_t size;
	size_t seen, line_start; /* what was looked through for lines */
	uint32_t line;
};

/* ---- expressions ---- */

#define COND_LEVEL 13u

static unsigned level_of(const struct rnd_x *x)
{
	switch (x->node) {
	case X_UNARY:
	case X_CAST:
		return 1;
	case X_BINARY:
	case X_LOGICAL:
	case X_DEFAULT:
		return rnd_ops[x->op].level;
	case X_COND:
		return COND_LEVEL;
	default:
		return x->spelling && x->spelling[0] == '-' ? 1 : 0;
	}
}

static void literal(FILE *f, const struct rnd_x *x)
{
	static const char letters[] = "ntrabfve";
	static const char bytes[] = "\n\t\r\a\b\f\v\x1b";
	const char *named;

	fputc('"', f);
	for (uint32_t i = 0; i < x->text.n; i++) {
		uint8_t c = x->text.s[i];

		named = memchr(bytes, c, sizeof(bytes) - 1);
		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (named && i % 2)
			fprintf(f, "\\%c", letters[named - bytes]);
		else if (c >= ' ' && c < 0x7f)
			fputc(c, f);
		else
			fprintf(f, "\\x%02x", c);
	}
	fputc('"', f);
}

static void expression(struct writer *w, FILE *f, struct rnd_x *x, unsigned most);

static void list(struct writer *w, FILE *f, struct rnd_x *x, char open, char close)
{
	fputc(open, f);
	for (uint32_t i = 0; i < x->n_kids; i++) {
		if (i)
			fputs(", ", f);
		expression(w, f, x->kid[i], COND_LEVEL);
	}
	fputc(close, f);
}

static void unary(struct writer *w, FILE *f, struct rnd_x *x)
{
	struct rnd_x *kid = x->kid[0];
	const char *sign = rnd_ops[x->op].text;
	bool twice = kid->node == X_UNARY && kid->op == x->op && !kid->parens;

	fputs(sign, f);
	if (twice || (x->op == O_NEG && kid->spelling && kid->spelling[0] == '-'))
		fputc(' ', f);
	/* -9223372036854775808 is one number, and here it is two things. */
	if (x->op == O_NEG && kid->node == X_INT && !strcmp(kid->spelling, "9223372036854775808"))
		kid->parens = true;
	expression(w, f, kid, 1);
}

static void node(struct writer *w, FILE *f, struct rnd_x *x)
{
	unsigned level = level_of(x);

	switch (x->node) {
	case X_TEXT:
		literal(f, x);
		break;
	case X_PARAM:
		fprintf(f, "$%s", w->set->params[x->index].name);
		break;
	case X_UNARY:
		unary(w, f, x);
		break;
	case X_BINARY:
	case X_LOGICAL:
	case X_DEFAULT:
		expression(w, f, x->kid[0], x->op == O_DEFAULT ? level - 1 : level);
		fprintf(f, " %s ", rnd_ops[x->op].text);
		expression(w, f, x->kid[1], x->op == O_DEFAULT ? level : level - 1);
		break;
	case X_COND:
		expression(w, f, x->kid[0], COND_LEVEL - 1);
		fputs(" ? ", f);
		expression(w, f, x->kid[1], COND_LEVEL);
		fputs(" : ", f);
		expression(w, f, x->kid[2], COND_LEVEL);
		break;
	case X_CAST:
		fprintf(f, "(%sint%u) ", x->type.is_signed ? "" : "u", 8 * x->type.size);
		expression(w, f, x->kid[0], 1);
		break;
	case X_STATE:
		fputs(w->set->vars[x->index].name, f);
		if (x->n_kids)
			list(w, f, x, '[', ']');
		break;
	case X_DEFINED:
		fputs("defined", f);
		list(w, f, x, '(', ')');
		break;
	case X_MEMBER:
		if (x->kid[0]->node == X_MEMBER) {
			expression(w, f, x->kid[0], 0);
		} else {
			fprintf(f, "((struct item %s*) ",
				x->kid[0]->type.points == RND_KERNEL ? "" : "__user ");
			expression(w, f, x->kid[0], 1);
			fputc(')', f);
		}
		fprintf(f, "%s%s", x->index % 2 ? "->" : ".", rnd_members[x->index].text);
		if (x->n_kids < 2)
			break;
		fputc('[', f);
		expression(w, f, x->kid[1], COND_LEVEL);
		fputc(']', f);
		break;
	case X_CALL:
		fputs(rnd_functions[x->function], f);
		list(w, f, x, '(', ')');
		break;
	default:
		fputs(x->spelling, f);
	}
}

static void expression(struct writer *w, FILE *f, struct rnd_x *x, unsigned most)
{
	bool parens = x->parens || level_of(x) > most;

	fflush(f);
	x->column = (uint32_t)ftell(f); /* parentheses belong to what they enclose */
	if (parens)
		fputc('(', f);
	node(w, f, x);
	if (parens)
		fputc(')', f);
}

/* ---- scalars ---- */

static void here(struct writer *w, uint32_t *line, uint32_t *column)
{
	fflush(w->f);
	for (; w->seen < w->size; w->seen++)
		if (w->text[w->seen] == '\n') {
			w->line++;
			w->line_start = w->seen + 1;
		}
	*line = w->line + 1;
	*column = (uint32_t)(w->size - w->line_start) + 1;
}

static void moved(struct rnd_x *x, uint32_t line, uint32_t column, bool verbatim)
{
	x->line = line;
	x->column = verbatim ? x->column + column : column;
	for (uint32_t i = 0; i < x->n_kids; i++)
		moved(x->kid[i], line, column, verbatim);
}

static bool is_plain(const char *s)
{
	bool number = s[strspn(s, "0123456789xabcdefob")] == '\0';

	return !number && ((s[0] >= 'a' && s[0] <= 'z')) &&
	       !s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_.+*/()<=%^~ ")];
}

/* s as a scalar; x, its tree, learns where it stands. */
static void scalar(struct writer *w, const char *s, struct rnd_x *x)
{
	uint32_t line, column;
	bool apostrophe = strchr(s, '\'');
	bool verbatim = !apostrophe;

	here(w, &line, &column);
	if (is_plain(s)) {
		fputs(s, w->f);
	} else if (!apostrophe) {
		fprintf(w->f, "'%s'", s);
		column++;
	} else if (strlen(s) % 2) {
		fputc('\'', w->f);
		for (; *s; s++)
			fprintf(w->f, *s == '\'' ? "''" : "%c", *s);
		fputc('\'', w->f);
	} else {
		verbatim = !strpbrk(s, "\\\"");
		column += verbatim;
		fputc('"', w->f);
		for (; *s; s++)
			fprintf(w->f, strchr("\\\"", *s) ? "\\%c" : "%c", *s);
		fputc('"', w->f);
	}
	if (x)
		moved(x, line, column, verbatim);
}

/* An expression, with something before it; returns both. */
static const char *value(struct writer *w, const char *before, struct rnd_x *x, unsigned most)
{
	const char *copy;
	char *s;
	size_t n;
	FILE *f = open_memstream(&s, &n);

	fputs(before, f);
	expression(w, f, x, most);
	fclose(f);
	scalar(w, s, x);
	copy = weft_arena_strdup(w->set->arena, s);
	free(s);
	return copy;
}

/* Whether two items have one text, which then cannot be their name. */
static bool has_twins(struct writer *w, struct rnd_action *a)
{
	const char *texts[RND_FIELDS];
	bool twins = false;

	for (uint32_t i = 0; i < a->n_items; i++) {
		char *s;
		size_t n;
		FILE *f = open_memstream(&s, &n);

		expression(w, f, a->items[i].x, COND_LEVEL);
		fclose(f);
		texts[i] = weft_arena_strdup(w->set->arena, s);
		free(s);
		for (uint32_t k = 0; k < i; k++)
			twins |= !strcmp(texts[k], texts[i]);
	}
	return twins;
}

/* ---- actions ---- */

static void write_table(struct writer *w, struct rnd_action *a)
{
	struct rnd_table *t = &w->set->tables[a->table];
	bool as_list = t->is_list && !has_twins(w, a);

	fprintf(w->f, "      - %s:\n          into: ", rnd_tables[t->kind]);
	here(w, &a->line, &a->column);
	fprintf(w->f, "%s\n", t->name);
	if (a->n_items)
		fputs("          by:\n", w->f);
	for (uint32_t i = 0; i < a->n_items; i++) {
		if (as_list)
			fputs("            - ", w->f);
		else
			fprintf(w->f, "            %s: ", a->items[i].name);
		t->names[i] = value(w, "", a->items[i].x, COND_LEVEL);
		if (!as_list)
			t->names[i] = a->items[i].name;
		fputc('\n', w->f);
	}
	if (a->value) {
		fputs("          value: ", w->f);
		value(w, "", a->value, COND_LEVEL);
		fputc('\n', w->f);
	}
	if (t->kind == T_LQUANTIZE) {
		fprintf(w->f,
			t->is_unsigned ? "          from: %" PRIu64 "\n"
				       : "          from: %" PRId64 "\n",
			t->from);
		fprintf(w->f,
			t->is_unsigned ? "          to: %" PRIu64 "\n"
				       : "          to: %" PRId64 "\n",
			t->to);
		fprintf(w->f, "          step: %" PRIu64 "\n", t->step);
	}
	if (t->kind == T_LLQUANTIZE)
		fprintf(w->f,
			"          factor: %" PRIu64 "\n          low: %" PRIu64
			"\n          high: %" PRIu64 "\n          steps: %" PRIu64 "\n",
			t->factor, t->low, t->high, t->steps);
}

static void write_emit(struct writer *w, struct rnd_action *a)
{
	bool as_list = a->is_list && !has_twins(w, a);

	fputs("      - emit:\n", w->f);
	for (uint32_t i = 0; i < a->n_items; i++) {
		const char *text;

		if (!as_list)
			a->items[i].name = weft_arena_printf(w->set->arena, "f%u", i);
		if (as_list)
			fputs("          - ", w->f);
		else
			fprintf(w->f, "          %s: ", a->items[i].name);
		if (!i)
			here(w, &a->line, &a->column);
		text = value(w, "", a->items[i].x, COND_LEVEL);
		if (as_list)
			a->items[i].name = text;
		fputc('\n', w->f);
	}
}

static void write_printf(struct writer *w, struct rnd_action *a)
{
	fputs("      - printf:\n          - ", w->f);
	here(w, &a->line, &a->column);
	a->column++;
	fputs("'", w->f);
	for (uint32_t i = 0; i < a->n_items; i++)
		fprintf(w->f, "%s%s", i ? " " : "", a->items[i].convert);
	fputs("'\n", w->f);
	for (uint32_t i = 0; i < a->n_items; i++) {
		fputs("          - ", w->f);
		value(w, "", a->items[i].x, COND_LEVEL);
		fputc('\n', w->f);
	}
}

static void write_name(struct writer *w, struct rnd_x *x)
{
	if (x->node == X_LOCAL)
		fputs(x->spelling, w->f);
	else
		value(w, "", x, COND_LEVEL);
}

static void write_set(struct writer *w, struct rnd_action *a)
{
	fputs("      - set:\n", w->f);
	for (uint32_t i = 0; i < a->n_items; i++) {
		struct rnd_item *item = &a->items[i];
		char before[8] = "";

		if (item->op)
			snprintf(before, sizeof(before), "%s= ", rnd_ops[item->op].text);
		fputs("          ? ", w->f); /* a key may be longer than YAML has others */
		write_name(w, item->var);
		fputs("\n          : ", w->f);
		value(w, before, item->x, COND_LEVEL);
		fputc('\n', w->f);
	}
}

static void write_names(struct writer *w, const struct rnd_action *a)
{
	const char *name = a->table < w->set->n_tables ? w->set->tables[a->table].name : NULL;

	fprintf(w->f, "      - %s", a->kind == A_SHOW ? "show" : "clear");
	if (a->kind == A_SHOW && a->top)
		fprintf(w->f, name ? ": {top: %u, name: %s}" : ": {top: %u}", a->top, name);
	else if (name)
		fprintf(w->f, ": %s", name);
	fputc('\n', w->f);
}

static void write_action(struct writer *w, struct rnd_action *a)
{
	switch (a->kind) {
	case A_TABLE:
		write_table(w, a);
		break;
	case A_EMIT:
		write_emit(w, a);
		break;
	case A_PRINTF:
		write_printf(w, a);
		break;
	case A_SET:
		write_set(w, a);
		break;
	case A_DELETE:
		fputs("      - delete: ", w->f);
		write_name(w, a->items[0].var);
		fputc('\n', w->f);
		break;
	case A_SHOW:
	case A_CLEAR:
		write_names(w, a);
		break;
	case A_EXIT:
		fputs("      - exit", w->f);
		if (a->value) {
			fputs(": ", w->f);
			value(w, "", a->value, COND_LEVEL);
		}
		fputc('\n', w->f);
		break;
	}
}

static void write_probes(struct writer *w, const struct rnd_clause *c)
{
	bool first = true;

	fputs("probe: [", w->f);
	for (uint32_t i = 0; i < w->set->n_probes; i++) {
		const char *const *p = rnd_probes[i];

		if (!(c->probes >> i & 1))
			continue;
		fprintf(w->f, "%s'%s:%s:%s:%s'", first ? "" : ", ", p[0], p[1], p[2], p[3]);
		first = false;
	}
	/* One that never fires, where none is left of those that do. */
	fputs(first ? "'t:none:f:n']\n" : "]\n", w->f);
}

static void write_clause(struct writer *w, struct rnd_clause *c)
{
	fputs("  - ", w->f);
	here(w, &c->line, &c->column);
	write_probes(w, c);
	if (c->when) {
		fputs("    when: ", w->f);
		value(w, "", c->when, COND_LEVEL);
		fputc('\n', w->f);
	}
	if (c->every)
		fprintf(w->f, "    every: %u\n", c->every);
	if (c->limit) {
		fputs("    limit: ", w->f);
		here(w, &c->limit_line, &c->limit_column);
		fprintf(w->f, "%u/m\n", c->limit);
	}
	fputs("    do:\n", w->f);
	for (uint32_t i = 0; i < c->n_actions; i++)
		write_action(w, &c->actions[i]);
}

static void write_list(struct writer *w, const char *name, struct rnd_clause *c)
{
	if (c->n_actions)
		fprintf(w->f, "%s:\n", name);
	for (uint32_t i = 0; i < c->n_actions; i++)
		write_action(w, &c->actions[i]);
}

const char *rnd_write(struct rnd_set *set)
{
	struct writer w = {.set = set};
	const char *copy;

	w.f = open_memstream(&w.text, &w.size);
	fprintf(w.f, "version: 1\nname: case\n%s", set->n_params ? "params:\n" : "");
	for (uint32_t i = 0; i < set->n_params; i++)
		fprintf(w.f, set->params[i].type.kind == RND_TEXT ? "  %s: '%s'\n" : "  %s: %s\n",
			set->params[i].name, set->params[i].spelling);
	fprintf(w.f, "options: {strsize: %u, rows: %u, threads: 4, buffer: 256k}\n", set->strsize,
		set->rows);
	write_list(&w, "begin", &set->begin);
	fputs("probes:\n", w.f);
	for (uint32_t i = 0; i < set->n_clauses; i++)
		write_clause(&w, &set->clauses[i]);
	write_list(&w, "end", &set->end);
	fclose(w.f);
	copy = weft_arena_strdup(set->arena, w.text);
	free(w.text);
	return copy;
}
