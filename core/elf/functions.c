/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Types of functions for providers. The worker leaves one BTF object and, for each address, the id
 * of a function in it. BTF has a reader that treats it as hostile (core/btf), so beyond ids and
 * strings there is nothing to check: names, sizes and prototypes are read from the object, and
 * where arguments lie follows from their types (abi_*.c). The object goes into a memfd, whose
 * descriptor providers hand on in struct weft_arg_type.
 */
#include <errno.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/btf/btf.h"
#include "core/elf/abi.h"
#include "core/elf/check.h"
#include "core/elf/internal.h"
#include "core/elf/open.h"

#define ADDRESSES_MOST (1u << 20)
#define TEXT_MOST      480u

/* What one call handed out. */
struct weft_elf_answer {
	struct weft_elf_answer *next;
	struct weft_arena *arena;
	int fd; /* of the BTF object; -1: none */
};

void weft_elf_answers_destroy(struct weft_elf_answer *a)
{
	while (a) {
		struct weft_elf_answer *next = a->next;

		weft_arena_destroy(a->arena);
		if (a->fd >= 0)
			close(a->fd);
		free(a);
		a = next;
	}
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* ---- the worker's part ---- */

static int run(struct weft_elf_reader *r, const struct weft_elf_types_job *job, const char *path,
	       struct weft_region *region, struct weft_elf_types_result **out,
	       struct weft_error *err)
{
	/* Types may be many for few functions: what they lead to comes along. */
	int ret = weft_region_init(region, (size_t)r->limits.result);

	if (ret)
		return weft_fail(err, ret, "ELF_WORKER_START", "%s: no memory for what it says: %s",
				 path, strerror(-ret));
	ret = weft_jail_run(weft_elf_work_types, job, region, r->limits.time_ns, r->limits.memory,
			    path, err);
	if (!ret)
		ret = weft_elf_check_types(region, job, path, out, err);
	if (ret)
		weft_region_finish(region);
	return ret;
}

static bool has_section(const struct weft_elf *elf, const char *name)
{
	for (uint32_t i = 0; i < elf->n_sections; i++)
		if (!strcmp(weft_elf_section_at(elf, i)->name, name) &&
		    weft_elf_section_at(elf, i)->type != SHT_NOBITS)
			return true;
	return false;
}

struct attempt {
	struct weft_elf_reader *r;
	struct weft_elf_types_job *job;
	struct weft_region *region;
	struct weft_elf_types_result **out;
};

static int try_debug_file(void *arg, const char *path)
{
	const struct attempt *a = arg;

	return run(a->r, a->job, path, a->region, a->out, NULL);
}

/* ---- the parent's part ---- */

struct teller {
	const struct weft_elf *elf;
	const struct weft_btf *btf;
	struct weft_arena *arena;
	int fd;
};

static bool tell_type(const struct teller *t, uint32_t id, const struct weft_abi_place *place,
		      struct weft_arg_type *out)
{
	struct weft_btf_type of;
	char text[TEXT_MOST];
	uint64_t size = 0;

	*out = (struct weft_arg_type){.struct_size = sizeof(*out), .space = WEFT_SPACE_USER};
	out->text =
		weft_arena_strdup(t->arena, weft_btf_print(t->btf, id, NULL, text, sizeof(text)));
	if (!out->text)
		return false;
	if (!place->n_ops) { /* it has to be something, and is not read */
		out->kind = WEFT_TYPE_INT;
		out->size = 8;
		return true;
	}
	/* What has a place is a single number. */
	if (!weft_btf_strip(t->btf, id, &of, NULL) || !weft_btf_size(t->btf, id, &size))
		size = 8;
	out->size = (uint32_t)size;
	if (of.kind == BTF_KIND_INT) {
		out->kind = WEFT_TYPE_INT;
		out->flags = weft_btf_int_is_signed(&of) ? WEFT_TYPE_SIGNED : 0;
	} else {
		out->kind = WEFT_TYPE_BTF;
		out->btf_fd = t->fd;
		out->btf_id = id;
	}
	return true;
}

static bool tell_place(const struct teller *t, const struct weft_abi_place *place,
		       struct weft_location *out)
{
	if (!place->n_ops)
		return true;
	out->ops = weft_arena_memdup(t->arena, place->ops, place->n_ops * sizeof(place->ops[0]));
	out->n_ops = place->n_ops;
	return out->ops;
}

/* A name that a clause can say. */
static bool is_identifier(const char *s)
{
	if (!*s || (*s >= '0' && *s <= '9'))
		return false;
	for (; *s; s++)
		if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
		      (*s >= '0' && *s <= '9') || *s == '_'))
			return false;
	return true;
}

