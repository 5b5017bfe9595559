/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The probes of a set: what they hand over, which is which, and the types that expressions look into. */
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/btf/btf.h"
#include "tests/random/engine.h"

static void make_arg(struct engine *e, uint32_t i, uint32_t kind, uint32_t space, uint32_t n_words,
		     uint32_t word)
{
	const struct rnd_type *t = &e->set->args[i];
	uint8_t size = i < RND_INTS ? t->size : 8;

	for (uint32_t k = 0; k < n_words; k++)
		e->ops[i][k] = (struct weft_loc_op){
			.op = WEFT_LOC_CTX,
			.size = size,
			.flags = i < RND_INTS && t->is_signed ? WEFT_LOC_SIGNED : 0,
			.imm = 8 * (int64_t)(word + k)};
	e->args[i] = (struct weft_arg){
		.struct_size = sizeof(struct weft_arg),
		.name = weft_arena_printf(e->set->arena, "n%u", i),
		.type = {.struct_size = sizeof(struct weft_arg_type),
			 .kind = kind,
			 .size = kind == WEFT_TYPE_INT ? size : 0,
			 .flags = kind == WEFT_TYPE_INT && t->is_signed ? WEFT_TYPE_SIGNED : 0,
			 .space = space},
		.where = {.ops = e->ops[i], .n_ops = n_words},
	};
}

void engine_make_probe(struct engine *e)
{
	for (uint32_t i = 0; i < RND_INTS; i++)
		make_arg(e, i, WEFT_TYPE_INT, 0, 1, i);
	make_arg(e, 6, WEFT_TYPE_STRING, WEFT_SPACE_USER, 1, 6);
	make_arg(e, 7, WEFT_TYPE_POINTER, WEFT_SPACE_USER, 1, 7);
	make_arg(e, 8, WEFT_TYPE_BYTES, WEFT_SPACE_USER, 2, 8);
	make_arg(e, 9, WEFT_TYPE_STRING, WEFT_SPACE_USER, 2, 6);
	e->ops[9][1].imm = 8 * 9; /* its length is arg8's */
	make_arg(e, 10, WEFT_TYPE_POINTER, WEFT_SPACE_KERNEL, 1, 10);
	e->infos[0] = (struct weft_probe_info){
		.struct_size = sizeof(e->infos[0]),
		.scope = WEFT_SCOPE_EXACT,
		.load = {.struct_size = sizeof(e->infos[0].load),
			 .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
			 .ctx_kind = WEFT_CTX_WORDS,
			 .ctx_size = 8 * RND_WORDS},
		.args = e->args,
		.n_args = RND_ARGS,
		.arg_size = sizeof(struct weft_arg),
	};
}

/* A word of the context is the stack pointer. */
static const struct weft_loc_op frame_ops[1] = {
	{.op = WEFT_LOC_CTX, .size = 8, .imm = 8 * RND_FRAME}};

static void make_pair(struct engine *e)
{
	for (uint32_t i = RND_ENTRY; e->set->pairs && i <= RND_RETURN; i++)
		e->infos[i].pairing = (struct weft_pairing){
			.struct_size = sizeof(struct weft_pairing),
			.role = i == RND_ENTRY ? WEFT_PAIRING_ENTRY : WEFT_PAIRING_RETURN,
			.frame = {.ops = frame_ops, .n_ops = 1},
		};
}

/* Where several probes share a program, a word of the context tells which. */
static const struct weft_loc_op which_ops[1] = {
	{.op = WEFT_LOC_CTX, .size = 8, .imm = 8 * (RND_WORDS - 1)}};

void engine_make_identity(struct engine *e)
{
	e->infos[0].identity = (struct weft_identity){.struct_size = sizeof(e->infos[0].identity),
						      .kind = WEFT_IDENTITY_FIELD,
						      .n_keys = 1,
						      .key = {{.ops = which_ops, .n_ops = 1}}};
	e->infos[1] = e->infos[2] = e->infos[0];
	make_pair(e);
}

int engine_make_probes(struct engine *e)
{
	struct weft_registry *h;
	int ret = 0;

	e->registry = weft_registry_create();
	h = weft_registry_of(e->registry, "t");
	for (uint32_t i = 0; i < RND_PROBES && !ret; i++) {
		struct weft_probe_desc d = {sizeof(d),        0,
					    rnd_probes[i][0], rnd_probes[i][1],
					    rnd_probes[i][2], rnd_probes[i][3]};

		ret = weft_registry_add(h, &d, 0, &e->probes[i].probe, e->err);
		e->probes[i].cookie = rnd_cookie(e->set, i);
		e->probes[i].identity_value = 100 + i;
	}
	return ret;
}

