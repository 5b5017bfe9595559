/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A YAML file as a small tree with places, within limits; and the state that its readers share. */
#ifndef WEFT_CONFIG_TREE_H
#define WEFT_CONFIG_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/source.h"
#include "core/arena.h"
#include "core/error.h"
#include "core/set.h"

enum weft_tree_kind {
	WEFT_TREE_SCALAR,
	WEFT_TREE_LIST,
	WEFT_TREE_MAP,
	WEFT_TREE_BAD, /* something that was reported already: readers pass over it in silence */
};

struct weft_tree_node {
	enum weft_tree_kind kind;
	struct weft_pos pos; /* of its first byte, a quote or a bracket included */
	size_t offset;       /* of the same */
	bool flow;           /* lies inside { } or [ ] */
	bool quoted;         /* SCALAR: '', "", | or > */
	struct weft_text text;
	size_t size;                  /* bytes of text.s; there is no NUL among them */
	struct weft_tree_node *first; /* LIST: items; MAP: values */
	struct weft_tree_node *last;  /* of the same */
	struct weft_tree_node *next;  /* in the collection that this node lies in */
	struct weft_tree_node *key;   /* of a value in a map: a SCALAR that is not empty */
	size_t n;
};

/* What every function that reads a file needs. Errors do not end the reading until there are too
 * many of them or memory is short: then stop is set, and every loop ends. */
struct weft_reader {
	struct weft_arena *arena;
	struct weft_source *source;
	struct weft_error *err;
	unsigned int n_errors;
	struct weft_pos last_error;
	int stop;
};

/* Report an error at a place. */
void weft_reader_fail(struct weft_reader *r, struct weft_pos pos, const char *tag,
		      const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Counts an error that a function of the core reported; -ENOMEM stops the reading. */
void weft_reader_note(struct weft_reader *r, int rc);
void weft_reader_nomem(struct weft_reader *r);
void *weft_reader_alloc(struct weft_reader *r, size_t n, size_t size); /* NULL: stop is set */

/* The root of the file's document, or NULL if there is none to speak of. */
struct weft_tree_node *weft_tree_parse(struct weft_reader *r);

/* A plain scalar that is empty, ~ or null. */
bool weft_tree_is_null(const struct weft_tree_node *node);
/* A plain scalar in a flow collection that is cut short at a comma: the whole of it, in quotes, for
 * the message; else NULL. */
const char *weft_tree_cut(struct weft_reader *r, const struct weft_tree_node *node, bool is_key);
void weft_tree_fail_cut(struct weft_reader *r, const struct weft_tree_node *node, const char *whole);

/* The node in words, for "expected ..., found %s". */
struct weft_tree_words {
	char s[96];
};
const char *weft_tree_describe(const struct weft_tree_node *node, struct weft_tree_words *buf);

#endif
