/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * fx-wrong: a provider that does one thing wrong, which the option `wrong` names. Otherwise it works:
 *
 *   fx-wrong::N:call         N is 0 .. 7; fires at every call of calls[N]; they share a program
 *   fx-wrong::const:call     fires at getppid, by a program of its own (identity CONST)
 *   fx-wrong::pair:entry     }
 *   fx-wrong::pair:return    } a pair, of getppid
 *
 * The values of `wrong` in slots other than probe_info:
 *
 *   silent-open, silent-populate, silent-provide, silent-info, silent-attach
 *                            the slot fails without a word
 *   open-null                open() succeeds and gives no instance
 *   watch                    open() asks for process events, with nobody to tell them
 *   attach-one               the probe 3 of a batch cannot be attached
 *   attach-all               none of a batch can, said by statuses, and attach() returns 0
 *   attach-const             attach() fails for the probe `const`
 *   attach-most              it says that it attached on 7 of 8 CPUs
 *   load                     a program that no kernel loads: of a type that does not exist
 *   verifier                 an argument where the verifier allows none
 *   twice                    two probes with one identity
 *   write-host, write-target it overwrites what is const, in populate()
 *   write-request            ... in attach()
 *   attach-null              attach() succeeds without an attachment
 *   attach-again             ... and gives one attachment for all calls
 *   attach-status, -done, -unit   ... and answers with nonsense
 *   describe-endless, note-control   a text that does not end, or is not printable
 *   tag                      an error's tag that is none
 *   discover-fd              a descriptor that is none
 *   thread                   a thread of its own calls the host
 *   old-error                an error object is used after its slot has returned
 *   slow, hang               populate() takes 5.1 seconds, or for ever
 *   crash-populate, crash-attach, abort   the process is brought down, attach() having attached
 *   unwind                   populate() ends its thread
 *   leave-open, leave-thread what it made is still there at the end
 *   unsteady                 probe_info() does not say the same twice
 *   provide-anything         provide() refuses nothing
 *   static-state             there can be but one session
 *   cookie-unknown           events come with cookies that nobody gave
 *
 * and those of the descriptions below.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fx.h"
#include "support/file.h"

#define CHOICES                                                                                       \
	"none|watch|silent-open|silent-populate|silent-provide|silent-info|silent-attach|open-null|"  \
	"attach-one|attach-all|attach-const|attach-most|load|verifier|twice|args-many|"               \
	"args-nowhere|"                                                                               \
	"arg-small|arg-large|arg-name|arg-name-long|arg-name-unending|arg-name-twice|"                \
	"arg-type|arg-size|arg-space|arg-flags|arg-text|arg-unreadable|ops-many|ops-nowhere|"         \
	"scope|ctx-kind|ctx-size|load-flags|cookie|identity|field-keys|map-keys|map-fd|map-other|"    \
	"map-size|map-align|role|no-frame|no-entry|entry-other|entry-role|retval|guard|"              \
	"location|prototype|names-many|names-nowhere|name-none|name-empty|name-long|name-garbled|"    \
	"name-path|no-due|period|layouts-many|layouts-nowhere|layout-small|layout-text|layout-arg|"   \
	"layout-const|layout-pair|"                                                                   \
	"write-host|write-target|write-request|info-size|info-behind|attach-null|attach-again|"       \
	"attach-status|attach-done|attach-unit|describe-endless|note-control|tag|discover-fd|thread|" \
	"old-error|slow|hang|crash-populate|crash-attach|abort|unwind|leave-open|"                    \
	"leave-thread|unsteady|static-state|provide-anything|cookie-unknown|"                         \
	"layouts-fewer|layouts-changed"

static const struct weft_option_spec option_wrong = {
	.struct_size = sizeof(option_wrong),
	.type = WEFT_OPTION_ENUM,
	.where = WEFT_OPTION_PER_SET,
	.name = "wrong",
	.default_text = "none",
	.choices = CHOICES,
	.help = "What is done wrong.",
};
static const struct weft_option_spec *const options[] = {&option_wrong, NULL};

/* Eight different ones: the kernel attaches a program to a tracepoint only once. */
static const char *const calls[] = {"getppid", "getpid", "gettid",  "getuid",
				    "geteuid", "getgid", "getegid", "getpgrp"};
enum { CONST = FX_COUNT(calls), ENTRY, RETURN };

struct weft_instance {
	struct fx fx;
	const char *wrong;
	struct weft_arg args[2];
	int event_fd; /* -1: nothing is discovered */
	bool discovered;
	unsigned int asked;
	struct weft_error *old;
	struct weft_attachment *first;
};

