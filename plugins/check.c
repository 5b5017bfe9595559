/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define END_OF(member) \
	(offsetof(struct weft_provider, member) + sizeof(((struct weft_provider *)NULL)->member))

/* A struct must reach to the end of the last required member. */
#define MIN_SIZE END_OF(detach)

_Static_assert(sizeof(void *) == sizeof(uint64_t), "a pointer is a word of the struct");
_Static_assert(sizeof(struct weft_provider) % sizeof(uint64_t) == 0, "the struct is whole words");
_Static_assert(sizeof(struct weft_provider) <= WEFT_PROVIDER_MAX_SIZE, "the view holds it");

/* Every member that is a pointer. Members appended to the struct get a row here. */
static const struct member {
	const char *name;
	size_t offset;
	bool required;
	const char *pair; /* both or neither */
	size_t pair_offset;
} members[] = {
#define MEMBER(m, need)                                                                     \
	{                                                                                   \
		.name = #m, .offset = offsetof(struct weft_provider, m), .required = (need) \
	}
#define PAIR(m, other)                                                                   \
	{                                                                                \
		.name = #m, .offset = offsetof(struct weft_provider, m), .pair = #other, \
		.pair_offset = offsetof(struct weft_provider, other)                     \
	}
	MEMBER(summary, false),        MEMBER(options, false),      MEMBER(open, true),
	MEMBER(close, true),           MEMBER(populate, false),     MEMBER(provide, false),
	MEMBER(probe_info, true),      MEMBER(attach, true),        MEMBER(detach, true),
	PAIR(discover_fd, discover),   PAIR(discover, discover_fd), MEMBER(describe, false),
	MEMBER(populate_match, false), MEMBER(probe_note, false),   MEMBER(capabilities, false),
#undef PAIR
#undef MEMBER
};

const char *weft_printable(char *buf, size_t size, const char *s, size_t n)
{
	static const char more[] = "...";
	size_t at = 0;

	if (size == 0)
		return "";
	for (size_t i = 0; i < n && s[i]; i++) {
		unsigned char c = (unsigned char)s[i];
		bool plain = c >= 0x20 && c < 0x7f;

		if (at + (plain ? 1 : 4) + sizeof(more) > size) {
			snprintf(buf + at, size - at, "%s", more);
			return buf;
		}
		at += (size_t)snprintf(buf + at, size - at, plain ? "%c" : "\\x%02x", c);
	}
	buf[at] = '\0';
	return buf;
}

void weft_view_set_name(struct weft_provider_view *v, const char *p, size_t n)
{
	memset(v->name, 0, sizeof(v->name));
	v->name_length = sizeof(v->name);
	for (size_t i = 0; i < n && i < sizeof(v->name); i++) {
		v->name[i] = p[i];
		if (p[i] == '\0') {
			v->name_length = i;
			return;
		}
	}
}

/* "0.1", or "0.1 to 1.3" */
static const char *window_text(char *buf, size_t size)
{
	const uint32_t oldest = WEFT_ABI_OLDEST, current = WEFT_ABI_CURRENT;

	snprintf(buf, size, "%u.%u", WEFT_ABI_MAJOR(oldest), WEFT_ABI_MINOR(oldest));
	if (oldest != current) {
		size_t n = strlen(buf);

		snprintf(buf + n, size - n, " to %u.%u", WEFT_ABI_MAJOR(current),
			 WEFT_ABI_MINOR(current));
	}
	return buf;
}

static int check_version(const struct weft_provider_view *v, struct weft_error *err)
{
	uint32_t version = v->abi_version;
	char window[48];

	if (version > WEFT_ABI_CURRENT)
		return weft_fail(err, -ENOTSUP, "PLUGIN_VERSION_NEWER",
				 "%s is built for provider ABI %u.%u, and this weft loads %s: "
				 "upgrade weft, or build the plugin with this weft's provider.h",
				 v->file, WEFT_ABI_MAJOR(version), WEFT_ABI_MINOR(version),
				 window_text(window, sizeof(window)));
	if (version < WEFT_ABI_OLDEST)
		return weft_fail(err, -ENOTSUP, "PLUGIN_VERSION_OLDER",
				 "%s is built for provider ABI %u.%u, and this weft loads %s: "
				 "get a newer version of the plugin, or build it again with this "
				 "weft's provider.h",
				 v->file, WEFT_ABI_MAJOR(version), WEFT_ABI_MINOR(version),
				 window_text(window, sizeof(window)));
	return 0;
}

