// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Extended polling: ibv_start_poll(), ibv_next_poll(), ibv_end_poll() and
 * ibv_wc_read_*().
 *
 * The lock is held from a successful start to the end, even if next has found
 * nothing more.
 */
#include <time.h>

#include "cqe.h"

/*
 * Copy the completion, so that its entry can be reused at once.  Before it asks
 * for the next one, the program may post a request that completes.
 */
static int take_current(struct sroce_cq *cq)
{
	const struct sroce_cqe *cqe = cq_take(cq);

	if (!cqe)
		return ENOENT;
	cq->current = *cqe;
	cq_release(cq);
	cq->vcq.cq_ex.wr_id = cq->current.wr_id;
	cq->vcq.cq_ex.status = cq->current.status;
	return 0;
}

static int start_poll(struct ibv_cq_ex *ibcq, struct ibv_poll_cq_attr *attr)
{
	struct sroce_cq *cq = cq_ex_to_sroce_cq(ibcq);
	int err;

	if (unlikely(attr->comp_mask))
		return EINVAL;
	sroce_lock_long(&cq->lock);
	err = take_current(cq);
	if (err) {
		sroce_unlock_long(&cq->lock);
		cq_was_empty(cq);
	}
	return err;
}

static int next_poll(struct ibv_cq_ex *ibcq)
{
	return take_current(cq_ex_to_sroce_cq(ibcq));
}

static void end_poll(struct ibv_cq_ex *ibcq)
{
	sroce_unlock_long(&cq_ex_to_sroce_cq(ibcq)->lock);
}

static const struct sroce_cqe *current_cqe(struct ibv_cq_ex *cq)
{
	return &cq_ex_to_sroce_cq(cq)->current;
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq)
{
	return current_cqe(cq)->opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cq)
{
	return current_cqe(cq)->vendor_err;
}

static uint32_t read_byte_len(struct ibv_cq_ex *cq)
{
	return current_cqe(cq)->byte_len;
}

/* Also read by ibv_wc_read_invalidated_rkey(), which shares the field. */
static __be32 read_imm_data(struct ibv_cq_ex *cq)
{
	return current_cqe(cq)->imm_data;
}

static uint32_t read_qp_num(struct ibv_cq_ex *cq)
{
	return current_cqe(cq)->qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *cq)
{
	return current_cqe(cq)->src_qp;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cq)
{
	return current_cqe(cq)->flags & SROCE_CQE_WC_FLAGS;
}

/* Ethernet has no LIDs. */
static uint32_t read_slid(struct ibv_cq_ex *cq)
{
	(void)cq;
	return 0;
}

static uint8_t read_sl(struct ibv_cq_ex *cq)
{
	return current_cqe(cq)->sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *cq)
{
	(void)cq;
	return 0;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *cq)
{
	return current_cqe(cq)->timestamp;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* The present time minus the age of the completion. */
static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *cq)
{
	uint64_t age = clock_ns(CLOCK_MONOTONIC_RAW) - current_cqe(cq)->timestamp;

	return clock_ns(CLOCK_REALTIME) - age;
}

void sroce_set_poll_ops(struct ibv_cq_ex *cq)
{
	cq->start_poll = start_poll;
	cq->next_poll = next_poll;
	cq->end_poll = end_poll;
	cq->read_opcode = read_opcode;
	cq->read_vendor_err = read_vendor_err;
	cq->read_byte_len = read_byte_len;
	cq->read_imm_data = read_imm_data;
	cq->read_qp_num = read_qp_num;
	cq->read_src_qp = read_src_qp;
	cq->read_wc_flags = read_wc_flags;
	cq->read_slid = read_slid;
	cq->read_sl = read_sl;
	cq->read_dlid_path_bits = read_dlid_path_bits;
	cq->read_completion_ts = read_completion_ts;
	cq->read_completion_wallclock_ns = read_completion_wallclock_ns;
}
