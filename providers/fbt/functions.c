/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The functions of the kernel, and the probes that they make.
 *
 * All of /proc/kallsyms is read once, when a pattern first needs it, into an array and one pool of
 * text; probes are made of those functions that a pattern means. What ftrace can reach
 * (available_filter_functions) is what kprobes, fprobe and fentry can reach, so where that file can
 * be read it decides; where it cannot, everything that is code and is not known to be out of bounds
 * is listed, and attaching finds out.
 *
 * Static functions of one name are told apart by their order in memory: name@1, name@2, ... The
 * linker decides that order, so it is the same at every boot of one build of the kernel, whatever
 * address the kernel was loaded at. The number counts what the symbol table has, whether it can be
 * traced or not: whoever looks one name up (provide.c) must come to the same number without all
 * this.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fbt.h"

#define PLACE_MOST 16u /* bytes from a function's beginning to the place of its probe */

struct list {
	struct weft_instance *in;
	struct weft_fbt_ranges ranges;
	size_t first; /* of in->functions: those before were provided earlier */
	struct slot {
		uint32_t hash;
		uint32_t first; /* of the functions of this name and module + 1; 0: free */
	} * index;              /* open addressing */
	size_t size;
	bool *traceable; /* by function - first */
	const char *module;
	uint32_t module_at;
	uint32_t vmlinux_at;
	size_t n_traceable;
};

const char *weft_fbt_text(const struct weft_instance *in, uint32_t at)
{
	return in->pool.text + at;
}

int weft_fbt_pool_add(struct weft_fbt_pool *pool, const char *text, size_t length, uint32_t *at)
{
	if (pool->cap - pool->size <= length) {
		size_t cap = 2 * pool->cap + length + 4096;
		char *grown = cap < UINT32_MAX ? realloc(pool->text, cap) : NULL;

		if (!grown)
			return -ENOMEM;
		pool->text = grown;
		pool->cap = cap;
	}
	*at = (uint32_t)pool->size;
	memcpy(pool->text + pool->size, text, length);
	pool->size += length;
	pool->text[pool->size++] = '\0';
	return 0;
}

