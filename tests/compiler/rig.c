/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rig.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/kernel/bpf.h"

#define LINE 5u

void rig_arg(struct rig *r, unsigned index, uint8_t size, bool is_signed)
{
	r->arg_ops[index] = (struct weft_loc_op){.op = WEFT_LOC_CTX,
						 .size = size,
						 .flags = is_signed ? WEFT_LOC_SIGNED : 0,
						 .imm = 8 * (int64_t)index};
	r->args[index] = (struct weft_arg){
		.struct_size = sizeof(struct weft_arg),
		.type = {.struct_size = sizeof(struct weft_arg_type),
			 .kind = WEFT_TYPE_INT,
			 .size = size,
			 .flags = is_signed ? WEFT_TYPE_SIGNED : 0},
		.where = {.ops = &r->arg_ops[index], .n_ops = 1},
	};
}

void rig_place(struct rig *r, unsigned index, uint32_t kind, uint32_t space,
	       const struct weft_loc_op *ops, uint32_t n)
{
	r->args[index] = (struct weft_arg){
		.struct_size = sizeof(struct weft_arg),
		.type = {.struct_size = sizeof(struct weft_arg_type),
			 .kind = kind,
			 .size = kind == WEFT_TYPE_INT ? 8 : 0,
			 .flags = kind == WEFT_TYPE_INT ? WEFT_TYPE_SIGNED : 0,
			 .space = space},
		.where = {.ops = ops, .n_ops = n},
	};
}

void rig_init(struct rig *r)
{
	memset(r, 0, sizeof(*r));
	r->prog_fd = -1;
	r->arena = weft_arena_create();
	r->err = weft_error_create();
	cr_assert(r->arena && r->err);
	r->set.arena = r->arena;
	r->set.options = (struct weft_options){.strsize = 128,
					       .stackframes = 64,
					       .buffer = 1 << 16,
					       .rows = 1024,
					       .stacks = 256,
					       .depth = 16,
					       .threads = 64};
	for (unsigned i = 0; i < RIG_ARGS; i++)
		rig_arg(r, i, 8, true);
	r->info = (struct weft_probe_info){
		.struct_size = sizeof(r->info),
		.scope = WEFT_SCOPE_EXACT,
		.load = {.struct_size = sizeof(r->info.load),
			 .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
			 .ctx_kind = WEFT_CTX_WORDS,
			 .ctx_size = 8 * RIG_ARGS},
		.args = r->args,
		.n_args = RIG_ARGS,
		.arg_size = sizeof(struct weft_arg),
	};
	r->env = (struct weft_lang_env){.set = &r->set, .info = &r->info, .probe = "test:::p"};
	r->probe.cookie = RIG_COOKIE;
	r->group = (struct weft_group){
		.info = &r->info, .clauses = r->clauses, .probes = &r->probe, .n_probes = 1};
	r->plan = weft_plan_create(&r->set, (uint32_t)sysconf(_SC_NPROCESSORS_CONF), r->err);
	cr_assert(r->plan, "%s", weft_error_text(r->err));
}

void rig_finish(struct rig *r)
{
	if (r->prog_fd >= 0)
		close(r->prog_fd);
	if (r->ring)
		munmap(r->ring, r->ring_size);
	weft_maps_finish(&r->maps);
	weft_plan_destroy(r->plan);
	weft_error_destroy(r->err);
	weft_arena_destroy(r->arena);
}

const char *rig_tag(const struct rig *r)
{
	return weft_error_tag(r->err);
}

/* ---- clauses ---- */

static struct weft_text text(struct rig *r, const char *s, uint32_t column)
{
	char *copy = weft_arena_strdup(r->arena, s);

	cr_assert(copy);
	return (struct weft_text){.s = copy, .pos = {LINE, column}, .verbatim = true};
}

static void parse_item(struct rig *r, const struct weft_action_spec *spec, const char *from,
		       struct weft_item *out)
{
	const char *name = strchr(from, '|') + 1, *value = strchr(name, '|') + 1;
	size_t field = (size_t)(name - 1 - from), length = (size_t)(value - 1 - name);

	for (size_t i = 0; i < spec->n_fields; i++)
		if (strlen(spec->fields[i].name) == field &&
		    !memcmp(spec->fields[i].name, from, field))
			out->field = &spec->fields[i];
	cr_assert(out->field, "no field for %s", from);
	if (length) {
		out->name = text(r, name, 3);
		((char *)out->name.s)[length] = '\0';
	}
	out->text = text(r, value, 20);
}

static void append_action(struct rig *r, struct weft_clause *c, const char *action, va_list ap)
{
	struct weft_action *a = &c->actions[c->n_actions];

	a->spec = weft_action_find(action);
	cr_assert(a->spec, "no action %s", action);
	a->pos = (struct weft_pos){LINE, 2};
	a->items = weft_arena_array(r->arena, RIG_ITEMS, sizeof(*a->items));
	cr_assert(a->items);
	for (const char *s; (s = va_arg(ap, const char *)) != NULL;)
		parse_item(r, a->spec, s, &a->items[a->n_items++]);
	c->n_actions++;
}

