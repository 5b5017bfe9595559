/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Errors as objects: a list of reports, each a stable tag, an errno, a sentence, a place in a file
 * where there is one, a suggestion where there is one, and the causes that the layers above added.
 * A function that can go on after an error (checking the next clause) simply adds another report.
 * Nothing here prints; the CLI does.
 */
#ifndef WEFT_CORE_ERROR_H
#define WEFT_CORE_ERROR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* A place in a probe set: 1-based line and column (in bytes); line 0: nowhere. */
struct weft_pos {
	uint32_t line;
	uint32_t column;
};

struct weft_error;

/* NULL when memory is short; every function below accepts NULL and then only returns its code. */
struct weft_error *weft_error_create(void);
void weft_error_destroy(struct weft_error *err);
void weft_error_clear(struct weft_error *err);
void weft_error_truncate(struct weft_error *err, size_t n); /* keeps the first n reports */
/* Of the reports from number n on, drops the newest ones that an earlier one said of the same place. */
void weft_error_drop_repeated(struct weft_error *err, size_t n);

/* In the order of the file; what has no place in it stays where it is, and keeps others from passing. */
void weft_error_sort(struct weft_error *err);

/* Starts a new report and returns code (a negative errno). tag is static text, SHOUTING_SNAKE. */
int weft_fail(struct weft_error *err, int code, const char *tag, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
int weft_vfail(struct weft_error *err, int code, const char *tag, const char *format, va_list ap)
	__attribute__((format(printf, 4, 0)));
int weft_fail_at(struct weft_error *err, struct weft_pos pos, int code, const char *tag,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* These add to the newest report; without one they do nothing. */
void weft_error_context(struct weft_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void weft_error_vcontext(struct weft_error *err, const char *format, va_list ap)
	__attribute__((format(printf, 2, 0)));
void weft_error_suggest(struct weft_error *err, const char *suggestion); /* "did you mean ...?" */
void weft_error_set_file(struct weft_error *err, const char *file); /* for all reports without one */
void weft_error_set_pos(struct weft_error *err, struct weft_pos pos); /* only where none is set */

/* Reading. Everything is borrowed until the next change. */
struct weft_report {
	const char *tag;
	int code;
	const char *text;
	const char *file; /* or NULL */
	struct weft_pos pos;
	const char *suggestion; /* or NULL */
	size_t n_contexts;      /* innermost first */
};
size_t weft_error_count(const struct weft_error *err);
int weft_error_report(const struct weft_error *err, size_t i, struct weft_report *out);
const char *weft_error_context_text(const struct weft_error *err, size_t i, size_t k);
/* Shorthands for the first report: "" and 0 where there is none. */
const char *weft_error_tag(const struct weft_error *err);
int weft_error_code(const struct weft_error *err);
const char *weft_error_text(const struct weft_error *err);

/* Out of memory, said in one way everywhere: tag NO_MEMORY, returns -ENOMEM. */
int weft_nomem(struct weft_error *err);

#endif
