/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Whatever the bytes, loading ends with a set or with errors, and with nothing leaked or overrun:
 * the sanitizers judge. The data lie in an allocation of their exact size, so that a read beyond
 * them shows.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static const char *const seeds[] = {
	"version: 1\n"
	"name: \"caf\xc3\xa9\"\n"
	"target: {command: [a, 'b'], pid: [1, 2], follow: true}\n"
	"params: {a: 1, b: \"x\", c: 5ms}\n"
	"options: {strsize: 0x80, interval: 1s, buffer: 64k}\n"
	"providers: {uprobe: {placement: exact}}\n"
	"begin:\n  - printf: [\"%d \\t\", $a]\n"
	"probes:\n"
	"  - probe: [a:b:c:d, {provider: x, name: '*'}]\n"
	"    when: a ? b(1) : c\n"
	"    with: {p: 1}\n"
	"    do:\n"
	"      - count: {into: x, by: {a: f(x, y), b: !z, c: *p}}\n"
	"      - emit: {a: |\n          literal\n        }\n"
	"      - exit\n",
	"version: 1\n? [a, b]\n: &x {<<: *x, \"q\": [[[{a: }]]]}\n--- !!map\n{a: (b, c\n",
};

/* Returns whether a set came of it. */
static bool feed(const char *data, size_t size)
{
	struct weft_error *err = weft_error_create();
	struct weft_set *set = NULL;
	char *exact = malloc(size ? size : 1);
	int rc;

	cr_assert_not_null(exact);
	memcpy(exact, data, size);
	rc = weft_config_load_memory("hostile", exact, size, &set, err);
	cr_assert(rc == 0 || rc == -EINVAL, "%d", rc);
	cr_assert_eq(rc == 0, set != NULL);
	cr_assert_eq(rc == 0, weft_error_count(err) == 0, "%s", weft_error_text(err));
	cr_assert_leq(weft_error_count(err), WEFT_CONFIG_MAX_ERRORS);
	free(exact);
	weft_set_destroy(set);
	weft_error_destroy(err);
	return rc == 0;
}

static char *shipped(const char *name, size_t *size)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/config/sets/%s", WEFT_SOURCE_DIR, name);
	return read_file(path, size);
}

static void feed_prefixes(const char *data, size_t size)
{
	for (size_t n = 0; n <= size; n++)
		feed(data, n);
}

Test(config_hostile, prefixes, .timeout = 100)
{
	size_t size;
	char *data = shipped("on-cpu.yaml", &size);

	cr_expect(feed(data, size));
	feed_prefixes(data, size);
	free(data);
	data = shipped("cpu-share.yaml", &size);
	feed_prefixes(data, size);
	free(data);
	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
		feed_prefixes(seeds[i], strlen(seeds[i]));
}

static uint64_t state;

/* xorshift64 (Marsaglia 2003): the same bytes on every machine. */
static uint32_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32);
}

/* What YAML is made of, and some that it is not. */
static char interesting(void)
{
	static const char bytes[] = "{}[](),:&*!|>'\"%@`#-?~ \n\t\r\\0x9a\xc3\xa9\xe2\xff\x00\x01";

	return bytes[next() % (sizeof(bytes) - 1)];
}

static size_t mutate(char *s, size_t n, size_t room)
{
	size_t at = n ? next() % n : 0, length;

	switch (next() % 5) {
	case 0:
		if (n)
			s[at] = interesting();
		return n;
	case 1: /* insert */
		if (n == room)
			return n;
		memmove(s + at + 1, s + at, n - at);
		s[at] = interesting();
		return n + 1;
	case 2: /* remove some */
		length = n - at < 8 ? n - at : next() % 8;
		memmove(s + at, s + at + length, n - at - length);
		return n - length;
	case 3: /* repeat some */
		length = next() % 32;
		if (at + length > n || n + length > room)
			return n;
		memmove(s + at + length, s + at, n - at);
		return n + length;
	default: /* flip a bit */
		if (n)
			s[at] ^= (char)(1u << next() % 8);
		return n;
	}
}

static void feed_mutations(const char *data, size_t size, unsigned int rounds)
{
	size_t room = size + 512;
	char *copy = malloc(room);

	cr_assert_not_null(copy);
	for (unsigned int i = 0; i < rounds; i++) {
		size_t n = size;

		memcpy(copy, data, size);
		for (uint32_t k = next() % 8 + 1; k > 0; k--)
			n = mutate(copy, n, room);
		feed(copy, n);
	}
	free(copy);
}

Test(config_hostile, mutations, .timeout = 100)
{
	size_t size;
	char *data = shipped("on-cpu.yaml", &size);

	state = 0x9e3779b97f4a7c15;
	feed_mutations(data, size, 500);
	free(data);
	data = shipped("cpu-share.yaml", &size);
	feed_mutations(data, size, 500);
	free(data);
	feed_mutations(seeds[0], strlen(seeds[0]), 2000);
	feed_mutations(seeds[1], strlen(seeds[1]), 1000);
}
