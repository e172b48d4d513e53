// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows.  The key of a window keeps its entry in the key table as long
 * as the window exists.  The entry is a region that is closed while the window
 * is not bound.  Binding points it at the memory of another region.
 */
#include <linux/slab.h>
#include "../base/udata.h"
#include "../core/errors.h"
#include "mw.h"

/* The region has to have these, too. */
#define WINDOW_FLUSH (IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT)

/* A window's local rights have no effect. */
#define WINDOW_ACCESS							\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |		\
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |		\
	 WINDOW_FLUSH | IB_ZERO_BASED | IB_ACCESS_OPTIONAL)

/**
 * struct sroce_mw_slot - key table entry of a window
 * @mr: in the key table; first member
 * @type: IB_MW_TYPE_1 or 2
 * @lock: protects binding and invalidating, and @gone
 * @parent: the region that the window is bound to and counted in, or NULL
 * @gone: the window has been deallocated
 */
struct sroce_mw_slot {
	struct sroce_mr mr;
	u8 type;
	spinlock_t lock; /* see above */
	struct sroce_mr *parent;
	bool gone;
};

static struct sroce_mw_slot *to_slot(struct sroce_mr *mr)
{
	return container_of(mr, struct sroce_mw_slot, mr);
}

/* Context: RCU read side. */
static struct sroce_mw_slot *find_slot(struct ib_pd *pd, u32 key)
{
	struct sroce_mr *mr;

	mr = sroce_mr_lookup(sroce_device(pd->device), key, SROCE_MR_WINDOW);
	return mr && mr->ib.pd == pd ? to_slot(mr) : NULL;
}

/* When it returns, nobody uses the memory through the window. */
static void unbind(struct sroce_mw_slot *slot)
{
	lockdep_assert_held(&slot->lock);
	if (!slot->parent)
		return;
	sroce_mr_close(&slot->mr);
	atomic_dec(&slot->parent->windows);
	slot->parent = NULL;
}

/* The window is closed, so nobody reads the members changed here. */
static void point_at(struct sroce_mw_slot *slot, struct sroce_mr *parent,
		     u32 qpn, const struct sroce_wr *wr)
{
	struct sroce_mr *mr = &slot->mr;

	lockdep_assert_held(&slot->lock);
	mr->key = wr->bind.key;
	mr->block_shift = parent->block_shift;
	mr->blocks = parent->blocks;
	mr->odp = parent->odp;
	mr->skip = parent->skip + wr->bind.addr - parent->iova;
	mr->access = wr->bind.access & WINDOW_ACCESS & ~IB_ACCESS_LOCAL_WRITE;
	mr->iova = wr->bind.access & IB_ZERO_BASED ? 0 : wr->bind.addr;
	mr->length = wr->bind.bytes;
	mr->qpn = slot->type == IB_MW_TYPE_2 ? qpn : 0;
	slot->parent = parent;
	sroce_mr_open(mr);
}

/*
 * False while the command that registers @mr may still fail.  A failed command
 * deregisters the region, which must not find a window then, but the process may
 * have read the key already.  Needs no lock: the reference to @mr delays the end of
 * the region, and the object of uverbs stays in its list until after that.
 */
static bool registered(struct sroce_mr *mr)
{
	struct ib_uobject *uobj = READ_ONCE(mr->ib.uobject);

	return uobj && !list_empty(&uobj->list);
}

/*
 * The region to bind to, or NULL.  Being counted in @windows keeps it as it is
 * until the window is unbound.
 */
static struct sroce_mr *count_parent(struct ib_pd *pd, const struct sroce_wr *wr)
{
	const int writes = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC;
	int access = IB_ACCESS_MW_BIND;
	struct sroce_mr *mr;
	bool counted;

