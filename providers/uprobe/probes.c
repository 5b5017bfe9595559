/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which probes there are: those that somebody asks for. A description is provided, a pattern is
 * matched with the functions of the files that its module stands for; both are kept, for files that
 * appear while tracing: the file of a module text that is there already adds sites to its probes,
 * the first one makes them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/module.h"
#include "support/nearest.h"
#include "uprobe.h"

#define MOST_CODE 65536u /* bytes of a function that are decoded for +0xOFF */

/* ---- names ---- */

static int parse_name(struct weft_instance *in, const char *name, enum weft_uprobe_kind *kind,
		      uint64_t *at, struct weft_error *err)
{
	static const char *const names[] = {"entry", "return"};
	char *end;

	*at = 0;
	for (unsigned int i = 0; i < 2; i++) {
		if (!strcmp(name, names[i])) {
			*kind = (enum weft_uprobe_kind)i;
			return 0;
		}
	}
	if (!strncmp(name, "+0x", 3) && name[3]) {
		errno = 0;
		*at = strtoull(name + 3, &end, 16);
		*kind = WEFT_UPROBE_OFFSET;
		if (!errno && !*end && name[3] != '-' && name[3] != '+' && name[3] != ' ')
			return 0;
	}
	const char *nearest = support_nearest(name, names, 2);
	return in->host->fail(err, -EINVAL, "UPROBE_NAME",
			      "'%s' is no probe of a function: there are entry, return, and +0xOFFSET "
			      "for an instruction%s%s%s",
			      name, nearest ? "; did you mean '" : "", nearest ? nearest : "",
			      nearest ? "'?" : "");
}

/* ---- one probe ---- */

static int check_offset(struct weft_instance *in, const struct weft_uprobe_site *site,
			const char *function, uint64_t at, struct weft_error *err)
{
	if (site->size && at >= site->size)
		return in->host->fail(err, -EINVAL, "UPROBE_OFFSET",
				      "%s in %s has 0x%" PRIx64 " bytes: there is no +0x%" PRIx64,
				      function, site->file->path, site->size, at);
	if (at >= MOST_CODE)
		return in->host->fail(err, -EINVAL, "UPROBE_OFFSET",
				      "+0x%" PRIx64 " is too far behind %s to know whether an "
				      "instruction begins there",
				      at, function);
	/* The last instruction may be longer than what is asked for: any has at most 16 bytes. */
	uint8_t *code = malloc((size_t)at + 16);
	if (!code)
		return in->host->fail(err, -ENOMEM, "NO_MEMORY", "out of memory");
	size_t n = weft_uprobe_file_code(site->file, site->address, code, (size_t)at + 16);
	bool good = weft_uprobe_arch_begins(code, n, site->address, at);
	const char *unfit = good ? weft_uprobe_arch_unfit(code + at, n - (size_t)at) : NULL;
	free(code);
	if (unfit)
		return in->host->fail(err, -EOPNOTSUPP, "UPROBE_INSTRUCTION",
				      "+0x%" PRIx64 " of %s in %s cannot be probed: %s", at,
				      function, site->file->path, unfit);
	if (good)
		return 0;
	return in->host->fail(err, -EINVAL, "UPROBE_OFFSET",
			      "no instruction of %s in %s begins at +0x%" PRIx64, function,
			      site->file->path, at);
}

/*
 * A return probe takes what lies on top of the stack at the entry for the return address. Functions
 * that are not called, or whose return address is kept and used again, break by it: the program's
 * beginning finds its number of arguments changed, a jump buffer leads to where nobody waits.
 */
