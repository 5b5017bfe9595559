/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Part of weft/provider.h: arguments: where values lie when a probe fires, and their types. */
#ifndef WEFT_ABI_VALUES_H
#define WEFT_ABI_VALUES_H

#include "weft/abi/basics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- values and where they lie ------------------------------------------------------------- */

/* The memory that an address points into. */
enum weft_space { WEFT_SPACE_KERNEL = 0, WEFT_SPACE_USER = 1 };

enum weft_loc_opcode {
	/* push one value */
	WEFT_LOC_CONST = 1,    /* imm */
	WEFT_LOC_CTX = 2,      /* size bytes (1, 2, 4, 8) of the program's context at offset imm */
	WEFT_LOC_CTX_ADDR = 3, /* the address of the context plus imm (kernel memory) */
	WEFT_LOC_REG = 4, /* register imm (DWARF number of the architecture) of the pt_regs that
			   * the context is or begins with; size 1, 2, 4 or 8, from bit aux */
	WEFT_LOC_TASK_REG = 5,  /* the same of the current task's saved user registers */
	WEFT_LOC_COOKIE = 6,    /* the cookie that this probe was attached with */
	WEFT_LOC_KERNEL_PC = 7, /* the interrupted program counter if in the kernel, else 0 */
	WEFT_LOC_USER_PC = 8,   /* the interrupted program counter if in user space, else 0 */
	WEFT_LOC_TIMER_COUNT =
		9,            /* perf_event programs: the event's own counter (ns for cpu-clock) */
	WEFT_LOC_RETVAL = 10, /* the architecture's return value register, size bytes */
	WEFT_LOC_ARG = 11,    /* integer argument imm (0-based) by the architecture's C (for
			       * TASK_REG-like contexts: system call) convention; see flags */
	WEFT_LOC_TIME = 12,   /* CLOCK_MONOTONIC in ns, read once when the firing begins: a clause's
			       * `timestamp` is the same number */
	WEFT_LOC_TASK = 13,   /* the address of the current task's task_struct */
	/* pop one, push one */
	WEFT_LOC_LOAD = 20, /* read size bytes at the popped address (+ imm); kernel or, with
			     * WEFT_LOC_USER, user memory. A failed read is a fault. */
	WEFT_LOC_EXTEND =
		21, /* keep the low size bytes, extended by zero or (WEFT_LOC_SIGNED) sign */
	WEFT_LOC_NEG = 22,
	WEFT_LOC_NOT = 23,    /* bitwise */
	WEFT_LOC_MEMBER = 24, /* the popped address plus the offset of a member of a kernel struct,
			       * names[imm]: "task_struct.tgid". The core finds the offset in the
			       * running kernel's type information, if a clause needs it. A member
			       * of a member that is a struct itself may be named
			       * ("perf_event.hw.hrtimer"), not one behind a pointer; nameless
			       * structs and unions on the way are passed over. */
	/* pop two (a below b), push a OP b; 64-bit, wrapping */
	WEFT_LOC_ADD = 30,
	WEFT_LOC_SUB = 31,
	WEFT_LOC_MUL = 32,
	WEFT_LOC_DIV = 33, /* unsigned; by zero is a fault */
	WEFT_LOC_MOD = 34, /* unsigned; by zero is a fault */
	WEFT_LOC_AND = 35,
	WEFT_LOC_OR = 36,
	WEFT_LOC_XOR = 37,
	WEFT_LOC_SHL = 38, /* the count is taken modulo 64 */
	WEFT_LOC_SHR = 39, /* logical, or arithmetic with WEFT_LOC_SIGNED */
	WEFT_LOC_EQ = 40, /* 1 or 0; the comparisons are unsigned, or signed with WEFT_LOC_SIGNED */
	WEFT_LOC_NE = 41,
	WEFT_LOC_LT = 42,
	WEFT_LOC_LE = 43,
	/* pop three (condition, a, b), push a if condition is not zero, else b */
	WEFT_LOC_SELECT = 50,
	/* stack shuffling */
	WEFT_LOC_DUP = 60, /* push a copy of the top */
	WEFT_LOC_SWAP = 61,
	/* push two: address, then length in bytes */
	WEFT_LOC_DATA_LOC = 70, /* a tracepoint's __data_loc field: the u32 at context offset imm */
};

