/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Variables. What cannot change while a program runs is asked for once and kept, unless it was
 * first asked for where it is not always evaluated.
 *
 * A helper that fails gives no value, and no value is a fault, never a zero: a process that has no
 * number in the tracer's pid namespace has no pid there.
 */
#include <errno.h>
#include <string.h>

#include "core/compiler/lower.h"

bool weft_lower_cached(struct weft_lower *lw, enum weft_cached what, weft_vreg *out)
{
	*out = lw->cached[what];
	return *out != WEFT_NO_VREG;
}

void weft_lower_cache(struct weft_lower *lw, enum weft_cached what, weft_vreg v)
{
	if (!lw->conditional)
		lw->cached[what] = v;
}

/* A helper without arguments whose result stays the same. */
static weft_vreg ask_once(struct weft_lower *lw, enum weft_cached what, int32_t helper)
{
	weft_vreg v;

	if (weft_lower_cached(lw, what, &v))
		return v;
	v = weft_ir_call(&lw->ir, helper, true, NULL, 0);
	weft_lower_cache(lw, what, v);
	return v;
}

weft_vreg weft_lower_pid_tgid(struct weft_lower *lw)
{
	return ask_once(lw, WEFT_CACHED_PID_TGID, BPF_FUNC_get_current_pid_tgid);
}

/* As the kernel counts: initial namespace. */
weft_vreg weft_lower_tgid(struct weft_lower *lw)
{
	return weft_ir_alu_imm(&lw->ir, BPF_RSH, weft_lower_pid_tgid(lw), 32);
}

weft_vreg weft_lower_task(struct weft_lower *lw)
{
	return ask_once(lw, WEFT_CACHED_TASK, BPF_FUNC_get_current_task);
}

struct weft_place weft_lower_thread_key(struct weft_lower *lw)
{
	struct weft_place key = weft_lower_frame(lw, 8);

	weft_lower_store(lw, key, 8, weft_lower_task(lw));
	return key;
}

weft_vreg weft_lower_cpu(struct weft_lower *lw)
{
	return ask_once(lw, WEFT_CACHED_CPU, BPF_FUNC_get_smp_processor_id);
}

/* struct bpf_pidns_info { u32 pid, tgid }, where pid is the thread's and tgid the process's. */
static weft_vreg lower_ns_pid(struct weft_lower *lw, bool thread)
{
	uint32_t mark = lw->frame_used;
	struct weft_place to;
	weft_vreg failed, v;

	if (weft_lower_cached(lw, thread ? WEFT_CACHED_NS_TID : WEFT_CACHED_NS_PID, &v))
		return v;
	to = weft_lower_frame(lw, 8);
	failed = WEFT_CALL(&lw->ir, BPF_FUNC_get_ns_current_pid_tgid,
			   WEFT_A_IMM(lw->plan->pidns_dev), WEFT_A_IMM(lw->plan->pidns_ino),
			   WEFT_A_FP(to.off), WEFT_A_IMM(8));
	weft_ir_branch_imm(&lw->ir, BPF_JNE, failed, 0, weft_lower_fault(lw, WEFT_LOSS_FAULT_VALUE));
	weft_lower_cache(lw, WEFT_CACHED_NS_TID, weft_lower_load(lw, to, 4));
	v = weft_lower_load(lw, weft_place_at(to, 4), 4);
	weft_lower_cache(lw, WEFT_CACHED_NS_PID, v);
	lw->frame_used = mark;
	if (!thread)
		return v;
	return weft_lower_cached(lw, WEFT_CACHED_NS_TID, &v) ? v : weft_lower_load(lw, to, 4);
}

static weft_vreg lower_pid(struct weft_lower *lw, const struct weft_node *n)
{
	bool thread = n->var->id == WEFT_VAR_TID;
	weft_vreg both;

	if (lw->plan->pidns_ino)
		return lower_ns_pid(lw, thread);
	both = weft_lower_pid_tgid(lw);
	return thread ? weft_ir_extend(&lw->ir, both, 4, false)
		      : weft_ir_alu_imm(&lw->ir, BPF_RSH, both, 32);
}

