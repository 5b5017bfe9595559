/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What providers are told of types: of this kernel, against libbpf's reading, and of objects made here. */
#include <bpf/btf.h>
#include <errno.h>
#include <linux/btf.h>
#include <sys/mman.h>

#include "core/base/base.h"
#include "core/btf/enums.h"
#include "core/kernel/btf_describe.h"
#include "tests/kernel/support.h"

struct rig {
	struct weft_btfs *btfs;
	struct weft_arena *arena;
	struct weft_error *err;
	struct weft_func_info func;
	struct weft_type_info type;
};

static struct rig rig;

static void start(void)
{
	rig.btfs = weft_btfs_create();
	rig.arena = weft_arena_create();
	rig.err = weft_error_create();
	rig.func.struct_size = sizeof(rig.func);
	rig.type.struct_size = sizeof(rig.type);
	cr_assert(rig.btfs && rig.arena && rig.err);
}

static void stop(void)
{
	weft_btfs_destroy(rig.btfs);
	weft_arena_destroy(rig.arena);
	weft_error_destroy(rig.err);
}

TestSuite(describe, .init = start, .fini = stop);

static int function(const char *module, const char *name)
{
	return weft_btf_tell_function(rig.btfs, rig.arena, module, name, &rig.func, rig.err);
}

/* ---- this kernel ---- */

Test(describe, a_function_of_the_kernel)
{
	struct btf *truth = btf__load_vmlinux_btf();
	const struct weft_func_param *p;
	int id;

	cr_assert_not_null(truth);
	id = btf__find_by_name_kind(truth, "vfs_read", BTF_KIND_FUNC);
	cr_assert_eq(function("vmlinux", "vfs_read"), 0, "%s", weft_error_text(rig.err));
	cr_expect_eq((int)rig.func.func_id, id);
	cr_expect_eq(rig.func.proto_id, btf__type_by_id(truth, (uint32_t)id)->type);
	cr_expect_eq(rig.func.btf_fd, 0);
	cr_expect_eq(rig.func.flags, 0u);
	cr_assert_eq(rig.func.n_params, 4u);
	cr_expect_eq(rig.func.param_size, sizeof(*p));
	p = rig.func.params;
	cr_expect_str_eq(p[0].name, "file");
	cr_expect_str_eq(p[0].type.text, "struct file *");
	cr_expect(p[0].type.kind == WEFT_TYPE_BTF && p[0].type.size == 8 && p[0].size == 8);
	cr_expect_eq(p[0].type.btf_id,
		     btf_params(btf__type_by_id(truth, rig.func.proto_id))[0].type);
	cr_expect_str_eq(p[2].type.text, "size_t");
	cr_expect(p[2].type.kind == WEFT_TYPE_INT && p[2].type.size == 8 && !p[2].type.flags);
	cr_expect(rig.func.result->type.kind == WEFT_TYPE_INT &&
		  rig.func.result->type.flags == WEFT_TYPE_SIGNED && rig.func.result->size == 8);
	cr_expect(!strncmp(rig.func.prototype, "ssize_t vfs_read(struct file *file, char ", 41),
		  "%s", rig.func.prototype);
	btf__free(truth);
}

/* Every function of the kernel: as many parameters, of the sizes that libbpf gives. */
Test(describe, every_function_of_the_kernel)
{
	struct btf *truth = btf__load_vmlinux_btf();
	uint32_t n = btf__type_cnt(truth), told = 0, several = 0;

	for (uint32_t id = 1; id < n; id += 7) {
		const struct btf_type *f = btf__type_by_id(truth, id), *proto;
		const char *name = btf__name_by_offset(truth, f->name_off);
		uint32_t args;
		int ret;

		if (!btf_is_func(f))
			continue;
		weft_error_clear(rig.err);
		ret = function(NULL, name);
		if (ret) {
			cr_assert_str_eq(weft_error_tag(rig.err), "BTF_AMBIGUOUS", "%s", name);
			several++;
			continue;
		}
		proto = btf__type_by_id(truth, f->type);
		args = btf_vlen(proto);
		if (rig.func.flags & WEFT_FUNC_VARIADIC)
			cr_assert_eq(btf_params(proto)[--args].type, 0u);
		cr_assert_eq(rig.func.func_id, id, "%s", name);
		cr_assert_eq(rig.func.n_params, args, "%s", name);
		for (uint32_t i = 0; i < args; i++)
			cr_assert_eq(rig.func.params[i].size,
				     btf__resolve_size(truth, btf_params(proto)[i].type),
				     "%s, argument %u", name, i);
		cr_assert(!strstr(rig.func.prototype, "malformed"), "%s", rig.func.prototype);
		told++;
	}
	cr_expect_gt(told, 1000u);
	cr_expect_lt(several, told / 10);
	btf__free(truth);
}

