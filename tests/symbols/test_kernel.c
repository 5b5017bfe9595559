/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/symbols/kallsyms.h"
#include "symbols/support.h"

TestSuite(kernel, .fini = remove_temporary);

/* ---- the kernel at hand, against a reader that is as simple as can be ---- */

struct symbol {
	uint64_t address;
	bool global;
	char name[512];
};

static size_t read_all(struct symbol **out, uint64_t *stext, uint64_t *etext)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	size_t n = 0, cap = 0;
	char line[1024], type;
	struct symbol s, *all = NULL;

	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (strchr(line, '[') ||
		    sscanf(line, "%" SCNx64 " %c %511s", &s.address, &type, s.name) != 3)
			continue;
		if (strcmp(s.name, "_stext") == 0)
			*stext = s.address;
		if (strcmp(s.name, "_etext") == 0)
			*etext = s.address;
		s.global = type != 't';
		if (!strchr("tTwW", type))
			continue;
		if (n == cap) {
			cap = cap ? cap * 2 : 1024;
			all = realloc(all, cap * sizeof(*all));
		}
		all[n++] = s;
	}
	fclose(f);
	*out = all;
	return n;
}

static const struct symbol *truth(const struct symbol *all, size_t n, uint64_t address)
{
	const struct symbol *best = NULL;

	for (size_t i = 0; i < n; i++) {
		if (all[i].address > address || strcmp(all[i].name, "_etext") == 0)
			continue;
		if (!best || all[i].address > best->address ||
		    (all[i].address == best->address &&
		     weft_symbol_better(all[i].name, all[i].global, best->name, best->global)))
			best = &all[i];
	}
	return best;
}

Test(kernel, a_thousand_addresses_against_kallsyms)
{
	struct weft_symbols *s = weft_symbols_create();
	struct weft_symbols_stats stats;
	uint64_t stext = 0, etext = 0;
	struct symbol *all;
	struct weft_frame f;
	size_t n = read_all(&all, &stext, &etext);

	cr_assert(n > 1000 && stext && etext, "run as root");
	srand(5);
	for (int i = 0; i < 1000; i++) {
		/* half of them anywhere, half at the bounds of symbols */
		uint64_t address = i % 2 ? stext + ((uint64_t)rand() << 16 ^ (uint64_t)rand()) %
							   (etext - stext)
					 : all[(size_t)rand() % n].address - (uint64_t)(i / 2 % 2);
		const struct symbol *want = truth(all, n, address);

		weft_symbols_kernel(s, address, false, &f);
		if (address < stext || address >= etext) {
			cr_expect_null(f.symbol, "%" PRIx64 " is %s", address, f.symbol);
			continue;
		}
		cr_expect(f.symbol && strcmp(f.symbol, want->name) == 0, "%" PRIx64 ": %s, not %s",
			  address, f.symbol ? f.symbol : "-", want->name);
		cr_expect_eq(f.offset, address - want->address);
		cr_expect_str_eq(f.module, "vmlinux");
		cr_expect_not(f.user);
	}
	weft_symbols_stats(s, &stats);
	cr_expect_not(stats.kernel_hidden);
	/* the budget of the whole tool is 8 MB */
	cr_expect_lt(stats.kernel_bytes / n, 24u, "%zu bytes for %zu symbols", stats.kernel_bytes,
		     n);
	free(all);
	weft_symbols_destroy(s);
}

Test(kernel, user_addresses_and_nothing_are_no_symbols)
{
	struct weft_symbols *s = weft_symbols_create();
	static const uint64_t addresses[] = {0, 1, 0x400000, 0x7fffffffffff, UINT64_MAX};
	struct weft_frame f;

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		weft_symbols_kernel(s, addresses[i], i % 2, &f);
		cr_expect_null(f.symbol);
		cr_expect_null(f.module);
		cr_expect_eq(f.address, addresses[i]);
	}
	weft_symbols_destroy(s);
}

