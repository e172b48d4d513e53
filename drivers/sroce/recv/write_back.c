// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * FLUSH to persistent memory: writes cache lines back.  Later requests must not be executed
 * before it ends (annex A19): a WRITE may say that the flushed data is valid.  So a long FLUSH
 * is like memory that is paged in: the peer tries again later.
 */
#include <linux/libnvdimm.h>
#include "../core/params.h"
#include "../mem/sgl.h"
#include "../queue/qp_run.h"
#include "rq.h"
#include "write_back.h"
#include "xrc.h"

/* Returns false if the key is refused. */
static bool write_back_range(struct sroce_qp *qp, u32 key, u64 addr, u32 len)
{
	struct sroce_sgl_iter w;
	u32 n;

	SROCE_REMOTE_SGL(memory, qp, addr, len, key, IB_ACCESS_FLUSH_PERSISTENT);

	sroce_sgl_iter_init(&w, &qp->rq.cache, &memory, 0, len);
	for (; len; len -= n) {
		void *p;

		n = len;
		p = sroce_sgl_iter_next(&w, &n);
		if (IS_ERR(p))
			return false;
		arch_wb_cache_pmem(p, n);
	}
	return true;
}

static u64 left_of(const struct sroce_write_back *w)
{
	return w->length - w->done;
}

static void write_back_piece(struct sroce_qp *qp)
{
	struct sroce_write_back *w = &qp->rq.write_back;
	u32 len = min_t(u64, left_of(w), SROCE_WRITE_BACK_BYTES);

	if (!write_back_range(qp, w->rkey, w->addr + w->done, len)) {
		/* The region is gone.  The peer's next attempt shows that. */
		w->begun = false;
		return;
	}
	/* Another CPU may respond, and its barrier would not wait for this one. */
	wmb();
	w->done += len;
	/* The next piece: sroce_resp_run() calls sroce_write_back_more(). */
	if (left_of(w))
		sroce_qp_wake(qp, BIT(SROCE_TODO_RESPOND));
}

/*
 * Is it a further attempt of the FLUSH that is being executed?  The region may have changed
 * since, or the peer may have been reset.
 */
static bool is_begun(const struct sroce_write_back *w, const struct sroce_pkt *pkt, u64 addr,
		     u64 length)
{
	return w->begun && w->psn == pkt->psn && w->rkey == pkt->rkey && w->addr == addr &&
	       w->length == length;
}

enum sroce_resp_error sroce_write_back(struct sroce_qp *qp, const struct sroce_pkt *pkt,
				       u64 addr, u64 length)
{
	struct sroce_write_back *w = &qp->rq.write_back;

	lockdep_assert_held(&qp->rq.lock);
	if (!is_begun(w, pkt, addr, length)) {
		*w = (struct sroce_write_back) {
			.addr = addr,
			.length = length,
			.psn = pkt->psn,
			.rkey = pkt->rkey,
			.srqn = pkt->srqn,
			.begun = true,
		};
		write_back_piece(qp);
	}
	if (!w->begun || left_of(w))
		return SROCE_PAGED_OUT;
	w->begun = false;
	return SROCE_NO_ERROR;
}

void sroce_write_back_more(struct sroce_qp *qp)
{
	struct sroce_write_back *w = &qp->rq.write_back;

	lockdep_assert_held(&qp->rq.lock);
	if (!sroce_rq_active(qp) || !w->begun || !left_of(w))
		return;
	if (!sroce_qp_target(qp) || sroce_xrc_srq_get(qp, w->srqn))
		write_back_piece(qp);
	else
		w->begun = false;
}
