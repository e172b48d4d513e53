/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_WQE_H
#define SROCE_WQE_H

#include <rdma/sroce-abi.h>
#include "qp.h"

/**
 * struct sroce_kernel_ud - operands of a datagram from a kernel user
 * @av: address vector of the address handle, which the user keeps until the
 *	completion
 * @remote_qpn: destination QP number
 * @remote_qkey: destination Q_Key
 * @pkey_index: P_Key index; GSI QPs only
 *
 * Replaces @ud of struct sroce_sqe in rings that no process can map.
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
 * @wr_id: wr_id of the work request
 * @num_sge: number of entries in @sge
 * @sge: buffers for the data
 */
struct sroce_recv_wqe {
	u64 wr_id;
	u32 num_sge;
	struct sroce_sge sge[];
};

/**
 * sroce_wqe_alloc() - allocate memory for private copies of send WQEs
 * @qp: the QP; no effect if the memory exists or there is no send ring
 *
 * Context: process, may sleep.  Return: 0 or ENOMEM.
 */
int sroce_wqe_alloc(struct sroce_qp *qp);
/* Undo sroce_wqe_alloc().  Context: process; the QP is not in use. */
void sroce_wqe_free(struct sroce_qp *qp);

/**
 * sroce_wqe_fetch_send() - copy new entries out of the send ring
 * @qp: the QP, sq.lock held
 * @most: maximum number of entries to copy
 *
 * The copy of a malformed entry carries the error status with which it
 * completes.
 *
 * Return: false if the tail is impossible, so that the QP must fail.
 */
bool sroce_wqe_fetch_send(struct sroce_qp *qp, u32 most);

/**
 * sroce_wqe_end() - read the tail of the send ring
 * @qp: the QP, sq.lock held
 *
 * Return: the tail.  If it is impossible, the index up to which entries have
 * been copied.
 */
u32 sroce_wqe_end(struct sroce_qp *qp);

/* Copy at most @most entries up to @end, a result of sroce_wqe_end(). */
void sroce_wqe_fetch_until(struct sroce_qp *qp, u32 end, u32 most);

/**
 * sroce_wqe_header() - copy the header of an entry without checks
 * @qp: the QP, sq.lock held
 * @index: index of the entry, before sroce_wqe_end()
 * @wr: result, without operands and status
 */
void sroce_wqe_header(const struct sroce_qp *qp, u32 index,
		      struct sroce_wr *wr);

/* SGE list or inline data of a copied WQE. */
static inline void *sroce_wqe_list(const struct sroce_qp *qp, u32 index)
{
	return qp->sq.ring.lists +
	       (size_t)(index & qp->sq.req.in.mask) * qp->sq.ring.list_size;
}

/**
 * sroce_wqe_fetch_recv() - take the next entry out of a receive ring
 * @dev: device whose counters are used
 * @ring: ring of a QP or an SRQ; the lock of its owner held
 * @wqe: result, with room for @ring->max_sge SGEs
 *
 * Return: enum sroce_fetched.
 */
enum sroce_fetched sroce_wqe_fetch_recv(struct sroce_device *dev,
					struct sroce_recv_ring *ring,
					struct sroce_recv_wqe *wqe);

#endif /* SROCE_WQE_H */
