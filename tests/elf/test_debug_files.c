/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Symbols that lie elsewhere: in a file found by build ID or by name, in a compressed section. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/rig.h"

#define FUNCTIONS WEFT_ELF_WANT_FUNCTIONS
#define DEBUG     (WEFT_ELF_WANT_FUNCTIONS | WEFT_ELF_WANT_DEBUG)

static char folder[] = "/tmp/weft-elf-XXXXXX";

static void make_folder(void)
{
	cr_assert(mkdtemp(folder));
}

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...)
{
	char command[8192];
	va_list ap;

	va_start(ap, format);
	vsnprintf(command, sizeof(command), format, ap);
	va_end(ap);
	cr_assert_eq(system(command), 0, "%s", command);
}

static void remove_folder(void)
{
	run("rm -rf '%s'", folder);
}

TestSuite(elf_debug, .init = make_folder, .fini = remove_folder);

static const struct weft_elf *read_rooted(struct weft_elf_reader *r, const char *path,
					  const char *seen_as, const char *root, uint32_t want)
{
	struct weft_error *err = weft_error_create();
	struct weft_elf_request request = {
		.struct_size = sizeof(request), .want = want, .path = seen_as, .root = root};
	const struct weft_elf *elf = NULL;

	request.fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_geq(request.fd, 0);
	cr_assert_eq(weft_elf_read(r, &request, &elf, err), 0, "%s", weft_error_text(err));
	close(request.fd);
	weft_error_destroy(err);
	return elf;
}

static int source_of_local(const struct weft_elf *elf)
{
	const struct weft_elf_symbol *s = find_symbol(elf, "target_local", NULL);

	return s ? s->source : 0;
}

Test(elf_debug, compressed_section)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	const struct weft_elf *elf = read_file(r, built("minidebug"), FUNCTIONS);

	cr_assert_eq(source_of_local(elf), WEFT_ELF_DEBUGDATA);
	cr_assert_null(elf->debug_file);
	weft_elf_release(r, elf);
	weft_elf_reader_destroy(r);
}

Test(elf_debug, by_name_with_its_crc)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	const struct weft_elf *elf;
	char path[4096];

	elf = read_file(r, built("linked"), DEBUG);
	cr_assert_eq(source_of_local(elf), WEFT_ELF_DEBUG_FILE);
	cr_assert_str_eq(elf->debug_file, built("linked.dbg"));
	weft_elf_release(r, elf);

	/* In .debug beside it; not wanted; of another build. */
	run("cp '%s' '%s' && mkdir '%s/.debug'", built("linked"), folder, folder);
	run("cp '%s' '%s/.debug'", built("linked.dbg"), folder);
	snprintf(path, sizeof(path), "%s/linked", folder);
	elf = read_file(r, path, DEBUG);
	cr_assert_eq(source_of_local(elf), WEFT_ELF_DEBUG_FILE);
	weft_elf_release(r, elf);
	weft_elf_reader_destroy(r);

	r = weft_elf_reader_create(NULL);
	elf = read_file(r, path, FUNCTIONS);
	cr_assert_eq(source_of_local(elf), 0);
	weft_elf_release(r, elf);
	run("printf x >>'%s/.debug/linked.dbg'", folder);
	elf = read_file(r, path, DEBUG);
	cr_assert_eq(source_of_local(elf), 0);
	cr_assert_null(elf->debug_file);
	weft_elf_release(r, elf);
	weft_elf_reader_destroy(r);
}

/* By build ID, in the file system of the process that runs the file. */
Test(elf_debug, by_build_id_in_a_container)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	const struct weft_elf *elf = read_file(r, built("stripped"), DEBUG);
	char id[129] = "", at[4096];

	cr_assert_eq(source_of_local(elf), 0);
	cr_assert_eq(elf->build_id_size, 20);
	for (uint32_t i = 0; i < elf->build_id_size; i++)
		sprintf(id + i * 2, "%02x", elf->build_id[i]);
	weft_elf_release(r, elf);
	weft_elf_reader_destroy(r);

	r = weft_elf_reader_create(NULL);
	snprintf(at, sizeof(at), "%s/usr/lib/debug/.build-id/%.2s", folder, id);
	run("mkdir -p '%s' '%s/real'", at, folder);
	run("cp '%s' '%s/real/x'", built("stripped.debug"), folder);
	/* An absolute link means the container's file. */
	run("ln -s /real/x '%s/%s.debug'", at, id + 2);
	elf = read_rooted(r, built("stripped"), "/bin/stripped", folder, DEBUG);
	cr_assert_eq(source_of_local(elf), WEFT_ELF_DEBUG_FILE);
	weft_elf_release(r, elf);
	weft_elf_reader_destroy(r);

	/* Another build's file under that name is not believed; a FIFO is not even opened. */
	r = weft_elf_reader_create(NULL);
	run("cp '%s' '%s/real/x'", built("plain"), folder);
	elf = read_rooted(r, built("stripped"), "/bin/stripped", folder, DEBUG);
	cr_assert_eq(source_of_local(elf), 0);
	weft_elf_release(r, elf);
	weft_elf_reader_destroy(r);
	r = weft_elf_reader_create(NULL);
	run("rm '%s/real/x' && mkfifo '%s/real/x'", folder, folder);
	elf = read_rooted(r, built("stripped"), "/bin/stripped", folder, DEBUG);
	cr_assert_eq(source_of_local(elf), 0);
	weft_elf_release(r, elf);
	weft_elf_reader_destroy(r);
}
