/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Readers and walks over maps whose contents are known. */
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "tests/kernel/support.h"

enum { MOST_ROWS = 20000 };

struct seen {
	uint32_t n_cpus;
	size_t words;
	bool percpu;
	uint32_t times[MOST_ROWS];
	uint64_t sum[MOST_ROWS];
	size_t n, wrong;
};

struct key {
	uint64_t number, check;
};

static uint64_t value_of(uint64_t number, uint32_t cpu, size_t word)
{
	return number * 1000003 + cpu * 17 + word * 5 + 1;
}

static int meet(const void *key, const void *value, void *arg)
{
	const uint64_t *v = value;
	struct seen *s = arg;
	struct key k;
	uint32_t cpu;
	size_t w;

	memcpy(&k, key, sizeof(k));
	if (k.number >= MOST_ROWS || k.check != ~k.number) {
		s->wrong++;
		return 0;
	}
	s->times[k.number]++;
	s->n++;
	for (cpu = 0; cpu < (s->percpu ? s->n_cpus : 1); cpu++) {
		for (w = 0; w < s->words; w++) {
			uint64_t got;

			memcpy(&got, v + cpu * s->words + w, 8);
			s->wrong += got != value_of(k.number, cpu, w);
		}
	}
	return 0;
}

static void put_rows(int fd, size_t words, uint32_t rows)
{
	uint32_t n_cpus = test_cpus(), cpu, i;
	uint64_t *value = calloc(n_cpus * words, 8);
	size_t w;

	for (i = 0; i < rows; i++) {
		struct key k = {i, ~(uint64_t)i};

		for (cpu = 0; cpu < n_cpus; cpu++)
			for (w = 0; w < words; w++)
				value[cpu * words + w] = value_of(i, cpu, w);
		cr_assert_eq(weft_bpf_map_update(fd, &k, value, BPF_NOEXIST), 0);
	}
	free(value);
}

static int fill(uint32_t type, size_t words, uint32_t rows, struct weft_map_spec *spec)
{
	int fd;

	*spec = (struct weft_map_spec){.name = "weft_test",
				       .type = type,
				       .key_size = sizeof(struct key),
				       .value_size = (uint32_t)(words * 8),
				       .max_entries = rows ? rows : 1,
				       .flags = BPF_F_NO_PREALLOC};
	fd = weft_bpf_map_create(spec);
	cr_assert_geq(fd, 0);
	put_rows(fd, words, rows);
	return fd;
}

static void expect_all(const struct seen *s, uint32_t rows, const char *what)
{
	uint32_t i, missing = 0, twice = 0;

	for (i = 0; i < rows; i++) {
		missing += s->times[i] == 0;
		twice += s->times[i] > 1;
	}
	cr_expect_eq(s->n, rows, "%s: %zu of %u rows", what, s->n, rows);
	cr_expect_eq(missing, 0u, "%s: %u missing", what, missing);
	cr_expect_eq(twice, 0u, "%s: %u twice", what, twice);
	cr_expect_eq(s->wrong, 0u, "%s: %zu wrong", what, s->wrong);
}

static void read_and_walk(uint32_t type, size_t words, uint32_t rows)
{
	struct weft_error *err = weft_error_create();
	struct seen *s = calloc(1, sizeof(*s));
	struct weft_map_reader *r;
	struct weft_map_spec spec;
	int fd = fill(type, words, rows, &spec), i;

	s->n_cpus = test_cpus();
	s->words = words;
	s->percpu = type == BPF_MAP_TYPE_PERCPU_HASH;
	cr_assert_eq(weft_map_reader_create(fd, &spec, s->n_cpus, false, &r, err), 0, "%s",
		     weft_error_text(err));
	for (i = 0; i < 2; i++) { /* a reader can run again */
		memset(s->times, 0, sizeof(s->times));
		s->n = s->wrong = 0;
		cr_expect_eq(weft_map_reader_run(r, meet, s, err), 0, "%s", weft_error_text(err));
		expect_all(s, rows, "reader");
	}
	weft_map_reader_destroy(r);
	memset(s->times, 0, sizeof(s->times));
	s->n = s->wrong = 0;
	cr_expect_eq(weft_map_walk(fd, &spec, s->n_cpus, meet, s, err), 0, "%s",
		     weft_error_text(err));
	expect_all(s, rows, "walk");
	close(fd);
	free(s);
	weft_error_destroy(err);
}

