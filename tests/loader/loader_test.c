/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Each situation that a plugin can be in, by the fixture plugins that are built for it. */
#include "support.h"

#include <dlfcn.h>
#include <sys/wait.h>

#define SITUATION(name) FIXTURE_DIR "/" name

/* ---- usable ---- */

Test(loader, good_plugin_has_everything)
{
	struct weft_loader *loader = load_dir(SITUATION("good"));
	const struct weft_loader_entry *e = weft_loader_entry(loader, 0);

	cr_assert_eq(weft_loader_count(loader), 1);
	cr_assert_eq(e->state, WEFT_LOADER_USABLE, "%s: %s", e->tag, e->text);
	cr_expect_str_eq(e->path, GOOD);
	cr_expect_str_eq(e->name, "fixture");
	cr_expect_eq(e->abi_version, WEFT_ABI_CURRENT);
	cr_expect_null(e->tag);
	cr_expect_null(e->text);
	cr_expect_null(e->error);
	cr_expect(e->handle);
	cr_expect_str_eq(e->provider->name, "fixture");
	cr_expect_str_eq(e->provider->summary, "probes of nothing\\x0a, for tests");
	cr_expect_str_eq(e->provider->options[0]->name, "rate");
	cr_expect_eq(e->provider->struct_size, sizeof(struct weft_provider));
	cr_expect_eq(weft_loader_find(loader, "fixture"), e);
	cr_expect_null(weft_loader_find(loader, "fixtures"));
	cr_expect_null(weft_loader_entry(loader, 1));
	weft_loader_destroy(loader);
}

Test(loader, other_forms_of_a_good_plugin)
{
	expect_usable(SITUATION("data"), "fixture");
	expect_usable(SITUATION("exported-name"), "exported");
	expect_usable(SITUATION("name-longest"), "a2345678901234567890123456789012");
#ifdef WEFT_LINKS_RELR
	expect_usable(SITUATION("relr"), "fixture");
#endif
}

Test(loader, longer_struct_with_zero_tail_is_usable)
{
	expect_usable(SITUATION("long-zero"), "fixture");
}

Test(loader, members_that_a_struct_does_not_reach_are_zero)
{
	struct weft_loader *loader = load_dir(SITUATION("least"));
	const struct weft_loader_entry *e = weft_loader_find(loader, "fixture");

	cr_assert(e);
	cr_expect(e->provider->detach);
	cr_expect(!e->provider->discover_fd);
	cr_expect(!e->provider->discover);
	cr_expect(!e->provider->describe);
	weft_loader_destroy(loader);
}

Test(loader, optional_slots_may_be_missing)
{
	expect_usable(SITUATION("allowed-without-populate"), "fixture");
	expect_usable(SITUATION("allowed-without-populate_match"), "fixture");
	expect_usable(SITUATION("allowed-without-probe_note"), "fixture");
	expect_usable(SITUATION("allowed-without-provide"), "fixture");
	expect_usable(SITUATION("allowed-without-describe"), "fixture");
	expect_usable(SITUATION("allowed-without-options"), "fixture");
	expect_usable(SITUATION("allowed-without-capabilities"), "fixture");
}

Test(loader, a_summary_is_never_null)
{
	struct weft_loader *loader = load_dir(SITUATION("allowed-without-summary"));
	const struct weft_loader_entry *e = weft_loader_find(loader, "fixture");

	cr_assert(e);
	cr_expect_str_eq(e->provider->summary, "");
	weft_loader_destroy(loader);
}

Test(loader, failing_open_is_the_sessions_to_report)
{
	struct weft_loader *loader = load_dir(SITUATION("failing-open"));
	const struct weft_loader_entry *e = weft_loader_find(loader, "fixture");
	struct weft_host host = {.struct_size = sizeof(host), .fail = weft_fail};
	struct weft_error *err = weft_error_create();
	struct weft_instance *instance = NULL;

	cr_assert(e && err);
	cr_expect_eq(e->provider->open(&host, NULL, &instance, err), -ENODEV);
	cr_expect_str_eq(weft_error_tag(err), "FIXTURE_NO_DEVICE");
	cr_expect_str_eq(weft_error_text(err), "there is no device 7");
	weft_error_destroy(err);
	weft_loader_destroy(loader);
}

Test(loader, library_beside_the_plugin_is_found_by_origin)
{
	expect_usable(SITUATION("beside"), "fixture");
}

