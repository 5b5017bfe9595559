/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Lowering: from typed clauses to the intermediate form.
 *
 * The invariant of values: a register that stands for an INT holds its value extended to 64 bits as
 * its type says; for a PROBE the cookie; for a STACK the id under which it is interned. STRINGs lie
 * in memory, NUL-padded to their capacity.
 *
 * The invariant of faults: an expression that cannot be evaluated jumps to weft_lower_fault(), which
 * counts and leaves the clause by a path that gives the scratch slot back. What fails to be
 * delivered (a full map, a full ring) jumps to weft_lower_loss(), which counts and goes on.
 *
 * Errors of compiling are kept in lw->status; lowering goes on to the end of the action, harmlessly.
 */
#ifndef WEFT_COMPILER_LOWER_H
#define WEFT_COMPILER_LOWER_H

#include <linux/bpf.h>

#include "core/compiler/ir.h"
#include "core/compiler/plan_internal.h"

/* A place in memory: a register that holds an address (or WEFT_FP), and an offset. */
struct weft_place {
	weft_vreg base;
	int32_t off;
};

/* Values that stay the same while the program runs, by what makes them. */
enum weft_cached {
	WEFT_CACHED_PID_TGID,
	WEFT_CACHED_NS_PID,
	WEFT_CACHED_NS_TID,
	WEFT_CACHED_UID_GID,
	WEFT_CACHED_CPU,
	WEFT_CACHED_CGROUP,
	WEFT_CACHED_PPID,
	WEFT_CACHED_PROBE_BITS,
	WEFT_CACHED_TASK,
	WEFT_N_CACHED
};

#define WEFT_CACHED_STACKS 4u
#define WEFT_KNOWN_MEMBERS 16u

struct weft_cold {
	uint32_t label, resume;
	uint32_t state_offset;
	enum weft_loss loss;
	struct weft_span span;
	/* The same for all that go on at one place: what adds 1 to a word, and the word's address. */
	uint32_t tally;
	weft_vreg word;
	struct weft_span tally_span; /* an action that counts there as well; in the first of them */
};

struct weft_lower {
	struct weft_plan *plan;
	const struct weft_group *group;
	const struct weft_load_class *load;
	struct weft_program *program;
	struct weft_error *err;
	struct weft_ir ir;
	int status;

	weft_vreg ctx;
	weft_vreg cookie;          /* or a constant */
	weft_vreg places;          /* scattered: the element of PLACES that the firing has */
	weft_vreg timestamp;       /* none where nobody asks */
	bool timed;                /* a clause asks */
	weft_vreg paired, elapsed; /* of returns: whether an entry was found, and ns since */
	weft_vreg entry_have, entry_value[WEFT_MAX_ARGS]; /* and the arguments that it kept */
	weft_vreg entry_at, entry_time; /* where it lies in the row, for its texts, and its time */
	uint32_t end;                   /* label: the program's */

	bool *far; /* by map: reached through an array of maps; far.c. NULL: all are named */
	size_t n_far;
	bool passages;    /* around actions; burden.c */
	bool exits_early; /* the prologue places lw->end itself */
	bool frugal;      /* what outlives an expression is kept in scratch: compile.c */

	uint32_t rounds; /* steps that the verifier takes through loops over strings */

	/* Of the clause. */
	const struct weft_typed_clause *clause;
	weft_vreg scratch;    /* address of the claimed slot; none: not claimed */
	uint32_t fault_exit;  /* label that a fault goes on at */
	bool quiet;           /* faults are not counted here */
	uint32_t joins;       /* ways that met in the values at hand: lower_expr.c */
	unsigned conditional; /* within an operand that is not always evaluated */
	struct weft_cold *cold;
	size_t n_cold, cap_cold;
	weft_vreg cached[WEFT_N_CACHED];
	struct weft_cached_stack {
		uint8_t space;
		uint32_t cap;
		weft_vreg id;
	} stacks[WEFT_CACHED_STACKS];
	size_t n_stacks;
	struct {
		const struct weft_node *node;
		weft_vreg value;
	} members[WEFT_KNOWN_MEMBERS]; /* read from memory so far */
	size_t n_members;

	struct weft_lower_local {        /* this.NAME, by index */
		weft_vreg value;         /* INT */
		struct weft_place place; /* STRING; where frugal: either */
	} * locals;
	uint32_t scratch_kept; /* bytes of the scratch slot that outlive an action */

	/* Of the action. */
	bool is_last;          /* of its clause */
	uint32_t frame_used;   /* bytes of the BPF stack, from the top */
	uint32_t scratch_used; /* bytes of the scratch slot */
};

