/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the files that make integers share. */
#ifndef WEFT_TESTS_RANDOM_MAKE_H
#define WEFT_TESTS_RANDOM_MAKE_H

#include "tests/random/random.h"

#define RND_INT64  ((struct rnd_type){.kind = RND_INT, .size = 8, .is_signed = true})
#define RND_UINT64 ((struct rnd_type){.kind = RND_INT, .size = 8})

struct rnd_x *rnd_kids(struct rnd_x *x, struct rnd_x *a, struct rnd_x *b, struct rnd_x *c);
struct rnd_type rnd_balanced(const struct rnd_x *a, const struct rnd_x *b);
struct rnd_x *rnd_argument(struct rnd_maker *m);
struct rnd_x *rnd_builtin(struct rnd_maker *m);
struct rnd_x *rnd_leaf(struct rnd_maker *m);
struct rnd_x *rnd_of_number(struct rnd_maker *m, unsigned depth);
struct rnd_x *rnd_of_text(struct rnd_maker *m, unsigned depth);
struct rnd_x *rnd_peek(struct rnd_maker *m);

#endif
