/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The life of tasks: task:::start, task:::exec, task:::exit. docs/writing-a-provider.md explains it. */
#include <weft/provider.h>

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const names[] = {"start", "exec", "exit"};
static const char *const events[] = {"sched_wakeup_new", "sched_process_exec", "sched_process_exit"};

struct weft_instance {
	const struct weft_host *host;
};

struct weft_attachment {
	int link;
};

static int task_open(const struct weft_host *host, const struct weft_params *params,
		     struct weft_instance **out, struct weft_error *err)
{
	*out = malloc(sizeof(**out));
	if (*out)
		(*out)->host = host;
	return *out ? 0 : host->fail(err, -ENOMEM, "TASK_MEMORY", "no memory for tasks");
}

static int task_populate(struct weft_instance *in, struct weft_registry *to, struct weft_error *err)
{
	int ret = 0;

	for (uint64_t i = 0; i < 3 && !ret; i++) {
		struct weft_probe_desc probe = {sizeof(probe), 0, "task", "", "", names[i]};
		ret = in->host->probe_add(to, &probe, i, NULL, err);
	}
	return ret;
}

static int task_probe_info(struct weft_instance *in, const struct weft_probe *probe,
			   const struct weft_params *with, struct weft_probe_info *out,
			   struct weft_error *err)
{
	static const char *const member[] = {"task_struct.pid"};
	static const struct weft_loc_op pid[] = {
		{WEFT_LOC_CTX, 8}, {WEFT_LOC_MEMBER}, {WEFT_LOC_LOAD, 4}};
	static const struct weft_arg arg = {sizeof(arg), .name = "pid", .where = {pid, 3, 1, member},
					    .type = {.kind = WEFT_TYPE_INT, .size = 4}};

	out->load.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	out->load.flags = WEFT_LOAD_ONE_PER_PROBE;
	out->load.ctx_kind = WEFT_CTX_WORDS;
	out->load.ctx_size = 8;
	out->args = &arg;
	out->n_args = 1;
	out->arg_size = sizeof(arg);
	return 0;
}

static int task_attach(struct weft_instance *in, const struct weft_attach_request *request,
		       struct weft_attachment **out, struct weft_error *err)
{
	const char *event = events[in->host->probe_data(request->probes->probe)];
	union bpf_attr attr = {.raw_tracepoint.name = (uintptr_t)event,
			       .raw_tracepoint.prog_fd = request->prog_fd};

	*out = malloc(sizeof(**out));
	if (*out &&
	    ((*out)->link = syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr))) >= 0)
		return 0;
	free(*out);
	return in->host->fail(err, -errno, "TASK_ATTACH", "%s: %m", event);
}

static void task_detach(struct weft_instance *in, struct weft_attachment *attachment)
{
	close(attachment->link);
	free(attachment);
}

static void task_close(struct weft_instance *in)
{
	free(in);
}

WEFT_PROVIDER_PLUGIN = {
	.struct_size = sizeof(weft_provider_plugin),
	.abi_version = WEFT_ABI_CURRENT,
	.name = "task",
	.summary = "the life of tasks: they start, execute a program, exit",
	.open = task_open,
	.populate = task_populate,
	.probe_info = task_probe_info,
	.attach = task_attach,
	.detach = task_detach,
	.close = task_close,
};
