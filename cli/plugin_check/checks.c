/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The checks. A provider may refuse what it likes, with a reason: that is noted. A finding is what
 * no provider may do, whatever it provides: the tags PLUGIN_... of the session, what cannot be
 * compiled, and what stays behind.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/plugin_check/check.h"
#include "config/config.h"

#define MOST_DESCRIBED   64 /* probes of a provider that has many: so many, evenly spread */
#define MOST_ATTACHED    8
#define TARGET           "sh, -c, 'id >/dev/null; true'" /* system calls, processes */
#define MOST_DESCRIPTORS 64 /* that one attachment and its session could need */

/* ---- sessions ---- */

/* A defect, or the provider's right: it says so by its tag. */
static bool is_defect(const char *tag)
{
	return !strncmp(tag, "PLUGIN_", 7) || !strncmp(tag, "LOCATION_", 9) ||
	       !strncmp(tag, "IDENTITY_", 9) || !strcmp(tag, "PROGRAM_REJECTED") ||
	       !strcmp(tag, "ATTACH_NONE") || !strncmp(tag, "ARG_", 4);
}

/* Sorts out all that went wrong, and forgets it. */
static void take_errors(struct check *c, const char *doing)
{
	struct weft_report r;

	for (size_t i = 0; i < weft_error_count(c->err); i++) {
		if (weft_error_report(c->err, i, &r))
			continue;
		if (is_defect(r.tag))
			check_found(r.tag, "%s", r.text);
		else if (strcmp(r.tag, "OBJECT_VALUE") !=
			 0) /* a struct: members of it can be used */
			check_note("%s: %s [%s]", doing, r.text, r.tag);
	}
	weft_error_clear(c->err);
}

/* Warnings bear a defect's tag at their end. */
static void take_log(void *arg, enum weft_log_level level, const char *source, const char *text)
{
	const char *tag = strrchr(text, '[');
	char bare[64];

	(void)arg;
	(void)source;
	if (level < WEFT_LOG_WARNING || !tag || strncmp(tag, "[PLUGIN_", 8))
		return;
	snprintf(bare, sizeof(bare), "%.*s", (int)strcspn(tag + 1, "]"), tag + 1);
	check_found(bare, "%.*s", (int)(tag - text), text);
}

static void put_field(FILE *to, const char *name, const char *text)
{
	fprintf(to, "%s: '", name);
	for (; *text; text++) {
		if (strchr("*?[]\\", *text))
			fputc('\\', to);
		if (*text == '\'')
			fputc('\'', to);
		fputc(*text, to);
	}
	fputs("', ", to);
}

/* A set with the plan's options, and what `body` writes behind `probes:`. */
static struct weft_set *make_set(struct check *c, void (*body)(FILE *to, const void *arg),
				 const void *arg)
{
	struct weft_set *set = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	fprintf(to, "version: 1\ntarget: {command: [" TARGET "], follow: true}\n");
	if (c->plan->n_options) {
		fprintf(to, "providers:\n  %s:\n", c->provider->name);
		for (size_t i = 0; i < c->plan->n_options; i++) {
			const char *o = c->plan->options[i];
			int n = (int)strcspn(o, "=");

			fprintf(to, "    %.*s: %s\n", n, o, o + n + 1);
		}
	}
	fputs("probes:\n", to);
	body(to, arg);
	if (!fclose(to))
		weft_config_load_memory("check", text, size, &set, c->err);
	free(text);
	return set;
}

static void put_nobody(FILE *to, const void *arg)
{
	const char *provider = arg;

	fprintf(to, "  - probe: '%s:weft-no-such:weft_no_such:weft-no-such'\n    do: [exit]\n",
		provider);
}

/* A session with the plugin, opened if there are options: they come with a set. */
static struct weft_session *begin(struct check *c, struct weft_set **set)
{
	struct weft_session_env env = {
		.providers = &c->provider, .n_providers = 1, .log = take_log, .log_arg = c};
	struct weft_session *s = NULL;

	*set = NULL;
	check_step(c);
	if (weft_session_create(&env, &s, c->err))
		return NULL;
	if (c->plan->n_options) {
		*set = make_set(c, put_nobody, c->provider->name);
		if (*set)
			weft_session_prepare(s, *set, c->err);
		take_errors(c, "with these options");
	}
	return s;
}

