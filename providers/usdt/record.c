/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "usdt/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ORDER 0x01020304u
static const char magic[8] = {'w', 'e', 'f', 't', 'u', 's', 'd', 't'};

static int64_t nanoseconds(const struct timespec *t)
{
	return (int64_t)((uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec);
}

void weft_usdt_key_of(const struct stat *st, struct weft_usdt_key *out)
{
	*out = (struct weft_usdt_key){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_ns = nanoseconds(&st->st_mtim),
		.ctime_ns = nanoseconds(&st->st_ctim),
	};
}

bool weft_usdt_key_same(const struct weft_usdt_key *a, const struct weft_usdt_key *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}

/* ---- checking ---- */

#define SUMMED offsetof(struct weft_usdt_record, key)

/* Against accidents, not against people: word by word, and the rest. */
static uint64_t checksum(const void *p, size_t n)
{
	const char *at = p;
	uint64_t h = 0x9e3779b97f4a7c15u ^ n, w;

	for (; n >= 8; n -= 8, at += 8) {
		memcpy(&w, at, 8);
		h = (h ^ w) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	w = 0;
	memcpy(&w, at, n);
	h = (h ^ w) * 0xc4ceb9fe1a85ec53u;
	return h ^ h >> 29;
}

void weft_usdt_record_seal(struct weft_usdt_record *r)
{
	r->checksum = checksum((const char *)r + SUMMED, r->total - SUMMED);
}

static bool check_texts(const struct weft_usdt_record *r)
{
	const struct weft_usdt_note *note = weft_usdt_notes(r);
	const struct weft_usdt_symbol *symbol = (const struct weft_usdt_symbol *)(note + r->n_notes);
	uint32_t size = r->texts_size;

	if (r->path >= size || r->soname >= size || weft_usdt_text(r, 0)[size - 1] != '\0')
		return false;
	for (uint32_t i = 0; i < r->n_notes; i++, note++)
		if (note->provider >= size || note->name >= size || note->args >= size)
			return false;
	for (uint32_t i = 0; i < r->n_symbols; i++, symbol++)
		if (symbol->name >= size)
			return false;
	return true;
}

bool weft_usdt_record_check(const void *p, size_t n)
{
	const struct weft_usdt_record *r = p;
	uint64_t texts;

	if (n < sizeof(*r) || n > WEFT_USDT_RECORD_MOST || memcmp(r->magic, magic, sizeof(magic)) ||
	    r->version != WEFT_USDT_RECORD_VERSION || r->order != ORDER || r->total != n)
		return false;
	texts = sizeof(*r) + r->n_notes * (uint64_t)sizeof(struct weft_usdt_note) +
		r->n_symbols * (uint64_t)sizeof(struct weft_usdt_symbol);
	if (r->texts != texts || !r->texts_size || texts + r->texts_size != n ||
	    r->build_id_size > sizeof(r->build_id))
		return false;
	if (r->checksum != checksum((const char *)p + SUMMED, n - SUMMED))
		return false;
	return check_texts(r);
}

int weft_usdt_record_find(void *record, const char *name, size_t n, uint64_t *address)
{
	const struct weft_usdt_record *r = record;
	const struct weft_usdt_symbol *s =
		(const struct weft_usdt_symbol *)(weft_usdt_notes(r) + r->n_notes);

	for (uint32_t i = 0; i < r->n_symbols; i++) {
		const char *text = weft_usdt_text(r, s[i].name);

		if (!strncmp(text, name, n) && text[n] == '\0') {
			*address = s[i].address;
			return 0;
		}
	}
	return -ENOENT;
}

/* ---- making ---- */

static int grow(void *array, size_t *capacity, size_t need, size_t size)
{
	void **a = array;
	size_t more = *capacity ? *capacity : 16;

	if (need <= *capacity)
		return 0;
	while (more < need)
		more *= 2;
	void *grown = reallocarray(*a, more, size);
	if (!grown)
		return -ENOMEM;
	*a = grown;
	*capacity = more;
	return 0;
}

int weft_usdt_draft_text(struct weft_usdt_draft *d, const char *text, size_t n, uint32_t *out)
{
	if (d->n_texts + n + 1 > WEFT_USDT_RECORD_MOST / 2)
		return -E2BIG;
	if (grow(&d->texts, &d->cap_texts, d->n_texts + n + 1, 1))
		return -ENOMEM;
	memcpy(d->texts + d->n_texts, text, n);
	d->texts[d->n_texts + n] = '\0';
	*out = (uint32_t)d->n_texts;
	d->n_texts += n + 1;
	return 0;
}

int weft_usdt_draft_note(struct weft_usdt_draft *d, const struct weft_usdt_note *note)
{
	if (d->n_notes >= WEFT_USDT_RECORD_MOST / 4 / sizeof(*note))
		return -E2BIG;
	if (grow(&d->notes, &d->cap_notes, d->n_notes + 1, sizeof(*note)))
		return -ENOMEM;
	d->notes[d->n_notes++] = *note;
	return 0;
}

int weft_usdt_draft_symbol(struct weft_usdt_draft *d, uint32_t name, uint64_t address)
{
	if (grow(&d->symbols, &d->cap_symbols, d->n_symbols + 1, sizeof(*d->symbols)))
		return -ENOMEM;
	d->symbols[d->n_symbols++] = (struct weft_usdt_symbol){.address = address, .name = name};
	return 0;
}

static int compare(const void *a, const void *b, void *draft)
{
	const struct weft_usdt_note *x = a, *y = b;
	const char *t = ((const struct weft_usdt_draft *)draft)->texts;
	int c = strcmp(t + x->provider, t + y->provider);

	if (!c)
		c = strcmp(t + x->name, t + y->name);
	if (!c)
		c = strcmp(t + x->args, t + y->args);
	return c ? c : x->address < y->address ? -1 : x->address > y->address;
}

struct weft_usdt_record *weft_usdt_draft_record(struct weft_usdt_draft *d,
						const struct weft_usdt_key *key, const char *path)
{
	struct weft_usdt_record *r;
	size_t notes, symbols, total;
	const char *name = d->soname ? d->soname : "";
	uint32_t at, soname;

	if (weft_usdt_draft_text(d, path, strlen(path), &at) ||
	    weft_usdt_draft_text(d, name, strlen(name), &soname))
		return NULL;
	if (d->n_notes)
		qsort_r(d->notes, d->n_notes, sizeof(*d->notes), compare, d);
	notes = d->n_notes * sizeof(*d->notes);
	symbols = d->n_symbols * sizeof(*d->symbols);
	total = sizeof(*r) + notes + symbols + d->n_texts;
	r = calloc(1, total);
	if (!r)
		return NULL;
	memcpy(r->magic, magic, sizeof(magic));
	r->version = WEFT_USDT_RECORD_VERSION;
	r->order = ORDER;
	r->total = total;
	r->key = *key;
	r->n_notes = (uint32_t)d->n_notes;
	r->n_symbols = (uint32_t)d->n_symbols;
	r->texts = (uint32_t)(total - d->n_texts);
	r->texts_size = (uint32_t)d->n_texts;
	r->path = at;
	r->soname = soname;
	r->dropped = d->dropped;
	r->machine = d->machine;
	r->build_id_size = d->build_id_size;
	memcpy(r->build_id, d->build_id, sizeof(r->build_id));
	if (notes)
		memcpy(r + 1, d->notes, notes);
	if (symbols)
		memcpy((char *)(r + 1) + notes, d->symbols, symbols);
	memcpy((char *)r + r->texts, d->texts, d->n_texts);
	weft_usdt_record_seal(r);
	return r;
}

void weft_usdt_draft_finish(struct weft_usdt_draft *d)
{
	free(d->notes);
	free(d->symbols);
	free(d->texts);
	memset(d, 0, sizeof(*d));
}
