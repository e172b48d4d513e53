/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_FETCH_H
#define SROCE_FETCH_H

#include <rdma/sroce-abi.h>
#include "qp.h"

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
 * sroce_fetch_alloc() - memory for the private copies of send requests
 * @qp: the QP; nothing happens if it has it
 *
 * Context: process, may sleep.  Return: 0 or ENOMEM.
 */
int sroce_fetch_alloc(struct sroce_qp *qp);
void sroce_fetch_free(struct sroce_qp *qp);

/**
 * sroce_fetch_send() - copy all new entries out of the send ring
 * @qp: the QP, sq.lock held
 *
 * An entry that makes no sense is copied as a request that fails with the
 * status for it.
 *
 * Return: false if the tail is impossible: the QP must fail.
 */
bool sroce_fetch_send(struct sroce_qp *qp);

/* SGE list or inline data of a request in flight */
static inline void *sroce_fetch_list(const struct sroce_qp *qp, u32 index)
{
	return qp->sq.lists +
	       (size_t)(index & qp->sq.req.in.mask) * qp->sq.list_size;
}

enum sroce_fetched {
	SROCE_FETCHED,
	SROCE_FETCHED_NONE,
	SROCE_FETCHED_BAD,
};

/**
 * sroce_fetch_recv() - take the next entry out of the receive ring
 * @qp: the QP, rq.lock held; the result is in @qp->rq.wqe
 *
 * Return: SROCE_FETCHED_BAD if the tail is impossible or the entry malformed;
 * in the second case @qp->rq.wqe->wr_id is valid, else 0.
 */
enum sroce_fetched sroce_fetch_recv(struct sroce_qp *qp);

#endif /* SROCE_FETCH_H */
