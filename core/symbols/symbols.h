/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Symbols. Kernel addresses resolve through kallsyms, user addresses through the mappings that
 * their process had at the time and the symbol tables of the mapped files. Files are read when
 * first needed and kept, by {device, inode}, for the session; processes are remembered after they
 * end.
 */
#ifndef WEFT_SYMBOLS_H
#define WEFT_SYMBOLS_H

#include "../error.h"
#include "../value.h"
#include "weft/provider.h"

struct weft_symbols;

/* Nothing is read yet. NULL: out of memory. */
struct weft_symbols *weft_symbols_create(void);
void weft_symbols_destroy(struct weft_symbols *s);
/* Files are read by this reader, which is borrowed; without it, by one of its own. */
struct weft_elf_reader;
void weft_symbols_use_reader(struct weft_symbols *s, struct weft_elf_reader *reader);
/* Frames of user space get the line of source code, too, where debugging information has it. Before
 * anything is resolved. */
void weft_symbols_want_lines(struct weft_symbols *s);

/* Resolve one address; unknown parts are NULL. Strings live as long as s. Never fails. `caller` is
 * true for frames other than the innermost, whose address is a return address: the instruction
 * before it is looked up (offset is still that of the address itself). */
void weft_symbols_kernel(struct weft_symbols *s, uint64_t address, bool caller,
			 struct weft_frame *out);
void weft_symbols_user(struct weft_symbols *s, int32_t tgid, uint64_t time_ns, uint64_t address,
		       bool caller, struct weft_frame *out);

/* The history of processes. Events come from the process watcher, in time order. snapshot() reads
 * /proc/PID/maps, as known at time_ns (CLOCK_MONOTONIC); returns 0 or -errno. */
void weft_symbols_event(struct weft_symbols *s, const struct weft_process_event *event);
int weft_symbols_snapshot(struct weft_symbols *s, int32_t tgid, uint64_t time_ns);
/* Whether its present mappings are known: if not, a snapshot is worth taking. */
bool weft_symbols_known(const struct weft_symbols *s, int32_t tgid);

/* What there is to say about the names, and what they cost. */
struct weft_symbols_stats {
	bool kernel_hidden; /* kallsyms was read and shows no addresses (kptr_restrict) */
	uint64_t forgotten; /* ended processes, generations, mappings and files over the limits */
	size_t kernel_bytes, file_bytes; /* memory of the symbol tables */
	uint64_t unreadable;             /* files whose symbols could not be read */
	const char *why_unreadable;      /* the first one's reason; "" if there is none */
};
void weft_symbols_stats(const struct weft_symbols *s, struct weft_symbols_stats *out);

#endif
