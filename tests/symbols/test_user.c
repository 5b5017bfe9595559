/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Real programs, linked in all the ways there are, say where their functions are. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/support.h"

static const char *const kinds[] = {"pie",      "nopie",    "static",         "static-pie",
				    "stripped", "together", "together-nopie", "apart"};

static void snapshot(struct weft_symbols *s, int32_t tgid)
{
	cr_assert_eq(weft_symbols_snapshot(s, tgid, now_ns()), 0);
}

Test(user, every_kind_of_program_while_it_lives)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct weft_symbols *s = weft_symbols_create();
		struct target t;
		char path[PATH_MAX];

		target_path(kinds[i], path);
		target_start(&t, path, NULL);
		cr_expect_not(weft_symbols_known(s, t.pid));
		snapshot(s, t.pid);
		cr_expect(weft_symbols_known(s, t.pid));
		expect_places(s, &t, t.pid, now_ns(), path, strcmp(kinds[i], "stripped") == 0);
		target_stop(&t);
		weft_symbols_destroy(s);
	}
}

Test(user, every_kind_of_program_after_its_end)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct weft_symbols *s = weft_symbols_create();
		struct target t;
		char path[PATH_MAX];
		uint64_t time;

		target_path(kinds[i], path);
		target_start(&t, path, NULL);
		snapshot(s, t.pid);
		time = now_ns();
		target_stop(&t);
		weft_symbols_event(s, &(struct weft_process_event){
					      .struct_size = sizeof(struct weft_process_event),
					      .kind = WEFT_PROCESS_EXIT,
					      .time_ns = now_ns(),
					      .pid = t.pid});
		expect_places(s, &t, t.pid, time, path, strcmp(kinds[i], "stripped") == 0);
		weft_symbols_destroy(s);
	}
}

Test(user, a_stack_from_before_the_snapshot)
{
	struct weft_symbols *s = weft_symbols_create();
	struct target t;
	char path[PATH_MAX];
	uint64_t time;

	target_path("pie", path);
	target_start(&t, path, NULL);
	time = now_ns();
	snapshot(s, t.pid);
	expect_places(s, &t, t.pid, time, path, false);
	target_stop(&t);
	weft_symbols_destroy(s);
}

Test(user, a_library_loaded_by_hand)
{
	static const char *const libs[] = {"lib-separate-code", "lib-noseparate-code"};

	for (size_t i = 0; i < 2; i++) {
		struct weft_symbols *s = weft_symbols_create();
		char path[PATH_MAX], lib[PATH_MAX];
		struct target t;
		size_t n = 0;

		target_path("pie", path);
		target_path(libs[i], lib);
		target_start(&t, path, lib);
		snapshot(s, t.pid);
		for (size_t k = 0; k < t.n; k++)
			if (strcmp(t.places[k].kind, "lib") == 0) {
				expect_symbol(s, t.pid, now_ns(), t.places[k].address,
					      t.places[k].name, t.places[k].offset, lib);
				n++;
			}
		cr_expect_eq(n, 2u);
		target_stop(&t);
		weft_symbols_destroy(s);
	}
}

Test(user, exec_divides_a_process_in_time)
{
	struct weft_symbols *s = weft_symbols_create();
	char first[PATH_MAX], second[PATH_MAX];
	struct target t, old;
	uint64_t before, exec, after;

	target_path("nopie", first);
	target_path("together-nopie", second);
	target_start(&t, first, NULL);
	snapshot(s, t.pid);
	before = now_ns();
	old = t;
	exec = now_ns();
	weft_symbols_event(
		s, &(struct weft_process_event){.struct_size = sizeof(struct weft_process_event),
						.kind = WEFT_PROCESS_EXEC,
						.time_ns = exec,
						.pid = t.pid,
						.text = "x"});
	target_exec(&t, second);
	snapshot(s, t.pid);
	after = now_ns();
	expect_places(s, &old, t.pid, before, first, false);
	expect_places(s, &t, t.pid, after, second, false);
	target_stop(&t);
	/* and again when nothing lives any more */
	expect_places(s, &old, t.pid, before, first, false);
	expect_places(s, &t, t.pid, after, second, false);
	weft_symbols_destroy(s);
}

Test(user, exec_that_is_told_after_the_snapshot)
{
	struct weft_symbols *s = weft_symbols_create();
	char first[PATH_MAX], second[PATH_MAX];
	const struct place *p;
	struct target t;
	uint64_t exec;

	target_path("nopie", first);
	target_path("pie", second);
	target_start(&t, first, NULL);
	p = target_find(&t, "at", "target_first");
	exec = now_ns();
	target_exec(&t, second);
	snapshot(s, t.pid);
	weft_symbols_event(
		s, &(struct weft_process_event){.struct_size = sizeof(struct weft_process_event),
						.kind = WEFT_PROCESS_EXEC,
						.time_ns = exec,
						.pid = t.pid,
						.text = "x"});
	expect_places(s, &t, t.pid, exec + 1, second, false);
	/* of what was before the exec nothing is known, and nothing is made up */
	expect_symbol(s, t.pid, exec - 1, p->address, NULL, 0, NULL);
	p = target_find(&t, "at", "target_first");
	expect_symbol(s, t.pid, exec - 1, p->address, NULL, 0, NULL);
	target_stop(&t);
	weft_symbols_destroy(s);
}

