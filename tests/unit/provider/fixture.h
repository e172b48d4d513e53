/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Objects that most tests need: a context, a protection domain, queues.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "fake.h"
#include "tap.h"

#define NUM(array)	(sizeof(array) / sizeof((array)[0]))

struct fixture {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
};

void fixture_open(struct fixture *fx);
void fixture_close(struct fixture *fx);
struct ibv_qp_init_attr_ex fixture_qp_attr(const struct fixture *fx,
					   enum ibv_qp_type type);
struct ibv_qp *fixture_qp(const struct fixture *fx, enum ibv_qp_type type,
			  bool extended);
void set_state(struct ibv_qp *qp, enum ibv_qp_state state);

#endif /* FIXTURE_H */
