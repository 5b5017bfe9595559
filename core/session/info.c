/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a plugin says of a probe, checked and copied. A plugin's pointers are good only until its
 * next call and its numbers are not to be believed, so everything is copied within limits; after
 * that the core works on its own copy alone. Probes that are alike (ten thousand functions) share
 * one copy, a class: copies are compared by canonical bytes, in which what differs from probe to
 * probe is left out.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/session/internal.h"

#define TEXT_MAX      512u
#define CLASS_BUCKETS 256u
#define MIN_ARG_SIZE  offsetof(struct weft_arg, unreadable)

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

static void put_info(struct bytes *b, const struct weft_probe_info *i)
{
	uint32_t k;

	put_u64(b, i->scope);
	put_u64(b, i->load.prog_type);
	put_u64(b, i->load.expected_attach_type);
	put_u64(b, i->load.flags);
	put_u64(b, i->load.attach_btf_id);
	put_u64(b, (uint64_t)i->load.attach_btf_fd);
	put_u64(b, i->load.ctx_kind);
	put_u64(b, i->load.ctx_size);
	put_u64(b, i->n_args);
	for (k = 0; k < i->n_args; k++) {
		put_text(b, i->args[k].name);
		put_type(b, &i->args[k].type);
		put_location(b, &i->args[k].where);
		put_text(b, i->args[k].unreadable);
	}
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
	put_text(b, i->prototype);
	put_u64(b, i->schedule.period_ns);
	put_location(b, &i->schedule.due);
}

/* ---- checked copies ---- */

struct copier {
	struct weft_arena *arena;
	struct weft_opened *provider;
	const struct weft_probe *probe;
	struct weft_error *err;
};

static int bad(struct copier *c, const char *what)
{
	char probe[512];

	weft_probe_format(c->probe, probe, sizeof(probe));
	return weft_fail(c->err, -EPROTO, "PLUGIN_INFO", "provider %s describes %s wrongly: %s",
			 c->provider->provider->name, probe, what);
}

static int copy_text(struct copier *c, const char **out, const char *in, const char *what)
{
	size_t i, n;

	*out = NULL;
	if (!in)
		return 0;
	n = strnlen(in, TEXT_MAX + 1);
	if (n > TEXT_MAX)
		return bad(c, what);
	for (i = 0; i < n; i++)
		if (iscntrl((unsigned char)in[i]))
			return bad(c, what);
	*out = weft_arena_strndup(c->arena, in, n);
	return *out ? 0 : weft_nomem(c->err);
}

