// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows.  The key of a window keeps its slot in the key table as long
 * as the window exists.  Each binding is a separate object that does not
 * change.  Binding and invalidating replace it or remove it.  Users that have
 * found the old binding finish with it within a burst.
 */

#include <linux/slab.h>
#include "../base/udata.h"
#include "../core/errors.h"
#include "mw.h"

/* A window's local rights have no effect. */
#define WINDOW_ACCESS							\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |		\
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |		\
	 IB_ACCESS_FLUSH_GLOBAL | IB_ZERO_BASED | IB_ACCESS_OPTIONAL)

/**
 * struct sroce_mw_slot - key table entry of a window
 * @mr: in the key table; first member
 * @type: IB_MW_TYPE_1 or 2
 * @lock: protects changes of @mr.binding, and @gone
 * @gone: the window has been deallocated
 */
struct sroce_mw_slot {
	struct sroce_mr mr;
	u8 type;
	spinlock_t lock; /* see above */
	bool gone;
};

static struct sroce_mw_slot *to_slot(struct sroce_mr *mr)
{
	return container_of(mr, struct sroce_mw_slot, mr);
}

static struct sroce_mr *is_bound(struct sroce_mw_slot *slot)
{
	return rcu_dereference_protected(slot->mr.binding,
					 lockdep_is_held(&slot->lock));
}

/* Takes ownership of the caller's reference to @parent. */
static struct sroce_mr *make_binding(struct sroce_mr *parent, u32 qpn,
				     const struct sroce_wr *wr)
{
	struct sroce_mr *mr = kzalloc_obj(*mr, GFP_ATOMIC);

	if (!mr)
		return NULL;
	mr->kind = SROCE_MR_WINDOW;
	mr->key = wr->bind.key;
	mr->ib.pd = parent->ib.pd;
	mr->block_shift = parent->block_shift;
	mr->blocks = parent->blocks;
	mr->odp = parent->odp;
	mr->skip = parent->skip + wr->bind.addr - parent->iova;
	mr->access = wr->bind.access & WINDOW_ACCESS & ~IB_ACCESS_LOCAL_WRITE;
	mr->iova = wr->bind.access & IB_ZERO_BASED ? 0 : wr->bind.addr;
	mr->length = wr->bind.bytes;
	mr->parent = parent;
	mr->qpn = qpn;
	sroce_ref_init(&mr->ref);
	return mr;
}

/*
 * Wait until a binding that has been unpublished is unused, then free it.  Those
 * that found it earlier hold it for one burst and take none of the caller's
 * locks.
 *
 * Context: bottom halves off; the caller has no reference to @mr and does not
 * hold @slot->lock.
 */
static void end_binding(struct sroce_mr *mr)
{
	if (!mr)
		return;
	sroce_ref_drain_atomic(&mr->ref);
	atomic_dec(&mr->parent->windows);
	sroce_mr_put(mr->parent);
	kfree_rcu(mr, rcu);
}

/* Replace the binding of the window by @mr, which may be NULL. */
static u8 replace_binding(struct sroce_mw_slot *slot, struct sroce_mr *mr)
{
	struct sroce_mr *old = NULL;
	bool fine;

	spin_lock_bh(&slot->lock);
	fine = !slot->gone && (slot->type == IB_MW_TYPE_1 || !is_bound(slot));
	if (fine) {
		old = is_bound(slot);
		rcu_assign_pointer(slot->mr.binding, mr);
	}
	spin_unlock_bh(&slot->lock);
	end_binding(old);
	return fine ? 0 : SROCE_MW_BIND_ERR;
}

/* The region to bind to, with a reference and counted in @windows, or NULL. */
static struct sroce_mr *get_parent(struct ib_pd *pd, const struct sroce_wr *wr)
{
	const int writes = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC;
	int access = IB_ACCESS_MW_BIND;
	struct sroce_mr *mr;

