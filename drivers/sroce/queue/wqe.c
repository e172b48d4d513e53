// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Copying and checking of WQEs.  A hostile process may write to the rings at any
 * time, so each WQE is copied once, and only the copy is used.
 */
#include <linux/mm.h>
#include "../core/errors.h"
#include "wqe.h"

int sroce_wqe_alloc(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;
	struct sroce_wr *wrs;
	void *lists;

	if (READ_ONCE(sq->req.in.wrs) || !sq->ring.entries)
		return 0;
	wrs = kvcalloc(sq->ring.entries, sizeof(*wrs), SROCE_GFP_SIZED);
	lists = kvcalloc(sq->ring.entries, sq->ring.list_size, SROCE_GFP_SIZED);
	if (!wrs || !lists) {
		kvfree(wrs);
		kvfree(lists);
		return -ENOMEM;
	}
	spin_lock_bh(&sq->lock);
	if (!sq->req.in.wrs) {
		sq->ring.lists = lists;
		sq->req.in.mask = sq->ring.entries - 1;
		WRITE_ONCE(sq->req.in.wrs, wrs);
		wrs = NULL;
		lists = NULL;
	}
	spin_unlock_bh(&sq->lock);
	kvfree(wrs);
	kvfree(lists);
	return 0;
}

void sroce_wqe_free(struct sroce_qp *qp)
{
	kvfree(qp->sq.req.in.wrs);
	kvfree(qp->sq.ring.lists);
	qp->sq.req.in.wrs = NULL;
	qp->sq.ring.lists = NULL;
}

/* Some operations, such as REG_MR, are for kernel users only. */
static bool may_post(const struct sroce_qp *qp, const struct sroce_op_row *op)
{
	return op->transports & sroce_transport_bit(sroce_qp_transport(qp)) &&
	       !(qp->user && op->traits & SROCE_TRAIT_KERNEL_ONLY);
}

/* Faster than memchr_inv(), which takes twice as long for a few words. */
static bool is_zero(const u32 *words, u32 n)
{
	u32 sum = 0;

	while (n--)
		sum |= words[n];
	return !sum;
}

/* A FLUSH has no SGE list; its length is that of the peer's memory, unless all is flushed. */
static u8 take_flush(struct sroce_wr *wr, const struct sroce_sqe *sqe)
{
	const u8 types = SROCE_WR_FLUSH_GLOBAL | SROCE_WR_FLUSH_PERSISTENT;

	wr->flush.type = sqe->flush.type;
	wr->flush.level = sqe->flush.level;
	wr->length = wr->flush.level == SROCE_WR_FLUSH_REGION ? 0 : sqe->flush.length;
	if (!wr->flush.type || wr->flush.type & ~types ||
	    wr->flush.level > SROCE_WR_FLUSH_REGION || wr->num_sge ||
	    wr->flags & SROCE_INLINE || sqe->flush.reserved ||
	    sqe->flush.reserved2)
		return SROCE_LOC_QP_OP_ERR;
	return wr->length > SROCE_MAX_MSG ? SROCE_LOC_LEN_ERR : 0;
}

static u8 take_kernel_ud(struct sroce_wr *wr, struct sroce_sqe *sqe)
{
	const struct sroce_kernel_ud *ud = sroce_kernel_ud(sqe);

	wr->ud.av = ud->av;
	wr->ud.remote_qpn = ud->remote_qpn & SROCE_QPN_MASK;
	wr->ud.qkey = ud->remote_qkey;
	wr->ud.pkey_index = ud->pkey_index;
	return 0;
}

static u8 take_ud(struct sroce_wr *wr, const struct sroce_sqe *sqe)
{
	wr->ud.ah = sqe->ud.ah;
	wr->ud.remote_qpn = sqe->ud.remote_qpn & SROCE_QPN_MASK;
	wr->ud.qkey = sqe->ud.remote_qkey;
	return is_zero(sqe->ud.reserved, ARRAY_SIZE(sqe->ud.reserved)) ?
	       0 : SROCE_LOC_QP_OP_ERR;
}

