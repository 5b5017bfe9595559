/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Members as C sees them: those of nameless structs and unions belong to what contains them. In
 * hostile BTF a struct can contain itself, so that there is a limit on depth and on how many types
 * are looked at.
 */
#include <linux/btf.h>
#include <string.h>

#include "core/base/base.h"
#include "core/btf/btf.h"

#define DEPTH  32u
#define LOOKED 512u

struct walk {
	const struct weft_btf *btf;
	int (*fn)(const struct weft_btf_member_at *, void *);
	void *arg;
	unsigned budget;
};

static int walk(struct walk *w, const struct weft_btf_type *t, uint64_t bit, unsigned depth)
{
	struct weft_btf_field f;
	struct weft_btf_type inner;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < t->vlen; i++) {
		struct weft_btf_member_at at;

		weft_btf_field(w->btf, t, i, &f);
		at = (struct weft_btf_member_at){
			.name = f.name, .type = f.type, .bit = bit + f.bit, .bits = f.bits};
		if (*f.name) {
			ret = w->fn(&at, w->arg);
			continue;
		}
		if (f.bits)
			continue;
		if (depth >= DEPTH || !w->budget--)
			return -1;
		if (!weft_btf_strip(w->btf, f.type, &inner, NULL))
			return -1;
		if (weft_btf_is_struct(&inner))
			ret = walk(w, &inner, at.bit, depth + 1);
	}
	return ret;
}

int weft_btf_each_member(const struct weft_btf *btf, const struct weft_btf_type *t,
			 int (*fn)(const struct weft_btf_member_at *, void *), void *arg)
{
	struct walk w = {.btf = btf, .fn = fn, .arg = arg, .budget = LOOKED};

	return weft_btf_is_struct(t) ? walk(&w, t, 0, 0) : 0;
}

struct search {
	const char *name;
	struct weft_btf_member_at *out;
};

static int meet(const struct weft_btf_member_at *m, void *arg)
{
	struct search *s = arg;

	if (strcmp(m->name, s->name) != 0)
		return 0;
	*s->out = *m;
	return 1;
}

int weft_btf_find_member(const struct weft_btf *btf, const struct weft_btf_type *t,
			 const char *name, struct weft_btf_member_at *out)
{
	struct search s = {.name = name, .out = out};

	return weft_btf_each_member(btf, t, meet, &s);
}

static int offer(const struct weft_btf_member_at *m, void *arg)
{
	weft_near_offer(arg, m->name);
	return 0;
}

const char *weft_btf_nearest_member(const struct weft_btf *btf, const struct weft_btf_type *t,
				    const char *name)
{
	struct weft_near near;

	weft_near_init(&near, name);
	weft_btf_each_member(btf, t, offer, &near);
	return near.best;
}
