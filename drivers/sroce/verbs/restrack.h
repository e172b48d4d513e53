/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RESTRACK_H
#define SROCE_RESTRACK_H

#include <rdma/ib_verbs.h>

/* ib_device_ops: details for "rdma resource show ...  -dd" */
int sroce_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp);
int sroce_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq);
int sroce_fill_res_srq_entry(struct sk_buff *msg, struct ib_srq *ibsrq);
int sroce_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr);
int sroce_fill_stat_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr);

#endif /* SROCE_RESTRACK_H */
