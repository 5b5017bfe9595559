/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a link's kernel says it suppressed: firings inside firings, and returns for which it had no
 * room (maxactive). struct bpf_link_info as of 6.7; the headers this is built with end before it. A
 * kernel that knows less fills in less and says how much.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fbt.h"

#define PERF_EVENT_KPROBE    3u /* enum bpf_perf_event_type, 6.6 */
#define PERF_EVENT_KRETPROBE 4u

struct link_info {
	uint32_t type, id, prog_id, pad;
	union {
		struct {
			uint64_t addrs;
			uint32_t count, flags;
			uint64_t missed;
		} multi;
		struct {
			uint32_t type, pad;
			uint64_t name;
			uint32_t name_len, offset;
			uint64_t addr, missed;
		} perf;
	};
};

bool weft_fbt_link_missed(int link_fd, uint64_t *missed)
{
	struct link_info info;
	union bpf_attr attr;

	memset(&info, 0, sizeof(info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)link_fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uint64_t)(uintptr_t)&info;
	if (syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)))
		return false;
	if (info.type == BPF_LINK_TYPE_KPROBE_MULTI &&
	    attr.info.info_len >= offsetof(struct link_info, multi.missed) + 8) {
		*missed = info.multi.missed;
		return true;
	}
	if (info.type == BPF_LINK_TYPE_PERF_EVENT &&
	    attr.info.info_len >= offsetof(struct link_info, perf.missed) + 8 &&
	    (info.perf.type == PERF_EVENT_KPROBE || info.perf.type == PERF_EVENT_KRETPROBE)) {
		*missed = info.perf.missed;
		return true;
	}
	return false;
}
