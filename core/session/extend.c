/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Layouts that a probe got since it was enabled: a library was loaded whose sites have their
 * arguments elsewhere. They become enablings of that probe with its cookie and its clauses, at the
 * end of the array, and are compiled and attached as those of probes that appeared are. Programs
 * are running by the layouts that there were, so these must be what they were.
 */
#include <errno.h>

#include "core/session/internal.h"

static int enable_layouts(struct weft_session *s, uint32_t first, struct weft_error *err)
{
	struct weft_enabling e = s->enablings[first];
	struct weft_opened *o = e.class->provider;
	struct weft_described described;
	uint32_t n = 0;
	int ret;

	ret = weft_info_describe(o, e.probe, weft_enabling_params(s, &e), e.brief, &described, err);
	for (size_t i = first; i < s->n_enablings && !ret; i++) {
		const struct weft_enabling *old = &s->enablings[i];

		if (old->probe != e.probe || old->with != e.with)
			continue;
		n++;
		if (old->layout >= described.n || described.classes[old->layout] != old->class)
			ret = weft_fail(err, -EPROTO, "PLUGIN_INFO",
					"provider %s changed a layout of a probe that is traced",
					o->provider->name);
	}
	if (ret)
		return ret;
	e.n_layouts = 0;
	e.attached = e.grouped = false;
	e.view = e.shape = NULL;
	for (e.layout = n; e.layout < described.n; e.layout++) {
		if (weft_grow(&s->enablings, &s->cap_enablings, s->n_enablings,
			      sizeof(*s->enablings)))
			return weft_nomem(err);
		e.class = described.classes[e.layout];
		s->enablings[s->n_enablings++] = e;
	}
	return 0;
}

int weft_enable_extended(struct weft_session *s, const struct weft_probe *probe,
			 struct weft_error *err)
{
	size_t n = s->n_enablings, before;
	int ret;

	for (uint32_t i = 0; i < n; i++) {
		if (s->enablings[i].probe != probe || !s->enablings[i].n_layouts)
			continue;
		before = weft_error_count(err);
		ret = enable_layouts(s, i, err);
		if (ret == -ENOMEM)
			return ret;
		if (ret)
			weft_session_give_up(s, ret, before, err);
	}
	return 0;
}
