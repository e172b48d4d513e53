/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_TX_H
#define SROCE_TX_H

#include "burst.h"

/*
 * When this host's queue has refused a QP's packets so many times in a row,
 * they are lost, and that is left to the peers' retries.
 */
#define SROCE_MAX_PAUSES	100
/* Time for it to drain before the next attempt. */
#define SROCE_PAUSE_NS		(200 * NSEC_PER_USEC)
/* Bursts of a QP between transmission and the end of the queues. */
#define SROCE_TX_LIMIT		32
/*
 * Those of datagrams, which do not wait for ever: more than this are dropped.  A
 * queue of the kernel that is full by itself (nfnetlink_queue, 1024) drops before.
 */
#define SROCE_TX_MOST		2048

/**
 * sroce_burst_send() - finish and transmit all packets of the burst
 * @burst: empty afterwards, ready for more
 *
 * Return: 0; ENOBUFS if this host's transmit queue is full.  What a firewall
 * or a missing link has dropped counts as lost on the way.
 */
int sroce_burst_send(struct sroce_burst *burst);

/* Of both halves, in this host's queues */
static inline u32 sroce_tx_bursts(const struct sroce_qp *qp)
{
	return atomic_read(&qp->sq.path.bursts) +
	       atomic_read(&qp->rq.path.bursts);
}

/* May the QP send more, or is too much of it in the queues already? */
static inline bool sroce_tx_ready(const struct sroce_qp *qp)
{
	return sroce_tx_bursts(qp) < SROCE_TX_LIMIT;
}

enum sroce_order {
	SROCE_ORDER_KEPT,	/* transmit */
	SROCE_ORDER_WAKES,	/* not now; the QP's work runs in time */
	SROCE_ORDER_WAITS,	/* not now; try again in SROCE_ORDER_NS */
};

/* Of UC: time until the next attempt on another CPU */
#define SROCE_ORDER_NS	NSEC_PER_MSEC

/**
 * sroce_tx_in_order() - may this processor transmit?
 * @qp: the QP
 * @path: of which half; becomes this processor's if it may
 *
 * Virtual devices queue what is sent on the sender's processor, so packets
 * sent from two would overtake each other.  While packets from another
 * processor are under way, the QP's work runs where they end, which for those
 * devices is that processor.  Only UC has to wait for those that the receiving
 * side has begun with.  Requests and answers may overtake each other: a half
 * that streams is no reason for the other to be silent.
 *
 * Context: bottom halves off, the lock of @path held.
 */
enum sroce_order sroce_tx_in_order(struct sroce_qp *qp,
				   struct sroce_path *path);

/**
 * sroce_tx_wait() - have the QP's work run when there is room again
 * @qp: the QP
 *
 * Return: false if there is room already.
 */
bool sroce_tx_wait(struct sroce_qp *qp);

/**
 * sroce_tx_room() - may a connected QP send a burst now?
 * @qp: the QP, the lock of the half that sends held
 * @todo: what its work is to go on with when there is room again
 */
bool sroce_tx_room(struct sroce_qp *qp, enum sroce_qp_todo todo);

/* Waits until no packet of ours is under way on this host. */
void sroce_tx_drain(void);

#endif /* SROCE_TX_H */
