/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pairing, by sequences of entries and returns at made-up frames. One program serves the entries,
 * one the returns; arg0 is the frame. Two pairs of probes: cookies 2, 3 and 4, 5.
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "rig.h"

struct pairs {
	struct rig r;
	struct weft_program entry[2], back[2];
	int entry_fd[2], back_fd[2];
	struct weft_typed_clause clause;
};

static const struct weft_loc_op frame_ops[1] = {{.op = WEFT_LOC_CTX, .size = 8, .imm = 0}};

static int load(struct rig *r)
{
	int fd;

	rig_reload(r);
	fd = r->prog_fd;
	r->prog_fd = -1;
	return fd;
}

static void pairs_init(struct pairs *p, uint32_t depth)
{
	struct rig *r = &p->r;

	rig_init(r);
	r->set.options.depth = depth;
	weft_plan_destroy(r->plan);
	r->plan = weft_plan_create(&r->set, (uint32_t)sysconf(_SC_NPROCESSORS_CONF), r->err);
	r->info.pairing.frame = (struct weft_location){.ops = frame_ops, .n_ops = 1};
	for (unsigned i = 0; i < 2; i++) {
		r->info.pairing.role = WEFT_PAIRING_ENTRY;
		r->group.pairing_entry = true;
		r->group.n_clauses = 0;
		r->probe.cookie = 2 * (i + 1);
		p->entry_fd[i] = load(r);
	}
	r->info.pairing.role = WEFT_PAIRING_RETURN;
	r->group.pairing_entry = false;
	rig_clause(r, NULL, "sum", "into||time", "value||elapsed", NULL);
	rig_action(r, "count", "into||found", NULL);
	for (unsigned i = 0; i < 2; i++) {
		r->probe.cookie = 2 * (i + 1) + 1;
		p->back_fd[i] = load(r);
	}
	rig_control(r)->enabled = 1;
}

static void pairs_finish(struct pairs *p)
{
	for (unsigned i = 0; i < 2; i++) {
		close(p->entry_fd[i]);
		close(p->back_fd[i]);
	}
	rig_finish(&p->r);
}

static void fire(struct pairs *p, int fd, uint64_t frame)
{
	const uint64_t words[RIG_ARGS] = {frame};

	p->r.prog_fd = fd;
	rig_run(&p->r, words);
	p->r.prog_fd = -1;
}

static void enter(struct pairs *p, uint64_t frame)
{
	fire(p, p->entry_fd[0], frame);
}

/* Whether the return found an entry; the sum of elapsed times grows by *elapsed. */
static bool leave_as(struct pairs *p, unsigned which, uint64_t frame, uint64_t *elapsed)
{
	uint64_t found = rig_slot(&p->r, "found", 0), time = rig_sum(&p->r, "time");
	uint64_t lost = rig_loss(&p->r, WEFT_LOSS_PAIRING_NO_ENTRY);
	bool was_found;

	fire(p, p->back_fd[which], frame);
	was_found = rig_slot(&p->r, "found", 0) == found + 1;
	cr_expect(rig_loss(&p->r, WEFT_LOSS_PAIRING_NO_ENTRY) - lost == !was_found);
	if (elapsed)
		*elapsed = rig_sum(&p->r, "time") - time;
	return was_found;
}

static bool leave(struct pairs *p, uint64_t frame)
{
	return leave_as(p, 0, frame, NULL);
}

static void pause_ms(unsigned ms)
{
	struct timespec t = {.tv_nsec = ms * 1000000L};

	nanosleep(&t, NULL);
}

#define TOP UINT64_C(0x7fff00001000)

Test(compiler_pairing, one)
{
	struct pairs p;

	pairs_init(&p, 16);
	cr_expect(!leave(&p, TOP), "PAIRING_NO_ENTRY");
	enter(&p, TOP);
	cr_expect(leave(&p, TOP));
	cr_expect(!leave(&p, TOP), "an entry is used up");
	pairs_finish(&p);
}

