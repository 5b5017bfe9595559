/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The frame of typing: reports, limits, and one expression from text to tree. */
#include "core/lang/sema.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

struct weft_node *weft_sema_fail(struct weft_sema *s, uint32_t at, const char *tag,
				 const char *format, ...)
{
	char message[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	weft_source_report(&s->src, at, tag, "%s", message);
	if (!s->rc)
		s->rc = -EINVAL;
	return NULL;
}

struct weft_node *weft_sema_nomem(struct weft_sema *s)
{
	s->rc = weft_nomem(s->src.err);
	return NULL;
}

uint32_t weft_env_strsize(const struct weft_lang_env *env)
{
	return env->set && env->set->options.strsize ? env->set->options.strsize
						     : WEFT_DEFAULT_STRSIZE;
}

uint32_t weft_env_stackframes(const struct weft_lang_env *env)
{
	return env->set && env->set->options.stackframes ? env->set->options.stackframes
							 : WEFT_DEFAULT_STACKFRAMES;
}

struct weft_node *weft_sema_expr(struct weft_sema *s, const struct weft_text *text)
{
	return weft_sema_expr_from(s, text, 0);
}

struct weft_node *weft_sema_expr_from(struct weft_sema *s, const struct weft_text *text,
				      uint32_t from)
{
	struct weft_ast *ast = NULL;
	int rc;

	s->src.text = text;
	s->src.from = from;
	rc = weft_parse(&s->src, &ast);
	if (rc) {
		if (!s->rc)
			s->rc = rc;
		return NULL;
	}
	return weft_type_ast(s, ast);
}

int weft_lang_expr(const struct weft_lang_env *env, const struct weft_text *text,
		   struct weft_arena *arena, struct weft_node **out, struct weft_error *err)
{
	struct weft_sema s = {.src = {.arena = arena, .err = err}, .env = env, .state = env->state};

	*out = weft_sema_expr(&s, text);
	return *out ? 0 : s.rc;
}
