/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What is listed, beside the kernel's own tables; what is refused by name, and why. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fbt.h"
#include "support/test_host.h"

extern const struct weft_provider weft_provider_plugin;

#define TRACEABLE "/sys/kernel/tracing/available_filter_functions"

static void populate(struct test_host *h)
{
	const struct weft_probe_desc any = {
		.struct_size = sizeof(any), .module = "", .function = "", .name = ""};

	test_host_start(h, &weft_provider_plugin, NULL);
	cr_assert_eq(weft_provider_plugin.populate_match(h->instance, h->registry, &any, h->err), 0,
		     "%s", weft_error_text(h->err));
}

static bool has(struct test_host *h, const char *module, const char *function, const char *name)
{
	const struct weft_probe_desc d = {.struct_size = sizeof(d),
					  .provider = "fbt",
					  .module = module,
					  .function = function,
					  .name = name};

	return weft_registry_find(h->registry, &d) != NULL;
}

/* Names by how often the symbol table has them as code, and at which address first. */
struct symbols {
	char **names;
	uint64_t *addresses;
	size_t n, cap;
	size_t n_cold;
};

static int keep(void *arg, const struct weft_fbt_symbol *s)
{
	struct symbols *all = arg;

	if (!weft_fbt_is_function(s) || strcmp(s->module, "vmlinux"))
		return 0;
	if (all->n == all->cap) {
		all->cap = all->cap ? 2 * all->cap : 4096;
		all->names = realloc(all->names, all->cap * sizeof(char *));
		all->addresses = realloc(all->addresses, all->cap * sizeof(uint64_t));
		cr_assert(all->names && all->addresses);
	}
	all->addresses[all->n] = s->address;
	all->names[all->n] = strdup(s->name);
	cr_assert_not_null(all->names[all->n]);
	all->n++;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_all(struct symbols *all)
{
	memset(all, 0, sizeof(*all));
	cr_assert_eq(weft_fbt_read_symbols(keep, all), 0);
	qsort(all->names, all->n, sizeof(char *), by_name); /* addresses stay in their own order */
}

static size_t count_of(const struct symbols *all, const char *name)
{
	char **at = bsearch(&name, all->names, all->n, sizeof(char *), by_name);
	size_t n = 0;

	if (!at)
		return 0;
	while (at > all->names && !strcmp(at[-1], name))
		at--;
	for (; at < all->names + all->n && !strcmp(*at, name); at++)
		n++;
	return n;
}

static void forget(struct symbols *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->names[i]);
	free(all->names);
	free(all->addresses);
}

Test(fbt_list, every_probe_is_of_a_function_that_the_kernel_has)
{
	struct test_host h = {0};
	struct symbols all;

	populate(&h);
	read_all(&all);
	cr_assert_gt(weft_registry_size(h.core), 2 * 20000u);
	for (size_t i = 0; i < weft_registry_size(h.core); i++) {
		struct weft_probe_desc d = {.struct_size = sizeof(d)};
		char name[512], *at;
		size_t n;

		weft_probe_desc(weft_registry_at(h.core, i), &d);
		if (strcmp(d.module, "vmlinux"))
			continue;
		snprintf(name, sizeof(name), "%s", d.function);
		at = strchr(name, '@');
		if (at)
			*at++ = '\0';
		n = count_of(&all, name);
		cr_expect(at ? n > 1 && (size_t)atoi(at) <= n : n >= 1, "%s: %zu of them",
			  d.function, n);
		cr_expect(!strcmp(d.name, "entry") || !strcmp(d.name, "return"));
		cr_expect_null(weft_fbt_unsafe(name), "%s", name);
		cr_expect(!strstr(name, ".cold"), "%s", name);
	}
	forget(&all);
	test_host_stop(&h);
}

/* Where the kernel says what it can trace, that is what is listed, but for what must not be. */
Test(fbt_list, what_the_kernel_can_trace_is_listed)
{
	FILE *f = fopen(TRACEABLE, "r");
	struct test_host h = {0};
	struct symbols all;
	size_t missing = 0, n = 0;
	char line[1024];

	populate(&h);
	read_all(&all);
	if (!f) { /* a kernel that hides it says so */
		cr_expect_eq(errno, EPERM, "%s", strerror(errno));
		cr_expect(test_host_logged(&h, "available_filter_functions cannot be read"));
		cr_expect(has(&h, "vmlinux", "vfs_read", "entry"));
		cr_expect(has(&h, "vmlinux", "vfs_read", "return"));
	}
	while (f && fgets(line, sizeof(line), f)) {
		char *end = line + strcspn(line, " \n");

		if (*end == ' ' || !strncmp(line, "__ftrace_invalid", 16))
			continue;
		*end = '\0';
		if (weft_fbt_unsafe(line) || count_of(&all, line) != 1)
			continue;
		n++;
		if (!has(&h, "vmlinux", line, "entry") && ++missing < 40)
			fprintf(stderr, "not listed: %s\n", line);
	}
	if (f)
		fclose(f);
	/* Those that kprobes' blacklist or a section takes away. */
	cr_expect_leq(missing, n / 100, "%zu of %zu", missing, n);
	forget(&all);
	test_host_stop(&h);
}

