/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reading one file: mapped here, parsed in the jail, checked here, kept while it is used.
 *
 * The file is parsed once for itself. Only if it turns out to have no .symtab, and its user wants
 * the symbols of a separate debug file, and there is one, a second worker reads both together.
 *
 * A few files that nobody uses any more stay, since the next to ask for libc is rarely far away. A
 * file's identity is its device, inode, size and times; one that was written to a moment before it
 * was read is not kept, as a second change might leave the same times.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/elf/check.h"
#include "core/elf/internal.h"
#include "core/elf/open.h"

#define SPARE_MOST 4u /* files that are kept without a user */
#define SETTLED_NS 100000000u

struct weft_elf_reader *weft_elf_reader_create(const struct weft_elf_limits *limits)
{
	struct weft_elf_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	if (limits)
		r->limits = *limits;
	if (!r->limits.time_ns)
		r->limits.time_ns = 5000000000u;
	if (!r->limits.memory)
		r->limits.memory = 1ull << 30;
	if (!r->limits.result)
		r->limits.result = 512ull << 20;
	if (!r->limits.file)
		r->limits.file = 8ull << 30;
	elf_version(EV_CURRENT);
	return r;
}

static void entry_destroy(struct weft_elf_entry *e)
{
	if (!e)
		return;
	weft_region_finish(&e->region);
	weft_elf_answers_destroy(e->answers);
	free(e->debug_file);
	free(e);
}

void weft_elf_reader_destroy(struct weft_elf_reader *r)
{
	if (!r)
		return;
	while (r->entries) {
		struct weft_elf_entry *e = r->entries;

		r->entries = e->next;
		entry_destroy(e);
	}
	free(r);
}

int weft_elf_map(int fd, uint64_t most, const char *path, struct weft_elf_mapped *out,
		 struct weft_error *err)
{
	char magic[SELFMAG];
	ssize_t n;
	void *p;

	*out = (struct weft_elf_mapped){0};
	if (fstat(fd, &out->st))
		return weft_fail(err, -errno, "ELF_UNREADABLE", "%s: %s", path, strerror(errno));
	if (!S_ISREG(out->st.st_mode))
		return weft_fail(err, -ENOEXEC, "ELF_NOT_REGULAR", "%s is no regular file", path);
	if ((uint64_t)out->st.st_size > most)
		return weft_fail(err, -EFBIG, "ELF_TOO_LARGE",
				 "%s has %llu MiB, more than the %llu MiB that are read", path,
				 (unsigned long long)out->st.st_size >> 20,
				 (unsigned long long)(most >> 20));
	/* Most files that are no ELF files are so for everyone to see. */
	n = pread(fd, magic, sizeof(magic), 0);
	if (n < 0)
		return weft_fail(err, -errno, "ELF_UNREADABLE", "%s: %s", path, strerror(errno));
	if (n != sizeof(magic) || memcmp(magic, ELFMAG, SELFMAG) != 0)
		return weft_fail(err, -ENOEXEC, "ELF_NOT_ELF", "%s is no ELF file", path);
	/* Writable, since libelf unpacks sections in place: in the child's copy of a page. */
	p = mmap(NULL, (size_t)out->st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
		 fd, 0);
	if (p == MAP_FAILED)
		return weft_fail(err, -errno, "ELF_UNREADABLE", "%s: %s", path, strerror(errno));
	out->bytes = p;
	out->size = (size_t)out->st.st_size;
	return 0;
}

void weft_elf_unmap(struct weft_elf_mapped *m)
{
	if (m->bytes)
		munmap(m->bytes, m->size);
	m->bytes = NULL;
}

/* Room for what a file of that size may say: reserved, not used. */
static size_t zone_for(const struct weft_elf_reader *r, uint64_t bytes)
{
	uint64_t most = r->limits.result, want;

	want = bytes > most / 16 ? most : bytes * 16 + (1u << 20);
	return (size_t)((want < most ? want : most) + 4095) & ~(size_t)4095;
}

static int run(struct weft_elf_reader *r, const struct weft_elf_job *job, const char *path,
	       struct weft_region *region, struct weft_elf_result **out, struct weft_error *err)
{
	int ret = weft_region_init(region, zone_for(r, job->size + job->debug_size));

	if (ret)
		return weft_fail(err, ret, "ELF_WORKER_START", "%s: no memory for what it says: %s",
				 path, strerror(-ret));
	ret = weft_jail_run(weft_elf_work, job, region, r->limits.time_ns, r->limits.memory, path,
			    err);
	if (!ret)
		ret = weft_elf_check(region, job->size, path, out, err);
	if (ret)
		weft_region_finish(region);
	return ret;
}

/* Reads once more with the separate debug file, if there is one that serves. A debug file that does
 * not is no error: without it less is known, and nothing wrong. */
