/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The function table: what a call takes, what it gives, and what makes a node of it. An argument
 * that a function cannot take is refused here by the table, so that typing a call (calls_*.c) only
 * has to think of what is its own: constants, bounds, whose memory.
 */
#include "core/lang/sema.h"

static struct weft_node *type_stack_call(struct weft_sema *s, const struct weft_function *f,
					 struct weft_node **args, const struct weft_ast *a)
{
	const struct weft_node *n = args[0];
	struct weft_type t = f->result;
	uint32_t most = weft_env_stackframes(s->env);

	if (n->value < 1 || n->value > most)
		return weft_sema_fail(s, n->span.start, "FUNCTION_ARGUMENTS",
				      "%s keeps 1 to %u frames (options.stackframes, at most %u)",
				      f->signature, most, WEFT_MAX_STACKFRAMES);
	t.cap = (uint32_t)n->value;
	return weft_node_new(s, WEFT_NODE_STACK, t, a);
}

static struct weft_node *type_defined(struct weft_sema *s, const struct weft_function *f,
				      struct weft_node **args, const struct weft_ast *a)
{
	struct weft_type t = {.kind = WEFT_VALUE_INT, .size = 8, .is_signed = true};
	struct weft_node *n = args[0];

	if (n->kind == WEFT_NODE_LOCAL || (n->kind == WEFT_NODE_STATE && n->state->counts))
		return weft_node_int(s, 1, false, a);
	if (n->kind != WEFT_NODE_STATE && n->kind != WEFT_NODE_ELAPSED)
		return weft_sema_fail(s, n->span.start, "FUNCTION_ARGUMENTS",
				      "%s asks whether a variable is set, and this is none",
				      f->signature);
	n = weft_node_new(s, WEFT_NODE_DEFINED, t, a);
	if (n)
		n->kid[0] = args[0];
	return n;
}

#define I(bytes, sign)                                                       \
	{                                                                    \
		.kind = WEFT_VALUE_INT, .size = (bytes), .is_signed = (sign) \
	}
#define K(what)                           \
	{                                 \
		.kind = WEFT_VALUE_##what \
	}
#define SPACED(what, where)                                            \
	{                                                              \
		.kind = WEFT_VALUE_##what, .space = WEFT_SPACE_##where \
	}
#define DUMP(where)                                                                    \
	{                                                                              \
		.kind = WEFT_VALUE_BYTES, .space = WEFT_SPACE_##where, .is_dump = true \
	}
#define P(...)              \
	{                   \
		__VA_ARGS__ \
	}
#define INT    WEFT_TAKES_INT
#define CONST  WEFT_TAKES_CONST
#define USER   WEFT_TAKES_USER
#define KERNEL WEFT_TAKES_KERNEL
#define STRING WEFT_TAKES_STRING
#define TEXT   WEFT_TAKES_TEXT
#define BYTES  WEFT_TAKES_BYTES
#define ANY    WEFT_TAKES_ANY

/* "A string of memory" ends where all strings end: at the first zero byte, or at options.strsize,
 * and then it is counted as STRING_TRUNCATED. */