const char *const weft_ppid_members[2] = {"task_struct.real_parent", "task_struct.tgid"};

static weft_vreg lower_ppid(struct weft_lower *lw, const struct weft_node *n)
{
	weft_vreg v;

	(void)n;
	if (lw->plan->pidns_ino) {
		weft_lower_status(lw, weft_fail_at(lw->err, weft_lower_pos(lw), -ENOTSUP,
						   "PPID_NAMESPACE",
						   "ppid is not available in a pid namespace: the "
						   "kernel tells a program the parent's number in "
						   "the initial one only"));
		return weft_ir_const(&lw->ir, 0);
	}
	if (weft_lower_cached(lw, WEFT_CACHED_PPID, &v))
		return v;
	v = weft_ir_call(&lw->ir, BPF_FUNC_get_current_task, true, NULL, 0);
	for (size_t i = 0; i < 2; i++) {
		const struct weft_kernel_member *m =
			weft_plan_known_member(lw->plan, weft_ppid_members[i]);

		if (!m)
			weft_lower_status(lw, weft_fail_at(lw->err, weft_lower_pos(lw), -ENOENT,
							   "BTF_NOT_FOUND",
							   "ppid: the kernel's type information has "
							   "no member %s",
							   weft_ppid_members[i]));
		v = weft_ir_alu_imm(&lw->ir, BPF_ADD, v, m ? m->offset : 0);
		v = weft_lower_read(lw, v, i ? 4 : 8, false);
	}
	weft_lower_cache(lw, WEFT_CACHED_PPID, v);
	return v;
}

static weft_vreg lower_user(struct weft_lower *lw, const struct weft_node *n)
{
	weft_vreg both = ask_once(lw, WEFT_CACHED_UID_GID, BPF_FUNC_get_current_uid_gid);

	return n->var->id == WEFT_VAR_UID ? weft_ir_extend(&lw->ir, both, 4, false)
					  : weft_ir_alu_imm(&lw->ir, BPF_RSH, both, 32);
}

static weft_vreg lower_cpu(struct weft_lower *lw, const struct weft_node *n)
{
	(void)n;
	return weft_lower_cpu(lw);
}

static weft_vreg lower_timestamp(struct weft_lower *lw, const struct weft_node *n)
{
	(void)n;
	return lw->timestamp;
}

/* CLOCK_REALTIME is TAI less a whole number of seconds that changes with leap seconds only, and the
 * kernel has a helper for TAI: a step of the clock shows at once, as it would not in a sum of the
 * monotonic clock and an offset that the runtime keeps. */
static weft_vreg lower_walltimestamp(struct weft_lower *lw, const struct weft_node *n)
{
	weft_vreg tai = weft_ir_call(&lw->ir, BPF_FUNC_ktime_get_tai_ns, true, NULL, 0);
	weft_vreg word = weft_ir_map_value(&lw->ir, WEFT_PLAN_STATE,
					   offsetof(struct weft_control, tai_offset_ns));

	(void)n;
	return weft_ir_alu(&lw->ir, BPF_SUB, tai, weft_ir_load(&lw->ir, 8, word, 0));
}

static weft_vreg lower_cgroup(struct weft_lower *lw, const struct weft_node *n)
{
	lw->plan->uses_cgroups |= n->type.kind == WEFT_VALUE_CGROUP;
	return ask_once(lw, WEFT_CACHED_CGROUP, BPF_FUNC_get_current_cgroup_id);
}

static weft_vreg lower_probe(struct weft_lower *lw, const struct weft_node *n)
{
	(void)n;
	return lw->cookie;
}

