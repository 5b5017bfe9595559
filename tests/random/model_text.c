/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What functions of strings yield, by docs/language.md. */
#include "tests/random/model.h"

#include <string.h>

static bool contains(enum rnd_function f, struct rnd_text in, struct rnd_text what)
{
	for (uint32_t at = 0; at + what.n <= in.n; at++) {
		if (what.n && memcmp(in.s + at, what.s, what.n))
			continue;
		if (f == F_STRCONTAINS || (f == F_STARTSWITH && !at) ||
		    (f == F_ENDSWITH && at + what.n == in.n))
			return true;
	}
	return false;
}

bool model_of_text(struct model *m, const struct rnd_x *x, struct value *out)
{
	struct value s;

	if (!model_eval(m, x->kid[0], &s))
		return false;
	if (x->function == F_STRLEN)
		out->bits = s.text.n;
	else
		out->bits = contains(x->function, s.text, x->kid[1]->text);
	return true;
}

bool model_substr(struct model *m, const struct rnd_x *x, struct value *out)
{
	struct value s, start, count;
	weft_wide from, n;

	if (!model_eval(m, x->kid[0], &s) || !model_eval(m, x->kid[1], &start))
		return false;
	from = model_widen(start.bits, x->kid[1]->type.size < 8 || x->kid[1]->type.is_signed);
	n = s.text.n;
	if (x->n_kids == 3) {
		if (!model_eval(m, x->kid[2], &count))
			return false;
		n = model_widen(count.bits, x->kid[2]->type.size < 8 || x->kid[2]->type.is_signed);
	}
	if (from < 0)
		from += s.text.n;
	out->text = (struct rnd_text){s.text.s, 0};
	if (from < 0)
		from = 0;
	if (from >= s.text.n || n <= 0)
		return true;
	out->text.s += from;
	out->text.n = (uint32_t)(n < s.text.n - from ? n : s.text.n - from);
	return true;
}

bool model_basename(struct model *m, const struct rnd_x *x, struct value *out)
{
	struct value s;
	uint32_t end, from;

	if (!model_eval(m, x->kid[0], &s))
		return false;
	for (end = s.text.n; end && s.text.s[end - 1] == '/'; end--)
		;
	if (!end) {
		out->text = (struct rnd_text){s.text.s, s.text.n ? 1 : 0};
		return true;
	}
	for (from = end; from && s.text.s[from - 1] != '/'; from--)
		;
	out->text = (struct rnd_text){s.text.s + from, end - from};
	return true;
}

bool model_inet(struct model *m, const struct rnd_x *x, struct value *out)
{
	uint8_t *bytes;
	struct value v;

	if (x->function == F_IPV6) {
		if (!model_bytes(m, x->kid[0], out))
			return false;
		return out->text.n == 16 || model_fault(m, "FAULT_RANGE", x);
	}
	if (!model_eval(m, x->kid[0], &v))
		return false;
	bytes = weft_arena_alloc(m->arena, 8);
	memcpy(bytes, &v.bits, 4); /* as they lie in memory: the order of the network */
	out->text = (struct rnd_text){bytes, 4};
	return true;
}
