/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From the text of a module to files.
 *
 *   a path           as the processes of the target see it, or as we do; what they have mapped of
 *                    it, too, though another file may lie there by now
 *   any other text   the base name or the soname of a file: of the command, of what the processes of
 *                    the target have mapped, or else all processes; of a library where the
 *                    dynamic linker finds it, or a program in PATH; of a file that the stash knows
 *   a pattern        of paths if it has a slash or is nothing but '*', else of base names: of what
 *                    is mapped, what the stash knows, and for paths what there is
 *
 * The stash counts where processes may yet start that have the file: without a target, with `follow`,
 * or with a command. Attaching is by file and not by process, so their first firings are not missed.
 */
#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/ldcache.h"
#include "support/maps.h"
#include "support/module.h"
#include "support/nearest.h"
#include "usdt/usdt.h"

struct walk {
	struct weft_instance *in;
	struct weft_usdt_search *s;
	struct weft_usdt_seen *given; /* files that were found, by what they are */
	int32_t pid;
};

static bool is_of_paths(const char *module)
{
	return strchr(module, '/') || !module[strspn(module, "*")];
}

bool weft_usdt_may_mean(struct weft_instance *in, const char *module, bool exact, const char *path)
{
	const char *base = support_base_name(path), *dot = strstr(module, ".so");

	if (!exact)
		return in->host->field_match(module, is_of_paths(module) ? path : base);
	if (*module == '/')
		return !strcmp(module, path);
	/* libx.so.6 may be the soname of libx.so.6.0.30, or of libx-2.1.so. */
	return !strcmp(module, base) ||
	       (dot && dot != module && !strncmp(module, base, (size_t)(dot - module)) &&
		strstr(base, ".so"));
}

const char *weft_usdt_means(struct weft_instance *in, const char *module, bool exact,
			    const char *path, const char *soname)
{
	if (!weft_usdt_may_mean(in, module, exact, path))
		return NULL;
	if (!exact)
		return is_of_paths(module) ? path : support_base_name(path);
	if (*module == '/' || !strcmp(module, support_base_name(path)) ||
	    (soname && !strcmp(module, soname)))
		return module;
	return NULL;
}

/* ---- what was found ---- */

static int give(struct walk *w, struct weft_usdt_file *f, const char *path)
{
	const char *module;

	if (!f->record)
		return 0;
	module = weft_usdt_means(w->in, w->s->module, w->s->exact, path,
				 weft_usdt_text(f->record, f->record->soname));
	if (!module || weft_usdt_seen(w->given, f->key.dev, f->key.ino))
		return 0;
	w->s->n++;
	return w->s->found(f, module, w->s->arg);
}

/* Takes the descriptor. err NULL: what cannot be read is counted and passed over. */
static int offer(struct walk *w, int fd, const char *path, const char *as, struct weft_error *err)
{
	struct weft_usdt_file *f = weft_usdt_file_take(w->in, fd, path, err);

	if (!f)
		return err ? -EINVAL : 0;
	if (!f->record && err)
		return -EINVAL;
	return give(w, f, as);
}

/* Whether a path leads us to that file, too. */
static bool leads_to(const char *path, int fd)
{
	struct stat a, b;

	return !stat(path, &a) && !fstat(fd, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* A path below a root, named by the user. -ENOENT: there is nothing. */
static int offer_path(struct walk *w, const char *root, const char *path, struct weft_error *err)
{
	char full[4096];
	int n = snprintf(full, sizeof(full), "%s%s", root, path);

	if (n < 0 || (size_t)n >= sizeof(full))
		return -ENOENT;
	int fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || !err))
		return -ENOENT;
	if (fd < 0)
		return w->in->host->fail(err, -errno, "USDT_NO_FILE", "%s cannot be opened: %s",
					 full, strerror(errno));
	return offer(w, fd, leads_to(path, fd) ? path : full, path, err);
}

/* ---- processes ---- */

