// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Create, resize, modify and destroy SRQs. */
#include <linux/uaccess.h>
#include "../base/sroce.h"
#include "../base/udata.h"
#include "../recv/xrc.h"
#include "srq_verbs.h"

static int check_type(const struct ib_srq_init_attr *init,
		      const struct ib_udata *udata)
{
	switch (init->srq_type) {
	case IB_SRQT_BASIC:
		return 0;
	case IB_SRQT_XRC:
		/* recv/xrc.c relies on handlers that take none of our locks. */
		return udata ? 0 : -EOPNOTSUPP;
	default:
		return -EOPNOTSUPP;
	}
}

static int check_attr(const struct ib_srq_attr *attr)
{
	if (!attr->max_wr || attr->max_wr > SROCE_MAX_SRQ_WR ||
	    attr->max_sge > SROCE_MAX_SGE)
		return -EINVAL;
	return 0;
}

static struct sroce_queue_mem *alloc_srq_memory(const struct sroce_srq *srq,
						const struct sroce_recv_ring *ring)
{
	return sroce_queue_mem_alloc(srq->ctx ? &srq->ctx->ib : NULL,
				     (size_t)ring->entries * ring->stride);
}

static void fill_map(struct sroce_map *map, const struct sroce_srq *srq,
		     struct sroce_queue_mem *memory)
{
	map->ring_offset = sroce_queue_mem_offset(memory);
	map->ring_size = memory->size;
	map->slot = srq->doorbell.number;
	map->page_offset = srq->doorbell.page_offset;
}

/* Response of the create command. */
static int write_srq_resp(const struct sroce_srq *srq, struct ib_udata *udata)
{
	struct sroce_create_srq_resp resp = {
		.entries = srq->ring.entries,
		.stride = srq->ring.stride,
		.srq_num = srq->number,
	};

	fill_map(&resp.map, srq, srq->memory);
	return sroce_udata_room(udata, sizeof(resp)) ?:
	       ib_respond_udata(udata, resp);
}

/* Allocate the doorbell slot of a process and, for XRC, the SRQ number. */
static int share_with_process(struct sroce_srq *srq, struct ib_srq_init_attr *init,
			      struct ib_udata *udata)
{
	bool xrc = init->srq_type == IB_SRQT_XRC;
	int err;

	err = sroce_doorbell_alloc(srq->ctx, &srq->doorbell);
	if (err)
		return err;
	srq->ring.slot = srq->doorbell.mem;
	if (xrc)
		err = sroce_xrc_publish(srq);
	if (err)
		goto err_slot;
	err = write_srq_resp(srq, udata);
	if (err)
		goto err_withdraw;
	if (xrc)
		srq->ib.ext.xrc.srq_num = srq->number;
	return 0;

err_withdraw:
	if (xrc)
		sroce_xrc_unpublish(srq);
err_slot:
	sroce_doorbell_free(srq->ctx, &srq->doorbell);
	return err;
}

static void raise_limit_event(struct work_struct *work)
{
	sroce_srq_raise(container_of(work, struct sroce_srq, limit_reached),
			IB_EVENT_SRQ_LIMIT_REACHED);
}

static int setup_srq(struct sroce_srq *srq, struct ib_srq_init_attr *init,
		     struct ib_udata *udata)
{
	int err;

	spin_lock_init(&srq->lock);
	spin_lock_init(&srq->post_lock);
	mutex_init(&srq->mutex);
	INIT_WORK(&srq->limit_reached, raise_limit_event);
	srq->ctx = sroce_udata_ucontext(udata);
	srq->ring.slot = &srq->kernel_slot;
	sroce_recv_ring_size(&srq->ring, init->attr.max_wr,
			     init->attr.max_sge);
	srq->memory = alloc_srq_memory(srq, &srq->ring);
	if (IS_ERR(srq->memory))
		return PTR_ERR(srq->memory);
	srq->ring.mem = srq->memory->mem;
	if (udata) {
		err = share_with_process(srq, init, udata);
		if (err) {
			sroce_queue_mem_free(srq->memory);
			return err;
		}
	}
	init->attr.max_wr = srq->ring.entries;
	init->attr.max_sge = srq->ring.max_sge;
	return 0;
}

int sroce_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		     struct ib_udata *udata)
{
	struct sroce_device *dev = sroce_device(ibsrq->device);
	int err;

	err = check_type(init, udata) ?: check_attr(&init->attr);
	if (!err && udata)
		err = sroce_udata_create_req(udata);
	if (err)
		return err;
	if (!atomic_add_unless(&dev->num_srqs, 1, SROCE_MAX_SRQ))
		return -ENOMEM;
	err = setup_srq(sroce_srq(ibsrq), init, udata);
	if (err)
		atomic_dec(&dev->num_srqs);
	return err;
}

int sroce_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct sroce_srq *srq = sroce_srq(ibsrq);

	cancel_work_sync(&srq->limit_reached);
	atomic_dec(&sroce_device(ibsrq->device)->num_srqs);
	if (srq->number)
		sroce_xrc_unpublish(srq);
	if (srq->ctx)
		sroce_doorbell_free(srq->ctx, &srq->doorbell);
	sroce_queue_mem_free(srq->memory);
	return 0;
}

/* Resizing */

/*
 * Copy the WQEs that have not been taken to the new ring.  The process posts
 * nothing meanwhile; if it does, it spoils only its own WQEs.
 */
