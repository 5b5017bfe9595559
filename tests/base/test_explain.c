/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/probes.h"

static const char *const providers[] = {"fbt", "profile", "uprobe"};

static struct weft_registry_core *sample(void)
{
	struct weft_registry_core *r = weft_registry_create();
	struct weft_registry *fbt = weft_registry_of(r, "fbt");
	struct weft_registry *profile = weft_registry_of(r, "profile");

	add(fbt, "vmlinux", "vfs_read", "entry", 0);
	add(fbt, "vmlinux", "vfs_read", "return", 0);
	add(fbt, "vmlinux", "vfs_write", "entry", 0);
	add(fbt, "ext4", "ext4_file_read", "entry", 0);
	add(fbt, "ext4", "vfs_raid", "entry", 0);
	add(profile, "", "", "profile-97hz", 0);
	add(profile, "", "", "tick-1hz", 0);
	return r;
}

static void explained(struct weft_registry_core *r, const char *pattern, const char *tag,
		      const char *text, const char *suggestion)
{
	struct weft_error *err = weft_error_create();
	struct weft_pattern p;
	struct weft_report report;

	cr_assert_eq(weft_pattern_parse(pattern, &p, NULL), 0);
	cr_expect_eq(weft_registry_explain(r, &p, providers, 3, err), -ENOENT);
	cr_assert_eq(weft_error_report(err, 0, &report), 0);
	cr_expect_eq(weft_error_count(err), 1);
	cr_expect_eq(report.code, -ENOENT);
	cr_expect_str_eq(report.tag, tag, "'%s' gave %s", pattern, report.tag);
	cr_expect_str_eq(report.text, text, "'%s' gave \"%s\"", pattern, report.text);
	if (suggestion)
		cr_expect(report.suggestion && !strcmp(report.suggestion, suggestion),
			  "'%s' suggested '%s'", pattern,
			  report.suggestion ? report.suggestion : "(nothing)");
	else
		cr_expect_null(report.suggestion, "'%s' suggested '%s'", pattern, report.suggestion);
	weft_pattern_finish(&p);
	weft_error_destroy(err);
}

Test(explain, PROBE_NO_PROVIDER)
{
	struct weft_registry_core *r = sample();
	struct weft_error *err = weft_error_create();
	struct weft_pattern p;

	explained(r, "profil:::profile-97hz", "PROBE_NO_PROVIDER", "no provider 'profil' is loaded",
		  "profile");
	explained(r, "ubrobe:x:f:entry", "PROBE_NO_PROVIDER", "no provider 'ubrobe' is loaded",
		  "uprobe");
	explained(r, "dtrace:::BEGIN", "PROBE_NO_PROVIDER", "no provider 'dtrace' is loaded", NULL);
	explained(r, "prov[0-9]:::", "PROBE_NO_PROVIDER", "no provider 'prov[0-9]' is loaded", NULL);

	cr_assert_eq(weft_pattern_parse("fbt:::", &p, NULL), 0);
	cr_expect_eq(weft_registry_explain(r, &p, NULL, 0, err), -ENOENT);
	cr_expect_str_eq(weft_error_tag(err), "PROBE_NO_PROVIDER");
	cr_expect_not_null(strstr(weft_error_text(err), "none is loaded"));
	weft_pattern_finish(&p);
	weft_error_destroy(err);
	weft_registry_destroy(r);
}

Test(explain, PROBE_NO_MODULE)
{
	struct weft_registry_core *r = sample();

	explained(r, "fbt:vmlinuz:vfs_read:entry", "PROBE_NO_MODULE",
		  "no module 'vmlinuz' in 'fbt'", "vmlinux");
	explained(r, "fbt:xfs:vfs_read:entry", "PROBE_NO_MODULE", "no module 'xfs' in 'fbt'", NULL);
	explained(r, "profile:profile-97hz::", "PROBE_NO_MODULE",
		  "no module 'profile-97hz' in 'profile': its probes have no module", NULL);
	explained(r, "uprobe:/bin/x:main:entry", "PROBE_NO_MODULE",
		  "no module '/bin/x' in 'uprobe'", NULL);
	weft_registry_destroy(r);
}