/* ---- lower.c: faults, memory, the clause ---- */

void weft_lower_status(struct weft_lower *lw, int ret); /* keeps the first error */
uint32_t weft_lower_fault(struct weft_lower *lw, enum weft_loss loss);
uint32_t weft_lower_loss(struct weft_lower *lw, enum weft_loss loss, uint32_t resume);
/* Where it goes on behind an action, to be placed there: behind the last one it leaves, as faults do. */
uint32_t weft_lower_behind(struct weft_lower *lw);
void weft_lower_place_behind(struct weft_lower *lw, uint32_t label);
/* Adds 1 to a word and goes on at resume, which has to follow directly: at the end of a clause by
 * the instructions that count losses, if there are any that go on there. */
void weft_lower_tally(struct weft_lower *lw, weft_vreg word, uint32_t resume);
void weft_lower_cold(struct weft_lower *lw); /* writes out the paths asked for so far */
void weft_lower_clause(struct weft_lower *lw, const struct weft_typed_clause *clause);
struct weft_pos weft_lower_pos(const struct weft_lower *lw);

/* ---- lower_needs.c ---- */

/* Before anything is lowered: what the group asks for, and whether the layout of kernel structs is
 * known. NEEDS_BTF. */
int weft_lower_needs(struct weft_lower *lw);
extern const char *const weft_ppid_members[2];

/* ---- lower_memory.c ---- */

struct weft_place weft_lower_frame(struct weft_lower *lw, uint32_t size); /* BPF stack */
struct weft_place weft_lower_temp(struct weft_lower *lw, uint32_t size);  /* stack or scratch */
struct weft_place weft_lower_scratch(struct weft_lower *lw, uint32_t size);
void weft_lower_claim(struct weft_lower *lw);
struct weft_place weft_place_at(struct weft_place p, int32_t off);
struct weft_ir_arg weft_lower_address(struct weft_lower *lw, struct weft_place p);
void weft_lower_zero(struct weft_lower *lw, struct weft_place p, uint32_t size);
/* Zeroes what lies between and behind fields: bytes of a key must not differ by accident, and those
 * of a record are not to show what lay there before. */
void weft_lower_gaps(struct weft_lower *lw, const struct weft_field_layout *fields, size_t n,
		     uint32_t total, struct weft_place p);
void weft_lower_bytes(struct weft_lower *lw, struct weft_place p, const void *bytes, uint32_t size,
		      uint32_t total); /* constant bytes, then zeros up to total */
void weft_lower_copy(struct weft_lower *lw, struct weft_place to, struct weft_place from,
		     uint32_t size);
/* Copies n (at most most) bytes, a number known only at run time. */
void weft_lower_copy_some(struct weft_lower *lw, struct weft_place to, struct weft_place from,
			  weft_vreg n, uint32_t most);
weft_vreg weft_lower_load(struct weft_lower *lw, struct weft_place p, uint8_t size);
void weft_lower_store(struct weft_lower *lw, struct weft_place p, uint8_t size, weft_vreg value);
void weft_lower_store_imm(struct weft_lower *lw, struct weft_place p, uint8_t size, int64_t value);

/* ---- lower_read.c: memory that may be bad; a failure is a fault ---- */

struct weft_memory {
	weft_vreg address;
	weft_vreg length; /* none: strings end with their NUL, bytes are as many as there is room for */
	bool user;
	bool cut_is_meant; /* what is longer was not asked for: nothing is lost */
};

bool weft_lower_may_sleep(const struct weft_lower *lw);
/* size bytes, 1 to 8, as an unsigned number. */
weft_vreg weft_lower_read(struct weft_lower *lw, weft_vreg address, uint8_t size, bool user);
void weft_lower_read_text(struct weft_lower *lw, const struct weft_memory *m, struct weft_place to,
			  uint32_t cap);
void weft_lower_argument_text(struct weft_lower *lw, const struct weft_node *n,
			      struct weft_place to, uint32_t cap);
/* Copies the bytes of an argument or a call; *length is a register. */
void weft_lower_blob(struct weft_lower *lw, const struct weft_node *n, struct weft_place to,
		     weft_vreg *length);

/* ---- lower_call.c, lower_text.c, lower_special.c ---- */

weft_vreg weft_lower_call(struct weft_lower *lw, const struct weft_node *n); /* INT, SYMBOL, v4 */
void weft_lower_call_memory(struct weft_lower *lw, const struct weft_node *n,
			    struct weft_memory *out);
void weft_lower_text(struct weft_lower *lw, const struct weft_node *n, struct weft_place to,
		     uint32_t cap);
