/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* From a prepared session to one that traces, and back: everything that the kernel is asked for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/kernel/clock.h"
#include "core/kernel/privilege.h"
#include "core/session/internal.h"

void weft_session_release(struct weft_session *s)
{
	size_t i;

	weft_session_close_loop(s);
	weft_session_detach_all(s);
	for (i = 0; i < s->n_gangs; i++) {
		if (s->gangs[i]->fd >= 0)
			close(s->gangs[i]->fd);
		s->gangs[i]->fd = -1;
		s->gangs[i]->n_attached = 0;
		s->gangs[i]->refused = false;
	}
	for (i = 0; i < s->n_enablings; i++)
		s->enablings[i].attached = s->enablings[i].refused = false;
	if (s->end_fd > 0)
		close(s->end_fd);
	s->end_fd = 0;
	weft_target_finish(s);
	weft_consumer_destroy(s->consumer);
	s->consumer = NULL;
	weft_maps_finish(&s->maps);
	s->state = s->plan ? WEFT_SESSION_PREPARED : WEFT_SESSION_IDLE;
}

static const char *probe_text(void *arg, uint64_t cookie, int field)
{
	return weft_enabling_text(arg, cookie, field);
}

static int run_once(struct weft_session *s, const struct weft_program *prog, char **log,
		    struct weft_error *err)
{
	int fd = -1, ret;

	ret = weft_program_load(prog, &s->maps, &fd, log, err);
	if (ret)
		return ret;
	ret = weft_program_run(fd, err);
	close(fd);
	return ret;
}

/* CLOCK_TAI - CLOCK_REALTIME: whole seconds, as both clocks step together; the two readings are not
 * quite of one moment. */
static int64_t tai_offset_ns(void)
{
	struct timespec tai, real;
	int64_t ns;

	clock_gettime(CLOCK_TAI, &tai);
	clock_gettime(CLOCK_REALTIME, &real);
	ns = (int64_t)(tai.tv_sec - real.tv_sec) * 1000000000 + (tai.tv_nsec - real.tv_nsec);
	return (ns + 500000000) / 1000000000 * 1000000000; /* never negative since 1972 */
}

void weft_session_enable_programs(struct weft_session *s, uint64_t enabled)
{
	struct weft_control *control = s->maps.state;

	control->tai_offset_ns = tai_offset_ns();
	__atomic_store_n(&control->enabled, enabled, __ATOMIC_SEQ_CST);
}

static int start_processes(struct weft_session *s, struct weft_error *err)
{
	bool targets = s->plan->target_check, execgen = s->plan->maps[WEFT_PLAN_EXECGEN].used;
	size_t i;
	int ret;

	if (s->plan->uses_ustack && !s->procwatch) {
		ret = weft_procwatch_create(true, &s->procwatch, err);
		if (ret)
			return ret;
	}
	if (!targets && !execgen)
		return 0;
	ret = weft_procset_attach(s->plan, &s->maps, s->target.follow, execgen, targets,
				  &s->procset, err);
	for (i = 0; !ret && i < s->n_target_pids && targets; i++)
		ret = weft_procset_add(&s->maps, s->target_pids[i], err);
	return ret;
}

static int load_all(struct weft_session *s, char **log, struct weft_error *err)
{
	size_t i;
	int ret;

	for (i = 0; i < s->n_gangs; i++) {
		ret = weft_session_load_gang(s, s->gangs[i], log, err);
		if (ret)
			return ret;
	}
	if (!s->has_end)
		return 0;
	ret = weft_program_load(&s->end, &s->maps, &s->end_fd, log, err);
	if (ret)
		s->end_fd = 0;
	return ret;
}

/* The capabilities that a provider's message asks for may all be there, and not be enough. */
static void explain_denial(int code, struct weft_error *err)
{
	int level;

	if ((code == -EPERM || code == -EACCES) && weft_privilege_paranoid(&level))
		weft_fail(err, code, "PERF_PARANOID",
			  "kernel.perf_event_paranoid is %d, with which kernels of some "
			  "distributions want CAP_SYS_ADMIN, where 2 asks for CAP_PERFMON",
			  level);
}

int weft_session_start(struct weft_session *s, const struct weft_sink *sink, char **log,
		       struct weft_error *err)
{
	struct weft_consumer_env env = {.probe_text = probe_text, .arg = s};
	size_t i;
	int ret;

	if (s->state != WEFT_SESSION_PREPARED)
		return weft_fail(err, -EINVAL, "SESSION_STATE", "the session has no probe set");
	s->sink = *sink;
	s->symbols = s->symbols ? s->symbols : weft_symbols_create();
	if (!s->symbols)
		return weft_nomem(err);
	ret = weft_session_elf_reader(s, err);
	if (ret)
		return ret;
	weft_symbols_use_reader(s->symbols, s->elf_reader);
	if (s->env.lines)
		weft_symbols_want_lines(s->symbols);

	ret = weft_target_spawn(s, err);
	if (ret)
		goto fail;
	/* Targets are followed for the sake of probes that are still to come, too. */
	if (s->plan->target_check)
		s->plan->maps[WEFT_PLAN_TARGETS].used = true;
	ret = weft_maps_create(&s->maps, s->plan, err);
	if (ret)
		goto fail;
	env.plan = s->plan;
	env.maps = &s->maps;
	env.symbols = s->symbols;
	env.sink = &s->sink;
	ret = weft_consumer_create(&env, &s->consumer, err);
	if (ret)
		goto fail;
	ret = weft_session_check_alone(s, log, err);
	if (!ret)
		ret = load_all(s, log, err);
	if (ret)
		goto fail;
	ret = weft_maps_warm(&s->maps, s->plan, err);
	if (ret)
		goto fail;
	if (s->has_begin) {
		/* The list itself runs while nothing else does. */
		weft_session_enable_programs(s, 1);
		ret = run_once(s, &s->begin, log, err);
		weft_session_enable_programs(s, 0);
		if (ret)
			goto fail;
	}
	for (i = 0; i < s->n_gangs; i++) {
		ret = weft_session_attach_gang(s, s->gangs[i], err);
		if (ret) {
			explain_denial(ret, err);
			goto fail;
		}
	}
	weft_session_say_refused(s);
	/* Last, since programs of one tracepoint run in the order in which they were attached: a
	 * probe on the end of a process is to find it a target, and its variables in place. */
	ret = start_processes(s, err);
	if (!ret)
		ret = weft_session_follow_threads(s, err);
	if (!ret)
		ret = weft_target_poise(s, err);
	if (ret)
		goto fail;
	weft_session_enable_programs(s, 1);
	s->enabled_ns = weft_clock_before();
	ret = weft_target_release(s, err);
	if (ret)
		goto fail;
	weft_consumer_span(s->consumer, s->enabled_ns, 0);
	if (s->plan->uses_ustack)
		weft_snapshot_init(s);
	s->state = WEFT_SESSION_RUNNING;
	return 0;
fail:
	weft_error_set_file(err, s->set->file);
	weft_session_release(s);
	return ret;
}
