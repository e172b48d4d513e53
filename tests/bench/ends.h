/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Both ends of connections in one process (tests/lib/qp_pair.h). Devices and GID
 * indices are in the environment: D1, G1, D2, G2.
 */
#ifndef BENCH_ENDS_H
#define BENCH_ENDS_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "qp_pair.h"

#define UNSUPPORTED	77

/* Their QPs share the completion queues and the memory. */
static struct side a, b;
/* The memory of side a, registered at side b. */
static struct ibv_mr *target;
static struct options options = {
	.sge = 1, .sig_all = true, .rd_atomic = 16,
};

static inline void need(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(errno == ENOMEM || errno == EOPNOTSUPP ? UNSUPPORTED : 1);
}

static inline double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static inline void limit_reads(const struct host *host)
{
	struct ibv_device_attr attr;

	need(!ibv_query_device(host->context, &attr), "device");
	if (attr.max_qp_rd_atom < options.rd_atomic)
		options.rd_atomic = attr.max_qp_rd_atom;
}

/* One memory for both ends: a message is copied to where it already is. */
static inline void ends_open(size_t size, int cqes)
{
	fabric_open();
	limit_reads(&hosts[0]);
	limit_reads(&hosts[1]);
	options.mtu = hosts[0].mtu;
	options.size = size;
	options.cqe = cqes;
	need(side_open(&a, &hosts[0], &options, false), "side a");
	options.size = 1;
	need(side_open(&b, &hosts[1], &options, false), "side b");
	target = ibv_reg_mr(b.pd, a.buf, size, ALL_ACCESS);
	need(target != NULL, "MR");
}

/* Two QPs connected; returns the one that sends. */
static inline struct ibv_qp *connection(int depth)
{
	options.wr = depth;
	need(side_qp(&a, &options) && side_qp(&b, &options) &&
	     side_connect(&a, &b, &options) && side_connect(&b, &a, &options),
	     "QPs");
	return a.qp;
}

#endif /* BENCH_ENDS_H */
