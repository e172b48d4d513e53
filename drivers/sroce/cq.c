// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/ktime.h>
#include <linux/log2.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include "cq.h"
#include "device.h"
#include "udata.h"

/* The numbers of the ABI are those of the kernel. */
static_assert((int)IB_WC_RECV == 128 && (int)IB_WC_LOCAL_INV == 6);
static_assert((int)IB_WC_GENERAL_ERR == 21);

static bool cq_of_kernel(const struct sroce_cq *cq)
{
	return cq->slot == &cq->own_slot;
}

/*
 * Is there room for one more?  An impossible head counts as none: the process
 * has only its own CQ to lose.
 */
static bool cq_has_room(struct sroce_cq *cq)
{
	u32 head;

	lockdep_assert_held(&cq->lock);
	if (likely(cq->tail != cq->limit))
		return true;
	if (cq->overflown)
		return false;
	head = sroce_load_acquire(&cq->slot->head);		/* (I) */
	if (cq->tail - head >= cq->entries) {
		cq->overflown = true;
		sroce_count(sroce_device(cq->ib.device), SROCE_CQ_OVERFLOWS);
		return false;
	}
	cq->limit = head + cq->entries;
	return true;
}

static void cq_write(struct sroce_cq *cq, const struct sroce_cqe *from)
{
	struct sroce_cqe *to = &cq->cqes[cq->tail & (cq->entries - 1)];

	lockdep_assert_held(&cq->lock);
	memcpy(to, from, offsetof(struct sroce_cqe, cookie));
	to->timestamp = cq->stamped ? ktime_get_raw_ns() : 0;
	/* A kernel pointer, not for the eyes of a process. */
	to->cookie = cq_of_kernel(cq) ? from->cookie : 0;
	to->reserved2 = 0;
	sroce_store_release(&to->phase,				/* (G) */
			    sroce_cqe_phase(cq->tail, cq->entries));
	cq->tail++;
}

bool sroce_cq_push(struct sroce_cq *cq, const struct sroce_cqe *cqe)
{
	unsigned long flags;
	bool room;

	spin_lock_irqsave(&cq->lock, flags);
	room = cq_has_room(cq);
	if (likely(room))
		cq_write(cq, cqe);
	/* Who sleeps on a dead CQ is woken, too. */
	if (!room || cqe->status || cqe->flags & SROCE_CQE_SOLICITED)
		cq->fresh_solicited = true;
	WRITE_ONCE(cq->fresh, true);
	spin_unlock_irqrestore(&cq->lock, flags);
	return room;
}

/*
 * Is an event due?  All QPs of the CQ share the two flags: whoever comes first
 * answers for every completion pushed so far, its own and other CPUs' (their
 * stores came to us with the lock, so (L) orders them as well).  Three cases:
 *
 * - we find the CQ armed: the event is raised, whoever pushed;
 * - we do not: then by (K) and (L) the user, who arms later, finds all those
 *   completions when it polls once more, so that the flags can be cleared;
 * - it is armed for solicited ones and there was none: it stays armed, since
 *   @served does not change.
 *
 * A completion pushed before the arming, but not yet notified, gives an event
 * that finds nothing new.  That is harmless: a completion taken between arming
 * and polling once more does the same.
 */
static bool cq_event_due(struct sroce_cq *cq)
{
	bool solicited = cq->fresh_solicited;
	u32 arm;

	lockdep_assert_held(&cq->lock);
	WRITE_ONCE(cq->fresh, false);
	cq->fresh_solicited = false;
	sroce_full_barrier();					/* (L) */
	arm = sroce_load(&cq->slot->arm);
	if (arm == cq->served || (arm & SROCE_ARM_SOLICITED && !solicited))
		return false;
	cq->served = arm;
	return true;
}

static void cq_raise_error(struct sroce_cq *cq)
{
	struct ib_event event = {
		.device = cq->ib.device,
		.element.cq = &cq->ib,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ib.event_handler)
		cq->ib.event_handler(&event, cq->ib.cq_context);
}

void sroce_cq_notify(struct sroce_cq *cq)
{
	bool due, overflow;
	unsigned long flags;

	/* Clear: somebody else has notified what we pushed. */
	if (!READ_ONCE(cq->fresh))
		return;
	spin_lock_irqsave(&cq->lock, flags);
	due = cq_event_due(cq);
	overflow = cq->overflown && !cq->overflow_reported;
	cq->overflow_reported = cq->overflown;
	spin_unlock_irqrestore(&cq->lock, flags);

	if (due && cq->ib.comp_handler)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
	if (unlikely(overflow))
		cq_raise_error(cq);
}

