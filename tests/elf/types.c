/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions whose types are to be read, and whose arguments' places are checked by calling
 * them (test_types.c). */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inner {
	int a;
	unsigned int low : 3, high : 7;
	const char *name;
};

typedef struct node {
	struct node *next;
	struct inner inner;
	long values[2][3];
	union {
		int as_int;
		float as_float;
		enum great { SMALL = 1, GREAT = 0x80000000u } as_great;
		enum __attribute__((packed)) octet { LOW, HIGH = 200 } as_octet;
	};
	enum color { RED, GREEN = 5, BLUE = -1 } color;
	int (*call)(struct node *, ...);
	char text[];
} node_t;

struct pair {
	long a, b;
};
struct three {
	long a, b;
	enum all { NONE, ALL = 0xffffffffffffffffu } c;
};
struct floats {
	float a, b, c;
};
struct mixed {
	double d;
	int i;
};
struct __attribute__((packed)) packed {
	char c;
	long l;
};

#define USE(x) __asm__ volatile("" : : "g"(x) : "memory")
#define KEEP   __attribute__((noinline, used))

KEEP int t_simple(node_t *node, const char *name, unsigned char byte, short small, bool flag);
KEEP int t_simple(node_t *node, const char *name, unsigned char byte, short small, bool flag)
{
	USE(node);
	USE(name);
	return byte + small + flag;
}

KEEP long t_many(int a, int b, int c, int d, int e, int f, int g, short h, const char *i,
		 uint64_t j);
KEEP long t_many(int a, int b, int c, int d, int e, int f, int g, short h, const char *i, uint64_t j)
{
	USE(0);
	return a + b + c + d + e + f + g + h + *i + (long)j;
}

KEEP double t_floats(double x, int n, float y, char *s, long double z, int last);
KEEP double t_floats(double x, int n, float y, char *s, long double z, int last)
{
	USE(0);
	return x + n + y + *s + (double)z + last;
}

KEEP struct three t_hidden(struct node *node, int n);
KEEP struct three t_hidden(struct node *node, int n)
{
	USE(0);
	return (struct three){(long)node, n, 0};
}

KEEP struct pair t_pair(struct pair p, int n, struct three t, int m, struct mixed x, long l);
KEEP struct pair t_pair(struct pair p, int n, struct three t, int m, struct mixed x, long l)
{
	USE(0);
	return (struct pair){p.a + n + t.a + m, x.i + l};
}

/* Two registers are wanted and one is left: the whole goes to the stack, and n takes the register. */
KEEP int t_split(int a, int b, int c, int d, int e, struct pair p, int n, int last);
KEEP int t_split(int a, int b, int c, int d, int e, struct pair p, int n, int last)
{
	USE(0);
	return a + b + c + d + e + (int)p.a + n + last;
}

KEEP int t_packed(struct packed p, struct floats f, __int128 wide, int n);
KEEP int t_packed(struct packed p, struct floats f, __int128 wide, int n)
{
	USE(0);
	return (int)p.l + (int)f.a + (int)wide + n;
}

KEEP int t_variadic(const char *format, ...);
KEEP int t_variadic(const char *format, ...)
{
	USE(0);
	return *format;
}

KEEP void t_nothing(void);
KEEP void t_nothing(void)
{
	USE(0);
}

KEEP enum color t_enum(enum color c, int (*call)(int, const char *), volatile int *const p);
KEEP enum color t_enum(enum color c, int (*call)(int, const char *), volatile int *const p)
{
	USE(0);
	return call ? c : (enum color) * p;
}

static __attribute__((noinline)) int t_static(struct node *n, int unused)
{
	(void)unused;
	USE(n);
	return 1;
}

int types_main(void);
int types_main(void)
{
	node_t node = {0};
	struct pair p = {1, 2};
	struct three t = {1, 2, 3};
	struct mixed x = {1, 2};

	t_simple(&node, "n", 255, -2, true);
	t_many(1, 2, 3, 4, 5, 6, 7, -8, "i", 1ull << 40);
	t_floats(1, 2, 3, (char *)"s", 4, 5);
	t_hidden(&node, 7);
	t_pair(p, 1, t, 2, x, 3);
	t_split(1, 2, 3, 4, 5, p, 6, 7);
	t_packed((struct packed){0}, (struct floats){0}, 1, 9);
	t_variadic("x", 1);
	t_nothing();
	t_enum(RED, NULL, &(int){0});
	return t_static(&node, 3);
}