Test(user, fork_inherits)
{
	struct weft_symbols *s = weft_symbols_create();
	struct target t;
	char path[PATH_MAX];
	int32_t child =
		0x7ffffff0; /* no process has this number: nothing else can lead to the file */
	uint64_t fork_time;

	target_path("pie", path);
	target_start(&t, path, NULL);
	snapshot(s, t.pid);
	fork_time = now_ns();
	weft_symbols_event(
		s, &(struct weft_process_event){.struct_size = sizeof(struct weft_process_event),
						.kind = WEFT_PROCESS_FORK,
						.time_ns = fork_time,
						.pid = child,
						.parent = t.pid});
	target_stop(&t);
	weft_symbols_event(
		s, &(struct weft_process_event){.struct_size = sizeof(struct weft_process_event),
						.kind = WEFT_PROCESS_EXIT,
						.time_ns = now_ns(),
						.pid = t.pid});
	cr_expect(weft_symbols_known(s, child));
	expect_places(s, &t, child, now_ns(), path, false);
	expect_symbol(s, child, fork_time - 1, target_find(&t, "at", "target_first")->address, NULL,
		      0, NULL);
	weft_symbols_destroy(s);
}

Test(user, one_number_two_processes)
{
	struct weft_symbols *s = weft_symbols_create();
	char first[PATH_MAX], second[PATH_MAX];
	struct target a, b;
	uint64_t in_a, birth;

	/* b's mappings are told as those of a's number, which was used again */
	target_path("nopie", first);
	target_start(&a, first, NULL);
	snapshot(s, a.pid);
	in_a = now_ns();
	target_stop(&a);
	weft_symbols_event(
		s, &(struct weft_process_event){.struct_size = sizeof(struct weft_process_event),
						.kind = WEFT_PROCESS_EXIT,
						.time_ns = now_ns(),
						.pid = a.pid});
	target_path("together-nopie", second);
	target_start(&b, second, NULL);
	snapshot(s, b.pid);
	birth = now_ns();
	weft_symbols_event(
		s, &(struct weft_process_event){.struct_size = sizeof(struct weft_process_event),
						.kind = WEFT_PROCESS_FORK,
						.time_ns = birth,
						.pid = a.pid,
						.parent = b.pid});
	expect_places(s, &a, a.pid, in_a, first, false);
	expect_places(s, &b, a.pid, birth + 1, second, false);
	target_stop(&b);
	weft_symbols_destroy(s);
}

Test(user, unknown_is_unknown)
{
	struct weft_symbols *s = weft_symbols_create();
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *jit = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_expect_eq(weft_symbols_snapshot(s, 0x7ffffff0, now_ns()), -ENOENT);
	snapshot(s, getpid());
	expect_symbol(s, getpid(), now_ns(), (uint64_t)(uintptr_t)jit + 8, NULL, 0, NULL);
	expect_symbol(s, getpid(), now_ns(), 0, NULL, 0, NULL);
	expect_symbol(s, getpid(), now_ns(), 8, NULL, 0, NULL);
	expect_symbol(s, getpid(), now_ns(), UINT64_MAX, NULL, 0, NULL);
	expect_symbol(s, 0, now_ns(), 0x401000, NULL, 0, NULL);
	munmap(jit, page);
	weft_symbols_destroy(s);
}

Test(user, code_in_memory_files_has_a_module)
{
	struct weft_symbols *s = weft_symbols_create();
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("jit", MFD_CLOEXEC);
	void *code;

	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, (off_t)page), 0);
	code = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	cr_assert_neq(code, MAP_FAILED);
	snapshot(s, getpid());
	expect_symbol(s, getpid(), now_ns(), (uint64_t)(uintptr_t)code + 8, NULL, 0, "/memfd:jit");
	munmap(code, page);
	close(fd);
	weft_symbols_destroy(s);
}

Test(user, the_vdso_is_named_from_our_own)
{
	struct weft_symbols *s = weft_symbols_create();
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	uint64_t f = vdso ? (uint64_t)(uintptr_t)dlsym(vdso, "__vdso_clock_gettime") : 0;
	struct target t;
	char path[PATH_MAX];
	uint64_t base = getauxval(AT_SYSINFO_EHDR);

	cr_assert_neq(f, 0u);
	snapshot(s, getpid());
	expect_symbol(s, getpid(), now_ns(), f + 1, "clock_gettime", 1, "[vdso]");
	/* in another process it lies elsewhere */
	target_path("pie", path);
	target_start(&t, path, NULL);
	snapshot(s, t.pid);
	{
		char maps[64], line[512];
		uint64_t there = 0;
		FILE *file;

		snprintf(maps, sizeof(maps), "/proc/%d/maps", t.pid);
		file = fopen(maps, "r");
		while (fgets(line, sizeof(line), file))
			if (strstr(line, "[vdso]"))
				there = strtoull(line, NULL, 16);
		fclose(file);
		cr_assert_neq(there, 0u);
		target_stop(&t);
		expect_symbol(s, t.pid, now_ns(), f - base + there + 1, "clock_gettime", 1,
			      "[vdso]");
	}
	dlclose(vdso);
	weft_symbols_destroy(s);
}

