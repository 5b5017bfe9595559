/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How the registry lies in memory
 * -------------------------------
 * A probe is 32 bytes: ids of its interned strings, its provider's number, the provider's own 64
 * bits. Probes lie in chunks, so that pointers to them hold however many follow. A probe's index
 * says where in its chunk it lies, hence where the chunk begins, which knows the registry: so a
 * probe alone leads to its texts without holding a pointer.
 *
 * Beside the probes there are: a table of indexes by the hash of a probe's ids, open addressing,
 * never more than three quarters full; for each provider the indexes of its probes, ascending; the
 * table of interned strings. Each doubles when it is full. Together they come to 32 + 5..11 + 4..8
 * + 11..22 bytes a probe, if it has one string to itself.
 */
#ifndef WEFT_CORE_BASE_REGISTRY_CORE_H
#define WEFT_CORE_BASE_REGISTRY_CORE_H

#include "core/base/strings.h"
#include "core/registry.h"

#define PROBES_A_CHUNK 1024u

enum {
	PROBE_RETIRED = 1u,
	PROBE_REVIVED = 2u,  /* waits in core->changed */
	PROBE_EXTENDED = 4u, /* waits there, too */
};

struct weft_probe {
	uint64_t data;
	uint32_t index;
	uint32_t field[WEFT_N_FIELDS]; /* string ids */
	uint16_t provider;             /* index into core->providers */
	uint16_t flags;
};

struct weft_probe_chunk {
	struct weft_registry_core *core;
	struct weft_probe probes[PROBES_A_CHUNK];
};

/* A provider's handle. */
struct weft_registry {
	struct weft_registry_core *core;
	uint32_t name; /* string id */
	uint16_t id;   /* its index in core->providers */
	uint32_t *probes;
	size_t n, cap;
	uint32_t last[WEFT_N_FIELDS]; /* string ids of the probe that was added last: the next is much alike */
};

struct weft_registry_core {
	struct weft_hash_key key;
	struct weft_strings strings;
	struct weft_probe_chunk **chunks;
	size_t n_chunks, cap_chunks;
	size_t n;        /* probes */
	uint32_t *table; /* index + 1; 0: free */
	size_t n_table;  /* a power of two, or 0 */
	struct weft_registry **providers;
	size_t n_providers, cap_providers;
	uint32_t *changed;
	size_t n_changed, cap_changed, next_changed;
};

static inline struct weft_probe *weft_registry_probe(const struct weft_registry_core *r, size_t i)
{
	return &r->chunks[i / PROBES_A_CHUNK]->probes[i % PROBES_A_CHUNK];
}

static inline struct weft_registry_core *weft_probe_core(const struct weft_probe *p)
{
	const struct weft_probe *first = p - p->index % PROBES_A_CHUNK;

	return ((const struct weft_probe_chunk *)((const char *)first -
						  offsetof(struct weft_probe_chunk, probes)))
		->core;
}

static inline const char *weft_probe_text(const struct weft_registry_core *r,
					  const struct weft_probe *p, enum weft_field f)
{
	return weft_strings_text(&r->strings, p->field[f]);
}

/* The probe with exactly these ids, retired ones too; NULL: none. */
struct weft_probe *weft_registry_lookup(const struct weft_registry_core *r,
					const uint32_t field[WEFT_N_FIELDS]);
/* The handle of a provider whose name has this id, or NULL. */
struct weft_registry *weft_registry_handle(const struct weft_registry_core *r, uint32_t name);

/* A pattern made ready for many probes: exact fields are compared by id, and a glob remembers what
 * it said of the last text, as neighbours often share one. */
struct weft_matcher {
	const struct weft_registry_core *core;
	bool nothing; /* an exact field has a text that no probe has anywhere */
	struct weft_field_matcher {
		enum { MATCH_ANY, MATCH_EXACT, MATCH_GLOB } kind;
		uint32_t id;      /* EXACT; WEFT_STRING_NONE: matches nothing */
		const char *glob; /* GLOB; borrowed from the pattern */
		uint32_t last;    /* GLOB: the text last tried, and the answer */
		bool last_matched;
	} field[WEFT_N_FIELDS];
};

void weft_matcher_init(struct weft_matcher *m, const struct weft_registry_core *r,
		       const struct weft_pattern *p);
bool weft_matcher_field(struct weft_matcher *m, const struct weft_probe *p, enum weft_field f);

#endif