Test(describe, a_tracepoint_by_its_typedef)
{
	cr_assert_eq(weft_btf_tell_type(rig.btfs, rig.arena, NULL, "btf_trace_sched_process_exec",
					WEFT_BTF_TYPEDEF, &rig.type, rig.err),
		     0, "%s", weft_error_text(rig.err));
	cr_assert_eq(weft_btf_tell_function_type(rig.btfs, rig.arena, rig.type.btf_fd,
						 rig.type.btf_id, &rig.func, rig.err),
		     0, "%s", weft_error_text(rig.err));
	cr_expect_eq(rig.func.func_id, 0u);
	cr_assert_eq(rig.func.n_params, 4u); /* the tracepoint's own, then the three */
	cr_expect_str_eq(rig.func.params[1].type.text, "struct task_struct *");
	cr_expect_str_eq(rig.func.params[3].type.text, "struct linux_binprm *");
}

Test(describe, types_by_kind)
{
	static const struct {
		const char *name;
		uint32_t kind, as, size;
	} all[] = {
		{"int", WEFT_BTF_INT, WEFT_TYPE_INT, 4},
		{"list_head", WEFT_BTF_STRUCT, WEFT_TYPE_BTF, 16},
		{"pid_type", WEFT_BTF_ENUM, WEFT_TYPE_BTF, 4},
		{"pid_t", WEFT_BTF_TYPEDEF, WEFT_TYPE_INT, 4},
		{"vfs_read", WEFT_BTF_FUNC, 0, 0},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		cr_assert_eq(weft_btf_tell_type(rig.btfs, rig.arena, "", all[i].name, all[i].kind,
						&rig.type, rig.err),
			     0, "%s", all[i].name);
		cr_expect_eq(rig.type.type->kind, all[i].as, "%s", all[i].name);
		cr_expect_eq(rig.type.size, all[i].size, "%s", all[i].name);
	}
}

Test(describe, BTF_NOT_FOUND)
{
	cr_expect_eq(function(NULL, "no_such_function"), -ENOENT);
	cr_expect_str_eq(weft_error_tag(rig.err), "BTF_NOT_FOUND");
	weft_error_clear(rig.err);
	cr_expect_eq(weft_btf_tell_type(rig.btfs, rig.arena, NULL, "task_struct", WEFT_BTF_UNION,
					&rig.type, rig.err),
		     -ENOENT);
	cr_expect_str_eq(weft_error_tag(rig.err), "BTF_NOT_FOUND");
	cr_expect_eq(weft_btf_tell_function(rig.btfs, rig.arena, NULL, "", &rig.func, NULL),
		     -ENOENT);
}

Test(describe, BTF_MODULE)
{
	cr_expect_eq(function("no_such_module", "vfs_read"), -ENOENT);
	cr_expect_str_eq(weft_error_tag(rig.err), "BTF_MODULE");
	weft_error_clear(rig.err);
	cr_expect_eq(function("../vmlinux", "vfs_read"), -ENOENT);
	cr_expect_str_eq(weft_error_tag(rig.err), "BTF_MODULE");
}

Test(describe, BTF_KIND)
{
	cr_expect_eq(weft_btf_tell_type(rig.btfs, rig.arena, NULL, "int", 99, &rig.type, rig.err),
		     -EINVAL);
	cr_expect_str_eq(weft_error_tag(rig.err), "BTF_KIND");
}

Test(describe, BTF_NO_FUNCTION)
{
	cr_assert_eq(weft_btf_tell_type(rig.btfs, rig.arena, NULL, "int", WEFT_BTF_INT, &rig.type,
					rig.err),
		     0);
	cr_expect_eq(weft_btf_tell_function_type(rig.btfs, rig.arena, 0, rig.type.btf_id, &rig.func,
						 rig.err),
		     -EINVAL);
	cr_expect_str_eq(weft_error_tag(rig.err), "BTF_NO_FUNCTION");
}

Test(describe, BTF_FD)
{
	struct weft_btf *btf;
	int fds[2];

	cr_assert_eq(pipe(fds), 0);
	cr_expect_eq(weft_btfs_get(rig.btfs, fds[0], &btf, rig.err), -EBADF);
	cr_expect_str_eq(weft_error_tag(rig.err), "BTF_FD");
	weft_error_clear(rig.err);
	cr_expect_eq(weft_btfs_get(rig.btfs, 100000, &btf, rig.err), -EBADF);
	cr_expect_str_eq(weft_error_tag(rig.err), "BTF_FD");
	cr_expect_null(btf);
	close(fds[0]);
	close(fds[1]);
}

/* ---- objects of providers ---- */

