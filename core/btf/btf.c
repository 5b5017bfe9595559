/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/btf/btf.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/btf/enums.h"
#include "core/btf/internal.h"

int weft_btf_malformed(struct weft_error *err, const char *what)
{
	return weft_fail(err, -EBADMSG, "BTF_MALFORMED", "the type information is malformed: %s",
			 what);
}

/* ---- opening ---- */

/* Bytes behind struct btf_type: a fixed number, or one for each of vlen. */
static const struct {
	uint8_t known, fixed, each;
} kinds[] = {
	[BTF_KIND_INT] = {1, 4, 0},        [BTF_KIND_PTR] = {1, 0, 0},
	[BTF_KIND_ARRAY] = {1, 12, 0},     [BTF_KIND_STRUCT] = {1, 0, 12},
	[BTF_KIND_UNION] = {1, 0, 12},     [BTF_KIND_ENUM] = {1, 0, 8},
	[BTF_KIND_FWD] = {1, 0, 0},        [BTF_KIND_TYPEDEF] = {1, 0, 0},
	[BTF_KIND_VOLATILE] = {1, 0, 0},   [BTF_KIND_CONST] = {1, 0, 0},
	[BTF_KIND_RESTRICT] = {1, 0, 0},   [BTF_KIND_FUNC] = {1, 0, 0},
	[BTF_KIND_FUNC_PROTO] = {1, 0, 8}, [BTF_KIND_VAR] = {1, 4, 0},
	[BTF_KIND_DATASEC] = {1, 0, 12},   [BTF_KIND_FLOAT] = {1, 0, 0},
	[BTF_KIND_DECL_TAG] = {1, 4, 0},   [BTF_KIND_TYPE_TAG] = {1, 0, 0},
	[BTF_KIND_ENUM64] = {1, 0, 12},
};

static size_t size_behind(const struct btf_type *raw)
{
	uint32_t kind = BTF_INFO_KIND(raw->info);

	return kinds[kind].fixed + (size_t)kinds[kind].each * BTF_INFO_VLEN(raw->info);
}

/* Walks over the types: leaves marks, counts, and finds what does not belong. */
static int walk(struct weft_btf *b, struct weft_error *err)
{
	uint32_t n = 0, kind;
	size_t at = 0, behind;

	b->marks = calloc(b->types_size / sizeof(struct btf_type) / WEFT_BTF_STRIDE + 1,
			  sizeof(*b->marks));
	if (!b->marks)
		return weft_nomem(err);
	while (at < b->types_size) {
		const struct btf_type *raw = (const void *)(b->types + at);

		if (b->types_size - at < sizeof(*raw))
			return weft_btf_malformed(err, "it ends within a type");
		kind = BTF_INFO_KIND(raw->info);
		if (kind >= sizeof(kinds) / sizeof(kinds[0]) || !kinds[kind].known)
			return weft_btf_malformed(err, "it has a type of unknown kind");
		behind = size_behind(raw);
		if (behind > b->types_size - at - sizeof(*raw))
			return weft_btf_malformed(err, "it ends within a type");
		if (kind == BTF_KIND_ENUM64 || (kind == BTF_KIND_ENUM && BTF_INFO_KFLAG(raw->info)))
			b->tells_signs = true;
		if (n % WEFT_BTF_STRIDE == 0)
			b->marks[n / WEFT_BTF_STRIDE] = (uint32_t)at;
		n++;
		at += sizeof(*raw) + behind;
	}
	b->end = b->first + n;
	return b->end < b->first ? weft_btf_malformed(err, "it has too many types") : 0;
}

static int sections(struct weft_btf *b, struct weft_error *err)
{
	const struct btf_header *h = b->bytes;
	uint64_t types, strings;

	if (b->size < sizeof(*h))
		return weft_btf_malformed(err, "it is shorter than its header");
	if (h->magic != BTF_MAGIC || h->version != BTF_VERSION || h->hdr_len < sizeof(*h))
		return weft_btf_malformed(err,
					  "its header is not of this kind, version and byte order");
	types = (uint64_t)h->hdr_len + h->type_off;
	strings = (uint64_t)h->hdr_len + h->str_off;
	if (types + h->type_len > b->size || strings + h->str_len > b->size || types % 4)
		return weft_btf_malformed(err, "a section reaches beyond its end or is out of line");
	b->types = (const uint8_t *)b->bytes + types;
	b->types_size = h->type_len;
	b->strings = (const char *)b->bytes + strings;
	b->strings_size = h->str_len;
	if (b->strings_size && b->strings[b->strings_size - 1])
		return weft_btf_malformed(err, "it ends within its strings");
	/* The kernel allows none in its own, and they are shown to people. */
	for (uint32_t i = 0; !b->mapped && i < b->strings_size; i++)
		if ((b->strings[i] > 0 && b->strings[i] < ' ') || b->strings[i] == 0x7f)
			return weft_btf_malformed(err, "a name has control characters");
	if (b->base && (uint64_t)b->first_string + b->strings_size > UINT32_MAX)
		return weft_btf_malformed(err, "it has too many strings");
	return 0;
}

