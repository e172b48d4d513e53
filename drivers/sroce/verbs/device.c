// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ib_device: attributes, operations, registration.
 */
#include <linux/if_arp.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/net_namespace.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>
#include "../base/udata.h"
#include "../mem/mmap.h"
#include "../mem/mr.h"
#include "../mem/mr_dm.h"
#include "../mem/mr_dmabuf.h"
#include "../mem/mr_fast.h"
#include "../mem/mw.h"
#include "../mem/odp_fault.h"
#include "../net/ah.h"
#include "../net/mcast.h"
#include "../net/pkey.h"
#include "../queue/comp_cntr.h"
#include "../queue/cq.h"
#include "../queue/qp.h"
#include "../queue/srq.h"
#include "../recv/xrc.h"
#include "comp_cntr_verbs.h"
#include "device.h"
#include "hw_stats.h"
#include "listener.h"
#include "pd.h"
#include "pma.h"
#include "port.h"
#include "post.h"
#include "qp_counter.h"
#include "qp_modify.h"
#include "qp_verbs.h"
#include "restrack.h"
#include "settings.h"
#include "srq_verbs.h"
#include "ucontext.h"

/* Upper bound for the delay of a softirq: 4.096 us << 12, which is 17 ms. */
#define ACK_DELAY	12

#define NANOSECONDS_KHZ	1000000

/* Software devices without an OUI use this value; programs do not expect 0. */
#define VENDOR_ID	0xffffff

/*
 * UC and UD receive is not reported: they drop packets for memory that is not
 * present, which is legal, but not useful.
 */
static void describe_paging(struct ib_device_attr *attr)
{
	struct ib_odp_caps *caps = &attr->odp_caps;

	if (!IS_ENABLED(CONFIG_INFINIBAND_ON_DEMAND_PAGING))
		return;
	attr->kernel_cap_flags |= IBK_ON_DEMAND_PAGING;
	caps->general_caps = IB_ODP_SUPPORT | IB_ODP_SUPPORT_IMPLICIT;
	caps->per_transport_caps.rc_odp_caps =
		IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV |
		IB_ODP_SUPPORT_WRITE | IB_ODP_SUPPORT_READ |
		IB_ODP_SUPPORT_ATOMIC | IB_ODP_SUPPORT_SRQ_RECV |
		IB_ODP_SUPPORT_FLUSH | IB_ODP_SUPPORT_ATOMIC_WRITE;
	caps->per_transport_caps.xrc_odp_caps =
		caps->per_transport_caps.rc_odp_caps;
	caps->per_transport_caps.uc_odp_caps = IB_ODP_SUPPORT_SEND;
	caps->per_transport_caps.ud_odp_caps = IB_ODP_SUPPORT_SEND;
}

static void describe_limits(struct ib_device_attr *attr)
{
	attr->max_send_sge = SROCE_MAX_SGE;
	attr->max_recv_sge = SROCE_MAX_SGE;
	attr->max_sge_rd = SROCE_MAX_SGE;
	attr->max_srq = SROCE_MAX_SRQ;
	attr->max_srq_wr = SROCE_MAX_SRQ_WR;
	attr->max_srq_sge = SROCE_MAX_SGE;
	attr->max_cq = SROCE_MAX_CQ;
	attr->max_cqe = SROCE_MAX_CQE;
	attr->max_mr = SROCE_MAX_MR;
	attr->max_mw = SROCE_MAX_MR;
	attr->max_dm_size = sroce_dm_limit();
	attr->max_fast_reg_page_list_len = SROCE_MAX_FAST_PAGES;
	attr->max_pd = SROCE_MAX_PD;
	attr->max_ah = SROCE_MAX_AH;
	attr->max_mcast_grp = SROCE_MAX_MCAST_ATTACH;
	attr->max_mcast_qp_attach = SROCE_MAX_MCAST_QP;
	attr->max_total_mcast_qp_attach = SROCE_MAX_MCAST_ATTACH;
	attr->max_qp_rd_atom = SROCE_MAX_RD_ATOMIC;
	attr->max_qp_init_rd_atom = SROCE_MAX_RD_ATOMIC;
	attr->max_res_rd_atom = SROCE_MAX_QP * SROCE_MAX_RD_ATOMIC;
}

