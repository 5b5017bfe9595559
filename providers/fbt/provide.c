/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A probe that is named exactly: one pass over the symbols, of which only those of that name are
 * kept. What the name could have meant otherwise is collected on the way, for the message.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fbt.h"
#include "support/nearest.h"

#define MOST_ALIKE 64u

struct found {
	uint64_t address;
	uint32_t nth; /* in its module; given at the end */
	uint32_t module;
};

struct look_up {
	const char *module; /* "": any */
	bool has_module;    /* that one is loaded */
	char name[WEFT_FBT_NAME_MOST];
	size_t length;
	uint32_t nth; /* 0: none was written */
	struct weft_fbt_ranges ranges;
	struct weft_fbt_pool pool;
	struct found *all;
	size_t n, cap;
	char split[WEFT_FBT_NAME_MOST]; /* name.isra.0 or the like, where there is only that */
	char *alike[MOST_ALIKE];        /* names that begin as this one does */
	size_t n_alike;
};

static int take_found(struct look_up *l, const struct weft_fbt_symbol *s)
{
	struct found f = {.address = s->address};

	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 8;
		struct found *grown = realloc(l->all, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		l->all = grown;
		l->cap = cap;
	}
	if (weft_fbt_pool_add(&l->pool, s->module, strlen(s->module), &f.module))
		return -ENOMEM;
	l->all[l->n++] = f;
	return 0;
}

static void note_alike(struct look_up *l, const struct weft_fbt_symbol *s)
{
	size_t same = l->length < 5 ? l->length : 5;

	if (l->n_alike == MOST_ALIKE || strncmp(s->name, l->name, same) || strchr(s->name, '.') ||
	    s->length > l->length + 2 || s->length + 2 < l->length)
		return;
	l->alike[l->n_alike] = strdup(s->name);
	if (l->alike[l->n_alike])
		l->n_alike++;
}

static int look_at(void *arg, const struct weft_fbt_symbol *s)
{
	struct look_up *l = arg;

	weft_fbt_ranges_mark(&l->ranges, s);
	if (!l->has_module)
		l->has_module = !strcmp(l->module, s->module);
	if (s->name[0] != l->name[0] || !weft_fbt_is_function(s) ||
	    (*l->module && strcmp(l->module, s->module)))
		return 0;
	if (s->length == l->length && !memcmp(s->name, l->name, l->length))
		return take_found(l, s);
	if (s->length > l->length && !memcmp(s->name, l->name, l->length) &&
	    s->name[l->length] == '.' && !weft_fbt_is_fragment(s->name))
		memcpy(l->split, s->name, s->length + 1);
	else
		note_alike(l, s);
	return 0;
}

/* Splits name@NTH. */
static bool take_number(struct look_up *l, const char *function)
{
	const char *at = strrchr(function, '@');
	char *end;

	l->length = at ? (size_t)(at - function) : strlen(function);
	if (!l->length || l->length >= sizeof(l->name))
		return false;
	memcpy(l->name, function, l->length);
	if (!at)
		return true;
	l->nth = (uint32_t)strtoul(at + 1, &end, 10);
	return at[1] >= '1' && at[1] <= '9' && !*end;
}

/* Gives the numbers, and drops what ran at boot. */
static void number(struct look_up *l)
{
	size_t n = 0, i, k;

	for (i = 0; i < l->n; i++)
		if (!weft_fbt_is_init(&l->ranges, l->all[i].address))
			l->all[n++] = l->all[i];
	l->n = n;
	for (i = 0; i < n; i++) {
		l->all[i].nth = 1;
		for (k = 0; k < i; k++)
			if (!strcmp(l->pool.text + l->all[k].module, l->pool.text + l->all[i].module))
				l->all[i].nth = l->all[k].nth + 1;
	}
}

static int fail_nothing(struct weft_instance *in, const struct look_up *l, bool had_init,
			struct weft_error *err)
{
	const struct weft_host *host = in->host;
	const char *where = *l->module ? l->module : "the kernel";
	const char *near = support_nearest(l->name, (const char *const *)l->alike, l->n_alike);

