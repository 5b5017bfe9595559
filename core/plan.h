/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The plan: what the compiler makes and the runtime carries out. It holds maps to create, programs
 * to load, and the layouts by which the consumer reads what programs wrote. No file descriptor
 * appears in it: programs name maps by index, so that everything before load runs without
 * privileges.
 *
 * A plan grows: probes that are discovered while tracing may need further programs, which use the
 * maps that exist (and add aggregations, should a clause be compiled for the first time).
 *
 * Memory that programs and consumer share
 * ---------------------------------------
 *  - STATE: an ARRAY of one element, BPF_F_MMAPABLE: struct weft_control at offset 0, then what
 *    the compiler allots with weft_plan_state(): bytes that stay zero, loss counters (u64,
 *    atomic add) and the slots of aggregations without keys, one for each possible CPU,
 *    WEFT_SLOT_STRIDE bytes apart. Read and written by mmap: no map system call while programs
 *    are attached.
 *  - RING: a BPF ring buffer of records: struct weft_record_header, then the schema's fields.
 *  - SCRATCH: a PERCPU_ARRAY of WEFT_SCRATCH_SLOTS slots { u64 busy; u8 data[] }. A program
 *    claims one by exchanging busy 0 -> 1, tries the next, and counts NESTED when none is free.
 *  - STACKS: a HASH, not preallocated: u64 id -> struct weft_stack_row. id is a 64-bit hash of
 *    the frames and, for user stacks, of {tgid, exec generation}; id 0 stands for the empty
 *    stack. check is an independent hash; where it differs the firing is counted as
 *    STACK_COLLISION.
 *  - EXECGEN: an ARRAY of WEFT_EXECGEN_SLOTS u64, index tgid % slots: a counter that the
 *    process programs increase whenever a process of the slot execs or ends, so that stacks of
 *    different address spaces never share a row.
 *  - TARGETS: a HASH u32 tgid -> u64 1: the processes of the target, as the kernel counts.
 *  - FRAMES: a HASH u64 thread -> the thread's stack of entries (compiler/pairing.h). The key
 *    is the address of the thread's task_struct (kernel/threads.c).
 *  - PROBES: an ARRAY of u64, BPF_F_MMAPABLE, indexed by cookie: bit k is the truth of the k-th
 *    comparison of a probe field with a constant (probefunc == "read").
 *  - DISPATCH: HASHes u64 -> u64 for WEFT_IDENTITY_FIELD, one a group: value -> cookie + 1;
 *    also the maps that providers own (WEFT_IDENTITY_MAP).
 *  - PLACES: an ARRAY for each program of probes whose arguments lie in many places: where they
 *    do, by a number that serves as cookie (compiler/places.h). Written before it is attached.
 *  - AGG: one map for each aggregation with keys (or buckets).
 *  - SELF: a HASH u64 thread -> the cells of the thread's variables, keyed likewise, preallocated.
 *  - ARRAY: a HASH for each array variable: keys -> the element's cell (compiler/lower_state.c).
 *
 * Aggregations
 * ------------
 * Every update is an atomic instruction. Kinds and what a slot or row holds (u64 words):
 *  - count { n }; sum, avg { ended, low, high, begun }: the sum is low + 2^64 * high, where low is
 *    an int64 (of uint64 values a uint64) and high an int64. A program adds to low, and where that
 *    overflowed, which the old value tells it, one to high or from it: each step of low is judged
 *    once, in whatever order programs interleave, so that nothing is lost; and high stays 0 while
 *    64 bits suffice. begun counts a value before anything else is added, ended after everything:
 *    who reads the words in their order and finds the two equal has read a moment at which no
 *    value was half added. ended is the number of values; it tells a sum that has come to 0 from
 *    one of nothing.
 *  - stddev { ended, low, high, q0, q1, q2, begun }: q is the sum of the squares in 192 bits,
 *    carried in the same way.
 *  - min, max { t, extreme }: max: t = x - INT64_MIN for x > INT64_MIN (so t >= 1), extreme = 1
 *    for x == INT64_MIN; min: t = INT64_MAX - x, extreme = 1 for x == INT64_MAX. uint64 values
 *    x are first mapped by x ^ 2^63. All zero: nothing. t only grows, by compare-and-exchange.
 *  - quantize, lquantize, llquantize { n } for each bucket: the key ends with an i32 bucket
 *    (core/buckets.h) at bucket_offset and 4 bytes of zero.
 *
 * All but min and max live in a PERCPU_HASH, summed over CPUs by the consumer; min and max, and all
 * kinds where a row of all CPUs would be too large to be read at once, in a HASH. None is
 * preallocated. Rows are never deleted while programs are attached: clear is the subtraction of a
 * snapshot, and for min and max an atomic exchange with 0 made by the program that reads them.
 * Without keys (and buckets): slots in STATE.
 *
 * Keys and records
 * ----------------
 * Fields in order, an INT at an offset aligned to its size, anything else to 8; gaps are zero, the
 * whole a multiple of 8.
 *  - INT: its size. STRING: cap bytes, NUL-padded. PROBE: u64 cookie.
 *  - STACK: in a key the u64 id; in a record u32 n, u32 tgid, then cap u64 frames, n of them
 *    written.
 *  - BYTES (records only): u32 length, 4 bytes of zero, cap bytes, length of them written.
 *  - SYMBOL: the u64 address; of a process, in a key the u64 id of a stack of that one frame, in a
 *    record u64 address, u32 tgid, 4 bytes of zero.
 *  - INET: its 4 or 16 bytes. CGROUP: its u64 id. REGS (records only): a u64 each, in the order of
 *    reg_names.
 */
