/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * bench-clauses [OBJECTS]: what compiled clauses cost beside the same work in C (clauses/) as clang
 * compiles it, and beside bpftrace. All run on one event, in turns, on one CPU; times are the
 * kernel's own, less those of an empty program. What else the machine does only ever adds to a
 * time: of many short turns the least holds. Only what both count alike is compared: a clause whose
 * totals are not its firings is an error.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clause_drive.h"
#include "clause_programs.h"
#include "core/lang/actions.h"
#include "measure.h"

#define TURNS          51u
#define BPFTRACE_TURNS 5u
#define CALLS          3000u
#define COMPILE_TURNS  21u
#define SET_CLAUSES    50u
#define LEAST_NS       2.0 /* less than that is lost in what measuring costs */
#define N(a)           (sizeof(a) / sizeof((a)[0]))

#define SET_HEAD "version: 1\nname: bench\noptions: {buffer: 4M}\nprobes:\n"

/* what becomes of a firing; VARIED: it is counted, and the value is another each time */
enum outcome { COUNTED, VARIED, RECORDED, REFUSED };

static const struct clause {
	const char *name;
	const char *action;   /* left out as long as the language has no such action */
	const char *text;     /* of the probe set */
	const char *after;    /* of its second clause, at the end of the call; or NULL */
	const char *object;   /* of the same in C */
	const char *bpftrace; /* NULL: only one of its programs could be measured */
	enum outcome outcome;
} clauses[] = {
	{"count by pid", "count", "do: [{count: {into: a, by: {pid: pid}}}]", NULL, "count_pid",
	 "{ @[pid] = count() }", COUNTED},
	{"count by execname", "count", "do: [{count: {into: a, by: {program: execname}}}]", NULL,
	 "count_execname", "{ @[comm] = count() }", COUNTED},
	{"quantize of a value", "quantize", "do: [{quantize: {into: a, value: arg1}}]", NULL,
	 "quantize", "{ @ = hist(args->who) }", VARIED},
	{"the same one always", "quantize", "do: [{quantize: {into: a, value: arg1}}]", NULL,
	 "quantize", "{ @ = hist(args->who) }", COUNTED},
	{"predicate that fails", "count",
	 "when: arg1 > 100 && arg2 == 1\n    do: [{count: {into: a}}]", NULL, "predicate_fails",
	 "/args->who > 100 && args->ioprio == 1/ { @ = count() }", REFUSED},
	{"predicate on a string", "count",
	 "when: execname == \"bench-clauses\"\n    do: [{count: {into: a}}]", NULL,
	 "predicate_string", "/comm == \"bench-clauses\"/ { @ = count() }", COUNTED},
	{"emit of four fields", "emit",
	 "do: [{emit: {program: execname, tid: tid, first: arg1, second: arg2}}]", NULL, "emit",
	 "{ printf(\"%s %d %d %d\\n\", comm, tid, args->who, args->ioprio) }", RECORDED},
	{"count by ustack", "count", "do: [{count: {into: a, by: {stack: ustack}}}]", NULL,
	 "count_ustack", "{ @[ustack(64)] = count() }", COUNTED},
	{"self set and read", "set", "do: [{set: {self.who: arg1}}]",
	 "when: self.who == 77\n    do: [{count: {into: a}}]", "self", NULL, COUNTED},
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return n ? v[n / 2] : 0;
}

static double least(const double *v, size_t n)
{
	double x = n ? v[0] : 0;

	for (size_t i = 1; i < n; i++)
		x = v[i] < x ? v[i] : x;
	return x;
}

struct row {
	const struct clause *clause;
	struct loaded programs;
	struct compiled set;
	double weft, clang, empty, bpftrace; /* ns a firing */
	bool has_peer;
};

/* A turn, and whether every firing came out as it should. */
static int turn(const struct drive *d, struct row *r, const struct program *p, double *ns)
{
	const struct weft_schema *schema = r->set.plan->schemas;
	int ring = r->programs.maps.fds[WEFT_PLAN_RING], ret;
	uint64_t before = loaded_total(&r->programs, &r->set), came;
	uint64_t least = r->clause->outcome == REFUSED ? 0 : CALLS;
	struct turn t = {0};

	ret = drive_turn(d, p->fd, CALLS, &t);
	*ns = t.ns;
	if (ret)
		return ret;
	came = loaded_total(&r->programs, &r->set) - before;
	if (r->clause->outcome == RECORDED)
		came = drive_drain(ring) /
		       (BPF_RINGBUF_HDR_SZ + sizeof(struct weft_record_header) + schema->size);
	/* Others on the machine may fire it too, a few times; before and after measuring as well. */
	if (loaded_lost(&r->programs, &r->set) || t.firings < CALLS || came < least ||
	    came > least + CALLS / 100 * (least != 0)) {
		fprintf(stderr, "%s: %llu firings, %llu came out, %llu lost\n", r->clause->name,
			(unsigned long long)t.firings, (unsigned long long)came,
			(unsigned long long)loaded_lost(&r->programs, &r->set));
		return -EPROTO;
	}
	return 0;
}

