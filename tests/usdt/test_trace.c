/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Firings and arguments of static probes, counted against what the programs do. */
#include <dirent.h>
#include <sys/wait.h>

#include "harness.h"
#include "notes.h"

#define ROUNDS "3"
#define N      3

static void start(struct rig *r, struct worker *w, const char *const argv[])
{
	worker_program(w, -1, argv);
	rig_init(r);
}

static int64_t number(const struct weft_row *row)
{
	return (int64_t)row->count;
}

/* ---- the header's programs ---- */

static void check_header(const char *path)
{
	struct worker w;
	struct rig r;

	start(&r, &w, (const char *const[]){path, ROUNDS, NULL});
	/* The program ends with 1 because its guarded probe is traced. */
	cr_assert_eq(
		rig_prepare(&r,
			    "version: 1\n"
			    "target: {pid: %d}\n"
			    "providers: {usdt: {stash: 'off'}}\n"
			    "probes:\n"
			    "  - probe: 'usdt:%s:shop:*'\n"
			    "    do: [{count: {into: n, by: {name: probename}}}]\n"
			    "  - probe: 'usdt:%s:shop:three'\n"
			    "    do: [{emit: {a: arg0, b: arg1, c: str(arg2)}}]\n"
			    "  - probe: 'usdt:%s:shop:twelve'\n"
			    "    do: [{emit: {a: arg0, b: arg1, c: arg2, d: arg3, e: arg4, f: arg5, "
			    "g: arg6, h: arg7, i: str(arg8), j: arg9, k: arg10, l: arg11}}]\n"
			    "  - probe: 'usdt:%s:shop:constants'\n"
			    "    do: [{emit: {a: arg0, b: arg1, c: arg2, d: arg3, e: arg4, f: arg5, "
			    "g: arg6, h: arg7}}]\n",
			    w.pid, path, path, path, path),
		0, "%s", rig_errors(&r));
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	worker_go(&w);
	cr_assert_eq(rig_run(&r, w.pidfd, 0), 0, "%s", rig_errors(&r));
	int status;
	cr_assert_eq(waitpid(w.pid, &status, 0), w.pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 1, "its guard was not raised");

	const struct cap_table *n = cap_last_table(&r.cap, "n");
	static const char *const once[] = {"none",   "one",       "three",
					   "twelve", "constants", "guarded"};
	for (size_t i = 0; i < sizeof(once) / sizeof(once[0]); i++)
		cr_expect_eq(number(cap_row_text(n, "name", once[i])), N, "%s", once[i]);
	cr_expect_eq(number(cap_row_text(n, "name", "both")), 2 * N);
	int64_t three = 0, twelve = 0;
	for (size_t i = 0; i < r.cap.n_records; i++) {
		const struct cap_record *rec = &r.cap.records[i];

		if (strstr(rec->probe, ":three")) {
			cr_expect_eq(cap_int(rec, "a"), -1 - three);
			cr_expect_eq(cap_int(rec, "b"), 60000 + three);
			cr_expect(cap_is_text(rec, "c", "a text"));
			three++;
		} else if (strstr(rec->probe, ":twelve")) {
			cr_expect_eq(cap_int(rec, "a"), -1 - twelve);
			cr_expect_eq(cap_int(rec, "b"), 200 + twelve);
			cr_expect_eq(cap_int(rec, "c"), -300 - twelve);
			cr_expect_eq(cap_int(rec, "d"), 60000 + twelve);
			cr_expect_eq(cap_int(rec, "e"), -70000 - twelve);
			cr_expect_eq(cap_int(rec, "f"), 4000000000 + twelve);
			cr_expect_eq(cap_int(rec, "g"), INT64_MIN + twelve);
			cr_expect_eq((uint64_t)cap_int(rec, "h"), UINT64_MAX - (uint64_t)twelve);
			cr_expect(cap_is_text(rec, "i", "a text"));
			cr_expect_eq(cap_int(rec, "j"), -2);
			cr_expect_eq(cap_int(rec, "k"), twelve == 0);
			cr_expect_eq((uint64_t)cap_int(rec, "l"), UINT64_C(0xf7f6f5f4f3f2f1f0));
			twelve++;
		} else {
			static const int64_t all[] = {-5, 250,        -5, 65531,
						      -5, 4294967291, -5, INT64_MIN};

			for (int k = 0; k < 8; k++)
				cr_expect_eq(cap_int(rec, (const char[]){(char)('a' + k), 0}),
					     all[k]);
		}
	}
	cr_expect_eq(three, N);
	cr_expect_eq(twelve, N);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(usdt_trace, every_size_and_sign_of_our_header)
{
	static const char *const all[] = {USDT_HEADER_PROGRAMS};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check_header(all[i]);
}

/* ---- many sites ---- */

static void check_sites(const char *path, const char *library, const char *how)
{
	const char *const program[] = {path, ROUNDS, NULL};
	struct worker w;
	struct rig r;

	start(&r, &w, program);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "providers: {usdt: {stash: 'off', mechanism: %s}}\n"
		  "probes:\n"
		  "  - probe: 'usdt:%s:many:distinct'\n"
		  "    do: [{sum: {into: distinct, by: {i: arg0}, value: arg1}}]\n"
		  "  - probe: 'usdt:%s:many:equal'\n"
		  "    do: [{count: {into: equal, by: {i: arg0}}}]\n"
		  "  - probe: 'usdt:%s:many:inlined'\n"
		  "    do: [{count: {into: inlined, by: {i: arg0, s: str(arg1)}}}]\n"
		  "  - probe: 'usdt:%s:many:none'\n"
		  "    do: [{count: {into: none}}]\n"
		  "  - probe: 'usdt:%s:many:widths'\n"
		  "    do: [{emit: {a: arg0, b: arg1, c: arg2, d: arg3, e: arg4, f: arg5, g: arg6, "
		  "h: arg7}}]\n"
		  "  - probe: 'usdt:%s:many:three'\n"
		  "    do: [{emit: {a: arg0, b: arg1, c: arg2}}]\n"
		  "  - probe: 'usdt:%s:many:twelve'\n"
		  "    do: [{emit: {a: arg0, b: arg1, c: arg2, d: arg3, e: arg4, f: arg5, g: arg6, "
		  "h: arg7, i: arg8, j: arg9, k: arg10, l: arg11}}]\n"
		  "  - probe: 'usdt:%s:many:*'\n"
		  "    do: [{count: {into: all, by: {name: probename}}}]\n",
		  w.pid, how, library, library, library, library, library, library, library,
		  library);

	const struct cap_table *t = cap_last_table(&r.cap, "distinct");
	cr_assert_eq(t->n_rows, 300, "%s: %zu rows", path, t->n_rows);
	for (int64_t i = 100; i < 400; i++)
		cr_assert_eq(cap_row_int(t, "i", i)->value.i, N * (900 + i), "%s: %lld", path,
			     (long long)i);
	t = cap_last_table(&r.cap, "equal");
	cr_assert_eq(t->n_rows, 400);
	for (int64_t i = 100; i < 500; i++)
		cr_assert_eq(number(cap_row_int(t, "i", i)), N);
	t = cap_last_table(&r.cap, "inlined");
	cr_expect_eq(t->n_rows, 102);
	cr_expect_eq(cap_total(t), 100 * N);
	cr_expect_eq(number(cap_only_row(&r.cap, "none")), N);
	/* The places differ, the probe is one. */
	t = cap_last_table(&r.cap, "all");
	cr_expect_eq(t->n_rows, 7);
	cr_expect_eq(number(cap_row_text(t, "name", "distinct")), 300 * N);
	cr_expect_eq(number(cap_row_text(t, "name", "equal")), 400 * N);
	cr_expect_eq(number(cap_row_text(t, "name", "inlined")), 100 * N);

	int64_t n = 0, x = 0, three = 0;
	for (size_t i = 0; i < r.cap.n_records; i++) {
		const struct cap_record *rec = &r.cap.records[i];

		if (strstr(rec->probe, ":widths")) {
			static const int64_t all[] = {-16,
						      0xf0,
						      -3600,
						      0xf1f0,
						      -202182160,
						      0xf3f2f1f0,
						      -579005069656919568,
						      -579005069656919568};

			for (int k = 0; k < 8; k++)
				cr_expect_eq(cap_int(rec, (const char[]){(char)('a' + k), 0}),
					     all[k], "%s: width %d", path, k);
			n++;
			continue;
		}
		if (strstr(rec->probe, ":three")) {
			cr_expect_eq(cap_int(rec, "a"), three * 3 - 100);
			cr_expect_eq(cap_int(rec, "b"), three * 3 + 4000000000);
			cr_expect_eq(cap_int(rec, "c"), INT64_MIN + three * 3);
			three++;
			continue;
		}
		const int64_t all[] = {x * 3 - 100,
				       (uint8_t)(x * 3 + 200),
				       x * 3 - 30000,
				       x * 3 + 60000,
				       x * 3 - 2000000000,
				       x * 3 + 4000000000,
				       INT64_MIN + x * 3,
				       (int64_t)(UINT64_MAX - (uint64_t)x * 3),
				       x,
				       -x,
				       x,
				       x + 1};
		for (int k = 0; k < 12; k++)
			cr_expect_eq(cap_int(rec, (const char[]){(char)('a' + k), 0}), all[k],
				     "%s: argument %d of %lld", path, k, (long long)x);
		x++;
	}
	cr_expect_eq(n, N);
	cr_expect_eq(three, N);
	cr_expect_eq(x, N);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* Plain, guarded; then by sys/sdt.h. */
static const char *const sites[] = {USDT_SITES_PROGRAMS};

Test(usdt_trace, many_sites_of_one_name)
{
	check_sites(sites[0], sites[0], "auto");
}

Test(usdt_trace, many_sites_guarded)
{
	check_sites(sites[1], sites[1], "auto");
}

Test(usdt_trace, many_sites_of_sdt)
{
	check_sites(sites[2], sites[2], "auto");
}

Test(usdt_trace, many_sites_of_sdt_guarded)
{
	check_sites(sites[3], sites[3], "auto");
}

Test(usdt_trace, many_sites_of_a_library)
{
	check_sites(USDT_SITES_MAIN, USDT_SITES_LIBRARY, "auto");
}

Test(usdt_trace, many_sites_with_an_event_each)
{
	check_sites(USDT_SITES_MAIN, USDT_SITES_LIBRARY, "perf");
}

/* ---- files that come and go ---- */

static void check_loads(const char *how, const char *probe, const char *options, uint64_t times)
{
	struct worker w;
	struct rig r;

	start(&r, &w, (const char *const[]){USDT_LOADS, how, "50", USDT_LOADED, NULL});
	r.destructive = true;
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d, %s}\n"
		  "providers: {usdt: {stash: 'off'}}\n"
		  "probes:\n"
		  "  - probe: {provider: usdt, module: '%s', function: lib, name: '*'}\n"
		  "    when: arg0 < 0\n"
		  "    do: [signal: USR1]\n"
		  "  - probe: {provider: usdt, module: '%s', function: lib, name: '*'}\n"
		  "    when: arg0 >= 0\n"
		  "    do: [{count: {into: n, by: {name: probename}}}, {sum: {into: args, value: "
		  "arg0}}]\n",
		  w.pid, options, probe, probe);
	const struct cap_table *t = cap_last_table(&r.cap, "n");
	cr_expect_eq(number(cap_row_text(t, "name", "plain")), 50 * (int64_t)times, "%s", how);
	cr_expect_eq(number(cap_row_text(t, "name", "guarded")), 50 * (int64_t)times, "%s", how);
	cr_expect_eq((uint64_t)cap_only_row(&r.cap, "args")->value.i, 2 * times * 49 * 25);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(usdt_trace, a_library_that_is_loaded_later)
{
	/* Known: from the first firing on. */
	check_loads("plain", USDT_LOADED, "follow: false", 1);
	/* Found when it is mapped. */
	check_loads("dlopen", "*libusdt-loaded.so", "follow: false", 1);
	check_loads("dlopen", "libusdt-loaded.so", "follow: true", 1);
}

