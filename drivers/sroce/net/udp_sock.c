// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UDP sockets: one per network namespace, VRF and address family, as long as a
 * device or one of its addresses is there.
 */
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched/task.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/udp_tunnel.h>
#include "../core/wire.h"
#include "gro.h"
#include "nf_hooks.h"
#include "route.h"
#include "rx_route.h"
#include "udp_sock.h"

struct udp_socket {
	struct list_head list;
	struct sroce_udp_sock_id id;
	u32 users;
	struct socket *socket;
	struct sock *sk;
	struct rcu_head rcu;
};

/* Protects the list, and serializes writers of the pointers in struct sroce_route_net. */
static DEFINE_MUTEX(sockets_lock);
static LIST_HEAD(sockets);
static int (*receive_packet)(struct sock *sk, struct sk_buff *skb);

static struct udp_socket *find_socket(const struct sroce_udp_sock_id *id)
{
	struct udp_socket *s;

	lockdep_assert_held(&sockets_lock);
	list_for_each_entry(s, &sockets, list)
		if (s->id.net == id->net && s->id.ipv4 == id->ipv4 &&
		    s->id.l3mdev == id->l3mdev)
			return s;
	return NULL;
}

/* Any socket of the namespace and family, in a VRF or not. */
static struct udp_socket *any_socket(const struct sroce_udp_sock_id *id)
{
	struct udp_socket *s;

	lockdep_assert_held(&sockets_lock);
	list_for_each_entry(s, &sockets, list)
		if (s->id.net == id->net && s->id.ipv4 == id->ipv4)
			return s;
	return NULL;
}

static void set_reuseport(struct sock *sk, bool allowed)
{
	lock_sock(sk);
	sk->sk_reuseport = allowed;
	release_sock(sk);
}

/* Only a socket that is bound to a VRF and one that is not exclude each other. */
static bool shares_port(const struct udp_socket *a, const struct udp_socket *b)
{
	return a->id.net == b->id.net && a->id.ipv4 == b->id.ipv4 &&
	       !a->id.l3mdev != !b->id.l3mdev;
}

/*
 * Such sockets can share a port only if both allow it.  They allow it only during
 * bind(), because it makes each lookup slower.  SO_REUSEPORT is used because it
 * excludes sockets of other users.
 */
static void allow_shared_port(const struct udp_socket *new, bool allowed)
{
	struct udp_socket *s;

	lockdep_assert_held(&sockets_lock);
	list_for_each_entry(s, &sockets, list)
		if (shares_port(s, new)) {
			set_reuseport(s->sk, allowed);
			set_reuseport(new->sk, allowed);
		}
}

/*
 * With SO_REUSEPORT, bind() allocates memory, and returns EADDRINUSE if there is
 * none.  Beside our unbound socket nobody else has the port in a VRF, so this is the
 * only reason.
 */
static bool only_memory_lacks(const struct udp_socket *new)
{
	const struct sroce_udp_sock_id unbound = {
		.net = new->id.net,
		.ipv4 = new->id.ipv4,
	};

	return new->id.l3mdev && find_socket(&unbound);
}

static int bind_ipv4(struct udp_socket *s)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(SROCE_UDP_PORT),
	};

	/* See sroce_udp_sock_find(). */
	ip_sock_set_mtu_discover(s->sk, IP_PMTUDISC_INTERFACE);
	return kernel_bind(s->socket, (void *)&addr, sizeof(addr));
}

static int bind_ipv6(struct udp_socket *s)
{
	struct sockaddr_in6 addr = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(SROCE_UDP_PORT),
	};
	int err = ip6_sock_set_v6only(s->sk);

	if (err)
		return err;
	/* RoCE packets have UDP checksum 0; the ICRC protects them better. */
	udp_set_no_check6_rx(s->sk, true);
	inet6_sk(s->sk)->pmtudisc = IPV6_PMTUDISC_INTERFACE;
	return kernel_bind(s->socket, (void *)&addr, sizeof(addr));
}

static int bind_socket(struct udp_socket *s)
{
	int err;

	allow_shared_port(s, true);
	err = s->id.ipv4 ? bind_ipv4(s) : bind_ipv6(s);
	allow_shared_port(s, false);
	return err == -EADDRINUSE && only_memory_lacks(s) ? -ENOMEM : err;
}

/* The sockets of a namespace and family share their hooks; @id is not in the list. */
static int add_hooks(const struct sroce_udp_sock_id *id)
{
	return any_socket(id) ? 0 : sroce_nf_hooks_add(id->net, id->ipv4);
}

static void remove_hooks(const struct sroce_udp_sock_id *id)
{
	if (!any_socket(id))
		sroce_nf_hooks_remove(id->net, id->ipv4);
}

/* udp_tunnel turns the loop off.  Members on this host receive what it sends; see net/mcast.c. */
static int loop_multicast(struct udp_socket *s)
{
	int on = 1;

	return s->id.ipv4 ? ip_setsockopt(s->sk, SOL_IP, IP_MULTICAST_LOOP,
					  KERNEL_SOCKPTR(&on), sizeof(on)) : 0;
}

/*
 * The socket gets its port last, so that no packet arrives before it can be received, and
 * its VRF first, because udp_tunnel treats a socket without one in another way.
 */
