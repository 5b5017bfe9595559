/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The header in C: 0 if a probe can be had and fires nothing. */
#include <weft/user.h>

int main(void)
{
	weft_probe *probe = weft_probe_declare("c", "painted", "int32 colour, string name", 0);
	const uint64_t words[] = {1, 2};
	int evaluated = 0;

	WEFT_FIRE(probe, 1, "wall");
	WEFT_FIRE(probe, ++evaluated);
	WEFT_FIRE(probe);
	if (weft_probe_enabled(probe))
		weft_probe_fire_words(probe, words, 2);
	return weft_probe_word(probe) == 0 || evaluated != 0;
}
