/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What all formats have in common: how they are chosen and how they fail. */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "output/support.h"

Test(sink, OUTPUT_FORMAT)
{
	struct weft_output_options options = {.out = stdout, .messages = stderr};
	struct weft_error *err = weft_error_create();
	struct weft_report report;
	struct weft_sink sink;

	cr_expect_eq(weft_output_create("jsn", &options, &sink, err), -EINVAL);
	cr_expect_str_eq(weft_error_tag(err), "OUTPUT_FORMAT");
	cr_expect_str_eq(weft_error_text(err),
			 "\"jsn\" is no output format; there are text, json and folded");
	cr_assert_eq(weft_error_report(err, 0, &report), 0);
	cr_expect_str_eq(report.suggestion, "json");
	weft_error_destroy(err);
}

static const struct weft_frame frames[] = {{.address = 1, .symbol = "f", .module = "vmlinux"}};
static const struct weft_named_value keys[] = {{"k", STACK(WEFT_SPACE_KERNEL, frames)}};
static const struct weft_row row = {.keys = keys, .n_keys = 1, .count = 1};
static const struct weft_table table = {
	.name = "t", .kind = WEFT_ACTION_COUNT, .rows = &row, .n_rows = 1};

Test(sink, a_closed_pipe_is_EPIPE)
{
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; weft_output_formats[i]; i++) {
		struct weft_output_options options = {.messages = stderr};
		struct weft_sink sink;
		int ends[2], r = 0;

		cr_assert_eq(pipe(ends), 0);
		close(ends[0]);
		options.out = fdopen(ends[1], "w");
		setvbuf(options.out, NULL, _IONBF, 0);
		cr_assert_eq(weft_output_create(weft_output_formats[i], &options, &sink, NULL), 0);
		r = sink.table(sink.self, &table);
		cr_expect_eq(r, -EPIPE, "%s: %d", weft_output_formats[i], r);
		sink.destroy(sink.self);
		fclose(options.out);
	}
}

Test(sink, a_full_disk_is_ENOSPC)
{
	for (size_t i = 0; weft_output_formats[i]; i++) {
		struct weft_output_options options = {.messages = stderr};
		struct weft_sink sink;

		options.out = fopen("/dev/full", "w"); /* buffered: it shows when flushed */
		cr_assert_not_null(options.out);
		cr_assert_eq(weft_output_create(weft_output_formats[i], &options, &sink, NULL), 0);
		cr_expect_eq(sink.table(sink.self, &table), 0);
		cr_expect_eq(sink.flush(sink.self), -ENOSPC);
		cr_expect_lt(sink.flush(sink.self), 0, "what was lost stays lost");
		sink.destroy(sink.self);
		fclose(options.out);
	}
}

Test(sink, destroy_accepts_NULL)
{
	struct capture c;

	capture_begin(&c, "text", 0);
	c.sink.destroy(NULL);
	capture_end(&c);
	capture_free(&c);
}
