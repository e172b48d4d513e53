// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A queue pair that ends when its ACK has to wait for an earlier one of another processor.
 *
 *	last_ack error|reset|destroy|failed|refused
 *
 * The first device sends into a queue that keeps its packets.  The process prints "posted",
 * waits for the end of its standard input, and takes the completions of both SENDs.  With
 * "failed" the queue pair fails by a request of its own.  With "refused" the second SEND is too
 * long, and its NAK has to wait.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "transfer.h"

#define LENGTH	64

/* The peer receives on the processor that has sent. */
static bool send_on(int cpu, struct side *from, struct side *to, uint32_t room)
{
	struct ibv_wc wc;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return !sched_setaffinity(0, sizeof(one), &one) &&
	       !post_recv(to, cpu, LENGTH * cpu, room) &&
	       !post_send(from, cpu, 0, LENGTH, IBV_SEND_SIGNALED) &&
	       next_wc(to->rcq, &wc) &&
	       wc.status == (room < LENGTH ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS);
}

static bool end(struct side *side, const char *how)
{
	struct ibv_qp *qp = side->qp;
	struct ibv_wc wc;

	if (!strcmp(how, "failed"))
		return !post_send(side, 0, side->size, 1, IBV_SEND_SIGNALED) &&
		       next_wc(side->scq, &wc) && wc.status == IBV_WC_LOC_PROT_ERR;
	if (!strcmp(how, "error"))
		return !to_state(side, IBV_QPS_ERR);
	if (!strcmp(how, "reset"))
		return !to_reset(side);
	side->qp = NULL;
	return !ibv_destroy_qp(qp);
}

COMMAND(last_ack)
{
	/* 1 s: the packets are kept for less. */
	struct options options = { .type = IBV_QPT_RC, .timeout = 18 };
	struct ibv_wc wc;
	bool refused;
	struct pair p;
	char byte;

	if (argc != 2)
		return 2;
	refused = !strcmp(argv[1], "refused");
	fabric_open();
	if (!pair_up(&p, &options) || !send_on(0, &p.b, &p.a, LENGTH) ||
	    !send_on(1, &p.b, &p.a, refused ? LENGTH / 2 : LENGTH) || !end(&p.a, argv[1]))
		return 1;
	printf("posted\n");
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	if (!next_wc(p.b.scq, &wc) || wc.status || !next_wc(p.b.scq, &wc) ||
	    wc.status != (refused ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_SUCCESS))
		return 1;
	printf("completed\n");
	pair_down(&p);
	return 0;
}
