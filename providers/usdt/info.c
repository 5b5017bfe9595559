/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a program needs to know of a probe: its layouts. Sites whose arguments are read in the same
 * way have one layout, whatever their notes look like; those that name a symbol differ even if
 * their texts do not, since the symbol is as far from each site as it is.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "usdt/usdt.h"

#define NO_LAYOUT UINT32_MAX

/* ---- layouts ---- */

/* A site's arguments as they are compared. */
struct reading {
	struct weft_usdt_operand args[WEFT_USDT_MOST_ARGS];
	uint32_t n_args;
	uint64_t hash;
	const char *text;
};

static void mix(uint64_t *h, uint64_t v)
{
	*h = (*h ^ v) * 0xff51afd7ed558ccdu;
	*h ^= *h >> 32;
}

static void read_site(const struct weft_usdt_record *r, const struct weft_usdt_note *note,
		      struct reading *out)
{
	const struct weft_usdt_site site = {.address = note->address,
					    .find = weft_usdt_record_find,
					    .arg = (void *)(uintptr_t)r};
	const struct weft_usdt_arch *arch = weft_usdt_arch_of(r->machine);

	out->text = weft_usdt_text(r, note->args);
	out->n_args = 0;
	if (arch)
		weft_usdt_operands(arch, out->text, strlen(out->text), &site, out->args,
				   &out->n_args);
	if (out->n_args > WEFT_USDT_MOST_ARGS)
		out->n_args = WEFT_USDT_MOST_ARGS;
	out->hash = out->n_args;
	for (uint32_t i = 0; i < out->n_args; i++) {
		const struct weft_usdt_operand *a = &out->args[i];

		mix(&out->hash, (uint64_t)a->size << 32 | (uint64_t)a->is_signed << 40 | a->n_ops);
		for (uint32_t k = 0; k < a->n_ops; k++) {
			mix(&out->hash, (uint64_t)a->ops[k].op << 48 |
						(uint64_t)a->ops[k].size << 40 | a->ops[k].aux);
			mix(&out->hash, (uint64_t)a->ops[k].imm);
		}
	}
}

static bool same_operand(const struct weft_usdt_operand *a, const struct weft_usdt_operand *b)
{
	return a->size == b->size && a->is_signed == b->is_signed && a->n_ops == b->n_ops &&
	       (a->n_ops ? !memcmp(a->ops, b->ops, a->n_ops * sizeof(a->ops[0])) : a->why == b->why);
}

static bool same(const struct weft_usdt_place *p, const struct reading *r)
{
	if (p->hash != r->hash || p->n_args != r->n_args)
		return false;
	for (uint32_t i = 0; i < p->n_args; i++)
		if (!same_operand(&p->args[i], &r->args[i]))
			return false;
	return true;
}

/* Layouts by their hash, while sites are sorted into them. */
struct table {
	uint32_t *at; /* layout + 1 */
	size_t size;
};

static uint32_t *slot(const struct table *t, const struct weft_usdt_probe *p,
		      const struct reading *r)
{
	size_t i = r->hash & (t->size - 1);

	while (t->at[i] && !same(&p->layouts[t->at[i] - 1], r))
		i = (i + 1) & (t->size - 1);
	return &t->at[i];
}

static int make_table(struct table *t, const struct weft_usdt_probe *p)
{
	t->size = 16;
	while (t->size < 2 * ((size_t)p->n_layouts + p->n_sites))
		t->size *= 2;
	t->at = calloc(t->size, sizeof(*t->at));
	if (!t->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->n_layouts; i++) {
		size_t k = p->layouts[i].hash & (t->size - 1);

		while (t->at[k])
			k = (k + 1) & (t->size - 1);
		t->at[k] = i + 1;
	}
	return 0;
}

