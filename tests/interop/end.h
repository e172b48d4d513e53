/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* One device of two that exchange messages, and its side of a pair of QPs. */
#ifndef INTEROP_END_H
#define INTEROP_END_H

#include "qp_pair.h"

/* An end's memory: the source half, then the target half. */
#define HALF		((size_t)2 << 20)
#define MAX_MESSAGES	64
#define READS		4

/**
 * struct end - one device and its side of a pair of QPs
 * @side: the QP and its other objects
 * @options: its attributes; @psn is the first one that it sends
 * @source: HALF bytes that nobody writes to over the network
 * @target: HALF bytes behind them
 * @atomic_write: has atomic WRITEs; QPs that are to send them are extended
 */
struct end {
	struct host host;
	struct side side;
	struct options options;
	uint8_t *source;
	uint8_t *target;
	bool atomic_write;
};

/* Ends the program on failure. */
void end_open(struct end *end, const char *device, int gid_index);

/* New QPs at both ends, in RTS; returns false and prints the reason on failure. */
bool ends_connect(struct end *a, struct end *b, enum ibv_qp_type type,
		  enum ibv_mtu mtu);
void ends_disconnect(struct end *a, struct end *b);

#endif /* INTEROP_END_H */
