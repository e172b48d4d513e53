// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Polling and arming, over several passes of the ring.
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

static void every_field(const struct fixture *fx)
{
	struct fake_queue *queue = fake_queue(fx->cq->handle);
	struct ibv_wc wc;

	memset(&wc, 0xa5, sizeof(wc));
	ok(!ibv_poll_cq(fx->cq, 1, &wc), "an empty ring");
	fake_complete(queue, 0, example(0));
	ok(ibv_poll_cq(fx->cq, 1, &wc) == 1, "one completion");
	ok(wc.wr_id == 1000 && wc.status == IBV_WC_SUCCESS &&
	   wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.vendor_err == 19 &&
	   wc.byte_len == 0 && wc.imm_data == 0x12345678 && wc.qp_num == 17 &&
	   wc.src_qp == 18 && wc.pkey_index == 20 && wc.slid == 0 &&
	   wc.sl == 2 && wc.dlid_path_bits == 0, "its fields");
	ok(wc.wc_flags == (IBV_WC_GRH | IBV_WC_WITH_IMM),
	   "flags that programs do not know are kept from them");
}

/* Completes @num requests and polls them in two steps; is the order kept? */
static bool pass(const struct fixture *fx, uint32_t *index, uint32_t num)
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

static void many_passes(const struct fixture *fx)
{
	uint32_t index = 1;
	bool good = true;
	int i;

	for (i = 0; i < 50; i++)
		good &= pass(fx, &index, 1 + i % 8);
	ok(good, "order is kept over many passes of the ring");
}

static void arming(const struct fixture *fx)
{
	struct fake_queue *queue = fake_queue(fx->cq->handle);
	struct sroce_cq_slot *slot = queue->slot;
	unsigned int calls = fake.calls;
	uint32_t before = slot->arm;

	ibv_req_notify_cq(fx->cq, 0);
	ok(slot->arm != before && !(slot->arm & SROCE_ARM_SOLICITED),
	   "armed for any");
	before = slot->arm;
	ibv_req_notify_cq(fx->cq, 1);
	ok(slot->arm == before, "that includes solicited ones");
	slot->served_arm = before;
	ibv_req_notify_cq(fx->cq, 1);
	ok(slot->arm != before && slot->arm & SROCE_ARM_SOLICITED,
	   "armed for solicited, once it is served");
	before = slot->arm;
	ibv_req_notify_cq(fx->cq, 1);
	ok(slot->arm == before + SROCE_ARM_STEP, "armed again");
	ok(fake.calls == calls, "neither poll nor arm made a system call");
}

/* Does arming enter the kernel with @ago completions since the last event? */
static bool reminds(const struct fixture *fx, uint32_t ago)
{
	struct fake_queue *queue = fake_queue(fx->cq->handle);
	struct sroce_cq_slot *slot = queue->slot;
	unsigned int calls = fake.calls;

	slot->notified = slot->head - ago;
	ibv_req_notify_cq(fx->cq, 0);
	return fake.calls == calls + 1;
}

static void reminding(const struct fixture *fx)
{
	struct fake_queue *queue = fake_queue(fx->cq->handle);
	struct sroce_cq_slot *slot = queue->slot;

	ok(!reminds(fx, 0) && !reminds(fx, 1u << 31) && !reminds(fx, 3u << 30),
	   "nothing is there: the kernel is not asked");
	fake_complete(queue, slot->head, (struct sroce_cqe){ .wr_id = 1 });
	ok(reminds(fx, 0) && reminds(fx, 1), "a completion: it is");
	ok(reminds(fx, 1u << 31) && reminds(fx, (1u << 31) + 1) &&
	   reminds(fx, 3u << 30), "also if the last event is long ago");
	ok(!reminds(fx, -1), "not if an event has told of it");
}

/* A program that polls in vain leaves the processor to ksoftirqd. */
static void yielding(const struct fixture *fx)
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
	ok(fake.yields > yields, "2,000 empty polls: others may run");
	ok(fake.yields < yields + 20, "but not in each");
	yields = fake.yields;
	index = slot->head;
	for (i = 0; i < 2000; i++) {
		fake_complete(queue, index, example(index));
		found &= ibv_poll_cq(fx->cq, 1, &wc) == 1;
		index++;
	}
	ok(found && fake.yields == yields, "not while completions come");
}

GROUP(poll)
{
	struct fixture fx;

	fixture_open(&fx);
	every_field(&fx);
	many_passes(&fx);
	arming(&fx);
	reminding(&fx);
	yielding(&fx);
	fixture_close(&fx);
}