static void finish(struct weft_session *s, struct weft_set *set)
{
	weft_session_destroy(s);
	weft_set_destroy(set);
}

/* ---- what is left behind ---- */

struct belongings {
	char fds[1024]; /* one byte each: whether it is open */
	size_t n_threads;
};

static void look_around(struct belongings *b)
{
	struct dirent *d;
	DIR *dir;

	memset(b, 0, sizeof(*b));
	dir = opendir("/proc/self/fd");
	while (dir && (d = readdir(dir)))
		if (d->d_name[0] != '.' && atoi(d->d_name) != dirfd(dir) &&
		    (size_t)atoi(d->d_name) < sizeof(b->fds))
			b->fds[atoi(d->d_name)] = 1;
	if (dir)
		closedir(dir);
	dir = opendir("/proc/self/task");
	while (dir && (d = readdir(dir)))
		b->n_threads += d->d_name[0] != '.';
	if (dir)
		closedir(dir);
}

static void expect_same(const struct check *c, const struct belongings *before, const char *after)
{
	struct belongings now;

	look_around(&now);
	for (size_t i = 0; i < sizeof(now.fds); i++) {
		char path[64], what[256] = "?";

		if (!now.fds[i] || before->fds[i])
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%zu", i);
		if (readlink(path, what, sizeof(what) - 1) < 0)
			continue;
		check_found("PLUGIN_LEFT_OPEN", "provider %s leaves open after %s: %s",
			    c->provider->name, after, what);
	}
	if (now.n_threads > before->n_threads)
		check_found("PLUGIN_LEFT_THREAD", "provider %s leaves a thread running after %s",
			    c->provider->name, after);
}

/* ---- probes ---- */

struct sample {
	const struct weft_probe *probes[MOST_DESCRIBED];
	size_t n, most, total, step, at;
	uint64_t hash;
	const struct weft_probe_info *info; /* of the only one; NULL: no argument is used */
};

static int count_probe(const struct weft_probe *probe, void *arg)
{
	struct sample *s = arg;
	char text[1024];

	s->total++;
	weft_probe_format(probe, text, sizeof(text));
	for (const char *p = text; *p; p++)
		s->hash = (s->hash ^ (unsigned char)*p) * 0x100000001b3u;
	return 0;
}

static int pick_probe(const struct weft_probe *probe, void *arg)
{
	struct sample *s = arg;

	if (s->at++ % s->step == 0 && s->n < s->most)
		s->probes[s->n++] = probe;
	return 0;
}

static void each_pattern(struct check *c, struct weft_session *session,
			 int (*fn)(const struct weft_probe *, void *), struct sample *s)
{
	char all[64];

	snprintf(all, sizeof(all), "%s:::", c->provider->name);
	for (size_t i = 0; i < (c->plan->n_probes ? c->plan->n_probes : 1); i++) {
		const char *text = c->plan->n_probes ? c->plan->probes[i] : all;
		struct weft_pattern pattern;

		if (weft_pattern_parse(text, &pattern, c->err)) {
			take_errors(c, text);
			continue;
		}
		weft_session_find(session, &pattern, fn, s, c->err);
		take_errors(c, text);
		weft_pattern_finish(&pattern);
	}
}

static void take_sample(struct check *c, struct weft_session *session, size_t most, struct sample *s)
{
	*s = (struct sample){.most = most, .hash = 0xcbf29ce484222325u};
	each_pattern(c, session, count_probe, s);
	s->step = s->total / most + 1;
	each_pattern(c, session, pick_probe, s);
}

/* ---- the checks ---- */

static void check_loads(struct check *c)
{
	check_note("provider %s, ABI %u.%u", c->provider->name,
		   WEFT_ABI_MAJOR(weft_loader_entry(c->loader, 0)->abi_version),
		   WEFT_ABI_MINOR(weft_loader_entry(c->loader, 0)->abi_version));
}

