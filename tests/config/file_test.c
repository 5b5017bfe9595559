/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a probe set lies in: files, sizes, encodings. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static char directory[64];

static void setup(void)
{
	strcpy(directory, "/tmp/config-test-XXXXXX");
	cr_assert_not_null(mkdtemp(directory));
}

static void teardown(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	cr_assert_eq(system(command), 0);
}

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void write_file(const char *path, const char *data, size_t size)
{
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f);
	cr_assert_eq(fwrite(data, 1, size, f), size);
	cr_assert_eq(fclose(f), 0);
}

static void cannot_open(const char *path, int code, const char *words)
{
	struct weft_error *err = weft_error_create();
	struct weft_set *set = NULL;
	struct weft_report report;

	cr_expect_eq(weft_config_load_file(path, &set, err), code);
	cr_expect_null(set);
	cr_assert_eq(weft_error_count(err), 1);
	weft_error_report(err, 0, &report);
	cr_expect_str_eq(report.tag, "CONFIG_OPEN");
	cr_expect_str_eq(report.file, path);
	cr_expect_eq(report.pos.line, 0);
	cr_expect(strstr(report.text, path), "%s", report.text);
	cr_expect(strstr(report.text, words), "no <%s> in <%s>", words, report.text);
	weft_error_destroy(err);
}

TestSuite(config_file, .init = setup, .fini = teardown);

Test(config_file, CONFIG_OPEN_missing)
{
	cannot_open(path_of("none.yaml"), -ENOENT, "No such file");
}

Test(config_file, CONFIG_OPEN_directory)
{
	cannot_open(directory, -EISDIR, "is a directory");
}

/* Without O_NONBLOCK this would wait for a writer for ever. */
Test(config_file, CONFIG_OPEN_fifo, .timeout = 20)
{
	cr_assert_eq(mkfifo(path_of("fifo"), 0600), 0);
	cannot_open(path_of("fifo"), -EINVAL, "is a FIFO");
}

Test(config_file, CONFIG_OPEN_device)
{
	cannot_open("/dev/null", -EINVAL, "is a device");
}

Test(config_file, CONFIG_OPEN_unreadable)
{
	write_file(path_of("secret.yaml"), "version: 1\n", 11);
	cr_assert_eq(chmod(path_of("secret.yaml"), 0), 0);
	cr_assert_eq(chmod(directory, 0755), 0);
	/* Root reads everything: be someone else, and come back for the clean-up. */
	cr_assert(geteuid() != 0 || seteuid(65534) == 0);
	cannot_open(path_of("secret.yaml"), -EACCES, "Permission denied");
	cr_assert(getuid() != 0 || seteuid(0) == 0);
}

Test(config_file, loads_and_names_itself)
{
	const char text[] = "version: 1\nname: x\n" PROBES;
	struct weft_error *err = weft_error_create();
	struct weft_set *set;

	write_file(path_of("a.yaml"), text, sizeof(text) - 1);
	cr_assert_eq(weft_config_load_file(path_of("a.yaml"), &set, err), 0, "%s",
		     weft_error_text(err));
	cr_expect_str_eq(set->file, path_of("a.yaml"));
	cr_expect_str_eq(set->name.s, "x");
	weft_set_destroy(set);
	weft_error_destroy(err);
}

Test(config_file, errors_name_the_file)
{
	struct weft_error *err = weft_error_create();
	struct weft_report report;
	struct weft_set *set;

	write_file(path_of("a.yaml"), "version: 7\n", 11);
	cr_assert_eq(weft_config_load_file(path_of("a.yaml"), &set, err), -EINVAL);
	weft_error_report(err, 0, &report);
	cr_expect_str_eq(report.file, path_of("a.yaml"));
	weft_error_destroy(err);
}

/* A set of exactly `size` bytes: the rest is a comment. */
static char *padded(size_t size)
{
	static const char head[] = "version: 1\n" PROBES "#";
	char *text = malloc(size + 1);

	cr_assert_not_null(text);
	memset(text, 'x', size);
	memcpy(text, head, sizeof(head) - 1);
	text[size] = '\0';
	return text;
}

