/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The providers of a session: opened when a pattern first needs them, populated when a glob does,
 * asked to provide what is named exactly.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/session/internal.h"

#define HAS_SLOT(p, slot) \
	((p)->struct_size >= offsetof(struct weft_provider, slot) + sizeof((p)->slot) && (p)->slot)

int weft_opened_init(struct weft_session *s, struct weft_opened *o, const struct weft_provider *p)
{
	o->session = s;
	o->provider = p;
	o->discover_fd = -1;
	o->registry = weft_registry_of(s->registry, p->name);
	weft_host_init(o);
	return o->registry ? 0 : -ENOMEM;
}

/* Whether the newest reason bears the provider's name in its tag, as the ABI has it: then there is
 * no need to say whose it is. */
static bool says_whose(const struct weft_opened *o, const struct weft_error *err)
{
	const char *name = o->provider->name;
	struct weft_report r;
	size_t i;

	if (!weft_error_count(err) || weft_error_report(err, weft_error_count(err) - 1, &r))
		return false;
	for (i = 0; name[i]; i++)
		if (r.tag[i] != (name[i] == '-' ? '_' : toupper((unsigned char)name[i])))
			return false;
	return r.tag[i] == '_';
}

int weft_opened_failed(struct weft_opened *o, int code, size_t reports_before, const char *doing,
		       struct weft_error *err)
{
	if (weft_error_count(err) == reports_before)
		weft_fail(err, code, "PLUGIN_SILENT", "provider %s failed without a reason (%s)",
			  o->provider->name, strerror(code < 0 ? -code : EIO));
	if (!says_whose(o, err))
		weft_error_context(err, "provider %s, %s", o->provider->name, doing);
	return code < 0 ? code : -EIO;
}

/* The set's options for this provider, or none. */
static const struct weft_provider_settings *settings_for(const struct weft_session *s,
							 const char *provider)
{
	size_t i;

	for (i = 0; s->set && i < s->set->n_providers; i++)
		if (!strcmp(s->set->providers[i].provider.s, provider))
			return &s->set->providers[i];
	return NULL;
}

int weft_opened_open(struct weft_opened *o, struct weft_error *err)
{
	const struct weft_provider_settings *settings;
	int ret;

	if (o->instance)
		return 0;
	settings = settings_for(o->session, o->provider->name);
	ret = weft_params_create(o->provider->name, o->provider->options, WEFT_OPTION_PER_SET,
				 settings ? settings->settings : NULL,
				 settings ? settings->n_settings : 0, &o->params, err);
	if (ret)
		return ret;
	ret = weft_slot_open(o, err);
	if (ret) {
		o->instance = NULL;
		weft_params_destroy(o->params);
		o->params = NULL;
		return ret;
	}
	if (HAS_SLOT(o->provider, discover_fd) && HAS_SLOT(o->provider, discover))
		ret = weft_slot_discover_fd(o, err);
	if (ret)
		weft_opened_finish(o);
	return ret;
}

void weft_opened_enter(struct weft_opened *o)
{
	weft_arena_destroy(o->told);
	o->told = NULL;
}

void weft_opened_finish(struct weft_opened *o)
{
	if (o->instance)
		weft_slot_close(o);
	o->instance = NULL;
	weft_params_destroy(o->params);
	o->params = NULL;
	weft_arena_destroy(o->told);
	o->told = NULL;
}

struct weft_opened *weft_session_provider_of(struct weft_session *s, const struct weft_probe *probe)
{
	struct weft_probe_desc d = {.struct_size = sizeof(d)};
	size_t i;

	weft_probe_desc(probe, &d);
	for (i = 0; i < s->n_providers; i++)
		if (!strcmp(s->providers[i].provider->name, d.provider))
			return &s->providers[i];
	return NULL;
}

/* A provider that registers by pattern: its reason for not doing so is no failure, but why nothing
 * matches. */
static int populate_match(struct weft_opened *o, const struct weft_pattern *pattern,
			  struct weft_error *why)
{
	const struct weft_probe_desc d = {
		.struct_size = sizeof(d),
		.provider = o->provider->name,
		.module = pattern->field[WEFT_FIELD_MODULE],
		.function = pattern->field[WEFT_FIELD_FUNCTION],
		.name = pattern->field[WEFT_FIELD_NAME],
	};
	int ret = weft_slot_populate_match(o, &d, why);

	return ret == -ENOMEM ? ret : 0;
}

static int populate(struct weft_opened *o, const struct weft_pattern *pattern,
		    struct weft_error *why, struct weft_error *err)
{
	int ret;

	if (HAS_SLOT(o->provider, populate_match))
		return populate_match(o, pattern, why);
	if (o->populated || !HAS_SLOT(o->provider, populate))
		return 0;
	ret = weft_slot_populate(o, err);
	o->populated = !ret;
	return ret;
}

static int stop_at_first(const struct weft_probe *probe, void *arg)
{
	(void)probe;
	(void)arg;
	return 1;
}