/* int (*table[4])(const char *, struct s), struct s of 24 bytes; two functions `same`. */
static struct btf *make(int ids[4])
{
	struct btf *b = btf__new_empty();
	int i32 = btf__add_int(b, "int", 4, BTF_INT_SIGNED), c = btf__add_int(b, "char", 1, 0);
	int s = btf__add_struct(b, "s", 24), text, proto, f, d;

	btf__add_field(b, "a", i32, 0, 0);
	text = btf__add_ptr(b, btf__add_const(b, c));
	d = btf__add_float(b, "double", 8);
	proto = btf__add_func_proto(b, i32);
	btf__add_func_param(b, "name", text);
	btf__add_func_param(b, "s", s);
	btf__add_func_param(b, "d", d);
	btf__add_func_param(b, NULL, 0);
	f = btf__add_func(b, "one", BTF_FUNC_STATIC, proto);
	btf__add_func(b, "same", BTF_FUNC_STATIC, proto);
	btf__add_func(b, "same", BTF_FUNC_STATIC, proto);
	ids[0] = f;
	ids[1] = btf__add_array(b, i32, btf__add_ptr(b, proto), 4);
	ids[2] = proto;
	ids[3] = s;
	return b;
}

static int as_file(const struct btf *b)
{
	uint32_t size;
	const void *bytes = btf__raw_data(b, &size);
	int fd = memfd_create("types", MFD_CLOEXEC);

	cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
	return fd;
}

static void look_at_one(int fd, int id)
{
	const struct weft_func_param *p;

	cr_assert_eq(weft_btf_tell_function_type(rig.btfs, rig.arena, fd, (uint32_t)id, &rig.func,
						 rig.err),
		     0, "%s", weft_error_text(rig.err));
	cr_expect_str_eq(rig.func.prototype, "int one(const char *name, struct s s, double d, ...)");
	cr_expect_eq(rig.func.btf_fd, fd);
	cr_expect_eq(rig.func.flags, WEFT_FUNC_VARIADIC);
	cr_assert_eq(rig.func.n_params, 3u);
	p = rig.func.params;
	cr_expect_eq(p[1].flags, WEFT_FUNC_PARAM_BY_VALUE);
	cr_expect_eq(p[1].size, 24u);
	cr_expect(p[2].type.kind == 0 && p[2].size == 8);
}

Test(describe, a_file_of_types)
{
	char text[128];
	struct weft_btf *btf, *again;
	int ids[4], fd, other;
	struct btf *b = make(ids);
	unsigned n;
	uint32_t id;

	fd = as_file(b);
	look_at_one(fd, ids[0]);
	cr_assert_eq(weft_btfs_get(rig.btfs, fd, &btf, rig.err), 0);
	cr_expect_str_eq(weft_btf_print(btf, (uint32_t)ids[1], "table", text, sizeof(text)),
			 "int (*table[4])(const char *name, struct s s, double d, ...)");
	cr_expect_str_eq(weft_btf_print(btf, (uint32_t)ids[1], "table", text, 12), "int (*ta...");
	cr_expect(weft_btf_find(btf, "same", WEFT_BTF_KINDS(BTF_KIND_FUNC), &id, &n) && n == 2);
	/* Another descriptor of one file is one object. */
	other = dup(fd);
	cr_assert_eq(weft_btfs_get(rig.btfs, other, &again, rig.err), 0);
	cr_expect_eq(btf, again);
	close(other);
	close(fd);
	btf__free(b);
}

/* A module's object goes on where its base ends: ids, names and types of both. */
Test(describe, a_split_object)
{
	int ids[4], fd, base_fd, split_struct;
	struct btf *base = make(ids), *split = btf__new_empty_split(base);
	struct weft_btf *b, *s;
	struct weft_btf_type t;
	char text[64];
	uint32_t id;
	uint64_t size;

	split_struct = btf__add_struct(split, "mine", 32);
	btf__add_field(split, "s", ids[3], 0, 0);
	btf__add_func(split, "two", BTF_FUNC_STATIC, ids[2]);
	base_fd = as_file(base);
	fd = as_file(split);
	cr_assert_eq(weft_btf_open_fd(base_fd, NULL, &b, rig.err), 0);
	cr_assert_eq(weft_btf_open_fd(fd, b, &s, rig.err), 0, "%s", weft_error_text(rig.err));
	cr_expect_eq(weft_btf_first(s), weft_btf_end(b));
	cr_assert(weft_btf_find(s, "mine", WEFT_BTF_KINDS(BTF_KIND_STRUCT), &id, NULL));
	cr_expect_eq((int)id, split_struct);
	cr_assert(weft_btf_find(s, "s", WEFT_BTF_KINDS(BTF_KIND_STRUCT), &id, NULL));
	cr_expect_eq((int)id, ids[3]);
	cr_expect(weft_btf_type(s, id, &t) && !strcmp(t.name, "s"));
	cr_expect(weft_btf_size(s, (uint32_t)split_struct, &size) && size == 32);
	cr_assert(weft_btf_find(s, "two", WEFT_BTF_KINDS(BTF_KIND_FUNC), &id, NULL));
	cr_expect_str_eq(weft_btf_print(s, id, NULL, text, sizeof(text)),
			 "int two(const char *name, struct s s, double d, ...)");
	cr_expect_not(weft_btf_type(s, weft_btf_end(s), &t));
	weft_btf_destroy(s);
	weft_btf_destroy(b);
	close(fd);
	close(base_fd);
	btf__free(split);
	btf__free(base);
}

