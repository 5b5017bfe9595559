/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Overloads: ten calls of one, twenty of the other, and a method. */
#define KEEP __attribute__((noinline, used))

namespace shapes
{
KEEP long area(long a)
{
	__asm__ volatile("" ::: "memory");
	return a * a;
}

KEEP long area(long a, long b)
{
	__asm__ volatile("" ::: "memory");
	return a * b;
}

struct box {
	long side;
	KEEP long volume() const;
};

long box::volume() const
{
	__asm__ volatile("" ::: "memory");
	return side * side * side;
}
}

int main()
{
	shapes::box b{3};
	long sum = 0;

	for (long i = 0; i < 10; i++)
		sum += shapes::area(i);
	for (long i = 0; i < 20; i++)
		sum += shapes::area(i, 2);
	for (long i = 0; i < 5; i++)
		sum += b.volume();
	return sum == -1;
}