static u8 take_bind(struct sroce_wr *wr, const struct sroce_sqe *sqe)
{
	wr->bind.addr = sqe->bind.addr;
	wr->bind.bytes = sqe->bind.length;
	wr->bind.lkey = sqe->bind.lkey;
	wr->bind.key = sqe->bind.rkey;
	wr->bind.access = sqe->bind.access;
	return sqe->bind.reserved ? SROCE_LOC_QP_OP_ERR : 0;
}

static u8 take_remote(const struct sroce_qp *qp, struct sroce_wr *wr,
		      const struct sroce_sqe *sqe)
{
	wr->remote_addr = sqe->rdma.remote_addr;
	wr->rkey = sqe->rdma.rkey;
	wr->srqn = sqe->rdma.srqn;
	if (wr->srqn &&
	    (qp->type != IB_QPT_XRC_INI || wr->srqn > SROCE_SRQN_MASK))
		return SROCE_LOC_QP_OP_ERR;
	switch (sroce_wr_row(wr)->operands) {
	case SROCE_OPERANDS_FLUSH:
		return take_flush(wr, sqe);
	case SROCE_OPERANDS_ATOMIC:
		wr->compare_add = sqe->atomic.compare_add;
		wr->swap = sqe->atomic.swap;
		return 0;
	default:
		return is_zero(sqe->rdma.reserved,
			       ARRAY_SIZE(sqe->rdma.reserved)) ?
		       0 : SROCE_LOC_QP_OP_ERR;
	}
}

static u8 take_operands(const struct sroce_qp *qp, struct sroce_wr *wr,
			struct sroce_sqe *sqe)
{
	if (!sroce_qp_connected(qp))
		return qp->user ? take_ud(wr, sqe) : take_kernel_ud(wr, sqe);
	switch (sroce_wr_row(wr)->operands) {
	case SROCE_OPERANDS_BIND:
	case SROCE_OPERANDS_REG:
		return take_bind(wr, sqe);
	default:
		return take_remote(qp, wr, sqe);
	}
}

/*
 * @entry is in the ring, which the process may change: the payload is read only
 * here.
 */
static u8 take_inline(const struct sroce_qp *qp, struct sroce_wr *wr, u8 traits,
		      const struct sroce_sqe *entry, void *list)
{
	if (wr->num_sge > qp->sq.ring.max_inline ||
	    traits & (SROCE_TRAIT_FETCHES | SROCE_TRAIT_LOCAL))
		return SROCE_LOC_QP_OP_ERR;
	if (traits & SROCE_TRAIT_WORD && wr->num_sge != sizeof(u64))
		return SROCE_LOC_LEN_ERR;
	memcpy(list, entry + 1, wr->num_sge);
	wr->length = wr->num_sge;
	return 0;
}

/*
 * Returns the sum of the lengths.  Most lists have one entry, for which a call of memcpy()
 * costs more.  Each value is read once: a process can change the source.
 */
static __always_inline u64 copy_list(struct sroce_sge *list, const struct sroce_sge *from,
				     u32 n)
{
	u64 length = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		list[i] = from[i];
		barrier_data(&list[i]);
		length += list[i].length;
	}
	return length;
}

/*
 * An atomic operation returns one word.  Programs may name a larger buffer, as they may
 * with other devices: its rest is not written.  ATOMIC WRITE has exactly one word.
 */
static noinline u8 limit_to_word(struct sroce_wr *wr, struct sroce_sge *list)
{
	u32 left = sizeof(u64);
	u32 n;

	if (wr->length < left || !sroce_wr_fetches(wr))
		return SROCE_LOC_LEN_ERR;
	for (n = 0; left; n++) {
		list[n].length = min(list[n].length, left);
		left -= list[n].length;
	}
	wr->num_sge = n;
	wr->length = sizeof(u64);
	return 0;
}