Test(reader, hash_of_none)
{
	read_and_walk(BPF_MAP_TYPE_HASH, 1, 0);
}

Test(reader, hash_of_1)
{
	read_and_walk(BPF_MAP_TYPE_HASH, 1, 1);
}

Test(reader, hash_of_1000)
{
	read_and_walk(BPF_MAP_TYPE_HASH, 2, 1000);
}

Test(reader, hash_of_20000)
{
	read_and_walk(BPF_MAP_TYPE_HASH, 2, MOST_ROWS);
}

Test(reader, percpu_hash_of_1)
{
	read_and_walk(BPF_MAP_TYPE_PERCPU_HASH, 1, 1);
}

Test(reader, percpu_hash_of_1000)
{
	read_and_walk(BPF_MAP_TYPE_PERCPU_HASH, 2, 1000);
}

Test(reader, percpu_hash_of_20000)
{
	read_and_walk(BPF_MAP_TYPE_PERCPU_HASH, 1, MOST_ROWS);
}

/* Rows as large as stacks: few fit into what is shared with the kernel. */
Test(reader, large_rows)
{
	read_and_walk(BPF_MAP_TYPE_HASH, 131, 2000);
}

/* Deletes rows while they are read. */
struct drain {
	int fd;
	uint32_t rows;
	_Atomic bool done;
};

static void *delete_rows(void *arg)
{
	struct drain *d = arg;

	for (uint32_t i = 0; i < d->rows; i++) {
		struct key k = {i, ~(uint64_t)i};

		weft_bpf_map_delete(d->fd, &k);
	}
	d->done = true;
	return NULL;
}

Test(reader, a_row_that_is_deleted_meanwhile_is_left_out, .timeout = 120)
{
	enum { ROWS = 64, ROUNDS = 300 };
	struct weft_error *err = weft_error_create();
	struct seen *s = calloc(1, sizeof(*s));
	struct weft_map_reader *r;
	struct weft_map_spec spec;
	int fd = fill(BPF_MAP_TYPE_PERCPU_HASH, 2, ROWS, &spec);

	s->n_cpus = test_cpus();
	s->words = 2;
	s->percpu = true;
	cr_assert_eq(weft_map_reader_create(fd, &spec, s->n_cpus, false, &r, err), 0, "%s",
		     weft_error_text(err));
	for (int i = 0; i < ROUNDS; i++) {
		struct drain d = {.fd = fd, .rows = ROWS};
		pthread_t thread;

		s->n = 0;
		cr_assert_eq(weft_map_reader_run(r, meet, s, err), 0);
		cr_expect_eq(s->n, ROWS, "%zu of %d rows", s->n, ROWS);
		cr_assert_eq(pthread_create(&thread, NULL, delete_rows, &d), 0);
		while (!d.done)
			cr_assert_eq(weft_map_reader_run(r, meet, s, err), 0);
		pthread_join(thread, NULL);
		s->n = 0;
		cr_assert_eq(weft_map_reader_run(r, meet, s, err), 0);
		cr_expect_eq(s->n, 0u, "%zu rows that are gone", s->n);
		put_rows(fd, s->words, ROWS);
	}
	cr_expect_eq(s->wrong, 0u, "%zu wrong", s->wrong);
	weft_map_reader_destroy(r);
	close(fd);
	free(s);
	weft_error_destroy(err);
}

static int stop(const void *key, const void *value, void *arg)
{
	(void)key;
	(void)value;
	return ++*(int *)arg == 5 ? -ECANCELED : 0;
}

