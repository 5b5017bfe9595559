/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names: what is found under which, what each error says, and which tag it has. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/test_host.h"
#include "uprobe.h"

#define PIE UPROBE_PROGRAM_DIR "/pie-O2"
#define ODD UPROBE_PROGRAM_DIR "/odd"

extern const struct weft_provider weft_provider_plugin;

static void start(struct test_host *h)
{
	memset(h, 0, sizeof(*h));
	test_host_start(h, &weft_provider_plugin, NULL);
}

static struct weft_uprobe_probe *found(struct test_host *h, const char *module,
				       const char *function, const char *name)
{
	const struct weft_probe *p = test_host_probe(h, module, function, name);

	cr_assert_not_null(p, "%s:%s:%s: %s", module, function, name, weft_error_text(h->err));
	return (struct weft_uprobe_probe *)(uintptr_t)weft_probe_data(p);
}

static void refused(const char *module, const char *function, const char *name, const char *tag,
		    const char *text)
{
	struct test_host h;

	start(&h);
	cr_expect_null(test_host_probe(&h, module, function, name));
	cr_expect_not_null(strstr(weft_error_text(h.err), text), "'%s' in '%s'", text,
			   weft_error_text(h.err));
	cr_expect_str_eq(test_host_tag(&h), tag);
	test_host_stop(&h);
}

Test(names, UPROBE_MODULE_EMPTY)
{
	refused("", "main", "entry", "UPROBE_MODULE_EMPTY", "needs a module");
}

Test(names, UPROBE_NO_FILE)
{
	refused("libnothing.so.77", "main", "entry", "UPROBE_NO_FILE", "libnothing.so.77");
	refused("/nowhere/at/all", "main", "entry", "UPROBE_NO_FILE", "there is no file");
	refused("/tmp", "main", "entry", "UPROBE_NO_FILE", "no regular file");
}

Test(names, UPROBE_NO_FUNCTION)
{
	refused(PIE, "eigth", "entry", "UPROBE_NO_FUNCTION", "did you mean 'eight'?");
	refused(PIE, "eight@V1", "entry", "UPROBE_NO_FUNCTION", "no function 'eight@V1'");
	refused(UPROBE_PROGRAM_DIR "/ten-thousand", "t10000", "entry", "UPROBE_NO_FUNCTION", "t1");
}

Test(names, UPROBE_NAME)
{
	refused(PIE, "eight", "entrie", "UPROBE_NAME", "did you mean 'entry'?");
	refused(PIE, "eight", "+16", "UPROBE_NAME", "+0xOFFSET");
	refused(PIE, "eight", "+0x", "UPROBE_NAME", "+0xOFFSET");
	refused(PIE, "eight", "+0x-1", "UPROBE_NAME", "+0xOFFSET");
	refused(PIE, "", "entry", "UPROBE_NAME", "function's entry");
}

Test(names, UPROBE_OFFSET)
{
	refused(ODD, "vector_first", "+0x1", "UPROBE_OFFSET", "no instruction of vector_first");
	refused(ODD, "vector_first", "+0x400", "UPROBE_OFFSET", "has 0x9 bytes");
	refused(ODD, "vector_first", "+0xffffffffffff", "UPROBE_OFFSET", "there is no");
}

Test(names, UPROBE_INSTRUCTION)
{
	refused(ODD, "vector_first", "+0x0", "UPROBE_INSTRUCTION", "takes this instruction for");
	refused(ODD, "locked_only", "+0x0", "UPROBE_INSTRUCTION", "puts no probe on");
}

Test(names, UPROBE_ADDRESS)
{
	refused(PIE, "0x7fffffff", "entry", "UPROBE_ADDRESS", "no code at the address");
	refused(PIE, "0x0", "entry", "UPROBE_ADDRESS", "no code at the address 0x0");
}

Test(names, UPROBE_RETURN_BREAKS)
{
	refused(PIE, "_start", "return", "UPROBE_RETURN_BREAKS", "would break the program");
	refused("libc.so.6", "setjmp", "return", "UPROBE_RETURN_BREAKS", "returns more than once");
	refused("libc.so.6", "vfork", "return", "UPROBE_RETURN_BREAKS", "returns more than once");
}

