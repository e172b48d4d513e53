/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_TX_H
#define SROCE_TX_H

#include "../core/params.h"
#include "burst.h"

/**
 * sroce_burst_send() - transmit a burst
 * @burst: burst; empty and reusable afterwards
 *
 * Return: 0; ENOBUFS if this host's transmit queue is full.  Packets that a
 * firewall drops or that meet a missing link count as lost in the network.
 */
int sroce_burst_send(struct sroce_burst *burst);

/* The receiver is done with the packet: drop what it references. */
void sroce_looped_done(struct sroce_looped *looped);

/* Bursts of both sides of the QP in this host's queues. */
static inline u32 sroce_tx_bursts(const struct sroce_qp *qp)
{
	return atomic_read(&qp->sq.path.bursts) +
	       atomic_read(&qp->rq.path.bursts);
}

/* True if the QP is below its limit. */
static inline bool sroce_tx_ready(const struct sroce_qp *qp)
{
	return sroce_tx_bursts(qp) < SROCE_TX_LIMIT;
}

enum sroce_order {
	SROCE_ORDER_KEPT,	/* transmit */
	SROCE_ORDER_WAKES,	/* wait; the QP's work item will run */
	SROCE_ORDER_WAITS,	/* wait; try again in SROCE_ORDER_NS */
};

/**
 * sroce_tx_in_order() - may this CPU transmit without reordering?
 * @qp: the QP
 * @path: route of the sending side; becomes this CPU's on success
 *
 * Virtual devices queue packets on the sender's CPU, so packets sent from two
 * CPUs would overtake each other.  While packets from another CPU are queued,
 * the QP's work item runs where their destructor runs; for those devices this
 * is that CPU.  Only UC also has to wait until the receiver's stack has
 * finished.  Requests and responses may overtake each other: a side that
 * streams does not block the other.
 *
 * Context: bottom halves off; lock that protects @path held.
 * Return: SROCE_ORDER_KEPT if it may
 */
enum sroce_order sroce_tx_in_order(struct sroce_qp *qp,
				   struct sroce_path *path);

/**
 * sroce_tx_wait() - run the QP's work item when there is room
 * @qp: the QP
 *
 * Return: false if there is room already.
 */
bool sroce_tx_wait(struct sroce_qp *qp);

/**
 * sroce_tx_room() - may a connected QP send a burst now?
 * @qp: the QP; the lock of the sending side is held
 * @todo: what its work item resumes when there is room
 *
 * Return: true if it may; otherwise the QP is woken when there is room
 */
bool sroce_tx_room(struct sroce_qp *qp, enum sroce_qp_todo todo);

#endif /* SROCE_TX_H */
