/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which of the kernel's ways to a function is taken: found out by attaching an empty program to
 * one, for a kernel that loads a program may still refuse its link.
 *
 *   kprobe_multi  one link for thousands of functions; counts exactly
 *   kprobe        a perf event for each function; counts exactly
 *   fentry        a program for each function; the cheapest firing, but a program that is running
 *                 on the CPU already is skipped there (PROGRAM_BUSY)
 *
 * in that order, since numbers matter more than nanoseconds. Nothing is tried before it has to be
 * known: a set without a probe of fbt, or a list of names, tries nothing.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fbt.h"
#include "support/bpf.h"
#include "support/file.h"

#define TRIAL "vfs_fsync" /* there since 2.6, and seldom called */

const char *const weft_fbt_mechanism_names[] = {
	[WEFT_FBT_NONE] = "none",
	[WEFT_FBT_KPROBE_MULTI] = "kprobe_multi",
	[WEFT_FBT_KPROBE] = "kprobe",
	[WEFT_FBT_FENTRY] = "fentry",
};

void weft_fbt_load_class(enum weft_fbt_mechanism mechanism, bool is_return,
			 struct weft_load_class *out)
{
	*out = (struct weft_load_class){.struct_size = sizeof(*out)};
	if (mechanism == WEFT_FBT_FENTRY) {
		out->prog_type = BPF_PROG_TYPE_TRACING;
		out->expected_attach_type = is_return ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
		out->flags = WEFT_LOAD_ONE_PER_PROBE;
		out->ctx_kind = WEFT_CTX_WORDS;
		return;
	}
	out->prog_type = BPF_PROG_TYPE_KPROBE;
	out->flags = WEFT_LOAD_COOKIE;
	out->ctx_kind = WEFT_CTX_REGS;
	if (mechanism == WEFT_FBT_KPROBE_MULTI)
		out->expected_attach_type = BPF_TRACE_KPROBE_MULTI;
}

/* The link of a trial, or -errno. */
static int try_link(struct weft_instance *in, enum weft_fbt_mechanism m)
{
	struct weft_load_class load;
	const char *name = TRIAL;
	struct weft_error *err = NULL;
	int prog, link;

	weft_fbt_load_class(m, false, &load);
	if (m == WEFT_FBT_FENTRY) {
		int ret = weft_fbt_fentry_target(in, TRIAL, "vmlinux", &load);

		if (ret)
			return ret;
	}
	prog = in->host->trial_program(in->host, &load, err);
	if (prog < 0)
		return prog;
	switch (m) {
	case WEFT_FBT_KPROBE_MULTI:
		link = support_kprobe_multi_link(
			prog, &(struct support_kprobe_multi){.symbols = &name, .count = 1});
		break;
	case WEFT_FBT_KPROBE:
		link = weft_fbt_kprobe(prog, TRIAL, 0, false, 0);
		break;
	default:
		link = support_raw_tracepoint_open(NULL, prog);
		break;
	}
	close(prog);
	return link;
}

static void try_mechanism(struct weft_instance *in, enum weft_fbt_mechanism m)
{
	int link;

	if (in->verdict[m] != WEFT_FBT_UNTRIED)
		return;
	link = try_link(in, m);
	if (link >= 0) {
		close(link);
		in->verdict[m] = WEFT_FBT_WORKS;
		return;
	}
	in->verdict_code[m] = link;
	in->verdict[m] = WEFT_FBT_FAILS;
	/* EPERM is also what a locked-down kernel says to root. */
	if ((link == -EPERM || link == -EACCES) && geteuid() != 0)
		in->verdict[m] = WEFT_FBT_DENIED;
}

void weft_fbt_settle(struct weft_instance *in)
{
	const char *wanted;

	if (in->settled)
		return;
	in->settled = true;
	wanted = in->host->param_string(in->params, "mechanism");
	for (enum weft_fbt_mechanism m = WEFT_FBT_KPROBE_MULTI; m < WEFT_FBT_N_MECHANISMS; m++) {
		bool forced = wanted && !strcmp(wanted, weft_fbt_mechanism_names[m]);

		if (wanted && strcmp(wanted, "auto") && !forced)
			continue;
		try_mechanism(in, m);
		if (in->verdict[m] == WEFT_FBT_WORKS) {
			in->mechanism = m;
			return;
		}
	}
	in->mechanism = WEFT_FBT_NONE;
}

static bool is_forced(const struct weft_instance *in)
{
	const char *wanted = in->host->param_string(in->params, "mechanism");

	return wanted && strcmp(wanted, "auto") != 0;
}

static const char *why_not(const struct weft_instance *in, enum weft_fbt_mechanism m)
{
	int code = in->verdict_code[m];

	if (in->verdict[m] == WEFT_FBT_UNTRIED)
		return is_forced(in) ? "not asked for" : "not needed";
	if (in->verdict[m] == WEFT_FBT_DENIED)
		return "takes root, or CAP_BPF and CAP_PERFMON";
	if (code == -EOPNOTSUPP || code == -ENODEV || code == -ENOENT)
		return "the kernel was built without it";
	if (code == -EPERM)
		return "the kernel refuses it";
	return strerror(-code);
}

const char *weft_fbt_describe(struct weft_instance *in)
{
	size_t n;

	weft_fbt_settle(in);
	n = (size_t)snprintf(in->description, sizeof(in->description), "%s",
			     in->mechanism ? weft_fbt_mechanism_names[in->mechanism]
					   : "no kernel function can be traced");
	for (enum weft_fbt_mechanism m = WEFT_FBT_KPROBE_MULTI; m < WEFT_FBT_N_MECHANISMS; m++) {
		if (m == in->mechanism || n >= sizeof(in->description))
			continue;
		n += (size_t)snprintf(in->description + n, sizeof(in->description) - n, "; %s: %s",
				      weft_fbt_mechanism_names[m], why_not(in, m));
	}
	return in->description;
}

int weft_fbt_fail_unsupported(struct weft_instance *in, struct weft_error *err)
{
	const char *wanted = in->host->param_string(in->params, "mechanism");
	bool denied = false;

	for (enum weft_fbt_mechanism m = WEFT_FBT_KPROBE_MULTI; m < WEFT_FBT_N_MECHANISMS; m++) {
		denied |= in->verdict[m] == WEFT_FBT_DENIED;
		if (wanted && !strcmp(wanted, weft_fbt_mechanism_names[m]) &&
		    in->verdict[m] == WEFT_FBT_FAILS)
			return in->host->fail(err, -ENOTSUP, "FBT_UNSUPPORTED",
					      "kernel functions cannot be traced by %s here: %s",
					      wanted, why_not(in, m));
	}
	if (denied)
		return in->host->fail(err, -EPERM, "FBT_DENIED",
				      "tracing kernel functions takes root, or CAP_BPF and "
				      "CAP_PERFMON");
	return in->host->fail(err, -ENOTSUP, "FBT_UNSUPPORTED",
			      "this kernel does not let its functions be traced (kprobe_multi: %s; "
			      "kprobe: %s; fentry: %s)",
			      why_not(in, WEFT_FBT_KPROBE_MULTI), why_not(in, WEFT_FBT_KPROBE),
			      why_not(in, WEFT_FBT_FENTRY));
}
