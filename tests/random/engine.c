/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A set down the whole road: YAML, language, compiler, kernel, consumer. One probe has all of the
 * clauses; a firing is a run of the program as a raw tracepoint. What is seen is written down in
 * the form that model_set.c has, too.
 */
#include <bpf/btf.h>
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

#include "config/config.h"
#include "core/btf/btf.h"
#include "core/btf/source.h"
#include "core/compiler/cell.h"
#include "core/consumer.h"
#include "core/kernel/bpf.h"
#include "core/kernel/kernel.h"
#include "core/output/render.h"
#include "tests/random/model.h"

struct part {
	struct weft_typed_clause clauses[RND_CLAUSES];
	struct weft_group_probe probes[RND_PROBES];
	struct weft_group group;
	struct weft_program program;
	int fd;
};

struct engine {
	struct rnd_set *set;
	struct weft_error *err;
	struct weft_set *config;
	struct weft_state *state;
	struct weft_probe_info info;
	struct weft_arg args[RND_ARGS];
	struct weft_loc_op ops[RND_ARGS][2];
	struct weft_typed_clause clauses[RND_CLAUSES];
	struct weft_registry_core *registry;
	struct weft_group_probe probes[RND_PROBES];
	struct part parts[RND_PROBES]; /* programs; probes with the same clauses share one */
	struct part *part_of[RND_PROBES];
	size_t n_parts;
	struct weft_plan *plan;
	struct weft_maps maps;
	struct weft_consumer *consumer;
	FILE *out;
	char *text;
	size_t size;
	char **lines; /* that are to be sorted */
	size_t n_lines, cap_lines;
	struct loss *losses;
	size_t n_losses, cap_losses;
};

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

/* ---- the probe ---- */

static void make_arg(struct engine *e, uint32_t i, uint32_t kind, uint32_t space, uint32_t n_words,
		     uint32_t word)
{
	const struct rnd_type *t = &e->set->args[i];
	uint8_t size = i < RND_INTS ? t->size : 8;

	for (uint32_t k = 0; k < n_words; k++)
		e->ops[i][k] = (struct weft_loc_op){
			.op = WEFT_LOC_CTX,
			.size = size,
			.flags = i < RND_INTS && t->is_signed ? WEFT_LOC_SIGNED : 0,
			.imm = 8 * (int64_t)(word + k)};
	e->args[i] = (struct weft_arg){
		.struct_size = sizeof(struct weft_arg),
		.name = weft_arena_printf(e->set->arena, "n%u", i),
		.type = {.struct_size = sizeof(struct weft_arg_type),
			 .kind = kind,
			 .size = kind == WEFT_TYPE_INT ? size : 0,
			 .flags = kind == WEFT_TYPE_INT && t->is_signed ? WEFT_TYPE_SIGNED : 0,
			 .space = space},
		.where = {.ops = e->ops[i], .n_ops = n_words},
	};
}

static void make_probe(struct engine *e)
{
	for (uint32_t i = 0; i < RND_INTS; i++)
		make_arg(e, i, WEFT_TYPE_INT, 0, 1, i);
	make_arg(e, 6, WEFT_TYPE_STRING, WEFT_SPACE_USER, 1, 6);
	make_arg(e, 7, WEFT_TYPE_POINTER, WEFT_SPACE_USER, 1, 7);
	make_arg(e, 8, WEFT_TYPE_BYTES, WEFT_SPACE_USER, 2, 8);
	make_arg(e, 9, WEFT_TYPE_STRING, WEFT_SPACE_USER, 2, 10);
	e->ops[9][1].imm = 8 * 9; /* its length is arg8's */
	make_arg(e, 10, WEFT_TYPE_POINTER, WEFT_SPACE_KERNEL, 1, 5);
	e->info = (struct weft_probe_info){
		.struct_size = sizeof(e->info),
		.scope = WEFT_SCOPE_EXACT,
		.load = {.struct_size = sizeof(e->info.load),
			 .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
			 .ctx_kind = WEFT_CTX_WORDS,
			 .ctx_size = 8 * RND_WORDS},
		.args = e->args,
		.n_args = RND_ARGS,
		.arg_size = sizeof(struct weft_arg),
	};
}

