/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Probes of the provider, and clauses on them. */
#include <stdio.h>
#include <string.h>

#include "cli/plugin_check/session.h"

int check_count_probe(const struct weft_probe *probe, void *arg)
{
	struct check_sample *s = arg;
	char text[1024];

	s->total++;
	weft_probe_format(probe, text, sizeof(text));
	for (const char *p = text; *p; p++)
		s->hash = (s->hash ^ (unsigned char)*p) * 0x100000001b3u;
	return 0;
}

static int pick_probe(const struct weft_probe *probe, void *arg)
{
	struct check_sample *s = arg;

	if (s->at++ % s->step == 0 && s->n < s->most)
		s->probes[s->n++] = probe;
	return 0;
}

static void each_pattern(struct check *c, struct weft_session *session,
			 int (*fn)(const struct weft_probe *, void *), struct check_sample *s)
{
	char all[64];

	snprintf(all, sizeof(all), "%s:::", c->provider->name);
	for (size_t i = 0; i < (c->plan->n_probes ? c->plan->n_probes : 1); i++) {
		const char *text = c->plan->n_probes ? c->plan->probes[i] : all;
		struct weft_pattern pattern;

		if (weft_pattern_parse(text, &pattern, c->err)) {
			check_take_errors(c, text);
			continue;
		}
		weft_session_find(session, &pattern, fn, s, c->err);
		check_take_errors(c, text);
		weft_pattern_finish(&pattern);
	}
}

void check_take_sample(struct check *c, struct weft_session *session, size_t most,
		       struct check_sample *s)
{
	*s = (struct check_sample){.most = most, .hash = 0xcbf29ce484222325u};
	each_pattern(c, session, check_count_probe, s);
	s->step = s->total / most + 1;
	each_pattern(c, session, pick_probe, s);
}

/* ---- clauses on them ---- */

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

void check_put_probe(FILE *to, const struct weft_probe *probe)
{
	struct weft_probe_desc d = {.struct_size = sizeof(d)};

	weft_probe_desc(probe, &d);
	fprintf(to, "      - {provider: %s, ", d.provider);
	put_field(to, "module", d.module);
	put_field(to, "function", d.function);
	put_field(to, "name", d.name);
	fputs("}\n", to);
}

void check_put_actions(FILE *to, const struct weft_probe_info *info)
{
	fputs("    do:\n      - count: {into: n}\n      - emit: {pid: pid, ", to);
	for (uint32_t i = 0; info && i < info->n_args; i++)
		if (info->args[i].where.n_ops)
			fprintf(to, "a%u: 'arg%u', ", i, i);
	if (info && info->retval_type.kind)
		fputs("r: retval, ", to);
	fputs("}\n", to);
}

void check_put_sample(FILE *to, const void *arg)
{
	const struct check_sample *s = arg;

	fputs("  - probe:\n", to);
	for (size_t i = 0; i < s->n; i++)
		check_put_probe(to, s->probes[i]);
	check_put_actions(to, s->info);
}