Test(config_file, CONFIG_SIZE)
{
	struct weft_error *err = weft_error_create();
	char *text = padded(WEFT_CONFIG_MAX_SIZE);
	struct weft_set *set;

	weft_set_destroy(good(text));
	free(text);

	text = padded(WEFT_CONFIG_MAX_SIZE + 1);
	bad(text, "CONFIG_SIZE", 0, 0, "1048576");
	write_file(path_of("big.yaml"), text, WEFT_CONFIG_MAX_SIZE + 1);
	cr_expect_eq(weft_config_load_file(path_of("big.yaml"), &set, err), -EINVAL);
	cr_expect_str_eq(weft_error_tag(err), "CONFIG_SIZE");
	weft_error_destroy(err);
	free(text);
}

/* Sparse: a file of 1 TiB is refused without being read. */
Test(config_file, CONFIG_SIZE_sparse, .timeout = 20)
{
	struct weft_error *err = weft_error_create();
	struct weft_set *set;
	int fd = open(path_of("huge.yaml"), O_CREAT | O_WRONLY, 0600);

	cr_assert(fd >= 0);
	cr_assert_eq(ftruncate(fd, (off_t)1 << 40), 0);
	close(fd);
	cr_expect_eq(weft_config_load_file(path_of("huge.yaml"), &set, err), -EINVAL);
	cr_expect_str_eq(weft_error_tag(err), "CONFIG_SIZE");
	weft_error_destroy(err);
}

Test(config_file, CONFIG_EMPTY)
{
	bad("", "CONFIG_EMPTY", 0, 0, "version: 1");
	bad("# only a comment\n\n", "CONFIG_EMPTY", 0, 0, "empty");
	bad("---\n", "CONFIG_EMPTY", 0, 0, "empty");
	bad("\xef\xbb\xbf", "CONFIG_EMPTY", 0, 0, "empty");
	bad("~\n", "CONFIG_EMPTY", 0, 0, "empty");
}

static void bad_bytes(const char *data, size_t size, unsigned int line, unsigned int column,
		      const char *words)
{
	struct weft_error *err = weft_error_create();
	struct weft_report report;
	struct weft_set *set;

	cr_expect_eq(weft_config_load_memory("set.yaml", data, size, &set, err), -EINVAL);
	cr_assert_eq(weft_error_count(err), 1);
	weft_error_report(err, 0, &report);
	cr_expect_str_eq(report.tag, "CONFIG_ENCODING");
	cr_expect(report.pos.line == line && report.pos.column == column, "%u:%u, not %u:%u",
		  report.pos.line, report.pos.column, line, column);
	cr_expect(strstr(report.text, words), "no <%s> in <%s>", words, report.text);
	weft_error_destroy(err);
}

#define BYTES(s) s, sizeof(s) - 1

Test(config_file, CONFIG_ENCODING)
{
	bad_bytes(BYTES("version: 1\nname: caf\xe9\n"), 2, 10, "0xe9");
	bad_bytes(BYTES("version: 1\nname: a\0b\n"), 2, 8, "NUL");
	bad_bytes(BYTES("a: \xc0\xaf"), 1, 4, "0xc0");             /* overlong */
	bad_bytes(BYTES("a: \xe0\x80\xaf"), 1, 4, "0xe0");         /* overlong */
	bad_bytes(BYTES("a: \xed\xa0\x80"), 1, 4, "0xed");         /* a surrogate */
	bad_bytes(BYTES("a: \xf4\x90\x80\x80"), 1, 4, "0xf4");     /* beyond U+10FFFF */
	bad_bytes(BYTES("a: \xf8\x88\x80\x80\x80"), 1, 4, "0xf8"); /* five bytes */
	bad_bytes(BYTES("a: \xe2\x82"), 1, 4, "0xe2");             /* cut short */
	bad_bytes(BYTES("\xff\xfe"
			"a\0"),
		  1, 1, "0xff"); /* UTF-16 */
	bad_bytes(BYTES("a: \x1b[1m"), 1, 4, "U+001B");
	bad_bytes(BYTES("a: b\xef\xbb\xbf"), 1, 5, "U+FEFF");
}

/* A NUL can also be written as an escape; C strings could not hold it. */
Test(config_file, CONFIG_ENCODING_escape)
{
	bad("version: 1\nname: \"a\\0b\"\n" PROBES, "CONFIG_ENCODING", 2, 7, "NUL");
}

Test(config_file, byte_order_mark_is_passed_over)
{
	struct weft_set *set = good("\xef\xbb\xbfversion: 1\nname: x\n" PROBES);

	cr_expect_eq(set->name.pos.line, 2);
	weft_set_destroy(set);
	bad("\xef\xbb\xbfversion: 2\n", "CONFIG_VERSION", 1, 10, "2");
}
