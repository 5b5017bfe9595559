/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Types by name: in casts and sizeof, and the constants of enums. A name is looked for in the type
 * information that the probe's own arguments come from, then in the kernel's. An address that is a
 * plain number points into the kernel, or into the process with `__user` or where the types are the
 * program's own; one that says whose memory it points into keeps that.
 */
#include <linux/btf.h>
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
#include "core/btf/enums.h"
#include "core/lang/kernel_types.h"

#define ANY_NAME (WEFT_BTF_KINDS(BTF_KIND_TYPEDEF) | WEFT_BTF_KINDS(BTF_KIND_INT))

static const struct {
	uint32_t kinds;
	const char *text;
} tags[] = {
	[WEFT_CTYPE_NAME] = {ANY_NAME, ""},
	[WEFT_CTYPE_STRUCT] = {WEFT_BTF_KINDS(BTF_KIND_STRUCT), "struct "},
	[WEFT_CTYPE_UNION] = {WEFT_BTF_KINDS(BTF_KIND_UNION), "union "},
	[WEFT_CTYPE_ENUM] = {WEFT_BTF_KINDS(BTF_KIND_ENUM) | WEFT_BTF_KINDS(BTF_KIND_ENUM64),
			     "enum "},
};

/* This language's integers, and void, as BTF has them. */
static const struct {
	const char *name, *btf;
} ours[] = {
	{"int8", "signed char"},    {"int16", "short int"},
	{"int32", "int"},           {"int64", "long int"},
	{"uint8", "unsigned char"}, {"uint16", "short unsigned int"},
	{"uint32", "unsigned int"}, {"uint64", "long unsigned int"},
};

static const char *btf_name(const char *name)
{
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (!strcmp(ours[i].name, name))
			return ours[i].btf;
	return name;
}

static bool find_in(struct weft_sema *s, const struct weft_ctype *c, int fd,
		    struct weft_btf_ref *out)
{
	out->fd = fd;
	out->btf = weft_sema_btf(s, fd, c->start);
	return out->btf &&
	       weft_btf_find(out->btf, btf_name(c->name), tags[c->tag].kinds, &out->id, NULL);
}

/* The next object of the probe's own types behind number *at of its arguments, the value returned
 * being the last; 0: no more. */
static int next_own(struct weft_sema *s, size_t *at, int last, uint8_t *space)
{
	const struct weft_probe_info *info = s->env->info;
	struct weft_arg arg;

	while (info && *at <= weft_n_args(s->env)) {
		const struct weft_arg_type *t = &info->retval_type;

		if (*at < weft_n_args(s->env)) {
			weft_arg_get(s->env, *at, &arg);
			t = &arg.type;
		}
		++*at;
		if (t->kind == WEFT_TYPE_BTF && t->btf_fd && t->btf_fd != last) {
			*space = (uint8_t)t->space;
			return t->btf_fd;
		}
	}
	return 0;
}

static bool find_own(struct weft_sema *s, const struct weft_ctype *c, struct weft_btf_ref *out)
{
	size_t at = 0;
	int fd = 0;

	while ((fd = next_own(s, &at, fd, &out->space))) {
		if (find_in(s, c, fd, out))
			return true;
		if (s->rc)
			break;
	}
	return false;
}

/* What was meant by a name that no type has: one of another kind (`task_struct *`), or the nearest. */
static const char *meant(struct weft_sema *s, const struct weft_ctype *c)
{
	struct weft_ctype other = *c;
	struct weft_near near;
	struct weft_btf_ref ref;
	size_t at = 0;
	int fd = 0;

	for (int tag = WEFT_CTYPE_NAME; tag <= WEFT_CTYPE_ENUM; tag++) {
		other.tag = (enum weft_ctype_tag)tag;
		if (find_own(s, &other, &ref) || find_in(s, &other, 0, &ref))
			return weft_arena_printf(s->src.arena, "%s%s", tags[tag].text, c->name);
	}
	weft_near_init(&near, c->name);
	do {
		fd = next_own(s, &at, fd, &ref.space);
		weft_btf_offer(weft_sema_btf(s, fd, c->start), tags[c->tag].kinds, &near);
	} while (fd);
	return near.best ? weft_arena_printf(s->src.arena, "%s%s", tags[c->tag].text, near.best)
			 : NULL;
}

