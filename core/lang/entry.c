/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * `entry.NAME` and `entry.argN`: in a clause of a return, an argument of the entry that it is
 * paired with, as it was at the entry. Integers, addresses, and what a provider says is a string or
 * bytes are kept; what any other address leads to may have changed by the time of the return.
 */
#include "core/lang/kernel_types.h"

#include <string.h>

static size_t n_args(const struct weft_probe_info *info)
{
	if (!info->args)
		return 0;
	return info->n_args < WEFT_MAX_ARGS ? info->n_args : WEFT_MAX_ARGS;
}

static void arg_get(const struct weft_probe_info *info, size_t i, struct weft_arg *out)
{
	const struct weft_lang_env env = {.info = info};

	weft_arg_get(&env, i, out);
}

static struct weft_node *none(struct weft_sema *s, const struct weft_ast *a)
{
	const char *probe = s->env->probe ? s->env->probe : "the probe";

	return weft_sema_fail(
		s, a->start, "ENTRY_NONE",
		"`entry.%s` is an argument of the entry that a return belongs to, and %s "
		"is not paired with an entry: use it in a clause of the return probe",
		a->s, s->env->info ? probe : "`begin` or `end`");
}

static struct weft_node *unknown(struct weft_sema *s, const struct weft_ast *a)
{
	const struct weft_probe_info *info = s->env->entry_info;
	const char *names[WEFT_MAX_ARGS], *near;
	struct weft_arg arg;
	size_t n = 0;

	for (size_t i = 0; i < n_args(info); i++) {
		arg_get(info, i, &arg);
		if (arg.name)
			names[n++] = arg.name;
	}
	weft_sema_fail(s, a->start, "ARG_UNKNOWN",
		       "there is no argument `%s`: the entry of %s has %zu argument%s%s", a->s,
		       s->env->probe ? s->env->probe : "the probe", n_args(info),
		       n_args(info) == 1 ? "" : "s", n_args(info) ? ", from arg0" : "");
	near = n ? weft_nearest(a->s, names, n) : NULL;
	if (near)
		near = weft_arena_printf(s->src.arena, "entry.%s", near);
	if (near)
		weft_error_suggest(s->src.err, near);
	return NULL;
}

static bool find(const struct weft_probe_info *info, const char *name, uint32_t *index)
{
	struct weft_arg arg;

	for (uint32_t i = 0; i < n_args(info); i++) {
		arg_get(info, i, &arg);
		if (arg.name && !strcmp(arg.name, name)) {
			*index = i;
			return true;
		}
	}
	return weft_arg_index(name, index) && *index < n_args(info);
}

struct weft_node *weft_resolve_entry(struct weft_sema *s, const struct weft_ast *a)
{
	const struct weft_probe_info *info = s->env->info, *entry = s->env->entry_info;
	struct weft_type type, kept;
	struct weft_arg arg;
	struct weft_node *n;
	uint32_t index;

	if (s->unknown_probe)
		return NULL;
	if (!info || !entry || info->pairing.role != WEFT_PAIRING_RETURN)
		return none(s, a);
	if (!find(entry, a->s, &index))
		return unknown(s, a);
	arg_get(entry, index, &arg);
	if (!arg.where.n_ops)
		return weft_sema_fail(s, a->start, "ARG_UNREADABLE",
				      "`entry.%s` cannot be read: %s", a->s,
				      arg.unreadable ? arg.unreadable : "its place is not known");
	if (!weft_arg_value_type(s->env, &arg.type, &type) ||
	    !weft_lang_arg_type(s->env->set, entry, index, &kept))
		return weft_sema_fail(s, a->start, "ARG_UNREADABLE",
				      "`entry.%s` cannot be read: values of its type (%s) are not "
				      "understood",
				      a->s, arg.type.text ? arg.type.text : "unnamed");
	if (type.kind != WEFT_VALUE_INT && type.kind != WEFT_VALUE_STRING &&
	    type.kind != WEFT_VALUE_BYTES)
		return weft_sema_fail(s, a->start, "ARG_UNREADABLE",
				      "`entry.%s` is not kept for the return: integers, addresses, "
				      "strings and bytes are",
				      a->s);
	/* The frame keeps it as can be told without looking at type information. */
	n = weft_node_new(s, WEFT_NODE_ENTRY, type.names ? weft_type_plain(kept) : type, a);
	if (!n)
		return NULL;
	n->index = index;
	if (!type.names)
		return n;
	n = weft_node_convert(s, n, type.size, type.is_signed);
	return n ? weft_node_retype(s, n, type) : NULL;
}

bool weft_lang_arg_type(const struct weft_set *set, const struct weft_probe_info *info,
			uint32_t index, struct weft_type *out)
{
	const struct weft_lang_env env = {.set = set, .info = info};
	struct weft_arg arg;

	if (index >= n_args(info))
		return false;
	arg_get(info, index, &arg);
	return weft_arg_value_type(&env, &arg.type, out);
}

/* ---- before typing ---- */

static bool in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* How often a text has `entry.`; within a string as well, which does no harm. */
static uint32_t mentions(const char *text)
{
	uint32_t n = 0;

	for (const char *p = text; p && (p = strstr(p, "entry")); p += 5) {
		const char *behind = p + 5 + strspn(p + 5, " \t\r\n");

		n += *behind == '.' && (p == text || !in_name(p[-1]));
	}
	return n;
}

uint32_t weft_lang_entry_mentions(const struct weft_clause *clause)
{
	uint32_t n = mentions(clause->when.s);

	for (size_t i = 0; i < clause->n_actions; i++)
		for (size_t k = 0; k < clause->actions[i].n_items; k++)
			n += mentions(clause->actions[i].items[k].text.s) +
			     mentions(clause->actions[i].items[k].name.s); /* an element that is set */
	return n;
}

/* A name that begins a word: `arg0`, `args`, `retval`; `errno` is made of `retval`. */
static bool uses_args(const char *text)
{
	static const char *const names[] = {"arg", "retval", "errno"};

	for (size_t i = 0; text && i < sizeof(names) / sizeof(names[0]); i++)
		for (const char *p = text; (p = strstr(p, names[i])); p++)
			if (p == text || !in_name(p[-1]))
				return true;
	return false;
}

bool weft_lang_args_mentions(const struct weft_clause *clause)
{
	if (uses_args(clause->when.s))
		return true;
	for (size_t i = 0; i < clause->n_actions; i++)
		for (size_t k = 0; k < clause->actions[i].n_items; k++)
			if (uses_args(clause->actions[i].items[k].text.s) ||
			    uses_args(clause->actions[i].items[k].name.s))
				return true;
	return false;
}
