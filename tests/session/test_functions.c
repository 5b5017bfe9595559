/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions through a session: what a process passes to the kernel, symbols, cgroups. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "harness.h"

/* ---- the buffer of write(2) ---- */

static char *untouched(const char *text, size_t n)
{
	int fd = memfd_create("untouched", MFD_CLOEXEC);
	char *at;

	cr_assert(fd >= 0 && !ftruncate(fd, 4096) && pwrite(fd, text, n, 0) == (ssize_t)n);
	at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	cr_assert(at != MAP_FAILED);
	close(fd);
	return at;
}

static void write_buffers(void *arg)
{
	int fd = open("/dev/null", O_WRONLY);
	const char *text = "GET /index.html HTTP/1.1";
	volatile const char *far;

	(void)arg;
	syscall(SYS_write, fd, text, 15);
	far = untouched("far away", 9);
	syscall(SYS_write, fd, far, 9); /* this device does not look at it */
	(void)*far;
	syscall(SYS_write, fd, far, 9);
	syscall(SYS_write, fd, 8L, 9);
	syscall(SYS_write, fd, UINT64_C(0xffffffff81000000), 9);
}

Test(functions, buffers_of_write)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, write_buffers, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: fx-trace:syscalls:sys_enter_write:fields\n"
		  "    when: pid == %d\n"
		  "    do:\n"
		  "      - emit:\n"
		  "          s: copyinstr(args.buf, args.count)\n"
		  "          b: copyin(args.buf, args.count)\n"
		  "          m: mem(args.buf, 4)\n"
		  "          n: peek(args.buf, 2)\n"
		  "          base: basename(str(args.buf, args.count))\n"
		  "          is: startswith(str(args.buf), \"GET \")\n"
		  "          part: substr(copyinstr(args.buf, args.count), 4, 6)\n"
		  "          len: strlen(copyinstr(args.buf, args.count))\n",
		  w.pid);
	cr_assert_eq(r.cap.n_records, 2);
	cr_expect(cap_is_text(&r.cap.records[0], "s", "GET /index.html"));
	cr_expect(cap_is_bytes(&r.cap.records[0], "b", "GET /index.html", 15));
	cr_expect(cap_is_bytes(&r.cap.records[0], "m", "GET ", 4));
	cr_expect(cap_field(&r.cap.records[0], "m")->type.is_dump);
	cr_expect_eq(cap_int(&r.cap.records[0], "n"), 0x4547);
	cr_expect(cap_is_text(&r.cap.records[0], "base", "index.html"));
	cr_expect_eq(cap_int(&r.cap.records[0], "is"), 1);
	cr_expect(cap_is_text(&r.cap.records[0], "part", "/index"));
	cr_expect_eq(cap_int(&r.cap.records[0], "len"), 15);
	cr_expect(cap_is_text(&r.cap.records[1], "s", "far away"));
	cr_expect_eq(cap_int(&r.cap.records[1], "is"), 0);
	cr_expect_eq(cap_lost(&r.cap, "NOT_RESIDENT"), 1);
	cr_expect_eq(cap_lost(&r.cap, "FAULT_ADDRESS"), 2);
	cr_expect_eq(r.cap.n_losses, 2);
	for (size_t i = 0; i < r.cap.n_losses; i++)
		cr_expect(strstr(r.cap.losses[i].where, "copyinstr(args.buf, args.count)"), "%s",
			  r.cap.losses[i].where);
	rig_finish(&r);
}

/* ---- symbols ---- */

static void fire(uint64_t a, uint64_t b, uint64_t c)
{
	syscall(SYS_prctl, MAGIC, a, b, c, 0);
}

static void call_with_addresses(void *arg)
{
	const uint64_t *kernel = arg;
	pid_t child;

	usleep(200000); /* until it is known what is mapped here */
	child = fork();
	fire((uintptr_t)&rig_trace + 3, *kernel + 2, 0x0100007f);
	if (!child)
		_exit(0);
	syscall(SYS_wait4, child, NULL, 0, NULL);
}

static uint64_t kernel_address(const char *symbol)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	unsigned long long address, found = 0;
	char name[256];

	while (f && !found && fscanf(f, "%llx %*c %255s%*[^\n]", &address, name) == 2)
		if (!strcmp(name, symbol))
			found = address;
	cr_assert(f && found, "no %s in kallsyms", symbol);
	fclose(f);
	return found;
}