static void check_opens(struct check *c)
{
	struct weft_set *set, *other;
	struct weft_session *s = begin(c, &set), *second;
	struct belongings before;
	const char *text;
	bool first_opened;

	/* The first session may leave what it does once in a process. */
	first_opened = s && !weft_session_mechanism(s, c->provider->name, &text, c->err);
	take_errors(c, "open");
	finish(s, set);
	look_around(&before);
	s = begin(c, &set);
	if (s)
		weft_session_mechanism(s, c->provider->name, &text, c->err);
	take_errors(c, "open");
	second = begin(c, &other);
	if (second && first_opened &&
	    weft_session_mechanism(second, c->provider->name, &text, c->err))
		check_found("PLUGIN_STATIC",
			    "provider %s cannot be opened by two sessions at once: %s",
			    c->provider->name, weft_error_text(c->err));
	take_errors(c, "open, twice at once");
	finish(second, other);
	finish(s, set);
	expect_same(c, &before, "close()");
}

static void check_populates(struct check *c)
{
	struct sample first, again;
	struct belongings before;
	struct weft_set *set;
	struct weft_session *s = begin(c, &set);

	if (s)
		take_sample(c, s, MOST_DESCRIBED, &first);
	finish(s, set);
	look_around(&before);
	s = begin(c, &set);
	if (s)
		take_sample(c, s, MOST_DESCRIBED, &again);
	if (s && (first.total != again.total || first.hash != again.hash) && !c->plan->n_probes)
		check_note("%zu probes at first, and others the second time", first.total);
	finish(s, set);
	expect_same(c, &before, "populate() and close()");
	if (s)
		check_note("%zu probes", again.total);
	if (s && !again.total && !c->plan->n_probes)
		check_note("none of itself: say some with --probe");
}

static void check_refuses(struct check *c)
{
	static char long_text[4000];
	const char *const texts[] = {"weft-no-such", "%s%n%s",
				     "a'b\"c",       "-1",
				     "\\*",          memset(long_text, 'x', sizeof(long_text) - 1)};
	struct weft_set *set;
	struct weft_session *s = begin(c, &set);
	size_t known = 0;

	for (size_t i = 0; s && i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (size_t field = 1; field < WEFT_N_FIELDS; field++) {
			const char *fields[WEFT_N_FIELDS] = {c->provider->name, "weft-none",
							     "weft-none", "weft-none"};
			struct sample found = {.most = 0};
			struct weft_pattern pattern;

			fields[field] = texts[i];
			if (weft_pattern_from_fields(fields, &pattern, c->err)) {
				weft_error_clear(c->err);
				continue;
			}
			if (!weft_session_find(s, &pattern, count_probe, &found, c->err))
				known += found.total;
			for (size_t k = 0; k < weft_error_count(c->err); k++) {
				struct weft_report r;

				if (!weft_error_report(c->err, k, &r) && is_defect(r.tag))
					check_found(r.tag, "%s", r.text);
			}
			weft_error_clear(c->err);
			weft_pattern_finish(&pattern);
		}
	}
	if (known)
		check_found("PLUGIN_PROVIDES_ANYTHING",
			    "provider %s provides %zu probes whose names are nonsense",
			    c->provider->name, known);
	finish(s, set);
}

static void check_describes(struct check *c)
{
	struct weft_set *set;
	struct weft_session *s = begin(c, &set);
	struct sample sample;

	if (!s)
		return;
	take_sample(c, s, MOST_DESCRIBED, &sample);
	for (size_t i = 0; i < sample.n; i++) {
		const struct weft_probe_info *info, *again;
		const struct weft_layout *layouts;
		char probe[512];
		uint32_t n;
		const char *note;

		weft_probe_format(sample.probes[i], probe, sizeof(probe));
		if (weft_session_describe(s, sample.probes[i], &info, &layouts, &n, c->err) ||
		    weft_session_note(s, sample.probes[i], &note, c->err)) {
			take_errors(c, probe);
			continue;
		}
		/* What is described alike is one description. */
		if (weft_session_describe(s, sample.probes[i], &again, &layouts, &n, c->err) ||
		    info != again)
			check_found(
				"PLUGIN_UNSTEADY",
				"provider %s does not describe %s the same when it is asked again",
				c->provider->name, probe);
		take_errors(c, probe);
	}
	check_note("%zu of %zu probes", sample.n, sample.total);
	finish(s, set);
}