/* Where several probes share a program, a word of the context tells which. */
static const struct weft_loc_op which_ops[1] = {
	{.op = WEFT_LOC_CTX, .size = 8, .imm = 8 * (RND_WORDS - 1)}};

static void make_identity(struct engine *e)
{
	e->info.identity = (struct weft_identity){.struct_size = sizeof(e->info.identity),
						  .kind = WEFT_IDENTITY_FIELD,
						  .n_keys = 1,
						  .key = {{.ops = which_ops, .n_ops = 1}}};
}

static int make_probes(struct engine *e)
{
	struct weft_registry *h;
	int ret = 0;

	e->registry = weft_registry_create();
	h = weft_registry_of(e->registry, "t");
	for (uint32_t i = 0; i < RND_PROBES && !ret; i++) {
		struct weft_probe_desc d = {sizeof(d),        0,
					    rnd_probes[i][0], rnd_probes[i][1],
					    rnd_probes[i][2], rnd_probes[i][3]};

		ret = weft_registry_add(h, &d, 0, &e->probes[i].probe, e->err);
		e->probes[i].cookie = 2 * i + 2;
		e->probes[i].identity_value = 100 + i;
	}
	return ret;
}

/* Which clauses a probe has: bit i for clause i. */
static uint32_t clauses_of(const struct engine *e, uint32_t probe)
{
	uint32_t all = 0;

	for (uint32_t i = 0; i < e->set->n_clauses; i++)
		all |= (e->set->clauses[i].probes >> probe & 1) << i;
	return all;
}

static void make_parts(struct engine *e)
{
	for (uint32_t i = 0; i < e->set->n_probes; i++) {
		uint32_t clauses = clauses_of(e, i), k;
		struct part *p;

		for (k = 0; k < i && clauses_of(e, k) != clauses; k++)
			;
		e->part_of[i] = p = k < i ? e->part_of[k] : &e->parts[e->n_parts++];
		p->probes[p->group.n_probes++] = e->probes[i];
		p->fd = -1;
		if (k < i)
			continue;
		p->group.info = &e->info;
		p->group.probes = p->probes;
		p->group.clauses = p->clauses;
		for (uint32_t c = 0; c < e->set->n_clauses; c++)
			if (clauses >> c & 1)
				p->clauses[p->group.n_clauses++] = e->clauses[c];
	}
}

/* ---- types ---- */

static int get_types(struct weft_btf_source *source, int fd, struct weft_btf **out,
		     struct weft_error *err)
{
	static struct weft_btf *types;
	struct btf *b;
	int i8, u8, i16, i32, u32, i64, c, pair, item, tagged;
	const void *bytes;
	uint32_t size;

	(void)source;
	(void)fd;
	*out = types;
	if (types)
		return 0;
	b = btf__new_empty();
	i8 = btf__add_int(b, "s8", 1, BTF_INT_SIGNED);
	u8 = btf__add_int(b, "u8", 1, 0);
	i16 = btf__add_int(b, "s16", 2, BTF_INT_SIGNED);
	i32 = btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	u32 = btf__add_int(b, "unsigned int", 4, 0);
	i64 = btf__add_int(b, "long int", 8, BTF_INT_SIGNED);
	c = btf__add_int(b, "char", 1, 0);
	pair = btf__add_struct(b, "pair", 8);
	btf__add_field(b, "e", i8, 0, 0);
	btf__add_field(b, "f", u32, 32, 0);
	/* What follows the struct: the array of char, that of int, the struct with a tag, a pointer. */
	item = btf__add_struct(b, "item", 64);
	btf__add_field(b, "a", u8, 0, 0);
	btf__add_field(b, "b", i16, 16, 0);
	btf__add_field(b, "lo", u32, 32, 5);
	btf__add_field(b, "mid", i32, 37, 9);
	btf__add_field(b, "hi", u32, 46, 18);
	btf__add_field(b, "c", i64, 64, 0);
	btf__add_field(b, "name", item + 1, 128, 0);
	btf__add_field(b, "nums", item + 2, 256, 0);
	btf__add_field(b, "inside", pair, 384, 0);
	btf__add_field(b, "next", item + 4, 448, 0);
	btf__add_array(b, i32, c, 16);
	btf__add_array(b, i32, i32, 4);
	tagged = btf__add_type_tag(b, "user", item);
	btf__add_ptr(b, tagged);
	bytes = btf__raw_data(b, &size);
	if (weft_btf_create(memcpy(malloc(size), bytes, size), size, false, NULL, &types, err))
		types = NULL;
	btf__free(b);
	*out = types;
	return types ? 0 : -EINVAL;
}

