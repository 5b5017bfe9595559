/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "core/arena.h"
#include "core/session/session.h"
#include "fuzz.h"
#include "plugins/loader.h"

static const char *const dirs[] = {FIXTURE_PROVIDER_DIR, WEFT_BINARY_DIR "/providers"};
/* Those that read no files which a set names. */
static const char *const wanted[] = {"profile", "fx-trace", "fx-pair", "fx-call", "fx-types"};

static const struct weft_provider *providers[8];
static size_t n_providers;

static bool is_wanted(const char *name)
{
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!strcmp(name, wanted[i]))
			return true;
	return false;
}

void fuzz_load_providers(void)
{
	/* Until the process ends. */
	static struct weft_loader *loader;
	struct weft_error *err = weft_error_create();

	loader = weft_loader_create();
	if (!loader || !err)
		abort();
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (weft_loader_add_dir(loader, dirs[i], true, err))
			abort();
	for (size_t i = 0; i < weft_loader_count(loader); i++) {
		const struct weft_loader_entry *e = weft_loader_entry(loader, i);

		if (e->state == WEFT_LOADER_USABLE && is_wanted(e->provider->name))
			providers[n_providers++] = e->provider;
	}
	if (n_providers != sizeof(wanted) / sizeof(wanted[0]))
		abort();
	weft_error_destroy(err);
}

static void explain(struct weft_session *s)
{
	struct weft_arena *arena = weft_arena_create();

	if (!arena)
		abort();
	for (size_t i = 0; i < weft_session_n_programs(s); i++) {
		const struct weft_program *prog;
		const struct weft_probe *first;
		char *text;
		size_t n;

		prog = weft_session_program(s, i, &first, &n);
		if (weft_plan_explain(weft_session_plan(s), prog, arena, &text) || !*text)
			abort();
	}
	weft_arena_destroy(arena);
}

/* A failure says why, and a success says nothing. */
static void expect_said(const struct weft_error *err, int ret)
{
	size_t n = weft_error_count(err);

	if (!ret != !n)
		abort();
	for (size_t i = 0; i < n; i++) {
		struct weft_report r;

		if (weft_error_report(err, i, &r) || !r.tag || !r.tag[0] || !r.text || !r.text[0])
			abort();
	}
}

void fuzz_compile(const char *yaml, size_t size)
{
	struct weft_session_env env = {
		.providers = providers, .n_providers = n_providers, .explain = true};
	struct weft_error *err = weft_error_create();
	struct weft_session *s = NULL;
	struct weft_set *set = NULL;
	int ret;

	if (!err)
		abort();
	env.destructive = size % 2;
	ret = weft_config_load_memory("set.yaml", yaml, size, &set, err);
	expect_said(err, ret);
	if (!ret) {
		ret = weft_session_create(&env, &s, err);
		if (!ret)
			ret = weft_session_prepare(s, set, err);
		expect_said(err, ret);
		if (!ret)
			explain(s);
	}
	weft_session_destroy(s);
	weft_set_destroy(set);
	weft_error_destroy(err);
}
