/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The checks. A provider may refuse what it likes, with a reason: that is noted. A finding is what
 * no provider may do, whatever it provides: the tags PLUGIN_... of the session, what cannot be
 * compiled, and what stays behind.
 */
#include <stdio.h>
#include <string.h>

#include "cli/plugin_check/session.h"

#define MOST_DESCRIBED CHECK_MOST_SAMPLED /* probes of a provider that has many */

static void check_loads(struct check *c)
{
	check_note("provider %s, ABI %u.%u", c->provider->name,
		   WEFT_ABI_MAJOR(weft_loader_entry(c->loader, 0)->abi_version),
		   WEFT_ABI_MINOR(weft_loader_entry(c->loader, 0)->abi_version));
}

static void check_opens(struct check *c)
{
	struct weft_set *set, *other;
	struct weft_session *s = check_begin(c, &set), *second;
	struct check_belongings before;
	const char *text;
	bool first_opened;

	/* The first session may leave what it does once in a process. */
	first_opened = s && !weft_session_mechanism(s, c->provider->name, &text, c->err);
	check_take_errors(c, "open");
	check_finish(s, set);
	check_look_around(&before);
	s = check_begin(c, &set);
	if (s)
		weft_session_mechanism(s, c->provider->name, &text, c->err);
	check_take_errors(c, "open");
	second = check_begin(c, &other);
	if (second && first_opened &&
	    weft_session_mechanism(second, c->provider->name, &text, c->err))
		check_found("PLUGIN_STATIC",
			    "provider %s cannot be opened by two sessions at once: %s",
			    c->provider->name, weft_error_text(c->err));
	check_take_errors(c, "open, twice at once");
	check_finish(second, other);
	check_finish(s, set);
	check_expect_same(c, &before, "close()");
}

static void check_populates(struct check *c)
{
	struct check_sample first, again;
	struct check_belongings before;
	struct weft_set *set;
	struct weft_session *s = check_begin(c, &set);

	if (s)
		check_take_sample(c, s, MOST_DESCRIBED, &first);
	check_finish(s, set);
	check_look_around(&before);
	s = check_begin(c, &set);
	if (s)
		check_take_sample(c, s, MOST_DESCRIBED, &again);
	if (s && (first.total != again.total || first.hash != again.hash) && !c->plan->n_probes)
		check_note("%zu probes at first, and others the second time", first.total);
	check_finish(s, set);
	check_expect_same(c, &before, "populate() and close()");
	if (s)
		check_note("%zu probes", again.total);
	if (s && !again.total && !c->plan->n_probes)
		check_note("none of itself: say some with --probe");
}

static void check_refuses(struct check *c)
{
	static char long_text[4000];
	const char *const texts[] = {"weft-no-such", "%s%n%s",
				     "a'b\"c",       "-1",
				     "\\*",          memset(long_text, 'x', sizeof(long_text) - 1)};
	struct weft_set *set;
	struct weft_session *s = check_begin(c, &set);
	size_t known = 0;

	for (size_t i = 0; s && i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (size_t field = 1; field < WEFT_N_FIELDS; field++) {
			const char *fields[WEFT_N_FIELDS] = {c->provider->name, "weft-none",
							     "weft-none", "weft-none"};
			struct check_sample found = {.most = 0};
			struct weft_pattern pattern;

			fields[field] = texts[i];
			if (weft_pattern_from_fields(fields, &pattern, c->err)) {
				weft_error_clear(c->err);
				continue;
			}
			if (!weft_session_find(s, &pattern, check_count_probe, &found, c->err))
				known += found.total;
			for (size_t k = 0; k < weft_error_count(c->err); k++) {
				struct weft_report r;

				if (!weft_error_report(c->err, k, &r) && check_is_defect(r.tag))
					check_found(r.tag, "%s", r.text);
			}
			weft_error_clear(c->err);
			weft_pattern_finish(&pattern);
		}
	}
	if (known)
		check_found("PLUGIN_PROVIDES_ANYTHING",
			    "provider %s provides %zu probes whose names are nonsense",
			    c->provider->name, known);
	check_finish(s, set);
}

static void check_describes(struct check *c)
{
	struct weft_set *set;
	struct weft_session *s = check_begin(c, &set);
	struct check_sample sample;

	if (!s)
		return;
	check_take_sample(c, s, MOST_DESCRIBED, &sample);
	for (size_t i = 0; i < sample.n; i++) {
		const struct weft_probe_info *info, *again;
		const struct weft_layout *layouts;
		char probe[512];
		uint32_t n;
		const char *note;

		weft_probe_format(sample.probes[i], probe, sizeof(probe));
		if (weft_session_describe(s, sample.probes[i], &info, &layouts, &n, c->err) ||
		    weft_session_note(s, sample.probes[i], &note, c->err)) {
			check_take_errors(c, probe);
			continue;
		}
		/* What is described alike is one description. */
		if (weft_session_describe(s, sample.probes[i], &again, &layouts, &n, c->err) ||
		    info != again)
			check_found(
				"PLUGIN_UNSTEADY",
				"provider %s does not describe %s the same when it is asked again",
				c->provider->name, probe);
		check_take_errors(c, probe);
	}
	check_note("%zu of %zu probes", sample.n, sample.total);
	check_finish(s, set);
}

struct one {
	const struct weft_probe *probe;
	const struct weft_probe_info *info;
};

static void put_one(FILE *to, const void *arg)
{
	const struct one *o = arg;

	fputs("  - probe:\n", to);
	check_put_probe(to, o->probe);
	check_put_actions(to, o->info);
}

static void compile_one(struct check *c, const struct one *o)
{
	struct weft_session_env env = {
		.providers = &c->provider, .n_providers = 1, .log = check_take_log, .log_arg = c};
	struct weft_set *set = check_make_set(c, put_one, o);
	struct weft_session *s = NULL;
	char probe[512];

	check_step(c);
	weft_probe_format(o->probe, probe, sizeof(probe));
	if (set && !weft_session_create(&env, &s, c->err))
		weft_session_prepare(s, set, c->err);
	check_take_errors(c, probe);
	check_finish(s, set);
}

static void check_compiles(struct check *c)
{
	struct weft_set *set;
	struct weft_session *s = check_begin(c, &set);
	struct check_sample sample;

	if (!s)
		return;
	check_take_sample(c, s, MOST_DESCRIBED, &sample);
	for (size_t i = 0; i < sample.n; i++) {
		struct one one = {.probe = sample.probes[i]};
		const struct weft_layout *layouts;
		uint32_t n;

		if (!weft_session_describe(s, one.probe, &one.info, &layouts, &n, c->err))
			compile_one(c, &one);
		weft_error_clear(c->err); /* check_describes() has said it */
	}
	check_finish(s, set);
}

const struct check_kind check_kinds[] = {
	{"loads", "the file is a plugin that this weft loads", false, check_loads},
	{"opens", "it opens, twice at once, and closes without a trace", false, check_opens},
	{"populates", "it announces its probes", false, check_populates},
	{"refuses", "it refuses names that make no sense, with a reason", false, check_refuses},
	{"describes", "what it says of probes is valid, and the same when asked again", false,
	 check_describes},
	{"compiles", "a clause that uses every argument can be compiled", false, check_compiles},
	{"attaches", "probes attach, fire as themselves, detach, and nothing stays behind", true,
	 check_attaches},
	{"starves", "attaching fails without a trace where descriptors run out", true, check_starves},
};
const size_t check_n_kinds = sizeof(check_kinds) / sizeof(check_kinds[0]);
