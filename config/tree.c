/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * libyaml's events -> a tree with places.
 *
 * The tree is built from events rather than with libyaml's document API, because that API expands
 * nothing but also limits nothing: here the depth, the number of nodes and anchors are refused at the
 * first event too many, so a hostile file costs no more than its own size. Collections are kept on
 * a stack of fixed size; nothing recurses.
 *
 * What cannot be used (a tag, an alias, the second of two equal keys) is reported and leaves a BAD
 * node behind, so that the rest of the file is still checked and its errors come out in one go.
 *
 * A quote forgotten around an expression in { } is mostly valid YAML: `{a: f(x, y)}` is a map of `a`
 * -> `f(x` and `y)` -> nothing. No key of the format goes without a value, so a key without one after
 * a value with an open bracket is taken for that, and said so.
 */
#include "config/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "config/config.h"
#include "config/yaml_error.h"

struct frame {
	struct weft_tree_node *node; /* the collection that is open */
	struct weft_tree_node *key;  /* MAP: a key that waits for its value */
	bool flow;                   /* it is written in { } or [ ] */
	bool cut;                    /* what follows may be the rest of something reported as cut */
};

struct builder {
	struct weft_reader *r;
	yaml_parser_t parser;
	struct frame frames[WEFT_CONFIG_MAX_DEPTH];
	size_t depth;
	size_t n_nodes;
	size_t n_documents;
	struct weft_tree_node *root;
	struct weft_tree_node *last_scalar; /* for the sake of error messages */
	bool failed;
};

static void fail(struct builder *b, struct weft_pos pos, const char *tag, const char *text)
{
	weft_reader_fail(b->r, pos, tag, "%s", text);
	b->failed = true;
}

static struct weft_tree_node *node_create(struct builder *b, enum weft_tree_kind kind,
					  const yaml_event_t *event)
{
	struct weft_reader *r = b->r;
	size_t offset = weft_source_offset(r->source, event->start_mark.index);
	struct weft_pos pos = weft_source_pos(r->source, offset);
	struct weft_tree_node *node;

	if (++b->n_nodes > WEFT_CONFIG_MAX_NODES) {
		fail(b, pos, "CONFIG_NODES",
		     "the probe set has more than 100000 keys, values and collections");
		return NULL;
	}
	node = weft_reader_alloc(r, 1, sizeof(*node));
	if (!node)
		return NULL;
	node->kind = kind;
	node->offset = offset;
	node->pos = pos;
	node->text.pos = pos;
	node->flow = b->depth > 0 && b->frames[b->depth - 1].flow;
	return node;
}

/* What a tag, an anchor or an alias is most likely to be: an expression that begins with !, & or *. */
static void refuse(struct builder *b, struct weft_tree_node *node, const char *tag,
		   const char *what, const char *character)
{
	struct weft_source *s = b->r->source;
	size_t length = weft_source_extent(s, node->offset, node->flow ? WEFT_EXTENT_FLOW : 0);
	const char *quoted = weft_source_quoted(s, node->offset, length, b->r->arena);

	node->kind = WEFT_TREE_BAD;
	if (!quoted) {
		weft_reader_nomem(b->r);
		return;
	}
	weft_reader_fail(b->r, node->pos, tag,
			 "YAML takes this for %s, which probe sets do not use; "
			 "a value that begins with %s needs quotes: %s",
			 what, character, quoted);
}

static void refuse_properties(struct builder *b, struct weft_tree_node *node, const void *tag,
			      const void *anchor)
{
	if (anchor)
		refuse(b, node, "CONFIG_ALIAS", "an anchor", "&");
	else if (tag)
		refuse(b, node, "CONFIG_TAG", "a tag", "!");
}

/* ---- pairs of a map ---- */

static bool is_plain_empty(const struct weft_tree_node *node)
{
	return node->kind == WEFT_TREE_SCALAR && !node->quoted && node->size == 0;
}

static bool has_closing(const struct weft_tree_node *node)
{
	long depth = 0;

	for (const char *p = node->text.s; p && *p; p++) {
		depth += (*p == '(') - (*p == ')');
		if (depth < 0)
			return true;
	}
	return false;
}

