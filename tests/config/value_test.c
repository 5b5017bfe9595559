/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The values of keys: what they become, and what is refused. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

/* ---- right ones ---- */

Test(config_value, defaults)
{
	struct weft_set *set = good("version: 1\n" PROBES);

	cr_expect_null(set->name.s);
	cr_expect_null(set->description.s);
	cr_expect_null(set->target.command);
	cr_expect_eq(set->target.n_pids, 0);
	cr_expect_not(set->target.follow);
	cr_expect_eq(set->options.strsize, 128);
	cr_expect_eq(set->options.stackframes, 64);
	cr_expect_eq(set->options.interval, 0);
	cr_expect_eq(set->options.buffer, 1 << 20);
	cr_expect_eq(set->options.rows, 10240);
	cr_expect_eq(set->options.stacks, 10240);
	cr_expect_eq(set->options.depth, 64);
	cr_expect_eq(set->options.threads, 10240);
	cr_expect_eq(set->n_params, 0);
	cr_expect_eq(set->n_providers, 0);
	cr_expect_eq(set->n_begin, 0);
	cr_expect_eq(set->n_end, 0);
	cr_expect_null(set->clauses[0].when.s);
	weft_set_destroy(set);
}

Test(config_value, options)
{
	struct weft_set *set =
		good("version: 1\n" PROBES
		     "options: {strsize: 0x100, stackframes: 127, interval: 1500ms, buffer: 64k,\n"
		     "  rows: 10000000, stacks: 1, depth: 256, threads: 1000000}\n");

	cr_expect_eq(set->options.strsize, 256);
	cr_expect_eq(set->options.stackframes, 127);
	cr_expect_eq(set->options.interval, 1500000000);
	cr_expect_eq(set->options.buffer, 65536);
	cr_expect_eq(set->options.rows, 10000000);
	cr_expect_eq(set->options.stacks, 1);
	cr_expect_eq(set->options.depth, 256);
	cr_expect_eq(set->options.threads, 1000000);
	weft_set_destroy(set);
	set = good("version: 1\n" PROBES "options: {interval: 0, buffer: '1g'}\n");
	cr_expect_eq(set->options.interval, 0);
	cr_expect_eq(set->options.buffer, 1 << 30);
	weft_set_destroy(set);
}

Test(config_value, target_command_list)
{
	struct weft_set *set =
		good("version: 1\n" PROBES "target: {command: [./a b, '', 10], follow: true}\n");

	cr_expect_str_eq(set->target.command[0], "./a b");
	cr_expect_str_eq(set->target.command[1], "");
	cr_expect_str_eq(set->target.command[2], "10");
	cr_expect_null(set->target.command[3]);
	cr_expect(set->target.follow);
	cr_expect_eq(set->target.pos.line, 3);
	cr_expect_eq(set->target.pos.column, 19);
	weft_set_destroy(set);
}

/* Split at blanks and nothing else: there is no shell. */
Test(config_value, target_command_words)
{
	struct weft_set *set =
		good("version: 1\n" PROBES "target: {command: \"  sh  -c 'a\\tb' $x|y \"}\n");
	const char *const words[] = {"sh", "-c", "'a", "b'", "$x|y"};

	for (size_t i = 0; i < 5; i++)
		cr_expect_str_eq(set->target.command[i], words[i]);
	cr_expect_null(set->target.command[5]);
	weft_set_destroy(set);
}

Test(config_value, target_pids)
{
	struct weft_set *set = good("version: 1\n" PROBES "target: {pid: 0x10}\n");

	cr_assert_eq(set->target.n_pids, 1);
	cr_expect_eq(set->target.pids[0], 16);
	weft_set_destroy(set);
	set = good("version: 1\n" PROBES "target: {pid: [1, 4194304]}\n");
	cr_assert_eq(set->target.n_pids, 2);
	cr_expect_eq(set->target.pids[1], 4194304);
	cr_expect_eq(set->target.pos.column, 15);
	weft_set_destroy(set);
}

Test(config_value, params_and_override)
{
	struct weft_set *set = good("version: 1\n" PROBES
				    "params: {threshold_us: 1000, who: \"10\", t: 5ms, _x: on}\n");
	struct weft_error *err = weft_error_create();

	cr_assert_eq(set->n_params, 4);
	cr_expect_str_eq(set->params[0].name.s, "threshold_us");
	cr_expect_str_eq(set->params[0].value.s, "1000");
	cr_expect_not(set->params[0].quoted);
	cr_expect(set->params[1].quoted);
	cr_expect_eq(weft_set_param(set, "threshold_us", "5000", err), 0);
	cr_expect_str_eq(set->params[0].value.s, "5000");
	cr_expect_neq(weft_set_param(set, "treshold_us", "1", err), 0);
	cr_expect_str_eq(weft_error_tag(err), "PARAM_UNKNOWN");
	weft_error_destroy(err);
	weft_set_destroy(set);
}