static unsigned int n_open;
static volatile int *volatile nowhere = (volatile int *)16;
static char long_name[4096];

static bool wrong(const struct weft_instance *in, const char *what)
{
	return !strcmp(in->wrong, what);
}

static int wrong_open(const struct weft_host *host, const struct weft_params *params,
		      struct weft_instance **out, struct weft_error *err)
{
	const char *what = host->param_string(params, "wrong");
	int ret;

	if (!strcmp(what, "silent-open"))
		return -ENODEV;
	if (!strcmp(what, "open-null"))
		return 0;
	if (!strcmp(what, "watch"))
		return host->watch_processes(host, NULL, NULL, err);
	if (!strcmp(what, "static-state") && n_open)
		return host->fail(err, -EBUSY, "FX_BUSY", "fx-wrong is open already");
	ret = fx_open(sizeof(**out), host, params, out, err);
	if (ret)
		return ret;
	(*out)->wrong = what;
	(*out)->event_fd = wrong(*out, "layouts-fewer") || wrong(*out, "layouts-changed")
				   ? eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)
				   : -1;
	n_open++;
	return 0;
}

static void wrong_close(struct weft_instance *in)
{
	n_open--;
	if (in->event_fd >= 0)
		close(in->event_fd);
	free(in);
}

/* ---- what is wrong with populate() ---- */

struct stranger {
	struct weft_instance *in;
	struct weft_registry *registry;
};

static void *call_host(void *arg)
{
	const struct stranger *s = arg;

	fx_add(&s->in->fx, s->registry, "", "thread", "call", 99, NULL, NULL);
	return NULL;
}

static void *wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void wrong_moment(struct weft_instance *in, struct weft_registry *registry)
{
	const struct weft_host *host = in->fx.host;
	struct stranger s = {in, registry};
	pthread_t thread;

	if (wrong(in, "write-host")) {
		((struct weft_host *)host)->log = NULL;
	} else if (wrong(in, "write-target")) {
		((struct weft_target *)host->target(host))->n_pids = 7000;
	} else if (wrong(in, "thread")) {
		if (!pthread_create(&thread, NULL, call_host, &s))
			pthread_join(thread, NULL);
	} else if (wrong(in, "leave-thread")) {
		if (!pthread_create(&thread, NULL, wait_for_ever, NULL))
			pthread_detach(thread);
	} else if (wrong(in, "slow")) {
		usleep(5100000);
	} else if (wrong(in, "hang")) {
		wait_for_ever(NULL);
	} else if (wrong(in, "crash-populate")) {
		*nowhere = 1;
	} else if (wrong(in, "unwind")) {
		pthread_exit(NULL);
	}
}

static int wrong_populate(struct weft_instance *in, struct weft_registry *registry,
			  struct weft_error *err)
{
	char name[2] = "0";
	int ret = wrong(in, "silent-populate") ? -EIO : 0;

	wrong_moment(in, registry);
	for (uint64_t i = 0; i < 8 && !ret; i++, name[0]++)
		ret = fx_add(&in->fx, registry, "", name, "call", i, NULL, err);
	if (!ret)
		ret = fx_add(&in->fx, registry, "", "const", "call", CONST, NULL, err);
	if (!ret)
		ret = fx_add(&in->fx, registry, "", "pair", "entry", ENTRY, NULL, err);
	if (!ret)
		ret = fx_add(&in->fx, registry, "", "pair", "return", RETURN, NULL, err);
	return ret;
}

static int wrong_provide(struct weft_instance *in, struct weft_registry *registry,
			 const struct weft_probe_desc *desc, struct weft_error *err)
{
	if (wrong(in, "silent-provide"))
		return -EBADF;
	in->old = err;
	if (wrong(in, "provide-anything"))
		return in->fx.host->probe_add(registry, desc, CONST, NULL, err);
	if (wrong(in, "tag"))
		return in->fx.host->fail(err, -ENOENT, "no tag", "a tag that is none");
	return in->fx.host->fail(err, -ENOENT, "FX_NONE", "fx-wrong provides no '%s'", desc->name);
}

/* ---- what is wrong with a description ---- */

static const struct weft_loc_op nr[] = {FX_CTX(8, 4)}, one[] = {FX_CONST(1)};
static const struct weft_loc_op beyond[] = {FX_CTX(12, 8)};
static const struct weft_loc_op too_far[] = {FX_CTX(9000, 8)}; /* PERF_MAX_TRACE_SIZE is 8192 */

