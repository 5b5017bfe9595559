/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Looking at probes, and at what the kernel and the providers make of each other. */
#include "embed/trace.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/kernel/kernel.h"

/* ---- probes ---- */

static int format_probe(struct weft_trace *t, const struct weft_probe *probe, size_t *length)
{
	int n = weft_probe_format(probe, t->probe_text, t->probe_text_size);

	if (n >= 0 && (size_t)n >= t->probe_text_size) {
		char *grown = realloc(t->probe_text, (size_t)n + 256);

		if (!grown)
			return weft_nomem(t->err);
		t->probe_text = grown;
		t->probe_text_size = (size_t)n + 256;
		n = weft_probe_format(probe, t->probe_text, t->probe_text_size);
	}
	*length = n < 0 ? 0 : (size_t)n;
	return n < 0 ? n : 0;
}

static int list_one(const struct weft_probe *probe, void *arg)
{
	struct weft_probe_desc d = {.struct_size = sizeof(d)};
	struct weft_trace_probe out = {.struct_size = sizeof(out), .handle = probe};
	struct weft_trace *t = arg;
	int ret = format_probe(t, probe, &out.length);

	if (ret)
		return ret;
	weft_probe_desc(probe, &d);
	out.text = t->probe_text;
	out.provider = d.provider;
	out.module = d.module;
	out.function = d.function;
	out.name = d.name;
	return weft_called(t->listed(t->list_arg, &out));
}

static int parse_pattern(const char *text, struct weft_pattern *out, struct weft_error *err)
{
	const char *fields[WEFT_N_FIELDS] = {"", "", "", ""};

	/* A provider's name alone is the natural thing to ask first. */
	if (text && strchr(text, ':'))
		return weft_pattern_parse(text, out, err);
	if (text)
		fields[WEFT_FIELD_PROVIDER] = text;
	return weft_pattern_from_fields(fields, out, err);
}

int weft_trace_list(struct weft_trace *t, const char *pattern,
		    int (*fn)(void *arg, const struct weft_trace_probe *probe), void *arg)
{
	struct weft_pattern parsed;
	int ret;

	ret = weft_enter(t, "list", WEFT_AT_NEW | WEFT_AT_SET);
	if (ret)
		return ret;
	if (!fn)
		return weft_leave(t, weft_null(t, "fn"));
	ret = parse_pattern(pattern, &parsed, t->err);
	if (ret)
		return weft_leave(t, ret);
	ret = weft_trace_session(t);
	if (!ret) {
		t->listed = fn;
		t->list_arg = arg;
		ret = weft_session_find(t->session, &parsed, list_one, t, t->err);
		t->listed = NULL;
	}
	weft_pattern_finish(&parsed);
	return weft_leave(t, ret);
}

/* ---- details ---- */

/* The type of an argument as a person writes it. NULL: out of memory. */
static const char *type_text(struct weft_arena *arena, const struct weft_arg_type *type)
{
	if (type->text)
		return type->text;
	switch (type->kind) {
	case WEFT_TYPE_INT:
		return weft_arena_printf(arena, "%s%u",
					 type->flags & WEFT_TYPE_SIGNED ? "int" : "uint",
					 type->size * 8);
	case WEFT_TYPE_POINTER:
		return type->space == WEFT_SPACE_USER ? "pointer (user)" : "pointer (kernel)";
	case WEFT_TYPE_STRING:
		return "string";
	case WEFT_TYPE_BYTES:
		return "bytes";
	default:
		return weft_arena_printf(arena, "BTF type %u", type->btf_id);
	}
}

static const struct weft_trace_argument *arguments(struct weft_arena *arena,
						   const struct weft_arg *args, uint32_t n)
{
	struct weft_trace_argument *out = weft_arena_array(arena, n + 1, sizeof(*out));

	for (uint32_t i = 0; out && i < n; i++) {
		out[i] = (struct weft_trace_argument){
			.struct_size = sizeof(*out),
			.name = args[i].name,
			.type = type_text(arena, &args[i].type),
			.unreadable = args[i].unreadable,
		};
		if (!out[i].type)
			return NULL;
	}
	return out;
}

