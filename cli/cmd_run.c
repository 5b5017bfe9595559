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
			if (weft_trace_duration(optarg, &r->duration_ns) || !r->duration_ns)
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

static int set_params(struct run *r)
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
		ret = weft_trace_param(r->cli->t, name, equals + 1);
		free(name);
		if (ret)
			return cli_report(r->cli, CLI_USAGE);
	}
	return 0;
}

/* -p and -c take the place of the set's target. */
static int set_target(struct run *r)
{
	struct weft_trace_target target = {
		.struct_size = sizeof(target),
		.flags = r->follow ? WEFT_TRACE_FOLLOW : 0,
		.pids = r->pids,
		.n_pids = r->n_pids,
		.command = (const char *const *)r->rest,
	};
	char **words = NULL;
	int ret;

	if (r->command && r->rest)
		return cli_bad_usage(&cli_run, "a command by -c or after --, not both");
	if (r->command) {
		ret = cli_split(r->command, &words);
		if (ret)
			return cli_bad_usage(&cli_run, "-c: '%s': %s", r->command,
					     ret == -EINVAL
						     ? "no command, or a quote that is not closed"
						     : strerror(-ret));
		target.command = (const char *const *)words;
	}
	ret = weft_trace_target(r->cli->t, &target);
	if (words)
		free(words[0]);
	free(words);
	return ret ? cli_report(r->cli, CLI_FAILED) : 0;
}

/* Straight to where it goes: the library hands over whole lines, and says when. */
static int write_results(void *arg, const char *bytes, size_t n)
{
	(void)arg;
	return cli_write_to(STDOUT_FILENO, bytes, n);
}

static int write_messages(void *arg, const char *bytes, size_t n)
{
	(void)arg;
	return cli_write_to(STDERR_FILENO, bytes, n);
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

static void say_attached(struct run *r, const struct timespec *start)
{
	const struct weft_trace_counts *counts = weft_trace_counts(r->cli->t);

	if (r->cli->verbose)
		fprintf(stderr,
			"trace-cli: %zu probes, %zu programs, attached %.1f ms after the start; maps "
			"take %llu KiB of kernel memory\n",
			counts->n_probes, counts->n_programs, ms_since(start),
			(unsigned long long)counts->map_bytes / 1024);
	else if (isatty(STDERR_FILENO))
		fprintf(stderr, "tracing %zu probes; Ctrl-C ends\n", counts->n_probes);
}

static int trace(struct run *r, const struct timespec *start)
{
	struct weft_trace_run_options run = {
		.struct_size = sizeof(run),
		.duration_ns = r->duration_ns,
		.stop_fd = block_signals(),
	};
	struct weft_trace *t = r->cli->t;
	int ret, stopped;

	if (run.stop_fd >= 0)
		run.flags = WEFT_TRACE_STOP_FD;
	if (weft_trace_start(t, &run)) {
		const char *log = weft_trace_verifier_log(t);

		cli_report(r->cli, CLI_FAILED);
		if (log)
			fprintf(stderr, "%s\n",
				r->log ? log : "  --verifier-log shows what the verifier said");
		return CLI_FAILED;
	}
	say_attached(r, start);
	cli_confine(r->cli);
	ret = weft_trace_run(t);
	stopped = weft_trace_stop(t);
	if (run.stop_fd >= 0)
		close(run.stop_fd);
	if (ret == -EPIPE || stopped == -EPIPE)
		return CLI_FAILED; /* the reader has gone: it knows */
	if (stopped)
		return cli_report(r->cli, CLI_FAILED);
	return weft_trace_end(t)->status;
}

static int set_output(struct run *r)
{
	const struct weft_trace_output output = {
		.struct_size = sizeof(output),
		.flags = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO) && !getenv("NO_COLOR")
				 ? WEFT_TRACE_COLOR
				 : 0,
		.format = r->format,
		.width = (uint32_t)terminal_width(),
		.results = write_results,
		.messages = write_messages,
	};

	return weft_trace_output(r->cli->t, &output) ? cli_report(r->cli, CLI_USAGE) : 0;
}

static int run_main(struct cli *cli, int argc, char **argv)
{
	struct run r = {.cli = cli, .format = "text"};
	struct timespec start;
	int status;

	clock_gettime(CLOCK_MONOTONIC, &start);
	status = parse_options(&r, argc, argv);
	if (status >= 0)
		return status;
	status = parse_operands(&r, argc, argv);
	if (status >= 0)
		return status;
	status = cli_open(cli, r.destructive ? WEFT_TRACE_DESTRUCTIVE : 0);
	if (!status)
		status = set_output(&r);
	if (!status)
		status = cli_load_plugins(cli, true);
	if (!status)
		status = cli_read_set(cli, r.file);
	if (!status)
		status = set_params(&r);
	if (!status)
		status = set_target(&r);
	if (!status && weft_trace_prepare(cli->t))
		status = cli_report(cli, CLI_USAGE);
	return status ? status : trace(&r, &start);
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