int weft_btf_create(void *bytes, size_t size, bool mapped, const struct weft_btf *base,
		    struct weft_btf **out, struct weft_error *err)
{
	struct weft_btf *b = calloc(1, sizeof(*b)), orphan = {.bytes = bytes, .size = size};
	int ret;

	*out = NULL;
	orphan.mapped = mapped;
	if (!b) {
		weft_btf_release(&orphan);
		return weft_nomem(err);
	}
	*b = orphan;
	b->base = base;
	b->first = base ? base->end : 1;
	b->tells_signs = base && base->tells_signs;
	b->first_string = base ? base->first_string + base->strings_size : 0;
	ret = sections(b, err);
	if (!ret)
		ret = walk(b, err);
	if (ret)
		weft_btf_destroy(b);
	else
		*out = b;
	return ret;
}

void weft_btf_release(struct weft_btf *b)
{
	if (b->mapped)
		munmap(b->bytes, b->size);
	else
		free(b->bytes);
}

void weft_btf_destroy(struct weft_btf *b)
{
	if (!b)
		return;
	weft_btf_release(b);
	weft_btf_enums_destroy(b->enums);
	free(b->marks);
	free(b->heads);
	free(b->next);
	free(b);
}

/* ---- types ---- */

uint32_t weft_btf_end(const struct weft_btf *b)
{
	return b->end;
}

uint32_t weft_btf_first(const struct weft_btf *b)
{
	return b->first;
}

const char *weft_btf_name(const struct weft_btf *b, uint32_t offset)
{
	while (b->base && offset < b->first_string)
		b = b->base;
	offset -= b->first_string;
	return offset < b->strings_size ? b->strings + offset : "";
}

static void view(const struct weft_btf *b, const struct btf_type *raw, uint32_t id,
		 struct weft_btf_type *out)
{
	out->id = id;
	out->kind = BTF_INFO_KIND(raw->info);
	out->vlen = BTF_INFO_VLEN(raw->info);
	out->kind_flag = BTF_INFO_KFLAG(raw->info);
	out->type = raw->type;
	out->name = weft_btf_name(b, raw->name_off);
	out->body = (const uint32_t *)(raw + 1);
}

bool weft_btf_type(const struct weft_btf *b, uint32_t id, struct weft_btf_type *out)
{
	const struct btf_type *raw;
	const uint8_t *at;
	uint32_t n;

	memset(out, 0, sizeof(*out));
	out->name = "";
	if (!id)
		return true;
	while (b->base && id < b->first)
		b = b->base;
	if (id < b->first || id >= b->end)
		return false;
	n = id - b->first;
	at = b->types + b->marks[n / WEFT_BTF_STRIDE];
	for (n %= WEFT_BTF_STRIDE; n; n--)
		at += sizeof(*raw) + size_behind((const void *)at);
	raw = (const void *)at;
	view(b, raw, id, out);
	return true;
}

int weft_btf_each(const struct weft_btf *b, int (*fn)(const struct weft_btf_type *, void *),
		  void *arg)
{
	struct weft_btf_type t;
	uint32_t id = b->first;
	size_t at = 0;
	int ret = 0;

	for (; !ret && at < b->types_size; id++) {
		const struct btf_type *raw = (const void *)(b->types + at);

		view(b, raw, id, &t);
		at += sizeof(*raw) + size_behind(raw);
		ret = fn(&t, arg);
	}
	return ret;
}

bool weft_btf_strip(const struct weft_btf *b, uint32_t id, struct weft_btf_type *out, bool *user)
{
	for (unsigned n = 0; n < WEFT_BTF_CHAIN; n++) {
		if (!weft_btf_type(b, id, out))
			return false;
		switch (out->kind) {
		case BTF_KIND_TYPE_TAG:
			if (user && !strcmp(out->name, "user"))
				*user = true;
			break;
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_RESTRICT:
			break;
		default:
			return true;
		}
		id = out->type;
	}
	return false;
}

