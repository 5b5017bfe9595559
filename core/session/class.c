/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Classes of probes. What probe_info() says is compared by canonical bytes, in which what differs
 * from probe to probe is left out: probes with the same bytes share one class. Two coarser ways to
 * compare serve to share programs: a view has only what matters to a list of clauses, that is not
 * the arguments that no clause asks for; a shape is a view without the places of the arguments.
 */
#include <stdlib.h>
#include <string.h>

#include "core/session/internal.h"

#define CLASS_BUCKETS 4096u

/* ---- canonical bytes ---- */

struct bytes {
	unsigned char *data;
	size_t size, capacity;
	bool failed;
};

static void put(struct bytes *b, const void *p, size_t n)
{
	if (b->failed || !n)
		return;
	if (b->capacity - b->size < n) {
		size_t capacity = b->capacity * 2 + n + 256;
		unsigned char *data = realloc(b->data, capacity);

		if (!data) {
			b->failed = true;
			return;
		}
		b->data = data;
		b->capacity = capacity;
	}
	memcpy(b->data + b->size, p, n);
	b->size += n;
}

static void put_u64(struct bytes *b, uint64_t v)
{
	put(b, &v, sizeof(v));
}

static void put_text(struct bytes *b, const char *s)
{
	put_u64(b, s ? strlen(s) + 1 : 0);
	if (s)
		put(b, s, strlen(s));
}

static void put_location(struct bytes *b, const struct weft_location *l)
{
	put_u64(b, l->n_ops);
	put(b, l->ops, l->n_ops * sizeof(*l->ops));
	put_u64(b, l->n_names);
	for (uint32_t i = 0; i < l->n_names; i++)
		put_text(b, l->names[i]);
}

static void put_type(struct bytes *b, const struct weft_arg_type *t)
{
	put_u64(b, t->kind);
	put_u64(b, t->size);
	put_u64(b, t->flags);
	put_u64(b, t->space);
	put_u64(b, t->btf_id);
	put_u64(b, (uint64_t)t->btf_fd);
	put_text(b, t->text);
}

/* What is compared: all of it, or what matters to a list of clauses. */
struct extent {
	uint64_t args; /* those that matter */
	bool places;   /* where they lie matters */
	uint32_t list; /* UINT32_MAX: none */
};
static const struct extent whole = {.args = UINT64_MAX, .places = true, .list = UINT32_MAX};

static void put_arg(struct bytes *b, const struct weft_arg *a, const struct extent *e)
{
	if (e->list == UINT32_MAX) {
		put_text(b, a->name);
		put_text(b, a->unreadable);
	}
	put_type(b, &a->type);
	if (e->places)
		put_location(b, &a->where);
}

static void put_info(struct bytes *b, const struct weft_probe_info *i, const struct extent *e)
{
	uint32_t k;

	put_u64(b, e->list);
	put_u64(b, e->places);

	put_u64(b, i->scope);
	put_u64(b, i->load.prog_type);
	put_u64(b, i->load.expected_attach_type);
	put_u64(b, i->load.flags);
	put_u64(b, i->load.attach_btf_id);
	put_u64(b, (uint64_t)i->load.attach_btf_fd);
	put_u64(b, i->load.ctx_kind);
	put_u64(b, i->load.ctx_size);
	put_u64(b, e->list == UINT32_MAX ? i->n_args : e->args);
	for (k = 0; k < i->n_args; k++)
		if (e->args >> k & 1)
			put_arg(b, &i->args[k], e);
	put_location(b, &i->guard);
	put_u64(b, i->identity.kind);
	put_u64(b, (uint64_t)i->identity.map_fd);
	put_u64(b, i->identity.n_keys);
	for (k = 0; k < i->identity.n_keys; k++) {
		put_u64(b, i->identity.key_size[k]);
		put_location(b, &i->identity.key[k]);
	}
	put_u64(b, i->pairing.role);
	put_location(b, &i->pairing.frame);
	put_type(b, &i->retval_type);
	put_location(b, &i->retval);
	if (e->list == UINT32_MAX)
		put_text(b, i->prototype);
	put_u64(b, i->schedule.period_ns);
	put_location(b, &i->schedule.due);
}

/* ---- the table ---- */

static uint64_t hash_bytes(const void *p, size_t n)
{
	const unsigned char *s = p;
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

	while (n--)
		h = (h ^ *s++) * 0x100000001b3u;
	return h;
}

/* The class with these bytes; if there is none, a new one without an info. Takes the bytes. */
static int intern(struct weft_opened *o, struct bytes *b, struct weft_class **out, bool *made,
		  struct weft_error *err)
{
	struct weft_session *s = o->session;
	struct weft_class *class = NULL;
	uint64_t hash = 0;

	*made = false;
	if (!s->classes)
		s->classes = calloc(CLASS_BUCKETS, sizeof(struct weft_class *));
	if (!b->failed && s->classes) {
		hash = hash_bytes(b->data, b->size);
		for (class = s->classes[hash % CLASS_BUCKETS]; class; class = class->next)
			if (class->hash == hash && class->provider == o &&
			    class->key_size == b->size && !memcmp(class->key, b->data, b->size))
				goto out;
		class = weft_arena_alloc(s->arena, sizeof(*class));
		if (class)
			class->key = weft_arena_memdup(s->arena, b->data, b->size);
	}
	if (!class || !class->key) {
		free(b->data);
		return weft_nomem(err);
	}
	class->provider = o;
	class->key_size = b->size;
	class->hash = hash;
	*made = true;
out:
	free(b->data);
	*out = class;
	return 0;
}

void weft_class_remember(struct weft_session *s, struct weft_class *class)
{
	struct weft_class **bucket = &s->classes[class->hash % CLASS_BUCKETS];

	class->next = *bucket;
	*bucket = class;
}

int weft_class_intern(struct weft_opened *o, const struct weft_probe_info *info,
		      struct weft_class **out, bool *made, struct weft_error *err)
{
	struct bytes b = {0};

	put_info(&b, info, &whole);
	return intern(o, &b, out, made, err);
}

int weft_class_view(struct weft_session *s, const struct weft_class *class, uint32_t list,
		    uint64_t args, bool places, struct weft_class **out, bool *made,
		    struct weft_error *err)
{
	const struct extent extent = {.args = args, .places = places, .list = list};
	struct bytes b = {0};
	int ret;

	put_info(&b, &class->info, &extent);
	ret = intern(class->provider, &b, out, made, err);
	if (!ret && *made)
		weft_class_remember(s, *out);
	return ret;
}