static int append(struct weft_instance *in, const struct weft_fbt_function *f)
{
	if (in->n_functions == in->cap_functions) {
		size_t cap = in->cap_functions ? 2 * in->cap_functions : 16;
		struct weft_fbt_function *grown = realloc(in->functions, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		in->functions = grown;
		in->cap_functions = cap;
	}
	in->functions[in->n_functions++] = *f;
	return 0;
}

int weft_fbt_add_function(struct weft_instance *in, const char *name, const char *module,
			  uint64_t address, uint32_t nth, uint32_t *out)
{
	struct weft_fbt_function f = {.address = address, .nth = nth};

	if (weft_fbt_pool_add(&in->pool, name, strlen(name), &f.name) ||
	    weft_fbt_pool_add(&in->pool, module, strlen(module), &f.module) || append(in, &f))
		return -ENOMEM;
	*out = (uint32_t)in->n_functions - 1;
	return 0;
}

struct weft_fbt_function *weft_fbt_function_of(struct weft_instance *in,
					       const struct weft_probe *probe, bool *is_return)
{
	uint64_t data = in->host->probe_data(probe);

	*is_return = data & 1;
	return &in->functions[data >> 1];
}

int weft_fbt_register(struct weft_instance *in, struct weft_registry *registry, uint32_t function,
		      const char *only, struct weft_error *err)
{
	const struct weft_fbt_function *f = &in->functions[function];
	static const char *const names[] = {"entry", "return"};
	struct weft_probe_desc desc = {
		.struct_size = sizeof(desc),
		.provider = "fbt",
		.module = weft_fbt_text(in, f->module),
		.function = weft_fbt_text(in, f->name),
	};
	char numbered[WEFT_FBT_NAME_MOST + 16];
	bool returns = !weft_fbt_never_returns(desc.function);

	if (f->nth) {
		snprintf(numbered, sizeof(numbered), "%s@%u", desc.function, f->nth);
		desc.function = numbered;
	}
	for (uint32_t k = 0; k < 2; k++) {
		int ret;

		if ((only && *only && strcmp(only, names[k])) || (k && !returns))
			continue;
		desc.name = names[k];
		ret = in->host->probe_add(registry, &desc, (uint64_t)function << 1 | k, NULL, err);
		if (ret && ret != -EEXIST)
			return ret;
	}
	return 0;
}

/* ---- the symbol table ---- */

static int take_symbol(void *arg, const struct weft_fbt_symbol *s)
{
	struct list *l = arg;
	struct weft_fbt_function f = {.address = s->address, .module = l->vmlinux_at};

	weft_fbt_ranges_mark(&l->ranges, s);
	if (!weft_fbt_is_function(s))
		return 0;
	if (strcmp(s->module, "vmlinux")) {
		/* A module's symbols follow each other. */
		if (!l->module || strcmp(weft_fbt_text(l->in, l->module_at), s->module)) {
			if (weft_fbt_pool_add(&l->in->pool, s->module, strlen(s->module),
					      &l->module_at))
				return -ENOMEM;
			l->module = "";
		}
		f.module = l->module_at;
	}
	if (weft_fbt_pool_add(&l->in->pool, s->name, s->length, &f.name))
		return -ENOMEM;
	return append(l->in, &f);
}

static uint32_t hash_text(const char *s)
{
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

	while (*s)
		h = (h ^ (unsigned char)*s++) * 0x100000001b3u;
	return (uint32_t)(h ^ h >> 29);
}

static struct slot *slot_of(const struct list *l, const char *name, const char *module)
{
	uint32_t hash = hash_text(name);
	size_t i = hash & (l->size - 1);

	for (; l->index[i].first; i = (i + 1) & (l->size - 1)) {
		const struct weft_fbt_function *f;

		if (l->index[i].hash != hash)
			continue;
		f = &l->in->functions[l->index[i].first - 1];
		if (!strcmp(weft_fbt_text(l->in, f->name), name) &&
		    !strcmp(weft_fbt_text(l->in, f->module), module))
			break;
	}
	l->index[i].hash = hash;
	return &l->index[i];
}

/* Numbers those that share a name. They come in order of their addresses. */
static int number(struct list *l)
{
	struct weft_instance *in = l->in;
	size_t n = in->n_functions - l->first, i;

	for (l->size = 1024; l->size < 2 * n; l->size *= 2)
		;
	l->index = calloc(l->size, sizeof(*l->index));
	if (!l->index)
		return -ENOMEM;
	for (i = l->first; i < in->n_functions; i++) {
		struct weft_fbt_function *f = &in->functions[i], *other;
		struct slot *slot;

		if (weft_fbt_is_init(&l->ranges, f->address))
			continue;
		slot = slot_of(l, weft_fbt_text(in, f->name), weft_fbt_text(in, f->module));
		if (!slot->first) {
			slot->first = (uint32_t)i + 1;
			continue;
		}
		for (other = &in->functions[slot->first - 1]; other->next;)
			other = &in->functions[other->next - 1];
		other->next = (uint32_t)i + 1;
		other->nth = other->nth ? other->nth : 1;
		f->nth = other->nth + 1;
	}
	return 0;
}

/* ---- what ftrace can reach ---- */

static int take_traceable(void *arg, const struct weft_fbt_symbol *s)
{
	struct list *l = arg;
	uint32_t i = slot_of(l, s->name, s->module)->first;

	for (; i; i = l->in->functions[i - 1].next) {
		const struct weft_fbt_function *f = &l->in->functions[i - 1];

		if (s->address && f->address &&
		    (s->address < f->address || s->address - f->address > PLACE_MOST))
			continue;
		l->traceable[i - 1 - l->first] = true;
		l->n_traceable++;
	}
	return 0;
}

static int take_typed(void *arg, const char *name)
{
	struct list *l = arg;

	for (uint32_t i = slot_of(l, name, "vmlinux")->first; i; i = l->in->functions[i - 1].next) {
		l->traceable[i - 1 - l->first] = true;
		l->n_traceable++;
	}
	return 0;
}

/* Without that file: what has a type was compiled from C. Assembly, which mostly cannot be traced,
 * has none. What gcc renamed has lost its type or not, as the kernel was built; modules are all C. */
static void settle_typed(struct list *l)
{
	const struct weft_host *host = l->in->host;
	size_t size = offsetof(struct weft_host, kernel_functions) + sizeof(host->kernel_functions);

	l->n_traceable = 0;
	if (host->struct_size >= size)
		host->kernel_functions(host, "vmlinux", take_typed, l, NULL);
	for (size_t i = l->first; i < l->in->n_functions; i++) {
		const struct weft_fbt_function *f = &l->in->functions[i];

		if (!l->n_traceable || f->module != l->vmlinux_at ||
		    strchr(weft_fbt_text(l->in, f->name), '.'))
			l->traceable[i - l->first] = true;
	}
}

static int settle_traceable(struct list *l)
{
	size_t n = l->in->n_functions - l->first;
	int ret;

	l->traceable = calloc(n + 1, sizeof(*l->traceable));
	if (!l->traceable)
		return -ENOMEM;
	ret = weft_fbt_read_traceable(take_traceable, l);
	if (ret == -ENOMEM)
		return ret;
	if (ret || !l->n_traceable) {
		settle_typed(l);
		l->in->host->log(l->in->host, WEFT_LOG_INFO,
				 "available_filter_functions cannot be read (%s): functions that "
				 "the kernel cannot trace may be listed",
				 ret ? strerror(-ret) : "it is empty");
	}
	return 0;
}

/* ---- all together ---- */

/* Which of them are listed, and how many are not. */
static void settle_listed(struct list *l)
{
	struct weft_instance *in = l->in;
	size_t unsafe = 0, forbidden = 0, fragments = 0, unreachable = 0;
	uint64_t last = 0;

	for (size_t i = l->first; i < in->n_functions; i++) {
		struct weft_fbt_function *f = &in->functions[i];
		const char *name = weft_fbt_text(in, f->name);

		if (weft_fbt_is_fragment(name)) {
			fragments++;
			continue;
		}
		if (weft_fbt_ranges_find(&l->ranges, f->address)) {
			forbidden++;
			continue;
		}
		if (!l->traceable[i - l->first]) {
			unreachable++;
			continue;
		}
		if (weft_fbt_unsafe(name)) {
			unsafe++;
			continue;
		}
		/* A second name of the same code is no second function; it can be asked for. */
		if (f->address && f->address == last)
			continue;
		last = f->address;
		f->listed = true;
	}
	in->host->log(in->host, WEFT_LOG_INFO,
		      "not listed: %zu functions that tracing runs through, %zu where no probe may "
		      "go, %zu that ftrace does not reach, %zu fragments",
		      unsafe, forbidden, unreachable, fragments);
}

static int read_all(struct weft_instance *in, struct weft_error *err)
{
	struct list l = {.in = in, .first = in->n_functions};
	int ret;

	ret = weft_fbt_pool_add(&in->pool, "vmlinux", strlen("vmlinux"), &l.vmlinux_at);
	if (!ret)
		ret = weft_fbt_read_symbols(take_symbol, &l);
	if (ret && ret != -ENOMEM) {
		in->host->fail(err, ret, "FBT_SYMBOLS", "/proc/kallsyms cannot be read: %s",
			       strerror(-ret));
		goto out;
	}
	if (!ret)
		ret = weft_fbt_ranges_settle(&l.ranges);
	if (!ret)
		ret = number(&l);
	if (!ret)
		ret = settle_traceable(&l);
	if (ret)
		in->host->fail(err, ret, "NO_MEMORY", "out of memory");
	else
		settle_listed(&l);
	in->all = !ret;
out:
	free(l.traceable);
	free(l.index);
	weft_fbt_ranges_finish(&l.ranges);
	return ret;
}

static bool field_fits(const struct weft_host *host, const char *field, const char *text)
{
	return !*field || !strcmp(field, "*") || host->field_match(field, text);
}

static int register_fitting(struct weft_instance *in, struct weft_registry *registry,
			    const struct weft_probe_desc *pattern, size_t *n, struct weft_error *err)
{
	const struct weft_host *host = in->host;
	bool entry = field_fits(host, pattern->name, "entry");
	bool both = entry && field_fits(host, pattern->name, "return"), fits = false;
	uint32_t module = UINT32_MAX; /* the one that `fits` is about; they come one by one */

	if (!entry && !field_fits(host, pattern->name, "return"))
		return 0;
	for (size_t i = 0; i < in->n_functions; i++) {
		const struct weft_fbt_function *f = &in->functions[i];
		const char *name = weft_fbt_text(in, f->name);
		char numbered[WEFT_FBT_NAME_MOST + 16];
		int ret;

		if (!f->listed)
			continue;
		if (f->module != module) {
			module = f->module;
			fits = field_fits(host, pattern->module, weft_fbt_text(in, module));
		}
		if (!fits)
			continue;
		if (f->nth) {
			snprintf(numbered, sizeof(numbered), "%s@%u", name, f->nth);
			name = numbered;
		}
		if (!field_fits(host, pattern->function, name))
			continue;
		ret = weft_fbt_register(in, registry, (uint32_t)i,
					both    ? NULL
					: entry ? "entry"
						: "return",
					err);
		if (ret)
			return ret;
		(*n)++;
	}
	return 0;
}

/* provide() has answered for it, and has said why not. */
static bool is_named(const struct weft_probe_desc *pattern)
{
	const char *const fields[] = {pattern->module, pattern->function, pattern->name};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strpbrk(fields[i], "*?[{\\"))
			return false;
	return *pattern->function != '\0';
}

int weft_fbt_populate_match(struct weft_instance *in, struct weft_registry *registry,
			    const struct weft_probe_desc *pattern, struct weft_error *err)
{
	static const struct weft_probe_desc any = {
		.struct_size = sizeof(any), .module = "", .function = "", .name = ""};
	size_t n = 0;
	int ret = 0;

	if (is_named(pattern))
		return 0;
	if (!in->all)
		ret = read_all(in, err);
	if (!ret)
		ret = register_fitting(in, registry, pattern, &n, err);
	/* None is meant: what there is serves to say which might have been. */
	if (!ret && !n)
		ret = register_fitting(in, registry, &any, &n, err);
	return ret;
}
