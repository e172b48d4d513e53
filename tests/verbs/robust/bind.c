// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two threads modify a QP to INIT at once, while "rdma statistic" counts each QP by itself.
 *
 *	bind_at_once ROUNDS
 */
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <stdlib.h>
#include <unistd.h>

#include "transfer.h"

static struct ibv_qp *qp;
static unsigned long rounds, arrived;
static __thread unsigned long modified;

/* A barrier whose threads do not sleep, so that they go on at the same time. */
static void meet(void)
{
	unsigned long mine = __atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	unsigned long both = (mine + 1) / 2 * 2;

	while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < both)
		;
}

/* By the command itself, because the provider lets one thread at a time modify a QP. */
static void modify(void)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_modify_qp cmd;
	} command = {
		.hdr = { IB_USER_VERBS_CMD_MODIFY_QP, sizeof(command) / 4, 0 },
		.cmd = {
			.attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     IBV_QP_ACCESS_FLAGS,
			.qp_state = IBV_QPS_INIT,
			.port_num = 1,
		},
	};

	meet();
	command.cmd.qp_handle = qp->handle;
	modified += write(qp->context->cmd_fd, &command, sizeof(command)) == sizeof(command);
	meet();
}

static void *modify_always(void *arg)
{
	unsigned long i;

	for (i = 0; i < rounds; i++)
		modify();
	return arg;
}

COMMAND(bind_at_once)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_cq *cq;
	struct ibv_pd *pd;
	pthread_t other;
	unsigned long i;

	if (argc != 2)
		return 2;
	rounds = strtoul(argv[1], NULL, 0);
	fabric_open();
	pd = ibv_alloc_pd(hosts[0].context);
	cq = ibv_create_cq(hosts[0].context, 16, NULL, NULL, 0);
	if (!pd || !cq)
		return 1;
	attr.send_cq = cq;
	attr.recv_cq = cq;
	if (pthread_create(&other, NULL, modify_always, NULL))
		return 1;
	for (i = 0; i < rounds; i++) {
		qp = ibv_create_qp(pd, &attr);
		if (!qp)
			return 1;
		modify();
		if (ibv_destroy_qp(qp))
			return 1;
	}
	pthread_join(other, NULL);
	if (!modified)
		return 1;
	return ibv_destroy_cq(cq) || ibv_dealloc_pd(pd);
}