Test(config_value, providers_and_with)
{
	struct weft_set *set = good("version: 1\n"
				    "providers: {uprobe: {placement: exact, n: 3}, usdt: {}}\n"
				    "probes:\n"
				    "  - probe: a:b:c:d\n"
				    "    with: {placement: cheap}\n"
				    "    do: [show]\n");

	cr_assert_eq(set->n_providers, 2);
	cr_expect_str_eq(set->providers[0].provider.s, "uprobe");
	cr_assert_eq(set->providers[0].n_settings, 2);
	cr_expect_str_eq(set->providers[0].settings[1].name.s, "n");
	cr_expect_str_eq(set->providers[0].settings[1].value.s, "3");
	cr_expect_eq(set->providers[0].settings[1].value.pos.column, 43);
	cr_expect_eq(set->providers[1].n_settings, 0);
	cr_assert_eq(set->clauses[0].n_with, 1);
	cr_expect_str_eq(set->clauses[0].with[0].name.s, "placement");
	cr_expect_str_eq(set->clauses[0].with[0].value.s, "cheap");
	weft_set_destroy(set);
}

/* ---- CONFIG_TYPE ---- */

#define OPTION(text) "version: 1\noptions: {" text "}\n" PROBES
#define TARGET(text) "version: 1\ntarget: {" text "}\n" PROBES

Test(config_value, CONFIG_TYPE_numbers)
{
	bad(OPTION("rows: many"), "CONFIG_TYPE", 2, 17, "`rows` takes an integer, not `many`");
	bad(OPTION("rows: \"5\""), "CONFIG_TYPE", 2, 17, "not \"5\"");
	bad(OPTION("rows: 1.5"), "CONFIG_TYPE", 2, 17, "not `1.5`");
	bad(OPTION("rows: 1_000"), "CONFIG_TYPE", 2, 17, "not `1_000`");
	bad(OPTION("rows: [1]"), "CONFIG_TYPE", 2, 17, "not a list");
	bad(OPTION("rows: {a: 1}"), "CONFIG_TYPE", 2, 17, "not a map");
	bad(OPTION("rows: "), "CONFIG_TYPE", 2, 11, "not nothing");
	bad(OPTION("rows: ~"), "CONFIG_TYPE", 2, 17, "not nothing");
	bad(OPTION("interval: 5"), "CONFIG_TYPE", 2, 21, "duration such as 500ms");
	bad(OPTION("interval: 5 s"), "CONFIG_TYPE", 2, 21, "not `5 s`");
	bad(OPTION("buffer: 4kb"), "CONFIG_TYPE", 2, 19, "size such as 64k");
	bad(OPTION("buffer: true"), "CONFIG_TYPE", 2, 19, "not `true`");
}

Test(config_value, CONFIG_TYPE_octal)
{
	bad(OPTION("rows: 0777"), "CONFIG_TYPE", 2, 17, "octal");
	bad(OPTION("rows: 0o17"), "CONFIG_TYPE", 2, 17, "octal");
	bad(OPTION("rows: 00"), "CONFIG_TYPE", 2, 17, "octal");
	bad(OPTION("interval: 0500ms"), "CONFIG_TYPE", 2, 21, "octal");
	bad(OPTION("buffer: 010k"), "CONFIG_TYPE", 2, 19, "octal");
	bad(TARGET("pid: 0123"), "CONFIG_TYPE", 2, 15, "octal");
	bad("version: 1\nparams: {mode: 0644}\n" PROBES, "CONFIG_TYPE", 2, 16, "in quotes");
	weft_set_destroy(good("version: 1\nparams: {mode: '0644', a: 0x1f, b: 0, c: 0.5}\n" PROBES));
}

Test(config_value, CONFIG_TYPE_booleans)
{
	static const char *const others[] = {"yes", "on", "True", "TRUE", "1", "y", "'true'"};
	char text[128];

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		snprintf(text, sizeof(text), "version: 1\ntarget: {pid: 1, follow: %s}\n" PROBES,
			 others[i]);
		bad(text, "CONFIG_TYPE", 2, 26, "true or false");
	}
}

Test(config_value, CONFIG_TYPE_texts)
{
	bad("version: 1\nname: [a]\n" PROBES, "CONFIG_TYPE", 2, 7, "`name` takes a text");
	bad("version: 1\nname:\n" PROBES, "CONFIG_TYPE", 2, 1, "not nothing");
	bad("version: 1\ndescription: {a: b}\n" PROBES, "CONFIG_TYPE", 2, 14, "not a map");
}

