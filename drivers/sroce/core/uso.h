/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_USO_H
#define SROCE_USO_H

#include "env.h"
#include "params.h"

enum sroce_uso_state {
	SROCE_USO_IDLE,
	SROCE_USO_SENT,		/* the burst has been sent */
	SROCE_USO_REPEATED,	/* its first packet arrived; the second is repeated */
	SROCE_USO_LOST_ALL,	/* nothing arrived; the first packet is repeated alone */
};

/**
 * struct sroce_uso - does UDP segmentation offload spoil bursts?
 * @first: PSN of the first packet of the burst that is watched
 * @packets: of that burst
 * @again: it has been sent before: the peer may have kept its second packet
 * @state: enum sroce_uso_state
 * @spoiled: bursts of which only the first packet arrived, and SROCE_USO_LOST for each of
 *	which none did; 0 again after a good one
 * @lone: the next packet is sent alone, after a timeout or as a probe
 *
 * The ICRC covers the IPv4 identification, which has to grow by one from packet
 * to packet.  If the device that segments a burst does not do that, the ICRC of
 * the first packet alone is right, and the peer drops all others.  A packet that
 * is sent alone, or first in its burst, arrives.
 *
 * Other devices lose the whole burst.  A packet that is sent alone arrives.
 */
struct sroce_uso {
	u32 first;
	u32 packets;
	bool again;
	u8 state;
	u8 spoiled;
	bool lone;
};

/**
 * sroce_uso_sent() - a burst is sent
 * @uso: state
 * @psn: PSN of its first packet
 * @packets: number of its packets, with consecutive PSNs
 * @una: oldest PSN that is not acknowledged
 * @again: its first packet has been sent before
 */
void sroce_uso_sent(struct sroce_uso *uso, u32 psn, u32 packets, u32 una,
		    bool again);

/**
 * sroce_uso_acked() - the peer has acknowledged packets
 * @uso: state
 * @una: oldest PSN that is not acknowledged
 *
 * Return: true if SROCE_USO_SPOILED bursts were spoiled, and none was good.
 */
bool sroce_uso_acked(struct sroce_uso *uso, u32 una);

/* The peer has refused a packet, so packets arrive; stop watching. */
static inline void sroce_uso_reset(struct sroce_uso *uso)
{
	uso->state = SROCE_USO_IDLE;
	uso->spoiled = 0;
	uso->lone = false;
}

/**
 * struct sroce_uso_peers - where bursts of one netdev were spoiled
 * @addr: addresses of peers, those of IPv6 shortened
 * @until: end of the time in which they get single packets, ns; 0: unused
 *
 * A peer can pretend that bursts are spoiled, and so only packets to its address become
 * single packets.  If SROCE_USO_PEERS peers report it, it is the netdev.
 */
struct sroce_uso_peers {
	u32 addr[SROCE_USO_PEERS];
	u64 until[SROCE_USO_PEERS];
};

/**
 * sroce_uso_peers_add() - bursts to a peer were spoiled
 * @peers: state
 * @addr: address of the peer, as in @peers
 * @now: time, ns
 *
 * Return: true if it was not known.
 */
bool sroce_uso_peers_add(struct sroce_uso_peers *peers, u32 addr, u64 now);

/* Have SROCE_USO_PEERS peers reported it by @now? */
bool sroce_uso_peers_all(const struct sroce_uso_peers *peers, u64 now);

/* Does the peer at @addr get single packets at @now? */
bool sroce_uso_peers_include(const struct sroce_uso_peers *peers, u32 addr, u64 now);

#endif /* SROCE_USO_H */
