/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* From types of BTF to the language's. */
#include <errno.h>
#include <linux/btf.h>
#include <string.h>

#include "core/btf/enums.h"
#include "core/lang/kernel_types.h"

struct weft_btf *weft_sema_btf(struct weft_sema *s, int fd, uint32_t at)
{
	struct weft_btf_source *source = s->env->btf;
	struct weft_span span = {s->src.text, at, 0};
	struct weft_btf *btf = NULL;
	int rc;

	if (!source) {
		weft_sema_fail(s, at, "BTF_MISSING",
			       "this needs type information, and there is none here");
		return NULL;
	}
	rc = source->get(source, fd, &btf, s->src.err);
	if (!rc)
		return btf;
	weft_error_set_pos(s->src.err, weft_span_pos(span));
	if (!s->rc)
		s->rc = rc;
	return NULL;
}

const char *weft_type_text(struct weft_sema *s, const struct weft_btf_ref *ref)
{
	char text[160];
	const char *copy;

	copy = weft_arena_strdup(s->src.arena,
				 weft_btf_print(ref->btf, ref->id, NULL, text, sizeof(text)));
	if (!copy)
		weft_sema_nomem(s);
	return copy;
}

struct weft_type weft_type_plain(struct weft_type t)
{
	t.is_pointer = false;
	t.space = 0;
	t.role = WEFT_ROLE_NONE;
	t.btf_fd = 0;
	t.btf_id = 0;
	t.text = NULL;
	t.names = NULL;
	return t;
}

static void bad_type(struct weft_sema *s, const struct weft_btf_ref *ref, uint32_t at)
{
	weft_sema_fail(s, at, "BTF_MALFORMED",
		       "the type information is malformed: type %u leads nowhere", ref->id);
}

static bool of_int(struct weft_sema *s, const struct weft_btf_ref *ref, uint32_t at,
		   const struct weft_btf_type *t, struct weft_type *out)
{
	if (t->type != 1 && t->type != 2 && t->type != 4 && t->type != 8) {
		weft_sema_fail(s, at, "TYPE_UNREADABLE",
			       "this is %s, and integers are read that have 1, 2, 4 or 8 bytes",
			       weft_type_text(s, ref));
		return false;
	}
	out->kind = WEFT_VALUE_INT;
	out->size = (uint8_t)t->type;
	out->is_signed = weft_btf_int_is_signed(t);
	return true;
}

static bool of_enum(struct weft_sema *s, const struct weft_btf_ref *ref, uint32_t at,
		    const struct weft_btf_type *t, struct weft_type *out)
{
	out->names = weft_btf_enum(ref->btf, t->id);
	if (!out->names) {
		weft_sema_nomem(s);
		return false;
	}
	if (!of_int(s, ref, at, t, out))
		return false;
	out->is_signed = out->names->is_signed;
	out->text = weft_type_text(s, ref);
	return out->text != NULL;
}

bool weft_pointer_to(struct weft_sema *s, const struct weft_btf_ref *to, struct weft_type *out)
{
	char text[160];

	memset(out, 0, sizeof(*out));
	out->kind = WEFT_VALUE_INT;
	out->size = 8;
	out->is_pointer = true;
	out->space = to->space;
	out->role = WEFT_ROLE_TO;
	out->btf_fd = to->fd;
	out->btf_id = to->id;
	out->text = weft_arena_strdup(s->src.arena,
				      weft_btf_print(to->btf, to->id, "*", text, sizeof(text)));
	if (!out->text)
		weft_sema_nomem(s);
	return out->text != NULL;
}

/* A pointer's target, and whose memory it says that it lies in. */
static struct weft_btf_ref target(const struct weft_btf_ref *ref, const struct weft_btf_type *t)
{
	struct weft_btf_ref to = *ref;
	struct weft_btf_type end;
	bool user = false;

	to.id = t->type;
	if (weft_btf_strip(ref->btf, t->type, &end, &user) && user)
		to.space = WEFT_SPACE_USER;
	return to;
}