static bool breaks_by_return(const struct weft_uprobe_site *site)
{
	static const char *const names[] = {
		"_start",
		"_dl_start_user",
		"__restore_rt",
		"__restore",
		"_dl_runtime_resolve*",
		"_dl_runtime_profile*",
		"setjmp",
		"_setjmp",
		"__setjmp",
		"sigsetjmp",
		"__sigsetjmp",
		"__sigsetjmp_cancel",
		"vfork",
		"__vfork",
		"__libc_vfork",
		"getcontext",
		"__getcontext",
		"swapcontext",
		"__swapcontext",
		"__start_context",
	};
	const struct weft_elf *elf = site->file->elf;

	if (elf->entry && site->address == elf->entry)
		return true;
	for (uint32_t i = weft_elf_symbol_from(elf, site->address); i < elf->n_symbols; i++) {
		const struct weft_elf_symbol *s = weft_elf_symbol_at(elf, i);

		if (s->address != site->address)
			break;
		if (weft_uprobe_is_part(s->name))
			return true;
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			size_t n = strcspn(names[k], "*");

			if (names[k][n] ? !strncmp(s->name, names[k], n)
					: !strcmp(s->name, names[k]))
				return true;
		}
	}
	return false;
}

static int check_return(struct weft_instance *in, struct weft_uprobe_site *site,
			const char *function, struct weft_error *err)
{
	if (site->file->go)
		return weft_uprobe_find_returns(in, site, function, err);
	if (breaks_by_return(site))
		return in->host->fail(
			err, -EOPNOTSUPP, "UPROBE_RETURN_BREAKS",
			"the return of %s in %s cannot be probed: it is not called, or returns more "
			"than once, and the kernel's return probes would break the program",
			function, site->file->path);
	return 0;
}

/* The sites of a function in one file, checked for the kind. */
static int sites_in(struct weft_instance *in, struct weft_uprobe_file *f, const char *function,
		    struct weft_uprobe_probe *p, struct weft_error *err)
{
	size_t before = p->n_sites;
	int ret;

	ret = weft_uprobe_file_read(in, f, err);
	if (!ret)
		ret = weft_uprobe_named(in, f, function, p, err);
	for (size_t i = before; !ret && p->kind == WEFT_UPROBE_RETURN && i < p->n_sites; i++)
		ret = check_return(in, &p->sites[i], function, err);
	for (size_t i = before; !ret && p->kind == WEFT_UPROBE_OFFSET && i < p->n_sites; i++)
		ret = check_offset(in, &p->sites[i], function, p->at, err);
	if (ret)
		weft_uprobe_sites_cut(p, before);
	return ret;
}

static void free_probe(struct weft_uprobe_probe *p)
{
	if (p) {
		weft_uprobe_sites_cut(p, 0);
		free(p->sites);
	}
	free(p);
}

struct creating {
	struct weft_instance *in;
	struct weft_registry *registry;
	const char *module;
	const char *name;
	enum weft_uprobe_kind kind;
	uint64_t at;
	bool adds;  /* to probes that are attached already */
	bool exact; /* the function is named */
	size_t n;   /* probes that are there or were made */
	struct weft_error *err;
};

static struct weft_uprobe_probe *existing(const struct creating *c, const char *function)
{
	const struct weft_probe_desc desc = {
		.struct_size = sizeof(desc),
		.provider = "uprobe",
		.module = c->module,
		.function = function,
		.name = c->name,
	};
	const struct weft_probe *probe = c->in->host->probe_find(c->registry, &desc);

	return probe ? (struct weft_uprobe_probe *)(uintptr_t)c->in->host->probe_data(probe) : NULL;
}

