/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_PORT_GUARD_H
#define SROCE_PORT_GUARD_H

#include <linux/netfilter.h>

/*
 * Netfilter hook at LOCAL_OUT that keeps unprivileged processes from sending to
 * the port of RoCE.
 */
unsigned int sroce_port_guard(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state);
/*
 * Netfilter hook at POST_ROUTING that keeps others from sending to the port of
 * RoCE with an address of this host, which NAT gives them, also in replies.
 */
unsigned int sroce_port_guard_forwarded(void *priv, struct sk_buff *skb,
					const struct nf_hook_state *state);

#endif /* SROCE_PORT_GUARD_H */
