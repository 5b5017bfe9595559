/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* trace-cli run: a probe set from its file to its results. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "config/config.h"
#include "core/number.h"
#include "core/output/output.h"

enum {
	OPTION_DURATION = CLI_OPTION_OTHERS,
	OPTION_PARAM,
	OPTION_DESTRUCTIVE,
	OPTION_LOG,
	OPTION_FOLLOW
};

static const struct option options[] = {
	CLI_COMMON_LONG,
	{"pid", required_argument, NULL, 'p'},
	{"command", required_argument, NULL, 'c'},
	{"output", required_argument, NULL, 'o'},
	{"duration", required_argument, NULL, OPTION_DURATION},
	{"param", required_argument, NULL, OPTION_PARAM},
	{"follow", no_argument, NULL, OPTION_FOLLOW},
	{"destructive", no_argument, NULL, OPTION_DESTRUCTIVE},
	{"verifier-log", no_argument, NULL, OPTION_LOG},
	{NULL, 0, NULL, 0},
};

struct run {
	struct cli *cli;
	int32_t pids[256];
	size_t n_pids;
	const char *file;
	const char *command;
	char **rest; /* the command after `--` */
	const char *format;
	const char *params[64];
	size_t n_params;
	uint64_t duration_ns;
	bool follow, destructive, log;
};

static int parse_options(struct run *r, int argc, char **argv)
{
	int o, status;

	while ((o = getopt_long(argc, argv, "+" CLI_COMMON_SHORT "p:c:o:", options, NULL)) != -1) {
		switch (o) {
		case 'p':
			if (r->n_pids == sizeof(r->pids) / sizeof(r->pids[0]))
				return cli_bad_usage(&cli_run, "too many processes");
			r->pids[r->n_pids] = cli_pid(optarg);
			if (r->pids[r->n_pids++] < 0)
				return cli_bad_usage(&cli_run, "-p: '%s' is no process id", optarg);
			break;
		case 'c':
			r->command = optarg;
			break;
		case 'o':
			r->format = optarg;
			break;
		case OPTION_DURATION:
			if (weft_parse_duration(optarg, &r->duration_ns) || !r->duration_ns)
				return cli_bad_usage(
					&cli_run,
					"--duration: '%s' is no duration (500ms, 10s, 5m)", optarg);
			break;
		case OPTION_PARAM:
			if (r->n_params == sizeof(r->params) / sizeof(r->params[0]))
				return cli_bad_usage(&cli_run, "too many parameters");
			r->params[r->n_params++] = optarg;
			break;
		case OPTION_FOLLOW:
			r->follow = true;
			break;
		case OPTION_DESTRUCTIVE:
			r->destructive = true;
			break;
		case OPTION_LOG:
			r->log = true;
			break;
		default:
			status = cli_common_option(r->cli, &cli_run, o, optarg);
			if (status >= 0)
				return status;
		}
	}
	return -1;
}

/* SET.yaml [more options] [-- COMMAND...] */
static int parse_operands(struct run *r, int argc, char **argv)
{
	int status;

	if (optind >= argc)
		return cli_bad_usage(&cli_run, "which probe set?");
	r->file = argv[optind++];
	if (optind < argc && strcmp(argv[optind], "--")) {
		status = parse_options(r, argc, argv);
		if (status >= 0)
			return status;
	} else if (optind < argc) {
		optind++;
	}
	if (optind < argc && strcmp(argv[optind - 1], "--"))
		return cli_bad_usage(&cli_run, "one probe set at a time, not '%s' as well",
				     argv[optind]);
	if (optind < argc)
		r->rest = argv + optind;
	return -1;
}

static int set_params(struct run *r, struct weft_set *set)
{
	size_t i;

	for (i = 0; i < r->n_params; i++) {
		char *name = strdup(r->params[i]), *equals;
		int ret;

		equals = name ? strchr(name, '=') : NULL;
		if (!equals) {
			free(name);
			return cli_bad_usage(&cli_run, "--param takes name=value, not '%s'",
					     r->params[i]);
		}
		*equals = '\0';
		ret = weft_set_param(set, name, equals + 1, r->cli->err);
		free(name);
		if (ret)
			return cli_report(r->cli, CLI_USAGE);
	}
	return 0;
}

/* -p and -c take the place of the set's target. */
static int set_target(struct run *r, struct weft_set *set, char ***words)
{
	int ret;

	if (r->follow)
		set->target.follow = true;
	if (r->n_pids || r->command || r->rest) {
		set->target.pids = r->pids;
		set->target.n_pids = r->n_pids;
		set->target.command = r->rest;
		set->target.pos = (struct weft_pos){0};
	}
	if (!r->command)
		return 0;
	if (r->rest)
		return cli_bad_usage(&cli_run, "a command by -c or after --, not both");
	ret = cli_split(r->command, words);
	if (ret)
		return cli_bad_usage(&cli_run, "-c: '%s': %s", r->command,
				     ret == -EINVAL ? "no command, or a quote that is not closed"
						    : strerror(-ret));
	set->target.command = *words;
	return 0;
}

