/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Looking: plugins, probes and their arguments, the kernel, sets, pages, and what needs no handle. */
#include <sys/stat.h>

#include "rig.h"

#define AT(type, array, size, i) ((const struct weft_trace_##type *)weft_trace_at(array, size, i))

/* ---- plugins ---- */

Test(embed_look, plugins)
{
	const struct weft_trace_plugin *p;
	struct rig r;
	size_t usable = 0, i;

	rig_open(&r, 0);
	for (i = 0; (p = weft_trace_plugin(r.t, i)); i++) {
		cr_expect_eq(p->struct_size, sizeof(*p));
		cr_expect(p->is_usable && !p->tag && !p->text && p->name && p->summary, "%s",
			  p->path);
		cr_expect_geq(p->abi_version, 2);
	}
	cr_expect_eq(i, weft_trace_n_plugins(r.t));
	cr_expect_geq(i, 10);
	cr_expect_eq(weft_trace_plugins(r.t, REJECTED_PLUGIN_DIR "/name-empty"), 0);
	for (; (p = weft_trace_plugin(r.t, i)); i++) {
		usable += p->is_usable;
		cr_expect(p->tag && *p->text, "%s", p->path);
	}
	cr_expect_eq(usable, 0);
	rig_expect(&r, weft_trace_plugins(r.t, "/nowhere"), -ENOENT, "PLUGIN_DIR");
	rig_close(&r);
}

Test(embed_look, capabilities)
{
	const struct weft_trace_capability *c;
	size_t own = 0, providers = 0, required = 0;
	struct rig r;

	rig_open(&r, 0);
	cr_expect_eq(weft_trace_plugins(r.t, REJECTED_PLUGIN_DIR "/good"), 0);
	for (size_t i = 0; (c = weft_trace_capability(r.t, i)); i++) {
		cr_expect_eq(c->struct_size, sizeof(*c));
		cr_expect(c->what_for && *c->what_for && c->capability < 64);
		/* Nobody was asked for a probe yet. */
		cr_expect_eq(!(c->flags & WEFT_TRACE_IN_USE), c->provider != NULL);
		required += c->flags & WEFT_TRACE_REQUIRED;
		own += !c->provider;
		providers += c->provider != NULL;
	}
	cr_expect_eq(required, 2);
	cr_expect_eq(own, 6);
	cr_expect_geq(providers, 1);
	cr_expect_null(weft_trace_capability(NULL, 0));
	rig_close(&r);
}

/* ---- probes ---- */

struct found {
	struct rig *r;
	FILE *to;
	size_t n;
	int ret; /* of the callback */
	bool describe;
};

static int list(void *arg, const struct weft_trace_probe *p)
{
	const struct weft_trace_details *d;
	struct found *f = arg;

	cr_expect_eq(p->struct_size, sizeof(*p));
	cr_expect_eq(strlen(p->text), p->length);
	cr_expect(!strncmp(p->text, p->provider, strlen(p->provider)));
	f->n++;
	fprintf(f->to, "%s %s|%s|%s|%s\n", p->text, p->provider, p->module, p->function, p->name);
	if (!f->describe)
		return f->ret;
	cr_assert_eq(weft_trace_describe(f->r->t, p, &d), 0, "%s", weft_trace_error(f->r->t));
	cr_expect_eq(d->struct_size, sizeof(*d));
	for (uint32_t i = 0; i < d->n_arguments; i++) {
		const struct weft_trace_argument *a =
			AT(argument, d->arguments, d->argument_size, i);

		fprintf(f->to, "arg%u %s %s%s%s\n", i, a->name ? a->name : "-", a->type,
			a->unreadable ? " ! " : "", a->unreadable ? a->unreadable : "");
	}
	if (d->prototype)
		fprintf(f->to, "prototype %s\n", d->prototype);
	if (d->retval)
		fprintf(f->to, "retval %s\n", d->retval);
	if (d->has_elapsed)
		fprintf(f->to, "elapsed\n");
	for (uint32_t i = 0; i < d->n_layouts; i++)
		fprintf(f->to, "layout %u\n", AT(layout, d->layouts, d->layout_size, i)->n_sites);
	cr_expect_eq(weft_trace_describe(f->r->t, NULL, &d), -EINVAL);
	cr_expect_eq(weft_trace_describe(f->r->t, p, NULL), -EINVAL);
	cr_expect_str_eq(weft_trace_report(f->r->t, 0)->tag, "TRACE_NULL");
	cr_expect_eq(weft_trace_list(f->r->t, NULL, list, f), -EBUSY);
	return f->ret;
}

