/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Probes: adding, exact look-up, retiring. registry_core.h says how they lie in memory. */
#include "core/base/registry_core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"

#define TABLE_AT_START 64u
_Static_assert(sizeof(struct weft_probe) == 32, "a probe is small");

struct weft_registry_core *weft_registry_create(void)
{
	struct weft_registry_core *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->key = weft_hash_key_random();
	if (weft_strings_init(&r->strings, r->key)) {
		free(r);
		return NULL;
	}
	return r;
}

void weft_registry_destroy(struct weft_registry_core *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_providers; i++) {
		free(r->providers[i]->probes);
		free(r->providers[i]);
	}
	for (size_t i = 0; i < r->n_chunks; i++)
		free(r->chunks[i]);
	free(r->providers);
	free(r->chunks);
	free(r->table);
	free(r->changed);
	weft_strings_finish(&r->strings);
	free(r);
}

/* ---- providers ---- */

struct weft_registry *weft_registry_handle(const struct weft_registry_core *r, uint32_t name)
{
	for (size_t i = 0; i < r->n_providers; i++) {
		if (r->providers[i]->name == name)
			return r->providers[i];
	}
	return NULL;
}

struct weft_registry *weft_registry_of(struct weft_registry_core *r, const char *provider)
{
	struct weft_registry *h;
	uint32_t name;

	if (strlen(provider) > WEFT_STRING_MOST || weft_strings_intern(&r->strings, provider, &name))
		return NULL;
	h = weft_registry_handle(r, name);
	if (h || r->n_providers > UINT16_MAX)
		return h;
	if (weft_grow(&r->providers, &r->cap_providers, r->n_providers,
		      sizeof(struct weft_registry *)))
		return NULL;
	h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	h->core = r;
	h->name = name;
	h->id = (uint16_t)r->n_providers;
	r->providers[r->n_providers++] = h;
	return h;
}

/* ---- the table ---- */

static uint64_t hash_of(const struct weft_registry_core *r, const uint32_t field[WEFT_N_FIELDS])
{
	uint64_t h = weft_hash_step(r->key, 0, (uint64_t)field[0] << 32 | field[1]);

	return weft_hash_step(r->key, h, (uint64_t)field[2] << 32 | field[3]);
}

/* The slot of the probe with these ids, or the free one where it would go. */
static uint32_t *find_slot(const struct weft_registry_core *r, uint32_t *table, size_t n_table,
			   const uint32_t field[WEFT_N_FIELDS])
{
	size_t i = hash_of(r, field) & (n_table - 1);

	while (table[i] != 0 && memcmp(weft_registry_probe(r, table[i] - 1)->field, field,
				       sizeof(uint32_t[WEFT_N_FIELDS])) != 0)
		i = (i + 1) & (n_table - 1);
	return &table[i];
}

static int make_table_room(struct weft_registry_core *r)
{
	size_t n = r->n_table ? r->n_table * 2 : TABLE_AT_START;
	uint32_t *table;

	if ((r->n + 1) * 4 <= r->n_table * 3)
		return 0;
	table = calloc(n, sizeof(*table));
	if (!table)
		return -ENOMEM;
	/* All are different. */
	for (size_t i = 0; i < r->n; i++) {
		size_t to = hash_of(r, weft_registry_probe(r, i)->field) & (n - 1);

		while (table[to] != 0)
			to = (to + 1) & (n - 1);
		table[to] = (uint32_t)i + 1;
	}
	free(r->table);
	r->table = table;
	r->n_table = n;
	return 0;
}

struct weft_probe *weft_registry_lookup(const struct weft_registry_core *r,
					const uint32_t field[WEFT_N_FIELDS])
{
	uint32_t slot;

	if (r->n_table == 0)
		return NULL;
	slot = *find_slot(r, r->table, r->n_table, field);
	return slot ? weft_registry_probe(r, slot - 1) : NULL;
}

/* ---- adding ---- */

/* The texts of a description by field; the provider is the handle's. False: its writer's struct is
 * shorter than any that there ever was. */
