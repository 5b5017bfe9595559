/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What must not be traced, and why.
 *
 * A program that a function's entry starts runs through other functions of the kernel: those of its
 * maps, the clock, RCU, the handler that started it. A probe on one of these fires inside itself.
 * The kernel suppresses that (most of the time; the rest is a dead machine), so that such a probe
 * counts nothing that could be relied on. They are not listed, and refused by name.
 *
 * Beside this table, which is ours, there are two of the kernel's: the sections of code that run
 * where a trap cannot be handled, and the list of kprobes (debugfs, where it is mounted).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fbt.h"

#define MAPS   "BPF programs run through it when they use a map"
#define PROGS  "every BPF program runs through it"
#define HELPER "BPF programs run through it when they read memory, the clock or a stack"
#define RCU    "tracing itself relies on it (RCU)"
#define TRACER "the tracing machinery runs through it at every firing"
#define IDLE   "the processor may be asleep, or not yet awake, in it"

struct row {
	const char *pattern; /* a name, or its beginning and "*" */
	const char *why;
};

static const struct row unsafe[] = {
	{"__bpf_prog_*", PROGS},
	{"__bpf_tramp_*", PROGS},
	{"__cant_migrate", PROGS},
	{"bpf_dispatcher_*", PROGS},
	{"bpf_lsm_*", "a placeholder that BPF programs replace"},
	{"bpf_trampoline_*", PROGS},
	{"migrate_disable", PROGS},
	{"migrate_enable", PROGS},
	{"preempt_count_add", PROGS},
	{"preempt_count_sub", PROGS},
	{"__htab_*", MAPS},
	{"__pcpu_freelist_*", MAPS},
	{"___pcpu_freelist_*", MAPS},
	{"pcpu_freelist_*", MAPS},
	{"array_map_lookup_elem", MAPS},
	{"array_map_update_elem", MAPS},
	{"percpu_array_map_lookup_elem", MAPS},
	{"alloc_htab_elem", MAPS},
	{"bpf_map_lookup_elem", MAPS},
	{"bpf_map_update_elem", MAPS},
	{"bpf_map_delete_elem", MAPS},
	{"bpf_mem_cache_*", MAPS},
	{"bpf_ringbuf_*", MAPS},
	{"__bpf_ringbuf_*", MAPS},
	{"htab_*", MAPS},
	{"lookup_elem_raw", MAPS},
	{"lookup_nulls_elem_raw", MAPS},
	{"unit_alloc", MAPS},
	{"unit_free", MAPS},
	{"bpf_get_*", HELPER},
	{"__bpf_get_stack*", HELPER},
	{"bpf_ktime_get_*", HELPER},
	{"bpf_loop", HELPER},
	{"bpf_probe_read_*", HELPER},
	{"bpf_task_pt_regs", HELPER},
	{"copy_from_kernel_nofault*", HELPER},
	{"copy_from_user_nofault", HELPER},
	{"strncpy_from_kernel_nofault", HELPER},
	{"strncpy_from_user_nofault", HELPER},
	{"get_perf_callchain", HELPER},
	{"perf_callchain_*", HELPER},
	{"ktime_get_mono_fast_ns", HELPER},
	{"ktime_get_tai_fast_ns", HELPER},
	{"__rcu_*", RCU},
	{"rcu_*", RCU},
	{"ct_nmi_*", RCU},
	{"ct_irq_*", RCU},
	{"arch_ftrace_*", TRACER},
	{"arch_rethook_*", TRACER},
	{"arch_kprobe_*", TRACER},
	{"__kprobe_*", TRACER},
	{"aggr_pre_handler", TRACER},
	{"aggr_post_handler", TRACER},
	{"fprobe_*", TRACER},
	{"ftrace_ops_*", TRACER},
	{"function_trace_*", TRACER},
	{"get_kprobe", TRACER},
	{"irq_work_*", TRACER},
	{"__irq_work_*", TRACER},
	{"kprobe_*", TRACER},
	{"kretprobe_*", TRACER},
	{"opt_pre_handler", TRACER},
	{"optimized_callback", TRACER},
	{"perf_trace_*", TRACER},
	{"pre_handler_kretprobe", TRACER},
	{"prepare_ftrace_return", TRACER},
	{"rethook_*", TRACER},
	{"skip_singlestep", TRACER},
	{"trace_call_bpf", TRACER},
	{"within_kprobe_blacklist", TRACER},
	{"arch_cpu_idle*", IDLE},
	{"default_idle*", IDLE},
	{"mwait_idle*", IDLE},
	{"acpi_idle_*", IDLE},
	{"intel_idle*", IDLE},
	{"native_safe_halt", IDLE},
};
#define N_UNSAFE (sizeof(unsafe) / sizeof(unsafe[0]))

static bool fits(const char *pattern, const char *name)
{
	const char *star = strchr(pattern, '*');

	if (!star)
		return !strcmp(pattern, name);
	return !strncmp(pattern, name, (size_t)(star - pattern));
}

const char *weft_fbt_unsafe(const char *name)
{
	for (size_t i = 0; i < N_UNSAFE; i++)
		if (unsafe[i].pattern[0] == name[0] && fits(unsafe[i].pattern, name))
			return unsafe[i].why;
	return NULL;
}