static int create(const struct creating *c, struct weft_uprobe_file *f, const char *function)
{
	const struct weft_probe_desc desc = {
		.struct_size = sizeof(desc),
		.provider = "uprobe",
		.module = c->module,
		.function = function,
		.name = c->name,
	};
	struct weft_uprobe_probe *p = existing(c, function);
	int ret;

	if (p) {
		ret = sites_in(c->in, f, function, p, c->err);
		if (!ret && c->adds)
			weft_uprobe_extend(c->in, p);
		return ret;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return c->in->host->fail(c->err, -ENOMEM, "NO_MEMORY", "out of memory");
	p->kind = c->kind;
	p->exact = c->exact;
	p->at = c->at;
	ret = sites_in(c->in, f, function, p, c->err);
	if (!ret)
		ret = c->in->host->probe_add(c->registry, &desc, (uint64_t)(uintptr_t)p,
					     &p->registered, c->err);
	if (ret) {
		free_probe(p);
		return ret;
	}
	p->next = c->in->probes;
	c->in->probes = p;
	return 0;
}

/* ---- what is wanted ---- */

static char *unescaped(const char *field)
{
	char *text = strdup(field), *to = text;

	for (const char *p = field; text && *p; p++) {
		if (*p == '\\' && p[1])
			p++;
		*to++ = *p;
	}
	if (text)
		*to = '\0';
	return text;
}

static void free_wanted(struct weft_uprobe_wanted *w)
{
	if (!w)
		return;
	free(w->module);
	free(w->function);
	free(w->name);
	free(w);
}

/* pattern: the fields may be globs, and have escapes. */
static struct weft_uprobe_wanted *want(struct weft_instance *in, const struct weft_probe_desc *d,
				       bool pattern, struct weft_error *err)
{
	struct weft_uprobe_wanted *w = calloc(1, sizeof(*w));

	if (!w)
		goto nomem;
	w->module_text = !pattern || !support_is_glob(d->module);
	w->function_text = !pattern || (*d->function && !support_is_glob(d->function));
	w->name_text = !pattern || (*d->name && !support_is_glob(d->name));
	w->module = pattern && w->module_text ? unescaped(d->module) : strdup(d->module);
	w->function = pattern && w->function_text ? unescaped(d->function) : strdup(d->function);
	w->name = pattern && w->name_text ? unescaped(d->name) : strdup(d->name);
	if (!w->module || !w->function || !w->name)
		goto nomem;
	w->next = in->wanted;
	in->wanted = w;
	return w;
nomem:
	free_wanted(w);
	in->host->fail(err, -ENOMEM, "NO_MEMORY", "out of memory");
	return NULL;
}

static void forget(struct weft_instance *in, struct weft_uprobe_wanted *w)
{
	if (in->wanted == w) {
		in->wanted = w->next;
		free_wanted(w);
	}
}

/* ---- one file ---- */

static bool is_there(void *arg, const char *function)
{
	struct creating *c = arg;
	bool there = existing(c, function) != NULL;

	c->n += there;
	return there;
}

/* A pattern means what can be had: a function whose return cannot be probed is not among it. */
static int add_matching(void *arg, struct weft_uprobe_file *f, const char *function)
{
	struct creating *all = arg;
	struct creating c = *all;
	int ret;

	c.err = NULL;
	ret = create(&c, f, function);
	if (ret == -ENOMEM)
		return all->in->host->fail(all->err, ret, "NO_MEMORY", "out of memory");
	all->n += !ret;
	return 0;
}

static int in_file_named(struct creating *c, const struct weft_uprobe_wanted *w,
			 struct weft_uprobe_file *f)
{
	const struct weft_uprobe_matcher m = {
		.pattern = w->function,
		/* Looking up each name is only worth it where there are some. */
		.there = c->in->probes ? is_there : NULL,
		.add = add_matching,
		.arg = c,
	};
	int ret;

	c->exact = w->function_text;
	if (w->function_text) {
		c->n++;
		return create(c, f, w->function);
	}
	ret = weft_uprobe_file_read(c->in, f, c->err);
	return ret ? ret : weft_uprobe_matching(c->in, f, &m);
}

static int in_file(struct creating *c, const struct weft_uprobe_wanted *w,
		   struct weft_uprobe_file *f)
{
	static const char *const names[] = {"entry", "return"};
	int ret = 0, some = -ENOENT;

	if (w->name_text) {
		c->name = w->name;
		ret = parse_name(c->in, w->name, &c->kind, &c->at, c->err);
		return ret ? ret : in_file_named(c, w, f);
	}
	c->at = 0;
	for (unsigned int i = 0; i < 2; i++) {
		if (!c->in->host->field_match(w->name, names[i]))
			continue;
		c->name = names[i];
		c->kind = (enum weft_uprobe_kind)i;
		ret = in_file_named(c, w, f);
		if (!ret)
			some = 0;
		else if (ret == -ENOMEM)
			return ret;
	}
	return some ? ret : 0;
}

/* The module text of probes in a file. */
static const char *module_of(const struct weft_uprobe_wanted *w, const struct weft_uprobe_file *f)
{
	const char *slash = strrchr(f->path, '/');

	if (w->module_text)
		return w->module;
	return *w->module == '/' || !slash ? f->path : slash + 1;
}

static int find(struct weft_instance *in, struct weft_registry *registry,
		const struct weft_uprobe_wanted *w, struct weft_error *err)
{
	struct creating c = {.in = in, .registry = registry, .err = err};
	struct weft_uprobe_files files;
	int ret, some = -ENOENT, first = 0;
	uint64_t at;

	if (w->name_text) { /* said before a file is looked for */
		ret = parse_name(in, w->name, &c.kind, &at, err);
		if (ret)
			return ret;
	}
	ret = weft_uprobe_where(in, w->module, w->module_text, &files, err);
	for (size_t i = 0; !ret && i < files.n; i++) {
		c.module = module_of(w, files.at[i]);
		int one = in_file(&c, w, files.at[i]);
		if (!one)
			some = 0;
		else if (!first)
			first = one;
		if (one == -ENOMEM)
			ret = one;
	}
	free(files.at);
	if (ret == -ENOENT)
		weft_uprobe_watch(in); /* it may come */
	if (ret)
		return ret;
	if (!some && !c.n)
		return in->host->fail(err, -EINVAL, "UPROBE_NO_FUNCTION",
				      "no function of %s that can be probed matches '%s'",
				      w->module, w->function);
	return some ? first : 0;
}

int weft_uprobe_provide(struct weft_instance *in, struct weft_registry *registry,
			const struct weft_probe_desc *desc, struct weft_error *err)
{
	struct weft_uprobe_wanted *w;
	int ret;

	if (!*desc->module)
		return in->host->fail(err, -EINVAL, "UPROBE_MODULE_EMPTY",
				      "a probe of uprobe needs a module: a path, a library's name, or "
				      "a program's");
	if (!*desc->function || !*desc->name)
		return in->host->fail(err, -EINVAL, "UPROBE_NAME",
				      "a probe of uprobe is a function's entry, return or +0xOFFSET");
	w = want(in, desc, false, err);
	if (!w)
		return -ENOMEM;
	ret = find(in, registry, w, err);
	if (ret && ret != -ENOENT)
		forget(in, w);
	return ret;
}

int weft_uprobe_populate_match(struct weft_instance *in, struct weft_registry *registry,
			       const struct weft_probe_desc *pattern, struct weft_error *err)
{
	struct weft_uprobe_wanted *w = want(in, pattern, true, err);
	int ret;

	if (!w)
		return -ENOMEM;
	/* What provide() was asked for, and has given its reasons. */
	if (w->module_text && w->function_text && w->name_text && *w->module) {
		forget(in, w);
		return 0;
	}
	ret = find(in, registry, w, err);
	if (ret && ret != -ENOENT)
		forget(in, w);
	return ret;
}

/* ---- files that appear ---- */

bool weft_uprobe_means(struct weft_instance *in, const struct weft_uprobe_wanted *w,
		       const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *text = strchr(w->module, '/') || !slash ? path : slash + 1;

	return w->module_text ? !strcmp(w->module, text) : in->host->field_match(w->module, text);
}

int weft_uprobe_appeared(struct weft_instance *in, struct weft_registry *registry,
			 const struct weft_uprobe_wanted *w, struct weft_uprobe_file *file,
			 struct weft_error *err)
{
	struct creating c = {.in = in, .registry = registry, .err = err, .adds = true};

	c.module = module_of(w, file);
	return in_file(&c, w, file);
}
