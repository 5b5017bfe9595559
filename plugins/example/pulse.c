/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A whole provider: cc -shared -fPIC -I plugins/include -o pulse.so plugins/example/pulse.c
 * Its one probe, pulse:::beat, fires ten times a second on CPU 0, by a perf software clock. */
#include <weft/provider.h>

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct weft_instance {
	const struct weft_host *host;
};
struct weft_attachment {
	int event;
};

static int pulse_open(const struct weft_host *host, const struct weft_params *params,
		      struct weft_instance **out, struct weft_error *err)
{
	(void)params;
	*out = malloc(sizeof(**out));
	if (*out)
		(*out)->host = host;
	return *out ? 0 : host->fail(err, -ENOMEM, "PULSE_MEMORY", "no memory for pulse");
}

static void pulse_close(struct weft_instance *self)
{
	free(self);
}

static int pulse_populate(struct weft_instance *self, struct weft_registry *registry,
			  struct weft_error *err)
{
	const struct weft_probe_desc beat = {sizeof(beat), 0, "pulse", "", "", "beat"};
	return self->host->probe_add(registry, &beat, 0, NULL, err);
}

static int pulse_info(struct weft_instance *self, const struct weft_probe *probe,
		      const struct weft_params *with, struct weft_probe_info *out,
		      struct weft_error *err)
{
	static const struct weft_loc_op pc = {.op = WEFT_LOC_KERNEL_PC};
	static const struct weft_arg arg = {sizeof(arg), .name = "pc", .where = {&pc, 1, 0},
					    .type = {.kind = WEFT_TYPE_INT, .size = 8}};

	(void)self, (void)probe, (void)with, (void)err;
	out->scope = WEFT_SCOPE_EXACT; /* a timer is about no process */
	out->load.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	out->load.ctx_kind = WEFT_CTX_PERF_EVENT;
	out->args = &arg;
	out->n_args = 1;
	out->arg_size = sizeof(arg);
	return 0;
}

static int pulse_attach(struct weft_instance *self, const struct weft_attach_request *request,
			struct weft_attachment **out, struct weft_error *err)
{
	struct perf_event_attr clock = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(clock)};
	int fd, ret;

	clock.config = PERF_COUNT_SW_CPU_CLOCK;
	clock.sample_period = 100000000; /* ns */
	*out = malloc(sizeof(**out));
	fd = !*out ? -1 : (int)syscall(SYS_perf_event_open, &clock, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0 && !ioctl(fd, PERF_EVENT_IOC_SET_BPF, request->prog_fd)) {
		(*out)->event = fd;
		return 0;
	}
	ret = -errno;
	free(*out);
	close(fd);
	return self->host->fail(err, ret, "PULSE_CLOCK", "no clock on CPU 0: %s", strerror(-ret));
}

static void pulse_detach(struct weft_instance *self, struct weft_attachment *attachment)
{
	(void)self;
	close(attachment->event);
	free(attachment);
}

WEFT_PROVIDER_PLUGIN = {
	.struct_size = sizeof(weft_provider_plugin),
	.abi_version = WEFT_ABI_CURRENT,
	.name = "pulse",
	.summary = "the beat of one CPU's clock; an example",
	.open = pulse_open,
	.close = pulse_close,
	.populate = pulse_populate,
	.probe_info = pulse_info,
	.attach = pulse_attach,
	.detach = pulse_detach,
};