Test(user, libc_names_are_those_people_know)
{
	static const char *const names[] = {"read",   "write", "malloc",
					    "printf", "qsort", "clock_nanosleep"};
	struct weft_symbols *s = weft_symbols_create();
	char path[PATH_MAX];
	struct target t;
	Dl_info info;

	/* the address of each as the dynamic linker gives it, carried over to the other process */
	target_path("pie", path);
	target_start(&t, path, NULL);
	snapshot(s, t.pid);
	{
		char maps[64], line[512], libc[512];
		uint64_t there = 0;
		FILE *file;
		void *own = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

		cr_assert_not_null(own);
		snprintf(maps, sizeof(maps), "/proc/%d/maps", t.pid);
		file = fopen(maps, "r");
		while (!there && fgets(line, sizeof(line), file))
			if (strstr(line, "/libc.so.6"))
				there = strtoull(line, NULL, 16);
		fclose(file);
		snprintf(libc, sizeof(libc), "%s", strchr(line, '/'));
		libc[strcspn(libc, "\n")] = '\0';
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			void *f = dlsym(own, names[i]);

			cr_assert(f && dladdr(f, &info));
			expect_symbol(s, t.pid, now_ns(),
				      (uint64_t)(uintptr_t)f - (uint64_t)(uintptr_t)info.dli_fbase +
					      there + 2,
				      names[i], 2, libc);
		}
		dlclose(own);
	}
	target_stop(&t);
	weft_symbols_destroy(s);
}

/* The line on which a text is in the source, and how often. */
static uint32_t line_of(const char *text)
{
	char line[512];
	uint32_t n = 0, found = 0;
	FILE *f = fopen(WEFT_SOURCE_DIR "/tests/symbols/target.c", "r");

	cr_assert_not_null(f);
	while (!found && fgets(line, sizeof(line), f)) {
		n++;
		if (strstr(line, text))
			found = n;
	}
	fclose(f);
	cr_assert(found, "%s", text);
	return found;
}

/* Also when the program is gone and its file with it; and only if they are wanted. */
Test(user, lines_of_source_code, .fini = remove_temporary)
{
	for (int wanted = 0; wanted < 2; wanted++) {
		struct weft_symbols *s = weft_symbols_create();
		char path[PATH_MAX], copy[PATH_MAX];
		struct weft_frame f;
		struct target t;
		uint64_t time;

		if (wanted)
			weft_symbols_want_lines(s);
		target_path("pie", path);
		temporary_path("lines", copy);
		copy_file(path, copy);
		target_start(&t, copy, NULL);
		snapshot(s, t.pid);
		time = now_ns();
		const struct place *first = target_find(&t, "at", "target_first");
		const struct place *second = target_find(&t, "at", "target_second");
		weft_symbols_user(s, t.pid, time, first->address - first->offset, false, &f);
		target_stop(&t);
		unlink(copy);
		for (int again = 0; again < 2; again++) {
			cr_expect_str_eq(f.symbol, again ? "target_second" : "target_first");
			uint32_t begins = line_of(again ? "int target_second(int x)\n"
							: "int target_first(int x)\n");
			/* An optimiser chooses which of the function's lines comes first. */
			cr_expect(wanted ? f.line >= begins && f.line <= begins + 4 : !f.line, "%u",
				  f.line);
			cr_expect(!wanted == !f.file);
			cr_expect(!wanted || strstr(f.file, "symbols/target.c"), "%s", f.file);
			weft_symbols_user(s, t.pid, time, second->address - second->offset, false,
					  &f);
		}
		/* Another unit of compilation. */
		weft_symbols_user(s, t.pid, time,
				  target_find(&t, "at", "target_assembler")->address, false, &f);
		cr_expect(!wanted || strstr(f.file, "symbols/target_asm.S"), "%s", f.file);
		cr_expect(!wanted == !f.line);
		weft_symbols_destroy(s);
	}
}

/* libstdc++ is there wherever this was built. */
Test(user, cxx_names_are_shown_as_they_were_written)
{
	void *lib = dlopen("libstdc++.so.6", RTLD_NOW);
	void *append = lib ? dlsym(lib, "_ZNSs6appendEPKcm") : NULL;
	struct weft_symbols *s = weft_symbols_create();
	struct weft_frame f;

	cr_assert_not_null(append);
	snapshot(s, getpid());
	weft_symbols_user(s, getpid(), now_ns(), (uint64_t)(uintptr_t)append, false, &f);
	cr_expect_str_eq(f.symbol, "std::string::append(char const*, unsigned long)");
	weft_symbols_destroy(s);
	dlclose(lib);
}