static int terminal_width(void)
{
	struct winsize w;

	return isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) ? w.ws_col : 0;
}

static int block_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static double ms_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) * 1e3 +
	       (double)(now.tv_nsec - start->tv_nsec) / 1e6;
}

static void say_attached(struct run *r, const struct weft_session *s, const struct timespec *start)
{
	if (r->cli->verbose)
		fprintf(stderr,
			"trace-cli: %zu probes, %zu programs, attached %.1f ms after the start; maps "
			"take %llu KiB of kernel memory\n",
			weft_session_n_probes(s), weft_session_n_programs(s), ms_since(start),
			(unsigned long long)weft_session_map_memory(s) / 1024);
	else if (isatty(STDERR_FILENO))
		fprintf(stderr, "tracing %zu probes; Ctrl-C ends\n", weft_session_n_probes(s));
}

static int trace(struct run *r, struct weft_session *s, struct weft_sink *sink,
		 const struct timespec *start)
{
	struct weft_run_options run = {.duration_ns = r->duration_ns};
	struct weft_end end = {.reason = "error", .status = CLI_FAILED};
	char *log = NULL;
	size_t said;
	int ret, stopped;

	run.stop_fd = block_signals();
	ret = weft_session_start(s, sink, &log, r->cli->err);
	if (ret) {
		cli_report(r->cli, CLI_FAILED);
		if (log)
			fprintf(stderr, "%s\n",
				r->log ? log : "  --verifier-log shows what the verifier said");
		free(log);
		if (run.stop_fd >= 0)
			close(run.stop_fd);
		return CLI_FAILED;
	}
	free(log);
	say_attached(r, s, start);
	ret = weft_session_run(s, &run, &end, r->cli->err);
	said = weft_error_count(r->cli->err);
	stopped = weft_session_stop(s, &end, r->cli->err);
	if (ret) /* what fails now fails for the reason that the run failed for */
		weft_error_truncate(r->cli->err, said);
	if (run.stop_fd >= 0)
		close(run.stop_fd);
	if (ret == -EPIPE || (!ret && stopped == -EPIPE))
		return CLI_FAILED; /* the reader has gone: it knows */
	if (ret || stopped)
		return cli_report(r->cli, CLI_FAILED);
	return end.status;
}

static int run_main(struct cli *cli, int argc, char **argv)
{
	struct run r = {.cli = cli, .format = "text"};
	struct weft_output_options output = {.out = stdout, .messages = stderr};
	struct weft_session *session = NULL;
	struct weft_set *set = NULL;
	struct weft_sink sink = {0};
	char **words = NULL, path[PATH_MAX];
	struct timespec start;
	int status;

	clock_gettime(CLOCK_MONOTONIC, &start);
	status = parse_options(&r, argc, argv);
	if (status >= 0)
		return status;
	status = parse_operands(&r, argc, argv);
	if (status >= 0)
		return status;

	output.width = terminal_width();
	output.color = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO) && !getenv("NO_COLOR");
	if (weft_output_create(r.format, &output, &sink, cli->err))
		return cli_report(cli, CLI_USAGE);
	status = cli_load_plugins(cli, true);
	if (!status &&
	    (cli_set_path(cli, r.file, path) || weft_config_load_file(path, &set, cli->err)))
		status = cli_report(cli, CLI_USAGE);
	if (!status)
		status = set_params(&r, set);
	if (!status)
		status = set_target(&r, set, &words);
	if (!status)
		status = cli_session(cli, r.destructive, false, &session);
	if (!status && weft_session_prepare(session, set, cli->err))
		status = cli_report(cli, CLI_USAGE);
	if (!status)
		status = trace(&r, session, &sink, &start);
	weft_session_destroy(session);
	weft_set_destroy(set);
	if (sink.destroy)
		sink.destroy(sink.self);
	if (words)
		free(words[0]);
	free(words);
	return status;
}

const struct cli_command cli_run = {
	.name = "run",
	.arguments = "SET [-p PID]... [-c COMMAND] [OPTIONS] [-- COMMAND...]",
	.summary = "run a probe set and print what it finds",
	.help = "  SET                a probe set: a file, or the name of one that comes along\n"
		"                     (trace-cli sets)\n"
		"  -p, --pid PID      only this process (repeatable)\n"
		"  -c, --command CMD  start this command and trace it; ends when it ends\n"
		"  --follow           and all that the targets start\n"
		"  --duration D       end after D (500ms, 10s, 5m)\n"
		"  --param NAME=VALUE set a parameter of the set (repeatable)\n"
		"  -o, --output FMT   text (default), json (an object a line) or folded (stacks)\n"
		"  --destructive      allow actions that change the system\n"
		"  --verifier-log     if the kernel rejects a program, show its whole log\n",
	.run = run_main,
};