static void copy_waiting(struct sroce_recv_ring *to,
			 const struct sroce_recv_ring *from, u32 tail)
{
	u32 i;

	for (i = from->head; i != tail; i++) {
		memcpy(sroce_recv_ring_at(to, i), sroce_recv_ring_at(from, i),
		       from->stride);
		if (!(i % 1024))
			cond_resched();
	}
}

/* Returns the old ring, or an ERR_PTR(). */
static struct sroce_queue_mem *switch_ring(struct sroce_srq *srq,
					   struct sroce_recv_ring *to,
					   struct sroce_queue_mem *memory)
{
	struct sroce_queue_mem *old = srq->memory;
	struct sroce_recv_ring from;
	u32 tail;

	spin_lock_bh(&srq->lock);
	from = srq->ring;
	spin_unlock_bh(&srq->lock);
	tail = sroce_load_acquire(&from.slot->rq_tail);
	if (from.broken || tail - from.head > min(from.entries, to->entries))
		return ERR_PTR(-EINVAL);
	copy_waiting(to, &from, tail);

	spin_lock_bh(&srq->lock);
	srq->ring.mem = to->mem;
	srq->ring.entries = to->entries;
	srq->memory = memory;
	spin_unlock_bh(&srq->lock);
	return old;
}

/*
 * Writes the response to an address in the request, because the modify command
 * has no response of its own.
 */
static int write_map_resp(const struct sroce_srq *srq, struct sroce_queue_mem *memory,
			  u32 entries, struct ib_udata *udata)
{
	struct sroce_modify_srq_resp resp = { .entries = entries };
	struct sroce_modify_srq_req req;
	int err;

	err = ib_copy_validate_udata_in(udata, req, reserved);
	if (err)
		return err;
	if (req.reserved)
		return -EOPNOTSUPP;
	if (req.resp_size < sizeof(resp))
		return -EINVAL;
	fill_map(&resp.map, srq, memory);
	if (copy_to_user(u64_to_user_ptr(req.resp), &resp, sizeof(resp)))
		return -EFAULT;
	return ib_respond_empty_udata(udata);
}

static int resize_srq(struct sroce_srq *srq, u32 max_wr, struct ib_udata *udata)
{
	struct sroce_recv_ring to = {};
	struct sroce_queue_mem *memory, *old;
	int err;

	lockdep_assert_held(&srq->mutex);
	sroce_recv_ring_size(&to, max_wr, srq->ring.max_sge);
	memory = alloc_srq_memory(srq, &to);
	if (IS_ERR(memory))
		return PTR_ERR(memory);
	to.mem = memory->mem;
	err = write_map_resp(srq, memory, to.entries, udata);
	if (err)
		goto err_free;
	old = switch_ring(srq, &to, memory);
	if (IS_ERR(old)) {
		err = PTR_ERR(old);
		goto err_free;
	}
	sroce_queue_mem_free(old);
	return 0;

err_free:
	sroce_queue_mem_free(memory);
	return err;
}

/* Modifying */

static int check_srq_attr(const struct sroce_srq *srq,
			  const struct ib_srq_attr *attr, int mask,
			  struct ib_udata *udata)
{
	u32 max_wr = mask & IB_SRQ_MAX_WR ? attr->max_wr : srq->ring.entries;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EINVAL;
	if (mask & IB_SRQ_LIMIT && attr->srq_limit > max_wr)
		return -EINVAL;
	if (!(mask & IB_SRQ_MAX_WR))
		return ib_no_udata_io(udata);
	if (!max_wr || max_wr > SROCE_MAX_SRQ_WR)
		return -EINVAL;
	/* Kernel users cannot resize: their tail would have to stand still. */
	return srq->ctx ? 0 : -EOPNOTSUPP;
}

/* Returns true if the limit has been reached already, so the event is due. */
static bool set_limit(struct sroce_srq *srq, u32 limit)
{
	bool reached;

	spin_lock_bh(&srq->lock);
	srq->limit = limit;
	reached = sroce_srq_limit_reached(srq);
	spin_unlock_bh(&srq->lock);
	return reached;
}

/*
 * A handler of a kernel user must not run inside the verb, whose caller may hold locks
 * that the handler takes.
 */
static void limit_was_reached(struct sroce_srq *srq)
{
	if (srq->ctx)
		sroce_srq_raise(srq, IB_EVENT_SRQ_LIMIT_REACHED);
	else
		schedule_work(&srq->limit_reached);
}

int sroce_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct sroce_srq *srq = sroce_srq(ibsrq);
	bool reached = false;
	int err;

	mutex_lock(&srq->mutex);
	err = check_srq_attr(srq, attr, mask, udata);
	if (!err && mask & IB_SRQ_MAX_WR)
		err = resize_srq(srq, attr->max_wr, udata);
	if (!err && mask & IB_SRQ_LIMIT)
		reached = set_limit(srq, attr->srq_limit);
	mutex_unlock(&srq->mutex);
	if (reached)
		limit_was_reached(srq);
	return err;
}

int sroce_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct sroce_srq *srq = sroce_srq(ibsrq);

	spin_lock_bh(&srq->lock);
	attr->max_wr = srq->ring.entries;
	attr->max_sge = srq->ring.max_sge;
	attr->srq_limit = srq->limit;
	spin_unlock_bh(&srq->lock);
	return 0;
}
