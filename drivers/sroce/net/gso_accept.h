/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_GSO_ACCEPT_H
#define SROCE_GSO_ACCEPT_H

#include <linux/netfilter.h>
#include "../base/sroce.h"

/**
 * sroce_gso_accept_begin() - let bursts reach a socket whole
 * @ops: for the hook; zero
 * @id: the socket; both stay until sroce_gso_accept_end() and an RCU grace
 *	period
 *
 * Context: process, may sleep.  Return: 0 or an errno.
 */
int sroce_gso_accept_begin(struct nf_hook_ops *ops,
			   const struct sroce_udp_sock_id *id);
/* Same context. */
void sroce_gso_accept_end(struct nf_hook_ops *ops,
			  const struct sroce_udp_sock_id *id);

#endif /* SROCE_GSO_ACCEPT_H */
