/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_XRC_H
#define SROCE_XRC_H

#include <rdma/ib_verbs.h>

struct sroce_qp;
struct sroce_srq;

/* An XRC domain has no state here; the RDMA core tracks its members. */
struct sroce_xrcd {
	struct ib_xrcd ib;
};

/*
 * Table of SRQ numbers.  Context: loading the module.  Return: 0 or an errno.
 */
int sroce_xrc_table_init(void);
/* Context: unloading the module, after all SRQs are gone. */
void sroce_xrc_table_exit(void);

/**
 * sroce_xrc_publish() - assign an SRQ number and let packets find it
 * @srq: XRC SRQ, fully initialized
 *
 * Context: process, may sleep.  Return: 0 or an errno.
 */
int sroce_xrc_publish(struct sroce_srq *srq);

/**
 * sroce_xrc_unpublish() - remove the SRQ from lookups
 * @srq: XRC SRQ
 *
 * Context: process, may sleep.  No QP uses the SRQ when this returns.
 */
void sroce_xrc_unpublish(struct sroce_srq *srq);

/*
 * Drop the reference that sroce_xrc_srq_release() returned; the SRQ may be
 * freed then.
 */
void sroce_xrc_srq_put(struct sroce_srq *srq);

/**
 * sroce_xrc_srq_get() - select the SRQ that a request names
 * @qp: XRC target QP, rq.lock held
 * @srqn: number of the SRQ
 *
 * Until the next call or the end of the lock section the QP takes receive WQEs
 * from this SRQ, completes them to its CQ, and checks keys against its PD.
 *
 * Return: false if the QP's XRC domain has no such SRQ.
 */
bool sroce_xrc_srq_get(struct sroce_qp *qp, u32 srqn);

/**
 * sroce_xrc_srq_valid() - select the SRQ of the message in progress
 * @qp: XRC target QP, rq.lock held
 *
 * Return: false also if the message has taken a WQE of an SRQ that was
 * destroyed: another SRQ may have its number by now.
 */
bool sroce_xrc_srq_valid(struct sroce_qp *qp);

/**
 * sroce_xrc_srq_release() - deselect the SRQ
 * @qp: XRC target QP, rq.lock held
 *
 * Return: the SRQ, or NULL.  The caller owns the reference.
 */
struct sroce_srq *sroce_xrc_srq_release(struct sroce_qp *qp);

/* ib_device_ops */
int sroce_alloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata);
int sroce_dealloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata);

#endif /* SROCE_XRC_H */
