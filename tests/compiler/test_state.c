/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Variables in the kernel: every scope, every kind of change, and what is lost where. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "rig.h"

/* The sum that the only clause's aggregation "out" has by now, which starts anew with each run. */
static uint64_t run(struct rig *r, uint64_t a, uint64_t b)
{
	const uint64_t words[RIG_ARGS] = {a, b};

	rig_clear_slots(r, "out");
	rig_run(r, words);
	return rig_sum(r, "out");
}

Test(compiler_state, globals_keep_their_values)
{
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "sum", "into||out", "value||last ?? 77", NULL);
	rig_action(&r, "set", "|last|arg0", NULL);
	rig_clause(&r, NULL, "sum", "into||out", "value||last * 1000", NULL);
	rig_load(&r);
	cr_expect(run(&r, 5, 0) == 77 + 5000);
	cr_expect(run(&r, 6, 0) == 5 + 6000);
	cr_expect(run(&r, (uint64_t)INT64_MIN, 0) == 6); /* times 1000 it is 0 in 64 bits */
	cr_expect(run(&r, 1, 0) == (uint64_t)INT64_MIN + 1000);
	cr_expect(rig_losses(&r) == 0);
	rig_finish(&r);
}

Test(compiler_state, updates)
{
	static const struct {
		const char *update;
		uint64_t wanted;
	} cases[] = {
		{"+= arg1", 0xf0 + 0x3c}, {"-= arg1", 0xf0 - 0x3c}, {"|= arg1", 0xfc},
		{"&= arg1", 0x30},        {"^= arg1", 0xcc},        {"+= arg1 - 2 * arg1", 0xb4},
	};

	for (size_t i = 0; i < N(cases); i++) {
		char text[64], element[64], own[64], local[64];
		struct rig r;

		snprintf(text, sizeof(text), "|x|%s", cases[i].update);
		snprintf(own, sizeof(own), "|self.x|%s", cases[i].update);
		snprintf(element, sizeof(element), "|e[arg1, 3]|%s", cases[i].update);
		snprintf(local, sizeof(local), "|this.x|%s", cases[i].update);
		rig_init(&r);
		rig_clause(&r, NULL, "set", "|x|arg0", "|self.x|arg0", "|e[arg1, 3]|arg0",
			   "|this.x|arg0", NULL);
		rig_action(&r, "set", text, own, element, local, NULL);
		rig_action(&r, "sum", "into||out",
			   "value||x == self.x && x == e[arg1, 3] && x == this.x ? x : -1", NULL);
		rig_load(&r);
		cr_expect(run(&r, 0xf0, 0x3c) == cases[i].wanted, "%s: %lx", cases[i].update,
			  run(&r, 0xf0, 0x3c));
		cr_expect(rig_losses(&r) == 0);
		rig_finish(&r);
	}
}

Test(compiler_state, counters_begin_at_0)
{
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "sum", "into||out",
		   "value||n + 10 * self.n + 100 * e[arg0] + 1000 * defined(n)", NULL);
	rig_action(&r, "set", "|n|+= 1", "|self.n|+= 1", "|e[arg0]|+= 1", NULL);
	rig_load(&r);
	cr_expect(run(&r, 7, 0) == 1000);
	cr_expect(run(&r, 7, 0) == 1111);
	cr_expect(run(&r, 8, 0) == 1022);
	cr_expect(run(&r, 8, 0) == 1133);
	cr_expect(rig_losses(&r) == 0);
	rig_finish(&r);
}

