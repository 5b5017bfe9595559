/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sessions with the plugin, and what is told in them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plugin_check/session.h"
#include "config/config.h"

#define TARGET "sh, -c, 'id >/dev/null; true'" /* system calls, processes */

bool check_is_defect(const char *tag)
{
	return !strncmp(tag, "PLUGIN_", 7) || !strncmp(tag, "LOCATION_", 9) ||
	       !strncmp(tag, "IDENTITY_", 9) || !strcmp(tag, "PROGRAM_REJECTED") ||
	       !strcmp(tag, "ATTACH_NONE") || !strncmp(tag, "ARG_", 4);
}

void check_take_errors(struct check *c, const char *doing)
{
	struct weft_report r;

	for (size_t i = 0; i < weft_error_count(c->err); i++) {
		if (weft_error_report(c->err, i, &r))
			continue;
		if (check_is_defect(r.tag))
			check_found(r.tag, "%s", r.text);
		else if (strcmp(r.tag, "OBJECT_VALUE") !=
			 0) /* a struct: members of it can be used */
			check_note("%s: %s [%s]", doing, r.text, r.tag);
	}
	weft_error_clear(c->err);
}

void check_take_log(void *arg, enum weft_log_level level, const char *source, const char *text)
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

struct weft_set *check_make_set(struct check *c, void (*body)(FILE *to, const void *arg),
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

struct weft_session *check_begin(struct check *c, struct weft_set **set)
{
	struct weft_session_env env = {
		.providers = &c->provider, .n_providers = 1, .log = check_take_log, .log_arg = c};
	struct weft_session *s = NULL;

	*set = NULL;
	check_step(c);
	if (weft_session_create(&env, &s, c->err))
		return NULL;
	if (c->plan->n_options) {
		*set = check_make_set(c, put_nobody, c->provider->name);
		if (*set)
			weft_session_prepare(s, *set, c->err);
		check_take_errors(c, "with these options");
	}
	return s;
}

void check_finish(struct weft_session *s, struct weft_set *set)
{
	weft_session_destroy(s);
	weft_set_destroy(set);
}