	if (wr->bind.access & ~WINDOW_ACCESS)
		return NULL;
	if (wr->bind.access & writes)
		access |= IB_ACCESS_LOCAL_WRITE;
	access |= wr->bind.access & WINDOW_FLUSH;
	mr = sroce_mr_get(pd, 0, wr->bind.lkey, wr->bind.addr, wr->bind.bytes,
			  access);
	if (!mr)
		return NULL;
	counted = (mr->kind == SROCE_MR_USER || mr->kind == SROCE_MR_DM) &&
		  registered(mr) &&
		  atomic_inc_unless_negative(&mr->windows);
	sroce_mr_put(mr);
	return counted ? mr : NULL;
}

/* Bind the window to @parent, or to nothing if that is NULL. */
static u8 bind_slot(struct sroce_mw_slot *slot, struct sroce_mr *parent,
		    u32 qpn, const struct sroce_wr *wr)
{
	u8 status = SROCE_MW_BIND_ERR;

	spin_lock_bh(&slot->lock);
	if (!slot->gone && (slot->type == IB_MW_TYPE_1 || !slot->parent)) {
		unbind(slot);
		if (parent)
			point_at(slot, parent, qpn, wr);
		status = 0;
	}
	spin_unlock_bh(&slot->lock);
	return status;
}

static u8 bind_window(struct sroce_mw_slot *slot, struct ib_pd *pd, u32 qpn,
		      const struct sroce_wr *wr)
{
	struct sroce_mr *parent = count_parent(pd, wr);
	u8 status;

	if (!parent)
		return SROCE_MW_BIND_ERR;
	status = bind_slot(slot, parent, qpn, wr);
	if (status)
		atomic_dec(&parent->windows);
	return status;
}

u8 sroce_mw_bind(struct ib_pd *pd, u32 qpn, const struct sroce_wr *wr)
{
	u8 status = SROCE_MW_BIND_ERR;
	struct sroce_mw_slot *slot;

	rcu_read_lock();
	slot = find_slot(pd, wr->bind.key);
	if (slot && wr->bind.bytes)
		status = bind_window(slot, pd, qpn, wr);
	else if (slot && slot->type == IB_MW_TYPE_1)
		status = bind_slot(slot, NULL, qpn, wr);
	rcu_read_unlock();
	return status;
}

u8 sroce_mw_invalidate(struct ib_pd *pd, u32 qpn, u32 key)
{
	u8 status = SROCE_MW_BIND_ERR;
	struct sroce_mw_slot *slot;

	rcu_read_lock();
	slot = find_slot(pd, key);
	if (slot) {
		spin_lock_bh(&slot->lock);
		if (slot->parent && slot->mr.qpn == qpn && slot->mr.key == key) {
			unbind(slot);
			status = 0;
		}
		spin_unlock_bh(&slot->lock);
	}
	rcu_read_unlock();
	return status;
}

int sroce_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct sroce_mw *mw = container_of(ibmw, struct sroce_mw, ib);
	struct sroce_mw_slot *slot;
	struct sroce_mr *mr;
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;
	mr = sroce_mr_alloc(sizeof(*slot), ibmw->pd, SROCE_MR_WINDOW, 0);
	if (!mr)
		return -ENOMEM;
	atomic_set(&mr->windows, -1);
	slot = to_slot(mr);
	slot->type = ibmw->type;
	spin_lock_init(&slot->lock);
	err = sroce_mr_publish(mr);
	if (err) {
		kfree(slot);
		return err;
	}
	mw->slot = slot;
	ibmw->rkey = mr->ib.rkey;
	return 0;
}

int sroce_dealloc_mw(struct ib_mw *ibmw)
{
	struct sroce_mw *mw = container_of(ibmw, struct sroce_mw, ib);
	struct sroce_mw_slot *slot = mw->slot;

	sroce_mr_unpublish(&slot->mr);
	spin_lock_bh(&slot->lock);
	slot->gone = true;
	unbind(slot);
	spin_unlock_bh(&slot->lock);
	/* Concurrent lookups see @gone and leave the slot alone. */
	kfree_rcu(slot, mr.rcu);
	return 0;
}
