/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "address.h"

#include "harness.h"

void address_of(const char *program, const char *function, char out[32])
{
	const struct weft_probe *probe;
	const char *note;
	struct rig r;
	size_t n;

	rig_init(&r);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "probes:\n"
				 "  - probe: 'uprobe:%s:%s:entry'\n"
				 "    do: [{count: {into: n}}]\n",
				 program, function),
		     0, "%s", rig_errors(&r));
	weft_session_program(r.session, 0, &probe, &n);
	cr_assert_eq(weft_session_note(r.session, probe, &note, r.err), 0);
	cr_assert_not_null(note);
	snprintf(out, 32, "%.*s", (int)strcspn(note, " "), note);
	rig_finish(&r);
}
