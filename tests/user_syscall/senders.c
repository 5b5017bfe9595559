/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "senders.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

struct stage *stage_create(void)
{
	void *p = mmap(NULL, sizeof(struct stage), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

void sender_begin(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(120);
}

bool stage_wait(const int *word, int n)
{
	for (int i = 0; i < 30000; i++) {
		if (__atomic_load_n(word, __ATOMIC_SEQ_CST) >= n)
			return true;
		usleep(1000);
	}
	return false;
}

void stage_up(int *word)
{
	__atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
}

void sender_declare(weft_probe *probes[SENDER_PROBES])
{
	char name[16];
	int error;

	for (int i = 0; i < SENDER_PROBES; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		probes[i] = weft_probe_declare("sender", name, "uint64 v, uint32 thread", &error);
		if (error)
			_exit(90);
	}
}

bool sender_wait_enabled(weft_probe *const probes[], int n)
{
	for (int i = 0; i < 30000; i++) {
		int enabled = 0;

		for (int k = 0; k < n; k++)
			enabled += weft_probe_enabled(probes[k]);
		if (enabled == n)
			return true;
		usleep(1000);
	}
	return false;
}

void sender_fire(weft_probe *const probes[SENDER_PROBES], long n, uint32_t thread, struct tally *t)
{
	uint64_t x = thread + 1;

	for (long i = 0; i < n; i++) {
		int k = (int)(i % SENDER_PROBES);

		x = x * 6364136223846793005u + 1442695040888963407u;
		if (!weft_probe_enabled(probes[k]))
			continue;
		WEFT_FIRE(probes[k], x >> 40, thread);
		t->n[k]++;
		t->sum[k] += x >> 40;
	}
}

struct thread {
	weft_probe *const *probes;
	long n;
	uint32_t number;
	struct tally *tally;
};

static void *run(void *arg)
{
	const struct thread *t = arg;
	struct tally own = {0};

	sender_fire(t->probes, t->n, t->number, &own);
	*t->tally = own;
	return NULL;
}

void sender_threads(struct stage *s, weft_probe *const probes[SENDER_PROBES], int threads, long n,
		    int first)
{
	pthread_t ids[64];
	struct thread t[64];

	for (int i = 0; i < threads; i++) {
		t[i] = (struct thread){probes, n, (uint32_t)(first + i), &s->tallies[first + i]};
		if (pthread_create(&ids[i], NULL, run, &t[i]))
			_exit(91);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
}

struct tally stage_sum(const struct stage *s)
{
	struct tally all = {0};

	for (int i = 0; i < SENDERS; i++) {
		for (int k = 0; k < SENDER_PROBES; k++) {
			all.n[k] += s->tallies[i].n[k];
			all.sum[k] += s->tallies[i].sum[k];
		}
	}
	return all;
}