static char *listed(struct found *f, const char *pattern, int expected)
{
	size_t size;
	char *text;

	f->to = open_memstream(&text, &size);
	f->n = 0;
	cr_expect_eq(weft_trace_list(f->r->t, pattern, list, f), expected, "%s: %s",
		     pattern ? pattern : "all", weft_trace_error(f->r->t));
	fclose(f->to);
	return text;
}

Test(embed_look, probes)
{
	struct rig r;
	struct found f = {.r = &r};
	size_t all;
	char *text;

	rig_open(&r, 0);
	free(listed(&f, NULL, 0));
	all = f.n;
	free(listed(&f, "fx-trace", 0));
	cr_expect(f.n > 5 && f.n < all);
	text = listed(&f, "fx-trace:*:sys_enter_prctl:math", 0);
	cr_expect_str_eq(text, "fx-trace:syscalls:sys_enter_prctl:math "
			       "fx-trace|syscalls|sys_enter_prctl|math\n");
	free(text);
	f.describe = true;
	text = listed(&f, "fx-trace:::unreadable", 0);
	cr_expect(strstr(text, "arg0 ") && strstr(text, " ! "), "%s", text);
	free(text);
	text = listed(&f, "fx-types::sys_enter:shape", 0);
	cr_expect(strstr(text, "arg1 shape struct fx_shape *\n"), "%s", text);
	cr_expect(strstr(text, "arg3 color enum fx_color\n"), "%s", text);
	free(text);
	text = listed(&f, "fx-trace:::exec", 0);
	cr_expect(strstr(text, "prototype "), "%s", text);
	free(text);
	f.describe = false;
	free(listed(&f, "fx-trase", -ENOENT));
	cr_expect_str_eq(weft_trace_report(r.t, 0)->tag, "PROBE_NO_PROVIDER");
	free(listed(&f, "a:b", -EINVAL));
	cr_expect_str_eq(weft_trace_report(r.t, 0)->tag, "PATTERN_FIELDS");
	rig_close(&r);
}

Test(embed_look, TRACE_CALLBACK)
{
	struct rig r;
	struct found f = {.r = &r, .ret = -EXDEV};

	rig_open(&r, 0);
	free(listed(&f, "fx-trace", -EXDEV));
	cr_expect_str_eq(weft_trace_report(r.t, 0)->tag, "TRACE_CALLBACK");
	cr_expect_eq(f.n, 1, "it ends there");
	f.ret = 1;
	free(listed(&f, "fx-trace", -ECANCELED));
	rig_close(&r);
}

Test(embed_look, pairs)
{
	struct rig r;
	struct found f = {.r = &r, .describe = true};
	char *text;

	rig_open(&r, 0);
	text = listed(&f, "fx-pair:::return", 0);
	cr_expect(strstr(text, "retval int64\nelapsed\n"), "%s", text);
	free(text);
	rig_close(&r);
}

/* What was only looked at does not keep a set from its own options. */
Test(embed_look, before_a_set)
{
	struct rig r;
	struct found f = {.r = &r};

	rig_open(&r, 0);
	free(listed(&f, "fx-trace:::options", 0));
	rig_set(&r,
		"version: 1\n"
		"providers: {fx-trace: {number: 42}}\n"
		"probes: [{probe: 'fx-trace:::options', do: [emit: {n: args.number}, exit: 0]}]\n");
	free(listed(&f, "fx-trace:::options", 0));
	cr_assert_eq(weft_trace_start(r.t, NULL), 0, "%s", weft_trace_error(r.t));
	syscall(SYS_getppid);
	cr_expect_eq(weft_trace_run(r.t), 0);
	cr_expect_eq(weft_trace_stop(r.t), 0);
	cr_expect(strstr(rig_out(&r), " n=i64:42\n"), "%s", r.out);
	rig_close(&r);
}

