/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The plan: maps of fixed roles, words of STATE, and the sites that programs count at. */
#include "core/compiler/plan_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/compiler/arch.h"
#include "core/compiler/pairing.h"

#define SCRATCH_LEAST 2048u /* bytes, so that programs compiled while running find room */
#define PROBES_SLACK  4096u /* cookies, likewise */
#define TARGETS_MOST  65536u
#define STATE_MOST    (16u << 20)

static const struct fixed_map {
	enum weft_map_role role;
	const char *name;
	uint32_t type, key_size, value_size, max_entries, flags;
} fixed_maps[WEFT_PLAN_FIRST_FREE] = {
	[WEFT_PLAN_STATE] = {WEFT_MAP_STATE, "weft_state", BPF_MAP_TYPE_ARRAY, 4, 0, 1,
			     BPF_F_MMAPABLE},
	[WEFT_PLAN_RING] = {WEFT_MAP_RING, "weft_ring", BPF_MAP_TYPE_RINGBUF, 0, 0, 0, 0},
	[WEFT_PLAN_SCRATCH] = {WEFT_MAP_SCRATCH, "weft_scratch", BPF_MAP_TYPE_PERCPU_ARRAY, 4,
			       SCRATCH_LEAST, WEFT_SCRATCH_SLOTS, 0},
	[WEFT_PLAN_STACKS] = {WEFT_MAP_STACKS, "weft_stacks", BPF_MAP_TYPE_HASH, 8, 0, 0,
			      BPF_F_NO_PREALLOC},
	[WEFT_PLAN_EXECGEN] = {WEFT_MAP_EXECGEN, "weft_execgen", BPF_MAP_TYPE_ARRAY, 4, 8,
			       WEFT_EXECGEN_SLOTS, 0},
	[WEFT_PLAN_TARGETS] = {WEFT_MAP_TARGETS, "weft_targets", BPF_MAP_TYPE_HASH, 4, 8,
			       TARGETS_MOST, BPF_F_NO_PREALLOC},
	[WEFT_PLAN_FRAMES] = {WEFT_MAP_FRAMES, "weft_frames", BPF_MAP_TYPE_HASH, 8, 0, 0,
			      BPF_F_NO_PREALLOC},
	[WEFT_PLAN_PROBES] = {WEFT_MAP_PROBES, "weft_probes", BPF_MAP_TYPE_ARRAY, 4, 8,
			      PROBES_SLACK, BPF_F_MMAPABLE},
};

static void size_maps(struct weft_plan *plan, const struct weft_options *o)
{
	plan->maps[WEFT_PLAN_RING].max_entries = (uint32_t)o->buffer;
	plan->maps[WEFT_PLAN_STACKS].max_entries = o->stacks;
	plan->maps[WEFT_PLAN_STACKS].value_size =
		(uint32_t)sizeof(struct weft_stack_row) + 8 * o->stackframes;
	plan->maps[WEFT_PLAN_FRAMES].max_entries = o->threads;
	plan->maps[WEFT_PLAN_FRAMES].value_size = weft_pairing_row_size(plan);
}

static int make_fixed_maps(struct weft_plan *plan, struct weft_error *err)
{
	for (size_t i = 0; i < WEFT_PLAN_FIRST_FREE; i++) {
		const struct fixed_map *f = &fixed_maps[i];
		struct weft_map_spec spec = {.role = f->role,
					     .type = f->type,
					     .key_size = f->key_size,
					     .value_size = f->value_size,
					     .max_entries = f->max_entries,
					     .flags = f->flags,
					     .extern_fd = -1};
		uint32_t index = 0;
		int ret;

		strncpy(spec.name, f->name, sizeof(spec.name) - 1);
		ret = weft_plan_map(plan, &spec, &index, err);
		if (ret)
			return ret;
		plan->maps[index].used = false;
	}
	size_maps(plan, &plan->set->options);
	plan->maps[WEFT_PLAN_STATE].used = true;
	return 0;
}

/* What an inserted element begins as comes from bytes of STATE that nobody writes to: the largest
 * such element is a thread's row of frames, the largest string to be cleared is as long. */
static int make_zeros(struct weft_plan *plan, struct weft_error *err)
{
	uint32_t size = weft_pairing_row_size(plan);

	if (size < plan->set->options.strsize)
		size = plan->set->options.strsize;
	plan->zeros_size = size < 1024 ? 1024 : size;
	return weft_plan_state(plan, plan->zeros_size, &plan->zeros_offset, err);
}