Test(config_value, CONFIG_TYPE_target)
{
	bad("version: 1\ntarget: ./a\n" PROBES, "CONFIG_TYPE", 2, 9, "`target` takes a map");
	bad(TARGET("command: []"), "CONFIG_TYPE", 2, 19, "an empty list");
	bad(TARGET("command: ' '"), "CONFIG_TYPE", 2, 19, "blank");
	bad(TARGET("command: ['', a]"), "CONFIG_TYPE", 2, 20, "program");
	bad(TARGET("command: [a, [b]]"), "CONFIG_TYPE", 2, 23, "a word of `command`");
	bad(TARGET("command: [a, ~]"), "CONFIG_TYPE", 2, 23, "not nothing");
	bad(TARGET("pid: []"), "CONFIG_TYPE", 2, 15, "an empty list");
	bad(TARGET("pid: [1, x]"), "CONFIG_TYPE", 2, 19, "not `x`");
	bad(TARGET("pid: bash"), "CONFIG_TYPE", 2, 15, "not `bash`");
}

Test(config_value, CONFIG_TYPE_lists)
{
	bad("version: 1\nparams: [a]\n" PROBES, "CONFIG_TYPE", 2, 9, "`params`");
	bad("version: 1\nparams: {a: [1]}\n" PROBES, "CONFIG_TYPE", 2, 13, "the parameter `a`");
	bad("version: 1\nparams: {a: }\n" PROBES, "CONFIG_TYPE", 2, 10, "the parameter `a`");
	bad("version: 1\nproviders: [a]\n" PROBES, "CONFIG_TYPE", 2, 12, "`providers`");
	bad("version: 1\nproviders: {a: b}\n" PROBES, "CONFIG_TYPE", 2, 16, "the provider `a`");
	bad("version: 1\nproviders: {a: {b: [c]}}\n" PROBES, "CONFIG_TYPE", 2, 20, "option `b`");
	bad("version: 1\nprobes: {a: b}\n", "CONFIG_TYPE", 2, 9, "a list of clauses");
	bad("version: 1\nprobes: []\n", "CONFIG_TYPE", 2, 9, "an empty list");
	bad("version: 1\nprobes:\n", "CONFIG_TYPE", 2, 1, "not nothing");
	bad("version: 1\nprobes: [show]\n", "CONFIG_TYPE", 2, 10, "a clause takes a map");
	bad("version: 1\nbegin: show\n" PROBES, "CONFIG_TYPE", 2, 8, "`begin` takes a list");
	bad("version: 1\nend: []\n" PROBES, "CONFIG_TYPE", 2, 6, "`end` takes a list");
	bad("- version: 1\n", "CONFIG_TYPE", 1, 1, "a probe set takes a map");
	bad("hello\n", "CONFIG_TYPE", 1, 1, "not `hello`");
}

/* ---- CONFIG_RANGE ---- */

Test(config_value, CONFIG_RANGE)
{
	bad(OPTION("strsize: 15"), "CONFIG_RANGE", 2, 20, "15 is not from 16 to 1024");
	bad(OPTION("strsize: 1025"), "CONFIG_RANGE", 2, 20, "16 to 1024");
	bad(OPTION("stackframes: 0"), "CONFIG_RANGE", 2, 24, "1 to 127");
	bad(OPTION("stackframes: 128"), "CONFIG_RANGE", 2, 24, "1 to 127");
	bad(OPTION("interval: 99ms"), "CONFIG_RANGE", 2, 21, "from 100ms to 365d, nor 0");
	bad(OPTION("interval: 366d"), "CONFIG_RANGE", 2, 21, "365d");
	bad(OPTION("interval: 999999999999999d"), "CONFIG_RANGE", 2, 21, "365d");
	bad(OPTION("rows: 0"), "CONFIG_RANGE", 2, 17, "1 to 10000000");
	bad(OPTION("rows: -1"), "CONFIG_RANGE", 2, 17, "-1 is not from 1");
	bad(OPTION("rows: 99999999999999999999"), "CONFIG_RANGE", 2, 17, "1 to 10000000");
	bad(OPTION("rows: -99999999999999999999"), "CONFIG_RANGE", 2, 17, "1 to 10000000");
	bad(OPTION("stacks: 10000001"), "CONFIG_RANGE", 2, 19, "1 to 10000000");
	bad(OPTION("depth: 257"), "CONFIG_RANGE", 2, 18, "1 to 256");
	bad(OPTION("threads: 1000001"), "CONFIG_RANGE", 2, 20, "1 to 1000000");
	bad(OPTION("buffer: 2k"), "CONFIG_RANGE", 2, 19, "4k to 1g");
	bad(OPTION("buffer: 2g"), "CONFIG_RANGE", 2, 19, "4k to 1g");
	bad(OPTION("buffer: 0"), "CONFIG_RANGE", 2, 19, "4k to 1g");
	bad(TARGET("pid: 0"), "CONFIG_RANGE", 2, 15, "1 to 4194304");
	bad(TARGET("pid: [1, 4194305]"), "CONFIG_RANGE", 2, 19, "1 to 4194304");
	bad(TARGET("pid: -5"), "CONFIG_RANGE", 2, 15, "-5");
}