/* Which clauses a probe has: bit i for clause i. */
static uint32_t clauses_of(const struct engine *e, uint32_t probe)
{
	uint32_t all = 0;

	for (uint32_t i = 0; i < e->set->n_clauses; i++)
		all |= (e->set->clauses[i].probes >> probe & 1) << i;
	return all;
}

/* An entry keeps what the clauses of its return ask for. */
static void join_pair(struct part *entry, struct part *back)
{
	bool asked = false;
	uint64_t args = 0;

	for (size_t i = 0; i < back->group.n_clauses; i++) {
		asked |= back->clauses[i].uses_elapsed;
		args |= back->clauses[i].entry_args;
	}
	entry->group.pairing_entry = asked || args;
	entry->group.capture = back->group.capture = args;
	entry->group.texts = back->group.texts = args & UINT64_C(1) << 6;
}

void engine_make_parts(struct engine *e)
{
	for (uint32_t i = 0; i < e->set->n_probes; i++) {
		uint32_t clauses = clauses_of(e, i), k;
		struct part *p;

		for (k = 0; k < i && (e->set->pairs || clauses_of(e, k) != clauses); k++)
			;
		e->part_of[i] = p = k < i ? e->part_of[k] : &e->parts[e->n_parts++];
		p->probes[p->group.n_probes++] = e->probes[i];
		p->fd = -1;
		if (k < i)
			continue;
		p->group.info = &e->infos[e->set->pairs ? i : 0];
		p->group.probes = p->probes;
		p->group.clauses = p->clauses;
		for (uint32_t c = 0; c < e->set->n_clauses; c++)
			if (clauses >> c & 1)
				p->clauses[p->group.n_clauses++] = e->clauses[c];
	}
	if (e->set->pairs)
		join_pair(e->part_of[RND_ENTRY], e->part_of[RND_RETURN]);
}

/* ---- types ---- */

static int get_types(struct weft_btf_source *source, int fd, struct weft_btf **out,
		     struct weft_error *err)
{
	static struct weft_btf *types;
	struct btf *b;
	int kind, i8, u8, i16, i32, u32, i64, c, pair, item, tagged;
	const void *bytes;
	uint32_t size;

	(void)source;
	(void)fd;
	*out = types;
	if (types)
		return 0;
	b = btf__new_empty();
	i8 = btf__add_int(b, "s8", 1, BTF_INT_SIGNED);
	u8 = btf__add_int(b, "u8", 1, 0);
	i16 = btf__add_int(b, "s16", 2, BTF_INT_SIGNED);
	i32 = btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	u32 = btf__add_int(b, "unsigned int", 4, 0);
	i64 = btf__add_int(b, "long int", 8, BTF_INT_SIGNED);
	c = btf__add_int(b, "char", 1, 0);
	kind = btf__add_enum(b, "kind", 1);
	for (size_t i = 0; i < N(rnd_constants); i++)
		btf__add_enum_value(b, rnd_constants[i].name, rnd_constants[i].value);
	pair = btf__add_struct(b, "pair", 8);
	btf__add_field(b, "e", i8, 0, 0);
	btf__add_field(b, "f", u32, 32, 0);
	/* What follows the struct: the array of char, that of int, the struct with a tag, a pointer. */
	item = btf__add_struct(b, "item", 64);
	btf__add_field(b, "a", u8, 0, 0);
	btf__add_field(b, "kind", kind, 8, 0);
	btf__add_field(b, "b", i16, 16, 0);
	btf__add_field(b, "lo", u32, 32, 5);
	btf__add_field(b, "mid", i32, 37, 9);
	btf__add_field(b, "hi", u32, 46, 18);
	btf__add_field(b, "c", i64, 64, 0);
	btf__add_field(b, "name", item + 1, 128, 0);
	btf__add_field(b, "nums", item + 2, 256, 0);
	btf__add_field(b, "inside", pair, 384, 0);
	btf__add_field(b, "next", item + 4, 448, 0);
	btf__add_array(b, i32, c, 16);
	btf__add_array(b, i32, i32, 4);
	tagged = btf__add_type_tag(b, "user", item);
	btf__add_ptr(b, tagged);
	bytes = btf__raw_data(b, &size);
	if (weft_btf_create(memcpy(malloc(size), bytes, size), size, false, NULL, &types, err))
		types = NULL;
	btf__free(b);
	*out = types;
	return types ? 0 : -EINVAL;
}

struct weft_btf_source engine_types = {.get = get_types};
