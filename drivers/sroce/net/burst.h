/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_BURST_H
#define SROCE_BURST_H

#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include "../core/packet.h"
#include "../core/params.h"
#include "../mem/sgl.h"
#include "../queue/qp.h"
#include "ah.h"
#include "burst_skb.h"
#include "icrc.h"
#include "loopback.h"

/* UDP payload of a burst, limited by the 16-bit length field of IP. */
#define SROCE_BURST_BYTES	(65535 - SROCE_IPV6_BYTES - SROCE_UDP_BYTES)
/* UDP payload of a burst between QPs of one device. */
#define SROCE_LOOPBACK_BYTES	(16 * SROCE_LOOPBACK_MTU)

/*
 * GRO at the receiver skips a frame that Ethernet pads, so it can overtake
 * earlier packets there.  It is sent alone, without a UDP checksum.
 */
#define SROCE_BURST_SHORTEST						\
	(ETH_ZLEN - ETH_HLEN - SROCE_IPV4_BYTES - SROCE_UDP_BYTES)

/**
 * struct sroce_burst - packets to one destination in one skb
 * @qp: the sender
 * @av: destination
 * @path: route; protected by the lock of its side of the QP
 * @looped: the only packet, if it has no skb; else NULL
 * @head: skb with the common headers; NULL if the burst is empty or @looped
 * @tail: skb that is being filled: @head, or the last one of its frag_list
 * @bth: BTH of the last packet
 * @packets: number of packets
 * @bytes: UDP payload of all packets
 * @size: UDP payload of each packet except the last, which may be shorter
 * @most_packets: limit of @packets
 * @most_bytes: limit of @bytes
 * @chains: the device accepts a frag_list, and payload need not be copied
 * @uso: the device segments the burst, and may spoil it
 * @lone: the first packet is alone in its burst, so that the device need not segment it
 * @psn: PSN of the first packet; only of requests
 * @again: the first packet has been sent before; only of requests
 * @repeats: the caller of the last packet did not ask for a copy: its payload is attached if
 *	@chains
 * @cache: MR cache
 * @uncopied: packets whose payload sroce_burst_send() copies; it lies in the region of @cache
 *
 * The skb has the layout for generic segmentation offload: the packets follow
 * one another, each from its BTH to its ICRC.  Virtual devices pass it on
 * whole; for others the stack or the device segments it.
 */
struct sroce_burst {
	struct sroce_qp *qp;
	const struct sroce_av *av;
	struct sroce_path *path;
	struct sroce_looped *looped;
	struct sk_buff *head;
	struct sk_buff *tail;
	u8 *bth;
	u32 packets;
	u32 bytes;
	u32 size;
	u32 most_packets;
	u32 most_bytes;
	bool chains;
	bool uso;
	bool lone;
	u32 psn;
	bool again;
	bool repeats;
	struct sroce_mr_cache cache;
	struct sroce_uncopied uncopied;
};

static inline bool sroce_burst_empty(const struct sroce_burst *burst)
{
	return !burst->packets;
}

/* Make the burst empty. */
static inline void sroce_burst_reset(struct sroce_burst *burst)
{
	burst->looped = NULL;
	burst->head = NULL;
	burst->uncopied.packets = 0;
	burst->packets = 0;
	burst->bytes = 0;
}

static inline void sroce_burst_begin(struct sroce_burst *burst,
				     struct sroce_qp *qp,
				     const struct sroce_av *av,
				     struct sroce_path *path)
{
	burst->qp = qp;
	burst->av = av;
	burst->path = path;
	burst->cache.mr = NULL;
	burst->lone = false;
	sroce_burst_reset(burst);
}

/**
 * sroce_burst_fits() - test whether one more packet fits
 * @burst: the burst
 * @pkt: the packet
 *
 * Return: false if the packets in the burst have to be sent first.
 */
bool sroce_burst_fits(const struct sroce_burst *burst,
		      const struct sroce_pkt *pkt);

