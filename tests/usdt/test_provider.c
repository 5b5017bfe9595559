/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The provider below the vtable: what it finds in the programs that people trace, and what it says. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/compiler/location.h"
#include "support/test_bpf.h"
#include "support/test_host.h"
#include "usdt/usdt.h"

extern const struct weft_provider weft_provider_plugin;
static const char *const no_stash[] = {"stash", "off", NULL};

static int match(struct test_host *h, const char *module, const char *function, const char *name)
{
	const struct weft_probe_desc d = {.struct_size = sizeof(d),
					  .provider = "usdt",
					  .module = module,
					  .function = function,
					  .name = name};

	return weft_provider_plugin.populate_match(h->instance, h->registry, &d, h->err);
}

/* ---- what there is ---- */

struct figures {
	unsigned notes, names, several, differing, guarded, most_args;
};

static void count(struct test_host *h, struct figures *out)
{
	*out = (struct figures){0};
	for (size_t i = 0; i < weft_registry_size(h->core); i++) {
		const struct weft_probe *probe = weft_registry_at(h->core, i);
		const struct weft_usdt_probe *p =
			(const struct weft_usdt_probe *)(uintptr_t)weft_probe_data(probe);
		const char *first = NULL;
		struct weft_probe_info info;
		bool differs = false;

		test_host_info(h, probe, &info);
		cr_expect_eq(weft_location_check_info(&info, h->err), 0, "%s",
			     weft_error_text(h->err));
		out->names++;
		out->notes += p->n_sites;
		out->several += p->n_sites > 1;
		for (uint32_t r = 0; r < p->n_runs; r++) {
			for (uint32_t k = 0; k < p->runs[r].count; k++) {
				const struct weft_usdt_record *record = p->runs[r].file->record;
				const struct weft_usdt_note *n =
					&weft_usdt_notes(record)[p->runs[r].first + k];
				const char *args = weft_usdt_text(record, n->args);

				out->guarded += n->semaphore != 0;
				cr_expect_neq(n->semaphore, WEFT_USDT_LOST);
				differs |= first && strcmp(first, args) != 0;
				first = args;
			}
		}
		out->differing += differs;
		for (uint32_t l = 0; l < info.n_layouts; l++) {
			if (info.layouts[l].n_args > out->most_args)
				out->most_args = info.layouts[l].n_args;
			for (uint32_t a = 0; a < info.layouts[l].n_args; a++)
				cr_expect_null(info.layouts[l].args[a].unreadable);
		}
	}
}

Test(usdt_provider, finds_all_probes_of_the_packages)
{
	static const struct {
		const char *path;
		struct figures want;
	} all[] = {
		{"/usr/lib/postgresql/15/bin/postgres", {71, 57, 8, 5, 71, 8}},
		{"/usr/lib/x86_64-linux-gnu/libvirt.so.0", {41, 40, 1, 1, 41, 8}},
		{"/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1", {40, 22, 7, 6, 40, 4}},
		{"/usr/bin/php8.2", {14, 11, 3, 3, 14, 5}},
		{"/usr/bin/python3.11", {8, 8, 0, 0, 8, 3}},
		{"/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so", {531, 517, 13, 8, 0, 9}},
		{"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", {3, 3, 0, 0, 0, 2}},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct test_host h = {0};
		struct figures got;

		test_host_start(&h, &weft_provider_plugin, no_stash);
		cr_assert_eq(match(&h, all[i].path, "*", "*"), 0, "%s", weft_error_text(h.err));
		count(&h, &got);
		cr_expect_eq(got.notes, all[i].want.notes, "%s: %u", all[i].path, got.notes);
		cr_expect_eq(got.names, all[i].want.names, "%s: %u", all[i].path, got.names);
		cr_expect_eq(got.several, all[i].want.several, "%s: %u", all[i].path, got.several);
		cr_expect_eq(got.differing, all[i].want.differing, "%s: %u", all[i].path,
			     got.differing);
		cr_expect_eq(got.guarded, all[i].want.guarded, "%s: %u", all[i].path, got.guarded);
		cr_expect_eq(got.most_args, all[i].want.most_args, "%s: %u", all[i].path,
			     got.most_args);
		test_host_stop(&h);
	}
}

