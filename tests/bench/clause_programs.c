/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "clause_programs.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config/config.h"
#include "core/kernel/bpf.h"
#include "core/kernel/insn.h"
#include "core/kernel/load.h"

#define N_ARGS       3u
#define FIRST_ARG    16 /* bytes: where the arguments of a system call's tracepoint begin */
#define CONTEXT      (FIRST_ARG + 8 * N_ARGS)
#define CLANG_LOST   8u /* clauses/clause.h */
#define CLANG_STRIDE 64u

static struct weft_loc_op arg_ops[N_ARGS];
static struct weft_arg args[N_ARGS];

static const struct weft_probe_info *probe_info(void)
{
	static struct weft_probe_info info;

	for (unsigned i = 0; i < N_ARGS; i++) {
		arg_ops[i] = (struct weft_loc_op){.op = WEFT_LOC_CTX,
						  .size = 8,
						  .flags = WEFT_LOC_SIGNED,
						  .imm = FIRST_ARG + 8 * (int64_t)i};
		args[i] = (struct weft_arg){
			.struct_size = sizeof(struct weft_arg),
			.type = {.struct_size = sizeof(struct weft_arg_type),
				 .kind = WEFT_TYPE_INT,
				 .size = 8,
				 .flags = WEFT_TYPE_SIGNED},
			.where = {.ops = &arg_ops[i], .n_ops = 1},
		};
	}
	info = (struct weft_probe_info){
		.struct_size = sizeof(info),
		.scope = WEFT_SCOPE_EXACT,
		.load = {.struct_size = sizeof(info.load),
			 .prog_type = BPF_PROG_TYPE_TRACEPOINT,
			 .ctx_kind = WEFT_CTX_RECORD,
			 .ctx_size = CONTEXT},
		.args = args,
		.n_args = N_ARGS,
		.arg_size = sizeof(struct weft_arg),
	};
	return &info;
}

static int complain(const struct weft_error *err)
{
	fprintf(stderr, "%s: %s\n", weft_error_tag(err), weft_error_text(err));
	return -EINVAL;
}

/* ---- weft's ---- */

static const struct weft_probe_info *info_of(void *arg, uint32_t clause,
					     const struct weft_probe_info **entry)
{
	(void)entry;
	(void)arg;
	(void)clause;
	return probe_info();
}

static int find_variables(struct compiled *c)
{
	uint32_t index;
	int ret;

	ret = weft_state_build(c->set, info_of, NULL, NULL, c->set->arena, &c->variables, c->err);
	for (size_t i = 0; !ret && c->variables && i < c->variables->n_vars; i++)
		ret = weft_plan_variable(c->plan, c->variables->vars[i], &index, c->err);
	return ret ? complain(c->err) : 0;
}

static int compile_all(struct compiled *c)
{
	static const struct weft_group_probe probe = {.cookie = 2};
	struct weft_lang_env env = {.set = c->set, .info = probe_info(), .probe = "bench"};
	size_t n = c->set->n_clauses;

	c->typed = calloc(n, sizeof(*c->typed));
	c->programs = calloc(n, sizeof(*c->programs));
	c->plan = weft_plan_create(c->set, (uint32_t)libbpf_num_possible_cpus(), c->err);
	if (!c->typed || !c->programs || !c->plan)
		return -ENOMEM;
	if (find_variables(c))
		return -EINVAL;
	env.state = c->variables;
	for (size_t i = 0; i < n; i++) {
		struct weft_group group = {.info = env.info,
					   .clauses = &c->typed[i],
					   .n_clauses = 1,
					   .probes = &probe,
					   .n_probes = 1};

		if (weft_lang_clause(&env, &c->set->clauses[i], c->set->arena, &c->typed[i], c->err) ||
		    weft_compile_group(c->plan, &group, &c->programs[i], c->err))
			return complain(c->err);
		c->n_programs++;
	}
	return 0;
}

int compiled_init(struct compiled *c, const char *yaml)
{
	*c = (struct compiled){.err = weft_error_create()};
	if (!c->err)
		return -ENOMEM;
	if (weft_config_load_memory("bench", yaml, strlen(yaml), &c->set, c->err))
		return complain(c->err);
	return compile_all(c);
}

void compiled_finish(struct compiled *c)
{
	weft_plan_destroy(c->plan);
	weft_set_destroy(c->set);
	weft_error_destroy(c->err);
	free(c->typed);
	free(c->programs);
}

/* ---- loading ---- */

static int sizes(struct program *p)
{
	struct bpf_prog_info info;
	int ret = 0;

	for (int side = 0; side < DRIVE_SIDES && !ret; side++) {
		if (p->fd[side] < 0)
			continue;
		memset(&info, 0, sizeof(info));
		ret = weft_bpf_program_info(p->fd[side], &info);
		p->xlated += info.xlated_prog_len / (uint32_t)sizeof(struct bpf_insn);
		p->jited += info.jited_prog_len;
	}
	return ret;
}

/* The map of the plan that has the name, as a descriptor; -1: none. */
static int map_named(const struct loaded *l, const struct compiled *c, const char *name)
{
	for (size_t i = 0; i < c->plan->n_maps; i++)
		if (!strcmp(c->plan->maps[i].name, name))
			return l->maps.fds[i];
	return -1;
}

