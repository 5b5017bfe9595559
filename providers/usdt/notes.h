/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* From the notes of an ELF file to a record. */
#ifndef WEFT_USDT_NOTES_H
#define WEFT_USDT_NOTES_H

#include "usdt/record.h"

/* Reads an open file. Fails with what the ELF reader says, or NO_MEMORY. free() the record. */
int weft_usdt_read(const struct weft_host *host, int fd, const char *path,
		   const struct weft_usdt_key *key, struct weft_usdt_record **out,
		   struct weft_error *err);

#endif