/* ---- the kernel ---- */

static int row(void *arg, const char *group, const char *what, const char *value)
{
	fprintf(arg, "%s/%s=%s\n", group, what, value);
	return 0;
}

static int refuse_row(void *arg, const char *group, const char *what, const char *value)
{
	++*(int *)arg;
	(void)group;
	(void)what;
	(void)value;
	return -EDOM;
}

Test(embed_look, info)
{
	size_t size;
	char *text;
	FILE *to = open_memstream(&text, &size);
	struct rig r;
	int n = 0;

	rig_open(&r, 0);
	cr_assert_eq(weft_trace_info(r.t, row, to), 0, "%s", weft_trace_error(r.t));
	fclose(to);
	cr_expect(strstr(text, "kernel/release="), "%s", text);
	cr_expect(strstr(text, "kernel/raw tracepoint programs=load\n"), "%s", text);
	cr_expect(strstr(text, "providers/fx-trace="), "%s", text);
	free(text);
	rig_expect(&r, weft_trace_info(r.t, refuse_row, &n), -EDOM, "TRACE_CALLBACK");
	cr_expect_eq(n, 1);
	rig_close(&r);
}

/* ---- sets ---- */

Test(embed_look, a_set)
{
	const struct weft_trace_set_info *info;
	struct rig r;

	rig_open(&r, WEFT_TRACE_EXPLAIN);
	cr_expect_null(weft_trace_set_info(r.t));
	rig_set(&r, "version: 1\n"
		    "name: mine\n"
		    "description: What is\n"
		    "params: {a: 1, b: two}\n"
		    "probes:\n"
		    "  - {probe: 'fx-trace:::math', when: pid == $a, do: [count: {into: n}]}\n"
		    "  - {probe: 'fx-trace:::calls', do: [count: {into: m}]}\n");
	info = weft_trace_set_info(r.t);
	cr_assert(info && info->struct_size == sizeof(*info));
	cr_expect_str_eq(info->name, "mine");
	cr_expect_str_eq(info->description, "What is");
	cr_expect_eq(info->n_clauses, 2);
	cr_assert_eq(info->n_params, 2);
	cr_expect_str_eq(AT(param, info->params, info->param_size, 1)->name, "b");
	cr_expect_str_eq(AT(param, info->params, info->param_size, 1)->value, "two");
	cr_expect_eq(weft_trace_param(r.t, "b", "three"), 0);
	info = weft_trace_set_info(r.t);
	cr_expect_str_eq(AT(param, info->params, info->param_size, 1)->value, "three");
	cr_expect_null(weft_trace_counts(r.t));
	cr_assert_eq(weft_trace_prepare(r.t), 0, "%s", weft_trace_error(r.t));
	cr_expect_eq(weft_trace_counts(r.t)->n_clauses, 2);
	cr_expect_eq(weft_trace_counts(r.t)->n_probes, 2);
	cr_expect_eq(weft_trace_counts(r.t)->n_programs, 2);
	cr_expect_eq(weft_trace_counts(r.t)->map_bytes, 0);
	rig_close(&r);
}

static char *written(struct rig *r, int (*fn)(struct rig *r, weft_trace_write *write, void *arg))
{
	size_t size;
	char *text;
	FILE *to = open_memstream(&text, &size);

	cr_expect_eq(fn(r, rig_write, to), 0, "%s", weft_trace_error(r->t));
	fclose(to);
	return text;
}

static int explain(struct rig *r, weft_trace_write *write, void *arg)
{
	return weft_trace_explain(r->t, write, arg);
}

static int schema(struct rig *r, weft_trace_write *write, void *arg)
{
	return weft_trace_page(r->t, WEFT_TRACE_JSON_SCHEMA, write, arg);
}

