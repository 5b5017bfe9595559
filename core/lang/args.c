/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a probe gives: arguments, the value returned, the time since the entry. */
#include "core/lang/kernel_types.h"

#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

static const char *probe_text(const struct weft_sema *s)
{
	return s->env->probe ? s->env->probe : "the probe";
}

static bool returns(const struct weft_sema *s)
{
	return s->env->info && s->env->info->pairing.role == WEFT_PAIRING_RETURN;
}

size_t weft_n_args(const struct weft_lang_env *env)
{
	if (!env->info || !env->info->args)
		return 0;
	return env->info->n_args < WEFT_MAX_ARGS ? env->info->n_args : WEFT_MAX_ARGS;
}

void weft_arg_get(const struct weft_lang_env *env, size_t i, struct weft_arg *out)
{
	size_t stride = env->info->arg_size ? env->info->arg_size : sizeof(*out);

	memset(out, 0, sizeof(*out));
	memcpy(out, (const char *)env->info->args + i * stride,
	       stride < sizeof(*out) ? stride : sizeof(*out));
}

/* ---- from the provider's types to the language's ---- */

static bool is_int_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static bool from_int(const struct weft_lang_env *env, const struct weft_arg_type *t,
		     struct weft_type *out)
{
	(void)env;
	out->kind = WEFT_VALUE_INT;
	out->size = (uint8_t)t->size;
	out->is_signed = t->flags & WEFT_TYPE_SIGNED;
	return is_int_size(t->size);
}

static bool from_pointer(const struct weft_lang_env *env, const struct weft_arg_type *t,
			 struct weft_type *out)
{
	(void)env;
	out->kind = WEFT_VALUE_INT;
	out->size = 8;
	out->is_pointer = true;
	out->space = (uint8_t)t->space;
	return true;
}

static bool from_text(const struct weft_lang_env *env, const struct weft_arg_type *t,
		      struct weft_type *out)
{
	uint32_t most = weft_env_strsize(env);

	out->kind = t->kind == WEFT_TYPE_STRING ? WEFT_VALUE_STRING : WEFT_VALUE_BYTES;
	out->space = (uint8_t)t->space;
	out->cap = t->size && t->size < most ? t->size : most;
	return true;
}

/* A pointer, of which nobody has asked what it points to. */
static bool from_btf_pointer(const struct weft_lang_env *env, const struct weft_arg_type *t,
			     struct weft_type *out)
{
	from_pointer(env, t, out);
	out->role = WEFT_ROLE_ARG;
	out->btf_fd = t->btf_fd;
	out->btf_id = t->btf_id;
	out->text = t->text;
	return true;
}

/* What can be told without type information. */
static bool from_btf_blind(const struct weft_lang_env *env, const struct weft_arg_type *t,
			   struct weft_type *out)
{
	if (t->size == 8)
		return from_btf_pointer(env, t, out);
	return from_int(env, t, out);
}

static bool from_btf(const struct weft_lang_env *env, const struct weft_arg_type *t,
		     struct weft_type *out)
{
	size_t n = t->text ? strlen(t->text) : 0;
	struct weft_btf *btf = NULL;
	struct weft_btf_type of;

	/* Its text says as much: the type information is left alone. */
	if (n && t->text[n - 1] == '*' && (!t->size || t->size == 8))
		return from_btf_pointer(env, t, out);
	if (!env->btf || env->btf->get(env->btf, t->btf_fd, &btf, NULL) ||
	    !weft_btf_strip(btf, t->btf_id, &of, NULL))
		return from_btf_blind(env, t, out);
	if (of.kind == BTF_KIND_PTR)
		return from_btf_pointer(env, t, out);
	if (weft_btf_is_struct(&of) || of.kind == BTF_KIND_ARRAY) {
		out->kind = WEFT_VALUE_OBJECT;
		return true;
	}
	out->kind = WEFT_VALUE_INT;
	out->size = (uint8_t)of.type;
	out->is_signed = weft_btf_int_is_signed(&of);
	if (weft_btf_is_enum(&of)) {
		out->names = weft_btf_enum(btf, of.id);
		out->is_signed = out->names && out->names->is_signed;
		out->text = t->text;
	}
	return (of.kind == BTF_KIND_INT || out->names) && is_int_size(of.type);
}

/* An enum that the provider gives no text for. */
static const char *enum_text(struct weft_sema *s, const struct weft_arg_type *t)
{
	struct weft_btf_ref ref = {.fd = t->btf_fd, .id = t->btf_id};

	ref.btf = weft_sema_btf(s, ref.fd, 0);
	return ref.btf ? weft_type_text(s, &ref) : NULL;
}

