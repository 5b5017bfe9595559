/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/kernel/btf_describe.h"

#include <errno.h>
#include <linux/btf.h>
#include <string.h>

#define TEXT_MOST 480u /* of a prototype; what crosses the boundary has at most 512 */

struct teller {
	const struct weft_btf *btf;
	struct weft_arena *arena;
	int fd;
	bool no_memory;
};

static const char *text_of(struct teller *t, uint32_t id)
{
	char text[TEXT_MOST];
	const char *copy;

	copy = weft_arena_strdup(t->arena, weft_btf_print(t->btf, id, NULL, text, sizeof(text)));
	t->no_memory |= !copy;
	return copy;
}

/* A type as the value of an argument. Kind 0: it has no value that could be read. */
static void tell_type(struct teller *t, uint32_t id, struct weft_arg_type *out, uint32_t *size,
		      uint32_t *flags)
{
	struct weft_btf_type of, to;
	uint64_t bytes = 0;
	bool user = false;

	memset(out, 0, sizeof(*out));
	out->struct_size = sizeof(*out);
	out->text = text_of(t, id);
	if (!weft_btf_strip(t->btf, id, &of, NULL) || !weft_btf_size(t->btf, id, &bytes))
		return;
	*size = (uint32_t)bytes;
	out->size = (uint32_t)bytes;
	if (of.kind == BTF_KIND_INT) {
		if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
			return;
		out->kind = WEFT_TYPE_INT;
		out->flags = weft_btf_int_is_signed(&of) ? WEFT_TYPE_SIGNED : 0;
		return;
	}
	if (of.kind == BTF_KIND_FLOAT)
		return;
	out->kind = WEFT_TYPE_BTF;
	out->btf_id = id;
	out->btf_fd = t->fd;
	if (of.kind == BTF_KIND_PTR && weft_btf_strip(t->btf, of.type, &to, &user) && user)
		out->space = WEFT_SPACE_USER;
	if (weft_btf_is_struct(&of) || of.kind == BTF_KIND_ARRAY)
		*flags |= WEFT_FUNC_PARAM_BY_VALUE;
}

static int tell_proto(struct teller *t, const struct weft_btf_type *proto,
		      struct weft_func_info *out, struct weft_error *err)
{
	uint32_t n = proto->vlen;
	struct weft_func_param *params;
	struct weft_btf_param p;

	if (n) {
		weft_btf_param(t->btf, proto, n - 1, &p);
		if (!p.type) {
			out->flags |= WEFT_FUNC_VARIADIC;
			n--;
		}
	}
	params = weft_arena_array(t->arena, n + 1, sizeof(*params)); /* the last: the result */
	if (!params)
		return weft_nomem(err);
	for (uint32_t i = 0; i <= n; i++) {
		p = (struct weft_btf_param){.name = "", .type = proto->type};
		if (i < n)
			weft_btf_param(t->btf, proto, i, &p);
		params[i].struct_size = sizeof(params[i]);
		params[i].name = *p.name ? p.name : NULL;
		tell_type(t, p.type, &params[i].type, &params[i].size, &params[i].flags);
	}
	out->proto_id = proto->id;
	out->params = params;
	out->n_params = n;
	out->param_size = sizeof(*params);
	out->result = &params[n];
	return t->no_memory ? weft_nomem(err) : 0;
}

/* A FUNC, a FUNC_PROTO, or what leads to one. */
static int tell_function(struct teller *t, uint32_t id, struct weft_func_info *out,
			 struct weft_error *err)
{
	uint32_t at = id, size = out->struct_size;
	struct weft_btf_type of;

	memset(out, 0, sizeof(*out));
	out->struct_size = size;
	out->btf_fd = t->fd;
	for (unsigned n = 0; n < WEFT_BTF_CHAIN; n++) {
		if (!weft_btf_strip(t->btf, at, &of, NULL))
			break;
		if (of.kind == BTF_KIND_FUNC)
			out->func_id = of.id;
		if (of.kind == BTF_KIND_FUNC_PROTO) {
			out->prototype = text_of(t, out->func_id ? out->func_id : of.id);
			return tell_proto(t, &of, out, err);
		}
		if (of.kind != BTF_KIND_FUNC && of.kind != BTF_KIND_PTR)
			break;
		at = of.type;
	}
	return weft_fail(err, -EINVAL, "BTF_NO_FUNCTION", "type %u is not that of a function", id);
}

