/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Values of options by type: a table of readers, each with the words for what it expects. */
#include "core/base/option.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
#include "core/number.h"

static int read_bool(const char *text, int64_t *value)
{
	if (strcmp(text, "true") == 0)
		*value = 1;
	else if (strcmp(text, "false") == 0)
		*value = 0;
	else
		return -EINVAL;
	return 0;
}

static int read_unsigned(const char *text, int64_t *value,
			 int (*parse)(const char *s, uint64_t *out))
{
	uint64_t v;
	int rc = parse(text, &v);

	if (rc)
		return rc;
	if (v > INT64_MAX)
		return -ERANGE;
	*value = (int64_t)v;
	return 0;
}

static int read_duration(const char *text, int64_t *value)
{
	return read_unsigned(text, value, weft_parse_duration);
}

static int read_size(const char *text, int64_t *value)
{
	return read_unsigned(text, value, weft_parse_size);
}

static const struct option_type {
	const char *expects; /* "wants ..." */
	const char *unit;    /* of min and max, in messages */
	bool ranged;
	int (*read)(const char *text, int64_t *value); /* NULL: kept as text */
} types[] = {
	[WEFT_OPTION_BOOL] = {"true or false", "", false, read_bool},
	[WEFT_OPTION_INT] = {"an integer", "", true, weft_parse_int},
	[WEFT_OPTION_STRING] = {"a text", "", false, NULL},
	[WEFT_OPTION_ENUM] = {"a choice", "", false, NULL},
	[WEFT_OPTION_DURATION] = {"a time with its unit, such as 10ms (ns, us, ms, s, m, h, d)",
				  " ns", true, read_duration},
	[WEFT_OPTION_SIZE] = {"a number of bytes, such as 4096 or 4k (k, m, g)", " bytes", true,
			      read_size},
};

void weft_option_read(const struct weft_option_spec *spec, struct weft_option_spec *out)
{
	size_t n = spec->struct_size < sizeof(*out) ? spec->struct_size : sizeof(*out);

	memset(out, 0, sizeof(*out));
	memcpy(out, spec, n);
}

bool weft_option_type_known(uint32_t type)
{
	return type < sizeof(types) / sizeof(types[0]) && types[type].expects;
}

bool weft_option_is_text(uint32_t type)
{
	return !types[type].read;
}

/* Calls fn for each of the choices "a|b|c" until it returns true. */
static bool each_choice(const char *choices, bool (*fn)(const char *choice, size_t n, void *arg),
			void *arg)
{
	for (const char *p = choices;; p++) {
		size_t n = strcspn(p, "|");

		if (fn(p, n, arg))
			return true;
		p += n;
		if (*p == '\0')
			return false;
	}
}

static bool choice_is(const char *choice, size_t n, void *arg)
{
	const char *text = arg;

	return strlen(text) == n && memcmp(choice, text, n) == 0;
}

/* The choices are no strings of their own, so the nearest is copied out when it is found. */
struct nearest_choice {
	struct weft_near near;
	char copies[2][64];
	int best;
};

static bool choice_near(const char *choice, size_t n, void *arg)
{
	struct nearest_choice *c = arg;
	char *copy = c->copies[!c->best];
	const char *before = c->near.best;

	if (n >= sizeof(c->copies[0]))
		return false;
	memcpy(copy, choice, n);
	copy[n] = '\0';
	weft_near_offer(&c->near, copy);
	if (c->near.best != before)
		c->best = !c->best;
	return false;
}

/* "a|b|c" as "a, b, c"; cut short where it is long. */
static void list_choices(const char *choices, char *buf, size_t size)
{
	size_t used = 0;

	for (const char *p = choices; *p != '\0' && used + 3 < size; p++) {
		buf[used++] = (char)(*p == '|' ? ',' : *p);
		if (*p == '|')
			buf[used++] = ' ';
	}
	buf[used] = '\0';
}

static int check_choice(const struct weft_option_spec *spec, const char *text, const char *tag,
			const char *subject, struct weft_error *err)
{
	struct nearest_choice c = {.best = 0};
	char list[256];

	if (each_choice(spec->choices, choice_is, (void *)text))
		return 0;
	list_choices(spec->choices, list, sizeof(list));
	weft_fail(err, -EINVAL, tag, "%s is one of %s, not '%s'", subject, list, text);
	weft_near_init(&c.near, text);
	each_choice(spec->choices, choice_near, &c);
	weft_error_suggest(err, c.near.best);
	return -EINVAL;
}

static int check_range(const struct weft_option_spec *spec, int64_t value, const char *text,
		       const char *tag, const char *subject, struct weft_error *err)
{
	if (!types[spec->type].ranged || (spec->min == 0 && spec->max == 0))
		return 0;
	if (value >= spec->min && value <= spec->max)
		return 0;
	return weft_fail(err, -ERANGE, tag, "%s is from %lld to %lld%s, which %s is not", subject,
			 (long long)spec->min, (long long)spec->max, types[spec->type].unit, text);
}

int weft_option_value(const struct weft_option_spec *spec, const char *text, int64_t *value,
		      const char *tag, const char *subject, struct weft_error *err)
{
	const struct option_type *type = &types[spec->type];
	int64_t v;
	int rc;

	if (spec->type == WEFT_OPTION_ENUM)
		return check_choice(spec, text, tag, subject, err);
	if (!type->read)
		return 0;
	rc = type->read(text, &v);
	if (rc == -ERANGE)
		return weft_fail(err, rc, tag, "%s does not hold a number as large as %s", subject,
				 text);
	if (rc)
		return weft_fail(err, rc, tag, "%s wants %s, not '%s'", subject, type->expects,
				 text);
	rc = check_range(spec, v, text, tag, subject, err);
	if (rc == 0)
		*value = v;
	return rc;
}
