/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What names mean: variables, parameters, calls; and what was meant by those that mean nothing. */
#include "core/lang/kernel_types.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Names that other tracers and C have for what is called otherwise here. */
static const struct {
	const char *foreign, *ours;
} foreign_names[] = {
	{"comm", "execname"},  {"nsecs", "timestamp"},  {"kstack", "stack"},
	{"func", "probefunc"}, {"probe", "probename"},  {"tgid", "pid"},
	{"ret", "retval"},     {"duration", "elapsed"}, {"true", "1"},
	{"false", "0"},        {"module", "probemod"},  {"provider", "probeprov"},
	{"now", "timestamp"},
};

static const struct weft_var *find_var(const char *name)
{
	for (size_t i = 0; i < weft_n_vars; i++)
		if (strcmp(weft_vars[i].name, name) == 0)
			return &weft_vars[i];
	return NULL;
}

static const struct weft_function *find_function(const char *name)
{
	for (size_t i = 0; i < weft_n_functions; i++)
		if (strcmp(weft_functions[i].name, name) == 0)
			return &weft_functions[i];
	return NULL;
}

bool weft_arg_index(const char *name, uint32_t *index)
{
	const char *digits = name + 3;

	if (strncmp(name, "arg", 3) != 0 || !isdigit((unsigned char)*digits) ||
	    strlen(digits) > 4 || (digits[0] == '0' && digits[1]))
		return false;
	for (*index = 0; isdigit((unsigned char)*digits); digits++)
		*index = *index * 10 + (uint32_t)(*digits - '0');
	return *digits == '\0';
}

bool weft_name_is_taken(const char *name)
{
	static const char *const others[] = {"args", "self", "this", "entry", "NULL"};
	uint32_t index;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(others[i], name) == 0)
			return true;
	return find_var(name) || weft_arg_index(name, &index) ||
	       weft_cast_type(name, (uint32_t)strlen(name));
}

/* ---- names that mean nothing ---- */

struct candidates {
	const char **names;
	size_t n, cap;
};

static int add_candidate(struct candidates *c, const char *name)
{
	if (!name)
		return 0;
	if (weft_grow(&c->names, &c->cap, c->n, sizeof(*c->names)))
		return -1;
	c->names[c->n++] = name;
	return 0;
}

static void gather(struct weft_sema *s, struct candidates *c)
{
	static const char *const owners[] = {"self", "this", "args", "entry"};
	const struct weft_set *set = s->env->set;
	struct weft_arg arg;

	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++)
		if (add_candidate(c, owners[i]))
			return;
	for (size_t i = 0; i < weft_n_vars; i++)
		if (add_candidate(c, weft_vars[i].name))
			return;
	for (size_t i = 0; i < weft_n_functions; i++)
		if (add_candidate(c, weft_functions[i].name))
			return;
	for (size_t i = 0; s->state && i < s->state->n_vars; i++)
		if (add_candidate(c, s->state->vars[i]->name))
			return;
	for (size_t i = 0; s->clause && i < s->clause->n_locals; i++)
		if (add_candidate(c, s->clause->locals[i].name))
			return;
	for (size_t i = 0; i < weft_n_args(s->env); i++) {
		weft_arg_get(s->env, i, &arg);
		if (add_candidate(c, arg.name))
			return;
	}
	for (size_t i = 0; set && i < set->n_params; i++)
		if (add_candidate(c, set->params[i].name.s))
			return;
}

/* The name as it would have to be written: arguments and parameters do not stand alone. */
static const char *as_written(struct weft_sema *s, const char *name)
{
	const struct weft_set *set = s->env->set;
	struct weft_arg arg;

	if (find_var(name) || find_function(name))
		return name;
	for (size_t i = 0; i < weft_n_args(s->env); i++) {
		weft_arg_get(s->env, i, &arg);
		if (arg.name && strcmp(arg.name, name) == 0)
			return weft_arena_printf(s->src.arena, "args.%s", name);
	}
	for (size_t i = 0; set && i < set->n_params; i++)
		if (set->params[i].name.s && strcmp(set->params[i].name.s, name) == 0)
			return weft_arena_printf(s->src.arena, "$%s", name);
	return name;
}

