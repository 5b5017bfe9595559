/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reading a hash while programs are attached. A map system call would make the kernel drop firings
 * on its CPU; a bpf_map_elem iterator does not. Its program is given every element in turn and
 * writes key and value to a file that is read here.
 *
 * The kernel collects what the program writes in a buffer of eight pages. If an element does not fit
 * into what is left, its output is thrown away and the program is run for it *again* at the next
 * read: harmless when values are only looked at, fatal when they are exchanged with 0. But the kernel
 * starts an element only while less than the reader's own size lies in the buffer. So a reader that
 * asks for the buffer's size less one element never meets that case; larger elements are refused at
 * the start. (The program also looks at what it is told, and puts the value back if writing failed.)
 *
 * Elements that are inserted meanwhile may or may not be seen. One that exists is seen at least once,
 * and may be seen twice: between two reads the kernel finds its place again by counting elements of
 * a hash chain, to whose front others are added. Readers of sums must therefore replace, not add;
 * exchanged values must be combined, since the second time brings what came meanwhile.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "core/kernel/insn.h"
#include "core/kernel/load.h"

#define EXCHANGE_WORDS 4 /* the most u64 words of a value that is exchanged */

struct weft_map_reader {
	int link_fd;
	size_t key_size, value_size, element_size;
	size_t read_size;
	uint8_t *buffer; /* read_size behind a rest of at most an element */
};

/* struct bpf_iter__bpf_map_elem: meta, map, key, value; struct bpf_iter_meta begins with the file. */
enum { CTX_META = 0, CTX_KEY = 16, CTX_VALUE = 24, META_SEQ = 0 };

static size_t emit_look(struct bpf_insn *at, size_t key_size, size_t value_size)
{
	const struct bpf_insn code[] = {
		INSN_LDX(BPF_DW, BPF_REG_7, BPF_REG_1, CTX_KEY),
		INSN_LDX(BPF_DW, BPF_REG_8, BPF_REG_1, CTX_VALUE),
		INSN_LDX(BPF_DW, BPF_REG_6, BPF_REG_1, CTX_META),
		INSN_LDX(BPF_DW, BPF_REG_6, BPF_REG_6, META_SEQ),
		/* The last call has no element. */
		INSN_JMP_IMM(BPF_JEQ, BPF_REG_7, 0, 9),
		INSN_JMP_IMM(BPF_JEQ, BPF_REG_8, 0, 8),
		INSN_MOV64_REG(BPF_REG_1, BPF_REG_6),
		INSN_MOV64_REG(BPF_REG_2, BPF_REG_7),
		INSN_MOV64_IMM(BPF_REG_3, key_size),
		INSN_CALL(BPF_FUNC_seq_write),
		INSN_MOV64_REG(BPF_REG_1, BPF_REG_6),
		INSN_MOV64_REG(BPF_REG_2, BPF_REG_8),
		INSN_MOV64_IMM(BPF_REG_3, value_size),
		INSN_CALL(BPF_FUNC_seq_write),
		INSN_MOV64_IMM(BPF_REG_0, 0),
		INSN_EXIT(),
	};

	memcpy(at, code, sizeof(code));
	return sizeof(code) / sizeof(code[0]);
}

static size_t emit_exchange(struct bpf_insn *at, size_t key_size, size_t value_size)
{
	size_t words = value_size / 8, i, n = 0, to_end[3];
	int stack = -(int)value_size;

	at[n++] = INSN_LDX(BPF_DW, BPF_REG_7, BPF_REG_1, CTX_KEY);
	at[n++] = INSN_LDX(BPF_DW, BPF_REG_8, BPF_REG_1, CTX_VALUE);
	at[n++] = INSN_LDX(BPF_DW, BPF_REG_6, BPF_REG_1, CTX_META);
	at[n++] = INSN_LDX(BPF_DW, BPF_REG_6, BPF_REG_6, META_SEQ);
	to_end[0] = n;
	at[n++] = INSN_JMP_IMM(BPF_JEQ, BPF_REG_7, 0, 0);
	to_end[1] = n;
	at[n++] = INSN_JMP_IMM(BPF_JEQ, BPF_REG_8, 0, 0);
	for (i = 0; i < words; i++) {
		at[n++] = INSN_MOV64_IMM(BPF_REG_1, 0);
		at[n++] = INSN_ATOMIC(BPF_DW, BPF_XCHG, BPF_REG_8, 8 * i, BPF_REG_1);
		at[n++] = INSN_STX(BPF_DW, BPF_REG_10, stack + 8 * (int)i, BPF_REG_1);
	}
	at[n++] = INSN_MOV64_REG(BPF_REG_1, BPF_REG_6);
	at[n++] = INSN_MOV64_REG(BPF_REG_2, BPF_REG_7);
	at[n++] = INSN_MOV64_IMM(BPF_REG_3, key_size);
	at[n++] = INSN_CALL(BPF_FUNC_seq_write);
	at[n++] = INSN_MOV64_REG(BPF_REG_1, BPF_REG_6);
	at[n++] = INSN_MOV64_REG(BPF_REG_2, BPF_REG_10);
	at[n++] = INSN_ALU64_IMM(BPF_ADD, BPF_REG_2, stack);
	at[n++] = INSN_MOV64_IMM(BPF_REG_3, value_size);
	at[n++] = INSN_CALL(BPF_FUNC_seq_write);
	to_end[2] = n;
	at[n++] = INSN_JMP_IMM(BPF_JEQ, BPF_REG_0, 0, 0);
	/* Written nowhere: put it back. All words only grow from 0 and 0 means nothing, so adding to
	 * what came meanwhile could invent a value; what came meanwhile is dropped for the older. */
	for (i = 0; i < words; i++) {
		at[n++] = INSN_LDX(BPF_DW, BPF_REG_1, BPF_REG_10, stack + 8 * (int)i);
		at[n++] = INSN_ATOMIC(BPF_DW, BPF_XCHG, BPF_REG_8, 8 * i, BPF_REG_1);
	}
	for (i = 0; i < 3; i++)
		at[to_end[i]].off = (int16_t)(n - to_end[i] - 1);
	at[n++] = INSN_MOV64_IMM(BPF_REG_0, 0);
	at[n++] = INSN_EXIT();
	return n;
}

