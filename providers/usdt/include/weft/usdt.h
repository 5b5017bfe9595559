/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * weft/usdt.h: static probes for C and C++ programs.
 *
 *	#include <weft/usdt.h>
 *
 *	WEFT_USDT(shop, sale, item_id, price, name);
 *
 * puts a probe `usdt:PROGRAM:shop:sale` with three arguments where it stands. It is one nop, and a
 * note in the file that says where the nop is and where the arguments lie: nothing is computed,
 * called or linked for it. Any tracer that reads .note.stapsdt can use it. Up to 12 arguments:
 * integers, booleans, enumerations and pointers, of 1 to 8 bytes; a string is a pointer to it.
 *
 * Arguments that take work to compute are better computed only while somebody looks. Once in the
 * program or library, at file scope,
 *
 *	WEFT_USDT_SEMAPHORE(shop, sale);
 *
 * makes a counter that tracers raise while they trace, and then
 *
 *	WEFT_USDT_GUARDED(shop, sale, item_id, total(cart));
 *
 * evaluates its arguments and passes the probe only while the counter is not zero.
 * WEFT_USDT_ENABLED(shop, sale) is that question by itself. A file that uses a counter that another
 * file of the same program or library makes says WEFT_USDT_DECLARE(shop, sale) instead. One probe
 * may have both plain and guarded sites.
 *
 * The names are C identifiers. GCC and Clang, Linux, x86-64 and arm64.
 */
#ifndef WEFT_USDT_H
#define WEFT_USDT_H

#if !defined(__GNUC__) || !defined(__ELF__)
#error "weft/usdt.h needs GCC or Clang, and ELF"
#endif

/* ---- what people use ---- */

/* A probe: WEFT_USDT(provider, name, arguments...) */
#define WEFT_USDT(...) WEFT_USDT_SITE_("0", __VA_ARGS__)

/* The same, skipped with its arguments while nobody traces it. */
#define WEFT_USDT_GUARDED(...)                                                                 \
	do {                                                                                   \
		if (__builtin_expect(WEFT_USDT_ENABLED_(__VA_ARGS__, 0), 0))                   \
			WEFT_USDT_SITE_(WEFT_USDT_COUNTER_TEXT_(__VA_ARGS__, 0), __VA_ARGS__); \
	} while (0)

/* Whether somebody traces it. */
#define WEFT_USDT_ENABLED(provider, name) (WEFT_USDT_COUNTER_(provider, name) != 0)

/* The counter of a probe: 16 bits that the kernel adds to in every process that maps them. */
#define WEFT_USDT_SEMAPHORE(provider, name)                                                           \
	WEFT_USDT_DECLARE(provider, name);                                                            \
	__attribute__((weak, visibility("hidden"), used, section(".probes"))) volatile unsigned short \
	WEFT_USDT_COUNTER_(provider, name) = 0
#define WEFT_USDT_DECLARE(provider, name)                                               \
	WEFT_USDT_EXTERN_ __attribute__((visibility("hidden"))) volatile unsigned short \
	WEFT_USDT_COUNTER_(provider, name)

/* ---- how it is done ---- */

#ifdef __cplusplus
#define WEFT_USDT_EXTERN_ extern "C"
#else
#define WEFT_USDT_EXTERN_ extern
#endif

#define WEFT_USDT_COUNTER_(provider, name)      weft_usdt_counter_##provider##_##name
#define WEFT_USDT_ENABLED_(provider, name, ...) WEFT_USDT_ENABLED(provider, name)
#define WEFT_USDT_COUNTER_TEXT_(provider, name, ...) \
	WEFT_USDT_TEXT_(WEFT_USDT_COUNTER_(provider, name))
#define WEFT_USDT_TEXT_(x)  WEFT_USDT_TEXT2_(x)
#define WEFT_USDT_TEXT2_(x) #x

/* An argument as a value: what an array is when it is passed on, without widening small types. */
#ifdef __cplusplus
namespace weft_usdt
{
template <class T> struct is_signed {
	static const bool value = __is_enum(T) ? false : T(-1) < T(1);
};
template <class T> struct is_signed<T *> {
	static const bool value = false;
};
template <class T, bool IsEnum = __is_enum(T)> struct number {
	typedef T type;
};
template <class T> struct number<T, true> {
	typedef __underlying_type(T) type;
};
template <class T> __attribute__((always_inline)) inline T value(T v)
{
	return v;
}
} // namespace weft_usdt
#define WEFT_USDT_VALUE_(x) ::weft_usdt::value(x)
#define WEFT_USDT_SIGNED_(x) \
	(::weft_usdt::is_signed<::weft_usdt::number<__typeof__(::weft_usdt::value(x))>::type>::value)