#ifndef WEFT_CORE_PLAN_H
#define WEFT_CORE_PLAN_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lang/lang.h"
#include "loss.h"

#define WEFT_SLOT_STRIDE   64u
#define WEFT_SCRATCH_SLOTS 4u
#define WEFT_EXECGEN_SLOTS 16384u
#define WEFT_STATE_SLACK   16384u /* bytes of STATE kept free for programs compiled while running */

/* Offset 0 of STATE. Words that programs set and the consumer reads, never behind a full buffer. */
struct weft_control {
	uint64_t exit_requested; /* 1 once an exit action ran; later ones change nothing */
	uint64_t exit_status;    /* 0..255, written before exit_requested */
	uint64_t enabled;        /* programs return at once while 0; set by the runtime when all are
				  * attached, cleared before detaching; begin and end lists do not look */
	uint64_t live_targets;   /* processes in TARGETS, kept by the process programs */
	uint64_t sequence;       /* increased whenever a show, clear or exit action ran */
	uint64_t exit_claim;     /* the programs' own: whoever sets it first writes exit_status */
	int64_t tai_offset_ns; /* CLOCK_TAI - CLOCK_REALTIME, set by the runtime before it sets enabled;
				* walltimestamp is TAI less this, so that steps of the clock show
				* at once and only a leap second needs the runtime's attention */
	uint64_t reserved[1];
};

enum weft_map_role {
	WEFT_MAP_STATE,
	WEFT_MAP_RING,
	WEFT_MAP_SCRATCH,
	WEFT_MAP_STACKS,
	WEFT_MAP_EXECGEN,
	WEFT_MAP_TARGETS,
	WEFT_MAP_FRAMES,
	WEFT_MAP_PROBES,
	WEFT_MAP_DISPATCH,
	WEFT_MAP_AGG,
	WEFT_MAP_SELF,  /* HASH u64 thread -> the variables of the thread, preallocated */
	WEFT_MAP_ARRAY, /* HASH keys -> the element of an array variable, not preallocated */
	WEFT_MAP_PLACES,
	WEFT_MAP_MAPS, /* ARRAY_OF_MAPS: AGG and ARRAY maps of one shape; core/compiler/far.c */
};

struct weft_map_spec {
	enum weft_map_role role;
	char name[16]; /* BPF_OBJ_NAME_LEN; "weft_" and a short word */
	uint32_t type, key_size, value_size, max_entries, flags;
	bool used;         /* maps of fixed roles are created only if something refers to them */
	int32_t extern_fd; /* -1; else a provider's map (WEFT_IDENTITY_MAP): not created, not closed */
	/* AGG and ARRAY: the MAPS that it is an element of, and which; outer 0: of none. */
	uint32_t outer, slot;
	bool placed; /* and is so in the kernel */
	bool warm;   /* core/kernel/warm.c */
	/* MAPS: a map that has the shape of all, and how many there are. */
	uint32_t inner, n_inner;
};

