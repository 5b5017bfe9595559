/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* struct weft_host: what a plugin may ask of the core, as thin functions over the core's own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/btf_describe.h"
#include "core/session/guard.h"
#include "core/session/internal.h"

#define TAG_MAX 64u

/* Each function below begins with one of these: guard.h. */
#define ALLOWED(function) weft_guard_allows(function, __builtin_return_address(0))
#define ALLOWED_ERROR(function, err) \
	weft_guard_allows_error(function, err, __builtin_return_address(0))

static struct weft_opened *opened_of(const struct weft_host *host)
{
	return host->core;
}

void weft_session_log(struct weft_session *s, enum weft_log_level level, const char *format, ...)
{
	char text[1024];
	va_list ap;

	if (!s->env.log)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	s->env.log(s->env.log_arg, level, "weft", text);
}

/* SHOUTING_SNAKE, as scripts may rely on. */
static bool is_tag(const char *tag)
{
	size_t n = tag ? strspn(tag, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") : 0;

	return n && n <= TAG_MAX && !tag[n];
}

static int host_fail(struct weft_error *err, int code, const char *tag, const char *format, ...)
{
	va_list ap;

	if (!ALLOWED_ERROR("fail", err))
		return code;
	va_start(ap, format);
	weft_vfail(err, code, is_tag(tag) ? tag : "PLUGIN_TAG", format, ap);
	va_end(ap);
	return code;
}

static void host_context(struct weft_error *err, const char *format, ...)
{
	va_list ap;

	if (!ALLOWED_ERROR("context", err))
		return;
	va_start(ap, format);
	weft_error_vcontext(err, format, ap);
	va_end(ap);
}

static void host_log(const struct weft_host *host, uint32_t level, const char *format, ...)
{
	struct weft_opened *o = opened_of(host);
	char text[1024];
	va_list ap;

	if (!ALLOWED("log") || !o->session->env.log)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (level > WEFT_LOG_WARNING)
		level = WEFT_LOG_WARNING; /* one that this core does not know */
	o->session->env.log(o->session->env.log_arg, level, o->provider->name, text);
}

static const struct weft_target *host_target(const struct weft_host *host)
{
	return ALLOWED("target") ? &opened_of(host)->session->target : NULL;
}

int weft_session_count_loss(struct weft_session *s, const char *provider, const char *tag,
			    uint64_t count, const char *detail)
{
	struct weft_counted_loss *l;
	size_t i;

	for (i = 0; i < s->n_losses; i++) {
		l = &s->losses[i];
		if (!strcmp(l->tag, tag) && !strcmp(l->provider, provider) &&
		    !strcmp(l->detail ? l->detail : "", detail ? detail : "")) {
			l->count += count;
			return 0;
		}
	}
	if (weft_grow(&s->losses, &s->cap_losses, s->n_losses, sizeof(*s->losses)))
		return -ENOMEM;
	l = &s->losses[s->n_losses];
	memset(l, 0, sizeof(*l));
	l->tag = strndup(tag, 64);
	l->detail = detail ? strndup(detail, 512) : NULL;
	if (!l->tag || (detail && !l->detail)) {
		free(l->tag);
		free(l->detail);
		return -ENOMEM;
	}
	l->provider = provider;
	l->count = count;
	s->n_losses++;
	return 0;
}

static void host_loss(const struct weft_host *host, const char *tag, uint64_t count,
		      const char *detail)
{
	struct weft_opened *o = opened_of(host);

	if (!ALLOWED("loss") || !tag || !count)
		return;
	if (weft_session_count_loss(o->session, o->provider->name, tag, count, detail))
		weft_session_log(o->session, WEFT_LOG_WARNING, "lost: %llu x %s (%s)",
				 (unsigned long long)count, tag, detail ? detail : "");
}

static int host_trial(const struct weft_host *host, const struct weft_load_class *load,
		      struct weft_error *err)
{
	(void)host;
	return ALLOWED_ERROR("trial_program", err) ? weft_program_trial(load, err) : -EPERM;
}

static int host_watch(const struct weft_host *host,
		      void (*event)(struct weft_instance *, const struct weft_process_event *),
		      struct weft_instance *instance, struct weft_error *err)
{
	struct weft_opened *o = opened_of(host);
	struct weft_session *s = o->session;

	if (!ALLOWED_ERROR("watch_processes", err))
		return -EPERM;
	if (!event)
		return weft_fail(err, -EINVAL, "PLUGIN_WATCH",
				 "watch_processes() without a function");
	if (!s->procwatch) {
		int ret = weft_procwatch_create(true, &s->procwatch, err);

		if (ret)
			return ret;
	}
	o->process_event = event;
	o->process_instance = instance;
	return 0;
}

static int host_field_match(const char *field, const char *text)
{
	return ALLOWED("field_match") && (!*field || weft_glob_match(field, text));
}

/* ---- types ---- */

static void name_type(struct weft_session *s, struct weft_arg_type *t)
{
	struct weft_btf *btf;
	char text[256];

	if (t->kind != WEFT_TYPE_BTF || t->text || !weft_session_btfs(s, NULL) ||
	    weft_btfs_get(s->btfs, t->btf_fd, &btf, NULL))
		return;
	t->text = weft_arena_strdup(s->arena,
				    weft_btf_print(btf, t->btf_id, NULL, text, sizeof(text)));
}

void weft_session_name_types(struct weft_session *s, struct weft_probe_info *info)
{
	for (uint32_t i = 0; i < info->n_args; i++)
		name_type(s, (struct weft_arg_type *)&info->args[i].type); /* the core's own copy */
	name_type(s, &info->retval_type);
}

/* Where what is told about types lies: until the provider is called again. */
static struct weft_btfs *told_from(struct weft_opened *o, struct weft_arena **arena,
				   struct weft_error *err)
{
	if (!o->told)
		o->told = weft_arena_create();
	*arena = o->told;
	if (!*arena)
		weft_nomem(err);
	return *arena ? weft_session_btfs(o->session, err) : NULL;
}

/* A plugin may have been built with a shorter struct, or a longer one. */
static void hand_over(void *out, const void *in, size_t size)
{
	uint32_t room;

	memcpy(&room, out, sizeof(room));
	if (room < size)
		size = room;
	if (size > sizeof(room))
		memcpy((char *)out + sizeof(room), (const char *)in + sizeof(room),
		       size - sizeof(room));
}

static int host_function(const struct weft_host *host, const char *module, const char *name,
			 struct weft_func_info *out, struct weft_error *err)
{
	struct weft_func_info info = {.struct_size = sizeof(info)};
	struct weft_arena *arena;
	struct weft_btfs *btfs;
	int ret;

	if (!ALLOWED_ERROR("kernel_function", err))
		return -EPERM;
	btfs = told_from(opened_of(host), &arena, err);
	if (!btfs)
		return -ENOMEM;
	ret = weft_btf_tell_function(btfs, arena, module, name ? name : "", &info, err);
	if (!ret)
		hand_over(out, &info, sizeof(info));
	return ret;
}

static int host_function_type(const struct weft_host *host, int32_t fd, uint32_t id,
			      struct weft_func_info *out, struct weft_error *err)
{
	struct weft_func_info info = {.struct_size = sizeof(info)};
	struct weft_arena *arena;
	struct weft_btfs *btfs;
	int ret;

	if (!ALLOWED_ERROR("function_type", err))
		return -EPERM;
	btfs = told_from(opened_of(host), &arena, err);
	if (!btfs)
		return -ENOMEM;
	ret = weft_btf_tell_function_type(btfs, arena, fd, id, &info, err);
	if (!ret)
		hand_over(out, &info, sizeof(info));
	return ret;
}

struct functions {
	int (*fn)(void *arg, const char *name);
	void *arg;
};

static int meet_type(const struct weft_btf_type *t, void *arg)
{
	const struct functions *f = arg;

	return t->kind == WEFT_BTF_FUNC ? f->fn(f->arg, t->name) : 0;
}

static int host_functions(const struct weft_host *host, const char *module,
			  int (*fn)(void *arg, const char *name), void *arg, struct weft_error *err)
{
	struct functions f = {.fn = fn, .arg = arg};
	struct weft_arena *arena;
	struct weft_btfs *btfs;
	struct weft_btf *btf;
	bool attachable;
	int ret, fd;

	if (!ALLOWED_ERROR("kernel_functions", err))
		return -EPERM;
	btfs = told_from(opened_of(host), &arena, err);
	if (!btfs)
		return -ENOMEM;
	ret = weft_btfs_module(btfs, module, &btf, &fd, &attachable, err);
	return ret ? ret : weft_btf_each(btf, meet_type, &f);
}

static int host_type(const struct weft_host *host, const char *module, const char *name,
		     uint32_t kind, struct weft_type_info *out, struct weft_error *err)
{
	struct weft_type_info info = {.struct_size = sizeof(info)};
	struct weft_arena *arena;
	struct weft_btfs *btfs;
	int ret;

	if (!ALLOWED_ERROR("kernel_type", err))
		return -EPERM;
	btfs = told_from(opened_of(host), &arena, err);
	if (!btfs)
		return -ENOMEM;
	ret = weft_btf_tell_type(btfs, arena, module, name ? name : "", kind, &info, err);
	if (!ret)
		hand_over(out, &info, sizeof(info));
	return ret;
}

struct weft_btfs *weft_session_btfs(struct weft_session *s, struct weft_error *err)
{
	if (!s->btfs)
		s->btfs = weft_btfs_create();
	if (!s->btfs)
		weft_nomem(err);
	return s->btfs;
}

/* One reader for the session: providers and the naming of addresses ask for the same files. */
int weft_session_elf_reader(struct weft_session *s, struct weft_error *err)
{
	if (!s->elf_reader)
		s->elf_reader = weft_elf_reader_create(NULL);
	return s->elf_reader ? 0 : weft_nomem(err);
}

static int host_elf_read(const struct weft_host *host, const struct weft_elf_request *request,
			 const struct weft_elf **out, struct weft_error *err)
{
	struct weft_session *s = opened_of(host)->session;
	int ret;

	if (!ALLOWED_ERROR("elf_read", err))
		return -EPERM;
	ret = weft_session_elf_reader(s, err);
	return ret ? ret : weft_elf_read(s->elf_reader, request, out, err);
}

static void host_elf_release(const struct weft_host *host, const struct weft_elf *elf)
{
	struct weft_session *s = opened_of(host)->session;

	if (ALLOWED("elf_release") && s->elf_reader)
		weft_elf_release(s->elf_reader, elf);
}

static int host_elf_functions(const struct weft_host *host, const struct weft_elf *elf,
			      const struct weft_elf_request *request, const uint64_t *addresses,
			      uint32_t n, const struct weft_elf_function **out,
			      struct weft_error *err)
{
	struct weft_session *s = opened_of(host)->session;
	int ret;

	if (!ALLOWED_ERROR("elf_functions", err))
		return -EPERM;
	ret = weft_session_elf_reader(s, err);
	return ret ? ret : weft_elf_functions(s->elf_reader, elf, request, addresses, n, out, err);
}

static int host_members(const struct weft_host *host, const char *const *paths, size_t n,
			uint32_t *offsets, struct weft_error *err)
{
	struct weft_btf_member *members;
	size_t i;
	int ret;

	(void)host;
	if (!ALLOWED_ERROR("kernel_members", err))
		return -EPERM;
	members = calloc(n + 1, sizeof(*members));
	if (!members)
		return weft_nomem(err);
	for (i = 0; i < n; i++)
		members[i].path = paths[i];
	ret = weft_btf_find_members(members, n, err);
	for (i = 0; !ret && i < n; i++) {
		offsets[i] = members[i].offset;
		if (!members[i].found)
			ret = weft_fail(err, -ENOENT, "KERNEL_MEMBER",
					"this kernel's type information has no member %s", paths[i]);
	}
	free(members);
	return ret;
}

/* ---- the registry, options ---- */

static int host_probe_add(struct weft_registry *registry, const struct weft_probe_desc *desc,
			  uint64_t data, const struct weft_probe **out, struct weft_error *err)
{
	return ALLOWED_ERROR("probe_add", err) ? weft_registry_add(registry, desc, data, out, err)
					       : -EPERM;
}

static const struct weft_probe *host_probe_find(struct weft_registry *registry,
						const struct weft_probe_desc *desc)
{
	return ALLOWED("probe_find") ? weft_registry_find(registry, desc) : NULL;
}

static void host_probe_retire(struct weft_registry *registry, const struct weft_probe *probe)
{
	if (ALLOWED("probe_retire"))
		weft_registry_retire(registry, probe);
}

static int host_probe_extended(struct weft_registry *registry, const struct weft_probe *probe)
{
	return ALLOWED("probe_extended") ? weft_registry_extended(registry, probe) : -EPERM;
}

static uint64_t host_probe_data(const struct weft_probe *probe)
{
	return ALLOWED("probe_data") ? weft_probe_data(probe) : 0;
}

static void host_probe_desc(const struct weft_probe *probe, struct weft_probe_desc *out)
{
	if (ALLOWED("probe_desc"))
		weft_probe_desc(probe, out);
}

static int host_param_is_set(const struct weft_params *params, const char *name)
{
	return ALLOWED("param_is_set") && weft_params_is_set(params, name);
}

static int64_t host_param_int(const struct weft_params *params, const char *name)
{
	return ALLOWED("param_int") ? weft_params_int(params, name) : 0;
}

static const char *host_param_string(const struct weft_params *params, const char *name)
{
	return ALLOWED("param_string") ? weft_params_string(params, name) : NULL;
}

void weft_host_init(struct weft_opened *o)
{
	o->host = (struct weft_host){
		.struct_size = sizeof(o->host),
		.abi_version = WEFT_ABI_CURRENT,
		.core = o,
		.fail = host_fail,
		.context = host_context,
		.log = host_log,
		.probe_add = host_probe_add,
		.probe_find = host_probe_find,
		.probe_retire = host_probe_retire,
		.probe_extended = host_probe_extended,
		.probe_data = host_probe_data,
		.probe_desc = host_probe_desc,
		.param_is_set = host_param_is_set,
		.param_int = host_param_int,
		.param_string = host_param_string,
		.target = host_target,
		.loss = host_loss,
		.trial_program = host_trial,
		.watch_processes = host_watch,
		.field_match = host_field_match,
		.kernel_function = host_function,
		.kernel_type = host_type,
		.function_type = host_function_type,
		.kernel_functions = host_functions,
		.elf_read = host_elf_read,
		.elf_release = host_elf_release,
		.elf_functions = host_elf_functions,
		.kernel_members = host_members,
	};
}
