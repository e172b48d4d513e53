/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef NEIGHBOURS_H
#define NEIGHBOURS_H

#include <sys/types.h>

#include "transfer.h"

/* Moves data beside what the neighbours do, and must not notice. */
extern struct pair victim;

/*
 * Starts this program anew with these arguments, its standard input one end of
 * a socket, @fd the other.
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