static int details(struct weft_trace *t, const struct weft_probe *probe, struct weft_arena *arena,
		   struct weft_trace_details *out)
{
	struct weft_trace_layout *layouts_out;
	const struct weft_layout *layouts;
	const struct weft_probe_info *info;
	const char *note = NULL;
	uint32_t i, n;
	int ret;

	ret = weft_session_describe(t->session, probe, &info, &layouts, &n, t->err);
	if (!ret && weft_session_note(t->session, probe, &note, t->err)) {
		weft_error_clear(t->err); /* it can do without */
		note = NULL;
	}
	if (ret)
		return ret;
	layouts_out = weft_arena_array(arena, n + 1, sizeof(*layouts_out));
	*out = (struct weft_trace_details){
		.struct_size = sizeof(*out),
		.has_elapsed = info->pairing.role == WEFT_PAIRING_RETURN,
		.prototype = info->prototype,
		.note = note,
		.retval = info->retval_type.kind ? type_text(arena, &info->retval_type) : NULL,
		.arguments = arguments(arena, info->args, info->n_args),
		.n_arguments = info->n_args,
		.argument_size = sizeof(*out->arguments),
		.layouts = layouts_out,
		.n_layouts = n,
		.layout_size = sizeof(*out->layouts),
	};
	if (!layouts_out || !out->arguments || (info->retval_type.kind && !out->retval))
		return weft_nomem(t->err);
	for (i = 0; i < n; i++) {
		layouts_out[i] = (struct weft_trace_layout){
			.struct_size = sizeof(*layouts_out),
			.n_sites = layouts[i].n_sites,
			.text = layouts[i].text,
			.arguments = arguments(arena, layouts[i].args, layouts[i].n_args),
			.n_arguments = layouts[i].n_args,
			.argument_size = sizeof(*layouts_out->arguments),
		};
		if (!layouts_out[i].arguments)
			return weft_nomem(t->err);
	}
	return 0;
}

int weft_trace_describe(struct weft_trace *t, const struct weft_trace_probe *probe,
			const struct weft_trace_details **out)
{
	int ret;

	if (!t)
		return -EINVAL;
	if (t->listed || !t->inside)
		weft_error_clear(t->err); /* of the probe before, or the last call */
	if (!t->listed)
		return weft_fail(t->err, -EINVAL, "TRACE_STATE",
				 "weft_trace_describe() cannot be called now: probes are not being "
				 "listed");
	if (!probe || !probe->handle || !out)
		return weft_null(t, out ? "probe" : "out");
	*out = NULL;
	weft_arena_destroy(t->details_arena);
	t->details_arena = weft_arena_create();
	if (!t->details_arena)
		return weft_nomem(t->err);
	ret = details(t, probe->handle, t->details_arena, &t->details);
	if (!ret)
		*out = &t->details;
	return ret;
}

/* ---- info ---- */

struct rows {
	struct weft_trace *t;
	int (*fn)(void *arg, const char *group, const char *what, const char *value);
	void *arg;
	int ret; /* of the first that is not 0; then nothing more is said */
};

static void row(struct rows *r, const char *group, const char *what, const char *value)
{
	if (!r->ret)
		r->ret = weft_called(r->fn(r->arg, group, what, value));
}

/* Program types that providers load; whether such a program may also be attached is for the
 * provider to find out (a kernel may load what it cannot link). */
