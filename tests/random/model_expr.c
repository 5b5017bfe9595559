/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What an expression is worth, by docs/language.md. Arithmetic is done in 128 bits and cut to 64,
 * so that nothing overflows and no code is shared with what is tested.
 */
#include "tests/random/model.h"

#include <string.h>

int64_t model_fit(int64_t bits, struct rnd_type to)
{
	weft_wide modulus = (weft_wide)1 << (8 * to.size), v = (weft_wide)(uint64_t)bits % modulus;

	if (to.is_signed && v >= modulus / 2)
		v -= modulus;
	return (int64_t)(uint64_t)v;
}

weft_wide model_widen(int64_t bits, bool is_signed)
{
	return is_signed ? (weft_wide)bits : (weft_wide)(uint64_t)bits;
}

static bool is_signed_together(const struct rnd_x *a, const struct rnd_x *b)
{
	return (a->type.size < 8 || a->type.is_signed) && (b->type.size < 8 || b->type.is_signed);
}

bool model_fault(struct model *m, const char *tag, const struct rnd_x *x)
{
	model_lose(m, tag, x->line, x->column);
	return false;
}

/* ---- arguments and variables ---- */

static bool argument(struct model *m, const struct rnd_x *x, struct value *out)
{
	if (x->index < RND_INTS)
		out->bits = model_fit((int64_t)m->words[x->index], x->type);
	else if (x->index == 7)
		out->bits = (int64_t)m->words[7];
	else if (x->index == 10)
		out->bits = (int64_t)m->words[10];
	else if (x->index == 6)
		return model_read_text(m, x, m->words[6], UINT64_MAX, true, out);
	else
		return model_read_text(m, x, m->words[6], m->words[9], true, out);
	return true;
}

static void builtin(const struct model *m, const struct rnd_x *x, struct value *out)
{
	const struct rnd_world *w = rnd_world();

	if (x->type.kind == RND_INT) {
		out->bits = x->index < N(w->numbers) ? w->numbers[x->index] : m->cpu;
		out->bits = model_fit(out->bits, x->type);
		return;
	}
	out->text = (struct rnd_text){(const uint8_t *)w->execname, (uint32_t)strlen(w->execname)};
}

bool model_same(const struct value *a, const struct value *b, bool text)
{
	if (!text)
		return a->bits == b->bits;
	return a->text.n == b->text.n && (!a->text.n || !memcmp(a->text.s, b->text.s, a->text.n));
}

struct element *model_find(struct model *m, uint32_t var, const struct value *keys)
{
	const struct rnd_var *v = &m->set->vars[var];
	struct element *e = m->vars[var];
	uint32_t k;

	for (; e; e = e->next) {
		for (k = 0; k < v->n_keys; k++)
			if (!model_same(&e->keys[k], &keys[k], v->keys[k] == RND_TEXT))
				break;
		if (k == v->n_keys)
			break;
	}
	return e;
}

bool model_keys(struct model *m, const struct rnd_x *x, struct value *keys)
{
	for (uint32_t k = 0; k < x->n_kids; k++)
		if (!model_eval(m, x->kid[k], &keys[k]))
			return false;
	return true;
}

/* The variable and, where it is unset, what else: x is STATE, DEFAULT or DEFINED. */
static bool state(struct model *m, const struct rnd_x *x, struct value *out)
{
	const struct rnd_x *ref = x->node == X_STATE ? x : x->kid[0];
	const struct rnd_var *v = &m->set->vars[ref->index];
	struct value keys[RND_KEYS];
	struct element *e;

	if (x->node == X_DEFINED && v->counts) {
		out->bits = 1; /* whatever its keys are: a constant */
		return true;
	}
	if (!model_keys(m, ref, keys))
		return false;
	e = model_find(m, ref->index, keys);
	if (x->node == X_DEFINED) {
		out->bits = e != NULL;
	} else if (e) {
		*out = e->value;
	} else if (v->counts) {
		out->bits = 0;
	} else if (x->node == X_STATE) {
		return model_fault(m, "STATE_UNSET", x);
	} else {
		if (!model_eval(m, x->kid[1], out))
			return false;
		if (v->type.kind == RND_INT)
			out->bits = model_fit(out->bits, v->type);
	}
	return true;
}

/* ---- operators ---- */

static bool is_true(struct model *m, const struct rnd_x *x, bool *truth)
{
	struct value v;

	if (!model_eval(m, x, &v))
		return false;
	*truth = v.bits != 0;
	return true;
}

