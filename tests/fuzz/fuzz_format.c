/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The format file of a tracepoint, by both of its readers. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "support/tracefs.h"
#include "tracepoint/tracepoint.h"

static void expect_text(const struct tracepoint_format *format, const char *text)
{
	if (text < format->text || text >= format->text + sizeof(format->text) || !*text)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tracepoint_format format;
	struct support_field field;

	if (size >= sizeof(format.text))
		return 0;
	memcpy(format.text, data, size);
	format.text[size] = '\0';
	(void)support_format_field(format.text, "prev_comm", &field);
	if (tracepoint_parse(&format))
		return 0;
	for (uint32_t i = 0; i < format.n_fields; i++) {
		expect_text(&format, format.fields[i].name);
		expect_text(&format, format.fields[i].type);
		if (format.fields[i].offset + format.fields[i].size > format.size)
			abort();
	}
	return 0;
}
