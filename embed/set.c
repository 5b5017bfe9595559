/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Plugins and the probe set: read, given its parameters and target, prepared.
 *
 * Looking at probes (list, info) needs a session too. It is never the one that a set is prepared
 * in: providers are opened with the set's options for them, and with its target. So whatever
 * changes what providers would be opened with makes an end of the session that only looked.
 */
#include "embed/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"

static void end_session(struct weft_trace *t)
{
	weft_session_destroy(t->session);
	t->session = NULL;
}

/* ---- plugins ---- */

int weft_trace_plugins(struct weft_trace *t, const char *dir)
{
	char buf[PATH_MAX];
	int ret;

	ret = weft_enter(t, "plugins", WEFT_AT_NEW | WEFT_AT_SET);
	if (ret)
		return ret;
	end_session(t);
	ret = weft_loader_add_dir(t->loader, dir ? dir : weft_place_dir(WEFT_PLACE_PROVIDERS, buf),
				  true, t->err);
	return weft_leave(t, ret);
}

size_t weft_trace_n_plugins(const struct weft_trace *t)
{
	return t ? weft_loader_count(t->loader) : 0;
}

const struct weft_trace_plugin *weft_trace_plugin(struct weft_trace *t, size_t i)
{
	const struct weft_loader_entry *e;

	if (!t || i >= weft_loader_count(t->loader))
		return NULL;
	e = weft_loader_entry(t->loader, i);
	t->plugin = (struct weft_trace_plugin){
		.struct_size = sizeof(t->plugin),
		.is_usable = e->state == WEFT_LOADER_USABLE,
		.path = e->path,
		.name = e->name,
		.summary = e->provider ? e->provider->summary : NULL,
		.abi_version = e->abi_version,
		.tag = e->tag,
		.text = e->text,
	};
	return &t->plugin;
}

/* ---- the session ---- */

_Static_assert((int)WEFT_TRACE_DEBUG == (int)WEFT_LOG_DEBUG &&
		       (int)WEFT_TRACE_INFO == (int)WEFT_LOG_INFO &&
		       (int)WEFT_TRACE_WARNING == (int)WEFT_LOG_WARNING,
	       "levels are the providers'");

static void pass_log(void *arg, enum weft_log_level level, const char *source, const char *text)
{
	const struct weft_trace *t = arg;

	t->options.log(t->options.arg, (int)level, source, text);
}

static int find_providers(struct weft_trace *t)
{
	size_t i, n = weft_loader_count(t->loader);

	t->n_providers = 0;
	for (i = 0; i < n; i++) {
		const struct weft_loader_entry *e = weft_loader_entry(t->loader, i);

		if (e->state != WEFT_LOADER_USABLE)
			continue;
		if (weft_grow(&t->providers, &t->cap_providers, t->n_providers, sizeof(void *)))
			return weft_nomem(t->err);
		t->providers[t->n_providers++] = e->provider;
	}
	return 0;
}

int weft_trace_session(struct weft_trace *t)
{
	struct weft_session_env env = {
		.log = t->options.log ? pass_log : NULL,
		.log_arg = t,
		.explain = t->options.flags & WEFT_TRACE_EXPLAIN,
		.destructive = t->options.flags & WEFT_TRACE_DESTRUCTIVE,
		.lines = t->options.flags & WEFT_TRACE_LINES,
	};
	int ret;

	if (t->session)
		return 0;
	ret = find_providers(t);
	if (ret)
		return ret;
	env.providers = t->providers;
	env.n_providers = t->n_providers;
	ret = weft_session_create(&env, &t->session, t->err);
	if (!ret && t->target_arena && t->n_pids)
		ret = weft_session_set_target(t->session, t->pids, t->n_pids, t->follow, t->err);
	if (ret)
		end_session(t);
	return ret;
}

void weft_trace_forget(struct weft_trace *t)
{
	end_session(t);
	weft_set_destroy(t->set);
	t->set = NULL;
	free(t->verifier_log);
	t->verifier_log = NULL;
	t->failed = 0;
	t->over = false;
	t->end = (struct weft_trace_end){0};
	t->state = WEFT_AT_NEW;
}

/* ---- the set ---- */

static int enter_set(struct weft_trace *t, const char *what)
{
	return weft_enter(t, what, WEFT_AT_REST | WEFT_AT_BROKEN);
}

static int read_set(struct weft_trace *t, int ret)
{
	if (!ret)
		t->state = WEFT_AT_SET;
	return weft_leave(t, ret);
}

int weft_trace_set(struct weft_trace *t, const char *name, const char *yaml, size_t size)
{
	int ret;

	ret = enter_set(t, "set");
	if (ret)
		return ret;
	if (!name || !yaml)
		return weft_leave(t, weft_null(t, name ? "yaml" : "name"));
	weft_trace_forget(t);
	return read_set(t, weft_config_load_memory(name, yaml, size, &t->set, t->err));
}

