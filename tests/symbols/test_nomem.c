/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The same story again and again, with one more allocation succeeding before one fails. Nothing may
 * crash or leak, a name may be missing but never be another's, and afterwards all works again. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/symbols/kallsyms.h"
#include "symbols/support.h"
#include "support/test_failing.h"

TestSuite(nomem, .fini = remove_temporary);

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t m), (n, m))
WRAP(void *, realloc, (void *p, size_t n), (p, n))

static void event(struct weft_symbols *s, enum weft_process_event_kind kind, int32_t pid,
		  int32_t parent)
{
	weft_symbols_event(
		s, &(struct weft_process_event){.struct_size = sizeof(struct weft_process_event),
						.kind = kind,
						.time_ns = now_ns(),
						.pid = pid,
						.parent = parent,
						.address = 0x1000,
						.length = 0x1000,
						.text = "/x"});
}

static void story(const struct target *t)
{
	const struct place *p = target_find(t, "at", "target_first");
	struct weft_symbols *s = weft_symbols_create();
	const int32_t child = 0x7ffffff0;
	struct weft_frame f;
	int r;

	if (!s)
		return;
	weft_symbols_want_lines(s);
	r = weft_symbols_snapshot(s, t->pid, now_ns());
	cr_expect(r == 0 || r == -ENOMEM, "%d", r);
	event(s, WEFT_PROCESS_FORK, child, t->pid);
	event(s, WEFT_PROCESS_MMAP, child, 0);
	for (int again = 0; again < 2; again++) {
		weft_symbols_user(s, again ? child : t->pid, now_ns(), p->address, false, &f);
		cr_expect(!f.symbol || strcmp(f.symbol, p->name) == 0, "%s", f.symbol);
	}
	event(s, WEFT_PROCESS_EXEC, child, 0);
	event(s, WEFT_PROCESS_EXIT, child, 0);
	armed = false;
	weft_symbols_destroy(s);
}

Test(nomem, every_allocation_may_fail)
{
	struct target t;
	char path[PATH_MAX];
	long n = 0;

	target_path("pie", path);
	target_start(&t, path, NULL);
	do {
		fail_at((size_t)++n);
		story(&t);
	} while (has_failed());
	cr_expect_gt(n, 20);
	target_stop(&t);
}

Test(nomem, kallsyms)
{
	struct weft_texts texts = {0};
	struct weft_kallsyms k;
	char path[PATH_MAX];
	const char *module;
	uint64_t start;
	long n = 0;
	FILE *f;

	temporary_path("kallsyms", path);
	f = fopen(path, "w");
	for (unsigned int i = 0; i < 2000; i++)
		fprintf(f, "ffffffff8100%04x T function_with_a_name_of_some_length_%u\n", i * 16, i);
	for (unsigned int i = 0; i < 200; i++)
		fprintf(f, "ffffffffc000%04x t m%u\t[module%u]\n", i * 16, i, i / 20);
	fclose(f);
	do {
		int r;

		fail_at((size_t)++n);
		r = weft_kallsyms_load(&k, path, &texts);
		cr_expect(r == 0 || r == -ENOMEM);
		if (!r)
			weft_kallsyms_find(&k, 0xffffffff81000010, &texts, &start, &module);
		armed = false;
		weft_kallsyms_finish(&k);
		weft_texts_finish(&texts);
	} while (has_failed());
	cr_expect_gt(n, 10);
}
