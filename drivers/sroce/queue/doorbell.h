/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_DOORBELL_H
#define SROCE_DOORBELL_H

#include <linux/mutex.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include <sroce_ring.h>

struct sroce_qp;
struct sroce_queue_mem;
struct sroce_wmem;

/**
 * struct sroce_qp_by_slot - the QPs of a context
 * @qps: by slot number; RCU. Those of datagrams that gather posts are marked
 * @rcu: a kick may still look at it when the RDMA core frees the context
 */
struct sroce_qp_by_slot {
	struct xarray qps;
	struct rcu_head rcu;
};

#define SROCE_SLOT_BATCHING XA_MARK_0

/**
 * struct sroce_ucontext - a process's open device
 * @ib: what the RDMA core sees; first
 * @lock: serializes slot allocation; protects @pages and @num_pages
 * @pages: doorbell pages by number; those with a free slot are marked
 * @num_pages: of them; a page stays until the context goes
 * @num_members: of multicast groups; net/mcast.c's lock
 * @kicked: whom the kick file leads to
 * @wmem: what its packets are charged to
 */
struct sroce_ucontext {
	struct ib_ucontext ib;
	struct mutex lock; /* slot allocation */
	struct xarray pages;
	u32 num_pages;
	u32 num_members;
	struct sroce_qp_by_slot *kicked;
	struct sroce_wmem *wmem;
};

/**
 * struct sroce_doorbell - a doorbell slot
 * @mem: its 128 bytes, zeroed: struct sroce_qp_slot or sroce_cq_slot
 * @number: in the context
 * @page_offset: mmap offset of its page
 */
struct sroce_doorbell {
	void *mem;
	u32 number;
	u64 page_offset;
};

static inline struct sroce_ucontext *sroce_ucontext(struct ib_ucontext *ibctx)
{
	return container_of(ibctx, struct sroce_ucontext, ib);
}

/* The context of a verb that a process called; NULL for the kernel. */
#define sroce_udata_ucontext(udata) \
	rdma_udata_to_drv_context(udata, struct sroce_ucontext, ib)

/**
 * sroce_doorbell_alloc() - take a free doorbell slot of a context
 * @ctx: the context
 * @slot: result
 *
 * Context: process, may sleep.  Return: 0 or an errno.
 */
int sroce_doorbell_alloc(struct sroce_ucontext *ctx, struct sroce_doorbell *slot);

/* Give it back; nothing in the kernel may look at it any more. */
void sroce_doorbell_free(struct sroce_ucontext *ctx, struct sroce_doorbell *slot);

/* Let kicks of @slot find @qp, or (NULL) nobody.  May sleep. */
int sroce_doorbell_set_qp(struct sroce_ucontext *ctx, struct sroce_doorbell *slot,
			  struct sroce_qp *qp);

/* Prepare a new context for sroce_doorbell_alloc(). */
void sroce_doorbells_init(struct sroce_ucontext *ctx);
/* Free the pages.  No slot is in use any more. */
void sroce_doorbells_exit(struct sroce_ucontext *ctx);

#endif /* SROCE_DOORBELL_H */
