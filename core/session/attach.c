/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loading and attaching. The order matters: maps, then what programs look up, then programs, then
 * the providers' events; at last one word in STATE lets all programs run at once. Probes that
 * appear while tracing go the same way among programs that run: no step is a system call on a map's
 * elements, which would make firings of theirs vanish.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/session/internal.h"

/* What the programs look up by cookie: written through the mapping, at any time. */
static int publish_probe_bits(struct weft_session *s, const struct weft_gang *g,
			      struct weft_error *err)
{
	size_t i;

	if (!s->maps.probes)
		return 0;
	for (i = g->n_attached; i < g->n_members; i++) {
		const struct weft_enabling *e = &s->enablings[g->members[i]];

		/* The mapping is larger: whole pages, of which programs see no more than this. */
		if (e->cookie >= s->plan->maps[WEFT_PLAN_PROBES].max_entries)
			return weft_fail(err, -ENOSPC, "TOO_MANY_PROBES",
					 "more probes appeared while tracing than there is room for");
		__atomic_store_n(&s->maps.probes[e->cookie],
				 weft_plan_probe_bits(s->plan, e->probe), __ATOMIC_RELEASE);
	}
	return 0;
}

static int fill_dispatch(struct weft_session *s, const struct weft_gang *g, struct weft_error *err)
{
	size_t i, before = weft_error_count(err), failed;
	struct weft_map_pair *pairs;
	int ret;

	if (g->program.dispatch_map < 0)
		return 0;
	pairs = calloc(g->n_members, sizeof(*pairs));
	if (!pairs)
		return weft_nomem(err);
	for (i = 0; i < g->n_members; i++) {
		const struct weft_enabling *e = &s->enablings[g->members[i]];

		pairs[i] = (struct weft_map_pair){e->identity_value, e->cookie + 1};
	}
	ret = weft_map_put(s->maps.fds[g->program.dispatch_map], pairs, g->n_members, &failed, err);
	if (ret == -EEXIST) {
		weft_error_truncate(err, before);
		weft_fail(err, ret, "IDENTITY_TWICE",
			  "provider %s gives two probes one identity (%llu)",
			  g->provider->provider->name, (unsigned long long)pairs[failed].key);
	}
	free(pairs);
	return ret;
}

/* Where the arguments of a scattered gang lie: through a mapping, since programs may be attached. */
static int fill_places(struct weft_session *s, const struct weft_gang *g, struct weft_error *err)
{
	int map = g->program.places_map;

	if (map < 0)
		return 0;
	return weft_map_write_array(s->maps.fds[map], &s->plan->maps[map], g->program.places, err);
}

int weft_session_load_gang(struct weft_session *s, struct weft_gang *g, char **log,
			   struct weft_error *err)
{
	size_t before = weft_error_count(err);
	int ret;

	if (g->fd >= 0 || g->refused)
		return 0;
	ret = fill_dispatch(s, g, err);
	if (!ret)
		ret = fill_places(s, g, err);
	if (ret)
		return ret;
	ret = weft_program_load(&g->program, &s->maps, &g->fd, log, err);
	/* Such a program is verified for its place, which may be what the kernel does not like. */
	if (ret && g->class->info.load.flags & WEFT_LOAD_ONE_PER_PROBE &&
	    weft_gang_refuse(s, g, ret, before, err)) {
		free(*log);
		*log = NULL;
		ret = 0;
	}
	return ret;
}

static void say_not_attached(struct weft_session *s, const struct weft_enabling *e, int code)
{
	char probe[512];

	weft_probe_format(e->probe, probe, sizeof(probe));
	weft_session_log(s, WEFT_LOG_INFO, "%s: not attached: %s", probe, strerror(-code));
}

static void report_statuses(struct weft_session *s, const struct weft_gang *g, const int32_t *status,
			    size_t n, uint32_t done, uint32_t total, const char *unit)
{
	size_t i;
	char text[512];

	weft_probe_format(s->enablings[g->members[g->n_attached]].probe, text, sizeof(text));
	for (i = 0; i < n; i++) {
		if (!status[i])
			continue;
		g->provider->n_refused++;
		say_not_attached(s, &s->enablings[g->members[g->n_attached + i]], status[i]);
	}
	g->provider->n_asked += n;
	if (unit && done < total)
		weft_session_log(s, WEFT_LOG_WARNING, "%s%s: attached on %u of %u %s", text,
				 n > 1 ? " and others" : "", done, total, unit);
	else if (unit)
		weft_session_log(s, WEFT_LOG_INFO, "%s%s: attached on %u of %u %s", text,
				 n > 1 ? " and others" : "", done, total, unit);
	else
		weft_session_log(s, WEFT_LOG_INFO, "%s%s: attached", text,
				 n > 1 ? " and others" : "");
}

