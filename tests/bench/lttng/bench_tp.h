/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* One tracepoint with five integers. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER weft_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./bench_tp.h"
#if !defined(WEFT_BENCH_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define WEFT_BENCH_TP_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(
	weft_bench, fired, LTTNG_UST_TP_ARGS(long, a, long, b, long, c, long, d, long, e),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(long, a, a) lttng_ust_field_integer(long, b, b)
				    lttng_ust_field_integer(long, c, c)
					    lttng_ust_field_integer(long, d, d)
						    lttng_ust_field_integer(long, e, e)))
#endif
#include <lttng/tracepoint-event.h>