static weft_vreg (*const lower_table[])(struct weft_lower *, const struct weft_node *) = {
	[WEFT_VAR_PID] = lower_pid,
	[WEFT_VAR_TID] = lower_pid,
	[WEFT_VAR_PPID] = lower_ppid,
	[WEFT_VAR_UID] = lower_user,
	[WEFT_VAR_GID] = lower_user,
	[WEFT_VAR_CPU] = lower_cpu,
	[WEFT_VAR_TIMESTAMP] = lower_timestamp,
	[WEFT_VAR_WALLTIMESTAMP] = lower_walltimestamp,
	[WEFT_VAR_CGROUP] = lower_cgroup,
	[WEFT_VAR_CGROUPNAME] = lower_cgroup,
	[WEFT_VAR_CONTAINER] = lower_cgroup,
	[WEFT_VAR_PROBEPROV] = lower_probe,
	[WEFT_VAR_PROBEMOD] = lower_probe,
	[WEFT_VAR_PROBEFUNC] = lower_probe,
	[WEFT_VAR_PROBENAME] = lower_probe,
};

weft_vreg weft_lower_variable(struct weft_lower *lw, const struct weft_node *n)
{
	size_t id = (size_t)n->var->id;

	if (id < sizeof(lower_table) / sizeof(lower_table[0]) && lower_table[id])
		return lower_table[id](lw, n);
	return weft_ir_const(&lw->ir, 0); /* the language has node kinds for the rest */
}

/* ---- fields of the probe ---- */

/* The truth for the list that no probe fires: begin and end have a name and nothing else. */
static bool holds_for_list(const struct weft_lower *lw, const struct weft_node *n)
{
	const char *name = lw->clause && lw->clause->clause == lw->plan->set->end ? "end" : "begin";
	const char *text = n->kid[0]->type.field == WEFT_FIELD_NAME ? name : "";

	return strlen(text) == n->kid[1]->length &&
	       !memcmp(text, n->kid[1]->string, n->kid[1]->length);
}

static weft_vreg probe_bits(struct weft_lower *lw)
{
	uint32_t mark = lw->frame_used;
	struct weft_place index;
	weft_vreg row, v;

	if (weft_lower_cached(lw, WEFT_CACHED_PROBE_BITS, &v))
		return v;
	index = weft_lower_frame(lw, 8);
	weft_lower_store(lw, index, 4, lw->cookie);
	row = WEFT_CALL(&lw->ir, BPF_FUNC_map_lookup_elem, WEFT_A_MAP(WEFT_PLAN_PROBES),
			WEFT_A_FP(index.off));
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, row, 0, weft_lower_fault(lw, WEFT_LOSS_FAULT_VALUE));
	v = weft_ir_load(&lw->ir, 8, row, 0);
	lw->frame_used = mark;
	weft_lower_cache(lw, WEFT_CACHED_PROBE_BITS, v);
	return v;
}

/* Whether all probes of the group agree; *truth is what they agree on. */
static bool agreed(const struct weft_group *g, const struct weft_comparison *c, bool *truth)
{
	for (size_t i = 0; i < g->n_probes; i++) {
		bool holds = weft_comparison_holds(c, g->probes[i].probe);

		if (i && holds != *truth)
			return false;
		*truth = holds;
	}
	return true;
}

weft_vreg weft_lower_probe_bit(struct weft_lower *lw, const struct weft_node *n, int *known)
{
	const struct weft_group *g = lw->group;
	uint64_t most = 0;
	uint32_t index;
	bool truth = false;
	int ret;

	*known = 0;
	if (!g->info || !g->n_probes || !g->probes[0].probe) {
		*known = holds_for_list(lw, n);
		return WEFT_NO_VREG;
	}
	ret = weft_plan_comparison(lw->plan, n->kid[0]->type.field, n->kid[1]->string,
				   n->kid[1]->length, weft_lower_pos(lw), &index, lw->err);
	if (ret) {
		weft_lower_status(lw, ret);
		return WEFT_NO_VREG;
	}
	if (agreed(g, &lw->plan->comparisons[index], &truth)) {
		lw->program->decided_bits |= UINT64_C(1) << index;
		*known = truth;
		return WEFT_NO_VREG;
	}
	for (size_t i = 0; i < g->n_probes; i++)
		if (g->probes[i].cookie > most)
			most = g->probes[i].cookie;
	weft_lower_status(lw, weft_plan_need_probes(lw->plan, most, lw->err));
	return weft_ir_alu_imm(&lw->ir, BPF_AND, probe_bits(lw), (int64_t)(UINT64_C(1) << index));
}
