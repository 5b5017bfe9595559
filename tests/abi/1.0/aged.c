/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A provider as somebody wrote it against the headers beside it, and never touched again. It is
 * built with them and has to work with every weft of that major version. Do not change it: what a
 * later header makes possible belongs into a later copy.
 *
 *   aged::CALL:entry    CALL is getppid or getuid; arg0 nr, arg1 half (nr / 2)
 *   aged::CALL:return   retval; `elapsed` since the entry
 *   aged:::now          provided when it is asked for; its events are those of getppid:entry
 */
#include <weft/provider.h>

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct weft_instance {
	const struct weft_host *host;
	int64_t most;
	char note[64];
};

struct weft_attachment {
	uint32_t n;
	int fds[]; /* pairs: event, link */
};

static const char *const calls[] = {"getppid", "getuid"};
#define RETURN 1u /* data of a probe: index of the call << 1 | RETURN */
#define NOW    4u

static const struct weft_option_spec most_spec = {
	.struct_size = sizeof(most_spec),
	.type = WEFT_OPTION_INT,
	.where = WEFT_OPTION_PER_SET,
	.name = "most",
	.default_text = "4",
	.help = "How many probes of a batch are attached.",
	.min = 1,
	.max = 4,
};
static const struct weft_option_spec *const options[] = {&most_spec, NULL};

static int aged_open(const struct weft_host *host, const struct weft_params *params,
		     struct weft_instance **out, struct weft_error *err)
{
	struct weft_instance *in = calloc(1, sizeof(*in));

	if (!in)
		return host->fail(err, -ENOMEM, "AGED_MEMORY", "out of memory");
	in->host = host;
	in->most = host->param_int(params, "most");
	host->log(host, WEFT_LOG_INFO, "at most %d probes", (int)in->most);
	*out = in;
	return 0;
}

static void aged_close(struct weft_instance *in)
{
	free(in);
}

static int add(struct weft_instance *in, struct weft_registry *registry, const char *function,
	       const char *name, uint64_t data, struct weft_error *err)
{
	const struct weft_probe_desc d = {sizeof(d), 0, "aged", "", function, name};
	int ret = in->host->probe_add(registry, &d, data, NULL, err);

	return ret == -EEXIST ? 0 : ret;
}

static int aged_populate(struct weft_instance *in, struct weft_registry *registry,
			 struct weft_error *err)
{
	int ret = 0;

	for (uint64_t i = 0; i < 2 && !ret; i++) {
		ret = add(in, registry, calls[i], "entry", i << 1, err);
		if (!ret)
			ret = add(in, registry, calls[i], "return", i << 1 | RETURN, err);
	}
	return ret;
}

static int aged_provide(struct weft_instance *in, struct weft_registry *registry,
			const struct weft_probe_desc *d, struct weft_error *err)
{
	if (!strcmp(d->name, "now"))
		return add(in, registry, "", "now", NOW, err);
	if (in->host->field_match("get*", d->function))
		return aged_populate(in, registry, err);
	return in->host->fail(err, -ENOENT, "AGED_NONE", "aged has no probe '%s'", d->name);
}

static int aged_probe_info(struct weft_instance *in, const struct weft_probe *probe,
			   const struct weft_params *with, struct weft_probe_info *out,
			   struct weft_error *err)
{
	static const struct weft_loc_op nr[] = {{.op = WEFT_LOC_CTX, .size = 4, .imm = 8}};
	static const struct weft_loc_op half[] = {{.op = WEFT_LOC_CTX, .size = 4, .imm = 8},
						  {.op = WEFT_LOC_CONST, .imm = 2},
						  {.op = WEFT_LOC_DIV}};
	static const struct weft_loc_op ret[] = {
		{.op = WEFT_LOC_CTX, .size = 8, .flags = WEFT_LOC_SIGNED, .imm = 16}};
	static const struct weft_loc_op frame[] = {{.op = WEFT_LOC_CONST, .imm = 1}};
	static const struct weft_arg args[] = {
		{.struct_size = sizeof(args[0]),
		 .name = "nr",
		 .type = {.kind = WEFT_TYPE_INT, .size = 4},
		 .where = {.ops = nr, .n_ops = 1}},
		{.struct_size = sizeof(args[0]),
		 .name = "half",
		 .type = {.kind = WEFT_TYPE_INT, .size = 4},
		 .where = {.ops = half, .n_ops = 3}},
		{.struct_size = sizeof(args[0]),
		 .name = "lost",
		 .unreadable = "it was forgotten",
		 .type = {.kind = WEFT_TYPE_POINTER, .space = WEFT_SPACE_USER}},
	};
	uint64_t data = in->host->probe_data(probe);

