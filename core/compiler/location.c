/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A location comes from a plugin and is believed in nothing: each operation is a row of the table
 * below, which says what it pops and pushes, what its size, flags and operand may be, and what the
 * context has to offer for it.
 */
#include "core/compiler/location.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/compiler/arch.h"
#include "core/plan.h"

enum needs {
	NEEDS_NOTHING,
	NEEDS_BYTES, /* size bytes of the context at imm */
	NEEDS_PLACE, /* an offset within the context */
	NEEDS_REGS,  /* pt_regs in the context */
	NEEDS_DWARF, /* the same, and a DWARF register */
	NEEDS_TASK,  /* a DWARF register */
	NEEDS_ARG,   /* the number of an argument */
	NEEDS_COOKIE,
	NEEDS_TIMER,
	NEEDS_RECORD, /* a u32 of a record at imm */
	NEEDS_OFFSET, /* imm fits 32 bits */
	NEEDS_MEMBER, /* imm is the number of a name that is a path */
};

struct rule {
	const char *name; /* NULL: no such operation */
	uint8_t pops, pushes;
	bool sized;
	uint8_t flags; /* those allowed */
	enum needs needs;
};

#define S WEFT_LOC_SIGNED
#define U WEFT_LOC_USER

static const struct rule rules[] = {
	[WEFT_LOC_CONST] = {"CONST", 0, 1, false, 0, NEEDS_NOTHING},
	[WEFT_LOC_CTX] = {"CTX", 0, 1, true, S, NEEDS_BYTES},
	[WEFT_LOC_CTX_ADDR] = {"CTX_ADDR", 0, 1, false, 0, NEEDS_PLACE},
	[WEFT_LOC_REG] = {"REG", 0, 1, true, S, NEEDS_DWARF},
	[WEFT_LOC_TASK_REG] = {"TASK_REG", 0, 1, true, S, NEEDS_TASK},
	[WEFT_LOC_COOKIE] = {"COOKIE", 0, 1, false, 0, NEEDS_COOKIE},
	[WEFT_LOC_KERNEL_PC] = {"KERNEL_PC", 0, 1, false, 0, NEEDS_REGS},
	[WEFT_LOC_USER_PC] = {"USER_PC", 0, 1, false, 0, NEEDS_REGS},
	[WEFT_LOC_TIMER_COUNT] = {"TIMER_COUNT", 0, 1, false, 0, NEEDS_TIMER},
	[WEFT_LOC_RETVAL] = {"RETVAL", 0, 1, true, S, NEEDS_REGS},
	[WEFT_LOC_ARG] = {"ARG", 0, 1, false, U, NEEDS_ARG},
	[WEFT_LOC_TIME] = {"TIME", 0, 1, false, 0, NEEDS_NOTHING},
	[WEFT_LOC_TASK] = {"TASK", 0, 1, false, 0, NEEDS_NOTHING},
	[WEFT_LOC_LOAD] = {"LOAD", 1, 1, true, S | U, NEEDS_OFFSET},
	[WEFT_LOC_EXTEND] = {"EXTEND", 1, 1, true, S, NEEDS_NOTHING},
	[WEFT_LOC_NEG] = {"NEG", 1, 1, false, 0, NEEDS_NOTHING},
	[WEFT_LOC_NOT] = {"NOT", 1, 1, false, 0, NEEDS_NOTHING},
	[WEFT_LOC_MEMBER] = {"MEMBER", 1, 1, false, 0, NEEDS_MEMBER},
	[WEFT_LOC_ADD] = {"ADD", 2, 1, false, 0, NEEDS_NOTHING},
	[WEFT_LOC_SUB] = {"SUB", 2, 1, false, 0, NEEDS_NOTHING},
	[WEFT_LOC_MUL] = {"MUL", 2, 1, false, 0, NEEDS_NOTHING},
	[WEFT_LOC_DIV] = {"DIV", 2, 1, false, 0, NEEDS_NOTHING},
	[WEFT_LOC_MOD] = {"MOD", 2, 1, false, 0, NEEDS_NOTHING},
	[WEFT_LOC_AND] = {"AND", 2, 1, false, 0, NEEDS_NOTHING},
	[WEFT_LOC_OR] = {"OR", 2, 1, false, 0, NEEDS_NOTHING},
	[WEFT_LOC_XOR] = {"XOR", 2, 1, false, 0, NEEDS_NOTHING},
	[WEFT_LOC_SHL] = {"SHL", 2, 1, false, 0, NEEDS_NOTHING},
	[WEFT_LOC_SHR] = {"SHR", 2, 1, false, S, NEEDS_NOTHING},
	[WEFT_LOC_EQ] = {"EQ", 2, 1, false, S, NEEDS_NOTHING},
	[WEFT_LOC_NE] = {"NE", 2, 1, false, S, NEEDS_NOTHING},
	[WEFT_LOC_LT] = {"LT", 2, 1, false, S, NEEDS_NOTHING},
	[WEFT_LOC_LE] = {"LE", 2, 1, false, S, NEEDS_NOTHING},
	[WEFT_LOC_SELECT] = {"SELECT", 3, 1, false, 0, NEEDS_NOTHING},
	[WEFT_LOC_DUP] = {"DUP", 1, 2, false, 0, NEEDS_NOTHING},
	[WEFT_LOC_SWAP] = {"SWAP", 2, 2, false, 0, NEEDS_NOTHING},
	[WEFT_LOC_DATA_LOC] = {"DATA_LOC", 0, 2, false, 0, NEEDS_RECORD},
};
#define N_RULES (sizeof(rules) / sizeof(rules[0]))

