/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Kernel symbols from /proc/kallsyms, read once, when the first kernel address is to be named.
 *
 * The file has some 5 MB and 120,000 lines. Kept as an array of strings it would cost more than
 * everything else that the tool holds, so it is packed while it streams by. Text symbols of vmlinux
 * come in address order; each becomes an entry
 *
 *	varint (distance from the entry before << 1 | is_prefix)    name, NUL
 *
 * and every BLOCK_ENTRIES-th entry is noted with its address and place, for the binary search. On
 * kernels built with call padding each function f has a second symbol __pfx_f some bytes before
 * it: half of all symbols. Such an entry has no name of its own (is_prefix); it is that of the next
 * entry. Together that is about 15 bytes a symbol. The distances are from the first symbol, in 32
 * bits: vmlinux's text is never near 4 GB.
 *
 * Symbols of modules and BPF programs come in no order; they go to an ordinary array.
 *
 * kallsyms has no sizes: a symbol extends to the next one, in vmlinux at most to _etext. Elsewhere
 * a gap may follow, so there a symbol covers at most LOOSE_REACH bytes.
 */
#include "core/symbols/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/arena.h"

#define BLOCK_ENTRIES 32u
#define LOOSE_REACH   65536u
#define LINE_MOST     4096u /* longer lines are no symbols of ours */
#define NAME_MOST     1024u /* the kernel's own limit is 512 */
#define PREFIX        "__pfx_"
#define PREFIX_LENGTH (sizeof(PREFIX) - 1)

bool weft_symbol_better(const char *a, bool a_global, const char *b, bool b_global)
{
	size_t a_under = strspn(a, "_"), b_under = strspn(b, "_");
	size_t a_length = strlen(a), b_length = strlen(b);

	if (a_global != b_global)
		return a_global;
	if (a_under != b_under)
		return a_under < b_under;
	if (a_length != b_length)
		return a_length < b_length;
	return strcmp(a, b) < 0;
}

/* ---- building ---- */

struct entry {
	uint64_t address;
	bool used, global;
	char name[NAME_MOST];
};

struct builder {
	struct weft_kallsyms *k;
	struct weft_texts *strings;
	struct entry now;    /* the best name so far of the address at hand */
	struct entry before; /* complete, but whether its name must be kept shows in the next one */
	uint64_t written;    /* address of the last entry in stream */
	bool past_text;
	bool any, any_address;
};

static int put_bytes(struct weft_kallsyms *k, const void *p, size_t n)
{
	if (k->stream_cap - k->stream_size < n) {
		size_t cap = k->stream_cap + k->stream_cap / 2 + 65536 + n;
		uint8_t *stream = realloc(k->stream, cap);

		if (!stream)
			return -ENOMEM;
		k->stream = stream;
		k->stream_cap = cap;
	}
	memcpy(k->stream + k->stream_size, p, n);
	k->stream_size += n;
	return 0;
}

static int put_entry(struct builder *b, const struct entry *e, const struct entry *next)
{
	struct weft_kallsyms *k = b->k;
	bool prefix = next && strncmp(e->name, PREFIX, PREFIX_LENGTH) == 0 &&
		      strcmp(e->name + PREFIX_LENGTH, next->name) == 0;
	uint64_t head = (e->address - b->written) << 1 | prefix;
	uint8_t bytes[10];
	size_t n = 0;
	int r;

	if (k->n % BLOCK_ENTRIES == 0) {
		r = weft_grow(&k->blocks, &k->cap_blocks, k->n_blocks, sizeof(*k->blocks));
		if (r)
			return r;
		k->blocks[k->n_blocks++] = (struct weft_kallsyms_block){
			.address = (uint32_t)(e->address - k->base),
			.offset = (uint32_t)k->stream_size,
		};
	}
	for (; head >= 0x80; head >>= 7)
		bytes[n++] = (uint8_t)(head | 0x80);
	bytes[n++] = (uint8_t)head;
	r = put_bytes(k, bytes, n);
	if (!r && !prefix)
		r = put_bytes(k, e->name, strlen(e->name) + 1);
	if (r)
		return r;
	b->written = e->address;
	k->n++;
	return 0;
}

/* The address at hand is complete: writes the one before it. */
static int advance(struct builder *b)
{
	int r = b->before.used ? put_entry(b, &b->before, b->now.used ? &b->now : NULL) : 0;

	b->before = b->now;
	b->now.used = false;
	return r;
}

