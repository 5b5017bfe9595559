/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The life of a session: create, prepare, destroy; between them start.c, run.c and stop.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/kernel/cpus.h"
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

void weft_session_destroy(struct weft_session *s)
{
	size_t i;

	if (!s)
		return;
	weft_session_release(s);
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
	ret = weft_slot_probe_note(o, probe, none, out, err);
	weft_params_destroy(none);
	return ret;
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
	unsigned int *cpus;
	size_t n_cpus;
	int ret, failed;

	if (s->state != WEFT_SESSION_IDLE)
		return weft_fail(err, -EINVAL, "SESSION_STATE",
				 "the session has a probe set already");
	s->set = set;
	ret = weft_cpus_possible(&cpus, &n_cpus);
	if (ret == -ENOMEM)
		return weft_nomem(err);
	if (ret)
		return weft_fail(err, ret, "CPUS",
				 "cannot read which CPUs this machine can have, in "
				 "/sys/devices/system/cpu/possible: %s",
				 strerror(-ret));
	free(cpus);
	s->plan = weft_plan_create(set, (uint32_t)n_cpus, err);
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
	weft_error_sort(err); /* clauses are typed as probes want them */
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

const struct weft_program *weft_session_begin(const struct weft_session *s)
{
	return s->has_begin ? &s->begin : NULL;
}

const struct weft_program *weft_session_end(const struct weft_session *s)
{
	return s->has_end ? &s->end : NULL;
}

uint64_t weft_session_map_memory(const struct weft_session *s)
{
	return weft_maps_memory(&s->maps);
}
