/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a stash holds, and what becomes of one that is wrong in every way there is. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "usdt/stash.h"

static char dir[] = "/tmp/weft-stash-XXXXXX";
static const struct weft_usdt_key key = {.dev = 1, .ino = 2, .size = 3, .mtime_ns = 4, .ctime_ns = 5};

static void make_dir(void)
{
	cr_assert(mkdtemp(dir));
}

static void remove_dir(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_expect_eq(system(command), 0);
}

static struct weft_usdt_record *make(const struct weft_usdt_key *k, unsigned notes)
{
	struct weft_usdt_draft d = {.machine = 62, .soname = "libx.so.1"};

	for (unsigned i = 0; i < notes; i++) {
		struct weft_usdt_note n = {.address = i, .offset = i + 1, .semaphore = i + 2};
		char name[32];

		snprintf(name, sizeof(name), "name%u", i % 7);
		cr_assert_eq(weft_usdt_draft_text(&d, "provider", 8, &n.provider), 0);
		cr_assert_eq(weft_usdt_draft_text(&d, name, strlen(name), &n.name), 0);
		cr_assert_eq(weft_usdt_draft_text(&d, "8@%rax", 6, &n.args), 0);
		cr_assert_eq(weft_usdt_draft_note(&d, &n), 0);
	}
	uint32_t at;
	cr_assert_eq(weft_usdt_draft_text(&d, "counter", 7, &at), 0);
	cr_assert_eq(weft_usdt_draft_symbol(&d, at, 0x4010), 0);
	struct weft_usdt_record *r = weft_usdt_draft_record(&d, k, "/usr/lib/libx.so");
	cr_assert_not_null(r);
	weft_usdt_draft_finish(&d);
	return r;
}

static void open_stash(struct weft_usdt_stash *s)
{
	const char *why;

	weft_usdt_stash_open(s, dir, &why);
	cr_assert_geq(s->dir, 0, "%s", why ? why : "");
}

static bool has(struct weft_usdt_stash *s, const struct weft_usdt_key *k)
{
	struct weft_usdt_record *r = weft_usdt_stash_get(s, k);
	bool there = r != NULL;

	free(r);
	return there;
}

Test(usdt_stash, gives_back_what_was_put, .init = make_dir, .fini = remove_dir)
{
	struct weft_usdt_record *r = make(&key, 20), *back;
	struct weft_usdt_stash s;
	uint64_t address = 0;

	open_stash(&s);
	cr_expect(!has(&s, &key));
	weft_usdt_stash_put(&s, r);
	back = weft_usdt_stash_get(&s, &key);
	cr_assert_not_null(back);
	cr_expect_eq(back->total, r->total);
	cr_expect_eq(memcmp(back, r, r->total), 0);
	cr_expect_str_eq(weft_usdt_text(back, back->path), "/usr/lib/libx.so");
	cr_expect_str_eq(weft_usdt_text(back, back->soname), "libx.so.1");
	cr_expect_eq(weft_usdt_record_find(back, "counter", 7, &address), 0);
	cr_expect_eq(address, 0x4010);
	cr_expect_eq(weft_usdt_record_find(back, "count", 5, &address), -ENOENT);
	/* Sites of one name lie side by side. */
	for (uint32_t i = 1; i < back->n_notes; i++)
		cr_expect_leq(strcmp(weft_usdt_text(back, weft_usdt_notes(back)[i - 1].name),
				     weft_usdt_text(back, weft_usdt_notes(back)[i].name)),
			      0);
	free(back);
	free(r);
	weft_usdt_stash_close(&s);
}

Test(usdt_stash, a_replaced_file_is_another, .init = make_dir, .fini = remove_dir)
{
	struct weft_usdt_record *r = make(&key, 1);
	struct weft_usdt_stash s;
	struct weft_usdt_key k;

	open_stash(&s);
	weft_usdt_stash_put(&s, r);
	cr_expect(has(&s, &key));
	k = key, k.size++;
	cr_expect(!has(&s, &k));
	k = key, k.mtime_ns++;
	cr_expect(!has(&s, &k));
	k = key, k.ctime_ns++;
	cr_expect(!has(&s, &k));
	k = key, k.ino++;
	cr_expect(!has(&s, &k));
	k = key, k.dev++;
	cr_expect(!has(&s, &k));
	free(r);
	weft_usdt_stash_close(&s);
}

/* ---- damage ---- */

static int open_record(int flags)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/1-2.usdt", dir);
	int fd = open(path, flags, 0600);
	cr_assert_geq(fd, 0);
	return fd;
}