static void put_probe(FILE *to, const struct weft_probe *probe)
{
	struct weft_probe_desc d = {.struct_size = sizeof(d)};

	weft_probe_desc(probe, &d);
	fprintf(to, "      - {provider: %s, ", d.provider);
	put_field(to, "module", d.module);
	put_field(to, "function", d.function);
	put_field(to, "name", d.name);
	fputs("}\n", to);
}

/* A clause that uses all that can be read of probes that are like this. */
static void put_actions(FILE *to, const struct weft_probe_info *info)
{
	fputs("    do:\n      - count: {into: n}\n      - emit: {pid: pid, ", to);
	for (uint32_t i = 0; info && i < info->n_args; i++)
		if (info->args[i].where.n_ops)
			fprintf(to, "a%u: 'arg%u', ", i, i);
	if (info && info->retval_type.kind)
		fputs("r: retval, ", to);
	fputs("}\n", to);
}

struct one {
	const struct weft_probe *probe;
	const struct weft_probe_info *info;
};

static void put_one(FILE *to, const void *arg)
{
	const struct one *o = arg;

	fputs("  - probe:\n", to);
	put_probe(to, o->probe);
	put_actions(to, o->info);
}

static void put_sample(FILE *to, const void *arg)
{
	const struct sample *s = arg;

	fputs("  - probe:\n", to);
	for (size_t i = 0; i < s->n; i++)
		put_probe(to, s->probes[i]);
	put_actions(to, s->info);
}

static void compile_one(struct check *c, const struct one *o)
{
	struct weft_session_env env = {
		.providers = &c->provider, .n_providers = 1, .log = take_log, .log_arg = c};
	struct weft_set *set = make_set(c, put_one, o);
	struct weft_session *s = NULL;
	char probe[512];

	check_step(c);
	weft_probe_format(o->probe, probe, sizeof(probe));
	if (set && !weft_session_create(&env, &s, c->err))
		weft_session_prepare(s, set, c->err);
	take_errors(c, probe);
	finish(s, set);
}

static void check_compiles(struct check *c)
{
	struct weft_set *set;
	struct weft_session *s = begin(c, &set);
	struct sample sample;

	if (!s)
		return;
	take_sample(c, s, MOST_DESCRIBED, &sample);
	for (size_t i = 0; i < sample.n; i++) {
		struct one one = {.probe = sample.probes[i]};
		const struct weft_layout *layouts;
		uint32_t n;

		if (!weft_session_describe(s, one.probe, &one.info, &layouts, &n, c->err))
			compile_one(c, &one);
		weft_error_clear(c->err); /* check_describes() has said it */
	}
	finish(s, set);
}

/* ---- attaching ---- */

struct run {
	struct check *c;
	size_t n_records;
};

static int take_record(void *self, const struct weft_record *r)
{
	struct run *run = self;

	run->n_records++;
	if (!r->probe || strncmp(r->probe, run->c->provider->name, strlen(run->c->provider->name)))
		check_found("PLUGIN_COOKIE",
			    "provider %s attaches with cookies other than those that it is given",
			    run->c->provider->name);
	return 0;
}

static int take_table(void *self, const struct weft_table *t)
{
	(void)self;
	(void)t;
	return 0;
}

static int take_loss(void *self, const struct weft_loss_report *l)
{
	(void)self;
	(void)l;
	return 0;
}

static int take_end(void *self, const struct weft_end *e)
{
	(void)self;
	(void)e;
	return 0;
}

/* Attaches all of a sample, runs TARGET, detaches. short_of: descriptors that may still be opened, or -1. */
static bool attach_sample(struct check *c, const struct sample *sample, int short_of,
			  struct run *run)
{
	struct weft_session_env env = {
		.providers = &c->provider, .n_providers = 1, .log = take_log, .log_arg = c};
	struct weft_sink sink = {.record = take_record,
				 .table = take_table,
				 .loss = take_loss,
				 .end = take_end,
				 .self = run};
	struct weft_run_options options = {.duration_ns = 2000000000, .stop_fd = -1};
	struct weft_set *set = make_set(c, put_sample, sample);
	struct weft_session *s = NULL;
	struct rlimit whole, few;
	struct weft_end end = {0};
	char *log = NULL;
	int ret = -1, probe;

