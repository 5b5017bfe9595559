/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A toy compiler that weaves probes into the code it makes. Each argument is a function of x; it is
 * compiled to x86-64 in memory, where no file, no symbol and no debugging information tells what is
 * there. Each function gets a probe at its entry, with x, and one at its return, with the result:
 *
 *	jit 'fib = x < 2 ? x : fib(x - 1) + fib(x - 2)' fib 20 1000
 *
 * computes fib(20) a thousand times.   sudo trace-cli run examples/user-syscall/jit.yaml
 *
 * What stands where a probe is:
 *
 *	mov  rax, WORD		; the address of the probe's word: a constant
 *	cmp  qword [rax], 0
 *	je   past
 *	mov  rdi, rax
 *	mov  rsi, [rbp - 8]	; x, or the result
 *	mov  rax, weft_probe_fire
 *	call rax
 *  past:
 */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "weft/user.h"

#if !defined(__x86_64__)
#error "the code that this makes is x86-64's"
#endif

#define FUNCTIONS  16
#define CODE_BYTES (1 << 16)

struct function {
	char name[32];
	int64_t (*code)(int64_t);
	weft_probe *entry, *result;
};

static struct function functions[FUNCTIONS];
static int n_functions;
static uint8_t *code, *at;
static const char *in; /* what is left of the text */
static int depth;      /* words on the stack, for the alignment of calls */

static void die(const char *what)
{
	fprintf(stderr, "jit: %s: '%s'\n", what, in ? in : "");
	exit(2);
}

/* ---- code ---- */

static void emit(const void *bytes, size_t n)
{
	if (at + n > code + CODE_BYTES)
		die("too much code");
	memcpy(at, bytes, n);
	at += n;
}
#define EMIT(...)                                       \
	do {                                            \
		const uint8_t bytes_[] = {__VA_ARGS__}; \
		emit(bytes_, sizeof(bytes_));           \
	} while (0)

static void mov_rax(uint64_t value)
{
	EMIT(0x48, 0xb8);
	emit(&value, 8);
}

static void push_rax(void)
{
	EMIT(0x50);
	depth++;
}

static void pop_rcx(void)
{
	EMIT(0x59);
	depth--;
}

/* A jump with 32 bits to be set later; returns their place. */
static uint8_t *jump(uint8_t first, uint8_t second)
{
	if (first)
		EMIT(first);
	EMIT(second, 0, 0, 0, 0);
	return at - 4;
}

static void land(uint8_t *place)
{
	int32_t distance = (int32_t)(at - place - 4);

	memcpy(place, &distance, 4);
}

static void weave(weft_probe *probe)
{
	uint8_t *past;

	mov_rax((uint64_t)probe);
	EMIT(0x48, 0x83, 0x38, 0x00); /* cmp qword [rax], 0 */
	past = jump(0x0f, 0x84);
	EMIT(0x48, 0x89, 0xc7);       /* mov rdi, rax */
	EMIT(0x48, 0x8b, 0x75, 0xf8); /* mov rsi, [rbp - 8] */
	mov_rax((uint64_t)weft_probe_fire);
	EMIT(0xff, 0xd0);
	land(past);
}

/* ---- the language: ?: < + - * numbers x f(...) (...) ---- */

static void expression(void);

static int next(char c)
{
	while (isspace((unsigned char)*in))
		in++;
	if (*in != c)
		return 0;
	in++;
	return 1;
}

static void call(const char *name, size_t n)
{
	int i = 0;

	while (i < n_functions &&
	       (strlen(functions[i].name) != n || memcmp(functions[i].name, name, n)))
		i++;
	if (i == n_functions)
		die("no such function");
	expression();
	if (!next(')'))
		die("a bracket is missing");
	EMIT(0x48, 0x89, 0xc7); /* mov rdi, rax */
	if (depth & 1)
		EMIT(0x48, 0x83, 0xec, 0x08); /* sub rsp, 8 */
	mov_rax((uint64_t)&functions[i].code);
	EMIT(0xff, 0x10); /* call [rax] */
	if (depth & 1)
		EMIT(0x48, 0x83, 0xc4, 0x08);
}