int weft_plan_entry_texts(struct weft_plan *plan, uint32_t n, struct weft_error *err)
{
	if (n <= plan->entry_texts)
		return 0;
	if (weft_plan_is_created(plan))
		return -EBUSY;
	plan->entry_texts = n;
	plan->maps[WEFT_PLAN_FRAMES].value_size = weft_pairing_row_size(plan);
	return weft_plan_need_zeros(plan, weft_pairing_row_size(plan), err);
}

static uint32_t entry_words(const struct weft_set *set)
{
	uint32_t n = 0;

	for (size_t i = 0; i < set->n_clauses && n < WEFT_MAX_ARGS; i++)
		n += weft_lang_entry_mentions(&set->clauses[i]);
	return n < WEFT_MAX_ARGS ? n : WEFT_MAX_ARGS;
}

struct weft_plan *weft_plan_create(const struct weft_set *set, uint32_t n_cpus,
				   struct weft_error *err)
{
	struct weft_plan *plan = calloc(1, sizeof(*plan));
	int ret = -ENOMEM;

	if (plan) {
		plan->set = set;
		plan->n_cpus = n_cpus;
		plan->entry_words = entry_words(set);
		plan->reg_names = weft_arch.reg_names;
		plan->n_regs = weft_arch.n_regs;
		plan->self_map = -1;
		plan->arena = weft_arena_create();
		plan->state_size = sizeof(struct weft_control);
		if (plan->arena)
			ret = make_fixed_maps(plan, err);
		else
			weft_nomem(err);
		if (!ret)
			ret = make_zeros(plan, err);
	} else {
		weft_nomem(err);
	}
	if (ret) {
		weft_plan_destroy(plan);
		return NULL;
	}
	return plan;
}

void weft_plan_destroy(struct weft_plan *plan)
{
	if (!plan)
		return;
	weft_arena_destroy(plan->arena);
	free(plan->maps);
	free(plan->schemas);
	free(plan->aggregations);
	free(plan->losses);
	free(plan->schedules);
	free(plan->controls);
	free(plan->members);
	free(plan->variables);
	free(plan);
}

bool weft_plan_is_created(const struct weft_plan *plan)
{
	return plan->state_capacity != 0;
}

uint32_t weft_plan_slots(const struct weft_plan *plan)
{
	uint32_t n = 1;

	while (n < plan->n_cpus)
		n *= 2;
	return n;
}

int weft_plan_state(struct weft_plan *plan, uint32_t size, uint32_t *offset, struct weft_error *err)
{
	uint32_t align = size >= 64 ? 64 : 8;
	uint32_t at = (plan->state_size + align - 1) & ~(align - 1);
	uint32_t most = weft_plan_is_created(plan) ? plan->state_capacity : STATE_MOST;

	if (at > most || size > most - at)
		return weft_fail(err, -ENOSPC, "PLAN_FULL",
				 "the memory shared with programs is full: %u of %u bytes are used "
				 "and %u more are wanted",
				 plan->state_size, most, size);
	plan->state_size = (at + size + 7) & ~7u;
	*offset = at;
	return 0;
}

int weft_plan_map(struct weft_plan *plan, const struct weft_map_spec *spec, uint32_t *index,
		  struct weft_error *err)
{
	if (weft_grow(&plan->maps, &plan->cap_maps, plan->n_maps, sizeof(*plan->maps)))
		return weft_nomem(err);
	plan->maps[plan->n_maps] = *spec;
	plan->maps[plan->n_maps].used = true;
	*index = (uint32_t)plan->n_maps++;
	return 0;
}

static bool same_span(const struct weft_span *a, const struct weft_span *b)
{
	return a->text == b->text && a->start == b->start && a->length == b->length;
}

/* A site of `size` bytes of STATE, of which the first word counts. */
static int loss_site(struct weft_plan *plan, enum weft_loss loss, uint32_t clause,
		     struct weft_span span, uint32_t size, struct weft_loss_site **out,
		     struct weft_error *err)
{
	struct weft_loss_site *site;
	uint32_t state_offset = 0;
	int ret;