static void wrong_names(struct weft_instance *in, struct weft_location *l)
{
	static const struct weft_loc_op ops[] = {FX_CONST(1), FX_MEMBER(0)};
	static const char *names[9];

	for (size_t i = 0; i < FX_COUNT(names); i++)
		names[i] = "task_struct.tgid";
	*l = (struct weft_location){.ops = ops, .n_ops = 2, .n_names = 8, .names = names};
	if (wrong(in, "names-many"))
		l->n_names = 9;
	else if (wrong(in, "names-nowhere"))
		l->names = NULL;
	else if (wrong(in, "name-none"))
		names[7] = NULL;
	else if (wrong(in, "name-empty"))
		names[7] = "";
	else if (wrong(in, "name-long"))
		names[7] = memset(long_name, 'm', 129);
	else if (wrong(in, "name-garbled"))
		names[7] = "task_struct.t\xc3\xa4g";
	else
		names[0] = "task_struct->tgid";
}

static void wrong_args(struct weft_instance *in, struct weft_probe_info *out)
{
	struct weft_arg *a = &in->args[0];

	if (wrong(in, "args-many"))
		out->n_args = 10000;
	else if (wrong(in, "args-nowhere"))
		out->args = NULL;
	else if (wrong(in, "arg-small"))
		out->arg_size = 8;
	else if (wrong(in, "arg-large"))
		out->arg_size = 1u << 20;
	else if (wrong(in, "arg-name"))
		a->name = "no identifier";
	else if (wrong(in, "arg-name-long"))
		a->name = memset(long_name, 'a', 600);
	else if (wrong(in, "arg-name-unending"))
		a->name = memset(long_name, 'a', sizeof(long_name));
	else if (wrong(in, "arg-name-twice"))
		in->args[1].name = a->name;
	else if (wrong(in, "arg-type"))
		a->type.kind = 77;
	else if (wrong(in, "arg-size"))
		a->type.size = 3;
	else if (wrong(in, "arg-space"))
		a->type.space = 2;
	else if (wrong(in, "arg-flags"))
		a->type.flags = 2;
	else if (wrong(in, "arg-text"))
		a->type.text = "two\nlines";
	else if (wrong(in, "arg-unreadable"))
		a->unreadable = "\033[2J";
	else if (wrong(in, "ops-many"))
		a->where.n_ops = 65;
	else if (wrong(in, "ops-nowhere"))
		a->where.ops = NULL;
	else if (wrong(in, "location"))
		a->where = (struct weft_location){.ops = beyond, .n_ops = 1};
	else if (!strncmp(in->wrong, "name", 4))
		wrong_names(in, &a->where);
}

static void wrong_load(struct weft_instance *in, struct weft_probe_info *out)
{
	if (wrong(in, "scope"))
		out->scope = 3;
	else if (wrong(in, "ctx-kind"))
		out->load.ctx_kind = 9;
	else if (wrong(in, "ctx-size"))
		out->load.ctx_size = 1u << 24;
	else if (wrong(in, "load-flags"))
		out->load.flags |= 0x80;
	else if (wrong(in, "cookie"))
		out->load.flags = 0;
	else if (wrong(in, "load"))
		out->load.prog_type = 4711;
	else if (wrong(in, "verifier")) {
		out->load.ctx_size = 9008;
		in->args[0].where = (struct weft_location){.ops = too_far, .n_ops = 1};
		in->args[0].type = (struct weft_arg_type)FX_U(8);
	} else if (wrong(in, "guard"))
		out->guard = (struct weft_location){.ops = NULL, .n_ops = 3};
	else if (wrong(in, "prototype"))
		out->prototype = memset(long_name, 'p', 600);
	else if (wrong(in, "retval"))
		out->retval_type.kind = WEFT_TYPE_POINTER;
	else if (wrong(in, "no-due"))
		out->schedule.period_ns = 1000;
	else if (wrong(in, "period"))
		out->schedule.period_ns = UINT64_MAX;
	else if (wrong(in, "info-size"))
		out->struct_size = 8;
	else if (wrong(in, "info-behind"))
		((char *)out)[sizeof(*out) + 100] = 1;
	else if (wrong(in, "unsteady"))
		out->n_args = 1 + in->asked++ % 2;
	else if (wrong(in, "old-error"))
		in->fx.host->fail(in->old, -EIO, "FX_OLD", "too late");
}

