/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Small files of /proc and /sys. */
#ifndef WEFT_SUPPORT_FILE_H
#define WEFT_SUPPORT_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Reads a whole file into buf and terminates it. Returns the length, or -errno; -E2BIG if the file
 * does not fit with its NUL. */
long support_read_text(const char *path, char *buf, size_t size);

/* Reads a file that holds one decimal number and a newline. -EINVAL if it holds something else. */
int support_read_u64(const char *path, uint64_t *out);

/* close() of what is not negative; keeps errno, and returns -1 to be assigned. */
int support_close(int fd);

#endif