Test(describe, an_object_of_the_kernels)
{
	int ids[4];
	struct btf *b = make(ids);

	cr_assert_eq(btf__load_into_kernel(b), 0);
	look_at_one(btf__fd(b), ids[0]);
	btf__free(b);
}

Test(describe, BTF_AMBIGUOUS)
{
	struct weft_btf *btf;
	int ids[4], fd;
	struct btf *b = make(ids);

	fd = as_file(b);
	cr_assert_eq(weft_btf_open_fd(fd, NULL, &btf, rig.err), 0);
	weft_btfs_set_vmlinux(rig.btfs, btf);
	cr_expect_eq(function(NULL, "one"), 0);
	cr_expect_eq(function(NULL, "same"), -ENOENT);
	cr_expect_str_eq(weft_error_tag(rig.err), "BTF_AMBIGUOUS");
	close(fd);
	btf__free(b);
}

/* ---- broken objects ---- */

static uint64_t seed = 0xb10b5eed;

static uint64_t pick(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % n;
}

static int meet(const struct weft_btf_member_at *m, void *arg)
{
	(void)arg;
	return m->name[0] == '?';
}

static void ask_everything(struct weft_btf *b)
{
	struct weft_near near;
	char text[200];

	for (uint32_t id = 0; id < weft_btf_end(b) + 2; id++) {
		struct weft_btf_type t;
		uint64_t size;
		uint32_t found;

		weft_btf_print(b, id, "name", text, sizeof(text));
		weft_btf_print(b, id, NULL, text, 1 + pick(20));
		weft_btf_size(b, id, &size);
		if (weft_btf_strip(b, id, &t, NULL)) {
			weft_btf_each_member(b, &t, meet, NULL);
			weft_btf_nearest_member(b, &t, "wanted");
			weft_btf_enum(b, t.id);
		}
		if (weft_btf_type(b, id, &t))
			weft_btf_find(b, t.name, UINT32_MAX, &found, NULL);
	}
	weft_near_init(&near, "sane");
	weft_btf_offer(b, UINT32_MAX, &near);
}

/* Any bytes of an object changed: it is refused, or every question about it has an answer. */
Test(describe, BTF_MALFORMED_or_answers, .timeout = 110)
{
	int ids[4];
	struct btf *b = make(ids);
	unsigned opened = 0;
	const void *bytes;
	uint32_t size;

	btf__add_enum(b, "e", 4);
	btf__add_enum_value(b, "A", -1);
	btf__add_enum64(b, "f", 8, false);
	btf__add_enum64_value(b, "B", UINT64_MAX);
	bytes = btf__raw_data(b, &size);
	for (int round = 0; round < 2500; round++) {
		uint8_t *copy = malloc(size);
		struct weft_btf *btf;
		uint32_t n = pick(8) ? size : (uint32_t)pick(size + 1);

		memcpy(copy, bytes, size);
		for (uint64_t k = pick(4); k; k--)
			copy[pick(3) ? 24 + pick(size - 24) : pick(size)] =
				(uint8_t)(pick(2) ? pick(16) : pick(256));
		weft_error_clear(rig.err);
		if (weft_btf_create(copy, n, false, NULL, &btf, rig.err)) {
			cr_assert_str_eq(weft_error_tag(rig.err), "BTF_MALFORMED");
			continue;
		}
		opened++;
		ask_everything(btf);
		weft_btfs_set_vmlinux(rig.btfs, btf);
		for (uint32_t id = 0; id < weft_btf_end(btf) + 2; id++)
			weft_btf_tell_function_type(rig.btfs, rig.arena, 0, id, &rig.func, NULL);
		function(NULL, "one");
		if (round % 50 == 49) {
			weft_arena_destroy(rig.arena);
			rig.arena = weft_arena_create();
		}
	}
	cr_expect_gt(opened, 500u);
	btf__free(b);
}
