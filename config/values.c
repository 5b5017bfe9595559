/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Values that are one scalar. YAML 1.1 lets readers take `on` for a boolean and 0755 for an octal
 * number, and they do not agree which of them do. Here a boolean is `true` or `false`, and a number
 * that some reader would take for octal is refused with both spellings of what it may mean.
 */
#include <errno.h>
#include <stdio.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/schema.h"
#include "core/number.h"

void weft_fail_type(struct weft_reader *r, const struct weft_tree_node *node, const char *what,
		    const char *expected)
{
	struct weft_tree_words words;
	/* A value that is absent stands nowhere: its key is what the reader looks for. */
	bool absent = node->kind == WEFT_TREE_SCALAR && node->size == 0 && !node->quoted;

	weft_reader_fail(r, absent && node->key ? node->key->pos : node->pos, "CONFIG_TYPE",
			 "%s takes %s, not %s", what, expected, weft_tree_describe(node, &words));
}

bool weft_expect_scalar(struct weft_reader *r, const struct weft_tree_node *node, const char *what,
			const char *expected)
{
	if (node->kind == WEFT_TREE_BAD)
		return false;
	if (node->kind == WEFT_TREE_SCALAR && !weft_tree_is_null(node))
		return true;
	weft_fail_type(r, node, what, expected);
	return false;
}

