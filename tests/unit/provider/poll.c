// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Polling and arming, while the ring wraps several times.
 */
#include "fixture.h"

static struct sroce_cqe example(uint32_t index)
{
	return (struct sroce_cqe){
		.wr_id = 1000 + index,
		.timestamp = 5000 + index,
		.byte_len = index,
		.imm_data = 0x12345678,
		.qp_num = 17,
		.src_qp = 18,
		.status = IBV_WC_SUCCESS,
		.opcode = IBV_WC_RECV_RDMA_WITH_IMM,
		.flags = SROCE_CQE_GRH | SROCE_CQE_WITH_IMM | SROCE_CQE_IPV4 |
			 SROCE_CQE_SOLICITED,
		.vendor_err = 19,
		.pkey_index = 20,
		.sl = 2,
	};
}

static void completion_fields(const struct fixture *fx)
{
	struct fake_queue *queue = fake_queue(fx->cq->handle);
	struct ibv_wc wc;

	memset(&wc, 0xa5, sizeof(wc));
	ok(!ibv_poll_cq(fx->cq, 1, &wc), "an empty ring has no completion");
	fake_complete(queue, 0, example(0));
	ok(ibv_poll_cq(fx->cq, 1, &wc) == 1, "one completion is polled");
	ok(wc.wr_id == 1000 && wc.status == IBV_WC_SUCCESS &&
	   wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.vendor_err == 19 &&
	   wc.byte_len == 0 && wc.imm_data == 0x12345678 && wc.qp_num == 17 &&
	   wc.src_qp == 18 && wc.pkey_index == 20 && wc.slid == 0 &&
	   wc.sl == 2 && wc.dlid_path_bits == 0, "a completion has all fields");
	ok(wc.wc_flags == (IBV_WC_GRH | IBV_WC_WITH_IMM),
	   "internal flags are not returned");
}

/* Complete @num requests and poll them in two calls.  Is the order kept? */
static bool poll_in_order(const struct fixture *fx, uint32_t *index, uint32_t num)
{
	struct fake_queue *queue = fake_queue(fx->cq->handle);
	struct sroce_cq_slot *slot = queue->slot;
	struct ibv_wc wc[8];
	uint32_t i, found;

	for (i = 0; i < num; i++)
		fake_complete(queue, *index + i, example(*index + i));
	found = ibv_poll_cq(fx->cq, num / 2, wc);
	found += ibv_poll_cq(fx->cq, 8, wc + found);
	if (found != num)
		return false;
	for (i = 0; i < num; i++)
		if (wc[i].wr_id != 1000 + *index + i)
			return false;
	*index += num;
	return slot->head == *index;
}

static void ring_wraps(const struct fixture *fx)
{
	uint32_t index = 1;
	bool good = true;
	int i;

	for (i = 0; i < 50; i++)
		good &= poll_in_order(fx, &index, 1 + i % 8);
	ok(good, "completions keep their order when the ring wraps");
}

static void arming(const struct fixture *fx)
{
	struct fake_queue *queue = fake_queue(fx->cq->handle);
	struct sroce_cq_slot *slot = queue->slot;
	unsigned int calls = fake.calls;
	uint32_t before = slot->arm;

	ibv_req_notify_cq(fx->cq, 0);
	ok(slot->arm != before && !(slot->arm & SROCE_ARM_SOLICITED),
	   "a CQ is armed for any completion");
	before = slot->arm;
	ibv_req_notify_cq(fx->cq, 1);
	ok(slot->arm == before, "arming for any completion includes solicited ones");
	slot->served_arm = before;
	ibv_req_notify_cq(fx->cq, 1);
	ok(slot->arm != before && slot->arm & SROCE_ARM_SOLICITED,
	   "a CQ is armed for solicited ones after an event");
	before = slot->arm;
	ibv_req_notify_cq(fx->cq, 1);
	ok(slot->arm == before + SROCE_ARM_STEP, "a CQ can be armed again before an event");
	ok(fake.calls == calls, "polling and arming need no system call");
}

