/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A set down the whole road: YAML, language, compiler, kernel, consumer. One probe has all of the
 * clauses; a firing is a run of the program as a raw tracepoint. What is seen is written down in
 * the form that model_set.c has, too.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "core/kernel/load.h"
#include "tests/random/engine.h"

/* ---- where programs run ---- */

static void move_to(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

const struct rnd_world *rnd_world(void)
{
	static struct rnd_world w;
	cpu_set_t all;
	int cpu;

	if (w.numbers[0])
		return &w;
	w = (struct rnd_world){.numbers = {getpid(), gettid(), getuid(), getgid()}};
	w.cpus[0] = w.cpus[1] = cpu = sched_getcpu();
	CPU_ZERO(&all);
	sched_getaffinity(0, sizeof(all), &all);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (i != cpu && CPU_ISSET(i, &all))
			w.cpus[1] = i;
	move_to(cpu);
	prctl(PR_SET_NAME, "random/cat");
	prctl(PR_GET_NAME, w.execname);
	return &w;
}

/* ---- to a program ---- */

/* What the clause's probes are like: those of a return alone have an entry. */
static const struct weft_probe_info *info_for(const struct engine *e, uint32_t clause)
{
	bool back = e->set->pairs && e->set->clauses[clause].probes == 1u << RND_RETURN;

	return &e->infos[back ? RND_RETURN : 0];
}

static const struct weft_probe_info *info_of(void *arg, uint32_t clause,
					     const struct weft_probe_info **entry)
{
	const struct engine *e = arg;

	clause -= e->config->clauses[0].index;
	if (clause >= e->set->n_clauses)
		return NULL; /* begin and end have none */
	if (info_for(e, clause) == &e->infos[RND_RETURN])
		*entry = &e->infos[RND_ENTRY];
	return info_for(e, clause);
}

static int type_one(struct engine *e, const struct weft_lang_env *env,
		    const struct weft_clause *clause, struct weft_typed_clause *out)
{
	int ret = weft_lang_clause(env, clause, e->config->arena, out, e->err);
	const char *wrong = ret ? NULL : weft_lang_verify_clause(out);

	return wrong ? weft_fail(e->err, -EINVAL, "TREE_BROKEN", "%s", wrong) : ret;
}

static int type_all(struct engine *e)
{
	struct weft_lang_env env = {.set = e->config, .probe = "t:m:f:n", .btf = &engine_types};
	int ret;

	ret = weft_state_build(e->config, info_of, e, &engine_types, e->config->arena, &e->state,
			       e->err);
	env.state = e->state;
	for (size_t i = 0; i < e->config->n_clauses && !ret; i++) {
		env.info = info_for(e, (uint32_t)i);
		env.entry_info = env.info == &e->infos[RND_RETURN] ? &e->infos[RND_ENTRY] : NULL;
		ret = type_one(e, &env, &e->config->clauses[i], &e->clauses[i]);
	}
	env.info = env.entry_info = NULL;
	env.probe = NULL;
	if (!ret && e->config->n_begin)
		ret = type_one(e, &env, e->config->begin, &e->lists[0].clause);
	if (!ret && e->config->n_end)
		ret = type_one(e, &env, e->config->end, &e->lists[1].clause);
	return ret;
}

static void set_namespace(struct weft_plan *plan)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino == 0xeffffffcu)
		return;
	plan->pidns_dev = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
	plan->pidns_ino = st.st_ino;
}

static int compile_group(struct engine *e, const struct weft_group *group, struct weft_program *out)
{
	char *listing;
	int ret;

	out->dispatch_map = -1;
	ret = weft_compile_group(e->plan, group, out, e->err);
	if (!ret && e->plan->keep_listing &&
	    !weft_plan_explain(e->plan, out, e->set->arena, &listing))
		fputs(listing, stderr);
	return ret;
}

static int compile_list(struct engine *e, struct list *l)
{
	if (!l->clause.clause)
		return 0;
	l->probe.cookie = UINT64_MAX;
	l->group.clauses = &l->clause;
	l->group.n_clauses = 1;
	l->group.probes = &l->probe;
	l->group.n_probes = 1;
	return compile_group(e, &l->group, &l->program);
}

