/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/kernel/btf_objects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/kernel/bpf.h"
#include "core/kernel/kernel.h"

#define OBJECT_MOST (256u << 20) /* bytes of one; vmlinux's has about six million */

/* What tells one object from another however often it is opened. */
struct identity {
	uint64_t device, inode; /* device 0: the kernel's object of that number */
};

struct object {
	struct weft_btf *btf;
	struct identity identity;
	char *module; /* of vmlinux and providers' own: NULL */
	int fd;       /* of a module, owned; else -1 */
	bool attachable;
};

struct weft_btfs {
	struct weft_btf_source source;
	struct weft_btf *vmlinux;
	struct object *objects;
	size_t n, cap;
};

/* ---- bytes ---- */

static int missing(struct weft_error *err, int code, const char *path)
{
	return weft_fail(err, code, "BTF_MISSING",
			 "this needs the kernel's type information, and %s cannot be read: %s",
			 path, strerror(-code));
}

static int read_whole(int fd, void *bytes, size_t size)
{
	size_t at = 0;

	while (at < size) {
		ssize_t n = pread(fd, (char *)bytes + at, size - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EBADMSG;
		at += (size_t)n;
	}
	return 0;
}

#define HUGE_PAGE ((size_t)2 << 20)

/* Memory of its own for some megabytes: a page of 2 MiB at a time where the kernel has such, since
 * fifteen hundred small ones take longer to come into being than everything else here. */
static void *room_for(size_t size)
{
	size_t all = size + HUGE_PAGE, head;
	char *p = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long page = sysconf(_SC_PAGESIZE);
	size_t whole = (size + (size_t)page - 1) & ~((size_t)page - 1);

	if (p == MAP_FAILED)
		return NULL;
	head = (HUGE_PAGE - ((uintptr_t)p & (HUGE_PAGE - 1))) & (HUGE_PAGE - 1);
	if (head)
		munmap(p, head);
	if (all - head > whole)
		munmap(p + head + whole, all - head - whole);
	madvise(p + head, whole, MADV_HUGEPAGE);
	return p + head;
}

/* The kernel's own, where it does not let it be mapped. */
static int copy_kernels(int fd, size_t size, const char *path, const struct weft_btf *base,
			struct weft_btf **out, struct weft_error *err)
{
	void *bytes = room_for(size);
	int ret;

	if (!bytes)
		return weft_nomem(err);
	ret = read_whole(fd, bytes, size);
	if (!ret)
		return weft_btf_create(bytes, size, true, base, out, err);
	munmap(bytes, size);
	return missing(err, ret, path);
}

static int size_of(int fd, const char *path, size_t *size, struct weft_error *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return missing(err, -errno, path);
	if (st.st_size <= 0 || st.st_size > OBJECT_MOST)
		return weft_btf_malformed(err, st.st_size ? "it is larger than can be"
							  : "it is shorter than its header");
	*size = (size_t)st.st_size;
	return 0;
}

/* A file of the kernel's does not change, so that it may be mapped. */
static int take_kernels(int fd, bool map, const char *path, const struct weft_btf *base,
			struct weft_btf **out, struct weft_error *err)
{
	void *bytes = MAP_FAILED;
	size_t size = 0;
	int ret = size_of(fd, path, &size, err);

	if (ret)
		return ret;
	if (map)
		bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes != MAP_FAILED)
		return weft_btf_create(bytes, size, true, base, out, err);
	return copy_kernels(fd, size, path, base, out, err);
}

/* Another's is copied as it is now. */
static int take_file(int fd, const struct weft_btf *base, struct weft_btf **out,
		     struct weft_error *err)
{
	static const char path[] = "a provider's file";
	size_t size = 0;
	void *bytes;
	int ret = size_of(fd, path, &size, err);

	if (ret)
		return ret;
	bytes = malloc(size);
	if (!bytes)
		return weft_nomem(err);
	ret = read_whole(fd, bytes, size);
	if (!ret)
		return weft_btf_create(bytes, size, false, base, out, err);
	free(bytes);
	return ret == -EBADMSG ? weft_btf_malformed(err, "it is shorter than its file says")
			       : missing(err, ret, path);
}

static int open_kernels(const char *path, bool map, const struct weft_btf *base,
			struct weft_btf **out, struct weft_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;

	*out = NULL;
	if (fd < 0)
		return missing(err, -errno, path);
	ret = take_kernels(fd, map, path, base, out, err);
	close(fd);
	return ret;
}

