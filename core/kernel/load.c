/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loading. A verifier's log costs memory and time and nobody reads it when all is well: the first
 * load asks for none. Only a program that was refused is loaded again, with a buffer that grows
 * until the log fits; the user is told the clause and the expression that the instruction came from.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "core/kernel/insn.h"
#include "core/kernel/load.h"
#include "core/kernel/privilege.h"

#define LOG_FIRST (64u << 10)
#define LOG_MOST  (16u << 20)

static int bind_maps(const struct weft_program *prog, const struct weft_maps *maps,
		     struct bpf_insn *insns, struct weft_error *err)
{
	uint32_t i;

	for (i = 0; i < prog->n_insns; i++) {
		if (!INSN_IS_LD_IMM64(&insns[i]))
			continue;
		if (insns[i].src_reg == BPF_PSEUDO_MAP_FD ||
		    insns[i].src_reg == BPF_PSEUDO_MAP_VALUE) {
			uint32_t map = (uint32_t)insns[i].imm;

			if (map >= maps->n || maps->fds[map] < 0)
				return weft_fail(err, -EINVAL, "PROGRAM_REJECTED",
						 "instruction %u of the program %s refers to the "
						 "map %u, which was not created",
						 i, prog->name, map);
			insns[i].imm = maps->fds[map];
		}
		i++; /* its second half */
	}
	return 0;
}

/* The log of a load that fails; *out is NULL without memory. Returns what the load returned. */
static int load_logged(struct weft_bpf_program *p, char **out)
{
	uint32_t size;
	int ret = -ENOMEM;

	*out = NULL;
	for (size = LOG_FIRST; size <= LOG_MOST; size *= 4) {
		char *log = realloc(*out, size);

		if (!log)
			break;
		*out = log;
		log[0] = '\0';
		p->log = log;
		p->log_size = size;
		ret = weft_bpf_program_load(p);
		log[size - 1] = '\0';
		if (ret != -ENOSPC)
			break;
	}
	return ret;
}

static int denied(const char *name, struct weft_error *err)
{
	char lacking[128];

	weft_privilege_lacking(lacking, sizeof(lacking));
	return weft_fail(err, -EPERM, "PROGRAM_DENIED",
			 "the kernel refuses to load the program %s: %s", name, lacking);
}

/* Limits of the verifier that nothing short of it can foretell. */
static bool is_too_much(const struct weft_verdict *v)
{
	static const char *const limits[] = {"BPF program is too large", "The sequence of"};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (v->reason_size >= strlen(limits[i]) &&
		    !memcmp(v->reason, limits[i], strlen(limits[i])))
			return true;
	return false;
}

static int reject_at(const struct weft_program *prog, int code, const struct weft_verdict *v,
		     struct weft_error *err)
{
	const struct weft_span *span = NULL;
	struct weft_pos pos = {0};
	uint32_t clause = UINT32_MAX, i;

	if (v->has_insn && v->insn < prog->n_insns) {
		if (prog->clause_of)
			clause = prog->clause_of[v->insn];
		/* Glue between expressions has no place of its own: what it follows has. */
		for (i = v->insn + 1; prog->spans && i-- > 0 && !span;)
			if (prog->spans[i].text)
				span = &prog->spans[i];
	}
	if (span)
		pos = weft_span_pos(*span);
	if (clause == UINT32_MAX || !span)
		return weft_fail(err, code, "PROGRAM_REJECTED",
				 "the kernel rejects the program %s at instruction %u: %.*s",
				 prog->name, v->insn, (int)v->reason_size, v->reason);
	return weft_fail_at(
		err, pos, code, "PROGRAM_REJECTED",
		"the kernel rejects clause %u at `%.*s` (program %s, instruction %u): %.*s",
		clause + 1, (int)span->length, span->text->s + span->start, prog->name, v->insn,
		(int)v->reason_size, v->reason);
}

/* prog: as in load_program(). */
static int rejected(const char *name, const struct weft_program *prog, int code, const char *log,
		    struct weft_error *err)
{
	size_t n = log ? strlen(log) : 0;
	struct weft_verdict v;
	bool too_much;
	int ret;

	weft_verdict_read(log ? log : "", n, &v);
	/* Before 6.4 a log that is full lacks its end, where the reason stands. */
	too_much = code == -E2BIG && n + 1 >= LOG_MOST;
	if (too_much)
		v.reason_size = 0;
	if (!v.reason_size) {
		v.reason = code == -E2BIG ? "it is too large" : strerror(-code);
		v.reason_size = strlen(v.reason);
	}
	if (!prog)
		return weft_fail(err, code, "PROGRAM_REJECTED",
				 "the kernel rejects the program %s: %.*s", name,
				 (int)v.reason_size, v.reason);
	too_much |= is_too_much(&v);
	ret = reject_at(prog, code, &v, err);
	if (too_much)
		weft_error_context(err,
				   "the clauses of this probe are more than the kernel can check: "
				   "put some into a probe set of their own");
	return ret;
}

/* Returns the descriptor. prog: what p was made of, where that is a program of the plan; *log: of
 * one that was refused, to be freed. */
static int load_program(struct weft_bpf_program *p, const struct weft_program *prog, char **log,
			struct weft_error *err)
{
	int ret = weft_bpf_program_load(p), again;

	*log = NULL;
	if (ret >= 0)
		return ret;
	if (ret == -ENOMEM) {
		weft_nomem(err);
		weft_error_context(err, "loading the program %s", p->name);
		return ret;
	}
	if (ret == -EPERM)
		return denied(p->name, err);
	again = load_logged(p, log);
	if (again < 0)
		return rejected(p->name, prog, ret, *log, err);
	free(*log); /* what hindered it has passed */
	*log = NULL;
	return again;
}

int weft_program_load(const struct weft_program *prog, const struct weft_maps *maps, int *fd,
		      char **log, struct weft_error *err)
{
	struct weft_bpf_program p = {
		.name = prog->name, .load = &prog->load, .n_insns = prog->n_insns};
	struct bpf_insn *insns;
	int ret;

	*log = NULL;
	insns = malloc(prog->n_insns * sizeof(*insns) + 1);
	if (!insns)
		return weft_nomem(err);
	memcpy(insns, prog->insns, prog->n_insns * sizeof(*insns));
	p.insns = insns;
	ret = bind_maps(prog, maps, insns, err);
	if (!ret)
		ret = load_program(&p, prog, log, err);
	free(insns);
	if (ret < 0)
		return ret;
	*fd = ret;
	return 0;
}

int weft_program_load_made(const struct weft_bpf_program *p, int *fd, struct weft_error *err)
{
	struct weft_bpf_program own = *p;
	char *log;
	int ret = load_program(&own, NULL, &log, err);

	free(log);
	if (ret < 0)
		return ret;
	*fd = ret;
	return 0;
}

int weft_program_load_own(const char *name, const struct weft_load_class *load,
			  const struct bpf_insn *insns, uint32_t n_insns, int *fd,
			  struct weft_error *err)
{
	const struct weft_bpf_program p = {
		.name = name, .load = load, .insns = insns, .n_insns = n_insns};

	return weft_program_load_made(&p, fd, err);
}
