/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Rates: `1000/s`. */
#include <errno.h>

#include "config/config.h"
#include "config/schema.h"
#include "core/number.h"

#define SECOND UINT64_C(1000000000)

void weft_read_rate(struct weft_reader *r, const struct weft_key *key,
		    const struct weft_tree_node *node, void *base)
{
	struct weft_rate *out = (void *)((char *)base + key->offset);
	uint64_t count = 0, per_ns = SECOND;
	int rc;

	if (node->kind != WEFT_TREE_SCALAR || weft_tree_is_null(node)) {
		if (node->kind != WEFT_TREE_BAD)
			weft_fail_type(r, node, "`limit`", weft_key_types[key->type].noun);
		return;
	}
	rc = weft_parse_rate(node->text.s, &count, &per_ns);
	if (rc == -EINVAL)
		weft_fail_type(r, node, "`limit`", weft_key_types[key->type].noun);
	else if (rc || !count || count > WEFT_RATE_MOST * (per_ns / 1000) / (SECOND / 1000))
		weft_reader_fail(r, node->pos, "CONFIG_RANGE",
				 "`%s` is out of range: %.40s is not from %s to %s", key->name,
				 node->text.s, key->min_text, key->max_text);
	else
		*out = (struct weft_rate){.count = count, .per_ns = per_ns, .text = node->text};
}