	/* A clause that is compiled for several kinds of probes counts at the same places. */
	for (size_t i = plan->n_losses; i--;) {
		site = &plan->losses[i];
		if (site->loss == loss && site->clause == clause && same_span(&site->span, &span)) {
			*out = site;
			return 0;
		}
	}
	if (weft_grow(&plan->losses, &plan->cap_losses, plan->n_losses, sizeof(*site)))
		return weft_nomem(err);
	ret = weft_plan_state(plan, size, &state_offset, err);
	if (ret)
		return ret;
	site = &plan->losses[plan->n_losses++];
	*site = (struct weft_loss_site){
		.loss = loss, .clause = clause, .span = span, .state_offset = state_offset};
	*out = site;
	return 0;
}

int weft_plan_loss(struct weft_plan *plan, enum weft_loss loss, uint32_t clause,
		   struct weft_span span, uint32_t *state_offset, struct weft_error *err)
{
	struct weft_loss_site *site;
	int ret = loss_site(plan, loss, clause, span, sizeof(uint64_t), &site, err);

	if (!ret)
		*state_offset = site->state_offset;
	return ret;
}

int weft_plan_sampled(struct weft_plan *plan, uint32_t clause, uint64_t every,
		      uint32_t *state_offset, struct weft_error *err)
{
	struct weft_span nowhere = {0};
	struct weft_loss_site *site;
	int ret = loss_site(plan, WEFT_LOSS_SAMPLED_OUT, clause, nowhere, sizeof(uint64_t), &site,
			    err);

	if (ret)
		return ret;
	site->every = every;
	*state_offset = site->state_offset;
	return 0;
}

/* The bucket lies behind the count of those that found it empty. */
int weft_plan_bucket(struct weft_plan *plan, uint32_t clause, struct weft_span span,
		     uint32_t *state_offset, struct weft_error *err)
{
	struct weft_loss_site *site;
	int ret = loss_site(plan, WEFT_LOSS_RATE_LIMITED, clause, span, 2 * sizeof(uint64_t), &site,
			    err);

	if (!ret)
		*state_offset = site->state_offset + (uint32_t)sizeof(uint64_t);
	return ret;
}

int weft_plan_schedule(struct weft_plan *plan, uint64_t cookie, uint64_t period_ns,
		       struct weft_schedule_site **out, struct weft_error *err)
{
	struct weft_schedule_site site = {.cookie = cookie, .period_ns = period_ns};
	int ret;

	if (weft_grow(&plan->schedules, &plan->cap_schedules, plan->n_schedules, sizeof(site)))
		return weft_nomem(err);
	ret = weft_plan_state(plan, weft_plan_slots(plan) * WEFT_SLOT_STRIDE, &site.state_offset,
			      err);
	if (ret)
		return ret;
	*out = &plan->schedules[plan->n_schedules++];
	**out = site;
	return 0;
}

int weft_plan_control(struct weft_plan *plan, const struct weft_typed_action *action,
		      uint32_t *state_offset, struct weft_error *err)
{
	int ret;

	for (size_t i = 0; i < plan->n_controls; i++) {
		if (plan->controls[i].action->action == action->action) {
			*state_offset = plan->controls[i].state_offset;
			return 0;
		}
	}
	if (weft_grow(&plan->controls, &plan->cap_controls, plan->n_controls,
		      sizeof(*plan->controls)))
		return weft_nomem(err);
	ret = weft_plan_state(plan, sizeof(uint64_t), state_offset, err);
	if (ret)
		return ret;
	plan->controls[plan->n_controls++] =
		(struct weft_control_site){.action = action, .state_offset = *state_offset};
	return 0;
}

/* ---- maps that grow with what is compiled, until they are created ---- */

static int grow_map(struct weft_plan *plan, uint32_t map, uint32_t *member, uint32_t need,
		    const char *tag, const char *what, struct weft_pos pos, struct weft_error *err)
{
	plan->maps[map].used = true;
	if (*member >= need)
		return 0;
	if (weft_plan_is_created(plan))
		return weft_fail_at(err, pos, -ENOSPC, tag,
				    "%s needs %u, but the running session has room for %u", what,
				    need, *member);
	*member = need;
	return 0;
}

int weft_plan_need_scratch(struct weft_plan *plan, uint32_t bytes, struct weft_pos pos,
			   struct weft_error *err)
{
	if (bytes > WEFT_SCRATCH_MAX)
		return weft_fail_at(err, pos, -E2BIG, "RECORD_TOO_LARGE",
				    "the clause works on %u bytes of strings and stacks at a time; "
				    "%u is the most",
				    bytes, WEFT_SCRATCH_MAX);
	return grow_map(plan, WEFT_PLAN_SCRATCH, &plan->maps[WEFT_PLAN_SCRATCH].value_size,
			(bytes + 7) & ~7u, "RECORD_TOO_LARGE", "the clause's working memory", pos,
			err);
}