static int module_index(struct builder *b, const char *name, size_t length, uint16_t *index)
{
	struct weft_kallsyms *k = b->k;
	const char *module;
	char bracketed[80];
	int r;

	/* What is no module keeps its brackets: a module may be named bpf. */
	if ((length == 3 && memcmp(name, "bpf", 3) == 0) ||
	    (length > 2 && length < sizeof(bracketed) - 2 && memcmp(name, "__", 2) == 0)) {
		bracketed[0] = '[';
		memcpy(bracketed + 1, name, length);
		bracketed[length + 1] = ']';
		name = bracketed;
		length += 2;
	}
	module = weft_texts_intern(b->strings, name, length);
	if (!module)
		return -ENOMEM;
	if (!k->n_modules || k->modules[k->n_modules - 1] != module) {
		if (k->n_modules == UINT16_MAX)
			return 1;
		r = weft_grow(&k->modules, &k->cap_modules, k->n_modules, sizeof(*k->modules));
		if (r)
			return r;
		k->modules[k->n_modules++] = module;
	}
	*index = (uint16_t)(k->n_modules - 1);
	return 0;
}

static int add_loose(struct builder *b, uint64_t address, bool global, const char *name,
		     const char *module, size_t module_length)
{
	struct weft_kallsyms *k = b->k;
	size_t n = strlen(name) + 1;
	uint16_t index;
	int r = module_index(b, module, module_length, &index);

	if (r)
		return r < 0 ? r : 0;
	r = weft_grow(&k->loose, &k->cap_loose, k->n_loose, sizeof(*k->loose));
	if (r)
		return r;
	if (k->names_cap - k->names_size < n) {
		size_t cap = k->names_cap + k->names_cap / 2 + 4096 + n;
		char *names = realloc(k->names, cap);

		if (!names)
			return -ENOMEM;
		k->names = names;
		k->names_cap = cap;
	}
	memcpy(k->names + k->names_size, name, n);
	k->loose[k->n_loose++] = (struct weft_kallsyms_loose){
		.address = address,
		.name = (uint32_t)k->names_size,
		.module = index,
		.global = global,
	};
	k->names_size += n;
	return 0;
}

static int add_vmlinux(struct builder *b, uint64_t address, bool global, const char *name)
{
	struct weft_kallsyms *k = b->k;
	int r;

	if (strcmp(name, "_stext") == 0)
		k->stext = address;
	if (strcmp(name, "_etext") == 0) {
		k->etext = address;
		b->past_text = true;
		return 0;
	}
	if (b->past_text) /* code of the start-up: freed, and its place used for other things */
		return 0;
	if (b->now.used && address == b->now.address) {
		if (weft_symbol_better(name, global, b->now.name, b->now.global)) {
			strcpy(b->now.name, name);
			b->now.global = global;
		}
		return 0;
	}
	if (b->now.used && address < b->now.address)
		return add_loose(b, address, global, name, "vmlinux", strlen("vmlinux"));
	if (!b->now.used && !k->n)
		k->base = b->written = address;
	if (address - k->base > UINT32_MAX)
		return 0;
	r = advance(b);
	if (r)
		return r;
	b->now.used = true;
	b->now.address = address;
	b->now.global = global;
	strcpy(b->now.name, name);
	return 0;
}

/* "ffffffff81000000 T name\t[module]"; lines that are not so are passed over. */
static int add_line(struct builder *b, char *line)
{
	char *p, *name, *module;
	uint64_t address = strtoull(line, &p, 16);
	char type;

	if (p == line || p[0] != ' ' || !p[1] || p[2] != ' ')
		return 0;
	type = p[1];
	if (!strchr("tTwW", type))
		return 0;
	b->any = true;
	if (!address)
		return 0;
	b->any_address = true;
	name = p + 3;
	module = strchr(name, '\t');
	if (module)
		*module++ = '\0';
	if (!*name || *name == '$' || strlen(name) >= NAME_MOST)
		return 0;
	if (!module)
		return add_vmlinux(b, address, type != 't', name);
	if (module[0] != '[' || strlen(module) < 3)
		return 0;
	return add_loose(b, address, type != 't', name, module + 1, strlen(module) - 2);
}

static int read_lines(struct builder *b, int fd, char *buf, size_t size)
{
	size_t have = 0;
	bool skipping = false;

	for (;;) {
		ssize_t got = read(fd, buf + have, size - have - 1);
		char *line = buf, *end;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got) {
			buf[have] = '\0';
			return have && !skipping ? add_line(b, buf) : 0;
		}
		have += (size_t)got;
		while ((end = memchr(line, '\n', have - (size_t)(line - buf)))) {
			int r = 0;

			*end = '\0';
			if (!skipping)
				r = add_line(b, line);
			skipping = false;
			if (r)
				return r;
			line = end + 1;
		}
		have -= (size_t)(line - buf);
		memmove(buf, line, have);
		if (have >= LINE_MOST) {
			skipping = true;
			have = 0;
		}
	}
}

/* By address, the better name first. */
static int compare_loose(const void *va, const void *vb, void *arg)
{
	const struct weft_kallsyms_loose *a = va, *b = vb;
	const char *names = arg;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (weft_symbol_better(names + a->name, a->global, names + b->name, b->global))
		return -1;
	return weft_symbol_better(names + b->name, b->global, names + a->name, a->global);
}

