/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Handles on threads of their own, at the same time, and one that goes from thread to thread. */
#include <pthread.h>

#include "rig.h"

#define THREADS 4

static void *trace(void *arg)
{
	char n[16];
	const char *const command[] = {CALLS, n, NULL};
	const struct weft_trace_target target = {.struct_size = sizeof(target), .command = command};
	struct rig r;

	for (int i = 0; i < 3; i++) {
		snprintf(n, sizeof(n), "%d", (int)(intptr_t)arg + i);
		rig_open(&r, 0);
		cr_assert_eq(weft_trace_plugins(r.t, WEFT_BINARY_DIR "/providers"), 0);
		rig_set(&r, "version: 1\n"
			    "probes: [{probe: 'fx-trace:::calls', do: [count: {into: n}]}]\n");
		cr_assert_eq(weft_trace_target(r.t, &target), 0);
		rig_run(&r, NULL);
		rig_expect_line(&r, "count n: {} %s n=%s", n, n);
		rig_close(&r);
	}
	return NULL;
}

Test(embed_threads, one_handle_each)
{
	pthread_t threads[THREADS];

	for (intptr_t i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, trace, (void *)(100 * (i + 1))), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static struct rig wandering;

static void *start(void *arg)
{
	(void)arg;
	cr_expect_eq(weft_trace_start(wandering.t, NULL), 0, "%s", weft_trace_error(wandering.t));
	return NULL;
}

static void *run(void *arg)
{
	(void)arg;
	cr_expect_eq(weft_trace_run(wandering.t), 0, "%s", weft_trace_error(wandering.t));
	return NULL;
}

Test(embed_threads, one_handle_that_wanders)
{
	static const char *const command[] = {CALLS, "77", NULL};
	const struct weft_trace_target target = {.struct_size = sizeof(target), .command = command};
	void *(*const steps[])(void *) = {start, run};
	pthread_t thread;

	rig_open(&wandering, 0);
	rig_set(&wandering, "version: 1\n"
			    "probes: [{probe: 'fx-trace:::calls', do: [count: {into: n}]}]\n");
	cr_assert_eq(weft_trace_target(wandering.t, &target), 0);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(pthread_create(&thread, NULL, steps[i], NULL), 0);
		pthread_join(thread, NULL);
	}
	cr_expect_eq(weft_trace_stop(wandering.t), 0);
	rig_expect_line(&wandering, "count n: {} 77 n=77");
	rig_close(&wandering);
}