#define WEFT_LOC_SIGNED 1u /* the value is sign-extended to 64 bits; without it, zero-extended */
#define WEFT_LOC_USER \
	2u /* LOAD: user memory. ARG: of the task's saved registers, as a system call's */

#define WEFT_LOC_MAX_OPS   64u  /* operations of one location */
#define WEFT_LOC_MAX_DEPTH 8u   /* values on its stack at any time */
#define WEFT_LOC_MAX_NAMES 8u   /* names of one location */
#define WEFT_LOC_MAX_NAME  128u /* characters of one, all printable ASCII */

/* One operation; this struct is frozen. */
struct weft_loc_op {
	uint16_t op;   /* enum weft_loc_opcode */
	uint8_t size;  /* bytes, where the operation says so */
	uint8_t flags; /* WEFT_LOC_SIGNED | WEFT_LOC_USER */
	uint32_t aux;  /* REG: first bit (8 for %ah and its like); else 0 */
	int64_t imm;
};

/* A location is a program for a small stack machine, checked by the core before use: it may not
 * underflow, exceed the limits above or read outside the context. It ends with exactly one value on
 * the stack; for WEFT_TYPE_BYTES with exactly two, address below length. This struct is frozen. */
struct weft_location {
	const struct weft_loc_op *ops;
	uint32_t n_ops; /* 0: there is no such location */
	uint32_t n_names;
	const char *const *names; /* the texts that MEMBER refers to */
};

enum weft_type_kind {
	WEFT_TYPE_INT = 1,     /* size 1, 2, 4, 8 and WEFT_TYPE_SIGNED */
	WEFT_TYPE_POINTER = 2, /* an address in .space */
	WEFT_TYPE_STRING = 3,  /* the location yields the address of a NUL-terminated string in
				* .space;  or address and length (DATA_LOC) */
	WEFT_TYPE_BYTES = 4,   /* the location yields address and length */
	WEFT_TYPE_BTF =
		5, /* a kernel or provider BTF type: {btf_fd, btf_id}. The location yields the value
		    * of a pointer, an enum or an integer; of a struct, union or array its address.
		    * .space is the memory that the address lies in or points into */
};

#define WEFT_TYPE_SIGNED 1u

struct weft_arg_type {
	uint32_t struct_size;
	uint32_t kind;  /* enum weft_type_kind */
	uint32_t size;  /* INT: bytes. STRING, BYTES: the most that is copied; 0: options.strsize */
	uint32_t flags; /* WEFT_TYPE_SIGNED */
	uint32_t space; /* enum weft_space */
	uint32_t btf_id; /* BTF: type id */
	int32_t btf_fd;  /* BTF: a BTF object, or a file (a memfd) of its bytes, which needs no
			  * privilege; stays the provider's, valid until close(). 0: vmlinux */
	uint32_t reserved;
	const char *text; /* the type as a person writes it ("struct file *"); NULL: derived */
	uint64_t reserved_words[2];
};

/* One argument. args[i] is argN in clauses, and args.name where it has a name. */
struct weft_arg {
	uint32_t struct_size;
	uint32_t reserved;
	const char *name; /* an identifier, or NULL */
	struct weft_arg_type type;
	struct weft_location where; /* n_ops 0: cannot be read; unreadable says why */
	const char *unreadable;     /* a sentence for the user, or NULL */
};

#define WEFT_MAX_ARGS 64u

/* Some of the sites of a probe that has many (a static probe in an inlined function): those whose
 * arguments lie in the same places. */
struct weft_layout {
	uint32_t struct_size;
	uint32_t n_args;
	const struct weft_arg *args; /* stride arg_size of the probe_info; types may differ too */
	const char *text;            /* the places as people write them, for `list -v`; or NULL */
	uint32_t n_sites;            /* for `list -v` */
	uint32_t reserved;
};

#define WEFT_MAX_LAYOUTS 65536u

#ifdef __cplusplus
}
#endif

#endif