static int tell_function(const struct teller *t, const struct weft_elf_typed *from,
			 struct weft_elf_function *out)
{
	struct weft_abi_place places[WEFT_MAX_ARGS], result = {.n_ops = 0};
	uint32_t types[WEFT_MAX_ARGS], n;
	struct weft_btf_type func, proto;
	struct weft_btf_param p;
	struct weft_arg *args;
	char text[TEXT_MOST];

	if (!from->func || !weft_btf_type(t->btf, from->func, &func) || func.kind != BTF_KIND_FUNC ||
	    !weft_btf_type(t->btf, func.type, &proto) || proto.kind != BTF_KIND_FUNC_PROTO)
		return -ENOENT;
	n = proto.vlen;
	if (n) {
		weft_btf_param(t->btf, &proto, n - 1, &p);
		if (!p.type) {
			out->variadic = 1;
			n--;
		}
	}
	if (n > WEFT_MAX_ARGS)
		return -ENOENT;
	args = weft_arena_array(t->arena, n ? n : 1, sizeof(*args));
	out->prototype = weft_arena_strdup(
		t->arena, weft_btf_print(t->btf, func.id, NULL, text, sizeof(text)));
	if (!args || !out->prototype)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		weft_btf_param(t->btf, &proto, i, &p);
		types[i] = p.type;
	}
	if (!weft_abi_places(t->elf->machine, t->btf, types, n, proto.type,
			     from->flags & WEFT_ELF_HIDDEN_RESULT, places, &result))
		return -ENOENT;
	for (uint32_t i = 0; i < n; i++) {
		weft_btf_param(t->btf, &proto, i, &p);
		args[i].struct_size = sizeof(args[i]);
		args[i].unreadable = places[i].unreadable;
		if (is_identifier(p.name)) {
			args[i].name = weft_arena_strdup(t->arena, p.name);
			if (!args[i].name)
				return -ENOMEM;
		}
		if (!tell_type(t, p.type, &places[i], &args[i].type) ||
		    !tell_place(t, &places[i], &args[i].where))
			return -ENOMEM;
	}
	if (result.n_ops && (!tell_type(t, proto.type, &result, &out->retval_type) ||
			     !tell_place(t, &result, &out->retval)))
		return -ENOMEM;
	if (from->file) {
		out->file = weft_arena_strdup(t->arena, from->file);
		out->line = from->line;
		if (!out->file)
			return -ENOMEM;
	}
	out->args = args;
	out->n_args = n;
	out->arg_size = sizeof(*args);
	return 0;
}

/* Parts that an optimiser made of a function, or versions of it for constant arguments, take other
 * arguments than were written. */
static bool is_made_over(const struct weft_elf *elf, uint64_t address)
{
	static const char *const marks[] = {".isra.", ".constprop.", ".part.", ".cold"};

	for (uint32_t i = weft_elf_symbol_from(elf, address);
	     i < elf->n_symbols && weft_elf_symbol_at(elf, i)->address == address; i++)
		for (size_t k = 0; k < sizeof(marks) / sizeof(marks[0]); k++)
			if (strstr(weft_elf_symbol_at(elf, i)->name, marks[k]))
				return true;
	return false;
}

static int keep_object(const struct weft_elf_types_result *r, struct weft_elf_answer *answer,
		       struct weft_btf **btf, const char *path, struct weft_error *err)
{
	void *bytes;
	int ret;

	*btf = NULL;
	if (!r->btf_size)
		return 0;
	bytes = malloc(r->btf_size);
	if (!bytes)
		return weft_nomem(err);
	memcpy(bytes, r->btf, r->btf_size);
	answer->fd = memfd_create("weft:types", MFD_CLOEXEC);
	if (answer->fd < 0 || pwrite(answer->fd, bytes, r->btf_size, 0) != (ssize_t)r->btf_size) {
		ret = errno ? -errno : -EIO;
		free(bytes);
		return weft_fail(err, ret, "ELF_WORKER_START", "%s: no memory for types: %s", path,
				 strerror(-ret));
	}
	ret = weft_btf_create(bytes, r->btf_size, false, NULL, btf, NULL);
	return ret ? weft_elf_invalid(err, path, "types") : 0;
}