static int sroce_query_device(struct ib_device *ibdev,
			      struct ib_device_attr *attr,
			      struct ib_udata *udata)
{
	int err = ib_no_udata_io(udata);

	if (err)
		return err;

	attr->sys_image_guid = ibdev->node_guid;
	attr->fw_ver = SROCE_FW_VER;
	attr->vendor_id = VENDOR_ID;
	attr->max_mr_size = U64_MAX;
	attr->page_size_cap = 0xfffff000;
	attr->max_qp = SROCE_MAX_QP;
	attr->max_qp_wr = SROCE_MAX_QP_WR;
	attr->device_cap_flags = IB_DEVICE_ATOMIC_WRITE |
				 IB_DEVICE_BAD_PKEY_CNTR |
				 IB_DEVICE_BAD_QKEY_CNTR |
				 IB_DEVICE_CURR_QP_STATE_MOD |
				 IB_DEVICE_FLUSH_GLOBAL |
				 IB_DEVICE_MEM_MGT_EXTENSIONS |
				 IB_DEVICE_MEM_WINDOW |
				 IB_DEVICE_MEM_WINDOW_TYPE_2B |
				 IB_DEVICE_PORT_ACTIVE_EVENT |
				 IB_DEVICE_RC_RNR_NAK_GEN |
				 IB_DEVICE_SRQ_RESIZE |
				 IB_DEVICE_SYS_IMAGE_GUID |
				 IB_DEVICE_UD_AV_PORT_ENFORCE |
				 IB_DEVICE_XRC;
	if (IS_ENABLED(CONFIG_ARCH_HAS_PMEM_API))
		attr->device_cap_flags |= IB_DEVICE_FLUSH_PERSISTENT;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG;
	describe_paging(attr);
	describe_limits(attr);
	/*
	 * IB_ATOMIC_GLOB would be correct, because CPU instructions do the
	 * atomics.  But UCX requires IB_ATOMIC_HCA, which other devices report,
	 * too.
	 */
	attr->atomic_cap = IB_ATOMIC_HCA;
	attr->max_pkeys = SROCE_PKEY_TABLE;
	attr->local_ca_ack_delay = ACK_DELAY;
	attr->cq_caps.max_cq_moderation_count = U16_MAX;
	attr->cq_caps.max_cq_moderation_period = U16_MAX;
	attr->timestamp_mask = U64_MAX;
	attr->hca_core_clock = NANOSECONDS_KHZ;
	return 0;
}

/* Programs show the version of the module as that of the firmware. */
static void sroce_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	u64 version = ibdev->attrs.fw_ver;

	snprintf(str, IB_FW_VERSION_NAME_MAX, "%u.%u.%u",
		 upper_32_bits(version), (u32)(version >> 16 & 0xffff),
		 (u32)(version & 0xffff));
}

/* Sets "node_desc" in sysfs, as rdma-ndd of rdma-core does. */
static int sroce_modify_device(struct ib_device *ibdev, int mask,
			       struct ib_device_modify *attr)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	memcpy(ibdev->node_desc, attr->node_desc, sizeof(ibdev->node_desc));
	return 0;
}

static int sroce_get_port_immutable(struct ib_device *ibdev, u32 port,
				    struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	immutable->gid_tbl_len = SROCE_GID_TABLE;
	immutable->pkey_tbl_len = SROCE_PKEY_TABLE;
	return 0;
}

