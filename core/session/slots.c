/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The boundary: the only place from which a plugin's slots are called.
 *
 * A call is begun and ended here. While it lasts, this thread knows which provider's slot it is in:
 * the functions of the host work for that thread alone (guard.c), and whoever handles a crash can
 * say whose it was. When it ends, what the plugin must not have touched is compared with what it was,
 * and an error without a reason gets one. A plugin's defect is an error with a tag PLUGIN_... and the
 * plugin's name; where a slot cannot fail (detach, close), it is a warning that says the same.
 *
 * Nothing may unwind out of a slot. A C++ exception that nobody above catches ends the process where
 * it is thrown. One that the program around us would catch, or the end of a thread, would leave
 * through the core's frames without putting anything right: the fence stops the process, whose end
 * detaches everything. This file is compiled with -fexceptions for that.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/session/guard.h"
#include "core/session/internal.h"

#define TEXT_MAX     512u
#define UNIT_MAX     32u
#define SLOW_NS      5000000000u
#define ROOM         4096u /* for a description, and what a plugin writes behind it */
#define ROOM_PATTERN 0xa5

/* One call of a slot. */
struct call {
	struct weft_opened *o;
	const char *slot;
	struct weft_error *err; /* where the plugin may leave reasons; NULL: the slot has none */
	size_t reports;         /* in it, before */
	struct weft_target target;
	uint64_t begun;
	bool ended;
};

static void fence(struct call *c)
{
	if (c->ended)
		return;
	weft_session_log(c->o->session, WEFT_LOG_WARNING,
			 "provider %s: an exception, or the end of the thread, leaves %s(), which "
			 "must not be; everything is detached and the program stopped "
			 "[PLUGIN_UNWINDS]",
			 c->o->provider->name, c->slot);
	abort();
}

/* Begins a call, which is `c` from then on. */
#define CALL(opened, slot_name, error)                               \
	__attribute__((cleanup(fence))) struct call c = {            \
		.o = (opened), .slot = (slot_name), .err = (error)}; \
	begin(&c)

static void begin(struct call *c)
{
	weft_opened_enter(c->o);
	c->reports = weft_error_count(c->err);
	c->target = c->o->session->target;
	c->begun = weft_now();
	weft_guard_enter(c->o->provider->name, c->slot, c->err);
}

/* A plugin's defect, of which the slot that was called may not be told. */
static int defect(struct call *c, const char *tag, const char *what)
{
	const char *name = c->o->provider->name;

	if (c->err)
		return weft_fail(c->err, -EPROTO, tag, "provider %s %s in %s()", name, what,
				 c->slot);
	weft_session_log(c->o->session, WEFT_LOG_WARNING, "provider %s %s in %s() [%s]", name, what,
			 c->slot, tag);
	return -EPROTO;
}

/* What was const and is not what it was any more is put right. */
static int check_const(struct call *c)
{
	struct weft_session *s = c->o->session;
	struct weft_host host = c->o->host;
	int ret = 0;

	weft_host_init(c->o);
	if (memcmp(&host, &c->o->host, sizeof(host)))
		ret = defect(c, "PLUGIN_WROTE_CONST", "has overwritten the host's functions");
	if (memcmp(&s->target, &c->target, sizeof(c->target))) {
		s->target = c->target;
		ret = defect(c, "PLUGIN_WROTE_CONST", "has overwritten the session's target");
	}
	return ret;
}

/* Ends a call; ret is what the slot returned. Returns that, or the defect that was found. */
static int end(struct call *c, int ret)
{
	uint64_t took = weft_now() - c->begun;
	const char *function;
	char what[160];
	int found;

	c->ended = true;
	weft_guard_leave();
	if (took > SLOW_NS)
		weft_session_log(
			c->o->session, WEFT_LOG_WARNING,
			"provider %s took %llu ms in %s(), during which nothing else is done "
			"[PLUGIN_SLOW]",
			c->o->provider->name, (unsigned long long)(took / 1000000), c->slot);
	found = check_const(c);
	function = weft_guard_misuse((const void *)c->o->provider->open);
	if (function) {
		snprintf(what, sizeof(what),
			 "has called the host's %s() outside of its slots or from another thread, "
			 "which was seen",
			 function);
		found = defect(c, "PLUGIN_HOST_CALL", what);
	}
	if (found && !ret)
		return found;
	return ret;
}

