/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the shipped sets watch in their tests: set_workload sleep N | connect ACCEPTED REFUSED. While it
 * sleeps its name is "sleeper": what waits before and after, for whatever reason, has another. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int connect_to(int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), ret;

	if (fd < 0)
		return -1;
	ret = connect(fd, (const struct sockaddr *)&to, sizeof(to));
	close(fd);
	return ret;
}

static int connect_all(int accepted, int refused)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(4321),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (const struct sockaddr *)&at, sizeof(at)) || listen(fd, 128))
		return 1;
	while (accepted--)
		if (connect_to(4321))
			return 2;
	while (refused--)
		if (!connect_to(4322))
			return 3;
	return 0;
}

int main(int argc, char **argv)
{
	const struct timespec t = {.tv_nsec = 2000000};
	struct rusage before, after;

	if (argc == 4 && !strcmp(argv[1], "connect"))
		return connect_all(atoi(argv[2]), atoi(argv[3]));
	if (argc != 3 || strcmp(argv[1], "sleep"))
		return 9;
	prctl(PR_SET_NAME, "sleeper");
	getrusage(RUSAGE_SELF, &before);
	for (int n = atoi(argv[2]); n > 0; n--)
		nanosleep(&t, NULL);
	getrusage(RUSAGE_SELF, &after);
	prctl(PR_SET_NAME, "set_workload");
	printf("%ld\n",
	       after.ru_nvcsw - before.ru_nvcsw); /* how often it left the processor to wait */
	return 0;
}
