/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The type information of a session: vmlinux's, modules', and what providers hand over. Each is
 * read when something first asks for it and kept until the session ends.
 *
 * vmlinux's lies in /sys/kernel/btf/vmlinux for everyone to read; where the kernel lets that be
 * mapped (6.16) it takes no memory but the marks, else it is copied. A module's is in the file
 * beside it and refers to vmlinux's. What a provider hands over is a descriptor, of a BTF object of
 * the kernel's or of a file (a memfd) with the same bytes, which needs no privilege to make.
 *
 * A module's types are named by {descriptor, id} as well. The kernel gives out descriptors of
 * its objects to who may see them (CAP_SYS_ADMIN); to others the descriptor of the file stands for
 * the object, which is as good for everything but attaching.
 */
#ifndef WEFT_KERNEL_BTF_OBJECTS_H
#define WEFT_KERNEL_BTF_OBJECTS_H

#include "core/btf/btf.h"
#include "core/btf/source.h"

#define WEFT_BTF_FOLDER  "/sys/kernel/btf"
#define WEFT_BTF_VMLINUX WEFT_BTF_FOLDER "/vmlinux"

struct weft_btfs;
struct weft_btfs *weft_btfs_create(void); /* opens nothing; NULL: out of memory */
void weft_btfs_destroy(struct weft_btfs *o);

/* Has an object stand for vmlinux's, and takes it over (tests). */
void weft_btfs_set_vmlinux(struct weft_btfs *o, struct weft_btf *btf);

/* What the language asks for types of descriptors; lives as long as the objects. */
struct weft_btf_source *weft_btfs_source(struct weft_btfs *o);

/* By descriptor: 0 is vmlinux. BTF_MISSING, BTF_MALFORMED, BTF_FD. */
int weft_btfs_get(struct weft_btfs *o, int fd, struct weft_btf **out, struct weft_error *err);

/* By module; NULL, "" and "vmlinux" are vmlinux. *fd is 0 then, else a descriptor that stays the
 * objects'; *attachable tells whether it is the kernel's own. BTF_MISSING, BTF_MODULE (-ENOENT). */
int weft_btfs_module(struct weft_btfs *o, const char *module, struct weft_btf **out, int *fd,
		     bool *attachable, struct weft_error *err);

/* A file of the kernel's as an object: mapped where that can be, or copied. BTF_MISSING, BTF_MALFORMED. */
int weft_btf_open(const char *path, const struct weft_btf *base, struct weft_btf **out,
		  struct weft_error *err);
/* The same as where the kernel does not let it be mapped. */
int weft_btf_open_copy(const char *path, const struct weft_btf *base, struct weft_btf **out,
		       struct weft_error *err);
/* A descriptor of a file or of the kernel's. BTF_FD, BTF_MALFORMED. */
int weft_btf_open_fd(int fd, const struct weft_btf *base, struct weft_btf **out,
		     struct weft_error *err);

#endif
