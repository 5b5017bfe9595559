/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Types by the words of C, and what a register holds of them: a system call's arguments are
 * recorded as the registers they came in, 8 bytes each, whatever they are in C. An int is then the
 * lower half with its sign, and an address leads into the process.
 */
#include <string.h>

#include "format.h"

/* The name of a type without qualifiers. */
const char *tracepoint_bare(const char *type)
{
	return strncmp(type, "const ", 6) ? type : type + 6;
}

bool tracepoint_is_pointer(const char *type)
{
	size_t n = strlen(type);

	return n && type[n - 1] == '*';
}

bool tracepoint_struct_of(const char *type, char *name, size_t size)
{
	size_t n;

	type = tracepoint_bare(type);
	if (strncmp(type, "struct ", 7))
		return false;
	type += 7;
	n = strcspn(type, " *");
	if (strcmp(type + n, " *") || n >= size)
		return false;
	memcpy(name, type, n);
	name[n] = '\0';
	return true;
}

static bool find(const struct weft_host *host, const char *name, uint32_t kind,
		 struct weft_type_info *info)
{
	*info = (struct weft_type_info){.struct_size = sizeof(*info)};
	return !host->kernel_type(host, NULL, name, kind, info, NULL);
}

static struct weft_arg_type number(uint32_t size, bool is_signed)
{
	return (struct weft_arg_type){.struct_size = sizeof(struct weft_arg_type),
				      .kind = WEFT_TYPE_INT,
				      .size = size,
				      .flags = is_signed ? WEFT_TYPE_SIGNED : 0};
}

/* The numbers that system calls have. What is not known is the whole register. */
static struct weft_arg_type number_of(const struct weft_host *host, const char *name)
{
	static const struct {
		const char *name;
		uint32_t size;
		bool is_signed;
	} types[] = {
		{"int", 4, true},   {"unsigned int", 4, false},   {"unsigned", 4, false},
		{"short", 2, true}, {"unsigned short", 2, false}, {"char", 1, true},
		{"long", 8, true},  {"unsigned long", 8, false},  {"unsigned char", 1, false},
	};
	struct weft_type_info info;

	for (size_t i = 0; i < COUNT(types); i++)
		if (!strcmp(types[i].name, name))
			return number(types[i].size, types[i].is_signed);
	if (!strncmp(name, "enum ", 5) && find(host, name + 5, WEFT_BTF_ENUM, &info) &&
	    (info.size == 4 || info.size == 8)) {
		struct weft_arg_type type = *info.type;

		type.size = info.size;
		return type;
	}
	if (find(host, name, WEFT_BTF_TYPEDEF, &info) && info.type->kind == WEFT_TYPE_INT)
		return number(info.type->size, info.type->flags & WEFT_TYPE_SIGNED);
	return number(8, false);
}

static struct weft_arg_type address_of(const struct weft_host *host, const char *type)
{
	struct weft_arg_type out = {.struct_size = sizeof(out),
				    .kind = WEFT_TYPE_POINTER,
				    .size = 8,
				    .space = WEFT_SPACE_USER};
	struct weft_type_info info;
	char name[128];

	if (!tracepoint_struct_of(type, name, sizeof(name)) ||
	    !find(host, name, WEFT_BTF_STRUCT, &info))
		return out;
	out = *info.type;
	out.size = 8;
	out.space = WEFT_SPACE_USER;
	return out;
}

struct weft_arg_type tracepoint_word_type(const struct weft_host *host, const char *type,
					  uint32_t *size, bool *is_signed)
{
	struct weft_arg_type out = tracepoint_is_pointer(type)
					   ? address_of(host, type)
					   : number_of(host, tracepoint_bare(type));

	out.text = type;
	*size = out.size;
	*is_signed = out.kind == WEFT_TYPE_INT && out.flags & WEFT_TYPE_SIGNED;
	return out;
}
