/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Type information made here, and a rig whose probe has arguments of it. */
#ifndef WEFT_TESTS_LANG_MADE_TYPES_H
#define WEFT_TESTS_LANG_MADE_TYPES_H

#include <bpf/btf.h>

#include "rig.h"

struct types {
	struct weft_btf_source source;
	struct weft_btf *btf;
	struct weft_arg args[6];
	int opened; /* how often it was asked for */
	int error;  /* what asking gives: BTF_MISSING */
};

/*
 * struct file { unsigned f_mode; struct path { struct dentry *dentry; void *mnt; } f_path; char
 * name[16]; unsigned char raw[16]; unsigned bit:3; enum color color; double real; struct gone
 * *gone; int *count; void (*call)(void); int nums[4]; struct file *next; const char __user *text;
 * __int128 wide; struct gone inside; union { long a; struct { int b, c; }; }; struct path paths[2];
 * int flex[]; };
 */
struct type_ids {
	int file_ptr, file, color, path;
};
struct btf *types_make(struct type_ids *ids);

/* args: file, color, path (the struct itself), n (int64), buf (an address in user memory), old
 * (struct file *, given by the struct's own id). */
void types_init(struct types *types, struct rig *r);
void types_finish(struct types *types);

#endif