static int load_iterator(const struct weft_map_reader *r, bool exchange, int *fd,
			 struct weft_error *err)
{
	static _Atomic uint32_t known_id; /* of the iterator's function in this kernel */
	struct bpf_insn insns[40 + 5 * EXCHANGE_WORDS];
	struct weft_load_class load = {
		.struct_size = sizeof(load),
		.prog_type = BPF_PROG_TYPE_TRACING,
		.expected_attach_type = BPF_TRACE_ITER,
		.attach_btf_id = known_id,
	};
	size_t n;
	int ret;

	if (!load.attach_btf_id) {
		ret = weft_btf_find_func("bpf_iter_bpf_map_elem", &load.attach_btf_id, err);
		if (ret)
			return ret;
		known_id = load.attach_btf_id;
	}
	n = exchange ? emit_exchange(insns, r->key_size, r->value_size)
		     : emit_look(insns, r->key_size, r->value_size);
	return weft_program_load_own("weft_read", &load, insns, (uint32_t)n, fd, err);
}

int weft_map_reader_create(int map_fd, const struct weft_map_spec *spec, uint32_t n_cpus,
			   bool exchange, struct weft_map_reader **out, struct weft_error *err)
{
	union bpf_iter_link_info target = {.map.map_fd = (uint32_t)map_fd};
	size_t seq_size = 8 * (size_t)sysconf(_SC_PAGESIZE);
	struct weft_map_reader *r;
	int prog_fd, ret;

	r = calloc(1, sizeof(*r));
	if (!r)
		return weft_nomem(err);
	r->link_fd = -1;
	r->key_size = spec->key_size;
	r->value_size = spec->value_size;
	if (spec->type == BPF_MAP_TYPE_PERCPU_HASH)
		r->value_size = (size_t)n_cpus * ((spec->value_size + 7u) & ~7u);
	r->element_size = r->key_size + r->value_size;
	if (r->element_size > seq_size / 2 ||
	    (exchange && (spec->type != BPF_MAP_TYPE_HASH || r->value_size % 8 ||
			  r->value_size > EXCHANGE_WORDS * sizeof(uint64_t)))) {
		ret = weft_fail(err, -E2BIG, "MAP_READER",
				"the map %s cannot be read while probes are attached: its elements "
				"have %zu bytes",
				spec->name, r->element_size);
		goto failed;
	}
	r->read_size = seq_size - r->element_size - 1;
	r->buffer = malloc(r->element_size + r->read_size);
	if (!r->buffer) {
		ret = weft_nomem(err);
		goto failed;
	}
	ret = load_iterator(r, exchange, &prog_fd, err);
	if (ret)
		goto failed;
	r->link_fd = weft_bpf_iter_link(prog_fd, &target);
	close(prog_fd);
	if (r->link_fd < 0) {
		ret = weft_fail(err, r->link_fd, "MAP_READER",
				"the map %s cannot be read while probes are attached: %s",
				spec->name, strerror(-r->link_fd));
		goto failed;
	}
	*out = r;
	return 0;
failed:
	weft_map_reader_destroy(r);
	return ret;
}

void weft_map_reader_destroy(struct weft_map_reader *r)
{
	if (!r)
		return;
	if (r->link_fd >= 0)
		close(r->link_fd);
	free(r->buffer);
	free(r);
}

int weft_map_reader_run(struct weft_map_reader *r,
			int (*fn)(const void *key, const void *value, void *arg), void *arg,
			struct weft_error *err)
{
	size_t held = 0, at;
	ssize_t n;
	int fd, ret = 0;

	fd = weft_bpf_iter_create(r->link_fd);
	if (fd < 0)
		return weft_fail(err, fd, "MAP_READER", "reading a map by iterator failed: %s",
				 strerror(-fd));
	for (;;) {
		n = read(fd, r->buffer + held, r->read_size);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			break;
		held += (size_t)n;
		for (at = 0; held - at >= r->element_size && !ret; at += r->element_size)
			ret = fn(r->buffer + at, r->buffer + at + r->key_size, arg);
		if (ret)
			break;
		held -= at;
		memmove(r->buffer, r->buffer + at, held);
	}
	if (n < 0)
		ret = weft_fail(err, -errno, "MAP_READER", "reading a map by iterator failed: %s",
				strerror(errno));
	else if (!ret && held)
		ret = weft_fail(err, -EBADMSG, "MAP_READER",
				"reading a map by iterator ended within an element");
	close(fd);
	return ret;
}