static u8 take_list(const struct sroce_qp *qp, struct sroce_wr *wr, u8 traits,
		    const struct sroce_sqe *entry, struct sroce_sge *list)
{
	u64 length;

	if (wr->num_sge > qp->sq.ring.max_sge || (traits & SROCE_TRAIT_LOCAL && wr->num_sge))
		return SROCE_LOC_QP_OP_ERR;
	length = copy_list(list, (const struct sroce_sge *)(entry + 1), wr->num_sge);
	if (length > SROCE_MAX_MSG)
		return SROCE_LOC_LEN_ERR;
	wr->length = length;
	if (unlikely(traits & SROCE_TRAIT_WORD) && length != sizeof(u64))
		return limit_to_word(wr, list);
	return 0;
}

/*
 * A response without data is one packet, regardless of the length that the
 * request names.
 */
static bool is_one_packet(const struct sroce_qp *qp, const struct sroce_wr *wr)
{
	return wr->length <= qp->sq.req.mtu ||
	       (sroce_wr_reads(wr) && !sroce_wr_fetches(wr));
}

static u8 check_size(const struct sroce_qp *qp, struct sroce_wr *wr)
{
	const struct sroce_requester *req = &qp->sq.req;

	/* A datagram may be as long as the port allows now.  Its QP has no path MTU. */
	if (!sroce_qp_connected(qp)) {
		wr->packets = 1;
		return wr->length > ib_mtu_enum_to_int(sroce_device_mtu(qp->dev)) ?
		       SROCE_LOC_LEN_ERR : 0;
	}
	/* The QP went from INIT to ERR, never connected: only flush. */
	if (!req->mtu)
		return SROCE_WR_FLUSH_ERR;
	if (sroce_wr_reads(wr) && !req->max_reads)
		return SROCE_LOC_QP_OP_ERR;
	if (sroce_wr_local(wr))
		wr->packets = 0;
	else
		wr->packets = is_one_packet(qp, wr) ? 1 :
			      sroce_packets(wr->length, req->mtu);
	return wr->packets > SROCE_MAX_PACKETS ? SROCE_LOC_LEN_ERR : 0;
}

static u8 wr_flags(const struct sroce_qp *qp)
{
	return SROCE_WR_ALL_FLAGS | (qp->user ? 0 : SROCE_INVALIDATE);
}

static bool uses_key(struct sroce_qp *qp, u32 index, u32 key)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&qp->sq.req.in, index);
	const struct sroce_sge *list = sroce_wqe_list(qp, index);
	u32 i;

	if (wr->status || wr->flags & SROCE_INLINE)
		return false;
	for (i = 0; i < wr->num_sge; i++)
		if (list[i].lkey == key)
			return true;
	return false;
}

/*
 * If LOCAL_INV waited for all earlier requests, a kernel user that invalidates the region
 * of one command could not have the next one in flight.  See @key_end of struct sroce_wr.
 */
static u32 find_key_end(struct sroce_qp *qp, u32 index, u32 key)
{
	/* A process can invalidate memory windows only: no SGE uses them. */
	if (qp->user)
		return qp->sq.req.in.head;
	while (index != qp->sq.req.in.head && !uses_key(qp, index - 1, key))
		index--;
	return index;
}

static u8 take_request(const struct sroce_qp *qp, struct sroce_wr *wr,
		       struct sroce_sqe *sqe,
		       const struct sroce_sqe *entry, void *list)
{
	const struct sroce_op_row *op = sroce_wr_row(wr);
	u8 status;

	if (!may_post(qp, op) || wr->flags & ~wr_flags(qp))
		return SROCE_LOC_QP_OP_ERR;
	status = take_operands(qp, wr, sqe);
	if (!status && wr->flags & SROCE_INLINE)
		status = take_inline(qp, wr, op->traits, entry, list);
	else if (!status && op->operands != SROCE_OPERANDS_FLUSH)
		status = take_list(qp, wr, op->traits, entry, list);
	return status ?: check_size(qp, wr);
}

