/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arguments: "int32 status, string path, bytes body". A word is a register of the call: the second
 * to the sixth argument of getpid, which takes none. If there are more words than those, the second
 * argument is the address of an array of them instead.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "user_syscall.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct type {
	const char *name;
	uint32_t kind, size, flags, words;
	const char *unreadable;
} types[] = {
	{"int8", WEFT_TYPE_INT, 1, WEFT_TYPE_SIGNED, 1, NULL},
	{"int16", WEFT_TYPE_INT, 2, WEFT_TYPE_SIGNED, 1, NULL},
	{"int32", WEFT_TYPE_INT, 4, WEFT_TYPE_SIGNED, 1, NULL},
	{"int64", WEFT_TYPE_INT, 8, WEFT_TYPE_SIGNED, 1, NULL},
	{"uint8", WEFT_TYPE_INT, 1, 0, 1, NULL},
	{"uint16", WEFT_TYPE_INT, 2, 0, 1, NULL},
	{"uint32", WEFT_TYPE_INT, 4, 0, 1, NULL},
	{"uint64", WEFT_TYPE_INT, 8, 0, 1, NULL},
	{"pointer", WEFT_TYPE_POINTER, 8, 0, 1, NULL},
	{"string", WEFT_TYPE_STRING, 0, 0, 1, NULL},
	{"text", WEFT_TYPE_STRING, 0, 0, 2, NULL},
	{"bytes", WEFT_TYPE_BYTES, 0, 0, 2, NULL},
	{"float", WEFT_TYPE_INT, 4, 0, 1,
	 "floating-point numbers do not travel in a system call; declare uint32 and pass the bits"},
	{"double", WEFT_TYPE_INT, 8, 0, 1,
	 "floating-point numbers do not travel in a system call; declare uint64 and pass the bits"},
};

static size_t identifier(const char *s)
{
	size_t n = 0;

	for (; (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || *s == '_' ||
	       (n && *s >= '0' && *s <= '9');
	     s++)
		n++;
	return n;
}

static const char *blanks(const char *s)
{
	while (*s == ' ')
		s++;
	return s;
}

static const struct type *type_of(const char *s, size_t n)
{
	for (size_t i = 0; i < COUNT(types); i++)
		if (strlen(types[i].name) == n && !memcmp(types[i].name, s, n))
			return &types[i];
	return NULL;
}

/* Pushes word w. */
static uint32_t push(struct weft_loc_op *ops, uint32_t w, bool in_memory)
{
	ops[0] = (struct weft_loc_op){
		.op = WEFT_LOC_ARG, .flags = WEFT_LOC_USER, .imm = in_memory ? 1 : w + 1};
	if (!in_memory)
		return 1;
	ops[1] = (struct weft_loc_op){
		.op = WEFT_LOC_LOAD, .size = 8, .flags = WEFT_LOC_USER, .imm = 8 * (int64_t)w};
	return 2;
}

static void place(struct us_args *a, uint32_t i, const struct type *t, uint32_t w, bool in_memory)
{
	struct weft_arg *arg = &a->args[i];
	struct weft_loc_op *ops = a->ops[i];
	uint32_t n;

	arg->unreadable = t->unreadable;
	if (t->unreadable)
		return;
	n = push(ops, w, in_memory);
	if (t->words == 2)
		n += push(ops + n, w + 1, in_memory);
	if (t->kind == WEFT_TYPE_INT && t->size < 8)
		ops[n++] = (struct weft_loc_op){
			.op = WEFT_LOC_EXTEND,
			.size = (uint8_t)t->size,
			.flags = t->flags & WEFT_TYPE_SIGNED ? WEFT_LOC_SIGNED : 0};
	arg->where = (struct weft_location){.ops = ops, .n_ops = n};
}

int us_args_parse(const char *s, struct us_args *a)
{
	const struct type *chosen[WEFT_TABLE_ARGS];
	uint32_t words = 0, w = 0;
	const char *text = s;

	memset(a, 0, sizeof(*a));
	for (s = blanks(s); *s;) {
		size_t n = identifier(s);
		const struct type *t = type_of(s, n);

		if (!t || s[n] != ' ' || a->n == WEFT_TABLE_ARGS)
			return -EINVAL;
		s = blanks(s + n);
		n = identifier(s);
		if (!n || n >= sizeof(a->names[0]))
			return -EINVAL;
		memcpy(a->names[a->n], s, n);
		for (uint32_t i = 0; i < a->n; i++)
			if (!strcmp(a->names[i], a->names[a->n]))
				return -EINVAL;
		words += t->words;
		chosen[a->n++] = t;
		s = blanks(s + n);
		if (*s == ',' && *blanks(s + 1))
			s = blanks(s + 1);
		else if (*s)
			return -EINVAL;
	}
	if (words > WEFT_TABLE_ARGS)
		return -EINVAL;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct type *t = chosen[i];

		a->args[i] = (struct weft_arg){
			.struct_size = sizeof(struct weft_arg),
			.name = a->names[i],
			.type = {.struct_size = sizeof(struct weft_arg_type),
				 .kind = t->kind,
				 .size = t->size,
				 .flags = t->flags,
				 .space = WEFT_SPACE_USER},
		};
		place(a, i, t, w, words > WEFT_TABLE_INLINE);
		w += t->words;
	}
	snprintf(a->prototype, sizeof(a->prototype), "(%.500s)", text);
	return 0;
}