/* A struct, union or array, whose address the location yields. */
static struct weft_node *object_at(struct weft_sema *s, struct weft_node *n,
				   const struct weft_arg_type *t, const struct weft_ast *a)
{
	struct weft_btf_ref ref = {.fd = t->btf_fd, .id = t->btf_id, .space = (uint8_t)t->space};

	if (!n)
		return NULL;
	ref.btf = weft_sema_btf(s, ref.fd, a->start);
	if (!ref.btf || !weft_pointer_to(s, &ref, &n->type))
		return NULL;
	return weft_place_node(s, n, 0, &ref, a);
}

static bool (*const from[])(const struct weft_lang_env *, const struct weft_arg_type *,
			    struct weft_type *) = {
	[WEFT_TYPE_INT] = from_int,     [WEFT_TYPE_POINTER] = from_pointer,
	[WEFT_TYPE_STRING] = from_text, [WEFT_TYPE_BYTES] = from_text,
	[WEFT_TYPE_BTF] = from_btf,
};

bool weft_arg_value_type(const struct weft_lang_env *env, const struct weft_arg_type *t,
			 struct weft_type *out)
{
	memset(out, 0, sizeof(*out));
	if (t->kind >= sizeof(from) / sizeof(from[0]) || !from[t->kind])
		return false;
	return from[t->kind](env, t, out);
}

/* ---- arguments ---- */

static struct weft_node *unreadable(struct weft_sema *s, const struct weft_ast *a, const char *why,
				    const struct weft_arg_type *t)
{
	if (why)
		return weft_sema_fail(s, a->start, "ARG_UNREADABLE",
				      "`%s` of %s cannot be read: %s", a->s, probe_text(s), why);
	return weft_sema_fail(s, a->start, "ARG_UNREADABLE",
			      "`%s` of %s cannot be read: values of its type (%s) are not understood",
			      a->s, probe_text(s), t->text ? t->text : "unnamed");
}

struct weft_node *weft_resolve_arg(struct weft_sema *s, uint32_t index, const struct weft_ast *a)
{
	size_t n_args = weft_n_args(s->env);
	struct weft_type type;
	struct weft_arg arg;
	struct weft_node *n;

	if (s->unknown_probe)
		return NULL;
	if (!s->env->info)
		return weft_sema_fail(s, a->start, "ARG_UNKNOWN",
				      "`%s` belongs to a probe, and `begin` and `end` are none",
				      a->s);
	if (index >= n_args)
		return weft_sema_fail(s, a->start, "ARG_UNKNOWN",
				      n_args ? "there is no `%s`: %s has %zu argument%s, from arg0"
				      : returns(s) ? "there is no `%s`: %s has no arguments; what "
						     "the call was given is entry.argN"
						   : "there is no `%s`: %s has no arguments",
				      a->s, probe_text(s), n_args, n_args == 1 ? "" : "s");
	weft_arg_get(s->env, index, &arg);
	if (!arg.where.n_ops)
		return unreadable(s, a, arg.unreadable ? arg.unreadable : "its place is not known",
				  &arg.type);
	if (!weft_arg_value_type(s->env, &arg.type, &type))
		return unreadable(s, a, NULL, &arg.type);
	n = weft_node_new(s, WEFT_NODE_ARG, type, a);
	if (n)
		n->index = index;
	if (n && type.names && !type.text)
		n->type.text = enum_text(s, &arg.type);
	return type.kind == WEFT_VALUE_OBJECT ? object_at(s, n, &arg.type, a) : n;
}

static struct weft_node *unknown_arg(struct weft_sema *s, const struct weft_ast *a)
{
	const char *names[WEFT_MAX_ARGS], *near;
	struct weft_arg arg;
	char all[256];
	size_t n = 0;

	if (!s->env->info)
		return weft_sema_fail(s, a->start, "ARG_UNKNOWN",
				      "`args.%s` belongs to a probe, and `begin` and `end` are none",
				      a->s);
	for (size_t i = 0; i < weft_n_args(s->env); i++) {
		weft_arg_get(s->env, i, &arg);
		if (arg.name)
			names[n++] = arg.name;
	}
	near = n ? weft_nearest(a->s, names, n) : NULL;
	weft_sema_fail(s, a->start, "ARG_UNKNOWN", "there is no argument `%s`: %s has %s%s", a->s,
		       probe_text(s),
		       n                     ? weft_list_names(names, n, all, sizeof(all))
		       : weft_n_args(s->env) ? "none with a name (arg0 is the first)"
					     : "none",
		       returns(s) ? "; what the call was given is entry.NAME" : "");
	if (near)
		near = weft_arena_printf(s->src.arena, "args.%s", near);
	if (near)
		weft_error_suggest(s->src.err, near);
	return NULL;
}

struct weft_node *weft_resolve_member(struct weft_sema *s, const struct weft_ast *a)
{
	const struct weft_ast *of = a->kid[0];
	struct weft_node *n;
	struct weft_arg arg;
	bool mine;

