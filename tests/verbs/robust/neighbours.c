// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Processes misbehave in ways that must affect only themselves.
 *
 *	SEED, ROUNDS
 *
 * usage: neighbours			tests
 *	  neighbours killed ...		a process of sigkill.c
 *	  neighbours neglect		that of no_poll.c
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "neighbours.h"

struct pair victim;

pid_t start_neighbour(char *const argv[], int *fd)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -1;
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDIN_FILENO);
		execv("/proc/self/exe", argv);
		_exit(1);
	}
	close(ends[1]);
	*fd = ends[0];
	return pid;
}

bool kill_neighbour(pid_t pid)
{
	int status;

	return !kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid &&
	       WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

COMMAND(neighbours)
{
	fabric_open();
	if (argc == 5 && !strcmp(argv[1], "killed"))
		return killed_neighbour(argv + 2);
	if (argc == 2 && !strcmp(argv[1], "neglect"))
		return neglectful_neighbour();
	if (!pair_up(&victim, NULL)) {
		printf("Bail out! no connection\n");
		return 1;
	}
	test_killed();
	test_neglect();
	pair_down(&victim);
	return tests_done();
}
