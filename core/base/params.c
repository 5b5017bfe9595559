/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Option values of a provider: one slot for each row of its table. */
#include "core/params.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/option.h"

struct slot {
	bool set;
	bool given; /* by a setting, not by the default */
	struct weft_pos pos;
	int64_t value;
	char *text; /* STRING, ENUM; owned */
};

struct weft_params {
	const char *provider;
	const struct weft_option_spec *const *specs;
	const struct weft_params *outer; /* see weft_params_inherit() */
	uint32_t where;
	size_t n;
	struct slot slots[];
};

static size_t count_specs(const struct weft_option_spec *const *specs)
{
	size_t n = 0;

	while (specs && specs[n])
		n++;
	return n;
}

static int find_spec(const struct weft_option_spec *const *specs, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(specs[i]->name, name) == 0)
			return (int)i;
	}
	return -1;
}

static int slot_put(struct slot *slot, const struct weft_option_spec *spec, const char *text,
		    const char *tag, const char *subject, struct weft_error *err)
{
	int64_t value = 0;
	char *copy = NULL;
	int rc;

	rc = weft_option_value(spec, text, &value, tag, subject, err);
	if (rc)
		return rc;
	if (weft_option_is_text(spec->type)) {
		copy = strdup(text);
		if (!copy)
			return weft_nomem(err);
	}
	free(slot->text);
	slot->text = copy;
	slot->value = value;
	slot->set = true;
	return 0;
}

static int put_defaults(struct weft_params *p, struct weft_error *err)
{
	for (size_t i = 0; i < p->n; i++) {
		struct weft_option_spec spec;
		char subject[128];
		int rc;

		weft_option_read(p->specs[i], &spec);
		if (!(spec.where & p->where) || !spec.default_text)
			continue;
		snprintf(subject, sizeof(subject), "the default of option '%s' of provider '%s'",
			 spec.name, p->provider);
		rc = slot_put(&p->slots[i], &spec, spec.default_text, "PLUGIN_OPTION_DEFAULT",
			      subject, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int fail_unknown(const struct weft_params *p, const struct weft_text *name,
			struct weft_error *err)
{
	struct weft_near near;

	weft_fail_at(err, name->pos, -ENOENT, "OPTION_UNKNOWN", "provider '%s' has no option '%s'",
		     p->provider, name->s);
	weft_near_init(&near, name->s);
	for (size_t i = 0; i < p->n; i++) {
		struct weft_option_spec spec;

		weft_option_read(p->specs[i], &spec);
		if (spec.where & p->where)
			weft_near_offer(&near, spec.name);
	}
	weft_error_suggest(err, near.best);
	return -ENOENT;
}

static int fail_place(const struct weft_params *p, const struct weft_text *name,
		      struct weft_error *err)
{
	if (p->where == WEFT_OPTION_PER_PROBE)
		return weft_fail_at(err, name->pos, -EINVAL, "OPTION_PLACE",
				    "option '%s' of provider '%s' is one of the whole probe set, not "
				    "of a probe: it stands under providers",
				    name->s, p->provider);
	return weft_fail_at(err, name->pos, -EINVAL, "OPTION_PLACE",
			    "option '%s' of provider '%s' is one of a probe, not of the whole probe "
			    "set: it stands in a probe's with",
			    name->s, p->provider);
}

static int put_setting(struct weft_params *p, const struct weft_setting *s, struct weft_error *err)
{
	struct weft_option_spec spec;
	struct slot *slot;
	char subject[128];
	int i, rc;

	i = find_spec(p->specs, p->n, s->name.s);
	if (i < 0)
		return fail_unknown(p, &s->name, err);
	weft_option_read(p->specs[i], &spec);
	if (!(spec.where & p->where))
		return fail_place(p, &s->name, err);
	slot = &p->slots[i];
	if (slot->given) {
		weft_fail_at(err, s->name.pos, -EINVAL, "OPTION_TWICE",
			     "option '%s' of provider '%s' is given twice", spec.name, p->provider);
		if (slot->pos.line)
			weft_error_context(err, "first given on line %u", slot->pos.line);
		return -EINVAL;
	}
	slot->given = true;
	slot->pos = s->name.pos;
	snprintf(subject, sizeof(subject), "option '%s' of provider '%s'", spec.name, p->provider);
	rc = slot_put(slot, &spec, s->value.s ? s->value.s : "", "OPTION_VALUE", subject, err);
	if (rc)
		weft_error_set_pos(err, s->value.pos.line ? s->value.pos : s->name.pos);
	return rc;
}

int weft_params_create(const char *provider, const struct weft_option_spec *const *specs,
		       uint32_t where, const struct weft_setting *settings, size_t n_settings,
		       struct weft_params **out, struct weft_error *err)
{
	size_t n = count_specs(specs);
	struct weft_params *p;
	int rc;

	*out = NULL;
	p = calloc(1, sizeof(*p) + n * sizeof(p->slots[0]));
	if (!p)
		return weft_nomem(err);
	p->provider = provider;
	p->specs = specs;
	p->where = where;
	p->n = n;
	rc = put_defaults(p, err);
	for (size_t i = 0; i < n_settings; i++) {
		int failed = put_setting(p, &settings[i], err);

		if (rc == 0)
			rc = failed;
	}
	if (rc) {
		weft_params_destroy(p);
		return rc;
	}
	*out = p;
	return 0;
}

void weft_params_destroy(struct weft_params *params)
{
	if (!params)
		return;
	for (size_t i = 0; i < params->n; i++)
		free(params->slots[i].text);
	free(params);
}

void weft_params_inherit(struct weft_params *params, const struct weft_params *set)
{
	if (params && set && set->specs == params->specs)
		params->outer = set;
}

static const struct slot *slot_of(const struct weft_params *p, const char *name)
{
	const struct slot *slot;
	int i;

	if (!p || !name)
		return NULL;
	i = find_spec(p->specs, p->n, name);
	if (i < 0)
		return NULL;
	slot = &p->slots[i];
	if (!slot->given && p->outer && p->outer->slots[i].set && (p->specs[i]->where & p->where))
		slot = &p->outer->slots[i];
	return slot->set ? slot : NULL;
}

int weft_params_is_set(const struct weft_params *params, const char *name)
{
	return slot_of(params, name) != NULL;
}

int64_t weft_params_int(const struct weft_params *params, const char *name)
{
	const struct slot *slot = slot_of(params, name);

	return slot ? slot->value : 0;
}

const char *weft_params_string(const struct weft_params *params, const char *name)
{
	const struct slot *slot = slot_of(params, name);

	return slot ? slot->text : NULL;
}