/* The size of struct bpf_perf_event_data: the registers, then period and address. */
static uint32_t perf_event_size(void)
{
	return weft_arch.regs_size + 16;
}

uint32_t weft_context_size(const struct weft_load_class *load)
{
	uint32_t implied = 0;

	switch (load->ctx_kind) {
	case WEFT_CTX_REGS:
		implied = weft_arch.regs_size;
		break;
	case WEFT_CTX_PERF_EVENT:
		implied = perf_event_size();
		break;
	case WEFT_CTX_WORDS:
	case WEFT_CTX_RECORD:
		return load->ctx_size;
	default:
		return 0;
	}
	return load->ctx_size && load->ctx_size < implied ? load->ctx_size : implied;
}

struct place {
	const struct weft_location *where;
	const struct weft_load_class *load;
	const struct weft_loc_op *op;
	uint32_t index;
	const char *what;
	const char *name; /* of the operation */
	struct weft_error *err;
};

#define FAIL(p, tag, format, ...)                                                           \
	weft_fail((p)->err, -EINVAL, tag, "%s: operation %u of its location (%s): " format, \
		  (p)->what, (p)->index, (p)->name, __VA_ARGS__)

static bool has_regs(const struct weft_load_class *load)
{
	return load->ctx_kind == WEFT_CTX_REGS || load->ctx_kind == WEFT_CTX_PERF_EVENT;
}

static int check_bytes(const struct place *p, uint32_t size)
{
	uint32_t limit = weft_context_size(p->load);
	/* The kernel hides the fields that all tracepoint records have in common. */
	uint32_t least = p->load->ctx_kind == WEFT_CTX_RECORD ? 8 : 0;
	int64_t at = p->op->imm;

	if (at < least || at > limit || size > limit - at)
		return FAIL(p, "LOCATION_CONTEXT",
			    "%u bytes at %lld are not within the context, of which %u to %u may "
			    "be read",
			    size, (long long)at, least, limit);
	if (size && at % size)
		return FAIL(p, "LOCATION_CONTEXT", "byte %lld is not aligned to its size, %u",
			    (long long)at, size);
	return 0;
}

static int check_dwarf(const struct place *p)
{
	if (p->op->imm < 0 || p->op->imm >= weft_arch.n_dwarf || weft_arch.dwarf[p->op->imm] < 0)
		return FAIL(p, "LOCATION_REGISTER", "%s has no register %lld that can be read",
			    weft_arch.name, (long long)p->op->imm);
	if (p->op->aux % 8 || p->op->aux + 8u * p->op->size > 64 || p->op->aux > 64)
		return FAIL(p, "LOCATION_REGISTER", "bits %u to %u are not within a register",
			    p->op->aux, p->op->aux + 8u * p->op->size);
	return 0;
}