int weft_plan_need_stacks(struct weft_plan *plan, uint32_t frames, struct weft_pos pos,
			  struct weft_error *err)
{
	return grow_map(plan, WEFT_PLAN_STACKS, &plan->maps[WEFT_PLAN_STACKS].value_size,
			(uint32_t)sizeof(struct weft_stack_row) + 8 * frames, "KEY_TOO_LARGE",
			"a row of the stack table", pos, err);
}

int weft_plan_need_probes(struct weft_plan *plan, uint64_t most_cookie, struct weft_error *err)
{
	uint32_t *entries = &plan->maps[WEFT_PLAN_PROBES].max_entries;
	struct weft_pos nowhere = {0};

	if (most_cookie > UINT32_MAX / 2 - PROBES_SLACK)
		return weft_fail(err, -EINVAL, "PROBES_FULL",
				 "the cookie %llu is no index of a table",
				 (unsigned long long)most_cookie);
	if (!weft_plan_is_created(plan) && *entries < most_cookie + PROBES_SLACK)
		*entries = (uint32_t)most_cookie + PROBES_SLACK;
	return grow_map(plan, WEFT_PLAN_PROBES, entries, (uint32_t)most_cookie + 1, "PROBES_FULL",
			"the table of probes", nowhere, err);
}

/* ---- members of kernel structs ---- */

static struct weft_kernel_member *find_member(const struct weft_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->n_members; i++)
		if (!strcmp(plan->members[i].path, path))
			return &plan->members[i];
	return NULL;
}

const struct weft_kernel_member *weft_plan_want_member(struct weft_plan *plan, const char *path)
{
	struct weft_kernel_member *m = find_member(plan, path);

	if (m)
		return m;
	if (weft_grow(&plan->members, &plan->cap_members, plan->n_members, sizeof(*m)))
		return NULL;
	m = &plan->members[plan->n_members];
	*m = (struct weft_kernel_member){.path = weft_arena_strdup(plan->arena, path)};
	if (!m->path)
		return NULL;
	plan->n_members++;
	return m;
}

const struct weft_kernel_member *weft_plan_known_member(const struct weft_plan *plan,
							const char *path)
{
	const struct weft_kernel_member *m = find_member(plan, path);

	return m && m->state == WEFT_MEMBER_KNOWN ? m : NULL;
}

/* ---- comparisons of probe fields ---- */

int weft_plan_comparison(struct weft_plan *plan, enum weft_field field, const char *text,
			 uint32_t length, struct weft_pos pos, uint32_t *index,
			 struct weft_error *err)
{
	struct weft_comparison *c;

	for (uint32_t i = 0; i < plan->n_comparisons; i++) {
		c = &plan->comparisons[i];
		if (c->field == field && c->length == length && !memcmp(c->text, text, length)) {
			*index = i;
			return 0;
		}
	}
	if (plan->n_comparisons == WEFT_MAX_COMPARISONS)
		return weft_fail_at(err, pos, -E2BIG, "PROBE_COMPARISONS_FULL",
				    "a probe set can compare fields of probes with %u different "
				    "texts, and this is one more",
				    WEFT_MAX_COMPARISONS);
	c = &plan->comparisons[plan->n_comparisons];
	c->text = weft_arena_strndup(plan->arena, text, length);
	if (!c->text)
		return weft_nomem(err);
	c->field = field;
	c->length = length;
	*index = plan->n_comparisons++;
	return 0;
}

bool weft_comparison_holds(const struct weft_comparison *c, const struct weft_probe *probe)
{
	struct weft_probe_desc d = {.struct_size = sizeof(d)};
	const char *fields[WEFT_N_FIELDS];

	weft_probe_desc(probe, &d);
	fields[WEFT_FIELD_PROVIDER] = d.provider;
	fields[WEFT_FIELD_MODULE] = d.module;
	fields[WEFT_FIELD_FUNCTION] = d.function;
	fields[WEFT_FIELD_NAME] = d.name;
	return strlen(fields[c->field]) == c->length &&
	       !memcmp(fields[c->field], c->text, c->length);
}

uint64_t weft_plan_probe_bits(const struct weft_plan *plan, const struct weft_probe *probe)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; i < plan->n_comparisons; i++)
		if (weft_comparison_holds(&plan->comparisons[i], probe))
			bits |= UINT64_C(1) << i;
	return bits;
}