Test(compiler_state, STATE_UNSET)
{
	static const char *const reads[] = {"x",
					    "self.x",
					    "e[arg0]",
					    "s == \"a\" ? 1 : 2",
					    "self.s == \"a\"",
					    "t[execname] == \"a\""};

	for (size_t i = 0; i < N(reads); i++) {
		char value[64];
		struct rig r;

		snprintf(value, sizeof(value), "value||%s", reads[i]);
		rig_init(&r);
		rig_clause(&r, NULL, "sum", "into||before", "value||1", NULL);
		rig_action(&r, "sum", "into||out", value, NULL);
		rig_action(&r, "sum", "into||behind", "value||1", NULL);
		rig_clause(&r, "arg1", "set", "|x|1", "|self.x|1", "|e[arg0]|1", "|s|\"a\"",
			   "|self.s|\"a\"", "|t[execname]|\"a\"", NULL);
		rig_load(&r);
		run(&r, 0, 0);
		cr_expect(rig_loss(&r, WEFT_LOSS_STATE_UNSET) == 1 && rig_losses(&r) == 1, "%s",
			  reads[i]);
		cr_expect(rig_sum(&r, "before") == 1 && rig_sum(&r, "behind") == 0);
		run(&r, 0, 1); /* set behind the read */
		cr_expect(rig_losses(&r) == 2);
		cr_expect(run(&r, 0, 0) == 1, "%s", reads[i]);
		cr_expect(rig_losses(&r) == 2 && rig_sum(&r, "behind") == 1);
		rig_finish(&r);
	}
}

Test(compiler_state, updates_of_what_is_unset_are_faults)
{
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "set", "|x|+= 1", NULL);
	rig_clause(&r, NULL, "set", "|self.x|+= 1", NULL);
	rig_clause(&r, NULL, "set", "|e[1]|+= 1", NULL);
	rig_clause(&r, "arg0", "set", "|x|1", "|self.x|1", "|e[1]|1", NULL);
	rig_clause(&r, NULL, "delete", "||e[2]", NULL);
	rig_load(&r);
	rig_run(&r, NULL);
	cr_expect(rig_loss(&r, WEFT_LOSS_STATE_UNSET) == 3 && rig_losses(&r) == 3);
	rig_finish(&r);
}

Test(compiler_state, deleted_is_unset)
{
	struct rig r;

	rig_init(&r);
	rig_clause(&r, "arg0 == 1", "set", "|x|5", "|self.x|6", "|e[arg1]|7", "|s|\"text\"",
		   "|self.s|\"own\"", "|t[arg1, \"k\"]|\"element\"", NULL);
	rig_clause(&r, "arg0 == 2", "delete", "||x", "||self.x", "||e[arg1]", "||s", "||self.s",
		   "||t[arg1, \"k\"]", NULL);
	rig_clause(&r, NULL, "sum", "into||out",
		   "value||defined(x) + 10 * defined(self.x) + 100 * defined(e[arg1]) + 1000 * "
		   "defined(s) + 10000 * defined(self.s) + 100000 * defined(t[arg1, \"k\"])",
		   NULL);
	rig_clause(&r, NULL, "sum", "into||text",
		   "value||(s ?? \"-\") == \"text\" && (self.s ?? \"-\") == \"own\" && (t[arg1, "
		   "\"k\"] ?? \"-\") == \"element\" && (e[arg1] ?? 0) == 7",
		   NULL);
	rig_load(&r);
	cr_expect(run(&r, 0, 3) == 0);
	cr_expect(run(&r, 1, 3) == 111111);
	cr_expect(rig_sum(&r, "text") == 1);
	cr_expect(run(&r, 0, 4) == 11011); /* other elements */
	cr_expect(run(&r, 2, 3) == 0);
	cr_expect(run(&r, 2, 3) == 0);
	cr_expect(rig_sum(&r, "text") == 1);
	cr_expect(run(&r, 1, 3) == 111111);
	cr_expect(rig_sum(&r, "text") == 2);
	cr_expect(rig_losses(&r) == 0);
	rig_finish(&r);
}

Test(compiler_state, deleted_counters_begin_again)
{
	struct rig r;

	rig_init(&r);
	rig_clause(&r, "arg1", "delete", "||n", "||self.n", "||e[arg0]", NULL);
	rig_clause(&r, NULL, "set", "|n|+= 2", "|self.n|+= 3", "|e[arg0]|+= 4", NULL);
	rig_action(&r, "sum", "into||out", "value||n + 100 * self.n + 10000 * e[arg0]", NULL);
	rig_load(&r);
	run(&r, 1, 0);
	cr_expect(run(&r, 1, 0) == 80604);
	cr_expect(run(&r, 1, 1) == 40302);
	cr_expect(rig_losses(&r) == 0);
	rig_finish(&r);
}

