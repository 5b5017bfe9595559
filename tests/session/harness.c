/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const plugin_dirs[] = {FIXTURE_PROVIDER_DIR, OWN_PROVIDER_DIR,
					  WEFT_BINARY_DIR "/providers"};

static void keep_log(void *arg, enum weft_log_level level, const char *source, const char *text)
{
	struct rig *r = arg;
	size_t n = strlen(source) + strlen(text) + 4;

	(void)level;
	if (r->cap_said - r->n_said < n) {
		r->cap_said = (r->cap_said + n) * 2;
		r->said = realloc(r->said, r->cap_said);
		cr_assert_not_null(r->said);
	}
	r->n_said += (size_t)snprintf(r->said + r->n_said, n, "%s: %s\n", source, text);
	if (r->on_said)
		r->on_said(text, r->on_said_arg);
	if (r->n_attached && strstr(text, ": attached"))
		__atomic_add_fetch(r->n_attached, 1, __ATOMIC_SEQ_CST);
}

void rig_init(struct rig *r)
{
	memset(r, 0, sizeof(*r));
	capture_init(&r->cap);
	r->err = weft_error_create();
	r->loader = weft_loader_create();
	cr_assert(r->err && r->loader);
	for (size_t i = 0; i < sizeof(plugin_dirs) / sizeof(plugin_dirs[0]); i++)
		cr_assert_eq(weft_loader_add_dir(r->loader, plugin_dirs[i], true, r->err), 0, "%s",
			     rig_errors(r));
	for (size_t i = 0; i < weft_loader_count(r->loader); i++) {
		const struct weft_loader_entry *e = weft_loader_entry(r->loader, i);

		cr_assert_eq(e->state, WEFT_LOADER_USABLE, "%s: %s", e->path, e->text);
		r->providers[r->n_providers++] = e->provider;
	}
}

void rig_finish(struct rig *r)
{
	weft_session_destroy(r->session);
	weft_set_destroy(r->set);
	weft_loader_destroy(r->loader);
	weft_error_destroy(r->err);
	capture_finish(&r->cap);
	free(r->said);
	memset(r, 0, sizeof(*r));
}

static int prepare(struct rig *r, const char *format, va_list ap)
{
	struct weft_session_env env = {.providers = r->providers,
				       .n_providers = r->n_providers,
				       .destructive = r->destructive,
				       .log = keep_log,
				       .log_arg = r};
	char *yaml;
	int n = vasprintf(&yaml, format, ap), ret;

	cr_assert_geq(n, 0);
	ret = weft_config_load_memory("set.yaml", yaml, (size_t)n, &r->set, r->err);
	free(yaml);
	if (ret)
		return ret;
	ret = weft_session_create(&env, &r->session, r->err);
	cr_assert_eq(ret, 0, "%s", rig_errors(r));
	return weft_session_prepare(r->session, r->set, r->err);
}

int rig_prepare(struct rig *r, const char *format, ...)
{
	va_list ap;
	int ret;

	va_start(ap, format);
	ret = prepare(r, format, ap);
	va_end(ap);
	return ret;
}

int rig_start(struct rig *r)
{
	struct weft_sink sink = r->sink ? *r->sink : capture_sink(&r->cap);
	char *log = NULL;
	int ret = weft_session_start(r->session, &sink, &log, r->err);

	if (log && ret)
		fprintf(stderr, "%s\n", log);
	free(log);
	return ret;
}

int rig_run(struct rig *r, int stop_fd, uint64_t duration_ns)
{
	struct weft_run_options options = {.duration_ns = duration_ns, .stop_fd = stop_fd};
	int ret = weft_session_run(r->session, &options, &r->end, r->err);
	int stopped = weft_session_stop(r->session, &r->end, r->err);

	return ret ? ret : stopped;
}

void rig_go(struct rig *r, struct worker *w)
{
	int ret = rig_start(r);

	cr_assert_eq(ret, 0, "start: %d: %s", ret, rig_errors(r));
	if (w)
		worker_go(w);
	ret = rig_run(r, w ? w->pidfd : -1, 0);
	cr_assert_eq(ret, 0, "run: %d: %s", ret, rig_errors(r));
	cr_assert(r->sink || r->cap.n_ends == 1);
	for (size_t i = 0; getenv("RIG_LOSSES") && i < r->cap.n_losses; i++)
		fprintf(stderr, "lost: %llu x %s (%s)\n", (unsigned long long)r->cap.losses[i].count,
			r->cap.losses[i].tag, r->cap.losses[i].where ? r->cap.losses[i].where : "");
	if (w)
		worker_join(w);
}

void rig_trace(struct rig *r, struct worker *w, const char *format, ...)
{
	va_list ap;
	int ret;

	va_start(ap, format);
	ret = prepare(r, format, ap);
	va_end(ap);
	cr_assert_eq(ret, 0, "prepare: %d: %s", ret, rig_errors(r));
	rig_go(r, w);
}

bool rig_has_said(const struct rig *r, const char *text)
{
	return r->said && strstr(r->said, text);
}

const char *rig_errors(const struct rig *r)
{
	char *all = weft_arena_printf(r->cap.arena, "%zu errors", weft_error_count(r->err));
	struct weft_report e;

	for (size_t i = 0; i < weft_error_count(r->err); i++) {
		weft_error_report(r->err, i, &e);
		all = weft_arena_printf(r->cap.arena, "%s\n  %u:%u %s: %s", all, e.pos.line,
					e.pos.column, e.tag, e.text);
		for (size_t k = 0; k < e.n_contexts; k++)
			all = weft_arena_printf(r->cap.arena, "%s (%s)", all,
						weft_error_context_text(r->err, i, k));
	}
	return all;
}

void rig_expect_tag(const struct rig *r, size_t i, const char *tag)
{
	struct weft_report e;

	cr_assert_gt(weft_error_count(r->err), i, "no report %zu: %s", i, rig_errors(r));
	weft_error_report(r->err, i, &e);
	cr_expect_str_eq(e.tag, tag, "%s, not %s: %s", e.tag, tag, rig_errors(r));
}

int rig_cpus(void)
{
	return (int)sysconf(_SC_NPROCESSORS_ONLN);
}