static int compile(struct engine *e)
{
	uint32_t index;
	int ret = 0;

	e->plan = weft_plan_create(e->config, (uint32_t)sysconf(_SC_NPROCESSORS_CONF), e->err);
	if (!e->plan)
		return -ENOMEM;
	set_namespace(e->plan);
	for (size_t i = 0; e->state && i < e->state->n_vars && !ret; i++)
		ret = weft_plan_variable(e->plan, e->state->vars[i], &index, e->err);

	e->plan->keep_listing = getenv("WEFT_RANDOM_LISTING") != NULL;
	engine_make_parts(e);
	if (!ret && e->set->pairs && e->part_of[RND_ENTRY]->group.texts)
		ret = weft_plan_entry_texts(e->plan, 1, e->err);
	for (size_t i = 0; i < e->n_parts && !ret; i++)
		ret = compile_group(e, &e->parts[i].group, &e->parts[i].program);
	for (size_t i = 0; i < N(e->lists) && !ret; i++)
		ret = compile_list(e, &e->lists[i]);
	return ret;
}

/* Notes how many instructions the verifier looked at. */
static int note_steps(struct engine *e, int prog_fd)
{
	struct bpf_prog_info info = {0};
	int ret = weft_bpf_program_info(prog_fd, &info);

	if (ret)
		return weft_fail(e->err, ret, "PROGRAM_INFO", "no information about a program");
	if (info.verified_insns > e->set->steps)
		e->set->steps = info.verified_insns;
	return 0;
}

static int load_part(struct engine *e, struct part *p, char **log)
{
	int map = p->program.dispatch_map, ret = 0;
	size_t failed;

	for (size_t i = 0; i < p->group.n_probes && !ret; i++) {
		struct weft_map_pair pair = {p->probes[i].identity_value, p->probes[i].cookie + 1};

		if (map >= 0)
			ret = weft_map_put(e->maps.fds[map], &pair, 1, &failed, e->err);
		if (e->maps.probes && p->probes[i].cookie < e->maps.probes_size / 8)
			e->maps.probes[p->probes[i].cookie] =
				weft_plan_probe_bits(e->plan, p->probes[i].probe);
	}
	if (!ret)
		ret = weft_program_load(&p->program, &e->maps, &p->fd, log, e->err);
	return ret ? ret : note_steps(e, p->fd);
}

static int load(struct engine *e)
{
	char *log = NULL;
	int ret = weft_maps_create(&e->maps, e->plan, e->err);

	if (!ret)
		ret = weft_maps_warm(&e->maps, e->plan, e->err);
	for (size_t i = 0; i < e->n_parts && !ret; i++)
		ret = load_part(e, &e->parts[i], &log);
	for (size_t i = 0; i < N(e->lists) && !ret; i++)
		if (e->lists[i].clause.clause)
			ret = weft_program_load(&e->lists[i].program, &e->maps, &e->lists[i].fd,
						&log, e->err);
	if (log && getenv("WEFT_RANDOM_LOG"))
		fputs(log, stderr);
	free(log);
	return ret;
}

static int fire(struct engine *e, uint32_t firing)
{
	union bpf_attr attr = {0};

	attr.test.prog_fd = (uint32_t)e->part_of[e->set->probe[firing]]->fd;
	attr.test.ctx_in = (uint64_t)(uintptr_t)e->set->firings[firing];
	attr.test.ctx_size_in = 8 * RND_WORDS;
	return weft_bpf(BPF_PROG_TEST_RUN, &attr, sizeof(attr));
}

/* ---- a run ---- */

struct storm {
	struct engine *e;
	int cpu, ret;
	pthread_barrier_t *begin;
};

static void *storm(void *arg)
{
	struct storm *s = arg;

	move_to(s->cpu);
	pthread_barrier_wait(s->begin);
	for (uint32_t n = 0; n < s->e->set->at_once * s->e->set->n_firings && !s->ret; n++)
		s->ret = fire(s->e, n % s->e->set->n_firings);
	return NULL;
}