Test(kernel, a_return_address_at_the_end_is_the_callers)
{
	struct weft_symbols *s = weft_symbols_create();
	struct weft_frame f;
	uint64_t stext = 0, etext = 0;
	struct symbol *all;
	size_t n = read_all(&all, &stext, &etext), i = n / 2;
	const struct symbol *before;

	while (all[i].address == all[i - 1].address)
		i++;
	before = truth(all, n, all[i].address - 1);
	weft_symbols_kernel(s, all[i].address, true, &f);
	cr_expect_str_eq(f.symbol, before->name);
	cr_expect_eq(f.offset, all[i].address - before->address);
	free(all);
	weft_symbols_destroy(s);
}

/* ---- files that this kernel does not have ---- */

static void load(struct weft_kallsyms *k, struct weft_texts *texts, const char *text, int want)
{
	char path[PATH_MAX];
	FILE *f;

	temporary_path("kallsyms", path);
	f = fopen(path, "w");
	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
	cr_assert_eq(weft_kallsyms_load(k, path, texts), want);
}

static void expect(const struct weft_kallsyms *k, struct weft_texts *texts, uint64_t address,
		   const char *name, uint64_t offset, const char *module)
{
	const char *got_module = NULL;
	uint64_t start = 0;
	const char *got = weft_kallsyms_find(k, address, texts, &start, &got_module);

	if (!name) {
		cr_expect_null(got, "%" PRIx64 " is %s", address, got);
		return;
	}
	cr_assert(got && strcmp(got, name) == 0, "%" PRIx64 " is %s, not %s", address,
		  got ? got : "-", name);
	cr_expect_eq(address - start, offset);
	cr_expect_str_eq(got_module, module);
}

Test(kernel, modules_programs_and_odd_lines)
{
	struct weft_texts texts = {0};
	struct weft_kallsyms k;

	load(&k, &texts,
	     "0000000000000000 A fixed_percpu_data\n"
	     "ffffffff81000000 t before_text\n"
	     "ffffffff81000010 T _stext\n"
	     "ffffffff81000010 T __pi_first\n"
	     "ffffffff81000010 t a\n"
	     "ffffffff81000010 T first\n"
	     "ffffffff81000010 T first_of_all\n"
	     "ffffffff81000020 T __pfx_second\n"
	     "ffffffff81000030 T second\n"
	     "ffffffff81000040 t __pfx_not_followed\n"
	     "ffffffff81000050 t $x.5\n"
	     "ffffffff81000060 d data\n"
	     "ffffffff81000070 W weak\n"
	     "ffffffff81000090 T _etext\n"
	     "ffffffff81800000 T start_up\n"
	     "\n"
	     "no line of ours\n"
	     "ffffffffc0300000 t late\t[zfs]\n"
	     "ffffffffc0100000 t ext4_a\t[ext4]\n"
	     "ffffffffc0100000 T ext4_alias\t[ext4]\n"
	     "ffffffffc0100100 T ext4_b\t[ext4]\n"
	     "ffffffffc0200000 t bpf_prog_6deef7357e7b4530\t[bpf]\n"
	     "ffffffffc0201000 t ftrace_trampoline\t[__builtin__ftrace]\n"
	     "ffffffffc0400000 t last\t[odd",
	     0);
	cr_expect_not(k.hidden);
	expect(&k, &texts, 0, NULL, 0, NULL);
	expect(&k, &texts, 0xffffffff81000000, NULL, 0, NULL); /* before _stext */
	expect(&k, &texts, 0xffffffff81000010, "first", 0, "vmlinux");
	expect(&k, &texts, 0xffffffff8100001f, "first", 15, "vmlinux");
	expect(&k, &texts, 0xffffffff81000020, "__pfx_second", 0, "vmlinux");
	expect(&k, &texts, 0xffffffff81000030, "second", 0, "vmlinux");
	expect(&k, &texts, 0xffffffff8100006f, "__pfx_not_followed", 0x2f, "vmlinux");
	expect(&k, &texts, 0xffffffff81000070, "weak", 0, "vmlinux");
	expect(&k, &texts, 0xffffffff8100008f, "weak", 0x1f, "vmlinux");
	expect(&k, &texts, 0xffffffff81000090, NULL, 0, NULL);
	expect(&k, &texts, 0xffffffff81800000, NULL, 0, NULL);
	expect(&k, &texts, 0xffffffffc00fffff, NULL, 0, NULL);
	expect(&k, &texts, 0xffffffffc0100004, "ext4_alias", 4, "ext4");
	expect(&k, &texts, 0xffffffffc0100100, "ext4_b", 0, "ext4");
	expect(&k, &texts, 0xffffffffc01100ff, "ext4_b", 0xffff, "ext4");
	expect(&k, &texts, 0xffffffffc0110100, NULL, 0, NULL); /* far behind the module's last */
	expect(&k, &texts, 0xffffffffc0200010, "bpf_prog_6deef7357e7b4530", 16, "[bpf]");
	expect(&k, &texts, 0xffffffffc0201000, "ftrace_trampoline", 0, "[__builtin__ftrace]");
	expect(&k, &texts, 0xffffffffc0300001, "late", 1, "zfs");
	weft_kallsyms_finish(&k);
	weft_texts_finish(&texts);
}