static bool is_identifier(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	while (*++s)
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

static int copy_names(struct copier *c, struct weft_location *out, const struct weft_location *in)
{
	const char **names;
	uint32_t i;

	if (!in->n_names)
		return 0;
	if (in->n_names > WEFT_LOC_MAX_NAMES)
		return bad(c, "a location of more than 8 names");
	if (!in->names)
		return bad(c, "a location without the names that it counts");
	names = weft_arena_array(c->arena, in->n_names, sizeof(*names));
	if (!names)
		return weft_nomem(c->err);
	for (i = 0; i < in->n_names; i++) {
		const char *s = in->names[i];
		size_t n = s ? strnlen(s, WEFT_LOC_MAX_NAME + 1) : 0, k;

		if (!n || n > WEFT_LOC_MAX_NAME)
			return bad(c, "a location's name that is empty or too long");
		for (k = 0; k < n; k++)
			if (s[k] < ' ' || s[k] > '~')
				return bad(c, "a location's name that is not printable");
		names[i] = weft_arena_strndup(c->arena, s, n);
		if (!names[i])
			return weft_nomem(c->err);
	}
	out->names = names;
	out->n_names = in->n_names;
	return 0;
}

static int copy_location(struct copier *c, struct weft_location *out, const struct weft_location *in)
{
	memset(out, 0, sizeof(*out));
	if (!in->n_ops)
		return 0;
	if (in->n_ops > WEFT_LOC_MAX_OPS)
		return bad(c, "a location of more than 64 operations");
	if (!in->ops)
		return bad(c, "a location without operations");
	out->n_ops = in->n_ops;
	out->ops = weft_arena_memdup(c->arena, in->ops, in->n_ops * sizeof(*in->ops));
	return out->ops ? copy_names(c, out, in) : weft_nomem(c->err);
}

static int copy_type(struct copier *c, struct weft_arg_type *out, const struct weft_arg_type *in)
{
	memset(out, 0, sizeof(*out));
	out->struct_size = sizeof(*out);
	out->kind = in->kind;
	out->size = in->size;
	out->flags = in->flags;
	out->space = in->space;
	out->btf_id = in->btf_id;
	out->btf_fd = in->btf_fd;
	switch (in->kind) {
	case WEFT_TYPE_INT:
		if (in->size != 1 && in->size != 2 && in->size != 4 && in->size != 8)
			return bad(c, "an integer whose size is not 1, 2, 4 or 8");
		break;
	case WEFT_TYPE_POINTER:
	case WEFT_TYPE_STRING:
	case WEFT_TYPE_BYTES:
	case WEFT_TYPE_BTF:
		break;
	default:
		return bad(c, "an unknown kind of type");
	}
	if (in->space > WEFT_SPACE_USER)
		return bad(c, "an unknown address space");
	if (in->flags & ~WEFT_TYPE_SIGNED)
		return bad(c, "unknown flags of a type");
	return copy_text(c, &out->text, in->text, "a type's text that is too long or not printable");
}

static int copy_arg(struct copier *c, struct weft_arg *out, const char *raw, uint32_t size)
{
	struct weft_arg in;
	int ret;

	memset(&in, 0, sizeof(in));
	memcpy(&in, raw, size < sizeof(in) ? size : sizeof(in));
	memset(out, 0, sizeof(*out));
	out->struct_size = sizeof(*out);
	ret = copy_text(c, &out->name, in.name,
			"an argument's name that is too long or not printable");
	if (ret)
		return ret;
	if (out->name && !is_identifier(out->name))
		return bad(c, "an argument's name that is not an identifier");
	ret = copy_type(c, &out->type, &in.type);
	if (ret)
		return ret;
	ret = copy_location(c, &out->where, &in.where);
	if (ret)
		return ret;
	ret = copy_text(c, &out->unreadable, in.unreadable,
			"a reason that is too long or not printable");
	if (ret)
		return ret;
	if (!out->where.n_ops && !out->unreadable)
		out->unreadable = "its provider does not say where it lies";
	return 0;
}

static int copy_args(struct copier *c, struct weft_probe_info *out, const struct weft_probe_info *in)
{
	struct weft_arg *args;
	uint32_t i, k;
	int ret;

	out->n_args = in->n_args;
	out->arg_size = sizeof(struct weft_arg);
	if (!in->n_args)
		return 0;
	if (in->n_args > WEFT_MAX_ARGS)
		return bad(c, "more than 64 arguments");
	if (!in->args || in->arg_size < MIN_ARG_SIZE || in->arg_size > 4096)
		return bad(c, "arguments without a place or of an impossible size");
	args = weft_arena_array(c->arena, in->n_args, sizeof(*args));
	if (!args)
		return weft_nomem(c->err);
	for (i = 0; i < in->n_args; i++) {
		ret = copy_arg(c, &args[i], (const char *)in->args + (size_t)i * in->arg_size,
			       in->arg_size);
		if (ret)
			return ret;
		for (k = 0; args[i].name && k < i; k++)
			if (args[k].name && !strcmp(args[k].name, args[i].name))
				return bad(c, "two arguments of one name");
	}
	out->args = args;
	return 0;
}

static int copy_load(struct copier *c, struct weft_load_class *out, const struct weft_load_class *in)
{
	*out = *in;
	out->struct_size = sizeof(*out);
	memset(out->reserved_words, 0, sizeof(out->reserved_words));
	if (in->ctx_kind > WEFT_CTX_PERF_EVENT)
		return bad(c, "an unknown kind of context");
	if (in->ctx_size > 65536)
		return bad(c, "a context of more than 64 KiB");
	if (in->flags & ~(WEFT_LOAD_SLEEPABLE | WEFT_LOAD_COOKIE | WEFT_LOAD_ONE_PER_PROBE))
		return bad(c, "unknown flags of a load class");
	return 0;
}

static int copy_identity(struct copier *c, struct weft_identity *out,
			 const struct weft_identity *in, const struct weft_load_class *load)
{
	uint32_t i, offset = 0;
	int ret;

	memset(out, 0, sizeof(*out));
	out->struct_size = sizeof(*out);
	out->kind = in->kind;
	out->value = in->value;
	out->map_fd = in->map_fd;
	out->n_keys = in->n_keys;
	switch (in->kind) {
	case WEFT_IDENTITY_CONST:
		out->n_keys = 0;
		out->map_fd = 0;
		break;
	case WEFT_IDENTITY_COOKIE:
		out->n_keys = 0;
		out->map_fd = 0;
		if (!(load->flags & WEFT_LOAD_COOKIE))
			return bad(c, "an identity by cookie, but a context that has none");
		break;
	case WEFT_IDENTITY_FIELD:
		if (in->n_keys != 1 || !in->key[0].n_ops)
			return bad(c, "an identity by field needs one location");
		break;
	case WEFT_IDENTITY_MAP:
		if (in->n_keys < 1 || in->n_keys > WEFT_IDENTITY_MAX_KEYS || in->map_fd < 0)
			return bad(c, "an identity by map needs a map and one to four keys");
		break;
	default:
		return bad(c, "an unknown kind of identity");
	}
	for (i = 0; i < out->n_keys; i++) {
		uint32_t size = in->key_size[i];

		if (in->kind == WEFT_IDENTITY_MAP) {
			if ((size != 4 && size != 8) || offset % size)
				return bad(c, "an identity's key of a wrong size or alignment");
			offset += size;
		}
		out->key_size[i] = size;
		ret = copy_location(c, &out->key[i], &in->key[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static int copy_pairing(struct copier *c, struct weft_pairing *out, const struct weft_pairing *in,
			struct weft_probe_desc *entry)
{
	int ret;

	memset(out, 0, sizeof(*out));
	memset(entry, 0, sizeof(*entry));
	out->struct_size = sizeof(*out);
	out->role = in->role;
	if (in->role == WEFT_PAIRING_NONE)
		return 0;
	if (in->role > WEFT_PAIRING_RETURN)
		return bad(c, "an unknown role in a pair");
	if (!in->frame.n_ops)
		return bad(c, "a pair without a frame");
	ret = copy_location(c, &out->frame, &in->frame);
	if (ret || in->role != WEFT_PAIRING_RETURN)
		return ret;
	if (!in->entry.module || !in->entry.function || !in->entry.name)
		return bad(c, "a return whose entry has no description");
	entry->struct_size = sizeof(*entry);
	entry->provider = c->provider->provider->name;
	if (copy_text(c, &entry->module, in->entry.module, "an entry's module") ||
	    copy_text(c, &entry->function, in->entry.function, "an entry's function") ||
	    copy_text(c, &entry->name, in->entry.name, "an entry's name"))
		return -EPROTO;
	return 0;
}

static int copy_schedule(struct copier *c, struct weft_schedule *out, const struct weft_schedule *in)
{
	memset(out, 0, sizeof(*out));
	out->struct_size = sizeof(*out);
	out->period_ns = in->period_ns;
	if (!in->period_ns)
		return 0;
	if (in->period_ns > INT64_MAX)
		return bad(c, "a period of more than 292 years");
	if (!in->due.n_ops)
		return bad(c, "a schedule that does not say when a firing was due");
	return copy_location(c, &out->due, &in->due);
}

static int copy_info(struct copier *c, struct weft_probe_info *out,
		     const struct weft_probe_info *in, struct weft_probe_desc *entry)
{
	int ret;

	memset(out, 0, sizeof(*out));
	out->struct_size = sizeof(*out);
	out->scope = in->scope;
	if (in->scope > WEFT_SCOPE_EXACT)
		return bad(c, "an unknown scope");
	ret = copy_load(c, &out->load, &in->load);
	if (!ret)
		ret = copy_args(c, out, in);
	if (!ret)
		ret = copy_location(c, &out->guard, &in->guard);
	if (!ret)
		ret = copy_identity(c, &out->identity, &in->identity, &out->load);
	if (!ret)
		ret = copy_pairing(c, &out->pairing, &in->pairing, entry);
	if (!ret && in->retval_type.kind) {
		ret = copy_type(c, &out->retval_type, &in->retval_type);
		if (!ret && !in->retval.n_ops)
			ret = bad(c, "a return value without a place");
		if (!ret)
			ret = copy_location(c, &out->retval, &in->retval);
	}
	if (!ret)
		ret = copy_text(c, &out->prototype, in->prototype, "a prototype");
	if (!ret)
		ret = copy_schedule(c, &out->schedule, &in->schedule);
	return ret;
}

/* ---- classes ---- */

static uint64_t hash_bytes(const void *p, size_t n)
{
	const unsigned char *s = p;
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

	while (n--)
		h = (h ^ *s++) * 0x100000001b3u;
	return h;
}

static int intern(struct weft_opened *o, struct copier *c, const struct weft_probe_info *raw,
		  const struct weft_probe_info *checked, struct weft_class **out)
{
	struct weft_session *s = o->session;
	struct weft_probe_desc ignored;
	struct weft_class *class;
	struct bytes b = {0};
	uint64_t hash;
	int ret = 0;

	put_info(&b, checked);
	if (b.failed) {
		free(b.data);
		return weft_nomem(c->err);
	}
	hash = hash_bytes(b.data, b.size);
	for (class = s->classes[hash % CLASS_BUCKETS]; class; class = class->next)
		if (class->hash == hash && class->provider == o && class->key_size == b.size &&
		    !memcmp(class->key, b.data, b.size))
			goto out;

	c->arena = s->arena;
	class = weft_arena_alloc(s->arena, sizeof(*class));
	if (class)
		class->key = weft_arena_memdup(s->arena, b.data, b.size);
	if (!class || !class->key) {
		ret = weft_nomem(c->err);
		goto out;
	}
	class->provider = o;
	class->key_size = b.size;
	class->hash = hash;
	ret = copy_info(c, &class->info, raw, &ignored);
	if (!ret) {
		class->next = s->classes[hash % CLASS_BUCKETS];
		s->classes[hash % CLASS_BUCKETS] = class;
	}
out:
	free(b.data);
	*out = ret ? NULL : class;
	return ret;
}

int weft_info_class(struct weft_opened *o, const struct weft_probe *probe,
		    const struct weft_params *with, struct weft_class **out,
		    uint64_t *identity_value, struct weft_probe_desc *entry, struct weft_error *err)
{
	struct copier c = {.provider = o, .probe = probe, .err = err};
	struct weft_probe_info raw = {.struct_size = sizeof(raw)}, checked;
	struct weft_session *s = o->session;
	size_t before = weft_error_count(err);
	struct weft_probe_desc found;
	int ret;

	if (!s->classes) {
		s->classes = calloc(CLASS_BUCKETS, sizeof(struct weft_class *));
		if (!s->classes)
			return weft_nomem(err);
	}
	ret = o->provider->probe_info(o->instance, probe, with, &raw, err);
	if (ret)
		return weft_opened_failed(o, ret, before, "probe_info", err);

	/* The first copy is only compared; most probes are like one that is known. */
	c.arena = weft_arena_create();
	if (!c.arena)
		return weft_nomem(err);
	ret = copy_info(&c, &checked, &raw, &found);
	if (!ret) {
		struct weft_arena *first = c.arena;

		ret = intern(o, &c, &raw, &checked, out);
		c.arena = first;
	}
	*identity_value = checked.identity.value;
	memset(entry, 0, sizeof(*entry));
	if (!ret && found.name) {
		*entry = found;
		entry->module = weft_arena_strdup(s->arena, found.module);
		entry->function = weft_arena_strdup(s->arena, found.function);
		entry->name = weft_arena_strdup(s->arena, found.name);
		if (!entry->module || !entry->function || !entry->name)
			ret = weft_nomem(err);
	}
	weft_arena_destroy(c.arena);
	return ret;
}