static void take_head(struct sroce_wr *wr, struct sroce_sqe *head,
		      const struct sroce_sqe *entry)
{
	memcpy(head, entry, sizeof(*head));
	barrier_data(head);
	wr->wr_id = head->wr_id;
	wr->opcode = min_t(u8, head->opcode, SROCE_OP_NONE);
	wr->flags = head->flags;
	wr->num_sge = head->num_sge;
	wr->imm = head->imm_data;
	wr->length = 0;
	wr->packets = 1;
	wr->started = false;
	wr->parts = false;
}

void sroce_wqe_header(const struct sroce_qp *qp, u32 index,
		      struct sroce_wr *wr)
{
	struct sroce_sqe head;

	lockdep_assert_held(&qp->sq.lock);
	take_head(wr, &head, sroce_send_ring_at(&qp->sq.ring, index));
}

static void fetch_one(struct sroce_qp *qp, u32 index)
{
	struct sroce_wr *wr = sroce_inflight_wr(&qp->sq.req.in, index);
	const struct sroce_sqe *entry = sroce_send_ring_at(&qp->sq.ring, index);
	struct sroce_sqe head __uninitialized;

	take_head(wr, &head, entry);
	wr->status = take_request(qp, wr, &head, entry,
				  sroce_wqe_list(qp, index));
	if (unlikely(sroce_wr_row(wr)->traits & SROCE_TRAIT_ENDS_KEY))
		wr->key_end = find_key_end(qp, index, wr->invalidate);
	if (unlikely(wr->status) && wr->status != SROCE_WR_FLUSH_ERR)
		sroce_count(qp, SROCE_BAD_WQES);
}

u32 sroce_wqe_end(struct sroce_qp *qp)
{
	const struct sroce_inflight *in = &qp->sq.req.in;
	u32 tail;

	lockdep_assert_held(&qp->sq.lock);
	if (qp->sq.ring.broken)
		return in->tail;
	tail = sroce_load_acquire(&qp->slot->sq_tail);
	if (likely(tail - in->head <= qp->sq.ring.entries &&
		   tail - in->tail <= qp->sq.ring.entries))
		return tail;
	qp->sq.ring.broken = true;
	sroce_count(qp, SROCE_BAD_WQES);
	return in->tail;
}

void sroce_wqe_fetch_until(struct sroce_qp *qp, u32 end, u32 most)
{
	struct sroce_inflight *in = &qp->sq.req.in;

	lockdep_assert_held(&qp->sq.lock);
	while ((s32)(end - in->tail) > 0 && most--)
		fetch_one(qp, in->tail++);
}

bool sroce_wqe_fetch_send(struct sroce_qp *qp, u32 most)
{
	sroce_wqe_fetch_until(qp, sroce_wqe_end(qp), most);
	return !qp->sq.ring.broken;
}

enum sroce_fetched sroce_wqe_fetch_recv(struct sroce_device *dev,
					struct sroce_recv_ring *ring,
					struct sroce_recv_wqe *wqe)
{
	const struct sroce_rqe *entry;
	struct sroce_rqe head;
	bool valid;
	u32 n;

	n = sroce_load_acquire(&ring->slot->rq_tail) - ring->head;
	if (!n || !ring->entries)
		return SROCE_FETCHED_NONE;
	wqe->wr_id = 0;
	wqe->num_sge = 0;
	if (n > ring->entries || ring->broken) {
		ring->broken = true;
		sroce_count(dev, SROCE_BAD_WQES);
		return SROCE_FETCHED_BROKEN;
	}
	entry = sroce_recv_ring_at(ring, ring->head);
	memcpy(&head, entry, sizeof(head));
	barrier_data(&head);
	wqe->wr_id = head.wr_id;
	valid = head.num_sge <= ring->max_sge && !head.reserved;
	if (valid) {
		wqe->num_sge = head.num_sge;
		copy_list(wqe->sge, (const struct sroce_sge *)(entry + 1), head.num_sge);
	}
	ring->head++;
	sroce_store_release(&ring->slot->rq_head, ring->head);
	if (valid)
		return SROCE_FETCHED;
	sroce_count(dev, SROCE_BAD_WQES);
	return SROCE_FETCHED_BAD;
}
