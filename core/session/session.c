/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The life of a session: create, prepare, start, stop, destroy. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "core/kernel/clock.h"
#include "core/session/internal.h"

#define INITIAL_PID_NAMESPACE 0xEFFFFFFCu /* PROC_PID_INIT_INO, include/linux/proc_ns.h */

int weft_session_create(const struct weft_session_env *env, struct weft_session **out,
			struct weft_error *err)
{
	struct weft_session *s = calloc(1, sizeof(*s));
	size_t i;

	if (!s)
		return weft_nomem(err);
	s->env = *env;
	s->command_gate = s->command_status = -1;
	s->target.struct_size = sizeof(s->target);
	s->arena = weft_arena_create();
	s->registry = weft_registry_create();
	s->providers = calloc(env->n_providers ? env->n_providers : 1, sizeof(*s->providers));
	if (!s->arena || !s->registry || !s->providers)
		goto nomem;
	for (i = 0; i < env->n_providers; i++) {
		if (weft_opened_init(s, &s->providers[i], env->providers[i]))
			goto nomem;
		s->n_providers++;
	}
	*out = s;
	return 0;
nomem:
	weft_session_destroy(s);
	return weft_nomem(err);
}

/* Gives back all that start() took from the kernel, in any state of completeness. */
static void release(struct weft_session *s)
{
	size_t i;

	weft_session_detach_all(s);
	for (i = 0; i < s->n_gangs; i++) {
		if (s->gangs[i]->fd >= 0)
			close(s->gangs[i]->fd);
		s->gangs[i]->fd = -1;
		s->gangs[i]->n_attached = 0;
	}
	for (i = 0; i < s->n_enablings; i++)
		s->enablings[i].attached = false;
	if (s->end_fd > 0)
		close(s->end_fd);
	s->end_fd = 0;
	weft_target_finish(s);
	weft_consumer_destroy(s->consumer);
	s->consumer = NULL;
	weft_maps_finish(&s->maps);
	s->state = s->plan ? WEFT_SESSION_PREPARED : WEFT_SESSION_IDLE;
}

void weft_session_destroy(struct weft_session *s)
{
	size_t i;

	if (!s)
		return;
	release(s);
	for (i = 0; i < s->n_providers; i++)
		weft_opened_finish(&s->providers[i]);
	weft_procwatch_destroy(s->procwatch);
	weft_symbols_destroy(s->symbols);
	weft_elf_reader_destroy(s->elf_reader);
	for (i = 0; i < s->n_gangs; i++)
		weft_gang_destroy(s->gangs[i]);
	free(s->gangs);
	weft_enable_finish(s);
	for (i = 0; i < s->n_losses; i++) {
		free(s->losses[i].tag);
		free(s->losses[i].detail);
	}
	free(s->losses);
	free(s->attached);
	free(s->typed);
	free(s->classes);
	free(s->snapshot);
	free(s->target_pids);
	free(s->providers);
	weft_plan_destroy(s->plan);
	weft_registry_destroy(s->registry);
	weft_btfs_destroy(s->btfs);
	weft_arena_destroy(s->arena);
	free(s);
}

int weft_session_set_target(struct weft_session *s, const int32_t *pids, size_t n_pids, bool follow,
			    struct weft_error *err)
{
	return weft_target_set(s, pids, n_pids, follow, (struct weft_pos){0}, err);
}

/* The options of a probe that is only looked at. */
static int plain_options(struct weft_opened *o, struct weft_params **out, struct weft_error *err)
{
	int ret = weft_params_create(o->provider->name, o->provider->options, WEFT_OPTION_PER_PROBE,
				     NULL, 0, out, err);

	if (!ret)
		weft_params_inherit(*out, o->params);
	return ret;
}

int weft_session_describe(struct weft_session *s, const struct weft_probe *probe,
			  const struct weft_probe_info **out, const struct weft_layout **layouts,
			  uint32_t *n_layouts, struct weft_error *err)
{
	struct weft_opened *o = weft_session_provider_of(s, probe);
	struct weft_params *none;
	struct weft_described described;
	int ret;

	ret = plain_options(o, &none, err);
	if (ret)
		return ret;
	ret = weft_info_describe(o, probe, none, false, &described, err);
	weft_params_destroy(none);
	if (ret)
		return ret;
	weft_session_name_types(s, &described.classes[0]->info);
	*out = &described.classes[0]->info;
	*layouts = described.layouts;
	*n_layouts = described.layouts ? described.n : 0;
	return 0;
}

int weft_session_note(struct weft_session *s, const struct weft_probe *probe, const char **out,
		      struct weft_error *err)
{
	struct weft_opened *o = weft_session_provider_of(s, probe);
	const struct weft_provider *p = o->provider;
	struct weft_params *none;
	int ret;

	*out = NULL;
	if (p->struct_size < offsetof(struct weft_provider, probe_note) + sizeof(p->probe_note) ||
	    !p->probe_note)
		return 0;
	ret = plain_options(o, &none, err);
	if (ret)
		return ret;
	*out = p->probe_note(o->instance, probe, none);
	weft_params_destroy(none);
	return 0;
}

/* ---- preparing ---- */

static int check_provider_names(struct weft_session *s, struct weft_error *err)
{
	const char *names[64];
	size_t i, k, n = 0;
	int ret = 0;

	for (i = 0; i < s->n_providers && n < 64; i++)
		names[n++] = s->providers[i].provider->name;
	for (i = 0; i < s->set->n_providers; i++) {
		const struct weft_text *name = &s->set->providers[i].provider;

		for (k = 0; k < s->n_providers; k++)
			if (!strcmp(s->providers[k].provider->name, name->s))
				break;
		if (k < s->n_providers)
			continue;
		ret = weft_fail_at(err, name->pos, -ENOENT, "PROBE_NO_PROVIDER",
				   "options for a provider that is not loaded: %s", name->s);
		weft_error_suggest(err, weft_nearest(name->s, names, n));
	}
	return ret;
}