int weft_btf_open(const char *path, const struct weft_btf *base, struct weft_btf **out,
		  struct weft_error *err)
{
	return open_kernels(path, true, base, out, err);
}

int weft_btf_open_copy(const char *path, const struct weft_btf *base, struct weft_btf **out,
		       struct weft_error *err)
{
	return open_kernels(path, false, base, out, err);
}

/* ---- the kernel's objects ---- */

struct kernel_object {
	uint32_t id, size;
	bool kernels;
	char name[64];
};

static int object_info(int fd, struct kernel_object *out, void *bytes, uint32_t room)
{
	struct bpf_btf_info info = {.btf = (uintptr_t)bytes,
				    .btf_size = room,
				    .name = (uintptr_t)out->name,
				    .name_len = sizeof(out->name)};
	union bpf_attr attr = {
		.info = {.bpf_fd = (uint32_t)fd, .info_len = sizeof(info), .info = (uintptr_t)&info}};
	int ret = weft_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr.info));

	out->name[sizeof(out->name) - 1] = '\0';
	out->id = info.id;
	out->size = info.btf_size;
	out->kernels = info.kernel_btf;
	return ret < 0 ? ret : 0;
}

static int take_object(int fd, const struct kernel_object *o, const struct weft_btf *base,
		       struct weft_btf **out, struct weft_error *err)
{
	struct kernel_object again = {.id = 0};
	void *bytes;
	int ret;

	if (!o->size || o->size > OBJECT_MOST)
		return weft_btf_malformed(err, "it is larger than can be");
	bytes = malloc(o->size);
	if (!bytes)
		return weft_nomem(err);
	ret = object_info(fd, &again, bytes, o->size);
	if (!ret)
		return weft_btf_create(bytes, o->size, false, base, out, err);
	free(bytes);
	return weft_fail(err, ret, "BTF_FD", "type information cannot be read from the kernel: %s",
			 strerror(-ret));
}

static int identify(int fd, struct identity *id, struct kernel_object *info, bool *is_file,
		    struct weft_error *err)
{
	struct stat st;

	memset(info, 0, sizeof(*info));
	*is_file = false;
	if (fd > 0 && !fstat(fd, &st)) {
		if (S_ISREG(st.st_mode)) {
			*is_file = true;
			*id = (struct identity){.device = st.st_dev + 1, .inode = st.st_ino};
			return 0;
		}
		if (!object_info(fd, info, NULL, 0)) {
			*id = (struct identity){.inode = info->id};
			return 0;
		}
	}
	return weft_fail(err, -EBADF, "BTF_FD",
			 "descriptor %d is neither of type information nor of a file with it", fd);
}

int weft_btf_open_fd(int fd, const struct weft_btf *base, struct weft_btf **out,
		     struct weft_error *err)
{
	struct kernel_object info;
	struct identity id;
	bool is_file;
	int ret = identify(fd, &id, &info, &is_file, err);

	*out = NULL;
	if (ret)
		return ret;
	return is_file ? take_file(fd, base, out, err) : take_object(fd, &info, base, out, err);
}

/* ---- the session's ---- */

static int source_get(struct weft_btf_source *source, int fd, struct weft_btf **out,
		      struct weft_error *err)
{
	return weft_btfs_get((struct weft_btfs *)(void *)source, fd, out, err);
}

struct weft_btfs *weft_btfs_create(void)
{
	struct weft_btfs *o = calloc(1, sizeof(*o));

	if (o)
		o->source.get = source_get;
	return o;
}

struct weft_btf_source *weft_btfs_source(struct weft_btfs *o)
{
	return o ? &o->source : NULL;
}

static void object_finish(struct object *o)
{
	weft_btf_destroy(o->btf);
	free(o->module);
	if (o->fd >= 0)
		close(o->fd);
}

void weft_btfs_destroy(struct weft_btfs *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->n; i++)
		object_finish(&o->objects[i]);
	weft_btf_destroy(o->vmlinux);
	free(o->objects);
	free(o);
}

static int vmlinux(struct weft_btfs *o, struct weft_btf **out, struct weft_error *err)
{
	int ret = o->vmlinux ? 0 : weft_btf_open(WEFT_BTF_VMLINUX, NULL, &o->vmlinux, err);

	*out = o->vmlinux;
	return ret;
}

void weft_btfs_set_vmlinux(struct weft_btfs *o, struct weft_btf *btf)
{
	weft_btf_destroy(o->vmlinux);
	o->vmlinux = btf;
}

