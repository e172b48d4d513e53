/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_TX_H
#define SROCE_TX_H

#include <linux/skbuff.h>
#include "copy.h"
#include "core/parse.h"
#include "qp.h"

/* Payload of up to this many bytes is copied: cheaper than a reference. */
#define SROCE_COPY_BREAK	256
#define SROCE_BURST_PACKETS	64
/* UDP payload of a burst; IP's length field has 16 bits. */
#define SROCE_BURST_BYTES	(65535 - 40 - 8 - 4096)
/*
 * When this host's queue has refused a QP's packets so many times in a row,
 * they are lost, and that is left to the peers' retries.
 */
#define SROCE_MAX_PAUSES	100
/* Time for it to drain before the next attempt. */
#define SROCE_PAUSE_NS		(200 * NSEC_PER_USEC)
/* Bursts of a QP between ip_local_out() and the end of the queues. */
#define SROCE_TX_LIMIT		32

/**
 * struct sroce_burst - packets to one destination that travel together
 * @qp: the sender
 * @av: where to
 * @path: route; the lock of its side is held
 * @head: first packet; the others are in its frag_list when it leaves
 * @last: last packet
 * @packets: how many
 * @bytes: UDP payload
 * @grip: memory region used last
 *
 * A packet's skb->data is at its BTH until sroce_burst_send().
 */
struct sroce_burst {
	struct sroce_qp *qp;
	const struct sroce_av *av;
	struct sroce_path *path;
	struct sk_buff *head;
	struct sk_buff *last;
	u32 packets;
	u32 bytes;
	struct sroce_grip grip;
};

static inline void sroce_burst_begin(struct sroce_burst *burst,
				     struct sroce_qp *qp,
				     const struct sroce_av *av,
				     struct sroce_path *path)
{
	burst->qp = qp;
	burst->av = av;
	burst->path = path;
	burst->head = NULL;
	burst->last = NULL;
	burst->packets = 0;
	burst->bytes = 0;
	burst->grip.mr = NULL;
}

/* Will one more packet of @payload bytes fit? */
static inline bool sroce_burst_fits(const struct sroce_burst *burst,
				    u32 payload)
{
	return burst->packets < SROCE_BURST_PACKETS &&
	       burst->bytes + payload < SROCE_BURST_BYTES;
}

/**
 * sroce_burst_add() - append a packet
 * @burst: the burst; sroce_burst_fits()
 * @pkt: headers; payload and pad say how long the rest is
 * @from: memory that has the payload, or NULL if it is @data
 * @at: offset of the payload in @from, bytes
 * @data: payload in kernel memory
 * @copy: do not attach pages (their owner may change them while the packet
 *	is under way, which would spoil its ICRC)
 *
 * Return: 0; ENOMEM; ENETUNREACH without a route; EMSGSIZE or EFAULT if @from
 * does not have the bytes.
 */
int sroce_burst_add(struct sroce_burst *burst, const struct sroce_pkt *pkt,
		    const struct sroce_memory *from, u32 at, const void *data,
		    bool copy);

/* Let the last packet ask for an acknowledgment. */
static inline void sroce_burst_ask(struct sroce_burst *burst)
{
	if (burst->last)
		burst->last->data[8] |= SROCE_BTH_ACKREQ;
}

/**
 * sroce_burst_send() - finish and transmit all packets of the burst
 * @burst: empty afterwards, ready for more
 *
 * Return: 0; ENOBUFS if this host's transmit queue is full.  What a firewall
 * or a missing link has dropped counts as lost on the way.
 */
int sroce_burst_send(struct sroce_burst *burst);

/* Forget packets that were not sent. */
void sroce_burst_drop(struct sroce_burst *burst);

/* May the QP send more, or is too much of it in the queues already? */
static inline bool sroce_tx_ready(struct sroce_qp *qp)
{
	return atomic_read(&qp->tx_bursts) < SROCE_TX_LIMIT;
}

/**
 * sroce_tx_in_order() - may this processor transmit?
 * @qp: the QP
 * @cpu: who transmitted last; becomes this processor
 *
 * Virtual devices queue what is sent on the sender's processor, so packets
 * sent from two would overtake each other.
 *
 * Context: bottom halves off, the lock of @cpu held.
 * Return: false if packets from another processor are still under way: the
 * QP's work runs where they end, which for those devices is that processor.
 */
bool sroce_tx_in_order(struct sroce_qp *qp, int *cpu);

/**
 * sroce_tx_wait() - have the QP's work run when there is room again
 * @qp: the QP
 *
 * Return: false if there is room already.
 */
bool sroce_tx_wait(struct sroce_qp *qp);

void sroce_path_release(struct sroce_path *path);

/* Waits until no packet of ours is under way on this host. */
void sroce_tx_drain(void);

#endif /* SROCE_TX_H */