static void detect_pid_namespace(struct weft_plan *plan)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino == INITIAL_PID_NAMESPACE)
		return;
	/* As the kernel encodes a device number. */
	plan->pidns_dev = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
	plan->pidns_ino = st.st_ino;
}

int weft_session_prepare(struct weft_session *s, struct weft_set *set, struct weft_error *err)
{
	int cpus, ret, failed;

	if (s->state != WEFT_SESSION_IDLE)
		return weft_fail(err, -EINVAL, "SESSION_STATE",
				 "the session has a probe set already");
	s->set = set;
	cpus = libbpf_num_possible_cpus();
	if (cpus < 1)
		return weft_fail(err, cpus ? cpus : -ENODEV, "CPUS",
				 "cannot read the possible CPUs of this machine");
	s->plan = weft_plan_create(set, (uint32_t)cpus, err);
	if (!s->plan)
		return weft_error_code(err) ? weft_error_code(err) : weft_nomem(err);
	s->plan->target_check = set->target.n_pids || set->target.command;
	/* Whether its programs look or not: probes that appear may do so. */
	s->plan->maps[WEFT_PLAN_TARGETS].used = s->plan->target_check;
	s->plan->keep_listing = s->env.explain;
	detect_pid_namespace(s->plan);
	if (s->plan->target_check && set->target.follow) {
		uint32_t offset; /* the programs that follow processes find it in the plan */

		ret = weft_plan_loss(s->plan, WEFT_LOSS_TARGETS_FULL, UINT32_MAX,
				     (struct weft_span){0}, &offset, err);
		if (ret)
			goto out;
	}
	ret = weft_target_set(s, set->target.pids, set->target.n_pids, set->target.follow,
			      set->target.pos, err);
	failed = check_provider_names(s, err);
	if (!ret)
		ret = failed;
	if (!ret)
		ret = weft_enable_init(s, err);
	if (ret)
		goto out;
	ret = weft_set_fill_patterns(set, err);
	if (ret)
		goto out;
	ret = weft_enable_match(s, 0, err);
	failed = weft_session_find_variables(s, err);
	if (!ret)
		ret = failed;
	if (failed)
		goto out;
	failed = weft_session_compile(s, err);
	if (!ret)
		ret = failed;
	failed = weft_session_check_unmatched(s, err);
	if (!ret)
		ret = failed;
	failed = weft_session_compile_lists(s, err);
	if (!ret)
		ret = failed;
	if (!ret)
		s->state = WEFT_SESSION_PREPARED;
out:
	weft_error_set_file(err, set->file);
	return ret;
}

const struct weft_plan *weft_session_plan(const struct weft_session *s)
{
	return s->plan;
}

size_t weft_session_n_programs(const struct weft_session *s)
{
	return s->n_gangs;
}

size_t weft_session_n_probes(const struct weft_session *s)
{
	return s->n_enablings;
}

const struct weft_program *weft_session_program(const struct weft_session *s, size_t i,
						const struct weft_probe **first, size_t *n_probes)
{
	const struct weft_gang *g = s->gangs[i];

	*first = s->enablings[g->members[0]].probe;
	*n_probes = g->n_members;
	return &g->program;
}

uint64_t weft_session_map_memory(const struct weft_session *s)
{
	return weft_maps_memory(&s->maps);
}

/* ---- starting ---- */

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

static void enable_programs(struct weft_session *s, uint64_t enabled)
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
	ret = load_all(s, log, err);
	if (ret)
		goto fail;
	ret = weft_maps_warm(&s->maps, s->plan, err);
	if (ret)
		goto fail;
	if (s->has_begin) {
		/* The list itself runs while nothing else does. */
		enable_programs(s, 1);
		ret = run_once(s, &s->begin, log, err);
		enable_programs(s, 0);
		if (ret)
			goto fail;
	}
	for (i = 0; i < s->n_gangs; i++) {
		ret = weft_session_attach_gang(s, s->gangs[i], err);
		if (ret)
			goto fail;
	}
	/* Last, since programs of one tracepoint run in the order in which they were attached: a
	 * probe on the end of a process is to find it a target, and its variables in place. */
	ret = start_processes(s, err);
	if (!ret)
		ret = weft_session_follow_threads(s, err);
	if (ret)
		goto fail;
	enable_programs(s, 1);
	s->enabled_ns = weft_clock_before();
	weft_consumer_span(s->consumer, s->enabled_ns, 0);
	if (s->plan->uses_ustack)
		weft_snapshot_init(s);
	ret = weft_target_release(s, err);
	if (ret)
		goto fail;
	s->state = WEFT_SESSION_RUNNING;
	return 0;
fail:
	weft_error_set_file(err, s->set->file);
	release(s);
	return ret;
}

/* ---- stopping ---- */

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

static int report_losses(struct weft_session *s, uint64_t *total, struct weft_error *err)
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
	ret = weft_session_poll_processes(s);
	if (ret)
		ret = weft_fail(err, ret, "RUN", "process events: %s", strerror(-ret));
	if (!ret)
		ret = weft_consumer_finish(s->consumer, err);
	if (!ret && s->has_end) {
		enable_programs(s, 1);
		ret = weft_program_run(s->end_fd, err);
		enable_programs(s, 0);
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
		ret = report_losses(s, &lost, err);
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
	release(s);
	return ret;
}