/* Every element deleted is room for another: many more than there is room for, one after another. */
Test(compiler_state, elements_give_their_room_back)
{
	struct rig r;

	rig_init(&r);
	r.set.options.rows = 4;
	rig_clause(&r, NULL, "set", "|e[arg0, arg1]|arg0", NULL);
	rig_action(&r, "sum", "into||out", "value||e[arg0, arg1]", NULL);
	rig_action(&r, "delete", "||e[arg0, arg1]", NULL);
	rig_load(&r);
	for (uint64_t i = 1; i <= 400; i++)
		cr_expect(run(&r, i, 2 * i) == i);
	cr_expect(rig_losses(&r) == 0);
	rig_finish(&r);
}

Test(compiler_state, STATE_FULL)
{
	struct rig r;

	rig_init(&r);
	r.set.options.rows = 10;
	rig_clause(&r, NULL, "set", "|e[arg0]|arg0", NULL);
	rig_action(&r, "sum", "into||out", "value||1", NULL);
	rig_load(&r);
	for (uint64_t i = 0; i < 25; i++)
		cr_expect(run(&r, i, 0) == 1); /* not being set does not end the clause */
	cr_expect(rig_loss(&r, WEFT_LOSS_STATE_FULL) == 15 && rig_losses(&r) == 15);
	rig_finish(&r);
}

static void *run_once(void *arg)
{
	rig_run(arg, NULL);
	return NULL;
}

/* Without anything that removes the rows of threads that end. */
Test(compiler_state, STATE_FULL_of_threads)
{
	struct rig r;

	rig_init(&r);
	r.set.options.threads = 5;
	rig_clause(&r, NULL, "set", "|self.x|1", NULL);
	rig_load(&r);
	for (int i = 0; i < 3; i++)
		rig_run(&r, NULL);
	cr_expect(rig_losses(&r) == 0);
	pthread_t threads[12];
	for (size_t i = 0; i < N(threads); i++)
		cr_assert(!pthread_create(&threads[i], NULL, run_once, &r));
	for (size_t i = 0; i < N(threads); i++)
		pthread_join(threads[i], NULL);
	cr_expect(rig_loss(&r, WEFT_LOSS_STATE_FULL) <= 8 && rig_losses(&r) <= 8);
	rig_finish(&r);
}

Test(compiler_state, locals_last_for_the_clause)
{
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "set", "|this.a|arg0 * 2", "|this.s|execname", "|this.b|this.a + arg1",
		   NULL);
	rig_action(&r, "set", "|this.a|this.a + 1", "|this.t|arg0 ? this.s : \"none\"", NULL);
	rig_action(&r, "sum", "into||out",
		   "value||this.a * 1000 + this.b + (this.t == execname) * 100000", NULL);
	rig_clause(&r, NULL, "set", "|this.a|\"another, of another type\"", NULL);
	rig_action(&r, "sum", "into||text", "value||this.a == \"another, of another type\"", NULL);
	rig_load(&r);
	cr_expect(run(&r, 4, 30) == 9000 + 38 + 100000);
	cr_expect(run(&r, 0, 30) == 1000 + 30);
	cr_expect(rig_sum(&r, "text") == 2);
	cr_expect(rig_losses(&r) == 0);
	rig_finish(&r);
}

Test(compiler_state, strings_of_every_length)
{
	for (uint32_t strsize = 8; strsize <= 1024; strsize *= 2) {
		char most[1100], value[1200], clause[1200];
		struct rig r;

		memset(most, 'x', strsize - 1);
		most[strsize - 1] = '\0';
		snprintf(value, sizeof(value), "|s|arg0 ? \"%s\" : \"short\"", most);
		snprintf(clause, sizeof(clause),
			 "value||s == \"%s\" ? 2 : s == \"short\" && self.s == s ? 1 : 0", most);
		rig_init(&r);
		r.set.options.strsize = strsize;
		rig_clause(&r, NULL, "set", value, "|self.s|s", NULL);
		rig_action(&r, "sum", "into||out", clause, NULL);
		rig_load(&r);
		cr_expect(run(&r, 1, 0) == 2, "%u", strsize);
		cr_expect(run(&r, 0, 0) == 1, "%u", strsize);
		cr_expect(rig_losses(&r) == 0);
		rig_finish(&r);
	}
}

