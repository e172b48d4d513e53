// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Address handles and address vectors. */
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <rdma/ib_cache.h>
#include <rdma/sroce-abi.h>
#include "../base/ucontext.h"
#include "../base/udata.h"
#include "../mem/wmem.h"
#include "ah.h"

#define DEFAULT_HOP_LIMIT 64
#define MAX_SERVICE_LEVEL 15

/* Number 0 is never allocated. */
#define AH_NUMBERS XA_LIMIT(1, SROCE_MAX_AH)

static bool is_ipv4(const union ib_gid *gid)
{
	return ipv6_addr_v4mapped((const struct in6_addr *)gid->raw);
}

static int av_check(const struct rdma_ah_attr *attr)
{
	const struct ib_gid_attr *sgid_attr = attr->grh.sgid_attr;

	if (attr->type != RDMA_AH_ATTR_TYPE_ROCE ||
	    attr->port_num != SROCE_PORT || !(attr->ah_flags & IB_AH_GRH))
		return -EINVAL;
	if (!sgid_attr || sgid_attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return -EINVAL;
	if (is_ipv4(&sgid_attr->gid) != is_ipv4(&attr->grh.dgid))
		return -EINVAL;
	if (rdma_ah_get_sl(attr) > MAX_SERVICE_LEVEL)
		return -EINVAL;
	return 0;
}

/*
 * Note the GID's netdev, link and network namespace.  Returns false if there is none, because
 * the GID was deleted after the RDMA core had found it.
 */
static bool note_ndev(struct sroce_av *av, const struct ib_gid_attr *attr)
{
	struct net_device *ndev;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (!IS_ERR(ndev)) {
		av->net_cookie = dev_net(ndev)->net_cookie;
		av->ndev = ndev;
		av->link = sroce_gid_link(attr, ndev);
	}
	rcu_read_unlock();
	return !IS_ERR(ndev);
}

static struct sroce_av *av_create(const struct rdma_ah_attr *attr, u32 qpn,
				  u32 dest_qpn, gfp_t gfp)
{
	const struct ib_global_route *grh = &attr->grh;
	struct sroce_av *av;
	int err;

	err = av_check(attr);
	if (err)
		return ERR_PTR(err);
	av = kzalloc_obj(*av, gfp);
	if (!av)
		return ERR_PTR(-ENOMEM);
	/* Without a namespace the address would not be found when it returns. */
	if (!note_ndev(av, grh->sgid_attr)) {
		kfree(av);
		return ERR_PTR(-ENODEV);
	}
	rdma_hold_gid_attr(grh->sgid_attr);
	av->sgid_attr = grh->sgid_attr;
	av->ipv4 = is_ipv4(&grh->dgid);
	memcpy(&av->saddr, grh->sgid_attr->gid.raw, sizeof(av->saddr));
	memcpy(&av->daddr, grh->dgid.raw, sizeof(av->daddr));
	av->loopback = ipv6_addr_equal(&av->saddr, &av->daddr);
	av->flow_label = grh->flow_label & IB_GRH_FLOWLABEL_MASK;
	av->sport = rdma_get_udp_sport(av->flow_label, qpn, dest_qpn);
	av->hash = net_tx_rndhash();
	av->tclass = grh->traffic_class;
	av->hop_limit = grh->hop_limit ?: DEFAULT_HOP_LIMIT;
	av->sl = rdma_ah_get_sl(attr);
	refcount_set(&av->ref, 1);
	return av;
}

/*
 * Other VRFs and VLANs may have the same address, and lead to the networks of others.  A
 * bridge or bond may have it, too, and leads to the same link.
 */
static const struct ib_gid_attr *find_readded(const struct sroce_av *av)
{
	struct ib_device *ibdev = av->sgid_attr->device;
	const struct ib_gid_attr *attr;

	attr = sroce_gid_first(ibdev, &av->saddr, av->net_cookie, av->ndev);
	/* A new netdev may have the memory of the old one. */
	if (!IS_ERR(attr) && sroce_gid_on_link(attr, &av->link))
		return attr;
	if (!IS_ERR(attr))
		rdma_put_gid_attr(attr);
	return sroce_gid_find_link(ibdev, &av->saddr, av->net_cookie, &av->link);
}

/*
 * Find the netdev of an address that was removed and added again.  It must be
 * in the same namespace, and lead to the same link; otherwise it is a different address.
 */
static struct net_device *find_readded_ndev(const struct sroce_av *av)
{
	const struct ib_gid_attr *attr = find_readded(av);
	struct net_device *ndev;

	if (!attr)
		return NULL;
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	rdma_put_gid_attr(attr);
	return IS_ERR(ndev) ? NULL : ndev;
}

/*
 * The RDMA core clears the pointer when it deletes the GID.  This is
 * rdma_read_gid_attr_ndev_rcu() without the lock of the GID table, which would be
 * taken for each loopback packet.
 */
struct net_device *sroce_av_ndev(const struct sroce_av *av)
{
	struct net_device *ndev = rcu_dereference(av->sgid_attr->ndev);

	return ndev ?: find_readded_ndev(av);
}

struct sroce_av *sroce_av_create(const struct rdma_ah_attr *attr, u32 qpn,
				 u32 dest_qpn)
{
	return av_create(attr, qpn, dest_qpn, GFP_KERNEL_ACCOUNT);
}

/*
 * The QPs that will use the handle are not known yet, so any source port will
 * do.
 */
static struct sroce_av *av_of_handle(const struct rdma_ah_attr *attr, gfp_t gfp)
{
	return av_create(attr, get_random_u32(), get_random_u32(), gfp);
}

void sroce_av_put(struct sroce_av *av)
{
	if (!refcount_dec_and_test(&av->ref))
		return;
	rdma_put_gid_attr(av->sgid_attr);
	kfree_rcu(av, rcu);
}

struct sroce_av *sroce_av_get(struct sroce_device *dev, struct ib_pd *pd,
			      u32 number)
{
	struct sroce_av *av;

	rcu_read_lock();
	av = xa_load(&dev->ahs, number);
	if (av && !(av->pd == pd && refcount_inc_not_zero(&av->ref)))
		av = NULL;
	rcu_read_unlock();
	return av;
}

/*
 * The number is allocated and returned to user space before lookups find
 * anything under it.  Only process context gets here, so the plain lock of the
 * xarray suffices.
 */
static int ah_publish(struct sroce_ah *ah, struct ib_udata *udata)
{
	struct sroce_device *dev = sroce_device(ah->ib.device);
	struct sroce_create_ah_resp resp = {};
	int err;

	err = xa_alloc_cyclic(&dev->ahs, &ah->number, NULL, AH_NUMBERS,
			      &dev->ah_next, GFP_KERNEL_ACCOUNT);
	if (err < 0)
		return err == -EBUSY ? -ENOMEM : err;
	resp.ah = ah->number;
	err = sroce_udata_room(udata, sizeof(resp)) ?:
	      ib_respond_udata(udata, resp);
	if (err) {
		xa_erase(&dev->ahs, ah->number);
		return err;
	}
	/* The entry is reserved, so this cannot fail. */
	xa_store(&dev->ahs, ah->number, ah->av, GFP_KERNEL_ACCOUNT);
	return 0;
}

/* A process's handle counts towards its user's share. */
static int ah_count_and_publish(struct sroce_ah *ah, struct ib_udata *udata)
{
	int err;

	ah->wmem = sroce_udata_ucontext(udata)->wmem;
	if (!sroce_wmem_take(ah->wmem, SROCE_SHARED_AHS, 1, SROCE_MAX_AH))
		return -ENOMEM;
	err = ah_publish(ah, udata);
	if (err)
		sroce_wmem_give_back(ah->wmem, SROCE_SHARED_AHS, 1);
	return err;
}

static void ah_remember(struct sroce_ah *ah, const struct rdma_ah_attr *attr)
{
	ah->attr = *attr;
	/* The address vector has the reference. */
	ah->attr.grh.sgid_attr = NULL;
}

int sroce_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata)
{
	gfp_t gfp = init->flags & RDMA_CREATE_AH_SLEEPABLE ?
		    GFP_KERNEL_ACCOUNT : GFP_ATOMIC;
	struct sroce_ah *ah = sroce_ah(ibah);
	int err;

	err = ib_is_udata_in_empty(udata);
	if (err)
		return err;
	ah->av = av_of_handle(init->ah_attr, gfp);
	if (IS_ERR(ah->av))
		return PTR_ERR(ah->av);
	ah->av->pd = ibah->pd;
	ah_remember(ah, init->ah_attr);
	if (udata) {
		err = ah_count_and_publish(ah, udata);
		if (err)
			sroce_av_put(ah->av);
	}
	return err;
}

int sroce_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = sroce_ah(ibah)->attr;
	return 0;
}

int sroce_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	struct sroce_device *dev = sroce_device(ibah->device);
	struct sroce_ah *ah = sroce_ah(ibah);

	if (ah->number) {
		xa_erase(&dev->ahs, ah->number);
		sroce_wmem_give_back(ah->wmem, SROCE_SHARED_AHS, 1);
	}
	sroce_av_put(ah->av);
	return 0;
}
