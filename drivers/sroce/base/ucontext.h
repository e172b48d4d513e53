/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_BASE_UCONTEXT_H
#define SROCE_BASE_UCONTEXT_H

#include <linux/mutex.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

struct sroce_wmem;

/**
 * struct sroce_qp_by_slot - the QPs of a context
 * @qps: by slot number; RCU.  UD QPs with a pending doorbell batch are marked
 * @rcu: a kick may still read it when the RDMA core frees the context
 */
struct sroce_qp_by_slot {
	struct xarray qps;
	struct rcu_head rcu;
};

#define SROCE_SLOT_BATCHING XA_MARK_0

/**
 * struct sroce_ucontext - a process's open device
 * @ib: the RDMA core's part; first member
 * @lock: serializes slot allocation; protects @pages
 * @pages: doorbell pages by number; those with a free slot are marked.  A page is kept
 *	until the context is freed
 * @num_members: memberships in multicast groups; protected by net/mcast.c's
 *	lock
 * @by_slot: QPs that the kick file finds by their doorbell slots
 * @wmem: account to which its packets are charged
 */
struct sroce_ucontext {
	struct ib_ucontext ib;
	struct mutex lock; /* slot allocation */
	struct xarray pages;
	u32 num_members;
	struct sroce_qp_by_slot *by_slot;
	struct sroce_wmem *wmem;
};

static inline struct sroce_ucontext *sroce_ucontext(struct ib_ucontext *ibctx)
{
	return container_of(ibctx, struct sroce_ucontext, ib);
}

/* The context of a verb that a process called; NULL for the kernel. */
#define sroce_udata_ucontext(udata) \
	rdma_udata_to_drv_context(udata, struct sroce_ucontext, ib)

#endif /* SROCE_BASE_UCONTEXT_H */