static weft_wide shift(enum rnd_op op, weft_wide a, unsigned count)
{
	weft_wide by = (weft_wide)1 << count, q;

	if (op == O_SHL)
		return (weft_wide)((weft_uwide)(uint64_t)a << count);
	q = a / by;
	return a % by < 0 ? q - 1 : q;
}

static bool binary(struct model *m, const struct rnd_x *x, struct value *out)
{
	const struct rnd_x *l = x->kid[0], *r = x->kid[1];
	struct value va, vb;
	weft_wide a, b, v = 0;
	bool is_signed;

	if (!model_eval(m, l, &va) || !model_eval(m, r, &vb))
		return false;
	if (l->type.kind != RND_INT) {
		out->bits = model_same(&va, &vb, true) == (x->op == O_EQ);
		return true;
	}
	is_signed = is_signed_together(l, r);
	if (x->op == O_SHL || x->op == O_SHR)
		is_signed = l->type.size < 8 || l->type.is_signed;
	a = model_widen(va.bits, is_signed);
	b = model_widen(vb.bits, is_signed);
	if ((x->op == O_DIV || x->op == O_MOD) && !b)
		return model_fault(m, "FAULT_DIVIDE", x);
	switch (x->op) {
	case O_MUL:
		v = (weft_wide)((uint64_t)a * (uint64_t)b);
		break;
	case O_DIV:
		v = a / b;
		break;
	case O_MOD:
		v = a % b;
		break;
	case O_ADD:
		v = a + b;
		break;
	case O_SUB:
		v = a - b;
		break;
	case O_SHL:
	case O_SHR:
		v = shift(x->op, a, (unsigned)((uint64_t)vb.bits % 64));
		break;
	case O_AND:
		v = a & b;
		break;
	case O_OR:
		v = a | b;
		break;
	case O_XOR:
		v = a ^ b;
		break;
	case O_LT:
		v = a < b;
		break;
	case O_LE:
		v = a <= b;
		break;
	case O_GT:
		v = a > b;
		break;
	case O_GE:
		v = a >= b;
		break;
	case O_EQ:
		v = a == b;
		break;
	default:
		v = a != b;
		break;
	}
	out->bits = (int64_t)(uint64_t)v;
	return true;
}

static bool unary(struct model *m, const struct rnd_x *x, struct value *out)
{
	if (!model_eval(m, x->kid[0], out))
		return false;
	if (x->op == O_NEG)
		out->bits = (int64_t)(0 - (uint64_t)out->bits);
	else if (x->op == O_NOT)
		out->bits = -1 - out->bits;
	else if (x->op == O_LOGNOT)
		out->bits = out->bits == 0;
	return true;
}

/* ---- calls ---- */

static uint64_t backwards(uint64_t v, unsigned bytes)
{
	uint64_t r = 0;

	for (unsigned i = 0; i < bytes; i++)
		r = r * 256 + (v >> (8 * i)) % 256;
	return r;
}

static bool of_number(struct model *m, const struct rnd_x *x, struct value *out)
{
	const struct rnd_x *a = x->kid[0];
	bool is_signed = a->type.size < 8 || a->type.is_signed;
	struct value v;
	weft_wide l, r;

	if (!model_eval(m, a, out))
		return false;
	switch (x->function) {
	case F_ABS:
		if (is_signed && out->bits < 0)
			out->bits = (int64_t)(0 - (uint64_t)out->bits);
		return true;
	case F_LOG2:
		if (model_widen(out->bits, is_signed) < 1)
			return model_fault(m, "FAULT_RANGE", x);
		l = model_widen(out->bits, is_signed);
		for (out->bits = -1; l; l /= 2)
			out->bits++;
		return true;
	case F_MIN:
	case F_MAX:
		if (!model_eval(m, x->kid[1], &v))
			return false;
		l = model_widen(out->bits, is_signed_together(a, x->kid[1]));
		r = model_widen(v.bits, is_signed_together(a, x->kid[1]));
		if ((x->function == F_MIN) == (r < l))
			out->bits = v.bits;
		return true;
	default: /* byte orders; this machine's is the little end first */
		out->bits = (int64_t)backwards((uint64_t)out->bits, x->type.size);
		return true;
	}
}

