/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reading a hash while programs are attached. A map system call would make the kernel drop firings
 * on its CPU; a program that is run once does not. It has every element handed to a function of its
 * own (bpf_for_each_map_elem) and puts them one after the other into memory that is shared with
 * this process. A bpf_map_elem iterator could do the same; kernels exist whose owners forbid those.
 *
 * What does not fit is left for another run, which passes over as many elements as are known. The
 * kernel holds the chains of a hash one at a time and adds to their fronts: elements that come
 * meanwhile may or may not be seen, and move those behind them. So one that exists is seen at least
 * once, as long as none is deleted, and may be seen twice. Readers of sums must therefore replace,
 * not add; exchanged values must be combined, since the second time brings what came meanwhile.
 *
 * The values of other CPUs are looked up by the key. An element that is deleted meanwhile is not
 * found any more and is left out whole; that the memory of its key may by then be another's does no
 * harm, since the key is taken first and all values are looked up by what was taken.
 */
#include <errno.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "core/kernel/cpus.h"
#include "core/kernel/insn.h"
#include "core/kernel/load.h"

#define EXCHANGE_WORDS 4 /* the most u64 words of a value that is exchanged */
#define SHARED_MOST    (256u << 10)
#define ELEMENT_MOST   (16u << 10)
#define CPU_INSNS      13 /* of the program, for each CPU; all else: */
#define ELSE_INSNS     64

/* What the program and this process share. Each element is its value, its key, and up to the next
 * multiple of eight. */
struct shared {
	uint64_t skip;      /* elements to be passed over */
	uint64_t met, used; /* used: bytes of elements */
	uint64_t more;      /* it ended before the last */
	uint8_t elements[];
};

struct weft_map_reader {
	int prog_fd, shared_fd;
	struct shared *shared;
	size_t shared_size;
	size_t key_size, value_size, stride; /* value_size: of all CPUs */
	uint32_t n_cpus;                     /* 0: one value for all */
	bool exchange;
};

/* ---- the program ---- */

struct emitter {
	const struct weft_map_reader *r;
	int map_fd;
	const unsigned int *cpus; /* the numbers of r->n_cpus CPUs */
	struct bpf_insn *at;
	size_t n;
};

static void emit(struct emitter *e, const struct bpf_insn *insns, size_t n)
{
	memcpy(&e->at[e->n], insns, n * sizeof(*insns));
	e->n += n;
}

#define EMIT(e, ...)                                    \
	emit(e, (const struct bpf_insn[]){__VA_ARGS__}, \
	     sizeof((const struct bpf_insn[]){__VA_ARGS__}) / sizeof(struct bpf_insn))

#define AT(member) ((int16_t)offsetof(struct shared, member))

/* r9: the element's place, less what comes before it in `shared`; from: a register. */
static void emit_copy(struct emitter *e, size_t offset, size_t size, uint8_t from)
{
	EMIT(e, INSN_MOV64_REG(BPF_REG_3, from), INSN_MOV64_REG(BPF_REG_1, BPF_REG_9),
	     INSN_ALU64_IMM(BPF_ADD, BPF_REG_1, AT(elements) + offset),
	     INSN_MOV64_IMM(BPF_REG_2, size), INSN_CALL(BPF_FUNC_probe_read_kernel));
}

static void emit_exchange(struct emitter *e)
{
	for (size_t at = 0; at < e->r->value_size; at += 8)
		EMIT(e, INSN_MOV64_IMM(BPF_REG_1, 0),
		     INSN_ATOMIC(BPF_DW, BPF_XCHG, BPF_REG_8, at, BPF_REG_1),
		     INSN_STX(BPF_DW, BPF_REG_9, AT(elements) + at, BPF_REG_1));
}

