/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "support.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define NOBODY 65534

static void become_nobody(void)
{
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		_exit(120);
}

static void put_fd(int fd, int as)
{
	if (fd < 0)
		close(as);
	else
		dup2(fd, as);
}

void cli_start(struct cli_run *c, const struct cli_how *how, const char *const args[])
{
	static const struct cli_how usual;
	const char *argv[64] = {"trace-cli"};
	size_t n = 1;

	if (!how)
		how = &usual;
	for (; args[n - 1] && n < 63; n++)
		argv[n] = args[n - 1];
	memset(c, 0, sizeof(*c));
	c->out_fd = memfd_create("out", MFD_CLOEXEC);
	c->err_fd = memfd_create("err", MFD_CLOEXEC);
	cr_assert(c->out_fd >= 0 && c->err_fd >= 0);
	c->pid = fork();
	cr_assert_geq(c->pid, 0);
	if (c->pid)
		return;
	int null = open("/dev/null", O_RDONLY);
	put_fd(null, STDIN_FILENO);
	put_fd(how->out ? how->out : c->out_fd, STDOUT_FILENO);
	put_fd(c->err_fd, STDERR_FILENO);
	close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
	signal(SIGPIPE, SIG_DFL);
	if (how->nobody)
		become_nobody();
	if (how->prepare)
		how->prepare(how->arg);
	execv(how->program ? how->program : TRACE_CLI, (char *const *)argv);
	_exit(126);
}

static char *read_all(int fd)
{
	struct stat st;
	char *text;

	cr_assert_eq(fstat(fd, &st), 0);
	text = calloc(1, (size_t)st.st_size + 1);
	cr_assert_not_null(text);
	cr_assert_eq(pread(fd, text, (size_t)st.st_size, 0), st.st_size);
	return text;
}

void cli_wait(struct cli_run *c)
{
	int pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0), status;
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	bool in_time;

	cr_assert_geq(pidfd, 0);
	in_time = poll(&p, 1, 60000) == 1; /* busy machines are slow, and emulated ones more */
	close(pidfd);
	if (!in_time)
		kill(c->pid, SIGKILL);
	cr_assert_eq(waitpid(c->pid, &status, 0), c->pid);
	c->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	c->out = read_all(c->out_fd);
	c->err = read_all(c->err_fd);
	cr_assert(in_time, "it hangs; so far it said:\n%s%s", c->out, c->err);
}

void cli_wait_said(struct cli_run *c, const char *text)
{
	const struct timespec pause = {.tv_nsec = 5000000};

	for (int i = 0; i < 2000; i++) {
		char *err = read_all(c->err_fd);
		bool said = strstr(err, text);

		free(err);
		if (said)
			return;
		nanosleep(&pause, NULL);
	}
	cli_wait(c);
	cr_assert(false, "it never said '%s':\n%s", text, c->err);
}

void cli_finish(struct cli_run *c)
{
	close(c->out_fd);
	close(c->err_fd);
	free(c->out);
	free(c->err);
	memset(c, 0, sizeof(*c));
}

void cli_expect(const struct cli_run *c, int status, const char *out, const char *err)
{
	cr_expect_eq(c->status, status, "status %d, not %d:\n%s%s", c->status, status, c->out,
		     c->err);
	if (out)
		cr_expect_str_eq(c->out, out, "it printed\n%s\nand not\n%s", c->out, out);
	if (err)
		cr_expect_str_eq(c->err, err, "it said\n%s\nand not\n%s", c->err, err);
}

/* ---- files ---- */

static char sets[16][64];
static size_t n_sets;

const char *cli_set(const char *yaml)
{
	char *path = sets[n_sets];
	FILE *f;

	cr_assert_lt(n_sets, 16);
	snprintf(path, sizeof(sets[0]), "/tmp/weft-test-%d-%zu.yaml", getpid(), n_sets++);
	f = fopen(path, "we");
	cr_assert(f && fputs(yaml, f) >= 0 && fclose(f) == 0);
	chmod(path, 0644);
	return path;
}

void cli_unlink_sets(void)
{
	while (n_sets)
		unlink(sets[--n_sets]);
}

static char copy_dir[64], copy_program[96];

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void run(const char *format, ...)
{
	char command[4096];
	va_list ap;

	va_start(ap, format);
	vsnprintf(command, sizeof(command), format, ap);
	va_end(ap);
	cr_assert_eq(system(command), 0, "%s", command);
}

const char *cli_public_copy(void)
{
	strcpy(copy_dir, "/tmp/weft-test-copy-XXXXXX");
	cr_assert_not_null(mkdtemp(copy_dir));
	run("chmod 755 %s && mkdir %s/cli %s/providers %s/more && cp " TRACE_CLI " %s/cli && "
	    "cp " WEFT_BINARY_DIR "/providers/*.so %s/providers && cp " FIXTURE_PROVIDER_DIR
	    "/*.so %s/more && chmod -R go+rX %s",
	    copy_dir, copy_dir, copy_dir, copy_dir, copy_dir, copy_dir, copy_dir, copy_dir);
	snprintf(copy_program, sizeof(copy_program), "%s/cli/trace-cli", copy_dir);
	return copy_program;
}

void cli_remove_public_copy(void)
{
	run("rm -r %s", copy_dir);
}

/* ---- JSON ---- */

json_t *cli_json_lines(const char *text)
{
	json_t *lines = json_array();

	while (*text) {
		size_t n = strcspn(text, "\n");
		json_error_t error;
		json_t *line = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);

		cr_assert_not_null(line, "%s: %.*s", error.text, (int)n, text);
		cr_assert(json_is_object(line) && json_is_string(json_object_get(line, "type")),
			  "%.*s", (int)n, text);
		json_array_append_new(lines, line);
		cr_assert_eq(text[n], '\n', "the last line does not end");
		text += n + 1;
	}
	return lines;
}

static bool is_of(const json_t *line, const char *type)
{
	return !strcmp(json_string_value(json_object_get(line, "type")), type);
}

size_t cli_json_count(const json_t *lines, const char *type)
{
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(lines); i++)
		n += is_of(json_array_get(lines, i), type);
	return n;
}

const json_t *cli_json_nth(const json_t *lines, const char *type, size_t n)
{
	for (size_t i = 0; i < json_array_size(lines); i++)
		if (is_of(json_array_get(lines, i), type) && n-- == 0)
			return json_array_get(lines, i);
	cr_assert(false, "no such line of type %s", type);
	return NULL;
}
