/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * trace-cli info --bundle: a text for a bug report, which its reader can look through before it is
 * sent. It has what is needed to see why weft does what it does on a machine, and is made up of
 * what is listed here alone: nothing that names a user, a host, a program, a folder or an address.
 * Of the kernel's command line only words that change what tracing can do are taken; of plugins the
 * name of the file, and a tag.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

static void row(FILE *to, const char *what, const char *value)
{
	fprintf(to, "  %-28s ", what);
	cli_put(to, value);
	putc('\n', to);
}

/* The first line of a file, or of its lines the first that begins so, without that. */
static void file_row(FILE *to, const char *what, const char *path, const char *begin)
{
	char line[512], *value = NULL;
	FILE *f = fopen(path, "re");

	while (f && !value && fgets(line, sizeof(line), f))
		if (!strncmp(line, begin, strlen(begin)))
			value = line + strlen(begin) + strspn(line + strlen(begin), " \t:=\"");
	if (value)
		value[strcspn(value, "\"\n")] = '\0';
	row(to, what, value ? value : "unknown");
	if (f)
		fclose(f);
}

/* Words of the kernel's command line that change what can be traced. */
static void boot_row(FILE *to)
{
	static const char *const telling[] = {"preempt=",
					      "lockdown=",
					      "lsm=",
					      "mitigations=",
					      "nokaslr",
					      "nohz_full=",
					      "isolcpus=",
					      "audit=",
					      "apparmor=",
					      "selinux=",
					      "randomize_kstack_offset="};
	char text[4096] = "", out[1024] = "", *word, *rest = text;
	FILE *f = fopen("/proc/cmdline", "re");

	if (f && !fgets(text, sizeof(text), f))
		text[0] = '\0';
	if (f)
		fclose(f);
	while ((word = strsep(&rest, " \n")))
		for (size_t i = 0; i < sizeof(telling) / sizeof(telling[0]); i++)
			if (!strncmp(word, telling[i], strlen(telling[i])) &&
			    strlen(out) + strlen(word) + 2 < sizeof(out)) {
				strcat(out, word);
				strcat(out, " ");
			}
	row(to, "boot options that matter", *out ? out : "none");
}

static void limit_row(FILE *to, const char *what, int resource)
{
	struct rlimit r;
	char text[64] = "unknown";

	if (!getrlimit(resource, &r) && r.rlim_cur == RLIM_INFINITY)
		snprintf(text, sizeof(text), "unlimited");
	else if (!getrlimit(resource, &r))
		snprintf(text, sizeof(text), "%llu", (unsigned long long)r.rlim_cur);
	row(to, what, text);
}

static void write_machine(FILE *to)
{
	struct utsname u;
	char text[64];

	fprintf(to, "machine\n");
	file_row(to, "system", "/etc/os-release", "PRETTY_NAME");
	if (!uname(&u))
		row(to, "kernel built", u.version);
	snprintf(text, sizeof(text), "%ld of %ld", sysconf(_SC_NPROCESSORS_ONLN),
		 sysconf(_SC_NPROCESSORS_CONF));
	row(to, "CPUs", text);
	file_row(to, "processor", "/proc/cpuinfo", "model name");
	file_row(to, "memory", "/proc/meminfo", "MemTotal");
	file_row(to, "clock", "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		 "");
	file_row(to, "kernel tainted", "/proc/sys/kernel/tainted", "");
	boot_row(to);
	limit_row(to, "open files, at most", RLIMIT_NOFILE);
	limit_row(to, "locked memory, at most", RLIMIT_MEMLOCK);
	row(to, "root", geteuid() ? "no" : "yes");
}

static void write_plugins(FILE *to, struct cli *cli)
{
	const struct weft_trace_plugin *p;
	const char *slash;

	fprintf(to, "plugins\n");
	for (size_t i = 0; (p = weft_trace_plugin(cli->t, i)); i++) {
		slash = strrchr(p->path, '/');
		fputs("  ", to);
		cli_put(to, slash ? slash + 1 : p->path);
		fprintf(to, ": %s, ABI %u.%u, %s\n", p->name ? p->name : "?", p->abi_version >> 16,
			p->abi_version & 0xffff, p->tag ? p->tag : "usable");
	}
}

/* Writes a new file, never one that is there already; one that cannot be written whole is removed. */
static int write_new(const char *file, const char *text, size_t n)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int ret = fd < 0 ? -errno : cli_write_to(fd, text, n);

	if (fd >= 0 && close(fd) && !ret)
		ret = -errno;
	if (fd >= 0 && ret)
		unlink(file);
	return ret;
}

/* The file is one of the user who called. */
static int write_file(const char *file, const char *text, size_t n)
{
	const uid_t uid = (uid_t)setfsuid(getuid());
	const gid_t gid = (gid_t)setfsgid(getgid());
	const int ret = write_new(file, text, n);

	setfsuid(uid);
	setfsgid(gid);
	return ret;
}

/* Returns 0, or the exit status with everything said. *text is freed with free() in any case. */
static int compose(struct cli *cli, char **text, size_t *n)
{
	FILE *to = open_memstream(text, n);
	int failed = 0;

	if (to) {
		fprintf(to, "weft %s, provider ABI %u.%u\n", weft_version_text(),
			weft_version_provider_abi() >> 16, weft_version_provider_abi() & 0xffff);
		write_machine(to);
		failed = cli_print_info(cli, to);
		write_plugins(to, cli);
		fputs("Add by hand, if they may be seen: the probe set, the command, and what it "
		      "printed.\n",
		      to);
	}
	if (!to || fclose(to)) {
		fputs("trace-cli: error: out of memory [NO_MEMORY]\n", stderr);
		return CLI_FAILED;
	}
	return failed ? cli_report(cli, CLI_FAILED) : 0;
}

int cli_bundle(struct cli *cli, const char *file)
{
	time_t now = time(NULL);
	char made_up[64], *text = NULL;
	struct tm tm;
	int status, error = 0;
	size_t n = 0;

	if (!file) {
		strftime(made_up, sizeof(made_up), "weft-%Y%m%d-%H%M%S.txt", gmtime_r(&now, &tm));
		file = made_up;
	}
	status = compose(cli, &text, &n);
	if (!status)
		error = write_file(file, text, n);
	free(text);
	if (status)
		return status;
	if (error) {
		fprintf(stderr, "trace-cli: error: ");
		cli_put(stderr, file);
		fprintf(stderr, " cannot be written: %s [BUNDLE]\n", strerror(-error));
		return CLI_FAILED;
	}
	printf("wrote ");
	cli_put(stdout, file);
	printf("; it names no user, host, program or folder, but look through it before you send it\n");
	return CLI_OK;
}