/* The function is handed the value of the CPU that it runs on; the others are looked up. */
static void emit_each_cpu(struct emitter *e)
{
	size_t size = e->r->value_size / e->r->n_cpus;

	for (uint32_t i = 0; i < e->r->n_cpus; i++) {
		EMIT(e, INSN_MOV64_REG(BPF_REG_1, BPF_REG_6), INSN_MOV64_REG(BPF_REG_2, BPF_REG_9),
		     INSN_ALU64_IMM(BPF_ADD, BPF_REG_2, AT(elements) + e->r->value_size),
		     INSN_MOV64_IMM(BPF_REG_3, e->cpus[i]),
		     INSN_CALL(BPF_FUNC_map_lookup_percpu_elem),
		     /* Deleted: its place is the next one's. */
		     INSN_JMP_IMM(BPF_JNE, BPF_REG_0, 0, 2), INSN_MOV64_IMM(BPF_REG_0, 0),
		     INSN_EXIT());
		emit_copy(e, i * size, size, BPF_REG_0);
	}
}

/* Called with the map, a key and its value; 1 ends the walk. */
static void emit_element(struct emitter *e)
{
	const struct weft_map_reader *r = e->r;
	size_t most = r->shared_size - sizeof(struct shared) - r->stride;
	const struct bpf_insn place[] = {
		INSN_MOV64_REG(BPF_REG_6, BPF_REG_1),
		INSN_MOV64_REG(BPF_REG_7, BPF_REG_2),
		INSN_MOV64_REG(BPF_REG_8, BPF_REG_3),
		INSN_LD_MAP_VALUE(BPF_REG_9, r->shared_fd, 0),
		/* Known already? */
		INSN_LDX(BPF_DW, BPF_REG_1, BPF_REG_9, AT(met)),
		INSN_ALU64_IMM(BPF_ADD, BPF_REG_1, 1),
		INSN_STX(BPF_DW, BPF_REG_9, AT(met), BPF_REG_1),
		INSN_LDX(BPF_DW, BPF_REG_2, BPF_REG_9, AT(skip)),
		INSN_JMP_REG(BPF_JGT, BPF_REG_1, BPF_REG_2, 2),
		INSN_MOV64_IMM(BPF_REG_0, 0),
		INSN_EXIT(),
		/* No room? */
		INSN_LDX(BPF_DW, BPF_REG_1, BPF_REG_9, AT(used)),
		INSN_JMP_IMM(BPF_JLE, BPF_REG_1, most, 3),
		INSN_ST(BPF_DW, BPF_REG_9, AT(more), 1),
		INSN_MOV64_IMM(BPF_REG_0, 1),
		INSN_EXIT(),
		INSN_ALU64_REG(BPF_ADD, BPF_REG_9, BPF_REG_1),
	};
	const struct bpf_insn take[] = {
		INSN_LD_MAP_VALUE(BPF_REG_9, r->shared_fd, 0),
		INSN_LDX(BPF_DW, BPF_REG_1, BPF_REG_9, AT(used)),
		INSN_ALU64_IMM(BPF_ADD, BPF_REG_1, r->stride),
		INSN_STX(BPF_DW, BPF_REG_9, AT(used), BPF_REG_1),
		INSN_MOV64_IMM(BPF_REG_0, 0),
		INSN_EXIT(),
	};

	emit(e, place, sizeof(place) / sizeof(place[0]));
	emit_copy(e, r->value_size, r->key_size, BPF_REG_7);
	if (r->exchange)
		emit_exchange(e);
	else if (r->n_cpus)
		emit_each_cpu(e);
	else
		emit_copy(e, 0, r->value_size, BPF_REG_8);
	emit(e, take, sizeof(take) / sizeof(take[0]));
}

/* Returns where the function begins. */
static size_t emit_program(struct emitter *e)
{
	const struct bpf_insn walk[] = {
		INSN_LD_MAP(BPF_REG_1, e->map_fd),
		INSN_LD_FUNC(BPF_REG_2, 6),
		INSN_MOV64_IMM(BPF_REG_3, 0),
		INSN_MOV64_IMM(BPF_REG_4, 0),
		INSN_CALL(BPF_FUNC_for_each_map_elem),
		INSN_MOV64_IMM(BPF_REG_0, 0),
		INSN_EXIT(),
	};

	emit(e, walk, sizeof(walk) / sizeof(walk[0]));
	emit_element(e);
	return sizeof(walk) / sizeof(walk[0]);
}

