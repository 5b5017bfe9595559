/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "symbols/support.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[64];

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void target_path(const char *name, char out[PATH_MAX])
{
	if (strncmp(name, "lib-", 4) == 0)
		snprintf(out, PATH_MAX, "%s/libsymbols-%s.so", TARGET_DIR, name);
	else
		snprintf(out, PATH_MAX, "%s/symbols-%s", TARGET_DIR, name);
}

static void take_places(struct target *t)
{
	char line[256];

	t->n = 0;
	while (fgets(line, sizeof(line), t->from)) {
		struct place *p = &t->places[t->n];

		if (strncmp(line, "ready ", 6) == 0)
			return;
		cr_assert_lt(t->n, TARGET_PLACES);
		cr_assert_eq(sscanf(line, "%15s 0x%" SCNx64 " %63s %" SCNu64, p->kind, &p->address,
				    p->name, &p->offset),
			     4, "%s", line);
		t->n++;
	}
	cr_assert_fail("%s did not get ready", t->path);
}

void target_start(struct target *t, const char *path, const char *lib)
{
	int in[2], out[2];

	*t = (struct target){0};
	snprintf(t->path, sizeof(t->path), "%s", path);
	cr_assert_eq(pipe2(in, O_CLOEXEC), 0);
	cr_assert_eq(pipe2(out, O_CLOEXEC), 0);
	t->pid = fork();
	cr_assert_geq(t->pid, 0);
	if (!t->pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(path, path, lib, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	t->to = fdopen(in[1], "w");
	t->from = fdopen(out[0], "r");
	take_places(t);
}

void target_exec(struct target *t, const char *path)
{
	fprintf(t->to, "exec %s\n", path);
	fflush(t->to);
	take_places(t);
}

void target_stop(struct target *t)
{
	fclose(t->to);
	waitpid(t->pid, NULL, 0);
	fclose(t->from);
}

const struct place *target_find(const struct target *t, const char *kind, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->places[i].kind, kind) == 0 && strcmp(t->places[i].name, name) == 0)
			return &t->places[i];
	cr_assert_fail("no %s %s", kind, name);
	return NULL;
}

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void expect_frame(const struct weft_frame *f, uint64_t address, const char *symbol,
			 uint64_t offset, const char *module)
{
	cr_expect(f->user);
	cr_expect_eq(f->address, address);
	cr_expect(same(f->symbol, symbol) && (!symbol || f->offset == offset) &&
			  same(f->module, module),
		  "0x%" PRIx64 " is %s+%" PRIu64 " (%s), not %s+%" PRIu64 " (%s)", address,
		  f->symbol ? f->symbol : "-", f->offset, f->module ? f->module : "-",
		  symbol ? symbol : "-", offset, module ? module : "-");
}

void expect_symbol(struct weft_symbols *s, int32_t tgid, uint64_t time_ns, uint64_t address,
		   const char *symbol, uint64_t offset, const char *module)
{
	struct weft_frame f;

	weft_symbols_user(s, tgid, time_ns, address, false, &f);
	expect_frame(&f, address, symbol, offset, module);
}

void expect_places(struct weft_symbols *s, const struct target *t, int32_t tgid, uint64_t time_ns,
		   const char *module, bool stripped)
{
	cr_expect_geq(t->n, 12u);
	for (size_t i = 0; i < t->n; i++) {
		const struct place *p = &t->places[i];
		bool none = *p->name == '-' || (stripped && strcmp(p->kind, "local") == 0);
		struct weft_frame f;

		if (strcmp(p->kind, "lib") == 0)
			continue;
		weft_symbols_user(s, tgid, time_ns, p->address, strcmp(p->kind, "caller") == 0, &f);
		expect_frame(&f, p->address, none ? NULL : p->name, p->offset, module);
	}
}

void copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	char buf[65536];
	ssize_t n;

	cr_assert(in >= 0 && out >= 0, "%s -> %s", from, to);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		cr_assert_eq(write(out, buf, (size_t)n), n);
	close(in);
	close(out);
}

void temporary_path(const char *name, char out[PATH_MAX])
{
	if (!*folder) {
		strcpy(folder, "/tmp/weft-symbols-XXXXXX");
		cr_assert_not_null(mkdtemp(folder));
	}
	snprintf(out, PATH_MAX, "%s/%s", folder, name);
}

void remove_temporary(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (*folder && system(command) != 0)
		cr_log_warn("%s stays", folder);
}