static int fire_at_once(struct engine *e)
{
	pthread_barrier_t begin;
	struct storm s[2];
	pthread_t threads[2];
	int ret = 0;

	pthread_barrier_init(&begin, NULL, 2);
	for (int i = 0; i < 2; i++) {
		s[i] = (struct storm){e, rnd_world()->cpus[i], 0, &begin};
		if (pthread_create(&threads[i], NULL, storm, &s[i]))
			abort(); /* the other would wait for ever */
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		ret = ret ? ret : s[i].ret;
	}
	pthread_barrier_destroy(&begin);
	return ret;
}

static int run_list(struct engine *e, const struct list *l)
{
	int ret = l->fd < 0 ? 0 : weft_program_run(l->fd, e->err);

	return ret ? ret : weft_consumer_finish(e->consumer, e->err);
}

static int watch(struct engine *e)
{
	struct weft_sink sink = {.record = engine_see_record,
				 .table = engine_see_table,
				 .loss = engine_see_loss,
				 .self = e};
	struct weft_consumer_env env = {.plan = e->plan,
					.maps = &e->maps,
					.sink = &sink,
					.probe_text = engine_probe_text,
					.arg = e};
	const struct weft_control *control = e->maps.state;
	uint32_t cpu = 0;
	uint64_t total;
	int ret;

	rnd_world();
	ret = weft_consumer_create(&env, &e->consumer, e->err);
	((struct weft_control *)e->maps.state)->enabled = 1;
	if (!ret)
		ret = run_list(e, &e->lists[0]);
	if (!ret && e->set->at_once)
		ret = fire_at_once(e);
	for (uint32_t f = 0; f < e->set->n_firings && !e->set->at_once && !ret; f++) {
		if (cpu != e->set->cpus[f])
			move_to(rnd_world()->cpus[cpu = e->set->cpus[f]]);
		ret = fire(e, f);
		if (!ret)
			ret = weft_consumer_finish(e->consumer, e->err);
	}
	if (cpu)
		move_to(rnd_world()->cpus[0]);
	if (!ret)
		ret = run_list(e, &e->lists[1]);
	if (!ret)
		ret = weft_consumer_show(e->consumer, NULL, 0, false, e->err);
	if (!ret)
		ret = weft_consumer_losses(e->consumer, NULL, 0, &total);
	model_say_losses(e->out, e->losses, e->n_losses);
	if (!ret)
		ret = engine_say_variables(e);
	if (control->exit_requested)
		fprintf(e->out, "exit %u\n", (unsigned)control->exit_status);
	return ret;
}

static enum rnd_outcome run(struct engine *e, const char *yaml)
{
	int ret;

	ret = weft_config_load_memory("case.yaml", yaml, strlen(yaml), &e->config, e->err);
	if (!ret)
		ret = type_all(e);
	if (!ret)
		ret = compile(e);
	if (ret)
		return RND_REFUSED;
	ret = load(e);
	if (!ret)
		ret = watch(e);
	return ret ? RND_BROKEN : RND_RAN;
}

enum rnd_outcome rnd_run(struct rnd_set *set, const char *yaml, const char **seen)
{
	struct engine e = {.set = set, .lists = {{.fd = -1}, {.fd = -1}}};
	enum rnd_outcome outcome;

	e.err = weft_error_create();
	e.out = open_memstream(&e.text, &e.size);
	engine_make_probe(&e);
	engine_make_identity(&e);
	outcome = engine_make_probes(&e) ? RND_BROKEN : run(&e, yaml);
	fclose(e.out);
	if (outcome == RND_RAN)
		*seen = weft_arena_strdup(set->arena, e.text);
	else
		*seen = weft_arena_printf(set->arena, "%s %s", weft_error_tag(e.err),
					  weft_error_text(e.err));
	free(e.text);
	free(e.lines);
	free(e.losses);
	weft_consumer_destroy(e.consumer);
	for (size_t i = 0; i < e.n_parts; i++)
		if (e.parts[i].fd >= 0)
			close(e.parts[i].fd);
	for (size_t i = 0; i < N(e.lists); i++)
		if (e.lists[i].fd >= 0)
			close(e.lists[i].fd);
	weft_maps_finish(&e.maps);
	weft_plan_destroy(e.plan);
	weft_set_destroy(e.config);
	weft_registry_destroy(e.registry);
	weft_error_destroy(e.err);
	return outcome;
}
