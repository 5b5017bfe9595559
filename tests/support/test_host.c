/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <bpf/btf.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/elf/elf.h"
#include "core/kernel/btf_describe.h"
#include "support/test_bpf.h"
#include "support/test_host.h"

static void host_log(const struct weft_host *host, enum weft_log_level level, const char *format,
		     ...)
{
	struct test_host *h = host->core;
	va_list ap;

	if (h->n_log == sizeof(h->log) / sizeof(h->log[0]))
		return;
	struct test_log *line = &h->log[h->n_log++];
	line->level = level;
	va_start(ap, format);
	vsnprintf(line->text, sizeof(line->text), format, ap);
	va_end(ap);
}

static const struct weft_target *host_target(const struct weft_host *host)
{
	const struct test_host *h = host->core;

	return &h->target;
}

static void host_loss(const struct weft_host *host, const char *tag, uint64_t count,
		      const char *detail)
{
	struct test_host *h = host->core;

	(void)tag;
	(void)detail;
	h->lost += count;
}

static int host_trial(const struct weft_host *host, const struct weft_load_class *load,
		      struct weft_error *err)
{
	(void)host;
	int fd = test_prog_empty(load);
	return fd < 0 ? weft_fail(err, fd, "TRIAL", "trial program: %s", strerror(-fd)) : fd;
}

static int host_watch(const struct weft_host *host,
		      void (*event)(struct weft_instance *, const struct weft_process_event *),
		      struct weft_instance *in, struct weft_error *err)
{
	struct test_host *h = host->core;

	(void)err;
	cr_assert_eq(in, h->instance);
	h->watch = event;
	return 0;
}

static int host_field_match(const char *field, const char *text)
{
	return !*field || weft_glob_match(field, text);
}

/* ---- types: this kernel's ---- */

static struct weft_btfs *types_of(struct test_host *h)
{
	if (!h->btfs)
		h->btfs = weft_btfs_create();
	if (!h->told)
		h->told = weft_arena_create();
	cr_assert(h->btfs && h->told);
	return h->btfs;
}

static int host_function(const struct weft_host *host, const char *module, const char *name,
			 struct weft_func_info *out, struct weft_error *err)
{
	struct weft_btfs *btfs = types_of(host->core);

	return weft_btf_tell_function(btfs, ((struct test_host *)host->core)->told, module, name,
				      out, err);
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
	struct weft_btf *btf;
	bool attachable;
	int fd, ret = weft_btfs_module(types_of(host->core), module, &btf, &fd, &attachable, err);

	return ret ? ret : weft_btf_each(btf, meet_type, &f);
}

static int host_type(const struct weft_host *host, const char *module, const char *name,
		     uint32_t kind, struct weft_type_info *out, struct weft_error *err)
{
	struct weft_btfs *btfs = types_of(host->core);

	return weft_btf_tell_type(btfs, ((struct test_host *)host->core)->told, module, name, kind,
				  out, err);
}

static int host_function_type(const struct weft_host *host, int32_t fd, uint32_t id,
			      struct weft_func_info *out, struct weft_error *err)
{
	struct weft_btfs *btfs = types_of(host->core);

	return weft_btf_tell_function_type(btfs, ((struct test_host *)host->core)->told, fd, id,
					   out, err);
}

/* ---- ELF files ---- */

static int host_elf_read(const struct weft_host *host, const struct weft_elf_request *request,
			 const struct weft_elf **out, struct weft_error *err)
{
	struct test_host *h = host->core;

	if (!h->elf_reader)
		h->elf_reader = weft_elf_reader_create(NULL);
	cr_assert(h->elf_reader);
	return weft_elf_read(h->elf_reader, request, out, err);
}

static void host_elf_release(const struct weft_host *host, const struct weft_elf *elf)
{
	struct test_host *h = host->core;

	if (h->elf_reader)
		weft_elf_release(h->elf_reader, elf);
}

static int host_elf_functions(const struct weft_host *host, const struct weft_elf *elf,
			      const struct weft_elf_request *request, const uint64_t *addresses,
			      uint32_t n, const struct weft_elf_function **out,
			      struct weft_error *err)
{
	struct test_host *h = host->core;

	return weft_elf_functions(h->elf_reader, elf, request, addresses, n, out, err);
}

/* The tests of what finds them are the core's. */
static int host_members(const struct weft_host *host, const char *const *paths, size_t n,
			uint32_t *offsets, struct weft_error *err)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int ret = 0;

	(void)host;
	cr_assert_not_null(btf);
	for (size_t i = 0; i < n && !ret; i++) {
		char type[64];
		const char *dot = strchr(paths[i], '.');
		const struct btf_type *t;
		const struct btf_member *m;
		bool found = false;

		snprintf(type, sizeof(type), "%.*s", (int)(dot - paths[i]), paths[i]);
		t = btf__type_by_id(btf,
				    (uint32_t)btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT));
		m = btf_members(t);
		for (uint16_t k = 0; k < btf_vlen(t) && !found; k++) {
			found = !strcmp(btf__name_by_offset(btf, m[k].name_off), dot + 1);
			offsets[i] = btf_member_bit_offset(t, k) / 8;
		}
		if (!found)
			ret = weft_fail(err, -ENOENT, "KERNEL_MEMBER", "no %s", paths[i]);
	}
	btf__free(btf);
	return ret;
}