static int check_arg(const struct place *p)
{
	bool user = p->op->flags & WEFT_LOC_USER;
	uint32_t n = user ? 6 : weft_arch.n_c_args;

	if (p->op->imm < 0 || p->op->imm >= n)
		return FAIL(p, "LOCATION_REGISTER",
			    "argument %lld is not passed in a register; %u are",
			    (long long)p->op->imm, n);
	if (!user && !has_regs(p->load))
		return FAIL(p, "LOCATION_CONTEXT", "the context has no %s", "registers");
	return 0;
}

const char *weft_location_name(const struct weft_location *where, int64_t index)
{
	if (index < 0 || index >= where->n_names || index >= WEFT_LOC_MAX_NAMES || !where->names)
		return NULL;
	return where->names[index];
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* "STRUCT.member", and so on. */
static bool is_path(const char *s)
{
	unsigned parts = 1, length = 0;

	for (; is_word(*s) || (*s == '.' && length); s++) {
		parts += *s == '.';
		length = *s == '.' ? 0 : length + 1;
	}
	return !*s && length && parts >= 2 && parts <= WEFT_MEMBER_PARTS;
}

static int check_member(const struct place *p)
{
	const char *name = weft_location_name(p->where, p->op->imm);

	if (!name)
		return FAIL(p, "LOCATION_NAME", "there is no name %lld", (long long)p->op->imm);
	if (!is_path(name))
		return FAIL(p, "LOCATION_NAME",
			    "\"%.60s\" does not name a member: STRUCT.member, or with members of "
			    "members, %u names at most",
			    name, WEFT_MEMBER_PARTS);
	return 0;
}

static int check_needs(const struct place *p, enum needs needs)
{
	switch (needs) {
	case NEEDS_BYTES:
		return check_bytes(p, p->op->size);
	case NEEDS_PLACE:
		return check_bytes(p, 0);
	case NEEDS_RECORD:
		if (p->load->ctx_kind != WEFT_CTX_RECORD)
			return FAIL(p, "LOCATION_CONTEXT", "the context is not a %s", "record");
		return check_bytes(p, 4);
	case NEEDS_DWARF:
	case NEEDS_REGS:
		if (!has_regs(p->load))
			return FAIL(p, "LOCATION_CONTEXT", "the context has no %s", "registers");
		return needs == NEEDS_DWARF ? check_dwarf(p) : 0;
	case NEEDS_TASK:
		return check_dwarf(p);
	case NEEDS_ARG:
		return check_arg(p);
	case NEEDS_COOKIE:
		if (!(p->load->flags & WEFT_LOAD_COOKIE))
			return FAIL(p, "LOCATION_COOKIE", "the context has no %s", "cookie");
		return 0;
	case NEEDS_TIMER:
		if (p->load->ctx_kind != WEFT_CTX_PERF_EVENT)
			return FAIL(p, "LOCATION_CONTEXT", "the context is not a %s", "perf event");
		return 0;
	case NEEDS_OFFSET:
		if (p->op->imm != (int32_t)p->op->imm)
			return FAIL(p, "LOCATION_OPERAND", "the offset %lld exceeds 32 bits",
				    (long long)p->op->imm);
		return 0;
	case NEEDS_MEMBER:
		return check_member(p);
	default:
		return 0;
	}
}

static int check_op(struct place *p, unsigned *depth)
{
	const struct weft_loc_op *op = p->op;
	const struct rule *rule = op->op < N_RULES ? &rules[op->op] : NULL;
	int ret;

	p->name = "unknown";
	if (!rule || !rule->name)
		return FAIL(p, "LOCATION_OPCODE", "there is no operation %u", op->op);
	p->name = rule->name;
	if (rule->sized && op->size != 1 && op->size != 2 && op->size != 4 && op->size != 8)
		return FAIL(p, "LOCATION_SIZE", "a size of %u bytes; it can be 1, 2, 4 or 8",
			    op->size);
	if (op->flags & ~rule->flags)
		return FAIL(p, "LOCATION_FLAGS", "flags 0x%x have no meaning here",
			    op->flags & ~rule->flags);
	if (*depth < rule->pops)
		return FAIL(p, "LOCATION_UNDERFLOW", "takes %u values, but %u are there",
			    rule->pops, *depth);
	*depth += rule->pushes - rule->pops;
	if (*depth > WEFT_LOC_MAX_DEPTH)
		return FAIL(p, "LOCATION_DEPTH", "makes %u values; %u is the most", *depth,
			    WEFT_LOC_MAX_DEPTH);
	ret = check_needs(p, rule->needs);
	return ret;
}

int weft_location_check(const struct weft_location *where, const struct weft_load_class *load,
			unsigned least, unsigned most, unsigned *left, const char *what,
			struct weft_error *err)
{
	struct place p = {.where = where, .load = load, .what = what, .err = err};
	unsigned depth = 0;

	if (!where->n_ops || !where->ops)
		return weft_fail(err, -EINVAL, "LOCATION_LENGTH", "%s has no location", what);
	if (where->n_ops > WEFT_LOC_MAX_OPS)
		return weft_fail(err, -EINVAL, "LOCATION_LENGTH",
				 "%s: its location has %u operations; %u is the most", what,
				 where->n_ops, WEFT_LOC_MAX_OPS);
	for (p.index = 0; p.index < where->n_ops; p.index++) {
		int ret;

		p.op = &where->ops[p.index];
		ret = check_op(&p, &depth);
		if (ret)
			return ret;
	}
	if (depth < least || depth > most)
		return weft_fail(err, -EINVAL, "LOCATION_RESULT",
				 "%s: its location leaves %u values where %u %s wanted", what,
				 depth, least, least == 1 ? "is" : "are");
	if (left)
		*left = depth;
	return 0;
}

static void results_of(uint32_t kind, unsigned *least, unsigned *most)
{
	*least = kind == WEFT_TYPE_BYTES ? 2 : 1;
	*most = kind == WEFT_TYPE_BYTES || kind == WEFT_TYPE_STRING ? 2 : 1;
}

int weft_location_check_info(const struct weft_probe_info *info, struct weft_error *err)
{
	unsigned least, most;
	int first = 0, ret;
	char what[96];

#define CHECK(location, low, high, name)                                                        \
	do {                                                                                    \
		ret = weft_location_check((location), &info->load, (low), (high), NULL, (name), \
					  err);                                                 \
		if (ret && !first)                                                              \
			first = ret;                                                            \
	} while (0)

	for (uint32_t i = 0; i < info->n_args; i++) {
		const struct weft_arg *arg = &info->args[i];

		if (!arg->where.n_ops)
			continue;
		snprintf(what, sizeof(what), "argument %u (%.60s)", i,
			 arg->name ? arg->name : "without a name");
		results_of(arg->type.kind, &least, &most);
		CHECK(&arg->where, least, most, what);
	}
	if (info->guard.n_ops)
		CHECK(&info->guard, 1, 1, "the guard");
	if (info->identity.kind == WEFT_IDENTITY_FIELD)
		CHECK(&info->identity.key[0], 1, 1, "the identity");
	for (uint32_t i = 0; info->identity.kind == WEFT_IDENTITY_MAP &&
			     i < info->identity.n_keys && i < WEFT_IDENTITY_MAX_KEYS;
	     i++)
		if (info->identity.key[i].n_ops)
			CHECK(&info->identity.key[i], 1, 1, "a key of the identity");
	if (info->pairing.role != WEFT_PAIRING_NONE)
		CHECK(&info->pairing.frame, 1, 1, "the frame of the pairing");
	if (info->retval_type.kind) {
		results_of(info->retval_type.kind, &least, &most);
		CHECK(&info->retval, least, most, "the return value");
	}
#undef CHECK
	return first;
}
