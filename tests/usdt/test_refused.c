/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the provider says where the kernel refuses: each refusal is the kernel's own. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test_host.h"
#include "usdt/usdt.h"

extern const struct weft_provider weft_provider_plugin;
static const char *const by_events[] = {"stash", "off", "mechanism", "perf", NULL};
static const char *const by_any[] = {"stash", "off", NULL};

static char path[32];

/* A file of the test's own, which anybody may read. */
static void make_file(void)
{
	char command[512];

	strcpy(path, "/tmp/weft-usdt-XXXXXX");
	close(mkstemp(path));
	snprintf(command, sizeof(command), "cat %s > %s", USDT_SHARED, path);
	cr_assert_eq(system(command), 0);
	chmod(path, 0755);
}

static void remove_file(void)
{
	unlink(path);
}

struct ready {
	struct test_host h;
	const struct weft_probe *probe;
	int prog;
};

/* All but attaching, with the privileges that there are. */
static void prepare(struct ready *r, const char *const *options)
{
	struct weft_probe_info info;

	memset(r, 0, sizeof(*r));
	test_host_start(&r->h, &weft_provider_plugin, options);
	r->probe = test_host_probe(&r->h, path, "shop", "one");
	cr_assert_not_null(r->probe, "%s", weft_error_text(r->h.err));
	test_host_info(&r->h, r->probe, &info);
	r->prog = r->h.host.trial_program(&r->h.host, &info.load, r->h.err);
	cr_assert_geq(r->prog, 0, "%s", weft_error_text(r->h.err));
}

static void finish(struct ready *r)
{
	close(r->prog);
	test_host_stop(&r->h);
}

static int attach(struct ready *r)
{
	struct test_attached at;
	int ret = test_host_attach(&r->h, r->probe, r->prog, 0, &at);

	if (!ret)
		test_host_detach(&r->h, &at);
	return ret;
}

static void expect_refused(struct ready *r, const char *tag)
{
	cr_expect_lt(attach(r), 0);
	cr_expect_str_eq(test_host_tag(&r->h), tag);
}

Test(usdt_refused, nothing_is_refused, .init = make_file, .fini = remove_file)
{
	struct ready r;

	prepare(&r, by_events);
	cr_expect_eq(attach(&r), 0, "%s", weft_error_text(r.h.err));
	finish(&r);
	prepare(&r, by_any);
	cr_expect_eq(attach(&r), 0, "%s", weft_error_text(r.h.err));
	finish(&r);
}

/* Of those who have a program the kernel asks a privilege for events, not for links. */
Test(usdt_refused, USDT_DENIED, .init = make_file, .fini = remove_file)
{
	struct ready r;
	int status;

	prepare(&r, by_events);
	/* Criterion's own files are root's: who has become somebody else cannot report. */
	pid_t child = fork();
	if (child == 0) {
		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			_exit(2);
		if (!attach(&r))
			_exit(3);
		_exit(strcmp(test_host_tag(&r.h), "USDT_DENIED") ? 4 : 0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(status, 0, "0x%x", status);
	finish(&r);
}

/* A kernel without uprobes has no such events. */
Test(usdt_refused, USDT_UNSUPPORTED, .init = make_file, .fini = remove_file)
{
	struct ready r;

	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	cr_assert_eq(mount("none", "/sys/bus/event_source/devices/uprobe", "tmpfs", 0, NULL), 0);
	prepare(&r, by_events);
	expect_refused(&r, "USDT_UNSUPPORTED");
	finish(&r);
}

/* Somebody has a breakpoint there already, in the file. */
Test(usdt_refused, USDT_INSTRUCTION, .init = make_file, .fini = remove_file)
{
	static const char *const *const options[] = {by_events, by_any};
	const unsigned char int3 = 0xcc;
	struct stat st;

	for (int i = 0; i < 2; i++) {
		struct ready r;

		prepare(&r, options[i]);
		const struct weft_usdt_probe *p =
			(const struct weft_usdt_probe *)(uintptr_t)weft_probe_data(r.probe);
		uint64_t at = weft_usdt_notes(p->runs[0].file->record)[p->runs[0].first].offset;
		finish(&r);
		int fd = open(path, O_RDWR);
		cr_assert_eq(pwrite(fd, &int3, 1, (off_t)at), 1);
		cr_assert_eq(fstat(fd, &st), 0);
		/* The kernel looks at the instruction when somebody has it mapped. */
		void *code =
			mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		cr_assert_neq(code, MAP_FAILED);
		close(fd);
		prepare(&r, options[i]);
		expect_refused(&r, "USDT_INSTRUCTION");
		finish(&r);
		munmap(code, (size_t)st.st_size);
	}
}

/* The program's copy, the file and the event each want one: whichever cannot be had. */
Test(usdt_refused, USDT_DESCRIPTORS, .init = make_file, .fini = remove_file)
{
	struct ready r;
	bool refused = true;
	int i;

	prepare(&r, by_events);
	int next = fcntl(r.prog, F_DUPFD, 0);
	close(next);
	for (i = 0; i < 16 && refused; i++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			const rlim_t most = (rlim_t)(next + i);

			setrlimit(RLIMIT_NOFILE, &(struct rlimit){most, most});
			_exit(!attach(&r)                                        ? 0
			      : !strcmp(test_host_tag(&r.h), "USDT_DESCRIPTORS") ? 1
										 : 2);
		}
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_assert(WIFEXITED(status) && WEXITSTATUS(status) < 2, "with %d more: 0x%x", i,
			  status);
		refused = WEXITSTATUS(status);
	}
	cr_expect_not(refused);
	cr_expect_geq(i, 4, "with %d more", i);
	finish(&r);
}

Test(usdt_refused, USDT_NO_PROCESS, .init = make_file, .fini = remove_file)
{
	static const char *const *const options[] = {by_events, by_any};

	for (int i = 0; i < 2; i++) {
		struct ready r;
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
		prepare(&r, options[i]);
		test_host_target(&r.h, child);
		if (support_uprobes_filtered(&((const struct weft_instance *)r.h.instance)->uprobes))
			expect_refused(&r, "USDT_NO_PROCESS");
		else
			cr_expect_eq(attach(&r), 0, "events for everybody do not ask for it");
		finish(&r);
	}
}

static void refuse(unsigned number)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EBADSLT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog prog = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

	cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog), 0);
}

/* A sandbox answers as it likes: what has no words of its own is said as the system says it. */
Test(usdt_refused, USDT_ATTACH, .init = make_file, .fini = remove_file)
{
	struct ready r;

	prepare(&r, by_events);
	refuse(SYS_perf_event_open);
	cr_expect_lt(attach(&r), 0);
	cr_expect(strstr(weft_error_text(r.h.err), strerror(EBADSLT)), "%s",
		  weft_error_text(r.h.err));
	cr_expect_str_eq(test_host_tag(&r.h), "USDT_ATTACH");
	finish(&r);
}
