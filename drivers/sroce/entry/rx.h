/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RX_H
#define SROCE_RX_H

struct sk_buff;
struct sock;

/**
 * sroce_rx_receive() - receive a packet or a burst from a UDP socket
 * @sk: the socket
 * @skb: begins with the UDP header; consumed
 *
 * Context: softirq, or process with bottom halves off.
 * Return: 0: UDP has nothing more to do.
 */
int sroce_rx_receive(struct sock *sk, struct sk_buff *skb);

/*
 * Receive loopback packets; sroce_loopback_exit() undoes this.  Context: loading the module.
 * Return: 0 or ENOMEM.
 */
int sroce_rx_init(void);

#endif /* SROCE_RX_H */
