/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/kernel/privilege.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_text(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	return true;
}

/* The effective capabilities as a mask; all of them where /proc does not tell. */
static uint64_t effective(void)
{
	char text[4096];
	const char *at;

	if (!read_text("/proc/self/status", text, sizeof(text)))
		return UINT64_MAX;
	at = strstr(text, "CapEff:");
	return at ? strtoull(at + strlen("CapEff:"), NULL, 16) : UINT64_MAX;
}

/* The level between the brackets of "none [integrity] confidentiality". */
static bool lockdown(char *level, size_t size)
{
	char text[128];
	const char *from, *to;

	if (!read_text("/sys/kernel/security/lockdown", text, sizeof(text)))
		return false;
	from = strchr(text, '[');
	to = from ? strchr(from, ']') : NULL;
	if (!to)
		return false;
	snprintf(level, size, "%.*s", (int)(to - from - 1), from + 1);
	return strcmp(level, "none") != 0;
}

void weft_privilege_lacking(char *buf, size_t size)
{
	uint64_t caps = effective();
	bool admin = caps >> CAP_SYS_ADMIN & 1;
	bool no_bpf = !admin && !(caps >> CAP_BPF & 1);
	bool no_perfmon = !admin && !(caps >> CAP_PERFMON & 1);
	char level[32];

	if (no_bpf || no_perfmon)
		snprintf(buf, size, "%s%s%s missing; run it as root", no_bpf ? "CAP_BPF" : "",
			 no_bpf && no_perfmon ? " and " : "",
			 no_perfmon ? (no_bpf ? "CAP_PERFMON are" : "CAP_PERFMON is") : " is");
	else if (lockdown(level, sizeof(level)))
		snprintf(buf, size, "kernel lockdown (%s) or a security policy forbids it", level);
	else
		snprintf(buf, size, "a security policy of this kernel or container forbids it");
}

bool weft_privilege_paranoid(int *level)
{
	char text[32];

	if (!read_text("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text)))
		return false;
	*level = atoi(text);
	return *level > 2 && !(effective() >> CAP_SYS_ADMIN & 1);
}
