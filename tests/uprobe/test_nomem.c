/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every allocation fails once, each in a run of its own: of finding and describing probes, of
 * attaching them, of taking in a file that appears. Nothing crashes, nothing is lost, what fails
 * says so, and no descriptor stays open, so that nothing stays attached either.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "support/test_bpf.h"
#include "support/test_failing.h"
#include "support/test_host.h"
#include "uprobe.h"

#define PIE     UPROBE_PROGRAM_DIR "/pie-O2"
#define DEBUG   UPROBE_PROGRAM_DIR "/debug-O2"
#define MOVES   UPROBE_PROGRAM_DIR "/moves"
#define IFUNC   UPROBE_PROGRAM_DIR "/ifunc"
#define LIBRARY UPROBE_PROGRAM_DIR "/factor-2.so"

extern const struct weft_provider weft_provider_plugin;

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t m), (n, m))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(void *, reallocarray, (void *p, size_t n, size_t m), (p, n, m))
WRAP(char *, strdup, (const char *s), (s))
WRAP(char *, strndup, (const char *s, size_t n), (s, n))

/* What is asked for by name, with the types of a function that has some, and by patterns. */
static const struct weft_probe_desc wanted[] = {
#define WANTED(...)                                                                              \
	{                                                                                        \
		.struct_size = sizeof(struct weft_probe_desc), .provider = "uprobe", __VA_ARGS__ \
	}
	WANTED(.module = DEBUG, .function = "eight", .name = "entry"),
	WANTED(.module = PIE, .function = "eight", .name = "return"),
	WANTED(.module = PIE, .function = "eight", .name = "+0x0"),
	WANTED(.module = MOVES, .function = "main.small", .name = "return"),
	WANTED(.module = IFUNC, .function = "varied", .name = "entry"),
};
#undef WANTED

static char folder[32], there[64], appears[64], means[64];

static int find(struct weft_instance *in, struct weft_registry *registry, bool few,
		struct weft_error *err)
{
	const struct weft_probe_desc pattern = {.struct_size = sizeof(pattern),
						.provider = "uprobe",
						.module = PIE,
						.function = "f*",
						.name = "*"};
	const struct weft_probe_desc later = {.struct_size = sizeof(later),
					      .provider = "uprobe",
					      .module = means,
					      .function = "lib_*",
					      .name = "*"};
	size_t n = few ? 2 : sizeof(wanted) / sizeof(wanted[0]);
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++)
		ret = weft_provider_plugin.provide(in, registry, &wanted[i], err);
	if (!ret && !few)
		ret = weft_provider_plugin.populate_match(in, registry, &pattern, err);
	return ret ? ret : weft_provider_plugin.populate_match(in, registry, &later, err);
}

static int attach(struct test_host *h, struct weft_registry_core *core, int prog,
		  struct weft_attachment **at, struct weft_error *err)
{
	struct weft_attach_probe probes[64] = {{0}};
	int32_t status[64] = {0};
	uint32_t n = (uint32_t)weft_registry_size(core), done = 0, total = 0;
	const char *unit;
	const struct weft_attach_request request = {
		.struct_size = sizeof(request),
		.prog_fd = prog,
		.probes = probes,
		.n_probes = n,
		.probe_size = sizeof(probes[0]),
		.status = status,
		.done = &done,
		.total = &total,
		.unit = &unit,
	};

	cr_assert_lt(n, 64);
	for (uint32_t i = 0; i < n; i++)
		probes[i] = (struct weft_attach_probe){.probe = weft_registry_at(core, i),
						       .cookie = 2 * i,
						       .with = h->with,
						       .used_args = 1};
	int ret = weft_provider_plugin.attach(h->instance, &request, at, err);
	/* A link that there was no memory to keep costs its places, which says so. */
	for (uint32_t i = 0; !ret && i < n; i++)
		cr_expect(!status[i] || status[i] == -ENOMEM, "%d", status[i]);
	return ret;
}

/* A file that a pattern means is mapped. */
static int appear(struct test_host *h, struct weft_registry *registry, struct weft_error *err)
{
	struct weft_process_event ev = {.struct_size = sizeof(ev),
					.kind = WEFT_PROCESS_MMAP,
					.pid = getpid(),
					.address = 0x1000,
					.length = 0x1000,
					.text = appears};
	struct stat st;

	cr_assert_eq(symlink(LIBRARY, appears), 0);
	cr_assert_eq(stat(appears, &st), 0);
	ev.device_major = major(st.st_dev);
	ev.device_minor = minor(st.st_dev);
	ev.inode = st.st_ino;
	if (h->watch)
		h->watch(h->instance, &ev);
	int ret = weft_provider_plugin.discover(h->instance, registry, err);
	cr_assert_eq(unlink(appears), 0);
	return ret;
}

