/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Part of weft/provider.h: what the core tells of processes and of the kernel's types. */
#ifndef WEFT_ABI_KERNEL_H
#define WEFT_ABI_KERNEL_H

#include "weft/abi/values.h"

#ifdef __cplusplus
extern "C" {
#endif

enum weft_process_event_kind {
	WEFT_PROCESS_FORK = 1,
	WEFT_PROCESS_EXEC = 2,
	WEFT_PROCESS_EXIT = 3,
	WEFT_PROCESS_MMAP = 4, /* an executable mapping of a file */
};

struct weft_process_event {
	uint32_t struct_size;
	uint32_t kind;                         /* enum weft_process_event_kind */
	uint64_t time_ns;                      /* CLOCK_MONOTONIC */
	int32_t pid;                           /* thread group id */
	int32_t parent;                        /* FORK: thread group id of the parent */
	uint64_t address, length, file_offset; /* MMAP: bytes */
	uint64_t inode;                        /* MMAP */
	uint32_t device_major, device_minor;   /* MMAP */
	const char *text; /* EXEC: the new command name; MMAP: the path as the process sees it */
	const uint8_t *build_id; /* MMAP; NULL where unknown */
	uint32_t build_id_size;
	uint32_t reserved;
};

/* ---- types of the kernel --------------------------------------------------------------------- */

enum weft_btf_kind {
	WEFT_BTF_INT = 1,
	WEFT_BTF_STRUCT = 4,
	WEFT_BTF_UNION = 5,
	WEFT_BTF_ENUM = 6, /* of 32 or 64 bits */
	WEFT_BTF_TYPEDEF = 8,
	WEFT_BTF_FUNC = 12,
};

#define WEFT_FUNC_PARAM_BY_VALUE 1u /* a struct, union or array itself, not its address */

/* A parameter, or what a function returns. */
struct weft_func_param {
	uint32_t struct_size;
	uint32_t flags;            /* WEFT_FUNC_PARAM_* */
	const char *name;          /* NULL where it has none */
	struct weft_arg_type type; /* as an argument wants it, text included. INT: integers. BTF:
				    * pointers (size 8; space USER where the kernel tags them so),
				    * enums, structs. Kind 0: void, a float, too wide to be read */
	uint32_t size;             /* bytes in C; 0: void */
	uint32_t reserved;
	uint64_t reserved_words[2];
};

#define WEFT_FUNC_VARIADIC 1u /* more arguments follow params */
#define WEFT_FUNC_NO_ATTACH                                                       \
	2u /* btf_fd does for types, but the kernel takes no program with it: the \
	    * caller may not see its objects (CAP_SYS_ADMIN) */

/* A function's type. Pointers are valid until the slot that asked returns. */
struct weft_func_info {
	uint32_t struct_size; /* set by the caller: its own sizeof; no further is written */
	uint32_t flags;       /* WEFT_FUNC_* */
	int32_t btf_fd;       /* 0: vmlinux; else the core's, valid until close() */
	uint32_t func_id;     /* of the FUNC: attach_btf_id; 0 where only a type was asked about */
	uint32_t proto_id;
	uint32_t n_params;
	uint32_t param_size; /* sizeof(struct weft_func_param) as the core has it */
	uint32_t reserved;
	const struct weft_func_param *params; /* an array with stride param_size */
	const struct weft_func_param *result; /* its kind and size 0: void */
	const char *prototype;                /* "ssize_t vfs_read(struct file *file, ...)" */
	uint64_t reserved_words[2];
};

static inline const struct weft_func_param *weft_func_param_at(const struct weft_func_info *f,
							       uint32_t i)
{
	return (const struct weft_func_param *)((const char *)f->params + (size_t)i * f->param_size);
}

struct weft_type_info {
	uint32_t struct_size; /* set by the caller */
	int32_t btf_fd;
	uint32_t btf_id;
	uint32_t size;                    /* bytes; 0: incomplete, or a function */
	const struct weft_arg_type *type; /* valid as above */
	uint64_t reserved_words[2];
};

#ifdef __cplusplus
}
#endif

#endif
