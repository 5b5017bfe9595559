/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a set does, firing by firing, and what there is to be seen of it in the end. */
#include "tests/random/model.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void model_lose(struct model *m, const char *tag, uint32_t line, uint32_t column)
{
	size_t i;

	for (i = 0; i < m->n_losses; i++)
		if (m->losses[i].tag == tag && m->losses[i].line == line &&
		    m->losses[i].column == column)
			break;
	if (i == m->n_losses) {
		weft_grow(&m->losses, &m->cap_losses, m->n_losses, sizeof(*m->losses));
		m->losses[m->n_losses++] = (struct loss){.tag = tag, .line = line, .column = column};
	}
	m->losses[i].count++;
}

/* ---- state ---- */

static struct element *make(struct model *m, const struct rnd_x *var, const struct value *keys)
{
	const struct rnd_var *v = &m->set->vars[var->index];
	struct element *e = model_find(m, var->index, keys);

	if (e)
		return e;
	if (v->scope == RND_ARRAY && m->n_elements[var->index] == m->set->rows) {
		model_lose(m, "STATE_FULL", var->line, var->column);
		return NULL;
	}
	e = weft_arena_alloc(m->arena, sizeof(*e));
	memcpy(e->keys, keys, sizeof(e->keys));
	e->next = m->vars[var->index];
	m->vars[var->index] = e;
	m->n_elements[var->index]++;
	return e;
}

static int64_t updated(enum rnd_op op, int64_t a, int64_t b)
{
	uint64_t x = (uint64_t)a, y = (uint64_t)b;

	switch (op) {
	case O_ADD:
		return (int64_t)(x + y);
	case O_SUB:
		return (int64_t)(x - y);
	case O_AND:
		return (int64_t)(x & y);
	case O_OR:
		return (int64_t)(x | y);
	case O_XOR:
		return (int64_t)(x ^ y);
	default:
		return b;
	}
}

static bool set(struct model *m, const struct rnd_item *item)
{
	const struct rnd_x *var = item->var;
	struct value v, keys[RND_KEYS] = {{0}};
	struct element *e;

	if (!model_eval(m, item->x, &v))
		return false;
	if (var->type.kind == RND_INT)
		v.bits = model_fit(v.bits, var->type);
	if (var->node == X_LOCAL) {
		v.bits = updated(item->op, m->locals[var->index].bits, v.bits);
		m->locals[var->index] = v;
		return true;
	}
	if (!model_keys(m, var, keys))
		return false;
	e = model_find(m, var->index, keys);
	if (!e && item->op && !m->set->vars[var->index].counts) {
		model_lose(m, "STATE_UNSET", var->line, var->column);
		return false;
	}
	e = make(m, var, keys);
	if (!e)
		return true; /* counted, and the clause goes on */
	v.bits = updated(item->op, e->value.bits, v.bits);
	e->value = v;
	return true;
}

static bool delete (struct model *m, const struct rnd_x *var)
{
	struct value keys[RND_KEYS] = {{0}};
	struct element **at = &m->vars[var->index], *e;

	if (!model_keys(m, var, keys))
		return false;
	e = model_find(m, var->index, keys);
	if (!e)
		return true;
	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	m->n_elements[var->index]--;
	return true;
}

/* ---- actions ---- */

const char *model_name(const struct rnd_type *t, int64_t bits)
{
	for (uint32_t i = 0; t->is_enum && i < N(rnd_constants); i++)
		if (rnd_constants[i].value == bits)
			return rnd_constants[i].name;
	return NULL;
}

static void say(FILE *f, const struct rnd_x *x, const struct value *v)
{
	if (model_name(&x->type, v->bits))
		fputs(model_name(&x->type, v->bits), f);
	else if (x->type.kind == RND_INET || x->type.kind == RND_TEXT || x->type.kind == RND_PROBE)
		rnd_say_text(f, "\"", v->text.s, v->text.n);
	else if (x->type.kind == RND_BYTES)
		rnd_say_text(f, "'", v->text.s, v->text.n);
	else
		rnd_say_int(f, v->bits, x->type.size, x->type.is_signed);
}