/* Words of clang's .bss, by the name of the variable. */
static uint64_t *clang_words(const struct loaded *l, const char *name)
{
	const struct btf *btf = bpf_object__btf(l->object);
	int32_t id = btf__find_by_name_kind(btf, ".bss", BTF_KIND_DATASEC);
	const struct btf_type *section = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);

	for (unsigned i = 0; l->bss && section && i < btf_vlen(section); i++) {
		const struct btf_var_secinfo *v = &btf_var_secinfos(section)[i];
		const struct btf_type *var = btf__type_by_id(btf, v->type);

		if (!strcmp(btf__name_by_offset(btf, var->name_off), name))
			return (uint64_t *)(l->bss + v->offset);
	}
	return NULL;
}

static int map_bss(struct loaded *l, const struct bpf_map *map)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p;

	l->bss_size = (bpf_map__value_size(map) + page - 1) / page * page;
	p = mmap(NULL, l->bss_size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (p == MAP_FAILED)
		return -errno;
	l->bss = p;
	return 0;
}

static int load_clang(struct loaded *l, const struct compiled *c, const char *path)
{
	struct bpf_program *program;
	struct bpf_map *map;
	uint64_t *control;
	int fd, ret, side;

	l->object = bpf_object__open_file(path, NULL);
	if (!l->object)
		return -errno;
	bpf_object__for_each_map(map, l->object)
	{
		fd = map_named(l, c, bpf_map__name(map));
		ret = fd < 0 ? 0 : bpf_map__reuse_fd(map, fd);
		if (ret)
			return ret;
	}
	ret = bpf_object__load(l->object);
	if (ret)
		return ret;
	map = bpf_object__find_map_by_name(l->object, ".bss");
	ret = map ? map_bss(l, map) : -ENOENT;
	if (ret)
		return ret;
	side = 0;
	bpf_object__for_each_program(program, l->object)
	{
		if (side < DRIVE_SIDES)
			l->clang.fd[side++] = bpf_program__fd(program);
	}
	control = clang_words(l, "control");
	if (!control)
		return -ENOENT;
	control[offsetof(struct weft_control, enabled) / 8] = 1;
	return sizes(&l->clang);
}

static int load_weft(struct loaded *l, struct compiled *c)
{
	char *log = NULL;

	if (weft_maps_create(&l->maps, c->plan, c->err))
		return complain(c->err);
	for (size_t side = 0; side < DRIVE_SIDES && side < c->n_programs; side++) {
		if (weft_program_load(&c->programs[side], &l->maps, &l->weft.fd[side], &log,
				      c->err)) {
			fputs(log ? log : "", stderr);
			free(log);
			return complain(c->err);
		}
	}
	((struct weft_control *)l->maps.state)->enabled = 1;
	return sizes(&l->weft);
}

int loaded_init(struct loaded *l, struct compiled *c, const char *object)
{
	int ret;

	*l = (struct loaded){.weft.fd = {-1, -1}, .clang.fd = {-1, -1}};
	ret = load_weft(l, c);
	if (!ret)
		ret = load_clang(l, c, object);
	if (ret)
		fprintf(stderr, "%s: %s\n", object, strerror(-ret));
	return ret;
}

void loaded_finish(struct loaded *l)
{
	if (l->bss)
		munmap(l->bss, l->bss_size);
	bpf_object__close(l->object);
	for (int side = 0; side < DRIVE_SIDES; side++)
		if (l->weft.fd[side] >= 0)
			close(l->weft.fd[side]);
	weft_maps_finish(&l->maps);
}

int program_empty(struct program *p)
{
	struct bpf_insn insns[] = {INSN_MOV64_IMM(BPF_REG_0, 0), INSN_EXIT()};
	const struct weft_load_class load = probe_info()->load;
	struct weft_error *err = weft_error_create();
	int ret = -ENOMEM;

	if (err)
		ret = weft_program_load_own("bench_empty", &load, insns, 2, &p->fd[0], err);
	p->fd[1] = p->fd[0];
	if (ret && err)
		complain(err);
	weft_error_destroy(err);
	return ret;
}

/* ---- what they counted ---- */

struct walk {
	uint64_t sum;
	uint32_t words;
};

static int add_row(const void *key, const void *value, void *arg)
{
	struct walk *w = arg;

	(void)key;
	for (uint32_t i = 0; i < w->words; i++)
		w->sum += ((const uint64_t *)value)[i];
	return 0;
}

uint64_t loaded_total(const struct loaded *l, const struct compiled *c)
{
	const struct weft_aggregation *a = c->plan->aggregations;
	struct walk w = {.words = c->plan->n_cpus};
	const uint64_t *clang;

	if (!c->plan->n_aggregations)
		return 0;
	if (a->map >= 0) {
		weft_map_walk(l->maps.fds[a->map], &c->plan->maps[a->map], c->plan->n_cpus, add_row,
			      &w, c->err);
		return w.sum;
	}
	clang = clang_words(l, "slots");
	for (uint32_t cpu = 0; clang && cpu < c->plan->n_cpus; cpu++) {
		w.sum += clang[cpu * CLANG_STRIDE / 8];
		w.sum += *(uint64_t *)((char *)l->maps.state + a->state_offset +
				       cpu * WEFT_SLOT_STRIDE);
	}
	return w.sum;
}

uint64_t loaded_lost(const struct loaded *l, const struct compiled *c)
{
	const uint64_t *clang = clang_words(l, "lost");
	uint64_t sum = 0;

	for (unsigned i = 0; clang && i < CLANG_LOST; i++)
		sum += clang[i];
	for (size_t i = 0; i < c->plan->n_losses; i++)
		sum += *(uint64_t *)((char *)l->maps.state + c->plan->losses[i].state_offset);
	return sum;
}