/* ---- its types ---- */

/* The kernel takes functions only of a program that tells their names and types. */
#define INFO(kind) ((uint32_t)(kind) << 24)
enum { TYPE_NUMBER = 1, TYPE_FUNCTION, TYPE_WALK, TYPE_ELEMENT };
struct types {
	struct btf_header header;
	struct btf_type number;
	uint32_t number_bits;
	struct btf_type function, walk, element;
	char names[18];
};
#define TYPES_SIZE (offsetof(struct types, names) - sizeof(struct btf_header))

static int load_types(void)
{
	static const struct types types = {
		.header = {.magic = BTF_MAGIC,
			   .version = BTF_VERSION,
			   .hdr_len = sizeof(struct btf_header),
			   .type_len = TYPES_SIZE,
			   .str_off = TYPES_SIZE,
			   .str_len = sizeof(types.names)},
		.number = {.name_off = 1, .info = INFO(BTF_KIND_INT), .size = 4},
		.number_bits = BTF_INT_SIGNED << 24 | 32,
		.function = {.info = INFO(BTF_KIND_FUNC_PROTO), .type = TYPE_NUMBER},
		.walk = {.name_off = 5, .info = INFO(BTF_KIND_FUNC), .type = TYPE_FUNCTION},
		.element = {.name_off = 10, .info = INFO(BTF_KIND_FUNC), .type = TYPE_FUNCTION},
		.names = "\0int\0walk\0element",
	};

	return weft_bpf_btf_load(&types, offsetof(struct types, names) + sizeof(types.names));
}

/* Their numbers may have gaps. */
static int possible_cpus(uint32_t n_cpus, unsigned int **cpus, struct weft_error *err)
{
	size_t n;
	int ret = weft_cpus_possible(cpus, &n);

	if (ret == -ENOMEM)
		return weft_nomem(err);
	if (!ret && n == n_cpus)
		return 0;
	if (!ret) {
		free(*cpus);
		*cpus = NULL;
		ret = -EINVAL;
	}
	return weft_fail(err, ret, "MAP_READER", "the list of possible CPUs cannot be read: %s",
			 strerror(-ret));
}

static int load_program(struct weft_map_reader *r, int map_fd, struct weft_error *err)
{
	const struct weft_load_class load = {.struct_size = sizeof(load),
					     .prog_type = BPF_PROG_TYPE_SYSCALL,
					     .flags = WEFT_LOAD_SLEEPABLE};
	struct bpf_func_info functions[2] = {{.insn_off = 0, .type_id = TYPE_WALK},
					     {.type_id = TYPE_ELEMENT}};
	struct weft_bpf_program p = {
		.name = "weft_read", .load = &load, .functions = functions, .n_functions = 2};
	struct emitter e = {.r = r, .map_fd = map_fd};
	unsigned int *cpus = NULL;
	int ret = r->n_cpus ? possible_cpus(r->n_cpus, &cpus, err) : 0;

	if (ret)
		return ret;
	e.cpus = cpus;
	e.at = malloc((ELSE_INSNS + r->n_cpus * CPU_INSNS) * sizeof(*e.at));
	if (!e.at) {
		free(cpus);
		return weft_nomem(err);
	}
	functions[1].insn_off = emit_program(&e);
	p.insns = e.at;
	p.n_insns = (uint32_t)e.n;
	p.btf_fd = load_types();
	if (p.btf_fd < 0) {
		ret = weft_fail(err, p.btf_fd, "MAP_READER",
				"the types of the program that reads maps cannot be loaded: %s",
				strerror(-p.btf_fd));
	} else {
		ret = weft_program_load_made(&p, &r->prog_fd, err);
		close(p.btf_fd);
	}
	free(e.at);
	free(cpus);
	return ret;
}

/* ---- reading ---- */

