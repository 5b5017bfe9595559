/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A provider's table of options, checked before anything relies on it. It is read before any code
 * of the plugin runs, and what is wrong with it is the plugin's defect, not the user's.
 */
#include "core/params.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base/option.h"

#define LONGEST_NAME 63u
/* The row of the first version of the ABI: no plugin has a shorter one. */
#define SMALLEST_SPEC (offsetof(struct weft_option_spec, max) + sizeof(int64_t))
#define PLACES        (WEFT_OPTION_PER_SET | WEFT_OPTION_PER_PROBE)

static bool name_good(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return name[0] >= 'a' && name[0] <= 'z' && name[n] == '\0' && n <= LONGEST_NAME;
}

static int check_name(const struct weft_option_spec *const *specs, size_t i,
		      const struct weft_option_spec *spec, const char *provider,
		      struct weft_error *err)
{
	if (!spec->name || !name_good(spec->name))
		return weft_fail(err, -EINVAL, "PLUGIN_OPTION_NAME",
				 "option %zu of provider '%s' has a bad name: it is a small letter, "
				 "then small letters, digits and _, at most %u",
				 i + 1, provider, LONGEST_NAME);
	for (size_t k = 0; k < i; k++) {
		if (specs[k]->struct_size >= SMALLEST_SPEC && specs[k]->name &&
		    strcmp(specs[k]->name, spec->name) == 0)
			return weft_fail(err, -EINVAL, "PLUGIN_OPTION_NAME",
					 "provider '%s' has two options named '%s'", provider,
					 spec->name);
	}
	return 0;
}

/* "a|b|c": at least one, none of them empty. */
static bool choices_good(const char *choices)
{
	size_t n = choices ? strlen(choices) : 0;

	return n > 0 && choices[0] != '|' && choices[n - 1] != '|' && !strstr(choices, "||");
}

static int check_type(const struct weft_option_spec *spec, const char *provider,
		      struct weft_error *err)
{
	const char *defect = NULL;

	if (!weft_option_type_known(spec->type))
		defect = "a type that this version does not know";
	else if (spec->where == 0 || (spec->where & ~PLACES))
		defect = "a place that is neither per set nor per probe";
	else if (spec->type == WEFT_OPTION_ENUM && !choices_good(spec->choices))
		defect = "no choices, or an empty one";
	else if (spec->min > spec->max)
		defect = "a least value above its greatest";
	if (!defect)
		return 0;
	return weft_fail(err, -EINVAL, "PLUGIN_OPTION_TYPE", "option '%s' of provider '%s' has %s",
			 spec->name, provider, defect);
}

static int check_default(const struct weft_option_spec *spec, const char *provider,
			 struct weft_error *err)
{
	char subject[160];
	int64_t value;

	if (!spec->default_text)
		return 0;
	snprintf(subject, sizeof(subject), "the default of option '%s' of provider '%s'",
		 spec->name, provider);
	return weft_option_value(spec, spec->default_text, &value, "PLUGIN_OPTION_DEFAULT", subject,
				 err);
}

static int check_spec(const struct weft_option_spec *const *specs, size_t i, const char *provider,
		      struct weft_error *err)
{
	struct weft_option_spec spec;
	int rc;

	if (specs[i]->struct_size < SMALLEST_SPEC)
		return weft_fail(err, -EINVAL, "PLUGIN_OPTION_SIZE",
				 "option %zu of provider '%s' has struct_size %u; the least is %zu",
				 i + 1, provider, specs[i]->struct_size, SMALLEST_SPEC);
	weft_option_read(specs[i], &spec);
	rc = check_name(specs, i, &spec, provider, err);
	if (rc == 0)
		rc = check_type(&spec, provider, err);
	if (rc == 0)
		rc = check_default(&spec, provider, err);
	return rc;
}

int weft_params_check_specs(const struct weft_option_spec *const *specs, const char *provider,
			    struct weft_error *err)
{
	int rc = 0;

	for (size_t i = 0; specs && specs[i]; i++) {
		int failed = check_spec(specs, i, provider, err);

		if (rc == 0)
			rc = failed;
	}
	return rc;
}