bool weft_type_of(struct weft_sema *s, const struct weft_btf_ref *ref, uint32_t at,
		  const char *name, struct weft_type *out)
{
	struct weft_btf_type t;
	struct weft_btf_ref to;

	memset(out, 0, sizeof(*out));
	if (!weft_btf_strip(ref->btf, ref->id, &t, NULL)) {
		bad_type(s, ref, at);
		return false;
	}
	switch (t.kind) {
	case BTF_KIND_INT:
		return of_int(s, ref, at, &t, out);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return of_enum(s, ref, at, &t, out);
	case BTF_KIND_PTR:
		to = target(ref, &t);
		return weft_pointer_to(s, &to, out);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_ARRAY:
		out->kind = WEFT_VALUE_OBJECT;
		out->space = ref->space;
		out->text = weft_type_text(s, ref);
		return out->text != NULL;
	case BTF_KIND_FWD:
		weft_sema_fail(s, at, "TYPE_INCOMPLETE",
			       "`%s` is declared and never defined in the type information",
			       weft_type_text(s, ref));
		return false;
	default:
		weft_sema_fail(s, at, "TYPE_UNREADABLE", "`%.80s` is %s, which is no value",
			       name ? name : "this", weft_type_text(s, ref));
		return false;
	}
}

bool weft_pointee(struct weft_sema *s, const struct weft_node *n, struct weft_btf_ref *out)
{
	struct weft_btf_type t;

	*out = (struct weft_btf_ref){
		.fd = n->type.btf_fd, .id = n->type.btf_id, .space = n->type.space};
	out->btf = weft_sema_btf(s, out->fd, n->span.start);
	if (!out->btf)
		return false;
	if (n->type.role == WEFT_ROLE_TO)
		return true;
	/* As the provider says it: the pointer's type, or the struct's own. */
	if (!weft_btf_strip(out->btf, out->id, &t, NULL)) {
		bad_type(s, out, n->span.start);
		return false;
	}
	if (t.kind == BTF_KIND_PTR)
		*out = target(out, &t);
	return true;
}

bool weft_same_pointer(const struct weft_type *a, const struct weft_type *b)
{
	return a->is_pointer && b->is_pointer && a->space == b->space && a->role == b->role &&
	       a->btf_fd == b->btf_fd && a->btf_id == b->btf_id;
}

bool weft_pointer_fits(struct weft_sema *s, const struct weft_node *n, const struct weft_type *to)
{
	struct weft_node other = {.type = *to, .span = n->span};
	struct weft_btf_ref a, b;
	struct weft_btf_type x, y;

	if (weft_same_pointer(&n->type, to) || (n->kind == WEFT_NODE_INT && !n->value))
		return true;
	if (n->type.role == WEFT_ROLE_NONE || n->type.space != to->space)
		return false;
	return weft_pointee(s, n, &a) && weft_pointee(s, &other, &b) && a.btf == b.btf &&
	       a.space == b.space && weft_btf_strip(a.btf, a.id, &x, NULL) &&
	       weft_btf_strip(b.btf, b.id, &y, NULL) && x.id == y.id;
}

struct weft_node *weft_node_retype(struct weft_sema *s, const struct weft_node *n,
				   struct weft_type type)
{
	struct weft_node *copy = weft_arena_memdup(s->src.arena, n, sizeof(*n));

	if (!copy)
		return weft_sema_nomem(s);
	copy->type = type;
	return copy;
}

/* ---- arithmetic ---- */

/* C counts in elements, other tracers in bytes; where the two differ, the user says which. */
static bool counts_bytes(struct weft_sema *s, const struct weft_node *n)
{
	struct weft_btf_ref to;
	struct weft_btf_type t;

	if (n->type.role == WEFT_ROLE_NONE || !s->env->btf)
		return true;
	if (!weft_pointee(s, n, &to) || !weft_btf_strip(to.btf, to.id, &t, NULL))
		return false;
	return t.kind == BTF_KIND_UNKN || (t.kind == BTF_KIND_INT && t.type == 1);
}

bool weft_pointer_operands(struct weft_sema *s, enum weft_op op, const struct weft_node *a,
			   const struct weft_node *b, const struct weft_ast *from)
{
	const struct weft_node *p = a->type.is_pointer ? a : b;
	int before = s->rc;

	if ((op != WEFT_OP_ADD && op != WEFT_OP_SUB) || !p->type.is_pointer)
		return true;
	if (counts_bytes(s, p) && (p == b || !b->type.is_pointer || counts_bytes(s, b)))
		return true;
	if (s->rc != before)
		return false;
	weft_sema_fail(s, from->start, "POINTER_ARITHMETIC",
		       "`%s` of %s could count elements or bytes: the address of an element is "
		       "&p[i], and (uint64) p is a number of bytes",
		       weft_op_text(op), p->type.text ? p->type.text : "a typed pointer");
	return false;
}