static int end_failing(struct call *c, int ret)
{
	ret = end(c, ret);
	return ret ? weft_opened_failed(c->o, ret, c->reports, c->slot, c->err) : 0;
}

/* A text that a plugin gave to be shown: ends within TEXT_MAX and has no control characters. */
static bool is_text(const char *text, size_t most)
{
	size_t n = strnlen(text, most + 1);

	for (size_t i = 0; i < n; i++)
		if (iscntrl((unsigned char)text[i]))
			return false;
	return n <= most;
}

static int check_text(struct call *c, const char **text)
{
	if (!*text || is_text(*text, TEXT_MAX))
		return 0;
	*text = NULL;
	return weft_fail(c->err, -EPROTO, "PLUGIN_TEXT",
			 "provider %s: the text of %s() is longer than %u bytes or not printable",
			 c->o->provider->name, c->slot, TEXT_MAX);
}

/* ---- looking ---- */

int weft_slot_open(struct weft_opened *o, struct weft_error *err)
{
	CALL(o, "open", err);
	int ret = o->provider->open(&o->host, o->params, &o->instance, err);

	if (!ret && !o->instance)
		ret = weft_fail(err, -EIO, "PLUGIN_OPEN_NULL", "open() gave no instance");
	ret = end_failing(&c, ret);
	return ret;
}

void weft_slot_close(struct weft_opened *o)
{
	CALL(o, "close", NULL);
	o->provider->close(o->instance);
	end(&c, 0);
}

int weft_slot_populate(struct weft_opened *o, struct weft_error *err)
{
	CALL(o, "populate", err);
	return end_failing(&c, o->provider->populate(o->instance, o->registry, err));
}

int weft_slot_populate_match(struct weft_opened *o, const struct weft_probe_desc *pattern,
			     struct weft_error *err)
{
	CALL(o, "populate_match", err);
	return end_failing(&c, o->provider->populate_match(o->instance, o->registry, pattern, err));
}

int weft_slot_provide(struct weft_opened *o, const struct weft_probe_desc *desc,
		      struct weft_error *err)
{
	CALL(o, "provide", err);
	return end_failing(&c, o->provider->provide(o->instance, o->registry, desc, err));
}

int weft_slot_probe_info(struct weft_opened *o, const struct weft_probe *probe,
			 const struct weft_params *with, struct weft_probe_info *out,
			 struct weft_error *err)
{
	union {
		struct weft_probe_info info;
		unsigned char bytes[ROOM];
	} room;
	uint32_t brief = out->brief;
	int ret;

	memset(&room, ROOM_PATTERN, sizeof(room));
	room.info = *out;
	{
		CALL(o, "probe_info", err);
		ret = o->provider->probe_info(o->instance, probe, with, &room.info, err);
		if (!ret && room.info.struct_size != sizeof(room.info))
			ret = defect(&c, "PLUGIN_INFO_SIZE",
				     "has changed the size of the struct that it fills in");
		for (size_t i = sizeof(room.info); !ret && i < sizeof(room); i++)
			if (room.bytes[i] != ROOM_PATTERN)
				ret = defect(&c, "PLUGIN_INFO_SIZE",
					     "has written behind the struct that it fills in");
		ret = end_failing(&c, ret);
	}
	*out = room.info;
	out->struct_size = sizeof(*out);
	out->brief = brief;
	return ret;
}

int weft_slot_probe_note(struct weft_opened *o, const struct weft_probe *probe,
			 const struct weft_params *with, const char **out, struct weft_error *err)
{
	CALL(o, "probe_note", err);
	int ret;

	*out = o->provider->probe_note(o->instance, probe, with);
	ret = end(&c, 0);
	return ret ? ret : check_text(&c, out);
}

