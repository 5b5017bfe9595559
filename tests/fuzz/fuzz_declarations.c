/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table in which a program declares its probes. The first byte says what the rest is: a file as
 * a whole, or, where it is odd, the declarations of a file whose header is right.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "user_syscall/user_syscall.h"

#define SIZE 65536u

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void check_plain(const char *text, size_t size)
{
	check(strlen(text) < size);
	for (; *text; text++)
		check((unsigned char)*text >= 0x20 && *text != 0x7f && *text != ':');
}

static int meet(uint32_t index, const struct us_decl *d, void *arg)
{
	static struct us_args args;
	uint32_t *next = arg;
	char text[3 * WEFT_TABLE_NAME + 16];

	check(index == (*next)++);
	check(*d->provider && *d->name && strlen(d->provider) <= WEFT_TABLE_NAME &&
	      strlen(d->name) <= WEFT_TABLE_NAME && strlen(d->args) < WEFT_TABLE_RECORD);
	us_escape(d->provider, true, text, sizeof(text));
	check_plain(text, sizeof(text));
	us_escape(d->name, true, text, sizeof(text));
	check_plain(text, sizeof(text));
	if (us_args_parse(d->args, &args))
		return 0;
	check(args.n <= WEFT_TABLE_ARGS);
	check_plain(args.prototype, sizeof(args.prototype));
	for (uint32_t i = 0; i < args.n; i++) {
		check(*args.args[i].name && args.args[i].where.n_ops <= 8);
		check(!args.args[i].where.n_ops == !!args.args[i].unreadable);
	}
	return 0;
}

/* A file of SIZE bytes that begins with these. */
static int file_of(const void *data, size_t n)
{
	int fd = memfd_create("fuzz", MFD_ALLOW_SEALING | MFD_CLOEXEC);

	check(fd >= 0 && !ftruncate(fd, SIZE) && pwrite(fd, data, n, 0) == (ssize_t)n &&
	      !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t bytes[SIZE];
	struct weft_probe_table h = {.magic = WEFT_TABLE_MAGIC,
				     .version = WEFT_TABLE_VERSION,
				     .capacity = 64,
				     .words = 1024,
				     .decls = 2048,
				     .decls_size = 32768};
	uint32_t count = 0, flags = 0, n = 0;
	struct us_table t;
	const char *why;
	size_t at = 0;

	if (!size || size > 32768)
		return 0;
	if (data[0] & 1) {
		h.count = data[0] >> 1;
		memcpy(bytes, &h, sizeof(h));
		at = h.decls;
	}
	memcpy(bytes + at, data + 1, size - 1);
	if (us_table_open(file_of(bytes, at + size - 1), &t, &why)) {
		check(why && *why);
	} else {
		us_table_count(&t, &count, &flags);
		check(count <= t.capacity);
		us_table_read(&t, count, meet, &n);
		check(n <= count);
		us_table_close(&t);
	}
	memset(bytes, 0, at + size);
	return 0;
}
