/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Probes: user-syscall:PROGRAM:PROVIDER:NAME. PROGRAM is the base name of the executable. A name
 * belongs to the executable that was found with it first, and to the arguments that were declared
 * first; another file of that base name, or other arguments, is PROGRAM#PID. So nobody's firings
 * turn up among another program's, and nobody can keep a probe from being listed by taking its name.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user_syscall.h"

#define BUCKETS    4096u
#define PROBES_MAX 262144u

static uint32_t hash(const char *a, const char *b, const char *c)
{
	const char *texts[] = {a, b, c};
	uint32_t h = 0x811c9dc5u; /* FNV-1a */

	for (size_t i = 0; i < 3; i++)
		for (const char *s = texts[i];; s++) {
			h = (h ^ (unsigned char)*s) * 0x01000193u;
			if (!*s)
				break;
		}
	return (h ^ h >> 15) % BUCKETS;
}

static struct us_probe *find(const struct weft_instance *in, const char *module,
			     const char *function, const char *name)
{
	struct us_probe *p = in->probes ? in->probes[hash(module, function, name)] : NULL;

	while (p && (strcmp(p->name, name) || strcmp(p->function, function) ||
		     strcmp(p->module, module)))
		p = p->next;
	return p;
}

static void destroy(struct us_probe *p)
{
	free(p->module);
	free(p->function);
	free(p->name);
	free(p->signature);
	free(p);
}

/* -EAGAIN: nothing can be registered now. */
static int create(struct weft_instance *in, const struct us_family *f, const char *module,
		  const char *function, const char *name, const char *args, struct us_probe **out)
{
	struct weft_probe_desc desc = {.struct_size = sizeof(desc),
				       .provider = "user-syscall",
				       .module = module,
				       .function = function,
				       .name = name};
	struct us_probe *p;
	int ret;

	if (!in->registry)
		return -EAGAIN;
	if (!in->probes)
		in->probes = calloc(BUCKETS, sizeof(struct us_probe *));
	p = in->probes && in->n_probes < PROBES_MAX ? calloc(1, sizeof(*p)) : NULL;
	if (!p)
		return -ENOMEM;
	p->module = strdup(module);
	p->function = strdup(function);
	p->name = strdup(name);
	p->signature = strdup(args);
	p->exe_device = f->exe_device;
	p->exe_inode = f->exe_inode;
	ret = p->module && p->function && p->name && p->signature ? 0 : -ENOMEM;
	if (!ret)
		ret = in->host->probe_add(in->registry, &desc, (uint64_t)(uintptr_t)p,
					  &p->registered, in->err);
	if (ret) {
		destroy(p);
		return ret;
	}
	in->n_probes++;
	struct us_probe **chain = &in->probes[hash(module, function, name)];
	p->next = *chain;
	*chain = p;
	*out = p;
	return 0;
}

static bool is_same(const struct us_probe *p, const struct us_family *f, const char *args)
{
	return p->exe_inode == f->exe_inode && p->exe_device == f->exe_device &&
	       !strcmp(p->signature, args);
}

int us_probe_of(struct weft_instance *in, struct us_family *f, const struct us_decl *d,
		struct us_probe **out)
{
	char function[3 * WEFT_TABLE_NAME + 16], name[3 * WEFT_TABLE_NAME + 16];
	char module[sizeof(f->module) + 16];
	struct us_args *args = &in->args;
	struct us_probe *p;

	*out = NULL;
	if (us_args_parse(d->args, args)) {
		in->refused++;
		return -EINVAL;
	}
	us_escape(d->provider, true, function, sizeof(function));
	us_escape(d->name, true, name, sizeof(name));
	p = find(in, f->module, function, name);
	if (p && is_same(p, f, d->args)) {
		*out = p;
		return 0;
	}
	if (!p)
		return create(in, f, f->module, function, name, d->args, out);
	snprintf(module, sizeof(module), "%s#%d", f->module, f->pid);
	p = find(in, module, function, name);
	if (p && is_same(p, f, d->args)) {
		*out = p;
		return 0;
	}
	if (p) {
		in->refused++;
		return -EEXIST;
	}
	return create(in, f, module, function, name, d->args, out);
}

void us_probe_add(struct us_probe *p, struct us_instance *i)
{
	i->probe = p;
	i->next = p->instances;
	p->instances = i;
}

void us_probe_remove(struct us_instance *i)
{
	struct us_instance **at = i->probe ? &i->probe->instances : NULL;

	while (at && *at != i)
		at = &(*at)->next;
	if (at)
		*at = i->next;
	i->probe = NULL;
}

/* The probes of an attachment are not enabled any more. */
void us_probes_release(struct weft_instance *in, const struct weft_attachment *at)
{
	for (uint32_t b = 0; in->probes && b < BUCKETS; b++)
		for (struct us_probe *p = in->probes[b]; p; p = p->next)
			if (p->attachment == at)
				p->attachment = NULL;
}

void us_probes_free(struct weft_instance *in)
{
	for (uint32_t b = 0; in->probes && b < BUCKETS; b++) {
		while (in->probes[b]) {
			struct us_probe *p = in->probes[b];

			in->probes[b] = p->next;
			destroy(p);
		}
	}
	free(in->probes);
	in->probes = NULL;
}

/* ---- what a program needs to know ---- */

int us_probe_info(struct weft_instance *in, const struct weft_probe *probe,
		  const struct weft_params *with, struct weft_probe_info *out,
		  struct weft_error *err)
{
	static const struct weft_loc_op zero = {.op = WEFT_LOC_CONST};
	const struct us_probe *p = (void *)(uintptr_t)in->host->probe_data(probe);
	const bool raw = in->kernel.mechanism == US_RAW;
	int cookie = us_kernel_cookie(&in->kernel);

	(void)with;
	(void)err;
	us_args_parse(p->signature, &in->args); /* as when it became a probe */
	out->scope = WEFT_SCOPE_COARSE;
	out->load = (struct weft_load_class){
		.struct_size = sizeof(out->load),
		.prog_type = raw ? BPF_PROG_TYPE_RAW_TRACEPOINT : BPF_PROG_TYPE_TRACEPOINT,
		.ctx_kind = WEFT_CTX_NONE,
	};
	out->identity = (struct weft_identity){
		.struct_size = sizeof(out->identity),
		.kind = WEFT_IDENTITY_MAP,
		/* Without privileges there is no map, and no program is loaded: any file will do. */
		.map_fd = cookie >= 0 ? cookie : in->null,
		.n_keys = 1,
		.key_size = {4},
		.key = {{.ops = &zero, .n_ops = 1}},
	};
	out->args = in->args.args;
	out->n_args = in->args.n;
	out->arg_size = sizeof(struct weft_arg);
	out->prototype = in->args.prototype;
	return 0;
}

const char *us_probe_note(struct weft_instance *in, const struct weft_probe *probe,
			  const struct weft_params *with)
{
	const struct us_probe *p = (void *)(uintptr_t)in->host->probe_data(probe);
	const struct us_family *f = NULL;
	uint32_t n = 0;

	(void)with;
	for (const struct us_instance *i = p->instances; i; i = i->next) {
		f = i->family; /* the last is the first that was found */
		n++;
	}
	if (!f)
		return NULL;
	snprintf(in->note, sizeof(in->note),
		 "declared by process %d%s: %.200s, uid %u, cgroup %.150s%s%s", f->pid,
		 n > 1 ? " and others" : "", f->exe, f->uid, f->cgroup,
		 f->silent ? "; not enabled: " : "", f->silent ? f->silent : "");
	return in->note;
}