/* Does arming enter the kernel with @ago completions since the last event? */
static bool enters_kernel(const struct fixture *fx, uint32_t ago)
{
	struct fake_queue *queue = fake_queue(fx->cq->handle);
	struct sroce_cq_slot *slot = queue->slot;
	unsigned int calls = fake.calls;

	slot->notified = slot->head - ago;
	ibv_req_notify_cq(fx->cq, 0);
	return fake.calls == calls + 1;
}

static void missed_events(const struct fixture *fx)
{
	struct fake_queue *queue = fake_queue(fx->cq->handle);
	struct sroce_cq_slot *slot = queue->slot;

	ok(!enters_kernel(fx, 0) && !enters_kernel(fx, 1u << 31) && !enters_kernel(fx, 3u << 30),
	   "arming an empty CQ does not enter the kernel");
	fake_complete(queue, slot->head, (struct sroce_cqe){ .wr_id = 1 });
	ok(enters_kernel(fx, 0) && enters_kernel(fx, 1),
	   "arming with a completion enters the kernel");
	ok(enters_kernel(fx, 1u << 31) && enters_kernel(fx, (1u << 31) + 1) &&
	   enters_kernel(fx, 3u << 30), "the kernel is entered if the last event is long ago");
	ok(!enters_kernel(fx, -1), "the kernel is not entered if the completion had an event");
}

/*
 * Does arming enter the kernel with one completion, 2^32 - @less after the last event?
 * @armed: the CQ was also armed soon after that event.
 */
static bool enters_after_wrap(const struct fixture *fx, uint32_t less, bool armed)
{
	struct sroce_cq *cq = to_sroce_cq(fx->cq);
	struct fake_queue *queue = fake_queue(fx->cq->handle);
	struct sroce_cq_slot *slot = queue->slot;
	struct sroce_cqe *cqe;
	unsigned int calls;
	uint32_t i;

	slot->notified = cq->head;
	if (armed)
		ibv_req_notify_cq(fx->cq, 0);
	cq->head += (1ull << 32) - less;
	fake_complete(queue, cq->head, example(0));
	for (i = cq->head + 1; i != (uint32_t)cq->head + 8; i++) {
		cqe = fake_sqe(queue, i);
		cqe->phase = !sroce_cqe_phase(i, queue->entries);
	}
	calls = fake.calls;
	ibv_req_notify_cq(fx->cq, 0);
	return fake.calls == calls + 1;
}

static void missed_events_after_wrap(void)
{
	struct fixture fx;

	fixture_open(&fx);
	ok(enters_after_wrap(&fx, 0, true) && enters_after_wrap(&fx, 1, true) &&
	   enters_after_wrap(&fx, 7, true) && enters_after_wrap(&fx, 8, true) &&
	   enters_after_wrap(&fx, 3, false) && enters_after_wrap(&fx, 0, false),
	   "the kernel is entered if the last event is 2^32 completions ago");
	fixture_close(&fx);
}

/* A program that polls an empty CQ yields the processor to ksoftirqd. */
static void empty_polls(const struct fixture *fx)
{
	struct fake_queue *queue = fake_queue(fx->cq->handle);
	struct sroce_cq_slot *slot = queue->slot;
	unsigned int yields = fake.yields;
	uint32_t index;
	bool found = true;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 2000; i++)
		ibv_poll_cq(fx->cq, 1, &wc);
	ok(fake.yields > yields, "many empty polls yield the processor");
	ok(fake.yields < yields + 20, "not every empty poll yields the processor");
	yields = fake.yields;
	index = slot->head;
	for (i = 0; i < 2000; i++) {
		fake_complete(queue, index, example(index));
		found &= ibv_poll_cq(fx->cq, 1, &wc) == 1;
		index++;
	}
	ok(found && fake.yields == yields, "polls with a completion do not yield");
}

GROUP(poll)
{
	struct fixture fx;

	fixture_open(&fx);
	completion_fields(&fx);
	ring_wraps(&fx);
	arming(&fx);
	missed_events(&fx);
	empty_polls(&fx);
	fixture_close(&fx);
	missed_events_after_wrap();
}