static struct weft_node *unknown_name(struct weft_sema *s, const struct weft_ast *a)
{
	const char *near = NULL;
	struct candidates c = {0};

	weft_sema_fail(s, a->start, "NAME_UNKNOWN", "there is no `%s`", a->s);
	for (size_t i = 0; i < sizeof(foreign_names) / sizeof(foreign_names[0]); i++)
		if (strcmp(foreign_names[i].foreign, a->s) == 0)
			near = foreign_names[i].ours;
	gather(s, &c);
	for (size_t i = 0; i < c.n; i++) /* an exact name that lacks its args. or $ goes first */
		if (strcmp(c.names[i], a->s) == 0)
			near = as_written(s, c.names[i]);
	if (!near) /* then one that lacks its self. or this. */
		near = weft_same_name(a->s, c.names, c.n);
	if (!near && c.n)
		near = weft_nearest(a->s, c.names, c.n);
	if (near)
		near = as_written(s, near);
	if (near)
		weft_error_suggest(s->src.err, near);
	free((void *)c.names);
	return NULL;
}

/* ---- variables ---- */

static struct weft_node *resolve_stack(struct weft_sema *s, const struct weft_var *v,
				       const struct weft_ast *a)
{
	struct weft_type t = v->type;

	t.cap = weft_env_stackframes(s->env);
	return weft_node_new(s, WEFT_NODE_STACK, t, a);
}

static struct weft_node *resolve_var(struct weft_sema *s, const struct weft_var *v,
				     const struct weft_ast *a)
{
	struct weft_node *n;

	switch (v->id) {
	case WEFT_VAR_REGS:
		return weft_resolve_regs(s, v, a);
	case WEFT_VAR_STACK:
	case WEFT_VAR_USTACK:
		return resolve_stack(s, v, a);
	case WEFT_VAR_RETVAL:
		return weft_resolve_retval(s, a);
	case WEFT_VAR_ERRNO:
		return weft_resolve_errno(s, a);
	case WEFT_VAR_ELAPSED:
		return weft_resolve_elapsed(s, a);
	default:
		n = weft_node_new(s, WEFT_NODE_VAR, v->type, a);
		if (n)
			n->var = v;
		return n;
	}
}

struct weft_node *weft_resolve_name(struct weft_sema *s, const struct weft_ast *a)
{
	const struct weft_var *v = find_var(a->s);
	const struct weft_function *f;
	struct weft_node *n;
	uint32_t index;
	bool mine;

	if (v)
		return resolve_var(s, v, a);
	if (weft_arg_index(a->s, &index))
		return weft_resolve_arg(s, index, a);
	if (strcmp(a->s, "NULL") == 0)
		return weft_node_int(s, 0, false, a);
	if (strcmp(a->s, "args") == 0)
		return weft_sema_fail(
			s, a->start, "ARG_UNKNOWN",
			"`args` is not a value: an argument is written args.NAME or argN");
	if (strcmp(a->s, "entry") == 0)
		return weft_sema_fail(
			s, a->start, "ARG_UNKNOWN",
			"`entry` is not a value: an argument of the entry is written entry.NAME or "
			"entry.argN");
	if (strcmp(a->s, "self") == 0 || strcmp(a->s, "this") == 0)
		return weft_sema_fail(s, a->start, "NAME_UNKNOWN",
				      "`%s` is not a value: a variable is written %s.NAME", a->s,
				      a->s);
	n = weft_resolve_state(s, a, &mine);
	if (mine)
		return n;
	f = find_function(a->s);
	if (f)
		return weft_sema_fail(s, a->start, "FUNCTION_ARGUMENTS",
				      "`%s` is a function, written %s", a->s, f->signature);
	return unknown_name(s, a);
}

/* ---- parameters ---- */