/* A name that several functions have, none of which ran at boot only. */
static const char *duplicate(const struct symbols *all, size_t *n)
{
	static const char *const candidates[] = {
		"bpf_link_show_fdinfo", "seq_release",   "c_next", "c_stop", "dev_show", "id_show",
		"state_show",           "modalias_show", "cleanup"};

	for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
		*n = count_of(all, candidates[i]);
		if (*n > 1)
			return candidates[i];
	}
	cr_assert_fail("no static function twice");
	return NULL;
}

Test(fbt_list, FBT_AMBIGUOUS)
{
	struct test_host h = {0}, all_listed = {0};
	const struct weft_probe *first, *last;
	struct symbols all;
	const char *name;
	char text[128];
	bool is_return;
	size_t n;

	read_all(&all);
	name = duplicate(&all, &n);
	test_host_start(&h, &weft_provider_plugin, NULL);
	cr_expect_null(test_host_probe(&h, "vmlinux", name, "entry"));
	cr_expect(strstr(weft_error_text(h.err), "@1"), "%s", weft_error_text(h.err));
	cr_expect_str_eq(test_host_tag(&h), "FBT_AMBIGUOUS");
	snprintf(text, sizeof(text), "%s@1", name);
	first = test_host_probe(&h, "vmlinux", text, "entry");
	snprintf(text, sizeof(text), "%s@%zu", name, n);
	last = test_host_probe(&h, "vmlinux", text, "entry");
	cr_assert(first && last, "%s", weft_error_text(h.err));
	if (all.addresses[0])
		cr_expect_lt(weft_fbt_function_of(h.instance, first, &is_return)->address,
			     weft_fbt_function_of(h.instance, last, &is_return)->address);

	/* The list comes to the same numbers. */
	populate(&all_listed);
	cr_expect(!has(&all_listed, "vmlinux", name, "entry"));
	for (size_t i = 0; i < weft_registry_size(all_listed.core); i++) {
		const struct weft_probe *p = weft_registry_at(all_listed.core, i);
		struct weft_probe_desc d = {.struct_size = sizeof(d)};

		weft_probe_desc(p, &d);
		if (!strcmp(d.function, text))
			cr_expect_eq(
				weft_fbt_function_of(all_listed.instance, p, &is_return)->address,
				weft_fbt_function_of(h.instance, last, &is_return)->address);
	}
	test_host_stop(&all_listed);

	snprintf(text, sizeof(text), "%s@%zu", name, n + 1);
	cr_expect_null(test_host_probe(&h, "vmlinux", text, "entry"));
	cr_expect_str_eq(test_host_tag(&h), "FBT_NTH");
	forget(&all);
	test_host_stop(&h);
}

Test(fbt_list, FBT_NTH)
{
	struct test_host h = {0};

	test_host_start(&h, &weft_provider_plugin, NULL);
	cr_expect_null(test_host_probe(&h, "vmlinux", "vfs_read@1", "entry"));
	cr_expect_str_eq(test_host_tag(&h), "FBT_NTH");
	test_host_stop(&h);
}

/* One function that is named is looked up, and nothing else is registered. */
Test(fbt_list, a_named_probe_comes_alone)
{
	struct test_host h = {0};

	test_host_start(&h, &weft_provider_plugin, NULL);
	cr_assert_not_null(test_host_probe(&h, "vmlinux", "vfs_read", "entry"), "%s",
			   weft_error_text(h.err));
	cr_expect_eq(weft_registry_size(h.core), 1);
	cr_assert_not_null(test_host_probe(&h, "vmlinux", "vfs_read", "return"));
	cr_expect_eq(weft_registry_size(h.core), 2);
	test_host_stop(&h);
}

/* ---- refusals ---- */

static void expect_refused(const char *module, const char *function, const char *name,
			   const char *tag, const char *text)
{
	struct test_host h = {0};

	test_host_start(&h, &weft_provider_plugin, NULL);
	cr_expect_null(test_host_probe(&h, module, function, name), "%s", function);
	cr_expect(strstr(weft_error_text(h.err), text), "%s", weft_error_text(h.err));
	cr_expect_str_eq(test_host_tag(&h), tag, "%s", function);
	cr_expect_eq(weft_registry_size(h.core), 0);
	test_host_stop(&h);
}

Test(fbt_list, FBT_NAME)
{
	expect_refused("vmlinux", "vfs_read", "exit", "FBT_NAME", "entry and return");
}