/* C's own printf, of the value in the size that it has. */
static void say_line(FILE *f, const struct rnd_action *a, const struct value *v)
{
	char *text, format[16], address[INET6_ADDRSTRLEN];
	size_t size, n;
	FILE *line = open_memstream(&text, &size);

	for (uint32_t i = 0; i < a->n_items; i++) {
		const struct rnd_type *t = &a->items[i].x->type;
		const char *conv = t->is_enum ? "%u" : a->items[i].convert; /* without a name */
		uint64_t bits = (uint64_t)v[i].bits;
		char last = conv[strlen(conv) - 1];

		if (i)
			fputc(' ', line);
		if (t->kind == RND_INET) {
			fputs(inet_ntop(t->cap == 4 ? AF_INET : AF_INET6, v[i].text.s, address,
					sizeof(address)),
			      line);
			continue;
		}
		if (model_name(t, v[i].bits)) {
			fputs(model_name(t, v[i].bits), line);
			continue;
		}
		if (t->kind != RND_INT) {
			fwrite(v[i].text.s, 1, v[i].text.n, line);
			continue;
		}
		if (strchr("uxXop", last) && t->size < 8)
			bits %= UINT64_C(1) << (8 * t->size);
		if (last == 'c') {
			fputc((int)(bits % 256), line);
			continue;
		}
		n = strlen(conv) - 1;
		snprintf(format, sizeof(format), "%.*sll%c", (int)n, conv,
			 last == 'p'                                     ? 'x'
			 : (last == 'd' || last == 'i') && !t->is_signed ? 'u'
									 : last);
		if (last == 'p')
			fputs("0x", line);
		fprintf(line, format, (unsigned long long)bits);
	}
	fclose(line);
	rnd_say_text(f, " \"", text, size);
	free(text);
}

static bool record(struct model *m, const struct rnd_action *a)
{
	bool has_bytes = false;

	struct value v[RND_FIELDS];

	for (uint32_t i = 0; i < a->n_items; i++) {
		const struct rnd_x *x = a->items[i].x;

		has_bytes |= x->type.kind == RND_BYTES;
		if (!(x->type.kind == RND_BYTES ? model_bytes : model_eval)(m, x, &v[i]))
			return false;
	}
	fputs(a->kind == A_EMIT ? "emit" : "printf", m->out);
	for (uint32_t i = 0; i < a->n_items; i++) {
		fprintf(m->out, " %s=", a->kind == A_EMIT ? a->items[i].name : "");
		say(m->out, a->items[i].x, &v[i]);
	}
	if (a->kind == A_PRINTF && !has_bytes)
		say_line(m->out, a, v);
	fputc('\n', m->out);
	return true;
}

static bool table(struct model *m, const struct rnd_action *a)
{
	struct value keys[RND_KEYS] = {{0}}, v = {0};

	if (a->value && !model_eval(m, a->value, &v))
		return false;
	for (uint32_t i = 0; i < a->n_items; i++)
		if (!model_eval(m, a->items[i].x, &keys[i]))
			return false;
	model_add(m, a, keys, v.bits);
	return true;
}

static bool leave(struct model *m, const struct rnd_action *a)
{
	struct value v = {0};

	if (a->value && !model_eval(m, a->value, &v))
		return false;
	if (!m->exited)
		m->status = (int)((uint64_t)v.bits % 256);
	m->exited = true;
	return true;
}

/* did: where it is noted that something is to be shown or cleared. */
static bool act(struct model *m, const struct rnd_action *a, bool *did)
{
	switch (a->kind) {
	case A_TABLE:
		return table(m, a);
	case A_EMIT:
	case A_PRINTF:
		return record(m, a);
	case A_SET:
		for (uint32_t i = 0; i < a->n_items; i++)
			if (!set(m, &a->items[i]))
				return false;
		return true;
	case A_DELETE:
		return delete (m, a->items[0].var);
	case A_EXIT:
		return leave(m, a);
	case A_SHOW:
	case A_CLEAR:
		*did = true;
		return true;
	}
	return false;
}

/* begin or end: once, with nothing to say of a probe. */
static void list(struct model *m, const struct rnd_clause *c)
{
	memset(m->locals, 0, sizeof(m->locals));
	m->cpu = rnd_world()->cpus[0];
	for (uint32_t i = 0; i < c->n_actions; i++)
		if (!act(m, &c->actions[i], NULL))
			return;
}

/* Calls and returns, by docs/language.md: what lies deeper than a frame that is alive has ended. */
static void pair(struct model *m)
{
	int64_t at = (int64_t)m->words[RND_FRAME];

	m->entry = NULL;
	if (!m->set->pairs || (m->probe != RND_ENTRY && m->probe != RND_RETURN))
		return;
	while (m->n_frames && m->frames[m->n_frames - 1].at < at)
		m->n_frames--;
	if (m->n_frames && m->frames[m->n_frames - 1].at == at)
		m->entry = m->frames[--m->n_frames].words;
	if (m->probe == RND_RETURN)
		return;
	m->entry = NULL;
	m->frames[m->n_frames++] = (struct frame){at, m->words};
}

static void clause(struct model *m, uint32_t index)
{
	const struct rnd_clause *c = &m->set->clauses[index];
	struct value v;

	memset(m->locals, 0, sizeof(m->locals));
	if (c->when && (!model_eval(m, c->when, &v) || !v.bits))
		return;
	if (c->every && ++m->seen[index] % c->every) {
		model_lose(m, "SAMPLED_OUT", c->line, c->column);
		return;
	}
	if (c->limit && ++m->passed[index] > c->limit) {
		model_lose(m, "RATE_LIMITED", c->limit_line, c->limit_column);
		return;
	}
	for (uint32_t i = 0; i < c->n_actions; i++)
		if (!act(m, &c->actions[i], &m->did[index][i]))
			return;
}

