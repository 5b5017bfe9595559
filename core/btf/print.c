/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Types as C writes them. C's declarations read from the name outwards, so what stands around the
 * name is kept as a text of its own, the declarator, that grows at both ends as the types are
 * followed down to one that has a name: `int (*name[4])(void)`.
 */
#include <linux/btf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/btf/btf.h"

#define DECLARATOR 384u
#define NESTING    3u /* prototypes within prototypes */

struct declarator {
	char text[DECLARATOR];
	bool cut;
};

static __attribute__((format(printf, 2, 3))) void surround(struct declarator *d, const char *format,
							   ...)
{
	char made[DECLARATOR];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(made, sizeof(made), format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(made))
		d->cut = true;
	else
		memcpy(d->text, made, (size_t)n + 1);
}

static void print(const struct weft_btf *b, uint32_t id, struct declarator *d, unsigned nesting,
		  char *buf, size_t size);

/* A pointer binds less tightly than what follows the name. */
static void enclose(struct declarator *d)
{
	if (*d->text == '*')
		surround(d, "(%s)", d->text);
}

static void parameters(const struct weft_btf *b, const struct weft_btf_type *t,
		       struct declarator *d, unsigned nesting)
{
	struct weft_btf_param p;
	char one[DECLARATOR];

	enclose(d);
	if (nesting >= NESTING) {
		surround(d, "%s(...)", d->text);
		return;
	}
	surround(d, "%s(", d->text);
	for (uint32_t i = 0; i < t->vlen && !d->cut; i++) {
		struct declarator of = {.cut = false};

		weft_btf_param(b, t, i, &p);
		snprintf(of.text, sizeof(of.text), "%s", p.name);
		if (p.type || i + 1 < t->vlen)
			print(b, p.type, &of, nesting + 1, one, sizeof(one));
		else
			strcpy(one, "...");
		surround(d, "%s%s%s", d->text, i ? ", " : "", one);
	}
	surround(d, "%s%s)", d->text, t->vlen ? "" : "void");
}

static const char *keyword(const struct weft_btf_type *t)
{
	switch (t->kind) {
	case BTF_KIND_STRUCT:
		return "struct ";
	case BTF_KIND_UNION:
		return "union ";
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return "enum ";
	case BTF_KIND_FWD:
		return t->kind_flag ? "union " : "struct ";
	default:
		return "";
	}
}

static void finish(const struct weft_btf_type *t, const char *qualifiers,
		   const struct declarator *d, char *buf, size_t size)
{
	const char *name = t->kind == BTF_KIND_UNKN ? "void" : t->name;
	int n = snprintf(buf, size, "%s%s%s%s%s", qualifiers, keyword(t), *name ? name : "{...}",
			 *d->text && *d->text != '[' ? " " : "", d->text);

	if (d->cut || n < 0 || (size_t)n >= size)
		snprintf(buf + (strlen(buf) > 3 ? strlen(buf) - 3 : 0), 4, "...");
}

static void print(const struct weft_btf *b, uint32_t id, struct declarator *d, unsigned nesting,
		  char *buf, size_t size)
{
	char qualifiers[64] = "";
	struct weft_btf_type t;

	for (unsigned n = 0; n < WEFT_BTF_CHAIN && weft_btf_type(b, id, &t); n++) {
		const char *word = t.kind == BTF_KIND_CONST      ? "const "
				   : t.kind == BTF_KIND_VOLATILE ? "volatile "
				   : t.kind == BTF_KIND_RESTRICT ? "restrict "
								 : NULL;

		if (word) {
			if (!strstr(qualifiers, word))
				strncat(qualifiers, word,
					sizeof(qualifiers) - strlen(qualifiers) - 1);
		} else if (t.kind == BTF_KIND_TYPE_TAG) {
			if (!strcmp(t.name, "user"))
				surround(d, "__user %s", d->text);
		} else if (t.kind == BTF_KIND_PTR) {
			surround(d, "*%s%s", qualifiers, d->text);
			*qualifiers = '\0';
		} else if (t.kind == BTF_KIND_ARRAY) {
			enclose(d);
			surround(d, "%s[%u]", d->text, weft_btf_array_length(&t));
			id = weft_btf_array_of(&t);
			continue;
		} else if (t.kind == BTF_KIND_FUNC_PROTO) {
			parameters(b, &t, d, nesting);
		} else if (t.kind == BTF_KIND_FUNC) {
			surround(d, "%s", t.name);
		} else {
			finish(&t, qualifiers, d, buf, size);
			return;
		}
		id = t.type;
	}
	snprintf(buf, size, "(malformed type)");
}

const char *weft_btf_print(const struct weft_btf *b, uint32_t id, const char *name, char *buf,
			   size_t size)
{
	struct declarator d = {.cut = false};

	surround(&d, "%s", name ? name : "");
	print(b, id, &d, 0, buf, size);
	return buf;
}