static int mapped(const struct support_mapped *m, void *arg)
{
	struct walk *w = arg;
	const char *path = m->path;

	if (!weft_usdt_may_mean(w->in, w->s->module, w->s->exact, path) ||
	    weft_usdt_seen(w->s->seen, m->dev, m->ino))
		return 0;
	int fd = support_mapped_open(w->pid, m);
	return fd < 0 ? 0 : offer(w, fd, path, path, NULL);
}

static int in_process(struct walk *w, int32_t pid)
{
	int ret;

	w->pid = pid;
	ret = support_maps(pid, mapped, w);
	if (ret == -ENOMEM)
		return ret;
	if (w->s->exact && *w->s->module == '/') {
		char root[32];

		snprintf(root, sizeof(root), "/proc/%d/root", pid);
		ret = offer_path(w, root, w->s->module, NULL);
		return ret == -ENOENT ? 0 : ret;
	}
	return 0;
}

static int in_all_processes(struct walk *w)
{
	const struct dirent *e;
	DIR *d = opendir("/proc");
	int ret = 0;

	if (!d)
		return 0;
	while (!ret && (e = readdir(d))) {
		long pid = strtol(e->d_name, NULL, 10);

		if (pid > 0)
			ret = in_process(w, (int32_t)pid);
	}
	closedir(d);
	return ret;
}

/* ---- names ---- */

static int in_path(struct walk *w, const char *program, struct weft_error *err)
{
	char path[4096];
	int ret = support_program(program, path, sizeof(path));

	return ret ? ret : offer_path(w, "", path, err);
}

static const char *const *command_of(struct weft_instance *in)
{
	const struct weft_target *t = in->host->target(in->host);

	if (t->struct_size < offsetof(struct weft_target, command) + sizeof(t->command))
		return NULL;
	return t->command && t->command[0] ? t->command : NULL;
}

/* The command's file is what its path leads to: python3 is python3.11. */
static int the_command(struct walk *w)
{
	const char *const *command = command_of(w->in);
	char path[4096], *real = NULL;
	int fd, ret = 0;

	if (!command)
		return 0;
	if (strchr(command[0], '/'))
		real = realpath(command[0], NULL);
	else if (!support_program(command[0], path, sizeof(path)))
		real = realpath(path, NULL);
	if (!real)
		return 0;
	fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		struct weft_usdt_file *f = weft_usdt_file_take(w->in, fd, real, NULL);

		if (f)
			ret = give(w, f, real);
		/* By the name that it was called by, too. */
		if (f && !ret && !w->s->n)
			ret = give(w, f, command[0]);
	}
	free(real);
	return ret;
}

static int by_name(struct walk *w)
{
	char path[4096];
	int ret = 0;

	if (!support_library("", w->s->module, path, sizeof(path))) {
		char *real = realpath(path, NULL);

		/* Found under its soname, it is that by definition. */
		int fd = real ? open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
		if (fd >= 0) {
			struct weft_usdt_file *f = weft_usdt_file_take(w->in, fd, real, NULL);

			if (f)
				ret = give(w, f, path);
		}
		free(real);
		return ret;
	}
	ret = in_path(w, w->s->module, NULL);
	return ret == -ENOENT ? 0 : ret;
}

static int by_glob(struct walk *w)
{
	glob_t all;
	int ret = 0;

	if (*w->s->module != '/' || glob(w->s->module, GLOB_NOSORT, NULL, &all))
		return 0;
	for (size_t i = 0; i < all.gl_pathc && !ret; i++) {
		ret = offer_path(w, "", all.gl_pathv[i], NULL);
		if (ret == -ENOENT)
			ret = 0;
	}
	globfree(&all);
	return ret;
}

/* ---- the stash ---- */