Test(reader, the_callback_can_stop)
{
	struct weft_error *err = weft_error_create();
	struct weft_map_reader *r;
	struct weft_map_spec spec;
	int fd = fill(BPF_MAP_TYPE_HASH, 1, 100, &spec), n = 0;

	cr_assert_eq(weft_map_reader_create(fd, &spec, test_cpus(), false, &r, err), 0);
	cr_expect_eq(weft_map_reader_run(r, stop, &n, err), -ECANCELED);
	cr_expect_eq(n, 5);
	n = 0;
	cr_expect_eq(weft_map_walk(fd, &spec, test_cpus(), stop, &n, err), -ECANCELED);
	cr_expect_eq(n, 5);
	cr_expect_eq(weft_error_count(err), 0u, "what stops is the callback's to say");
	weft_map_reader_destroy(r);
	close(fd);
	weft_error_destroy(err);
}

Test(reader, MAP_READER)
{
	struct weft_error *err = weft_error_create();
	struct weft_map_reader *r;
	struct weft_map_spec spec;
	int fd = fill(BPF_MAP_TYPE_PERCPU_HASH, 1, 1, &spec);

	cr_expect_lt(weft_map_reader_create(fd, &spec, test_cpus(), true, &r, err), 0,
		     "only a hash can be exchanged");
	cr_expect_str_eq(weft_error_tag(err), "MAP_READER");
	weft_error_clear(err);
	spec.value_size = 1 << 20;
	cr_expect_lt(weft_map_reader_create(fd, &spec, test_cpus(), false, &r, err), 0,
		     "rows are not cut");
	cr_expect_str_eq(weft_error_tag(err), "MAP_READER");
	close(fd);
	weft_error_destroy(err);
}

Test(reader, MAP_READ)
{
	struct weft_error *err = weft_error_create();
	struct weft_map_spec spec;
	int fd = fill(BPF_MAP_TYPE_HASH, 1, 1, &spec), n = 0;

	close(fd);
	cr_expect_eq(weft_map_walk(fd, &spec, test_cpus(), stop, &n, err), -EBADF);
	cr_expect_str_eq(weft_error_tag(err), "MAP_READ");
	weft_error_destroy(err);
}

/* ---- exchange ---- */

struct exchange {
	uint64_t sum[2];
	size_t elements;
};

static int add_up(const void *key, const void *value, void *arg)
{
	struct exchange *x = arg;
	uint64_t v[2];

	(void)key;
	memcpy(v, value, sizeof(v));
	x->sum[0] += v[0];
	x->sum[1] += v[1];
	x->elements++;
	return 0;
}

Test(exchange, takes_and_leaves_zero)
{
	struct weft_error *err = weft_error_create();
	struct exchange x = {.elements = 0};
	struct weft_map_reader *r;
	struct weft_map_spec spec;
	uint64_t want[2] = {0};
	int fd = fill(BPF_MAP_TYPE_HASH, 2, MOST_ROWS, &spec);
	uint32_t i;

	for (i = 0; i < MOST_ROWS; i++) {
		want[0] += value_of(i, 0, 0);
		want[1] += value_of(i, 0, 1);
	}
	cr_assert_eq(weft_map_reader_create(fd, &spec, test_cpus(), true, &r, err), 0, "%s",
		     weft_error_text(err));
	cr_expect_eq(weft_map_reader_run(r, add_up, &x, err), 0);
	cr_expect_eq(x.elements, MOST_ROWS);
	cr_expect_eq(x.sum[0], want[0]);
	cr_expect_eq(x.sum[1], want[1]);
	memset(&x, 0, sizeof(x));
	cr_expect_eq(weft_map_reader_run(r, add_up, &x, err), 0);
	cr_expect_eq(x.elements, MOST_ROWS, "rows stay");
	cr_expect_eq(x.sum[0] | x.sum[1], 0u, "and are zero");
	weft_map_reader_destroy(r);
	close(fd);
	weft_error_destroy(err);
}

/* A writer adds 1 and 3 to the words of rows that it makes as it goes, by a program. */
struct writer {
	int prog_fd;
	uint64_t rounds;
	_Atomic bool done;
};

static void *write_rows(void *arg)
{
	struct writer *w = arg;
	uint64_t i;

	for (i = 0; i < w->rounds; i++)
		weft_program_run(w->prog_fd, NULL);
	w->done = true;
	return NULL;
}

