/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How long the uprobe provider's attach() and detach() take beside the bare system call with the
 * same places and cookies, in turns. The file is mapped, so that breakpoints are really written.
 * Time is the thread's own: attaching does not wait, and what detaching waits for (that the kernel
 * has left the breakpoints everywhere) is the same for both. On a machine that does other things,
 * time on the wall has now and then one turn in which somebody else had the processor.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "support/bpf.h"
#include "support/test_bpf.h"
#include "support/test_host.h"
#include "uprobe.h"

#define ROUNDS 15

extern const struct weft_provider weft_provider_plugin;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void least(double *to, double ms)
{
	if (!*to || ms < *to)
		*to = ms;
}

struct times {
	double attach, detach;
};

static void bare(int prog, const char *path, const uint64_t *offsets, const uint64_t *cookies,
		 uint32_t n, struct times *out)
{
	const struct support_uprobe_multi what = {
		.path = path, .offsets = offsets, .cookies = cookies, .count = n};
	double begin = now_ms();
	int fd = support_uprobe_multi_link(prog, &what);
	double made = now_ms();

	if (fd < 0)
		exit(1);
	close(fd);
	least(&out->attach, made - begin);
	least(&out->detach, now_ms() - made);
}

static void provided(struct test_host *h, int prog, const struct weft_attach_probe *probes,
		     uint32_t n, int32_t *status, struct times *out)
{
	uint32_t done, total;
	const char *unit;
	struct weft_attachment *at;
	const struct weft_attach_request request = {
		.struct_size = sizeof(request),
		.prog_fd = prog,
		.probes = probes,
		.n_probes = n,
		.probe_size = sizeof(*probes),
		.status = status,
		.done = &done,
		.total = &total,
		.unit = &unit,
	};
	double begin = now_ms();
	int ret = h->provider->attach(h->instance, &request, &at, h->err);
	double made = now_ms();

	if (ret || done != n)
		exit(1);
	h->provider->detach(h->instance, at);
	least(&out->attach, made - begin);
	least(&out->detach, now_ms() - made);
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = {1, 100, 1000, 10000};
	static struct test_host h;
	struct weft_probe_desc pattern = {.struct_size = sizeof(pattern),
					  .provider = "uprobe",
					  .module = argc > 1 ? argv[1] : "",
					  .function = "t[0-9]*",
					  .name = "entry"};
	struct weft_probe_info info = {.struct_size = sizeof(info)};
	char path[64];
	struct stat st;

	int fd = open(pattern.module, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) ||
	    mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return 1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	test_host_start(&h, &weft_provider_plugin, NULL);
	if (h.provider->populate_match(h.instance, h.registry, &pattern, h.err))
		return 1;
	uint32_t n = (uint32_t)weft_registry_size(h.core);
	struct weft_attach_probe *probes = calloc(n, sizeof(*probes));
	uint64_t *words = calloc(2 * (size_t)n, sizeof(*words));
	int32_t *status = calloc(n, sizeof(*status));
	if (n < 10000 || !probes || !words || !status)
		return 1;
	for (uint32_t i = 0; i < n; i++) {
		const struct weft_probe *p = weft_registry_at(h.core, i);
		const struct weft_uprobe_probe *u = (void *)(uintptr_t)weft_probe_data(p);

		h.provider->probe_info(h.instance, p, h.with, &info, h.err);
		probes[i] = (struct weft_attach_probe){.probe = p, .cookie = i, .with = h.with};
		words[i] = u->sites[0].offset;
		words[n + i] = i;
	}
	int prog = test_prog_empty(&info.load);
	if (prog < 0)
		return 1;
	printf("%6s %12s %12s %6s %12s %12s %6s\n", "sites", "attach ms", "bare ms", "ratio",
	       "detach ms", "bare ms", "ratio");
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		struct times ours = {0}, theirs = {0};

		for (int i = 0; i < ROUNDS; i++) {
			bare(prog, path, words, words + n, sizes[k], &theirs);
			provided(&h, prog, probes, sizes[k], status, &ours);
		}
		printf("%6u %12.2f %12.2f %6.2f %12.2f %12.2f %6.2f\n", sizes[k], ours.attach,
		       theirs.attach, ours.attach / theirs.attach, ours.detach, theirs.detach,
		       ours.detach / theirs.detach);
	}
	test_host_stop(&h);
	free(probes);
	free(words);
	free(status);
	return 0;
}
