/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/elf/region.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

int weft_region_init(struct weft_region *r, size_t zone)
{
	void *p;

	*r = (struct weft_region){.zone = zone, .records = WEFT_REGION_HEAD};
	p = mmap(NULL, zone * 2, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
		 -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	r->base = p;
	return 0;
}

void weft_region_finish(struct weft_region *r)
{
	if (r->base)
		munmap(r->base, r->zone * 2);
	r->base = NULL;
}

void *weft_region_record(struct weft_region *r, size_t size)
{
	size_t at = (r->records + 7) & ~(size_t)7;

	if (at > r->zone || size > r->zone - at)
		return NULL;
	r->records = at + size;
	return r->base + at;
}

const void *weft_region_bytes(struct weft_region *r, const void *bytes, size_t n)
{
	size_t at = r->zone + r->strings;

	/* The last byte is the parent's. */
	if (n >= r->zone - 1 || r->strings >= r->zone - 1 - n)
		return NULL;
	memcpy(r->base + at, bytes, n);
	r->strings += n + 1; /* the region was zeroed by the kernel */
	return (const void *)(uintptr_t)at;
}

const char *weft_region_string(struct weft_region *r, const char *s)
{
	return weft_region_bytes(r, s, strlen(s));
}

const void *weft_region_offset(const struct weft_region *r, const void *p)
{
	return p ? (const void *)(uintptr_t)((const char *)p - r->base) : NULL;
}
