/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * kprobe_multi: one link for all. The kernel takes all of the addresses or none and does not say
 * which one it does not like, so a refused batch is halved until the bad ones stand alone; with
 * `n` bad ones among N that is at most n * log2(N) links tried, and a failed link costs a look at a
 * table. The halves that were taken stay: a session has as many links as it took.
 *
 * An address has one cookie in a link. Two names of one function go into different links.
 *
 * An address of 0 is not known (the symbol table is hidden): then the names go in.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "fbt.h"
#include "support/bpf.h"

#define TRIES_MOST 4096u

struct site {
	uint64_t address, cookie;
	const char *symbol;
	uint32_t probe; /* index in the request */
	uint32_t round; /* how many of this address come before */
};

struct batch {
	const struct weft_attach_request *request;
	struct weft_attachment *at;
	struct site *sites;
	uint64_t *addresses, *cookies;
	const char **symbols;
	uint32_t tries;
	bool is_return, by_name;
};

static int by_address(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->probe < y->probe ? -1 : x->probe > y->probe;
}

static int by_round(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	if (x->round != y->round)
		return x->round < y->round ? -1 : 1;
	return by_address(a, b);
}

static int link_of(struct batch *b, uint32_t first, uint32_t n)
{
	struct support_kprobe_multi what = {
		.addresses = b->by_name ? NULL : b->addresses + first,
		.symbols = b->by_name ? b->symbols + first : NULL,
		.cookies = b->cookies + first,
		.count = n,
		.flags = b->is_return ? BPF_F_KPROBE_MULTI_RETURN : 0,
	};
	int link = support_kprobe_multi_link(b->request->prog_fd, &what);

	b->tries++;
	return link < 0 ? link : weft_fbt_keep(b->at, link);
}

/* One of a kind of error that one function among many makes, and not the whole. */
static bool is_of_a_function(int code)
{
	return code == -EINVAL || code == -ESRCH || code == -ENOENT || code == -EADDRNOTAVAIL ||
	       code == -EILSEQ || code == -EBUSY;
}

static void attach_range(struct batch *b, uint32_t first, uint32_t n)
{
	int ret = link_of(b, first, n);

	if (ret && n > 1 && is_of_a_function(ret) && b->tries < TRIES_MOST) {
		attach_range(b, first, n / 2);
		attach_range(b, first + n / 2, n - n / 2);
		return;
	}
	for (uint32_t i = first; i < first + n; i++)
		b->request->status[b->sites[i].probe] = ret;
}

static void fill(struct weft_instance *in, struct batch *b)
{
	uint32_t n = b->request->n_probes;

	for (uint32_t i = 0; i < n; i++) {
		const struct weft_attach_probe *p = weft_attach_probe_at(b->request, i);
		const struct weft_fbt_function *f =
			weft_fbt_function_of(in, p->probe, &b->is_return);

		b->sites[i] = (struct site){.address = f->address,
					    .cookie = p->cookie,
					    .symbol = weft_fbt_text(in, f->name),
					    .probe = i};
		b->by_name |= !f->address;
	}
	qsort(b->sites, n, sizeof(*b->sites), by_address);
	for (uint32_t i = 1; i < n; i++)
		if (b->sites[i].address == b->sites[i - 1].address && b->sites[i].address)
			b->sites[i].round = b->sites[i - 1].round + 1;
	qsort(b->sites, n, sizeof(*b->sites), by_round);
	for (uint32_t i = 0; i < n; i++) {
		b->addresses[i] = b->sites[i].address;
		b->cookies[i] = b->sites[i].cookie;
		b->symbols[i] = b->sites[i].symbol;
	}
}

int weft_fbt_attach_multi(struct weft_instance *in, const struct weft_attach_request *request,
			  struct weft_attachment *at, struct weft_error *err)
{
	struct batch b = {.request = request, .at = at};
	uint32_t n = request->n_probes, first = 0;
	int ret = -ENOMEM;

	b.sites = calloc(n, sizeof(*b.sites));
	b.addresses = calloc(n, sizeof(*b.addresses));
	b.cookies = calloc(n, sizeof(*b.cookies));
	b.symbols = calloc(n, sizeof(*b.symbols));
	if (!b.sites || !b.addresses || !b.cookies || !b.symbols) {
		in->host->fail(err, ret, "NO_MEMORY", "out of memory");
		goto out;
	}
	fill(in, &b);
	for (uint32_t i = 1; i <= n; i++) {
		if (i < n && b.sites[i].round == b.sites[first].round)
			continue;
		attach_range(&b, first, i - first);
		first = i;
	}
	in->host->log(in->host, WEFT_LOG_INFO, "%u %s probes in %zu kprobe_multi link%s", n,
		      b.is_return ? "return" : "entry", at->n_links, at->n_links == 1 ? "" : "s");
	ret = 0;
out:
	free(b.symbols);
	free(b.cookies);
	free(b.addresses);
	free(b.sites);
	return ret;
}