/* Indexes of the maps that every plan has; those of aggregations and the like follow. */
enum {
	WEFT_PLAN_STATE,
	WEFT_PLAN_RING,
	WEFT_PLAN_SCRATCH,
	WEFT_PLAN_STACKS,
	WEFT_PLAN_EXECGEN,
	WEFT_PLAN_TARGETS,
	WEFT_PLAN_FRAMES,
	WEFT_PLAN_PROBES,
	WEFT_PLAN_FIRST_FREE
};

/* A record in the ring buffer. time_ns is CLOCK_MONOTONIC, taken after the record was reserved;
 * from that the consumer derives time order (consumer/ring.c). */
struct weft_record_header {
	uint64_t time_ns;
	uint32_t schema; /* index into plan->schemas; WEFT_SCHEMA_WAKE: nothing but a reason to look at STATE */
	uint32_t cpu;
	uint64_t cookie; /* which probe */
};
#define WEFT_SCHEMA_WAKE 0xffffffffu

/* Of a row of STACKS; frames are innermost first, exactly as bpf_get_stack gives them. */
struct weft_stack_row {
	uint64_t check;
	uint64_t time_ns; /* when first seen: which address space of the process it belongs to */
	uint32_t tgid; /* user stacks; 0 for kernel stacks. As the kernel counts: initial namespace */
	uint32_t n_frames;
	uint64_t frames[];
};

struct weft_field_layout {
	const char *name;
	struct weft_type type;
	uint32_t offset; /* bytes from the start of the key, or of the record behind its header */
	uint32_t size;
};

struct weft_schema {
	const struct weft_typed_action *action; /* EMIT or PRINTF; format and field names */
	uint32_t clause;
	struct weft_field_layout *fields;
	size_t n_fields;
	uint32_t size; /* bytes behind the header */
};

struct weft_aggregation {
	const char *name;
	enum weft_action_kind kind; /* COUNT .. LLQUANTIZE */
	const char *unit;           /* or NULL */
	struct weft_pos pos;        /* of its first mention */
	struct weft_field_layout *keys;
	size_t n_keys;
	uint32_t key_size;
	int32_t bucket_offset; /* of histograms: in the key; else -1 */
	struct weft_buckets buckets;
	struct weft_view view; /* as the set wants it shown */
	struct weft_type value_type;
	uint32_t value_words;  /* u64 words of a row or slot: weft_value_words() */
	int32_t map;           /* index into plan->maps; -1: slots in STATE */
	uint32_t state_offset; /* map -1: of CPU 0's slot */
};

/* Words of a row or slot, and where among them a sum begins. */
#define WEFT_MOST_WORDS 7u
static inline uint32_t weft_value_words(enum weft_action_kind kind)
{
	switch (kind) {
	case WEFT_ACTION_MIN:
	case WEFT_ACTION_MAX:
		return 2;
	case WEFT_ACTION_SUM:
	case WEFT_ACTION_AVG:
		return 4;
	case WEFT_ACTION_STDDEV:
		return 7;
	default:
		return 1;
	}
}
#define WEFT_SUM_WORD     1u
#define WEFT_SQUARES_WORD 3u /* STDDEV */

/* Where the cell of a variable lies: core/compiler/lower_state.c. */
struct weft_variable {
	const struct weft_state_var *var;
	int32_t map;           /* index; STATE's for a global */
	uint32_t offset;       /* of the cell in the map's value */
	uint32_t key_size;     /* ARRAY */
	uint32_t locks_offset; /* ARRAY that something deletes from: of its words in STATE */
	struct weft_field_layout *keys; /* ARRAY: in the map's key, var->n_keys */
};

/* A place where something can be lost. The counter is the u64 at state_offset. */
struct weft_loss_site {
	enum weft_loss loss;
	uint32_t clause;       /* index; UINT32_MAX: none */
	struct weft_span span; /* the expression or action at fault; text NULL: none */
	uint32_t state_offset;
	uint64_t every; /* SAMPLED_OUT: the word counts all firings, of which each so many-th went on */
};

/* A probe that fires by the clock. u64 words of a slot for each CPU, WEFT_SLOT_STRIDE bytes apart:
 * when its first and its last firing were due (0 while there was none), and how many that were due
 * between did not come. */
#define WEFT_SCHEDULE_FIRST  0
#define WEFT_SCHEDULE_LAST   8
#define WEFT_SCHEDULE_MISSED 16
struct weft_schedule_site {
	uint64_t cookie;
	uint64_t period_ns;
	uint32_t state_offset; /* of CPU 0's slot */
};