int weft_session_attach_gang(struct weft_session *s, struct weft_gang *g, struct weft_error *err)
{
	const struct weft_provider *p = g->provider->provider;
	size_t n = g->n_members - g->n_attached, i, failed = 0, before = weft_error_count(err);
	struct weft_attachment *attachment = NULL;
	struct weft_attach_probe *probes;
	uint32_t done = 0, total = 0;
	const char *unit = NULL;
	int32_t *status;
	int ret;

	if (!n || g->refused)
		return 0;
	ret = publish_probe_bits(s, g, err);
	if (ret)
		return ret;
	if (weft_grow(&s->attached, &s->cap_attached, s->n_attached, sizeof(*s->attached)))
		return weft_nomem(err);
	probes = calloc(n, sizeof(*probes));
	status = calloc(n, sizeof(*status));
	if (!probes || !status) {
		ret = weft_nomem(err);
		goto out;
	}
	for (i = 0; i < n; i++) {
		const struct weft_enabling *e = &s->enablings[g->members[g->n_attached + i]];

		probes[i] = (struct weft_attach_probe){
			.probe = e->probe,
			.cookie = g->shape ? g->n_attached + i : e->cookie,
			.layout = e->layout,
			.with = weft_enabling_params(s, e),
			.used_args = g->program.used_args,
			.uses = g->program.uses,
		};
	}
	ret = weft_slot_attach(g->provider,
			       &(struct weft_attach_request){
				       .struct_size = sizeof(struct weft_attach_request),
				       .prog_fd = g->fd,
				       .probes = probes,
				       .n_probes = (uint32_t)n,
				       .probe_size = sizeof(*probes),
				       .status = status,
				       .done = &done,
				       .total = &total,
				       .unit = &unit,
			       },
			       &attachment, err);
	if (ret) {
		for (i = 0; i < n; i++) {
			failed += status[i] != 0;
			say_not_attached(s, &s->enablings[g->members[g->n_attached + i]],
					 status[i] ? status[i] : ret);
		}
		/* A defect of the plugin is no refusal of the probes. */
		if (failed == n && ret != -EPROTO && weft_gang_refuse(s, g, ret, before, err))
			ret = 0;
		goto out;
	}
	s->attached[s->n_attached].provider = g->provider;
	s->attached[s->n_attached].attachment = attachment;
	s->n_attached++;
	for (i = 0; i < n; i++) {
		if (status[i])
			failed++;
		else
			s->enablings[g->members[g->n_attached + i]].attached = true;
	}
	if (failed == n) {
		ret = weft_fail(err, status[0], "ATTACH_NONE",
				"provider %s attached none of %zu probes: %s", p->name, n,
				strerror(-status[0]));
		goto out;
	}
	g->armed_ns = weft_now();
	g->n_units = unit ? done : 0;
	report_statuses(s, g, status, n, done, total, unit);
	g->n_attached = g->n_members;
out:
	free(probes);
	free(status);
	return ret;
}

int weft_session_follow_threads(struct weft_session *s, struct weft_error *err)
{
	bool frames = s->plan->maps[WEFT_PLAN_FRAMES].used;
	struct weft_threads *now;
	int ret;

	if (s->threads && s->threads_frames == frames)
		return 0;
	ret = weft_threads_attach(s->plan, &s->maps, &now, err);
	if (ret)
		return ret;
	/* The new ones are at work before the old ones go. */
	s->procset_misses += weft_threads_misses(s->threads);
	weft_threads_detach(s->threads);
	s->threads = now;
	s->threads_frames = frames;
	return 0;
}

void weft_session_detach_all(struct weft_session *s)
{
	size_t i = s->n_attached;

	if (s->maps.state) {
		struct weft_control *control = s->maps.state;

		__atomic_store_n(&control->enabled, 0, __ATOMIC_SEQ_CST);
	}
	while (i--) {
		struct weft_attached *a = &s->attached[i];

		weft_slot_detach(a->provider, a->attachment);
	}
	s->n_attached = 0;
	s->procset_misses += weft_threads_misses(s->threads);
	weft_threads_detach(s->threads);
	s->threads = NULL;
	s->procset_misses += weft_procset_misses(s->procset);
	weft_procset_detach(s->procset);
	s->procset = NULL;
}