static bool is_declared(struct weft_sema *s, const struct weft_ctype *c)
{
	struct weft_btf_ref ref;
	uint32_t id;
	size_t at = 0;
	int fd = 0;

	if (c->tag != WEFT_CTYPE_STRUCT && c->tag != WEFT_CTYPE_UNION)
		return false;
	do {
		fd = next_own(s, &at, fd, &ref.space);
		ref.btf = weft_sema_btf(s, fd, c->start);
		if (ref.btf &&
		    weft_btf_find(ref.btf, c->name, WEFT_BTF_KINDS(BTF_KIND_FWD), &id, NULL))
			return true;
	} while (fd);
	return false;
}

static void no_type(struct weft_sema *s, const struct weft_ctype *c)
{
	const char *near;

	if (is_declared(s, c)) {
		weft_sema_fail(s, c->start, "TYPE_INCOMPLETE",
			       "`%s%s` is declared and never defined in the type information",
			       tags[c->tag].text, c->name);
		return;
	}
	near = meant(s, c);
	weft_sema_fail(s, c->start, "TYPE_UNKNOWN", "there is no type `%s%s`", tags[c->tag].text,
		       c->name);
	if (near)
		weft_error_suggest(s->src.err, near);
}

static bool find_type(struct weft_sema *s, const struct weft_ctype *c, struct weft_btf_ref *out)
{
	int before = s->rc, failed; /* before: of another text, which says nothing about this one */
	bool found;

	memset(out, 0, sizeof(*out));
	s->rc = 0;
	found = find_own(s, c, out);
	failed = s->rc;
	if (before)
		s->rc = before;
	if (found || failed)
		return found;
	if (c->tag == WEFT_CTYPE_NAME && !strcmp(c->name, "void")) {
		*out = (struct weft_btf_ref){.btf = weft_sema_btf(s, 0, c->start)};
		return out->btf != NULL;
	}
	out->space = WEFT_SPACE_KERNEL;
	if (find_in(s, c, 0, out))
		return true;
	if (!out->btf)
		return false;
	no_type(s, c);
	return false;
}

/* ---- constants of enums ---- */

static struct weft_node *no_constant(struct weft_sema *s, const struct weft_ast *name,
				     const struct weft_type *type)
{
	struct weft_near near;

	weft_sema_fail(s, name->start, "NAME_UNKNOWN",
		       "there is no `%s`, and %s has no such constant", name->s,
		       type->text ? type->text : "this enum");
	weft_near_init(&near, name->s);
	for (uint32_t i = 0; i < type->names->n; i++)
		weft_near_offer(&near, type->names->constants[i].name);
	if (near.best)
		weft_error_suggest(s->src.err, near.best);
	return NULL;
}

static bool may_be_constant(const struct weft_sema *s, const struct weft_ast *a)
{
	return a->kind == WEFT_AST_NAME && !weft_name_is_taken(a->s) &&
	       !weft_state_find(s->state, a->s);
}

struct weft_node *weft_enum_constant(struct weft_sema *s, const struct weft_ast *name,
				     const struct weft_node *beside, bool *wrong)
{
	int64_t value;

	*wrong = false;
	if (!beside || !beside->type.names || !may_be_constant(s, name))
		return NULL;
	if (weft_btf_enum_value(beside->type.names, name->s, &value))
		return weft_node_int(s, value, !beside->type.is_signed && beside->type.size == 8,
				     name);
	*wrong = true;
	return no_constant(s, name, &beside->type);
}

/* ---- casts ---- */

/* Pointers to pointers have no id of their own in BTF unless some declaration has them. */
static bool add_stars(struct weft_sema *s, const struct weft_ctype *c, struct weft_btf_ref *ref)
{
	for (uint8_t i = 1; i < c->stars; i++) {
		uint32_t to = ref->id;

		if (!weft_btf_find_pointer(ref->btf, to, &ref->id)) {
			const char *text = weft_type_text(s, ref);

			weft_sema_fail(s, c->start, "TYPE_UNKNOWN",
				       "the type information has no `%s *` that this could point "
				       "to: what an address p leads to is `(%s *) peek(p, 8)`",
				       text, text);
			return false;
		}
	}
	return true;
}

static struct weft_node *spanned(struct weft_node *n, const struct weft_ast *a)
{
	if (n) {
		n->span.start = a->start;
		n->span.length = a->length;
	}
	return n;
}

static struct weft_node *cast_to_pointer(struct weft_sema *s, const struct weft_ast *a,
					 struct weft_btf_ref *ref, struct weft_node *n)
{
	struct weft_type type;

	if (a->ctype->user)
		ref->space = WEFT_SPACE_USER;
	else if (n->type.is_pointer)
		ref->space = n->type.space;
	if (!add_stars(s, a->ctype, ref) || !weft_pointer_to(s, ref, &type))
		return NULL;
	n = weft_node_convert(s, n, 8, false);
	return n ? spanned(weft_node_retype(s, n, type), a) : NULL;
}