static void wrong_identity(struct weft_instance *in, struct weft_probe_info *out)
{
	struct weft_identity *id = &out->identity;

	if (wrong(in, "identity")) {
		id->kind = 4;
	} else if (wrong(in, "field-keys")) {
		id->kind = WEFT_IDENTITY_FIELD;
		id->n_keys = 2;
	} else if (wrong(in, "twice")) {
		id->kind = WEFT_IDENTITY_FIELD;
		id->n_keys = 1;
		id->key[0] = (struct weft_location){.ops = nr, .n_ops = 1};
		id->value = 110;
	} else if (wrong(in, "map-keys") || wrong(in, "map-fd") || wrong(in, "map-other") ||
		   wrong(in, "map-size") || wrong(in, "map-align")) {
		id->kind = WEFT_IDENTITY_MAP;
		id->map_fd = wrong(in, "map-fd") ? -1 : 0;
		id->n_keys = wrong(in, "map-keys") ? 5 : 2;
		id->key_size[0] = wrong(in, "map-size") ? 3 : 4;
		id->key_size[1] = wrong(in, "map-align") ? 8 : 4;
	}
}

static void wrong_layouts(struct weft_instance *in, struct weft_probe_info *out)
{
	static struct weft_layout layouts[2];

	if (strncmp(in->wrong, "layout", 6) != 0)
		return;
	for (size_t i = 0; i < 2; i++)
		layouts[i] = (struct weft_layout){.struct_size = sizeof(layouts[i]),
						  .args = in->args,
						  .n_args = 2,
						  .n_sites = 1,
						  .text = "here"};
	out->layouts = layouts;
	out->n_layouts = 2;
	out->layout_size = sizeof(layouts[0]);
	if (wrong(in, "layouts-many"))
		out->n_layouts = WEFT_MAX_LAYOUTS + 1;
	else if (wrong(in, "layouts-nowhere"))
		out->layouts = NULL;
	else if (wrong(in, "layout-small"))
		out->layout_size = 8;
	else if (wrong(in, "layout-text"))
		layouts[1].text = "two\nlines";
	else if (wrong(in, "layout-arg"))
		layouts[1].n_args = 65;
	else if (wrong(in, "layouts-fewer") && in->discovered)
		out->n_layouts = 1;
	else if (wrong(in, "layouts-changed") && in->discovered)
		layouts[1].n_args = 1;
	else if (wrong(in, "layout-const"))
		out->identity.kind = WEFT_IDENTITY_CONST;
}

static void wrong_pairing(struct weft_instance *in, uint64_t which, struct weft_probe_info *out)
{
	struct weft_pairing *p = &out->pairing;

	if (wrong(in, "role"))
		p->role = 3;
	else if (wrong(in, "no-frame"))
		p->frame.n_ops = 0;
	else if (wrong(in, "no-entry"))
		p->entry.function = NULL;
	else if (wrong(in, "entry-other"))
		p->entry.function = "other";
	else if (wrong(in, "entry-role") && which == ENTRY)
		p->role = WEFT_PAIRING_NONE;
}

static int wrong_probe_info(struct weft_instance *in, const struct weft_probe *probe,
			    const struct weft_params *with, struct weft_probe_info *out,
			    struct weft_error *err)
{
	uint64_t which = in->fx.host->probe_data(probe);

	(void)with;
	(void)err;
	if (wrong(in, "silent-info"))
		return -EIO;
	for (size_t i = 0; i < 2; i++)
		in->args[i] = (struct weft_arg){
			.struct_size = sizeof(struct weft_arg),
			.name = i ? "second" : "nr",
			.type = FX_U(4),
			.where = {.ops = nr, .n_ops = 1},
		};
	out->load = fx_tracepoint_class(12);
	out->args = in->args;
	out->n_args = 2;
	out->arg_size = sizeof(in->args[0]);
	out->identity = (struct weft_identity){
		.struct_size = sizeof(out->identity),
		.kind = which == CONST ? WEFT_IDENTITY_CONST : WEFT_IDENTITY_COOKIE,
	};
	if (which >= ENTRY) {
		out->pairing = (struct weft_pairing){
			.struct_size = sizeof(out->pairing),
			.role = which == ENTRY ? WEFT_PAIRING_ENTRY : WEFT_PAIRING_RETURN,
			.frame = {.ops = one, .n_ops = 1},
			.entry = {.struct_size = sizeof(out->pairing.entry),
				  .provider = "fx-wrong",
				  .module = "",
				  .function = "pair",
				  .name = "entry"},
		};
		wrong_pairing(in, which, out);
	}
	wrong_args(in, out);
	wrong_load(in, out);
	wrong_identity(in, out);
	wrong_layouts(in, out);
	return 0;
}

