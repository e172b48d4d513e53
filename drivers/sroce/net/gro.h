/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_GRO_H
#define SROCE_GRO_H

#include <linux/skbuff.h>
#include <net/sock.h>

/**
 * sroce_gro_receive() - join a packet to a held packet of its flow
 * @sk: our socket
 * @held: packets that GRO holds for this NAPI instance
 * @skb: packet; the GRO offset is at the BTH
 *
 * For struct udp_tunnel_sock_cfg.  Context: NAPI, RCU read side.
 * Return: held packet to deliver now, or NULL.
 */
struct sk_buff *sroce_gro_receive(struct sock *sk, struct list_head *held,
				  struct sk_buff *skb);

/**
 * sroce_gro_complete() - finish a burst
 * @sk: our socket
 * @skb: first packet, with the others in its frag_list
 * @offset: offset of the BTH in the data, bytes
 *
 * For struct udp_tunnel_sock_cfg.  Context: NAPI, RCU read side.
 * Return: 0.
 */
int sroce_gro_complete(struct sock *sk, struct sk_buff *skb, int offset);

#endif /* SROCE_GRO_H */
