/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Types of functions from debugging information. That arguments lie where they are said to lie is
 * shown by calling the functions: a breakpoint is put on the first instruction of each, a debugger
 * of our own reads the places, and finds what the caller passed.
 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/btf/btf.h"
#include "core/btf/enums.h"
#include "elf/rig.h"

struct types {
	struct weft_elf_reader *r;
	const struct weft_elf *elf;
	const struct weft_elf_function *functions;
	uint32_t n;
};

/* Asks for functions by name, in that order. */
static void ask(struct types *t, const char *path, const char *const *names, uint32_t n)
{
	struct weft_error *err = weft_error_create();
	struct weft_elf_request request = {.struct_size = sizeof(request),
					   .path = path,
					   .want = WEFT_ELF_WANT_FUNCTIONS | WEFT_ELF_WANT_DEBUG};
	uint64_t addresses[32];

	t->r = weft_elf_reader_create(NULL);
	t->elf = read_file(t->r, path, request.want);
	t->n = n;
	for (uint32_t i = 0; i < n; i++) {
		const struct weft_elf_symbol *s = find_symbol(t->elf, names[i], NULL);

		/* what an optimiser made of it */
		for (uint32_t k = 0; !s && k < t->elf->n_symbols; k++)
			if (!strncmp(weft_elf_symbol_at(t->elf, k)->name, names[i], strlen(names[i])))
				s = weft_elf_symbol_at(t->elf, k);
		cr_assert(s, "%s", names[i]);
		addresses[i] = s->address;
	}
	request.fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_eq(weft_elf_functions(t->r, t->elf, &request, addresses, n, &t->functions, err),
		     0, "%s", weft_error_text(err));
	close(request.fd);
	weft_error_destroy(err);
}

static void forget(struct types *t)
{
	weft_elf_release(t->r, t->elf);
	weft_elf_reader_destroy(t->r);
}

static const struct weft_arg *arg_of(const struct weft_elf_function *f, uint32_t i)
{
	return (const struct weft_arg *)((const char *)f->args + (size_t)i * f->arg_size);
}

static struct weft_btf *object_of(int fd)
{
	struct weft_btf *btf = NULL;
	struct stat st;
	void *bytes;

	cr_assert_eq(fstat(fd, &st), 0);
	bytes = malloc((size_t)st.st_size);
	cr_assert_eq(pread(fd, bytes, (size_t)st.st_size, 0), st.st_size);
	cr_assert_eq(weft_btf_create(bytes, (size_t)st.st_size, false, NULL, &btf, NULL), 0);
	return btf;
}

static const char *const names[] = {"t_simple",  "t_many",  "t_floats", "t_hidden",
				    "t_pair",    "t_split", "t_packed", "t_variadic",
				    "t_nothing", "t_enum",  "t_static", "types_main"};
#define N_NAMES (sizeof(names) / sizeof(names[0]))

static const char *const files[] = {"types-O0", "types-O2", "types-dwarf4", "types-stripped",
				    "types-clang"};

