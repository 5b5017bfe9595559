/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From layouts to places. The kernel knows a place by inode and offset and shares its breakpoint
 * among all who ask for it; it also keeps the counter that a guarded site looks at (its semaphore),
 * in all processes that map the file now and later, as long as the event lives: so a tracer that is
 * killed leaves none raised. It keeps one counter for a place: who comes with another is refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "usdt/usdt.h"

void weft_usdt_settle(struct weft_instance *in)
{
	support_uprobes_settle(&in->uprobes, in->host,
			       !strcmp(in->host->param_string(in->params, "mechanism"), "perf"));
}

static void destroy(struct weft_attachment *at)
{
	if (!at)
		return;
	support_fds_close(&at->fds);
	if (at->prog_fd >= 0)
		close(at->prog_fd);
	free(at->probes);
	free(at);
}

static struct weft_attachment *create(struct weft_instance *in,
				      const struct weft_attach_request *request)
{
	struct weft_attachment *at = calloc(1, sizeof(*at));

	if (!at)
		return NULL;
	at->prog_fd = fcntl(request->prog_fd, F_DUPFD_CLOEXEC, 0);
	at->n_probes = request->n_probes;
	at->probes = calloc(request->n_probes ? request->n_probes : 1, sizeof(*at->probes));
	if (at->prog_fd < 0 || !at->probes) {
		destroy(at);
		return NULL;
	}
	for (uint32_t i = 0; i < request->n_probes; i++) {
		const struct weft_attach_probe *r = weft_attach_probe_at(request, i);

		at->probes[i].probe =
			(struct weft_usdt_probe *)(uintptr_t)in->host->probe_data(r->probe);
		at->probes[i].cookie = r->cookie;
		at->probes[i].layout = r->layout;
	}
	return at;
}

/* ---- places ---- */

struct batch {
	struct support_place *places;
	size_t n, cap;
	/* One descriptor a file, while places are made. */
	struct opened {
		struct weft_usdt_file *file;
		int fd; /* or -errno */
	} * files;
	size_t n_files, cap_files;
	bool no_memory;
};

static bool more(void *array, size_t *cap, size_t n, size_t size)
{
	void **a = array;

	if (n < *cap)
		return true;
	size_t wanted = *cap ? 2 * *cap : 16;
	void *grown = reallocarray(*a, wanted, size);
	if (!grown)
		return false;
	*a = grown;
	*cap = wanted;
	return true;
}

static int open_file(struct batch *b, struct weft_usdt_file *f)
{
	for (size_t i = b->n_files; i-- > 0;)
		if (b->files[i].file == f)
			return b->files[i].fd;
	if (!more(&b->files, &b->cap_files, b->n_files, sizeof(*b->files))) {
		b->no_memory = true;
		return -ENOMEM;
	}
	b->files[b->n_files] = (struct opened){.file = f, .fd = weft_usdt_file_open(f)};
	return b->files[b->n_files++].fd;
}

static void close_files(struct batch *b)
{
	for (size_t i = 0; i < b->n_files; i++)
		if (b->files[i].fd >= 0)
			close(b->files[i].fd);
	free(b->files);
	free(b->places);
}

static void add_place(struct batch *b, const struct weft_usdt_run *run, uint32_t k, uint32_t owner,
		      uint64_t cookie)
{
	const struct weft_usdt_note *note = &weft_usdt_notes(run->file->record)[run->first + k];
	int fd = open_file(b, run->file);

	if (b->no_memory || !more(&b->places, &b->cap, b->n, sizeof(*b->places))) {
		b->no_memory = true;
		return;
	}
	b->places[b->n++] = (struct support_place){
		.fd = fd,
		.offset = note->offset,
		.semaphore = note->semaphore == WEFT_USDT_LOST ? 0 : note->semaphore,
		.cookie = cookie,
		.owner = owner,
		.error = fd < 0                              ? fd
			 : note->semaphore == WEFT_USDT_LOST ? -ENXIO
							     : 0,
	};
}

/* The places of sites that were not looked at yet. */
static void collect(struct batch *b, struct weft_attachment *at)
{
	for (uint32_t i = 0; i < at->n_probes; i++) {
		struct weft_usdt_attached *a = &at->probes[i];
		uint32_t site = 0;

		for (uint32_t r = 0; r < a->probe->n_runs; r++)
			for (uint32_t k = 0; k < a->probe->runs[r].count; k++, site++)
				if (site >= a->n_sites && site < a->probe->n_placed &&
				    a->probe->layout_of[site] == a->layout)
					add_place(b, &a->probe->runs[r], k, i, a->cookie);
		a->n_sites = a->probe->n_placed;
	}
}

/* Those that can be asked for, first. */
static size_t good_first(struct batch *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++) {
		if (b->places[i].error)
			continue;
		struct support_place p = b->places[n];

		b->places[n++] = b->places[i];
		b->places[i] = p;
	}
	return n;
}

/* ---- results ---- */

