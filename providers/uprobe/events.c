/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Places as the kernel is asked for them: support/uprobes.h does that. */
#include <errno.h>
#include <stdlib.h>

#include "uprobe.h"

int weft_uprobe_events_make(struct weft_instance *in, struct weft_attachment *at,
			    struct weft_uprobe_place_at *places, size_t n)
{
	return weft_uprobe_events_for(in, at, places, n, 0);
}

int weft_uprobe_events_for(struct weft_instance *in, struct weft_attachment *at,
			   struct weft_uprobe_place_at *places, size_t n, int32_t pid)
{
	struct support_uprobes uprobes;
	struct support_place *asked = calloc(n ? n : 1, sizeof(*asked));
	size_t k = 0;
	int ret;

	if (!asked)
		return -ENOMEM;
	weft_uprobe_settle_mechanism(in);
	for (size_t i = 0; i < n; i++) {
		/* What has an error already is none of the kernel's business. */
		if (places[i].error)
			continue;
		asked[k++] = (struct support_place){
			.fd = places[i].file->fd,
			.offset = places[i].offset,
			.cookie = places[i].cookie,
			.is_return = places[i].is_return,
			.owner = (uint32_t)i,
		};
	}
	uprobes = in->uprobes;
	uprobes.only = pid;
	ret = support_uprobes_attach(&uprobes, at->prog_fd, asked, k, &at->fds);
	for (size_t i = 0; i < k && !ret; i++)
		places[asked[i].owner].error = asked[i].error;
	free(asked);
	return ret;
}
