/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every allocation of the compiler fails once, each in a run of its own: the answer is NO_MEMORY,
 * and nothing crashes or leaks. The linker leads the calls here (--wrap). Growing an array counts
 * only where it has to grow.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "rig.h"

static bool armed;
static size_t countdown; /* the allocation that fails */
static size_t calls;

static bool fails(void)
{
	return armed && ++calls == countdown;
}

#define WRAP(type, name, params, args)     \
	type __real_##name params;         \
	type __wrap_##name params;         \
	type __wrap_##name params          \
	{                                  \
		if (fails())               \
			return (type)0;    \
		return __real_##name args; \
	}

WRAP(void *, calloc, (size_t n, size_t m), (n, m))
WRAP(void *, weft_arena_alloc, (struct weft_arena * a, size_t n), (a, n))
WRAP(void *, weft_arena_array, (struct weft_arena * a, size_t n, size_t m), (a, n, m))
WRAP(char *, weft_arena_strndup, (struct weft_arena * a, const char *s, size_t n), (a, s, n))
WRAP(struct weft_arena *, weft_arena_create, (void), ())
WRAP(FILE *, open_memstream, (char **p, size_t *n), (p, n))

int __real_weft_grow(void *array, size_t *cap, size_t n, size_t size);
int __wrap_weft_grow(void *array, size_t *cap, size_t n, size_t size);
int __wrap_weft_grow(void *array, size_t *cap, size_t n, size_t size)
{
	return n >= *cap && fails() ? -ENOMEM : __real_weft_grow(array, cap, n, size);
}

static const struct weft_loc_op frame[1] = {{.op = WEFT_LOC_CTX, .size = 8}};
static const struct weft_loc_op member[2] = {{.op = WEFT_LOC_TIME}, {.op = WEFT_LOC_MEMBER}};
static const char *const names[1] = {"task_struct.tgid"};

/* One of everything. */
static void make(struct rig *r)
{
	rig_init(r);
	r->info.pairing.role = WEFT_PAIRING_RETURN;
	r->info.pairing.frame = (struct weft_location){.ops = frame, .n_ops = 1};
	r->group.pairing_entry = true;
	rig_place(r, 4, WEFT_TYPE_INT, WEFT_SPACE_KERNEL, member, 2);
	r->args[4].where.names = names;
	r->args[4].where.n_names = 1;
	rig_clause(r, "elapsed > 5 && execname != \"x\"", "quantize", "into||latency",
		   "by|program|execname", "by|s|ustack", "value||arg0 / arg1", "unit||ns", NULL);
	rig_action(r, "emit", "|a|pid ? \"a\" : execname", "|b|probefunc", "|k|stack", NULL);
	rig_action(r, "max", "into||m", "value||arg2 + arg4 + ppid", NULL);
	rig_action(r, "clear", "||latency", NULL);
	rig_action(r, "exit", "||arg3", NULL);
	weft_plan_destroy(r->plan);
	r->plan = NULL;
}

/* As a session does it, but for the truth. */
static int compile(struct rig *r)
{
	int ret = rig_compile(r);

	if (ret != -EAGAIN)
		return ret;
	weft_error_clear(r->err);
	for (size_t i = 0; i < r->plan->n_members; i++)
		r->plan->members[i].state = WEFT_MEMBER_KNOWN;
	return rig_compile(r);
}

/* False when everything went well with n - 1 allocations. */
static bool run(size_t n)
{
	struct rig r;
	int ret = -ENOMEM;

	make(&r);
	countdown = n;
	calls = 0;
	armed = true;
	r.plan = weft_plan_create(&r.set, 2, r.err);
	if (r.plan) {
		r.plan->keep_listing = true;
		ret = compile(&r);
	}
	armed = false;
	if (ret) {
		cr_expect(ret == -ENOMEM, "allocation %zu: %d", n, ret);
		cr_expect_str_eq(rig_tag(&r), "NO_MEMORY", "allocation %zu: %s", n,
				 weft_error_text(r.err));
	}
	cr_expect((ret == 0) == (calls < n), "allocation %zu: %d", n, ret);
	rig_finish(&r);
	return ret != 0;
}

Test(compiler_nomem, NO_MEMORY, .timeout = 120)
{
	size_t n = 1;

	while (run(n))
		n++;
	cr_expect(n > 100, "%zu allocations", n);
}

static bool explain(size_t n)
{
	char *text = NULL;
	struct rig r;
	int ret;

	make(&r);
	r.plan = weft_plan_create(&r.set, 2, r.err);
	cr_assert(r.plan && !compile(&r));
	countdown = n;
	calls = 0;
	armed = true;
	ret = weft_plan_explain(r.plan, &r.program, r.arena, &text);
	armed = false;
	cr_expect(ret == 0 ? text != NULL : ret == -ENOMEM);
	rig_finish(&r);
	return ret != 0;
}

Test(compiler_nomem, explain)
{
	size_t n = 1;

	while (explain(n))
		n++;
	cr_expect(n > 2);
}
