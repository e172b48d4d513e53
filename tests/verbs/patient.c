// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * For LD_PRELOAD: gives the QPs of a program a timeout of one second, where it has no option for that. ibv_rc_pingpong gives up after
 * seven times 67 ms, but the other guest of a busy host may stand still for longer.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>

#define SECOND	18

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int (*modify)(struct ibv_qp *, struct ibv_qp_attr *, int) = dlsym(RTLD_NEXT, "ibv_modify_qp");
	struct ibv_qp_attr patient = *attr;

	if (mask & IBV_QP_TIMEOUT)
		patient.timeout = SECOND;
	return modify(qp, &patient, mask);
}
