// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>

#include "fixture.h"

static void must(const void *object)
{
	if (!object)
		abort();
}

void fixture_open(struct fixture *fx)
{
	memset(&fake, 0, sizeof(fake));
	fx->context = fake_open();
	must(fx->context);
	fx->pd = ibv_alloc_pd(fx->context);
	must(fx->pd);
	fx->cq = ibv_create_cq(fx->context, 8, NULL, NULL, 0);
	must(fx->cq);
}

void fixture_close(struct fixture *fx)
{
	ok(!ibv_destroy_cq(fx->cq), "destroy CQ");
	ok(!ibv_dealloc_pd(fx->pd), "dealloc PD");
	ok(!fake.mapped, "nothing is left mapped");
	fake_close(fx->context);
}

/* Four entries in each queue, three SGEs, 80 bytes inline. */
struct ibv_qp_init_attr_ex fixture_qp_attr(const struct fixture *fx,
					   enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = fx->cq,
		.recv_cq = fx->cq,
		.cap = {
			.max_send_wr = 4,
			.max_recv_wr = 4,
			.max_send_sge = 3,
			.max_recv_sge = 3,
			.max_inline_data = 80,
		},
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = fx->pd,
	};
}

/* Makes a QP in the state RTS. */
struct ibv_qp *fixture_qp(const struct fixture *fx, enum ibv_qp_type type,
			  bool extended)
{
	struct ibv_qp_init_attr_ex attr = fixture_qp_attr(fx, type);
	struct ibv_qp *qp;

	if (extended) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	}
	qp = ibv_create_qp_ex(fx->context, &attr);
	must(qp);
	set_state(qp, IBV_QPS_RTS);
	return qp;
}

void set_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		abort();
}
