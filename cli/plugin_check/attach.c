/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The checks that attach probes. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/plugin_check/session.h"

#define MOST_ATTACHED    8
#define MOST_DESCRIPTORS 64 /* that one attachment and its session could need */

struct run {
	struct check *c;
	size_t n_records;
};

static int take_record(void *self, const struct weft_record *r)
{
	struct run *run = self;

	run->n_records++;
	if (!r->probe || strncmp(r->probe, run->c->provider->name, strlen(run->c->provider->name)))
		check_found("PLUGIN_COOKIE",
			    "provider %s attaches with cookies other than those that it is given",
			    run->c->provider->name);
	return 0;
}

static int take_table(void *self, const struct weft_table *t)
{
	(void)self;
	(void)t;
	return 0;
}

static int take_loss(void *self, const struct weft_loss_report *l)
{
	(void)self;
	(void)l;
	return 0;
}

static int take_end(void *self, const struct weft_end *e)
{
	(void)self;
	(void)e;
	return 0;
}

/* Attaches all of a sample, runs TARGET, detaches. short_of: descriptors that may still be opened, or -1. */
static bool attach_sample(struct check *c, const struct check_sample *sample, int short_of,
			  struct run *run)
{
	struct weft_session_env env = {
		.providers = &c->provider, .n_providers = 1, .log = check_take_log, .log_arg = c};
	struct weft_sink sink = {.record = take_record,
				 .table = take_table,
				 .loss = take_loss,
				 .end = take_end,
				 .self = run};
	struct weft_run_options options = {.duration_ns = 2000000000, .stop_fd = -1};
	struct weft_set *set = check_make_set(c, check_put_sample, sample);
	struct weft_session *s = NULL;
	struct rlimit whole, few;
	struct weft_end end = {0};
	char *log = NULL;
	int ret = -1, probe;

	check_step(c);
	getrlimit(RLIMIT_NOFILE, &whole);
	if (set && !weft_session_create(&env, &s, c->err))
		ret = weft_session_prepare(s, set, c->err);
	if (!ret) {
		probe = dup(STDIN_FILENO);
		few = whole;
		few.rlim_cur = (rlim_t)probe + (rlim_t)short_of;
		close(probe);
		if (short_of >= 0)
			setrlimit(RLIMIT_NOFILE, &few);
		ret = weft_session_start(s, &sink, &log, c->err);
		setrlimit(RLIMIT_NOFILE, &whole);
	}
	if (!ret) {
		weft_session_run(s, &options, &end, c->err);
		weft_session_stop(s, &end, c->err);
	}
	free(log);
	check_finish(s, set);
	return !ret;
}

void check_attaches(struct check *c)
{
	struct weft_set *set;
	struct weft_session *s = check_begin(c, &set);
	struct run run = {.c = c};
	struct check_belongings before;
	struct check_sample sample;
	size_t attached = 0;

	if (!s)
		return;
	check_take_sample(c, s, MOST_ATTACHED, &sample);
	check_look_around(&before);
	for (size_t i = 0; i < sample.n; i++) {
		struct check_sample one = {.probes = {sample.probes[i]}, .n = 1};
		const struct weft_layout *layouts;
		char probe[512];
		uint32_t n;

		if (weft_session_describe(s, one.probes[0], &one.info, &layouts, &n, c->err))
			one.info = NULL;
		weft_error_clear(c->err);
		weft_probe_format(sample.probes[i], probe, sizeof(probe));
		attached += attach_sample(c, &one, -1, &run);
		check_take_errors(c, probe);
		check_expect_same(c, &before, "detach()");
	}
	if (sample.n > 1)
		attach_sample(c, &sample, -1, &run);
	check_take_errors(c, "all together");
	check_expect_same(c, &before, "detach()");
	check_note("%zu of %zu probes attached, %zu firings", attached, sample.n, run.n_records);
	check_finish(s, set);
}

static bool starve(struct check *c, const struct check_sample *sample, int short_of,
		   struct run *run, const struct check_belongings *before)
{
	bool attached = attach_sample(c, sample, short_of, run);
	struct weft_report r;

	for (size_t i = 0; i < weft_error_count(c->err); i++)
		if (!weft_error_report(c->err, i, &r) && !strncmp(r.tag, "PLUGIN_", 7))
			check_found(r.tag, "%s", r.text);
	weft_error_clear(c->err);
	check_expect_same(c, before, "an attach() that failed");
	return attached;
}

/* attach() is the last to need descriptors: it runs out of them if there are just fewer than are
 * needed. It says why, and leaves nothing. */
void check_starves(struct check *c)
{
	struct weft_set *set;
	struct weft_session *s = check_begin(c, &set);
	struct run run = {.c = c};
	struct check_belongings before;
	struct check_sample sample;
	int low = 0, high = MOST_DESCRIPTORS;

	if (!s)
		return;
	check_take_sample(c, s, 1, &sample);
	if (!sample.n || !attach_sample(c, &sample, -1, &run))
		high = 0;
	weft_error_clear(c->err);
	check_look_around(&before);
	while (low < high) {
		int middle = (low + high) / 2;

		if (starve(c, &sample, middle, &run, &before))
			high = middle;
		else
			low = middle + 1;
	}
	for (int i = 2; i < 5 && i <= low; i++)
		starve(c, &sample, low - i, &run, &before);
	if (low)
		check_note("attached with %d descriptors, and not with less", low);
	check_finish(s, set);
}
