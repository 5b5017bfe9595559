/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * weft/provider.h: the boundary between weft's core and a provider plugin.
 *
 * A provider knows one kind of probe: where such probes are, how the kernel is asked for the event,
 * where the values lie when it fires. It knows nothing of clauses, of BPF code or of output. The
 * core knows those and no kind of probe. Everything they say to each other is in this file, which
 * needs no other header of weft's and no library.
 *
 * Rules that hold for every struct below:
 *
 *  - The first member is struct_size, the sizeof of the struct as its *writer* was compiled. The
 *    reader reads a member only if struct_size covers it, and takes a missing member as zero.
 *  - Structs are append-only: members are added at the end, never moved, resized or removed. A
 * struct that lies inside another cannot grow there: it has reserved words at its end instead,
 * which are zero until they are given a meaning, and its struct_size may be left zero.
 *  - Handles (struct weft_registry, weft_probe, weft_params, weft_error) are opaque; reach into
 *    them with the functions of struct weft_host.
 *  - Functions return 0 or a negative errno. Before returning an error they describe it with
 *    host->fail(); an error without a description is reported as the plugin's defect.
 *  - Every slot is called on one thread, one call at a time.
 *  - A pointer handed to a function is valid until the function returns, unless said otherwise.
 *
 * plugins/ABI.md tells the same as a story, with the rule for versions.
 */
#ifndef WEFT_PROVIDER_H
#define WEFT_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A version is major << 16 | minor. A core loads plugins from WEFT_ABI_OLDEST to WEFT_ABI_CURRENT.
 * Major 0 is the draft: it becomes 1.0 when the built-in providers have all been written on it. */
#define WEFT_ABI(major, minor)  (((uint32_t)(major) << 16) | (uint32_t)(minor))
#define WEFT_ABI_MAJOR(version) ((uint32_t)(version) >> 16)
#define WEFT_ABI_MINOR(version) ((uint32_t)(version)&0xffffu)
#define WEFT_ABI_CURRENT        WEFT_ABI(0, 2)
#define WEFT_ABI_OLDEST         WEFT_ABI(0, 2)

#define WEFT_EXPORT __attribute__((visibility("default")))

/* The name of the one symbol that a plugin exports: WEFT_EXPORT const struct weft_provider
 * weft_provider_plugin = { ... }. It is data, so that it can be judged before any code runs. */
#define WEFT_PROVIDER_SYMBOL "weft_provider_plugin"

struct weft_error;    /* where a failing call leaves its reasons; owned by the caller */
struct weft_registry; /* the session's probes, seen as this provider: it adds only under its name */
struct weft_probe;    /* one probe in the registry; the pointer lives as long as the registry */
struct weft_params;   /* option values, checked against the provider's own table */
struct weft_instance; /* the provider's own state; defined by the plugin */
struct weft_attachment; /* what one attach() made; defined by the plugin */

/* ---- probe descriptions ------------------------------------------------------------------ */

/* A 4-tuple; this struct is frozen. In a description of a probe every field is its exact text, ""
 * where the provider leaves it empty. Never NULL. */
struct weft_probe_desc {
	uint32_t struct_size;
	uint32_t reserved;
	const char *provider;
	const char *module;
	const char *function;
	const char *name;
};

/* ---- options ------------------------------------------------------------------------------ */

enum weft_option_type {
	WEFT_OPTION_BOOL = 1, /* true | false */
	WEFT_OPTION_INT = 2,  /* decimal, within min..max */
	WEFT_OPTION_STRING = 3,
	WEFT_OPTION_ENUM = 4,     /* one of choices */
	WEFT_OPTION_DURATION = 5, /* 5us, 1ms, 2s ...; read as ns, within min..max */
	WEFT_OPTION_SIZE = 6,     /* 4k, 1m ...; read as bytes, within min..max */
};

#define WEFT_OPTION_PER_SET   1u /* providers: {NAME: {option: value}} */
#define WEFT_OPTION_PER_PROBE 2u /* with: {option: value} on a probe */

/* One option. Strings are static: they live as long as the plugin is loaded. */
struct weft_option_spec {
	uint32_t struct_size;
	uint32_t type;  /* enum weft_option_type */
	uint32_t where; /* WEFT_OPTION_PER_SET | WEFT_OPTION_PER_PROBE */
	uint32_t reserved;
	const char *name;         /* [a-z][a-z0-9_]* */
	const char *default_text; /* as a user would write it; NULL: none, the option is then unset */
	const char *choices;      /* for ENUM: "exact|cheap"; else NULL */
	const char *help;         /* one sentence */
	int64_t min, max;         /* both 0: unbounded */
};

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

