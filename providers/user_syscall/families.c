/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Families come from looking at a process: because it announced declarations, because it fired and
 * is not known, or because all are looked at. Whatever the reason, the same is done, in this order:
 *
 *  1. the kernel side is told that we look, so that what is announced from here on is told again,
 *     and that who is forked from here on has to be looked at too;
 *  2. the tables are read;
 *  3. PROBES get what is enabled of them;
 *  4. PROCS lead from the process to them;
 *  5. the program's words are set: when everybody who has announced something by then has been
 *     looked at, for a program that forks as soon as it has declared has children that share them.
 *
 * So a firing that the program makes because of 5 finds all that it needs. Then the mapping is
 * looked at again: if the process has ended or executed another program meanwhile, what 4 did came
 * after the kernel side had cleared it, and is taken back.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/file.h"
#include "user_syscall.h"

/* ---- who it is ---- */

static long read_at(int dir, const char *name, char *buf, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	size_t n = 0;

	if (fd < 0)
		return -errno;
	while (n + 1 < size) {
		ssize_t got = read(fd, buf + n, size - 1 - n);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	close(fd);
	buf[n] = '\0';
	return (long)n;
}

static unsigned long status_field(int proc_fd, const char *key)
{
	char text[4096];
	const char *line;

	if (read_at(proc_fd, "status", text, sizeof(text)) < 0)
		return 0;
	line = strstr(text, key);
	return line ? strtoul(line + strlen(key), NULL, 10) : 0;
}

/* When a process began, in ticks; 0: it has ended. */
static uint64_t start_of(int proc_fd)
{
	char text[1024];
	const char *at;

	if (read_at(proc_fd, "stat", text, sizeof(text)) <= 0)
		return 0;
	at = strrchr(text, ')'); /* what is before is a name */
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static void identify(struct us_family *f, int proc_fd)
{
	char raw[512] = "", *base, *end;
	struct stat st;
	ssize_t n = readlinkat(proc_fd, "exe", raw, sizeof(raw) - 1);

	raw[n > 0 ? n : 0] = '\0';
	if (!fstatat(proc_fd, "exe", &st, 0)) {
		f->exe_device = st.st_dev;
		f->exe_inode = st.st_ino;
	}
	us_escape(raw, false, f->exe, sizeof(f->exe));
	/* A file that was replaced while it runs. */
	end = strstr(raw, " (deleted)");
	if (end && !end[10])
		*end = '\0';
	base = strrchr(raw, '/');
	us_escape(base && base[1] ? base + 1 : "unknown", true, f->module, sizeof(f->module) - 16);
	f->uid = (uint32_t)status_field(proc_fd, "\nUid:\t");
	if (read_at(proc_fd, "cgroup", raw, sizeof(raw)) > 0) {
		base = strstr(raw, "0::");
		base = base ? base + 3 : raw;
		base[strcspn(base, "\n")] = '\0';
		us_escape(base, false, f->cgroup, sizeof(f->cgroup));
	}
}

/* ---- coming and going ---- */

static struct us_family *find(const struct weft_instance *in, const struct us_table *t)
{
	struct us_family *f = in->families;

	while (f && (f->table.inode != t->inode || f->table.device != t->device))
		f = f->next;
	return f;
}

static struct us_family *create(struct weft_instance *in, pid_t pid, int proc_fd, struct us_table *t)
{
	struct us_family *f;
	uint32_t id = 1;

	while (id < US_MAX_FAMILIES && in->family_ids[id])
		id++;
	f = id < US_MAX_FAMILIES ? calloc(1, sizeof(*f)) : NULL;
	if (!f) {
		us_table_close(t);
		in->refused++;
		return NULL;
	}
	in->family_ids[id] = true;
	f->id = id;
	f->table = *t;
	f->pid = f->watched = pid;
	f->started = f->watched_started = start_of(proc_fd);
	f->slot = -1;
	identify(f, proc_fd);
	f->next = in->families;
	in->families = f;
	return f;
}

void us_family_drop(struct weft_instance *in, struct us_family *f)
{
	struct us_family **p = &in->families;

	while (*p != f)
		p = &(*p)->next;
	*p = f->next;
	for (uint32_t i = 0; i < f->n_instances; i++) {
		struct us_instance *inst = f->instances[i];

		if (!inst)
			continue;
		us_probe_remove(inst);
		free(inst);
	}
	if (in->kernel.attached)
		us_kernel_drop_family(&in->kernel, f->id);
	in->family_ids[f->id] = false;
	us_table_close(&f->table);
	free(f->instances);
	free(f);
}

void us_family_collect(struct weft_instance *in)
{
	struct us_family *f = in->families, *next;

	for (; f && in->kernel.attached; f = next) {
		next = f->next;
		if (!__atomic_load_n(&in->kernel.families[f->id].refs, __ATOMIC_ACQUIRE))
			us_family_drop(in, f);
	}
}

/* ---- declarations ---- */

struct reading {
	struct weft_instance *in;
	struct us_family *family;
};

static int reserve(struct us_family *f, uint32_t index)
{
	uint32_t cap = f->cap_instances ? f->cap_instances : 16;
	struct us_instance **grown;

	while (cap <= index)
		cap *= 2;
	if (cap != f->cap_instances) {
		grown = realloc(f->instances, cap * sizeof(struct us_instance *));
		if (!grown)
			return -ENOMEM;
		memset(grown + f->cap_instances, 0,
		       (cap - f->cap_instances) * sizeof(struct us_instance *));
		f->instances = grown;
		f->cap_instances = cap;
	}
	if (index >= f->n_instances)
		f->n_instances = index + 1;
	return 0;
}

static int take_decl(uint32_t index, const struct us_decl *d, void *arg)
{
	const struct reading *r = arg;
	struct us_family *f = r->family;
	struct us_instance *i;
	int ret;

	if (reserve(f, index))
		return -ENOMEM;
	i = f->instances[index];
	if (!i) {
		i = f->instances[index] = calloc(1, sizeof(*i));
		if (!i)
			return -ENOMEM;
		i->family = f;
		i->index = index;
	}
	/* The program cleared the word as it undeclared, even if it has declared again since. */
	if (i->state != d->state)
		i->enabled = false;
	i->state = d->state;
	i->live = WEFT_DECL_LIVE(d->state);
	if (i->probe || !i->live)
		return 0;
	ret = us_probe_of(r->in, f, d, &i->probe);
	if (ret == -ENOMEM)
		return ret;
	if (i->probe)
		us_probe_add(i->probe, i);
	return 0;
}

static int read_table(struct weft_instance *in, struct us_family *f)
{
	struct reading r = {.in = in, .family = f};
	uint32_t count = 0;
	int ret = us_table_count(&f->table, &count, &f->flags);

	if (!ret || count) {
		int failed = us_table_read(&f->table, count, take_decl, &r);

		ret = ret ? ret : failed;
	}
	if (ret == -ENOMEM)
		return ret;
	if (ret && !f->malformed) {
		f->malformed = true;
		in->host->log(in->host, WEFT_LOG_WARNING,
			      "process %d (%s): what it declares is malformed; the rest of it is "
			      "ignored",
			      f->pid, f->exe);
	}
	if (in->kernel.attached)
		__atomic_store_n(&in->kernel.families[f->id].count, count, __ATOMIC_RELEASE);
	return 0;
}

/* ---- a process ---- */

/* One process with a filter is enough: what is enabled is enabled for all who share the table. */
static void look_for_sandbox(struct weft_instance *in, struct us_family *f, pid_t pid, int proc_fd)
{
	const char *why = NULL;

	if (f->flags & WEFT_TABLE_OFF)
		why = "it has turned its probes off, or its sandbox hides the call";
	else if (!(f->flags & WEFT_TABLE_TRIED) && status_field(proc_fd, "\nSeccomp:\t"))
		why = "it has a seccomp filter, under which the call was not tried";
	if (!why && pid != f->watched)
		return;
	if (why && pid != f->watched) {
		f->watched = pid;
		f->watched_started = start_of(proc_fd);
	}
	if (why && !f->silent)
		in->host->log(in->host, WEFT_LOG_WARNING,
			      "process %d (%s): its probes are not enabled: %s", pid, f->exe, why);
	f->silent = why;
}

/* A program may have put a filter in force since it was enabled, or have said something about it. */
void us_family_recheck(struct weft_instance *in, struct us_family *f)
{
	const char *before = f->silent;
	uint32_t count;
	char path[32];
	int proc_fd;

	snprintf(path, sizeof(path), "/proc/%d", f->watched);
	proc_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc_fd < 0 || start_of(proc_fd) != f->watched_started) {
		f->watched = f->pid;
		f->watched_started = f->started;
	} else {
		us_table_count(&f->table, &count, &f->flags);
		look_for_sandbox(in, f, f->watched, proc_fd);
	}
	support_close(proc_fd);
	if (before == f->silent)
		return;
	for (uint32_t i = 0; i < f->n_instances; i++)
		us_prepare(in, f->instances[i]);
	for (uint32_t i = 0; i < f->n_instances; i++)
		us_apply(in, f->instances[i]);
}

static void apply(struct weft_instance *in, struct us_family *f)
{
	f->behind = false;
	for (uint32_t i = 0; i < f->n_instances; i++)
		us_apply(in, f->instances[i]);
}

void us_families_apply(struct weft_instance *in)
{
	for (struct us_family *f = in->families; f; f = f->next)
		if (f->behind)
			apply(in, f);
}

static int join(struct weft_instance *in, struct us_family *f, pid_t pid)
{
	uint64_t missed = 0;
	int ret;

	for (uint32_t i = 0; i < f->n_instances; i++)
		us_prepare(in, f->instances[i]);
	ret = us_kernel_set_proc(&in->kernel, (uint32_t)pid, f->table.number, f->id, &missed);
	if (ret < 0) {
		in->refused++;
		return 0;
	}
	/* A child that was forked before its parent was known here, and fired what its parent has
	 * enabled. Whoever fires a table that nobody has enabled has lost nothing. */
	if (ret && missed && f->slot >= 0) {
		char detail[128];

		snprintf(detail, sizeof(detail), "process %d, before it was known", pid);
		in->host->loss(in->host, "USER_SYSCALL_EARLY", missed, detail);
	} else {
		in->strays += missed;
	}
	if (in->joining)
		f->behind = true;
	else
		apply(in, f);
	return 0;
}

static int take_table(struct weft_instance *in, pid_t pid, int proc_fd, struct us_table *t,
		      const char *link)
{
	struct us_family *f = find(in, t);
	struct stat st;
	int ret;

	if (f)
		us_table_close(t);
	else
		f = create(in, pid, proc_fd, t);
	if (!f)
		return 0;
	ret = read_table(in, f);
	if (ret)
		return ret;
	look_for_sandbox(in, f, pid, proc_fd);
	if (!in->kernel.attached)
		return 0;
	ret = join(in, f, pid);
	if (fstatat(proc_fd, link, &st, 0) || st.st_ino != f->table.inode)
		us_kernel_forget(&in->kernel, (uint32_t)pid);
	return ret;
}

int us_family_adopt(struct weft_instance *in, pid_t pid)
{
	struct us_found found[US_TABLES];
	uint32_t numbers[US_TABLES], n_numbers = 0;
	char path[32];
	size_t n = 0;
	int ret, proc_fd;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	proc_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc_fd < 0)
		return 0;
	if (in->kernel.attached)
		us_kernel_look(&in->kernel, (uint32_t)pid, US_NEWS_LOOKING);
	ret = us_scan_process(proc_fd, found, US_TABLES, &n);
	for (size_t i = 0; i < n; i++) {
		struct us_table t;
		const char *why = "its number is another table's of this process";
		bool twice = false;
		int bad = ret ? ret : us_table_open(found[i].fd, &t, &why);

		if (ret)
			support_close(found[i].fd);
		for (uint32_t k = 0; !bad && k < n_numbers; k++)
			twice |= numbers[k] == t.number;
		if (twice)
			us_table_close(&t);
		if (bad || twice) {
			in->refused++;
			in->host->log(in->host, WEFT_LOG_INFO, "process %d: a table is ignored: %s",
				      pid, why);
			continue;
		}
		numbers[n_numbers++] = t.number;
		ret = take_table(in, pid, proc_fd, &t, found[i].link);
	}
	if (in->kernel.attached)
		us_kernel_look(&in->kernel, (uint32_t)pid, US_NEWS_NONE);
	close(proc_fd);
	return ret;
}
