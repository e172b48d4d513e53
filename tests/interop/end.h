/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef INTEROP_END_H
#define INTEROP_END_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An end's memory: what it sends from, then what it receives into. */
#define HALF		((size_t)2 << 20)
#define MAX_MESSAGES	64
#define READS		4
#define QKEY		0x11111111

/**
 * struct end - one device and its side of a pair of QPs
 * @name: of the device
 * @source: HALF bytes that nobody writes to over the network
 * @target: HALF bytes behind them
 * @psn: first PSN that it sends
 * @timeout: the QP attribute
 * @atomic_write: has atomic WRITEs; QPs that are to send them are extended
 */
struct end {
	const char *name;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	uint8_t *source;
	uint8_t *target;
	int gid_index;
	union ibv_gid gid;
	uint32_t psn;
	uint8_t timeout;
	bool atomic_write;
};

/* Ends the program if it cannot. */
void end_open(struct end *end, const char *device, int gid_index);

/* New QPs at both ends, in RTS; returns false and says why if it cannot. */
bool ends_connect(struct end *a, struct end *b, enum ibv_qp_type type,
		  enum ibv_mtu mtu);
void ends_disconnect(struct end *a, struct end *b);

#endif /* INTEROP_END_H */