/* prog -1: nothing is attached, since that takes the kernel its time. Else it is only from
 * attaching on that memory is short. */
static int work(struct test_host *h, int prog, struct weft_error *err)
{
	struct weft_registry_core *core = weft_registry_create();
	struct weft_registry *registry = core ? weft_registry_of(core, "uprobe") : NULL;
	struct weft_attachment *at = NULL;
	int ret;

	cr_assert_not_null(registry);
	h->watch = NULL;
	h->instance = NULL;
	armed = prog < 0;
	ret = weft_provider_plugin.open(&h->host, h->params, &h->instance, err);
	if (!ret && weft_provider_plugin.discover_fd(h->instance) < 0)
		ret = -EMFILE;
	if (!ret)
		ret = find(h->instance, registry, prog >= 0, err);
	for (size_t i = 0; !ret && i < weft_registry_size(core); i++) {
		struct weft_probe_info info = {.struct_size = sizeof(info)};

		ret = weft_provider_plugin.probe_info(h->instance, weft_registry_at(core, i),
						      h->with, &info, err);
	}
	armed = true;
	if (!ret && prog >= 0)
		ret = attach(h, core, prog, &at, err);
	if (!ret && prog >= 0)
		ret = appear(h, registry, err);
	if (at)
		weft_provider_plugin.detach(h->instance, at);
	if (h->instance)
		weft_provider_plugin.close(h->instance);
	armed = false;
	weft_registry_destroy(core);
	return ret;
}

/* Objects with types belong to what the host remembers of a file. */
static void descriptors(char *buf, size_t size)
{
	test_descriptors(buf, size);
	for (char *line = buf, *end; (end = strchr(line, '\n'));) {
		if (memmem(line, (size_t)(end - line), "weft:types", 10))
			memmove(line, end + 1, strlen(end));
		else
			line = end + 1;
	}
}

static void every_allocation(const char *const *options, bool attaching, size_t least)
{
	static char before[65536], after[65536];
	struct weft_probe_info info = {.struct_size = sizeof(info)};
	struct weft_instance *first;
	struct test_host h = {0};
	const struct weft_probe *p;

	strcpy(folder, "/tmp/weft-nomem-XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
	snprintf(there, sizeof(there), "%s/there.so", folder);
	cr_assert_eq(symlink(UPROBE_PROGRAM_DIR "/factor-3.so", there), 0);
	snprintf(appears, sizeof(appears), "%s/late.so", folder);
	snprintf(means, sizeof(means), "%s/*.so", folder);
	test_host_start(&h, &weft_provider_plugin, options);
	p = test_host_probe(&h, PIE, "eight", "entry");
	cr_assert_not_null(p);
	test_host_info(&h, p, &info);
	int prog = attaching ? test_prog_empty(&info.load) : -1;
	cr_assert(!attaching || prog >= 0);
	first = h.instance;
	/* Once with everything, which also tells what the files say to those that come after. */
	countdown = 0;
	cr_assert_eq(work(&h, prog, h.err), 0, "%s", weft_error_text(h.err));
	descriptors(before, sizeof(before));
	for (countdown = 1;; countdown++) {
		struct weft_error *err = weft_error_create();

		calls = 0;
		int ret = work(&h, prog, err);
		if (ret)
			cr_expect_neq(weft_error_count(err), 0, "allocation %zu: %d is not said",
				      countdown, ret);
		descriptors(after, sizeof(after));
		cr_expect_str_eq(after, before, "allocation %zu", countdown);
		if (calls < countdown) {
			cr_expect_eq(ret, 0, "%s", weft_error_text(err));
			weft_error_destroy(err);
			break;
		}
		weft_error_destroy(err);
		cr_assert_lt(countdown, 100000);
	}
	cr_expect_gt(countdown, least, "%zu", countdown);
	h.instance = first;
	if (attaching)
		close(prog);
	test_host_stop(&h);
	cr_expect(!unlink(there) && !rmdir(folder));
}

Test(uprobe_nomem, finding_and_describing)
{
	every_allocation(NULL, false, 80);
}

Test(uprobe_nomem, attaching_and_what_appears)
{
	every_allocation(NULL, true, 15);
}

Test(uprobe_nomem, attaching_by_the_other_mechanism)
{
	every_allocation((const char *const[]){"mechanism", "perf", NULL}, true, 15);
}