	if (*l->module && !l->has_module)
		return host->fail(err, -ENOENT, "FBT_NO_MODULE",
				  "no module %s is loaded; once it is, its functions can be traced",
				  l->module);
	if (had_init)
		return host->fail(err, -ENOENT, "FBT_GONE",
				  "%s ran when the kernel started and is gone", l->name);
	if (*l->split)
		return host->fail(err, -ENOENT, "FBT_SPLIT",
				  "the compiler made another function of %s, whose arguments may "
				  "differ: %s",
				  l->name, l->split);
	return host->fail(
		err, -ENOENT, "FBT_NO_FUNCTION",
		"%s has no function %s, or none that was not inlined into its callers%s%s%s", where,
		l->name, near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

static int settle(struct weft_instance *in, struct look_up *l, size_t before,
		  const struct found **out, struct weft_error *err)
{
	const struct weft_host *host = in->host;
	size_t i, most = 0;
	const char *why;

	if (!l->n)
		return fail_nothing(in, l, before != 0, err);
	for (i = 0; i < l->n; i++)
		most = l->all[i].nth > most ? l->all[i].nth : most;
	if (l->nth > most || (l->nth && most == 1))
		return host->fail(
			err, -ENOENT, "FBT_NTH", "there %s %zu function%s named %s, not %u",
			most == 1 ? "is" : "are", most, most == 1 ? "" : "s", l->name, l->nth);
	if (!l->nth && l->n > 1 && most == 1)
		return host->fail(err, -EINVAL, "FBT_AMBIGUOUS",
				  "several modules have a function %s (%s and %s): name the module",
				  l->name, l->pool.text + l->all[0].module,
				  l->pool.text + l->all[1].module);
	if (!l->nth && most > 1)
		return host->fail(err, -EINVAL, "FBT_AMBIGUOUS",
				  "there are %zu functions named %s: write %s@1 to %s@%zu for one of "
				  "them, %s@* for all",
				  most, l->name, l->name, l->name, most, l->name);
	for (i = 0; l->nth && l->all[i].nth != l->nth; i++)
		;
	*out = &l->all[l->nth ? i : 0];
	why = weft_fbt_unsafe(l->name);
	if (why)
		return host->fail(err, -EINVAL, "FBT_UNSAFE", "%s is not traced: %s", l->name, why);
	if (weft_fbt_is_fragment(l->name))
		return host->fail(err, -EINVAL, "FBT_FRAGMENT",
				  "%s is a piece of a function that gcc put away: nobody calls it",
				  l->name);
	why = weft_fbt_ranges_find(&l->ranges, (*out)->address);
	if (why)
		return host->fail(err, -EINVAL, "FBT_FORBIDDEN", "%s cannot be traced: %s", l->name,
				  why);
	return 0;
}

static int provide(struct weft_instance *in, struct weft_registry *registry, struct look_up *l,
		   const char *name, struct weft_error *err)
{
	const struct weft_host *host = in->host;
	const struct found *found = NULL;
	uint32_t function;
	size_t before;
	int ret;

	ret = weft_fbt_read_symbols(look_at, l);
	if (!ret)
		ret = weft_fbt_ranges_settle(&l->ranges);
	if (ret)
		return ret == -ENOMEM
			       ? host->fail(err, ret, "NO_MEMORY", "out of memory")
			       : host->fail(err, ret, "FBT_SYMBOLS",
					    "/proc/kallsyms cannot be read: %s", strerror(-ret));
	before = l->n;
	number(l);
	ret = settle(in, l, before, &found, err);
	if (ret)
		return ret;
	if (!strcmp(name, "return") && weft_fbt_never_returns(l->name))
		return host->fail(err, -EINVAL, "FBT_NO_RETURN", "%s never returns: %s", l->name,
				  weft_fbt_never_returns(l->name));
	if (weft_fbt_add_function(in, l->name, l->pool.text + found->module, found->address, l->nth,
				  &function))
		return host->fail(err, -ENOMEM, "NO_MEMORY", "out of memory");
	return weft_fbt_register(in, registry, function, name, err);
}

int weft_fbt_provide(struct weft_instance *in, struct weft_registry *registry,
		     const struct weft_probe_desc *desc, struct weft_error *err)
{
	const struct weft_host *host = in->host;
	struct look_up *l;
	int ret;

	if (*desc->name && strcmp(desc->name, "entry") && strcmp(desc->name, "return"))
		return host->fail(err, -EINVAL, "FBT_NAME",
				  "a kernel function has the probes entry and return, not %s",
				  desc->name);
	if (!*desc->function)
		return 0; /* any function: that is populate_match()'s */
	l = calloc(1, sizeof(*l));
	if (!l)
		return host->fail(err, -ENOMEM, "NO_MEMORY", "out of memory");
	l->module = desc->module;
	if (take_number(l, desc->function))
		ret = provide(in, registry, l, desc->name, err);
	else
		ret = host->fail(err, -EINVAL, "FBT_FUNCTION", "'%s' is no name of a function",
				 desc->function);
	for (size_t i = 0; i < l->n_alike; i++)
		free(l->alike[i]);
	weft_fbt_ranges_finish(&l->ranges);
	free(l->pool.text);
	free(l->all);
	free(l);
	return ret;
}