static int reference(struct rig *r, weft_trace_write *write, void *arg)
{
	return weft_trace_page(r->t, WEFT_TRACE_REFERENCE, write, arg);
}

static int refuse(void *arg, const char *bytes, size_t n)
{
	(void)arg;
	(void)bytes;
	(void)n;
	return -ENOSPC;
}

Test(embed_look, texts)
{
	struct rig r;
	char *text;

	rig_open(&r, WEFT_TRACE_EXPLAIN);
	rig_set(&r, "version: 1\n"
		    "probes: [{probe: 'fx-trace:::math', do: [count: {into: n, by: args.a}]}]\n");
	cr_assert_eq(weft_trace_prepare(r.t), 0, "%s", weft_trace_error(r.t));
	text = written(&r, explain);
	cr_expect(!strncmp(text, "program 1, ", 11), "%s", text);
	cr_expect(strstr(text, "instructions: fx-trace:syscalls:sys_enter_prctl:math\n"));
	cr_expect(strstr(text, "call map_lookup"), "%s", text);
	free(text);
	text = written(&r, schema);
	cr_expect(*text == '{' && strstr(text, "fx-trace"));
	free(text);
	text = written(&r, reference);
	cr_expect(strstr(text, "\n# The format of probe sets\n") && strstr(text, "fx-trace"));
	free(text);
	rig_expect(&r, weft_trace_explain(r.t, refuse, NULL), -ENOSPC, "TRACE_CALLBACK");
	rig_expect(&r, weft_trace_page(r.t, WEFT_TRACE_REFERENCE, refuse, NULL), -ENOSPC,
		   "TRACE_CALLBACK");
	rig_close(&r);
}

/* ---- results as text ---- */

Test(embed_look, outputs)
{
	static const char *const command[] = {CALLS, "17", NULL};
	const struct weft_trace_target target = {.struct_size = sizeof(target), .command = command};
	struct weft_trace_output o = {.struct_size = sizeof(o), .format = "json"};
	size_t size;
	char *text;
	FILE *to = open_memstream(&text, &size);
	struct rig r;

	rig_open(&r, 0);
	o.results = rig_write;
	o.arg = to;
	cr_assert_eq(weft_trace_output(r.t, &o), 0, "%s", weft_trace_error(r.t));
	rig_set(&r, "version: 1\n"
		    "probes:\n"
		    "  - probe: 'fx-trace:::calls'\n"
		    "    do: [count: {into: n}, emit: {a: 1}]\n");
	cr_assert_eq(weft_trace_target(r.t, &target), 0);
	rig_run(&r, NULL);
	fflush(to);
	cr_expect(strstr(text, "{\"type\":\"aggregation\",\"name\":\"n\",\"kind\":\"count\",\"rows\":"
			       "[{\"by\":{},\"value\":17}]}\n"
			       "{\"type\":\"end\",\"reason\":\"target\",\"status\":0}\n"),
		  "%s", text);
	cr_expect_eq(r.n_records, 17, "both get them");
	rig_expect_line(&r, "count n: {} 17 n=17");
	fclose(to);
	free(text);

	o.format = "jsno";
	rig_expect(&r, weft_trace_output(r.t, &o), -EINVAL, "OUTPUT_FORMAT");
	cr_expect_str_eq(weft_trace_report(r.t, 0)->suggestion, "json");
	o.format = "text";
	o.results = refuse;
	cr_assert_eq(weft_trace_output(r.t, &o), 0);
	rig_set(&r, "version: 1\nprobes: [{probe: 'fx-trace:::calls', do: [count: {into: n}]}]\n");
	cr_assert_eq(weft_trace_target(r.t, &target), 0);
	cr_assert_eq(weft_trace_start(r.t, NULL), 0);
	cr_expect_eq(weft_trace_run(r.t), 0);
	rig_expect(&r, weft_trace_stop(r.t), -ENOSPC, "OUTPUT_WRITE");
	rig_close(&r);
}

/* ---- what comes along ---- */

