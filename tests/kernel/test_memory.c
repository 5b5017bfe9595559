/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>

#include "core/kernel/cpus.h"
#include "tests/kernel/failing.h"
#include "tests/kernel/support.h"

static int ignore(const void *key, const void *value, void *arg)
{
	(void)key;
	(void)value;
	(void)arg;
	return 0;
}

static int make_maps(void *arg, struct weft_error *err)
{
	struct test_plan t;
	size_t i;
	int ret;

	(void)arg;
	test_plan_init(&t);
	for (i = 0; i < WEFT_PLAN_FIRST_FREE; i++)
		t.specs[i].used = true;
	ret = weft_maps_create(&t.maps, &t.plan, err);
	test_plan_finish(&t);
	return ret;
}

static int load(void *arg, struct weft_error *err)
{
	struct bpf_insn insns[] = {INSN_MOV64_IMM(BPF_REG_0, 0), INSN_EXIT()};
	struct weft_program p = {
		.name = "weft_test",
		.load = {.struct_size = sizeof(p.load), .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT},
		.insns = insns,
		.n_insns = 2};
	struct weft_maps none = {0};
	char *log;
	int fd, ret;

	if (arg)
		insns[0] = INSN_EXIT(); /* to be rejected */
	ret = weft_program_load(&p, &none, &fd, &log, err);
	if (!ret)
		close(fd);
	free(log);
	return arg && ret && !strcmp(weft_error_tag(err), "PROGRAM_REJECTED") ? 0 : ret;
}

static int read_map(void *arg, struct weft_error *err)
{
	const struct weft_map_spec spec = {.name = "weft_test",
					   .type = BPF_MAP_TYPE_HASH,
					   .key_size = 8,
					   .value_size = 16,
					   .max_entries = 10};
	int fd = weft_bpf_map_create(&spec), ret;
	uint64_t key = 1, value[2] = {1, 1};
	struct weft_map_reader *r;

	cr_assert_eq(weft_bpf_map_update(fd, &key, value, 0), 0);
	ret = weft_map_reader_create(fd, &spec, 1, arg != NULL, &r, err);
	if (!ret) {
		ret = weft_map_reader_run(r, ignore, NULL, err);
		weft_map_reader_destroy(r);
	}
	if (!ret)
		ret = weft_map_walk(fd, &spec, 1, ignore, NULL, err);
	close(fd);
	return ret;
}

static int scan(void *arg, struct weft_error *err)
{
	struct weft_kernel_member m = {.path = "task_struct.tgid"};
	struct weft_plan plan = {.members = &m, .n_members = 1};
	struct weft_task_offsets o;
	int ret = weft_btf_task_offsets(&o, err);

	(void)arg;
	return ret ? ret : weft_btf_resolve(&plan, err);
}

static int follow(void *arg, struct weft_error *err)
{
	struct test_plan t;
	struct weft_procset *set;
	int ret;

	(void)arg;
	test_plan_init(&t);
	t.specs[WEFT_PLAN_STATE].used = t.specs[WEFT_PLAN_TARGETS].used =
		t.specs[WEFT_PLAN_EXECGEN].used = true;
	ret = weft_maps_create(&t.maps, &t.plan, err);
	if (!ret) {
		ret = weft_procset_attach(&t.plan, &t.maps, false, true, true, &set, err);
		if (!ret) {
			ret = weft_procset_add(&t.maps, getpid(), err);
			weft_procset_detach(set);
		}
	}
	test_plan_finish(&t);
	return ret;
}

static void meet(const struct weft_process_event *e, void *arg)
{
	(void)e;
	(void)arg;
}

static int watch(void *arg, struct weft_error *err)
{
	struct weft_procwatch *w;
	uint64_t lost = 0;
	int ret = weft_procwatch_create(true, &w, err);

	(void)arg;
	if (ret)
		return ret;
	weft_procwatch_poll(w, meet, NULL, &lost);
	weft_procwatch_destroy(w);
	return 0;
}

Test(memory, each_allocation_fails_once)
{
	cr_expect_geq(failing_run(make_maps, NULL), 1u);
	cr_expect_geq(failing_run(load, NULL), 1u);
	cr_expect_geq(failing_run(load, "rejected"), 2u);
	cr_expect_geq(failing_run(read_map, NULL), 4u);
	cr_expect_geq(failing_run(read_map, "exchange"), 4u);
	cr_expect_geq(failing_run(scan, NULL), 4u);
	cr_expect_geq(failing_run(follow, NULL), 5u);
	cr_expect_geq(failing_run(watch, NULL), 3u);
}