Test(names, UPROBE_GO_RETURN)
{
	refused(UPROBE_PROGRAM_DIR "/like-go", "never", "return", "UPROBE_GO_RETURN",
		"the function never returns");
	refused(UPROBE_PROGRAM_DIR "/like-go", "leaves", "return", "UPROBE_GO_RETURN",
		"the function ends by jumping to another");
	refused(UPROBE_PROGRAM_DIR "/like-go", "chooses", "return", "UPROBE_GO_RETURN",
		"the function has jumps that may leave it");
	refused(UPROBE_PROGRAM_DIR "/like-go", "_start", "return", "UPROBE_GO_RETURN",
		"a Go program");
}

/* Its entries are fine, but where arguments are is not known. */
Test(names, arguments_of_go)
{
	struct weft_probe_info info;
	struct test_host h;

	start(&h);
	const struct weft_probe *p =
		test_host_probe(&h, UPROBE_PROGRAM_DIR "/like-go", "main", "entry");
	cr_assert_not_null(p, "%s", weft_error_text(h.err));
	test_host_info(&h, p, &info);
	cr_expect_eq(info.args[0].where.n_ops, 0);
	cr_expect_not_null(strstr(info.args[0].unreadable, "Go"));
	test_host_stop(&h);
}

Test(names, UPROBE_MACHINE)
{
	refused(UPROBE_PROGRAM_DIR "/foreign", "main", "entry", "UPROBE_MACHINE",
		"for another machine");
}

Test(names, UPROBE_SCRIPT)
{
	char path[] = "/tmp/weft-script-XXXXXX";
	int fd = mkstemp(path);

	cr_assert(fd >= 0 && write(fd, "#! /usr/bin/env python3\nx\n", 26) == 26);
	close(fd);
	refused(path, "main", "entry", "UPROBE_SCRIPT", "which '/usr/bin/env python3' runs");
	unlink(path);
}

Test(names, not_an_elf_file)
{
	struct test_host h;

	start(&h);
	cr_expect_null(test_host_probe(&h, "/etc/passwd", "main", "entry"));
	cr_expect_eq(strncmp(test_host_tag(&h), "ELF_", 4), 0);
	test_host_stop(&h);
}

Test(names, UPROBE_MODULE_GLOB)
{
	static const struct weft_probe_desc any = {.struct_size = sizeof(any),
						   .provider = "uprobe",
						   .module = "lib*",
						   .function = "main",
						   .name = "entry"};
	struct test_host h;

	start(&h);
	cr_expect_neq(weft_provider_plugin.populate_match(h.instance, h.registry, &any, h.err), 0);
	cr_expect_str_eq(test_host_tag(&h), "UPROBE_MODULE_GLOB");
	test_host_stop(&h);
}

/* Aliases are one function: each address once, under the name that its author would say. */
Test(names, a_pattern_names_each_function_once)
{
	static const struct weft_probe_desc pattern = {.struct_size = sizeof(pattern),
						       .provider = "uprobe",
						       .module = "libc.so.6",
						       .function = "*malloc",
						       .name = "entry"};
	struct test_host h;

	start(&h);
	cr_assert_eq(weft_provider_plugin.populate_match(h.instance, h.registry, &pattern, h.err),
		     0, "%s", weft_error_text(h.err));
	size_t n = weft_registry_size(h.core);
	bool has = false;
	for (size_t i = 0; i < n; i++) {
		const struct weft_uprobe_probe *a =
			(void *)(uintptr_t)weft_probe_data(weft_registry_at(h.core, i));
		struct weft_probe_desc d = {.struct_size = sizeof(d)};

		weft_probe_desc(weft_registry_at(h.core, i), &d);
		has |= !strcmp(d.function, "malloc");
		cr_expect_str_neq(d.function, "__libc_malloc");
		for (size_t k = 0; k < i; k++) {
			const struct weft_uprobe_probe *b =
				(void *)(uintptr_t)weft_probe_data(weft_registry_at(h.core, k));
			cr_expect_neq(a->sites[0].address, b->sites[0].address);
		}
	}
	cr_expect(has);
	test_host_stop(&h);
}