/* A show or clear action: the consumer acts when the u64 at state_offset has changed. */
struct weft_control_site {
	const struct weft_typed_action *action;
	uint32_t state_offset;
};

struct weft_program {
	char name[16];
	struct weft_load_class load;
	struct bpf_insn
		*insns; /* ld_imm64 with src_reg BPF_PSEUDO_MAP_FD or _VALUE: imm is a map index */
	struct weft_span *spans; /* one per instruction; text NULL: none */
	uint32_t *clause_of;     /* one per instruction: clause index, UINT32_MAX outside clauses */
	uint32_t n_insns;
	int32_t dispatch_map; /* index of its WEFT_MAP_DISPATCH map; -1: none */
	int32_t places_map;   /* index of its WEFT_MAP_PLACES map; -1: none */
	const void *places;   /* what is to be in it: an element for each of the group's probes */
	/* For explain; NULL: not kept. Typed clauses as text; the intermediate form, a line for
	 * each of its instructions; the line that each BPF instruction was made from. */
	const char *listing, *ir_text;
	uint32_t *ir_of;
	uint64_t decided_bits; /* comparisons of probe fields that were decided when compiling,
				* because all probes of the group agreed: a probe that joins later
				* must agree with them in these bits of weft_plan_probe_bits() */
	uint64_t used_args;    /* bit i: the program evaluates argument i */
	uint32_t uses;         /* WEFT_USES_* */
};

/* A comparison of a probe's field with a constant: bit k of PROBES for the k-th. */
struct weft_comparison {
	enum weft_field field;
	const char *text;
	uint32_t length;
};
#define WEFT_MAX_COMPARISONS 64u

/* A member of a kernel struct, whose offset the kernel's type information tells. */
#define WEFT_MEMBER_PARTS 16u /* names in a path */
enum weft_member_state { WEFT_MEMBER_WANTED, WEFT_MEMBER_KNOWN, WEFT_MEMBER_ABSENT };

struct weft_kernel_member {
	const char *path; /* "task_struct.tgid", "perf_event.hw.hrtimer.node.expires" */
	enum weft_member_state state;
	uint32_t offset; /* KNOWN: bytes */
};

struct weft_plan {
	struct weft_arena *arena;
	const struct weft_set *set;
	struct weft_map_spec *maps;
	size_t n_maps, cap_maps;
	struct weft_schema *schemas;
	size_t n_schemas, cap_schemas;
	struct weft_aggregation *aggregations;
	size_t n_aggregations, cap_aggregations;
	struct weft_loss_site *losses;
	size_t n_losses, cap_losses;
	struct weft_schedule_site *schedules;
	size_t n_schedules, cap_schedules;
	struct weft_control_site *controls;
	size_t n_controls, cap_controls;
	struct weft_variable *variables;
	size_t n_variables, cap_variables;
	int32_t self_map;    /* index of SELF; -1: no thread has variables */
	uint32_t state_size; /* bytes allotted in STATE so far */
	uint32_t state_capacity; /* 0 until STATE is created; then the most that state_size may become */
	struct weft_comparison comparisons[WEFT_MAX_COMPARISONS];
	uint32_t n_comparisons;            /* bits used in PROBES */
	uint32_t zeros_offset, zeros_size; /* bytes of STATE that nobody writes to */
	bool keep_listing;    /* set by who wants weft_plan_explain() to show clauses and IR */
	uint32_t n_cpus;      /* possible CPUs */
	uint32_t entry_words; /* arguments of an entry that a frame has room for */
	uint32_t entry_texts; /* and strings or bytes */
	bool target_check; /* there is a target: programs of scope other than EXACT check TARGETS */
	const char *const *reg_names; /* of `regs`, in the order of a record */
	uint32_t n_regs;
	bool uses_cgroups; /* some program hands out cgroups to be named */
	bool uses_ustack; /* some program interns or emits user stacks: EXECGEN and mappings matter */
	uint64_t pidns_dev,
		pidns_ino; /* the tracer's pid namespace where it is not the initial one; else 0 */
	struct weft_kernel_member *members; /* wanted by what was compiled so far */
	size_t n_members, cap_members;
};

