// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queues of a device that was closed before them.  Programs do that, for instance while a
 * thread still polls.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transfer.h"

static struct ibv_qp *make_qp(struct ibv_context *context, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.cap = { 10, 10, 1, 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp *qp = ibv_create_qp(ibv_alloc_pd(context), &init);

	if (qp && !ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				 IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return qp;
	return NULL;
}

static int post_empty(struct ibv_qp *qp)
{
	struct ibv_recv_wr wr = {}, *bad;

	return ibv_post_recv(qp, &wr, &bad);
}

/* Returns the number of completions: of two receives that the kernel flushes, at most. */
static int use_after_close(struct ibv_context *context)
{
	struct ibv_cq *cq = ibv_create_cq(context, 100, NULL, NULL, 0);
	struct ibv_qp *qp = make_qp(context, cq);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_wc wc;
	int found = 0, i;

	if (!qp || post_empty(qp) || post_empty(qp) ||
	    ibv_modify_qp(qp, &attr, IBV_QP_STATE) || ibv_close_device(context))
		return -1;
	for (i = 0; i < 1000; i++)
		found += ibv_poll_cq(cq, 1, &wc);
	if (post_empty(qp))
		return -1;
	return found + ibv_poll_cq(cq, 1, &wc);
}

/* In a child, because the objects are left behind. */
TEST(closed, queues_of_a_closed_device_can_be_used)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		int found = use_after_close(ibv_open_device(hosts[0].context->device));

		_exit(found < 0 || found > 2);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	/* It would be killed. */
	EQUAL(status, 0);
}
