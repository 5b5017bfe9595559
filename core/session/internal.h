/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The session's parts, shared between the files of this folder only. */
#ifndef WEFT_SESSION_INTERNAL_H
#define WEFT_SESSION_INTERNAL_H

#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/consumer.h"
#include "core/kernel/btf_objects.h"
#include "core/elf/elf.h"
#include "core/kernel/kernel.h"
#include "core/params.h"
#include "core/session/session.h"
#include "core/symbols/symbols.h"

/* A provider of the session. It is opened when a pattern first needs it. */
struct weft_opened {
	struct weft_session *session;
	const struct weft_provider *provider;
	struct weft_host host;
	struct weft_params *params;
	struct weft_instance *instance; /* NULL: not open */
	struct weft_registry *registry;
	bool populated;
	int discover_fd; /* -1: none */
	void (*process_event)(struct weft_instance *, const struct weft_process_event *);
	struct weft_instance *process_instance;
	struct weft_arena *told; /* what it was told about types in this call */
	/* Of probes that take a program each: how many may be enabled (0: any), are, and would be. */
	uint32_t most;
	size_t n_alone, n_beyond;
	size_t n_asked, n_refused; /* probes; since the last weft_session_say_refused() */
};

/* What a kind of probe is like: the interned, validated copy of a probe_info. */
struct weft_class {
	struct weft_opened *provider;
	struct weft_probe_info info;
	const void *key; /* canonical bytes: equal keys, equal classes */
	size_t key_size;
	uint64_t hash;
	uint32_t kinds;          /* of a shape: how many views have it */
	struct weft_class *next; /* in its hash chain */
};

/* Per-probe options as written; equal settings share one. params[i] is for provider i, made on demand. */
struct weft_with {
	const struct weft_setting *settings;
	size_t n_settings;
	struct weft_params **params;
};

/* A list of clauses in file order, interned: a list is another list with one clause more. */
struct weft_clause_list {
	uint32_t parent; /* index; 0 is the empty list */
	uint32_t clause; /* index into set->clauses */
	uint32_t length;
};

/* A probe that is wanted. */
struct weft_enabling {
	const struct weft_probe *probe;
	struct weft_class *class;
	uint32_t with;
	uint32_t list;      /* its clauses */
	uint32_t layout;    /* of the probe; enablings of one probe's layouts are neighbours */
	uint32_t n_layouts; /* of the first of them: how many there are, at least 1; else 0 */
	uint32_t entry;     /* RETURN with `elapsed`: index of the entry's enabling + 1; else 0 */
	bool pairing_entry; /* a return's clause needs its frames */
	bool brief;         /* its class has no arguments, for want of who uses them */
	uint64_t capture;   /* ENTRY: the arguments that its frames keep; core/plan.h */
	bool attached;
	bool refused; /* at loading or attaching; the session goes on without it */
	bool grouped;
	uint64_t cookie;
	uint64_t identity_value;
	struct weft_probe_desc entry_desc; /* RETURN: strings in the session's arena */
	/* What of its class matters to the clauses of its list: enablings of one view are served by
	 * one program, those of one shape by one with a table of places. NULL: not known yet, or
	 * no table could say. */
	struct weft_class *view, *shape;
};

/* The probes that one program serves. */
struct weft_gang {
	struct weft_opened *provider;
	struct weft_class *class;              /* of its first member */
	const struct weft_class *view, *shape; /* shape: scattered; else NULL */
	uint32_t list;
	bool pairing_entry;
	uint64_t capture;
	const struct weft_class *entry_class; /* of all the members' entries; NULL: does not matter */
	bool closed; /* loaded: takes further probes only if its program needs nothing more for them */
	bool dropped;      /* found while running, and cannot be compiled */
	bool refused;      /* its probes are: not to be attached */
	uint32_t *members; /* indexes of enablings */
	size_t n_members, cap_members;
	size_t n_attached; /* members[0..n_attached) have been handed to attach() */
	uint64_t armed_ns; /* when attach() had returned */
	uint32_t n_units;  /* what it says it attached on; of a scheduled probe CPUs */
	struct weft_program program;
	int fd; /* of the loaded program; -1 */
};

