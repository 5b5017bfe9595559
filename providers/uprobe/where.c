/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From the text of a module to files. In this order:
 *
 *   processes are named (-p)   a path: what they have mapped of it, though another file may lie
 * there by now, and what lies there, in their root; otherwise what they have mapped under that base
 * name, deleted files and memfds too a command is named (-c)    its own file, if the text is its
 * base name a text with a slash        that path, as we see it other texts                a library
 * where the dynamic linker finds it, a program in PATH; first which of the two the text looks like
 *
 * A glob is one of paths ("/usr/lib/libz.so*"), or one of base names of what the named
 * processes have mapped. The text is kept as the probes' module; a glob's probes have the paths,
 * or base names, that it matched.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/ldcache.h"
#include "support/maps.h"
#include "support/module.h"
#include "support/nearest.h"
#include "uprobe.h"

#define MOST_FILES 256u /* of a glob */

struct search {
	struct weft_instance *in;
	const char *module;
	bool glob;
	struct weft_uprobe_files *out;
	struct weft_error *err;
	int32_t pid;
};

/* Takes the descriptor. */
static int found(struct search *s, int fd, const char *path, const char *root)
{
	struct weft_uprobe_file *f = weft_uprobe_file_take(s->in, fd, path, root, NULL, s->err);

	if (!f)
		return -EINVAL;
	if (weft_uprobe_files_add(s->out, f))
		return s->in->host->fail(s->err, -ENOMEM, "NO_MEMORY", "out of memory");
	return 0;
}

/* A path below a root; -ENOENT: there is nothing. */
static int try_path(struct search *s, const char *root, const char *path)
{
	char full[4096];
	int n = snprintf(full, sizeof(full), "%s%s", root, path);

	if (n < 0 || (size_t)n >= sizeof(full))
		return -ENOENT;
	int fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return -ENOENT;
	if (fd < 0)
		return s->in->host->fail(s->err, -errno, "UPROBE_NO_FILE",
					 "%s cannot be opened: %s", full, strerror(errno));
	return found(s, fd, path, *root ? root : NULL);
}

/* ---- processes ---- */

static bool is_named(const struct search *s, const char *base)
{
	return s->glob ? s->in->host->field_match(s->module, base) : !strcmp(s->module, base);
}

static bool is_path(const struct search *s)
{
	return *s->module == '/' && !s->glob;
}

static int mapped(const struct support_mapped *m, void *arg)
{
	struct search *s = arg;
	char root[32];

	if (!is_named(s, is_path(s) ? m->path : support_base_name(m->path)) ||
	    s->out->n >= MOST_FILES)
		return 0;
	int fd = support_mapped_open(s->pid, m);
	if (fd < 0)
		return 0;
	snprintf(root, sizeof(root), "/proc/%d/root", s->pid);
	int ret = found(s, fd, m->path, root);
	return ret == -ENOMEM ? ret : 0;
}

static int in_process(struct search *s, int32_t pid)
{
	char root[32];

	s->pid = pid;
	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	if (is_path(s)) {
		int ret = support_maps(pid, mapped, s);
		if (ret != -ENOMEM)
			ret = try_path(s, root, s->module);
		return ret == -ENOENT ? 0 : ret;
	}
	if (*s->module != '/') {
		size_t before = s->out->n;
		int ret = support_maps(pid, mapped, s);
		if (ret || s->out->n > before || s->glob || strchr(s->module, '/'))
			return ret == -ENOMEM ? ret : 0;
		/* A library that it may yet load, as its own linker would find it. */
		char path[4096];
		if (!support_library(root, s->module, path, sizeof(path)))
			try_path(s, root, path + strlen(root));
	}
	return 0;
}

/* ---- the command and PATH ---- */

static int in_path(struct search *s, const char *program)
{
	char path[4096];
	int ret = support_program(program, path, sizeof(path));

	return ret ? ret : try_path(s, "", path);
}

static int the_command(struct search *s)
{
	const struct weft_target *target = s->in->host->target(s->in->host);
	const char *const *command =
		target->struct_size >= offsetof(struct weft_target, command) + sizeof(char *const *)
			? target->command
			: NULL;

	if (!command || !command[0] || !is_named(s, support_base_name(command[0])))
		return -ENOENT;
	return strchr(command[0], '/') ? try_path(s, "", command[0]) : in_path(s, command[0]);
}

static int by_name(struct search *s)
{
	bool library = strstr(s->module, ".so") != NULL;
	char path[4096];
	int ret = -ENOENT;

	for (int i = 0; i < 2 && ret == -ENOENT; i++) {
		if ((i == 0) != library)
			ret = in_path(s, s->module);
		else if (!support_library("", s->module, path, sizeof(path)))
			ret = try_path(s, "", path);
	}
	return ret;
}

/* ---- globs ---- */

static int by_glob(struct search *s)
{
	glob_t all;
	int ret = 0;

	if (*s->module != '/')
		return s->in->host->fail(s->err, -EINVAL, "UPROBE_MODULE_GLOB",
					 "'%s' could be any file of the system: write a path, or name "
					 "processes whose files are meant (-p)",
					 s->module);
	if (glob(s->module, GLOB_NOSORT, NULL, &all))
		return -ENOENT;
	for (size_t i = 0; i < all.gl_pathc && !ret; i++) {
		struct stat st;

		if (stat(all.gl_pathv[i], &st) || !S_ISREG(st.st_mode))
			continue;
		if (s->out->n >= MOST_FILES)
			ret = s->in->host->fail(s->err, -E2BIG, "UPROBE_MODULE_GLOB",
						"'%s' matches more than %u files", s->module,
						MOST_FILES);
		else
			ret = try_path(s, "", all.gl_pathv[i]);
		if (ret == -ENOENT)
			ret = 0;
	}
	globfree(&all);
	return ret;
}

static int explain(struct search *s)
{
	const struct weft_target *target = s->in->host->target(s->in->host);

	if (strchr(s->module, '/'))
		return s->in->host->fail(s->err, -EINVAL, "UPROBE_NO_FILE", "there is no file %s",
					 s->module);
	return s->in->host->fail(s->err, -ENOENT, "UPROBE_NO_FILE",
				 "there is no file '%s': no library that the dynamic linker finds, "
				 "no program in PATH%s",
				 s->module,
				 target->n_pids ? ", and none of the processes has mapped one" : "");
}

int weft_uprobe_where(struct weft_instance *in, const char *module, bool exact,
		      struct weft_uprobe_files *out, struct weft_error *err)
{
	const struct weft_target *target = in->host->target(in->host);
	struct search s = {
		.in = in, .module = module, .glob = !exact, .out = out, .err = err, .pid = 0};
	int ret = 0;

	*out = (struct weft_uprobe_files){.n = 0};
	if (!*module)
		return in->host->fail(err, -EINVAL, "UPROBE_MODULE_EMPTY",
				      "a probe of uprobe needs a module: a path, a library's name, or "
				      "a program's");
	for (uint32_t i = 0; i < target->n_pids && !ret; i++)
		ret = in_process(&s, target->pids[i]);
	if (!ret && !out->n)
		ret = the_command(&s);
	if (ret == -ENOENT)
		ret = 0;
	if (!ret && !out->n) {
		if (s.glob)
			ret = by_glob(&s);
		else if (strchr(module, '/'))
			ret = try_path(&s, "", module);
		else
			ret = by_name(&s);
	}
	if (!ret && !out->n)
		ret = -ENOENT;
	if (ret == -ENOENT)
		ret = explain(&s);
	return ret;
}
