/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The least that a provider needs to run: struct weft_host over the registry, errors and options of
 * core/base, without a session. Everything that the provider says is kept for the test to look at.
 */
#ifndef WEFT_TEST_HOST_H
#define WEFT_TEST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/params.h"
#include "core/registry.h"
#include "weft/provider.h"

struct test_log {
	enum weft_log_level level;
	char text[256];
};

struct test_host {
	struct weft_host host;
	const struct weft_provider *provider;
	struct weft_instance *instance;
	struct weft_registry_core *core;
	struct weft_registry *registry;
	struct weft_params *params; /* the set's options */
	struct weft_params *with;   /* a probe's options, all by default */
	struct weft_error *err;
	struct weft_target target;
	int32_t pids[8];
	struct test_log log[64];
	size_t n_log;
	uint64_t lost;
	void (*watch)(struct weft_instance *, const struct weft_process_event *);
	struct weft_elf_reader *elf_reader;
	struct weft_btfs *btfs;
	struct weft_arena *told;
};

/* A plugin's provider; it stays loaded. The test fails if it cannot be had. */
const struct weft_provider *test_host_plugin(const char *path);

/* Opens the provider; the test fails if that cannot be done. options: NULL, or name, value, name,
 * value, ..., NULL for options of the set. */
void test_host_start(struct test_host *h, const struct weft_provider *provider,
		     const char *const *options);
void test_host_stop(struct test_host *h);

/* Restricts the target to one process; before test_host_start(), or at any time after. */
void test_host_target(struct test_host *h, int32_t pid);

/* The probe, registered or provided; NULL with a report in h->err. */
const struct weft_probe *test_host_probe(struct test_host *h, const char *module,
					 const char *function, const char *name);

/* What the provider says of a probe; the test fails if it says nothing. */
void test_host_info(struct test_host *h, const struct weft_probe *probe,
		    struct weft_probe_info *out);

/* attach() of one probe, with what it reports. Returns attach()'s result. */
struct test_attached {
	struct weft_attachment *attachment;
	int32_t status;
	uint32_t done, total;
	const char *unit;
};
int test_host_attach(struct test_host *h, const struct weft_probe *probe, int prog_fd,
		     uint64_t cookie, struct test_attached *out);
void test_host_detach(struct test_host *h, struct test_attached *at);

/* Hands the provider an event, if it watches processes. */
void test_host_event(struct test_host *h, const struct weft_process_event *ev);

/* An option of the probes, from now on. */
void test_host_with(struct test_host *h, const char *name, const char *value);

/* The tag of the first report ("" if none); clears the reports. Valid until the next call. */
const char *test_host_tag(struct test_host *h);

/* Whether a line of the log contains the text. */
bool test_host_logged(const struct test_host *h, const char *text);

#endif
