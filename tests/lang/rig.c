/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rig.h"

#include <stdarg.h>
#include <stdio.h>

static const struct weft_loc_op nothing = {.op = WEFT_LOC_CONST};

#define PLACE                      \
	{                          \
		.ops = &nothing, 1 \
	}
#define TYPE(k, ...)                   \
	{                              \
		.kind = k, __VA_ARGS__ \
	}

static const struct weft_arg args[] = {
	{.name = "fd", .where = PLACE, .type = TYPE(WEFT_TYPE_INT, .size = 4, .flags = 1)},
	{.name = "buf", .where = PLACE, .type = TYPE(WEFT_TYPE_POINTER, .space = WEFT_SPACE_USER)},
	{.name = "count", .where = PLACE, .type = TYPE(WEFT_TYPE_INT, .size = 8)},
	{.name = "path", .where = PLACE, .type = TYPE(WEFT_TYPE_STRING, .space = WEFT_SPACE_USER)},
	{.name = "blob", .where = PLACE, .type = TYPE(WEFT_TYPE_BYTES, .size = 64)},
	{.name = "hidden",
	 .type = TYPE(WEFT_TYPE_INT, .size = 8),
	 .unreadable = "the compiler left it out"},
	{.name = "file",
	 .where = PLACE,
	 .type = TYPE(WEFT_TYPE_BTF, .btf_id = 7, .text = "struct file *")},
	{.name = "inode",
	 .where = PLACE,
	 .type = TYPE(WEFT_TYPE_BTF, .btf_id = 8, .text = "struct inode")},
	{.where = PLACE, .type = TYPE(WEFT_TYPE_INT, .size = 1)},
	{.where = PLACE, .type = TYPE(WEFT_TYPE_INT, .size = 2, .flags = 1)},
	{.where = PLACE, .type = TYPE(WEFT_TYPE_STRING, .size = 8)},
	{.type = TYPE(WEFT_TYPE_INT, .size = 8)},
};

static struct weft_param params[] = {
	{.name = {.s = "n"}, .value = {.s = "5"}},
	{.name = {.s = "zero"}, .value = {.s = "0"}},
	{.name = {.s = "big"}, .value = {.s = "18446744073709551615"}},
	{.name = {.s = "least"}, .value = {.s = "-9223372036854775808"}},
	{.name = {.s = "huge"}, .value = {.s = "99999999999999999999"}},
	{.name = {.s = "time"}, .value = {.s = "5ms"}},
	{.name = {.s = "size"}, .value = {.s = "4k"}},
	{.name = {.s = "word"}, .value = {.s = "hello"}},
	{.name = {.s = "quoted"}, .value = {.s = "12"}, .quoted = true},
	{.name = {.s = "neg"}, .value = {.s = "-3"}},
	{.name = {.s = "address"}, .value = {.s = "10.0.0.1"}},
};

void rig_init(struct rig *r)
{
	memset(r, 0, sizeof(*r));
	r->arena = weft_arena_create();
	r->err = weft_error_create();
	cr_assert(r->arena && r->err);
	r->set.params = params;
	r->set.n_params = N(params);
	r->set.options.strsize = 128;
	r->set.options.stackframes = 64;
	r->info.struct_size = sizeof(r->info);
	r->info.args = args;
	r->info.n_args = N(args);
	r->info.arg_size = sizeof(args[0]);
	r->info.load.ctx_kind = WEFT_CTX_REGS;
	r->info.pairing.role = WEFT_PAIRING_RETURN;
	r->info.retval_type = (struct weft_arg_type)TYPE(WEFT_TYPE_INT, .size = 8, .flags = 1);
	r->info.retval = (struct weft_location)PLACE;
	r->env.set = &r->set;
	r->env.info = &r->info;
	r->env.probe = "test:::probe";
}

void rig_finish(struct rig *r)
{
	weft_error_destroy(r->err);
	weft_arena_destroy(r->arena);
}

struct weft_text *rig_text(struct rig *r, const char *s)
{
	struct weft_text *t = weft_arena_alloc(r->arena, sizeof(*t));

	cr_assert(t);
	t->s = weft_arena_strdup(r->arena, s);
	t->pos.line = RIG_LINE;
	t->pos.column = RIG_COLUMN;
	t->verbatim = true;
	return t;
}

struct weft_node *rig_expr(struct rig *r, const char *s)
{
	struct weft_node *n = NULL;
	const char *wrong;
	int rc;