Test(loader, modules_are_shared_by_loaders_and_outlive_them)
{
	struct weft_loader *first = load_dir(SITUATION("good"));
	void *handle = weft_loader_entry(first, 0)->handle;
	const void *symbol = dlsym(handle, WEFT_PROVIDER_SYMBOL);
	struct weft_loader *second;

	weft_loader_destroy(first);
	second = load_dir(SITUATION("good"));
	cr_expect_eq(weft_loader_entry(second, 0)->handle, handle);
	cr_expect_eq(dlsym(handle, WEFT_PROVIDER_SYMBOL), symbol);
	weft_loader_destroy(second);
}

/* Descriptors are numbered anew once they are closed, and the dynamic linker knows modules by name. */
Test(loader, many_plugins_are_not_mistaken_for_each_other)
{
	static const char *const dirs[] = {SITUATION("good"), SITUATION("exported-name"),
					   SITUATION("name-longest")};
	static const char *const names[] = {"fixture", "exported",
					    "a2345678901234567890123456789012"};

	for (size_t round = 0; round < 3; round++) {
		for (size_t i = 0; i < 3; i++)
			expect_usable(dirs[i], names[i]);
	}
}

/* ---- no code of a rejected plugin runs ---- */

static bool marker_after_loading(const char *dir, enum weft_loader_state expected)
{
	struct weft_loader *loader;
	bool left;

	setenv("WEFT_FIXTURE_MARKER", in_scratch("marker"), 1);
	unlink(in_scratch("marker"));
	loader = load_dir(dir);
	cr_expect_eq(weft_loader_entry(loader, weft_loader_count(loader) - 1)->state, expected);
	weft_loader_destroy(loader);
	left = access(in_scratch("marker"), F_OK) == 0;
	return left;
}

Test(loader, no_code_of_a_rejected_plugin_runs, .fini = scratch_remove)
{
	scratch_create();
	cr_expect(marker_after_loading(SITUATION("constructor"), WEFT_LOADER_USABLE),
		  "the fixture leaves no marker when it is loaded");
	cr_expect(!marker_after_loading(SITUATION("newer-major"), WEFT_LOADER_REJECTED));
	cr_expect(!marker_after_loading(SITUATION("duplicate"), WEFT_LOADER_REJECTED));
}

/* ---- rejected, by tag ---- */

Test(loader, PLUGIN_VERSION_NEWER)
{
	char current[32];

	snprintf(current, sizeof(current), "loads %u.%u", WEFT_ABI_MAJOR(WEFT_ABI_OLDEST),
		 WEFT_ABI_MINOR(WEFT_ABI_OLDEST));
	expect_rejected(SITUATION("newer-major"), "PLUGIN_VERSION_NEWER", "newer-major.so",
			"ABI 7.0", current, "upgrade weft");
	snprintf(current, sizeof(current), "ABI %u.%u", WEFT_ABI_MAJOR(WEFT_ABI_CURRENT),
		 WEFT_ABI_MINOR(WEFT_ABI_CURRENT) + 1);
	expect_rejected(SITUATION("newer-minor"), "PLUGIN_VERSION_NEWER", "newer-minor.so", current,
			"upgrade weft");
}

Test(loader, PLUGIN_VERSION_OLDER)
{
	struct weft_loader *loader = load_dir(SITUATION("older-minor"));
	char built[32], loads[32];

	cr_expect_eq(weft_loader_entry(loader, 0)->abi_version, WEFT_ABI_OLDEST - 1);
	weft_loader_destroy(loader);
	snprintf(built, sizeof(built), "ABI %u.%u", WEFT_ABI_MAJOR(WEFT_ABI_OLDEST - 1),
		 WEFT_ABI_MINOR(WEFT_ABI_OLDEST - 1));
	snprintf(loads, sizeof(loads), "loads %u.%u", WEFT_ABI_MAJOR(WEFT_ABI_OLDEST),
		 WEFT_ABI_MINOR(WEFT_ABI_OLDEST));
	expect_rejected(SITUATION("older-minor"), "PLUGIN_VERSION_OLDER", "older-minor.so", built,
			loads, "build it again");
}

Test(loader, PLUGIN_STRUCT_SHORT)
{
	expect_rejected(SITUATION("short"), "PLUGIN_STRUCT_SHORT", "short.so", ".detach");
	expect_rejected(SITUATION("claims-more"), "PLUGIN_STRUCT_SHORT", "only 8 bytes");
}

Test(loader, PLUGIN_STRUCT_TAIL)
{
	char text[32];

	/* 0x100: the second byte of the first unknown member. */
	snprintf(text, sizeof(text), "byte %zu is set", sizeof(struct weft_provider) + 1);
	expect_rejected(SITUATION("long-number"), "PLUGIN_STRUCT_TAIL", text, "upgrade weft");
	expect_rejected(SITUATION("long-pointer"), "PLUGIN_STRUCT_TAIL", "is set");
	expect_rejected(SITUATION("huge"), "PLUGIN_STRUCT_TAIL", "262144");
}

