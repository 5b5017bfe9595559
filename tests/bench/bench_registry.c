/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What 100,000 probes cost: 50,000 kernel functions, each with an entry and a return, and names as
 * long as a kernel's are. Prints bytes a probe and the time of each thing that one does with a
 * registry. Build it in the release preset; times of a sanitized build say nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/registry.h"

#define FUNCTIONS 50000u

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Some 22 bytes, as the average of available_filter_functions; no two alike. */
static void function_name(char *buf, size_t size, unsigned int i)
{
	static const char *const subsystems[] = {"ext4",         "tcp", "xfs_trans", "drm_atomic",
						 "kmem_cache",   "vfs", "blk_mq",    "cgroup",
						 "nf_conntrack", "i915"};
	static const char *const verbs[] = {"alloc",       "release", "get_next",  "update",
					    "lookup_slow", "insert",  "set_state", "commit"};

	snprintf(buf, size, "%s_%s_%x", subsystems[i % 10], verbs[i / 10 % 8], i);
}

struct printing {
	size_t probes, bytes;
	char buf[8192];
};

static int print_one(const struct weft_probe *p, void *arg)
{
	struct printing *out = arg;

	out->probes++;
	out->bytes += (size_t)weft_probe_format(p, out->buf, sizeof(out->buf));
	return 0;
}

static int count_one(const struct weft_probe *p, void *arg)
{
	(void)p;
	++*(size_t *)arg;
	return 0;
}

static void die(const char *what)
{
	fprintf(stderr, "bench-registry: %s\n", what);
	exit(1);
}

static void populate(struct weft_registry *h)
{
	static const char *const names[] = {"entry", "return"};
	char function[64];

	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		function_name(function, sizeof(function), i);
		for (unsigned int k = 0; k < 2; k++) {
			struct weft_probe_desc d = {.struct_size = sizeof(d),
						    .module = "vmlinux",
						    .function = function,
						    .name = names[k]};

			if (weft_registry_add(h, &d, i, NULL, NULL))
				die("a probe was refused");
		}
	}
}

/* Every probe, in an order that no cache likes. */
static void look_up(const struct weft_registry_core *r, struct weft_registry *h)
{
	size_t n = weft_registry_size(r);

	for (size_t i = 0; i < n; i++) {
		const struct weft_probe *p = weft_registry_at(r, i * 7919 % n);
		struct weft_probe_desc d;

		weft_probe_desc(p, &d);
		if (weft_registry_find(h, &d) != p)
			die("a probe is missing");
	}
}

static double match(const struct weft_registry_core *r, const char *pattern, size_t expected,
		    int (*fn)(const struct weft_probe *, void *), void *arg, const size_t *n)
{
	struct weft_pattern p;
	double start;

	if (weft_pattern_parse(pattern, &p, NULL))
		die("a pattern was refused");
	start = now_ms();
	weft_registry_match(r, &p, 0, fn, arg);
	start = now_ms() - start;
	weft_pattern_finish(&p);
	if (*n != expected)
		die("a pattern matched a wrong number of probes");
	return start;
}

static double explain(const struct weft_registry_core *r, const char *pattern)
{
	static const char *const providers[] = {"fbt"};
	struct weft_error *err = weft_error_create();
	struct weft_pattern p;
	double start;

	if (!err || weft_pattern_parse(pattern, &p, NULL))
		die("a pattern was refused");
	start = now_ms();
	weft_registry_explain(r, &p, providers, 1, err);
	start = now_ms() - start;
	weft_pattern_finish(&p);
	weft_error_destroy(err);
	return start;
}

int main(void)
{
	struct weft_registry_core *r = weft_registry_create();
	struct weft_registry *h = r ? weft_registry_of(r, "fbt") : NULL;
	size_t strings, rest, n = 2 * FUNCTIONS, counted = 0;
	struct printing out = {.probes = 0};
	double start, ms;

	if (!h)
		die("out of memory");
	start = now_ms();
	populate(h);
	ms = now_ms() - start;
	weft_registry_memory(r, &strings, &rest);
	printf("probes                         %8zu\n", n);
	printf("strings, bytes a probe         %8.1f\n", (double)strings / (double)n);
	printf("all else, bytes a probe        %8.1f\n", (double)rest / (double)n);
	printf("populate, ms                   %8.2f\n", ms);
	start = now_ms();
	look_up(r, h);
	ms = now_ms() - start;
	printf("exact look-up, ns each         %8.0f\n", ms * 1e6 / (double)n);
	ms = match(r, "*:*:*:*", n, count_one, &counted, &counted);
	printf("match * on 100,000, ms         %8.2f\n", ms);
	counted = 0;
	ms = match(r, "fbt::*_set_state_*:return", FUNCTIONS / 8, count_one, &counted, &counted);
	printf("match *_x_* on 100,000, ms     %8.2f\n", ms);
	ms = match(r, "fbt:vmlinux:*:entry", FUNCTIONS, print_one, &out, &out.probes);
	printf("match and format 50,000, ms    %8.2f\n", ms);
	printf("explain among 100,000, ms      %8.2f\n",
	       explain(r, "fbt:vmlinux:tcp_relaese_abcd:entry"));
	weft_registry_destroy(r);
	return 0;
}