Test(elf_types, prototypes)
{
	static const char *const prototypes[N_NAMES] = {
		"int t_simple(node_t *node, const char *name, unsigned char byte, short small, _Bool flag)",
		"long t_many(int a, int b, int c, int d, int e, int f, int g, short h, const char *i, uint64_t j)",
		"double t_floats(double x, int n, float y, char *s, long double z, int last)",
		"struct three t_hidden(struct node *node, int n)",
		"struct pair t_pair(struct pair p, int n, struct three t, int m, struct mixed x, long l)",
		"int t_split(int a, int b, int c, int d, int e, struct pair p, int n, int last)",
		"int t_packed(struct packed p, struct floats f, __int128 wide, int n)",
		"int t_variadic(const char *format, ...)",
		"void t_nothing(void)",
		"enum color t_enum(enum color c, int (*call)(int, const char *), volatile int *const p)",
		"int t_static(struct node *n, int unused)",
		"int types_main(void)",
	};

	for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
		struct types t;

		ask(&t, built(files[f]), names, N_NAMES);
		for (size_t i = 0; i < N_NAMES; i++) {
			char text[512];

			if (!strcmp(names[i], "t_static") && t.functions[i].status)
				continue; /* made over, and says so */
			cr_assert_eq(t.functions[i].status, 0, "%s: %s", files[f], names[i]);
			/* Compilers spell base types differently. */
			snprintf(text, sizeof(text), "%s", t.functions[i].prototype);
			for (char *c; (c = strstr(text, "long int"));)
				memmove(c + 4, c + 8, strlen(c + 8) + 1);
			for (char *c; (c = strstr(text, "short int"));)
				memmove(c + 5, c + 9, strlen(c + 9) + 1);
			cr_expect_str_eq(text, prototypes[i], "%s: %s", files[f], text);
			cr_expect(t.functions[i].file && strstr(t.functions[i].file, "types.c") &&
				  t.functions[i].line);
		}
		cr_assert(t.functions[7].variadic);
		cr_assert_eq(t.functions[7].n_args, 1);
		cr_assert_eq(t.functions[8].n_args, 0);
		forget(&t);
	}
}

/* ---- members ---- */

static bool member(const struct weft_btf *btf, uint32_t id, const char *name,
		   struct weft_btf_field *out)
{
	struct weft_btf_type t;

	cr_assert(weft_btf_strip(btf, id, &t, NULL) && weft_btf_is_struct(&t));
	for (uint32_t i = 0; i < t.vlen; i++) {
		weft_btf_field(btf, &t, i, out);
		if (!strcmp(out->name, name))
			return true;
	}
	return false;
}

static void expect_unsigned(struct weft_btf *btf, const char *name, const char *constant,
			    uint64_t value)
{
	const uint32_t kinds = WEFT_BTF_KINDS(BTF_KIND_ENUM) | WEFT_BTF_KINDS(BTF_KIND_ENUM64);
	const struct weft_btf_enum *e;
	int64_t got = 0;
	uint32_t id;

	cr_assert(weft_btf_find(btf, name, kinds, &id, NULL), "%s", name);
	e = weft_btf_enum(btf, id);
	cr_assert(e && !e->is_signed, "%s", name);
	cr_expect(weft_btf_enum_value(e, constant, &got) && (uint64_t)got == value, "%s is %ld",
		  constant, got);
}

Test(elf_types, members_of_structs)
{
	for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
		struct weft_btf_type type;
		struct weft_btf_field m;
		struct weft_btf *btf;
		const struct weft_arg *a;
		struct types t;
		uint64_t size;

		ask(&t, built(files[f]), names, N_NAMES);
		a = arg_of(&t.functions[0], 0);
		cr_assert_eq(a->type.kind, WEFT_TYPE_BTF);
		cr_assert_eq(a->type.space, WEFT_SPACE_USER);
		cr_assert_str_eq(a->type.text, "node_t *");
		btf = object_of(a->type.btf_fd);
		cr_assert(weft_btf_strip(btf, a->type.btf_id, &type, NULL));
		cr_assert_eq(type.kind, BTF_KIND_PTR);
		cr_assert(weft_btf_size(btf, type.type, &size));
		cr_assert_eq(size, 88, "%lu", size);
		cr_assert(member(btf, type.type, "inner", &m) && m.bit == 64);
		cr_assert(member(btf, m.type, "low", &m) && m.bit == 32 && m.bits == 3, "%u", m.bit);
		cr_assert(member(btf, type.type, "inner", &m));
		cr_assert(member(btf, m.type, "high", &m) && m.bit == 35 && m.bits == 7);
		cr_assert(member(btf, type.type, "values", &m) && m.bit == 24 * 8);
		cr_assert(weft_btf_size(btf, m.type, &size) && size == 48);
		cr_assert(member(btf, type.type, "", &m) && m.bit == 72 * 8);
		expect_unsigned(btf, "great", "GREAT", 0x80000000);
		expect_unsigned(btf, "octet", "HIGH", 200);
		expect_unsigned(btf, "all", "ALL", UINT64_MAX);
		cr_assert(member(btf, m.type, "as_float", &m) && m.bit == 0);
		cr_assert(member(btf, type.type, "color", &m) && m.bit == 76 * 8);
		cr_assert(weft_btf_strip(btf, m.type, &type, NULL) && weft_btf_is_enum(&type));
		cr_assert_eq(type.vlen, 3);
		cr_assert(weft_btf_enum_is_signed(btf, &type));
		weft_btf_destroy(btf);
		forget(&t);
	}
}

