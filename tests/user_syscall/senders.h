/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs that fire and keep their own tally. Memory that they share with the test says how far
 * everybody is: who declares waits for `go`, and for the probes to be enabled, before it fires.
 */
#ifndef TEST_USER_SYSCALL_SENDERS_H
#define TEST_USER_SYSCALL_SENDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "weft/user.h"

#define SENDER_PROBES 5
#define SENDERS       256

struct tally {
	uint64_t n[SENDER_PROBES], sum[SENDER_PROBES];
};

struct stage {
	int declared; /* processes */
	int go;
	int done;
	int failed;
	struct tally tallies[SENDERS];
};

struct stage *stage_create(void);

/* In a child of a test: it ends when its parent does, and after two minutes at the latest. */
void sender_begin(void);

/* Until *word is at least n, for 30 seconds at most; false: never. */
bool stage_wait(const int *word, int n);
void stage_up(int *word);

/* sender:p0 .. p4, each with (uint64 v, uint32 thread). */
void sender_declare(weft_probe *probes[SENDER_PROBES]);
bool sender_wait_enabled(weft_probe *const probes[], int n);
/* Fires n times in all, one probe after the other, and counts what the probe let through. */
void sender_fire(weft_probe *const probes[SENDER_PROBES], long n, uint32_t thread, struct tally *t);
/* The same on threads, with tallies from `first` on. */
void sender_threads(struct stage *s, weft_probe *const probes[SENDER_PROBES], int threads, long n,
		    int first);

/* All tallies together. */
struct tally stage_sum(const struct stage *s);

#endif