int weft_slot_describe(struct weft_opened *o, const char **out, struct weft_error *err)
{
	CALL(o, "describe", err);
	int ret;

	*out = o->provider->describe(o->instance);
	ret = end(&c, 0);
	return ret ? ret : check_text(&c, out);
}

/* ---- attaching ---- */

static bool is_attached(const struct weft_session *s, const struct weft_opened *o,
			const struct weft_attachment *attachment)
{
	for (size_t i = 0; i < s->n_attached; i++)
		if (s->attached[i].provider == o && s->attached[i].attachment == attachment)
			return true;
	return false;
}

static bool is_same_request(const struct weft_attach_request *a, const struct weft_attach_request *b,
			    const struct weft_attach_probe *probes)
{
	return !memcmp(a, b, sizeof(*a)) &&
	       !memcmp(a->probes, probes, (size_t)a->n_probes * sizeof(*probes));
}

static const char *wrong_answer(const struct weft_attach_request *r)
{
	for (uint32_t i = 0; i < r->n_probes; i++)
		if (r->status[i] > 0 || r->status[i] < -4095)
			return "gave a status that is neither 0 nor -errno";
	if (*r->done > *r->total)
		return "says that it attached on more than there is";
	if (*r->unit && !is_text(*r->unit, UNIT_MAX))
		return "gave a unit that is not printable or too long";
	return NULL;
}

int weft_slot_attach(struct weft_opened *o, const struct weft_attach_request *request,
		     struct weft_attachment **out, struct weft_error *err)
{
	size_t size = (size_t)request->n_probes * sizeof(*request->probes);
	struct weft_attach_probe *probes = malloc(size);
	struct weft_attach_request given = *request;
	struct weft_attachment *made = NULL;
	const char *wrong;
	int ret;

	if (!probes)
		return weft_nomem(err);
	memcpy(probes, request->probes, size);
	{
		CALL(o, "attach", err);
		ret = o->provider->attach(o->instance, &given, &made, err);
		if (ret) {
			made = NULL;
		} else if (!made) {
			ret = defect(&c, "PLUGIN_ATTACH_NULL", "succeeded without an attachment");
		} else if (is_attached(o->session, o, made)) {
			/* It is detached once, as what it was. */
			made = NULL;
			ret = defect(&c, "PLUGIN_ATTACH_TWICE", "gave one attachment for two calls");
		}
		if (!ret && !is_same_request(&given, request, probes))
			ret = defect(&c, "PLUGIN_WROTE_CONST", "has overwritten the request");
		wrong = ret ? NULL : wrong_answer(request);
		if (wrong)
			ret = defect(&c, "PLUGIN_ATTACH", wrong);
		ret = end_failing(&c, ret);
	}
	free(probes);
	if (ret && made)
		weft_slot_detach(o, made);
	*out = ret ? NULL : made;
	return ret;
}

void weft_slot_detach(struct weft_opened *o, struct weft_attachment *attachment)
{
	CALL(o, "detach", NULL);
	o->provider->detach(o->instance, attachment);
	end(&c, 0);
}

/* ---- while it runs ---- */

int weft_slot_discover_fd(struct weft_opened *o, struct weft_error *err)
{
	CALL(o, "discover_fd", err);
	int ret;

	o->discover_fd = o->provider->discover_fd(o->instance);
	if (o->discover_fd >= 0 && fcntl(o->discover_fd, F_GETFD) < 0) {
		o->discover_fd = -1;
		ret = end(&c, defect(&c, "PLUGIN_DISCOVER_FD",
				     "gave a descriptor that is none of this process"));
	} else {
		ret = end(&c, 0);
	}
	return ret;
}

int weft_slot_discover(struct weft_opened *o, struct weft_error *err)
{
	CALL(o, "discover", err);
	return end_failing(&c, o->provider->discover(o->instance, o->registry, err));
}

void weft_slot_process_event(struct weft_opened *o, const struct weft_process_event *event)
{
	CALL(o, "process event", NULL);
	o->process_event(o->process_instance, event);
	end(&c, 0);
}
