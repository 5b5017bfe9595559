/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Firings that were due by the clock and did not come, counted once all is detached. Programs count
 * those between two firings of a CPU (compiler/lower_schedule.c); here come those before the first
 * and behind the last, and CPUs that never fired.
 *
 * What is due right before the end may come right behind it: the last that was due is not missed.
 * Of a CPU that came while tracing nobody knows here since when firings were due, nor of one that
 * went until when: of those only what lies between firings counts.
 */
#include "core/kernel/cpus.h"
#include "core/session/internal.h"

static uint64_t periods(uint64_t from, uint64_t to, uint64_t period)
{
	return to > from ? (to - from) / period : 0;
}

static uint64_t but_one(uint64_t n)
{
	return n ? n - 1 : 0;
}

struct run {
	uint64_t begin, end, period;
	bool newcomers;       /* more CPUs fired than the probe was attached on */
	unsigned int *online; /* at the end; NULL: not known */
	size_t n_online;
};

static bool is_online(const struct run *r, uint32_t cpu)
{
	for (size_t i = 0; i < r->n_online; i++)
		if (r->online[i] == cpu)
			return true;
	return false;
}

/* Of one CPU that fired. */
static uint64_t missed_on(const struct run *r, const uint64_t *slot, uint32_t cpu)
{
	uint64_t first = slot[WEFT_SCHEDULE_FIRST / 8], last = slot[WEFT_SCHEDULE_LAST / 8];
	uint64_t n = slot[WEFT_SCHEDULE_MISSED / 8];

	/* Due at first - k * period, as long as that is behind the beginning. */
	if (first > r->begin && !r->newcomers)
		n += (first - r->begin - 1) / r->period;
	return is_online(r, cpu) ? n + but_one(periods(last, r->end, r->period)) : n;
}

static const uint64_t *slot_of(const struct weft_session *s, const struct weft_schedule_site *site,
			       uint32_t cpu)
{
	const uint8_t *at = (const uint8_t *)s->maps.state + site->state_offset;

	return (const uint64_t *)(at + (size_t)cpu * WEFT_SLOT_STRIDE);
}

static uint64_t missed(const struct weft_session *s, const struct weft_gang *g,
		       const struct weft_schedule_site *site, struct run *r)
{
	uint32_t fired = 0;
	uint64_t n = 0;

	r->begin = g->armed_ns > s->enabled_ns ? g->armed_ns : s->enabled_ns;
	r->period = site->period_ns;
	for (uint32_t cpu = 0; cpu < s->plan->n_cpus; cpu++)
		fired += slot_of(s, site, cpu)[WEFT_SCHEDULE_FIRST / 8] != 0;
	r->newcomers = fired > g->n_units;
	for (uint32_t cpu = 0; cpu < s->plan->n_cpus; cpu++)
		if (slot_of(s, site, cpu)[WEFT_SCHEDULE_FIRST / 8])
			n += missed_on(r, slot_of(s, site, cpu), cpu);
	if (g->n_units > fired)
		n += (g->n_units - fired) * but_one(periods(r->begin, r->end, r->period));
	return n;
}

void weft_session_count_missed(struct weft_session *s, uint64_t end)
{
	struct run r = {.end = end};

	if (!s->maps.state || !s->plan->n_schedules)
		return;
	weft_cpus_online(&r.online, &r.n_online);
	for (size_t i = 0; i < s->n_gangs; i++) {
		const struct weft_gang *g = s->gangs[i];
		const struct weft_enabling *e = &s->enablings[g->members[0]];
		char probe[512];

		if (!g->class->info.schedule.period_ns || !e->attached)
			continue;
		for (size_t k = 0; k < s->plan->n_schedules; k++) {
			const struct weft_schedule_site *site = &s->plan->schedules[k];
			uint64_t n;

			if (site->cookie != e->cookie)
				continue;
			n = missed(s, g, site, &r);
			if (!n)
				continue;
			weft_probe_format(e->probe, probe, sizeof(probe));
			weft_session_count_loss(
				s, "weft", weft_losses[WEFT_LOSS_FIRINGS_MISSED].tag, n, probe);
		}
	}
	free(r.online);
}