static const struct weft_probe_info *info_of(void *arg, uint32_t clause,
					     const struct weft_probe_info **entry)
{
	(void)entry;
	(void)clause;
	return &((struct rig *)arg)->info;
}

/* A clause may be of variables that a later one assigns: then all are typed once all are there. */
static void type_clause(struct rig *r, size_t i)
{
	int ret;

	r->set.clauses = r->raw;
	r->set.n_clauses = r->n_clauses;
	r->group.n_clauses = r->n_clauses;
	ret = weft_lang_clause(&r->env, &r->raw[i], r->arena, &r->clauses[i], r->err);
	if (ret == -EINVAL && !strcmp(rig_tag(r), "NAME_UNKNOWN"))
		ret = 0;
	else if (ret == -EINVAL && !strcmp(rig_tag(r), "STATE_UNASSIGNED"))
		ret = 0;
	cr_assert(!ret, "clause %zu: %s", i, weft_error_text(r->err));
	weft_error_clear(r->err);
}

static void type_all(struct rig *r)
{
	int ret;

	ret = weft_state_build(&r->set, info_of, r, r->env.btf, r->arena, &r->env.state, r->err);
	cr_assert(!ret, "%s", weft_error_text(r->err));
	for (size_t i = 0; r->env.state && i < r->n_clauses; i++) {
		ret = weft_lang_clause(&r->env, &r->raw[i], r->arena, &r->clauses[i], r->err);
		cr_assert(!ret, "clause %zu: %s", i, weft_error_text(r->err));
	}
}

void rig_clause(struct rig *r, const char *when, const char *action, ...)
{
	struct weft_clause *c;
	va_list ap;

	cr_assert(r->n_clauses < RIG_CLAUSES);
	c = &r->raw[r->n_clauses];
	*c = (struct weft_clause){.index = (uint32_t)r->n_clauses, .pos = {LINE, 1}};
	if (when)
		c->when = text(r, when, 9);
	c->actions = weft_arena_array(r->arena, RIG_ACTIONS, sizeof(*c->actions));
	cr_assert(c->actions);
	va_start(ap, action);
	if (*action)
		append_action(r, c, action, ap);
	va_end(ap);
	r->n_clauses++;
	type_clause(r, r->n_clauses - 1);
}

void rig_action(struct rig *r, const char *action, ...)
{
	va_list ap;

	va_start(ap, action);
	append_action(r, &r->raw[r->n_clauses - 1], action, ap);
	va_end(ap);
	type_clause(r, r->n_clauses - 1);
}

/* ---- programs ---- */

int rig_compile(struct rig *r)
{
	type_all(r);
	return weft_compile_group(r->plan, &r->group, &r->program, r->err);
}

void rig_reload(struct rig *r)
{
	char *log = NULL, *listing = NULL;
	int ret = rig_compile(r);

	if (ret == -EAGAIN) {
		weft_error_clear(r->err);
		cr_assert(!weft_btf_resolve(r->plan, r->err), "%s", weft_error_text(r->err));
		ret = rig_compile(r);
	}
	cr_assert(!ret, "%s: %s", rig_tag(r), weft_error_text(r->err));
	cr_assert(!weft_maps_create(&r->maps, r->plan, r->err), "%s", weft_error_text(r->err));
	if (r->prog_fd >= 0)
		close(r->prog_fd);
	ret = weft_program_load(&r->program, &r->maps, &r->prog_fd, &log, r->err);
	if (ret && !weft_plan_explain(r->plan, &r->program, r->arena, &listing))
		fprintf(stderr, "%s\n%s\n", listing, log ? log : "");
	free(log);
	cr_assert(!ret, "%s: %s", rig_tag(r), weft_error_text(r->err));
}

void rig_load(struct rig *r)
{
	rig_reload(r);
	rig_control(r)->enabled = 1;
}

struct weft_control *rig_control(struct rig *r)
{
	return r->maps.state;
}

void rig_run(struct rig *r, const uint64_t words[RIG_ARGS])
{
	static const uint64_t zeros[RIG_ARGS];
	union bpf_attr attr = {0};
	int ret;

	attr.test.prog_fd = (uint32_t)r->prog_fd;
	attr.test.ctx_in = (uint64_t)(uintptr_t)(words ? words : zeros);
	attr.test.ctx_size_in = sizeof(zeros);
	ret = weft_bpf(BPF_PROG_TEST_RUN, &attr, sizeof(attr));
	cr_assert(ret >= 0, "BPF_PROG_RUN: %s", strerror(-ret));
}

static uint64_t word_at(const struct rig *r, uint32_t offset)
{
	return *(volatile uint64_t *)((char *)r->maps.state + offset);
}