static void expect_symbol(const struct weft_value *v, const char *symbol, uint64_t offset)
{
	cr_assert(v->symbol->symbol, "%s is not found", symbol);
	cr_expect_str_eq(v->symbol->symbol, symbol);
	cr_expect_eq(v->symbol->offset, offset);
}

Test(functions, symbols_are_keys_and_fields)
{
	uint64_t *kernel = worker_shared(sizeof(*kernel));
	struct worker w;
	struct rig r;

	*kernel = kernel_address("vfs_read");
	worker_fork(&w, call_with_addresses, kernel);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d, follow: true}\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::math'\n"
		  "    do:\n"
		  "      - count: {into: u, by: {u: usym(args.a)}}\n"
		  "      - count: {into: k, by: {k: ksym(args.b), to: ipv4(args.c)}}\n"
		  "      - emit: {u: usym(args.a), k: ksym(args.b), to: ipv4(args.c)}\n",
		  w.pid);
	cr_assert_eq(r.cap.n_records, 2);
	for (size_t i = 0; i < 2; i++) {
		expect_symbol(cap_field(&r.cap.records[i], "u"), "rig_trace", 3);
		expect_symbol(cap_field(&r.cap.records[i], "k"), "vfs_read", 2);
		cr_expect(!memcmp(cap_field(&r.cap.records[i], "to")->text.s, "\x7f\0\0\1", 4));
	}
	/* Two processes, one row. */
	cr_expect_eq(cap_only_row(&r.cap, "u")->count, 2);
	expect_symbol(cap_key(cap_only_row(&r.cap, "u"), "u"), "rig_trace", 3);
	cr_expect_eq(cap_only_row(&r.cap, "k")->count, 2);
	expect_symbol(cap_key(cap_only_row(&r.cap, "k"), "k"), "vfs_read", 2);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- cgroups ---- */

#define CONTAINER_ID "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static bool find_cgroups(char root[256])
{
	FILE *f = fopen("/proc/self/mounts", "re");
	char type[64];
	bool found = false;

	while (f && !found && fscanf(f, "%*s %255s %63s%*[^\n]", root, type) == 2)
		found = !strcmp(type, "cgroup2");
	if (f)
		fclose(f);
	return found;
}

static void join(const char *dir)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	f = fopen(path, "w");
	cr_assert(f && fprintf(f, "0") > 0 && !fclose(f), "%s", path);
}

struct moves {
	char root[256], dir[384];
};

static void fire_in_cgroup(void *arg)
{
	const struct moves *m = arg;

	join(m->dir);
	fire(1, 2, 3);
	join(m->root);
	fire(1, 2, 3);
}

Test(functions, cgroups_by_name)
{
	struct moves *m = worker_shared(sizeof(*m));
	const struct weft_value *v;
	char name[128];
	struct worker w;
	struct rig r;

	cr_assert(find_cgroups(m->root), "no hierarchy of version 2 is mounted");
	snprintf(name, sizeof(name), "/docker-" CONTAINER_ID ".scope");
	snprintf(m->dir, sizeof(m->dir), "%s%s", m->root, name);
	cr_assert(!mkdir(m->dir, 0755) || errno == EEXIST, "%s", m->dir);
	worker_fork(&w, fire_in_cgroup, m);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::math'\n"
		  "    when: pid == %d\n"
		  "    do:\n"
		  "      - count: {into: n, by: {c: container}}\n"
		  "      - emit: {n: cgroupname, c: container, id: cgroup}\n",
		  w.pid);
	cr_assert(!rmdir(m->dir), "%s", m->dir);
	cr_assert_eq(r.cap.n_records, 2);
	v = cap_field(&r.cap.records[0], "n");
	cr_expect(cap_is_text(&r.cap.records[0], "n", name), "%.*s", (int)v->text.n, v->text.s);
	cr_expect(cap_is_text(&r.cap.records[0], "c", CONTAINER_ID));
	cr_expect_neq(cap_int(&r.cap.records[0], "id"), cap_int(&r.cap.records[1], "id"));
	cr_expect(cap_is_text(&r.cap.records[1], "c", ""));
	v = cap_field(&r.cap.records[1], "n");
	cr_expect(v->text.n >= 1 && v->text.s[0] == '/');
	cr_expect_eq(cap_row_text(cap_last_table(&r.cap, "n"), "c", CONTAINER_ID)->count, 1);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}