static const struct weft_host functions = {
	.struct_size = sizeof(struct weft_host),
	.abi_version = WEFT_ABI_CURRENT,
	.fail = weft_fail,
	.context = weft_error_context,
	.log = host_log,
	.probe_add = weft_registry_add,
	.probe_find = weft_registry_find,
	.probe_retire = weft_registry_retire,
	.probe_extended = weft_registry_extended,
	.probe_data = weft_probe_data,
	.probe_desc = weft_probe_desc,
	.param_is_set = weft_params_is_set,
	.param_int = weft_params_int,
	.param_string = weft_params_string,
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

static struct weft_params *make_params(struct test_host *h, uint32_t where,
				       const char *const *options)
{
	struct weft_setting settings[16];
	struct weft_params *params = NULL;
	size_t n = 0;

	memset(settings, 0, sizeof(settings));
	for (; options && options[0]; options += 2, n++) {
		cr_assert(n < sizeof(settings) / sizeof(settings[0]));
		settings[n].name.s = options[0];
		settings[n].value.s = options[1];
	}
	int ret = weft_params_create(h->provider->name, h->provider->options, where, settings, n,
				     &params, h->err);
	cr_assert_eq(ret, 0, "options: %s", weft_error_text(h->err));
	return params;
}

const struct weft_provider *test_host_plugin(const char *path)
{
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	cr_assert_not_null(object, "%s", dlerror());
	const struct weft_provider *provider = dlsym(object, WEFT_PROVIDER_SYMBOL);
	cr_assert_not_null(provider, "%s", dlerror());
	cr_assert_eq(provider->struct_size, sizeof(*provider));
	return provider;
}

void test_host_event(struct test_host *h, const struct weft_process_event *ev)
{
	if (h->watch)
		h->watch(h->instance, ev);
}

void test_host_with(struct test_host *h, const char *name, const char *value)
{
	const char *const options[] = {name, value, NULL};

	weft_params_destroy(h->with);
	h->with = make_params(h, WEFT_OPTION_PER_PROBE, options);
}

void test_host_start(struct test_host *h, const struct weft_provider *provider,
		     const char *const *options)
{
	h->host = functions;
	h->host.core = h;
	h->provider = provider;
	h->target.struct_size = sizeof(h->target);
	h->err = weft_error_create();
	h->core = weft_registry_create();
	cr_assert(h->err && h->core);
	h->registry = weft_registry_of(h->core, provider->name);
	cr_assert_not_null(h->registry);
	h->params = make_params(h, WEFT_OPTION_PER_SET, options);
	h->with = make_params(h, WEFT_OPTION_PER_PROBE, NULL);
	int ret = provider->open(&h->host, h->params, &h->instance, h->err);
	cr_assert_eq(ret, 0, "open: %s", weft_error_text(h->err));
}

void test_host_stop(struct test_host *h)
{
	h->provider->close(h->instance);
	weft_params_destroy(h->with);
	weft_params_destroy(h->params);
	weft_registry_destroy(h->core);
	weft_error_destroy(h->err);
	weft_btfs_destroy(h->btfs);
	weft_elf_reader_destroy(h->elf_reader);
	weft_arena_destroy(h->told);
	h->btfs = NULL;
	h->elf_reader = NULL;
	h->told = NULL;
}

void test_host_target(struct test_host *h, int32_t pid)
{
	h->pids[0] = pid;
	h->target =
		(struct weft_target){.struct_size = sizeof(h->target), .pids = h->pids, .n_pids = 1};
}

const struct weft_probe *test_host_probe(struct test_host *h, const char *module,
					 const char *function, const char *name)
{
	const struct weft_probe_desc desc = {
		.struct_size = sizeof(desc),
		.provider = h->provider->name,
		.module = module,
		.function = function,
		.name = name,
	};
	const struct weft_probe *probe = weft_registry_find(h->registry, &desc);

	if (probe || !h->provider->provide)
		return probe;
	if (h->provider->provide(h->instance, h->registry, &desc, h->err))
		return NULL;
	return weft_registry_find(h->registry, &desc);
}

void test_host_info(struct test_host *h, const struct weft_probe *probe, struct weft_probe_info *out)
{
	memset(out, 0, sizeof(*out));
	out->struct_size = sizeof(*out);
	int ret = h->provider->probe_info(h->instance, probe, h->with, out, h->err);
	cr_assert_eq(ret, 0, "probe_info: %s", weft_error_text(h->err));
	cr_assert_eq(out->struct_size, sizeof(*out));
}

int test_host_attach(struct test_host *h, const struct weft_probe *probe, int prog_fd,
		     uint64_t cookie, struct test_attached *out)
{
	memset(out, 0, sizeof(*out));
	const struct weft_attach_probe one = {.probe = probe, .cookie = cookie, .with = h->with};
	const struct weft_attach_request request = {
		.struct_size = sizeof(request),
		.prog_fd = prog_fd,
		.probes = &one,
		.n_probes = 1,
		.probe_size = sizeof(one),
		.status = &out->status,
		.done = &out->done,
		.total = &out->total,
		.unit = &out->unit,
	};
	return h->provider->attach(h->instance, &request, &out->attachment, h->err);
}

void test_host_detach(struct test_host *h, struct test_attached *at)
{
	h->provider->detach(h->instance, at->attachment);
	at->attachment = NULL;
}

const char *test_host_tag(struct test_host *h)
{
	static char tag[64];

	snprintf(tag, sizeof(tag), "%s", weft_error_tag(h->err));
	weft_error_clear(h->err);
	return tag;
}

bool test_host_logged(const struct test_host *h, const char *text)
{
	for (size_t i = 0; i < h->n_log; i++) {
		if (strstr(h->log[i].text, text))
			return true;
	}
	return false;
}