int weft_trace_set_file(struct weft_trace *t, const char *path)
{
	int ret;

	ret = enter_set(t, "set_file");
	if (ret)
		return ret;
	if (!path)
		return weft_leave(t, weft_null(t, "path"));
	weft_trace_forget(t);
	return read_set(t, weft_config_load_file(path, &t->set, t->err));
}

const struct weft_trace_set_info *weft_trace_set_info(struct weft_trace *t)
{
	struct weft_trace_param *params;
	size_t i;

	if (!t || !t->set)
		return NULL;
	params = weft_room(t, WEFT_ROOM_PARAMS, t->set->n_params, sizeof(*params));
	if (!params)
		return NULL;
	for (i = 0; i < t->set->n_params; i++)
		params[i] = (struct weft_trace_param){
			.struct_size = sizeof(*params),
			.name = t->set->params[i].name.s,
			.value = t->set->params[i].value.s,
		};
	t->set_info = (struct weft_trace_set_info){
		.struct_size = sizeof(t->set_info),
		.n_clauses = (uint32_t)t->set->n_clauses,
		.name = t->set->name.s,
		.description = t->set->description.s,
		.params = params,
		.n_params = (uint32_t)t->set->n_params,
		.param_size = sizeof(*params),
	};
	return &t->set_info;
}

int weft_trace_param(struct weft_trace *t, const char *name, const char *value)
{
	int ret;

	ret = weft_enter(t, "param", WEFT_AT_SET);
	if (ret)
		return ret;
	if (!name || !value)
		return weft_leave(t, weft_null(t, name ? "value" : "name"));
	return weft_leave(t, weft_set_param(t->set, name, value, t->err));
}

/* ---- the target ---- */

static int copy_target(struct weft_trace *t, const struct weft_trace_target *from,
		       struct weft_arena *arena)
{
	size_t n = 0, i;

	t->pids = weft_arena_memdup(arena, from->n_pids ? from->pids : (const int32_t[]){0},
				    (from->n_pids ? from->n_pids : 1) * sizeof(*t->pids));
	if (!t->pids)
		return weft_nomem(t->err);
	t->n_pids = from->n_pids;
	t->command = NULL;
	if (!from->command || !from->command[0])
		return 0;
	while (from->command[n])
		n++;
	t->command = weft_arena_array(arena, n + 1, sizeof(*t->command));
	for (i = 0; t->command && i < n; i++) {
		t->command[i] = weft_arena_strdup(arena, from->command[i]);
		if (!t->command[i])
			t->command = NULL;
	}
	return t->command ? 0 : weft_nomem(t->err);
}

int weft_trace_target(struct weft_trace *t, const struct weft_trace_target *target)
{
	struct weft_trace_target copy;
	struct weft_arena *arena;
	int ret;

	ret = weft_enter(t, "target", WEFT_AT_NEW | WEFT_AT_SET);
	if (ret)
		return ret;
	if (!target)
		ret = weft_null(t, "target");
	else
		ret = weft_copy_in(t, &copy, sizeof(copy), target, WEFT_TRACE_FOLLOW, "target");
	if (!ret && copy.n_pids && !copy.pids)
		ret = weft_null(t, "pids");
	if (ret)
		return weft_leave(t, ret);
	end_session(t);
	arena = weft_arena_create();
	ret = arena ? copy_target(t, &copy, arena) : weft_nomem(t->err);
	weft_arena_destroy(t->target_arena);
	t->target_arena = arena;
	t->follow = copy.flags & WEFT_TRACE_FOLLOW;
	if (ret) { /* neither the old nor the new one */
		weft_arena_destroy(arena);
		t->target_arena = NULL;
	}
	return weft_leave(t, ret);
}

/* ---- preparing ---- */

int weft_prepare(struct weft_trace *t)
{
	struct weft_target_spec *target = &t->set->target;
	int ret;

	if (t->target_arena) {
		target->follow |= t->follow;
		if (t->n_pids || t->command) {
			target->pids = t->pids;
			target->n_pids = t->n_pids;
			target->command = t->command;
			target->pos = (struct weft_pos){0};
		}
	}
	end_session(t);
	ret = weft_trace_session(t);
	if (!ret)
		ret = weft_session_prepare(t->session, t->set, t->err);
	/* What a session that failed is made of is nowhere said: the next set gets another. */
	t->state = ret ? WEFT_AT_BROKEN : WEFT_AT_PREPARED;
	return ret;
}

int weft_trace_prepare(struct weft_trace *t)
{
	int ret = weft_enter(t, "prepare", WEFT_AT_SET);

	return ret ? ret : weft_leave(t, weft_prepare(t));
}

const struct weft_trace_counts *weft_trace_counts(struct weft_trace *t)
{
	if (!t || !(t->state & (WEFT_AT_PREPARED | WEFT_AT_RUNNING | WEFT_AT_STOPPED)))
		return NULL;
	t->counts = (struct weft_trace_counts){
		.struct_size = sizeof(t->counts),
		.n_clauses = (uint32_t)t->set->n_clauses,
		.n_probes = weft_session_n_probes(t->session),
		.n_programs = weft_session_n_programs(t->session),
		.map_bytes = weft_session_map_memory(t->session),
	};
	return &t->counts;
}