Test(usdt_stash, truncated_and_changed_records_are_absent, .init = make_dir, .fini = remove_dir)
{
	struct weft_usdt_record *r = make(&key, 5);
	struct weft_usdt_stash s;

	open_stash(&s);
	for (size_t n = 0; n < r->total; n += 3) {
		weft_usdt_stash_put(&s, r);
		int fd = open_record(O_WRONLY);
		cr_assert_eq(ftruncate(fd, (off_t)n), 0);
		close(fd);
		cr_assert(!has(&s, &key), "%zu of %zu bytes", n, (size_t)r->total);
	}
	for (size_t at = 0; at < r->total; at++) {
		char *changed = malloc(r->total);

		memcpy(changed, r, r->total);
		changed[at] ^= 0x41;
		cr_assert(!weft_usdt_record_check(changed, r->total), "byte %zu", at);
		free(changed);
	}
	weft_usdt_stash_put(&s, r);
	cr_expect(has(&s, &key), "it is made anew");
	free(r);
	weft_usdt_stash_close(&s);
}

/* Somebody who knows how to make the sum right. */
Test(usdt_stash, hostile_records)
{
	uint32_t random = 7;

	for (int round = 0; round < 20000; round++) {
		struct weft_usdt_record *r = make(&key, 3);
		uint32_t *words = (uint32_t *)r;
		size_t n = r->total / 4; /* the last bytes are no word */
		uint64_t found;

		for (int k = 0; k <= round % 3; k++) {
			random = random * 1664525 + 1013904223;
			words[8 + (random >> 8) % (n - 8)] = random & 1 ? random : random >> 26;
		}
		r->total = n * 4; /* as far as there is memory */
		weft_usdt_record_seal(r);
		if (weft_usdt_record_check(r, n * 4)) {
			for (uint32_t i = 0; i < r->n_notes; i++)
				cr_assert_geq(strlen(weft_usdt_text(r, weft_usdt_notes(r)[i].args)),
					      0);
			weft_usdt_record_find(r, "counter", 7, &found);
		}
		free(r);
	}
}

Test(usdt_stash, another_version_is_ignored_and_made_anew, .init = make_dir, .fini = remove_dir)
{
	struct weft_usdt_record *r = make(&key, 1), *other = make(&key, 1);
	struct weft_usdt_stash s;

	open_stash(&s);
	other->version++;
	weft_usdt_record_seal(other);
	weft_usdt_stash_put(&s, other);
	cr_expect(!has(&s, &key));
	weft_usdt_stash_put(&s, r);
	cr_expect(has(&s, &key));
	free(r);
	free(other);
	weft_usdt_stash_close(&s);
}

/* ---- whose it is ---- */

Test(usdt_stash, modes_let_nobody_else_in, .init = make_dir, .fini = remove_dir)
{
	struct weft_usdt_record *r = make(&key, 1);
	struct weft_usdt_stash s;
	const char *why;
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "%s/new", dir);
	weft_usdt_stash_open(&s, path, &why);
	cr_assert_geq(s.dir, 0);
	weft_usdt_stash_put(&s, r);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0700);
	cr_assert_eq(fstatat(s.dir, "1-2.usdt", &st, 0), 0);
	cr_expect_eq(st.st_mode & 07777, 0600);
	weft_usdt_stash_close(&s);
	free(r);
}

Test(usdt_stash, what_others_can_write_is_not_believed, .init = make_dir, .fini = remove_dir)
{
	struct weft_usdt_record *r = make(&key, 1);
	struct weft_usdt_stash s;
	const char *why;
	char path[64];

	open_stash(&s);
	weft_usdt_stash_put(&s, r);
	cr_assert_eq(fchmodat(s.dir, "1-2.usdt", 0620, 0), 0);
	cr_expect(!has(&s, &key), "writable by its group");
	cr_assert_eq(fchmodat(s.dir, "1-2.usdt", 0600, 0), 0);
	cr_expect(has(&s, &key));
	cr_assert_eq(fchownat(s.dir, "1-2.usdt", 12345, -1, 0), 0);
	cr_expect(!has(&s, &key), "somebody else's");
	weft_usdt_stash_put(&s, r);
	cr_expect(has(&s, &key));
	cr_assert_eq(renameat(s.dir, "1-2.usdt", s.dir, "elsewhere"), 0);
	cr_assert_eq(symlinkat("elsewhere", s.dir, "1-2.usdt"), 0);
	cr_expect(!has(&s, &key), "a link");
	cr_assert_eq(unlinkat(s.dir, "1-2.usdt", 0), 0);
	cr_assert_eq(mkfifoat(s.dir, "1-2.usdt", 0600), 0);
	cr_expect(!has(&s, &key), "a FIFO, which must not be waited for");
	weft_usdt_stash_close(&s);

	cr_assert_eq(chmod(dir, 0770), 0);
	weft_usdt_stash_open(&s, dir, &why);
	cr_expect_eq(s.dir, -1);
	cr_expect_not_null(why);
	cr_assert_eq(chmod(dir, 0700), 0);
	cr_assert_eq(chown(dir, 12345, -1), 0);
	weft_usdt_stash_open(&s, dir, &why);
	cr_expect_eq(s.dir, -1);
	cr_assert_eq(chown(dir, 0, -1), 0);
	snprintf(path, sizeof(path), "%s/link", dir);
	cr_assert_eq(symlink(dir, path), 0);
	weft_usdt_stash_open(&s, path, &why);
	cr_expect_eq(s.dir, -1, "a link to a folder");
	weft_usdt_stash_open(&s, "off", &why);
	cr_expect_eq(s.dir, -1);
	cr_expect_null(why);
	cr_expect(!has(&s, &key));
	weft_usdt_stash_put(&s, r);
	free(r);
}