/**
 * sroce_burst_add() - append a packet
 * @burst: burst, for which sroce_burst_fits() returned true
 * @pkt: headers, and the length of payload and padding
 * @from: memory with the payload, or NULL if it is in @data
 * @at: offset of the payload in @from, bytes
 * @data: payload in kernel memory
 * @copy: copy the payload instead of attaching pages.  The owner may change
 *	attached pages while the packet is in flight, which would spoil its ICRC
 *
 * Return: 0; ENOMEM; ENETUNREACH without a route; EMSGSIZE or EFAULT if @from
 * does not have the bytes.  After an error the burst is unchanged.
 */
int sroce_burst_add(struct sroce_burst *burst, const struct sroce_pkt *pkt,
		    const struct sroce_sgl *from, u32 at, const void *data,
		    bool copy);

/**
 * sroce_burst_append() - append a packet as @copy says, or fail
 * @burst: burst as of sroce_burst_add(), without a packet that has no skb
 * @pkt: headers, and the length of payload and padding
 * @from: memory with the payload, or NULL if it is in @data
 * @at: offset of the payload in @from, bytes
 * @data: payload in kernel memory
 * @copy: copy the payload; it is also copied if the device takes no frag_list, or if packets
 *	of @burst's path were repeated lately
 *
 * The region of packets that wait for sroce_burst_copy() must be that of @from.
 *
 * Return: as sroce_burst_add(), or E2BIG or EOPNOTSUPP if the payload must be
 * copied instead.  After an error the burst is unchanged.
 */
int sroce_burst_append(struct sroce_burst *burst, const struct sroce_pkt *pkt,
		       const struct sroce_sgl *from, u32 at, const void *data,
		       bool copy);

/**
 * sroce_burst_add_alike() - append a datagram like the last one
 * @burst: burst, for which sroce_burst_add() has copied the last packet: a datagram without
 *	immediate data, with the same headers except for the PSN
 * @from: memory with the payload, which has the same length
 *
 * Return: false, with the burst unchanged, if there is no room, or if the region is not the
 * one that was used last.  sroce_burst_add() may succeed then.
 */
bool sroce_burst_add_alike(struct sroce_burst *burst, const struct sroce_sge *from);

/**
 * sroce_burst_repeat() - append packets like the last one
 * @burst: burst, not empty
 * @pkt: the last packet, a middle one of a message
 * @more: number of packets to append
 * @from: memory with the payload
 * @at: offset in @from of the first payload to append, bytes
 *
 * The headers differ from the last packet's in the PSN only.
 *
 * Return: number of packets appended; less than @more, possibly 0, if there is
 * no room, or if the caller had the payload of the last packet copied.
 */
u32 sroce_burst_repeat(struct sroce_burst *burst, const struct sroce_pkt *pkt,
		       u32 more, const struct sroce_sgl *from, u32 at);

/* Request an acknowledgment with the last packet. */
static inline void sroce_burst_request_ack(struct sroce_burst *burst)
{
	if (burst->looped)
		burst->looped->rx.pkt.ack_req = true;
	else if (burst->head)
		burst->bth[8] |= SROCE_BTH_ACKREQ;
}

/**
 * sroce_burst_copy_later() - let a payload be copied when its ICRC is computed
 * @burst: the burst
 * @i: index of the packet
 * @from: payload, contiguous, in the region of the MR cache
 */
static __always_inline void sroce_burst_copy_later(struct sroce_burst *burst, u32 i,
						   const void *from)
{
	burst->uncopied.packets |= BIT_ULL(i);
	burst->uncopied.from[i] = from;
}

/*
 * Copy the payload of @uncopied now.  Must be called before the MR cache of a burst with
 * such packets is dropped.
 */
void sroce_burst_copy(struct sroce_burst *burst);

/* Drop packets that have not been sent. */
void sroce_burst_drop(struct sroce_burst *burst);

#endif /* SROCE_BURST_H */
