/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct weft_set *good(const char *yaml)
{
	struct weft_error *err = weft_error_create();
	struct weft_set *set = NULL;
	int rc = weft_config_load_memory("set.yaml", yaml, strlen(yaml), &set, err);

	cr_assert_eq(rc, 0, "refused (%s: %s):\n%s", weft_error_tag(err), weft_error_text(err),
		     yaml);
	cr_assert_eq(weft_error_count(err), 0);
	cr_assert_not_null(set);
	weft_error_destroy(err);
	return set;
}

static struct weft_error *refused(const char *yaml)
{
	struct weft_error *err = weft_error_create();
	struct weft_set *set = NULL;
	int rc = weft_config_load_memory("set.yaml", yaml, strlen(yaml), &set, err);

	cr_assert_null(set, "accepted:\n%s", yaml);
	cr_assert_eq(rc, -22, "code %d:\n%s", rc, yaml);
	return err;
}

static void check(const char *yaml, const struct weft_error *err, const char *tag,
		  unsigned int line, unsigned int column)
{
	struct weft_report report;

	for (size_t i = 1; i < weft_error_count(err); i++) {
		weft_error_report(err, i, &report);
		cr_expect_fail("one more report: %s: %s:\n%s", report.tag, report.text, yaml);
	}
	cr_assert_eq(weft_error_report(err, 0, &report), 0);
	cr_expect_str_eq(report.tag, tag, "%s (%s), not %s:\n%s", report.tag, report.text, tag,
			 yaml);
	cr_expect_str_eq(report.file, "set.yaml");
	cr_expect(report.pos.line == line && report.pos.column == column,
		  "%s (%s) at %u:%u, not %u:%u:\n%s", report.tag, report.text, report.pos.line,
		  report.pos.column, line, column, yaml);
}

void bad(const char *yaml, const char *tag, unsigned int line, unsigned int column,
	 const char *words)
{
	struct weft_error *err = refused(yaml);

	check(yaml, err, tag, line, column);
	cr_expect(strstr(weft_error_text(err), words), "no <%s> in <%s>:\n%s", words,
		  weft_error_text(err), yaml);
	weft_error_destroy(err);
}

void bad_near(const char *yaml, const char *tag, unsigned int line, unsigned int column,
	      const char *suggestion)
{
	struct weft_error *err = refused(yaml);
	struct weft_report report;

	check(yaml, err, tag, line, column);
	weft_error_report(err, 0, &report);
	cr_assert_not_null(report.suggestion, "nothing suggested: %s:\n%s", report.text, yaml);
	cr_expect_str_eq(report.suggestion, suggestion);
	weft_error_destroy(err);
}

char *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "r");
	char *data = malloc(2 << 20);
	size_t n;

	cr_assert_not_null(f, "cannot read %s", path);
	cr_assert_not_null(data);
	n = fread(data, 1, (2 << 20) - 1, f);
	data[n] = '\0';
	fclose(f);
	if (size)
		*size = n;
	return data;
}