/* ---- file systems ---- */

static void on_tmpfs(const char *options, unsigned long flags)
{
	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	cr_assert_eq(mount("tmpfs", dir, "tmpfs", flags, options), 0);
}

Test(usdt_stash, a_full_one_does_no_harm, .init = make_dir, .fini = remove_dir)
{
	struct weft_usdt_record *small = make(&key, 1), *large;
	struct weft_usdt_key other = key;
	struct weft_usdt_stash s;

	on_tmpfs("size=16k,mode=0700", 0);
	open_stash(&s);
	weft_usdt_stash_put(&s, small);
	other.ino = 3;
	large = make(&other, 5000);
	weft_usdt_stash_put(&s, large);
	cr_expect(!has(&s, &other));
	cr_expect(has(&s, &key));
	cr_expect(!s.writable, "it is not tried again");
	weft_usdt_stash_close(&s);
	cr_expect_eq(umount(dir), 0);
	free(small);
	free(large);
}

Test(usdt_stash, a_read_only_one_does_no_harm, .init = make_dir, .fini = remove_dir)
{
	struct weft_usdt_record *r = make(&key, 1);
	struct weft_usdt_stash s;

	on_tmpfs("mode=0700", 0);
	open_stash(&s);
	weft_usdt_stash_put(&s, r);
	weft_usdt_stash_close(&s);
	cr_assert_eq(mount(NULL, dir, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	open_stash(&s);
	cr_expect(has(&s, &key), "it can be read");
	weft_usdt_stash_put(&s, r);
	cr_expect(!s.writable);
	weft_usdt_stash_close(&s);
	cr_expect_eq(umount(dir), 0);
	free(r);
}

/* ---- several tracers ---- */

Test(usdt_stash, several_tracers_at_once, .init = make_dir, .fini = remove_dir)
{
	pid_t child[4];

	for (int i = 0; i < 4; i++) {
		child[i] = fork();
		if (child[i])
			continue;
		struct weft_usdt_stash s;
		int bad = 0;

		open_stash(&s);
		for (int k = 0; k < 300; k++) {
			struct weft_usdt_record *r = make(&key, 100 + (unsigned)i), *back;

			weft_usdt_stash_put(&s, r);
			/* Somebody's, and whole; absent only while the folder is trimmed. */
			back = weft_usdt_stash_get(&s, &key);
			bad += back && (back->n_notes < 100 || back->n_notes > 103);
			bad += !s.writable;
			free(back);
			free(r);
			if (k % 50 == 0)
				weft_usdt_stash_trim(&s, 1u << 20, 100);
		}
		weft_usdt_stash_close(&s);
		_exit(bad != 0);
	}
	for (int i = 0; i < 4; i++) {
		int status;

		cr_assert_eq(waitpid(child[i], &status, 0), child[i]);
		cr_expect_eq(status, 0);
	}
}

static int count(struct weft_usdt_record *r, void *arg)
{
	++*(unsigned *)arg;
	free(r);
	return 0;
}

Test(usdt_stash, the_oldest_give_way, .init = make_dir, .fini = remove_dir)
{
	struct weft_usdt_stash s;
	struct weft_usdt_key k = key;
	unsigned n = 0;

	open_stash(&s);
	for (unsigned i = 0; i < 50; i++) {
		char name[32];

		k.ino = 100 + i;
		struct weft_usdt_record *r = make(&k, 10);
		weft_usdt_stash_put(&s, r);
		free(r);
		snprintf(name, sizeof(name), "1-%x.usdt", 100 + i);
		const struct timespec when[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
		cr_assert_eq(utimensat(s.dir, name, when, 0), 0);
	}
	weft_usdt_stash_trim(&s, UINT64_MAX, 20);
	weft_usdt_stash_walk(&s, count, &n);
	cr_expect_eq(n, 20);
	k.ino = 100;
	cr_expect(!has(&s, &k));
	k.ino = 149;
	cr_expect(has(&s, &k));
	weft_usdt_stash_trim(&s, 3000, 100);
	n = 0;
	weft_usdt_stash_walk(&s, count, &n);
	cr_expect_lt(n, 20);
	cr_expect_gt(n, 0);
	/* What a tracer left that died while it wrote is taken away in the end. */
	int fd = openat(s.dir, ".new.1-0", O_CREAT | O_WRONLY, 0600);
	const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	cr_assert_eq(futimens(fd, old), 0);
	close(fd);
	weft_usdt_stash_trim(&s, UINT64_MAX, 100);
	cr_expect_eq(faccessat(s.dir, ".new.1-0", F_OK, 0), -1);
	weft_usdt_stash_close(&s);
}
