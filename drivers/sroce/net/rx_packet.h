/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RX_PACKET_H
#define SROCE_RX_PACKET_H

#include <linux/types.h>
#include "../core/packet.h"
#include "../mem/skb_reader.h"

struct net;
struct sk_buff;

/* As rdma_read_gid_l2_fields() has it */
#define SROCE_NO_VLAN 0xffff

/**
 * struct sroce_rx - a packet that has arrived
 * @pkt: its headers
 * @payload: reads it from the first byte of the payload on
 * @net: namespace of the socket that received it, or of the device it is from
 * @skb: what it came in
 * @looped: it has not left its device
 * @ip: IP header of the burst it came in
 * @ipv4: IPv4, else IPv6
 * @ip_id: its own IPv4 identification; that in @ip is of the burst's first
 * @vlan_id: to the GSI QP: the VLAN of the GID that it was sent to, or
 *	SROCE_NO_VLAN
 * @len: from the BTH to the end of the ICRC, bytes
 */
struct sroce_rx {
	struct sroce_pkt pkt;
	struct sroce_reader *payload;
	struct net *net;
	const struct sk_buff *skb;
	const u8 *ip;
	bool looped;
	bool ipv4;
	u16 ip_id;
	u16 vlan_id;
	u32 len;
};

#endif /* SROCE_RX_PACKET_H */
