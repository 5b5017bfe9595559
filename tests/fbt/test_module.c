/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions of a module: tun.ko, which the machine has beside its kernel and which nobody loads.
 * Its device's file operations are called by opening and asking /dev/net/tun.
 */
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>

#include "vm.h"

#define OPENS 30
#define ASKS  70

static void load_module(void)
{
	struct utsname u;
	char path[256];
	int fd;

	cr_assert_eq(uname(&u), 0);
	snprintf(path, sizeof(path), "/lib/modules/%s/tun.ko", u.release);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_geq(fd, 0, "%s: %s", path, strerror(errno));
	cr_assert_eq(syscall(SYS_finit_module, fd, "", 0), 0, "%s", strerror(errno));
	close(fd);
}

static int unload_module(void)
{
	return syscall(SYS_delete_module, "tun", O_NONBLOCK) ? -errno : 0;
}

static void use_tun(void *arg)
{
	struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI};
	int *ifindex = arg, fd;

	for (int i = 0; i < OPENS; i++) {
		fd = open("/dev/net/tun", O_RDWR);
		if (fd < 0)
			_exit(1);
		if (i < OPENS - 1)
			close(fd);
	}
	if (ioctl(fd, TUNSETIFF, &r))
		_exit(2);
	*ifindex = (int)if_nametoindex(r.ifr_name);
	for (int i = 0; i < ASKS; i++)
		if (ioctl(fd, TUNGETIFF, &r))
			_exit(3);
	close(fd);
}

/* tun_struct is the module's own type; what its member dev points to is the kernel's. */
Test(fbt_module, counts_and_types)
{
	int *ifindex = worker_shared(sizeof(*ifindex));

	load_module();
	for (const char *const *m = vm_mechanisms(); *m; m++) {
		const struct weft_row *row;
		struct worker w;
		struct rig r;

		worker_fork(&w, use_tun, ifindex);
		rig_init(&r);
		rig_trace(
			&r, &w,
			"version: 1\n"
			"providers: {fbt: {mechanism: %s}}\n"
			"probes:\n"
			"  - probe: 'fbt:tun:tun_chr_open:entry'\n"
			"    do: [count: {into: opened, by: {module: probemod}}]\n"
			"  - probe: 'fbt:tun:tun_chr_open:return'\n"
			"    do: [count: {into: returned, by: {value: retval}}]\n"
			/* no module: whichever has it */
			"  - probe: 'fbt::tun_chr_close:return'\n"
			"    do: [count: {into: closed, by: {module: probemod}}]\n"
			"  - probe: 'fbt:tun:tun_get_iff:entry'\n"
			"    do: [count: {into: asked, by: {flags: args.tun.flags, index: args.tun.dev.ifindex}}]\n",
			*m);
		vm_expect_no_loss(&r, *m);
		cr_expect_eq(cap_row_text(cap_last_table(&r.cap, "opened"), "module", "tun")->count,
			     OPENS, "%s", *m);
		row = cap_only_row(&r.cap, "returned");
		cr_expect(row->count == OPENS && !cap_key(row, "value")->i, "%s", *m);
		cr_expect_eq(cap_row_text(cap_last_table(&r.cap, "closed"), "module", "tun")->count,
			     OPENS, "%s", *m);
		row = cap_only_row(&r.cap, "asked");
		cr_expect_eq(row->count, ASKS, "%s", *m);
		cr_expect_eq(cap_key(row, "flags")->i, IFF_TUN | IFF_NO_PI, "%s", *m);
		cr_expect_eq(cap_key(row, "index")->i, *ifindex, "%s", *m);
		rig_finish(&r);
	}
	cr_expect_eq(unload_module(), 0, "something of ours still holds it");
}

/* All functions of a module, entry and return. */
Test(fbt_module, a_glob_over_a_module)
{
	int *ifindex = worker_shared(sizeof(*ifindex));

	load_module();
	for (const char *const *m = vm_mechanisms(); *m; m++) {
		struct worker w;
		struct rig r;

		worker_fork(&w, use_tun, ifindex);
		rig_init(&r);
		rig_trace(&r, &w,
			  "version: 1\n"
			  "providers: {fbt: {mechanism: %s}}\n"
			  "probes:\n"
			  "  - probe: 'fbt:tun:tun_*:'\n"
			  "    do: [count: {into: n, by: {f: probefunc, where: probename}}]\n",
			  *m);
		vm_expect_no_loss(&r, *m);
		cr_expect_gt(weft_session_n_probes(r.session), 50, "%s", *m);
		cr_expect_eq(cap_row_text(cap_last_table(&r.cap, "n"), "f", "tun_chr_open")->count,
			     OPENS, "%s", *m);
		rig_finish(&r);
	}
	cr_expect_eq(unload_module(), 0);
}

/* A module that is not there yet: said, and by its name. */
Test(fbt_module, FBT_NO_MODULE)
{
	static const char *const probes[] = {"fbt:tun:tun_chr_open:entry", "fbt:tun:*:entry"};

	for (size_t i = 0; i < 2; i++) {
		struct rig r;

		rig_init(&r);
		cr_expect_eq(rig_prepare(&r,
					 "version: 1\n"
					 "probes:\n"
					 "  - probe: '%s'\n"
					 "    do: [count: {into: n}]\n",
					 probes[i]),
			     -ENOENT);
		rig_expect_tag(&r, 0, i ? "PROBE_NO_MODULE" : "FBT_NO_MODULE");
		rig_finish(&r);
	}
}

/* A module whose functions are traced either stays, or goes and takes its probes along; the session
 * keeps what it counted and ends well, and the module can be loaded again. */
Test(fbt_module, unloading_while_traced)
{
	for (const char *const *m = vm_mechanisms(); *m; m++) {
		int ret = 0, fd;
		struct rig r;

		load_module();
		rig_init(&r);
		cr_assert_eq(
			rig_prepare(&r,
				    "version: 1\n"
				    "providers: {fbt: {mechanism: %s}}\n"
				    "probes:\n"
				    "  - probe: ['fbt:tun:tun_chr_open:entry', 'fbt:tun:tun_chr_close:return']\n"
				    "    do: [count: {into: n}]\n",
				    *m),
			0, "%s", rig_errors(&r));
		cr_assert_eq(rig_start(&r), 0, "%s: %s", *m, rig_errors(&r));
		fd = open("/dev/net/tun", O_RDWR);
		cr_assert_geq(fd, 0);
		close(fd);
		/* A file's last reference may go a moment after close(). */
		for (int tries = 0; tries < 50 && (ret = unload_module()) == -EAGAIN; tries++)
			usleep(20000);
		if (strcmp(*m, "kprobe"))
			cr_expect_eq(ret, -EAGAIN, "%s: %d: a link holds the module", *m, ret);
		else
			cr_expect_eq(ret, 0, "%d", ret);
		cr_expect_eq(rig_run(&r, -1, 1000000), 0, "%s: %s", *m, rig_errors(&r));
		cr_expect_eq(cap_total(cap_last_table(&r.cap, "n")), 2, "%s", *m);
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
		if (ret)
			cr_expect_eq(unload_module(), 0, "%s", *m);
	}
}