static bool desc_texts(const struct weft_probe_desc *d, const char *text[WEFT_N_FIELDS])
{
	if (d->struct_size < offsetof(struct weft_probe_desc, name) + sizeof(d->name))
		return false;
	text[WEFT_FIELD_PROVIDER] = "";
	text[WEFT_FIELD_MODULE] = d->module ? d->module : "";
	text[WEFT_FIELD_FUNCTION] = d->function ? d->function : "";
	text[WEFT_FIELD_NAME] = d->name ? d->name : "";
	return true;
}

/* The position of a control character, or -1. Those of Latin-1 are some too (as UTF-8, 0xc2 0x80 to
 * 0xc2 0x9f): a terminal may obey them. */
static long control_at(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	for (; *p != '\0'; p++) {
		if (*p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f))
			return (const char *)p - s;
	}
	return -1;
}

static int check_text(const struct weft_registry *h, enum weft_field f, const char *s,
		      struct weft_error *err)
{
	const char *provider = weft_strings_text(&h->core->strings, h->name);
	size_t n = strnlen(s, WEFT_STRING_MOST + 1);
	long at;

	if (n > WEFT_STRING_MOST)
		return weft_fail(err, -EINVAL, "PROBE_NAME_BAD",
				 "the %s of a probe of provider '%s' has more than %u bytes, "
				 "beginning with '%.40s'",
				 weft_field_names[f], provider, WEFT_STRING_MOST,
				 control_at(s) < 0 ? s : "");
	at = control_at(s);
	if (at >= 0)
		return weft_fail(err, -EINVAL, "PROBE_NAME_BAD",
				 "the %s of a probe of provider '%s' has a control character (0x%02x) "
				 "at byte %ld, after '%.*s'",
				 weft_field_names[f], provider, (unsigned char)s[at], at,
				 (int)(at < 40 ? at : 40), s);
	return 0;
}

static int make_room(struct weft_registry *h)
{
	struct weft_registry_core *r = h->core;
	struct weft_probe_chunk *chunk;

	if (r->n >= UINT32_MAX - 1 || weft_grow(&h->probes, &h->cap, h->n, sizeof(*h->probes)))
		return -ENOMEM;
	if (r->n < r->n_chunks * PROBES_A_CHUNK)
		return 0;
	if (weft_grow(&r->chunks, &r->cap_chunks, r->n_chunks, sizeof(void *)))
		return -ENOMEM;
	chunk = malloc(sizeof(*chunk));
	if (!chunk)
		return -ENOMEM;
	chunk->core = r;
	r->chunks[r->n_chunks++] = chunk;
	return 0;
}

static struct weft_probe *append(struct weft_registry *h, const uint32_t field[WEFT_N_FIELDS],
				 uint64_t data, uint32_t *slot)
{
	struct weft_registry_core *r = h->core;
	struct weft_probe *p = weft_registry_probe(r, r->n);

	*p = (struct weft_probe){.data = data, .index = (uint32_t)r->n, .provider = h->id};
	memcpy(p->field, field, sizeof(p->field));
	*slot = p->index + 1;
	h->probes[h->n++] = p->index;
	r->n++;
	return p;
}

static int note_change(struct weft_registry_core *r, struct weft_probe *p, uint16_t flag)
{
	if (!(p->flags & (PROBE_REVIVED | PROBE_EXTENDED))) {
		if (weft_grow(&r->changed, &r->cap_changed, r->n_changed, sizeof(*r->changed)))
			return -ENOMEM;
		r->changed[r->n_changed++] = p->index;
	}
	p->flags |= flag;
	return 0;
}

static int revive(struct weft_registry_core *r, struct weft_probe *p, uint64_t data)
{
	if (note_change(r, p, PROBE_REVIVED))
		return -ENOMEM;
	p->flags &= (uint16_t)~PROBE_RETIRED;
	p->data = data;
	return 0;
}