Test(usdt_trace, a_library_in_memory)
{
	check_loads("memfd", "memfd:loaded*", "follow: false", 1);
}

/* Each has its sites' arguments elsewhere: programs are made for them while tracing. */
static void check_grown(const char *how, const char *const argv[], int64_t n_sites)
{
	struct worker w;
	struct rig r;

	start(&r, &w, argv);
	r.destructive = true;
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d, follow: false}\n"
		  "providers: {usdt: {stash: 'off', mechanism: %s}}\n"
		  "probes:\n"
		  "  - probe: 'usdt:*libgrown.so:lib:grown'\n"
		  "    when: arg0 < 0\n"
		  "    do: [signal: USR1]\n"
		  "  - probe: 'usdt:*libgrown.so:lib:grown'\n"
		  "    when: arg0 >= 0\n"
		  "    do: [{count: {into: n, by: {name: probename}}}, {sum: {into: args, value: "
		  "arg0}}]\n",
		  w.pid, how);
	cr_expect_eq(number(cap_row_text(cap_last_table(&r.cap, "n"), "name", "grown")),
		     n_sites * 50, "%s", how);
	cr_expect_eq(cap_only_row(&r.cap, "args")->value.i, n_sites * 49 * 25, "%s", how);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(usdt_trace, layouts_of_a_library_that_is_loaded_later)
{
	check_grown("auto",
		    (const char *const[]){USDT_LOADS, "dlopen", "50", USDT_GROWN "0/libgrown.so",
					  USDT_GROWN "1/libgrown.so", USDT_GROWN "0/libgrown.so",
					  USDT_GROWN "2/libgrown.so", USDT_GROWN "1/libgrown.so",
					  NULL},
		    24);
	check_grown("perf",
		    (const char *const[]){USDT_LOADS, "dlopen", "50", USDT_GROWN "1/libgrown.so",
					  USDT_GROWN "0/libgrown.so", NULL},
		    2);
}

