/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where providers and shipped probe sets are, without any environment variable: a build tree and an
 * installed one are told apart by where the running binary lies, so that both work wherever they
 * were put. BUILD/cli/trace-cli uses BUILD/providers and BUILD/sets; PREFIX/bin/trace-cli uses what
 * lies below the same PREFIX, if that is there; else the paths of the configured installation.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

struct tree {
	const char *binary; /* the last folder of the binary's path */
	const char *folder; /* below the folder above that */
};

static const struct place {
	struct tree built, installed;
	const char *fallback;
} places[] = {
	[CLI_PROVIDERS] = {{"cli", "providers"},
			   {WEFT_BINDIR, WEFT_LIBDIR "/weft/providers"},
			   WEFT_FULL_LIBDIR "/weft/providers"},
	[CLI_SETS] = {{"cli", "sets"},
		      {WEFT_BINDIR, WEFT_DATADIR "/weft/sets"},
		      WEFT_FULL_DATADIR "/weft/sets"},
};

/* The folder above BINARY, if the binary lies in a folder of that name: cuts exe there. */
static bool above(char *exe, const char *binary)
{
	size_t n = strlen(exe), b = strlen(binary);

	if (n <= b + 1 || strcmp(exe + n - b, binary) || exe[n - b - 1] != '/')
		return false;
	exe[n - b - 1] = '\0';
	return true;
}

static bool try_tree(const char *folder_of_exe, const struct tree *t, char out[PATH_MAX])
{
	char root[PATH_MAX];
	struct stat st;

	snprintf(root, sizeof(root), "%s", folder_of_exe);
	if (!above(root, t->binary))
		return false;
	return snprintf(out, PATH_MAX, "%s/%s", root, t->folder) < PATH_MAX && !stat(out, &st) &&
	       S_ISDIR(st.st_mode);
}

const char *cli_dir(enum cli_place place, char buf[PATH_MAX])
{
	const struct place *p = &places[place];
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (n > 0) {
		exe[n] = '\0';
		slash = strrchr(exe, '/');
		if (slash) {
			*slash = '\0';
			if (try_tree(exe, &p->built, buf) || try_tree(exe, &p->installed, buf))
				return buf;
		}
	}
	snprintf(buf, PATH_MAX, "%s", p->fallback);
	return buf;
}

/* ---- probe sets by name ---- */

static bool has_suffix(const char *name, const char *suffix)
{
	size_t n = strlen(name), k = strlen(suffix);

	return n > k && !strcmp(name + n - k, suffix);
}

bool cli_is_set_file(const char *name)
{
	return has_suffix(name, ".yaml") || has_suffix(name, ".yml");
}

/* A path is a file's; a bare word names a shipped set. */
static bool is_word(const char *name)
{
	return *name && !strchr(name, '/') && !cli_is_set_file(name);
}

static int unknown_set(struct cli *cli, const char *name, const char *dir)
{
	struct cli_sets sets;
	const char *near = NULL, **names;

	if (cli_sets_read(dir, &sets))
		sets = (struct cli_sets){0};
	names = calloc(sets.n + 1, sizeof(*names));
	for (size_t i = 0; names && i < sets.n; i++)
		names[i] = sets.names[i];
	if (names)
		near = weft_nearest(name, names, sets.n);
	weft_fail(cli->err, -ENOENT, "SET_UNKNOWN",
		  "there is no probe set \"%s\" among those in %s, and no such file%s%s%s", name,
		  dir, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	free(names);
	cli_sets_finish(&sets);
	return -ENOENT;
}

int cli_set_path(struct cli *cli, const char *name, char out[PATH_MAX])
{
	char dir[PATH_MAX];

	if (snprintf(out, PATH_MAX, "%s", name) >= PATH_MAX)
		return weft_fail(cli->err, -ENAMETOOLONG, "CONFIG_OPEN", "this path is too long");
	if (!is_word(name))
		return 0;
	cli_dir(CLI_SETS, dir);
	if (snprintf(out, PATH_MAX, "%s/%s.yaml", dir, name) < PATH_MAX && !access(out, R_OK))
		return 0;
	snprintf(out, PATH_MAX, "%s", name);
	return access(name, F_OK) ? unknown_set(cli, name, dir) : 0;
}
