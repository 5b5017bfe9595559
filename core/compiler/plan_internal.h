/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The plan as the compiler's own files see it. */
#ifndef WEFT_COMPILER_PLAN_INTERNAL_H
#define WEFT_COMPILER_PLAN_INTERNAL_H

#include "core/plan.h"

#define WEFT_KEY_MAX    1024u  /* bytes of an aggregation's key */
#define WEFT_RECORD_MAX 16384u /* bytes of a record behind its header */
#define WEFT_SCRATCH_MAX \
	30000u /* bytes of a scratch slot: a per-CPU allocation is at most 32 KiB */

/* STATE exists: maps cannot become larger any more. */
bool weft_plan_is_created(const struct weft_plan *plan);

/* The word that counts the firings of a clause with `every`; that of its bucket of tokens. One for
 * each clause, whatever it is compiled for. */
int weft_plan_sampled(struct weft_plan *plan, uint32_t clause, uint64_t every,
		      uint32_t *state_offset, struct weft_error *err);
int weft_plan_bucket(struct weft_plan *plan, uint32_t clause, struct weft_span span,
		     uint32_t *state_offset, struct weft_error *err);
/* The site of a probe that fires by the clock. *out is valid until the next one is made. */
int weft_plan_schedule(struct weft_plan *plan, uint64_t cookie, uint64_t period_ns,
		       struct weft_schedule_site **out, struct weft_error *err);
bool weft_aggregation_is_unsigned(const struct weft_type *t);
uint32_t weft_plan_slots(const struct weft_plan *plan); /* CPU slots, a power of two */

/* The aggregation that an action adds to, made at its first mention. */
int weft_plan_aggregation(struct weft_plan *plan, const struct weft_typed_action *action,
			  uint32_t *index, struct weft_error *err);
int weft_plan_schema(struct weft_plan *plan, const struct weft_typed_action *action,
		     uint32_t clause, uint32_t *index, struct weft_error *err);
int weft_plan_control(struct weft_plan *plan, const struct weft_typed_action *action,
		      uint32_t *state_offset, struct weft_error *err);
/* Index of the comparison, made at its first mention. */
int weft_plan_comparison(struct weft_plan *plan, enum weft_field field, const char *text,
			 uint32_t length, struct weft_pos pos, uint32_t *index,
			 struct weft_error *err);
bool weft_comparison_holds(const struct weft_comparison *c, const struct weft_probe *probe);

/* The member of this path, added to those that are WANTED if it is none of the plan's yet. NULL:
 * out of memory. The path is copied. */
const struct weft_kernel_member *weft_plan_want_member(struct weft_plan *plan, const char *path);
/* The member if it is KNOWN; else NULL. */
const struct weft_kernel_member *weft_plan_known_member(const struct weft_plan *plan,
							const char *path);

/* Makes room in maps whose elements are shaped by what is compiled. */
int weft_plan_need_scratch(struct weft_plan *plan, uint32_t bytes, struct weft_pos pos,
			   struct weft_error *err);
int weft_plan_need_stacks(struct weft_plan *plan, uint32_t frames, struct weft_pos pos,
			  struct weft_error *err);
int weft_plan_need_probes(struct weft_plan *plan, uint64_t most_cookie, struct weft_error *err);

/* An inserted element of so many bytes begins as zeros, which are bytes of STATE. PLAN_FULL. */
int weft_plan_need_zeros(struct weft_plan *plan, uint32_t size, struct weft_error *err);

#endif
