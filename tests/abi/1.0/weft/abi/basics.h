/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Part of weft/provider.h: versions, handles, descriptions of probes, options. */
#ifndef WEFT_ABI_BASICS_H
#define WEFT_ABI_BASICS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A version is major << 16 | minor. A core loads plugins from WEFT_ABI_OLDEST to WEFT_ABI_CURRENT.
 * plugins/ABI.md says which change needs which. */
#define WEFT_ABI(major, minor)  (((uint32_t)(major) << 16) | (uint32_t)(minor))
#define WEFT_ABI_MAJOR(version) ((uint32_t)(version) >> 16)
#define WEFT_ABI_MINOR(version) ((uint32_t)(version)&0xffffu)
#define WEFT_ABI_CURRENT        WEFT_ABI(1, 0)
#define WEFT_ABI_OLDEST         WEFT_ABI(1, 0)

#define WEFT_EXPORT __attribute__((visibility("default")))

/* The name of the one symbol that a plugin exports. It is data, so that it can be judged before any
 * code runs. Define it so, in C as in C++:
 *
 *   WEFT_PROVIDER_PLUGIN = {.struct_size = sizeof(weft_provider_plugin), ...};
 */
#define WEFT_PROVIDER_SYMBOL "weft_provider_plugin"
#ifdef __cplusplus
#define WEFT_PROVIDER_PLUGIN                                                \
	extern "C" {                                                        \
	WEFT_EXPORT extern const struct weft_provider weft_provider_plugin; \
	}                                                                   \
	const struct weft_provider weft_provider_plugin
#else
#define WEFT_PROVIDER_PLUGIN                                                \
	WEFT_EXPORT extern const struct weft_provider weft_provider_plugin; \
	const struct weft_provider weft_provider_plugin
#endif

/* Whether a struct that begins with its struct_size reaches as far as the member. */
#define WEFT_COVERS(s, member) \
	((s)->struct_size >= (size_t)((const char *)(&(s)->member + 1) - (const char *)(s)))

struct weft_error;    /* where a failing call leaves its reasons; owned by the caller */
struct weft_registry; /* the session's probes, seen as this provider: it adds only under its name */
struct weft_probe;    /* one probe in the registry; the pointer lives as long as the registry */
struct weft_params;   /* option values, checked against the provider's own table */
struct weft_instance; /* the provider's own state; defined by the plugin */
struct weft_attachment; /* what one attach() made; defined by the plugin */

/* ---- probe descriptions ------------------------------------------------------------------ */

/* A 4-tuple; this struct is frozen. In a description of a probe every field is its exact text, ""
 * where the provider leaves it empty. Never NULL. */
struct weft_probe_desc {
	uint32_t struct_size;
	uint32_t reserved;
	const char *provider;
	const char *module;
	const char *function;
	const char *name;
};

/* ---- options ------------------------------------------------------------------------------ */

enum weft_option_type {
	WEFT_OPTION_BOOL = 1, /* true | false */
	WEFT_OPTION_INT = 2,  /* decimal, within min..max */
	WEFT_OPTION_STRING = 3,
	WEFT_OPTION_ENUM = 4,     /* one of choices */
	WEFT_OPTION_DURATION = 5, /* 5us, 1ms, 2s ...; read as ns, within min..max */
	WEFT_OPTION_SIZE = 6,     /* 4k, 1m ...; read as bytes, within min..max */
};

#define WEFT_OPTION_PER_SET   1u /* providers: {NAME: {option: value}} */
#define WEFT_OPTION_PER_PROBE 2u /* with: {option: value} on a probe */

/* One option. Strings are static: they live as long as the plugin is loaded. */
struct weft_option_spec {
	uint32_t struct_size;
	uint32_t type;  /* enum weft_option_type */
	uint32_t where; /* WEFT_OPTION_PER_SET | WEFT_OPTION_PER_PROBE */
	uint32_t reserved;
	const char *name;         /* [a-z][a-z0-9_]* */
	const char *default_text; /* as a user would write it; NULL: none, the option is then unset */
	const char *choices;      /* for ENUM: "exact|cheap"; else NULL */
	const char *help;         /* one sentence */
	int64_t min, max;         /* both 0: unbounded */
};

/* ---- privileges ---- */

/* Flags of a capability. */
#define WEFT_CAPABILITY_REQUIRED 1u /* nothing can be traced without it; else some things cannot */

/* A capability that the provider can use beside CAP_BPF and CAP_PERFMON, without which nothing is
 * loaded or attached. `trace-cli info` shows it, and a run that drops what is not needed keeps it;
 * that it is missing is still for attach() to say. Strings are static. */
struct weft_capability_spec {
	uint32_t struct_size;
	uint32_t capability; /* its number in linux/capability.h, CAP_* */
	uint32_t flags;      /* WEFT_CAPABILITY_* */
	uint32_t reserved;
	const char *what_for; /* what it makes possible: "tracepoints by name" */
};

#ifdef __cplusplus
}
#endif

#endif