static bool matches_any(struct weft_session *s, const struct weft_pattern *pattern)
{
	return weft_registry_match(s->registry, pattern, 0, stop_at_first, NULL) == 1;
}

/*
 * Asks one provider for what a pattern needs. A probe that is named exactly is provided, and only
 * if the provider cannot is everything populated: naming one function of forty thousand must not
 * list them all. The provider's reason for not providing is kept in `why` in case that nothing
 * matches after all.
 */
static int ask(struct weft_opened *o, const struct weft_pattern *pattern, struct weft_error *why,
	       struct weft_error *err)
{
	struct weft_session *s = o->session;
	/* What other providers have is no answer. */
	struct weft_pattern own = *pattern;
	int ret;

	own.field[WEFT_FIELD_PROVIDER] = (char *)o->provider->name;
	own.glob[WEFT_FIELD_PROVIDER] = false;

	ret = weft_opened_open(o, err);
	if (ret)
		return ret;
	if (weft_pattern_is_literal(pattern)) {
		struct weft_probe_desc d = {.struct_size = sizeof(d)};
		char *storage = NULL;

		if (matches_any(s, &own))
			return 0;
		ret = weft_pattern_literal(pattern, &d, &storage);
		if (ret)
			return weft_nomem(err);
		d.provider = o->provider->name;
		if (HAS_SLOT(o->provider, provide))
			weft_slot_provide(o, &d, why);
		free(storage);
		if (matches_any(s, &own))
			return 0;
	}
	return populate(o, pattern, why, err);
}

static bool provider_matches(const struct weft_opened *o, const struct weft_pattern *pattern)
{
	const char *field = pattern->field[WEFT_FIELD_PROVIDER];

	return !*field || weft_glob_match(field, o->provider->name);
}

int weft_session_ask(struct weft_session *s, const struct weft_pattern *pattern, bool *may_come,
		     struct weft_error *err)
{
	bool many = pattern->glob[WEFT_FIELD_PROVIDER] || !*pattern->field[WEFT_FIELD_PROVIDER];
	struct weft_error *why, *apart;
	const char *names[64];
	size_t i, asked = 0, n_names = 0, k;
	int ret = 0;

	*may_come = false;
	why = weft_error_create();
	apart = weft_error_create();
	if (!why || !apart) {
		ret = weft_nomem(err);
		goto out;
	}
	for (i = 0; i < s->n_providers && !ret; i++) {
		struct weft_opened *o = &s->providers[i];

		if (n_names < sizeof(names) / sizeof(names[0]))
			names[n_names++] = o->provider->name;
		if (!provider_matches(o, pattern))
			continue;
		asked++;
		/* A pattern for all providers takes what it can get: one that fails is said, not fatal. */
		ret = ask(o, pattern, why, many ? apart : err);
		if (ret && many) {
			weft_session_log(s, WEFT_LOG_WARNING, "provider %s: %s", o->provider->name,
					 weft_error_text(apart));
			weft_error_clear(apart);
			ret = 0;
		}
		if (o->discover_fd >= 0)
			*may_come = true;
	}
	if (ret || matches_any(s, pattern))
		goto out;
	if (asked == 1 && weft_error_count(why)) {
		struct weft_report r;

		weft_error_report(why, 0, &r);
		ret = weft_fail(err, r.code, r.tag, "%s", r.text);
		if (r.suggestion)
			weft_error_suggest(err, r.suggestion);
		for (k = 0; k < r.n_contexts; k++)
			weft_error_context(err, "%s", weft_error_context_text(why, 0, k));
	} else {
		ret = weft_registry_explain(s->registry, pattern, names, n_names, err);
	}
out:
	weft_error_destroy(why);
	weft_error_destroy(apart);
	return ret;
}

int weft_session_find(struct weft_session *s, const struct weft_pattern *pattern,
		      int (*fn)(const struct weft_probe *probe, void *arg), void *arg,
		      struct weft_error *err)
{
	bool may_come;
	int ret;

	ret = weft_session_ask(s, pattern, &may_come, err);
	if (ret)
		return ret;
	return weft_registry_match(s->registry, pattern, 0, fn, arg);
}

bool weft_session_uses(const struct weft_session *s, size_t i)
{
	return i < s->n_providers && s->providers[i].instance;
}

int weft_session_mechanism(struct weft_session *s, const char *provider, const char **out,
			   struct weft_error *err)
{
	size_t i;
	int ret;

	for (i = 0; i < s->n_providers; i++) {
		struct weft_opened *o = &s->providers[i];

		if (strcmp(o->provider->name, provider))
			continue;
		ret = weft_opened_open(o, err);
		if (ret)
			return ret;
		*out = NULL;
		return HAS_SLOT(o->provider, describe) ? weft_slot_describe(o, out, err) : 0;
	}
	return weft_fail(err, -ENOENT, "PROBE_NO_PROVIDER", "no provider named %s", provider);
}