static void primary(void)
{
	const char *name;
	size_t n = 0;

	if (next('(')) {
		expression();
		if (!next(')'))
			die("a bracket is missing");
		return;
	}
	if (isdigit((unsigned char)*in)) {
		char *end;

		mov_rax(strtoull(in, &end, 10));
		in = end;
		return;
	}
	name = in;
	while (isalnum((unsigned char)name[n]))
		n++;
	if (!n)
		die("not understood");
	in += n;
	if (next('('))
		call(name, n);
	else if (n == 1 && *name == 'x')
		EMIT(0x48, 0x8b, 0x45, 0xf0); /* mov rax, [rbp - 16] */
	else
		die("only x is known");
}

static void binary(void (*operand)(void), char op, void (*combine)(void), char other,
		   void (*otherwise)(void))
{
	operand();
	for (;;) {
		void (*how)(void) = next(op) ? combine : other && next(other) ? otherwise : NULL;

		if (!how)
			return;
		push_rax();
		operand();
		EMIT(0x48, 0x89, 0xc2); /* mov rdx, rax */
		pop_rcx();
		how();
	}
}

/* rax = rcx OP rdx */
static void multiply(void)
{
	EMIT(0x48, 0x89, 0xc8, 0x48, 0x0f, 0xaf, 0xc2);
}
static void add(void)
{
	EMIT(0x48, 0x89, 0xc8, 0x48, 0x01, 0xd0);
}
static void subtract(void)
{
	EMIT(0x48, 0x89, 0xc8, 0x48, 0x29, 0xd0);
}
static void less(void)
{
	EMIT(0x31, 0xc0, 0x48, 0x39, 0xd1, 0x0f, 0x9c,
	     0xc0); /* xor eax, eax; cmp rcx, rdx; setl al */
}

static void product(void)
{
	binary(primary, '*', multiply, 0, NULL);
}
static void sum(void)
{
	binary(product, '+', add, '-', subtract);
}

static void expression(void)
{
	uint8_t *otherwise, *end;

	binary(sum, '<', less, 0, NULL);
	if (!next('?'))
		return;
	EMIT(0x48, 0x85, 0xc0); /* test rax, rax */
	otherwise = jump(0x0f, 0x84);
	expression();
	end = jump(0, 0xe9);
	if (!next(':'))
		die("a : is missing");
	land(otherwise);
	expression();
	land(end);
}

static void define(const char *text)
{
	size_t n = strcspn(text, " =");
	struct function *f = &functions[n_functions++];

	if (n_functions > FUNCTIONS || n >= sizeof(f->name))
		die("too many functions, or too long a name");
	memcpy(f->name, text, n);
	f->entry = weft_probe_declare(f->name, "entry", "int64 x", NULL);
	f->result = weft_probe_declare(f->name, "return", "int64 result", NULL);
	in = text + n;
	if (!next('='))
		die("NAME = EXPRESSION");
	f->code = (int64_t(*)(int64_t))(void *)at;
	depth = 0;
	EMIT(0x55, 0x48, 0x89, 0xe5, 0x57, 0x57); /* push rbp; mov rbp, rsp; push rdi twice */
	weave(f->entry);
	expression();
	if (in[strspn(in, " ")])
		die("not understood");
	EMIT(0x48, 0x89, 0x45, 0xf8); /* mov [rbp - 8], rax */
	weave(f->result);
	EMIT(0x48, 0x8b, 0x45, 0xf8, 0xc9, 0xc3); /* mov rax, [rbp - 8]; leave; ret */
}

int main(int argc, char **argv)
{
	int i = 1;

	code = at = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		die("no memory for code");
	while (i < argc && strchr(argv[i], '='))
		define(argv[i++]);
	if (i + 3 != argc || !n_functions) {
		fprintf(stderr, "usage: jit 'NAME = EXPRESSION in x'... NAME X TIMES\n");
		return 2;
	}
	for (int k = 0; k < n_functions; k++) {
		volatile int64_t result = 0;

		if (strcmp(functions[k].name, argv[i]))
			continue;
		for (long times = atol(argv[i + 2]); times > 0; times--)
			result = functions[k].code(atol(argv[i + 1]));
		printf("%lld\n", (long long)result);
		return 0;
	}
	in = argv[i];
	die("no such function");
}