#else
#define WEFT_USDT_VALUE_(x) ((void)0, (x))
#define WEFT_USDT_SIGNED_(x)                                                                      \
	((__typeof__(__builtin_choose_expr(__builtin_classify_type(WEFT_USDT_VALUE_(x)) == 5, 0u, \
					   WEFT_USDT_VALUE_(x))))-1 < 1)
#endif
/* Its size as the note says it: negative for what has a sign. */
#define WEFT_USDT_SIZE_(x) \
	((WEFT_USDT_SIGNED_(x) ? -1 : 1) * (int)sizeof(__typeof__(WEFT_USDT_VALUE_(x))))

/* clang-format off */
#define WEFT_USDT_PICK_(p, n, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, pick, ...) pick
#define WEFT_USDT_COUNT_(...) \
	WEFT_USDT_PICK_(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)
/* The arguments by number, counted from the last: what an asm statement is given for each, and how
 * the note's text names it. */
#define WEFT_USDT_IN_(i, x) \
	[weft_size##i] "n"(WEFT_USDT_SIZE_(x)), [weft_arg##i] "nor"(WEFT_USDT_VALUE_(x))
#define WEFT_USDT_ARG_(i) "%c[weft_size" #i "]@%[weft_arg" #i "]"
#define WEFT_USDT_INS_0(...)
#define WEFT_USDT_ARGS_0 ""
#define WEFT_USDT_INS_1(x, ...)  WEFT_USDT_IN_(1, x)
#define WEFT_USDT_ARGS_1 WEFT_USDT_ARG_(1)
#define WEFT_USDT_INS_2(x, ...)  WEFT_USDT_IN_(2, x), WEFT_USDT_INS_1(__VA_ARGS__)
#define WEFT_USDT_ARGS_2 WEFT_USDT_ARG_(2) " " WEFT_USDT_ARGS_1
#define WEFT_USDT_INS_3(x, ...)  WEFT_USDT_IN_(3, x), WEFT_USDT_INS_2(__VA_ARGS__)
#define WEFT_USDT_ARGS_3 WEFT_USDT_ARG_(3) " " WEFT_USDT_ARGS_2
#define WEFT_USDT_INS_4(x, ...)  WEFT_USDT_IN_(4, x), WEFT_USDT_INS_3(__VA_ARGS__)
#define WEFT_USDT_ARGS_4 WEFT_USDT_ARG_(4) " " WEFT_USDT_ARGS_3
#define WEFT_USDT_INS_5(x, ...)  WEFT_USDT_IN_(5, x), WEFT_USDT_INS_4(__VA_ARGS__)
#define WEFT_USDT_ARGS_5 WEFT_USDT_ARG_(5) " " WEFT_USDT_ARGS_4
#define WEFT_USDT_INS_6(x, ...)  WEFT_USDT_IN_(6, x), WEFT_USDT_INS_5(__VA_ARGS__)
#define WEFT_USDT_ARGS_6 WEFT_USDT_ARG_(6) " " WEFT_USDT_ARGS_5
#define WEFT_USDT_INS_7(x, ...)  WEFT_USDT_IN_(7, x), WEFT_USDT_INS_6(__VA_ARGS__)
#define WEFT_USDT_ARGS_7 WEFT_USDT_ARG_(7) " " WEFT_USDT_ARGS_6
#define WEFT_USDT_INS_8(x, ...)  WEFT_USDT_IN_(8, x), WEFT_USDT_INS_7(__VA_ARGS__)
#define WEFT_USDT_ARGS_8 WEFT_USDT_ARG_(8) " " WEFT_USDT_ARGS_7
#define WEFT_USDT_INS_9(x, ...)  WEFT_USDT_IN_(9, x), WEFT_USDT_INS_8(__VA_ARGS__)
#define WEFT_USDT_ARGS_9 WEFT_USDT_ARG_(9) " " WEFT_USDT_ARGS_8
#define WEFT_USDT_INS_10(x, ...) WEFT_USDT_IN_(10, x), WEFT_USDT_INS_9(__VA_ARGS__)
#define WEFT_USDT_ARGS_10 WEFT_USDT_ARG_(10) " " WEFT_USDT_ARGS_9
#define WEFT_USDT_INS_11(x, ...) WEFT_USDT_IN_(11, x), WEFT_USDT_INS_10(__VA_ARGS__)
#define WEFT_USDT_ARGS_11 WEFT_USDT_ARG_(11) " " WEFT_USDT_ARGS_10
#define WEFT_USDT_INS_12(x, ...) WEFT_USDT_IN_(12, x), WEFT_USDT_INS_11(__VA_ARGS__)
#define WEFT_USDT_ARGS_12 WEFT_USDT_ARG_(12) " " WEFT_USDT_ARGS_11
/* A pointer leads to what has to be in memory by then: a compiler that sees it passed to nobody
 * would leave the writing for later, or out. */
#define WEFT_USDT_MEMORY_ : "memory"
#define WEFT_USDT_CLOBBER_0
#define WEFT_USDT_CLOBBER_1 WEFT_USDT_MEMORY_
#define WEFT_USDT_CLOBBER_2 WEFT_USDT_MEMORY_
#define WEFT_USDT_CLOBBER_3 WEFT_USDT_MEMORY_
#define WEFT_USDT_CLOBBER_4 WEFT_USDT_MEMORY_
#define WEFT_USDT_CLOBBER_5 WEFT_USDT_MEMORY_
#define WEFT_USDT_CLOBBER_6 WEFT_USDT_MEMORY_
#define WEFT_USDT_CLOBBER_7 WEFT_USDT_MEMORY_
#define WEFT_USDT_CLOBBER_8 WEFT_USDT_MEMORY_
#define WEFT_USDT_CLOBBER_9 WEFT_USDT_MEMORY_
#define WEFT_USDT_CLOBBER_10 WEFT_USDT_MEMORY_
#define WEFT_USDT_CLOBBER_11 WEFT_USDT_MEMORY_
#define WEFT_USDT_CLOBBER_12 WEFT_USDT_MEMORY_
#define WEFT_USDT_SITE_(counter, ...) \
	WEFT_USDT_WITH_(WEFT_USDT_COUNT_(__VA_ARGS__), counter, __VA_ARGS__, ~)
#define WEFT_USDT_WITH_(k, ...) WEFT_USDT_WITH2_(k, __VA_ARGS__)
#define WEFT_USDT_WITH2_(k, counter, p, n, ...) \
	WEFT_USDT_ASM_(counter, #p, #n, WEFT_USDT_ARGS_##k, WEFT_USDT_CLOBBER_##k, \
		       WEFT_USDT_INS_##k(__VA_ARGS__))
/* clang-format on */

/*
 * The site and its note. The note holds addresses as linked: of the nop, of a mark that tells by
 * how much a tool that moved the sections was off, and of the counter; then three texts. It belongs
 * to the section group of the function around it, so that what the linker drops takes its note
 * along; the mark is one byte, whichever object brings it.
 */
#define WEFT_USDT_ASM_(counter, provider, name, arguments, clobber, ...)                    \
	__asm__ __volatile__("9910:\tnop\n"                                                 \
			     "\t.pushsection .note.stapsdt,\"?\",%%note\n"                  \
			     "\t.balign 4\n"                                                \
			     "\t.4byte 9912f - 9911f\n"                                     \
			     "\t.4byte 9914f - 9913f\n"                                     \
			     "\t.4byte 3\n"                                                 \
			     "9911:\t.asciz \"stapsdt\"\n"                                  \
			     "9912:\t.balign 4\n"                                           \
			     "9913:\t.8byte 9910b, _.stapsdt.base, " counter "\n"           \
			     "\t.asciz \"" provider "\", \"" name "\", \"" arguments "\"\n" \
			     "9914:\t.balign 4\n"                                           \
			     "\t.popsection\n"                                              \
			     "\t.ifndef _.stapsdt.base\n"                                   \
			     "\t.pushsection .stapsdt.base,\"aG\",%%progbits,"              \
			     ".stapsdt.base,comdat\n"                                       \
			     "\t.weak _.stapsdt.base\n"                                     \
			     "\t.hidden _.stapsdt.base\n"                                   \
			     "_.stapsdt.base:\t.zero 1\n"                                   \
			     "\t.size _.stapsdt.base, 1\n"                                  \
			     "\t.popsection\n"                                              \
			     "\t.endif\n" ::__VA_ARGS__ clobber)

#endif
