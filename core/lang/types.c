/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Types as people read them. */
#include "core/lang/sema.h"

#include <stdio.h>

static const char *const kind_names[] = {
	[WEFT_VALUE_STRING] = "string",      [WEFT_VALUE_BYTES] = "bytes",
	[WEFT_VALUE_STACK] = "stack",        [WEFT_VALUE_PROBE] = "probe field",
	[WEFT_VALUE_SYMBOL] = "symbol",      [WEFT_VALUE_INET] = "network address",
	[WEFT_VALUE_CGROUP] = "cgroup name", [WEFT_VALUE_REGS] = "registers",
	[WEFT_VALUE_OBJECT] = "struct",
};

const char *weft_type_name(const struct weft_type *t, char buf[32])
{
	if (t->text)
		return t->text;
	if (t->kind != WEFT_VALUE_INT)
		snprintf(buf, 32, "%s", kind_names[t->kind]);
	else if (t->is_pointer)
		snprintf(buf, 32, "address");
	else
		snprintf(buf, 32, "%sint%u", t->is_signed ? "" : "u", t->size * 8u);
	return buf;
}

const char *weft_type_phrase(const struct weft_type *t, char buf[32])
{
	char name[32];
	const char *article = "a ";

	if (t->text)
		return t->text;
	weft_type_name(t, name);
	if (t->kind == WEFT_VALUE_BYTES || t->kind == WEFT_VALUE_REGS)
		article = "";
	else if (t->kind == WEFT_VALUE_INT && (t->is_signed || t->is_pointer))
		article = "an ";
	snprintf(buf, 32, "%s%.28s", article, name);
	return buf;
}
