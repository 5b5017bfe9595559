/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Enabling. The first attach() makes what lies in the kernel, the last detach() takes it away. A
 * probe that is enabled stays so for families that are still to come: they are told when they are
 * adopted, without the core's having to know.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "support/file.h"
#include "user_syscall.h"

static bool is_wanted(const struct us_instance *i)
{
	return i && i->probe && i->live && i->probe->attachment && !i->family->silent;
}

static bool keep(void *arg, uint32_t index)
{
	const struct us_family *f = arg;

	return index < f->n_instances && is_wanted(f->instances[index]);
}

static void tick_every_second(struct weft_instance *in)
{
	struct itimerspec t = {.it_value.tv_sec = 1, .it_interval.tv_sec = 1};

	if (!in->ticking && in->timer >= 0)
		in->ticking = !timerfd_settime(in->timer, 0, &t, NULL);
}

static bool have_slot(struct weft_instance *in, struct us_family *f)
{
	uint64_t expired;

	if (f->slot >= 0)
		return true;
	if (f->slot < -1)
		return false;
	f->slot = us_slot_claim(&f->table, keep, f);
	if (f->slot < 0) {
		in->host->log(in->host, WEFT_LOG_WARNING,
			      "process %d (%s): its probes are not enabled: %s", f->pid, f->exe,
			      f->slot == -EBUSY ? "eight tracers have done so already"
						: strerror(-f->slot));
		f->slot = -2;
		return false;
	}
	us_slot_beat(&f->table, f->slot, &f->expired);
	us_slot_beat(&f->table, f->slot, &expired);
	tick_every_second(in);
	return true;
}

void us_prepare(struct weft_instance *in, struct us_instance *i)
{
	const struct us_family *f;

	if (!is_wanted(i) || i->known)
		return;
	f = i->family;
	i->known = !us_kernel_set_probe(&in->kernel, f->id, i->index, i->probe->cookie,
					i->probe->slot);
	if (!i->known)
		in->host->log(in->host, WEFT_LOG_WARNING,
			      "process %d: %s is not enabled: there are too many probes", f->pid,
			      i->probe->name);
}

void us_apply(struct weft_instance *in, struct us_instance *i)
{
	bool wanted = is_wanted(i) && i->known;

	if (!i || wanted == i->enabled)
		return;
	if (wanted && !have_slot(in, i->family))
		return;
	if (i->family->slot >= 0 &&
	    us_slot_enable(&i->family->table, i->family->slot, i->index, wanted))
		return;
	i->enabled = wanted;
}

/* ---- once a second ---- */

/* The program gave up on us, since we had no time for it: everything is enabled anew. */
static void renew(struct weft_instance *in, struct us_family *f, uint64_t expired)
{
	char detail[160];

	snprintf(detail, sizeof(detail),
		 "process %d stopped firing for lack of a sign of life from the tracer", f->pid);
	in->host->loss(in->host, "USER_SYSCALL_LEASE", expired - f->expired, detail);
	f->expired = expired;
	for (uint32_t i = 0; i < f->n_instances; i++)
		if (f->instances[i] && f->instances[i]->enabled)
			us_slot_enable(&f->table, f->slot, i, true);
}

void us_tick(struct weft_instance *in)
{
	us_family_collect(in);
	for (struct us_family *f = in->families; f; f = f->next) {
		uint64_t expired = f->expired;

		if (f->slot < 0)
			continue;
		us_family_recheck(in, f);
		if (!us_slot_beat(&f->table, f->slot, &expired) && expired != f->expired)
			renew(in, f, expired);
	}
	us_report(in);
}

/* ---- losses ---- */

static uint64_t news(struct weft_instance *in, enum us_counter c)
{
	uint64_t now =
		in->kernel.counters ? __atomic_load_n(&in->kernel.counters[c], __ATOMIC_RELAXED) : 0;
	uint64_t n = now - in->reported[c];

	in->reported[c] = now;
	return n;
}

void us_report(struct weft_instance *in)
{
	const struct weft_host *host = in->host;
	uint64_t n, misses;

	if (!in->kernel.attached)
		return;
	n = news(in, US_LIMITED);
	if (n)
		host->loss(host, "USER_SYSCALL_RATE", n,
			   "firings beyond providers.user-syscall.rate of a process");
	n = news(in, US_EARLY);
	if (n)
		host->loss(host, "USER_SYSCALL_EARLY", n,
			   "children that ended before they were known");
	n = news(in, US_CROWDED);
	if (n)
		host->loss(host, "USER_SYSCALL_PROCESSES", n,
			   "more processes than there is room for");
	misses = us_kernel_misses(&in->kernel);
	if (misses > in->reported_misses)
		host->loss(host, "PROGRAM_BUSY", misses - in->reported_misses,
			   "user-syscall's own programs");
	in->reported_misses = misses;
}

