/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "made_types.h"

#include <errno.h>
#include <stdlib.h>

static const struct weft_loc_op nothing = {.op = WEFT_LOC_CONST};

static int get(struct weft_btf_source *source, int fd, struct weft_btf **out, struct weft_error *err)
{
	struct types *t = (struct types *)(void *)source;

	t->opened++;
	if (t->error)
		return weft_fail(err, t->error, "BTF_MISSING", "there are no types");
	if (fd)
		return weft_fail(err, -EBADF, "BTF_FD", "another descriptor");
	*out = t->btf;
	return 0;
}

struct btf *types_make(struct type_ids *ids)
{
	struct btf *b = btf__new_empty();
	int i32 = btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	int u32 = btf__add_int(b, "unsigned int", 4, 0), c = btf__add_int(b, "char", 1, 0);
	int uc = btf__add_int(b, "unsigned char", 1, 0), i64 = btf__add_int(b, "long int", 8, 1);
	int wide = btf__add_int(b, "__int128", 16, 1), real = btf__add_float(b, "double", 8);
	int gone = btf__add_fwd(b, "gone", BTF_FWD_STRUCT), vp = btf__add_ptr(b, 0);
	int dentry, path, color, either, inner, file, user, call;

	dentry = btf__add_struct(b, "dentry", 8);
	btf__add_field(b, "d_inode", i64, 0, 0);
	path = btf__add_struct(b, "path", 16);
	btf__add_field(b, "dentry", (int)btf__type_cnt(b), 0, 0);
	btf__add_field(b, "mnt", vp, 64, 0);
	btf__add_ptr(b, dentry);
	btf__add_enum(b, "color", 4);
	color = (int)btf__type_cnt(b) - 1;
	btf__add_enum_value(b, "RED", 1);
	btf__add_enum_value(b, "pid", 2);
	inner = btf__add_struct(b, NULL, 8);
	btf__add_field(b, "b", i32, 0, 0);
	btf__add_field(b, "c", i32, 32, 0);
	either = btf__add_union(b, NULL, 8);
	btf__add_field(b, "a", i64, 0, 0);
	btf__add_field(b, NULL, inner, 0, 0);
	user = btf__add_ptr(b, btf__add_type_tag(b, "user", btf__add_const(b, c)));
	call = btf__add_ptr(b, btf__add_func_proto(b, 0));
	ids->file_ptr = btf__add_ptr(b, (int)btf__type_cnt(b) + 1);
	file = btf__add_struct(b, "file", 320);
	btf__add_field(b, "f_mode", u32, 0, 0);
	btf__add_field(b, "f_path", path, 64, 0);
	ids->file = file;
	ids->color = color;
	ids->path = path;
	/* The types of what follows come behind the struct. */
#define LATER(n) ((int)file + (n))
	btf__add_field(b, "name", LATER(1), 192, 0);
	btf__add_field(b, "raw", LATER(2), 320, 0);
	btf__add_field(b, "bit", u32, 448, 3);
	btf__add_field(b, "color", color, 480, 0);
	btf__add_field(b, "real", real, 512, 0);
	btf__add_field(b, "gone", LATER(3), 576, 0);
	btf__add_field(b, "count", LATER(4), 640, 0);
	btf__add_field(b, "call", call, 704, 0);
	btf__add_field(b, "nums", LATER(5), 768, 0);
	btf__add_field(b, "next", ids->file_ptr, 896, 0);
	btf__add_field(b, "text", user, 960, 0);
	btf__add_field(b, "wide", wide, 1024, 0);
	btf__add_field(b, "inside", gone, 1152, 0);
	btf__add_field(b, NULL, either, 1216, 0);
	btf__add_field(b, "paths", LATER(6), 1280, 0);
	btf__add_field(b, "flex", LATER(7), 1536, 0);
	btf__add_array(b, i32, c, 16);
	btf__add_array(b, i32, uc, 16);
	btf__add_ptr(b, gone);
	btf__add_ptr(b, i32);
	btf__add_array(b, i32, i32, 4);
	btf__add_array(b, i32, path, 2);
	btf__add_array(b, i32, i32, 0);
	btf__add_typedef(b, "mode_t", u32);
	return b;
}

void types_init(struct types *types, struct rig *r)
{
	static const char *const names[] = {"file", "color", "path", "n", "buf", "old"};
	struct weft_arg *args = types->args;
	struct type_ids ids;
	struct btf *b = types_make(&ids);
	const void *bytes;
	uint32_t size;
	void *copy;

	memset(types, 0, sizeof(*types));
	bytes = btf__raw_data(b, &size);
	copy = malloc(size);
	memcpy(copy, bytes, size);
	cr_assert_eq(weft_btf_create(copy, size, false, NULL, &types->btf, r->err), 0);
	btf__free(b);
	types->source.get = get;
	for (size_t i = 0; i < N(names); i++)
		args[i] = (struct weft_arg){.struct_size = sizeof(args[i]),
					    .name = names[i],
					    .type = {.kind = WEFT_TYPE_BTF, .size = 8},
					    .where = {.ops = &nothing, .n_ops = 1}};
	args[0].type.btf_id = (uint32_t)ids.file_ptr;
	args[0].type.text = "struct file *";
	args[1].type.btf_id = (uint32_t)ids.color;
	args[1].type.size = 4;
	args[2].type.btf_id = (uint32_t)ids.path;
	args[2].type.size = 16;
	args[3].type = (struct weft_arg_type){.kind = WEFT_TYPE_INT, .size = 8, .flags = 1};
	args[4].type = (struct weft_arg_type){.kind = WEFT_TYPE_POINTER, .space = WEFT_SPACE_USER};
	args[5].type.btf_id = (uint32_t)ids.file;
	args[5].type.text = "struct file *";
	r->info.args = args;
	r->info.n_args = N(names);
	r->info.arg_size = sizeof(args[0]);
	r->env.btf = &types->source;
}

void types_finish(struct types *types)
{
	weft_btf_destroy(types->btf);
}
