/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The set of target processes, kept by the kernel itself: by the time user space hears of a fork,
 * the child has long run. Three raw tracepoint programs, of which those that are needed are attached:
 *
 *   sched_process_fork  A child process of a target becomes a target. The tracepoint lies before
 *                       the child is woken, so that nothing of it is missed. A new thread has the
 *                       group of its maker and needs nothing.
 *   sched_process_exec  The address space is another: the generation of the process increases.
 *   sched_process_exit  Fires for every thread. A process ends with its last one, which need not be
 *                       its leader: the kernel has by then counted down signal->live, and who finds
 *                       it 0 removes the process. Two threads that end at once may both find it 0:
 *                       only the one whose removal succeeds counts live_targets down. The number
 *                       cannot have been given to another process between the two, since it stays
 *                       taken until all threads of the group have been released.
 *
 * Process numbers in the set are those of the initial namespace.
 *
 * User space adds a process with the programs already attached. It may be ending at that moment, its
 * exit program run before the set had it. So after adding, its threads are looked at: the flag that a
 * thread is ending is raised before signal->live is counted down, so a thread without it will yet
 * pass the tracepoint. If every thread has it the addition is taken back, in the same way as the
 * program does it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "core/kernel/kernel.h"
#include "core/kernel/load.h"
#include "core/kernel/pidns.h"
#include "core/kernel/procset_programs.h"

#define PROC_FLAG_EXITING 0x4u /* PF_EXITING, in the flags of /proc/PID/stat; there since 2.6 */

enum { ON_FORK, ON_EXEC, ON_EXIT, N_EVENTS };

struct weft_procset {
	struct {
		int prog_fd, link_fd;
	} events[N_EVENTS];
};

static const char *const tracepoints[N_EVENTS] = {
	[ON_FORK] = "sched_process_fork",
	[ON_EXEC] = "sched_process_exec",
	[ON_EXIT] = "sched_process_exit",
};

int weft_btf_task_offsets(struct weft_task_offsets *out, struct weft_error *err)
{
	struct weft_btf_member m[] = {
		{.path = "task_struct.tgid"},        {.path = "task_struct.pid"},
		{.path = "task_struct.real_parent"}, {.path = "task_struct.signal"},
		{.path = "signal_struct.live"},
	};
	size_t i, n = sizeof(m) / sizeof(m[0]);
	int ret = weft_btf_find_members(m, n, err);

	if (ret)
		return ret;
	for (i = 0; i < n; i++)
		if (!m[i].found)
			return weft_fail(err, -ENOENT, "BTF_NOT_FOUND",
					 "the kernel's type information has no member %s",
					 m[i].path);
	out->tgid = m[0].offset;
	out->pid = m[1].offset;
	out->real_parent = m[2].offset;
	out->signal = m[3].offset;
	out->signal_live = m[4].offset;
	return 0;
}

static int attach_event(struct weft_procset *p, int event, const struct bpf_insn *insns, size_t n,
			struct weft_error *err)
{
	const struct weft_load_class load = {.struct_size = sizeof(load),
					     .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT};
	static const char *const names[] = {"weft_fork", "weft_exec", "weft_exit"};
	int ret;

	ret = weft_program_load_own(names[event], &load, insns, (uint32_t)n,
				    &p->events[event].prog_fd, err);
	if (ret)
		return ret;
	ret = weft_bpf_raw_tracepoint_open(tracepoints[event], p->events[event].prog_fd);
	if (ret < 0)
		return weft_fail(err, ret, "PROCSET_ATTACH",
				 "following processes needs the tracepoint %s, which cannot be "
				 "attached to: %s",
				 tracepoints[event], strerror(-ret));
	p->events[event].link_fd = ret;
	return 0;
}

static int missing_map(const char *name, struct weft_error *err)
{
	return weft_fail(err, -EINVAL, "PROCSET_ATTACH",
			 "the plan has no %s, which following processes needs", name);
}

static int prepare(struct weft_procset_env *env, const struct weft_plan *plan,
		   const struct weft_maps *maps, bool follow, struct weft_error *err)
{
	size_t i;

	if (env->targets && (maps->n <= WEFT_PLAN_TARGETS || maps->fds[WEFT_PLAN_TARGETS] < 0))
		return missing_map("map TARGETS", err);
	if (env->execgen && (maps->n <= WEFT_PLAN_EXECGEN || maps->fds[WEFT_PLAN_EXECGEN] < 0))
		return missing_map("map EXECGEN", err);
	if (env->targets && (!maps->state || maps->fds[WEFT_PLAN_STATE] < 0))
		return missing_map("map STATE", err);
	env->state_fd = maps->n > WEFT_PLAN_STATE ? maps->fds[WEFT_PLAN_STATE] : -1;
	if (env->targets)
		env->targets_fd = maps->fds[WEFT_PLAN_TARGETS];
	if (env->execgen)
		env->execgen_fd = maps->fds[WEFT_PLAN_EXECGEN];
	for (i = 0; i < plan->n_losses; i++)
		if (plan->losses[i].loss == WEFT_LOSS_TARGETS_FULL)
			env->loss_offset = plan->losses[i].state_offset;
	if (env->targets && follow && !env->loss_offset)
		return missing_map("place to count TARGETS_FULL", err);
	return weft_btf_task_offsets(&env->task, err);
}

