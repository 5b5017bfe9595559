/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kernel's events: made, linked with the program, enabled, and given up.
 *
 * Events are made disabled and get their program before the first is enabled, so that a
 * request either fails before anything fired or starts on all CPUs within microseconds. The link
 * keeps the event, so an event costs one descriptor.
 *
 * A tick goes to the CPU that the tracer runs on: the tracer is about to read what the tick's
 * clauses write, and that CPU is not one that was set aside for something else. If the CPU goes,
 * the tick moves.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile.h"
#include "support/bpf.h"
#include "support/file.h"

/* ---- one event ---- */

static int open_event(const struct weft_profile_attached *p, int cpu, int prog_fd,
		      struct weft_profile_event *out)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = p->rate.period_ns,
		.exclude_idle = !p->idle,
		.disabled = 1,
	};
	int fd = support_perf_open(&attr, -1, cpu);
	if (fd < 0)
		return fd;

	int err = support_perf_attach(fd, prog_fd, p->cookie, true, &out->hold);
	if (err) {
		close(fd);
		return err;
	}
	out->enable = fd;
	return 0;
}

static int enable_event(struct weft_profile_event *ev)
{
	int err = support_perf_enable(ev->enable);

	if (ev->enable != ev->hold)
		support_close(ev->enable);
	ev->enable = -1;
	return err;
}

static void close_event(struct weft_profile_event *ev)
{
	if (ev->enable != ev->hold)
		support_close(ev->enable);
	support_close(ev->hold);
}

/* ---- the events of an attachment ---- */