Test(loader, PLUGIN_NO_SYMBOL)
{
	expect_rejected(SITUATION("no-symbol"), "PLUGIN_NO_SYMBOL", "no-symbol.so",
			"does not export", WEFT_PROVIDER_SYMBOL, "no plugin");
	expect_rejected(SITUATION("imported"), "PLUGIN_NO_SYMBOL", "imports");
}

Test(loader, PLUGIN_SYMBOL)
{
	expect_rejected(SITUATION("function"), "PLUGIN_SYMBOL", "is a function");
	expect_rejected(SITUATION("uninitialised"), "PLUGIN_SYMBOL", "no initial value");
	expect_rejected(SITUATION("thread"), "PLUGIN_SYMBOL", "thread's own");
	expect_rejected(SITUATION("tiny"), "PLUGIN_SYMBOL", "too small");
}

Test(loader, PLUGIN_NAME)
{
	expect_rejected(SITUATION("name-none"), "PLUGIN_NAME", "has no name");
	expect_rejected(SITUATION("name-empty"), "PLUGIN_NAME", "called \"\"", "a-z");
	expect_rejected(SITUATION("name-upper"), "PLUGIN_NAME", "\"Fixture\"");
	expect_rejected(SITUATION("name-digit"), "PLUGIN_NAME", "\"9lives\"");
	expect_rejected(SITUATION("name-colon"), "PLUGIN_NAME", "\"a:b\"");
	expect_rejected(SITUATION("name-too-long"), "PLUGIN_NAME",
			"\"a23456789012345678901234567890123\"");
	expect_rejected(SITUATION("name-endless"), "PLUGIN_NAME",
			"\"endlessendlessendlessendlessendles\" and more");
	expect_rejected(SITUATION("name-number"), "PLUGIN_NAME", "no address");
	expect_rejected(SITUATION("name-changes"), "PLUGIN_NAME", "\"fixture\"", "\"other\"");
}

Test(loader, PLUGIN_SLOT)
{
	expect_rejected(SITUATION("without-open"), "PLUGIN_SLOT", "no .open,");
	expect_rejected(SITUATION("without-close"), "PLUGIN_SLOT", "no .close,");
	expect_rejected(SITUATION("without-probe_info"), "PLUGIN_SLOT", "no .probe_info,");
	expect_rejected(SITUATION("without-attach"), "PLUGIN_SLOT", "no .attach,");
	expect_rejected(SITUATION("without-detach"), "PLUGIN_SLOT", "no .detach,");
	expect_rejected(SITUATION("without-discover"), "PLUGIN_SLOT",
			"has .discover_fd and no .discover;");
	expect_rejected(SITUATION("without-discover_fd"), "PLUGIN_SLOT",
			"has .discover and no .discover_fd;");
	expect_rejected(SITUATION("slot-number"), "PLUGIN_SLOT", ".attach", "no address");
	expect_rejected(SITUATION("slot-vanishes"), "PLUGIN_SLOT", "no .attach,");
#ifdef WEFT_LINKS_RELR
	expect_rejected(SITUATION("relr-missing-slot"), "PLUGIN_SLOT", "no .attach,");
#endif
}

Test(loader, PLUGIN_OPTION)
{
	expect_rejected(SITUATION("option-size"), "PLUGIN_OPTION_SIZE", "'fixture'");
	expect_rejected(SITUATION("option-name"), "PLUGIN_OPTION_NAME", "'fixture'");
	expect_rejected(SITUATION("option-type"), "PLUGIN_OPTION_TYPE", "rate");
	expect_rejected(SITUATION("option-default"), "PLUGIN_OPTION_DEFAULT", "rate");
}

Test(loader, PLUGIN_CAPABILITY)
{
	expect_rejected(SITUATION("capability-size"), "PLUGIN_CAPABILITY", "capability 2");
	expect_rejected(SITUATION("capability-number"), "PLUGIN_CAPABILITY", "number");
	expect_rejected(SITUATION("capability-flags"), "PLUGIN_CAPABILITY", "flags");
	expect_rejected(SITUATION("capability-text"), "PLUGIN_CAPABILITY", "what it is for");
}

Test(loader, PLUGIN_DUPLICATE)
{
	static const char *const texts[] = {"b.so", "\"fixture\"", SITUATION("duplicate/a.so"),
					    NULL};
	struct weft_loader *loader = load_dir(SITUATION("duplicate"));

	cr_assert_eq(weft_loader_count(loader), 2);
	cr_expect_eq(weft_loader_entry(loader, 0)->state, WEFT_LOADER_USABLE);
	expect_entry(loader, 1, "PLUGIN_DUPLICATE", texts);
	cr_expect_str_eq(weft_loader_entry(loader, 1)->name, "fixture");
	cr_expect_eq(weft_loader_find(loader, "fixture"), weft_loader_entry(loader, 0));
	weft_loader_destroy(loader);
}

