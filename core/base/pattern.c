/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Patterns of probes: provider:module:function:name split into four fields. An escaped colon does
 * not split, so that a path with a colon in it can be written; colons in brackets do.
 */
#include "core/registry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

#define LONGEST 4096u

const char *const weft_field_names[WEFT_N_FIELDS] = {
	[WEFT_FIELD_PROVIDER] = "provider",
	[WEFT_FIELD_MODULE] = "module",
	[WEFT_FIELD_FUNCTION] = "function",
	[WEFT_FIELD_NAME] = "name",
};

static int fail_length(const char *what, size_t n, struct weft_error *err)
{
	return weft_fail(err, -ENAMETOOLONG, "PATTERN_TOO_LONG",
			 "the %s has %zu bytes; the most is %u", what, n, LONGEST);
}

static int check_field(const char *s, const char *name, struct weft_error *err)
{
	for (const char *p = s; *p != '\0'; p++) {
		if (*p == '\\') {
			if (p[1] == '\0')
				return weft_fail(err, -EINVAL, "PATTERN_ESCAPE",
						 "the %s '%s' ends in a backslash, which escapes "
						 "nothing; write \\\\ for a backslash",
						 name, s);
			p++;
		} else if (*p == '[') {
			const char *end = weft_glob_bracket_end(p);

			if (!end)
				return weft_fail(err, -EINVAL, "PATTERN_BRACKET",
						 "the %s '%s' has a '[' that no ']' closes; write "
						 "\\[ for a bracket",
						 name, s);
			p = end - 1;
		}
	}
	return 0;
}

static int take_field(struct weft_pattern *p, enum weft_field f, const char *s, size_t n,
		      struct weft_error *err)
{
	p->field[f] = strndup(s, n);
	if (!p->field[f])
		return weft_nomem(err);
	p->glob[f] = weft_glob_has_magic(p->field[f]);
	return check_field(p->field[f], weft_field_names[f], err);
}

/* Which of the fields is the one that was left out, only its provider knows. */
static int fail_fields(const char *text, const char *const *colon, size_t n_colons,
		       struct weft_error *err)
{
	static const char *const behind[] = {"::", ":", ""}, *const end[] = {"", ":", "::"};
	char forms[3][128];
	int first = n_colons ? (int)(colon[0] - text) : 0, second, i;

	if (n_colons == 0)
		snprintf(forms[0], sizeof(forms[0]), ":::%s", text);
	for (i = 0; n_colons == 1 && i < 3; i++)
		snprintf(forms[i], sizeof(forms[i]), "%.*s:%s%s%s", first, text, behind[i],
			 text + first + 1, end[i]);
	for (i = 0; n_colons == 2 && i < 3; i++) {
		second = (int)(colon[1] - colon[0]) - 1;
		snprintf(forms[i], sizeof(forms[i]), "%.*s:%s%.*s:%s%s%s", first, text,
			 i == 0 ? ":" : "", second, colon[0] + 1, i == 1 ? ":" : "", colon[1] + 1,
			 i == 2 ? ":" : "");
	}
	if (strlen(text) + 4 > sizeof(forms[0]))
		return weft_fail(err, -EINVAL, "PATTERN_FIELDS",
				 "'%s' has %zu colon%s; a probe description is "
				 "provider:module:function:name, with three at least",
				 text, n_colons, n_colons == 1 ? "" : "s");
	return weft_fail(err, -EINVAL, "PATTERN_FIELDS",
			 "'%s' has %zu colon%s; a probe description is "
			 "provider:module:function:name, and a field that is left out is left "
			 "empty: %s%s%s%s%s",
			 text, n_colons, n_colons == 1 ? "" : "s", forms[0], n_colons ? ", " : "",
			 n_colons ? forms[1] : "", n_colons ? " or " : "", n_colons ? forms[2] : "");
}

int weft_pattern_parse(const char *text, struct weft_pattern *out, struct weft_error *err)
{
	const char *colon[3] = {NULL, NULL, NULL}; /* the first, the second and the last */
	const char *begin[WEFT_N_FIELDS], *end[WEFT_N_FIELDS];
	size_t n_colons = 0, length = strlen(text);
	int rc;

	*out = (struct weft_pattern){.field = {NULL}};
	if (length == 0)
		return weft_fail(err, -EINVAL, "PATTERN_EMPTY",
				 "a probe description is empty; it is "
				 "provider:module:function:name");
	if (length > LONGEST)
		return fail_length("probe description", length, err);
	for (const char *p = text; *p != '\0'; p++) {
		if (*p == '\\' && p[1] != '\0') {
			p++;
		} else if (*p == ':') {
			colon[n_colons < 2 ? n_colons : 2] = p;
			n_colons++;
		}
	}
	if (n_colons < 3)
		return fail_fields(text, colon, n_colons, err);
	for (int f = 0; f < WEFT_N_FIELDS; f++) {
		begin[f] = f == 0 ? text : colon[f - 1] + 1;
		end[f] = f < 3 ? colon[f] : text + length;
	}
	for (int f = 0; f < WEFT_N_FIELDS; f++) {
		rc = take_field(out, (enum weft_field)f, begin[f], (size_t)(end[f] - begin[f]), err);
		if (rc) {
			weft_pattern_finish(out);
			return rc;
		}
	}
	return 0;
}

int weft_pattern_from_fields(const char *const field[WEFT_N_FIELDS], struct weft_pattern *out,
			     struct weft_error *err)
{
	*out = (struct weft_pattern){.field = {NULL}};
	for (int f = 0; f < WEFT_N_FIELDS; f++) {
		const char *s = field[f] ? field[f] : "";
		size_t n = strlen(s);
		int rc = n > LONGEST ? fail_length(weft_field_names[f], n, err)
				     : take_field(out, (enum weft_field)f, s, n, err);

		if (rc) {
			weft_pattern_finish(out);
			return rc;
		}
	}
	return 0;
}

void weft_pattern_finish(struct weft_pattern *p)
{
	if (!p)
		return;
	for (int f = 0; f < WEFT_N_FIELDS; f++)
		free(p->field[f]);
	*p = (struct weft_pattern){.field = {NULL}};
}

bool weft_pattern_is_literal(const struct weft_pattern *p)
{
	for (int f = 0; f < WEFT_N_FIELDS; f++) {
		if (p->glob[f])
			return false;
	}
	return true;
}

int weft_pattern_literal(const struct weft_pattern *p, struct weft_probe_desc *out, char **storage)
{
	size_t size = 0, used = 0;
	const char *text[WEFT_N_FIELDS];
	char *buf;

	if (!weft_pattern_is_literal(p))
		return -EINVAL;
	for (int f = 0; f < WEFT_N_FIELDS; f++)
		size += strlen(p->field[f]) + 1;
	buf = malloc(size);
	if (!buf)
		return -ENOMEM;
	for (int f = 0; f < WEFT_N_FIELDS; f++) {
		text[f] = buf + used;
		used += weft_glob_unescape(p->field[f], buf + used) + 1;
	}
	*out = (struct weft_probe_desc){
		.struct_size = sizeof(*out),
		.provider = text[WEFT_FIELD_PROVIDER],
		.module = text[WEFT_FIELD_MODULE],
		.function = text[WEFT_FIELD_FUNCTION],
		.name = text[WEFT_FIELD_NAME],
	};
	*storage = buf;
	return 0;
}
