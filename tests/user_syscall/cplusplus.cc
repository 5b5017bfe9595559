/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The header and the shared library, used from C++: 0 if a probe can be had and fires nothing. */
#include <weft/user.h>

enum class colour { red, green };

static weft_probe *const probe = weft_probe_declare("cpp", "painted", "int32 colour, string name", nullptr);

int main()
{
	const char *name = "wall";
	int evaluated = 0;

	WEFT_FIRE(probe, colour::green, name);
	WEFT_FIRE(probe, ++evaluated);
	WEFT_FIRE(probe);
	return weft_probe_word(probe) == 0 || evaluated != 0;
}
