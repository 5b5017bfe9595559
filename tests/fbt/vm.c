/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "vm.h"

#include <sys/utsname.h>

bool vm_has_kprobe_multi(void)
{
	struct utsname u;

	cr_assert_eq(uname(&u), 0);
	return strncmp(u.release, "6.1.", 4) != 0;
}

const char *const *vm_mechanisms(void)
{
	static const char *const all[] = {"kprobe", "kprobe_multi", "fentry", NULL};
	static const char *const old[] = {"kprobe", "fentry", NULL};

	return vm_has_kprobe_multi() ? all : old;
}

uint64_t vm_busy_of(struct rig *r, const char *probe)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->cap.n_losses; i++)
		if (!strcmp(r->cap.losses[i].tag, "PROGRAM_BUSY") &&
		    !strcmp(r->cap.losses[i].where, probe))
			n += r->cap.losses[i].count;
	return n;
}

void vm_expect_no_loss(struct rig *r, const char *mechanism)
{
	uint64_t busy = cap_lost(&r->cap, "PROGRAM_BUSY");

	if (strcmp(mechanism, "fentry") || !busy)
		cap_expect_no_loss(&r->cap);
	else
		cap_expect_loss(&r->cap, "PROGRAM_BUSY", busy);
}

void vm_expect_calls(struct rig *r, const char *mechanism, const char *probe, uint64_t counted,
		     uint64_t calls)
{
	uint64_t busy = vm_busy_of(r, probe);

	vm_expect_no_loss(r, mechanism);
	cr_expect_eq(counted + busy, calls, "%s, %s: %llu and %llu skipped, of %llu", mechanism,
		     probe, (unsigned long long)counted, (unsigned long long)busy,
		     (unsigned long long)calls);
}
