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
	static const char *const all[] = {"kprobe", "kprobe_multi", NULL};
	static const char *const old[] = {"kprobe", NULL};

	return vm_has_kprobe_multi() ? all : old;
}
