/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RX_PACKET_H
#define SROCE_RX_PACKET_H

#include <linux/types.h>
#include "../core/packet.h"
#include "../mem/skb_reader.h"

struct net;
struct net_device;
struct sk_buff;

/* No VLAN, with the value of rdma_read_gid_l2_fields(). */
#define SROCE_NO_VLAN 0xffff

/**
 * struct sroce_rx - received packet
 * @pkt: parsed headers
 * @payload: reader, at the first byte of the payload
 * @net: namespace of the socket, or of the device if @looped
 * @ndev: netdev that it arrived on: that of the address if @looped
 * @skb: skb that contains the packet; unused if @looped
 * @looped: delivered by net/loopback.c
 * @ip: IP header of the burst; of a short loopback packet only version and addresses
 * @ipv4: IPv4, else IPv6
 * @id_ahead: IPv4 identification of this packet, minus that of the first, which is
 *	in @ip
 * @resets: if @looped: sroce_qp_resets when it was sent
 * @vlan_id: for the GSI QP: VLAN of the destination GID, or SROCE_NO_VLAN
 * @len: length from the BTH to the end of the ICRC, bytes
 */
struct sroce_rx {
	struct sroce_pkt pkt;
	struct sroce_reader *payload;
	struct net *net;
	struct net_device *ndev;
	const struct sk_buff *skb;
	const u8 *ip;
	u64 resets;
	bool looped;
	bool ipv4;
	u16 id_ahead;
	u16 vlan_id;
	u32 len;
};

#endif /* SROCE_RX_PACKET_H */