static enum rdma_link_layer sroce_get_link_layer(struct ib_device *ibdev,
						 u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

/* The netdev below a VLAN; else the device's own. */
static struct net_device *real_netdev(const struct sroce_device *dev)
{
	return rdma_vlan_dev_real_dev(dev->ndev) ?: dev->ndev;
}

/*
 * The RDMA core assigns the GIDs of a VLAN to devices on the netdev below it.  A
 * device on a VLAN therefore reports the netdev below; sroce_add_gid() refuses the
 * GIDs that are not its own.  The core knows the netdev of all other devices, but SMC
 * may ask the driver for it.
 */
static struct net_device *sroce_get_netdev(struct ib_device *ibdev, u32 port)
{
	struct net_device *ndev = real_netdev(sroce_device(ibdev));

	dev_hold(ndev);
	return ndev;
}

/* Undo init_device() after all objects of the device have been freed. */
static void sroce_dealloc_driver(struct ib_device *ibdev)
{
	struct sroce_device *dev = sroce_device(ibdev);

	sroce_listener_close_ports(dev);
	xa_destroy(&dev->ahs);
	xa_destroy(&dev->qp_counters);
	sroce_mr_table_exit(dev);
	free_percpu(dev->counters);
	netdev_put(dev->ndev, &dev->ndev_tracker);
}

#ifdef SROCE_OUT_OF_TREE
/* Name of the netdev, in the file where scripts for rxe look for it. */
static ssize_t parent_show(struct device *device, struct device_attribute *attr,
			   char *buf)
{
	const struct sroce_device *dev =
		rdma_device_to_drv_device(device, struct sroce_device, ib);

	return sysfs_emit(buf, "%s\n", netdev_name(dev->ndev));
}

static DEVICE_ATTR_RO(parent);

/* Metrics exporters skip all devices if one lacks this file. */
static ssize_t board_id_show(struct device *device,
			     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", KBUILD_MODNAME);
}

static DEVICE_ATTR_RO(board_id);

static struct attribute *device_attributes[] = {
	&dev_attr_board_id.attr,
	&dev_attr_parent.attr,
	NULL,
};

static const struct attribute_group device_group = {
	.attrs = device_attributes,
};
#endif

static const struct ib_device_ops ops = {
	.owner = THIS_MODULE,
	.driver_id = (enum rdma_driver_id)SROCE_DRIVER_ID,
	.uverbs_abi_ver = SROCE_ABI_VERSION,
	SROCE_ROBUST_UDATA_OPS

	.add_gid = sroce_add_gid,
	.advise_mr = sroce_advise_mr,
	.alloc_dm = sroce_alloc_dm,
	.alloc_hw_port_stats = sroce_alloc_hw_port_stats,
	.alloc_mr = sroce_alloc_mr,
	.alloc_mw = sroce_alloc_mw,
	.alloc_pd = sroce_alloc_pd,
	.alloc_ucontext = sroce_alloc_ucontext,
	.alloc_xrcd = sroce_alloc_xrcd,
	.attach_mcast = sroce_attach_mcast,
	.counter_alloc_stats = sroce_counter_alloc_stats,
	.counter_bind_qp = sroce_counter_bind_qp,
	.counter_dealloc = sroce_counter_dealloc,
	.counter_unbind_qp = sroce_counter_unbind_qp,
	.counter_update_stats = sroce_counter_update_stats,
	.create_ah = sroce_create_ah,
	.create_cq = sroce_create_cq,
	.create_qp = sroce_create_qp,
	.create_srq = sroce_create_srq,
	.create_user_ah = sroce_create_ah,
	.dealloc_dm = sroce_dealloc_dm,
	.dealloc_driver = sroce_dealloc_driver,
	.dealloc_mw = sroce_dealloc_mw,
	.dealloc_pd = sroce_dealloc_pd,
	.dealloc_ucontext = sroce_dealloc_ucontext,
	.dealloc_xrcd = sroce_dealloc_xrcd,
	.del_gid = sroce_del_gid,
	.dereg_mr = sroce_dereg_any_mr,
	.destroy_ah = sroce_destroy_ah_after_batch,
	.destroy_cq = sroce_destroy_cq,
	.destroy_qp = sroce_destroy_qp,
	.destroy_srq = sroce_destroy_srq,
	.detach_mcast = sroce_detach_mcast,
	.disassociate_ucontext = sroce_disassociate_ucontext,
	.fill_res_cq_entry = sroce_fill_res_cq_entry,
	.fill_res_mr_entry = sroce_fill_res_mr_entry,
	.fill_res_qp_entry = sroce_fill_res_qp_entry,
	.fill_stat_mr_entry = sroce_fill_stat_mr_entry,
	.get_dev_fw_str = sroce_get_dev_fw_str,
	.get_dma_mr = sroce_get_dma_mr,
	.get_hw_stats = sroce_get_hw_stats,
	.get_link_layer = sroce_get_link_layer,
	.get_netdev = sroce_get_netdev,
	.get_port_immutable = sroce_get_port_immutable,
	.map_mr_sg = sroce_map_mr_sg,
	.mmap = sroce_mmap,
	.mmap_free = sroce_mmap_free,
	.modify_cq = sroce_modify_cq,
	.modify_device = sroce_modify_device,
	.modify_qp = sroce_modify_qp,
	.modify_srq = sroce_modify_srq,
	.poll_cq = sroce_poll_cq,
	.post_recv = sroce_post_recv,
	.post_send = sroce_post_send,
	.post_srq_recv = sroce_post_srq_recv,
	.process_mad = sroce_process_mad,
	.query_ah = sroce_query_ah,
	.query_device = sroce_query_device,
	.query_pkey = sroce_query_pkey,
	.query_port = sroce_query_port,
	.query_qp = sroce_query_qp,
	.query_srq = sroce_query_srq,
	.query_ucontext = sroce_query_ucontext,
	.reg_dm_mr = sroce_reg_dm_mr,
	.reg_user_mr = sroce_reg_user_mr,
#ifdef SROCE_OUT_OF_TREE
	.device_group = &device_group,
	.port_groups = sroce_port_groups,
#endif
	.reg_user_mr_dmabuf = sroce_reg_dmabuf_mr,
	.req_notify_cq = sroce_req_notify_cq,
	.rereg_user_mr = sroce_rereg_user_mr,
	SROCE_COMP_CNTR_OPS
	SROCE_COUNTER_OPS
	SROCE_DESTROY_CQ_OPS
	SROCE_DMAH_OPS
	SROCE_FILL_RES_SRQ_OPS
	SROCE_PORT_EVENT_OPS
	SROCE_PORT_SPEED_OPS
	SROCE_USER_CQ_OPS,

	INIT_RDMA_OBJ_SIZE(ib_ah, sroce_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, sroce_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_mw, sroce_mw, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, sroce_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, sroce_ib_qp, ib),
	INIT_RDMA_OBJ_SIZE(ib_srq, sroce_srq, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, sroce_ucontext, ib),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, sroce_xrcd, ib),
};