/* ---- what a program needs to know of a probe ----------------------------------------------- */

#define WEFT_LOAD_SLEEPABLE     1u /* the program may be loaded sleepable (BPF_F_SLEEPABLE) */
#define WEFT_LOAD_COOKIE        2u /* the context has an attach cookie */
#define WEFT_LOAD_ONE_PER_PROBE 4u /* the kernel links such a program to one probe only */

/* How the context pointer of the program is to be read. */
enum weft_ctx_kind {
	WEFT_CTX_NONE = 0,       /* nothing in it */
	WEFT_CTX_REGS = 1,       /* struct pt_regs (kprobe, uprobe) */
	WEFT_CTX_WORDS = 2,      /* an array of 64-bit words (raw tracepoint, fentry) */
	WEFT_CTX_RECORD = 3,     /* a struct of fields (tracepoint) */
	WEFT_CTX_PERF_EVENT = 4, /* struct bpf_perf_event_data: pt_regs, then period and address */
};

struct weft_load_class {
	uint32_t struct_size;
	uint32_t prog_type;            /* BPF_PROG_TYPE_* */
	uint32_t expected_attach_type; /* BPF_*; 0 for none */
	uint32_t flags;                /* WEFT_LOAD_* */
	uint32_t attach_btf_id;        /* 0 for none */
	int32_t attach_btf_fd;         /* BTF object of attach_btf_id; 0: vmlinux */
	uint32_t ctx_kind;             /* enum weft_ctx_kind */
	uint32_t ctx_size; /* bytes that may be read; 0: what the kind implies, for WORDS 0 */
	uint64_t reserved_words[2];
};

enum weft_identity_kind {
	WEFT_IDENTITY_CONST = 0,  /* the program is compiled for this one probe */
	WEFT_IDENTITY_COOKIE = 1, /* the attach cookie */
	WEFT_IDENTITY_FIELD = 2, /* key[0] yields a value; this probe is the one whose .value it is;
				  * a firing whose value belongs to no enabled probe is none */
	WEFT_IDENTITY_MAP = 3, /* keys yield the key of a BPF map that the provider owns (a hash or
				* an array, of each CPU or not) and whose value begins with the u64
				* cookie; no element: not a firing */
};

#define WEFT_IDENTITY_MAX_KEYS 4u

struct weft_identity {
	uint32_t struct_size;
	uint32_t kind;   /* enum weft_identity_kind */
	uint64_t value;  /* FIELD */
	int32_t map_fd;  /* MAP: stays the provider's; valid until close() */
	uint32_t n_keys; /* FIELD: 1; MAP: 1..WEFT_IDENTITY_MAX_KEYS */
	uint32_t key_size[WEFT_IDENTITY_MAX_KEYS]; /* MAP: 4 or 8 bytes each, packed in order;
						    * 4-byte keys must keep 8-byte ones aligned */
	struct weft_location key[WEFT_IDENTITY_MAX_KEYS]; /* an absent location stands for the tgid */
	uint64_t reserved_words[2];
};

/* Whom the event that attach() makes fires for. */
enum weft_scope {
	WEFT_SCOPE_NONE = 0,   /* everyone: the core checks its set of target processes */
	WEFT_SCOPE_COARSE = 1, /* the targets and perhaps more: the core checks too */
	WEFT_SCOPE_EXACT = 2,  /* only the targets, or the probe is not about processes (a timer) */
};

enum weft_pairing_role {
	WEFT_PAIRING_NONE = 0,
	WEFT_PAIRING_ENTRY = 1,
	WEFT_PAIRING_RETURN = 2,
};

/* Entry and return of one activation. Frames are matched by frame identity, the stack pointer at
 * the moment of the call; a constant where activations of a thread cannot nest (a system call). */
struct weft_pairing {
	uint32_t struct_size;
	uint32_t role;                /* enum weft_pairing_role */
	struct weft_probe_desc entry; /* RETURN: the probe that fires at its entry */
	struct weft_location frame;
	uint64_t reserved_words[2];
};

/* A probe that fires by the clock: every period_ns on each CPU that it is attached on, in a context
 * that nothing of its own interrupts. `due` yields the time at which the firing was due, in ns; of
 * two firings on a CPU it differs by a multiple of the period. The core counts the times that were
 * due and brought no firing as FIRINGS_MISSED. `done` of the attach request is then the number of
 * CPUs. Where the running kernel has none of the members that `due` names, nothing is counted. */
