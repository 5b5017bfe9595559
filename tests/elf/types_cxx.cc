/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What C++ passes otherwise than it looks. */
#include <string>

struct base {
	int in_base;
};

struct plain {
	long a;
};

struct derived : base {
	int own;
	static int shared;
	derived(const derived &other);
	derived();
	~derived();
	int method(int n) const;
};

#define KEEP extern "C" __attribute__((noinline, used))

derived::derived(const derived &other) : base(other), own(other.own)
{
}
derived::derived() : base{1}, own(2)
{
}
derived::~derived()
{
	__asm__ volatile("");
}

__attribute__((noinline, used)) int derived::method(int n) const
{
	__asm__ volatile("");
	return own + n;
}

/* An object with a destructor is passed by its address, one without as it is. */
KEEP int x_object(derived d, int n)
{
	__asm__ volatile("");
	return d.own + n;
}

KEEP int x_plain(plain p, int n)
{
	__asm__ volatile("");
	return (int)p.a + n;
}

KEEP derived x_returns(int n)
{
	__asm__ volatile("");
	derived d;

	d.own = n;
	return d;
}

KEEP int x_reference(const std::string &text, derived &&d, long plain::*member, std::nullptr_t nothing, int n)
{
	__asm__ volatile("");
	return (int)text.size() + d.own + (member != nullptr) + (nothing == nullptr) + n;
}

/* Not trivial by what is in it, and trivial in spite of what it declares. */
struct holder {
	derived inside[2];
};

struct defaulted {
	long a, b;
	defaulted(const defaulted &) = default;
	defaulted(long x, long y) : a(x), b(y)
	{
	}
	defaulted(int);
};

struct polymorph {
	virtual int f()
	{
		return 1;
	}
	int n;
};

KEEP int x_holder(holder h, std::string text, polymorph p, int n)
{
	__asm__ volatile("");
	return h.inside[1].own + (int)text.size() + p.n + n;
}

KEEP int x_defaulted(defaulted d, int n)
{
	__asm__ volatile("");
	return (int)(d.a + d.b) + n;
}

/* Brings the whole class into the debugging information. */
KEEP int x_make(int n)
{
	polymorph p;

	p.n = n;
	__asm__ volatile("" : : "r"(&p) : "memory");
	return p.f();
}
