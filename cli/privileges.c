/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Privileges: what they are good for, and getting rid of them.
 *
 * Once everything is attached, a run needs little of what it began with. It gives up every
 * capability but those that weft uses while it traces and those that the providers in use list, can
 * gain none by running a program, and is kept by a filter from what a tracer has no business with:
 * starting programs, becoming somebody else, tracing by ptrace, mounting, loading modules, sockets.
 * Such a call fails with EPERM; nothing is killed for it, since a plugin may ask for what it can do
 * without. The command of the run has been forked before, and keeps what it had.
 *
 * What is kept: probes that appear later are attached later (CAP_BPF, CAP_PERFMON); stacks are
 * named while the run goes on (the others).
 */
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cli/cli.h"

/* ---- telling ---- */

static bool have(uint32_t capability)
{
	cap_t now = cap_get_proc();
	cap_flag_value_t v = CAP_CLEAR;
	bool yes = now && !cap_get_flag(now, (cap_value_t)capability, CAP_EFFECTIVE, &v) &&
		   v == CAP_SET;

	cap_free(now);
	return yes;
}

static void say(const struct weft_trace_capability *c, FILE *to)
{
	char *name = cap_to_name((cap_value_t)c->capability), *p, text[256];

	for (p = name; p && *p; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	weft_trace_printable(c->what_for, text, sizeof(text));
	fprintf(to, "  %-13s %-23s %s: %s\n", c->provider ? c->provider : "weft", name ? name : "?",
		have(c->capability)              ? "have"
		: c->flags & WEFT_TRACE_REQUIRED ? "lack, nothing works without it"
						 : "lack",
		text);
	cap_free(name);
}

void cli_print_privileges(struct weft_trace *t, FILE *to)
{
	const struct weft_trace_capability *c;

	fprintf(to, "privileges\n");
	for (size_t i = 0; (c = weft_trace_capability(t, i)); i++)
		say(c, to);
}

/* ---- giving up ---- */

/* Calls that fail from then on. */
static const int forbidden[] = {
	/* other programs */
	SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(process_vm_writev),
#if !defined(__SANITIZE_ADDRESS__) /* which looks for leaks by it */
	SCMP_SYS(ptrace),
#endif
	/* somebody else, somewhere else */
	SCMP_SYS(setuid), SCMP_SYS(setgid), SCMP_SYS(setreuid), SCMP_SYS(setregid),
	SCMP_SYS(setresuid), SCMP_SYS(setresgid), SCMP_SYS(setgroups), SCMP_SYS(setns),
	SCMP_SYS(unshare), SCMP_SYS(chroot), SCMP_SYS(pivot_root), SCMP_SYS(capset),
	/* the system's shape */
	SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(move_mount), SCMP_SYS(open_tree),
	SCMP_SYS(fsopen), SCMP_SYS(fsmount), SCMP_SYS(mount_setattr), SCMP_SYS(swapon),
	SCMP_SYS(swapoff), SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module),
	SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load), SCMP_SYS(reboot), SCMP_SYS(acct),
	SCMP_SYS(quotactl), SCMP_SYS(sethostname), SCMP_SYS(setdomainname), SCMP_SYS(settimeofday),
	SCMP_SYS(clock_settime), SCMP_SYS(adjtimex), SCMP_SYS(clock_adjtime), SCMP_SYS(iopl),
	SCMP_SYS(ioperm), SCMP_SYS(mknod), SCMP_SYS(mknodat),
	/* the net, and ways around this filter */
	SCMP_SYS(socket), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept),
	SCMP_SYS(accept4), SCMP_SYS(io_uring_setup), SCMP_SYS(userfaultfd), SCMP_SYS(add_key),
	SCMP_SYS(request_key), SCMP_SYS(keyctl)};

static int keep(cap_t set, const cap_t now, uint32_t capability)
{
	const cap_value_t value = (cap_value_t)capability;
	cap_flag_value_t had = CAP_CLEAR;

	/* One that this kernel does not know nobody has. */
	if (cap_get_flag(now, value, CAP_PERMITTED, &had) || had != CAP_SET)
		return 0;
	return cap_set_flag(set, CAP_PERMITTED, 1, &value, CAP_SET) ||
			       cap_set_flag(set, CAP_EFFECTIVE, 1, &value, CAP_SET)
		       ? -errno
		       : 0;
}

static int drop_capabilities(struct weft_trace *t)
{
	cap_t now = cap_get_proc(), set = cap_init();
	const struct weft_trace_capability *c;
	int ret = now && set ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && (c = weft_trace_capability(t, i)); i++)
		if (c->flags & WEFT_TRACE_IN_USE)
			ret = keep(set, now, c->capability);
	if (!ret && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
		ret = -errno;
	if (!ret && cap_set_proc(set))
		ret = -errno;
	cap_free(now);
	cap_free(set);
	return ret;
}

/* libseccomp frees twice what it did not get all of, which is less than this. volatile, since
 * compilers know how to do without a block that is not used. */
static bool has_room(void)
{
	void *volatile p = malloc(256u << 10);
	const bool room = p;

	free(p);
	return room;
}

static int forbid_calls(void)
{
	scmp_filter_ctx filter = has_room() ? seccomp_init(SCMP_ACT_ALLOW) : NULL;
	int ret = filter ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
		ret = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), forbidden[i], 0);
		if (ret == -EDOM) /* this machine's kernel has no such call */
			ret = 0;
	}
	if (!ret)
		ret = seccomp_load(filter); /* sets no_new_privs, too */
	seccomp_release(filter);
	return ret;
}

void cli_confine(struct cli *cli)
{
	int ret = drop_capabilities(cli->t);
	cap_t now;
	char *text;

	if (!ret)
		ret = forbid_calls();
	if (ret) {
		fprintf(stderr,
			"trace-cli: warning: privileges that tracing does not need are kept, since they "
			"cannot be given up: %s [CONFINE]\n",
			strerror(-ret));
		return;
	}
	if (!cli->verbose)
		return;
	now = cap_get_proc();
	text = cap_to_text(now, NULL);
	fprintf(stderr, "trace-cli: of all privileges it keeps %s\n", text ? text : "?");
	cap_free(text);
	cap_free(now);
}