Test(names, versions)
{
	struct test_host h;

	start(&h);
	struct weft_uprobe_probe *plain = found(&h, "libc.so.6", "pthread_cond_signal", "entry");
	struct weft_uprobe_probe *one =
		found(&h, "libc.so.6", "pthread_cond_signal@GLIBC_2.3.2", "entry");
	struct weft_uprobe_probe *other =
		found(&h, "libc.so.6", "pthread_cond_signal@@GLIBC_2.2.5", "entry");

	cr_expect_eq(plain->n_sites, 2);
	cr_assert_eq(one->n_sites, 1);
	cr_assert_eq(other->n_sites, 1);
	cr_expect_neq(one->sites[0].address, other->sites[0].address);
	test_host_stop(&h);
}

/* What this machine's processes run, which this process can ask. */
Test(names, indirect_functions)
{
	struct test_host h;
	char at[64];

	start(&h);
	struct weft_uprobe_probe *body = found(&h, "libc.so.6", "strlen", "entry");
	cr_assert_eq(body->n_sites, 1);
	const struct weft_uprobe_file *f = body->sites[0].file;
	const struct weft_elf_symbol *s = NULL;
	for (uint32_t i = 0; i < f->elf->n_symbols; i++)
		if (!strcmp(weft_elf_symbol_at(f->elf, i)->name, "strlen"))
			s = weft_elf_symbol_at(f->elf, i);
	cr_assert_not_null(s);
	cr_expect_eq(s->type, 10);
	cr_expect_neq(s->address, body->sites[0].address);
	snprintf(at, sizeof(at), "strlen@0x%lx", (unsigned long)s->address);
	struct weft_uprobe_probe *chooser = found(&h, "libc.so.6", at, "entry");
	cr_assert_eq(chooser->n_sites, 1);
	cr_expect_eq(chooser->sites[0].address, s->address);
	test_host_stop(&h);
}

Test(names, UPROBE_IFUNC)
{
	refused(UPROBE_PROGRAM_DIR "/ifunc", "chosen", "entry", "UPROBE_IFUNC",
		"'chosen@0xADDRESS'");
	struct test_host h;

	/* Where the bodies bear its name, they are meant. */
	start(&h);
	struct weft_uprobe_probe *p = found(&h, UPROBE_PROGRAM_DIR "/ifunc", "varied", "entry");
	cr_expect_eq(p->n_sites, 2);
	test_host_stop(&h);
}

Test(names, a_pattern_of_nothing)
{
	static const struct weft_probe_desc pattern = {.struct_size = sizeof(pattern),
						       .provider = "uprobe",
						       .module = PIE,
						       .function = "nothing*",
						       .name = ""};
	struct test_host h;

	start(&h);
	cr_expect_eq(weft_provider_plugin.populate_match(h.instance, h.registry, &pattern, h.err),
		     -EINVAL);
	cr_expect_not_null(strstr(weft_error_text(h.err), "matches 'nothing*'"));
	cr_expect_str_eq(test_host_tag(&h), "UPROBE_NO_FUNCTION");
	test_host_stop(&h);
}

Test(names, parts_of_functions_are_none)
{
	static const struct weft_probe_desc pattern = {.struct_size = sizeof(pattern),
						       .provider = "uprobe",
						       .module = UPROBE_PROGRAM_DIR "/many-O2",
						       .function = "f*.cold*",
						       .name = "entry"};
	struct test_host h;

	start(&h);
	weft_provider_plugin.populate_match(h.instance, h.registry, &pattern, h.err);
	cr_expect_eq(weft_registry_size(h.core), 0);
	test_host_stop(&h);
}

Test(names, a_note_for_each_probe)
{
	struct test_host h;

	start(&h);
	const struct weft_probe *p = test_host_probe(&h, ODD, "overwrites", "entry");
	const char *note = weft_provider_plugin.probe_note(h.instance, p, h.with);
	cr_expect_not_null(strstr(note, "placement cheap, +0x2"), "%s", note);
	cr_expect_not_null(strstr(note, "exact for clauses that use regs, arg0"), "%s", note);
	p = test_host_probe(&h, ODD, "loops_back", "entry");
	note = weft_provider_plugin.probe_note(h.instance, p, h.with);
	cr_expect_not_null(strstr(note, "placement exact: the function jumps back"), "%s", note);
	p = test_host_probe(&h, ODD, "entered_twice", "entry");
	note = weft_provider_plugin.probe_note(h.instance, p, h.with);
	cr_expect_not_null(strstr(note, "placement exact: code elsewhere"), "%s", note);
	test_host_stop(&h);
}