const struct weft_function weft_functions[] = {
	{"stack", WEFT_FN_STACK, "stack(N)", P(CONST), 1, 1, SPACED(STACK, KERNEL), type_stack_call,
	 "The kernel stack, its N innermost frames at most; N is a constant."},
	{"ustack", WEFT_FN_USTACK, "ustack(N)", P(CONST), 1, 1, SPACED(STACK, USER),
	 type_stack_call, "The user stack, its N innermost frames at most; N is a constant."},

	{"copyinstr", WEFT_FN_COPYINSTR, "copyinstr(addr[, n])", P(USER, INT), 1, 2,
	 SPACED(STRING, USER), weft_call_string_read,
	 "The string at an address of user memory, its first n bytes at most: a string without a zero "
	 "byte ends there."},
	{"str", WEFT_FN_STR, "str(addr[, n])", P(INT, INT), 1, 2, SPACED(STRING, USER),
	 weft_call_string_read,
	 "Likewise, from whichever memory the type of addr says; from user memory where it says none."},
	{"kstr", WEFT_FN_KSTR, "kstr(addr[, n])", P(KERNEL, INT), 1, 2, SPACED(STRING, KERNEL),
	 weft_call_string_read, "Likewise, from the kernel's memory."},
	{"copyin", WEFT_FN_COPYIN, "copyin(addr, n)", P(USER, INT), 2, 2, SPACED(BYTES, USER),
	 weft_call_bytes_read,
	 "The n bytes at an address of user memory. A constant n is at most 4096; of any other n, "
	 "options.strsize bytes are copied, and more are counted as STRING_TRUNCATED."},
	{"mem", WEFT_FN_MEM, "mem(addr, n)", P(INT, INT), 2, 2, DUMP(USER), weft_call_bytes_read,
	 "The same bytes to be looked at: text output shows them as a hexdump. From whichever memory the "
	 "type of addr says, from user memory where it says none."},
	{"kmem", WEFT_FN_KMEM, "kmem(addr, n)", P(KERNEL, INT), 2, 2, DUMP(KERNEL),
	 weft_call_bytes_read, "Likewise, from the kernel's memory."},
	{"peek", WEFT_FN_PEEK, "peek(addr, size)", P(INT, CONST), 2, 2, SPACED(INT, USER),
	 weft_call_peek,
	 "The unsigned integer of 1, 2, 4 or 8 bytes at an address: `(int32) peek(arg0 + 16, 4)`. From "
	 "whichever memory the type of addr says, from user memory where it says none."},
	{"kpeek", WEFT_FN_KPEEK, "kpeek(addr, size)", P(KERNEL, CONST), 2, 2, SPACED(INT, KERNEL),
	 weft_call_peek, "Likewise, from the kernel's memory."},

	{"strlen", WEFT_FN_STRLEN, "strlen(s)", P(STRING), 1, 1, I(8, true), weft_call_strlen,
	 "How many bytes the string has."},
	{"substr", WEFT_FN_SUBSTR, "substr(s, start[, n])", P(STRING, INT, INT), 2, 3, K(STRING),
	 weft_call_substr,
	 "The string from byte start on, n bytes at most. The first byte is 0; a negative start counts "
	 "from the end (-1 is the last byte). What would lie outside is left out."},
	{"basename", WEFT_FN_BASENAME, "basename(path)", P(STRING), 1, 1, K(STRING),
	 weft_call_basename,
	 "The last component of a path, without slashes behind it; of slashes alone, `/`."},
	{"strcontains", WEFT_FN_STRCONTAINS, "strcontains(s, \"text\")", P(STRING, TEXT), 2, 2,
	 I(8, true), weft_call_find, "1 if the constant text occurs in the string, else 0."},
	{"startswith", WEFT_FN_STARTSWITH, "startswith(s, \"text\")", P(STRING, TEXT), 2, 2,
	 I(8, true), weft_call_find, "1 if the string begins with the constant text, else 0."},
	{"endswith", WEFT_FN_ENDSWITH, "endswith(s, \"text\")", P(STRING, TEXT), 2, 2, I(8, true),
	 weft_call_find, "1 if the string ends with the constant text, else 0."},

	{"abs", WEFT_FN_ABS, "abs(x)", P(INT), 1, 1, I(0, true), weft_call_unary,
	 "The magnitude of x; that of INT64_MIN wraps to itself."},
	{"min", WEFT_FN_MIN, "min(a, b)", P(INT, INT), 2, 2, I(0, true), weft_call_extreme,
	 "The lesser of two integers."},
	{"max", WEFT_FN_MAX, "max(a, b)", P(INT, INT), 2, 2, I(0, true), weft_call_extreme,
	 "The greater of two integers."},
	{"log2", WEFT_FN_LOG2, "log2(x)", P(INT), 1, 1, I(8, true), weft_call_unary,
	 "The greatest k for which 2^k is at most x. Of x below 1 it is a fault, FAULT_RANGE."},
	{"ntohs", WEFT_FN_NTOHS, "ntohs(x)", P(INT), 1, 1, I(2, false), weft_call_unary,
	 "The low 16 bits of x from network byte order to this machine's."},
	{"ntohl", WEFT_FN_NTOHL, "ntohl(x)", P(INT), 1, 1, I(4, false), weft_call_unary,
	 "The low 32 bits of x, likewise."},
	{"ntohll", WEFT_FN_NTOHLL, "ntohll(x)", P(INT), 1, 1, I(8, false), weft_call_unary,
	 "The 64 bits of x, likewise."},
	{"htons", WEFT_FN_HTONS, "htons(x)", P(INT), 1, 1, I(2, false), weft_call_unary,
	 "The low 16 bits of x from this machine's byte order to that of the network."},
	{"htonl", WEFT_FN_HTONL, "htonl(x)", P(INT), 1, 1, I(4, false), weft_call_unary,
	 "The low 32 bits of x, likewise."},
	{"htonll", WEFT_FN_HTONLL, "htonll(x)", P(INT), 1, 1, I(8, false), weft_call_unary,
	 "The 64 bits of x, likewise."},

	{"ksym", WEFT_FN_KSYM, "ksym(addr)", P(KERNEL), 1, 1, SPACED(SYMBOL, KERNEL),
	 weft_call_symbol, "The kernel's symbol that an address belongs to, and the offset in it."},
	{"usym", WEFT_FN_USYM, "usym(addr)", P(USER), 1, 1, SPACED(SYMBOL, USER), weft_call_symbol,
	 "Likewise of the process that is running. As a key, what looks alike is one row, whatever "
	 "process it comes from."},
	{"ipv4", WEFT_FN_IPV4, "ipv4(x)", P(INT), 1, 1, K(INET), weft_call_ipv4,
	 "The low 32 bits of x, in network byte order, as an address: 127.0.0.1."},
	{"ipv6", WEFT_FN_IPV6, "ipv6(bytes)", P(BYTES), 1, 1, K(INET), weft_call_ipv6,
	 "16 bytes as an address: `ipv6(copyin(arg1 + 8, 16))`. Another number of bytes is a fault, "
	 "FAULT_RANGE."},

	{"defined", WEFT_FN_DEFINED, "defined(VARIABLE)", P(ANY), 1, 1, I(8, true), type_defined,
	 "1 if the variable (a global, `self.NAME`, `NAME[KEY, ...]`) is set, else 0. "
	 "`defined(elapsed)`: whether the entry of this return was seen."},
};
const size_t weft_n_functions = sizeof(weft_functions) / sizeof(weft_functions[0]);
_Static_assert(sizeof(weft_functions) / sizeof(weft_functions[0]) == WEFT_N_FUNCTIONS,
	       "a row for each function");