/*
 * One firing group: the probes that one program serves. The clauses in file order.
 *
 * What differs from probe to probe within a group is in probes[], not in info: identity_value
 * (FIELD) and the entry that a return is paired with (info->identity.value and info->pairing.entry
 * are not to be used). Cookies are chosen so that no table is needed for pairs: an entry probe has
 * an even cookie 2k, its return probe 2k + 1; cookie >> 1 names the pair.
 *
 * DISPATCH maps are declared by the compiler and filled by the session before attaching:
 * out->dispatch_map is the plan's map index (-1: none), the key is identity_value, the value is
 * cookie + 1.
 */
struct weft_group {
	const struct weft_probe_info *info; /* of all its probes (the core's copy); NULL: begin or end */
	const struct weft_typed_clause *clauses;
	size_t n_clauses;
	bool pairing_entry; /* push a frame on entry, for the sake of a return clause elsewhere */
	/* Bit i: argument i of the entry is kept in the frame. The same number for an entry and for
	 * its return, as it says where in the frame they lie; at most plan->entry_words bits. */
	uint64_t capture, texts; /* texts: those of them that are strings or bytes */
	/* Cookies of the group's probes and their descriptions, for PROBES, DISPATCH and CONST. */
	const struct weft_group_probe {
		uint64_t cookie;
		const struct weft_probe *probe;     /* NULL: begin or end */
		uint64_t identity_value;            /* WEFT_IDENTITY_FIELD */
		const struct weft_probe_info *info; /* scattered: its own */
	} * probes;
	size_t n_probes;
	/* The arguments that the clauses use lie elsewhere for each probe, at places that
	 * weft_places_fit() accepts: they are looked up, with the number of the probe in probes[] as
	 * the cookie that it has to be attached with. Else all probes have them where info says. */
	bool scattered;
};

struct weft_plan *weft_plan_create(const struct weft_set *set, uint32_t n_cpus,
				   struct weft_error *err);
void weft_plan_destroy(struct weft_plan *plan);

/* Allots bytes of STATE. *offset is aligned to 8 (64 for sizes of 64 and up). PLAN_FULL. */
int weft_plan_state(struct weft_plan *plan, uint32_t size, uint32_t *offset, struct weft_error *err);
int weft_plan_map(struct weft_plan *plan, const struct weft_map_spec *spec, uint32_t *index,
		  struct weft_error *err);
int weft_plan_loss(struct weft_plan *plan, enum weft_loss loss, uint32_t clause,
		   struct weft_span span, uint32_t *state_offset, struct weft_error *err);

/* Gives a variable of the set its place, unless it has one: *index into plan->variables. To be
 * called for all variables of a set before anything is compiled, so that they are there however
 * late the probes come that use them. KEY_TOO_LARGE, STATE_TOO_LARGE, PLAN_FULL. */
int weft_plan_variable(struct weft_plan *plan, const struct weft_state_var *var, uint32_t *index,
		       struct weft_error *err);

/* Frames have room for so many strings and bytes of an entry. To be called before anything is
 * compiled. -EBUSY: the frames are there already, and have less. PLAN_FULL. */
int weft_plan_entry_texts(struct weft_plan *plan, uint32_t n, struct weft_error *err);

/* Compiles one group into one program. On failure the plan may hold further (unused) sites but no
 * program. Tags: AGGREGATION_CONFLICT (one name, two shapes; names the first place),
 * CLAUSE_TOO_LARGE, KEY_TOO_LARGE, RECORD_TOO_LARGE, PROBE_COMPARISONS_FULL, PROBES_FULL,
 * PPID_NAMESPACE, IDENTITY_BAD, BTF_NOT_FOUND, those of compiler/location.h, and NEEDS_BTF
 * (-EAGAIN): plan->members are WANTED, all that the group needs; find them (weft_btf_resolve()) and
 * call again. */
int weft_compile_group(struct weft_plan *plan, const struct weft_group *group,
		       struct weft_program *out, struct weft_error *err);

/* Whether a place can be told by a table, for an argument of that type. */
bool weft_places_fit(const struct weft_location *where, const struct weft_arg_type *type);

/* The text of a program for `explain`: typed clause, IR and BPF side by side. */
int weft_plan_explain(const struct weft_plan *plan, const struct weft_program *prog,
		      struct weft_arena *arena, char **out);

/* The truth of every probe-field comparison (bits of PROBES) for one probe. */
uint64_t weft_plan_probe_bits(const struct weft_plan *plan, const struct weft_probe *probe);

#endif