/* ---- every, limit ---- */

#define CLAUSE(text) "version: 1\nprobes: [{probe: 'a:b:c:d', " text ", do: [count: {into: n}]}]\n"

Test(config_value, every_and_limit)
{
	static const struct {
		const char *text;
		uint64_t count, per_ns;
	} rates[] = {{"limit: 1000/s", 1000, 1000000000},
		     {"limit: \"1000/ms\"", 1000, 1000000},
		     {"limit: 1/m", 1, UINT64_C(60000000000)},
		     {"limit: 60000000/m", 60000000, UINT64_C(60000000000)},
		     {"limit: 1000000/s", 1000000, 1000000000}};
	char text[256];

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct weft_error *err = weft_error_create();
		struct weft_set *set = NULL;

		snprintf(text, sizeof(text), CLAUSE("every: 100, %s"), rates[i].text);
		cr_assert(!weft_config_load_memory("x", text, strlen(text), &set, err), "%s: %s",
			  rates[i].text, weft_error_text(err));
		cr_expect(set->clauses[0].every == 100);
		cr_expect(set->clauses[0].limit.count == rates[i].count &&
				  set->clauses[0].limit.per_ns == rates[i].per_ns,
			  "%s", rates[i].text);
		cr_expect(set->clauses[0].limit.text.pos.line == 2);
		weft_set_destroy(set);
		weft_error_destroy(err);
	}
	bad(CLAUSE("every: 0"), "CONFIG_RANGE", 2, 36, "1 to 1000000000");
	bad(CLAUSE("every: 1000000001"), "CONFIG_RANGE", 2, 36, "1 to 1000000000");
	bad(CLAUSE("every: often"), "CONFIG_TYPE", 2, 36, "an integer");
	bad(CLAUSE("limit: 0/s"), "CONFIG_RANGE", 2, 36, "1/m to 1000000/s");
	bad(CLAUSE("limit: 1000001/s"), "CONFIG_RANGE", 2, 36, "1/m to 1000000/s");
	bad(CLAUSE("limit: 1001/ms"), "CONFIG_RANGE", 2, 36, "1/m to 1000000/s");
	bad(CLAUSE("limit: 60000001/m"), "CONFIG_RANGE", 2, 36, "1/m to 1000000/s");
	bad(CLAUSE("limit: 99999999999999999999/s"), "CONFIG_RANGE", 2, 36, "1/m to 1000000/s");
	bad(CLAUSE("limit: 1000"), "CONFIG_TYPE", 2, 36, "a rate such as 1000/s");
	bad(CLAUSE("limit: 1000/h"), "CONFIG_TYPE", 2, 36, "1000/s, 30/m or 5/ms");
	bad(CLAUSE("limit: 1000 /s"), "CONFIG_TYPE", 2, 36, "a rate such as 1000/s");
	bad(CLAUSE("limit: -1/s"), "CONFIG_TYPE", 2, 36, "a rate such as 1000/s");
	bad(CLAUSE("limit: 010/s"), "CONFIG_TYPE", 2, 36, "a rate such as 1000/s");
	bad(CLAUSE("limit: [1]"), "CONFIG_TYPE", 2, 36, "a rate such as 1000/s");
}

Test(config_value, CONFIG_RANGE_power_of_two)
{
	bad(OPTION("buffer: 5000"), "CONFIG_RANGE", 2, 19, "between 4k and 8k; the nearest is 4k");
	bad(OPTION("buffer: 7k"), "CONFIG_RANGE", 2, 19, "between 4k and 8k; the nearest is 8k");
	bad(OPTION("buffer: 1000k"), "CONFIG_RANGE", 2, 19, "512k and 1m; the nearest is 1m");
	bad(OPTION("buffer: 1023m"), "CONFIG_RANGE", 2, 19, "512m and 1g; the nearest is 1g");
}

/* ---- CONFIG_NAME ---- */

Test(config_value, CONFIG_NAME)
{
	bad("version: 1\nparams: {a-b: 1}\n" PROBES, "CONFIG_NAME", 2, 10, "`a-b`");
	bad("version: 1\nparams: {1a: 1}\n" PROBES, "CONFIG_NAME", 2, 10, "`1a`");
	bad("version: 1\nparams: {$a: 1}\n" PROBES, "CONFIG_NAME", 2, 10, "`$a`");
}
