/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * BTF, read where it lies. An object is a header, a section of types and one of strings; types have
 * no index, their ids are their order. Opening walks over the types once, so that what follows need
 * not ask again whether one lies within its section, and leaves a mark at every sixteenth; a type
 * is found from the mark before it.
 *
 * BTF is hostile input: the kernel's is not, but a provider hands over its own. After opening these
 * hold: types and strings lie within their sections, every kind is known, and every name offset
 * leads to a text or, where it lies outside, to "". What types say of each other may still be
 * anything: ids that do not exist, circles, sizes that overflow. So ids are followed by functions
 * that can fail, and everything that follows a chain has a limit.
 *
 * A split object (a module's) goes on where its base (vmlinux) ends, with ids and with strings.
 */
#ifndef WEFT_BTF_H
#define WEFT_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct weft_btf;

/* Takes the bytes over, also where it fails: mapped ones are unmapped, others freed. base, which is
 * borrowed, or NULL. BTF_MALFORMED. */
int weft_btf_create(void *bytes, size_t size, bool mapped, const struct weft_btf *base,
		    struct weft_btf **out, struct weft_error *err);
void weft_btf_destroy(struct weft_btf *btf);
int weft_btf_malformed(struct weft_error *err, const char *what); /* -EBADMSG */

/* A type; borrowed from the object. id 0 is void, of kind BTF_KIND_UNKN. */
struct weft_btf_type {
	uint32_t id, kind, vlen;
	uint32_t type; /* or size */
	bool kind_flag;
	const char *name;
	const uint32_t *body; /* what is behind struct btf_type */
};

uint32_t weft_btf_end(const struct weft_btf *btf);   /* ids are below it */
uint32_t weft_btf_first(const struct weft_btf *btf); /* of its own: 1, or the base's end */
const char *weft_btf_name(const struct weft_btf *btf, uint32_t offset);

/* false: there is no such id. */
bool weft_btf_type(const struct weft_btf *btf, uint32_t id, struct weft_btf_type *out);

#define WEFT_BTF_CHAIN 32u /* types that lead to one another */

/* The same past typedefs and qualifiers; false also where they go round in circles. *user, where
 * wanted, becomes true where a tag on the way says that the type lies in user memory. */
bool weft_btf_strip(const struct weft_btf *btf, uint32_t id, struct weft_btf_type *out, bool *user);

/* Bytes; false: void, a function, incomplete, too large, or malformed. */
bool weft_btf_size(const struct weft_btf *btf, uint32_t id, uint64_t *size);

/* A member of a struct or union. */
struct weft_btf_field {
	const char *name;
	uint32_t type;
	uint32_t bit;  /* from the beginning of the struct */
	uint32_t bits; /* of a bit field; else 0 */
};
void weft_btf_field(const struct weft_btf *btf, const struct weft_btf_type *t, uint32_t i,
		    struct weft_btf_field *out);

/* members.c: as C names them, in nameless structs and unions too. */
struct weft_btf_member_at {
	const char *name;
	uint32_t type;
	uint64_t bit;  /* from the beginning of the outermost struct */
	uint32_t bits; /* of a bit field; else 0 */
};
/* fn's result other than 0 ends the walk; -1: the object is malformed. */
int weft_btf_each_member(const struct weft_btf *btf, const struct weft_btf_type *t,
			 int (*fn)(const struct weft_btf_member_at *, void *), void *arg);
/* 1, 0: none, -1: malformed. */
int weft_btf_find_member(const struct weft_btf *btf, const struct weft_btf_type *t,
			 const char *name, struct weft_btf_member_at *out);
const char *weft_btf_nearest_member(const struct weft_btf *btf, const struct weft_btf_type *t,
				    const char *name);

struct weft_btf_param {
	const char *name;
	uint32_t type; /* the last may be 0: variadic */
};
void weft_btf_param(const struct weft_btf *btf, const struct weft_btf_type *t, uint32_t i,
		    struct weft_btf_param *out);

/* The i-th constant of an enum; is_signed of the whole. */
struct weft_btf_constant {
	const char *name;
	int64_t value;
};
void weft_btf_constant(const struct weft_btf *btf, const struct weft_btf_type *t, uint32_t i,
		       bool is_signed, struct weft_btf_constant *out);
bool weft_btf_enum_is_signed(const struct weft_btf *btf, const struct weft_btf_type *t);

static inline uint32_t weft_btf_array_of(const struct weft_btf_type *t)
{
	return t->body[0];
}

static inline uint32_t weft_btf_array_length(const struct weft_btf_type *t)
{
	return t->body[2];
}

bool weft_btf_is_struct(const struct weft_btf_type *t); /* or union */
bool weft_btf_is_enum(const struct weft_btf_type *t);   /* of 32 or 64 bits */
/* Integers: signed char, and what C calls bool. */
bool weft_btf_int_is_signed(const struct weft_btf_type *t);
/* An integer of one byte that is text: char of either sign, not bool. */
bool weft_btf_is_char(const struct weft_btf_type *t);

/* The lowest id of a type of that name whose kind's bit is set in kinds, in the object itself, else
 * in its base. *n, where wanted, becomes how many there are where it was found. false: none. The
 * first few are looked for by a walk over all, after which a table of names is made. */
#define WEFT_BTF_KINDS(kind) (UINT32_C(1) << (kind))
bool weft_btf_find(struct weft_btf *btf, const char *name, uint32_t kinds, uint32_t *id,
		   unsigned *n);

struct weft_near;
/* Offers all names of these kinds to a search for the nearest. */
void weft_btf_offer(const struct weft_btf *btf, uint32_t kinds, struct weft_near *near);

/* The pointer to a type, in the object itself or in its base. false: none. */
bool weft_btf_find_pointer(const struct weft_btf *btf, uint32_t to, uint32_t *id);

/* Calls fn for every type of the object's own; a result other than 0 ends the walk. */
int weft_btf_each(const struct weft_btf *btf, int (*fn)(const struct weft_btf_type *, void *),
		  void *arg);

/* print.c: a type as C writes it, "struct file *", around a name where there is one, "int x[4]".
 * Cut with an ellipsis where it does not fit. A FUNC is printed as its prototype. Returns buf. */
const char *weft_btf_print(const struct weft_btf *btf, uint32_t id, const char *name, char *buf,
			   size_t size);

#endif
