/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Members, elements, and what pointers point to. All of them are places: an address and a constant
 * number of bytes beyond it. A member of a struct that lies in another only adds to that number, so
 * that a chain of members costs one read for each pointer that it goes through.
 */
#include <linux/btf.h>
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
#include "core/lang/kernel_types.h"

static bool is_object(const struct weft_node *n)
{
	return n->type.kind == WEFT_VALUE_OBJECT;
}

static bool is_typed_pointer(const struct weft_node *n)
{
	return n->type.is_pointer && n->type.role != WEFT_ROLE_NONE;
}

/* What a place lies in, or what a pointer points to: an address, an offset and a type. */
struct container {
	struct weft_node *address;
	int64_t offset;
	struct weft_btf_ref ref;
	struct weft_btf_type type; /* without qualifiers */
};

static bool complete(struct weft_sema *s, struct container *c, uint32_t at)
{
	uint32_t id;

	if (!weft_btf_strip(c->ref.btf, c->ref.id, &c->type, NULL)) {
		weft_sema_fail(s, at, "BTF_MALFORMED",
			       "the type information is malformed: type %u leads nowhere",
			       c->ref.id);
		return false;
	}
	if (c->type.kind != BTF_KIND_FWD)
		return true;
	/* A struct that is only declared here may be defined further on, under the same name. */
	if (weft_btf_find(c->ref.btf, c->type.name,
			  WEFT_BTF_KINDS(c->type.kind_flag ? BTF_KIND_UNION : BTF_KIND_STRUCT), &id,
			  NULL) &&
	    weft_btf_type(c->ref.btf, id, &c->type)) {
		c->ref.id = id;
		return true;
	}
	weft_sema_fail(s, at, "TYPE_INCOMPLETE",
		       "`%s` is declared and never defined in the type information, so that nothing "
		       "in it can be read",
		       weft_type_text(s, &c->ref));
	return false;
}

static bool open_container(struct weft_sema *s, struct weft_node *n, struct container *c)
{
	memset(c, 0, sizeof(*c));
	if (is_object(n)) {
		c->address = n->kid[0];
		c->offset = n->value;
		c->ref = (struct weft_btf_ref){
			.fd = n->access.fd, .id = n->access.id, .space = n->access.space};
		c->ref.btf = weft_sema_btf(s, c->ref.fd, n->span.start);
		if (!c->ref.btf)
			return false;
	} else {
		c->address = n;
		if (!weft_pointee(s, n, &c->ref))
			return false;
	}
	return complete(s, c, n->span.start);
}

/* ---- places as nodes ---- */

struct weft_node *weft_place_node(struct weft_sema *s, struct weft_node *address, int64_t offset,
				  const struct weft_btf_ref *ref, const struct weft_ast *from)
{
	struct weft_type type;
	struct weft_node *n;
	uint64_t size = 0;

	if (offset < INT32_MIN || offset > INT32_MAX)
		return weft_sema_fail(s, from->start, "INDEX_RANGE",
				      "this lies more than 2 GiB from where it is counted from");
	if (!weft_type_of(s, ref, from->kind == WEFT_AST_MEMBER ? from->at : from->start, from->s,
			  &type))
		return NULL;
	n = weft_node_new(s, type.kind == WEFT_VALUE_OBJECT ? WEFT_NODE_PLACE : WEFT_NODE_READ,
			  type, from);
	if (!n)
		return NULL;
	weft_btf_size(ref->btf, ref->id, &size);
	n->kid[0] = address;
	n->value = offset;
	n->access = (struct weft_access){
		.fd = ref->fd, .id = ref->id, .space = ref->space, .bytes = type.size};
	return n;
}

struct weft_node *weft_node_address(struct weft_sema *s, struct weft_node *n)
{
	const struct weft_ast from = {.start = n->span.start, .length = n->span.length};
	struct weft_btf_ref ref = {.fd = n->access.fd, .id = n->access.id, .space = n->access.space};
	struct weft_type type;
	struct weft_node *sum, *offset;