Test(kernel, symbols_out_of_order_and_lines_without_end)
{
	struct weft_texts texts = {0};
	struct weft_kallsyms k;
	char *text = malloc(100000), *p = text;

	p += sprintf(
		p,
		"ffffffff81000000 T a\nffffffff81002000 T c\nffffffff81001000 T b\nffffffff81003000 T ");
	memset(p, 'x', 50000);
	p += 50000;
	strcpy(p, "\nffffffff81004000 T d\n");
	load(&k, &texts, text, 0);
	expect(&k, &texts, 0xffffffff81001800, "b", 0x800, "vmlinux");
	expect(&k, &texts, 0xffffffff81000800, "a", 0x800, "vmlinux");
	weft_kallsyms_finish(&k);
	weft_texts_finish(&texts);
	free(text);
}

/* More than one block of the packed table, with names that compress in every way. */
Test(kernel, blocks)
{
	enum { N = 1000 };
	struct weft_texts texts = {0};
	struct weft_kallsyms k;
	char *text = malloc(N * 64), *p = text, name[32];
	uint64_t address = 0xffffffff81000000;

	for (int i = 0; i < N; i++, address += (uint64_t)(i % 7 + 1) * 0x13)
		p += sprintf(p, "%" PRIx64 " T %sf%d\n", address, i % 3 == 0 ? "__pfx_" : "",
			     i % 3 == 0 ? i + 1 : i);
	load(&k, &texts, text, 0);
	cr_expect_eq(k.n, (uint32_t)N);
	address = 0xffffffff81000000;
	for (int i = 0; i < N; i++, address += (uint64_t)(i % 7 + 1) * 0x13) {
		snprintf(name, sizeof(name), "%sf%d", i % 3 == 0 ? "__pfx_" : "",
			 i % 3 == 0 ? i + 1 : i);
		expect(&k, &texts, address, name, 0, "vmlinux");
		expect(&k, &texts, address + 0x12, name, 0x12, "vmlinux");
	}
	weft_kallsyms_finish(&k);
	weft_texts_finish(&texts);
	free(text);
}

Test(kernel, hidden_addresses_are_said)
{
	struct weft_texts texts = {0};
	struct weft_kallsyms k;

	load(&k, &texts,
	     "0000000000000000 T _stext\n0000000000000000 T vfs_read\n0000000000000000 T _etext\n",
	     0);
	cr_expect(k.hidden);
	expect(&k, &texts, 0, NULL, 0, NULL);
	expect(&k, &texts, 0xffffffff81000000, NULL, 0, NULL);
	weft_kallsyms_finish(&k);
	load(&k, &texts, "", 0);
	cr_expect_not(k.hidden);
	expect(&k, &texts, 0xffffffff81000000, NULL, 0, NULL);
	weft_kallsyms_finish(&k);
	cr_expect_eq(weft_kallsyms_load(&k, "/nonexistent", &texts), -ENOENT);
	weft_kallsyms_finish(&k);
	weft_texts_finish(&texts);
}

Test(kernel, the_better_name)
{
	cr_expect(weft_symbol_better("read", true, "__read", true));
	cr_expect(weft_symbol_better("__read", true, "read", false));
	cr_expect(weft_symbol_better("a", false, "bb", false));
	cr_expect(weft_symbol_better("ab", false, "bb", false));
	cr_expect_not(weft_symbol_better("x", true, "x", true));
}