/* Each return finds its own: the outer call took longer. */
Test(compiler_pairing, recursion)
{
	uint64_t inner, outer;
	struct pairs p;

	pairs_init(&p, 16);
	enter(&p, TOP);
	pause_ms(20);
	enter(&p, TOP - 64);
	pause_ms(5);
	cr_expect(leave_as(&p, 0, TOP - 64, &inner));
	cr_expect(leave_as(&p, 0, TOP, &outer));
	cr_expect(inner >= 5000000 && outer >= inner + 20000000, "%lu %lu", inner, outer);
	cr_expect(rig_losses(&p.r) == 0);
	pairs_finish(&p);
}

/* longjmp: the frames that were jumped over never return, and are in nobody's way. */
Test(compiler_pairing, longjmp)
{
	uint64_t elapsed;
	struct pairs p;

	pairs_init(&p, 16);
	enter(&p, TOP);
	for (unsigned i = 1; i < 8; i++)
		enter(&p, TOP - 64 * i);
	pause_ms(2);
	cr_expect(leave_as(&p, 0, TOP, &elapsed) && elapsed >= 2000000);
	cr_expect(!leave(&p, TOP - 64));
	/* A loop that calls and jumps back does not fill the stack. */
	for (unsigned i = 0; i < 100; i++)
		enter(&p, TOP - 64);
	pause_ms(2);
	enter(&p, TOP - 64);
	cr_expect(leave_as(&p, 0, TOP - 64, &elapsed) && elapsed < 2000000, "%lu", elapsed);
	cr_expect(!leave(&p, TOP - 64));
	cr_expect(rig_loss(&p.r, WEFT_LOSS_PAIRING_DEPTH) == 0);
	pairs_finish(&p);
}

/* A return that was missed leaves an entry behind, which goes when anything above it happens. */
Test(compiler_pairing, missed_return)
{
	struct pairs p;

	pairs_init(&p, 4);
	for (unsigned i = 0; i < 20; i++) {
		enter(&p, TOP);
		enter(&p, TOP - 64); /* returns unseen */
		cr_expect(leave(&p, TOP));
	}
	for (unsigned i = 0; i < 20; i++)
		enter(&p, TOP - 64 * (20 - i)); /* each call is above the one before */
	cr_expect(leave(&p, TOP - 64));
	cr_expect(rig_losses(&p.r) == 0);
	pairs_finish(&p);
}

/* A function that ends in a jump to another shares its frame. */
Test(compiler_pairing, two_functions_one_frame)
{
	struct pairs p;

	pairs_init(&p, 16);
	fire(&p, p.entry_fd[0], TOP);
	fire(&p, p.entry_fd[1], TOP);
	cr_expect(leave_as(&p, 1, TOP, NULL));
	cr_expect(leave_as(&p, 0, TOP, NULL));
	/* The inner return was missed: the outer one still finds its own, and takes both away. */
	fire(&p, p.entry_fd[0], TOP);
	fire(&p, p.entry_fd[1], TOP);
	cr_expect(leave_as(&p, 0, TOP, NULL));
	cr_expect(!leave_as(&p, 1, TOP, NULL));
	pairs_finish(&p);
}

/* Kernel frames lie below all user frames: they die when user code runs, and not the reverse. */
Test(compiler_pairing, kernel_and_user)
{
	const uint64_t kernel = UINT64_C(0xffffc90000003f00);
	struct pairs p;

	pairs_init(&p, 16);
	enter(&p, TOP);
	fire(&p, p.entry_fd[1], kernel);
	fire(&p, p.entry_fd[1], kernel - 128);
	cr_expect(leave_as(&p, 1, kernel - 128, NULL));
	cr_expect(leave_as(&p, 1, kernel, NULL));
	fire(&p, p.entry_fd[1], kernel); /* return missed */
	cr_expect(leave(&p, TOP));
	cr_expect(!leave_as(&p, 1, kernel, NULL));
	/* A constant frame, as of a system call. */
	fire(&p, p.entry_fd[1], 0);
	fire(&p, p.entry_fd[1], 0);
	cr_expect(leave_as(&p, 1, 0, NULL));
	cr_expect(!leave_as(&p, 1, 0, NULL));
	pairs_finish(&p);
}