/* Whether the pair is no pair but the consequence of a forgotten quote. */
static bool is_cut(struct builder *b, struct frame *f, struct weft_tree_node *value)
{
	struct weft_tree_node *before = f->node->last;
	const char *whole = NULL;

	if (!f->flow || f->key->quoted)
		return false;
	if (f->cut && (is_plain_empty(value) || has_closing(f->key))) {
		f->cut = is_plain_empty(value);
		return true;
	}
	if (!is_plain_empty(value))
		return false;
	if (before && before->kind == WEFT_TREE_BAD)
		return true;
	if (before)
		whole = weft_tree_cut(b->r, before, false);
	if (whole) {
		weft_tree_fail_cut(b->r, before, whole);
		before->kind = WEFT_TREE_BAD;
	} else {
		whole = weft_tree_cut(b->r, f->key, true);
		if (whole) {
			weft_tree_fail_cut(b->r, f->key, whole);
			f->node->kind = WEFT_TREE_BAD;
		}
	}
	f->cut = whole != NULL;
	return whole != NULL;
}

static void append(struct weft_tree_node *collection, struct weft_tree_node *node)
{
	if (collection->last)
		collection->last->next = node;
	else
		collection->first = node;
	collection->last = node;
	collection->n++;
}

static void add_pair(struct builder *b, struct frame *f, struct weft_tree_node *value)
{
	struct weft_tree_node *key = f->key;

	if (key->kind == WEFT_TREE_BAD)
		return;
	if (key->kind != WEFT_TREE_SCALAR) {
		weft_reader_fail(b->r, key->pos, "CONFIG_KEY",
				 "a key must be a word, not a %s; "
				 "an expression with brackets needs quotes",
				 key->kind == WEFT_TREE_LIST ? "list" : "map");
		return;
	}
	if (key->size == 0) {
		weft_reader_fail(b->r, key->pos, "CONFIG_KEY", "a value without a key");
		return;
	}
	if (is_cut(b, f, value))
		return;
	value->key = key;
	append(f->node, value);
}

static void add(struct builder *b, struct weft_tree_node *node)
{
	struct frame *f = b->depth ? &b->frames[b->depth - 1] : NULL;

	if (!f) {
		b->root = node;
	} else if (f->node->kind == WEFT_TREE_LIST) {
		append(f->node, node);
	} else if (!f->key) {
		f->key = node;
	} else {
		add_pair(b, f, node);
		f->key = NULL;
	}
}

static int compare_keys(const void *a, const void *b)
{
	const struct weft_tree_node *x = *(struct weft_tree_node *const *)a;
	const struct weft_tree_node *y = *(struct weft_tree_node *const *)b;
	int c = strcmp(x->key->text.s, y->key->text.s);

	return c ? c : (x->key->offset > y->key->offset) - (x->key->offset < y->key->offset);
}

/* Sorted rather than compared pairwise: a map may have 50,000 keys. */
static void check_twice(struct weft_reader *r, struct weft_tree_node *map)
{
	struct weft_tree_node **sorted, *first = NULL;
	size_t n = 0;

	if (map->n < 2)
		return;
	sorted = weft_reader_alloc(r, map->n, sizeof(struct weft_tree_node *));
	if (!sorted)
		return;
	for (struct weft_tree_node *v = map->first; v; v = v->next)
		sorted[n++] = v;
	qsort(sorted, n, sizeof(struct weft_tree_node *), compare_keys);
	for (size_t i = 0; i < n && !r->stop; i++) {
		struct weft_tree_words words;

		if (!first || strcmp(first->key->text.s, sorted[i]->key->text.s) != 0) {
			first = sorted[i];
			continue;
		}
		weft_reader_fail(r, sorted[i]->key->pos, "CONFIG_KEY_TWICE",
				 "the key %s is given twice; the first is at line %u, column %u",
				 weft_tree_describe(sorted[i]->key, &words),
				 (unsigned int)first->key->pos.line,
				 (unsigned int)first->key->pos.column);
		sorted[i]->kind = WEFT_TREE_BAD;
	}
}

/* ---- events ---- */

static void on_scalar(struct builder *b, const yaml_event_t *event)
{
	const char *value = (const char *)event->data.scalar.value;
	size_t size = event->data.scalar.length;
	yaml_scalar_style_t style = event->data.scalar.style;
	struct weft_tree_node *node = node_create(b, WEFT_TREE_SCALAR, event);
	size_t start;

	if (!node)
		return;
	node->text.s = weft_arena_strndup(b->r->arena, value, size);
	if (!node->text.s) {
		weft_reader_nomem(b->r);
		return;
	}
	node->size = size;
	node->quoted = style != YAML_PLAIN_SCALAR_STYLE;
	start = node->offset + node->quoted;
	if (style != YAML_LITERAL_SCALAR_STYLE && style != YAML_FOLDED_SCALAR_STYLE &&
	    start + size <= b->r->source->size &&
	    memcmp(b->r->source->data + start, value, size) == 0) {
		node->text.verbatim = true;
		node->text.pos.column += node->quoted;
	}
	if (memchr(value, '\0', size)) {
		weft_reader_fail(b->r, node->pos, "CONFIG_ENCODING",
				 "a probe set is text: it cannot hold the NUL character U+0000");
		node->kind = WEFT_TREE_BAD;
	}
	refuse_properties(b, node, event->data.scalar.tag, event->data.scalar.anchor);
	b->last_scalar = node;
	add(b, node);
}

