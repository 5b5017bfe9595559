/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every allocation of finding and describing probes fails once, each in a run of its own: nothing
 * crashes, nothing is lost, and what fails says so.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test_failing.h"
#include "support/test_host.h"
#include "usdt/usdt.h"

extern const struct weft_provider weft_provider_plugin;

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t m), (n, m))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(void *, reallocarray, (void *p, size_t n, size_t m), (p, n, m))
WRAP(char *, strdup, (const char *s), (s))
WRAP(char *, strndup, (const char *s, size_t n), (s, n))

/* Opens, finds what a pattern matches, describes all of it, closes. */
static int work(struct test_host *h, const char *module, struct weft_error *err)
{
	struct weft_registry_core *core = weft_registry_create();
	struct weft_registry *registry = core ? weft_registry_of(core, "usdt") : NULL;
	struct weft_instance *in = NULL;
	const struct weft_probe_desc d = {.struct_size = sizeof(d),
					  .provider = "usdt",
					  .module = module,
					  .function = "*",
					  .name = "*"};
	int ret;

	cr_assert_not_null(registry);
	armed = true;
	ret = weft_provider_plugin.open(&h->host, h->params, &in, err);
	if (!ret)
		ret = weft_provider_plugin.populate_match(in, registry, &d, err);
	for (size_t i = 0; !ret && i < weft_registry_size(core); i++) {
		struct weft_probe_info info = {.struct_size = sizeof(info)};

		ret = weft_provider_plugin.probe_info(in, weft_registry_at(core, i), h->with, &info,
						      err);
	}
	if (in)
		weft_provider_plugin.close(in);
	armed = false;
	weft_registry_destroy(core);
	return ret;
}

Test(usdt_nomem, every_allocation_fails_once)
{
	char dir[] = "/tmp/weft-usdt-XXXXXX", command[64];
	const char *const options[] = {"stash", dir, NULL};
	struct test_host h = {0};

	cr_assert(mkdtemp(dir));
	test_host_start(&h, &weft_provider_plugin, options);
	/* Read once, so that later runs have it from the stash. */
	countdown = 0;
	cr_assert_eq(work(&h, "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1", h.err), 0);
	for (countdown = 1;; countdown++) {
		struct weft_error *err = weft_error_create();

		calls = 0;
		int ret = work(&h, "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1", err);
		if (calls < countdown) {
			cr_expect_eq(ret, 0, "%s", weft_error_text(err));
			weft_error_destroy(err);
			break;
		}
		if (ret)
			cr_expect_neq(weft_error_count(err), 0, "allocation %zu: %d is not said",
				      countdown, ret);
		weft_error_destroy(err);
		cr_assert_lt(countdown, 100000);
	}
	cr_expect_gt(countdown, 50);
	test_host_stop(&h);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	cr_expect_eq(system(command), 0);
}