/* ---- places, by what a debugger sees there ---- */

struct debugged {
	pid_t pid;
	uint64_t bias;
	struct user_regs_struct regs;
};

static uint64_t peek(const struct debugged *d, uint64_t address)
{
	long v;

	errno = 0;
	v = ptrace(PTRACE_PEEKDATA, d->pid, address, NULL);
	cr_assert_eq(errno, 0);
	return (uint64_t)v;
}

static uint64_t extend(uint64_t v, uint32_t size, bool is_signed)
{
	unsigned int shift = 64 - size * 8;

	return is_signed ? (uint64_t)((int64_t)(v << shift) >> shift) : v << shift >> shift;
}

static uint64_t value_at(const struct debugged *d, const struct weft_location *where)
{
	const struct user_regs_struct *r = &d->regs;
	const uint64_t by_number[] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi,
				      r->rdi, r->rbp, r->rsp, r->r8,  r->r9};
	uint64_t v = 0;

	for (uint32_t i = 0; i < where->n_ops; i++) {
		const struct weft_loc_op *op = &where->ops[i];

		if (op->op == WEFT_LOC_REG)
			v = by_number[op->imm];
		else if (op->op == WEFT_LOC_LOAD)
			v = peek(d, v + (uint64_t)op->imm);
		else
			cr_assert_fail("operation %u", op->op);
		v = extend(v, op->size, op->flags & WEFT_LOC_SIGNED);
	}
	return v;
}

/* What types_main() passes; the strings by their first character. */
struct expected {
	const char *function;
	uint32_t arg;
	int64_t value;
	bool text;
};
static const struct expected values[] = {
	{"t_simple", 1, 'n', true},      {"t_simple", 2, 255, false}, {"t_simple", 3, -2, false},
	{"t_simple", 4, 1, false},       {"t_many", 0, 1, false},     {"t_many", 5, 6, false},
	{"t_many", 6, 7, false},         {"t_many", 7, -8, false},    {"t_many", 8, 'i', true},
	{"t_many", 9, 1ll << 40, false}, {"t_floats", 1, 2, false},   {"t_floats", 3, 's', true},
	{"t_floats", 5, 5, false},       {"t_hidden", 1, 7, false},   {"t_pair", 1, 1, false},
	{"t_pair", 3, 2, false},         {"t_pair", 5, 3, false},     {"t_split", 4, 5, false},
	{"t_split", 6, 6, false},        {"t_split", 7, 7, false},    {"t_packed", 3, 9, false},
	{"t_variadic", 0, 'x', true},    {"t_enum", 0, 0, false},
};

static void unreadable_are(const struct types *t)
{
	static const struct {
		uint32_t function, arg;
		const char *why;
	} unreadable[] = {
		{2, 0, "vector register"}, {2, 2, "vector register"}, {2, 4, "on the stack"},
		{4, 0, "by value"},        {4, 2, "on the stack"},    {4, 4, "vector register"},
		{5, 5, "on the stack"},    {6, 0, "on the stack"},    {6, 1, "vector register"},
		{6, 2, "by value"},
	};

	for (size_t i = 0; i < sizeof(unreadable) / sizeof(unreadable[0]); i++) {
		const struct weft_arg *a =
			arg_of(&t->functions[unreadable[i].function], unreadable[i].arg);

		cr_expect(!a->where.n_ops && a->unreadable &&
				  strstr(a->unreadable, unreadable[i].why),
			  "%s %u: %s", names[unreadable[i].function], unreadable[i].arg,
			  a->unreadable ? a->unreadable : "readable");
	}
}