bool weft_is_name(const char *s)
{
	if (!(*s == '_' || (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z')))
		return false;
	return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
	       strlen(s);
}

/* 0755 or 0o755, with or without a unit. */
static bool looks_octal(const char *s)
{
	size_t n;

	s += *s == '-' || *s == '+';
	if (s[0] != '0')
		return false;
	if (s[1] == 'o')
		return s[2] != '\0' && s[2 + strspn(s + 2, "01234567")] == '\0';
	n = strspn(s, "0123456789");
	return n > 1 && s[n + strspn(s + n, "dghkmnsuGKM")] == '\0';
}

bool weft_refuse_octal(struct weft_reader *r, const struct weft_tree_node *node)
{
	if (node->quoted || !looks_octal(node->text.s))
		return false;
	weft_reader_fail(r, node->pos, "CONFIG_TYPE",
			 "%.40s looks like an octal number, which probe sets do not have: write it "
			 "in decimal without a leading 0, in hexadecimal with 0x, or in quotes if it "
			 "is a text",
			 node->text.s);
	return true;
}

/* The words "`name`" for messages. */
static const char *key_words(const struct weft_key *key, char buf[64])
{
	snprintf(buf, 64, "`%.60s`", key->name);
	return buf;
}

static bool expect_key_scalar(struct weft_reader *r, const struct weft_key *key,
			      const struct weft_tree_node *node)
{
	char what[64];

	return weft_expect_scalar(r, node, key_words(key, what), weft_key_types[key->type].noun);
}

static void fail_key_type(struct weft_reader *r, const struct weft_key *key,
			  const struct weft_tree_node *node)
{
	char what[64];

	weft_fail_type(r, node, key_words(key, what), weft_key_types[key->type].noun);
}

void weft_read_version(struct weft_reader *r, const struct weft_key *key,
		       const struct weft_tree_node *node, void *base)
{
	int64_t version;

	(void)base;
	if (!expect_key_scalar(r, key, node))
		return;
	if (node->quoted || weft_parse_int(node->text.s, &version))
		fail_key_type(r, key, node);
	else if (version != WEFT_CONFIG_VERSION)
		weft_reader_fail(r, node->pos, "CONFIG_VERSION",
				 "the probe set is of version %" PRId64
				 "; this weft reads version %d",
				 version, WEFT_CONFIG_VERSION);
}

void weft_read_text(struct weft_reader *r, const struct weft_key *key,
		    const struct weft_tree_node *node, void *base)
{
	struct weft_text *out = (void *)((char *)base + key->offset);

	if (expect_key_scalar(r, key, node))
		*out = node->text;
}

void weft_read_field(struct weft_reader *r, const struct weft_key *key,
		     const struct weft_tree_node *node, void *base)
{
	const char **out = (void *)((char *)base + key->offset);

	if (expect_key_scalar(r, key, node))
		*out = node->text.s;
}

bool weft_read_expr(struct weft_reader *r, const struct weft_tree_node *node, const char *what,
		    struct weft_text *out)
{
	const char *whole;

	if (!weft_expect_scalar(r, node, what, "an expression"))
		return false;
	whole = weft_tree_cut(r, node, false);
	if (whole) {
		weft_tree_fail_cut(r, node, whole);
		return false;
	}
	*out = node->text;
	return true;
}

void weft_read_expr_key(struct weft_reader *r, const struct weft_key *key,
			const struct weft_tree_node *node, void *base)
{
	char what[64];

	weft_read_expr(r, node, key_words(key, what),
		       (struct weft_text *)(void *)((char *)base + key->offset));
}

void weft_read_bool(struct weft_reader *r, const struct weft_key *key,
		    const struct weft_tree_node *node, void *base)
{
	bool *out = (void *)((char *)base + key->offset);

	if (!expect_key_scalar(r, key, node))
		return;
	if (node->quoted ||
	    (strcmp(node->text.s, "true") != 0 && strcmp(node->text.s, "false") != 0))
		fail_key_type(r, key, node);
	else
		*out = node->text.s[0] == 't';
}

void weft_read_choice(struct weft_reader *r, const struct weft_key *key,
		      const struct weft_tree_node *node, void *base)
{
	const char *names[16];
	struct weft_tree_words words;
	char *copy, sentence[256];
	uint32_t n = 0, i = 0;

	if (!expect_key_scalar(r, key, node))
		return;
	copy = weft_arena_strdup(r->arena, key->choices);
	if (!copy) {
		weft_reader_nomem(r);
		return;
	}
	for (char *word; n < 16 && (word = strsep(&copy, "|"));)
		names[n++] = word;
	while (i < n && strcmp(names[i], node->text.s) != 0)
		i++;
	if (i < n) {
		i++;
		memcpy((char *)base + key->offset, &i, sizeof(i));
		return;
	}
	snprintf(sentence, sizeof(sentence), "`%s` is one of %s, not %s", key->name, key->choices,
		 weft_tree_describe(node, &words));
	weft_fail_unknown(r, node->pos, "CONFIG_CHOICE", sentence, node->text.s, names, n);
}

/* ---- numbers ---- */

static void store(const struct weft_key *key, uint64_t value, void *base)
{
	char *out = (char *)base + key->offset;
	uint32_t narrow = (uint32_t)value;

	if (key->size == sizeof(narrow))
		memcpy(out, &narrow, sizeof(narrow));
	else
		memcpy(out, &value, sizeof(value));
}

static void fail_range(struct weft_reader *r, const struct weft_key *key,
		       const struct weft_tree_node *node)
{
	char min[32], max[32];

	snprintf(min, sizeof(min), "%" PRIu64, key->min);
	snprintf(max, sizeof(max), "%" PRIu64, key->max);
	weft_reader_fail(r, node->pos, "CONFIG_RANGE",
			 "`%s` is out of range: %.40s is not from %s to %s%s", key->name,
			 node->text.s, key->min_text ? key->min_text : min,
			 key->max_text ? key->max_text : max, key->zero ? ", nor 0" : "");
}

/* What all numbers have in common. parsed: what the parser returned. */
static bool check_number(struct weft_reader *r, const struct weft_key *key,
			 const struct weft_tree_node *node, int parsed, uint64_t value)
{
	if (parsed == -EINVAL) {
		fail_key_type(r, key, node);
		return false;
	}
	if (parsed == 0 && value == 0 && key->zero)
		return true;
	if (parsed || value < key->min || value > key->max) {
		fail_range(r, key, node);
		return false;
	}
	return true;
}

/* An integer: uint64_t, or -ERANGE for a negative one as well. */
static int parse_integer(const struct weft_tree_node *node, uint64_t *out)
{
	int64_t negative;
	int rc;

	if (node->quoted)
		return -EINVAL;
	if (node->text.s[0] != '-')
		return weft_parse_uint(node->text.s, out);
	rc = weft_parse_int(node->text.s, &negative);
	return rc ? rc : -ERANGE;
}

static bool read_integer(struct weft_reader *r, const struct weft_key *key,
			 const struct weft_tree_node *node, uint64_t *out)
{
	int rc;

	if (!expect_key_scalar(r, key, node) || weft_refuse_octal(r, node))
		return false;
	rc = parse_integer(node, out);
	return check_number(r, key, node, rc, rc ? 0 : *out);
}

void weft_read_int(struct weft_reader *r, const struct weft_key *key,
		   const struct weft_tree_node *node, void *base)
{
	uint64_t value;

	if (read_integer(r, key, node, &value))
		store(key, value, base);
}

void weft_read_duration(struct weft_reader *r, const struct weft_key *key,
			const struct weft_tree_node *node, void *base)
{
	uint64_t value = 0;
	int rc;

	if (!expect_key_scalar(r, key, node) || weft_refuse_octal(r, node))
		return;
	rc = weft_parse_duration(node->text.s, &value);
	if (check_number(r, key, node, rc, value))
		store(key, value, base);
}

/* "4k", "1m": a power of two as a user writes it. */
static void size_words(uint64_t bytes, char buf[32])
{
	static const char units[] = {0, 'k', 'm', 'g'};
	size_t unit = 0;

	while (unit + 1 < sizeof(units) && bytes >= 1024 && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	snprintf(buf, 32, "%" PRIu64 "%.1s", bytes, unit ? &units[unit] : "");
}

static void fail_power(struct weft_reader *r, const struct weft_key *key,
		       const struct weft_tree_node *node, uint64_t value)
{
	uint64_t below = UINT64_C(1) << (63 - __builtin_clzll(value));
	char low[32], high[32], nearest[32];

	/* key->max is a power of two, so that 2 * below is in range as well. */
	size_words(below, low);
	size_words(2 * below, high);
	size_words(value - below <= 2 * below - value ? below : 2 * below, nearest);
	weft_reader_fail(r, node->pos, "CONFIG_RANGE",
			 "`%s` must be a power of two: %.40s lies between %s and %s; the nearest is "
			 "%s",
			 key->name, node->text.s, low, high, nearest);
}

void weft_read_size(struct weft_reader *r, const struct weft_key *key,
		    const struct weft_tree_node *node, void *base)
{
	uint64_t value = 0;
	int rc;

	if (!expect_key_scalar(r, key, node) || weft_refuse_octal(r, node))
		return;
	rc = weft_parse_size(node->text.s, &value);
	if (!check_number(r, key, node, rc, value))
		return;
	if (key->power_of_two && (value & (value - 1)) != 0)
		fail_power(r, key, node, value);
	else
		store(key, value, base);
}

/* ---- pids ---- */

void weft_read_pids(struct weft_reader *r, const struct weft_key *key,
		    const struct weft_tree_node *node, void *base)
{
	struct weft_target_spec *target = base;
	const struct weft_tree_node *item = node;
	uint64_t pid;

	if (node->kind == WEFT_TREE_LIST)
		item = node->first;
	if (!item) {
		fail_key_type(r, key, node);
		return;
	}
	if (!target->command)
		target->pos = node->pos;
	target->pids = weft_reader_alloc(r, node->n ? node->n : 1, sizeof(*target->pids));
	for (; item && !r->stop; item = node->kind == WEFT_TREE_LIST ? item->next : NULL) {
		if (read_integer(r, key, item, &pid))
			target->pids[target->n_pids++] = (int32_t)pid;
	}
}
