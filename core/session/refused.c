/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Probes that are refused one by one: the provider says that this one cannot be traced, the kernel
 * does not take a program for its place, or attaching it fails with a status of its own. Who asked
 * for many gets the others, and is told how many are missing; who asked for one gets the error.
 *
 * What ends a session instead: an error without statuses (no privilege, no descriptors left), and a
 * refusal of all that a clause had. "All" is found out as it comes: a gang may be refused as long
 * as another of the same clauses is not. So the last one's error is the session's.
 *
 * A gang without clauses holds entries that are there for the frames of their returns. Its returns
 * are nothing without it: they count in its place, and go with it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/session/internal.h"

#define TIMED 4u

static const char *text_of(struct weft_error *err, size_t i, int code)
{
	struct weft_report r;

	return weft_error_report(err, i, &r) ? strerror(-code) : r.text;
}

/* Whether a gang of the list is there that is not refused, beside this one. */
static bool has_other(const struct weft_session *s, const struct weft_gang *g, uint32_t list)
{
	for (size_t i = 0; i < s->n_gangs; i++) {
		const struct weft_gang *other = s->gangs[i];
		uint32_t entry;

		if (other == g || other->refused || other->dropped || other->list != list)
			continue;
		entry = s->enablings[other->members[0]].entry;
		if (!entry || !s->enablings[entry - 1].refused)
			return true;
	}
	return false;
}

/* The gang of the return that an entry is there for; NULL: none. */
static struct weft_gang *returns_of(const struct weft_session *s, const struct weft_gang *g)
{
	for (size_t i = 0; i < s->n_gangs; i++)
		if (s->enablings[s->gangs[i]->members[0]].entry == g->members[0] + 1)
			return s->gangs[i];
	return NULL;
}

static void mark(struct weft_session *s, struct weft_gang *g, const char *why)
{
	g->refused = true;
	for (size_t i = g->n_attached; i < g->n_members; i++) {
		struct weft_enabling *e = &s->enablings[g->members[i]];
		char probe[512];

		e->refused = true;
		weft_probe_format(e->probe, probe, sizeof(probe));
		weft_session_log(s, WEFT_LOG_INFO, "%s: not attached: %s", probe, why);
	}
	g->provider->n_asked += g->n_members - g->n_attached;
	g->provider->n_refused += g->n_members - g->n_attached;
}

bool weft_gang_refuse(struct weft_session *s, struct weft_gang *g, int code, size_t before,
		      struct weft_error *err)
{
	struct weft_gang *returns = g->list ? NULL : returns_of(s, g);

	if (code == -ENOMEM || code == -EMFILE || code == -ENFILE)
		return false;
	if (!g->list && !returns)
		return false;
	if (returns ? !has_other(s, returns, returns->list) : !has_other(s, g, g->list))
		return false;
	mark(s, g, text_of(err, before, code));
	if (returns && !returns->n_attached && !returns->refused)
		mark(s, returns, "its entry is not attached");
	weft_error_truncate(err, before);
	return true;
}

void weft_probe_refuse(struct weft_session *s, const struct weft_probe *probe, int code,
		       size_t before, struct weft_refusal *first, struct weft_error *err)
{
	struct weft_opened *o = weft_session_provider_of(s, probe);
	struct weft_report r;
	char name[512];

	weft_probe_format(probe, name, sizeof(name));
	weft_session_log(s, WEFT_LOG_INFO, "%s: cannot be traced: %s", name,
			 text_of(err, before, code));
	if (!first->n++ && !weft_error_report(err, before, &r)) {
		first->code = code;
		first->tag = r.tag;
		first->text = strdup(r.text);
	}
	o->n_asked++;
	o->n_refused++;
	weft_error_truncate(err, before);
}

int weft_refusal_fail(struct weft_refusal *first, struct weft_error *err)
{
	if (!first->text)
		return weft_nomem(err);
	return weft_fail(err, first->code, first->tag, "%s", first->text);
}

void weft_refusal_finish(struct weft_refusal *first)
{
	free(first->text);
	*first = (struct weft_refusal){0};
}

void weft_session_say_refused(struct weft_session *s)
{
	for (size_t i = 0; i < s->n_providers; i++) {
		struct weft_opened *o = &s->providers[i];

		if (o->n_refused)
			weft_session_log(
				s, WEFT_LOG_WARNING,
				"%zu of %zu probes of provider %s were not attached (-v lists them)",
				o->n_refused, o->n_asked, o->provider->name);
		o->n_asked = o->n_refused = 0;
	}
}

/* Times the first few of a provider, in earnest; what they take is given back with the session. */
static int refuse_beyond(struct weft_session *s, const struct weft_opened *o, char **log,
			 struct weft_error *err)
{
	uint64_t start = weft_now(), seconds;
	size_t n = 0, all = o->n_alone + o->n_beyond;
	int ret = 0;

	for (size_t i = 0; i < s->n_gangs && n < TIMED && !ret; i++) {
		struct weft_gang *g = s->gangs[i];

		if (g->provider != o || !(g->class->info.load.flags & WEFT_LOAD_ONE_PER_PROBE))
			continue;
		ret = weft_session_load_gang(s, g, log, err);
		if (!ret)
			ret = weft_session_attach_gang(s, g, err);
		n++;
	}
	if (ret)
		return ret;
	seconds = (weft_now() - start) / TIMED * all / 1000000000u + 1;
	return weft_fail(err, -E2BIG, "TOO_MANY_PROGRAMS",
			 "%zu probes of provider %s would take a program each, which takes about "
			 "%llu s on this kernel; name fewer, or raise the provider's limit from %u",
			 all, o->provider->name, (unsigned long long)seconds, o->most);
}

int weft_session_check_alone(struct weft_session *s, char **log, struct weft_error *err)
{
	int ret = 0;

	for (size_t i = 0; i < s->n_providers && !ret; i++)
		if (s->providers[i].n_beyond)
			ret = refuse_beyond(s, &s->providers[i], log, err);
	return ret;
}
