/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_XRC_H
#define SROCE_XRC_H

#include <rdma/ib_verbs.h>

struct sroce_qp;
struct sroce_srq;

/* A domain has no state of its own: the RDMA core counts who is in it. */
struct sroce_xrcd {
	struct ib_xrcd ib;
};

/* The table of numbers.  Context: loading the module.  Return: 0 or errno. */
int sroce_xrc_table_init(void);
/* Context: unloading it; no SRQ is left. */
void sroce_xrc_table_exit(void);

/**
 * sroce_xrc_publish() - give an SRQ a number, and let packets find it
 * @srq: of type XRC, complete
 *
 * Context: process, may sleep.  Return: 0 or an errno.
 */
int sroce_xrc_publish(struct sroce_srq *srq);

/**
 * sroce_xrc_unpublish() - no packet finds the SRQ any more
 * @srq: of type XRC
 *
 * Context: process, may sleep.  Nobody uses it when this returns.
 */
void sroce_xrc_unpublish(struct sroce_srq *srq);

/* Give back what sroce_xrc_srq_release() has returned: after it the queue may go. */
void sroce_xrc_srq_put(struct sroce_srq *srq);

/**
 * sroce_xrc_srq_get() - go on with the SRQ that a request names
 * @qp: XRC target, rq.lock held
 * @srqn: number of the SRQ
 *
 * Until the next call, or the unlocking, receive requests are that SRQ's,
 * completions go to its CQ, and keys are those of its protection domain.
 *
 * Return: false if the QP's domain has no such SRQ.
 */
bool sroce_xrc_srq_get(struct sroce_qp *qp, u32 srqn);

/**
 * sroce_xrc_srq_valid() - the same for the message in progress
 * @qp: XRC target, rq.lock held
 *
 * Return: false also if the message has taken a receive request of an SRQ that
 * is gone: another may have its number by now.
 */
bool sroce_xrc_srq_valid(struct sroce_qp *qp);

/**
 * sroce_xrc_srq_release() - go on with no SRQ
 * @qp: XRC target, rq.lock held
 *
 * Return: the SRQ it was, or NULL.  The caller's is the reference now.
 */
struct sroce_srq *sroce_xrc_srq_release(struct sroce_qp *qp);

/* ib_device_ops */
int sroce_alloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata);
int sroce_dealloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata);

#endif /* SROCE_XRC_H */