	ref.btf = weft_sema_btf(s, ref.fd, n->span.start);
	if (!ref.btf || !weft_pointer_to(s, &ref, &type))
		return NULL;
	if (!n->value)
		return weft_node_retype(s, n->kid[0], type);
	offset = weft_node_int(s, n->value, true, &from);
	if (!offset)
		return NULL;
	if (n->kid[0]->kind == WEFT_NODE_INT) {
		sum = weft_node_int(s, (int64_t)((uint64_t)n->kid[0]->value + (uint64_t)n->value),
				    true, &from);
	} else {
		sum = weft_node_new(s, WEFT_NODE_BINARY, type, &from);
		if (sum) {
			sum->op = WEFT_OP_ADD;
			sum->kid[0] = n->kid[0];
			sum->kid[1] = offset;
		}
	}
	return sum ? weft_node_retype(s, sum, type) : NULL;
}

/* ---- members ---- */

#define LISTED 12u /* members of a struct that are few enough to be named all */

struct listed {
	const char *names[LISTED + 1];
	size_t n;
};

static int list_member(const struct weft_btf_member_at *m, void *arg)
{
	struct listed *l = arg;

	l->names[l->n++] = m->name;
	return l->n > LISTED;
}

static void unknown_member(struct weft_sema *s, const struct container *c, const struct weft_ast *a)
{
	const char *near = weft_btf_nearest_member(c->ref.btf, &c->type, a->s);
	struct listed l = {0};
	char all[256];
	bool few;

	weft_btf_each_member(c->ref.btf, &c->type, list_member, &l);
	few = !near && l.n && l.n <= LISTED;
	weft_sema_fail(s, a->at, "MEMBER_UNKNOWN", "%s has no member `%s`%s%s",
		       weft_type_text(s, &c->ref), a->s, few ? ": it has " : "",
		       few ? weft_list_names(l.names, l.n, all, sizeof(all)) : "");
	if (near)
		weft_error_suggest(s->src.err, near);
}

/* A bit field: read are the bytes that it touches, from the first on. */
static struct weft_node *bit_field(struct weft_sema *s, struct weft_node *n, uint64_t bit,
				   uint32_t bits, const struct weft_ast *a)
{
	uint32_t shift = bit % 8, bytes = (shift + bits + 7) / 8;

	if (n->kind != WEFT_NODE_READ || n->type.is_pointer || bits > n->type.size * 8u || bytes > 8)
		return weft_sema_fail(s, a->at, "BTF_MALFORMED",
				      "the type information is malformed: `%s` is a bit field of %u "
				      "bits, which its type does not have",
				      a->s, bits);
	n->access.shift = (uint8_t)shift;
	n->access.bits = (uint8_t)bits;
	n->access.bytes = (uint8_t)bytes;
	return n;
}

struct weft_node *weft_resolve_btf_member(struct weft_sema *s, struct weft_node *of,
					  const struct weft_ast *a)
{
	struct weft_btf_member_at m;
	struct container c;
	struct weft_node *n;
	char name[32];
	int found;

	if (!is_object(of) && !is_typed_pointer(of)) {
		weft_sema_fail(s, a->at, "MEMBER_NONE",
			       of->type.is_pointer
				       ? "%s has no member `%s`: it is not known what the address "
					 "leads to; a cast says it, ((struct NAME *) x).%s"
				       : "a value of type %s has no member `%s`",
			       weft_type_name(&of->type, name), a->s, a->s);
		return NULL;
	}
	if (!open_container(s, of, &c))
		return NULL;
	if (!weft_btf_is_struct(&c.type))
		return weft_sema_fail(s, a->at, "MEMBER_NONE",
				      "%s has no member `%s`: it is no struct",
				      weft_type_text(s, &c.ref), a->s);
	found = weft_btf_find_member(c.ref.btf, &c.type, a->s, &m);
	if (!found)
		unknown_member(s, &c, a);
	else if (found < 0)
		weft_sema_fail(s, a->at, "BTF_MALFORMED",
			       "the type information is malformed: %s nests too deep",
			       weft_type_text(s, &c.ref));
	if (found <= 0)
		return NULL;
	c.ref.id = m.type;
	n = weft_place_node(s, c.address, c.offset + (int64_t)(m.bit / 8), &c.ref, a);
	if (n && m.bits)
		return bit_field(s, n, m.bit, m.bits, a);
	if (n && m.bit % 8)
		return weft_sema_fail(s, a->at, "BTF_MALFORMED",
				      "the type information is malformed: `%s` begins within a byte",
				      a->s);
	return n;
}

/* ---- elements ---- */

