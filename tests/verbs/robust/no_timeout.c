// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A message of a queue pair without a timeout, which the queue of its host refuses.
 *
 *	no_timeout
 *
 * The process posts the message, prints "posted", waits for the end of its standard input, and
 * takes the completion.
 */
#include <stdio.h>
#include <unistd.h>

#include "transfer.h"

#define LENGTH	64

COMMAND(no_timeout)
{
	struct options options = { .type = IBV_QPT_RC, .no_timeout = true };
	struct ibv_wc wc;
	struct pair p;
	char byte;

	if (argc != 1)
		return 2;
	fabric_open();
	if (!pair_up(&p, &options) ||
	    post_rdma(&p.a, &p.b, IBV_WR_RDMA_WRITE, 0, 0, 0, LENGTH, IBV_SEND_SIGNALED))
		return 1;
	printf("posted\n");
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	if (!next_wc(p.a.scq, &wc) || wc.status)
		return 1;
	printf("completed\n");
	pair_down(&p);
	return 0;
}
