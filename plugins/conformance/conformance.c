/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The conformance suite for a plugin as a Criterion suite, for the tests of whoever wrote the plugin:
 *
 *   cc -o conformance conformance.c -lcriterion
 *   sudo WEFT_PLUGIN=build/task.so ./conformance
 *
 * Each test is a check of `trace-cli providers --check`, which must be in PATH, or be what TRACE_CLI
 * says. WEFT_PLUGIN_ARGS holds further arguments: --option NAME=VALUE, --probe PATTERN. As somebody
 * other than root, who can attach nothing, the last two only say so.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(const char *name)
{
	const char *plugin = getenv("WEFT_PLUGIN"), *cli = getenv("TRACE_CLI");
	const char *args = getenv("WEFT_PLUGIN_ARGS");
	char command[4096], said[16384] = "";
	size_t n = 0;
	FILE *from;
	int status;

	cr_assert(plugin, "WEFT_PLUGIN is to be the path of a plugin");
	snprintf(command, sizeof(command), "'%s' providers --check '%s' --only %s %s",
		 cli ? cli : "trace-cli", plugin, name, args ? args : "");
	from = popen(command, "r");
	cr_assert(from, "%s cannot be run", command);
	while (n < sizeof(said) - 1 && fgets(said + n, (int)(sizeof(said) - n), from))
		n += strlen(said + n);
	status = pclose(from);
	cr_assert(status == 0 && strstr(said, name), "%s\n%s", command, said);
}

#define CHECK(name)             \
	Test(conformance, name) \
	{                       \
		check(#name);   \
	}

CHECK(loads)
CHECK(opens)
CHECK(populates)
CHECK(refuses)
CHECK(describes)
CHECK(compiles)
CHECK(attaches)
CHECK(starves)