struct weft_attached {
	struct weft_opened *provider;
	struct weft_attachment *attachment;
};

struct weft_counted_loss {
	char *tag;
	char *detail; /* or NULL */
	const char *provider;
	uint64_t count;
};

/* Typed clauses by {clause, class, class of the entry}. */
struct weft_typed_entry {
	uint32_t clause;
	const struct weft_class *class;
	const struct weft_class *entry_class; /* where the clause uses arguments of the entry */
	struct weft_typed_clause typed;
	int result;
};

enum weft_session_state { WEFT_SESSION_IDLE, WEFT_SESSION_PREPARED, WEFT_SESSION_RUNNING };

struct weft_session {
	struct weft_session_env env;
	enum weft_session_state state;
	struct weft_arena *arena;
	struct weft_registry_core *registry;
	struct weft_opened *providers;
	size_t n_providers;

	struct weft_target target;
	int32_t *target_pids;
	size_t n_target_pids;

	struct weft_set *set;
	struct weft_state *variables; /* of the set; NULL: none */
	struct weft_plan *plan;
	struct weft_btfs *btfs;      /* type information; NULL until something asks for it */
	struct weft_class **classes; /* hash table of chains, WEFT_CLASS_BUCKETS */
	struct weft_with *withs;
	size_t n_withs, cap_withs;
	struct weft_clause_list *lists;
	size_t n_lists, cap_lists;
	struct weft_enabling *enablings;
	size_t n_enablings, cap_enablings;
	uint32_t *enabling_index; /* open addressing: enabling + 1 */
	size_t enabling_index_size;
	struct weft_typed_entry **typed; /* open addressing, a power of two */
	size_t n_typed, size_typed;
	struct weft_typed_entry **typed_of; /* by clause: the first of it, or one that is wrong */
	struct weft_gang **gangs;
	size_t n_gangs, cap_gangs;
	uint64_t next_pair;  /* cookies come in pairs: see core/plan.h */
	uint32_t *by_cookie; /* enabling + 1 */
	size_t cap_by_cookie;
	size_t matched_probes; /* registry size when patterns were last matched */

	struct weft_program begin, end;
	int end_fd; /* 0: not loaded */
	struct weft_typed_clause begin_typed, end_typed;
	bool has_begin, has_end;

	struct weft_maps maps;
	struct weft_procset *procset;
	struct weft_threads *threads;
	bool threads_frames; /* it removes rows of FRAMES too, which may come into being later */
	struct weft_procwatch *procwatch;
	struct weft_elf_reader *elf_reader; /* NULL: nobody asked yet */
	struct weft_symbols *symbols;
	struct weft_consumer *consumer;
	struct weft_sink sink;
	struct weft_attached *attached;
	size_t n_attached, cap_attached;
	struct weft_counted_loss *losses;
	size_t n_losses, cap_losses;
	uint64_t process_events_lost, procset_misses;
	uint64_t enabled_ns; /* when programs began to run */
	char *text;          /* probe_text()'s buffer */
	size_t text_size;

	pid_t command_pid;                    /* 0: none */
	int command_gate;                     /* writing a byte calls the command; -1 */
	int command_status;                   /* gives errno if exec failed; -1 */
	struct weft_meeting *command_meeting; /* shared with the command until its exec; or NULL */
	int *pidfds;
	size_t n_pidfds;
	int32_t *snapshot; /* processes whose mappings are still to be read */
	size_t n_snapshot, next_snapshot;
	struct weft_loop *loop; /* run.c; NULL: nobody polls */
};

