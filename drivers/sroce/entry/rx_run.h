/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RX_RUN_H
#define SROCE_RX_RUN_H

#include "../base/counters.h"
#include "../net/pkey.h"
#include "../net/rx_packet.h"
#include "../queue/qp.h"

/**
 * struct sroce_rx_run - consecutive packets for one QP, and the lock of one side of it
 * @qp: the QP, with a reference; NULL if there is none
 * @qpn: destination QP number of the packets
 * @packets: packets for @qp
 * @bytes: their bytes
 * @header: header length of middle packets, bytes; 0 for datagrams
 * @marked: marked packets of the lock section
 * @ce: the IP header, which all packets of an skb share, is marked
 * @responses: the send queue's lock is held, else the receive queue's
 * @locked: one of them is held
 * @accepted: the addresses are those of the peer; checked once per lock section
 */
struct sroce_rx_run {
	struct sroce_qp *qp;
	u32 qpn;
	u32 packets;
	u32 bytes;
	u32 header;
	u32 marked;
	bool ce;
	bool responses;
	bool locked;
	bool accepted;
};

/* The GSI QP belongs to all partitions of its device. */
static inline bool sroce_rx_pkey_matches(const struct sroce_qp *qp, u16 pkey)
{
	if (unlikely(qp->type == IB_QPT_GSI))
		return sroce_pkey_find(qp->dev, pkey) < SROCE_PKEY_TABLE;
	/* No lock is held; sroce_modify_qp() may change the index meanwhile. */
	return sroce_pkey_matches(READ_ONCE(*READ_ONCE(qp->pkey)), pkey);
}

/**
 * sroce_rx_run_deliver() - deliver a packet to its QP
 * @run: the run, which ends first if the packet is for another QP
 * @rx: packet, its headers not parsed yet
 * @intact: its ICRC is right
 *
 * Context: bottom halves off.
 * Return: true if the QP has accepted it.
 */
bool sroce_rx_run_deliver(struct sroce_rx_run *run, struct sroce_rx *rx, bool intact);

/* The same for an intact packet with parsed headers. */
void sroce_rx_run_deliver_parsed(struct sroce_rx_run *run, struct sroce_rx *rx);

/**
 * sroce_rx_run_lock() - take the lock that the next packet needs
 * @run: the run, which ends first if the packet is for another QP
 * @rx: packet, its headers not parsed yet, its ICRC not checked
 *
 * Context: bottom halves off.
 */
void sroce_rx_run_lock(struct sroce_rx_run *run, struct sroce_rx *rx);

/* Release the lock and the QP, and count the packets. */
void sroce_rx_run_end(struct sroce_rx_run *run);

/**
 * sroce_rx_count_stray() - count a packet that belongs to no QP
 * @rx: packet
 * @why: counter
 *
 * Strangers can read how many packets, bytes and wrong ICRCs a device has received
 * (verbs/pma.c), which must not reveal which QPs exist, and of which device: so all that no
 * QP accepts counts at the device that it is sent to.
 */
void sroce_rx_count_stray(struct sroce_rx *rx, enum sroce_counter why);

#endif /* SROCE_RX_RUN_H */