	if (of->kind == WEFT_AST_NAME && strcmp(of->s, "args") == 0) {
		if (s->unknown_probe)
			return NULL;
		for (uint32_t i = 0; i < weft_n_args(s->env); i++) {
			weft_arg_get(s->env, i, &arg);
			if (arg.name && strcmp(arg.name, a->s) == 0)
				return weft_resolve_arg(s, i, a);
		}
		return unknown_arg(s, a);
	}
	if (of->kind == WEFT_AST_NAME && strcmp(of->s, "entry") == 0)
		return weft_resolve_entry(s, a);
	n = weft_resolve_state(s, a, &mine);
	if (mine)
		return n;
	n = weft_type_place(s, of);
	return n ? weft_resolve_btf_member(s, n, a) : NULL;
}

/* ---- returns ---- */

struct weft_node *weft_resolve_retval(struct weft_sema *s, const struct weft_ast *a)
{
	const struct weft_probe_info *info = s->env->info;
	struct weft_type type;
	struct weft_node *n;

	if (s->unknown_probe)
		return NULL;
	if (!info || !info->retval_type.kind || !info->retval.n_ops)
		return weft_sema_fail(
			s, a->start, "RETVAL_NONE",
			"`%s` needs a value returned, and %s has none; probes that fire on "
			"a return have one",
			a->s, info ? probe_text(s) : "`begin` or `end`");
	if (!weft_arg_value_type(s->env, &info->retval_type, &type))
		return unreadable(s, a, NULL, &info->retval_type);
	n = weft_node_new(s, WEFT_NODE_RETVAL, type, a);
	if (n && type.names && !type.text)
		n->type.text = enum_text(s, &info->retval_type);
	return type.kind == WEFT_VALUE_OBJECT ? object_at(s, n, &info->retval_type, a) : n;
}

struct weft_node *weft_resolve_regs(struct weft_sema *s, const struct weft_var *v,
				    const struct weft_ast *a)
{
	const struct weft_probe_info *info = s->env->info;
	struct weft_node *n;

	if (s->unknown_probe)
		return NULL;
	if (!info ||
	    (info->load.ctx_kind != WEFT_CTX_REGS && info->load.ctx_kind != WEFT_CTX_PERF_EVENT))
		return weft_sema_fail(s, a->start, "REGS_NONE",
				      "`regs` needs the registers of what was interrupted, and %s "
				      "does not have them",
				      info ? probe_text(s) : "`begin` or `end`");
	n = weft_node_new(s, WEFT_NODE_VAR, v->type, a);
	if (n)
		n->var = v;
	return n;
}

/*
 * The kernel's convention: a value from -4095 to -1 is the negative of an error (MAX_ERRNO,
 * include/linux/err.h), be its type a number or an address.
 */
struct weft_node *weft_resolve_errno(struct weft_sema *s, const struct weft_ast *a)
{
	struct weft_node *r[3], *range, *n;
	char name[32];

	for (int i = 0; i < 3; i++) {
		r[i] = weft_resolve_retval(s, a);
		if (!r[i])
			return NULL;
		if (r[i]->type.kind != WEFT_VALUE_INT)
			return weft_sema_fail(s, a->start, "EXPR_TYPE",
					      "`errno` needs an integer returned, and %s returns %s",
					      probe_text(s), weft_type_phrase(&r[i]->type, name));
		r[i] = weft_node_convert(s, r[i], 8, true);
	}
	range = weft_node_logical(
		s, WEFT_OP_LOGAND,
		weft_node_binary(s, WEFT_OP_LT, r[0], weft_node_int(s, 0, false, a), a),
		weft_node_binary(s, WEFT_OP_GE, r[1], weft_node_int(s, -4095, false, a), a), a);
	n = weft_node_cond(s, range, weft_node_unary(s, WEFT_OP_NEG, r[2], a),
			   weft_node_int(s, 0, false, a), a);
	return weft_node_convert(s, n, 4, true);
}

struct weft_node *weft_resolve_elapsed(struct weft_sema *s, const struct weft_ast *a)
{
	const struct weft_probe_info *info = s->env->info;
	struct weft_type t = {.kind = WEFT_VALUE_INT, .size = 8, .is_signed = true};

	if (s->unknown_probe)
		return NULL;
	if (!info || info->pairing.role != WEFT_PAIRING_RETURN)
		return weft_sema_fail(
			s, a->start, "ELAPSED_NONE",
			"`elapsed` is the time since the entry that a return belongs to, "
			"and %s is not paired with an entry: use it in a clause of the "
			"return probe",
			info ? probe_text(s) : "`begin` or `end`");
	return weft_node_new(s, WEFT_NODE_ELAPSED, t, a);
}