static void on_collection(struct builder *b, const yaml_event_t *event, enum weft_tree_kind kind)
{
	bool list = kind == WEFT_TREE_LIST;
	struct weft_tree_node *node = node_create(b, kind, event);

	if (!node)
		return;
	if (b->depth == WEFT_CONFIG_MAX_DEPTH) {
		fail(b, node->pos, "CONFIG_DEPTH", "more than 32 lists and maps inside each other");
		return;
	}
	refuse_properties(
		b, node, list ? event->data.sequence_start.tag : event->data.mapping_start.tag,
		list ? event->data.sequence_start.anchor : event->data.mapping_start.anchor);
	add(b, node);
	b->frames[b->depth++] = (struct frame){
		/* What lies in a collection that was refused is collected, and never looked at. */
		.node = node,
		.flow = list ? event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE
			     : event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE,
	};
	if (node->kind == WEFT_TREE_BAD) {
		struct weft_tree_node *inside = weft_reader_alloc(b->r, 1, sizeof(*inside));

		if (!inside)
			return;
		*inside = *node;
		inside->kind = kind;
		b->frames[b->depth - 1].node = inside;
	}
}

static void on_alias(struct builder *b, const yaml_event_t *event)
{
	struct weft_tree_node *node = node_create(b, WEFT_TREE_BAD, event);

	if (!node)
		return;
	refuse(b, node, "CONFIG_ALIAS", "an alias", "*");
	add(b, node);
}

static void on_document(struct builder *b, const yaml_event_t *event)
{
	if (b->n_documents++ == 0)
		return;
	fail(b,
	     weft_source_pos(b->r->source, weft_source_offset(b->r->source, event->start_mark.index)),
	     "CONFIG_DOCUMENTS", "a second YAML document begins here: a file holds one probe set");
}

static void on_event(struct builder *b, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		on_document(b, event);
		break;
	case YAML_SCALAR_EVENT:
		on_scalar(b, event);
		break;
	case YAML_ALIAS_EVENT:
		on_alias(b, event);
		break;
	case YAML_SEQUENCE_START_EVENT:
		on_collection(b, event, WEFT_TREE_LIST);
		break;
	case YAML_MAPPING_START_EVENT:
		on_collection(b, event, WEFT_TREE_MAP);
		break;
	case YAML_MAPPING_END_EVENT:
		check_twice(b->r, b->frames[b->depth - 1].node);
		b->depth--;
		break;
	case YAML_SEQUENCE_END_EVENT:
		b->depth--;
		break;
	default:
		break;
	}
}

static void build(struct builder *b)
{
	bool done = false;

	while (!done && !b->failed && !b->r->stop) {
		yaml_event_t event;

		if (!yaml_parser_parse(&b->parser, &event)) {
			weft_yaml_error(b->r, &b->parser, b->last_scalar);
			b->failed = true;
			return;
		}
		done = event.type == YAML_STREAM_END_EVENT;
		on_event(b, &event);
		yaml_event_delete(&event);
	}
}

struct weft_tree_node *weft_tree_parse(struct weft_reader *r)
{
	struct builder b = {.r = r};

	if (!yaml_parser_initialize(&b.parser)) {
		weft_reader_nomem(r);
		return NULL;
	}
	yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&b.parser, (const unsigned char *)r->source->data,
				     r->source->size);
	build(&b);
	yaml_parser_delete(&b.parser);
	if (b.failed || r->stop)
		return NULL;
	if (!b.root || (b.root->kind == WEFT_TREE_SCALAR && weft_tree_is_null(b.root))) {
		weft_reader_fail(r, (struct weft_pos){0}, "CONFIG_EMPTY",
				 "the probe set is empty: it needs at least `version: %d` and "
				 "`probes:`",
				 WEFT_CONFIG_VERSION);
		return NULL;
	}
	return b.root;
}
