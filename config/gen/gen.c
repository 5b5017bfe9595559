/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes the committed pages of the format: gen SCHEMA.json REFERENCE.md. Run by `ninja docs`. */
#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"

typedef int render(const struct weft_config_provider *, size_t, char **, struct weft_error *);

static int write_page(const char *path, render *render_page)
{
	char *text;
	FILE *f;
	int rc;

	if (render_page(NULL, 0, &text, NULL))
		return -1;
	f = fopen(path, "w");
	rc = f && fputs(text, f) >= 0 ? 0 : -1;
	if (f && fclose(f) != 0)
		rc = -1;
	free(text);
	if (rc)
		perror(path);
	return rc;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	if (write_page(argv[1], weft_config_schema) || write_page(argv[2], weft_config_reference))
		return 1;
	return 0;
}