/* Variables as keys of aggregations, in records and in predicates. */
Test(compiler_state, variables_wherever_values_are)
{
	const uint64_t words[RIG_ARGS] = {3};
	const struct weft_record_header *record;
	struct rig_row rows[4];
	const uint8_t *body;
	struct rig r;
	uint32_t size;

	rig_init(&r);
	rig_clause(&r, NULL, "set", "|self.name|\"reader\"", "|n|arg0", "|e[n, execname]|n * 2",
		   NULL);
	rig_clause(&r, "self.name == \"reader\" && e[n, execname] == 6", "count", "into||c",
		   "by|a|self.name", "by|b|e[n, execname]", NULL);
	rig_action(&r, "emit", "|name|self.name", "|e|e[n, execname]", "|d|defined(self.name)",
		   NULL);
	rig_load(&r);
	rig_run(&r, words);
	cr_assert(rig_rows(&r, rig_agg(&r, "c")->map, rows, N(rows)) == 1);
	cr_expect_str_eq((char *)rows[0].key, "reader");
	cr_expect(*(uint64_t *)(rows[0].key + 128) == 6);
	record = rig_record(&r, &size);
	cr_assert(record);
	body = (const uint8_t *)(record + 1);
	cr_expect_str_eq((const char *)body, "reader");
	cr_expect(*(const uint64_t *)(body + 128) == 6);
	cr_expect(rig_losses(&r) == 0);
	rig_finish(&r);
}

/* ---- several CPUs ---- */