static void sort_loose(struct weft_kallsyms *k)
{
	size_t n = 0;

	if (!k->n_loose)
		return;
	qsort_r(k->loose, k->n_loose, sizeof(*k->loose), compare_loose, k->names);
	for (size_t i = 0; i < k->n_loose; i++)
		if (!n || k->loose[i].address != k->loose[n - 1].address)
			k->loose[n++] = k->loose[i];
	k->n_loose = n;
}

/* Gives back what growing in steps took too much. */
static void trim(struct weft_kallsyms *k)
{
	uint8_t *stream = k->stream_size ? realloc(k->stream, k->stream_size) : NULL;

	if (stream) {
		k->stream = stream;
		k->stream_cap = k->stream_size;
	}
}

int weft_kallsyms_load(struct weft_kallsyms *k, const char *path, struct weft_texts *strings)
{
	const size_t size = 16384;
	struct builder *b = calloc(1, sizeof(*b));
	char *buf = malloc(size);
	int r = -ENOMEM, fd = -1;

	*k = (struct weft_kallsyms){0};
	if (!b || !buf)
		goto out;
	b->k = k;
	b->strings = strings;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		r = -errno;
		goto out;
	}
	r = read_lines(b, fd, buf, size);
	if (!r)
		r = advance(b);
	if (!r)
		r = advance(b);
	if (r)
		goto out;
	k->hidden = b->any && !b->any_address;
	sort_loose(k);
	trim(k);
out:
	if (fd >= 0)
		close(fd);
	if (r)
		weft_kallsyms_finish(k);
	free(buf);
	free(b);
	return r;
}

void weft_kallsyms_finish(struct weft_kallsyms *k)
{
	free(k->stream);
	free(k->blocks);
	free(k->loose);
	free(k->names);
	free(k->modules);
	*k = (struct weft_kallsyms){0};
}

size_t weft_kallsyms_memory(const struct weft_kallsyms *k)
{
	return k->stream_cap + k->cap_blocks * sizeof(*k->blocks) +
	       k->cap_loose * sizeof(*k->loose) + k->names_cap +
	       k->cap_modules * sizeof(*k->modules);
}

/* ---- looking up ---- */

struct cursor {
	const uint8_t *p;
	uint64_t address;
	bool prefix;
	const char *name; /* NULL with prefix */
};

static void decode(struct cursor *c)
{
	uint64_t head = 0;
	unsigned int shift = 0;

	do
		head |= (uint64_t)(*c->p & 0x7f) << shift;
	while (shift += 7, *c->p++ & 0x80);
	c->address += head >> 1;
	c->prefix = head & 1;
	c->name = NULL;
	if (!c->prefix) {
		c->name = (const char *)c->p;
		c->p += strlen(c->name) + 1;
	}
}

static const char *find_packed(const struct weft_kallsyms *k, uint64_t address,
			       struct weft_texts *strings, uint64_t *start)
{
	size_t low = 0, high = k->n_blocks, i;
	struct cursor c, found;
	char name[PREFIX_LENGTH + NAME_MOST];

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (k->base + k->blocks[middle].address <= address)
			low = middle;
		else
			high = middle;
	}
	c = (struct cursor){.p = k->stream + k->blocks[low].offset};
	decode(&c);
	c.address = k->base + k->blocks[low].address; /* what was decoded is a distance */
	found = c;
	for (i = low * BLOCK_ENTRIES + 1; i < k->n; i++) {
		decode(&c);
		if (c.address > address)
			break;
		found = c;
	}
	*start = found.address;
	if (!found.prefix)
		return weft_texts_intern(strings, found.name, strlen(found.name));
	if (c.p == found.p)
		decode(&c);
	memcpy(name, PREFIX, PREFIX_LENGTH);
	strcpy(name + PREFIX_LENGTH, c.name ? c.name : "");
	return weft_texts_intern(strings, name, strlen(name));
}

const char *weft_kallsyms_find(const struct weft_kallsyms *k, uint64_t address,
			       struct weft_texts *strings, uint64_t *start, const char **module)
{
	size_t low = 0, high = k->n_loose;
	const struct weft_kallsyms_loose *e;

	/* What came out of order goes first: it is the exception and has addresses of its own. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (k->loose[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	e = low ? &k->loose[low - 1] : NULL;
	if (e && address - e->address < LOOSE_REACH) {
		*start = e->address;
		*module = k->modules[e->module];
		return weft_texts_intern(strings, k->names + e->name, strlen(k->names + e->name));
	}
	if (!k->n || address < k->base || address < k->stext || (k->etext && address >= k->etext) ||
	    (!k->etext && address - k->base > UINT32_MAX))
		return NULL;
	*module = "vmlinux";
	return find_packed(k, address, strings, start);
}