Test(exchange, nothing_lost_nothing_double_under_a_writer, .timeout = 60)
{
	enum { ROWS = 4096 };
	struct weft_error *err = weft_error_create();
	struct weft_map_spec spec = {.name = "weft_test",
				     .type = BPF_MAP_TYPE_HASH,
				     .key_size = 8,
				     .value_size = 16,
				     .max_entries = ROWS,
				     .flags = BPF_F_NO_PREALLOC};
	int fd = weft_bpf_map_create(&spec);
	/* key = random % ROWS; look up, or insert zeros and look up; add. */
	const struct bpf_insn code[] = {
		INSN_CALL(BPF_FUNC_get_prandom_u32),
		INSN_ALU64_IMM(BPF_AND, BPF_REG_0, ROWS - 1),
		INSN_STX(BPF_DW, BPF_REG_10, -8, BPF_REG_0),
		INSN_LD_MAP(BPF_REG_1, fd),
		INSN_MOV64_REG(BPF_REG_2, BPF_REG_10),
		INSN_ALU64_IMM(BPF_ADD, BPF_REG_2, -8),
		INSN_CALL(BPF_FUNC_map_lookup_elem),
		INSN_JMP_IMM(BPF_JNE, BPF_REG_0, 0, 16),
		INSN_ST(BPF_DW, BPF_REG_10, -16, 0),
		INSN_ST(BPF_DW, BPF_REG_10, -24, 0),
		INSN_LD_MAP(BPF_REG_1, fd),
		INSN_MOV64_REG(BPF_REG_2, BPF_REG_10),
		INSN_ALU64_IMM(BPF_ADD, BPF_REG_2, -8),
		INSN_MOV64_REG(BPF_REG_3, BPF_REG_10),
		INSN_ALU64_IMM(BPF_ADD, BPF_REG_3, -24),
		INSN_MOV64_IMM(BPF_REG_4, BPF_NOEXIST),
		INSN_CALL(BPF_FUNC_map_update_elem),
		INSN_LD_MAP(BPF_REG_1, fd),
		INSN_MOV64_REG(BPF_REG_2, BPF_REG_10),
		INSN_ALU64_IMM(BPF_ADD, BPF_REG_2, -8),
		INSN_CALL(BPF_FUNC_map_lookup_elem),
		INSN_JMP_IMM(BPF_JEQ, BPF_REG_0, 0, 4),
		INSN_MOV64_IMM(BPF_REG_1, 1),
		INSN_ATOMIC(BPF_DW, BPF_ADD, BPF_REG_0, 0, BPF_REG_1),
		INSN_MOV64_IMM(BPF_REG_1, 3),
		INSN_ATOMIC(BPF_DW, BPF_ADD, BPF_REG_0, 8, BPF_REG_1),
		INSN_MOV64_IMM(BPF_REG_0, 0),
		INSN_EXIT(),
	};
	struct writer w = {.rounds = 200000};
	struct exchange x = {.elements = 0};
	struct weft_map_reader *r;
	size_t rounds = 0;
	pthread_t thread;

	w.prog_fd = test_load_raw(code, sizeof(code) / sizeof(code[0]), err);
	cr_assert_eq(weft_map_reader_create(fd, &spec, test_cpus(), true, &r, err), 0, "%s",
		     weft_error_text(err));
	cr_assert_eq(pthread_create(&thread, NULL, write_rows, &w), 0);
	while (!w.done) {
		cr_assert_eq(weft_map_reader_run(r, add_up, &x, err), 0);
		rounds++;
	}
	pthread_join(thread, NULL);
	cr_assert_eq(weft_map_reader_run(r, add_up, &x, err), 0);
	cr_expect_eq(x.sum[0], w.rounds, "%lu of %lu in %zu rounds", x.sum[0], w.rounds, rounds);
	cr_expect_eq(x.sum[1], 3 * w.rounds);
	cr_expect_gt(rounds, 2u);
	weft_map_reader_destroy(r);
	close(w.prog_fd);
	close(fd);
	weft_error_destroy(err);
}