bool weft_has_elements(const struct weft_node *n)
{
	return is_object(n) || is_typed_pointer(n);
}

/* What one element is: *length is 0 where there is no telling how many there are. */
static bool element_type(struct weft_sema *s, const struct weft_node *of, struct container *c,
			 const struct weft_ast *a, uint64_t *size, uint32_t *length)
{
	*length = 0;
	if (is_object(of)) {
		if (c->type.kind != BTF_KIND_ARRAY) {
			weft_sema_fail(s, a->start, "MEMBER_NONE",
				       "%s has no elements: it is no array and no pointer",
				       weft_type_text(s, &c->ref));
			return false;
		}
		*length = weft_btf_array_length(&c->type);
		c->ref.id = weft_btf_array_of(&c->type);
	}
	if (!complete(s, c, a->start))
		return false;
	if (c->type.kind == BTF_KIND_UNKN || c->type.kind == BTF_KIND_FUNC_PROTO) {
		weft_sema_fail(s, a->start, "DEREF_VOID",
			       "a pointer to %s leads to nothing that has a type: a cast says what "
			       "it is, ((struct NAME *) p)",
			       c->type.kind == BTF_KIND_UNKN ? "void" : "a function");
		return false;
	}
	if (weft_btf_size(c->ref.btf, c->ref.id, size))
		return true;
	weft_sema_fail(s, a->start, "BTF_MALFORMED",
		       "the type information is malformed: %s has no size that could be",
		       weft_type_text(s, &c->ref));
	return false;
}

static struct weft_node *runtime_element(struct weft_sema *s, struct container *c,
					 struct weft_node *index, uint64_t size, uint32_t length,
					 const struct weft_ast *a)
{
	struct weft_type type;
	struct weft_node *n;

	index = weft_node_promote(s, index);
	if (!index || !weft_pointer_to(s, &c->ref, &type))
		return NULL;
	n = weft_node_new(s, WEFT_NODE_ELEMENT, type, a);
	if (!n)
		return NULL;
	n->kid[0] = c->address;
	n->kid[1] = index;
	n->value = (int64_t)size;
	n->index = length;
	return weft_place_node(s, n, c->offset, &c->ref, a);
}

static struct weft_node *element(struct weft_sema *s, struct weft_node *of, struct weft_node *index,
				 const struct weft_ast *a)
{
	struct container c;
	uint32_t length;
	uint64_t size;

	if (!open_container(s, of, &c) || !element_type(s, of, &c, a, &size, &length))
		return NULL;
	if (index->kind != WEFT_NODE_INT)
		return runtime_element(s, &c, index, size, length, a);
	if (length && (uint64_t)index->value >= length)
		return weft_sema_fail(s, index->span.start, "INDEX_RANGE",
				      "the array has %u element%s, from 0 to %u", length,
				      length == 1 ? "" : "s", length - 1);
	if (index->value < INT32_MIN || index->value > INT32_MAX)
		return weft_sema_fail(s, index->span.start, "INDEX_RANGE",
				      "this lies more than 2 GiB from where it is counted from");
	return weft_place_node(s, c.address, c.offset + index->value * (int64_t)size, &c.ref, a);
}

struct weft_node *weft_resolve_element(struct weft_sema *s, struct weft_node *of,
				       const struct weft_ast *a)
{
	struct weft_node *index;

	if (a->n != 1)
		return weft_sema_fail(s, a->kid[1]->next->start, "INDEX_RANGE",
				      "an element has one index; of an array of arrays it is written "
				      "x[i][j]");
	index = weft_type_ast(s, a->kid[1]);
	if (!index || !weft_want_int(s, index, "an index"))
		return NULL;
	return element(s, of, index, a);
}

/* ---- * and & ---- */

struct weft_node *weft_resolve_deref(struct weft_sema *s, const struct weft_ast *a)
{
	struct weft_node *of = weft_type_place(s, a->kid[0]), *zero;
	char name[32];

	if (!of)
		return NULL;
	if (!weft_has_elements(of))
		return weft_sema_fail(s, a->start, "DEREF_NONE",
				      of->type.is_pointer
					      ? "it is not known what %s leads to: a cast says it, "
						"*(int *) x, or peek(x, 4)"
					      : "`*` takes a pointer, and this is %s",
				      weft_type_phrase(&of->type, name));
	zero = weft_node_int(s, 0, false, a);
	return zero ? element(s, of, zero, a) : NULL;
}