static const char *where(const char *module)
{
	return module && *module ? module : "vmlinux";
}

int weft_btf_tell_function(struct weft_btfs *o, struct weft_arena *arena, const char *module,
			   const char *name, struct weft_func_info *out, struct weft_error *err)
{
	struct teller t = {.arena = arena};
	struct weft_btf *btf;
	bool attachable;
	unsigned n = 0;
	uint32_t id;
	int ret = weft_btfs_module(o, module, &btf, &t.fd, &attachable, err);

	if (ret)
		return ret;
	/* A module's object has the functions of vmlinux as its base: those are not meant. */
	if (!weft_btf_find(btf, name, WEFT_BTF_KINDS(BTF_KIND_FUNC), &id, &n) ||
	    id < weft_btf_first(btf))
		return weft_fail(err, -ENOENT, "BTF_NOT_FOUND",
				 "the type information of %s has no function %s", where(module),
				 name);
	if (n > 1)
		return weft_fail(err, -ENOENT, "BTF_AMBIGUOUS",
				 "the type information of %s has %u functions %s, and does not tell "
				 "which is which",
				 where(module), n, name);
	t.btf = btf;
	ret = tell_function(&t, id, out, err);
	if (!ret && !attachable)
		out->flags |= WEFT_FUNC_NO_ATTACH;
	return ret;
}

int weft_btf_tell_function_type(struct weft_btfs *o, struct weft_arena *arena, int fd, uint32_t id,
				struct weft_func_info *out, struct weft_error *err)
{
	struct teller t = {.arena = arena, .fd = fd};
	struct weft_btf *btf;
	int ret = weft_btfs_get(o, fd, &btf, err);

	if (ret)
		return ret;
	t.btf = btf;
	return tell_function(&t, id, out, err);
}

int weft_btf_tell_type(struct weft_btfs *o, struct weft_arena *arena, const char *module,
		       const char *name, uint32_t kind, struct weft_type_info *out,
		       struct weft_error *err)
{
	static const struct {
		uint32_t kind, kinds;
		const char *text;
	} kinds[] = {
		{WEFT_BTF_INT, WEFT_BTF_KINDS(BTF_KIND_INT), "integer"},
		{WEFT_BTF_STRUCT, WEFT_BTF_KINDS(BTF_KIND_STRUCT), "struct"},
		{WEFT_BTF_UNION, WEFT_BTF_KINDS(BTF_KIND_UNION), "union"},
		{WEFT_BTF_ENUM, WEFT_BTF_KINDS(BTF_KIND_ENUM) | WEFT_BTF_KINDS(BTF_KIND_ENUM64),
		 "enum"},
		{WEFT_BTF_TYPEDEF, WEFT_BTF_KINDS(BTF_KIND_TYPEDEF), "typedef"},
		{WEFT_BTF_FUNC, WEFT_BTF_KINDS(BTF_KIND_FUNC), "function"},
	};
	struct teller t = {.arena = arena};
	uint32_t size = out->struct_size, id, flags = 0;
	struct weft_arg_type *type;
	struct weft_btf *btf;
	bool attachable;
	size_t i = 0;
	int ret;

	while (i < sizeof(kinds) / sizeof(kinds[0]) && kinds[i].kind != kind)
		i++;
	if (i == sizeof(kinds) / sizeof(kinds[0]))
		return weft_fail(err, -EINVAL, "BTF_KIND", "%u is no kind of type", kind);
	ret = weft_btfs_module(o, module, &btf, &t.fd, &attachable, err);
	if (ret)
		return ret;
	if (!weft_btf_find(btf, name, kinds[i].kinds, &id, NULL))
		return weft_fail(err, -ENOENT, "BTF_NOT_FOUND",
				 "the type information of %s has no %s %s", where(module),
				 kinds[i].text, name);
	t.btf = btf;
	memset(out, 0, sizeof(*out));
	out->struct_size = size;
	out->btf_fd = id < weft_btf_first(btf) ? 0 : t.fd;
	out->btf_id = id;
	type = weft_arena_alloc(arena, sizeof(*type));
	if (!type)
		return weft_nomem(err);
	t.fd = out->btf_fd;
	tell_type(&t, id, type, &out->size, &flags);
	out->type = type;
	return t.no_memory ? weft_nomem(err) : 0;
}
