/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* trace-cli info: what this kernel allows, found out by trying, and what each provider makes of it. */
#include <errno.h>
#include <getopt.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/kernel/kernel.h"

static const struct option options[] = {CLI_COMMON_LONG, {NULL, 0, NULL, 0}};

/* Program types that providers load; whether such a program may also be attached is for the
 * provider to find out (a kernel may load what it cannot link). */
static const struct {
	const char *what;
	uint32_t prog_type;
	uint32_t flags;
} classes[] = {
	{"perf event programs", BPF_PROG_TYPE_PERF_EVENT, 0},
	{"tracepoint programs", BPF_PROG_TYPE_TRACEPOINT, 0},
	{"raw tracepoint programs", BPF_PROG_TYPE_RAW_TRACEPOINT, 0},
	{"kprobe and uprobe programs", BPF_PROG_TYPE_KPROBE, 0},
	{"sleepable uprobe programs", BPF_PROG_TYPE_KPROBE, WEFT_LOAD_SLEEPABLE},
};

static void row(const char *what, const char *value)
{
	printf("  %-28s %s\n", what, value);
}

static void file_row(const char *what, const char *path)
{
	char text[256] = "";
	FILE *f = fopen(path, "re");

	if (!f || !fgets(text, sizeof(text), f))
		snprintf(text, sizeof(text), "unknown (%s: %s)", path, strerror(errno));
	text[strcspn(text, "\n")] = '\0';
	if (f)
		fclose(f);
	row(what, text);
}

static void access_row(const char *what, const char *path, const char *without)
{
	char text[512];

	if (!access(path, R_OK))
		snprintf(text, sizeof(text), "yes (%s)", path);
	else
		snprintf(text, sizeof(text), "no: %s", without);
	row(what, text);
}

static void print_kernel(struct cli *cli)
{
	struct utsname u;
	size_t i;

	uname(&u);
	printf("kernel\n");
	row("release", u.release);
	row("machine", u.machine);
	file_row("lockdown", "/sys/kernel/security/lockdown");
	file_row("unprivileged BPF disabled", "/proc/sys/kernel/unprivileged_bpf_disabled");
	file_row("BPF JIT", "/proc/sys/net/core/bpf_jit_enable");
	file_row("perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid");
	file_row("perf sample rate limit, Hz", "/proc/sys/kernel/perf_event_max_sample_rate");
	file_row("kptr_restrict", "/proc/sys/kernel/kptr_restrict");
	access_row("type information (BTF)", "/sys/kernel/btf/vmlinux",
		   "typed kernel arguments, ppid and targets are unavailable");
	access_row("tracefs", "/sys/kernel/tracing/events",
		   "mount it: mount -t tracefs tracefs /sys/kernel/tracing");
	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		struct weft_load_class load = {
			.struct_size = sizeof(load),
			.prog_type = classes[i].prog_type,
			.flags = classes[i].flags,
		};
		int fd = weft_program_trial(&load, cli->err);
		char text[256];

		if (fd >= 0) {
			close(fd);
			row(classes[i].what, "load");
		} else {
			snprintf(text, sizeof(text), "refused: %s", strerror(-fd));
			row(classes[i].what, text);
		}
		weft_error_clear(cli->err);
	}
	if (geteuid())
		printf("  (asked without root: with it, more may be allowed)\n");
}

static int info_main(struct cli *cli, int argc, char **argv)
{
	struct weft_session *session;
	int o, status;
	size_t i;

	while ((o = getopt_long(argc, argv, CLI_COMMON_SHORT, options, NULL)) != -1) {
		status = cli_common_option(cli, &cli_info, o, optarg);
		if (status >= 0)
			return status;
	}
	if (optind < argc)
		return cli_bad_usage(&cli_info, "takes no argument: '%s'", argv[optind]);
	status = cli_load_plugins(cli, true);
	if (!status)
		status = cli_session(cli, false, false, &session);
	if (status)
		return status;
	print_kernel(cli);
	printf("providers\n");
	for (i = 0; i < cli->n_providers; i++) {
		const char *how = NULL;

		if (weft_session_mechanism(session, cli->providers[i]->name, &how, cli->err)) {
			row(cli->providers[i]->name, weft_error_text(cli->err));
			weft_error_clear(cli->err);
		} else {
			row(cli->providers[i]->name, how ? how : cli->providers[i]->summary);
		}
	}
	weft_session_destroy(session);
	return CLI_OK;
}

const struct cli_command cli_info = {
	.name = "info",
	.arguments = "",
	.summary = "show what this kernel allows, and which mechanism each provider uses",
	.help = "",
	.run = info_main,
};
