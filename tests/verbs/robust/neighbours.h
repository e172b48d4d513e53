/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef NEIGHBOURS_H
#define NEIGHBOURS_H

#include <sys/types.h>

#include "transfer.h"

/* Moves data meanwhile, which must not be affected. */
extern struct pair victim;

/*
 * Starts this program again with these arguments.  Its standard input is one end of a
 * socket pair, @fd the other.
 */
pid_t start_neighbour(char *const argv[], int *fd);
/* Kills it; true if it had lived up to then. */
bool kill_neighbour(pid_t pid);

/* sigkill.c: processes are killed with QPs of every type in every state */
void test_killed(void);
int killed_neighbour(char **argv);
/* no_poll.c: a process that never polls and never posts receive requests */
void test_neglect(void);
int neglectful_neighbour(void);

#endif /* NEIGHBOURS_H */