	check_step(c);
	getrlimit(RLIMIT_NOFILE, &whole);
	if (set && !weft_session_create(&env, &s, c->err))
		ret = weft_session_prepare(s, set, c->err);
	if (!ret) {
		probe = dup(STDIN_FILENO);
		few = whole;
		few.rlim_cur = (rlim_t)probe + (rlim_t)short_of;
		close(probe);
		if (short_of >= 0)
			setrlimit(RLIMIT_NOFILE, &few);
		ret = weft_session_start(s, &sink, &log, c->err);
		setrlimit(RLIMIT_NOFILE, &whole);
	}
	if (!ret) {
		weft_session_run(s, &options, &end, c->err);
		weft_session_stop(s, &end, c->err);
	}
	free(log);
	finish(s, set);
	return !ret;
}

static void check_attaches(struct check *c)
{
	struct weft_set *set;
	struct weft_session *s = begin(c, &set);
	struct run run = {.c = c};
	struct belongings before;
	struct sample sample;
	size_t attached = 0;

	if (!s)
		return;
	take_sample(c, s, MOST_ATTACHED, &sample);
	look_around(&before);
	for (size_t i = 0; i < sample.n; i++) {
		struct sample one = {.probes = {sample.probes[i]}, .n = 1};
		const struct weft_layout *layouts;
		char probe[512];
		uint32_t n;

		if (weft_session_describe(s, one.probes[0], &one.info, &layouts, &n, c->err))
			one.info = NULL;
		weft_error_clear(c->err);
		weft_probe_format(sample.probes[i], probe, sizeof(probe));
		attached += attach_sample(c, &one, -1, &run);
		take_errors(c, probe);
		expect_same(c, &before, "detach()");
	}
	if (sample.n > 1)
		attach_sample(c, &sample, -1, &run);
	take_errors(c, "all together");
	expect_same(c, &before, "detach()");
	check_note("%zu of %zu probes attached, %zu firings", attached, sample.n, run.n_records);
	finish(s, set);
}

static bool starve(struct check *c, const struct sample *sample, int short_of, struct run *run,
		   const struct belongings *before)
{
	bool attached = attach_sample(c, sample, short_of, run);
	struct weft_report r;

	for (size_t i = 0; i < weft_error_count(c->err); i++)
		if (!weft_error_report(c->err, i, &r) && !strncmp(r.tag, "PLUGIN_", 7))
			check_found(r.tag, "%s", r.text);
	weft_error_clear(c->err);
	expect_same(c, before, "an attach() that failed");
	return attached;
}

/* attach() is the last to need descriptors: it runs out of them if there are just fewer than are
 * needed. It says why, and leaves nothing. */
static void check_starves(struct check *c)
{
	struct weft_set *set;
	struct weft_session *s = begin(c, &set);
	struct run run = {.c = c};
	struct belongings before;
	struct sample sample;
	int low = 0, high = MOST_DESCRIPTORS;

	if (!s)
		return;
	take_sample(c, s, 1, &sample);
	if (!sample.n || !attach_sample(c, &sample, -1, &run))
		high = 0;
	weft_error_clear(c->err);
	look_around(&before);
	while (low < high) {
		int middle = (low + high) / 2;

		if (starve(c, &sample, middle, &run, &before))
			high = middle;
		else
			low = middle + 1;
	}
	for (int i = 2; i < 5 && i <= low; i++)
		starve(c, &sample, low - i, &run, &before);
	if (low)
		check_note("attached with %d descriptors, and not with less", low);
	finish(s, set);
}

const struct check_kind check_kinds[] = {
	{"loads", "the file is a plugin that this weft loads", false, check_loads},
	{"opens", "it opens, twice at once, and closes without a trace", false, check_opens},
	{"populates", "it announces its probes", false, check_populates},
	{"refuses", "it refuses names that make no sense, with a reason", false, check_refuses},
	{"describes", "what it says of probes is valid, and the same when asked again", false,
	 check_describes},
	{"compiles", "a clause that uses every argument can be compiled", false, check_compiles},
	{"attaches", "probes attach, fire as themselves, detach, and nothing stays behind", true,
	 check_attaches},
	{"starves", "attaching fails without a trace where descriptors run out", true, check_starves},
};
const size_t check_n_kinds = sizeof(check_kinds) / sizeof(check_kinds[0]);
