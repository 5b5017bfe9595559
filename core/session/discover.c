/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Probes that come into being while the session runs. They are matched, typed, compiled, loaded and
 * attached like those of the start, but nothing of that is fatal here: what fails is said once and
 * given up, and everything else goes on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/session/internal.h"

void weft_session_give_up(struct weft_session *s, int code, size_t before, struct weft_error *err)
{
	struct weft_report r;
	size_t i;

	for (i = before; i < weft_error_count(err); i++)
		if (!weft_error_report(err, i, &r))
			weft_session_log(s, WEFT_LOG_WARNING,
					 "a probe that appeared is not traced: %s", r.text);
	if (weft_error_count(err) <= before)
		weft_session_log(s, WEFT_LOG_WARNING, "a probe that appeared is not traced: %s",
				 strerror(-code));
	weft_error_truncate(err, before);
}

static void attach_newcomers(struct weft_session *s, struct weft_error *err)
{
	size_t i;

	for (i = 0; i < s->n_gangs; i++) {
		struct weft_gang *g = s->gangs[i];
		char *log = NULL;
		int ret;

		if (g->dropped || g->n_attached == g->n_members)
			continue;
		ret = weft_session_load_gang(s, g, &log, err);
		free(log);
		if (!ret)
			ret = weft_session_attach_gang(s, g, err);
		if (ret) {
			weft_session_give_up(s, ret, 0, err);
			g->n_attached = g->n_members;
		}
	}
	weft_session_say_refused(s);
}

void weft_session_discover(struct weft_session *s, struct weft_opened *o)
{
	struct weft_error *err = weft_error_create();
	bool exiting = false;
	int ret;

	/* A provider that fails may have registered some all the same. */
	ret = weft_slot_discover(o, err);
	if (ret)
		weft_session_give_up(s, ret, 0, err);
	ret = weft_enable_discovered(s, err);
	if (ret)
		weft_session_give_up(s, ret, 0, err);
	ret = weft_session_compile(s, err);
	if (ret)
		weft_session_give_up(s, ret, 0, err);
	ret = weft_maps_create(&s->maps, s->plan, err);
	if (!ret)
		ret = weft_maps_warm(&s->maps, s->plan, err);
	if (!ret)
		ret = weft_session_follow_threads(s, err);
	if (ret)
		weft_session_give_up(s, ret, 0, err);
	else
		attach_newcomers(s, err);
	/* A ring that only they need was created just now: the consumer must come to know it. */
	ret = weft_consumer_poll(s->consumer, true, &exiting, err);
	if (ret)
		weft_session_give_up(s, ret, 0, err);
	weft_error_destroy(err);
}
