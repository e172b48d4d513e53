// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams of one queue pair while the MTU of the netdevs changes.
 *
 *	datagrams
 *
 * For each line of the standard input, a number of bytes, the process sends a datagram of that
 * length, and prints the status of its completion.  After a success it waits for the datagram and
 * compares the bytes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "transfer.h"

#define GRH	40

/* A failed request brings the send queue into SQE. */
static enum ibv_wc_status transmit(struct pair *p, uint32_t length)
{
	struct ibv_sge sge = piece(&p->a, 0, length);
	struct ibv_send_wr wr = ud_wr(p->a.ah, p->b.qp->qp_num, length, &sge);
	struct ibv_wc wc = { .status = IBV_WC_GENERAL_ERR };

	fill(p->a.buf, length, length);
	if (!post_one(&p->a, &wr) && next_wc(p->a.scq, &wc) && wc.status)
		to_state(&p->a, IBV_QPS_RTS);
	return wc.status;
}

static bool arrives(struct pair *p, uint32_t length)
{
	struct ibv_wc wc;

	return next_wc(p->b.rcq, &wc) && !wc.status && wc.byte_len == GRH + length &&
	       filled(p->b.buf + GRH, length, length);
}

COMMAND(datagrams)
{
	const struct options options = { .type = IBV_QPT_UD };
	enum ibv_wc_status status;
	struct pair p;
	char line[16];

	if (argc != 1)
		return 2;
	fabric_open();
	if (!pair_up(&p, &options) || post_recv(&p.b, 0, 0, p.b.size))
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		uint32_t length = atoi(line);

		status = transmit(&p, length);
		if (!status && (!arrives(&p, length) || post_recv(&p.b, 0, 0, p.b.size)))
			printf("not received\n");
		else
			printf("%s\n", ibv_wc_status_str(status));
	}
	pair_down(&p);
	return 0;
}