/* log.c and host.c */
void weft_session_log(struct weft_session *s, enum weft_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void weft_host_init(struct weft_opened *o);
struct weft_btfs *weft_session_btfs(struct weft_session *s, struct weft_error *err);
/* Has types without a text say what they are, for who reads them. */
void weft_session_name_types(struct weft_session *s, struct weft_probe_info *info);
int weft_session_elf_reader(struct weft_session *s, struct weft_error *err);
int weft_session_count_loss(struct weft_session *s, const char *provider, const char *tag,
			    uint64_t count, const char *detail);

/* providers.c */
int weft_opened_init(struct weft_session *s, struct weft_opened *o, const struct weft_provider *p);
int weft_opened_open(struct weft_opened *o, struct weft_error *err);
/* Before a slot is called: what the provider was told of types in the last one is forgotten. */
void weft_opened_enter(struct weft_opened *o);
void weft_opened_finish(struct weft_opened *o);
/* Makes a plugin's error say something, and whose it is. */
int weft_opened_failed(struct weft_opened *o, int code, size_t reports_before, const char *doing,
		       struct weft_error *err);
/* slots.c: the slots of a provider, each with all that is checked before and after it. */
int weft_slot_open(struct weft_opened *o, struct weft_error *err);
void weft_slot_close(struct weft_opened *o);
int weft_slot_populate(struct weft_opened *o, struct weft_error *err);
int weft_slot_populate_match(struct weft_opened *o, const struct weft_probe_desc *pattern,
			     struct weft_error *err);
int weft_slot_provide(struct weft_opened *o, const struct weft_probe_desc *desc,
		      struct weft_error *err);
int weft_slot_probe_info(struct weft_opened *o, const struct weft_probe *probe,
			 const struct weft_params *with, struct weft_probe_info *out,
			 struct weft_error *err);
int weft_slot_probe_note(struct weft_opened *o, const struct weft_probe *probe,
			 const struct weft_params *with, const char **out, struct weft_error *err);
int weft_slot_describe(struct weft_opened *o, const char **out, struct weft_error *err);
int weft_slot_attach(struct weft_opened *o, const struct weft_attach_request *request,
		     struct weft_attachment **out, struct weft_error *err);
void weft_slot_detach(struct weft_opened *o, struct weft_attachment *attachment);
int weft_slot_discover_fd(struct weft_opened *o, struct weft_error *err);
int weft_slot_discover(struct weft_opened *o, struct weft_error *err);
void weft_slot_process_event(struct weft_opened *o, const struct weft_process_event *event);

/* providers.c */
/* Makes providers announce what a pattern needs. Nothing matched: the reason; *may_come tells that
 * probes may still be discovered. */
int weft_session_ask(struct weft_session *s, const struct weft_pattern *pattern, bool *may_come,
		     struct weft_error *err);
struct weft_opened *weft_session_provider_of(struct weft_session *s, const struct weft_probe *probe);

/* info.c */
/* What probe_info() says, checked: a class for each layout of the probe, in the session's arena. */
struct weft_described {
	struct weft_class **classes;
	struct weft_layout *layouts; /* NULL: the provider gave none; args are those of the class */
	uint32_t n;                  /* at least 1 */
	uint64_t identity_value;
	struct weft_probe_desc entry;
};
int weft_info_describe(struct weft_opened *o, const struct weft_probe *probe,
		       const struct weft_params *with, bool brief, struct weft_described *out,
		       struct weft_error *err);

/* class.c */
/* The class of what is alike; *made: a new one, whose info the caller fills in before it has it
 * remembered. */
int weft_class_intern(struct weft_opened *o, const struct weft_probe_info *info,
		      struct weft_class **out, bool *made, struct weft_error *err);
void weft_class_remember(struct weft_session *s, struct weft_class *class);
/* What of a class matters where only these arguments are used. With places: their places too. */
int weft_class_view(struct weft_session *s, const struct weft_class *class, uint32_t list,
		    uint64_t args, bool places, struct weft_class **out, bool *made,
		    struct weft_error *err);

/* enable.c: patterns to enablings */
int weft_enable_init(struct weft_session *s, struct weft_error *err);
int weft_enable_match(struct weft_session *s, size_t from, struct weft_error *err);
/* brief: no clause of it uses arguments or a value returned, as far as is known. */
int weft_enable_probe(struct weft_session *s, const struct weft_probe *probe, uint32_t with,
		      bool brief, uint32_t *index, struct weft_error *err);
/* extend.c: the layouts that an enabled probe got since. */
int weft_enable_extended(struct weft_session *s, const struct weft_probe *probe,
			 struct weft_error *err);
/* Matches what was registered, came alive again or was extended since the last matching. */
int weft_enable_discovered(struct weft_session *s, struct weft_error *err);
int weft_enable_entry(struct weft_session *s, uint32_t returning, bool brief,
		      struct weft_error *err);
const struct weft_params *weft_enabling_params(struct weft_session *s,
					       const struct weft_enabling *e);
/* The cookies of the lists that no probe fires. */
#define WEFT_COOKIE_BEGIN (UINT64_MAX - 1)
#define WEFT_COOKIE_END   UINT64_MAX
const char *weft_enabling_text(struct weft_session *s, uint64_t cookie, int field);
void weft_enable_finish(struct weft_session *s);

/* typing.c */
int weft_session_find_variables(struct weft_session *s, struct weft_error *err);

/* compile.c: enablings to programs */
int weft_session_check_unmatched(struct weft_session *s, struct weft_error *err);
int weft_session_compile_lists(struct weft_session *s, struct weft_error *err);
int weft_session_compile(struct weft_session *s, struct weft_error *err);

/* gangs.c */
void weft_gang_destroy(struct weft_gang *g);

/* attach.c */
/* Follows the ends of threads, where maps have rows of them; does nothing the second time, unless
 * there is another such map. */
int weft_session_follow_threads(struct weft_session *s, struct weft_error *err);
int weft_session_load_gang(struct weft_session *s, struct weft_gang *g, char **log,
			   struct weft_error *err);
int weft_session_attach_gang(struct weft_session *s, struct weft_gang *g, struct weft_error *err);
void weft_session_detach_all(struct weft_session *s);

/* start.c */
/* One word for all programs. */
void weft_session_enable_programs(struct weft_session *s, uint64_t enabled);
/* Gives back all that starting took from the kernel, in any state of completeness. */
void weft_session_release(struct weft_session *s);

/* refused.c */
/* That loading or attaching a gang failed by what its probes are. true: the session can go on
 * without them, and the reports from `before` on are said and dropped. */
bool weft_gang_refuse(struct weft_session *s, struct weft_gang *g, int code, size_t before,
		      struct weft_error *err);
/* The reason why nothing that a pattern matches can be enabled, kept in case it is for all. */
struct weft_refusal {
	size_t n;
	int code;        /* of the first */
	const char *tag; /* static */
	char *text;
};
void weft_probe_refuse(struct weft_session *s, const struct weft_probe *probe, int code,
		       size_t before, struct weft_refusal *first, struct weft_error *err);
/* Reports the first again, and forgets it. */
int weft_refusal_fail(struct weft_refusal *first, struct weft_error *err);
void weft_refusal_finish(struct weft_refusal *first);
/* How many were refused, by provider; once. */
void weft_session_say_refused(struct weft_session *s);
/* Refuses a session whose probes would take too many programs, with the time for it. */
int weft_session_check_alone(struct weft_session *s, char **log, struct weft_error *err);

/* schedule.c: adds FIRINGS_MISSED to the losses; end is when programs ceased to run. */
void weft_session_count_missed(struct weft_session *s, uint64_t end);

/* target.c */
int weft_target_set(struct weft_session *s, const int32_t *pids, size_t n, bool follow,
		    struct weft_pos pos, struct weft_error *err);
int weft_target_spawn(struct weft_session *s, struct weft_error *err);
/* Right before programs are enabled, and right after: the command begins. */
int weft_target_poise(struct weft_session *s, struct weft_error *err);
int weft_target_release(struct weft_session *s, struct weft_error *err);
void weft_target_finish(struct weft_session *s);

/* command.c: the same for the command alone. pidfd: it is readable once the child has ended. */
int weft_command_spawn(struct weft_session *s, struct weft_error *err);
int weft_command_poise(struct weft_session *s, int pidfd, struct weft_error *err);
int weft_command_release(struct weft_session *s, struct weft_error *err);
void weft_command_finish(struct weft_session *s);

/* run.c */
void weft_session_poll_processes(struct weft_session *s);

/* discover.c */
void weft_session_discover(struct weft_session *s, struct weft_opened *o);
/* Says why something that appeared is not traced, and drops the reports from `before` on. */
void weft_session_give_up(struct weft_session *s, int code, size_t before, struct weft_error *err);

/* snapshot.c */
uint64_t weft_now(void); /* CLOCK_MONOTONIC, ns */
int weft_snapshot_init(struct weft_session *s);
bool weft_snapshot_step(struct weft_session *s); /* reads a few; false: done */

#endif
