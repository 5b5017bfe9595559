/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program that knows where its functions are. It writes lines
 *
 *	at ADDRESS NAME OFFSET        an address in a function; NAME - : in none
 *	local ADDRESS NAME OFFSET     the same of a function that only .symtab knows
 *	caller ADDRESS NAME OFFSET    a return address; OFFSET - : not known here
 *	lib ADDRESS NAME OFFSET       in the library that it was told to load
 *	ready PID
 *
 * and then obeys: "exec PATH" or the end of its input.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int target_first(int x);
int target_second(int x);
void target_never_returns(void) __attribute__((noreturn));
void target_calls_at_its_end(void);
void target_assembler(void); /* no type, no size */
void target_sized(void);     /* 16 bytes, followed by 16 that belong to nothing */
extern const char target_gap[];

static jmp_buf back;
static void *return_address;

__attribute__((noinline)) int target_first(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x * 3 + 1;
}

__attribute__((noinline)) int target_second(int x)
{
	__asm__ volatile("" : "+r"(x));
	return target_first(x) - 5;
}

static __attribute__((noinline, used)) int target_local(int x)
{
	__asm__ volatile("" : "+r"(x));
	return target_second(x) ^ 0x55;
}

__attribute__((noinline)) void target_never_returns(void)
{
	return_address = __builtin_return_address(0);
	longjmp(back, 1);
}

static void at(const char *kind, const void *base, const char *name, unsigned int offset)
{
	printf("%s 0x%lx %s %u\n", kind, (unsigned long)(uintptr_t)base + offset, name, offset);
}

static void load(const char *path)
{
#ifdef TARGET_STATIC
	(void)path;
#else
	void *lib = dlopen(path, RTLD_NOW);
	void *f = lib ? dlsym(lib, "library_function") : NULL;

	if (!f) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	at("lib", f, "library_function", 0);
	at("lib", f, "library_function", 3);
#endif
}

int main(int argc, char **argv)
{
	char line[4096];

	at("at", (void *)target_first, "target_first", 0);
	at("at", (void *)target_first, "target_first", 2);
	at("at", (void *)target_second, "target_second", 1);
	at("at", (void *)target_sized, "target_sized", 0);
	at("at", (void *)target_sized, "target_sized", 15);
	at("at", target_gap, "-", 0);
	at("at", target_gap, "-", 15);
	at("at", (void *)target_assembler, "target_assembler", 0);
	at("at", (void *)target_assembler, "target_assembler", 4);
	at("local", (void *)target_local, "target_local", 1);
	at("at", (void *)main, "main", 4);
	if (!setjmp(back))
		target_calls_at_its_end();
	printf("caller 0x%lx target_calls_at_its_end %lu\n", (unsigned long)return_address,
	       (unsigned long)((uintptr_t)return_address - (uintptr_t)target_calls_at_its_end));
	if (argc > 1)
		load(argv[1]);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "exec ", 5) == 0) {
			char *args[] = {line + 5, NULL};

			execv(args[0], args);
			return 1;
		}
	}
	return target_local(argc) == 12345;
}