struct worker {
	struct rig *r;
	int cpu;
	uint64_t runs, first;
	pthread_t thread;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(w->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (uint64_t i = 0; i < w->runs; i++) {
		const uint64_t words[RIG_ARGS] = {w->first, i % 7, (uint64_t)w->cpu};

		rig_run(w->r, words);
	}
	return NULL;
}

static void run_on_all(struct rig *r, uint64_t runs, struct worker *workers, int n)
{
	for (int i = 0; i < n; i++) {
		workers[i] = (struct worker){
			.r = r, .cpu = i, .runs = runs, .first = (uint64_t)i % 2 ? 3 : 5};
		cr_assert(!pthread_create(&workers[i].thread, NULL, work, &workers[i]));
	}
	for (int i = 0; i < n; i++)
		pthread_join(workers[i].thread, NULL);
}

Test(compiler_state, no_addition_is_lost_between_cpus)
{
	int n = (int)sysconf(_SC_NPROCESSORS_ONLN);
	const uint64_t runs = 20000;
	struct worker workers[64];
	uint64_t wanted = 0;
	struct rig r;

	if (n > 64)
		n = 64;
	rig_init(&r);
	rig_clause(&r, "arg3 == 0", "set", "|n|+= arg0", "|e[arg1]|+= arg0", "|self.n|+= 1", NULL);
	rig_clause(&r, "arg3 == 1", "sum", "into||out", "value||n", NULL);
	rig_action(&r, "sum", "into||elements",
		   "value||e[0] + e[1] + e[2] + e[3] + e[4] + e[5] + e[6]", NULL);
	rig_load(&r);
	run_on_all(&r, runs, workers, n);
	for (int i = 0; i < n; i++)
		wanted += runs * workers[i].first;
	rig_run(&r, (const uint64_t[RIG_ARGS]){0, 0, 0, 1});
	cr_expect(rig_sum(&r, "out") == wanted, "%lu of %lu", rig_sum(&r, "out"), wanted);
	cr_expect(rig_sum(&r, "elements") == wanted);
	cr_expect(rig_losses(&r) == 0);
	rig_finish(&r);
}

/*
 * Elements that come and go on all CPUs at once, two keys alternately in the room of one another:
 * an addition is in its key's sum when the element is taken out, or it is counted as lost. What is
 * read of an element was put there under its key.
 */
Test(compiler_state, elements_are_never_mistaken_for_others)
{
	int n = (int)sysconf(_SC_NPROCESSORS_ONLN);
	struct worker workers[64];
	struct rig r;

	if (n > 64)
		n = 64;
	rig_init(&r);
	r.set.options.rows = 64;
	rig_clause(&r, NULL, "set", "|e[arg1]|arg1 * 1000", NULL);
	rig_action(&r, "sum", "into||wrong", "value||(e[arg1] ?? arg1 * 1000) != arg1 * 1000", NULL);
	rig_action(&r, "delete", "||e[arg1]", NULL);
	rig_clause(&r, NULL, "set", "|t[arg1]|arg1 % 2 ? \"odd, and some more bytes\" : \"even\"",
		   NULL);
	rig_action(&r, "set", "|this.t|t[arg1] ?? \"\"", NULL);
	rig_action(&r, "sum", "into||torn",
		   "value||this.t != \"\" && this.t != (arg1 % 2 ? \"odd, and some more bytes\" : "
		   "\"even\")",
		   NULL);
	rig_action(&r, "delete", "||t[arg1]", NULL);
	rig_load(&r);
	run_on_all(&r, 20000, workers, n);
	cr_expect(rig_sum(&r, "wrong") == 0, "%lu", rig_sum(&r, "wrong"));
	cr_expect(rig_sum(&r, "torn") == 0);
	cr_expect(rig_losses(&r) == rig_loss(&r, WEFT_LOSS_STATE_BUSY), "%lu", rig_losses(&r));
	rig_finish(&r);
}

Test(compiler_state, strings_are_never_torn)
{
	int n = (int)sysconf(_SC_NPROCESSORS_ONLN);
	char a[128], b[128], value[400], check[400];
	struct worker workers[64];
	struct rig r;

	if (n > 64)
		n = 64;
	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	a[120] = b[120] = '\0';
	snprintf(value, sizeof(value), "|s|arg0 == 3 ? \"%s\" : \"%s\"", a, b);
	snprintf(check, sizeof(check), "value||this.s != \"%s\" && this.s != \"%s\"", a, b);
	rig_init(&r);
	rig_clause(&r, NULL, "set", value, NULL);
	rig_action(&r, "set", "|this.s|s", NULL);
	rig_action(&r, "sum", "into||torn", check, NULL);
	rig_action(&r, "sum", "into||read", "value||1", NULL);
	rig_load(&r);
	run_on_all(&r, 20000, workers, n);
	cr_expect(rig_sum(&r, "torn") == 0);
	cr_expect(rig_sum(&r, "read") + rig_loss(&r, WEFT_LOSS_STATE_BUSY) == (uint64_t)n * 20000);
	cr_expect(rig_losses(&r) == rig_loss(&r, WEFT_LOSS_STATE_BUSY));
	rig_finish(&r);
}

/* ---- what does not fit ---- */

Test(compiler_state, KEY_TOO_LARGE)
{
	struct rig r;

	rig_init(&r);
	r.set.options.strsize = 512;
	rig_clause(&r, NULL, "set", "|e[execname, execname, execname]|1", NULL);
	cr_expect(rig_compile(&r) == -E2BIG);
	cr_expect_str_eq(rig_tag(&r), "KEY_TOO_LARGE");
	rig_finish(&r);
}

Test(compiler_state, STATE_TOO_LARGE)
{
	struct rig r;

	rig_init(&r);
	r.set.options.strsize = 1024;
	rig_clause(&r, NULL, "set", "|self.a|\"\"", "|self.b|\"\"", "|self.c|\"\"", "|self.d|\"\"",
		   "|self.e|\"\"", "|self.f|\"\"", "|self.g|\"\"", "|self.h|\"\"", NULL);
	cr_expect(rig_compile(&r) == -E2BIG);
	cr_expect_str_eq(rig_tag(&r), "STATE_TOO_LARGE");
	rig_finish(&r);
}

Test(compiler_state, explain_shows_variables)
{
	char *text = NULL;
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "set", "|total|+= arg0", "|self.start|timestamp",
		   "|sizes[pid, execname]|\"x\"", NULL);
	r.plan->keep_listing = true;
	cr_assert(!rig_compile(&r));
	cr_assert(!weft_plan_explain(r.plan, &r.program, r.arena, &text));
	cr_expect(strstr(text, "\n  total  int64, from 0  (weft_state + "), "%s", text);
	cr_expect(strstr(text, "\n  self.start  "), "%s", text);
	cr_expect(strstr(text, "\n  sizes[int64, string]  string  (weft_array2 + 0)\n"), "%s", text);
	rig_finish(&r);
}