struct weft_node *weft_node_call(struct weft_sema *s, const struct weft_function *f,
				 struct weft_node **args, struct weft_type type,
				 const struct weft_ast *a)
{
	struct weft_node *n = weft_node_new(s, WEFT_NODE_CALL, type, a);

	if (!n)
		return NULL;
	n->function = f->id;
	for (size_t i = 0; i < WEFT_MAX_FUNCTION_ARGS; i++)
		n->kid[i] = args[i];
	return n;
}

/* ---- arguments ---- */

static const struct {
	enum weft_value_kind kind;
	const char *wanted;
} params[] = {
	[WEFT_TAKES_INT] = {WEFT_VALUE_INT, "an integer"},
	[WEFT_TAKES_CONST] = {WEFT_VALUE_INT, "a constant integer"},
	[WEFT_TAKES_USER] = {WEFT_VALUE_INT, "an address"},
	[WEFT_TAKES_KERNEL] = {WEFT_VALUE_INT, "an address"},
	[WEFT_TAKES_STRING] = {WEFT_VALUE_STRING, "a string"},
	[WEFT_TAKES_TEXT] = {WEFT_VALUE_STRING, "a constant string"},
	[WEFT_TAKES_BYTES] = {WEFT_VALUE_BYTES, "bytes"},
};

static bool points_elsewhere(enum weft_takes p, const struct weft_type *t)
{
	/* Types of C say what lies at an address, and only sometimes in whose memory. */
	if (!t->is_pointer || (p == WEFT_TAKES_USER && t->role != WEFT_ROLE_NONE))
		return false;
	return (p == WEFT_TAKES_USER && t->space == WEFT_SPACE_KERNEL) ||
	       (p == WEFT_TAKES_KERNEL && t->space == WEFT_SPACE_USER);
}

bool weft_param_fits(struct weft_sema *s, const struct weft_function *f, size_t i,
		     struct weft_node **arg)
{
	enum weft_takes p = f->params[i];
	const struct weft_node *n = *arg;
	char name[32];

	if (p == WEFT_TAKES_ANY)
		return true;
	if ((p == WEFT_TAKES_CONST && n->kind != WEFT_NODE_INT) ||
	    (p == WEFT_TAKES_TEXT && n->kind != WEFT_NODE_STRING)) {
		weft_sema_fail(s, n->span.start, "FUNCTION_ARGUMENTS",
			       "%s takes %s here, and this is none", f->signature, params[p].wanted);
		return false;
	}
	if (n->type.kind != params[p].kind) {
		weft_sema_fail(s, n->span.start, "EXPR_TYPE", "%s takes %s, and this is %s",
			       f->signature, params[p].wanted, weft_type_phrase(&n->type, name));
		if (p == WEFT_TAKES_STRING)
			weft_suggest_reading(s, n);
		return false;
	}
	if (points_elsewhere(p, &n->type)) {
		weft_sema_fail(s, n->span.start, "EXPR_TYPE",
			       p == WEFT_TAKES_USER
				       ? "%s is for user memory, and this points into the kernel's"
				       : "%s is for the kernel's memory, and this points into that "
					 "of a process",
			       f->signature);
		return false;
	}
	if (p == WEFT_TAKES_STRING && !weft_string_fits(s, n))
		return false;
	if (n->type.kind == WEFT_VALUE_INT)
		*arg = weft_node_promote(s, *arg);
	return *arg != NULL;
}