struct weft_schedule {
	uint32_t struct_size;
	uint32_t reserved;
	uint64_t period_ns; /* 0: the probe does not fire by the clock */
	struct weft_location due;
	uint64_t reserved_words[2];
};

/* What probe_info() says. The core copies all of it before it calls the plugin again, so pointers
 * may lead into storage that the next call of probe_info() reuses. */
struct weft_probe_info {
	uint32_t struct_size; /* set by the core: its own sizeof; the plugin writes no further */
	uint32_t scope;       /* enum weft_scope */
	struct weft_load_class load;
	const struct weft_arg *args;
	uint32_t n_args;
	uint32_t arg_size;          /* sizeof(struct weft_arg) as the plugin saw it */
	struct weft_location guard; /* yields 0: the firing is not this provider's and is ignored */
	struct weft_identity identity;
	struct weft_pairing pairing;
	struct weft_arg_type retval_type; /* with RETVAL below; kind 0: no return value */
	struct weft_location retval;
	const char *prototype; /* for `list -v`, or NULL */
	struct weft_schedule schedule;
	/* Where sites of the probe differ in their arguments: a layout for each kind of site. args is
	 * then not looked at. attach() is given each layout by its index. Not for probes of a pair. */
	const struct weft_layout *layouts;
	uint32_t n_layouts;
	uint32_t layout_size; /* sizeof(struct weft_layout) as the plugin saw it */
	/* Set by the core: nobody is going to use arguments, value returned and prototype of this
	 * probe. They may be left out, and should be where they take time or set probes apart that
	 * are alike otherwise. Everything else must be the same either way. */
	uint32_t brief;
};

/* ---- attaching ----------------------------------------------------------------------------- */

/* What else a program looks at beside arguments. */
#define WEFT_USES_REGS   1u /* all registers of the context, as they are */
#define WEFT_USES_USTACK 2u /* the user stack */
#define WEFT_USES_MEMORY 4u /* the process's memory */
#define WEFT_USES_FRAME  8u /* the frame identity of a pairing */

struct weft_attach_probe {
	const struct weft_probe *probe;
	uint64_t cookie;
	const struct weft_params *with; /* the probe's own options; never NULL */
	/* What the program asks of this probe. A provider that may choose among places can take one
	 * where nothing else holds any more. Where probe_size does not cover them: everything. */
	uint64_t used_args; /* bit i: argument i */
	uint32_t uses;      /* WEFT_USES_* */
	/* Of a probe with layouts: the one whose sites this is about. The same probe may be there
	 * again for its other layouts, with other cookies, or come with another program. */
	uint32_t layout;
};

/* The target of the session: the processes it is about. */
struct weft_target {
	uint32_t struct_size;
	uint32_t follow;     /* not 0: and all that they start */
	const int32_t *pids; /* in the tracer's pid namespace; a -c command's among them */
	uint32_t n_pids;     /* 0: the whole system */
	uint32_t reserved;
	/* What a -c command will run, NULL-terminated, or NULL. It is known from open() on; the
	 * command's pid is among pids from attach() on. command[0] is as execvp() takes it. */
	const char *const *command;
};

struct weft_attach_request {
	uint32_t struct_size;
	int32_t prog_fd; /* stays the core's; dup it to use it after attach() */
	const struct weft_attach_probe *probes; /* an array with stride probe_size */
	uint32_t n_probes;
	uint32_t probe_size;
	int32_t *status; /* the plugin writes 0 or -errno for each probe; preset to 0 */
	/* How complete the attachment is, for the report "attached on 7 of 8 CPUs": written by the
	 * plugin where it has something to say, preset to 0 and NULL. unit is static text. */
	uint32_t *done, *total;
	const char **unit;
};

static inline const struct weft_attach_probe *weft_attach_probe_at(
	const struct weft_attach_request *request, uint32_t i)
{
	return (const struct weft_attach_probe *)((const char *)request->probes +
						  (size_t)i * request->probe_size);
}

/* ---- what the core does for a provider ------------------------------------------------------ */

enum weft_log_level {
	WEFT_LOG_DEBUG = 0,
	WEFT_LOG_INFO = 1,    /* shown with -v */
	WEFT_LOG_WARNING = 2, /* always shown */
};

enum weft_process_event_kind {
	WEFT_PROCESS_FORK = 1,
	WEFT_PROCESS_EXEC = 2,
	WEFT_PROCESS_EXIT = 3,
	WEFT_PROCESS_MMAP = 4, /* an executable mapping of a file */
};

