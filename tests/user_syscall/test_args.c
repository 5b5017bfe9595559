/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arguments of every type, in registers and in memory. */
#include "exact.h"

static void fire_types(void *arg)
{
	static const char text[] = "some text and more of it", blob[] = "\0\1\377x";
	const char *string = "a string";
	weft_probe *p[4];

	(void)arg;
	sender_begin();
	p[0] = weft_probe_declare("args", "ints", "int8 a, int16 b, int32 c, int64 d, pointer e",
				  NULL);
	p[1] = weft_probe_declare("args", "unsigned", "uint8 a, uint16 b, uint32 c, uint64 d", NULL);
	p[2] = weft_probe_declare("args", "texts", "string s, text t, bytes b", NULL);
	p[3] = weft_probe_declare("args", "memory",
				  "int8 a, string s, text t, bytes b, int64 z, uint16 y", NULL);
	if (!sender_wait_enabled(p, 4))
		_exit(2);
	WEFT_FIRE(p[0], -1, -2, -3, INT64_MIN, (void *)0x1234);
	WEFT_FIRE(p[1], -1, -2, -3, -4);
	WEFT_FIRE(p[2], string, text, 9, blob, 4);
	const uint64_t words[] = {0x1ff, (uint64_t)string, (uint64_t)text, 4, (uint64_t)blob,
				  2,     (uint64_t)-9,     0x12345};
	weft_probe_fire_words(p[3], words, 8);
}

Test(user_syscall_args, every_type)
{
	const struct cap_record *rec;
	struct worker w;
	struct rig r;

	worker_fork(&w, fire_types, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'user-syscall:" ME ":args:ints'\n"
		  "    do: [emit: {a: args.a, b: args.b, c: args.c, d: args.d, e: args.e}]\n"
		  "  - probe: 'user-syscall:" ME ":args:unsigned'\n"
		  "    do: [emit: {a: arg0, b: arg1, c: arg2, d: arg3}]\n"
		  "  - probe: 'user-syscall:" ME ":args:texts'\n"
		  "    do: [emit: {s: args.s, t: args.t, b: args.b}]\n"
		  "  - probe: 'user-syscall:" ME ":args:memory'\n"
		  "    when: args.z == -9\n"
		  "    do: [emit: {a: args.a, s: args.s, t: args.t, b: args.b, y: args.y}]\n");
	cr_assert_eq(r.cap.n_records, 4, "%zu", r.cap.n_records);
	rec = cap_only(&r.cap, "ints");
	cr_expect_eq(cap_int(rec, "a"), -1);
	cr_expect_eq(cap_int(rec, "b"), -2);
	cr_expect_eq(cap_int(rec, "c"), -3);
	cr_expect_eq(cap_int(rec, "d"), INT64_MIN);
	cr_expect_eq(cap_int(rec, "e"), 0x1234);
	rec = cap_only(&r.cap, "unsigned");
	cr_expect_eq(cap_int(rec, "a"), 0xff);
	cr_expect_eq(cap_int(rec, "b"), 0xfffe);
	cr_expect_eq(cap_int(rec, "c"), 0xfffffffd);
	cr_expect_eq(cap_int(rec, "d"), -4);
	rec = cap_only(&r.cap, "texts");
	cr_expect(cap_is_text(rec, "s", "a string"));
	cr_expect(cap_is_text(rec, "t", "some text"));
	cr_expect(cap_is_bytes(rec, "b", "\0\1\377x", 4));
	rec = cap_only(&r.cap, "memory");
	cr_expect_eq(cap_int(rec, "a"), -1);
	cr_expect(cap_is_text(rec, "s", "a string"));
	cr_expect(cap_is_text(rec, "t", "some"));
	cr_expect(cap_is_bytes(rec, "b", "\0\1", 2));
	cr_expect_eq(cap_int(rec, "y"), 0x2345);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* A bad address is a counted fault, never a value. */
static void fire_faults(void *arg)
{
	weft_probe *p[1];

	(void)arg;
	sender_begin();
	p[0] = weft_probe_declare("args", "fault", "string s, text t", NULL);
	if (!sender_wait_enabled(p, 1))
		_exit(2);
	for (int i = 0; i < 10; i++) {
		WEFT_FIRE(p[0], 8, "x", 1);
		WEFT_FIRE(p[0], -1, "x", 1);
		WEFT_FIRE(p[0], "good", 16, 1);
		WEFT_FIRE(p[0], "good", "x", 1);
	}
}

Test(user_syscall_args, faults)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, fire_faults, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'user-syscall:" ME ":args:fault'\n"
		  "    do: [emit: {s: args.s, t: args.t}]\n");
	cr_expect_eq(r.cap.n_records, 10, "%zu", r.cap.n_records);
	cr_expect_eq(cap_lost(&r.cap, "FAULT_ADDRESS") + cap_lost(&r.cap, "NOT_RESIDENT"), 30);
	rig_finish(&r);
}