static int put_set(void *arg, const char *name, const char *path)
{
	struct stat st;

	cr_expect(strstr(path, name) && !stat(path, &st), "%s", path);
	fprintf(arg, "%s,", name);
	return 0;
}

/* This program lies in no tree of weft's: what comes along is where the configuration says. The
 * tests of trace-cli and of the installation see to the rest. */
Test(embed_look, SET_UNKNOWN)
{
	char path[4096], small[4];
	struct rig r;

	rig_open(&r, 0);
	cr_expect_eq(weft_trace_find_set(r.t, "./any/path", path, sizeof(path)), 0);
	cr_expect_str_eq(path, "./any/path");
	cr_expect_eq(weft_trace_find_set(r.t, "x.yaml", path, sizeof(path)), 0);
	cr_expect_str_eq(path, "x.yaml");
	rig_expect(&r, weft_trace_find_set(r.t, "x.yaml", small, sizeof(small)), -ENAMETOOLONG,
		   "CONFIG_OPEN");
	rig_expect(&r, weft_trace_find_set(r.t, "no-such-set", path, sizeof(path)), -ENOENT,
		   "SET_UNKNOWN");
	rig_expect(&r, weft_trace_set_file(r.t, "/nowhere.yaml"), -ENOENT, "CONFIG_OPEN");
	rig_close(&r);
}

Test(embed_look, SETS_DIR)
{
	size_t size;
	char *text;
	FILE *to = open_memstream(&text, &size);
	struct rig r;
	int ret;

	rig_open(&r, 0);
	ret = weft_trace_sets(r.t, put_set, to); /* weft may be installed on this machine */
	fclose(to);
	if (ret)
		rig_expect(&r, ret, -ENOENT, "SETS_DIR");
	else
		cr_expect(strstr(text, "on-cpu,"), "%s", text);
	free(text);
	rig_close(&r);
}

/* ---- without a handle ---- */

Test(embed_look, helpers)
{
	static const char *const words[] = {"run", "list", "check"};
	uint64_t ns = 1;
	char buf[32];

	cr_expect_str_eq(weft_trace_nearest("lsit", words, 3), "list");
	cr_expect_null(weft_trace_nearest("entirely else", words, 3));
	cr_expect_null(weft_trace_nearest(NULL, words, 3));
	cr_expect_eq(weft_trace_duration("5ms", &ns), 0);
	cr_expect_eq(ns, 5000000);
	cr_expect_eq(weft_trace_duration("5", &ns), -EINVAL);
	cr_expect_eq(weft_trace_duration("99999999999d", &ns), -ERANGE);
	cr_expect_eq(weft_trace_duration(NULL, &ns), -EINVAL);
	cr_expect_eq(weft_trace_printable("plain \xc3\xa4", buf, sizeof(buf)), 8);
	cr_expect_str_eq(buf, "plain \xc3\xa4");
	cr_expect_eq(weft_trace_printable("a\x1b[1m\xff\\", buf, sizeof(buf)), 13);
	cr_expect_str_eq(buf, "a\\x1b[1m\\xff\\");
	cr_expect_eq(weft_trace_printable("\xe2\x80\xae", buf, sizeof(buf)), 12);
	cr_expect_str_eq(buf, "\\xe2\\x80\\xae");
	cr_expect_eq(weft_trace_printable("ab\x01"
					  "cd",
					  buf, 4),
		     8);
	cr_expect_str_eq(buf, "ab", "what does not fit whole is left out");
	cr_expect_eq(weft_trace_printable("ab", NULL, 0), 2);
	cr_expect_eq(weft_trace_printable("", buf, sizeof(buf)), 0);
	cr_expect_str_eq(buf, "");
	cr_expect_eq(weft_version(), WEFT_VERSION);
	snprintf(buf, sizeof(buf), "%u.%u.%u", WEFT_VERSION >> 16, WEFT_VERSION >> 8 & 255,
		 WEFT_VERSION & 255);
	cr_expect_str_eq(weft_version_text(), buf);
	cr_expect_neq(weft_version_provider_abi(), 0);
}