struct weft_process_event {
	uint32_t struct_size;
	uint32_t kind;                         /* enum weft_process_event_kind */
	uint64_t time_ns;                      /* CLOCK_MONOTONIC */
	int32_t pid;                           /* thread group id */
	int32_t parent;                        /* FORK: thread group id of the parent */
	uint64_t address, length, file_offset; /* MMAP: bytes */
	uint64_t inode;                        /* MMAP */
	uint32_t device_major, device_minor;   /* MMAP */
	const char *text; /* EXEC: the new command name; MMAP: the path as the process sees it */
	const uint8_t *build_id; /* MMAP; NULL where unknown */
	uint32_t build_id_size;
	uint32_t reserved;
};

/* ---- types of the kernel --------------------------------------------------------------------- */

enum weft_btf_kind {
	WEFT_BTF_INT = 1,
	WEFT_BTF_STRUCT = 4,
	WEFT_BTF_UNION = 5,
	WEFT_BTF_ENUM = 6, /* of 32 or 64 bits */
	WEFT_BTF_TYPEDEF = 8,
	WEFT_BTF_FUNC = 12,
};

#define WEFT_FUNC_PARAM_BY_VALUE 1u /* a struct, union or array itself, not its address */

/* A parameter, or what a function returns. */
struct weft_func_param {
	uint32_t struct_size;
	uint32_t flags;            /* WEFT_FUNC_PARAM_* */
	const char *name;          /* NULL where it has none */
	struct weft_arg_type type; /* as an argument wants it, text included. INT: integers. BTF:
				    * pointers (size 8; space USER where the kernel tags them so),
				    * enums, structs. Kind 0: void, a float, too wide to be read */
	uint32_t size;             /* bytes in C; 0: void */
	uint32_t reserved;
	uint64_t reserved_words[2];
};

#define WEFT_FUNC_VARIADIC 1u /* more arguments follow params */
#define WEFT_FUNC_NO_ATTACH                                                       \
	2u /* btf_fd does for types, but the kernel takes no program with it: the \
	    * caller may not see its objects (CAP_SYS_ADMIN) */

/* A function's type. Pointers are valid until the slot that asked returns. */
struct weft_func_info {
	uint32_t struct_size; /* set by the caller: its own sizeof; no further is written */
	uint32_t flags;       /* WEFT_FUNC_* */
	int32_t btf_fd;       /* 0: vmlinux; else the core's, valid until close() */
	uint32_t func_id;     /* of the FUNC: attach_btf_id; 0 where only a type was asked about */
	uint32_t proto_id;
	uint32_t n_params;
	uint32_t param_size; /* sizeof(struct weft_func_param) as the core has it */
	uint32_t reserved;
	const struct weft_func_param *params; /* an array with stride param_size */
	const struct weft_func_param *result; /* its kind and size 0: void */
	const char *prototype;                /* "ssize_t vfs_read(struct file *file, ...)" */
	uint64_t reserved_words[2];
};

static inline const struct weft_func_param *weft_func_param_at(const struct weft_func_info *f,
							       uint32_t i)
{
	return (const struct weft_func_param *)((const char *)f->params + (size_t)i * f->param_size);
}

struct weft_type_info {
	uint32_t struct_size; /* set by the caller */
	int32_t btf_fd;
	uint32_t btf_id;
	uint32_t size;                    /* bytes; 0: incomplete, or a function */
	const struct weft_arg_type *type; /* valid as above */
	uint64_t reserved_words[2];
};

/* ---- ELF files ------------------------------------------------------------------------------ */

/*
 * What host->elf_read() learned of an ELF file. The file is a stranger's: it was parsed in a locked
 * child process, and all that is below was checked again by the core, so that
 *
 *  - every string ends within WEFT_ELF_MAX_NAME bytes; none is NULL unless its comment says so.
 *    Strings are bytes, not UTF-8, and may be empty or repeat;
 *  - symbols[i].section is a valid index or WEFT_ELF_NO_SECTION, orders hold, and offsets that
 *    are given lie inside the file.
 *
 * That the numbers are *true* nobody can promise: the file's author chose them.
 *
 * Arrays come with a stride: use weft_elf_symbol_at() and its like below, since elements grow.
 * Addresses are virtual addresses as linked, offsets are bytes from the beginning of the file. A
 * uprobe wants offsets. All of it is constant and lives until host->elf_release().
 */
#define WEFT_ELF_MAX_NAME   16384u
#define WEFT_ELF_NO_OFFSET  UINT64_MAX /* not in the file (.bss), or in no segment */
#define WEFT_ELF_NO_SECTION UINT32_MAX

