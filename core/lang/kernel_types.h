/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Types of the kernel (BTF) in the language.
 *
 * A pointer, an enum and an integer are INTs: the pointer's type says what it points to, the enum's
 * what its constants are called. A struct, a union and an array are OBJECTs, which are no values but
 * places, PLACE nodes: a member or an element is taken from them, their address is, and an array of
 * char is a string. What is read from a place is a READ. Both say in `access` which type lies there.
 *
 * Type information is opened only where an expression looks into a type: an argument that is said to
 * be a pointer is an address until something asks what it points to.
 */
#ifndef WEFT_LANG_KERNEL_TYPES_H
#define WEFT_LANG_KERNEL_TYPES_H

#include "core/btf/source.h"
#include "core/lang/sema.h"

/* A type in an object, and whose memory a value of it lies in. */
struct weft_btf_ref {
	struct weft_btf *btf;
	int fd;
	uint32_t id;
	uint8_t space;
};

/* ---- btf_types.c ---- */

/* The object of a descriptor; NULL: reported at `at`. */
struct weft_btf *weft_sema_btf(struct weft_sema *s, int fd, uint32_t at);
/* What values of a type are in the language; false: reported. name for messages, or NULL. */
bool weft_type_of(struct weft_sema *s, const struct weft_btf_ref *ref, uint32_t at,
		  const char *name, struct weft_type *out);
/* What a pointer points to; false: reported. */
bool weft_pointee(struct weft_sema *s, const struct weft_node *n, struct weft_btf_ref *out);
/* A pointer to a type. */
bool weft_pointer_to(struct weft_sema *s, const struct weft_btf_ref *to, struct weft_type *out);
/* Two pointers to the same. */
bool weft_same_pointer(const struct weft_type *a, const struct weft_type *b);
/* Whether a value may be kept as a pointer of a type: it is one to the same, or 0. */
bool weft_pointer_fits(struct weft_sema *s, const struct weft_node *n, const struct weft_type *to);
/* The type without what makes it one of the kernel's: what arithmetic gives. */
struct weft_type weft_type_plain(struct weft_type t);
const char *weft_type_text(struct weft_sema *s, const struct weft_btf_ref *ref);
/* A copy of a node that has another type of the same size. */
struct weft_node *weft_node_retype(struct weft_sema *s, const struct weft_node *n,
				   struct weft_type type);
/* `p + 1`, `p - q`: POINTER_ARITHMETIC where what is meant is not clear. */
bool weft_pointer_operands(struct weft_sema *s, enum weft_op op, const struct weft_node *a,
			   const struct weft_node *b, const struct weft_ast *from);

/* ---- btf_places.c ---- */

struct weft_node *weft_resolve_btf_member(struct weft_sema *s, struct weft_node *of,
					  const struct weft_ast *a);
struct weft_node *weft_resolve_element(struct weft_sema *s, struct weft_node *of,
				       const struct weft_ast *a);
struct weft_node *weft_resolve_deref(struct weft_sema *s, const struct weft_ast *a);
struct weft_node *weft_resolve_address(struct weft_sema *s, const struct weft_ast *a);
/* Whether [i] goes to what this points to or is. */
bool weft_has_elements(const struct weft_node *n);
/* What lies at an address, offset bytes on. */
struct weft_node *weft_place_node(struct weft_sema *s, struct weft_node *address, int64_t offset,
				  const struct weft_btf_ref *ref, const struct weft_ast *from);
/* The address of a PLACE or a READ; NULL: reported. */
struct weft_node *weft_node_address(struct weft_sema *s, struct weft_node *n);
/* A place as a value: an array of char is a string, another is reported. Others are as they are. */
struct weft_node *weft_node_decay(struct weft_sema *s, struct weft_node *n);
/* The same for a parameter of a function, where an address does as well. */
struct weft_node *weft_node_argument(struct weft_sema *s, const struct weft_function *f, size_t i,
				     struct weft_node *n);
/* Bytes of an array of them, where that is what it is: as the length of str(). */
bool weft_array_length(struct weft_sema *s, const struct weft_node *n, uint32_t *length);

/* ---- btf_casts.c ---- */

struct weft_node *weft_resolve_ctype_cast(struct weft_sema *s, const struct weft_ast *a);
struct weft_node *weft_resolve_sizeof(struct weft_sema *s, const struct weft_ast *a);
/* A bare name beside a value: a constant of the value's enum? NULL: it is none; *wrong: nor
 * anything else, which was reported. */
struct weft_node *weft_enum_constant(struct weft_sema *s, const struct weft_ast *name,
				     const struct weft_node *beside, bool *wrong);

#endif