/* What is asked for cannot be read in the second library: that costs its sites, and not the third's. */
Test(usdt_trace, USDT_SITES_LOST)
{
	struct worker w;
	struct rig r;

	start(&r, &w,
	      (const char *const[]){USDT_LOADS, "dlopen", "50", USDT_GROWN "0/libgrown.so",
				    USDT_GROWN "3/libgrown.so", USDT_GROWN "1/libgrown.so", NULL});
	r.destructive = true;
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d, follow: false}\n"
		  "providers: {usdt: {stash: 'off'}}\n"
		  "probes:\n"
		  "  - probe: 'usdt:*libgrown.so:lib:grown'\n"
		  "    when: arg0 < 0\n"
		  "    do: [signal: USR1]\n"
		  "  - probe: 'usdt:*libgrown.so:lib:grown'\n"
		  "    when: arg0 >= 0\n"
		  "    do: [{sum: {into: args, value: arg0}}]\n",
		  w.pid);
	cr_expect_eq(cap_only_row(&r.cap, "args")->value.i, 2 * 49 * 25);
	cap_expect_loss(&r.cap, "USDT_SITES_LOST", 1);
	cr_expect(rig_has_said(&r, "a probe that appeared is not traced"));
	rig_finish(&r);
}

Test(usdt_trace, children_and_what_they_exec)
{
	check_loads("fork", USDT_LOADED, "follow: true", 2);
}