static struct weft_btf_source types = {.get = get_types};

/* ---- to a program ---- */

static const struct weft_probe_info *info_of(void *arg, uint32_t clause)
{
	(void)clause;
	return &((struct engine *)arg)->info;
}

static int type_all(struct engine *e)
{
	struct weft_lang_env env = {
		.set = e->config, .info = &e->info, .probe = "t:m:f:n", .btf = &types};
	const char *wrong;
	int ret;

	ret = weft_state_build(e->config, info_of, e, &types, e->config->arena, &e->state, e->err);
	env.state = e->state;
	for (size_t i = 0; i < e->config->n_clauses && !ret; i++) {
		ret = weft_lang_clause(&env, &e->config->clauses[i], e->config->arena,
				       &e->clauses[i], e->err);
		wrong = ret ? NULL : weft_lang_verify_clause(&e->clauses[i]);
		if (wrong)
			ret = weft_fail(e->err, -EINVAL, "TREE_BROKEN", "%s", wrong);
	}
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

static int compile(struct engine *e)
{
	char *listing;
	uint32_t index;
	int ret = 0;

	e->plan = weft_plan_create(e->config, (uint32_t)sysconf(_SC_NPROCESSORS_CONF), e->err);
	if (!e->plan)
		return -ENOMEM;
	set_namespace(e->plan);
	for (size_t i = 0; e->state && i < e->state->n_vars && !ret; i++)
		ret = weft_plan_variable(e->plan, e->state->vars[i], &index, e->err);

	e->plan->keep_listing = getenv("WEFT_RANDOM_LISTING") != NULL;
	make_parts(e);
	for (size_t i = 0; i < e->n_parts && !ret; i++) {
		struct part *p = &e->parts[i];

		p->program.dispatch_map = -1;
		ret = weft_compile_group(e->plan, &p->group, &p->program, e->err);
		if (!ret && e->plan->keep_listing &&
		    !weft_plan_explain(e->plan, &p->program, e->set->arena, &listing))
			fputs(listing, stderr);
	}
	return ret;
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
	return ret;
}

static int load(struct engine *e)
{
	char *log = NULL;
	int ret = weft_maps_create(&e->maps, e->plan, e->err);

	if (!ret)
		ret = weft_maps_warm(&e->maps, e->plan, e->err);
	for (size_t i = 0; i < e->n_parts && !ret; i++)
		ret = load_part(e, &e->parts[i], &log);
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

/* ---- what the consumer says ---- */

static void say_value(FILE *f, const struct weft_value *v)
{
	if (v->type.kind == WEFT_VALUE_INT)
		rnd_say_int(f, v->i, v->type.size, v->type.is_signed);
	else
		rnd_say_text(f, v->type.kind == WEFT_VALUE_BYTES ? "'" : "\"", v->text.s, v->text.n);
}

static int see_record(void *self, const struct weft_record *r)
{
	struct engine *e = self;

	bool has_bytes = false;
	struct weft_buf line = {0};

	fputs(r->format ? "printf" : "emit", e->out);
	for (size_t i = 0; i < r->n_fields; i++) {
		has_bytes |= r->fields[i].value.type.kind == WEFT_VALUE_BYTES;
		fprintf(e->out, " %s=", r->format ? "" : r->fields[i].name);
		say_value(e->out, &r->fields[i].value);
	}
	if (r->format && !has_bytes) {
		weft_render_printf(&line, r, false);
		rnd_say_text(e->out, " \"", line.data, line.n);
		weft_buf_finish(&line);
	}
	fputc('\n', e->out);
	return 0;
}

static void see_row(FILE *f, const struct weft_table *t, const struct weft_row *r)
{
	enum weft_action_kind k = t->kind;

	fputs(" ", f);
	for (size_t i = 0; i < r->n_keys; i++) {
		fprintf(f, " %s=", r->keys[i].name);
		say_value(f, &r->keys[i].value);
	}
	fputs(" :", f);
	if (k != WEFT_ACTION_SUM && k != WEFT_ACTION_MIN && k != WEFT_ACTION_MAX)
		fprintf(f, " n=%" PRIu64, r->count);
	if (k == WEFT_ACTION_SUM || k == WEFT_ACTION_AVG || k == WEFT_ACTION_STDDEV)
		fprintf(f, " sum=%" PRIx64 ".%016" PRIx64,
			(uint64_t)((weft_uwide)weft_row_sum(r) >> 64), (uint64_t)weft_row_sum(r));
	if (k == WEFT_ACTION_STDDEV)
		fprintf(f, " +-%.17g", r->stddev);
	if (k == WEFT_ACTION_MIN || k == WEFT_ACTION_MAX) {
		fputs(" ", f);
		say_value(f, &r->value);
	}
	for (size_t i = 0; i < r->n_buckets; i++) {
		const struct weft_bucket *b = &r->buckets[i];

		fputs(" [", f);
		rnd_say_int(f, b->from, 8, !b->is_unsigned);
		fputs(" ", f);
		rnd_say_int(f, b->to_is_max ? b->to : (int64_t)((uint64_t)b->to - 1), 8,
			    !b->is_unsigned);
		fprintf(f, "]=%" PRIu64, b->count);
	}
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_line(struct engine *e, char *line)
{
	weft_grow(&e->lines, &e->cap_lines, e->n_lines, sizeof(*e->lines));
	e->lines[e->n_lines++] = line;
}

static void say_lines(struct engine *e, bool sorted)
{
	if (sorted && e->n_lines)
		qsort(e->lines, e->n_lines, sizeof(char *), compare_lines);
	for (size_t i = 0; i < e->n_lines; i++) {
		fprintf(e->out, "%s\n", e->lines[i]);
		free(e->lines[i]);
	}
	e->n_lines = 0;
}

static int see_table(void *self, const struct weft_table *t)
{
	struct engine *e = self;

	fprintf(e->out, "table %s", t->name);
	if (t->n_left_out)
		fprintf(e->out, " and %zu more", t->n_left_out);
	fputc('\n', e->out);
	for (size_t i = 0; i < t->n_rows; i++) {
		/* Where the order hangs on roundings, it is looked at here and not by the model. */
		if (t->kind == WEFT_ACTION_STDDEV && i && t->rows[i].stddev > t->rows[i - 1].stddev)
			fputs("in no order\n", e->out);
		char *line;
		size_t size;
		FILE *f = open_memstream(&line, &size);

		see_row(f, t, &t->rows[i]);
		fclose(f);
		add_line(e, line);
	}
	say_lines(e, t->kind == WEFT_ACTION_STDDEV);
	return 0;
}

/* The place is "LINE:COLUMN: ..." behind the file's name. */
static int see_loss(void *self, const struct weft_loss_report *l)
{
	struct engine *e = self;
	struct loss seen = {.tag = l->tag, .count = l->count};
	size_t i;

	if (l->where)
		sscanf(l->where, "case.yaml:%u:%u", &seen.line, &seen.column);
	/* In a scalar whose columns cannot be told, expressions have one place. */
	for (i = 0; i < e->n_losses; i++)
		if (e->losses[i].tag == seen.tag && e->losses[i].line == seen.line &&
		    e->losses[i].column == seen.column)
			break;
	if (i < e->n_losses) {
		e->losses[i].count += seen.count;
		return 0;
	}
	weft_grow(&e->losses, &e->cap_losses, e->n_losses, sizeof(seen));
	e->losses[e->n_losses++] = seen;
	return 0;
}

static const char *probe_text(void *arg, uint64_t cookie, int field)
{
	(void)arg;
	return field < 0 ? "a probe" : rnd_probes[cookie / 2 - 1][field];
}

/* ---- what variables hold ---- */

struct left {
	struct engine *e;
	const struct weft_variable *v;
};

static int say_left(const void *key, const void *value, void *arg)
{
	const struct left *l = arg;
	const struct weft_state_var *var = l->v->var;
	const struct weft_cell *cell = (const void *)((const uint8_t *)value + l->v->offset);
	const uint8_t *k = key;
	char *line;
	size_t size;
	FILE *f;
	int64_t bits;

	if (!cell->set && !var->counts)
		return 0;
	f = open_memstream(&line, &size);
	fprintf(f, "left %s", var->name);
	for (uint32_t i = 0; i < var->n_keys; i++) {
		const struct weft_field_layout *at = &l->v->keys[i];

		fputc(' ', f);
		memcpy(&bits, k + at->offset, sizeof(bits));
		if (at->type.kind == WEFT_VALUE_STRING)
			rnd_say_text(f, "\"", k + at->offset,
				     strnlen((const char *)k + at->offset, at->size));
		else
			rnd_say_int(f, bits, 8, true);
	}
	fputs(" = ", f);
	if (var->type.kind == WEFT_VALUE_STRING)
		rnd_say_text(f, "\"", cell->text, strnlen(cell->text, var->type.cap));
	else
		rnd_say_int(f, (int64_t)cell->word, 8, var->type.is_signed);
	fclose(f);
	/* A counter that is 0 looks like one that was never touched, where it has no element. */
	if (var->counts && !cell->word && !var->n_keys) {
		free(line);
		return 0;
	}
	add_line(l->e, line);
	return 0;
}

static int say_variables(struct engine *e)
{
	int ret = 0;

	for (size_t i = 0; i < e->plan->n_variables && !ret; i++) {
		struct left l = {.e = e, .v = &e->plan->variables[i]};

		if (l.v->map == WEFT_PLAN_STATE)
			say_left(NULL, e->maps.state, &l);
		else if (e->plan->maps[l.v->map].used)
			ret = weft_map_walk(e->maps.fds[l.v->map], &e->plan->maps[l.v->map],
					    e->plan->n_cpus, say_left, &l, e->err);
	}
	say_lines(e, true);
	return ret;
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

static int watch(struct engine *e)
{
	struct weft_sink sink = {
		.record = see_record, .table = see_table, .loss = see_loss, .self = e};
	struct weft_consumer_env env = {
		.plan = e->plan, .maps = &e->maps, .sink = &sink, .probe_text = probe_text, .arg = e};
	const struct weft_control *control = e->maps.state;
	uint32_t cpu = 0;
	uint64_t total;
	int ret;

	rnd_world();
	ret = weft_consumer_create(&env, &e->consumer, e->err);
	((struct weft_control *)e->maps.state)->enabled = 1;
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
		ret = weft_consumer_show(e->consumer, NULL, 0, false, e->err);
	if (!ret)
		ret = weft_consumer_losses(e->consumer, NULL, 0, &total);
	model_say_losses(e->out, e->losses, e->n_losses);
	if (!ret)
		ret = say_variables(e);
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
	struct engine e = {.set = set};
	enum rnd_outcome outcome;

	e.err = weft_error_create();
	e.out = open_memstream(&e.text, &e.size);
	make_probe(&e);
	make_identity(&e);
	outcome = make_probes(&e) ? RND_BROKEN : run(&e, yaml);
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
	weft_maps_finish(&e.maps);
	weft_plan_destroy(e.plan);
	weft_set_destroy(e.config);
	weft_registry_destroy(e.registry);
	weft_error_destroy(e.err);
	return outcome;
}