Test(usdt_provider, a_stash_says_the_same)
{
	char dir[] = "/tmp/weft-usdt-XXXXXX", command[64];
	struct figures first, second;
	const char *const options[] = {"stash", dir, NULL};

	cr_assert(mkdtemp(dir));
	for (int i = 0; i < 2; i++) {
		struct test_host h = {0};

		test_host_start(&h, &weft_provider_plugin, options);
		if (i) /* nothing is read: that would fail now */
			h.host.elf_read = NULL;
		cr_assert_eq(match(&h, "/usr/lib/postgresql/15/bin/postgres", "*", "*"), 0);
		count(&h, i ? &second : &first);
		test_host_stop(&h);
	}
	cr_expect_eq(memcmp(&first, &second, sizeof(first)), 0);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	cr_expect_eq(system(command), 0);
}

Test(usdt_provider, names_of_files)
{
	struct test_host h = {0};

	test_host_start(&h, &weft_provider_plugin, no_stash);
	/* A path, a soname that is not the base name, a base name, a pattern. */
	cr_expect_not_null(test_host_probe(&h, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
					   "libstdcxx", "throw"));
	cr_expect_not_null(test_host_probe(&h, "libstdc++.so.6", "libstdcxx", "throw"));
	cr_expect_not_null(test_host_probe(&h, "php8.2", "php", "request__startup"));
	size_t before = weft_registry_size(h.core);
	cr_expect_eq(match(&h, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6*", "", "th*"), 0);
	cr_expect_gt(weft_registry_size(h.core), before);
	test_host_stop(&h);
}

Test(usdt_provider, nothing_is_created_before_attach)
{
	static char before[8192], after[8192];
	struct test_host h = {0};
	struct weft_probe_info info;

	test_descriptors(before, sizeof(before));
	test_host_start(&h, &weft_provider_plugin, no_stash);
	cr_assert_eq(match(&h, "/usr/lib/postgresql/15/bin/postgres", "*", "*"), 0);
	for (size_t i = 0; i < weft_registry_size(h.core); i++) {
		test_host_info(&h, weft_registry_at(h.core, i), &info);
		cr_expect_not_null(weft_provider_plugin.probe_note(
			h.instance, weft_registry_at(h.core, i), h.with));
	}
	test_descriptors(after, sizeof(after));
	cr_expect_str_eq(after, before);
	test_host_stop(&h);
}

/* ---- what it says ---- */

Test(usdt_provider, USDT_NO_FILE)
{
	struct test_host h = {0};

	test_host_start(&h, &weft_provider_plugin, no_stash);
	cr_expect_null(test_host_probe(&h, "/no/such/file", "a", "b"));
	cr_expect_str_eq(test_host_tag(&h), "USDT_NO_FILE");
	cr_expect_null(test_host_probe(&h, "libnosuch.so.1", "a", "b"));
	cr_expect_str_eq(test_host_tag(&h), "USDT_NO_FILE");
	cr_expect_null(test_host_probe(&h, "/usr", "a", "b"));
	cr_expect_str_eq(test_host_tag(&h), "USDT_NO_FILE", "a folder");
	cr_expect_null(test_host_probe(&h, "/usr/bin/pyhton3.11", "python", "line"));
	cr_expect(strstr(weft_error_text(h.err), "did you mean '/usr/bin/python3.11'?"), "%s",
		  weft_error_text(h.err));
	cr_expect_str_eq(test_host_tag(&h), "USDT_NO_FILE");
	cr_expect_eq(match(&h, "bin/python3.11", "python", "*"), -EINVAL, "never a path");
	cr_expect_str_eq(test_host_tag(&h), "USDT_NO_FILE");
	test_host_stop(&h);
}

Test(usdt_provider, USDT_NO_PROBES)
{
	struct test_host h = {0};

	test_host_start(&h, &weft_provider_plugin, no_stash);
	cr_expect_null(test_host_probe(&h, "/usr/bin/env", "a", "b"));
	cr_expect_str_eq(test_host_tag(&h), "USDT_NO_PROBES");
	cr_expect_null(test_host_probe(&h, "/etc/passwd", "a", "b"));
	cr_expect_str_eq(test_host_tag(&h), "USDT_NO_PROBES");
	cr_expect_eq(match(&h, "/usr/bin/env", "*", "*"), -EINVAL, "there is nothing to wait for");
	cr_expect_str_eq(test_host_tag(&h), "USDT_NO_PROBES");
	cr_expect_eq(match(&h, "/usr/bin/un*", "*", "*"), -ENOENT, "others may appear");
	cr_expect(strstr(weft_error_text(h.err), "files that '/usr/bin/un*' means"), "%s",
		  weft_error_text(h.err));
	cr_expect_str_eq(test_host_tag(&h), "USDT_NO_PROBES");
	test_host_stop(&h);
}

Test(usdt_provider, USDT_NO_PROBE)
{
	struct test_host h = {0};

	test_host_start(&h, &weft_provider_plugin, no_stash);
	cr_expect_null(test_host_probe(&h, "libstdc++.so.6", "libstdcxx", "thrwo"));
	cr_expect(strstr(weft_error_text(h.err), "did you mean the probe 'throw'?"), "%s",
		  weft_error_text(h.err));
	cr_expect_str_eq(test_host_tag(&h), "USDT_NO_PROBE");
	cr_expect_null(test_host_probe(&h, "libstdc++.so.6", "libstdcx", "throw"));
	cr_expect(strstr(weft_error_text(h.err), "did you mean the provider 'libstdcxx'?"));
	cr_expect_str_eq(test_host_tag(&h), "USDT_NO_PROBE");
	cr_expect_null(test_host_probe(&h, "libstdc++.so.6", "", "throw"));
	cr_expect_str_eq(test_host_tag(&h), "USDT_NO_PROBE");
	test_host_stop(&h);
}

/* A copy of a file, to be changed. */
static void copy(const char *from, char to[32])
{
	char command[256];

	strcpy(to, "/tmp/weft-usdt-XXXXXX");
	close(mkstemp(to));
	snprintf(command, sizeof(command), "cp %s %s", from, to);
	cr_assert_eq(system(command), 0);
}

static int attach(struct test_host *h, const struct weft_probe *probe)
{
	const struct weft_load_class load = {
		.struct_size = sizeof(load),
		.prog_type = 2, /* KPROBE */
		.expected_attach_type = 48,
		.flags = WEFT_LOAD_COOKIE,
		.ctx_kind = WEFT_CTX_REGS,
	};
	struct weft_probe_info info;
	struct test_attached at;
	int prog, ret;

	test_host_info(h, probe, &info);
	prog = h->host.trial_program(&h->host, info.load.expected_attach_type ? &load : &info.load,
				     h->err);
	cr_assert_geq(prog, 0, "%s", weft_error_text(h->err));
	ret = test_host_attach(h, probe, prog, 0, &at);
	if (!ret)
		test_host_detach(h, &at);
	close(prog);
	return ret;
}

Test(usdt_provider, USDT_REPLACED)
{
	struct test_host h = {0};
	const struct weft_probe *probe;
	char path[32];

	copy(USDT_SHARED, path);
	test_host_start(&h, &weft_provider_plugin, no_stash);
	probe = test_host_probe(&h, path, "shop", "one");
	cr_assert_not_null(probe);
	cr_expect_eq(attach(&h, probe), 0, "%s", weft_error_text(h.err));
	cr_assert_eq(unlink(path), 0);
	cr_expect_lt(attach(&h, probe), 0);
	cr_expect_str_eq(test_host_tag(&h), "USDT_REPLACED");
	close(open(path, O_CREAT | O_WRONLY, 0600));
	cr_expect_lt(attach(&h, probe), 0);
	cr_expect_str_eq(test_host_tag(&h), "USDT_REPLACED");
	unlink(path);
	test_host_stop(&h);
}

/* The places of a note's three addresses in a file. */
static void find_note(const char *path, const char *name, long out[3])
{
	static char bytes[1 << 20];
	FILE *f = fopen(path, "r");
	size_t n = fread(bytes, 1, sizeof(bytes), f);
	char wanted[64];
	size_t k = (size_t)snprintf(wanted, sizeof(wanted), "shop%c%s", 0, name) + 1;

	fclose(f);
	out[0] = -1;
	for (size_t i = 24; i + k < n; i++)
		if (!memcmp(bytes + i, wanted, k))
			for (int w = 0; w < 3; w++)
				out[w] = (long)i - 24 + 8 * w;
	cr_assert_geq(out[0], 0);
}

static void write_word(const char *path, long at, uint64_t word)
{
	int fd = open(path, O_WRONLY);

	cr_assert_eq(pwrite(fd, &word, sizeof(word), at), sizeof(word));
	close(fd);
}

static uint64_t read_word(const char *path, long at)
{
	int fd = open(path, O_RDONLY);
	uint64_t word;

	cr_assert_eq(pread(fd, &word, sizeof(word), at), sizeof(word));
	close(fd);
	return word;
}

/* Two notes of one place, with different semaphores; and one whose semaphore is nowhere. */
Test(usdt_provider, USDT_SEMAPHORE)
{
	struct test_host h = {0};
	long one[3], both[3];
	const struct weft_probe *probe;
	char path[32];

	copy(USDT_SHARED, path);
	find_note(path, "guarded", both);
	find_note(path, "one", one);
	write_word(path, one[0], read_word(path, both[0]));
	write_word(path, one[2], read_word(path, both[2]) + 2);
	test_host_start(&h, &weft_provider_plugin, no_stash);
	probe = test_host_probe(&h, path, "shop", "guarded");
	cr_assert_not_null(probe);
	struct weft_probe_info info;
	struct test_attached at;
	test_host_info(&h, probe, &info);
	int prog = h.host.trial_program(&h.host, &info.load, h.err);
	cr_assert_geq(prog, 0);
	cr_assert_eq(test_host_attach(&h, probe, prog, 0, &at), 0);
	cr_expect_lt(attach(&h, test_host_probe(&h, path, "shop", "one")), 0);
	cr_expect_str_eq(test_host_tag(&h), "USDT_SEMAPHORE");
	test_host_detach(&h, &at);
	close(prog);
	test_host_stop(&h);

	write_word(path, one[2], UINT64_C(0x7ffffff0));
	memset(&h, 0, sizeof(h));
	test_host_start(&h, &weft_provider_plugin, no_stash);
	probe = test_host_probe(&h, path, "shop", "one");
	cr_assert_not_null(probe);
	cr_expect_lt(attach(&h, probe), 0);
	cr_expect_str_eq(test_host_tag(&h), "USDT_SEMAPHORE");
	test_host_stop(&h);
	unlink(path);
}

/* Notes that make no sense cost themselves. */
Test(usdt_provider, broken_notes)
{
	uint32_t random = 99;

	for (int round = 0; round < 60; round++) {
		struct test_host h = {0};
		struct weft_probe_info info;
		long at[3];
		char path[32];

		copy(USDT_SHARED, path);
		find_note(path, "twelve", at);
		for (int k = 0; k < 1 + round % 8; k++) {
			random = random * 1664525 + 1013904223;
			/* Around the note: addresses, sizes, texts of this one and its neighbours. */
			int fd = open(path, O_WRONLY);
			unsigned char byte = (unsigned char)(random >> 24);
			cr_assert_eq(pwrite(fd, &byte, 1, at[0] - 200 + (random >> 8) % 500), 1);
			close(fd);
		}
		test_host_start(&h, &weft_provider_plugin, no_stash);
		match(&h, path, "*", "*");
		for (size_t i = 0; i < weft_registry_size(h.core); i++)
			test_host_info(&h, weft_registry_at(h.core, i), &info);
		test_host_stop(&h);
		unlink(path);
	}
}

/* A file that cannot be read costs its own probes, and is counted. */
Test(usdt_provider, USDT_FILE_LOST)
{
	struct test_host h = {0};
	char path[32], pattern[40];

	copy(USDT_SHARED, path);
	write_word(path, 32, UINT64_C(0x7fffffffffff)); /* e_phoff */
	test_host_start(&h, &weft_provider_plugin, no_stash);
	snprintf(pattern, sizeof(pattern), "%s*", path);
	cr_expect_lt(match(&h, pattern, "*", "*"), 0);
	cr_expect_eq(h.lost, 1, "%u: %s", (unsigned)h.lost, weft_error_text(h.err));
	/* Named, it is an error. */
	test_host_tag(&h);
	cr_expect_null(test_host_probe(&h, path, "shop", "one"));
	cr_expect_str_eq(test_host_tag(&h), "USDT_FILE_LOST");
	test_host_stop(&h);
	unlink(path);
}

/* A file that appears while its probes are enabled already, with arguments elsewhere, and a core
 * that makes no program for them. */
Test(usdt_provider, USDT_SITES_LOST)
{
	struct test_host h = {0};
	struct weft_probe_info info;
	struct test_attached at;
	char path[32];
	const char *base;

	copy(USDT_SHARED, path);
	base = strrchr(path, '/') + 1;
	test_host_start(&h, &weft_provider_plugin, no_stash);
	setenv("PATH", "/tmp", 1);
	chmod(path, 0755);
	const struct weft_probe *probe = test_host_probe(&h, base, "shop", "twelve");
	cr_assert_not_null(probe, "%s", weft_error_text(h.err));
	test_host_info(&h, probe, &info);
	int prog = h.host.trial_program(&h.host, &info.load, h.err);
	cr_assert_geq(weft_provider_plugin.discover_fd(h.instance), 0);
	cr_assert_eq(test_host_attach(&h, probe, prog, 0, &at), 0);
	cr_assert_not_null(h.watch);

	char other[64], command[256];
	snprintf(command, sizeof(command), "mkdir %s.d && cp %s %s.d/%s", path, USDT_OTHER, path,
		 base);
	setenv("PATH", "/bin:/usr/bin", 1);
	cr_assert_eq(system(command), 0);
	snprintf(other, sizeof(other), "%s.d/%s", path, base);
	const struct weft_process_event ev = {.struct_size = sizeof(ev),
					      .kind = WEFT_PROCESS_MMAP,
					      .pid = 1 << 29,
					      .inode = 77,
					      .text = other};
	test_host_event(&h, &ev);
	cr_assert_eq(weft_provider_plugin.discover(h.instance, h.registry, h.err), 0);
	cr_expect_eq(h.lost, 0);
	bool revived;
	cr_expect_eq(weft_registry_next_changed(h.core, &revived), probe);
	cr_expect_null(weft_registry_next_changed(h.core, &revived));
	test_host_info(&h, probe, &info);
	cr_expect_eq(info.n_layouts, 2);
	test_host_detach(&h, &at);
	cr_expect_eq(h.lost, 1);
	close(prog);
	test_host_stop(&h);
	snprintf(command, sizeof(command), "rm -r %s %s.d", path, path);
	cr_expect_eq(system(command), 0);
}

/* Mapped after the first look, and before anybody watched. */
Test(usdt_provider, what_comes_between_looking_and_watching)
{
	struct test_host h = {0};
	char *const argv[] = {"sleep", "60", NULL}, *const env[] = {"LD_PRELOAD=" USDT_LOADED, NULL};

	test_host_start(&h, &weft_provider_plugin, no_stash);
	cr_assert_geq(weft_provider_plugin.discover_fd(h.instance), 0);
	cr_expect_lt(match(&h, "libusdt-loaded.s?", "lib", "*"), 0, "nobody has it yet");
	cr_assert_eq(weft_registry_size(h.core), 0);
	pid_t child = fork();
	if (child == 0) {
		execve("/bin/sleep", argv, env);
		_exit(1);
	}
	for (int i = 0; i < 400 && weft_registry_size(h.core) == 0; i++) {
		usleep(25000);
		((struct weft_instance *)h.instance)->look_again = true; /* the child may be slow */
		cr_assert_eq(weft_provider_plugin.discover(h.instance, h.registry, h.err), 0);
	}
	cr_expect_eq(weft_registry_size(h.core), 2);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	test_host_stop(&h);
}
