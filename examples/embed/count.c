/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* count COMMAND...: runs a command and prints how often it made which system call, and its exits. */
#include <stdio.h>
#include <string.h>
#include <weft/weft.h>

static const char set[] = "version: 1\n"
			  "probes:\n"
			  "  - probe: tracepoint:raw_syscalls::sys_enter\n"
			  "    do: [count: {into: calls, by: {number: args.id}}]\n"
			  "  - probe: tracepoint:process::exit\n"
			  "    do: [emit: {status: args.status, program: execname}]\n";

static int on_record(void *arg, const struct weft_trace_record *r)
{
	const struct weft_trace_field *status = weft_trace_at(r->fields, r->field_size, 0);
	const struct weft_trace_field *program = weft_trace_at(r->fields, r->field_size, 1);

	(void)arg;
	printf("%.*s exits with %lld\n", (int)program->value.length, program->value.text,
	       (long long)status->value.i);
	return 0;
}

static int on_aggregation(void *arg, const struct weft_trace_aggregation *a)
{
	(void)arg;
	for (size_t i = 0; i < a->n_rows; i++) {
		const struct weft_trace_row *row = weft_trace_at(a->rows, a->row_size, i);

		printf("%s %lld: %llu\n", a->name, (long long)row->keys[0].value.i,
		       (unsigned long long)row->count);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct weft_trace_options options = {
		.struct_size = sizeof(options), .record = on_record, .aggregation = on_aggregation};
	const struct weft_trace_target target = {.struct_size = sizeof(target),
						 .command = (const char *const *)argv + 1};
	struct weft_trace *t;
	int ret;

	ret = argc > 1 ? weft_trace_open(&options, &t) : -1;
	if (ret)
		return 2;
	ret = weft_trace_plugins(t, NULL);
	ret = ret ? ret : weft_trace_set(t, "count", set, strlen(set));
	ret = ret ? ret : weft_trace_target(t, &target);
	ret = ret ? ret : weft_trace_start(t, NULL);
	ret = ret ? ret : weft_trace_run(t);
	ret = ret ? ret : weft_trace_stop(t);
	if (ret)
		fprintf(stderr, "count: %s\n", weft_trace_error(t));
	weft_trace_close(t);
	return ret ? 1 : 0;
}