static int add_event(struct weft_attachment *at, uint32_t probe, int cpu)
{
	if (at->n_events == at->cap_events) {
		size_t cap = at->cap_events ? 2 * at->cap_events : 16;
		struct weft_profile_event *grown = realloc(at->events, cap * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		at->events = grown;
		at->cap_events = cap;
	}

	struct weft_profile_event *ev = &at->events[at->n_events];
	*ev = (struct weft_profile_event){.probe = probe, .cpu = cpu, .hold = -1, .enable = -1};
	int err = open_event(&at->probes[probe], cpu, at->prog_fd, ev);
	if (!err)
		at->n_events++;
	return err;
}

static void remove_event(struct weft_attachment *at, size_t i)
{
	close_event(&at->events[i]);
	at->events[i] = at->events[--at->n_events];
}

static bool has_event(const struct weft_attachment *at, uint32_t probe, int cpu)
{
	for (size_t i = 0; i < at->n_events; i++) {
		if (at->events[i].probe == probe && (cpu < 0 || at->events[i].cpu == cpu))
			return true;
	}
	return false;
}

static void warn(struct weft_instance *in, const struct weft_attachment *at,
		 const struct weft_profile_failure *f)
{
	in->host->log(in->host, WEFT_LOG_WARNING, "%s does not fire on CPU %d: %s",
		      at->probes[f->probe].name, f->cpu, strerror(-f->error));
}

/* Remembers that an event could not be had. If no probe fires that is an error, to be said once;
 * else it is a warning for each. Which it is turns out at the end. */
static void note_failure(struct weft_instance *in, struct weft_attachment *at, uint32_t probe,
			 int cpu, int error)
{
	const struct weft_profile_failure f = {.probe = probe, .cpu = cpu, .error = error};

	at->probes[probe].error = error;
	if (at->n_failures == at->cap_failures) {
		size_t cap = at->cap_failures ? 2 * at->cap_failures : 16;
		struct weft_profile_failure *grown = realloc(at->failures, cap * sizeof(*grown));
		if (!grown) {
			warn(in, at, &f);
			return;
		}
		at->failures = grown;
		at->cap_failures = cap;
	}
	at->failures[at->n_failures++] = f;
}

static void settle_failures(struct weft_instance *in, struct weft_attachment *at)
{
	for (size_t i = 0; i < at->n_failures; i++)
		warn(in, at, &at->failures[i]);
	at->n_failures = 0;
}

static int tick_cpu(const struct support_cpus *online)
{
	int here = sched_getcpu();

	return here >= 0 && support_cpus_has(online, (uint32_t)here) ? here
								     : support_cpus_next(online, 0);
}

/* Makes the events that a probe should have and has not, disabled. */
static void make_events(struct weft_instance *in, struct weft_attachment *at, uint32_t probe,
			const struct support_cpus *online)
{
	bool tick = at->probes[probe].rate.tick;

	if (tick && has_event(at, probe, -1))
		return;
	for (int cpu = tick ? tick_cpu(online) : support_cpus_next(online, 0); cpu >= 0;
	     cpu = tick ? -1 : support_cpus_next(online, cpu + 1)) {
		if (has_event(at, probe, cpu))
			continue;
		int error = add_event(at, probe, cpu);
		if (error)
			note_failure(in, at, probe, cpu, error);
	}
}

static void enable_events(struct weft_instance *in, struct weft_attachment *at)
{
	for (size_t i = at->n_events; i-- > 0;) {
		struct weft_profile_event *ev = &at->events[i];
		if (ev->enable < 0)
			continue;
		int error = enable_event(ev);
		if (!error)
			continue;
		note_failure(in, at, ev->probe, ev->cpu, error);
		remove_event(at, i);
	}
}

/* ---- attach and detach ---- */

static int fail_attach(const struct weft_host *host, const char *name, int code,
		       struct weft_error *err)
{
	static const struct {
		int code;
		const char *tag, *why;
	} reasons[] = {
		{-EACCES, "PROFILE_DENIED",
		 "it takes root or CAP_PERFMON (the sysctl kernel.perf_event_paranoid says who "
		 "may)"},
		{-EPERM, "PROFILE_DENIED", "it takes root, or CAP_PERFMON and CAP_BPF"},
		{-EMFILE, "PROFILE_DESCRIPTORS",
		 "every probe takes a file descriptor for each CPU; raise the limit (ulimit -n)"},
		{-ENOMEM, "NO_MEMORY", "out of memory"},
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (reasons[i].code == code)
			return host->fail(err, code, reasons[i].tag, "%s fires on no CPU: %s", name,
					  reasons[i].why);
	}
	return host->fail(err, code, "PROFILE_ATTACH", "%s fires on no CPU: %s", name,
			  strerror(-code));
}

/* None of the probes fires: says why for each, and returns the first one's error. */
static int fail_probes(const struct weft_host *host, const struct weft_attachment *at,
		       const struct weft_profile_limits *limits, struct weft_error *err)
{
	int first = 0;

	for (size_t i = 0; i < at->n_probes; i++) {
		const struct weft_profile_attached *p = &at->probes[i];
		int error = p->too_fast
				    ? weft_profile_rate_check(host, p->name, &p->rate, limits, err)
				    : fail_attach(host, p->name, p->error, err);
		if (!first)
			first = error;
	}
	return first ? first : host->fail(err, -EINVAL, "PROFILE_ATTACH", "there is no probe");
}

static void destroy(struct weft_attachment *at)
{
	if (!at)
		return;
	for (size_t i = 0; i < at->n_events; i++)
		close_event(&at->events[i]);
	support_close(at->prog_fd);
	free(at->failures);
	free(at->events);
	free(at->probes);
	free(at);
}

static struct weft_attachment *create(struct weft_instance *in,
				      const struct weft_attach_request *request, int *error)
{
	struct weft_attachment *at = calloc(1, sizeof(*at));
	if (!at) {
		*error = -ENOMEM;
		return NULL;
	}
	at->prog_fd = -1;
	at->n_probes = request->n_probes;
	at->probes = calloc(request->n_probes ? request->n_probes : 1, sizeof(*at->probes));
	if (!at->probes) {
		*error = -ENOMEM;
		destroy(at);
		return NULL;
	}
	at->prog_fd = fcntl(request->prog_fd, F_DUPFD_CLOEXEC, 0);
	if (at->prog_fd < 0) {
		*error = -errno;
		destroy(at);
		return NULL;
	}
	for (uint32_t i = 0; i < request->n_probes; i++) {
		struct weft_probe_desc desc = {.struct_size = sizeof(desc)};
		in->host->probe_desc(weft_attach_probe_at(request, i)->probe, &desc);
		at->probes[i].name = desc.name;
		at->probes[i].cookie = weft_attach_probe_at(request, i)->cookie;
		at->probes[i].idle =
			in->host->param_int(weft_attach_probe_at(request, i)->with, "idle");
		weft_profile_rate_of(in->host, weft_attach_probe_at(request, i)->probe,
				     &at->probes[i].rate);
	}
	return at;
}

/* "on 7 of 8 CPUs": the CPUs that probes were to fire on, and those where all of them do. */
static void report(const struct weft_attachment *at, const struct support_cpus *online,
		   const struct weft_attach_request *request)
{
	bool everywhere = false;
	uint32_t total = 0, done = 0;

	for (size_t i = 0; i < at->n_probes; i++)
		everywhere |= !at->probes[i].rate.tick;
	for (int cpu = support_cpus_next(online, 0); cpu >= 0;
	     cpu = support_cpus_next(online, cpu + 1)) {
		bool all = true, any = everywhere;
		for (uint32_t i = 0; i < at->n_probes; i++) {
			bool has = has_event(at, i, cpu);
			any |= has;
			all &= has || at->probes[i].rate.tick;
		}
		total += any;
		done += any && all;
	}
	*request->done = done;
	*request->total = total;
	*request->unit = "CPUs";
}

int weft_profile_attach(struct weft_instance *in, const struct weft_attach_request *request,
			struct weft_attachment **out, struct weft_error *err)
{
	const struct weft_host *host = in->host;
	struct weft_profile_limits limits;
	struct support_cpus online;

	int error = support_cpus_online(&online);
	if (error)
		return host->fail(err, error, "PROFILE_CPUS",
				  "/sys/devices/system/cpu/online cannot be read: %s",
				  strerror(-error));

	struct weft_attachment *at = create(in, request, &error);
	if (!at)
		return fail_attach(host, "profile", error, err);

	weft_profile_limits_read(&limits);
	for (uint32_t i = 0; i < at->n_probes; i++) {
		struct weft_profile_attached *p = &at->probes[i];
		/* Beyond the limit the kernel does not refuse: it throttles, which loses firings
		 * without a word. */
		p->too_fast = weft_profile_rate_too_fast(&p->rate, &limits);
		if (!p->too_fast)
			make_events(in, at, i, &online);
	}
	enable_events(in, at);

	uint32_t live = 0;
	for (uint32_t i = 0; i < at->n_probes; i++) {
		const struct weft_profile_attached *p = &at->probes[i];
		bool fires = has_event(at, i, -1);
		request->status[i] = fires ? 0 : p->too_fast ? -EINVAL : p->error;
		live += fires;
	}
	if (!live) {
		error = fail_probes(host, at, &limits, err);
		destroy(at);
		return error;
	}
	for (size_t i = 0; i < at->n_probes; i++) {
		if (at->probes[i].too_fast)
			host->log(host, WEFT_LOG_WARNING,
				  "%s does not fire: the kernel's limit is %" PRIu64
				  " firings a second (kernel.perf_event_max_sample_rate)",
				  at->probes[i].name, limits.max_per_second);
	}
	settle_failures(in, at);
	report(at, &online, request);
	at->next = in->attachments;
	in->attachments = at;
	*out = at;
	return 0;
}

void weft_profile_detach(struct weft_instance *in, struct weft_attachment *at)
{
	for (struct weft_attachment **p = &in->attachments; *p; p = &(*p)->next) {
		if (*p == at) {
			*p = at->next;
			break;
		}
	}
	destroy(at);
}

void weft_profile_follow(struct weft_instance *in, struct weft_attachment *at,
			 const struct support_cpus *gone, const struct support_cpus *online)
{
	for (size_t i = at->n_events; i-- > 0;) {
		uint32_t cpu = (uint32_t)at->events[i].cpu;
		if (support_cpus_has(gone, cpu) || !support_cpus_has(online, cpu))
			remove_event(at, i);
	}
	for (uint32_t i = 0; i < at->n_probes; i++) {
		if (!at->probes[i].too_fast)
			make_events(in, at, i, online);
	}
	enable_events(in, at);
	settle_failures(in, at);
}