/* Without `follow` the children are others; and so is everybody else who runs the program. */
static void check_others(const char *how)
{
	struct worker w, other;
	struct rig r;

	worker_program(&other, -1, (const char *const[]){USDT_SHARED, ROUNDS, NULL});
	start(&r, &w, (const char *const[]){USDT_SHARED, ROUNDS, NULL});
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "target: {pid: %d}\n"
				 "providers: {usdt: {stash: 'off', mechanism: %s}}\n"
				 "probes:\n"
				 "  - probe: 'usdt:%s:shop:one'\n"
				 "    do: [{count: {into: n, by: {pid: pid}}}]\n",
				 w.pid, how, USDT_SHARED),
		     0, "%s", rig_errors(&r));
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	worker_join(&other);
	worker_go(&w);
	cr_assert_eq(rig_run(&r, w.pidfd, 0), 0, "%s", rig_errors(&r));
	worker_join(&w);
	cr_expect_eq(number(cap_row_int(cap_last_table(&r.cap, "n"), "pid", w.pid)), N);
	cr_expect_eq(cap_total(cap_last_table(&r.cap, "n")), N);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(usdt_trace, who_is_not_asked_about)
{
	struct worker w;
	struct rig r;

	check_others("auto");
	check_others("perf");
	start(&r, &w, (const char *const[]){USDT_LOADS, "fork", "50", USDT_LOADED, NULL});
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d, follow: false}\n"
		  "providers: {usdt: {stash: 'off'}}\n"
		  "probes:\n"
		  "  - probe: 'usdt:%s:lib:*'\n"
		  "    do: [{count: {into: n}}]\n",
		  w.pid, USDT_LOADED);
	cr_expect_eq(cap_total(cap_last_table(&r.cap, "n")), 0);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- sharing ---- */

/* Of the one site of that name, from the beginning of its function. */
static unsigned long offset_in(const char *path, const char *function, const char *name)
{
	struct test_file f;
	uint64_t from = 0, at = 0;

	test_file_read(path, &f);
	cr_assert_eq(test_file_find(&f, function, strlen(function), &from), 0);
	for (size_t i = 0; i < f.n_notes; i++)
		if (!strcmp(f.notes[i].name, name))
			at = f.notes[i].pc;
	test_file_free(&f);
	cr_assert_gt(at, from);
	return at - from;
}