/* What to read. What was not asked for may be there nevertheless. */
#define WEFT_ELF_WANT_FUNCTIONS 1u /* symbols: functions, indirect functions, code without type */
#define WEFT_ELF_WANT_DATA      2u /* symbols: variables, thread-local ones too */
#define WEFT_ELF_WANT_DEMANGLED 4u /* ... with demangled and plain names (C++, Rust) */
#define WEFT_ELF_WANT_NOTES     8u /* all notes of all note sections */
#define WEFT_ELF_WANT_DEBUG     16u /* symbols of a separate debug file too, if there is no .symtab */
/* Always read: everything that is no array, segments, sections. */

struct weft_elf_request {
	uint32_t struct_size;
	int32_t fd; /* an open regular file; stays the caller's and may be closed after the call */
	uint32_t want; /* WEFT_ELF_WANT_* */
	uint32_t reserved;
	const char *path; /* for messages; for DEBUG also the place beside which one is looked for,
			   * as seen from root. NULL: "this file" */
	const char *root; /* DEBUG: where the file's own file system begins ("/proc/123/root"),
			   * looked into before ours. NULL: ours only */
};

struct weft_elf_segment {       /* of those that are loaded (PT_LOAD), ordered as in the file */
	uint64_t address, size; /* in memory */
	uint64_t offset, file_size;
	uint32_t flags; /* PF_X 1, PF_W 2, PF_R 4 */
	uint32_t reserved;
};

struct weft_elf_section {
	const char *name;
	uint64_t address; /* 0: not loaded */
	uint64_t offset, size;
	uint64_t flags; /* SHF_* */
	uint32_t type;  /* SHT_*; NOBITS (8) has no bytes in the file */
	uint32_t reserved;
};

enum weft_elf_source {
	WEFT_ELF_SYMTAB = 1,    /* the file's .symtab */
	WEFT_ELF_DYNSYM = 2,    /* its .dynsym */
	WEFT_ELF_DEBUGDATA = 3, /* the .symtab inside its .gnu_debugdata */
	WEFT_ELF_DEBUG_FILE = 4 /* the .symtab of its separate debug file */
};

#define WEFT_ELF_DEFAULT_VERSION 1u /* sym@@VERSION rather than sym@VERSION */

/* A defined symbol. Aliases (several names of one address) and namesakes (one name at several
 * addresses) are all here; one name in several tables with one address is here once. */
struct weft_elf_symbol {
	const char *name;      /* as linked, without a version */
	const char *version;   /* NULL: none */
	const char *demangled; /* "ns::type::f(int) const"; NULL: not mangled, or not wanted */
	const char *plain;     /* the same without parameters: "ns::type::f"; NULL like demangled */
	const char *unit; /* of a local symbol: the source file that the linker noted; or NULL */
	uint64_t address;
	uint64_t size;   /* 0: not said */
	uint64_t offset; /* of address, by the segments; WEFT_ELF_NO_OFFSET */
	uint32_t section;
	uint32_t flags;     /* WEFT_ELF_DEFAULT_VERSION */
	uint8_t type;       /* STT_*: NOTYPE 0, OBJECT 1, FUNC 2, TLS 6, GNU_IFUNC 10: address is
			     * then the resolver's, which runs once and returns the function's */
	uint8_t binding;    /* STB_*: LOCAL 0, GLOBAL 1, WEAK 2, GNU_UNIQUE 10 */
	uint8_t visibility; /* STV_*: DEFAULT 0, INTERNAL 1, HIDDEN 2, PROTECTED 3 */
	uint8_t source;     /* enum weft_elf_source */
	uint32_t reserved[3];
};

struct weft_elf_note {
	const char *section;  /* "" where notes were found by segment */
	const char *name;     /* the owner: "stapsdt", "GNU" */
	const uint8_t *bytes; /* the description; not aligned */
	uint32_t size;        /* of it, at most 64 KiB */
	uint32_t type;
	uint64_t offset;  /* of the description in the file */
	uint64_t address; /* of it in memory; 0: not loaded */
};

#define WEFT_ELF_STATIC 1u /* neither interpreter nor needed libraries */
#define WEFT_ELF_PIE    2u /* an executable that is loaded anywhere */
#define WEFT_ELF_STRIPPED \
	4u /* no .symtab in the file itself; symbols may have come from elsewhere */