static struct weft_node *param_value(struct weft_sema *s, const struct weft_param *p,
				     const struct weft_ast *a)
{
	const char *text = p->value.s ? p->value.s : "";
	bool minus = text[0] == '-';
	struct weft_number number;
	int64_t value;

	if (p->quoted || !isdigit((unsigned char)text[minus]))
		return weft_node_string(s, text, (uint32_t)strlen(text), a);
	weft_number_read(text + minus, &number);
	/* Like a number from its first digit to its last byte, or else a string: 10.0.0.1, 3rd. */
	if ((number.tag && strcmp(number.tag, "EXPR_NUMBER_RANGE") != 0) ||
	    text[minus + number.length])
		return weft_node_string(s, text, (uint32_t)strlen(text), a);
	value = (int64_t)number.value;
	if (number.tag || (minus && number.is_unsigned && !number.says_so && value != INT64_MIN))
		return weft_sema_fail(s, a->start, "EXPR_NUMBER_RANGE",
				      "the parameter $%s is `%.40s`, which does not fit in 64 bits",
				      a->s, text);
	if (!minus)
		return weft_node_int(s, value, number.is_unsigned, a);
	return weft_node_int(s, weft_fold_unary(WEFT_OP_NEG, value), number.says_so, a);
}

struct weft_node *weft_resolve_param(struct weft_sema *s, const struct weft_ast *a)
{
	const struct weft_set *set = s->env->set;
	struct candidates c = {0};
	const char *near;

	for (size_t i = 0; set && i < set->n_params; i++)
		if (set->params[i].name.s && strcmp(set->params[i].name.s, a->s) == 0)
			return param_value(s, &set->params[i], a);
	weft_sema_fail(s, a->start, "PARAM_UNKNOWN", "there is no parameter `%s`%s", a->s,
		       set && set->n_params ? "" : ": the set has no params");
	for (size_t i = 0; set && i < set->n_params; i++)
		if (add_candidate(&c, set->params[i].name.s))
			break;
	near = c.n ? weft_nearest(a->s, c.names, c.n) : NULL;
	if (near)
		near = weft_arena_printf(s->src.arena, "$%s", near);
	if (near)
		weft_error_suggest(s->src.err, near);
	free((void *)c.names);
	return NULL;
}

/* ---- calls ---- */

static struct weft_node *unknown_function(struct weft_sema *s, const struct weft_ast *a)
{
	struct candidates c = {0};
	const char *near;

	weft_sema_fail(s, a->start, "FUNCTION_UNKNOWN", "there is no function `%s`", a->s);
	for (size_t i = 0; i < weft_n_functions; i++)
		if (add_candidate(&c, weft_functions[i].name))
			break;
	near = c.n ? weft_nearest(a->s, c.names, c.n) : NULL;
	if (near)
		weft_error_suggest(s->src.err, near);
	free((void *)c.names);
	return NULL;
}

struct weft_node *weft_resolve_call(struct weft_sema *s, const struct weft_ast *a)
{
	const struct weft_function *f = find_function(a->s);
	struct weft_node *args[WEFT_MAX_FUNCTION_ARGS] = {0};
	uint32_t length;
	size_t n = 0;
	bool ok = true;

	if (!f)
		return unknown_function(s, a);
	if (a->n < f->min_args || a->n > f->max_args)
		return weft_sema_fail(s, a->start, "FUNCTION_ARGUMENTS",
				      "`%s` is written %s, and here it has %u argument%s", f->name,
				      f->signature, a->n, a->n == 1 ? "" : "s");
	for (const struct weft_ast *arg = a->kid[0]; arg; arg = arg->next) {
		args[n] = weft_type_place(s, arg);
		/* str() of an array reads no further than it goes. */
		if (args[n] && f->type == weft_call_string_read && a->n == 1 &&
		    weft_array_length(s, args[n], &length))
			args[1] = weft_node_int(s, length, false, arg);
		args[n] = weft_node_argument(s, f, n, args[n]);
		ok = args[n] && weft_param_fits(s, f, n, &args[n]) && ok;
		n++;
	}
	return ok ? f->type(s, f, args, a) : NULL;
}
