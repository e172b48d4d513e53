// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two threads use one QP and one CQ.  With CC=clang SANITIZE=-fsanitize=thread this finds data
 * races.
 */
#include "fixture.h"

#define EACH	30000u

static struct ibv_cq *cq;
static pthread_barrier_t start;

struct thread {
	pthread_t id;
	struct ibv_qp *qp;
	uint64_t first;
	uint64_t sum;
};

static void *post(void *arg)
{
	struct thread *thread = arg;
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(thread->qp);
	uint64_t i;

	pthread_barrier_wait(&start);
	for (i = thread->first; i < thread->first + EACH; i++) {
		if (i % 2) {
			wr.wr_id = i;
			ibv_post_send(thread->qp, &wr, &bad);
		} else {
			ibv_wr_start(qp);
			qp->wr_id = i;
			qp->wr_flags = 0;
			ibv_wr_send(qp);
			ibv_wr_complete(qp);
		}
	}
	return NULL;
}

static void *poll(void *arg)
{
	struct thread *thread = arg;
	struct ibv_wc wc[3];
	int found, i;

	pthread_barrier_wait(&start);
	do {
		found = ibv_poll_cq(cq, 3, wc);
		for (i = 0; i < found; i++)
			thread->sum += wc[i].wr_id;
	} while (found);
	return NULL;
}

static void *arm(void *arg)
{
	uint32_t i;

	(void)arg;
	pthread_barrier_wait(&start);
	for (i = 0; i < EACH; i++)
		ibv_req_notify_cq(cq, 0);
	return NULL;
}

/* From a state that accepts requests to another one. */
static void *change_state(void *arg)
{
	struct thread *thread = arg;
	uint32_t i;

	pthread_barrier_wait(&start);
	for (i = 0; i < EACH; i++)
		set_state(thread->qp, i % 2 ? IBV_QPS_RTS : IBV_QPS_SQD);
	return NULL;
}

static void run_both(struct thread threads[2], void *(*first)(void *arg),
		     void *(*second)(void *arg))
{
	int i;

	pthread_barrier_init(&start, NULL, 2);
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i].id, NULL, i ? second : first,
			       &threads[i]);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i].id, NULL);
	pthread_barrier_destroy(&start);
}

static void run(struct thread threads[2], void *(*function)(void *arg))
{
	run_both(threads, function, function);
}

static bool each_posted_once(const struct fake_queue *queue)
{
	static bool seen[2 * EACH];
	struct sroce_sqe *sqe;
	uint32_t i;

	memset(seen, 0, sizeof(seen));
	for (i = 0; i < 2 * EACH; i++) {
		sqe = fake_sqe(queue, i);
		if (sqe->wr_id >= 2 * EACH || seen[sqe->wr_id])
			return false;
		seen[sqe->wr_id] = true;
	}
	return true;
}

static struct ibv_qp *large_qp(const struct fixture *fx, struct thread threads[2])
{
	struct ibv_qp_init_attr_ex attr = fixture_qp_attr(fx, IBV_QPT_RC);
	struct ibv_qp *qp;

	attr.cap.max_send_wr = 2 * EACH;
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	qp = ibv_create_qp_ex(fx->context, &attr);
	set_state(qp, IBV_QPS_RTS);
	threads[0].qp = qp;
	threads[1].qp = qp;
	return qp;
}

static void posting(const struct fixture *fx, struct thread threads[2])
{
	struct ibv_qp *qp = large_qp(fx, threads);
	struct fake_queue *queue = fake_queue(qp->handle);

	run(threads, post);
	ok(((struct sroce_qp_slot *)queue->slot)->sq_tail == 2 * EACH &&
	   each_posted_once(queue), "two threads post: each request is in the ring once");
	ibv_destroy_qp(qp);
}

static void changing(const struct fixture *fx, struct thread threads[2])
{
	struct ibv_qp *qp = large_qp(fx, threads);
	struct sroce_qp_slot *slot = fake_queue(qp->handle)->slot;

	run_both(threads, post, change_state);
	ok(slot->sq_tail == EACH,
	   "a thread posts while another one changes the state: each request is posted");
	ibv_destroy_qp(qp);
}

static void polling(const struct fixture *fx, struct thread threads[2])
{
	struct fake_queue *queue;
	uint32_t i;

	cq = ibv_create_cq(fx->context, 2 * EACH, NULL, NULL, 0);
	queue = fake_queue(cq->handle);
	for (i = 0; i < 2 * EACH; i++)
		fake_complete(queue, i, (struct sroce_cqe){ .wr_id = i });
	run(threads, poll);
	ok(threads[0].sum + threads[1].sum == (2 * EACH - 1) * (uint64_t)EACH &&
	   ((struct sroce_cq_slot *)queue->slot)->head == 2 * EACH,
	   "two threads poll: each completion is polled once");
	ibv_destroy_cq(cq);
}

static void arming(const struct fixture *fx, struct thread threads[2])
{
	struct fake_queue *queue;

	cq = ibv_create_cq(fx->context, 1, NULL, NULL, 0);
	queue = fake_queue(cq->handle);
	run(threads, arm);
	ok(((struct sroce_cq_slot *)queue->slot)->arm ==
	   2 * EACH * SROCE_ARM_STEP, "two threads arm: each call is counted");
	ibv_destroy_cq(cq);
}

GROUP(threads)
{
	struct thread threads[2] = { {}, { .first = EACH } };
	struct fixture fx;

	fixture_open(&fx);
	posting(&fx, threads);
	changing(&fx, threads);
	polling(&fx, threads);
	arming(&fx, threads);
	fixture_close(&fx);
}
