/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A library to be loaded by target.c. */
int library_before(int x);
int library_function(int x);

int library_before(int x)
{
	return x + 1;
}

int library_function(int x)
{
	return x * 7 - library_before(x);
}
