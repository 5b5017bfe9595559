/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The provider by itself: every allocation of it fails once; and what no machine at hand has, a
 * call that the kernel has and the table has not, a description that is none, descriptors that run
 * out. A folder stands for tracefs.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test_bpf.h"
#include "support/test_failing.h"
#include "support/test_host.h"
#include "syscall/syscall.h"

extern const struct weft_provider weft_provider_plugin;

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t m), (n, m))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(char *, strdup, (const char *s), (s))

/* ---- a folder in the place of tracefs ---- */

static char folder[64];

static void put(const char *event, const char *file, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/syscalls/%s", folder, event);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/syscalls/%s/%s", folder, event, file);
	f = fopen(path, "w");
	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
}

#define FORMAT                                                         \
	"name: x\nID: 1\nformat:\n"                                    \
	"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"   \
	"\tfield:int fd;\toffset:16;\tsize:8;\tsigned:0;\n"            \
	"\tfield:const char * name;\toffset:24;\tsize:8;\tsigned:0;\n" \
	"\tfield:__data_loc char[] text;\toffset:32;\tsize:4;\tsigned:0;\n"

static void use_folder(struct weft_instance *in)
{
	char path[128];

	strcpy(folder, "/tmp/weft-syscall-XXXXXX");
	cr_assert(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/syscalls", folder);
	cr_assert_eq(mkdir(path, 0700), 0);
	put("sys_enter_close", "format", FORMAT);
	put("sys_enter_later", "format", FORMAT);
	put("sys_enter_later", "id", "1\n");
	put("sys_exit_later", "id", "1\n");
	put("sys_enter_open", "format", "nonsense\n");
	if (in->events >= 0)
		close(in->events);
	in->events = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(in->events, 0);
}

static void drop_folder(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	cr_expect_eq(system(command), 0);
}

/* A call that came later than the table: by its event, with what that says, and in no other way. */
Test(syscall_provider, SYSCALL_NUMBER)
{
	struct weft_probe_info info = {.struct_size = sizeof(info)};
	const struct weft_probe *probe;
	struct test_host h = {0};

	test_host_start(&h, &weft_provider_plugin, NULL);
	use_folder(h.instance);
	probe = test_host_probe(&h, "", "later", "entry");
	cr_assert_not_null(probe);
	test_host_info(&h, probe, &info);
	cr_expect_eq(info.load.prog_type, BPF_PROG_TYPE_TRACEPOINT);
	cr_assert_eq(info.n_args, 2, "what is no register is no argument");
	cr_expect_str_eq(info.args[0].name, "fd");
	cr_expect_str_eq(info.args[1].name, "name");
	cr_expect_eq(info.args[1].type.space, WEFT_SPACE_USER);
	cr_expect_str_eq(info.prototype, "long later(int fd, const char *name)");
	test_host_with(&h, "mechanism", "raw");
	cr_expect_eq(weft_provider_plugin.probe_info(h.instance, probe, h.with, &info, h.err),
		     -ENOTSUP);
	cr_expect_str_eq(test_host_tag(&h), "SYSCALL_NUMBER");
	test_host_stop(&h);
	drop_folder();
}

Test(syscall_provider, SYSCALL_FORMAT)
{
	struct weft_probe_info info = {.struct_size = sizeof(info)};
	const struct weft_probe *probe;
	struct test_host h = {0};

	test_host_start(&h, &weft_provider_plugin, NULL);
	use_folder(h.instance);
	probe = test_host_probe(&h, "", "open", "entry");
	cr_assert_not_null(probe);
	cr_expect_lt(weft_provider_plugin.probe_info(h.instance, probe, h.with, &info, h.err), 0);
	cr_expect_str_eq(test_host_tag(&h), "SYSCALL_FORMAT");
	test_host_stop(&h);
	drop_folder();
}

/* Nothing is left of an attachment that failed. */
Test(syscall_provider, SYSCALL_ATTACH)
{
	const struct weft_probe *probe;
	struct test_host h = {0};
	struct test_attached at;
	struct rlimit l;
	int prog;

	test_host_start(&h, &weft_provider_plugin, NULL);
	probe = test_host_probe(&h, "", "getppid", "entry");
	cr_assert_not_null(probe);
	prog = test_prog_empty(&(struct weft_load_class){
		.struct_size = sizeof(struct weft_load_class),
		.prog_type = BPF_PROG_TYPE_TRACEPOINT,
	});
	cr_assert_geq(prog, 0);
	getrlimit(RLIMIT_NOFILE, &l);
	l.rlim_cur = (rlim_t)prog + 1;
	setrlimit(RLIMIT_NOFILE, &l);
	cr_expect_eq(test_host_attach(&h, probe, prog, 1, &at), -EMFILE);
	cr_expect_str_eq(test_host_tag(&h), "SYSCALL_ATTACH");
	l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);
	cr_expect_eq(test_host_attach(&h, probe, prog, 1, &at), 0);
	test_host_detach(&h, &at);
	close(prog);
	test_host_stop(&h);
}

/* ---- no memory ---- */

/* Opens, finds what a pattern matches, describes it, closes. */
static int work(struct test_host *h, struct weft_error *err)
{
	struct weft_registry_core *core = weft_registry_create();
	struct weft_registry *registry = core ? weft_registry_of(core, "syscall") : NULL;
	struct weft_instance *in = NULL;
	const struct weft_probe_desc d = {.struct_size = sizeof(d),
					  .provider = "syscall",
					  .module = "",
					  .function = "[lo]*",
					  .name = ""};
	int ret;

	cr_assert_not_null(registry);
	armed = true;
	ret = weft_provider_plugin.open(&h->host, h->params, &in, err);
	if (!ret) {
		close(in->events);
		in->events = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ret = weft_provider_plugin.populate_match(in, registry, &d, err);
	}
	for (size_t i = 0; !ret && i < weft_registry_size(core); i++) {
		struct weft_probe_info info = {.struct_size = sizeof(info)};
		int one = weft_provider_plugin.probe_info(in, weft_registry_at(core, i), h->with,
							  &info, err);

		ret = one == -EINVAL ? 0 : one; /* the one that is nonsense */
	}
	if (in)
		weft_provider_plugin.close(in);
	armed = false;
	weft_registry_destroy(core);
	return ret;
}

Test(syscall_provider, SYSCALL_MEMORY)
{
	struct test_host h = {0};
	bool said = false;

	test_host_start(&h, &weft_provider_plugin, NULL);
	use_folder(h.instance);
	for (countdown = 1;; countdown++) {
		struct weft_error *err = weft_error_create();
		int ret;

		calls = 0;
		ret = work(&h, err);
		if (ret)
			cr_expect_neq(weft_error_count(err), 0, "allocation %zu: %d is not said",
				      countdown, ret);
		said |= ret && !strcmp(weft_error_tag(err), "SYSCALL_MEMORY");
		if (calls < countdown)
			cr_expect_eq(ret, 0, "%s", weft_error_text(err));
		weft_error_destroy(err);
		if (calls < countdown)
			break;
		cr_assert_lt(countdown, 100000);
	}
	cr_expect(said);
	cr_expect_gt(countdown, 10);
	test_host_stop(&h);
	drop_folder();
}