Test(loader, a_name_is_free_after_a_rejected_plugin)
{
	struct weft_loader *loader = load_dir(SITUATION("missing-function"));

	cr_expect_eq(weft_loader_add_dir(loader, SITUATION("good"), true, NULL), 0);
	cr_assert_eq(weft_loader_count(loader), 2);
	cr_expect_eq(weft_loader_entry(loader, 0)->state, WEFT_LOADER_REJECTED);
	cr_expect_str_eq(weft_loader_entry(loader, 0)->name, "fixture");
	cr_expect_eq(weft_loader_find(loader, "fixture"), weft_loader_entry(loader, 1));
	weft_loader_destroy(loader);
}

Test(loader, PLUGIN_DLOPEN)
{
	expect_rejected(SITUATION("missing-dependency"), "PLUGIN_DLOPEN", "missing-dependency.so",
			"libfixture-absent.so");
	expect_rejected(SITUATION("missing-function"), "PLUGIN_DLOPEN", "function_that_nobody_has");
}

Test(loader, PLUGIN_DIR, .fini = scratch_remove)
{
	static const char *const texts[] = {"file", "Not a directory", NULL};
	struct weft_error *err = weft_error_create();
	struct weft_loader *loader = weft_loader_create();

	scratch_create();
	write_file(in_scratch("file"), "", 0);
	cr_assert(err && loader);
	cr_expect_eq(weft_loader_add_dir(loader, in_scratch("none"), true, err), -ENOENT);
	cr_expect_str_eq(weft_error_tag(err), "PLUGIN_DIR");
	cr_expect(strstr(weft_error_text(err), in_scratch("none")), "%s", weft_error_text(err));
	weft_error_clear(err);
	cr_expect_eq(weft_loader_add_dir(loader, in_scratch("none"), false, err), 0);
	cr_expect_eq(weft_loader_add_dir(loader, in_scratch("file"), true, err), -ENOTDIR);
	cr_expect_eq(weft_loader_count(loader), 0);
	weft_error_clear(err);

	cr_expect_eq(weft_loader_add_dir(loader, in_scratch("file"), false, err), 0);
	cr_expect_eq(weft_error_count(err), 0);
	cr_expect_eq(weft_loader_count(loader), 1);
	expect_entry(loader, 0, "PLUGIN_DIR", texts);
	weft_error_destroy(err);
	weft_loader_destroy(loader);
}

/* ---- order and paths ---- */

Test(loader, files_in_order_of_names_and_only_plugins, .fini = scratch_remove)
{
	static const char *const names[] = {"b.so",       "a.so",   "C.so", ".so",
					    ".hidden.so", "x.so.1", "so",   "README"};
	static const char *const expected[] = {"C.so", "a.so", "b.so"};
	struct weft_loader *loader;

	scratch_create();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		write_file(in_scratch(names[i]), "", 0);
	loader = load_dir(scratch_path);
	cr_assert_eq(weft_loader_count(loader), 3);
	for (size_t i = 0; i < 3; i++)
		cr_expect_str_eq(weft_loader_entry(loader, i)->path, in_scratch(expected[i]));
	weft_loader_destroy(loader);
}

Test(loader, relative_directories_become_absolute)
{
	struct weft_loader *loader;

	cr_assert_eq(chdir(FIXTURE_DIR), 0);
	loader = load_dir("good/../good");
	cr_expect_str_eq(weft_loader_entry(loader, 0)->path, GOOD);
	weft_loader_destroy(loader);
}

Test(loader, symbolic_links_are_followed, .fini = scratch_remove)
{
	scratch_create();
	cr_assert_eq(symlink(GOOD, in_scratch("link.so")), 0);
	expect_usable(scratch_path, "fixture");
}

Test(loader, one_bad_plugin_does_not_stop_the_others, .fini = scratch_remove)
{
	struct weft_loader *loader;

	scratch_create();
	write_file(in_scratch("a.so"), "text", 4);
	cr_assert_eq(symlink(SITUATION("newer-major/newer-major.so"), in_scratch("b.so")), 0);
	cr_assert_eq(symlink(GOOD, in_scratch("c.so")), 0);
	write_file(in_scratch("d.so"), "text", 4);
	loader = load_dir(scratch_path);
	cr_assert_eq(weft_loader_count(loader), 4);
	cr_expect_eq(weft_loader_find(loader, "fixture"), weft_loader_entry(loader, 2));
	weft_loader_destroy(loader);
}