struct weft_elf {
	uint32_t struct_size;
	uint32_t flags;   /* WEFT_ELF_STATIC ... */
	uint16_t type;    /* ET_*: REL 1, EXEC 2, DYN 3 (libraries and PIE) */
	uint16_t machine; /* EM_*: x86-64 62, aarch64 183 */
	uint8_t wide;     /* 1: ELFCLASS64; 0: ELFCLASS32 */
	uint8_t big;      /* 1: big-endian */
	uint16_t reserved;
	uint32_t build_id_size; /* 0: none; at most 64 */
	uint32_t dropped;       /* symbols and notes left out for a name or size over the limits */
	const uint8_t *build_id;
	const char *soname;      /* NULL: none */
	const char *interpreter; /* NULL: none */
	const char *debug_file;  /* the separate debug file that was read; NULL: none */
	uint64_t entry;          /* address of the program's first instruction; 0: none */
	uint64_t file_size;
	const struct weft_elf_segment *segments;
	const struct weft_elf_section *sections; /* the first is the null section, as in the file */
	const struct weft_elf_symbol *symbols;   /* ordered by address */
	const struct weft_elf_note *notes;       /* in the file's order */
	uint32_t n_segments, n_sections, n_symbols, n_notes;
	uint32_t segment_size, section_size, symbol_size, note_size; /* the strides */
};

static inline const struct weft_elf_segment *weft_elf_segment_at(const struct weft_elf *elf,
								 uint32_t i)
{
	return (const struct weft_elf_segment *)((const char *)elf->segments +
						 (size_t)i * elf->segment_size);
}

static inline const struct weft_elf_section *weft_elf_section_at(const struct weft_elf *elf,
								 uint32_t i)
{
	return (const struct weft_elf_section *)((const char *)elf->sections +
						 (size_t)i * elf->section_size);
}

static inline const struct weft_elf_symbol *weft_elf_symbol_at(const struct weft_elf *elf,
							       uint32_t i)
{
	return (const struct weft_elf_symbol *)((const char *)elf->symbols +
						(size_t)i * elf->symbol_size);
}

static inline const struct weft_elf_note *weft_elf_note_at(const struct weft_elf *elf, uint32_t i)
{
	return (const struct weft_elf_note *)((const char *)elf->notes + (size_t)i * elf->note_size);
}

/* Where an address lies in the file, by the segments; WEFT_ELF_NO_OFFSET: in none. */
static inline uint64_t weft_elf_offset(const struct weft_elf *elf, uint64_t address)
{
	uint32_t i;

	for (i = 0; i < elf->n_segments; i++) {
		const struct weft_elf_segment *s = weft_elf_segment_at(elf, i);

		if (address >= s->address && address - s->address < s->file_size)
			return s->offset + (address - s->address);
	}
	return WEFT_ELF_NO_OFFSET;
}

/* The reverse: 1 and *address, or 0 if no segment holds that byte. An executable segment is
 * preferred, since a linker may put one byte of a page into two segments. */
static inline int weft_elf_address(const struct weft_elf *elf, uint64_t offset, uint64_t *address)
{
	int found = 0;
	uint32_t i;

	for (i = 0; i < elf->n_segments; i++) {
		const struct weft_elf_segment *s = weft_elf_segment_at(elf, i);

		if (offset < s->offset || offset - s->offset >= s->file_size)
			continue;
		if (found && !(s->flags & 1))
			continue;
		*address = s->address + (offset - s->offset);
		found = 1;
		if (s->flags & 1)
			break;
	}
	return found;
}