static inline bool weft_call_is_search(const struct weft_node *n)
{
	return n->function == WEFT_FN_STRCONTAINS || n->function == WEFT_FN_STARTSWITH ||
	       n->function == WEFT_FN_ENDSWITH;
}
weft_vreg weft_lower_strlen(struct weft_lower *lw, const struct weft_node *n);
void weft_lower_text_jump(struct weft_lower *lw, const struct weft_node *n, bool sense,
			  uint32_t label);
/* 16 bytes at `to`. */
void weft_lower_ipv6(struct weft_lower *lw, const struct weft_node *n, struct weft_place to);
void weft_lower_regs(struct weft_lower *lw, struct weft_place to);

/* ---- lower_member.c: READ and ELEMENT nodes ---- */

weft_vreg weft_lower_member(struct weft_lower *lw, const struct weft_node *n);
weft_vreg weft_lower_element(struct weft_lower *lw, const struct weft_node *n);

/* ---- lower_location.c ---- */

/* Evaluates; values[0] is the address where `most` is 2. The location is checked first. */
void weft_lower_location(struct weft_lower *lw, const struct weft_location *where, unsigned least,
			 unsigned most, const char *what, weft_vreg values[2], unsigned *n);

/* The address of a byte of the context, as a number that may be computed with. */
weft_vreg weft_lower_context_address(struct weft_lower *lw, int64_t offset);

/* ---- places.c: scattered groups ---- */

void weft_lower_find_places(struct weft_lower *lw); /* finds out who fired, and where its values lie */
weft_vreg weft_lower_placed(struct weft_lower *lw, uint32_t arg);

/* ---- lower_expr.c, lower_string.c, lower_vars.c ---- */

weft_vreg weft_lower_value(struct weft_lower *lw, const struct weft_node *n);
/* Goes to label if the truth of n is `sense`, else on. */
void weft_lower_jump(struct weft_lower *lw, const struct weft_node *n, bool sense, uint32_t label);
void weft_lower_string(struct weft_lower *lw, const struct weft_node *n, struct weft_place to,
		       uint32_t cap);
void weft_lower_string_jump(struct weft_lower *lw, const struct weft_node *n, bool sense,
			    uint32_t label);
weft_vreg weft_lower_argument(struct weft_lower *lw, const struct weft_node *n, weft_vreg *length,
			      bool *user);
weft_vreg weft_lower_variable(struct weft_lower *lw, const struct weft_node *n);
weft_vreg weft_lower_pid_tgid(struct weft_lower *lw);
weft_vreg weft_lower_tgid(struct weft_lower *lw);
/* The key of the thread in SELF and FRAMES, on the BPF stack. */
/* The address of the current task_struct. */
weft_vreg weft_lower_task(struct weft_lower *lw);
struct weft_place weft_lower_thread_key(struct weft_lower *lw);
weft_vreg weft_lower_cpu(struct weft_lower *lw);
/* Whether a probe's field is a text: as a register, or decided: 0 or 1 in *known. */
weft_vreg weft_lower_probe_bit(struct weft_lower *lw, const struct weft_node *n, int *known);
bool weft_lower_cached(struct weft_lower *lw, enum weft_cached what, weft_vreg *out);
void weft_lower_cache(struct weft_lower *lw, enum weft_cached what, weft_vreg v);

/* ---- lower_stack.c ---- */

/* The frames of a STACK node into `to` (cap u64); *n: bytes, *tgid: of a user stack, else 0. */
void weft_lower_frames(struct weft_lower *lw, const struct weft_node *n, struct weft_place to,
		       weft_vreg *bytes, weft_vreg *tgid);
weft_vreg weft_lower_stack_id(struct weft_lower *lw, const struct weft_node *n);
/* A user symbol as a key: its address is interned as a stack of one frame. */
weft_vreg weft_lower_symbol_id(struct weft_lower *lw, const struct weft_node *n);

/* ---- lower_agg.c, lower_record.c, lower_control.c ---- */

/* The slot of this CPU, of those that begin at an offset of STATE. The mask is for the verifier:
 * slots are a power of two. */
weft_vreg weft_lower_slot(struct weft_lower *lw, uint32_t state_offset);
void weft_lower_aggregation(struct weft_lower *lw, const struct weft_typed_action *a);
void weft_lower_record(struct weft_lower *lw, const struct weft_typed_action *a);
void weft_lower_control(struct weft_lower *lw, const struct weft_typed_action *a);
void weft_lower_destructive(struct weft_lower *lw, const struct weft_typed_action *a);
/* The number of the bucket that a value falls into (lower_buckets.c). */
/* The number of significant bits, with the value's sign. */
weft_vreg weft_lower_powers(struct weft_lower *lw, weft_vreg value, bool is_unsigned);
weft_vreg weft_lower_bucket(struct weft_lower *lw, weft_vreg value, const struct weft_buckets *b);
/* Adds a value to the sum, or its square to the sum of squares, from a word of the row on
 * (lower_sums.c). */
