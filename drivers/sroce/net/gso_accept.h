/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_GSO_ACCEPT_H
#define SROCE_GSO_ACCEPT_H

#include <linux/netfilter.h>

/* Netfilter hook at LOCAL_IN that lets bursts reach sockets whole. */
unsigned int sroce_gso_accept(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state);

#endif /* SROCE_GSO_ACCEPT_H */
