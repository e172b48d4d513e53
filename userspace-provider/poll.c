// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibv_poll_cq()
 */
#include "cqe.h"

static void cqe_to_wc(const struct sroce_cqe *cqe, struct ibv_wc *wc)
{
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = cqe->opcode;
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	wc->imm_data = cqe->imm_data;
	wc->qp_num = cqe->qp_num;
	wc->src_qp = cqe->src_qp;
	wc->wc_flags = cqe->flags & SROCE_CQE_WC_FLAGS;
	wc->pkey_index = cqe->pkey_index;
	wc->slid = 0;
	wc->sl = cqe->sl;
	wc->dlid_path_bits = 0;
}

int sroce_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct sroce_cq *cq = to_sroce_cq(ibcq);
	const struct sroce_cqe *cqe;
	bool locked;
	int found;

	locked = sroce_lock(&cq->lock);
	for (found = 0; found < num_entries; found++) {
		cqe = cq_take(cq);
		if (!cqe)
			break;
		cqe_to_wc(cqe, wc + found);
	}
	if (found)
		cq_release(cq);
	sroce_unlock(&cq->lock, locked);
	if (!found)
		cq_was_empty(cq);
	return found;
}