Test(elf_types, arguments_lie_where_they_are_said_to)
{
	for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
		struct debugged d = {.pid = 0};
		unsigned int seen = 0;
		uint64_t at[N_NAMES];
		void *library, *known;
		struct types t;
		int status;

		ask(&t, built(files[f]), names, N_NAMES);
		unreadable_are(&t);
		library = dlopen(built(files[f]), RTLD_NOW | RTLD_LOCAL);
		cr_assert(library, "%s", dlerror());
		known = dlsym(library, "t_simple");
		cr_assert(known);
		d.bias = (uint64_t)(uintptr_t)known - t.functions[0].address;
		d.pid = fork();
		if (!d.pid) {
			int (*run)(void) = (int (*)(void))dlsym(library, "types_main");

			ptrace(PTRACE_TRACEME, 0, NULL, NULL);
			raise(SIGSTOP);
			run();
			_exit(0);
		}
		cr_assert_eq(waitpid(d.pid, &status, 0), d.pid);
		for (size_t i = 0; i < N_NAMES - 2; i++) { /* each called once: no need to go on */
			at[i] = t.functions[i].address + d.bias;
			cr_assert_eq(ptrace(PTRACE_POKETEXT, d.pid, at[i],
					    (peek(&d, at[i]) & ~0xffull) | 0xcc),
				     0);
		}
		for (;;) {
			size_t i = 0;
			uint64_t original;

			ptrace(PTRACE_CONT, d.pid, NULL, NULL);
			cr_assert_eq(waitpid(d.pid, &status, 0), d.pid);
			if (WIFEXITED(status))
				break;
			cr_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP, "%s: %x",
				  files[f], status);
			ptrace(PTRACE_GETREGS, d.pid, NULL, &d.regs);
			while (at[i] != d.regs.rip - 1)
				cr_assert_lt(++i, N_NAMES);
			for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
				const struct weft_arg *a;
				uint64_t v;

				if (strcmp(values[k].function, names[i]) != 0)
					continue;
				a = arg_of(&t.functions[i], values[k].arg);
				cr_assert(a->where.n_ops, "%s %u: %s", names[i], values[k].arg,
					  a->unreadable);
				v = value_at(&d, &a->where);
				if (values[k].text)
					v = peek(&d, v) & 0xff;
				cr_expect_eq((int64_t)v, values[k].value, "%s: %s %u: %ld",
					     files[f], names[i], values[k].arg, (int64_t)v);
				seen++;
			}
			/* The breakpoint goes, and the instruction runs. */
			original = *(const unsigned char *)(uintptr_t)at[i];
			ptrace(PTRACE_POKETEXT, d.pid, at[i],
			       (peek(&d, at[i]) & ~0xffull) | original);
			d.regs.rip--;
			ptrace(PTRACE_SETREGS, d.pid, NULL, &d.regs);
		}
		cr_assert_eq(seen, sizeof(values) / sizeof(values[0]), "%s: %u", files[f], seen);
		dlclose(library);
		forget(&t);
	}
}

/* A register and its size, or why there is none. */
static void expect_register(const struct weft_elf_function *f, uint32_t i, int64_t number,
			    uint8_t size)
{
	const struct weft_arg *a = arg_of(f, i);

	cr_assert_lt(i, f->n_args);
	if (!size) {
		cr_expect(!a->where.n_ops && a->unreadable);
		return;
	}
	cr_assert_eq(a->where.n_ops, 1, "%s %u: %s", f->prototype, i, a->unreadable);
	cr_expect_eq(a->where.ops[0].op, WEFT_LOC_REG);
	cr_expect_eq(a->where.ops[0].imm, number, "%s %u: %ld", f->prototype, i,
		     a->where.ops[0].imm);
	cr_expect_eq(a->where.ops[0].size, size);
}