int weft_check_head(const struct weft_provider_view *v, struct weft_error *err)
{
	int ret;

	/* The version first: what else can be said of a struct depends on it. */
	ret = check_version(v, err);
	if (ret)
		return ret;
	if (v->struct_size < MIN_SIZE)
		return weft_fail(err, -EINVAL, "PLUGIN_STRUCT_SHORT",
				 "%s: its " WEFT_PROVIDER_SYMBOL " has struct_size %u, and a "
				 "provider needs at least %zu bytes, to the end of .detach; "
				 "struct_size is to be sizeof(struct weft_provider)",
				 v->file, v->struct_size, MIN_SIZE);
	if (v->struct_size > v->symbol_size)
		return weft_fail(err, -EINVAL, "PLUGIN_STRUCT_SHORT",
				 "%s: its " WEFT_PROVIDER_SYMBOL " says struct_size %u and is only "
				 "%llu bytes long",
				 v->file, v->struct_size, (unsigned long long)v->symbol_size);
	if (v->struct_size > WEFT_PROVIDER_MAX_SIZE)
		return weft_fail(err, -EINVAL, "PLUGIN_STRUCT_TAIL",
				 "%s: its " WEFT_PROVIDER_SYMBOL " has struct_size %u, more than "
				 "the %u bytes that any version could have",
				 v->file, v->struct_size, WEFT_PROVIDER_MAX_SIZE);
	return 0;
}

static bool is_set(const struct weft_provider_view *v, size_t offset)
{
	return offset + sizeof(uint64_t) <= v->struct_size && v->words[offset / sizeof(uint64_t)];
}

/* Unknown members are fine while they are zero: the plugin does not use what this core lacks. */
static int check_tail(const struct weft_provider_view *v, struct weft_error *err)
{
	const unsigned char *bytes = (const unsigned char *)v->words;

	for (size_t i = sizeof(struct weft_provider); i < v->struct_size; i++) {
		if (bytes[i])
			return weft_fail(err, -ENOTSUP, "PLUGIN_STRUCT_TAIL",
					 "%s: its " WEFT_PROVIDER_SYMBOL " is %u bytes long, this "
					 "weft knows %zu of them, and of the rest byte %zu is set: "
					 "the plugin uses something newer than ABI %u.%u; upgrade "
					 "weft",
					 v->file, v->struct_size, sizeof(struct weft_provider), i,
					 WEFT_ABI_MAJOR(WEFT_ABI_CURRENT),
					 WEFT_ABI_MINOR(WEFT_ABI_CURRENT));
	}
	return 0;
}

static bool in_range(char c, char low, char high)
{
	return c >= low && c <= high;
}

static int check_name(const struct weft_provider_view *v, struct weft_error *err)
{
	size_t at = offsetof(struct weft_provider, name) / sizeof(uint64_t);
	char quoted[160];
	size_t n = 0;

	if (!v->words[at])
		return weft_fail(err, -EINVAL, "PLUGIN_NAME", "%s: its provider has no name",
				 v->file);
	if (v->in_file && !v->relocated[at])
		return weft_fail(err, -EINVAL, "PLUGIN_NAME",
				 "%s: the name of its provider is no address of the file", v->file);
	while (n < v->name_length &&
	       (in_range(v->name[n], 'a', 'z') ||
		(n > 0 && (in_range(v->name[n], '0', '9') || v->name[n] == '-'))))
		n++;
	if (n > 0 && n == v->name_length && n <= WEFT_PROVIDER_NAME_MAX)
		return 0;
	weft_printable(quoted, sizeof(quoted), v->name, sizeof(v->name));
	return weft_fail(err, -EINVAL, "PLUGIN_NAME",
			 "%s: its provider is called \"%s\"%s; a name is a letter a-z, then at most "
			 "%u letters a-z, digits and hyphens",
			 v->file, quoted, v->name_length == sizeof(v->name) ? " and more" : "",
			 WEFT_PROVIDER_NAME_MAX - 1);
}

static int check_member(const struct weft_provider_view *v, const struct member *m,
			struct weft_error *err)
{
	size_t at = m->offset / sizeof(uint64_t);

	if (!is_set(v, m->offset)) {
		if (!m->required)
			return 0;
		return weft_fail(err, -EINVAL, "PLUGIN_SLOT",
				 "%s: its provider has no .%s, which every provider must have",
				 v->file, m->name);
	}
	if (v->in_file && !v->relocated[at])
		return weft_fail(err, -EINVAL, "PLUGIN_SLOT",
				 "%s: the .%s of its provider is no address of the file", v->file,
				 m->name);
	if (m->pair && !is_set(v, m->pair_offset))
		return weft_fail(err, -EINVAL, "PLUGIN_SLOT",
				 "%s: its provider has .%s and no .%s; it must have both or neither",
				 v->file, m->name, m->pair);
	return 0;
}

int weft_check_body(const struct weft_provider_view *v, struct weft_error *err)
{
	int ret;

	ret = check_tail(v, err);
	if (ret)
		return ret;
	ret = check_name(v, err);
	if (ret)
		return ret;
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		ret = check_member(v, &members[i], err);
		if (ret)
			return ret;
	}
	return 0;
}
