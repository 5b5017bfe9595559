/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Everything is written again and again, with one more allocation succeeding before one fails. Each
 * call must succeed or say -ENOMEM, and write whole lines or nothing. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "output/support.h"
#include "support/test_failing.h"

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t m), (n, m))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(char *, strdup, (const char *s), (s))

static const struct weft_frame frames[] = {{.address = 1, .symbol = "f", .module = "vmlinux"}};
static const struct weft_named_value keys[] = {{"program", TEXT("a program")},
					       {"raw", BYTES("abc")},
					       {"k", STACK(WEFT_SPACE_KERNEL, frames)}};
static const struct weft_named_value plain[] = {{"program", TEXT("x")}};
static const struct weft_bucket buckets[] = {{.from = 1, .to = 2, .count = 1},
					     {.from = 8, .to = 16, .count = 1}};

static int check(int r)
{
	cr_expect(r == 0 || r == -ENOMEM, "%d", r);
	return r;
}

static void story(const char *format)
{
	struct weft_format_piece pieces[] = {
		{.literal = "a", .literal_size = 1, .conv = 's', .width = 9, .precision = -1},
		{.literal = "b", .literal_size = 1, .conv = 'x', .width = 9, .precision = -1},
		{.literal = "c", .literal_size = 1, .conv = 's', .width = -1, .precision = -1}};
	struct weft_format printf_format = {pieces, 3, 3};
	struct weft_row row = {.keys = keys,
			       .n_keys = 3,
			       .count = 2,
			       .buckets = buckets,
			       .n_buckets = 2,
			       .value = SIGNED(3)};
	struct weft_row no_stack = {.keys = plain, .n_keys = 1, .count = 2};
	struct weft_record record = {.probe = "p", .fields = keys, .n_fields = 3};
	struct weft_output_options options = {0};
	struct weft_sink sink;
	char *text = NULL;
	size_t size;
	bool saved = armed;

	armed = false; /* the streams are the test's own */
	options.out = options.messages = open_memstream(&text, &size);
	fprintf(options.out, "%4096s\n", "");
	fflush(options.out);
	rewind(options.out);
	armed = saved;
	if (check(weft_output_create(format, &options, &sink, NULL)))
		goto out;
	check(sink.record(sink.self, &record));
	record.format = &printf_format;
	check(sink.record(sink.self, &record));
	for (int kind = WEFT_ACTION_COUNT; kind <= WEFT_ACTION_LLQUANTIZE; kind++)
		check(sink.table(sink.self, &(struct weft_table){.name = "t",
								 .kind = (enum weft_action_kind)kind,
								 .rows = &row,
								 .n_rows = 1}));
	check(sink.table(sink.self, &(struct weft_table){.name = "u",
							 .kind = WEFT_ACTION_COUNT,
							 .rows = &no_stack,
							 .n_rows = 1}));
	check(sink.loss(sink.self,
			&(struct weft_loss_report){.tag = "T", .meaning = "m", .count = 1}));
	check(sink.end(sink.self, &(struct weft_end){.reason = "exit"}));
	sink.destroy(sink.self);
out:
	armed = false;
	fclose(options.out);
	free(text);
}

Test(nomem, every_allocation_may_fail)
{
	for (size_t i = 0; weft_output_formats[i]; i++) {
		long n = 0;

		do {
			fail_at((size_t)++n);
			story(weft_output_formats[i]);
		} while (has_failed());
		cr_expect_gt(n, 2);
	}
}