/* PAIRING_DEPTH: entries beyond the depth are counted, and those that fit are right. */
Test(compiler_pairing, PAIRING_DEPTH)
{
	unsigned found = 0;
	struct pairs p;

	pairs_init(&p, 5);
	for (unsigned i = 0; i < 9; i++)
		enter(&p, TOP - 64 * i);
	cr_expect(rig_loss(&p.r, WEFT_LOSS_PAIRING_DEPTH) == 4);
	for (unsigned i = 9; i--;)
		found += leave(&p, TOP - 64 * i);
	cr_expect(found == 5);
	cr_expect(rig_loss(&p.r, WEFT_LOSS_PAIRING_NO_ENTRY) == 4);
	pairs_finish(&p);
}

/* The deepest that an option allows has to pass the verifier. */
Test(compiler_pairing, deepest)
{
	struct pairs p;

	pairs_init(&p, 256);
	for (unsigned i = 0; i < 257; i++)
		enter(&p, TOP - 64 * i);
	cr_expect(rig_loss(&p.r, WEFT_LOSS_PAIRING_DEPTH) == 1);
	for (unsigned i = 256; i--;)
		cr_expect(leave(&p, TOP - 64 * i));
	pairs_finish(&p);
}

/* A clause of a return that does not ask for the time runs without an entry. */
Test(compiler_pairing, clauses_without_elapsed)
{
	struct pairs p;

	pairs_init(&p, 16);
	rig_clause(&p.r, NULL, "count", "into||all", NULL);
	close(p.back_fd[0]);
	p.r.probe.cookie = 3;
	p.back_fd[0] = load(&p.r);
	cr_expect(!leave(&p, TOP));
	cr_expect(rig_slot(&p.r, "all", 0) == 1);
	pairs_finish(&p);
}

/* ---- arguments of the entry ---- */

/* arg1 of the entry is an int32, arg2 an address that is read there: its place loads from user
 * memory. The return emits both. */
static const struct weft_loc_op load_ops[2] = {
	{.op = WEFT_LOC_CTX, .size = 8, .imm = 16},
	{.op = WEFT_LOC_LOAD, .size = 8, .flags = WEFT_LOC_USER},
};

/* arg4 is a string, arg5 bytes, as many as arg3 says. */
static const struct weft_loc_op bytes_ops[2] = {
	{.op = WEFT_LOC_CTX, .size = 8, .imm = 40},
	{.op = WEFT_LOC_CTX, .size = 8, .imm = 24},
};

static void captures_init(struct pairs *p, uint32_t depth, uint64_t capture)
{
	static struct weft_clause mentions;
	static struct weft_probe_info entry_info;
	struct rig *r = &p->r;

	rig_init(r);
	r->set.options.depth = depth;
	weft_plan_destroy(r->plan);
	mentions = (struct weft_clause){.when = {.s = "entry.a + entry . b + myentry.c + entry.d"}};
	r->set.clauses = &mentions;
	r->set.n_clauses = 1;
	r->plan = weft_plan_create(&r->set, (uint32_t)sysconf(_SC_NPROCESSORS_CONF), r->err);
	cr_assert(r->plan && r->plan->entry_words == 3);
	r->group.texts = capture & (1u << 4 | 1u << 5);
	cr_assert(!weft_plan_entry_texts(r->plan, (uint32_t)__builtin_popcountll(r->group.texts),
					 r->err));
	rig_place(r, 4, WEFT_TYPE_STRING, WEFT_SPACE_USER, &r->arg_ops[4], 1);
	rig_place(r, 5, WEFT_TYPE_BYTES, WEFT_SPACE_USER, bytes_ops, 2);
	rig_arg(r, 1, 4, true);
	rig_place(r, 2, WEFT_TYPE_INT, WEFT_SPACE_USER, load_ops, 2);
	r->info.pairing.frame = (struct weft_location){.ops = frame_ops, .n_ops = 1};
	r->info.pairing.role = WEFT_PAIRING_ENTRY;
	entry_info = r->info;
	r->group.pairing_entry = true;
	r->group.capture = capture;
	r->probe.cookie = 2;
	p->entry_fd[0] = load(r);
	r->probe.cookie = 4;
	p->entry_fd[1] = load(r);
	r->info.pairing.role = WEFT_PAIRING_RETURN;
	r->group.pairing_entry = false;
	r->env.entry_info = &entry_info;
}