bool weft_fbt_unsafe_row(size_t i, const char **pattern, const char **why)
{
	if (i >= N_UNSAFE)
		return false;
	*pattern = unsafe[i].pattern;
	*why = unsafe[i].why;
	return true;
}

const char *weft_fbt_never_returns(const char *name)
{
	static const struct row rows[] = {
		{"__fortify_panic", "it ends in a panic"},
		{"__module_put_and_kthread_exit", "it ends the thread"},
		{"__stack_chk_fail", "it ends in a panic"},
		{"__switch_to", "it returns on the stack of another task"},
		{"cpu_startup_entry", "it is the loop of an idle processor"},
		{"do_exit", "it ends the thread"},
		{"do_group_exit", "it ends the thread"},
		{"do_idle_loop", "it is the loop of an idle processor"},
		{"do_task_dead", "it ends the thread"},
		{"kthread_complete_and_exit", "it ends the thread"},
		{"kthread_exit", "it ends the thread"},
		{"machine_real_restart", "it restarts the machine"},
		{"make_task_dead", "it ends the thread"},
		{"nmi_panic_self_stop", "it stops the processor"},
		{"panic", "it stops the machine"},
		{"panic_smp_self_stop", "it stops the processor"},
		{"rest_init", "it becomes the idle loop"},
		{"rewind_stack_and_make_dead", "it ends the thread"},
		{"start_kernel", "it becomes the idle loop"},
		{"stop_this_cpu", "it stops the processor"},
		{"vpanic", "it stops the machine"},
		{"x86_64_start_kernel", "it becomes the idle loop"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].pattern, name))
			return rows[i].why;
	return NULL;
}

bool weft_fbt_is_fragment(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot && strstr(dot, ".cold");
}

/* ---- sections ---- */

enum { INIT, N_SECTIONS = 8 }; /* INIT is the first: marks 0 and 1 */

static const struct section {
	const char *start, *end; /* symbols of the kernel's linker script */
	const char *why;
} sections[N_SECTIONS] = {
	[INIT] = {"_sinittext", "_einittext", "it ran when the kernel started and is gone"},
	{"__entry_text_start", "__entry_text_end",
	 "it is the kernel's entry, where no trap can be handled"},
	{"__noinstr_text_start", "__noinstr_text_end",
	 "it runs where no trap can be handled (noinstr)"},
	{"__kprobes_text_start", "__kprobes_text_end", "it handles probes"},
	{"__indirect_thunk_start", "__indirect_thunk_end", "it is a thunk of an indirect call"},
	{"__static_call_text_start", "__static_call_text_end",
	 "it is a jump that the kernel rewrites"},
	{"__relocate_kernel_start", "__relocate_kernel_end", "it replaces the kernel"},
	{"_sexittext", "_eexittext", "it is never called"},
};

void weft_fbt_ranges_mark(struct weft_fbt_ranges *r, const struct weft_fbt_symbol *s)
{
	if (s->name[0] != '_')
		return;
	for (size_t i = 0; i < N_SECTIONS; i++) {
		if (!strcmp(s->name, sections[i].start))
			r->mark[2 * i] = s->address;
		else if (!strcmp(s->name, sections[i].end))
			r->mark[2 * i + 1] = s->address;
	}
}

static int add_range(struct weft_fbt_ranges *r, uint64_t start, uint64_t end, const char *why)
{
	if (r->n == r->cap) {
		size_t cap = r->cap ? 2 * r->cap : 1024;
		struct weft_fbt_range *grown = realloc(r->all, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		r->all = grown;
		r->cap = cap;
	}
	r->all[r->n++] = (struct weft_fbt_range){start, end, why};
	return 0;
}

static int add_blacklisted(void *arg, uint64_t start, uint64_t end)
{
	return add_range(arg, start, end, "the kernel forbids it (kprobes' blacklist)");
}

static int by_start(const void *a, const void *b)
{
	const struct weft_fbt_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int weft_fbt_ranges_settle(struct weft_fbt_ranges *r)
{
	int ret = 0;

	/* Where debugfs is not mounted the kernel still refuses what it must when attaching. */
	if (weft_fbt_read_blacklist(add_blacklisted, r) == -ENOMEM)
		return -ENOMEM;
	for (size_t i = 0; i < N_SECTIONS && !ret; i++)
		if (r->mark[2 * i] < r->mark[2 * i + 1])
			ret = add_range(r, r->mark[2 * i], r->mark[2 * i + 1], sections[i].why);
	if (r->n)
		qsort(r->all, r->n, sizeof(*r->all), by_start);
	return ret;
}

const char *weft_fbt_ranges_find(const struct weft_fbt_ranges *r, uint64_t address)
{
	size_t low = 0, high = r->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->all[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	/* Ranges overlap only in that a section holds functions of the list. */
	for (size_t i = low; address && i-- > 0 && i + 2 >= low;)
		if (address < r->all[i].end)
			return r->all[i].why;
	for (size_t i = 0; address && i < N_SECTIONS; i++)
		if (r->mark[2 * i] <= address && address < r->mark[2 * i + 1])
			return sections[i].why;
	return NULL;
}

bool weft_fbt_is_init(const struct weft_fbt_ranges *r, uint64_t address)
{
	return address && r->mark[0] <= address && address < r->mark[1];
}

void weft_fbt_ranges_finish(struct weft_fbt_ranges *r)
{
	free(r->all);
}
