/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Process events of children that are made here, and the buffer of perf events on made-up memory. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>

#include "core/kernel/cpus.h"
#include "core/kernel/perf_ring.h"
#include "tests/kernel/support.h"

enum { MOST = 200000 };

struct event {
	struct weft_process_event e;
	char text[300];
};

struct history {
	struct event *events;
	size_t n;
};

static void meet(const struct weft_process_event *e, void *arg)
{
	struct history *h = arg;

	if (h->n == MOST)
		return;
	h->events[h->n].e = *e;
	if (e->text)
		snprintf(h->events[h->n].text, sizeof(h->events[h->n].text), "%s", e->text);
	h->n++;
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static struct weft_procwatch *watch(bool mappings, struct weft_error *err)
{
	struct weft_procwatch *w = NULL;

	cr_assert_eq(weft_procwatch_create(mappings, &w, err), 0, "%s", weft_error_text(err));
	return w;
}

/* The events of one process, in the order of delivery. */
static size_t of(const struct history *h, pid_t pid, const struct event **out, size_t most)
{
	size_t i, n = 0;

	for (i = 0; i < h->n; i++)
		if (h->events[i].e.pid == pid && n < most)
			out[n++] = &h->events[i];
	return n;
}

static void *thread_main(void *arg)
{
	return arg;
}

Test(procwatch, a_childs_life_is_exact)
{
	struct weft_error *err = weft_error_create();
	struct history h = {.events = calloc(MOST, sizeof(struct event))};
	char path[] = "/tmp/weft-procwatch-XXXXXX";
	int file = mkstemp(path), i, own_mappings = 0;
	const struct event *mine[64];
	struct weft_procwatch *w;
	uint64_t lost = 0, from, to;
	size_t n, k, exec_at = 0, exits = 0, forks = 0, execs = 0;
	bool program = false, loader = false;
	struct stat st;
	pid_t pid;

	cr_assert_geq(file, 0);
	cr_assert_eq(ftruncate(file, 16 << 12), 0);
	cr_assert_eq(fstat(file, &st), 0);
	w = watch(true, err);
	from = now();
	pid = fork();
	if (pid == 0) {
		pthread_t thread;

		for (i = 0; i < 3; i++)
			if (mmap(NULL, 3 << 12, PROT_READ | PROT_EXEC, MAP_PRIVATE, file,
				 (i + 1) << 12) == MAP_FAILED)
				_exit(1);
		/* Neither executable nor of a file: not to be seen. */
		mmap(NULL, 1 << 12, PROT_READ, MAP_PRIVATE, file, 0);
		mmap(NULL, 1 << 12, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pthread_create(&thread, NULL, thread_main, NULL))
			_exit(2);
		pthread_join(thread, NULL);
		execl("/bin/true", "true", NULL);
		_exit(3);
	}
	cr_assert_eq(waitpid(pid, &i, 0), pid);
	cr_assert_eq(i, 0);
	to = now();
	weft_procwatch_poll(w, meet, &h, &lost);
	n = of(&h, pid, mine, 64);
	cr_assert_geq(n, 6u, "%zu events", n);

	cr_expect_eq(mine[0]->e.kind, WEFT_PROCESS_FORK);
	cr_expect_eq(mine[0]->e.parent, getpid());
	cr_expect_eq(mine[n - 1]->e.kind, WEFT_PROCESS_EXIT);
	for (k = 0; k < n; k++) {
		const struct weft_process_event *e = &mine[k]->e;

		cr_expect_eq(e->struct_size, sizeof(*e));
		cr_expect(e->time_ns >= from && e->time_ns <= to, "event %zu", k);
		forks += e->kind == WEFT_PROCESS_FORK;
		exits += e->kind == WEFT_PROCESS_EXIT;
		if (e->kind == WEFT_PROCESS_EXEC) {
			execs++;
			exec_at = k;
			cr_expect_str_eq(mine[k]->text, "true");
		}
		if (e->kind != WEFT_PROCESS_MMAP)
			continue;
		cr_expect_neq(mine[k]->text[0], '\0');
		if (!strcmp(mine[k]->text, path)) {
			own_mappings++;
			cr_expect_eq(execs, 0u);
			cr_expect_eq(e->inode, st.st_ino);
			cr_expect_eq(e->device_major, major(st.st_dev));
			cr_expect_eq(e->device_minor, minor(st.st_dev));
			cr_expect_eq(e->length, 3u << 12);
			cr_expect_eq(e->file_offset, (uint64_t)own_mappings << 12);
		} else if (strstr(mine[k]->text, "/true")) {
			program = k > exec_at && execs;
		} else if (strstr(mine[k]->text, "/ld-")) {
			loader = k > exec_at && execs;
		}
	}
	cr_expect_eq(forks, 1u);
	cr_expect_eq(execs, 1u);
	cr_expect_eq(exits, 1u);
	cr_expect_eq(own_mappings, 3);
	cr_expect(program, "the program's mapping follows its exec");
	cr_expect(loader, "so does that of its loader");
	cr_expect_eq(lost, 0u);
	weft_procwatch_destroy(w);
	unlink(path);
	close(file);
	free(h.events);
	weft_error_destroy(err);
}

static void go_to_cpu(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* A process that makes n children, one after the other: on one CPU, and they exec on another. */
static pid_t start_maker(size_t n)
{
	pid_t maker = fork(), pid;
	unsigned int *cpus;
	size_t i, n_cpus;
	int status;

	cr_assert_geq(maker, 0);
	if (maker)
		return maker;
	if (weft_cpus_online(&cpus, &n_cpus))
		_exit(1);
	for (i = 0; i < n; i++) {
		go_to_cpu(cpus[i % n_cpus]);
		pid = fork();
		if (pid < 0)
			_exit(2);
		if (pid == 0) {
			go_to_cpu(cpus[(i + 1) % n_cpus]);
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		while ((i % 8 == 7 || i == n - 1) && waitpid(-1, &status, 0) > 0)
			if (status)
				_exit(3);
	}
	_exit(0);
}

/* From the fork that is event `at` to the exit; before and after, the number may be another's.
 * Returns whether nothing is lacking. */
static bool expect_a_life(const struct history *h, size_t at)
{
	const int32_t pid = h->events[at].e.pid;
	uint64_t last = h->events[at].e.time_ns;
	size_t i, n = 1, execs = 0;
	bool ended = false;

	for (i = at; i-- > 0;) {
		if (h->events[i].e.pid != pid)
			continue;
		cr_expect_eq(h->events[i].e.kind, WEFT_PROCESS_EXIT, "before its fork");
		break;
	}
	for (i = at + 1; i < h->n; i++) {
		const struct weft_process_event *e = &h->events[i].e;

		if (e->pid != pid)
			continue;
		if (ended) {
			cr_expect_eq(e->kind, WEFT_PROCESS_FORK, "after its exit");
			break;
		}
		cr_expect_geq(e->time_ns, last);
		last = e->time_ns;
		n++;
		execs += e->kind == WEFT_PROCESS_EXEC;
		ended = e->kind == WEFT_PROCESS_EXIT;
	}
	return ended && execs == 1 && n >= 4;
}

/* Whatever else happens on the machine is in the same buffers. What that makes the kernel drop is
 * counted, and no more than that is lacking. */
Test(procwatch, causes_come_before_effects_over_cpus, .timeout = 120)
{
	enum { N = 300 };
	struct weft_error *err = weft_error_create();
	struct history h = {.events = calloc(MOST, sizeof(struct event))};
	struct weft_procwatch *w = watch(true, err);
	struct pollfd p = {.fd = weft_procwatch_fd(w), .events = POLLIN};
	const pid_t maker = start_maker(N);
	uint64_t lost = 0;
	size_t i, whole = 0;
	int status;

	while (waitpid(maker, &status, WNOHANG) == 0) {
		poll(&p, 1, 10);
		weft_procwatch_poll(w, meet, &h, &lost);
	}
	weft_procwatch_poll(w, meet, &h, &lost);
	lost += weft_procwatch_untold(w);
	cr_expect_eq(status, 0, "children cannot be made: %d", status);
	cr_assert_lt(h.n, MOST);
	for (i = 0; i < h.n; i++)
		if (h.events[i].e.kind == WEFT_PROCESS_FORK && h.events[i].e.parent == maker)
			whole += expect_a_life(&h, i);
	cr_expect_geq(whole + lost, N, "%zu children are whole, %lu events lost", whole, lost);
	weft_procwatch_destroy(w);
	free(h.events);
	weft_error_destroy(err);
}

Test(procwatch, the_descriptor_tells_when_there_is_something)
{
	struct weft_error *err = weft_error_create();
	struct history h = {.events = calloc(MOST, sizeof(struct event))};
	struct weft_procwatch *w = watch(false, err);
	const struct event *mine[8];
	struct pollfd p = {.fd = weft_procwatch_fd(w), .events = POLLIN};
	uint64_t lost = 0;
	size_t n, i;
	pid_t pid;

	pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	cr_expect_eq(poll(&p, 1, 5000), 1);
	weft_procwatch_poll(w, meet, &h, &lost);
	n = of(&h, pid, mine, 8);
	cr_expect_eq(n, 2u, "a fork and an exit; there are %zu", n);
	for (i = 0; i < h.n; i++)
		cr_expect_neq(h.events[i].e.kind, WEFT_PROCESS_MMAP, "nobody asked for mappings");
	weft_procwatch_destroy(w);
	free(h.events);
	weft_error_destroy(err);
}

Test(procwatch, what_is_lost_is_counted, .timeout = 120)
{
	enum { N = 20000 };
	struct weft_error *err = weft_error_create();
	struct history h = {.events = calloc(MOST, sizeof(struct event))};
	char path[] = "/tmp/weft-procwatch-XXXXXX";
	int file = mkstemp(path), i;
	struct weft_procwatch *w;
	uint64_t lost = 0;
	size_t seen = 0, k;
	pid_t pid;

	cr_assert_eq(ftruncate(file, 1 << 12), 0);
	w = watch(true, err);
	pid = fork();
	if (pid == 0) {
		go_to_cpu(0);
		for (i = 0; i < N; i++) {
			void *p = mmap(NULL, 1 << 12, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);

			if (p == MAP_FAILED)
				_exit(1);
			munmap(p, 1 << 12);
		}
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &i, 0), pid);
	cr_assert_eq(i, 0);
	/* The kernel says what it dropped when it next finds room. Until then it can be asked. */
	weft_procwatch_poll(w, meet, &h, &lost);
	for (k = 0; k < h.n; k++)
		seen += h.events[k].e.kind == WEFT_PROCESS_MMAP && !strcmp(h.events[k].text, path);
	cr_expect_lt(seen, N);
	cr_expect_geq(seen + lost + weft_procwatch_untold(w), N);
	seen = 0;
	go_to_cpu(0);
	pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	weft_procwatch_poll(w, meet, &h, &lost);
	for (k = 0; k < h.n; k++)
		seen += h.events[k].e.kind == WEFT_PROCESS_MMAP && !strcmp(h.events[k].text, path);
	cr_expect_gt(lost, 0u);
	cr_expect_geq(seen + lost, N, "%zu seen, %lu lost", seen, lost);
	weft_procwatch_destroy(w);
	unlink(path);
	close(file);
	free(h.events);
	weft_error_destroy(err);
}

Test(procwatch, PROCESS_WATCH)
{
	struct weft_error *err = weft_error_create();
	struct weft_procwatch *w = NULL;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		bool told;

		if (setresuid(65534, 65534, 65534))
			_exit(2);
		told = weft_procwatch_create(true, &w, err) == -EACCES &&
		       !strcmp(weft_error_tag(err), "PROCESS_WATCH") &&
		       strstr(weft_error_text(err), "CAP_PERFMON");
		_exit(told ? 0 : 1);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0);
	weft_error_destroy(err);
}

/* ---- the buffer ---- */

struct fake {
	struct perf_event_mmap_page page;
	uint8_t data[256];
	struct weft_perf_ring ring;
	uint64_t skipped;
	uint8_t scratch[64];
};

static void put(struct fake *f, uint16_t size, uint8_t fill)
{
	struct perf_event_header h = {.type = fill, .size = size};
	uint64_t at = f->page.data_head;
	uint16_t i;

	for (i = 0; i < size; i++)
		f->data[(at + i) % sizeof(f->data)] = i < sizeof(h) ? ((uint8_t *)&h)[i] : fill;
	f->page.data_head += size;
}

static const struct perf_event_header *peek(struct fake *f)
{
	return weft_perf_ring_peek(&f->ring, f->scratch, sizeof(f->scratch), &f->skipped);
}

static struct fake *fake_new(void)
{
	struct fake *f = calloc(1, sizeof(*f));

	f->ring.page = &f->page;
	f->ring.data = f->data;
	f->ring.size = sizeof(f->data);
	return f;
}

Test(perf_ring, records_around_the_end)
{
	struct fake *f = fake_new();
	const struct perf_event_header *h;
	unsigned int i, k;

	for (i = 0; i < 100; i++) {
		uint16_t size = (uint16_t)(16 + i % 6 * 8);

		put(f, size, (uint8_t)(i + 1));
		put(f, 24, 200);
		weft_perf_ring_begin(&f->ring);
		h = peek(f);
		cr_assert_not_null(h);
		cr_expect_eq(h->size, size);
		for (k = sizeof(*h); k < size; k++)
			cr_expect_eq(((const uint8_t *)h)[k], i + 1);
		cr_expect_eq(peek(f)->type, i + 1, "a look does not take");
		weft_perf_ring_pop(&f->ring);
		cr_expect_eq(peek(f)->type, 200u);
		weft_perf_ring_pop(&f->ring);
		cr_expect_null(peek(f));
		weft_perf_ring_end(&f->ring);
		cr_expect_eq(f->page.data_tail, f->page.data_head);
	}
	cr_expect_eq(f->skipped, 0u);
	free(f);
}

Test(perf_ring, a_size_that_cannot_be)
{
	static const uint16_t sizes[] = {0, 7, 64, 65535};
	size_t i;

	for (i = 0; i < 4; i++) {
		struct fake *f = fake_new();

		put(f, 16, 1);
		put(f, 16, 2);
		f->data[16 + 6] = (uint8_t)sizes[i]; /* header.size of the second */
		f->data[16 + 7] = (uint8_t)(sizes[i] >> 8);
		weft_perf_ring_begin(&f->ring);
		cr_expect_eq(peek(f)->type, 1u);
		weft_perf_ring_pop(&f->ring);
		cr_expect_null(peek(f), "size %u", sizes[i]);
		cr_expect_eq(f->skipped, 1u);
		cr_expect_null(peek(f));
		put(f, 16, 3);
		weft_perf_ring_begin(&f->ring);
		cr_expect_eq(peek(f)->type, 3u, "what comes later is read");
		free(f);
	}
}

Test(perf_ring, larger_than_the_scratch_and_around_the_end)
{
	struct fake *f = fake_new();

	put(f, 200, 1);
	weft_perf_ring_begin(&f->ring);
	weft_perf_ring_pop(&f->ring);
	put(f, 128, 2); /* wraps, and is larger than scratch */
	put(f, 16, 3);
	weft_perf_ring_begin(&f->ring);
	cr_expect_eq(peek(f)->type, 3u);
	cr_expect_eq(f->skipped, 1u);
	free(f);
}

Test(cpus, lists)
{
	static const char *const bad[] = {"",       "\n", "-1",   "a",   "1-",
					  "3-1",    "1,", "1,,2", "1 2", "99999999999999999999",
					  "0-70000"};
	unsigned int *cpus;
	size_t i, n;

	cr_assert_eq(weft_cpus_parse("0-2,5,7-8\n", &cpus, &n), 0);
	cr_expect_eq(n, 6u);
	cr_expect(cpus[0] == 0 && cpus[2] == 2 && cpus[3] == 5 && cpus[4] == 7 && cpus[5] == 8);
	free(cpus);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(weft_cpus_parse(bad[i], &cpus, &n), -EINVAL, "%s", bad[i]);
}