static int stashed(struct weft_usdt_record *r, void *arg)
{
	struct walk *w = arg;
	const char *path = weft_usdt_text(r, r->path);
	struct weft_usdt_key key;
	struct stat st;
	int fd, ret = 0;

	if (r->n_notes && weft_usdt_may_mean(w->in, w->s->module, w->s->exact, path) &&
	    !weft_usdt_seen(w->s->seen, r->key.dev, r->key.ino) && !stat(path, &st)) {
		weft_usdt_key_of(&st, &key);
		fd = weft_usdt_key_same(&key, &r->key) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
		if (fd >= 0)
			ret = offer(w, fd, path, path, NULL);
	}
	free(r);
	return ret;
}

static bool may_start(struct weft_instance *in)
{
	const struct weft_target *t = in->host->target(in->host);

	return !t->n_pids || t->follow || command_of(in);
}

/* ---- all of it ---- */

#define MOST_NEIGHBOURS 4096u

/* The nearest name in the folder of a path, or NULL; the caller frees it. */
static char *neighbour(const char *path)
{
	const char *base = support_base_name(path), *nearest = NULL;
	char *names[MOST_NEIGHBOURS] = {0}, *folder = strndup(path, (size_t)(base - path)),
	     *out = NULL;
	DIR *d = folder ? opendir(folder) : NULL;
	const struct dirent *e;
	size_t n = 0;

	while (d && n < MOST_NEIGHBOURS && (e = readdir(d))) {
		names[n] = strdup(e->d_name);
		n += names[n] != NULL;
	}
	nearest = support_nearest(base, (const char *const *)names, n);
	if (nearest && asprintf(&out, "%s%s", folder, nearest) < 0)
		out = NULL;
	while (n > 0)
		free(names[--n]);
	if (d)
		closedir(d);
	free(folder);
	return out;
}

static int explain(struct walk *w, struct weft_error *err)
{
	const struct weft_host *host = w->in->host;
	const char *module = w->s->module;
	char *near;

	if (w->s->exact && *module == '/') {
		near = neighbour(module);
		host->fail(err, -EINVAL, "USDT_NO_FILE", "there is no file %s%s%s%s", module,
			   near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
		free(near);
		return -EINVAL;
	}
	if (w->s->exact && strchr(module, '/'))
		return host->fail(err, -EINVAL, "USDT_NO_FILE",
				  "'%s' is neither a path, which begins with '/', nor a base name",
				  module);
	return host->fail(err, -ENOENT, "USDT_NO_FILE",
			  "no file is known that '%s' could mean: no process has mapped one, and it "
			  "is neither a library that the dynamic linker finds nor a program in PATH",
			  module);
}

static int search(struct walk *w, struct weft_error *err)
{
	const struct weft_target *t = w->in->host->target(w->in->host);
	struct weft_usdt_search *s = w->s;
	int ret = 0;

	for (uint32_t i = 0; i < t->n_pids && !ret; i++)
		ret = in_process(w, t->pids[i]);
	if (!ret && s->exact && *s->module == '/' && !s->n)
		return offer_path(w, "", s->module, err);
	if (!ret && s->exact && *s->module == '/')
		return 0;
	if (!ret)
		ret = the_command(w);
	if (!ret && !t->n_pids && !command_of(w->in))
		ret = in_all_processes(w);
	if (!ret && s->exact && (!t->n_pids || !s->n))
		ret = by_name(w);
	if (!ret && !s->exact && may_start(w->in))
		ret = by_glob(w);
	if (!ret && may_start(w->in) && !(s->quick && s->n))
		ret = weft_usdt_stash_walk(&w->in->stash, stashed, w);
	return ret;
}

int weft_usdt_where(struct weft_instance *in, struct weft_usdt_search *s, struct weft_error *err)
{
	struct walk w = {.in = in, .s = s};
	int ret;

	s->n = 0;
	s->seen = weft_usdt_seen_create();
	w.given = weft_usdt_seen_create();
	if (s->seen && w.given)
		ret = search(&w, err);
	else
		ret = weft_usdt_nomem(in, err);
	weft_usdt_seen_destroy(s->seen);
	weft_usdt_seen_destroy(w.given);
	if (!ret && !s->n)
		ret = -ENOENT;
	return ret == -ENOENT ? explain(&w, err) : ret;
}