int weft_procset_attach(const struct weft_plan *plan, const struct weft_maps *maps, bool follow,
			bool execgen, bool targets, struct weft_procset **out,
			struct weft_error *err)
{
	struct weft_procset_env env = {.targets = targets, .execgen = execgen};
	struct bpf_insn insns[WEFT_PROCSET_INSNS];
	struct weft_procset *p;
	int ret = 0, i;

	p = calloc(1, sizeof(*p));
	if (!p)
		return weft_nomem(err);
	for (i = 0; i < N_EVENTS; i++)
		p->events[i].prog_fd = p->events[i].link_fd = -1;
	if (targets || execgen)
		ret = prepare(&env, plan, maps, follow, err);
	/* Exit before fork: who comes in must be able to leave. */
	if (!ret && (targets || execgen))
		ret = attach_event(p, ON_EXIT, insns, weft_procset_exit(&env, insns), err);
	if (!ret && execgen)
		ret = attach_event(p, ON_EXEC, insns, weft_procset_exec(&env, insns), err);
	if (!ret && targets && follow)
		ret = attach_event(p, ON_FORK, insns, weft_procset_fork(&env, insns), err);
	if (ret) {
		weft_procset_detach(p);
		return ret;
	}
	*out = p;
	return 0;
}

void weft_procset_detach(struct weft_procset *p)
{
	int i;

	if (!p)
		return;
	for (i = N_EVENTS; i-- > 0;) {
		if (p->events[i].link_fd >= 0)
			close(p->events[i].link_fd);
		if (p->events[i].prog_fd >= 0)
			close(p->events[i].prog_fd);
	}
	free(p);
}

uint64_t weft_procset_misses(const struct weft_procset *p)
{
	uint64_t sum = 0, misses;
	int i;

	for (i = 0; p && i < N_EVENTS; i++)
		if (p->events[i].prog_fd >= 0 && !weft_program_misses(p->events[i].prog_fd, &misses))
			sum += misses;
	return sum;
}

/* ---- adding ---- */

/* 1, 0 or -errno, as process_ending(). */
static int thread_ending(int32_t tgid, const char *tid)
{
	char path[320], text[512], *at;
	unsigned int flags;
	ssize_t n;
	int fd, code;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", tgid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ESRCH ? 1 : -errno;
	n = read(fd, text, sizeof(text) - 1);
	code = errno;
	close(fd);
	if (n < 0 && code != ESRCH)
		return -code;
	if (n <= 0)
		return 1;
	text[n] = '\0';
	/* The command name may hold anything, blanks and parentheses too: it ends at the last one.
	 * Then follow state, five numbers and the flags. */
	at = strrchr(text, ')');
	if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		return 1;
	return !!(flags & PROC_FLAG_EXITING);
}

static int process_ending(int32_t tgid)
{
	int ending = 1;
	char path[64];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", tgid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 1 : -errno;
	while (ending == 1 && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			ending = thread_ending(tgid, e->d_name);
	closedir(dir);
	return ending;
}

int weft_procset_add(const struct weft_maps *maps, int32_t tgid, struct weft_error *err)
{
	struct weft_control *control = maps->state;
	int32_t initial;
	uint64_t one = 1;
	uint32_t key;
	int fd, ret;

	if (!control || maps->n <= WEFT_PLAN_TARGETS || maps->fds[WEFT_PLAN_TARGETS] < 0)
		return missing_map("map TARGETS", err);
	fd = maps->fds[WEFT_PLAN_TARGETS];
	ret = weft_pid_initial(tgid, &initial, err);
	if (ret)
		return ret;
	key = (uint32_t)initial;
	/* Counted before it is there to be removed: live_targets never falls below the truth. */
	__atomic_fetch_add(&control->live_targets, 1, __ATOMIC_SEQ_CST);
	ret = weft_bpf_map_update(fd, &key, &one, BPF_NOEXIST);
	if (ret) {
		__atomic_fetch_sub(&control->live_targets, 1, __ATOMIC_SEQ_CST);
		if (ret == -EEXIST)
			return 0;
		return weft_fail(err, ret, ret == -E2BIG ? "TARGETS_FULL" : "PROCSET_ADD",
				 "process %d cannot be added to the set of target processes: %s",
				 tgid, strerror(-ret));
	}
	ret = process_ending(tgid);
	if (!ret)
		return 0;
	if (!weft_bpf_map_delete(fd, &key))
		__atomic_fetch_sub(&control->live_targets, 1, __ATOMIC_SEQ_CST);
	if (ret == -ENOMEM)
		return weft_nomem(err);
	if (ret < 0)
		return weft_fail(err, ret, "PROCSET_ADD",
				 "whether process %d is ending cannot be seen: %s", tgid,
				 strerror(-ret));
	return weft_fail(err, -ESRCH, "TARGET_NO_PROCESS", "there is no process %d", tgid);
}