static int tell_all(struct weft_elf_entry *e, const struct weft_elf_types_job *job,
		    const struct weft_elf_types_result *result, const uint64_t *addresses,
		    uint32_t n, const char *path, const struct weft_elf_function **out,
		    struct weft_error *err)
{
	struct weft_elf_answer *answer = calloc(1, sizeof(*answer));
	struct teller t = {.elf = &e->elf};
	struct weft_elf_function *functions;
	struct weft_btf *btf = NULL;
	int ret;

	if (!answer)
		return weft_nomem(err);
	answer->fd = -1;
	answer->arena = t.arena = weft_arena_create();
	functions = t.arena ? weft_arena_array(t.arena, n, sizeof(*functions)) : NULL;
	ret = functions ? keep_object(result, answer, &btf, path, err) : weft_nomem(err);
	t.fd = answer->fd;
	t.btf = btf;
	for (uint32_t i = 0; !ret && i < n; i++) {
		const uint64_t *at = bsearch(&addresses[i], job->addresses, job->n,
					     sizeof(*job->addresses), compare_addresses);
		const struct weft_elf_typed *from = &result->functions[at - job->addresses];

		functions[i] = (struct weft_elf_function){.struct_size = sizeof(functions[i]),
							  .address = addresses[i],
							  .status = -ENOENT};
		if (!btf || is_made_over(&e->elf, addresses[i]))
			continue;
		functions[i].status = tell_function(&t, from, &functions[i]);
		if (functions[i].status == -ENOMEM)
			ret = weft_nomem(err);
		else if (functions[i].status)
			functions[i] =
				(struct weft_elf_function){.struct_size = sizeof(functions[i]),
							   .address = addresses[i],
							   .status = -ENOENT};
	}
	weft_btf_destroy(btf);
	if (ret) {
		weft_elf_answers_destroy(answer);
		return ret;
	}
	answer->next = e->answers;
	e->answers = answer;
	*out = functions;
	return 0;
}

/* The addresses in order, each once. */
static uint64_t *ordered(const uint64_t *addresses, uint32_t n, uint32_t *unique)
{
	uint64_t *list = malloc(n * sizeof(*list));
	uint32_t k = 0;

	if (!list)
		return NULL;
	memcpy(list, addresses, n * sizeof(*list));
	qsort(list, n, sizeof(*list), compare_addresses);
	for (uint32_t i = 0; i < n; i++)
		if (!i || list[i] != list[k - 1])
			list[k++] = list[i];
	*unique = k;
	return list;
}

int weft_elf_functions(struct weft_elf_reader *r, const struct weft_elf *elf,
		       const struct weft_elf_request *given, const uint64_t *addresses, uint32_t n,
		       const struct weft_elf_function **out, struct weft_error *err)
{
	struct weft_elf_types_job job = {.n = n};
	struct weft_elf_types_result *result = NULL;
	struct weft_elf_request request;
	struct weft_elf_mapped self;
	struct weft_region region = {.base = NULL};
	struct attempt attempt = {r, &job, &region, &result};
	struct weft_elf_entry *e;
	uint64_t *list;
	const char *path;
	int ret = weft_elf_take_request(given, &request, err);

	*out = NULL;
	if (ret)
		return ret;
	e = weft_elf_entry_of(r, elf);
	if (!e || !addresses || !n || n > ADDRESSES_MOST)
		return weft_fail(err, -EINVAL, "ELF_REQUEST",
				 "types of functions were asked for in a way that makes no sense");
	path = request.path ? request.path : "this file";
	ret = weft_elf_map(request.fd, r->limits.file, path, &self, err);
	if (ret)
		return ret;
	if (!weft_elf_same_file(&self.st, &e->st)) {
		weft_elf_unmap(&self);
		return weft_fail(err, -ESTALE, "ELF_FILE_CHANGED",
				 "%s: is not the file any more that was read", path);
	}
	list = ordered(addresses, n, &job.n);
	if (!list) {
		weft_elf_unmap(&self);
		return weft_nomem(err);
	}
	job.addresses = list;
	job.file.image = self.bytes;
	job.file.size = self.size;
	ret = -ENOENT;
	if (!has_section(elf, ".debug_info") && !has_section(elf, ".zdebug_info"))
		ret = weft_elf_with_debug_file(r, e, &request, &self, &job.file, try_debug_file,
					       &attempt);
	if (ret)
		ret = run(r, &job, path, &region, &result, err);
	weft_elf_unmap(&self);
	if (!ret)
		ret = tell_all(e, &job, result, addresses, n, path, out, err);
	weft_region_finish(&region);
	free(list);
	return ret;
}
