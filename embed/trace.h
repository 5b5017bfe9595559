/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The library's inside: what the files of this folder share. Each function of weft/weft.h is
 * enter(), something of the core, of config or of the loader, and leave(); nothing else is known
 * here, and nothing that is known here is known there.
 */
#ifndef WEFT_EMBED_TRACE_H
#define WEFT_EMBED_TRACE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/arena.h"
#include "core/error.h"
#include "core/session/session.h"
#include "core/set.h"
#include "core/value.h"
#include "plugins/loader.h"
#include "weft/weft.h"

/* A bit each: functions say in which of them they may be called. */
enum weft_trace_state {
	WEFT_AT_NEW = 1,      /* no set */
	WEFT_AT_SET = 2,      /* a set, not prepared */
	WEFT_AT_PREPARED = 4, /* compiled */
	WEFT_AT_RUNNING = 8,
	WEFT_AT_STOPPED = 16,
	WEFT_AT_BROKEN = 32,  /* the set could not be prepared or started */
	WEFT_AT_REFUSED = 64, /* opened with options that make no sense */
};
#define WEFT_AT_REST (WEFT_AT_NEW | WEFT_AT_SET | WEFT_AT_PREPARED | WEFT_AT_STOPPED)

/* Room that what is handed out is put together in; it grows, and is freed with the handle. */
struct weft_room {
	void *data;
	size_t cap; /* bytes */
};

enum weft_room_of {
	WEFT_ROOM_FIELDS,
	WEFT_ROOM_FRAMES,
	WEFT_ROOM_REGISTERS,
	WEFT_ROOM_ROWS,
	WEFT_ROOM_BUCKETS,
	WEFT_ROOM_PARAMS,
	WEFT_N_ROOMS
};

struct weft_trace {
	struct weft_trace_options options;
	enum weft_trace_state state;
	bool inside; /* one of its functions is on the stack: a callback may have called */
	struct weft_error *err;
	struct weft_trace_report report; /* the one that was asked for last */
	char line[1024];                 /* weft_trace_error() */

	struct weft_loader *loader;
	struct weft_trace_plugin plugin;
	struct weft_trace_capability capability;
	const struct weft_provider **providers;
	size_t n_providers, cap_providers;

	struct weft_session *session; /* NULL: nobody asked providers yet */
	struct weft_set *set;
	struct weft_trace_set_info set_info;
	struct weft_trace_counts counts;
	struct weft_arena *target_arena; /* of the three below; NULL: the set's target */
	int32_t *pids;
	size_t n_pids;
	char **command;
	bool follow;

	struct weft_trace_output output;
	struct weft_sink sink; /* of the output; self NULL: none */
	FILE *results, *messages;
	char *verifier_log;
	int failed; /* what the last poll returned, if it failed */
	bool over;
	struct weft_end end_state;
	struct weft_trace_end end;
	struct weft_trace_frame frame;

	/* While weft_trace_read() and weft_trace_losses() are at work: whom they call. */
	int (*read)(void *arg, const struct weft_trace_aggregation *aggregation);
	int (*read_loss)(void *arg, const struct weft_trace_loss *loss);
	void *read_arg;

	/* While weft_trace_list() is at work. */
	int (*listed)(void *arg, const struct weft_trace_probe *probe);
	void *list_arg;
	char *probe_text;
	size_t probe_text_size;
	struct weft_arena *details_arena;
	struct weft_trace_details details;

	struct weft_room rooms[WEFT_N_ROOMS];
	char *printf_text; /* of a record */
	size_t printf_size;
};

/* ---- trace.c ---- */

/* Begins a function: what is wrong with calling it now is an error, else 0, and earlier reports are
 * forgotten. `states`: those in which it may be called. */
int weft_enter(struct weft_trace *t, const char *what, unsigned int states);
/* Ends it: returns what it is to return. */
int weft_leave(struct weft_trace *t, int ret);
/* An argument that must not be NULL is: TRACE_NULL. */
int weft_null(struct weft_trace *t, const char *what);
/* What a callback returned, as the core takes it. */
int weft_called(int ret);
/* Copies a struct that a caller filled in: what it does not reach is zero, what we do not know has to
 * be. `flags`: those that are known; the second word of every such struct has them. TRACE_OPTIONS. */
int weft_copy_in(struct weft_trace *t, void *out, size_t size, const void *in, uint32_t flags,
		 const char *what);
/* n elements of `size` bytes, or NULL and NO_MEMORY in the reports. What was there may move. */
void *weft_room(struct weft_trace *t, enum weft_room_of room, size_t n, size_t size);

/* ---- set.c ---- */

/* The session, made when first needed. */
int weft_trace_session(struct weft_trace *t);
/* Forgets set and session, so that both can be made anew. */
void weft_trace_forget(struct weft_trace *t);
int weft_prepare(struct weft_trace *t);

/* ---- deliver.c, values.c ---- */

/* The sink that the session writes to: the caller's functions, and the output. */
struct weft_sink weft_trace_sink(struct weft_trace *t);

size_t weft_count_frames(const struct weft_named_value *values, size_t n);
size_t weft_count_registers(const struct weft_named_value *values, size_t n);
/* Where values put what does not lie in them. */
struct weft_value_room {
	struct weft_trace_frame *frames;
	struct weft_trace_register *registers;
};
void weft_value_out(const struct weft_value *v, struct weft_value_room *room,
		    struct weft_trace_value *out);
void weft_fields_out(const struct weft_named_value *values, size_t n, struct weft_value_room *room,
		     struct weft_trace_field *out);
void weft_frame_out(const struct weft_frame *f, struct weft_trace_frame *out);

/* ---- output.c ---- */

void weft_output_close(struct weft_trace *t);

/* ---- places.c ---- */

enum weft_place { WEFT_PLACE_PROVIDERS, WEFT_PLACE_SETS };
const char *weft_place_dir(enum weft_place place, char buf[PATH_MAX]);

#endif
