// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receives, of a QP and of an SRQ.
 */
#include <pthread.h>
#include <unistd.h>
#include "fixture.h"

static struct ibv_sge list[4] = {
	{ 0x1000, 10, 0x11 }, { 0x2000, 20, 0x22 }, { 0x3000, 30, 0x33 },
};

static int post(struct ibv_qp *qp, struct ibv_srq *srq, unsigned int num,
		int num_sge, unsigned int *posted)
{
	struct ibv_recv_wr wrs[8], *bad = NULL;
	unsigned int i;
	int err;

	for (i = 0; i < num; i++)
		wrs[i] = (struct ibv_recv_wr){
			.wr_id = 100 + i,
			.next = i + 1 < num ? &wrs[i + 1] : NULL,
			.sg_list = list,
			.num_sge = num_sge,
		};
	if (srq)
		err = ibv_post_srq_recv(srq, wrs, &bad);
	else
		err = ibv_post_recv(qp, wrs, &bad);
	*posted = bad ? bad - wrs : num;
	return err;
}

static void ring_entries(struct ibv_qp *qp, struct ibv_srq *srq, const char *what)
{
	struct fake_queue *queue = fake_queue(srq ? srq->handle : qp->handle);
	struct sroce_rqe head = { .wr_id = 102, .num_sge = 3 };
	struct sroce_rqe *rqe = fake_rqe(queue, 2);
	struct sroce_qp_slot *slot = queue->slot;
	unsigned int calls = fake.calls;
	unsigned int posted;

	memset(queue->rq, 0xa5, queue->rq_entries * queue->rq_stride);
	ok(post(qp, srq, 6, 3, &posted) == ENOMEM && posted == 4 &&
	   slot->rq_tail == 4, "%s: the fifth request in a ring of four is refused", what);
	ok(!memcmp(rqe, &head, sizeof(head)) && !memcmp(rqe + 1, list, 48),
	   "%s: an entry has the request and its list", what);
	slot->rq_head = 2;
	ok(!post(qp, srq, 2, 0, &posted) && slot->rq_tail == 6,
	   "%s: consumed entries can be used again", what);
	slot->rq_head = 6;
	ok(post(qp, srq, 1, 4, &posted) == EINVAL && slot->rq_tail == 6,
	   "%s: too many SGEs are refused", what);
	ok(post(qp, srq, 1, -1, &posted) == EINVAL,
	   "%s: a negative number of SGEs is refused", what);
	ok(fake.calls == calls, "%s: posting needs no system call", what);
}

/* Only a QP in the error state needs a kick for receive requests, to flush them. */
static void kicks(struct ibv_qp *qp)
{
	struct fake_queue *queue = fake_queue(qp->handle);
	struct sroce_qp_slot *slot = queue->slot;
	unsigned int posted;

	fake.kicks = 0;
	slot->rq_head = slot->rq_tail;
	slot->kick = SROCE_KICK_SEND;
	ok(!post(qp, NULL, 1, 1, &posted) && !fake.kicks,
	   "a receive needs no kick");
	slot->kick = SROCE_KICK_SEND | SROCE_KICK_RECV;
	ok(!post(qp, NULL, 3, 1, &posted) && fake.kicks == 1 &&
	   fake.kicked_slot == queue->slot_number,
	   "a receive kicks if the kernel requests it");
	slot->kick = 0;
}

/* The kernel never sets this word for an SRQ; it has no QP to kick. */
static void no_kicks(struct ibv_srq *srq)
{
	struct sroce_qp_slot *slot = fake_queue(srq->handle)->slot;
	unsigned int calls = fake.calls;
	unsigned int posted;

	slot->rq_head = slot->rq_tail;
	slot->kick = SROCE_KICK_RECV;
	ok(!post(NULL, srq, 1, 1, &posted) && fake.calls == calls,
	   "a receive of an SRQ makes no system call, whatever the word of kicks is");
	slot->kick = 0;
}

static void srq_receives(struct fixture *fx)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { 4, 3, 0 } };
	struct ibv_srq *srq = ibv_create_srq(fx->pd, &srq_attr);
	struct ibv_qp_init_attr_ex attr = fixture_qp_attr(fx, IBV_QPT_RC);
	struct ibv_srq_attr new_attr = { .srq_limit = 1 };
	unsigned int posted;
	struct ibv_qp *qp;

	attr.srq = srq;
	qp = ibv_create_qp_ex(fx->context, &attr);
	ring_entries(NULL, srq, "SRQ");
	set_state(qp, IBV_QPS_INIT);
	ok(post(qp, NULL, 1, 1, &posted) == EINVAL && !posted,
	   "a QP with an SRQ refuses receives");
	no_kicks(srq);
	ok(!ibv_modify_srq(srq, &new_attr, IBV_SRQ_LIMIT) &&
	   !ibv_query_srq(srq, &new_attr), "an SRQ is modified and queried");
	ibv_destroy_qp(qp);
	ok(!ibv_destroy_srq(srq), "destroy SRQ");
}

static struct ibv_qp *reset_qp;
static pthread_t other;

static void *post_one(void *qp)
{
	unsigned int posted;

	return (void *)(intptr_t)post(qp, NULL, 1, 1, &posted);
}

/* Time for the thread to reach the lock; without it, it finds the QP in RESET. */
static void post_meanwhile(void)
{
	pthread_create(&other, NULL, post_one, reset_qp);
	usleep(50000);
}

static void *change_to_init(void *qp)
{
	set_state(qp, IBV_QPS_INIT);
	return NULL;
}

/* Time for the thread to change the state, unless it waits. */
static void change_meanwhile(void)
{
	pthread_create(&other, NULL, change_to_init, reset_qp);
	usleep(50000);
}

/* The kernel has done the first change, but its command has not returned. */
static void two_changes(struct ibv_qp *qp)
{
	unsigned int posted;

	reset_qp = qp;
	fake.at_reset = change_meanwhile;
	set_state(qp, IBV_QPS_RESET);
	fake.at_reset = NULL;
	pthread_join(other, NULL);
	ok(fake.state == IBV_QPS_INIT && !post(qp, NULL, 1, 1, &posted),
	   "two threads change the state: the QP has the last one");
	set_state(qp, IBV_QPS_RESET);
}

static void reset_while_posting(struct ibv_qp *qp)
{
	struct sroce_qp_slot *slot = fake_queue(qp->handle)->slot;
	void *err;

	reset_qp = qp;
	fake.at_reset = post_meanwhile;
	set_state(qp, IBV_QPS_RESET);
	fake.at_reset = NULL;
	pthread_join(other, &err);
	ok((intptr_t)err == EINVAL && !slot->rq_tail,
	   "a receive that is posted during the change to RESET is refused");
}

GROUP(recv)
{
	struct fixture fx;
	struct ibv_qp *qp;
	unsigned int posted;

	fixture_open(&fx);
	qp = fixture_qp(&fx, IBV_QPT_RC, false);
	ring_entries(qp, NULL, "QP");
	kicks(qp);
	set_state(qp, IBV_QPS_RESET);
	ok(post(qp, NULL, 1, 1, &posted) == EINVAL, "a QP in RESET refuses receives");
	set_state(qp, IBV_QPS_INIT);
	ok(!post(qp, NULL, 4, 1, &posted), "a QP in INIT accepts receives");
	reset_while_posting(qp);
	two_changes(qp);
	ibv_destroy_qp(qp);
	srq_receives(&fx);
	fixture_close(&fx);
}
