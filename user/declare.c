/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Declaring. A declaration is written behind the last one, and the count is stored after it, with
 * release: a tracer that loads the count with acquire sees whole declarations only. Nothing that is
 * published changes again but the state.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "internal.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* What a probe that cannot be had is: never enabled. */
static const uint64_t never;

static weft_probe *probe_of(const uint64_t *word)
{
	return (weft_probe *)(uintptr_t)word;
}

/* ---- arguments ---- */

static const struct {
	const char *name;
	unsigned words;
} types[] = {
	{"int8", 1},   {"int16", 1},  {"int32", 1},  {"int64", 1},   {"uint8", 1}, {"uint16", 1},
	{"uint32", 1}, {"uint64", 1}, {"string", 1}, {"pointer", 1}, {"text", 2},  {"bytes", 2},
};

static unsigned words_of(const char *name, size_t n)
{
	for (size_t i = 0; i < COUNT(types); i++)
		if (strlen(types[i].name) == n && !memcmp(types[i].name, name, n))
			return types[i].words;
	return 0;
}

static size_t identifier(const char *s)
{
	size_t n = 0;

	if (isdigit((unsigned char)*s))
		return 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

static const char *blanks(const char *s)
{
	while (*s == ' ')
		s++;
	return s;
}

/* "TYPE NAME, TYPE NAME" or nothing. */
static bool args_are_good(const char *s)
{
	unsigned words = 0;

	for (s = blanks(s); *s;) {
		size_t n = identifier(s);
		unsigned w = words_of(s, n);

		if (!w || s[n] != ' ')
			return false;
		words += w;
		s = blanks(s + n);
		n = identifier(s);
		if (!n || n > WEFT_TABLE_NAME || words > WEFT_TABLE_ARGS)
			return false;
		s = blanks(s + n);
		if (*s == ',') {
			s = blanks(s + 1);
			if (!*s)
				return false;
		} else if (*s) {
			return false;
		}
	}
	return true;
}

static bool name_is_good(const char *s)
{
	size_t n = s ? strnlen(s, WEFT_TABLE_NAME + 1) : 0;

	return n && n <= WEFT_TABLE_NAME;
}

/* ---- declarations ---- */

static struct weft_table_decl *decl_at(uint32_t i)
{
	return (void *)((char *)weft_user.table + weft_user.table->decls + weft_user.offsets[i]);
}

static uint32_t hash(const char *provider, const char *name)
{
	uint32_t h = 0x811c9dc5u; /* FNV-1a */

	do
		h = (h ^ (unsigned char)*provider) * 0x01000193u;
	while (*provider++);
	while (*name)
		h = (h ^ (unsigned char)*name++) * 0x01000193u;
	return h ^ h >> 15;
}

/* The place in the index of the declaration with these texts, or of the live one of that name,
 * which then is not the same; else the free place. */
static uint32_t *find(const char *provider, const char *name, const char *args, bool *same)
{
	uint32_t at = hash(provider, name) % weft_user.n_index, *live = NULL, *equal = NULL;

	for (; weft_user.index[at]; at = (at + 1) % weft_user.n_index) {
		struct weft_table_decl *d = decl_at(weft_user.index[at] - 1);
		const char *text = d->text;

		if (strcmp(text, provider))
			continue;
		text += strlen(text) + 1;
		if (strcmp(text, name))
			continue;
		if (!strcmp(text + strlen(text) + 1, args))
			equal = &weft_user.index[at];
		if (WEFT_DECL_LIVE(d->state))
			live = &weft_user.index[at];
	}
	*same = equal && (!live || live == equal);
	if (*same)
		return equal;
	return live ? live : &weft_user.index[at];
}

static int append(const char *provider, const char *name, const char *args, uint32_t *place)
{
	struct weft_probe_table *t = weft_user.table;
	size_t n[3] = {strlen(provider) + 1, strlen(name) + 1, strlen(args) + 1};
	size_t size = (sizeof(struct weft_table_decl) + n[0] + n[1] + n[2] + 7) & ~(size_t)7;
	struct weft_table_decl *d = (void *)((char *)t + t->decls + weft_user.used);

	if (size > WEFT_TABLE_RECORD)
		return -EINVAL;
	if (weft_user.count >= t->capacity || size > t->decls_size - weft_user.used)
		return -ENOSPC;
	d->size = (uint32_t)size;
	memcpy(d->text, provider, n[0]);
	memcpy(d->text + n[0], name, n[1]);
	memcpy(d->text + n[0] + n[1], args, n[2]);
	__atomic_store_n(&d->state, 1, __ATOMIC_RELEASE);
	weft_user.offsets[weft_user.count] = weft_user.used;
	weft_user.used += (uint32_t)size;
	*place = ++weft_user.count;
	__atomic_store_n(&t->count, weft_user.count, __ATOMIC_RELEASE);
	return 0;
}

static int declare(const char *provider, const char *name, const char *args, uint64_t **word)
{
	struct weft_table_decl *d;
	uint32_t *place;
	bool same;
	int ret;

	place = find(provider, name, args, &same);
	if (*place && !same)
		return -EEXIST;
	if (!*place) {
		ret = append(provider, name, args, place);
		if (ret)
			return ret;
		weft_user_announce();
	} else {
		d = decl_at(*place - 1);
		if (!WEFT_DECL_LIVE(d->state)) {
			__atomic_fetch_add(&d->state, 1, __ATOMIC_RELEASE);
			weft_user_announce();
		}
	}
	*word = &weft_user.words[*place - 1];
	return 0;
}

weft_probe *weft_probe_declare(const char *provider, const char *name, const char *args, int *error)
{
	int saved = errno, ret = -EINVAL;
	uint64_t *word = (uint64_t *)(uintptr_t)&never;
	struct weft_user_private *p = NULL;

	if (!args)
		args = "";
	if (name_is_good(provider) && name_is_good(name) && args_are_good(args)) {
		p = weft_user_private();
		ret = -ENOMEM;
	}
	if (p) {
		pthread_mutex_lock(&p->lock);
		ret = weft_user_table(p);
		if (!ret)
			ret = declare(provider, name, args, &word);
		if (!ret && weft_user.off)
			ret = -ENOSYS;
		pthread_mutex_unlock(&p->lock);
	}
	if (error)
		*error = ret;
	errno = saved;
	return probe_of(word);
}

void weft_probe_undeclare(weft_probe *probe)
{
	uint64_t *word = (void *)probe;
	struct weft_user_private *p;
	int saved = errno;

	if (!weft_probe_word(probe))
		return;
	p = weft_user_private();
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	if (!weft_user_table(p) && (size_t)(word - weft_user.words) < weft_user.count) {
		struct weft_table_decl *d = decl_at((uint32_t)(word - weft_user.words));

		if (WEFT_DECL_LIVE(d->state)) {
			__atomic_store_n(word, 0, __ATOMIC_RELAXED);
			__atomic_fetch_add(&d->state, 1, __ATOMIC_RELEASE);
			weft_user_announce();
		}
	}
	pthread_mutex_unlock(&p->lock);
	errno = saved;
}
