/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The file of a plugin, as it is judged before any of its code runs. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "plugins/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weft_provider_view view = {.file = "plugin.so"};
	struct weft_error *err = weft_error_create();
	char path[32];
	int fd, ret;

	if (!err)
		abort();
	fd = fuzz_file(data, size, path);
	ret = weft_image_check(fd, size, &view, err);
	if (!ret != !weft_error_count(err) ||
	    (!ret && (!view.name_length || view.name_length > WEFT_PROVIDER_NAME_MAX)))
		abort();
	close(fd);
	weft_error_destroy(err);
	return 0;
}