	if (wr->bind.access & ~WINDOW_ACCESS)
		return NULL;
	if (wr->bind.access & writes)
		access |= IB_ACCESS_LOCAL_WRITE;
	access |= wr->bind.access & IB_ACCESS_FLUSH_GLOBAL;
	mr = sroce_mr_get(pd, 0, wr->bind.lkey, wr->bind.addr, wr->bind.bytes,
			  access);
	if (mr && ((mr->kind != SROCE_MR_USER && mr->kind != SROCE_MR_DM) ||
		   !atomic_inc_unless_negative(&mr->windows))) {
		sroce_mr_put(mr);
		mr = NULL;
	}
	return mr;
}

static u8 bind_window(struct sroce_mw_slot *slot, struct ib_pd *pd, u32 qpn,
		      const struct sroce_wr *wr)
{
	struct sroce_mr *parent, *mr;
	u8 status;

	parent = get_parent(pd, wr);
	if (!parent)
		return SROCE_MW_BIND_ERR;
	mr = make_binding(parent, slot->type == IB_MW_TYPE_2 ? qpn : 0, wr);
	if (!mr) {
		atomic_dec(&parent->windows);
		sroce_mr_put(parent);
		return SROCE_MW_BIND_ERR;
	}
	status = replace_binding(slot, mr);
	if (status)
		end_binding(mr);
	return status;
}

u8 sroce_mw_bind(struct ib_pd *pd, u32 qpn, const struct sroce_wr *wr)
{
	u8 status = SROCE_MW_BIND_ERR;
	struct sroce_mr *mr;

	rcu_read_lock();
	mr = sroce_mr_find_slot(sroce_device(pd->device), wr->bind.key);
	if (mr && mr->ib.pd == pd) {
		if (wr->bind.bytes)
			status = bind_window(to_slot(mr), pd, qpn, wr);
		else if (to_slot(mr)->type == IB_MW_TYPE_1)
			status = replace_binding(to_slot(mr), NULL);
	}
	rcu_read_unlock();
	return status;
}

static struct sroce_mr *take_binding(struct sroce_mw_slot *slot, u32 qpn,
				     u32 key)
{
	struct sroce_mr *mr;

	spin_lock_bh(&slot->lock);
	mr = is_bound(slot);
	if (mr && mr->qpn == qpn && mr->key == key)
		RCU_INIT_POINTER(slot->mr.binding, NULL);
	else
		mr = NULL;
	spin_unlock_bh(&slot->lock);
	return mr;
}

u8 sroce_mw_invalidate(struct ib_pd *pd, u32 qpn, u32 key)
{
	struct sroce_mr *mr, *old = NULL;

	rcu_read_lock();
	mr = sroce_mr_find_slot(sroce_device(pd->device), key);
	if (mr && mr->ib.pd == pd)
		old = take_binding(to_slot(mr), qpn, key);
	rcu_read_unlock();
	if (!old)
		return SROCE_MW_BIND_ERR;
	end_binding(old);
	return 0;
}

int sroce_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct sroce_mw *mw = container_of(ibmw, struct sroce_mw, ib);
	struct sroce_mw_slot *slot;
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;
	slot = kzalloc_obj(*slot, GFP_KERNEL_ACCOUNT);
	if (!slot)
		return -ENOMEM;
	slot->mr.kind = SROCE_MR_SLOT;
	slot->mr.ib.pd = ibmw->pd;
	slot->type = ibmw->type;
	spin_lock_init(&slot->lock);
	err = sroce_mr_publish(&slot->mr);
	if (err) {
		kfree(slot);
		return err;
	}
	mw->slot = slot;
	ibmw->rkey = slot->mr.ib.rkey;
	return 0;
}

int sroce_dealloc_mw(struct ib_mw *ibmw)
{
	struct sroce_mw *mw = container_of(ibmw, struct sroce_mw, ib);
	struct sroce_mw_slot *slot = mw->slot;
	struct sroce_mr *old;

	sroce_mr_unpublish(&slot->mr);
	spin_lock_bh(&slot->lock);
	slot->gone = true;
	old = is_bound(slot);
	RCU_INIT_POINTER(slot->mr.binding, NULL);
	spin_unlock_bh(&slot->lock);
	/*
	 * With PREEMPT_RT this task could preempt the softirq that it waits
	 * for.
	 */
	local_bh_disable();
	end_binding(old);
	local_bh_enable();
	/* Concurrent lookups see @gone and leave the slot alone. */
	kfree_rcu(slot, mr.rcu);
	return 0;
}