uint64_t rig_loss(const struct rig *r, enum weft_loss loss)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->plan->n_losses; i++)
		if (r->plan->losses[i].loss == loss)
			sum += word_at(r, r->plan->losses[i].state_offset);
	return sum;
}

uint64_t rig_losses(const struct rig *r)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->plan->n_losses; i++)
		sum += word_at(r, r->plan->losses[i].state_offset);
	return sum;
}

const struct weft_aggregation *rig_agg(const struct rig *r, const char *name)
{
	for (size_t i = 0; i < r->plan->n_aggregations; i++)
		if (!strcmp(r->plan->aggregations[i].name, name))
			return &r->plan->aggregations[i];
	cr_assert_fail("no aggregation %s", name);
	return NULL;
}

static bool is_extreme(const struct weft_aggregation *a)
{
	return a->kind == WEFT_ACTION_MIN || a->kind == WEFT_ACTION_MAX;
}

uint64_t rig_slot(const struct rig *r, const char *name, unsigned word)
{
	const struct weft_aggregation *a = rig_agg(r, name);
	uint64_t result = 0;

	cr_assert(a->map < 0);
	for (uint32_t cpu = 0; cpu < r->plan->n_cpus; cpu++) {
		uint64_t v = word_at(r, a->state_offset + cpu * WEFT_SLOT_STRIDE + 8 * word);

		if (!is_extreme(a))
			result += v;
		else if (v > result)
			result = v;
	}
	return result;
}

uint64_t rig_sum(const struct rig *r, const char *name)
{
	return rig_slot(r, name, WEFT_SUM_WORD);
}

void rig_clear_slots(struct rig *r, const char *name)
{
	const struct weft_aggregation *a = rig_agg(r, name);

	memset((char *)r->maps.state + a->state_offset, 0, r->plan->n_cpus * WEFT_SLOT_STRIDE);
}

/* ---- maps ---- */

struct gather {
	struct rig_row *rows;
	size_t n, most;
	const struct weft_map_spec *spec;
	uint32_t copies;
};

static int gather_row(const void *key, const void *value, void *arg)
{
	struct gather *g = arg;
	struct rig_row *row = &g->rows[g->n];
	uint32_t words = (g->spec->value_size + 7) / 8;

	cr_assert(g->n < g->most);
	memset(row, 0, sizeof(*row));
	memcpy(row->key, key, g->spec->key_size);
	for (uint32_t c = 0; c < g->copies; c++)
		for (uint32_t w = 0; w < words && w < N(row->value); w++)
			row->value[w] += ((const uint64_t *)value)[c * words + w];
	g->n++;
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(((struct rig_row *)a)->key));
}

size_t rig_rows(struct rig *r, int map, struct rig_row *rows, size_t most)
{
	struct gather g = {.rows = rows, .most = most, .spec = &r->plan->maps[map], .copies = 1};
	int ret;

	if (g.spec->type == BPF_MAP_TYPE_PERCPU_HASH)
		g.copies = r->plan->n_cpus;
	ret = weft_map_walk(r->maps.fds[map], g.spec, r->plan->n_cpus, gather_row, &g, r->err);
	cr_assert(!ret, "%s", weft_error_text(r->err));
	qsort(rows, g.n, sizeof(*rows), compare_rows);
	return g.n;
}

/* ---- records ---- */

/* The kernel's layout: a page with the consumer's position, one with the producer's, the data twice. */
const struct weft_record_header *rig_record(struct rig *r, uint32_t *size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint32_t mask = r->plan->maps[WEFT_PLAN_RING].max_entries - 1, length;
	volatile uint64_t *consumer, *producer;
	int fd = r->maps.fds[WEFT_PLAN_RING];
	const uint8_t *at;

	if (!r->ring) {
		uint8_t *own = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		cr_assert(own != MAP_FAILED);
		munmap(own, page);
		r->ring_size = 2 * page + 2 * ((size_t)mask + 1);
		r->ring = mmap(NULL, r->ring_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		cr_assert(r->ring != MAP_FAILED);
		cr_assert(mmap(r->ring, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			       0) != MAP_FAILED);
		cr_assert(mmap(r->ring + page, r->ring_size - page, PROT_READ,
			       MAP_SHARED | MAP_FIXED, fd, (off_t)page) != MAP_FAILED);
	}
	consumer = (volatile uint64_t *)r->ring;
	producer = (volatile uint64_t *)(r->ring + page);
	for (;;) {
		if (*consumer >= *producer)
			return NULL;
		at = r->ring + 2 * page + (*consumer & mask);
		length = *(volatile uint32_t *)at;
		cr_assert(!(length & BPF_RINGBUF_BUSY_BIT));
		*consumer += ((length & ~BPF_RINGBUF_DISCARD_BIT) + BPF_RINGBUF_HDR_SZ + 7) & ~7u;
		if (length & BPF_RINGBUF_DISCARD_BIT)
			continue;
		*size = length;
		return (const struct weft_record_header *)(at + BPF_RINGBUF_HDR_SZ);
	}
}