static bool call(struct model *m, const struct rnd_x *x, struct value *out)
{
	uint64_t address, want, word = 0;
	enum rnd_read got;

	switch (x->function) {
	case F_COPYINSTR:
	case F_STR:
	case F_KSTR:
		return model_reading(m, x, &address, &want) &&
		       model_read_text(m, x, address, want, model_is_user(x), out);
	case F_PEEK:
	case F_KPEEK:
		if (!model_reading(m, x, &address, &want))
			return false;
		got = rnd_memory_read(address, want, model_is_user(x), (uint8_t *)&word);
		out->bits = (int64_t)word;
		return !got || model_unreadable(m, got, x);
	case F_STRLEN:
	case F_STRCONTAINS:
	case F_STARTSWITH:
	case F_ENDSWITH:
		return model_of_text(m, x, out);
	case F_IPV4:
	case F_IPV6:
		return model_inet(m, x, out);
	case F_SUBSTR:
		return model_substr(m, x, out);
	case F_BASENAME:
		return model_basename(m, x, out);
	default:
		return of_number(m, x, out);
	}
}

bool model_eval(struct model *m, const struct rnd_x *x, struct value *out)
{
	bool truth;

	*out = (struct value){0};
	switch (x->node) {
	case X_INT:
		out->bits = x->bits;
		return true;
	case X_TEXT:
		out->text = x->text;
		return true;
	case X_PARAM:
		out->bits = m->set->params[x->index].bits;
		out->text = m->set->params[x->index].text;
		return true;
	case X_ARG:
		return argument(m, x, out);
	case X_ENTRY:
		if (!m->entry)
			return model_fault(m, "PAIRING_NO_ENTRY", x);
		if (x->index < RND_INTS)
			out->bits = model_fit((int64_t)m->entry[x->index], x->type);
		if (x->type.kind == RND_TEXT)
			return model_kept_text(m, x, m->entry[x->index], out);
		return true; /* elapsed: some time, which nobody asks for */
	case X_VAR:
		builtin(m, x, out);
		return true;
	case X_PROBE:
		out->text.s = (const uint8_t *)rnd_probes[m->probe][x->index];
		out->text.n = (uint32_t)strlen(rnd_probes[m->probe][x->index]);
		out->bits = (int64_t)rnd_cookie(m->set, m->probe);
		return true;
	case X_LOCAL:
		*out = m->locals[x->index];
		return true;
	case X_UNARY:
		return unary(m, x, out);
	case X_BINARY:
		return binary(m, x, out);
	case X_LOGICAL:
		if (!is_true(m, x->kid[0], &truth))
			return false;
		if (truth == (x->op == O_LOGAND) && !is_true(m, x->kid[1], &truth))
			return false;
		out->bits = truth;
		return true;
	case X_COND:
		return is_true(m, x->kid[0], &truth) && model_eval(m, x->kid[truth ? 1 : 2], out);
	case X_CAST:
		if (!model_eval(m, x->kid[0], out))
			return false;
		out->bits = model_fit(out->bits, x->type);
		return true;
	case X_STATE:
	case X_DEFAULT:
	case X_DEFINED:
		return state(m, x, out);
	case X_CALL:
		return call(m, x, out);
	case X_MEMBER:
		return model_member(m, x, out);
	}
	return false;
}

/* ---- constants ---- */

bool rnd_is_const(const struct rnd_set *set, const struct rnd_x *x)
{
	switch (x->node) {
	case X_INT:
	case X_TEXT:
	case X_PARAM:
		return true;
	case X_UNARY:
	case X_CAST:
		return rnd_is_const(set, x->kid[0]);
	case X_LOGICAL: /* what the left side decides */
		if (!rnd_is_const(set, x->kid[0]))
			return false;
		if ((rnd_const(set, x->kid[0]) != 0) == (x->op == O_LOGOR))
			return true;
		return rnd_is_const(set, x->kid[1]);
	case X_COND:
		if (!rnd_is_const(set, x->kid[0]))
			return false;
		return rnd_is_const(set, x->kid[rnd_const(set, x->kid[0]) ? 1 : 2]);
	case X_DEFINED: /* a counter always is */
		return set->vars[x->kid[0]->index].counts;
	case X_CALL:
		if (x->function < F_STRLEN)
			return false;
		/* fallthrough */
	case X_BINARY:
		for (uint32_t i = 0; i < x->n_kids; i++)
			if (!rnd_is_const(set, x->kid[i]))
				return false;
		return true;
	default:
		return false;
	}
}

int64_t rnd_const(const struct rnd_set *set, const struct rnd_x *x)
{
	struct model m = {.set = (struct rnd_set *)set, .arena = set->arena};
	struct value v = {0};

	return model_eval(&m, x, &v) ? v.bits : 0;
}

uint32_t rnd_const_length(const struct rnd_set *set, const struct rnd_x *x)
{
	struct model m = {.set = (struct rnd_set *)set, .arena = set->arena};
	struct value v = {0};

	return model_eval(&m, x, &v) ? v.text.n : 0;
}
