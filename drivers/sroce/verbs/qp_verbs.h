/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_QP_VERBS_H
#define SROCE_QP_VERBS_H

#include "../queue/qp.h"

/* ib_device_ops */
int sroce_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		    struct ib_udata *udata);
int sroce_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);

#endif /* SROCE_QP_VERBS_H */