static void add_debug_file(struct weft_elf_reader *r, struct weft_elf_job *job,
			   const struct weft_elf_request *request,
			   const struct weft_elf_mapped *self, struct weft_elf_entry *e,
			   struct weft_elf_result **result)
{
	struct weft_elf_search s = {
		.request = request, .elf = &(*result)->elf, .debug_link = (*result)->debug_link};
	struct weft_elf_mapped debug;
	struct weft_region region;
	struct weft_elf_result *better;

	while (weft_elf_search_next(&s)) {
		int ret = weft_elf_map_debug(r, &s, self, &debug);

		if (ret)
			continue;
		job->debug = debug.bytes;
		job->debug_size = debug.size;
		job->by_link = s.by_link;
		job->debug_crc = (*result)->debug_crc;
		ret = run(r, job, s.path, &region, &better, NULL);
		weft_elf_unmap(&debug);
		if (ret)
			continue;
		weft_region_finish(&e->region);
		e->region = region;
		*result = better;
		e->debug_file = strdup(s.path); /* without it, nobody says where they came from */
		return;
	}
}

bool weft_elf_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static bool settled(const struct stat *st)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (now.tv_sec - st->st_ctim.tv_sec) * 1000000000ll + now.tv_nsec - st->st_ctim.tv_nsec >
	       SETTLED_NS;
}

static struct weft_elf_entry *known(struct weft_elf_reader *r,
				    const struct weft_elf_request *request)
{
	struct stat st;

	if (fstat(request->fd, &st))
		return NULL;
	for (struct weft_elf_entry *e = r->entries; e; e = e->next)
		if (e->settled && weft_elf_same_file(&e->st, &st) && !(request->want & ~e->want))
			return e;
	return NULL;
}

int weft_elf_take_request(const struct weft_elf_request *given, struct weft_elf_request *out,
			  struct weft_error *err)
{
	*out = (struct weft_elf_request){.fd = -1};
	if (given && given->struct_size >= offsetof(struct weft_elf_request, root))
		memcpy(out, given,
		       given->struct_size < sizeof(*out) ? given->struct_size : sizeof(*out));
	if (out->fd < 0 ||
	    out->want & ~(WEFT_ELF_WANT_FUNCTIONS | WEFT_ELF_WANT_DATA | WEFT_ELF_WANT_DEMANGLED |
			  WEFT_ELF_WANT_NOTES | WEFT_ELF_WANT_DEBUG))
		return weft_fail(err, -EINVAL, "ELF_REQUEST",
				 "an ELF file was asked for in a way that makes no sense");
	return 0;
}

struct weft_elf_entry *weft_elf_entry_of(struct weft_elf_reader *r, const struct weft_elf *elf)
{
	struct weft_elf_entry *e;

	for (e = r->entries; e && &e->elf != elf; e = e->next)
		;
	return e && e->users ? e : NULL;
}

int weft_elf_read(struct weft_elf_reader *r, const struct weft_elf_request *given,
		  const struct weft_elf **out, struct weft_error *err)
{
	struct weft_elf_request request;
	struct weft_elf_result *result = NULL;
	struct weft_elf_mapped self;
	struct weft_elf_entry *e;
	struct weft_elf_job job;
	const char *path;
	int ret = weft_elf_take_request(given, &request, err);

	*out = NULL;
	if (ret)
		return ret;
	path = request.path ? request.path : "this file";
	e = known(r, &request);
	if (e) {
		e->users++;
		*out = &e->elf;
		return 0;
	}
	ret = weft_elf_map(request.fd, r->limits.file, path, &self, err);
	if (ret)
		return ret;
	e = calloc(1, sizeof(*e));
	if (!e) {
		weft_elf_unmap(&self);
		return weft_nomem(err);
	}
	job = (struct weft_elf_job){.want = request.want, .image = self.bytes, .size = self.size};
	e->settled = settled(&self.st); /* before it is read */
	ret = run(r, &job, path, &e->region, &result, err);
	if (!ret && request.want & WEFT_ELF_WANT_DEBUG && !result->has_symtab)
		add_debug_file(r, &job, &request, &self, e, &result);
	weft_elf_unmap(&self);
	if (ret) {
		free(e);
		return ret;
	}
	e->elf = result->elf;
	e->elf.debug_file = e->debug_file;
	e->debug_link = result->debug_link;
	e->debug_crc = result->debug_crc;
	e->st = self.st;
	e->want = request.want;
	e->users = 1;
	e->next = r->entries;
	r->entries = e;
	*out = &e->elf;
	return 0;
}

void weft_elf_release(struct weft_elf_reader *r, const struct weft_elf *elf)
{
	struct weft_elf_entry **at, *e = weft_elf_entry_of(r, elf);
	unsigned int spare = 0;

	if (!e) /* NULL, or a plugin's mistake */
		return;
	e->users--;
	for (at = &r->entries; *at;) {
		e = *at;
		if (e->users || (e->settled && ++spare <= SPARE_MOST)) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		entry_destroy(e);
	}
}