static void captures_load(struct pairs *p)
{
	for (unsigned i = 0; i < 2; i++) {
		p->r.probe.cookie = 2 * (i + 1) + 1;
		p->back_fd[i] = load(&p->r);
	}
	rig_control(&p->r)->enabled = 1;
}

static void enter_with(struct pairs *p, unsigned which, uint64_t frame, int32_t a, const uint64_t *b)
{
	const uint64_t words[RIG_ARGS] = {frame, (uint32_t)a, (uint64_t)(uintptr_t)b, 77};

	p->r.prog_fd = p->entry_fd[which];
	rig_run(&p->r, words);
	p->r.prog_fd = -1;
}

/* Each return sees what its own entry was called with, narrow values with their sign. */
Test(compiler_pairing, entry_arguments)
{
	const uint64_t values[4] = {10, 20, 30, UINT64_MAX};
	const struct weft_record_header *h;
	struct {
		int32_t a;
		int32_t gap;
		uint64_t b;
		int64_t c;
	} body;
	struct pairs p;
	uint32_t size;

	captures_init(&p, 16, 1u << 1 | 1u << 2 | 1u << 3);
	rig_clause(&p.r, NULL, "emit", "|a|entry.arg1", "|b|(uint64) entry.arg2", "|c|entry.arg3",
		   NULL);
	captures_load(&p);
	for (int i = 0; i < 4; i++) /* recursion */
		enter_with(&p, 0, TOP - 64 * (uint64_t)i, -i, &values[i]);
	for (int i = 4; i--;) {
		fire(&p, p.back_fd[0], TOP - 64 * (uint64_t)i);
		h = rig_record(&p.r, &size);
		cr_assert(h);
		memcpy(&body, h + 1, sizeof(body));
		cr_expect(body.a == -i && body.b == values[i] && body.c == 77, "%d: %d %lu %ld", i,
			  body.a, body.b, body.c);
	}
	cr_expect(rig_losses(&p.r) == 0);
	/* A longjmp over three of them, and another function on the same frame. */
	for (int i = 0; i < 4; i++)
		enter_with(&p, (unsigned)i / 3, TOP - 64 * (uint64_t)(i % 3), 100 + i, &values[0]);
	fire(&p, p.back_fd[1], TOP);
	h = rig_record(&p.r, &size);
	cr_assert(h);
	cr_expect(*(const int32_t *)(h + 1) == 103);
	fire(&p, p.back_fd[0], TOP);
	h = rig_record(&p.r, &size);
	cr_assert(h);
	cr_expect(*(const int32_t *)(h + 1) == 100);
	pairs_finish(&p);
}