static int prepare_socket(struct udp_socket *s)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.encap_type = 1,
		.encap_rcv = receive_packet,
		.gro_receive = sroce_gro_receive,
		.gro_complete = sroce_gro_complete,
	};
	int err = s->id.l3mdev ? sock_bindtoindex(s->sk, s->id.l3mdev, true) : 0;

	if (!err)
		err = add_hooks(&s->id);
	if (err)
		return err;
	setup_udp_tunnel_sock(s->id.net, sroce_tunnel_sock(s->socket), &tunnel);
	udp_allow_gso(s->sk);
	err = loop_multicast(s);
	if (!err)
		err = bind_socket(s);
	if (err)
		remove_hooks(&s->id);
	return err;
}

static int open_socket(struct udp_socket *s)
{
	int err = sock_create_kern(s->id.net, s->id.ipv4 ? AF_INET : AF_INET6,
				   SOCK_DGRAM, 0, &s->socket);

	if (err)
		return err;
	s->sk = s->socket->sk;
	/* GRO may find it before it has a port. */
	sock_set_flag(s->sk, SOCK_RCU_FREE);
	err = prepare_socket(s);
	if (err)
		sock_release(s->socket);
	return err;
}

/* The socket belongs to the kernel, not to the process that caused it. */
static int open_as_kernel(struct udp_socket *s)
{
	struct cred *cred = prepare_kernel_cred(&init_task);
	const struct cred *caller;
	int err;

	if (!cred)
		return -ENOMEM;
	caller = override_creds(cred);
	err = open_socket(s);
	revert_creds(caller);
	put_cred(cred);
	return err;
}

struct sock *sroce_udp_sock_find(const struct net *net, bool ipv4)
{
	return rcu_dereference(sroce_route_net(net)->senders[ipv4]);
}

/* For sroce_udp_sock_find(), after @id has entered or left the list. */
static void set_sender(const struct sroce_udp_sock_id *id)
{
	struct udp_socket *s = any_socket(id);

	rcu_assign_pointer(sroce_route_net(id->net)->senders[id->ipv4],
			   s ? s->sk : NULL);
}

/* For net/rx_route.c. */
static void set_unbound(const struct sroce_udp_sock_id *id, struct sock *sk)
{
	lockdep_assert_held(&sockets_lock);
	if (id->ipv4 && !id->l3mdev)
		rcu_assign_pointer(sroce_route_net(id->net)->socket, sk);
}

static int add_socket(const struct sroce_udp_sock_id *id)
{
	struct udp_socket *s = kzalloc_obj(*s, GFP_KERNEL);
	int err;

	if (!s)
		return -ENOMEM;
	s->id = *id;
	s->users = 1;
	err = open_as_kernel(s);
	if (err) {
		kfree(s);
		return err;
	}
	list_add(&s->list, &sockets);
	set_sender(&s->id);
	set_unbound(&s->id, s->sk);
	return 0;
}

/* No packet of the socket is under way any more. */
static void forget_socket(struct rcu_head *rcu)
{
	struct udp_socket *s = container_of(rcu, struct udp_socket, rcu);

	if (s->id.ipv4)
		sroce_rx_route_forget(s->id.net);
	kfree(s);
}

/*
 * Not by udp_tunnel_sock_release(), because it waits for a grace period, and every change
 * of an address or a netdev on the host would wait for it, too.  It does so for
 * sk_user_data, which these sockets do not use.
 */
static void close_socket(struct udp_socket *s)
{
	list_del(&s->list);
	set_sender(&s->id);
	set_unbound(&s->id, NULL);
	remove_hooks(&s->id);
	sock_release(s->socket);
	call_rcu(&s->rcu, forget_socket);
}

int sroce_udp_sock_get(const struct sroce_udp_sock_id *id)
{
	struct udp_socket *s;
	int err = 0;

	mutex_lock(&sockets_lock);
	s = find_socket(id);
	if (s)
		s->users++;
	else
		err = add_socket(id);
	mutex_unlock(&sockets_lock);
	return err;
}

void sroce_udp_sock_put(const struct sroce_udp_sock_id *id)
{
	struct udp_socket *s;

	mutex_lock(&sockets_lock);
	s = find_socket(id);
	if (!--s->users)
		close_socket(s);
	mutex_unlock(&sockets_lock);
}

/*
 * No socket is left.  The netdevs of the namespace have left it, and the notifier has
 * closed the sockets that their GIDs and devices had kept open.
 *
 * IPv6 routes point into the namespace.  No new ones are found because its
 * netdevs are gone, and a lookup that began earlier holds the QP's lock.
 * Namespaces in which no QP has looked up a route skip the walk over all QPs of
 * the host.
 */
static void __net_exit net_exit(struct net *net)
{
	struct udp_socket *s;

	mutex_lock(&sockets_lock);
	list_for_each_entry(s, &sockets, list)
		WARN_ON_ONCE(s->id.net == net);
	mutex_unlock(&sockets_lock);
	if (sroce_route_asked(net))
		sroce_route_forget(net);
}

static struct pernet_operations net_ops = {
	.exit = net_exit,
	.id = &sroce_route_net_id,
	.size = sizeof(struct sroce_route_net),
};

int sroce_udp_sock_init(int (*receive)(struct sock *sk, struct sk_buff *skb))
{
	receive_packet = receive;
	return register_pernet_subsys(&net_ops);
}

void sroce_udp_sock_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}