Test(fbt_list, FBT_NO_FUNCTION)
{
	expect_refused("vmlinux", "vfs_reed", "entry", "FBT_NO_FUNCTION", "did you mean vfs_read?");
}

Test(fbt_list, FBT_NO_MODULE)
{
	expect_refused("no_such_module", "vfs_read", "entry", "FBT_NO_MODULE",
		       "no module no_such_module is loaded");
}

Test(fbt_list, FBT_FUNCTION)
{
	expect_refused("vmlinux", "vfs_read@", "entry", "FBT_FUNCTION", "vfs_read@");
	expect_refused("vmlinux", "vfs_read@0", "entry", "FBT_FUNCTION", "vfs_read@0");
	expect_refused("vmlinux", "vfs_read@1x", "entry", "FBT_FUNCTION", "vfs_read@1x");
	expect_refused("vmlinux", "@1", "entry", "FBT_FUNCTION", "@1");
}

Test(fbt_list, FBT_NO_RETURN)
{
	expect_refused("vmlinux", "do_exit", "return", "FBT_NO_RETURN", "ends the thread");
}

Test(fbt_list, FBT_UNSAFE)
{
	const char *pattern, *why;

	expect_refused("vmlinux", "bpf_get_current_pid_tgid", "entry", "FBT_UNSAFE",
		       "BPF programs run through it");
	for (size_t i = 0; weft_fbt_unsafe_row(i, &pattern, &why); i++) {
		char name[128];
		size_t n = strcspn(pattern, "*");

		snprintf(name, sizeof(name), "%.*s", (int)n, pattern);
		cr_expect_str_eq(weft_fbt_unsafe(name), why, "%s", pattern);
	}
	cr_expect_null(weft_fbt_unsafe("vfs_read"));
}

/* Where debugfs is mounted it is the kernel's own list that says so. */
Test(fbt_list, FBT_FORBIDDEN)
{
	expect_refused("vmlinux", "asm_exc_page_fault", "entry", "FBT_FORBIDDEN",
		       "asm_exc_page_fault cannot be traced: ");
}

Test(fbt_list, FBT_GONE)
{
	expect_refused("vmlinux", "start_kernel", "entry", "FBT_GONE", "is gone");
}

/* A function that the compiler took apart, whatever it is called on this kernel. */
static int find_split(void *arg, const struct weft_fbt_symbol *s)
{
	struct symbols *all = arg;
	char base[WEFT_FBT_NAME_MOST];
	char *dot = strstr(s->name, ".constprop.0");

	if (!weft_fbt_is_function(s) || strcmp(s->module, "vmlinux") || !dot || dot[12])
		return 0;
	snprintf(base, sizeof(base), "%.*s", (int)(dot - s->name), s->name);
	if (strchr(base, '.') || count_of(all, base) || count_of(all, s->name) != 1)
		return 0;
	expect_refused("vmlinux", base, "entry", "FBT_SPLIT", s->name);
	return 1;
}

Test(fbt_list, FBT_SPLIT)
{
	struct symbols all;

	read_all(&all);
	cr_expect_eq(weft_fbt_read_symbols(find_split, &all), 1);
	forget(&all);
}

static int find_cold(void *arg, const struct weft_fbt_symbol *s)
{
	struct symbols *all = arg;
	const char *dot = strstr(s->name, ".cold");

	all->n_cold += dot != NULL;
	if (!weft_fbt_is_function(s) || strcmp(s->module, "vmlinux") || !dot || dot[5] ||
	    count_of(all, s->name) != 1 || weft_fbt_unsafe(s->name))
		return 0;
	expect_refused("vmlinux", s->name, "entry", "FBT_FRAGMENT", "nobody calls it");
	return 1;
}

Test(fbt_list, FBT_FRAGMENT)
{
	struct symbols all;

	read_all(&all);
	/* Some kernels' symbol tables leave them out. */
	cr_expect_eq(weft_fbt_read_symbols(find_cold, &all), all.n_cold ? 1 : 0);
	cr_expect(weft_fbt_is_fragment("vfs_read.cold"));
	cr_expect(weft_fbt_is_fragment("vfs_read.isra.0.cold"));
	cr_expect(!weft_fbt_is_fragment("vfs_read.isra.0"));
	forget(&all);
}

/* The page of the documentation has the table. */
Test(fbt_list, the_table_is_documented)
{
	static char page[65536];
	FILE *f = fopen(WEFT_SOURCE_DIR "/docs/providers/fbt.md", "r");
	const char *pattern, *why;
	char text[160];

	cr_assert_not_null(f);
	cr_assert_gt(fread(page, 1, sizeof(page) - 1, f), 0);
	fclose(f);
	for (size_t i = 0; weft_fbt_unsafe_row(i, &pattern, &why); i++) {
		snprintf(text, sizeof(text), "`%s`", pattern);
		cr_expect(strstr(page, text), "%s", pattern);
		cr_expect(strstr(page, why), "%s", why);
	}
}