/* The first symbol at or above an address (n_symbols: none): symbols are ordered. */
static inline uint32_t weft_elf_symbol_from(const struct weft_elf *elf, uint64_t address)
{
	uint32_t low = 0, high = elf->n_symbols;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (weft_elf_symbol_at(elf, middle)->address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What debugging information says of a function, as probe_info wants it: names, types, and places
 * at the function's first instruction, by the calling convention of the file's machine. */
struct weft_elf_function {
	uint32_t struct_size;
	int32_t status; /* 0; -ENOENT: nothing is known of a function there */
	uint64_t address;
	const char *prototype; /* "ssize_t f(int fd, const char *buf)"; NULL with a status */
	const char *file;      /* of the declaration; NULL: not said */
	uint32_t line;         /* 0: not said */
	uint32_t n_args;
	const struct weft_arg *args; /* stride arg_size */
	uint32_t arg_size;
	uint32_t variadic;                /* not 0: "..." follows the arguments */
	struct weft_arg_type retval_type; /* kind 0: void, or not in a register */
	struct weft_location retval;
};

struct weft_host {
	uint32_t struct_size;
	uint32_t abi_version;
	void *core; /* the core's; not for plugins */

	/* Errors. fail() records a reason with a stable tag (SHOUTING_SNAKE) and returns code, so
	 * that `return host->fail(err, -EINVAL, "PROFILE_RATE_ZERO", "...", ...)` reads well.
	 * context() adds what the caller was doing to the reason that a callee left. */
	int (*fail)(struct weft_error *, int code, const char *tag, const char *format, ...)
		__attribute__((format(printf, 4, 5)));
	void (*context)(struct weft_error *, const char *format, ...)
		__attribute__((format(printf, 2, 3)));
	void (*log)(const struct weft_host *, enum weft_log_level, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

	/* The registry. probe_add() copies the description's module, function and name; the
	 * provider is the caller's own. data is the provider's to use. -EEXIST: already there (its
	 * data stays); *out, where wanted, is set to the probe in both cases. */
	int (*probe_add)(struct weft_registry *, const struct weft_probe_desc *, uint64_t data,
			 const struct weft_probe **out, struct weft_error *);
	const struct weft_probe *(*probe_find)(struct weft_registry *,
					       const struct weft_probe_desc *);
	void (*probe_retire)(struct weft_registry *, const struct weft_probe *);
	uint64_t (*probe_data)(const struct weft_probe *);
	/* Fills in borrowed strings that live as long as the registry. */
	void (*probe_desc)(const struct weft_probe *, struct weft_probe_desc *out);

	/* Options: the value given, else the default. The name must be in the provider's table.
	 * *_is_set() tells whether there is either. Strings are borrowed and live as long as params. */
	int (*param_is_set)(const struct weft_params *, const char *name);
	int64_t (*param_int)(const struct weft_params *,
			     const char *name); /* BOOL, INT, DURATION, SIZE */
	const char *(*param_string)(const struct weft_params *, const char *name); /* STRING, ENUM */

	/* The session's target; lives until close(). */
	const struct weft_target *(*target)(const struct weft_host *);

	/* Events that were lost: counted under tag, reported at the end, exit status 3. */
	void (*loss)(const struct weft_host *, const char *tag, uint64_t count, const char *detail);

	/* An empty program (`return 0`) of the class given, to try an attachment with. A file
	 * descriptor that the caller closes, or -errno. */
	int (*trial_program)(const struct weft_host *, const struct weft_load_class *,
			     struct weft_error *);

	/* Asks for process events from now until close(). Called between slots, on the same thread,
	 * in time order; events lost are counted by the core under PROCESS_EVENTS_LOST. */
	int (*watch_processes)(const struct weft_host *,
			       void (*event)(struct weft_instance *,
					     const struct weft_process_event *),
			       struct weft_instance *, struct weft_error *);

	/* Whether a field of a pattern, which may be a glob, matches a whole text; an empty one
	 * matches any. */
	int (*field_match)(const char *field, const char *text);

	/* Types of the kernel, by name. module NULL, "" or "vmlinux": the kernel's own; a module's
	 * name: what that module adds. Needs no privilege where /sys/kernel/btf can be read. The
	 * first question costs what opening the type information costs, about a millisecond.
	 * -ENOENT, with the reason: no such function or type (BTF_NOT_FOUND), several functions of
	 * that name (BTF_AMBIGUOUS), no such module (BTF_MODULE), a kernel without (BTF_MISSING).
	 * err may be NULL where the reason does not matter. */
	int (*kernel_function)(const struct weft_host *, const char *module, const char *name,
			       struct weft_func_info *out, struct weft_error *);
	int (*kernel_type)(const struct weft_host *, const char *module, const char *name,
			   uint32_t kind, struct weft_type_info *out, struct weft_error *);
	/* The same for a type that is known by number: a function, its prototype, or a pointer or
	 * typedef that leads to one ("btf_trace_NAME", whose first parameter is the tracepoint's own). */
	int (*function_type)(const struct weft_host *, int32_t btf_fd, uint32_t btf_id,
			     struct weft_func_info *out, struct weft_error *);

	/* ELF files. elf_read() parses an open file in a locked child process and hands out what
	 * `want` asks for; nothing is invented: a file that cannot be read whole is an error
	 * (ELF_*), and costs nothing but itself. *out lives until elf_release(), which accepts
	 * NULL. A file that was read before and did not change may be answered from memory. */
	int (*elf_read)(const struct weft_host *, const struct weft_elf_request *,
			const struct weft_elf **out, struct weft_error *);
	void (*elf_release)(const struct weft_host *, const struct weft_elf *);

	/* Types of functions, many at a time, since each call costs a process: addresses are those
	 * of function symbols, fd is the same file. *out is an array of n with stride
	 * out[0]->struct_size (the order of addresses), and lives until the elf is released. BTF
	 * types in it belong to one BTF object whose descriptor the core keeps open as long. No
	 * debugging information at all is no error: every status is then -ENOENT. */
	int (*elf_functions)(const struct weft_host *, const struct weft_elf *,
			     const struct weft_elf_request *, const uint64_t *addresses, uint32_t n,
			     const struct weft_elf_function **out, struct weft_error *);

	/* The offsets of members of kernel structs, in bytes, for programs of the provider's own;
	 * paths as in WEFT_LOC_MEMBER. All are found in one pass over the running kernel's type
	 * information, which takes milliseconds. Fails if one is missing. */
	int (*kernel_members)(const struct weft_host *, const char *const *paths, size_t n,
			      uint32_t *offsets, struct weft_error *);

	/* Calls fn with the name of each function of which the kernel, or a module, has the type; a
	 * result other than 0 ends that and is returned. -ENOENT as above. */
	int (*kernel_functions)(const struct weft_host *, const char *module,
				int (*fn)(void *arg, const char *name), void *arg,
				struct weft_error *);
};

/* ---- the provider --------------------------------------------------------------------------- */

struct weft_provider {
	/* These two are frozen for ever. */
	uint32_t struct_size; /* sizeof(struct weft_provider) */
	uint32_t abi_version; /* WEFT_ABI_CURRENT */

	const char *name;    /* the first field of a probe description: [a-z][a-z0-9-]{0,31} */
	const char *summary; /* one line */
	const struct weft_option_spec *const *options; /* NULL-terminated; NULL: none */

	/* Required. Once per session, before any other slot. Learns what this kernel can do by trying
	 * and settles the mechanisms; must not fail for lack of privilege (check and list run without):
	 * that is attach()'s to say. host lives until close(); params until close(). */
	int (*open)(const struct weft_host *, const struct weft_params *,
		    struct weft_instance **out, struct weft_error *);

	/* Required. Last; after every attachment was detached. Must release everything. */
	void (*close)(struct weft_instance *);

	/* Optional. Registers the probes that exist of themselves. Creates nothing in the kernel.
	 * Called at most once, only if a pattern needs it. */
	int (*populate)(struct weft_instance *, struct weft_registry *, struct weft_error *);

	/* Optional. Asked for a description without globs that nobody registered: registers it if
	 * it makes sense, else fails with the reason. Creates nothing in the kernel. */
	int (*provide)(struct weft_instance *, struct weft_registry *,
		       const struct weft_probe_desc *, struct weft_error *);

	/* Required. Says what a program for this probe needs. Creates nothing in the kernel. out is
	 * zeroed but for out->struct_size. */
	int (*probe_info)(struct weft_instance *, const struct weft_probe *,
			  const struct weft_params *with, struct weft_probe_info *out,
			  struct weft_error *);

	/* Required. Creates the kernel's events and attaches the program to a batch of probes. All
	 * that it made is owned by *out until detach(). Returns 0 if at least one probe was
	 * attached, with request->status saying which; an error means that nothing stays behind. */
	int (*attach)(struct weft_instance *, const struct weft_attach_request *,
		      struct weft_attachment **out, struct weft_error *);

	/* Required. Undoes one attach(); cannot fail. After it no program of that attachment starts. */
	void (*detach)(struct weft_instance *, struct weft_attachment *);

	/* Optional, both or neither. A descriptor that becomes readable when probes may have come
	 * or gone; it stays the provider's. Or -errno if there is nothing to watch. */
	int (*discover_fd)(struct weft_instance *);
	/* Reads it without blocking; registers and retires probes; may extend its own attachments. */
	int (*discover)(struct weft_instance *, struct weft_registry *, struct weft_error *);

	/* Optional. One line for `trace-cli info`: the mechanism in use, and why not another.
	 * Borrowed, valid until the next call. */
	const char *(*describe)(struct weft_instance *);

	/* Optional. Takes the place of populate() where it is too much to register all that exist: it
	 * is called for each pattern that needs more than provide() and registers the probes that
	 * match it. The fields of the pattern are as the user wrote them: globs with their escapes,
	 * "" for any. May fail with the reason why there is none, or none that could be meant; patterns
	 * are then matched with what there is. Creates nothing in the kernel. */
	int (*populate_match)(struct weft_instance *, struct weft_registry *,
			      const struct weft_probe_desc *pattern, struct weft_error *);

	/* Optional. One line for `list -v` about this probe alone: where it is, and how. NULL:
	 * there is nothing to say. Borrowed, valid until the next call. */
	const char *(*probe_note)(struct weft_instance *, const struct weft_probe *,
				  const struct weft_params *with);
};

#ifdef __cplusplus
}
#endif

#endif
