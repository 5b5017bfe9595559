/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Every operand of the programs that people trace, as Debian builds them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "eval.h"
#include "notes.h"
#include "usdt/operands.h"

static const char *const files[] = {
	"/usr/lib/postgresql/15/bin/postgres",
	"/usr/lib/x86_64-linux-gnu/libvirt.so.0",
	"/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1",
	"/usr/bin/php8.2",
	"/usr/bin/python3.11",
	"/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
};

static uint64_t memory_at(uint64_t address, unsigned size)
{
	return address ^ size;
}

static void check_file(const char *path)
{
	struct test_machine m = {.pc = 0x1000, .memory = memory_at};
	struct test_file f;

	test_file_read(path, &f);
	cr_assert_gt(f.n_notes, 0);
	for (size_t i = 0; i < f.n_notes; i++) {
		const struct test_note *n = &f.notes[i];
		const struct weft_usdt_site site = {
			.address = n->pc, .find = test_file_find, .arg = &f};
		struct weft_usdt_operand out[WEFT_USDT_MOST_ARGS];
		uint32_t n_args, ats = 0;

		for (const char *p = n->args; *p; p++)
			ats += *p == '@';
		weft_usdt_operands(&weft_usdt_x86_64, n->args, strlen(n->args), &site, out, &n_args);
		cr_expect_eq(n_args, ats, "%s: %s has %u arguments", n->name, n->args, n_args);
		for (uint32_t k = 0; k < n_args; k++) {
			cr_assert_gt(out[k].n_ops, 0, "%s of %s: %.*s: %s", n->name, path,
				     (int)out[k].length, n->args + out[k].start, out[k].why);
			test_eval(&m, out[k].ops, out[k].n_ops);
		}
	}
	test_file_free(&f);
}

Test(usdt_packages, every_operand_is_read)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		check_file(files[i]);
}
