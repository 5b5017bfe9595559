/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From layouts to places. The kernel knows a place by inode and offset and shares its breakpoint
 * among all who ask for it; it also keeps the counter that a guarded site looks at (its semaphore),
 * in all processes that map the file now and later, as long as the event lives: so a tracer that is
 * killed leaves none raised. It keeps one counter for a place: who comes with another is refused.
 */
#include <errno.h>
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
	support_attachment_finish(&at->made);
	free(at->probes);
	free(at);
}

static int create(struct weft_instance *in, const struct weft_attach_request *request,
		  struct weft_attachment **out)
{
	struct weft_attachment *at = calloc(1, sizeof(*at));
	int ret;

	if (!at)
		return -ENOMEM;
	ret = support_attachment_init(&at->made, request);
	if (ret) {
		free(at);
		return ret;
	}
	at->probes = calloc(request->n_probes ? request->n_probes : 1, sizeof(*at->probes));
	if (!at->probes) {
		destroy(at);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < request->n_probes; i++) {
		const struct weft_attach_probe *r = weft_attach_probe_at(request, i);

		at->probes[i].probe =
			(struct weft_usdt_probe *)(uintptr_t)in->host->probe_data(r->probe);
		at->probes[i].cookie = r->cookie;
		at->probes[i].layout = r->layout;
	}
	*out = at;
	return 0;
}

/* ---- places ---- */

struct batch {
	struct support_places places;
	/* One descriptor a file, while places are made. */
	struct opened {
		struct weft_usdt_file *file;
		int fd; /* or -errno */
	} * files;
	size_t n_files, cap_files;
	bool no_memory;
};

static int open_file(struct batch *b, struct weft_usdt_file *f)
{
	for (size_t i = b->n_files; i-- > 0;)
		if (b->files[i].file == f)
			return b->files[i].fd;
	if (b->n_files == b->cap_files) {
		size_t cap = b->cap_files ? 2 * b->cap_files : 16;
		struct opened *grown = reallocarray(b->files, cap, sizeof(*grown));

		if (!grown) {
			b->no_memory = true;
			return -ENOMEM;
		}
		b->files = grown;
		b->cap_files = cap;
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
	support_places_finish(&b->places);
}

static void add_place(struct batch *b, const struct weft_usdt_run *run, uint32_t k, uint32_t owner,
		      uint64_t cookie)
{
	const struct weft_usdt_note *note = &weft_usdt_notes(run->file->record)[run->first + k];
	int fd = open_file(b, run->file);
	const struct support_place place = {
		.fd = fd,
		.offset = note->offset,
		.semaphore = note->semaphore == WEFT_USDT_LOST ? 0 : note->semaphore,
		.cookie = cookie,
		.owner = owner,
		.error = fd < 0                              ? fd
			 : note->semaphore == WEFT_USDT_LOST ? -ENXIO
							     : 0,
	};

	if (!b->no_memory && support_places_add(&b->places, &place))
		b->no_memory = true;
}

/* The places of sites that were not looked at yet. */
static void collect(struct batch *b, struct weft_attachment *at)
{
	for (uint32_t i = 0; i < at->made.n_probes; i++) {
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

/* ---- attaching ---- */

static const struct support_reason reasons[] = {
	{-EPERM, "USDT_DENIED", "it takes root, or CAP_BPF and CAP_PERFMON"},
	{-EACCES, "USDT_DENIED",
	 "it takes root, or CAP_BPF and CAP_PERFMON, and for events, as before Linux 6.6, also "
	 "CAP_SYS_ADMIN"},
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

static const struct support_reasons why = {reasons, sizeof(reasons) / sizeof(reasons[0]),
					   "USDT_ATTACH"};

/* What comes late and is not attached by anybody is counted when all is over. */
static void account(const struct weft_attachment *at, const int32_t *status, int failed)
{
	for (uint32_t i = 0; i < at->made.n_probes; i++) {
		struct weft_usdt_probe *p = at->probes[i].probe;

		if (!p->n_told)
			p->n_told = p->n_layouts;
		/* Where all processes have ended nobody fires it. */
		if ((!status[i] && !failed) || status[i] == -ESRCH)
			p->layouts[at->probes[i].layout].attached = true;
	}
}

int weft_usdt_attach(struct weft_instance *in, const struct weft_attach_request *request,
		     struct weft_attachment **out, struct weft_error *err)
{
	struct weft_attachment *at;
	struct batch b = {0};
	int ret = create(in, request, &at);

	if (ret == -EMFILE)
		return in->host->fail(err, ret, "USDT_DESCRIPTORS",
				      "there is no file descriptor left; raise the limit "
				      "(ulimit -n)");
	if (ret)
		return weft_usdt_nomem(in, err);
	weft_usdt_settle(in);
	collect(&b, at);
	ret = b.no_memory ? weft_usdt_nomem(in, err)
			  : support_attachment_make(&at->made, &in->uprobes, &b.places, request,
						    &why, err);
	close_files(&b);
	account(at, request->status, ret);
	if (ret) {
		destroy(at);
		return ret;
	}
	at->next = in->attachments;
	in->attachments = at;
	weft_usdt_watch(in);
	*out = at;
	return 0;
}

void weft_usdt_detach(struct weft_instance *in, struct weft_attachment *at)
{
	weft_usdt_account(in);
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
		uint64_t lost = 0;

		collect(&b, at);
		if (b.no_memory)
			in->host->loss(in->host, "USDT_SITES_LOST", 1, "out of memory");
		else
			support_attachment_extend(&at->made, &in->uprobes, &b.places, &why);
		for (size_t i = 0; i < b.places.n; i++)
			lost += b.places.at[i].error && b.places.at[i].error != -ESRCH;
		if (lost)
			in->host->loss(in->host, "USDT_SITES_LOST", lost, "a file that appeared");
		close_files(&b);
	}
}