/* ---- attaching ---- */

static int make(struct fx *fx, int prog_fd, const struct weft_attach_probe *p)
{
	const struct weft_instance *in = (const struct weft_instance *)fx;
	uint64_t which = fx->host->probe_data(p->probe);
	char name[32] = "sys_enter_";

	if (wrong(in, "attach-one") && which == 3)
		return -ENXIO;
	if (wrong(in, "attach-const") && which == CONST)
		return -EBUSY;
	if (which == RETURN)
		strcpy(name, "sys_exit_");
	strcat(name, which < FX_COUNT(calls) ? calls[which] : "getppid");
	return fx_tracepoint("syscalls", name, prog_fd,
			     p->cookie + (wrong(in, "cookie-unknown") ? 100000 : 0));
}

static void wrong_answer(struct weft_instance *in, const struct weft_attach_request *request)
{
	if (wrong(in, "attach-most") || wrong(in, "attach-done")) {
		*request->done = wrong(in, "attach-done") ? 9 : 7;
		*request->total = 8;
		*request->unit = "CPUs";
	} else if (wrong(in, "attach-status")) {
		request->status[0] = 1;
	} else if (wrong(in, "attach-unit")) {
		*request->unit = memset(long_name, 'u', sizeof(long_name));
	} else if (wrong(in, "write-request")) {
		((struct weft_attach_request *)request)->prog_fd = -1;
	} else if (wrong(in, "crash-attach")) {
		*nowhere = 1;
	} else if (wrong(in, "abort")) {
		abort();
	}
}

static int wrong_attach(struct weft_instance *in, const struct weft_attach_request *request,
			struct weft_attachment **out, struct weft_error *err)
{
	int ret;

	if (wrong(in, "silent-attach"))
		return -EPERM;
	if (wrong(in, "attach-all")) {
		for (uint32_t i = 0; i < request->n_probes; i++)
			request->status[i] = -ENXIO;
		*out = fx_attachment(0);
		return *out ? 0 : -ENOMEM;
	}
	if (wrong(in, "attach-null"))
		return 0;
	if (wrong(in, "attach-again") && in->first) {
		*out = in->first;
		return 0;
	}
	ret = fx_attach_each(&in->fx, request, make, out, err);
	if (ret)
		return ret;
	in->first = *out;
	wrong_answer(in, request);
	return 0;
}

static void wrong_detach(struct weft_instance *in, struct weft_attachment *at)
{
	if (wrong(in, "leave-open") && fcntl(at->held[0].fd, F_DUPFD_CLOEXEC, 0) < 0)
		abort();
	fx_attachment_free(at);
}

/* ---- what it says of itself ---- */

static const char *wrong_describe(struct weft_instance *in)
{
	return wrong(in, "describe-endless") ? memset(long_name, 'd', sizeof(long_name)) : NULL;
}

static const char *wrong_probe_note(struct weft_instance *in, const struct weft_probe *probe,
				    const struct weft_params *with)
{
	(void)probe;
	(void)with;
	return wrong(in, "note-control") ? "\033[2J" : NULL;
}

static int wrong_discover_fd(struct weft_instance *in)
{
	return wrong(in, "discover-fd") ? 987654 : in->event_fd;
}

static int wrong_discover(struct weft_instance *in, struct weft_registry *registry,
			  struct weft_error *err)
{
	const struct weft_probe_desc d = {.struct_size = sizeof(d),
					  .provider = "fx-wrong",
					  .module = "",
					  .function = "1",
					  .name = "call"};
	uint64_t n;

	(void)err;
	if (read(in->event_fd, &n, sizeof(n)) < 0)
		return 0;
	in->discovered = true;
	return in->fx.host->probe_extended(registry, in->fx.host->probe_find(registry, &d));
}

WEFT_EXPORT const struct weft_provider weft_provider_plugin = {
	.struct_size = sizeof(struct weft_provider),
	.abi_version = WEFT_ABI_CURRENT,
	.name = "fx-wrong",
	.summary = "a fixture: does one thing wrong",
	.options = options,
	.open = wrong_open,
	.close = wrong_close,
	.populate = wrong_populate,
	.provide = wrong_provide,
	.probe_info = wrong_probe_info,
	.attach = wrong_attach,
	.detach = wrong_detach,
	.discover_fd = wrong_discover_fd,
	.discover = wrong_discover,
	.describe = wrong_describe,
	.probe_note = wrong_probe_note,
};