Test(explain, PROBE_NO_FUNCTION)
{
	struct weft_registry_core *r = sample();

	explained(r, "fbt:vmlinux:vfs_raed:entry", "PROBE_NO_FUNCTION",
		  "no function 'vfs_raed' in 'fbt:vmlinux'", "vfs_read");
	explained(r, "fbt:vmlinux:vfs_raid:entry", "PROBE_NO_FUNCTION",
		  "no function 'vfs_raid' in 'fbt:vmlinux'", "vfs_read");
	explained(r, "fbt::ext4_fiel_read:entry", "PROBE_NO_FUNCTION",
		  "no function 'ext4_fiel_read' in 'fbt:*'", "ext4_file_read");
	explained(r, "fbt:vmlinux:vfs_wrtie*:entry", "PROBE_NO_FUNCTION",
		  "no function 'vfs_wrtie*' in 'fbt:vmlinux'", "vfs_write");
	explained(r, "*:e*:tcp_sendmsg:entry", "PROBE_NO_FUNCTION",
		  "no function 'tcp_sendmsg' in '*:e*'", NULL);
	explained(r, "uprobe::main:entry", "PROBE_NO_FUNCTION", "no function 'main' in 'uprobe:*'",
		  NULL);
	explained(r, "profile::main:profile-97hz", "PROBE_NO_FUNCTION",
		  "no function 'main' in 'profile:*': its probes have no function", NULL);
	weft_registry_destroy(r);
}

Test(explain, PROBE_NO_NAME)
{
	struct weft_registry_core *r = sample();

	explained(r, "fbt:vmlinux:vfs_read:entyr", "PROBE_NO_NAME",
		  "no name 'entyr' in 'fbt:vmlinux:vfs_read'", "entry");
	explained(r, "fbt:vmlinux:vfs_write:retrun", "PROBE_NO_NAME",
		  "no name 'retrun' in 'fbt:vmlinux:vfs_write'", NULL);
	explained(r, "profile:::profile-99hz", "PROBE_NO_NAME",
		  "no name 'profile-99hz' in 'profile:*:*'", "profile-97hz");
	explained(r, "uprobe:::", "PROBE_NO_NAME", "no probe at all in 'uprobe:*:*'", NULL);
	weft_registry_destroy(r);
}

Test(explain, retired_probes_are_not_suggested)
{
	struct weft_registry_core *r = weft_registry_create();
	struct weft_registry *h = weft_registry_of(r, "fbt");
	const struct weft_probe *p = add(h, "m", "vfs_read", "entry", 0);

	add(h, "m", "tcp_sendmsg", "entry", 0);
	weft_registry_retire(h, p);
	explained(r, "fbt:m:vfs_raed:entry", "PROBE_NO_FUNCTION",
		  "no function 'vfs_raed' in 'fbt:m'", NULL);
	explained(r, "fbt:m:vfs_read:entry", "PROBE_NO_FUNCTION",
		  "no function 'vfs_read' in 'fbt:m'", NULL);
	weft_registry_destroy(r);
}

Test(explain, finds_the_name_among_many, .timeout = 60)
{
	struct weft_registry_core *r = weft_registry_create();
	struct weft_registry *h = weft_registry_of(r, "fbt");
	char function[64];

	for (int i = 0; i < 100000; i++) {
		snprintf(function, sizeof(function), "subsystem_%02d_%d_function", i % 37, i * 7);
		add(h, "vmlinux", function, "entry", 0);
	}
	add(h, "vmlinux", "tcp_sendmsg", "entry", 0);
	explained(r, "fbt:vmlinux:tcp_sendmgs:entry", "PROBE_NO_FUNCTION",
		  "no function 'tcp_sendmgs' in 'fbt:vmlinux'", "tcp_sendmsg");
	weft_registry_destroy(r);
}