static int keep(struct weft_btfs *o, struct object *object, struct weft_error *err)
{
	if (weft_grow(&o->objects, &o->cap, o->n, sizeof(*o->objects))) {
		object_finish(object);
		return weft_nomem(err);
	}
	o->objects[o->n++] = *object;
	return 0;
}

int weft_btfs_get(struct weft_btfs *o, int fd, struct weft_btf **out, struct weft_error *err)
{
	struct object object = {.fd = -1};
	struct weft_btf *base = NULL;
	struct kernel_object info;
	bool is_file;
	int ret;

	*out = NULL;
	if (!fd)
		return vmlinux(o, out, err);
	for (size_t i = 0; i < o->n; i++)
		if (o->objects[i].fd == fd) {
			*out = o->objects[i].btf;
			return 0;
		}
	ret = identify(fd, &object.identity, &info, &is_file, err);
	if (ret)
		return ret;
	for (size_t i = 0; i < o->n; i++)
		if (!memcmp(&o->objects[i].identity, &object.identity, sizeof(object.identity))) {
			*out = o->objects[i].btf;
			return 0;
		}
	if (info.kernels) { /* a module's, which a provider opened itself, or vmlinux's */
		ret = vmlinux(o, &base, err);
		if (ret || !strcmp(info.name, "vmlinux")) {
			*out = base;
			return ret;
		}
	}
	ret = weft_btf_open_fd(fd, base, &object.btf, err);
	if (ret)
		return ret;
	*out = object.btf;
	ret = keep(o, &object, err);
	if (ret)
		*out = NULL;
	return ret;
}

/* ---- modules ---- */

/* The kernel's descriptor of a module's object; -errno where it gives none to the caller. */
static int module_fd(const char *module)
{
	uint32_t id = 0;
	int ret;

	for (;;) {
		union bpf_attr attr = {.start_id = id};
		struct kernel_object info = {.id = 0};
		int fd;

		ret = weft_bpf(BPF_BTF_GET_NEXT_ID, &attr, sizeof(attr));
		if (ret < 0)
			return ret;
		id = attr.next_id;
		attr = (union bpf_attr){.btf_id = id};
		fd = weft_bpf(BPF_BTF_GET_FD_BY_ID, &attr, sizeof(attr));
		if (fd == -ENOENT) /* gone meanwhile */
			continue;
		if (fd < 0)
			return fd;
		if (!object_info(fd, &info, NULL, 0) && info.kernels && !strcmp(info.name, module))
			return fd;
		close(fd);
	}
}

static int module_open(struct weft_btfs *o, const char *module, struct object *object,
		       struct weft_error *err)
{
	char path[sizeof(WEFT_BTF_FOLDER) + 64];
	struct weft_btf *base;
	int ret = vmlinux(o, &base, err), fd;

	if (ret)
		return ret;
	if (strlen(module) >= 56 || strchr(module, '/') || *module == '.')
		return weft_fail(err, -ENOENT, "BTF_MODULE", "there is no kernel module `%.60s`",
				 module);
	snprintf(path, sizeof(path), WEFT_BTF_FOLDER "/%s", module);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT
			       ? weft_fail(err, -ENOENT, "BTF_MODULE",
					   "there is no type information of a kernel module `%s`: it is "
					   "not loaded, or was built without",
					   module)
			       : missing(err, -errno, path);
	ret = take_kernels(fd, true, path, base, &object->btf, err);
	if (ret) {
		close(fd);
		return ret;
	}
	object->fd = module_fd(module);
	object->attachable = object->fd >= 0;
	if (object->attachable)
		close(fd);
	else
		object->fd = fd;
	object->module = strdup(module);
	return object->module ? 0 : weft_nomem(err);
}

int weft_btfs_module(struct weft_btfs *o, const char *module, struct weft_btf **out, int *fd,
		     bool *attachable, struct weft_error *err)
{
	struct object object = {.fd = -1};
	size_t i;
	int ret;

	*fd = 0;
	*attachable = true;
	*out = NULL;
	if (!module || !*module || !strcmp(module, "vmlinux"))
		return vmlinux(o, out, err);
	for (i = 0; i < o->n; i++)
		if (o->objects[i].module && !strcmp(o->objects[i].module, module))
			break;
	if (i == o->n) {
		ret = module_open(o, module, &object, err);
		if (ret) {
			object_finish(&object);
			return ret;
		}
		object.identity = (struct identity){.device = UINT64_MAX, .inode = o->n};
		ret = keep(o, &object, err);
		if (ret)
			return ret;
	}
	*out = o->objects[i].btf;
	*fd = o->objects[i].fd;
	*attachable = o->objects[i].attachable;
	return 0;
}
