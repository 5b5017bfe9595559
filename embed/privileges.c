/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What capabilities are good for: to weft itself, and to the providers. */
#include <linux/capability.h>

#include "embed/trace.h"

/* While a run goes on, too: probes that appear later are attached later (the first two), and stacks
 * are named as they come (the others). */
static const struct weft_capability_spec own[] = {
	{.capability = CAP_BPF,
	 .flags = WEFT_CAPABILITY_REQUIRED,
	 .what_for = "loading programs and maps"},
	{.capability = CAP_PERFMON,
	 .flags = WEFT_CAPABILITY_REQUIRED,
	 .what_for = "attaching them, and reading the kernel's memory"},
	{.capability = CAP_SYSLOG,
	 .what_for = "names of kernel functions where kernel.kptr_restrict is 1"},
	{.capability = CAP_SYS_PTRACE, .what_for = "symbols of other users' processes"},
	{.capability = CAP_DAC_READ_SEARCH, .what_for = "symbols of files that only others may read"},
	{.capability = CAP_CHECKPOINT_RESTORE, .what_for = "symbols of files that were deleted"},
};
#define N_OWN (sizeof(own) / sizeof(own[0]))

/* Of all providers, in the order of the loader, which is the session's too. */
static const struct weft_capability_spec *nth(const struct weft_trace *t, size_t i,
					      const struct weft_provider **provider, size_t *number)
{
	*number = 0;
	for (size_t k = 0; k < weft_loader_count(t->loader); k++) {
		const struct weft_loader_entry *e = weft_loader_entry(t->loader, k);

		if (e->state != WEFT_LOADER_USABLE)
			continue;
		*provider = e->provider;
		for (size_t c = 0; e->provider->capabilities && e->provider->capabilities[c]; c++)
			if (!i--)
				return e->provider->capabilities[c];
		++*number;
	}
	return NULL;
}

const struct weft_trace_capability *weft_trace_capability(struct weft_trace *t, size_t i)
{
	const struct weft_capability_spec *c;
	const struct weft_provider *provider;
	bool in_use = true;
	size_t number;

	if (!t || !t->loader)
		return NULL;
	t->capability = (struct weft_trace_capability){.struct_size = sizeof(t->capability)};
	if (i < N_OWN) {
		c = &own[i];
	} else {
		c = nth(t, i - N_OWN, &provider, &number);
		if (!c)
			return NULL;
		in_use = t->session && weft_session_uses(t->session, number);
		t->capability.provider = provider->name;
	}
	t->capability.capability = c->capability;
	t->capability.what_for = c->what_for;
	t->capability.flags =
		(c->flags & WEFT_CAPABILITY_REQUIRED ? (uint32_t)WEFT_TRACE_REQUIRED : 0) |
		(in_use ? WEFT_TRACE_IN_USE : 0);
	return &t->capability;
}
