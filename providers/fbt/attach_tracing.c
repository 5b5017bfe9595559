/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* fentry and fexit: the program was loaded for its function; a link makes it run. */
#include <errno.h>

#include "fbt.h"
#include "support/bpf.h"

int weft_fbt_attach_tracing(struct weft_instance *in, const struct weft_attach_request *request,
			    struct weft_attachment *at, struct weft_error *err)
{
	int link;

	if (request->n_probes != 1)
		return in->host->fail(err, -EINVAL, "FBT_ATTACH",
				      "a program of fentry serves one probe, not %u",
				      request->n_probes);
	link = support_raw_tracepoint_open(NULL, request->prog_fd);
	request->status[0] = link < 0 ? link : weft_fbt_keep(at, link);
	return 0;
}
