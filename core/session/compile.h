/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What typing clauses, forming gangs and compiling them have to say to one another. */
#ifndef WEFT_SESSION_COMPILE_H
#define WEFT_SESSION_COMPILE_H

#include "core/session/internal.h"

/* ---- typing.c ---- */

/* What the clauses of a return want of its entry. */
struct weft_needs {
	bool elapsed;
	uint64_t entry_args;
	uint64_t args; /* and of its own probe */
};

/* Opens nothing yet. */
struct weft_btf_source *weft_session_types(struct weft_session *s);
/* Types the clauses of all enablings that are in no gang. */
int weft_session_type_all(struct weft_session *s, struct weft_error *err);
/* The clauses of a list, first to last, into clauses[length]; NULL: only what they need. */
int weft_typed_list(struct weft_session *s, uint32_t list, const struct weft_enabling *e,
		    struct weft_typed_clause *clauses, struct weft_needs *needs,
		    struct weft_error *err);
/* What the entry of a return is like, where its clauses use the entry's arguments. */
const struct weft_class *weft_entry_class(const struct weft_session *s,
					  const struct weft_enabling *e, uint32_t list);
/* Of the arguments that an entry keeps, those that are strings or bytes. */
uint64_t weft_kept_texts(const struct weft_session *s, const struct weft_enabling *entry,
			 uint64_t args);

/* ---- gangs.c ---- */

/* Puts all enablings that are in no gang into one. */
int weft_session_gang_all(struct weft_session *s, struct weft_error *err);
/* The enabling whose frames keep arguments: the entry of a return, or itself. */
const struct weft_enabling *weft_entry_of(const struct weft_session *s,
					  const struct weft_enabling *e);

#endif
