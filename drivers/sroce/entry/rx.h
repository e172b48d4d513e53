/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RX_H
#define SROCE_RX_H

struct sk_buff;
struct sock;

/**
 * sroce_rx_receive() - a packet, or a burst of them, has come by a UDP socket
 * @sk: the socket
 * @skb: from the UDP header on; is consumed
 *
 * Context: softirq, or process with bottom halves off.
 * Return: 0, for UDP has nothing more to do with it.
 */
int sroce_rx_receive(struct sock *sk, struct sk_buff *skb);

/* What a device sends to itself comes here, too.  Context: loading the module. */
int sroce_rx_init(void);

#endif /* SROCE_RX_H */