static void settle_order(struct model *m)
{
	uint32_t done = 0;

	for (uint32_t p = 0; p < m->set->n_probes; p++)
		for (uint32_t c = 0; c < m->set->n_clauses; c++) {
			if (!(m->set->clauses[c].probes >> p & 1) || done >> c & 1)
				continue;
			done |= 1u << c;
			m->order[m->n_order++] = c;
		}
}

/* Shows and clears are acted on behind a firing, in the order in which they are first met. */
static void look(struct model *m)
{
	for (uint32_t n = 0; n < m->n_order; n++)
		for (uint32_t i = 0; i < m->set->clauses[m->order[n]].n_actions; i++) {
			const uint32_t c = m->order[n];
			const struct rnd_action *a = &m->set->clauses[c].actions[i];

			if (!m->did[c][i])
				continue;
			m->did[c][i] = false;
			if (a->kind == A_SHOW)
				model_say_tables(m, a);
			else
				model_clear(m, a);
		}
}

/* ---- what is to be seen ---- */

static int compare_losses(const void *pa, const void *pb)
{
	const struct loss *a = pa, *b = pb;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->column != b->column)
		return a->column < b->column ? -1 : 1;
	return strcmp(a->tag, b->tag);
}

void model_say_losses(FILE *f, struct loss *losses, size_t n)
{
	if (n)
		qsort(losses, n, sizeof(*losses), compare_losses);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "loss %u:%u %s %" PRIu64 "\n", losses[i].line, losses[i].column,
			losses[i].tag, losses[i].count);
}

static void say_element(struct model *m, size_t i, void *arg)
{
	const size_t var = *(const size_t *)arg;
	const struct rnd_var *v = &m->set->vars[var];
	const struct element *e = m->vars[var];

	while (i--)
		e = e->next;

	/* A counter that is 0 looks like one that was never touched. */
	if (v->counts && !v->n_keys && !e->value.bits)
		return;
	fprintf(m->out, "left %s", v->name);
	for (uint32_t k = 0; k < v->n_keys; k++) {
		fputc(' ', m->out);
		if (v->keys[k] == RND_TEXT)
			rnd_say_text(m->out, "\"", e->keys[k].text.s, e->keys[k].text.n);
		else
			rnd_say_int(m->out, e->keys[k].bits, 8, true);
	}
	fputs(" = ", m->out);
	if (v->type.kind == RND_TEXT)
		rnd_say_text(m->out, "\"", e->value.text.s, e->value.text.n);
	else
		rnd_say_int(m->out, e->value.bits, 8, v->type.is_signed);
	fputc('\n', m->out);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void model_sorted(struct model *m, size_t n, void (*one)(struct model *m, size_t i, void *arg),
		  void *arg)
{
	char **lines = calloc(n + 1, sizeof(*lines));
	FILE *out = m->out;
	size_t size;

	for (size_t i = 0; i < n; i++) {
		m->out = open_memstream(&lines[i], &size);
		one(m, i, arg);
		fclose(m->out);
	}
	m->out = out;
	qsort(lines, n, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < n; i++) {
		fputs(lines[i], m->out);
		free(lines[i]);
	}
	free(lines);
}

static void say_all_of(struct model *m, size_t i, void *arg)
{
	(void)arg;
	model_sorted(m, m->n_elements[i], say_element, &i);
}

const char *rnd_expect(struct rnd_set *set)
{
	struct model m = {.set = set, .arena = weft_arena_create()};
	char *text, *copy;
	size_t size;

	m.out = open_memstream(&text, &size);
	settle_order(&m);
	list(&m, &set->begin);
	for (uint32_t n = 0; n < (set->at_once ? 2 * set->at_once : 1) * set->n_firings; n++) {
		uint32_t f = n % set->n_firings;
		m.words = set->firings[f];
		m.probe = set->probe[f];
		m.cpu = rnd_world()->cpus[set->cpus[f]];
		pair(&m);
		for (uint32_t c = 0; c < set->n_clauses; c++)
			if (set->clauses[c].probes >> m.probe & 1)
				clause(&m, c);
		look(&m);
	}
	list(&m, &set->end);
	model_say_tables(&m, NULL);
	model_say_losses(m.out, m.losses, m.n_losses);
	model_sorted(&m, set->n_vars, say_all_of, NULL);
	if (m.exited)
		fprintf(m.out, "exit %d\n", m.status);
	fclose(m.out);
	copy = weft_arena_strdup(set->arena, text);
	free(text);
	free(m.losses);
	model_free_rows(&m);
	weft_arena_destroy(m.arena);
	return copy;
}