	weft_error_clear(r->err);
	rc = weft_lang_expr(&r->env, rig_text(r, s), r->arena, &n, r->err);
	cr_expect((rc == 0) == (n != NULL), "`%s`: a result without a tree or the reverse", s);
	cr_expect((rc == 0) == (weft_error_count(r->err) == 0), "`%s`: rc %d, %zu reports", s, rc,
		  weft_error_count(r->err));
	wrong = n ? weft_lang_verify(n) : NULL;
	cr_expect(!wrong, "`%s`: %s", s, wrong ? wrong : "");
	return n;
}

const char *rig_print(struct rig *r, const char *s, bool types)
{
	struct weft_node *n = rig_expr(r, s);
	const char *text = n ? weft_node_print(n, types, r->arena) : weft_error_tag(r->err);

	cr_assert(text);
	return text;
}

void rig_expect_error(struct rig *r, const char *s, const char *tag, uint32_t offset,
		      const char *suggestion, const char *word)
{
	struct weft_report report;
	struct weft_node *n = rig_expr(r, s);

	cr_expect(!n, "`%.60s` is no error", s);
	cr_expect(weft_error_count(r->err) == 1, "`%.60s`: %zu reports", s,
		  weft_error_count(r->err));
	if (weft_error_report(r->err, 0, &report))
		return;
	cr_expect(!strcmp(report.tag, tag), "`%.60s`: %s (%s), not %s", s, report.tag, report.text,
		  tag);
	cr_expect(report.pos.line == RIG_LINE && report.pos.column == RIG_COLUMN + offset,
		  "`%.60s`: at %u:%u, offset %d, not %u (%s)", s, report.pos.line,
		  report.pos.column, (int)report.pos.column - (int)RIG_COLUMN, offset, report.text);
	cr_expect((suggestion == NULL) == (report.suggestion == NULL) &&
			  (!suggestion || !strcmp(suggestion, report.suggestion)),
		  "`%.60s`: suggests %s", s, report.suggestion ? report.suggestion : "nothing");
	cr_expect(!word || strstr(report.text, word), "`%.60s`: says \"%s\"", s, report.text);
}

static void parse_item(struct rig *r, const struct weft_action_spec *spec, const char *from,
		       struct weft_item *out)
{
	const char *name = strchr(from, '|') + 1, *text = strchr(name, '|') + 1;
	size_t field = (size_t)(name - 1 - from);

	for (size_t i = 0; i < spec->n_fields; i++)
		if (strlen(spec->fields[i].name) == field &&
		    !memcmp(spec->fields[i].name, from, field))
			out->field = &spec->fields[i];
	cr_assert(out->field, "no field for %s", from);
	if (text - 1 != name) {
		out->name =
			*rig_text(r, weft_arena_strndup(r->arena, name, (size_t)(text - 1 - name)));
		out->name.pos.line = RIG_LINE - 1;
	}
	out->text = *rig_text(r, text);
}

struct weft_action *rig_action(struct rig *r, const char *action, ...)
{
	struct weft_action *a = weft_arena_alloc(r->arena, sizeof(*a));
	va_list ap;

	cr_assert(a);
	a->spec = weft_action_find(action);
	cr_assert(a->spec, "no action %s", action);
	a->pos.line = RIG_LINE - 2;
	a->pos.column = 3;
	a->items = weft_arena_array(r->arena, 32, sizeof(*a->items));
	cr_assert(a->items);
	va_start(ap, action);
	for (const char *s; (s = va_arg(ap, const char *)) != NULL;)
		parse_item(r, a->spec, s, &a->items[a->n_items++]);
	va_end(ap);
	return a;
}

struct weft_clause *rig_clause(struct rig *r, const char *when, struct weft_action *const *actions)
{
	struct weft_clause *c = weft_arena_alloc(r->arena, sizeof(*c));

	cr_assert(c);
	if (when)
		c->when = *rig_text(r, when);
	c->actions = weft_arena_array(r->arena, 16, sizeof(*c->actions));
	cr_assert(c->actions);
	for (; actions && *actions; actions++)
		c->actions[c->n_actions++] = **actions;
	return c;
}

int rig_type(struct rig *r, struct weft_action *a, struct weft_typed_clause *out)
{
	struct weft_action *const list[] = {a, NULL};
	struct weft_clause *c = rig_clause(r, NULL, list);
	const char *wrong;
	int rc;

	r->set.clauses = c;
	r->set.n_clauses = 1;
	weft_error_clear(r->err);
	rc = weft_lang_clause(&r->env, c, r->arena, out, r->err);
	cr_expect((rc == 0) == (weft_error_count(r->err) == 0));
	wrong = rc ? NULL : weft_lang_verify_clause(out);
	cr_expect(!wrong, "%s: %s", a->spec->name, wrong ? wrong : "");
	return rc;
}