struct weft_node *weft_resolve_address(struct weft_sema *s, const struct weft_ast *a)
{
	struct weft_node *of = weft_type_place(s, a->kid[0]);

	if (!of)
		return NULL;
	if ((of->kind != WEFT_NODE_READ && of->kind != WEFT_NODE_PLACE) || of->access.bits)
		return weft_sema_fail(s, a->start, "ADDRESS_NONE",
				      of->kind == WEFT_NODE_READ
					      ? "a bit field has no address"
					      : "`&` takes a member or an element of what a pointer "
						"leads to, and this has no address");
	of->span.start = a->start;
	of->span.length = a->length;
	return weft_node_address(s, of);
}

/* ---- places where values are wanted ---- */

/* What a place of this node's type holds: an array of what, how many. */
static bool array_of(struct weft_sema *s, const struct weft_node *n, struct weft_btf_type *of,
		     uint32_t *length)
{
	struct weft_btf *btf = weft_sema_btf(s, n->access.fd, n->span.start);
	struct weft_btf_type t;

	if (!btf || !weft_btf_strip(btf, n->access.id, &t, NULL) || t.kind != BTF_KIND_ARRAY)
		return false;
	*length = weft_btf_array_length(&t);
	return weft_btf_strip(btf, weft_btf_array_of(&t), of, NULL);
}

bool weft_array_length(struct weft_sema *s, const struct weft_node *n, uint32_t *length)
{
	struct weft_btf_type of;

	return is_object(n) && array_of(s, n, &of, length) && of.kind == BTF_KIND_INT &&
	       of.type == 1 && *length;
}

static const struct weft_function *function(enum weft_function_id id)
{
	return &weft_functions[id];
}

struct weft_node *weft_node_decay(struct weft_sema *s, struct weft_node *n)
{
	struct weft_node *args[WEFT_MAX_FUNCTION_ARGS] = {0};
	struct weft_ast from;
	struct weft_btf_type of;
	uint32_t length;

	if (!n || !is_object(n))
		return n;
	from = (struct weft_ast){.start = n->span.start, .length = n->span.length};
	if (!array_of(s, n, &of, &length) || of.kind != BTF_KIND_INT || of.type != 1 ||
	    strcmp(of.name, "char") != 0)
		return weft_sema_fail(s, n->span.start, "OBJECT_VALUE",
				      "this is %s, which is no single value: name a member or an "
				      "element, or hand it to str(x) or mem(x, n)",
				      n->type.text);
	args[0] = weft_node_address(s, n);
	if (length)
		args[1] = weft_node_int(s, length, false, &from);
	if (!args[0] || (length && !args[1]))
		return NULL;
	return weft_call_string_read(s, function(WEFT_FN_STR), args, &from);
}

/* Functions of addresses; others take values. */
static bool takes_address(const struct weft_function *f)
{
	return f->type == weft_call_string_read || f->type == weft_call_bytes_read ||
	       f->type == weft_call_peek || f->type == weft_call_symbol;
}

static struct weft_node *as_bytes(struct weft_sema *s, struct weft_node *n)
{
	struct weft_node *args[WEFT_MAX_FUNCTION_ARGS] = {0};
	struct weft_ast from = {.start = n->span.start, .length = n->span.length};
	struct weft_btf *btf = weft_sema_btf(s, n->access.fd, n->span.start);
	uint64_t size;

	if (!btf || !weft_btf_size(btf, n->access.id, &size) || !size || size > WEFT_MAX_BYTES)
		return weft_node_decay(s, n);
	args[0] = weft_node_address(s, n);
	args[1] = weft_node_int(s, (int64_t)size, false, &from);
	if (!args[0] || !args[1])
		return NULL;
	return weft_call_bytes_read(s, function(WEFT_FN_MEM), args, &from);
}

struct weft_node *weft_node_argument(struct weft_sema *s, const struct weft_function *f, size_t i,
				     struct weft_node *n)
{
	if (!n || !is_object(n))
		return n;
	if (f->params[i] == WEFT_TAKES_BYTES)
		return as_bytes(s, n);
	return i == 0 && takes_address(f) ? weft_node_address(s, n) : weft_node_decay(s, n);
}