	(void)with;
	(void)err;
	out->scope = WEFT_SCOPE_NONE;
	out->load.prog_type = BPF_PROG_TYPE_TRACEPOINT;
	out->load.flags = WEFT_LOAD_COOKIE;
	out->load.ctx_kind = WEFT_CTX_RECORD;
	out->load.ctx_size = 24;
	out->identity.kind = WEFT_IDENTITY_COOKIE;
	if (data == NOW)
		return 0;
	out->pairing.role = data & RETURN ? WEFT_PAIRING_RETURN : WEFT_PAIRING_ENTRY;
	out->pairing.frame.ops = frame;
	out->pairing.frame.n_ops = 1;
	if (data & RETURN) {
		out->pairing.entry = (struct weft_probe_desc){
			sizeof(out->pairing.entry), 0, "aged", "", calls[data >> 1], "entry"};
		out->retval_type.kind = WEFT_TYPE_INT;
		out->retval_type.size = 8;
		out->retval_type.flags = WEFT_TYPE_SIGNED;
		out->retval.ops = ret;
		out->retval.n_ops = 1;
		out->prototype = "long (void)";
	} else {
		out->args = args;
		out->n_args = 3;
		out->arg_size = sizeof(args[0]);
	}
	return 0;
}

static int attach_one(const char *call, int returns, int prog, uint64_t cookie, int fds[2])
{
	struct perf_event_attr event = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(event), .sample_period = 1};
	union bpf_attr link = {
		.link_create = {.prog_fd = (uint32_t)prog, .attach_type = BPF_PERF_EVENT}};
	char path[128];
	long long id;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/syscalls/sys_%s_%s/id",
		 returns ? "exit" : "enter", call);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	if (fscanf(f, "%lld", &id) != 1)
		id = -1;
	fclose(f);
	event.config = (uint64_t)id;
	fds[0] = (int)syscall(SYS_perf_event_open, &event, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fds[0] < 0)
		return -errno;
	link.link_create.target_fd = (uint32_t)fds[0];
	link.link_create.perf_event.bpf_cookie = cookie;
	fds[1] = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof(link));
	if (fds[1] < 0) {
		int ret = -errno;

		close(fds[0]);
		return ret;
	}
	return 0;
}

static void aged_detach(struct weft_instance *in, struct weft_attachment *at)
{
	(void)in;
	for (uint32_t i = 0; i < 2 * at->n; i++)
		close(at->fds[2 * at->n - 1 - i]);
	free(at);
}

static int aged_attach(struct weft_instance *in, const struct weft_attach_request *request,
		       struct weft_attachment **out, struct weft_error *err)
{
	struct weft_attachment *at =
		calloc(1, sizeof(*at) + (size_t)request->n_probes * 2 * sizeof(int));
	int first = 0;

	if (!at)
		return in->host->fail(err, -ENOMEM, "AGED_MEMORY", "out of memory");
	for (uint32_t i = 0; i < request->n_probes; i++) {
		const struct weft_attach_probe *p = weft_attach_probe_at(request, i);
		uint64_t data = in->host->probe_data(p->probe) & 3;
		int ret = at->n >= (uint64_t)in->most
				  ? -ENOSPC
				  : attach_one(calls[data >> 1], data & RETURN, request->prog_fd,
					       p->cookie, at->fds + (size_t)2 * at->n);

		request->status[i] = ret;
		if (!ret)
			at->n++;
		else if (!first)
			first = ret;
	}
	if (!at->n) {
		free(at);
		return in->host->fail(err, first, "AGED_ATTACH", "nothing could be attached: %s",
				      strerror(-first));
	}
	*request->done = at->n;
	*request->total = request->n_probes;
	*request->unit = "probes";
	*out = at;
	return 0;
}

static const char *aged_describe(struct weft_instance *in)
{
	(void)in;
	return "tracepoints, as ever";
}

static const char *aged_probe_note(struct weft_instance *in, const struct weft_probe *probe,
				   const struct weft_params *with)
{
	(void)with;
	snprintf(in->note, sizeof(in->note), "number %d", (int)in->host->probe_data(probe));
	return in->note;
}

WEFT_PROVIDER_PLUGIN = {
	.struct_size = sizeof(weft_provider_plugin),
	.abi_version = WEFT_ABI_CURRENT,
	.name = "aged",
	.summary = "a provider of another time",
	.options = options,
	.open = aged_open,
	.close = aged_close,
	.populate = aged_populate,
	.provide = aged_provide,
	.probe_info = aged_probe_info,
	.attach = aged_attach,
	.detach = aged_detach,
	.describe = aged_describe,
	.probe_note = aged_probe_note,
};