void weft_lower_add_sum(struct weft_lower *lw, weft_vreg row, uint32_t word, weft_vreg value,
			bool is_unsigned);
void weft_lower_add_square(struct weft_lower *lw, weft_vreg row, uint32_t word, weft_vreg value,
			   bool is_unsigned);
/* Updates an element; 0 or a negative errno. */
weft_vreg weft_lower_update(struct weft_lower *lw, struct weft_ir_arg map, struct weft_ir_arg key,
			    struct weft_ir_arg value, uint64_t flags);
/* Where it goes on if there can be no row. */
struct weft_failures {
	uint32_t full, nomem; /* labels: no room for it; no memory */
	uint32_t busy;        /* it was not there after all, or anything else */
};
/* Looks a key up in a map, inserting zeros where it is absent. */
weft_vreg weft_lower_row(struct weft_lower *lw, struct weft_ir_arg map, struct weft_place key,
			 const struct weft_failures *to);

/* ---- burden.c ---- */

/* How many branches the verifier has to remember at a time. -ENOMEM. */
int weft_program_branches(const struct weft_program *prog, uint32_t *most);
/* After a program was made: whether it should be made again, with passages. CLAUSE_TOO_LARGE. */
int weft_lower_burden(struct weft_lower *lw, bool *again);
/* A way around what follows, for the verifier alone, to be placed behind it; 0: none is wanted.
 * What lies between must not define what is used behind it. */
uint32_t weft_lower_passage(struct weft_lower *lw);

/* ---- lower_retry.c ---- */

struct weft_retry {
	uint32_t again; /* label: where a try that failed goes to */
	uint32_t begin;
	weft_vreg round;
};
/* Between the two: what is to be done before another try. */
void weft_retry_open(struct weft_lower *lw, struct weft_retry *r, uint32_t rounds);
void weft_retry_begin(struct weft_lower *lw, const struct weft_retry *r, uint32_t given_up);

/* ---- far.c ---- */

/* After a program was made: whether it has more maps than it can name, so that some must be far and
 * it has to be made again. CLAUSE_TOO_LARGE. */
int weft_lower_spread(struct weft_lower *lw, bool *again);
/* The map as an argument of a helper. A far one that is not in its place, which never should be, is
 * the loss, and goes on at resume; 0: it is a fault. */
struct weft_ir_arg weft_lower_map(struct weft_lower *lw, int32_t map, enum weft_loss loss,
				  uint32_t resume);

/* ---- lower_limit.c ---- */

/* Goes to lw->fault_exit where the clause's `every` or `limit` passes the firing over. */
void weft_lower_limits(struct weft_lower *lw, const struct weft_clause *clause);

/* ---- lower_state.c, lower_assign.c ---- */

/* The value of a STATE, LOCAL, DEFAULT or DEFINED node. */
weft_vreg weft_lower_state_value(struct weft_lower *lw, const struct weft_node *n);
void weft_lower_state_string(struct weft_lower *lw, const struct weft_node *n, struct weft_place to,
			     uint32_t cap);
void weft_lower_state(struct weft_lower *lw, const struct weft_typed_action *a);
void weft_lower_locals(struct weft_lower *lw, const struct weft_typed_clause *clause);
bool weft_clause_keeps_strings(const struct weft_typed_clause *clause);
/* A key of an aggregation or an array into its place. */
void weft_lower_key(struct weft_lower *lw, const struct weft_field_layout *f,
		    const struct weft_node *n, struct weft_place to);

/* ---- lower_prologue.c, lower_schedule.c, lower_pairing.c ---- */

void weft_lower_prologue(struct weft_lower *lw);
void weft_lower_schedule(struct weft_lower *lw);
/* The time of the firing. What runs before the clauses may be the first to ask; a clause is not. */
weft_vreg weft_lower_time(struct weft_lower *lw);
weft_vreg weft_lower_entry(struct weft_lower *lw, const struct weft_node *n);
/* A string or bytes that the entry kept, into cap bytes; *length is of bytes. */
void weft_lower_entry_text(struct weft_lower *lw, const struct weft_node *n, struct weft_place to,
			   uint32_t cap, weft_vreg *length);
void weft_lower_push_frame(struct weft_lower *lw);
void weft_lower_pop_frame(struct weft_lower *lw);

#endif