int weft_registry_add(struct weft_registry *h, const struct weft_probe_desc *d, uint64_t data,
		      const struct weft_probe **out, struct weft_error *err)
{
	struct weft_registry_core *r = h->core;
	const char *text[WEFT_N_FIELDS];
	uint32_t field[WEFT_N_FIELDS];
	struct weft_probe *p;
	uint32_t *slot;
	int rc = 0;

	if (out)
		*out = NULL;
	if (!desc_texts(d, text))
		return weft_fail(err, -EINVAL, "PROBE_NAME_BAD",
				 "a probe description of provider '%s' has struct_size %u; its "
				 "writer must set it to sizeof(struct weft_probe_desc)",
				 weft_strings_text(&r->strings, h->name), d->struct_size);
	field[WEFT_FIELD_PROVIDER] = h->name;
	for (enum weft_field f = WEFT_FIELD_MODULE; f < WEFT_N_FIELDS; f++) {
		field[f] = h->last[f];
		if (strcmp(text[f], weft_strings_text(&r->strings, field[f])) == 0)
			continue;
		rc = check_text(h, f, text[f], err);
		if (rc)
			return rc;
		if (weft_strings_intern(&r->strings, text[f], &field[f]))
			return weft_nomem(err);
		h->last[f] = field[f];
	}
	if (make_table_room(r))
		return weft_nomem(err);
	slot = find_slot(r, r->table, r->n_table, field);
	p = *slot ? weft_registry_probe(r, *slot - 1) : NULL;
	if (!p) {
		if (make_room(h))
			return weft_nomem(err);
		p = append(h, field, data, slot);
	} else if (p->flags & PROBE_RETIRED) {
		if (revive(r, p, data))
			return weft_nomem(err);
	} else {
		rc = -EEXIST;
	}
	if (out)
		*out = p;
	return rc;
}

const struct weft_probe *weft_registry_find(struct weft_registry *h, const struct weft_probe_desc *d)
{
	const char *text[WEFT_N_FIELDS];
	uint32_t field[WEFT_N_FIELDS];
	const struct weft_probe *p;

	if (!desc_texts(d, text))
		return NULL;
	field[WEFT_FIELD_PROVIDER] = h->name;
	for (enum weft_field f = WEFT_FIELD_MODULE; f < WEFT_N_FIELDS; f++) {
		field[f] = weft_strings_find(&h->core->strings, text[f]);
		if (field[f] == WEFT_STRING_NONE)
			return NULL;
	}
	p = weft_registry_lookup(h->core, field);
	return p && !(p->flags & PROBE_RETIRED) ? p : NULL;
}

void weft_registry_retire(struct weft_registry *h, const struct weft_probe *p)
{
	/* A plugin may confuse its probes with another's; that must not touch them. */
	if (!p || weft_probe_core(p) != h->core || p->provider != h->id)
		return;
	weft_registry_probe(h->core, p->index)->flags |= PROBE_RETIRED;
}

int weft_registry_extended(struct weft_registry *h, const struct weft_probe *probe)
{
	struct weft_probe *p;

	if (!probe || weft_probe_core(probe) != h->core || probe->provider != h->id)
		return 0;
	p = weft_registry_probe(h->core, probe->index);
	return p->flags & PROBE_RETIRED ? 0 : note_change(h->core, p, PROBE_EXTENDED);
}

const struct weft_probe *weft_registry_next_changed(struct weft_registry_core *r, bool *revived)
{
	while (r->next_changed < r->n_changed) {
		struct weft_probe *p = weft_registry_probe(r, r->changed[r->next_changed++]);

		*revived = p->flags & PROBE_REVIVED;
		p->flags &= (uint16_t) ~(PROBE_REVIVED | PROBE_EXTENDED);
		if (!(p->flags & PROBE_RETIRED))
			return p;
	}
	r->n_changed = r->next_changed = 0;
	return NULL;
}

size_t weft_registry_size(const struct weft_registry_core *r)
{
	return r->n;
}

const struct weft_probe *weft_registry_at(const struct weft_registry_core *r, size_t i)
{
	return i < r->n ? weft_registry_probe(r, i) : NULL;
}

void weft_registry_memory(const struct weft_registry_core *r, size_t *strings, size_t *rest)
{
	weft_strings_memory(&r->strings, strings, rest);
	*rest += sizeof(*r) + r->cap_chunks * sizeof(void *) + r->n_chunks * sizeof(**r->chunks);
	*rest += r->n_table * sizeof(*r->table) + r->cap_changed * sizeof(*r->changed);
	*rest += r->cap_providers * sizeof(void *);
	for (size_t i = 0; i < r->n_providers; i++)
		*rest += sizeof(**r->providers) + r->providers[i]->cap * sizeof(uint32_t);
}