Test(usdt_trace, each_who_asks_for_a_site_is_served_once)
{
	const char *path = USDT_SHARED;
	struct worker w;
	struct rig r;
	char dir[512];

	/* By its base name it is found as any program is. */
	snprintf(dir, sizeof(dir), "%.*s:/bin", (int)(strrchr(path, '/') - path), path);
	setenv("PATH", dir, 1);
	start(&r, &w, (const char *const[]){path, "20", NULL});
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "target: {pid: %d}\n"
				 "providers: {usdt: {stash: 'off'}}\n"
				 "probes:\n"
				 "  - probe: 'usdt:%s:shop:one'\n"
				 "    do: [{count: {into: path}}]\n"
				 "  - probe: 'usdt:%s:shop:on*'\n"
				 "    do: [{count: {into: again}}]\n"
				 "  - probe: 'usdt:%s:shop:one'\n"
				 "    do: [{count: {into: base}}]\n"
				 "  - probe: 'uprobe:%s:pass:+0x%lx'\n"
				 "    do: [{count: {into: uprobe}}]\n",
				 w.pid, path, path, strrchr(path, '/') + 1, path,
				 offset_in(path, "pass", "one")),
		     0, "%s", rig_errors(&r));
	rig_go(&r, &w);
	cr_expect_eq(number(cap_only_row(&r.cap, "path")), 20);
	cr_expect_eq(number(cap_only_row(&r.cap, "again")), 20);
	cr_expect_eq(number(cap_only_row(&r.cap, "base")), 20);
	cr_expect_eq(number(cap_only_row(&r.cap, "uprobe")), 20);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- semaphores ---- */

static int guard_of(const char *path)
{
	char command[512];

	snprintf(command, sizeof(command), "%s 0", path);
	return WEXITSTATUS(system(command));
}

Test(usdt_trace, semaphores_are_up_while_attached)
{
	struct rig r;

	rig_init(&r);
	cr_assert_eq(guard_of(USDT_SHARED), 0);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "providers: {usdt: {stash: 'off'}}\n"
				 "probes:\n"
				 "  - probe: 'usdt:%s:shop:guarded'\n"
				 "    do: [{count: {into: n}}]\n",
				 USDT_SHARED),
		     0, "%s", rig_errors(&r));
	cr_assert_eq(guard_of(USDT_SHARED), 0, "nothing is created before attaching");
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	cr_expect_eq(guard_of(USDT_SHARED), 1, "in a process that was started later");
	cr_assert_eq(rig_run(&r, -1, 1000000), 0);
	cr_expect_eq(guard_of(USDT_SHARED), 0, "after it");
	rig_finish(&r);
}

Test(usdt_trace, semaphores_are_down_after_a_tracer_was_killed)
{
	char set[] = "/tmp/weft-usdt-XXXXXX";
	int fd = mkstemp(set), up = 0, down = 1;

	dprintf(fd,
		"version: 1\nname: t\nproviders: {usdt: {stash: 'off'}}\nprobes:\n"
		"  - probe: 'usdt:%s:shop:guarded'\n    do: [{count: {into: n}}]\n",
		USDT_SHARED);
	close(fd);
	pid_t tracer = fork();
	if (tracer == 0) {
		execl(WEFT_BINARY_DIR "/cli/trace-cli", "trace-cli", "run", set, (char *)NULL);
		_exit(127);
	}
	for (int i = 0; i < 400 && !up; i++) {
		up = guard_of(USDT_SHARED);
		usleep(25000);
	}
	cr_expect_eq(up, 1);
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	for (int i = 0; i < 400 && down; i++) {
		down = guard_of(USDT_SHARED);
		usleep(25000);
	}
	cr_expect_eq(down, 0);
	unlink(set);
}

/* ---- the stash ---- */

/* A file that is known is attached to before anybody has it mapped. */
Test(usdt_trace, first_firings_of_a_file_that_is_known)
{
	static const char *const modules[] = {USDT_LOADED, "libusdt-loaded.so", "*loaded.so"};
	char stash[] = "/tmp/weft-usdt-XXXXXX", command[512];

	cr_assert(mkdtemp(stash));
	for (int i = 0; i < 3; i++) {
		struct worker w;
		struct rig r;

		start(&r, &w, (const char *const[]){USDT_LOADS, "plain", "50", USDT_LOADED, NULL});
		rig_trace(&r, &w,
			  "version: 1\n"
			  "target: {pid: %d, follow: true}\n"
			  "providers: {usdt: {stash: '%s'}}\n"
			  "probes:\n"
			  "  - probe: 'usdt:%s:lib:*'\n"
			  "    do: [{count: {into: n, by: {name: probename}}}]\n",
			  w.pid, stash, modules[i]);
		const struct cap_table *t = cap_last_table(&r.cap, "n");
		cr_expect_eq(number(cap_row_text(t, "name", "plain")), 50, "%s", modules[i]);
		cr_expect_eq(number(cap_row_text(t, "name", "guarded")), 50, "%s", modules[i]);
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
	}
	snprintf(command, sizeof(command), "rm -r %s", stash);
	cr_expect_eq(system(command), 0);
}
