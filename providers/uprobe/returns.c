/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions of Go programs, which move their stacks: go_ARCH.c tells what that means for probes. */
#include <errno.h>
#include <stdlib.h>

#include "uprobe.h"

#define MOST_CODE (1u << 20) /* bytes of a function that are looked at */
#define SOME_CODE 65536u     /* of one whose size is not known */

/* A function's code, or, where its size is not known, what begins there; malloc'd, or NULL. */
static uint8_t *code_of(const struct weft_uprobe_site *site, size_t *size)
{
	uint8_t *code;

	if (site->size > MOST_CODE)
		return NULL;
	*size = site->size ? (size_t)site->size : SOME_CODE;
	code = malloc(*size);
	if (!code)
		return NULL;
	*size = weft_uprobe_file_code(site->file, site->address, code, *size);
	if (*size && (!site->size || *size == site->size))
		return code;
	free(code);
	return NULL;
}

static int add(void *arg, uint32_t offset)
{
	struct weft_uprobe_site *s = arg;

	if (weft_uprobe_grow(&s->returns, &s->cap_returns, s->n_returns, sizeof(*s->returns)))
		return -ENOMEM;
	s->returns[s->n_returns++] = offset;
	return 0;
}

int weft_uprobe_find_returns(struct weft_instance *in, struct weft_uprobe_site *site,
			     const char *function, struct weft_error *err)
{
	const char *why = "its code cannot be read";
	size_t size;
	uint8_t *code = code_of(site, &size);

	if (!site->size)
		why = "the function's end is not known";
	else if (code)
		why = weft_uprobe_arch_returns(code, size, site->address, add, site);
	free(code);
	if (!why)
		return 0;
	return in->host->fail(
		err, -EOPNOTSUPP, "UPROBE_GO_RETURN",
		"the return of %s cannot be probed: %s is a Go program, which moves its "
		"stacks, so that each instruction that returns has to be found, and %s",
		function, site->file->path, why);
}

void weft_uprobe_find_begun(struct weft_uprobe_site *site)
{
	size_t size;
	uint8_t *code = code_of(site, &size);

	if (code)
		site->begun =
			weft_uprobe_arch_behind_check(code, size, site->address, site->size != 0);
	free(code);
}

void weft_uprobe_sites_cut(struct weft_uprobe_probe *probe, size_t n)
{
	while (probe->n_sites > n)
		free(probe->sites[--probe->n_sites].returns);
}