/* sroce_dealloc_driver() undoes this.  It becomes an op only at the end. */
static int init_device(struct sroce_device *dev, struct net_device *ndev)
{
	/* xa_init_flags() has one class per source file, and softirqs take this lock. */
	static struct lock_class_key qp_counters_key;
	int err;

	dev->counters = alloc_percpu(struct sroce_counters);
	if (!dev->counters)
		return -ENOMEM;
	err = sroce_mr_table_init(dev);
	if (err)
		goto err_counters;
	err = sroce_listener_open_ports(dev, ndev);
	if (err)
		goto err_mrs;
	xa_init_flags(&dev->ahs, XA_FLAGS_ALLOC);
	xa_init_flags(&dev->qp_counters, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	lockdep_set_class(&dev->qp_counters.xa_lock, &qp_counters_key);
	netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);
	dev->ndev = ndev;
	ib_set_device_ops(&dev->ib, &ops);
	return 0;

err_mrs:
	sroce_mr_table_exit(dev);
err_counters:
	free_percpu(dev->counters);
	return err;
}

static void describe_device(struct sroce_device *dev)
{
	struct ib_device *ib = &dev->ib;

	ib->node_type = RDMA_NODE_IB_CA;
	ib->phys_port_cnt = 1;
	ib->num_comp_vectors = num_possible_cpus();
	ib->dev.parent = real_netdev(dev)->dev.parent;
	ib->driver_def = sroce_uapi_defs;
	ib->link_ops = &sroce_link_ops;
	ib->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	/* The name was given by the user, so udev must not change it. */
	ib_mark_name_assigned_by_user(ib);
	strscpy(ib->node_desc, "sroce", sizeof(ib->node_desc));
	addrconf_addr_eui48((u8 *)&ib->node_guid, dev->ndev->dev_addr);
	dev->port_up = sroce_port_is_up(dev);
	sroce_pkey_init(dev);
	sroce_settings_default(dev);
}