Test(elf_types, what_cxx_passes)
{
	static const char *const some[] = {
		"x_object", "x_plain",    "x_returns", "x_reference", "_ZNK7derived6methodEi",
		"x_holder", "x_defaulted"};
	struct weft_btf_field m;
	struct weft_btf_type type;
	struct weft_btf *btf;
	const struct weft_arg *this;
	struct types t;

	ask(&t, built("types-cxx"), some, 7);
	for (int i = 0; i < 7; i++)
		cr_assert_eq(t.functions[i].status, 0, "%s", some[i]);
	/* rdi, rsi, rdx, rcx, r8 are 5, 4, 1, 2, 8 */
	expect_register(&t.functions[0], 0, 5, 8); /* the object's address */
	expect_register(&t.functions[0], 1, 4, 4);
	expect_register(&t.functions[1], 0, 5, 0);
	expect_register(&t.functions[1], 1, 4, 4);
	expect_register(&t.functions[2], 0, 4, 4);    /* behind the result's address */
	cr_expect_eq(t.functions[2].retval.n_ops, 1); /* which is given back */
	for (uint32_t i = 0; i < 4; i++)
		expect_register(&t.functions[3], i, (int64_t[]){5, 4, 1, 2}[i], 8);
	expect_register(&t.functions[3], 4, 8, 4);
	expect_register(&t.functions[4], 1, 4, 4);
	for (uint32_t i = 0; i < 3; i++)
		expect_register(&t.functions[5], i, (int64_t[]){5, 4, 1}[i], 8);
	expect_register(&t.functions[5], 3, 2, 4);
	expect_register(&t.functions[6], 0, 5, 0);
	expect_register(&t.functions[6], 1, 1, 4); /* behind two words */
	/* A base's members are the class's. */
	this = arg_of(&t.functions[4], 0);
	cr_assert_str_eq(this->name, "this");
	btf = object_of(this->type.btf_fd);
	cr_assert(weft_btf_strip(btf, this->type.btf_id, &type, NULL));
	cr_assert(member(btf, type.type, "own", &m) && m.bit == 32);
	cr_assert(!member(btf, type.type, "shared", &m));
	cr_assert(member(btf, type.type, "", &m) && m.bit == 0);
	cr_assert(member(btf, m.type, "in_base", &m));
	weft_btf_destroy(btf);
	forget(&t);
}

Test(elf_types, what_is_not_known_is_not_invented)
{
	static const char *const some[] = {"target_marker", "_ZN2ns4type6methodEi", "target_local"};
	struct types t;

	/* An assembler's function has no entry; a C function beside it has. */
	ask(&t, built("plain"), some, 3);
	cr_assert_eq(t.functions[0].status, -ENOENT);
	cr_assert_null(t.functions[0].prototype);
	cr_assert_eq(t.functions[1].status, 0);
	cr_assert_eq(t.functions[2].status, 0);
	forget(&t);
	/* None has any where there is no debugging information, and that is no error. */
	ask(&t, "/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", (const char *const[]){"_dl_mcount"},
	    1);
	forget(&t);
}

Test(elf_types, ELF_REQUEST)
{
	struct weft_error *err = weft_error_create();
	struct weft_elf_request request = {.struct_size = sizeof(request), .fd = 0};
	const struct weft_elf_function *out;
	const struct weft_elf nothing = {0};
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	uint64_t address = 1;

	cr_assert_eq(weft_elf_functions(r, &nothing, &request, &address, 1, &out, err), -EINVAL);
	cr_assert_str_eq(weft_error_tag(err), "ELF_REQUEST");
	weft_error_destroy(err);
	weft_elf_reader_destroy(r);
}
