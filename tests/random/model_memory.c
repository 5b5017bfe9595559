/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What reading memory yields, by docs/language.md. */
#include "tests/random/model.h"

bool model_unreadable(struct model *m, enum rnd_read why, const struct rnd_x *x)
{
	return model_fault(m, why == RND_NOT_THERE ? "NOT_RESIDENT" : "FAULT_ADDRESS", x);
}

/* A string of `want` bytes at most. */
bool model_read_text(struct model *m, const struct rnd_x *x, uint64_t address, uint64_t want,
		     bool user, struct value *out)
{
	uint32_t room = m->set->strsize - 1;
	uint8_t *s = weft_arena_alloc(m->arena, m->set->strsize + 1);
	uint32_t n = 0;
	enum rnd_read got;

	for (; n < want && n <= room; n++) {
		got = rnd_memory_read(address + n, 1, user, s + n);
		if (got)
			return model_unreadable(m, got, x);
		if (!s[n])
			break;
	}
	if (n > room) {
		n = room;
		model_lose(m, "STRING_TRUNCATED", x->line, x->column);
	}
	out->text = (struct rnd_text){s, n};
	return true;
}

static bool read_bytes(struct model *m, const struct rnd_x *x, uint64_t address, uint64_t want,
		       uint64_t most, bool user, struct value *out)
{
	uint8_t *s = weft_arena_alloc(m->arena, most + 1);
	enum rnd_read got;

	if (want > most) {
		want = most;
		model_lose(m, "STRING_TRUNCATED", x->line, x->column);
	}
	got = rnd_memory_read(address, want, user, s);
	if (got)
		return model_unreadable(m, got, x);
	out->text = (struct rnd_text){s, (uint32_t)want};
	return true;
}

bool model_is_user(const struct rnd_x *call)
{
	switch (call->function) {
	case F_KSTR:
	case F_KMEM:
	case F_KPEEK:
		return false;
	case F_STR:
	case F_MEM:
	case F_PEEK:
		return call->kid[0]->type.points != RND_KERNEL;
	default:
		return true;
	}
}

/* The address and the length of a call that reads; without one, as much as there is. */
bool model_reading(struct model *m, const struct rnd_x *x, uint64_t *address, uint64_t *want)
{
	struct value v;

	if (!model_eval(m, x->kid[0], &v))
		return false;
	*address = (uint64_t)v.bits;
	*want = UINT64_MAX;
	if (x->n_kids < 2)
		return true;
	if (!model_eval(m, x->kid[1], &v))
		return false;
	if (v.bits < 0 && (x->kid[1]->type.is_signed || x->kid[1]->type.size < 8))
		return model_fault(m, "FAULT_RANGE", x);
	*want = (uint64_t)v.bits;
	return true;
}

bool model_bytes(struct model *m, const struct rnd_x *x, struct value *out)
{
	uint64_t address, want;

	if (x->node == X_ARG)
		return read_bytes(m, x, m->words[8], m->words[9], m->set->strsize, true, out);
	if (!model_reading(m, x, &address, &want))
		return false;
	return read_bytes(m, x, address, want,
			  rnd_is_const(m->set, x->kid[1]) ? want : m->set->strsize,
			  model_is_user(x), out);
}

bool model_member(struct model *m, const struct rnd_x *x, struct value *out)
{
	const struct rnd_member *of = &rnd_members[x->index];
	struct value base, index = {0};
	/* Of a bit field the bytes that it touches. */
	uint32_t shift = of->bit % 8;
	uint32_t bytes = of->bits ? (shift + of->bits + 7) / 8 : of->type.size;
	uint64_t address, word = 0;
	bool user = x->kid[0]->type.points != RND_KERNEL;
	enum rnd_read got;

	if (!model_eval(m, x->kid[0], &base))
		return false;
	address = (uint64_t)base.bits + of->offset + of->bit / 8;
	if (x->n_kids == 2) {
		if (!model_eval(m, x->kid[1], &index))
			return false;
		if ((uint64_t)index.bits >= of->n)
			return model_fault(m, "FAULT_INDEX", x);
		address += of->type.size * (uint64_t)index.bits;
	}
	if (of->type.kind == RND_TEXT)
		return model_read_text(m, x, address, of->n, user, out);
	got = rnd_memory_read(address, bytes, user, (uint8_t *)&word);
	if (got)
		return model_unreadable(m, got, x);
	if (of->bits) {
		word = word >> shift & ((UINT64_C(1) << of->bits) - 1);
		if (of->type.is_signed && word >> (of->bits - 1))
			word -= UINT64_C(1) << of->bits;
	}
	out->bits = model_fit((int64_t)word, of->type);
	return true;
}

bool model_kept_text(struct model *m, const struct rnd_x *x, uint64_t address, struct value *out)
{
	uint8_t *s = weft_arena_alloc(m->arena, m->set->strsize + 1);
	uint32_t n = 0;

	for (; n < m->set->strsize; n++) {
		if (rnd_memory_read(address + n, 1, true, s + n))
			return model_fault(m, "FAULT_VALUE", x);
		if (!s[n])
			break;
	}
	out->text = (struct rnd_text){s, n < m->set->strsize ? n : n - 1};
	return true;
}
