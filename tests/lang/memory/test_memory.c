/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every allocation of the language fails once, each in a run of its own: the answer is then a tree that
 * keeps its promises or an error, and nothing crashes or leaks. The linker leads the calls here
 * (--wrap), so that pieces of an arena can fail one by one.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/lang/format.h"
#include "lang/made_types.h"
#include "support/test_failing.h"

WRAP(void *, weft_arena_alloc, (struct weft_arena * a, size_t n), (a, n))
WRAP(void *, weft_arena_array, (struct weft_arena * a, size_t n, size_t m), (a, n, m))
WRAP(char *, weft_arena_strndup, (struct weft_arena * a, const char *s, size_t n), (a, s, n))
WRAP(void *, weft_arena_memdup, (struct weft_arena * a, const void *p, size_t n), (a, p, n))
WRAP(struct weft_arena *, weft_arena_create, (void), ())
WRAP(FILE *, open_memstream, (char **p, size_t *n), (p, n))

int __real_weft_grow(void *array, size_t *cap, size_t n, size_t size);
int __wrap_weft_grow(void *array, size_t *cap, size_t n, size_t size);
int __wrap_weft_grow(void *array, size_t *cap, size_t n, size_t size)
{
	return fails() ? -ENOMEM : __real_weft_grow(array, cap, n, size);
}

char *__wrap_weft_arena_printf(struct weft_arena *a, const char *format, ...);
char *__wrap_weft_arena_printf(struct weft_arena *a, const char *format, ...)
{
	char buf[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(buf, sizeof(buf), format, ap);
	va_end(ap);
	return fails() ? NULL : __real_weft_arena_strndup(a, buf, strlen(buf));
}

static struct weft_clause *good_clause(struct rig *r)
{
	struct weft_action *list[] = {
		rig_action(r, "quantize", "into||latency", "by|program|execname",
			   "by|deep|(uint8) (pid ? arg0 : arg2) + -tid", "by||stack(3)",
			   "value||errno + (1 ? arg8 : 0)", "unit||ns", NULL),
		rig_action(r, "emit", "|a|pid ? \"a\" : execname", "|b|probefunc == $word",
			   "|c|args.buf + 0x10 && !retval || 7 && pid", NULL),
		rig_action(r, "printf", "||%d%% %s", "||'a' + $n", "||arg3", NULL),
		rig_action(r, "clear", "||latency", NULL),
		rig_action(r, "lquantize", "into||linear", "value||arg2", "from||$n", "to||$n + 7",
			   NULL),
		rig_action(r, "show", "name||linear", "name||latency", "top||$n * 3", "sort||key",
			   NULL),
		NULL};

	return rig_clause(r, "elapsed > 5ms && execname != \"x\\n\"", list);
}

static struct weft_clause *bad_clause(struct rig *r)
{
	struct weft_action *list[] = {
		rig_action(r, "emit", "|a|pidd", "|b|args.pth", "|c|$tim", "|d|ustak(1)", "|e|fd",
			   "|f|execname + 1", "|f|(1", NULL),
		rig_action(r, "show", "||latncy", NULL),
		rig_action(r, "lquantize", "into||l", "value||pid", "from||5", "to||tid", NULL),
		rig_action(r, "show", "name||l", "divide||2", NULL),
		rig_action(r, "printf", "||%f", NULL),
		NULL};

	return rig_clause(r, "pid = 1", list);
}

static struct weft_clause *typed_clause(struct rig *r)
{
	struct weft_action *list[] = {
		rig_action(r, "emit", "|a|args.file.f_path.dentry.d_inode", "|b|args.file.name",
			   "|c|args.file.nums[args.n]", "|d|&args.file.next.c",
			   "|e|args.color == RED", "|f|((struct path *) args.n).mnt",
			   "|g|sizeof(struct file) + *args.file.count", "|h|args.path.dentry",
			   "|i|str(args.file.raw)", "|j|*(unsigned int *) args.buf", NULL),
		NULL};

	return rig_clause(r, "args.file.bit == 3 && args.file != NULL", list);
}

static struct weft_clause *mistyped_clause(struct rig *r)
{
	struct weft_action *list[] = {rig_action(r, "emit", "|a|args.file.f_mod",
						 "|b|args.file.f_path", "|c|args.color == REDD",
						 "|d|((struct pth *) args.n).mnt",
						 "|e|args.file + 1", "|f|args.file.gone.x", NULL),
				      NULL};

	return rig_clause(r, "*args.path.mnt", list);
}

/* Returns false when the run needed no more allocations than n. */
static bool run(size_t n, struct weft_clause *(*make)(struct rig *), int *rc, bool check)
{
	struct weft_typed_clause out = {0};
	struct types types;
	struct rig r;
	const char *wrong = NULL;

	rig_init(&r);
	if (make == typed_clause || make == mistyped_clause)
		types_init(&types, &r);
	r.set.clauses = make(&r);
	r.set.n_clauses = 1;
	calls = 0;
	countdown = n;
	armed = true;
	if (check)
		*rc = weft_lang_check_syntax(&r.set, r.set.clauses, false, r.err);
	else
		*rc = weft_lang_clause(&r.env, r.set.clauses, r.arena, &out, r.err);
	armed = false;
	if (*rc == 0 && !check)
		wrong = weft_lang_verify_clause(&out);
	cr_expect(!wrong, "allocation %zu: %s", n, wrong ? wrong : "");
	cr_expect((*rc != 0) == (weft_error_count(r.err) != 0), "allocation %zu", n);
	if (r.env.btf)
		types_finish(&types);
	rig_finish(&r);
	return calls >= n;
}

Test(lang_memory, NO_MEMORY)
{
	size_t n;
	int rc;

	for (n = 1; run(n, good_clause, &rc, false); n++)
		cr_expect(rc == -ENOMEM, "allocation %zu: %d", n, rc);
	cr_expect(n > 100 && rc == 0, "%zu", n);
	for (n = 1; run(n, good_clause, &rc, true); n++)
		cr_expect(rc == -ENOMEM, "allocation %zu: %d", n, rc);
	cr_expect(rc == 0);
	for (n = 1; run(n, typed_clause, &rc, false); n++)
		cr_expect(rc == -ENOMEM, "allocation %zu: %d", n, rc);
	cr_expect(n > 50 && rc == 0, "%zu: %d", n, rc);
}

Test(lang_memory, errors_without_memory)
{
	size_t n;
	int rc;

	for (n = 1; run(n, bad_clause, &rc, false); n++)
		cr_expect(rc == -ENOMEM || rc == -EINVAL, "allocation %zu: %d", n, rc);
	cr_expect(n > 30 && rc == -EINVAL);
	for (n = 1; run(n, mistyped_clause, &rc, false); n++)
		cr_expect(rc == -ENOMEM || rc == -EINVAL, "allocation %zu: %d", n, rc);
	cr_expect(n > 20 && rc == -EINVAL);
}

Test(lang_memory, texts)
{
	struct rig r;
	struct weft_node *n;

	rig_init(&r);
	n = rig_expr(&r, "pid + 1");
	for (int i = 1; i <= 2; i++) {
		calls = 0;
		countdown = (size_t)i;
		armed = true;
		cr_expect(!weft_node_print(n, false, r.arena));
		calls = 0;
		cr_expect(!weft_lang_reference(r.arena));
		armed = false;
	}
	rig_finish(&r);
}