/* What is nobody's loss: said once, at the end. */
static void say_forged(struct weft_instance *in)
{
	uint64_t forged = news(in, US_FORGED) + in->strays, strangers = news(in, US_MISSED);

	if (forged)
		in->host->log(in->host, WEFT_LOG_WARNING,
			      "%llu calls named probes that their process had not declared; they were "
			      "ignored",
			      (unsigned long long)forged);
	if (strangers)
		in->host->log(
			in->host, WEFT_LOG_INFO,
			"%llu calls came from processes that had declared nothing that is traced",
			(unsigned long long)strangers);
	if (in->refused)
		in->host->log(in->host, WEFT_LOG_WARNING,
			      "%llu tables or declarations were ignored: malformed, or too many",
			      (unsigned long long)in->refused);
	in->refused = in->strays = 0;
}

/* ---- attach and detach ---- */

static struct us_probe *probe_of(const struct weft_instance *in, const struct weft_probe *p)
{
	return (void *)(uintptr_t)in->host->probe_data(p);
}

static void enable(struct weft_instance *in, const struct weft_attach_probe *r,
		   struct weft_attachment *at)
{
	struct us_probe *p = probe_of(in, r->probe);

	p->attachment = at;
	p->cookie = r->cookie;
	p->slot = at->slot;
	for (struct us_instance *i = p->instances; i; i = i->next) {
		i->known = false;
		us_prepare(in, i);
	}
}

/* Programs are told after all who share their tables are known: what they forked is announced. */
static void tell(struct weft_instance *in, const struct weft_attach_request *request,
		 const struct weft_attachment *at)
{
	us_catch_up(in);
	for (uint32_t i = 0; i < request->n_probes; i++) {
		const struct us_probe *p = probe_of(in, weft_attach_probe_at(request, i)->probe);

		if (p->attachment != at)
			continue;
		for (struct us_instance *k = p->instances; k; k = k->next)
			us_apply(in, k);
	}
}

static void stop(struct weft_instance *in)
{
	us_report(in);
	say_forged(in);
	while (in->families)
		us_family_drop(in, in->families);
	us_stop(in);
}

int us_attach(struct weft_instance *in, const struct weft_attach_request *request,
	      struct weft_attachment **out, struct weft_error *err)
{
	struct weft_attachment *at;
	uint32_t slot = 0, done = 0;
	int ret = us_start(in, err);

	if (ret)
		return ret;
	while (slot < US_MAX_PROGRAMS && in->slots[slot])
		slot++;
	at = slot < US_MAX_PROGRAMS ? calloc(1, sizeof(*at)) : NULL;
	ret = at ? us_kernel_set_program(&in->kernel, slot, request->prog_fd) : -ENOSPC;
	if (ret) {
		free(at);
		if (!in->attachments)
			stop(in);
		return in->host->fail(err, ret, "USER_SYSCALL_PROGRAM",
				      "the program of a clause cannot be put in its place: %s",
				      strerror(-ret));
	}
	in->slots[slot] = true;
	at->slot = slot;
	at->next = in->attachments;
	in->attachments = at;
	for (uint32_t i = 0; i < request->n_probes; i++) {
		const struct weft_attach_probe *r = weft_attach_probe_at(request, i);

		if (probe_of(in, r->probe)->attachment) {
			request->status[i] = -EEXIST;
			continue;
		}
		enable(in, r, at);
		done++;
	}
	*out = at;
	if (done) {
		tell(in, request, at);
		return 0;
	}
	us_detach(in, at);
	*out = NULL;
	return in->host->fail(err, -EEXIST, "USER_SYSCALL_TWICE",
			      "the probe is enabled by another clause already");
}

void us_detach(struct weft_instance *in, struct weft_attachment *at)
{
	struct weft_attachment **p = &in->attachments;

	for (struct us_family *f = in->families; f; f = f->next) {
		for (uint32_t i = 0; i < f->n_instances; i++) {
			struct us_instance *inst = f->instances[i];

			if (!inst || !inst->probe || inst->probe->attachment != at)
				continue;
			if (inst->enabled)
				us_slot_enable(&f->table, f->slot, i, false);
			if (inst->known)
				us_kernel_set_probe(&in->kernel, f->id, i, 0, US_NO_SLOT);
			inst->enabled = inst->known = false;
		}
	}
	us_probes_release(in, at);
	us_kernel_del_program(&in->kernel, at->slot);
	in->slots[at->slot] = false;
	while (*p != at)
		p = &(*p)->next;
	*p = at->next;
	free(at);
	if (!in->attachments)
		stop(in);
}
