// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The UDP sockets: one for each network namespace and address family, as long as
 * a device, or one of its addresses, is there.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/udp_tunnel.h>
#include "gro.h"
#include "qp.h"
#include "route.h"
#include "rx.h"
#include "socket.h"

struct udp_socket {
	struct list_head list;
	struct net *net;
	bool ipv4;
	u32 users;
	struct socket *socket;
	struct sock *sk;
	struct rcu_head rcu;
};

/* Writers of the list, which is RCU, and all that is in it. */
static DEFINE_MUTEX(sockets_lock);
static LIST_HEAD(sockets);

static struct udp_socket *find_socket(const struct net *net, bool ipv4)
{
	struct udp_socket *s;

	list_for_each_entry_rcu(s, &sockets, list,
				lockdep_is_held(&sockets_lock))
		if (s->net == net && s->ipv4 == ipv4)
			return s;
	return NULL;
}

static int open_socket(struct udp_socket *s)
{
	struct udp_port_cfg port = {
		.family = s->ipv4 ? AF_INET : AF_INET6,
		.local_udp_port = htons(SROCE_UDP_PORT),
		.ipv6_v6only = true,
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.encap_type = 1,
		.encap_rcv = sroce_rx_receive,
		.gro_receive = sroce_gro_receive,
		.gro_complete = sroce_gro_complete,
	};
	int err = udp_sock_create(s->net, &port, &s->socket);

	if (err)
		return err;
	s->sk = s->socket->sk;
	setup_udp_tunnel_sock(s->net, sroce_tunnel_sock(s->socket), &tunnel);
	udp_allow_gso(s->sk);
	/* See sroce_socket_find(). */
	if (s->ipv4)
		ip_sock_set_mtu_discover(s->sk, IP_PMTUDISC_INTERFACE);
	else
		inet6_sk(s->sk)->pmtudisc = IPV6_PMTUDISC_INTERFACE;
	return 0;
}

struct sock *sroce_socket_find(const struct net *net, bool ipv4)
{
	struct udp_socket *s = find_socket(net, ipv4);

	return s ? s->sk : NULL;
}

static int add_socket(struct net *net, bool ipv4)
{
	struct udp_socket *s = kzalloc_obj(*s, GFP_KERNEL);
	int err;

	if (!s)
		return -ENOMEM;
	s->net = net;
	s->ipv4 = ipv4;
	s->users = 1;
	err = open_socket(s);
	if (err)
		kfree(s);
	else
		list_add_rcu(&s->list, &sockets);
	return err;
}

static void close_socket(struct udp_socket *s)
{
	list_del_rcu(&s->list);
	udp_tunnel_sock_release(sroce_tunnel_sock(s->socket));
	kfree_rcu(s, rcu);
}

int sroce_socket_get(struct net *net, bool ipv4)
{
	struct udp_socket *s;
	int err = 0;

	mutex_lock(&sockets_lock);
	s = find_socket(net, ipv4);
	if (s)
		s->users++;
	else
		err = add_socket(net, ipv4);
	mutex_unlock(&sockets_lock);
	return err;
}

void sroce_socket_put(struct net *net, bool ipv4)
{
	struct udp_socket *s;

	mutex_lock(&sockets_lock);
	s = find_socket(net, ipv4);
	if (s && !--s->users)
		close_socket(s);
	mutex_unlock(&sockets_lock);
}

/*
 * GIDs go away from a work item of the RDMA core, which a namespace does not
 * wait for if its netdevs move elsewhere: so its sockets go here at the
 * latest.  Routes of IPv6 point into the namespace.  None is found any more,
 * since its netdevs are gone; who began earlier to look has the QP's lock.
 * Namespaces come and go that no QP has ever looked at: they do not pay for all
 * QPs of the host.
 */
static void __net_exit net_exit(struct net *net)
{
	struct udp_socket *s, *next;

	mutex_lock(&sockets_lock);
	list_for_each_entry_safe(s, next, &sockets, list)
		if (s->net == net)
			close_socket(s);
	mutex_unlock(&sockets_lock);
	if (sroce_route_asked(net))
		sroce_qp_forget_routes(net);
}

static struct pernet_operations net_ops = {
	.exit = net_exit,
	.id = &sroce_route_net_id,
	.size = sizeof(struct sroce_route_net),
};

int sroce_socket_init(void)
{
	return register_pernet_subsys(&net_ops);
}

void sroce_socket_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}