static int add_layout(struct weft_usdt_probe *p, const struct reading *r)
{
	struct weft_usdt_place *grown, *place;

	/* Doubling: at powers of two. */
	if (!(p->n_layouts & (p->n_layouts - 1))) {
		size_t cap = p->n_layouts ? 2 * (size_t)p->n_layouts : 1;

		grown = reallocarray(p->layouts, cap, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		p->layouts = grown;
	}
	place = &p->layouts[p->n_layouts];
	*place = (struct weft_usdt_place){.n_args = r->n_args, .hash = r->hash, .text = r->text};
	place->args = calloc(r->n_args ? r->n_args : 1, sizeof(*place->args));
	if (!place->args)
		return -ENOMEM;
	memcpy(place->args, r->args, r->n_args * sizeof(*place->args));
	p->n_layouts++;
	return 0;
}

static int place_site(struct weft_usdt_probe *p, const struct table *t, const struct reading *r,
		      uint32_t *out)
{
	uint32_t *at = slot(t, p, r);

	*out = NO_LAYOUT;
	if (!*at) {
		if (p->n_layouts >= WEFT_MAX_LAYOUTS)
			return 0;
		if (add_layout(p, r))
			return -ENOMEM;
		*at = p->n_layouts;
	}
	*out = *at - 1;
	p->layouts[*out].n_sites++;
	return 0;
}

int weft_usdt_place_sites(struct weft_usdt_probe *p)
{
	struct table t = {0};
	struct reading r;
	uint32_t site = 0;
	int ret = 0;

	if (p->n_placed == p->n_sites)
		return 0;
	uint32_t *grown = reallocarray(p->layout_of, p->n_sites, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	p->layout_of = grown;
	if (make_table(&t, p))
		return -ENOMEM;
	for (uint32_t i = 0; i < p->n_runs && !ret; i++) {
		const struct weft_usdt_run *run = &p->runs[i];

		for (uint32_t k = 0; k < run->count && !ret; k++, site++) {
			if (site < p->n_placed)
				continue;
			read_site(run->file->record,
				  &weft_usdt_notes(run->file->record)[run->first + k], &r);
			ret = place_site(p, &t, &r, &p->layout_of[site]);
			p->n_placed += !ret;
		}
	}
	free(t.at);
	return ret;
}

/* ---- probe_info ---- */

static void describe_arg(const struct weft_usdt_operand *a, struct weft_arg *out)
{
	*out = (struct weft_arg){
		.struct_size = sizeof(*out),
		.type = {.struct_size = sizeof(out->type),
			 .kind = WEFT_TYPE_INT,
			 .size = a->size ? a->size : 8,
			 .flags = a->is_signed ? WEFT_TYPE_SIGNED : 0,
			 .space = WEFT_SPACE_USER},
		.where = {.ops = a->n_ops ? a->ops : NULL, .n_ops = a->n_ops},
		.unreadable = a->n_ops ? NULL : a->why,
	};
}

static const char *shown(const char *text)
{
	size_t n = strnlen(text, 512);

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return "(not printable)";
	return n < 512 ? text : "(too long to be shown)";
}

static int describe_layouts(struct weft_instance *in, const struct weft_usdt_probe *p,
			    struct weft_probe_info *out)
{
	size_t n_args = 1, at = 0;

	for (uint32_t i = 0; i < p->n_layouts; i++)
		n_args += p->layouts[i].n_args;
	free(in->layouts);
	free(in->args);
	in->layouts = calloc(p->n_layouts, sizeof(*in->layouts));
	in->args = calloc(n_args, sizeof(*in->args));
	if (!in->layouts || !in->args)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->n_layouts; i++) {
		const struct weft_usdt_place *place = &p->layouts[i];

		in->layouts[i] = (struct weft_layout){
			.struct_size = sizeof(in->layouts[i]),
			.n_args = place->n_args,
			.args = &in->args[at],
			.text = shown(place->text),
			.n_sites = place->n_sites,
		};
		for (uint32_t k = 0; k < place->n_args; k++)
			describe_arg(&place->args[k], &in->args[at++]);
	}
	out->args = in->layouts[0].args;
	out->n_args = in->layouts[0].n_args;
	out->arg_size = sizeof(struct weft_arg);
	out->layouts = in->layouts;
	out->n_layouts = p->n_layouts;
	out->layout_size = sizeof(struct weft_layout);
	return 0;
}

int weft_usdt_probe_info(struct weft_instance *in, const struct weft_probe *probe,
			 const struct weft_params *with, struct weft_probe_info *out,
			 struct weft_error *err)
{
	struct weft_usdt_probe *p = (struct weft_usdt_probe *)(uintptr_t)in->host->probe_data(probe);

	(void)with;
	weft_usdt_settle(in);
	if (weft_usdt_place_sites(p) || describe_layouts(in, p, out))
		return weft_usdt_nomem(in, err);
	support_uprobes_class(&in->uprobes, &out->load);
	out->scope = support_uprobes_filtered(&in->uprobes) ? WEFT_SCOPE_COARSE : WEFT_SCOPE_NONE;
	out->identity = (struct weft_identity){.struct_size = sizeof(out->identity),
					       .kind = WEFT_IDENTITY_COOKIE};
	return 0;
}

const char *weft_usdt_probe_note(struct weft_instance *in, const struct weft_probe *probe,
				 const struct weft_params *with)
{
	const struct weft_usdt_probe *p =
		(const struct weft_usdt_probe *)(uintptr_t)in->host->probe_data(probe);
	uint32_t guarded = 0;
	size_t n;

	(void)with;
	for (uint32_t i = 0; i < p->n_runs; i++)
		for (uint32_t k = 0; k < p->runs[i].count; k++)
			guarded += weft_usdt_notes(p->runs[i].file->record)[p->runs[i].first + k]
					   .semaphore != 0;
	n = (size_t)snprintf(in->text, sizeof(in->text), "%u site%s", p->n_sites,
			     p->n_sites == 1 ? "" : "s");
	if (guarded)
		n += (size_t)snprintf(in->text + n, sizeof(in->text) - n,
				      ", %u of them skipped unless traced (semaphore)", guarded);
	snprintf(in->text + n, sizeof(in->text) - n, ", in %s%s", p->runs[0].file->path,
		 p->n_runs > 1 ? " and others" : "");
	for (char *c = in->text; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	return in->text;
}

void weft_usdt_info_finish(struct weft_instance *in)
{
	free(in->layouts);
	free(in->args);
}
