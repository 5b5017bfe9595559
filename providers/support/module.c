/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "support/module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool support_is_glob(const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' && text[1])
			text++;
		else if (*text == '*' || *text == '?' || *text == '[')
			return true;
	}
	return false;
}

const char *support_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int support_program(const char *name, char *path, size_t size)
{
	const char *dirs = getenv("PATH");

	for (dirs = dirs ? dirs : "/usr/local/bin:/usr/bin:/bin"; *dirs;) {
		size_t n = strcspn(dirs, ":");
		struct stat st;
		int len = snprintf(path, size, "%.*s/%s", n ? (int)n : 1, n ? dirs : ".", name);

		dirs += n + (dirs[n] == ':');
		if (len >= 0 && (size_t)len < size && !access(path, X_OK) && !stat(path, &st) &&
		    S_ISREG(st.st_mode))
			return 0;
	}
	return -ENOENT;
}