/* As much as all elements take, if that is not very much. */
static int share(struct weft_map_reader *r, const struct weft_map_spec *spec, struct weft_error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), most = SHARED_MOST / r->stride;
	struct weft_map_spec shared = {.name = "weft_read",
				       .type = BPF_MAP_TYPE_ARRAY,
				       .key_size = 4,
				       .max_entries = 1,
				       .flags = BPF_F_MMAPABLE};

	if (spec->max_entries < most)
		most = spec->max_entries ? spec->max_entries : 1;
	r->shared_size = (sizeof(*r->shared) + most * r->stride + page - 1) & ~(page - 1);
	shared.value_size = (uint32_t)r->shared_size;
	r->shared_fd = weft_bpf_map_create(&shared);
	if (r->shared_fd < 0)
		return weft_fail(err, r->shared_fd, "MAP_READER",
				 "the memory to read the map %s into cannot be made: %s",
				 spec->name, strerror(-r->shared_fd));
	r->shared = mmap(NULL, r->shared_size, PROT_READ | PROT_WRITE, MAP_SHARED, r->shared_fd, 0);
	if (r->shared == MAP_FAILED) {
		r->shared = NULL;
		return weft_fail(err, -errno, "MAP_READER",
				 "the memory to read the map %s into cannot be mapped: %s",
				 spec->name, strerror(errno));
	}
	return 0;
}

static int measure(struct weft_map_reader *r, const struct weft_map_spec *spec, uint32_t n_cpus,
		   struct weft_error *err)
{
	r->key_size = spec->key_size;
	r->value_size = spec->value_size;
	if (spec->type == BPF_MAP_TYPE_PERCPU_HASH) {
		r->n_cpus = n_cpus;
		r->value_size = (size_t)n_cpus * ((spec->value_size + 7u) & ~7u);
	}
	r->stride = (r->value_size + r->key_size + 7) & ~(size_t)7;
	if (r->stride <= ELEMENT_MOST &&
	    (!r->exchange || (spec->type == BPF_MAP_TYPE_HASH && r->value_size % 8 == 0 &&
			      r->value_size <= EXCHANGE_WORDS * sizeof(uint64_t))))
		return 0;
	return weft_fail(err, -E2BIG, "MAP_READER",
			 "the map %s cannot be read while probes are attached: its elements "
			 "have %zu bytes",
			 spec->name, r->stride);
}

int weft_map_reader_create(int map_fd, const struct weft_map_spec *spec, uint32_t n_cpus,
			   bool exchange, struct weft_map_reader **out, struct weft_error *err)
{
	struct weft_map_reader *r = calloc(1, sizeof(*r));
	int ret;

	if (!r)
		return weft_nomem(err);
	r->prog_fd = r->shared_fd = -1;
	r->exchange = exchange;
	ret = measure(r, spec, n_cpus, err);
	if (!ret)
		ret = share(r, spec, err);
	if (!ret)
		ret = load_program(r, map_fd, err);
	if (ret) {
		weft_map_reader_destroy(r);
		return ret;
	}
	*out = r;
	return 0;
}

void weft_map_reader_destroy(struct weft_map_reader *r)
{
	if (!r)
		return;
	if (r->shared)
		munmap(r->shared, r->shared_size);
	if (r->shared_fd >= 0)
		close(r->shared_fd);
	if (r->prog_fd >= 0)
		close(r->prog_fd);
	free(r);
}

static int walk_once(struct weft_map_reader *r, struct weft_error *err)
{
	union bpf_attr attr;
	int ret;

	r->shared->met = r->shared->used = r->shared->more = 0;
	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)r->prog_fd;
	ret = weft_bpf(BPF_PROG_TEST_RUN, &attr, sizeof(attr.test));
	return ret < 0 ? weft_fail(err, ret, "MAP_READER", "reading a map by a program failed: %s",
				   strerror(-ret))
		       : 0;
}

int weft_map_reader_run(struct weft_map_reader *r,
			int (*fn)(const void *key, const void *value, void *arg), void *arg,
			struct weft_error *err)
{
	const uint8_t *at, *end;
	int ret;

	r->shared->skip = 0;
	do {
		ret = walk_once(r, err);
		at = r->shared->elements;
		end = at + r->shared->used;
		for (; at < end && !ret; at += r->stride, r->shared->skip++)
			ret = fn(at + r->value_size, at, arg);
	} while (!ret && r->shared->more);
	return ret;
}