bool weft_btf_size(const struct weft_btf *b, uint32_t id, uint64_t *size)
{
	uint64_t n = 1;
	struct weft_btf_type t;

	for (unsigned depth = 0; depth < WEFT_BTF_CHAIN; depth++) {
		if (!weft_btf_strip(b, id, &t, NULL))
			return false;
		switch (t.kind) {
		case BTF_KIND_ARRAY:
			n *= weft_btf_array_length(&t);
			if (n > UINT32_MAX)
				return false;
			id = weft_btf_array_of(&t);
			continue;
		case BTF_KIND_INT:
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
		case BTF_KIND_ENUM:
		case BTF_KIND_ENUM64:
		case BTF_KIND_FLOAT:
			n *= t.type;
			break;
		case BTF_KIND_PTR:
			n *= 8;
			break;
		default:
			return false;
		}
		*size = n;
		return n <= UINT32_MAX;
	}
	return false;
}

/* ---- what kinds have ---- */

bool weft_btf_is_struct(const struct weft_btf_type *t)
{
	return t->kind == BTF_KIND_STRUCT || t->kind == BTF_KIND_UNION;
}

bool weft_btf_is_enum(const struct weft_btf_type *t)
{
	return t->kind == BTF_KIND_ENUM || t->kind == BTF_KIND_ENUM64;
}

bool weft_btf_int_is_signed(const struct weft_btf_type *t)
{
	return t->kind == BTF_KIND_INT && BTF_INT_ENCODING(t->body[0]) & BTF_INT_SIGNED;
}

bool weft_btf_is_char(const struct weft_btf_type *t)
{
	return t->kind == BTF_KIND_INT && t->type == 1 &&
	       !(BTF_INT_ENCODING(t->body[0]) & BTF_INT_BOOL) &&
	       (strstr(t->name, "char") || BTF_INT_ENCODING(t->body[0]) & BTF_INT_CHAR);
}

/* Two encodings of bit fields: with the flag, width and place stand in the member; without, the
 * member's type is an integer of fewer bits than its bytes have. */
void weft_btf_field(const struct weft_btf *b, const struct weft_btf_type *t, uint32_t i,
		    struct weft_btf_field *out)
{
	const uint32_t *raw = t->body + (size_t)3 * i;
	struct weft_btf_type of;
	uint32_t data;

	out->name = weft_btf_name(b, raw[0]);
	out->type = raw[1];
	out->bit = t->kind_flag ? BTF_MEMBER_BIT_OFFSET(raw[2]) : raw[2];
	out->bits = t->kind_flag ? BTF_MEMBER_BITFIELD_SIZE(raw[2]) : 0;
	if (t->kind_flag || !weft_btf_strip(b, out->type, &of, NULL) || of.kind != BTF_KIND_INT)
		return;
	data = of.body[0];
	if (BTF_INT_BITS(data) != (uint64_t)of.type * 8 || BTF_INT_OFFSET(data)) {
		out->bits = BTF_INT_BITS(data);
		out->bit += BTF_INT_OFFSET(data);
	}
}

void weft_btf_param(const struct weft_btf *b, const struct weft_btf_type *t, uint32_t i,
		    struct weft_btf_param *out)
{
	out->name = weft_btf_name(b, t->body[(size_t)2 * i]);
	out->type = t->body[(size_t)2 * i + 1];
}

/* The flag is as old as enums of 64 bits. What was written before has it nowhere, and there a
 * constant that looks negative is the only sign; elsewhere such a one is a great number. */
bool weft_btf_enum_is_signed(const struct weft_btf *b, const struct weft_btf_type *t)
{
	if (t->kind_flag || b->tells_signs)
		return t->kind_flag;
	for (uint32_t i = 0; i < t->vlen; i++)
		if ((int32_t)t->body[(size_t)2 * i + 1] < 0)
			return true;
	return false;
}

void weft_btf_constant(const struct weft_btf *b, const struct weft_btf_type *t, uint32_t i,
		       bool is_signed, struct weft_btf_constant *out)
{
	const uint32_t *raw = t->body + (size_t)(t->kind == BTF_KIND_ENUM64 ? 3 : 2) * i;

	out->name = weft_btf_name(b, raw[0]);
	if (t->kind == BTF_KIND_ENUM64)
		out->value = (int64_t)((uint64_t)raw[2] << 32 | raw[1]);
	else
		out->value = is_signed ? (int64_t)(int32_t)raw[1] : (int64_t)raw[1];
}
