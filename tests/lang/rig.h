/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What tests of the language share: a probe with an argument of every type, a set with parameters,
 * and ways to state what a text becomes. Texts stand at line 7, column 11, so that a place that was
 * invented shows.
 */
#ifndef WEFT_TESTS_LANG_RIG_H
#define WEFT_TESTS_LANG_RIG_H

#include <criterion/criterion.h>
#include <string.h>

#include "core/lang/lang.h"

#define RIG_LINE   7u
#define RIG_COLUMN 11u
#define N(a)       (sizeof(a) / sizeof((a)[0]))

struct rig {
	struct weft_arena *arena;
	struct weft_error *err;
	struct weft_set set;
	struct weft_probe_info info;
	struct weft_lang_env env;
};

/*
 * arg0 fd int32, arg1 buf address (user), arg2 count uint64, arg3 path string (user), arg4 blob
 * bytes, arg5 hidden (unreadable, with a reason), arg6 file `struct file *` (BTF), arg7 inode
 * `struct inode` (BTF), arg8 uint8, arg9 int16, arg10 short string of 8 bytes, arg11 without place
 * or reason. retval int64, a return probe. Parameters: n 5, zero 0, big 18446744073709551615, least
 * -9223372036854775808, huge 99999999999999999999, time 5ms, size 4k, word hello, quoted "12", neg
 * -3, address 10.0.0.1.
 */
void rig_init(struct rig *r);
void rig_finish(struct rig *r);

/* A text that lives as long as the rig. */
struct weft_text *rig_text(struct rig *r, const char *s);
/* The typed tree, verified; NULL after an error, which is in r->err. */
struct weft_node *rig_expr(struct rig *r, const char *s);
/* The tree as one line, or the tag of the error. */
const char *rig_print(struct rig *r, const char *s, bool types);

/* Expects exactly one error: its tag, its offset in the text, a suggestion or NULL, a word of it or NULL. */
void rig_expect_error(struct rig *r, const char *s, const char *tag, uint32_t offset,
		      const char *suggestion, const char *word);

/* ---- clauses, built as config builds them ---- */

/* An action of the given items: each "field|name|text"; name empty: absent. NULL ends them. */
struct weft_action *rig_action(struct rig *r, const char *action, ...);
struct weft_clause *rig_clause(struct rig *r, const char *when, struct weft_action *const *actions);
/* One action alone in a clause, which is the set's only one. */
int rig_type(struct rig *r, struct weft_action *a, struct weft_typed_clause *out);

#endif