static const struct {
	const char *what;
	uint32_t prog_type;
	uint32_t flags;
} classes[] = {
	{"perf event programs", BPF_PROG_TYPE_PERF_EVENT, 0},
	{"tracepoint programs", BPF_PROG_TYPE_TRACEPOINT, 0},
	{"raw tracepoint programs", BPF_PROG_TYPE_RAW_TRACEPOINT, 0},
	{"kprobe and uprobe programs", BPF_PROG_TYPE_KPROBE, 0},
	{"sleepable uprobe programs", BPF_PROG_TYPE_KPROBE, WEFT_LOAD_SLEEPABLE},
};

static const struct {
	const char *what, *path;
	const char *without; /* NULL: its first line is the value; else what lacks without it */
} files[] = {
	{"lockdown", "/sys/kernel/security/lockdown", NULL},
	{"unprivileged BPF disabled", "/proc/sys/kernel/unprivileged_bpf_disabled", NULL},
	{"BPF JIT", "/proc/sys/net/core/bpf_jit_enable", NULL},
	{"perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid", NULL},
	{"perf sample rate limit, Hz", "/proc/sys/kernel/perf_event_max_sample_rate", NULL},
	{"kptr_restrict", "/proc/sys/kernel/kptr_restrict", NULL},
	{"type information (BTF)", "/sys/kernel/btf/vmlinux",
	 "typed kernel arguments, ppid and targets are unavailable"},
	{"tracefs", "/sys/kernel/tracing/events",
	 "mount it: mount -t tracefs tracefs /sys/kernel/tracing"},
};

static void file_row(struct rows *r, const char *what, const char *path)
{
	char text[256] = "";
	FILE *f = fopen(path, "re");

	if (!f || !fgets(text, sizeof(text), f))
		snprintf(text, sizeof(text), "unknown (%s: %s)", path, strerror(errno));
	text[strcspn(text, "\n")] = '\0';
	if (f)
		fclose(f);
	row(r, "kernel", what, text);
}

static void access_row(struct rows *r, const char *what, const char *path, const char *without)
{
	char text[512];

	if (!access(path, R_OK))
		snprintf(text, sizeof(text), "yes (%s)", path);
	else
		snprintf(text, sizeof(text), "no: %s", without);
	row(r, "kernel", what, text);
}

static void class_row(struct rows *r, size_t i)
{
	struct weft_load_class load = {
		.struct_size = sizeof(load),
		.prog_type = classes[i].prog_type,
		.flags = classes[i].flags,
	};
	int fd = weft_program_trial(&load, r->t->err);
	char text[256] = "load";

	if (fd >= 0)
		close(fd);
	else
		snprintf(text, sizeof(text), "refused: %s", strerror(-fd));
	row(r, "kernel", classes[i].what, text);
	weft_error_clear(r->t->err);
}

static void provider_row(struct rows *r, const struct weft_provider *p)
{
	const char *how = NULL;

	if (weft_session_mechanism(r->t->session, p->name, &how, r->t->err))
		how = weft_error_text(r->t->err);
	row(r, "providers", p->name, how ? how : p->summary);
	weft_error_clear(r->t->err);
}

int weft_trace_info(struct weft_trace *t,
		    int (*fn)(void *arg, const char *group, const char *what, const char *value),
		    void *arg)
{
	struct rows r = {.t = t, .fn = fn, .arg = arg};
	struct utsname u;
	size_t i;
	int ret;

	ret = weft_enter(t, "info", WEFT_AT_NEW | WEFT_AT_SET);
	if (ret)
		return ret;
	if (!fn)
		return weft_leave(t, weft_null(t, "fn"));
	ret = weft_trace_session(t);
	if (ret)
		return weft_leave(t, ret);
	uname(&u);
	row(&r, "kernel", "release", u.release);
	row(&r, "kernel", "machine", u.machine);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (files[i].without)
			access_row(&r, files[i].what, files[i].path, files[i].without);
		else
			file_row(&r, files[i].what, files[i].path);
	}
	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		class_row(&r, i);
	for (i = 0; i < t->n_providers; i++)
		provider_row(&r, t->providers[i]);
	return weft_leave(t, r.ret);
}