/* FAULT_VALUE: what the entry could not read is the return's fault, where it is asked for. */
Test(compiler_pairing, entry_argument_that_was_unreadable)
{
	const uint64_t value = 5;
	struct pairs p;

	captures_init(&p, 16, 1u << 1 | 1u << 2);
	rig_clause(&p.r, NULL, "sum", "into||a", "value||entry.arg1", NULL);
	rig_clause(&p.r, NULL, "sum", "into||b", "value||entry.arg2", NULL);
	rig_clause(&p.r, NULL, "count", "into||n", NULL);
	captures_load(&p);
	enter_with(&p, 0, TOP, 3, (const uint64_t *)8);
	fire(&p, p.back_fd[0], TOP);
	cr_expect(rig_sum(&p.r, "a") == 3 && rig_sum(&p.r, "b") == 0);
	cr_expect(rig_slot(&p.r, "n", 0) == 1);
	cr_expect(rig_loss(&p.r, WEFT_LOSS_FAULT_VALUE) == 1);
	cr_expect(rig_losses(&p.r) == 1, "counted once");
	enter_with(&p, 0, TOP, 4, &value);
	fire(&p, p.back_fd[0], TOP);
	cr_expect(rig_sum(&p.r, "a") == 7 && rig_sum(&p.r, "b") == 5);
	/* Without an entry: each clause that asks has lost its firing. */
	fire(&p, p.back_fd[0], TOP);
	cr_expect(rig_loss(&p.r, WEFT_LOSS_PAIRING_NO_ENTRY) == 2);
	cr_expect(rig_slot(&p.r, "n", 0) == 3);
	pairs_finish(&p);
}

/* The deepest that an option allows, with arguments. */
Test(compiler_pairing, deepest_with_arguments)
{
	const uint64_t value = 1;
	struct pairs p;

	captures_init(&p, 256, 1u << 1 | 1u << 2 | 1u << 3);
	rig_clause(&p.r, "elapsed >= 0 && entry.arg2", "sum", "into||a",
		   "value||entry.arg1 + entry.arg3", NULL);
	captures_load(&p);
	for (unsigned i = 0; i < 257; i++)
		enter_with(&p, 0, TOP - 64 * i, (int32_t)i, &value);
	cr_expect(rig_loss(&p.r, WEFT_LOSS_PAIRING_DEPTH) == 1);
	for (unsigned i = 256; i--;)
		fire(&p, p.back_fd[0], TOP - 64 * i);
	cr_expect(rig_sum(&p.r, "a") == 255 * 128 + 256 * 77);
	cr_expect(rig_losses(&p.r) == 1);
	pairs_finish(&p);
}

static void enter_texts(struct pairs *p, unsigned which, uint64_t frame, const char *text,
			const void *bytes, uint64_t n)
{
	const uint64_t words[RIG_ARGS] = {
		frame, 1, 0, n, (uint64_t)(uintptr_t)text, (uint64_t)(uintptr_t)bytes};

	p->r.prog_fd = p->entry_fd[which];
	rig_run(&p->r, words);
	p->r.prog_fd = -1;
}

static void expect_texts(struct pairs *p, unsigned which, uint64_t frame, const char *text,
			 const void *bytes, uint32_t n)
{
	const struct weft_record_header *h;
	const struct weft_schema *schema;
	const uint8_t *body;
	uint32_t size, got;

	fire(p, p->back_fd[which], frame);
	h = rig_record(&p->r, &size);
	cr_assert(h, "%s", text);
	schema = &p->r.plan->schemas[h->schema];
	body = (const uint8_t *)(h + 1);
	cr_expect_str_eq((const char *)body + schema->fields[0].offset, text);
	memcpy(&got, body + schema->fields[1].offset, sizeof(got));
	cr_expect_eq(got, n);
	cr_expect(!memcmp(body + schema->fields[1].offset + 8, bytes, n));
}

