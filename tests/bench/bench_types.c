/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What looking into the kernel's types costs: opening them, finding a struct by its name and a
 * member in it, beside libbpf doing the same, in turns within one run. Each turn is a process of
 * its own, this program again; one that does nothing tells what of it is the process.
 */
#include <bpf/btf.h>
#include <linux/btf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel/btf_objects.h"
#include "measure.h"

#define ROUNDS 21

static int look_with_weft(bool copy)
{
	struct weft_btf_member_at m;
	struct weft_btf_type t;
	struct weft_btf *btf;
	uint32_t id;
	int ret;

	/* copy: as where the kernel does not let its types be mapped */
	ret = (copy ? weft_btf_open_copy : weft_btf_open)(WEFT_BTF_VMLINUX, NULL, &btf, NULL);
	if (ret || !weft_btf_find(btf, "task_struct", WEFT_BTF_KINDS(BTF_KIND_STRUCT), &id, NULL) ||
	    !weft_btf_type(btf, id, &t) || weft_btf_find_member(btf, &t, "tgid", &m) != 1)
		return 1;
	weft_btf_destroy(btf);
	return 0;
}

static int look_with_libbpf(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id = btf ? btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT) : -1;
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
	bool found = false;

	for (int i = 0; t && i < btf_vlen(t); i++)
		found |= !strcmp(btf__name_by_offset(btf, btf_members(t)[i].name_off), "tgid");
	btf__free(btf);
	return !found;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"nothing", "weft", "weft, copied", "libbpf"};
	struct sample samples[4][ROUNDS];
	char self[4096];
	ssize_t n;

	if (argc == 2 && !strcmp(argv[1], names[0]))
		return 0;
	if (argc == 2)
		return !strcmp(argv[1], names[3]) ? look_with_libbpf()
						  : look_with_weft(!strcmp(argv[1], names[2]));
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		return 1;
	self[n] = '\0';
	for (int i = 0; i < ROUNDS; i++)
		for (int k = 0; k < 4; k++) {
			char *const command[] = {self, (char *)names[k], NULL};

			if (measure_run(command, &samples[k][i]) || samples[k][i].status)
				return 1;
		}
	printf("task_struct.tgid in the kernel's types, %d rounds in turns\n", ROUNDS);
	measure_header("");
	for (int k = 0; k < 4; k++)
		measure_row(names[k], samples[k], ROUNDS);
	return 0;
}
