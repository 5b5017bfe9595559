/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The end of tracing: what is still to be read, shown and reported. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/clock.h"
#include "core/session/internal.h"

/* What the kernel skipped because a program was running on that CPU already. */
static void count_misses(struct weft_session *s)
{
	uint64_t misses;
	size_t i;

	for (i = 0; i < s->n_gangs; i++) {
		const struct weft_gang *g = s->gangs[i];
		char probe[512];

		if (g->fd < 0 || weft_program_misses(g->fd, &misses) || !misses)
			continue;
		weft_probe_format(s->enablings[g->members[0]].probe, probe, sizeof(probe));
		weft_session_count_loss(s, "weft", weft_losses[WEFT_LOSS_PROGRAM_BUSY].tag, misses,
					probe);
	}
	if (s->procset_misses)
		weft_session_count_loss(s, "weft", weft_losses[WEFT_LOSS_PROGRAM_BUSY].tag,
					s->procset_misses, "the programs that follow processes");
	if (s->procwatch)
		s->process_events_lost += weft_procwatch_untold(s->procwatch);
	if (s->process_events_lost)
		weft_session_count_loss(s, "weft", weft_losses[WEFT_LOSS_PROCESS_EVENTS_LOST].tag,
					s->process_events_lost, NULL);
}

/* What kept names out of the results, said once. */
static void report_symbols(struct weft_session *s)
{
	struct weft_symbols_stats stats;

	weft_symbols_stats(s->symbols, &stats);
	if (stats.kernel_hidden)
		weft_session_log(s, WEFT_LOG_WARNING,
				 "kernel symbols are hidden (kernel.kptr_restrict)");
	if (stats.forgotten)
		weft_session_log(s, WEFT_LOG_INFO,
				 "%llu ended processes or mappings were forgotten: frames of theirs "
				 "have no name",
				 (unsigned long long)stats.forgotten);
	if (stats.unreadable)
		weft_session_log(s, WEFT_LOG_INFO,
				 "%llu files could not be read, and their frames have no name: %s",
				 (unsigned long long)stats.unreadable, stats.why_unreadable);
}

static bool shown_at_end(const struct weft_session *s, const char *name)
{
	size_t i, k;

	if (!s->has_end)
		return false;
	for (i = 0; i < s->end_typed.n_actions; i++) {
		const struct weft_typed_action *a = &s->end_typed.actions[i];

		if (a->action->spec->kind != WEFT_ACTION_SHOW)
			continue;
		for (k = 0; k < a->n_names; k++)
			if (!strcmp(a->names[k], name))
				return true;
		if (!a->n_names)
			return true;
	}
	return false;
}

/* Every aggregation is printed at the end, unless `end:` has just shown it. */
static int show_rest(struct weft_session *s, struct weft_error *err)
{
	const struct weft_plan *plan = s->plan;
	const char **names;
	size_t i, n = 0;
	int ret = 0;

	names = calloc(plan->n_aggregations + 1, sizeof(*names));
	if (!names)
		return weft_nomem(err);
	for (i = 0; i < plan->n_aggregations; i++)
		if (!shown_at_end(s, plan->aggregations[i].name))
			names[n++] = plan->aggregations[i].name;
	if (n)
		ret = weft_consumer_show(s->consumer, names, n, false, err);
	free(names);
	return ret;
}

int weft_session_losses(struct weft_session *s, uint64_t *total, struct weft_error *err)
{
	struct weft_loss_report *extra;
	size_t i, k;
	int ret;

	extra = calloc(s->n_losses + 1, sizeof(*extra));
	if (!extra)
		return weft_nomem(err);
	for (i = 0; i < s->n_losses; i++) {
		const struct weft_counted_loss *l = &s->losses[i];

		extra[i].tag = l->tag;
		extra[i].count = l->count;
		extra[i].where = l->detail ? l->detail : l->provider;
		extra[i].meaning = "counted by the provider";
		for (k = 0; k < WEFT_N_LOSSES; k++) {
			if (strcmp(weft_losses[k].tag, l->tag))
				continue;
			extra[i].meaning = weft_losses[k].meaning;
			extra[i].remedy = weft_losses[k].remedy;
		}
	}
	ret = weft_consumer_losses(s->consumer, extra, s->n_losses, total);
	free(extra);
	if (ret)
		return weft_fail(err, ret, "OUTPUT_WRITE", "results cannot be written: %s",
				 strerror(-ret));
	return 0;
}

int weft_session_stop(struct weft_session *s, struct weft_end *end, struct weft_error *err)
{
	bool exiting = false;
	uint64_t lost = 0, end_ns = weft_clock_before();
	int ret;

	if (s->state != WEFT_SESSION_RUNNING)
		return weft_fail(err, -EINVAL, "SESSION_STATE", "the session was not started");
	weft_session_detach_all(s);
	weft_session_count_missed(s, end_ns);
	weft_consumer_span(s->consumer, 0, weft_clock_before());
	weft_session_poll_processes(s);
	ret = weft_consumer_finish(s->consumer, err);
	if (!ret && s->has_end) {
		weft_session_enable_programs(s, 1);
		ret = weft_program_run(s->end_fd, err);
		weft_session_enable_programs(s, 0);
		if (!ret)
			ret = weft_consumer_poll(s->consumer, false, &exiting, err);
		if (!ret)
			ret = weft_consumer_finish(s->consumer, err);
	}
	if (!ret)
		ret = show_rest(s, err);
	report_symbols(s);
	count_misses(s);
	if (!ret)
		ret = weft_session_losses(s, &lost, err);
	if (lost && !end->status)
		end->status = 3;
	if (ret)
		end->status = 1;
	if (!ret && s->sink.end)
		ret = s->sink.end(s->sink.self, end);
	if (!ret && s->sink.flush)
		ret = s->sink.flush(s->sink.self);
	if (ret && !weft_error_count(err))
		weft_fail(err, ret, "OUTPUT_WRITE", "results cannot be written: %s", strerror(-ret));
	weft_session_release(s);
	return ret;
}
