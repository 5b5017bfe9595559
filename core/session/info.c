/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a plugin says of a probe, checked and copied. A plugin's pointers are good only until its
 * next call and its numbers are not to be believed, so everything is copied within limits; after
 * that the core works on its own copy alone. Probes that are alike (ten thousand functions) share
 * one copy, a class: class.c.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/session/internal.h"

#define TEXT_MAX     512u
#define MIN_ARG_SIZE offsetof(struct weft_arg, unreadable)

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
	out->reserved = 0;
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

/* ---- descriptions ---- */

/* The class of a probe, or of one layout of it. raw is the plugin's. */
static int class_of(struct copier *c, const struct weft_probe_info *raw,
		    struct weft_probe_info *checked, struct weft_probe_desc *entry,
		    struct weft_class **out)
{
	struct weft_session *s = c->provider->session;
	struct weft_arena *outer = c->arena;
	struct weft_probe_desc ignored;
	bool made;
	int ret;

	/* The first copy is only compared; most probes are like one that is known. */
	ret = copy_info(c, checked, raw, entry);
	if (ret)
		return ret;
	ret = weft_class_intern(c->provider, checked, out, &made, c->err);
	if (ret || !made)
		return ret;
	c->arena = s->arena;
	ret = copy_info(c, &(*out)->info, raw, &ignored);
	c->arena = outer;
	if (!ret)
		weft_class_remember(s, *out);
	return ret;
}

static int describe_entry(struct weft_session *s, const struct weft_probe_desc *found,
			  struct weft_probe_desc *out, struct weft_error *err)
{
	memset(out, 0, sizeof(*out));
	if (!found->name)
		return 0;
	*out = *found;
	out->module = weft_arena_strdup(s->arena, found->module);
	out->function = weft_arena_strdup(s->arena, found->function);
	out->name = weft_arena_strdup(s->arena, found->name);
	return out->module && out->function && out->name ? 0 : weft_nomem(err);
}

#define MIN_LAYOUT_SIZE offsetof(struct weft_layout, text)

static int describe_layouts(struct copier *c, const struct weft_probe_info *raw,
			    struct weft_described *out)
{
	struct weft_session *s = c->provider->session;
	struct weft_probe_info checked, one = *raw;
	struct weft_probe_desc none;
	uint32_t i, size = raw->layout_size;
	int ret;

	if (raw->n_layouts > WEFT_MAX_LAYOUTS)
		return bad(c, "more than 65,536 layouts");
	if (!raw->layouts || size < MIN_LAYOUT_SIZE || size > 4096)
		return bad(c, "layouts without a place or of an impossible size");
	if (raw->pairing.role != WEFT_PAIRING_NONE)
		return bad(c, "layouts of a probe that belongs to a pair");
	if (raw->identity.kind != WEFT_IDENTITY_COOKIE)
		return bad(c, "layouts of a probe that is not identified by its cookie");
	out->classes = weft_arena_array(s->arena, raw->n_layouts, sizeof(struct weft_class *));
	out->layouts = weft_arena_array(s->arena, raw->n_layouts, sizeof(*out->layouts));
	if (!out->classes || !out->layouts)
		return weft_nomem(c->err);
	out->n = raw->n_layouts;
	for (i = 0; i < out->n; i++) {
		struct weft_layout in = {0}, *layout = &out->layouts[i];
		struct weft_arena *outer = c->arena;

		memcpy(&in, (const char *)raw->layouts + (size_t)i * size,
		       size < sizeof(in) ? size : sizeof(in));
		one.args = in.args;
		one.n_args = in.n_args;
		ret = class_of(c, &one, &checked, &none, &out->classes[i]);
		if (ret)
			return ret;
		c->arena = s->arena;
		ret = copy_text(c, &layout->text, in.text,
				"a layout's text that is too long or not printable");
		c->arena = outer;
		if (ret)
			return ret;
		layout->struct_size = sizeof(*layout);
		layout->args = out->classes[i]->info.args;
		layout->n_args = out->classes[i]->info.n_args;
		layout->n_sites = in.n_sites;
	}
	return 0;
}

static int describe_one(struct copier *c, const struct weft_probe_info *raw,
			struct weft_described *out)
{
	struct weft_session *s = c->provider->session;
	struct weft_probe_info checked;
	struct weft_probe_desc entry;
	int ret;

	out->classes = weft_arena_array(s->arena, 1, sizeof(struct weft_class *));
	if (!out->classes)
		return weft_nomem(c->err);
	out->n = 1;
	ret = class_of(c, raw, &checked, &entry, out->classes);
	if (!ret)
		ret = describe_entry(s, &entry, &out->entry, c->err);
	return ret;
}

int weft_info_describe(struct weft_opened *o, const struct weft_probe *probe,
		       const struct weft_params *with, bool brief, struct weft_described *out,
		       struct weft_error *err)
{
	struct copier c = {.provider = o, .probe = probe, .err = err};
	struct weft_probe_info raw = {.struct_size = sizeof(raw), .brief = brief};
	int ret;

	memset(out, 0, sizeof(*out));
	ret = weft_slot_probe_info(o, probe, with, &raw, err);
	if (ret)
		return ret;
	c.arena = weft_arena_create();
	if (!c.arena)
		return weft_nomem(err);
	ret = raw.n_layouts ? describe_layouts(&c, &raw, out) : describe_one(&c, &raw, out);
	out->identity_value = raw.identity.value;
	weft_arena_destroy(c.arena);
	return ret;
}
