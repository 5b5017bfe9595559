/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Probes: from files and patterns to the registry. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "support/module.h"
#include "support/nearest.h"
#include "usdt/usdt.h"

static struct weft_usdt_probe *make_probe(struct weft_instance *in)
{
	struct weft_usdt_probe *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->next = in->probes;
	in->probes = p;
	return p;
}

void weft_usdt_probes_finish(struct weft_instance *in)
{
	while (in->probes) {
		struct weft_usdt_probe *p = in->probes;

		in->probes = p->next;
		for (uint32_t i = 0; i < p->n_layouts; i++)
			free(p->layouts[i].args);
		free(p->runs);
		free(p->layout_of);
		free(p->layouts);
		free(p);
	}
	while (in->wanted) {
		struct weft_usdt_wanted *w = in->wanted;

		in->wanted = w->next;
		free(w->module);
		free(w->function);
		free(w->name);
		free(w);
	}
}

/* ---- runs of notes ---- */

static int add_run(struct weft_usdt_probe *p, struct weft_usdt_file *f, uint32_t first,
		   uint32_t count)
{
	for (uint32_t i = 0; i < p->n_runs; i++)
		if (p->runs[i].file == f && p->runs[i].first == first)
			return -EEXIST;
	struct weft_usdt_run *grown = reallocarray(p->runs, p->n_runs + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	p->runs = grown;
	p->runs[p->n_runs++] = (struct weft_usdt_run){.file = f, .first = first, .count = count};
	p->n_sites += count;
	return 0;
}

static int register_run(struct weft_instance *in, struct weft_registry *registry,
			struct weft_usdt_file *f, const char *module, uint32_t first,
			uint32_t count, bool *extended, struct weft_error *err)
{
	const struct weft_usdt_note *note = &weft_usdt_notes(f->record)[first];
	const struct weft_probe_desc d = {
		.struct_size = sizeof(d),
		.provider = "usdt",
		.module = module,
		.function = weft_usdt_text(f->record, note->provider),
		.name = weft_usdt_text(f->record, note->name),
	};
	const struct weft_probe *there = in->host->probe_find(registry, &d);
	struct weft_usdt_probe *p;
	int ret;

	if (there) {
		p = (struct weft_usdt_probe *)(uintptr_t)in->host->probe_data(there);
		ret = add_run(p, f, first, count);
		*extended |= !ret;
		return ret == -ENOMEM ? weft_usdt_nomem(in, err) : 0;
	}
	p = make_probe(in);
	if (!p || add_run(p, f, first, count))
		return weft_usdt_nomem(in, err);
	return in->host->probe_add(registry, &d, (uint64_t)(uintptr_t)p, &p->registered, err);
}

static bool same_name(const struct weft_usdt_record *r, uint32_t a, uint32_t b)
{
	const struct weft_usdt_note *x = &weft_usdt_notes(r)[a], *y = &weft_usdt_notes(r)[b];

	return !strcmp(weft_usdt_text(r, x->name), weft_usdt_text(r, y->name)) &&
	       !strcmp(weft_usdt_text(r, x->provider), weft_usdt_text(r, y->provider));
}

static bool is_wanted(struct weft_instance *in, const struct weft_usdt_wanted *w,
		      const char *provider, const char *name)
{
	if (w->exact)
		return !strcmp(w->function, provider) && !strcmp(w->name, name);
	return in->host->field_match(w->function, provider) && in->host->field_match(w->name, name);
}

int weft_usdt_announce(struct weft_instance *in, struct weft_registry *registry,
		       const struct weft_usdt_wanted *w, struct weft_usdt_file *f,
		       const char *module, size_t *n, bool *extended, struct weft_error *err)
{
	const struct weft_usdt_record *r = f->record;
	uint32_t first, next;
	int ret;

	for (first = 0; r && first < r->n_notes; first = next) {
		const struct weft_usdt_note *note = &weft_usdt_notes(r)[first];

		for (next = first + 1; next < r->n_notes && same_name(r, first, next);)
			next++;
		if (!is_wanted(in, w, weft_usdt_text(r, note->provider),
			       weft_usdt_text(r, note->name)))
			continue;
		ret = register_run(in, registry, f, module, first, next - first, extended, err);
		if (ret)
			return ret;
		++*n;
	}
	return 0;
}

/* ---- what is wanted ---- */

static struct weft_usdt_wanted *remember(struct weft_instance *in, const struct weft_probe_desc *d,
					 bool exact)
{
	struct weft_usdt_wanted *w;

	for (w = in->wanted; w; w = w->next)
		if (w->exact == exact && !strcmp(w->module, d->module) &&
		    !strcmp(w->function, d->function) && !strcmp(w->name, d->name))
			return w;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->exact = exact;
	w->literal = exact || !support_is_glob(d->module);
	w->module = strdup(d->module);
	w->function = strdup(d->function);
	w->name = strdup(d->name);
	if (!w->module || !w->function || !w->name) {
		free(w->module);
		free(w->function);
		free(w->name);
		free(w);
		return NULL;
	}
	w->next = in->wanted;
	in->wanted = w;
	return w;
}

struct announcing {
	struct weft_instance *in;
	struct weft_registry *registry;
	const struct weft_usdt_wanted *wanted;
	struct weft_error *err;
	size_t n; /* probes */
	struct weft_usdt_file *last;
	size_t notes; /* of all files together */
};

static int announce(struct weft_usdt_file *f, const char *module, void *arg)
{
	struct announcing *a = arg;
	bool extended = false;

	a->notes += f->record->n_notes;
	if (f->record->n_notes || !a->last)
		a->last = f;
	if (f->record->dropped)
		a->in->host->log(a->in->host, WEFT_LOG_INFO,
				 "%s has %u notes of static probes that make no sense", f->path,
				 f->record->dropped);
	return weft_usdt_announce(a->in, a->registry, a->wanted, f, module, &a->n, &extended,
				  a->err);
}

/* Why there is none in the files that there are: which field is at fault, and the nearest. It is no
 * use to wait where the user named a file that will not change, or a probe that one with probes
 * does not have. */
static int explain(struct announcing *a, const struct weft_usdt_search *s, struct weft_error *err)
{
	const struct weft_usdt_record *r = a->last->record;
	const struct weft_usdt_wanted *w = a->wanted;
	const char **names, *nearest;
	bool provider = false;
	uint32_t i, n = 0;
	int code = w->literal && (*w->module == '/' || (w->exact && a->notes)) ? -EINVAL : -ENOENT;

	if (!a->notes && s->n > 1)
		return a->in->host->fail(err, code, "USDT_NO_PROBES",
					 "none of the %zu files that '%s' means has static probes",
					 s->n, s->module);
	if (!a->notes)
		return a->in->host->fail(err, code, "USDT_NO_PROBES", "%s has no static probes%s",
					 a->last->path,
					 weft_usdt_arch_of(r->machine) || !r->machine
						 ? ""
						 : " that can be read: it is for another machine");
	names = calloc(r->n_notes + 1, sizeof(*names));
	if (!names)
		return weft_usdt_nomem(a->in, err);
	for (i = 0; i < r->n_notes; i++)
		provider |= !strcmp(weft_usdt_text(r, weft_usdt_notes(r)[i].provider), w->function);
	for (i = 0; i < r->n_notes; i++) {
		const struct weft_usdt_note *note = &weft_usdt_notes(r)[i];

		if (i && same_name(r, i - 1, i))
			continue;
		if (!provider || !strcmp(weft_usdt_text(r, note->provider), w->function))
			names[n++] = weft_usdt_text(r, provider ? note->name : note->provider);
	}
	nearest = support_nearest(provider ? w->name : w->function, names, n);
	a->in->host->fail(
		err, code, "USDT_NO_PROBE", "%s%s has no static probe %s:%s%s%s%s", a->last->path,
		s->n > 1 ? ", as other files of that name," : "", w->function, w->name,
		nearest ? (provider ? ": did you mean the probe '" : ": did you mean the provider '")
			: "",
		nearest ? nearest : "", nearest ? "'?" : "");
	free(names);
	return code;
}

static int find(struct weft_instance *in, struct weft_registry *registry,
		const struct weft_probe_desc *d, bool exact, struct weft_error *err)
{
	struct weft_usdt_wanted *wanted = remember(in, d, exact);
	struct announcing a = {.in = in, .registry = registry, .wanted = wanted, .err = err};
	struct weft_usdt_search s = {
		.module = *d->module ? d->module : "*",
		.exact = wanted && wanted->literal && *d->module,
		.quick = exact,
		.found = announce,
		.arg = &a,
	};
	int ret;

	if (!wanted)
		return weft_usdt_nomem(in, err);
	ret = weft_usdt_where(in, &s, err);
	if (!ret && a.n)
		return 0;
	/* There will be no attach() to begin with that. */
	if (!exact)
		weft_usdt_watch(in);
	return ret ? ret : explain(&a, &s, err);
}

int weft_usdt_provide(struct weft_instance *in, struct weft_registry *registry,
		      const struct weft_probe_desc *desc, struct weft_error *err)
{
	if (!*desc->module || !*desc->function || !*desc->name)
		return in->host->fail(err, -EINVAL, "USDT_NO_PROBE",
				      "'%s:%s:%s' names no static probe: it takes a file, a "
				      "provider and a name",
				      desc->module, desc->function, desc->name);
	return find(in, registry, desc, true, err);
}

int weft_usdt_populate_match(struct weft_instance *in, struct weft_registry *registry,
			     const struct weft_probe_desc *pattern, struct weft_error *err)
{
	return find(in, registry, pattern, false, err);
}
