/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What cgroups are called, by directories of our own: an id is an inode number. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/consumer/cgroups.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char root[] = "/tmp/weft-cgroups-XXXXXX";

static uint64_t make(const char *path)
{
	char full[512];
	struct stat st;

	snprintf(full, sizeof(full), "%s%s", root, path);
	cr_assert(!mkdir(full, 0755) && !stat(full, &st));
	return st.st_ino;
}

static void drop(const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", root, path);
	cr_assert(!rmdir(full));
}

Test(cgroups, containers_by_engine)
{
	static const struct {
		const char *path;
		bool is_container;
	} paths[] = {
		{"/docker/" ID, true},
		{"/system.slice/docker-" ID ".scope", true},
		{"/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID ".scope", true},
		{"/kubepods.slice/kubepods-pod1.slice:cri-containerd:" ID, true},
		{"/machine.slice/libpod-" ID ".scope/container", true},
		{"/kubepods/besteffort/pod9/" ID "/sub/deeper", true},
		{"/crio-" ID ".scope", true},
		{"/machine.slice/libpod-conmon-" ID ".scope", false},
		{"/crio-conmon-" ID ".scope", false},
		{"/", false},
		{"", false},
		{"/system.slice/cron.service", false},
		{"/x" ID, false},
		{"/docker/" ID "0", false},
		{"/docker/" ID ".service", false},
		{"/docker/0123456789abcdef", false},
	};
	const char *id;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		size_t n = weft_cgroup_container(paths[i].path, &id);

		cr_expect(n == (paths[i].is_container ? 64u : 0u), "%s", paths[i].path);
		cr_expect(!n || !memcmp(id, ID, 64), "%s", paths[i].path);
	}
}

Test(cgroups, names_by_id)
{
	uint64_t a, b, later;
	struct weft_cgroups g;
	char unknown[32];
	struct stat st;

	cr_assert(mkdtemp(root));
	a = make("/system.slice");
	b = make("/system.slice/docker-" ID ".scope");
	weft_cgroups_init(&g, root);
	cr_expect(!weft_cgroups_look(&g));
	later = make("/late");
	/* Gone by now, but seen. */
	drop("/system.slice/docker-" ID ".scope");
	cr_expect_str_eq(weft_cgroups_text(&g, a, WEFT_CGROUP_NAME), "/system.slice");
	cr_expect_str_eq(weft_cgroups_text(&g, a, WEFT_CGROUP_CONTAINER), "");
	cr_expect_str_eq(weft_cgroups_text(&g, b, WEFT_CGROUP_NAME),
			 "/system.slice/docker-" ID ".scope");
	cr_expect_str_eq(weft_cgroups_text(&g, b, WEFT_CGROUP_CONTAINER), ID);
	cr_assert(!stat(root, &st));
	cr_expect_str_eq(weft_cgroups_text(&g, st.st_ino, WEFT_CGROUP_NAME), "/");
	/* New since: looked for when it is asked for. Unknown: said so, for ever. */
	cr_expect_str_eq(weft_cgroups_text(&g, later, WEFT_CGROUP_NAME), "/late");
	snprintf(unknown, sizeof(unknown), "id:%lu", 1UL << 60);
	cr_expect_str_eq(weft_cgroups_text(&g, 1UL << 60, WEFT_CGROUP_NAME), unknown);
	cr_expect_str_eq(weft_cgroups_text(&g, 1UL << 60, WEFT_CGROUP_CONTAINER), unknown);
	weft_cgroups_finish(&g);
	drop("/late");
	drop("/system.slice");
	drop("");
}

Test(cgroups, no_hierarchy)
{
	struct weft_cgroups g;

	weft_cgroups_init(&g, "/nonexistent");
	cr_expect_str_eq(weft_cgroups_text(&g, 7, WEFT_CGROUP_NAME), "id:7");
	weft_cgroups_finish(&g);
	weft_cgroups_init(&g, NULL);
	weft_cgroups_finish(&g);
}
