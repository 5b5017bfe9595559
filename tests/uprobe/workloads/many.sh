#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Prints a C program of N functions of many shapes, f0 to fN-1, and a main that calls fI (I % 3) + 1 times with known
# arguments. What each does with them differs, so that compilers begin them in many ways.
n=${1:?}
awk -v n="$n" 'BEGIN {
	print "/* made by many.sh */"
	print "#ifdef __clang__\n#define KEEP __attribute__((noinline, used))\n#else"
	print "#define KEEP __attribute__((noinline, noclone, used, externally_visible))\n#endif"
	print "struct node { struct node *next; long value; char tag; };"
	print "volatile long sink; long table[64]; struct node nodes[4] = {{&nodes[1], 1, 2}, {&nodes[2], 3, 4}, {&nodes[3], 5, 6}, {0, 7, 8}};"
	for (i = 0; i < n; i++) {
		k = i % 12
		printf "KEEP long f%d(long a, long b, struct node *p, long d, long e, long f, long g, long h)\n{\n", i
		if (k == 0) printf "\treturn a + b * %d + h;\n", i
		if (k == 1) printf "\tif (!p)\n\t\treturn %d;\n\treturn p->value + a;\n", i
		if (k == 2) printf "\tlong s = 0;\n\tfor (long q = 0; q < (a & 7); q++)\n\t\ts += table[(q + b) & 63];\n\treturn s + g;\n"
		if (k == 3) printf "\tsink = a;\n\tp->value = p->value;\n\treturn f%d(b, a, p, d, e, f, g, h) + sink;\n", i > 0 ? i - 3 : 0
		if (k == 4) printf "\tswitch (a & 7) {\n\tcase 0: return b;\n\tcase 1: return d * 3;\n\tcase 2: return e - a;\n\tcase 3: return f ^ %d;\n\tcase 4: return sink;\n\tcase 5: return p->tag;\n\tdefault: return 0;\n\t}\n", i
		if (k == 5) printf "\twhile (p && p->value != a)\n\t\tp = p->next;\n\treturn p ? p->value : -1;\n"
		if (k == 6) printf "\tp->tag = (char)(p->tag ? 0 : 2);\n\treturn f%d(b, a, p, d, e, f, g, h);\n", i - 6
		if (k == 7) printf "\tvolatile char buf[%d];\n\tbuf[a & 7] = (char)b;\n\treturn buf[a & 7] + h;\n", 64 + i % 400
		if (k == 8) printf "\tdouble x = (double)a / 3.0;\n\treturn (long)(x * (double)b) + g;\n"
		if (k == 9) printf "\treturn a > b ? f%d(d, e, p, a, b, f, g, h) : f%d(e, d, p, b, a, f, g, h);\n", i - 9, i - 8
		if (k == 10) printf "\tfor (;;) {\n\t\tif (a <= 0)\n\t\t\treturn b;\n\t\ta -= 3;\n\t\tb += table[a & 63];\n\t}\n"
		if (k == 11) printf "\ttable[a & 63] = b;\n\treturn table[(a + 1) & 63] + d + e + f;\n"
		print "}"
	}
	print "int main(void)\n{\n\tlong s = 0;"
	for (i = 0; i < n; i++)
		printf "\tfor (long r = 0; r < %d; r++)\n\t\ts += f%d(%d + r, %d, &nodes[%d], %d, 5, 6, 7, %d - r);\n", i % 3 + 1, i, i % 97, i % 89, i % 4, i, i
	print "\treturn s == 0x7fffffff;\n}"
}'