/* Strings and bytes are what they were at the entry, whatever has become of them since. */
Test(compiler_pairing, entry_texts)
{
	static const char longest[] =
		"a string that is longer than what frames have room for, which "
		"is said by options.strsize and is 128 here, so that it is cut "
		"in the middle of this word";
	char text[16], cut[128] = {0};
	uint8_t bytes[4] = {0, 1, 2, 3};
	struct pairs p;

	captures_init(&p, 16, 1u << 1 | 1u << 4 | 1u << 5);
	rig_clause(&p.r, "entry.arg4 != \"no\"", "emit", "|s|entry.arg4", "|b|entry.arg5",
		   "|n|strlen(entry.arg4)", NULL);
	rig_clause(&p.r, NULL, "count", "into||c", "by||entry.arg4", NULL);
	captures_load(&p);
	for (uint64_t i = 0; i < 5; i++) {
		snprintf(text, sizeof(text), i == 3 ? "no" : "text %d", (int)i);
		bytes[0] = (uint8_t)i;
		enter_texts(&p, i % 2, TOP - 64 * i, text, bytes, i);
	}
	memset(text, 'x', sizeof(text));
	for (uint64_t i = 5; i--;) {
		snprintf(cut, sizeof(cut), "text %d", (int)i);
		bytes[0] = (uint8_t)i;
		if (i == 3)
			fire(&p, p.back_fd[i % 2], TOP - 64 * i);
		else
			expect_texts(&p, i % 2, TOP - 64 * i, cut, bytes, (uint32_t)i);
	}
	cr_expect_eq(rig_losses(&p.r), 0);
	enter_texts(&p, 0, TOP, longest, bytes, 4);
	memcpy(cut, longest, sizeof(cut) - 1);
	expect_texts(&p, 0, TOP, cut, bytes, 4);
	cr_expect_eq(rig_loss(&p.r, WEFT_LOSS_STRING_TRUNCATED), 1);
	/* What could not be read is a fault of each clause that asks; the others run. */
	enter_texts(&p, 0, TOP, (const char *)8, bytes, 4);
	fire(&p, p.back_fd[0], TOP);
	cr_expect_eq(rig_loss(&p.r, WEFT_LOSS_FAULT_VALUE), 2);
	pairs_finish(&p);
}

/* An entry without arguments, for whatever the tracepoint's first word is as frame. */
static int interrupting_entry(struct pairs *p)
{
	struct weft_group group = p->r.group;
	int fd;

	p->r.info.pairing.role = WEFT_PAIRING_ENTRY;
	p->r.group.pairing_entry = true;
	p->r.group.capture = p->r.group.texts = 0;
	fd = load(&p->r);
	p->r.info.pairing.role = WEFT_PAIRING_RETURN;
	p->r.group = group;
	return fd;
}

/* FAULT_VALUE: a call that began in an interrupt, between the return and the moment that asks for the
 * entry's text, lies where the text lay. What raises the interrupt is the first clause's record. */
Test(compiler_pairing, entry_text_that_another_call_lies_upon)
{
	struct pairs p;
	uint32_t size;
	int fd, link;

	captures_init(&p, 16, 1u << 4);
	fd = interrupting_entry(&p);
	rig_clause(&p.r, NULL, "emit", "|a|arg0", NULL);
	rig_clause(&p.r, "entry.arg4 == \"text\"", "count", "into||same", NULL);
	rig_clause(&p.r, NULL, "count", "into||all", NULL);
	captures_load(&p);
	enter_texts(&p, 0, TOP, "text", NULL, 0);
	fire(&p, p.back_fd[0], TOP);
	cr_expect(rig_slot(&p.r, "same", 0) == 1 && rig_losses(&p.r) == 0);
	cr_assert(rig_record(&p.r, &size), "or the next one raises none");

	link = weft_bpf_raw_tracepoint_open("irq_work_entry", fd);
	cr_assert_geq(link, 0);
	enter_texts(&p, 0, TOP, "text", NULL, 0);
	fire(&p, p.back_fd[0], TOP);
	close(link);
	cr_expect(rig_slot(&p.r, "same", 0) == 1);
	cr_expect(rig_loss(&p.r, WEFT_LOSS_FAULT_VALUE) == 1);
	cr_expect(rig_slot(&p.r, "all", 0) == 2, "no other clause minds");
	close(fd);
	pairs_finish(&p);
}
