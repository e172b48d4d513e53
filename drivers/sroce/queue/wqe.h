/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_WQE_H
#define SROCE_WQE_H

#include <rdma/sroce-abi.h>
#include "qp.h"

/**
 * struct sroce_kernel_ud - operands of a datagram that a kernel user posts
 * @av: of its address handle, which it keeps until the completion
 * @remote_qpn: destination
 * @remote_qkey: destination
 * @pkey_index: of the GSI QP
 *
 * In place of @ud of struct sroce_sqe, in rings that no process can map.
 */
struct sroce_kernel_ud {
	struct sroce_av *av;
	u32 remote_qpn;
	u32 remote_qkey;
	u16 pkey_index;
};

static_assert(sizeof(struct sroce_kernel_ud) <=
	      sizeof_field(struct sroce_sqe, ud));
static_assert(!(offsetof(struct sroce_sqe, ud) %
		__alignof__(struct sroce_kernel_ud)));

static inline struct sroce_kernel_ud *sroce_kernel_ud(struct sroce_sqe *sqe)
{
	return (struct sroce_kernel_ud *)&sqe->ud;
}

/**
 * struct sroce_recv_wqe - private copy of a receive request
 * @wr_id: the user's
 * @num_sge: entries of @sge
 * @sge: where the data goes
 */
struct sroce_recv_wqe {
	u64 wr_id;
	u32 num_sge;
	struct sroce_sge sge[];
};

/**
 * sroce_wqe_alloc() - memory for the private copies of send requests
 * @qp: the QP; nothing happens if it has it
 *
 * Context: process, may sleep.  Return: 0 or ENOMEM.
 */
int sroce_wqe_alloc(struct sroce_qp *qp);
/* Undoes that, if there is anything.  Context: process; nobody uses the QP. */
void sroce_wqe_free(struct sroce_qp *qp);

/**
 * sroce_wqe_fetch_send() - copy new entries out of the send ring
 * @qp: the QP, sq.lock held
 * @most: so many of them
 *
 * An entry that makes no sense is copied as a request that fails with the
 * status for it.
 *
 * Return: false if the tail is impossible: the QP must fail.
 */
bool sroce_wqe_fetch_send(struct sroce_qp *qp, u32 most);

/**
 * sroce_wqe_end() - how far the send ring is filled now
 * @qp: the QP, sq.lock held
 *
 * Return: the tail, or, if that is impossible, how far it has been copied.
 */
u32 sroce_wqe_end(struct sroce_qp *qp);

/* Copy entries up to @end, that of sroce_wqe_end(), but only so many. */
void sroce_wqe_fetch_until(struct sroce_qp *qp, u32 end, u32 most);

/**
 * sroce_wqe_header() - what an entry says of itself, unchecked
 * @qp: the QP, sq.lock held
 * @index: of the entry, before sroce_wqe_end()
 * @wr: result: all but operands and status
 */
void sroce_wqe_header(const struct sroce_qp *qp, u32 index,
		      struct sroce_wr *wr);

/* SGE list or inline data of a request in flight */
static inline void *sroce_wqe_list(const struct sroce_qp *qp, u32 index)
{
	return qp->sq.ring.lists +
	       (size_t)(index & qp->sq.req.in.mask) * qp->sq.ring.list_size;
}

/**
 * sroce_wqe_fetch_recv() - take the next entry out of a receive ring
 * @dev: whose counters to use
 * @ring: of a QP or an SRQ; its lock held
 * @wqe: result, with room for @ring->max_sge pieces
 *
 * Return: enum sroce_fetched.
 */
enum sroce_fetched sroce_wqe_fetch_recv(struct sroce_device *dev,
					struct sroce_recv_ring *ring,
					struct sroce_recv_wqe *wqe);

#endif /* SROCE_WQE_H */