/* (enum pid_type) PIDTYPE_TGID: the cast says whose constant it is. */
static struct weft_node *cast_constant(struct weft_sema *s, const struct weft_ast *a, bool *mine)
{
	struct weft_node beside = {0}, *n;
	struct weft_btf_ref ref;
	bool wrong;

	*mine = may_be_constant(s, a->kid[0]) && !a->ctype->stars &&
		(a->ctype->tag == WEFT_CTYPE_ENUM || a->ctype->tag == WEFT_CTYPE_NAME);
	if (!*mine || (s->unknown_probe && !s->env->btf) || !find_type(s, a->ctype, &ref) ||
	    !weft_type_of(s, &ref, a->ctype->start, NULL, &beside.type))
		return NULL;
	*mine = beside.type.names != NULL;
	n = *mine ? weft_enum_constant(s, a->kid[0], &beside, &wrong) : NULL;
	n = n ? weft_node_convert(s, n, beside.type.size, beside.type.is_signed) : NULL;
	return n ? spanned(weft_node_retype(s, n, beside.type), a) : NULL;
}

struct weft_node *weft_resolve_ctype_cast(struct weft_sema *s, const struct weft_ast *a)
{
	struct weft_btf_ref ref;
	struct weft_type type;
	struct weft_node *n;
	bool constant;

	n = cast_constant(s, a, &constant);
	if (constant)
		return n;
	n = weft_type_ast(s, a->kid[0]);
	if (s->unknown_probe && (!n || !s->env->btf))
		return NULL;
	if (!n || !weft_want_int(s, n, "a cast") || !find_type(s, a->ctype, &ref))
		return NULL;
	if (a->ctype->stars)
		return cast_to_pointer(s, a, &ref, n);
	if (!weft_type_of(s, &ref, a->ctype->start, NULL, &type))
		return NULL;
	if (type.kind != WEFT_VALUE_INT)
		return weft_sema_fail(s, a->ctype->start, "OBJECT_VALUE",
				      "a number cannot be cast to %s itself: to a pointer, (%s *) x",
				      type.text, type.text);
	n = weft_node_convert(s, n, type.size, type.is_signed);
	return n ? spanned(weft_node_retype(s, n, type), a) : NULL;
}

/* ---- sizeof ---- */

static struct weft_node *size_of(struct weft_sema *s, const struct weft_btf_ref *ref,
				 const struct weft_ast *a)
{
	uint64_t size;

	if (!weft_btf_size(ref->btf, ref->id, &size))
		return weft_sema_fail(s, a->start, "TYPE_INCOMPLETE", "%s has no size",
				      weft_type_text(s, ref));
	return weft_node_int(s, (int64_t)size, true, a);
}

static struct weft_node *size_of_type(struct weft_sema *s, const struct weft_ctype *c,
				      const struct weft_ast *a)
{
	const char *name = c->ours ? c->ours : c->name;
	const struct weft_type *mine = weft_cast_type(name, (uint32_t)strlen(name));
	struct weft_btf_ref ref;

	if (c->stars)
		return weft_node_int(s, 8, true, a);
	if (mine && c->tag == WEFT_CTYPE_NAME)
		return weft_node_int(s, mine->size, true, a);
	if (s->unknown_probe && !s->env->btf)
		return NULL;
	return find_type(s, c, &ref) ? size_of(s, &ref, a) : NULL;
}

struct weft_node *weft_resolve_sizeof(struct weft_sema *s, const struct weft_ast *a)
{
	const struct weft_ast *of = a->kid[0];
	struct weft_ctype bare;
	struct weft_btf_ref ref;
	struct weft_node *n;

	if (a->ctype)
		return size_of_type(s, a->ctype, a);
	if (of->kind == WEFT_AST_NAME && !weft_name_is_taken(of->s) &&
	    !weft_state_find(s->state, of->s)) {
		bare = (struct weft_ctype){.name = of->s, .start = of->start, .length = of->length};
		return size_of_type(s, &bare, a);
	}
	n = weft_type_place(s, of);
	if (!n)
		return NULL;
	if (n->kind == WEFT_NODE_PLACE || (n->kind == WEFT_NODE_READ && !n->access.bits)) {
		ref = (struct weft_btf_ref){.fd = n->access.fd, .id = n->access.id};
		ref.btf = weft_sema_btf(s, ref.fd, a->start);
		return ref.btf ? size_of(s, &ref, a) : NULL;
	}
	if (!weft_want_int(s, n, "sizeof"))
		return NULL;
	return weft_node_int(s, n->type.size, true, a);
}