static const struct reason {
	int code;
	const char *tag, *text;
} reasons[] = {
	{-EPERM, "USDT_DENIED", "it takes root, or CAP_BPF and CAP_PERFMON"},
	{-EACCES, "USDT_DENIED", "it takes root, or CAP_BPF and CAP_PERFMON"},
	{-EMFILE, "USDT_DESCRIPTORS",
	 "this kernel takes a file descriptor for each site; raise the limit (ulimit -n)"},
	{-ENOMEM, "NO_MEMORY", "out of memory"},
	{-EINVAL, "USDT_SEMAPHORE",
	 "the kernel refuses it: somebody traces the same place with another semaphore"},
	{-ENXIO, "USDT_SEMAPHORE", "its semaphore lies nowhere in the file"},
	{-ESTALE, "USDT_REPLACED", "its file was replaced after it was read"},
	{-ENOENT, "USDT_REPLACED", "its file is gone"},
	{-EOPNOTSUPP, "USDT_INSTRUCTION",
	 "the kernel cannot put a probe on the instruction that is there"},
	{-ENODEV, "USDT_UNSUPPORTED", "this kernel has no uprobes"},
	{-ESRCH, "USDT_NO_PROCESS", "the target's processes have ended"},
};

static const struct reason *reason_of(int code)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].code == code)
			return &reasons[i];
	return NULL;
}

static const char *why(int code)
{
	const struct reason *r = reason_of(code);

	return r ? r->text : strerror(-code);
}

static int fail_attach(struct weft_instance *in, const struct weft_usdt_probe *p, int code,
		       struct weft_error *err)
{
	const struct reason *r = reason_of(code);
	struct weft_probe_desc d = {.struct_size = sizeof(d)};

	in->host->probe_desc(p->registered, &d);
	return in->host->fail(err, code, r ? r->tag : "USDT_ATTACH", "%s:%s:%s cannot be probed: %s",
			      d.module, d.function, d.name, why(code));
}

/* A probe is attached if one site of it is; what is lacking is said. */
static uint32_t report(struct weft_instance *in, const struct weft_attachment *at,
		       const struct batch *b, int32_t *status)
{
	uint32_t good = 0;

	for (uint32_t i = 0; i < at->n_probes; i++)
		status[i] = -ENOENT;
	for (size_t i = 0; i < b->n; i++)
		if (!b->places[i].error || status[b->places[i].owner] == -ENOENT)
			status[b->places[i].owner] = b->places[i].error;
	for (size_t i = 0; i < b->n; i++) {
		struct weft_probe_desc d = {.struct_size = sizeof(d)};
		const struct support_place *p = &b->places[i];

		if (!p->error || status[p->owner])
			continue;
		in->host->probe_desc(at->probes[p->owner].probe->registered, &d);
		in->host->log(in->host, WEFT_LOG_WARNING, "a site of %s:%s:%s is not traced: %s",
			      d.module, d.function, d.name, why(p->error));
	}
	for (uint32_t i = 0; i < at->n_probes; i++)
		good += !status[i];
	return good;
}

int weft_usdt_attach(struct weft_instance *in, const struct weft_attach_request *request,
		     struct weft_attachment **out, struct weft_error *err)
{
	struct weft_attachment *at = create(in, request);
	struct batch b = {0};
	uint32_t good = 0;
	int ret = -ENOMEM;

	weft_usdt_settle(in);
	if (at)
		collect(&b, at);
	if (at && !b.no_memory)
		ret = support_uprobes_attach(&in->uprobes, at->prog_fd, b.places, good_first(&b),
					     &at->fds);
	if (!ret)
		good = report(in, at, &b, request->status);
	close_files(&b);
	if (ret) {
		destroy(at);
		return weft_usdt_nomem(in, err);
	}
	if (!good) {
		ret = fail_attach(in, at->probes[0].probe, request->status[0], err);
		destroy(at);
		return ret;
	}
	*request->done = good;
	*request->total = request->n_probes;
	*request->unit = "probes";
	at->next = in->attachments;
	in->attachments = at;
	weft_usdt_watch(in);
	*out = at;
	return 0;
}

void weft_usdt_detach(struct weft_instance *in, struct weft_attachment *at)
{
	for (struct weft_attachment **p = &in->attachments; *p; p = &(*p)->next) {
		if (*p == at) {
			*p = at->next;
			break;
		}
	}
	destroy(at);
}

void weft_usdt_extend(struct weft_instance *in)
{
	for (struct weft_attachment *at = in->attachments; at; at = at->next) {
		struct batch b = {0};
		int ret = -ENOMEM;

		collect(&b, at);
		if (!b.no_memory)
			ret = support_uprobes_attach(&in->uprobes, at->prog_fd, b.places,
						     good_first(&b), &at->fds);
		for (size_t i = 0; i < b.n; i++)
			if (ret || b.places[i].error)
				in->host->log(in->host, WEFT_LOG_WARNING,
					      "a site in a file that appeared is not traced: %s",
					      why(ret ? ret : b.places[i].error));
		close_files(&b);
	}
}