static int measure_clause(struct drive *d, const struct program *empty, struct row *r)
{
	double weft[TURNS], clang[TURNS], none[TURNS], peer[BPFTRACE_TURNS];
	char text[256];
	size_t n_peer = 0;
	int ret = 0;

	d->varied = r->clause->outcome == VARIED;
	for (unsigned i = 0; i < TURNS && !ret; i++) {
		struct turn t;

		ret = drive_turn(d,
				 (const int[]){empty->fd[0], r->clause->after ? empty->fd[1] : -1},
				 CALLS, &t);
		none[i] = t.ns;
		for (unsigned k = i; k < i + 2 && !ret; k++) /* either goes first */
			ret = k % 2 ? turn(d, r, &r->programs.weft, &weft[i])
				    : turn(d, r, &r->programs.clang, &clang[i]);
		snprintf(text, sizeof(text), "tracepoint:syscalls:sys_enter_ioprio_set %s",
			 r->clause->bpftrace ? r->clause->bpftrace : "");
		if (!ret && r->clause->bpftrace && n_peer == i && i < BPFTRACE_TURNS &&
		    !drive_bpftrace(d, text, CALLS, &t))
			peer[n_peer++] = t.ns;
	}
	r->empty = least(none, TURNS);
	r->weft = least(weft, TURNS) - r->empty;
	r->clang = least(clang, TURNS) - r->empty;
	r->has_peer = n_peer > 0;
	r->bpftrace = least(peer, n_peer) - r->empty;
	return ret;
}

static void print_row(const struct row *r)
{
	const struct program *w = &r->programs.weft, *c = &r->programs.clang;
	char peer[16] = "-", ratio[16] = "-";

	if (r->has_peer)
		snprintf(peer, sizeof(peer), "%.1f", r->bpftrace);
	if (r->clang > LEAST_NS)
		snprintf(ratio, sizeof(ratio), "%.2f", r->weft / r->clang);
	printf("| %-21s | %4u | %4u | %.2f | %5u | %5u | %.2f | %7.1f | %7.1f | %4s | %8s |\n",
	       r->clause->name, w->xlated, c->xlated, (double)w->xlated / c->xlated, w->jited,
	       c->jited, (double)w->jited / c->jited, r->weft, r->clang, ratio, peer);
	fflush(stdout);
}

static int run_clause(struct drive *d, const struct program *empty, const struct clause *clause,
		      const char *objects)
{
	struct row r = {.clause = clause};
	char yaml[512], path[4096];
	int ret;

	snprintf(yaml, sizeof(yaml), SET_HEAD "  - probe: bench:::call\n    %s\n%s%s\n",
		 clause->text, clause->after ? "  - probe: bench:::done\n    " : "",
		 clause->after ? clause->after : "");
	snprintf(path, sizeof(path), "%s/%s.bpf.o", objects, clause->object);
	ret = compiled_init(&r.set, yaml);
	if (!ret) {
		ret = loaded_init(&r.programs, &r.set, path);
		if (!ret)
			ret = measure_clause(d, empty, &r);
		if (!ret)
			print_row(&r);
		loaded_finish(&r.programs);
	}
	compiled_finish(&r.set);
	return ret;
}

/* ---- compiling ---- */

/* Fifty clauses, from text to instructions. */
static int measure_compiling(void)
{
	double ms[COMPILE_TURNS];
	size_t size, n_clauses = 0;
	char *yaml = NULL;
	FILE *f = open_memstream(&yaml, &size);
	int ret = 0;

	if (!f)
		return -errno;
	fputs(SET_HEAD, f);
	for (size_t i = 0; n_clauses < SET_CLAUSES; i = (i + 1) % N(clauses)) {
		if (!weft_action_find(clauses[i].action))
			continue;
		/* an aggregation of its own for each */
		fprintf(f, "  - probe: bench:::call%zu\n    ", n_clauses);
		for (const char *s = clauses[i].text; *s; s++) {
			if (!strncmp(s, "into: a", 7)) {
				fprintf(f, "into: a%zu", n_clauses);
				s += 6;
			} else {
				fputc(*s, f);
			}
		}
		fputc('\n', f);
		n_clauses++;
	}
	fclose(f);
	for (unsigned i = 0; i < COMPILE_TURNS && !ret; i++) {
		uint64_t start = measure_now();
		struct compiled set;

		ret = compiled_init(&set, yaml);
		ms[i] = (double)(measure_now() - start) / 1e6;
		compiled_finish(&set);
	}
	free(yaml);
	if (!ret)
		printf("\n%zu clauses read, typed and compiled: %.2f ms (the median of %u)\n",
		       n_clauses, median(ms, COMPILE_TURNS), COMPILE_TURNS);
	return ret;
}

int main(int argc, char **argv)
{
	struct program empty = {.fd = {-1, -1}};
	struct drive d = {.stats_fd = -1};
	int ret = drive_init(&d);

	if (!ret)
		ret = program_empty(&empty);
	printf("| clause | weft insns | clang insns | ratio | weft bytes | clang bytes | ratio "
	       "| weft ns | clang ns | ratio | bpftrace ns |\n"
	       "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n");
	for (size_t i = 0; i < N(clauses) && !ret; i++)
		if (weft_action_find(clauses[i].action))
			ret = run_clause(&d, &empty, &clauses[i],
					 argc > 1 ? argv[1] : BENCH_OBJECTS);
	if (!ret)
		ret = measure_compiling();
	drive_finish(&d);
	if (ret)
		fprintf(stderr, "bench-clauses: %s\n", strerror(-ret));
	return ret ? 1 : 0;
}
