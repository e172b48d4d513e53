/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_GRO_H
#define SROCE_GRO_H

#include <linux/skbuff.h>
#include <net/sock.h>

/**
 * sroce_gro_receive() - join a packet to those of its conversation
 * @sk: our socket
 * @held: what GRO holds of this NAPI instance
 * @skb: packet; what GRO looks at next is the BTH
 *
 * For struct udp_tunnel_sock_cfg.  Context: NAPI, RCU read side.
 * Return: what has to go up now, or NULL.
 */
struct sk_buff *sroce_gro_receive(struct sock *sk, struct list_head *held,
				  struct sk_buff *skb);

/**
 * sroce_gro_complete() - make a burst of what has been joined
 * @sk: our socket
 * @skb: the first packet, the others in its frag_list
 * @offset: of the BTH, bytes from the beginning of the data
 *
 * For struct udp_tunnel_sock_cfg.  Context: NAPI, RCU read side.
 * Return: 0.
 */
int sroce_gro_complete(struct sock *sk, struct sk_buff *skb, int offset);

/**
 * sroce_gro_id_step() - how much IPv4 identification grows in a burst
 * @skb: from the stack
 *
 * Return: 1, or 0 if it stands still.
 */
static inline u16 sroce_gro_id_step(const struct sk_buff *skb)
{
	return !(skb_shinfo(skb)->gso_type & SKB_GSO_TCP_FIXEDID);
}

/**
 * sroce_gso_start_checksum() - of a UDP packet that is to be segmented
 * @skb: all of it
 * @ip: its IP header
 * @udp: its UDP header, in the head of @skb, with the length of all
 *
 * The checksum is that of the pseudo header, and who segments completes it.  It
 * is masked in the ICRC.
 */
void sroce_gso_start_checksum(struct sk_buff *skb, const u8 *ip,
			      struct udphdr *udp);

#endif /* SROCE_GRO_H */