static int cq_check(const struct ib_cq *ibcq,
		    const struct ib_cq_init_attr *attr)
{
	if (attr->flags & ~IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > SROCE_MAX_CQE)
		return -EINVAL;
	if (attr->comp_vector >= ibcq->device->num_comp_vectors)
		return -EINVAL;
	return 0;
}

/* The doorbell slot of a process, and the answer that tells it everything. */
static int cq_share(struct sroce_cq *cq, struct ib_udata *udata)
{
	struct sroce_ucontext *ctx = sroce_udata_ucontext(udata);
	struct sroce_create_cq_resp resp = {};
	int err;

	err = sroce_slot_alloc(ctx, &cq->place);
	if (err)
		return err;
	cq->slot = cq->place.mem;
	resp.map.ring_offset = sroce_ring_offset(cq->ring);
	resp.map.ring_size = cq->ring->size;
	resp.map.slot = cq->place.number;
	resp.map.page_offset = cq->place.page_offset;
	resp.entries = cq->entries;
	err = sroce_udata_respond(udata, &resp, sizeof(resp));
	if (err)
		sroce_slot_free(ctx, &cq->place);
	return err;
}

int sroce_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct ib_udata *udata)
{
	struct sroce_ucontext *ctx = sroce_udata_ucontext(udata);
	struct sroce_cq *cq = sroce_cq(ibcq);
	int err;

	err = cq_check(ibcq, attr);
	if (!err && udata)
		err = sroce_check_create_req(udata);
	if (err)
		return err;
	spin_lock_init(&cq->lock);
	cq->stamped = attr->flags;
	cq->entries = roundup_pow_of_two(attr->cqe);
	cq->limit = cq->entries;
	cq->slot = &cq->own_slot;
	cq->ring = sroce_ring_alloc(ctx ? &ctx->ib : NULL,
				    cq->entries * sizeof(*cq->cqes));
	if (IS_ERR(cq->ring))
		return PTR_ERR(cq->ring);
	cq->cqes = cq->ring->mem;
	ibcq->cqe = cq->entries;
	if (udata) {
		err = cq_share(cq, udata);
		if (err)
			sroce_ring_free(cq->ring);
	}
	return err;
}

int sroce_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct sroce_cq *cq = sroce_cq(ibcq);

	if (!cq_of_kernel(cq))
		sroce_slot_free(sroce_ucontext(cq->ring->ucontext), &cq->place);
	sroce_ring_free(cq->ring);
	return 0;
}

static u8 network_type(u16 flags)
{
	return flags & SROCE_CQE_IPV4 ? RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6;
}

static void cq_read(struct ib_wc *wc, const struct sroce_cqe *cqe)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = cqe->opcode;
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	wc->qp = (struct ib_qp *)(uintptr_t)cqe->cookie;
	wc->src_qp = cqe->src_qp;
	wc->pkey_index = cqe->pkey_index;
	wc->sl = cqe->sl;
	wc->port_num = SROCE_PORT;
	if (cqe->flags & SROCE_CQE_WITH_IMM) {
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = cqe->imm_data;
	}
	if (cqe->flags & SROCE_CQE_WITH_INV) {
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = cqe->invalidated_rkey;
	}
	if (cqe->flags & SROCE_CQE_GRH)
		wc->wc_flags |= IB_WC_GRH;
	if (cqe->flags & (SROCE_CQE_IPV4 | SROCE_CQE_IPV6)) {
		wc->wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
		wc->network_hdr_type = network_type(cqe->flags);
	}
}

/* A process polls by itself; the RDMA core comes here for kernel users only. */
int sroce_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc)
{
	struct sroce_cq *cq = sroce_cq(ibcq);
	unsigned long flags;
	int i;

	if (!cq_of_kernel(cq))
		return -EOPNOTSUPP;
	spin_lock_irqsave(&cq->lock, flags);
	for (i = 0; i < n && cq->head != cq->tail; i++) {
		cq_read(&wc[i], &cq->cqes[cq->head & (cq->entries - 1)]);
		cq->head++;
	}
	sroce_store_release(&cq->slot->head, cq->head);		/* (J) */
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}

int sroce_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	bool solicited = (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED;
	struct sroce_cq *cq = sroce_cq(ibcq);
	unsigned long irq_flags;
	bool for_any, missed;

	if (!cq_of_kernel(cq))
		return -EOPNOTSUPP;
	spin_lock_irqsave(&cq->lock, irq_flags);
	/* Who waits for any completion is not put off to a solicited one. */
	for_any = cq->slot->arm != cq->served &&
		  !(cq->slot->arm & SROCE_ARM_SOLICITED);
	if (!for_any || !solicited)
		sroce_cq_arm(cq->slot, solicited);
	missed = flags & IB_CQ_REPORT_MISSED_EVENTS && cq->head != cq->tail;
	spin_unlock_irqrestore(&cq->lock, irq_flags);
	return missed;
}
