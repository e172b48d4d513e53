/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_BURST_H
#define SROCE_BURST_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include "../core/packet.h"
#include "../mem/sgl.h"
#include "../queue/qp.h"
#include "ah.h"

/* Payload of up to this many bytes is copied: cheaper than a reference. */
#define SROCE_COPY_BREAK	256
#define SROCE_BURST_PACKETS	64
/* UDP payload of a burst; IP's length field has 16 bits. */
#define SROCE_BURST_BYTES	(65535 - 40 - 8)
/* Path MTU of QPs of the same device, */
#define SROCE_LOOPBACK_MTU		16384u
/* and UDP payload of their bursts. */
#define SROCE_LOOPBACK_BYTES	(16 * SROCE_LOOPBACK_MTU)

/**
 * struct sroce_burst - packets to one destination that travel together
 * @qp: the sender
 * @av: where to
 * @path: route; the lock of its side is held
 * @head: has the headers of all; NULL if there is no packet
 * @tail: @head, or the last one of its frag_list: the one being filled
 * @bth: of the last packet
 * @packets: how many
 * @bytes: UDP payload of all
 * @size: UDP payload of each but the last, which may be shorter
 * @chains: the device takes a frag_list
 * @attached: the payload of the last packet was not copied
 * @cache: memory region used last
 *
 * One skb as for generic segmentation offload: the packets lie one behind the
 * other, each from its BTH to its ICRC.  Virtual devices carry it whole, for
 * others the stack or the device makes packets of it.
 */
struct sroce_burst {
	struct sroce_qp *qp;
	const struct sroce_av *av;
	struct sroce_path *path;
	struct sk_buff *head;
	struct sk_buff *tail;
	u8 *bth;
	u32 packets;
	u32 bytes;
	u32 size;
	bool chains;
	bool attached;
	struct sroce_mr_cache cache;
};

static inline u32 sroce_network_bytes(const struct sroce_av *av)
{
	return av->ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
}

/* There is no packet in it. */
static inline void sroce_burst_reset(struct sroce_burst *burst)
{
	burst->head = NULL;
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
	sroce_burst_reset(burst);
}

/**
 * sroce_burst_fits() - will one more packet fit?
 * @burst: the burst
 * @pkt: the packet
 *
 * Return: false if what is there has to be sent first.
 */
bool sroce_burst_fits(const struct sroce_burst *burst,
		      const struct sroce_pkt *pkt);

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
 * does not have the bytes.  The burst is then as it was.
 */
int sroce_burst_add(struct sroce_burst *burst, const struct sroce_pkt *pkt,
		    const struct sroce_sgl *from, u32 at, const void *data,
		    bool copy);

/**
 * sroce_burst_repeat() - append packets like the last one
 * @burst: the burst, not empty
 * @pkt: the last packet, a middle one of a message
 * @more: how many
 * @from: memory that has the payload
 * @at: offset in @from of the payload of the first of them, bytes
 *
 * Their headers differ from the last one's in the PSN alone.
 *
 * Return: how many were appended; less than @more, perhaps none, if there is
 * no room or the last packet was none whose payload is attached.
 */
u32 sroce_burst_repeat(struct sroce_burst *burst, const struct sroce_pkt *pkt,
		       u32 more, const struct sroce_sgl *from, u32 at);

/* Let the last packet ask for an acknowledgment. */
static inline void sroce_burst_ask(struct sroce_burst *burst)
{
	if (burst->head)
		burst->bth[8] |= SROCE_BTH_ACKREQ;
}

/* Forget packets that were not sent. */
void sroce_burst_drop(struct sroce_burst *burst);

/* After sroce_tx_drain(). */
void sroce_burst_exit(void);

#endif /* SROCE_BURST_H */