static int create_device(const char *name, struct net_device *ndev)
{
	struct sroce_device *dev;
	int err;

	dev = ib_alloc_device(sroce_device, ib);
	if (!dev)
		return -ENOMEM;
	err = init_device(dev, ndev);
	if (err)
		goto err_dealloc;
	describe_device(dev);
	err = ib_device_set_netdev(&dev->ib, ndev, SROCE_PORT);
	if (err)
		goto err_dealloc;
	err = ib_register_device(&dev->ib, name, NULL);
	/* ib_register_device() returns ENFILE for a name that is taken. */
	if (err == -ENFILE)
		err = -EEXIST;
	if (err)
		goto err_dealloc;
	return 0;

err_dealloc:
	ib_dealloc_device(&dev->ib);
	return err;
}

/*
 * The notifier could not find the device until now, so catch up with changes of
 * the netdev since.
 */
static int revalidate_device(struct net_device *ndev, struct net *net)
{
	struct sroce_device *dev = sroce_device_get_by_netdev(ndev);
	bool there;

	/* The device has been deleted meanwhile. */
	if (!dev)
		return 0;
	rtnl_lock();
	there = ndev->reg_state == NETREG_REGISTERED &&
		net_eq(dev_net(ndev), net);
	if (there)
		sroce_port_event(&dev->ib, ndev, NETDEV_CHANGE);
	rtnl_unlock();
	if (there) {
		ib_device_put(&dev->ib);
		return 0;
	}
	ib_unregister_device_and_put(&dev->ib);
	return -ENODEV;
}

static int check_netdev(struct net_device *ndev)
{
	if (ndev->type != ARPHRD_ETHER) {
		netdev_err(ndev, "sroce: not an Ethernet device\n");
		return -EOPNOTSUPP;
	}
	if (netif_is_bond_slave(ndev)) {
		netdev_err(ndev, "sroce: port of a bond; use the bond\n");
		return -EOPNOTSUPP;
	}
	return 0;
}

static int add_device(const char *name, struct net_device *ndev,
		      struct net *net)
{
	struct sroce_device *dev = sroce_device_get_by_netdev(ndev);

	if (dev) {
		ib_device_put(&dev->ib);
		return -EEXIST;
	}
	return check_netdev(ndev) ?: create_device(name, ndev) ?:
	       revalidate_device(ndev, net);
}

/*
 * Returns EEXIST if @ndev has a sroce device, EADDRINUSE if UDP port 4791 is in use
 * in its namespace (for instance by rxe).
 */
static int sroce_newlink(const char *name, struct net_device *ndev)
{
	/* Serializes requests, so that each netdev gets one device. */
	static DEFINE_MUTEX(add_lock);
	struct net *net;
	int err;

	rcu_read_lock();
	net = maybe_get_net(dev_net(ndev));
	rcu_read_unlock();
	if (!net)
		return -ENODEV;
	mutex_lock(&add_lock);
	err = add_device(name, ndev, net);
	mutex_unlock(&add_lock);
	put_net(net);
	return err;
}

int sroce_dellink(struct ib_device *ibdev)
{
	sroce_listener_close_ports(sroce_device(ibdev));
	return 0;
}

struct rdma_link_ops sroce_link_ops = {
	.type = "sroce",
	.newlink = sroce_newlink,
	SROCE_DELLINK_OPS
};

struct sroce_device *sroce_device_get_by_netdev(struct net_device *ndev)
{
	struct ib_device *ibdev;

	ibdev = ib_device_get_by_netdev(ndev,
					(enum rdma_driver_id)SROCE_DRIVER_ID);
	return ibdev ? sroce_device(ibdev) : NULL;
}
