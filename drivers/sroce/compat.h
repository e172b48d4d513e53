/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * All differences between the supported kernels.  The build includes this file
 * everywhere, after the definitions that probes.sh prints.  The upstream tree
 * has neither.
 */
#ifndef SROCE_COMPAT_H
#define SROCE_COMPAT_H

/*
 * Module parameters and sysfs attributes, which a driver of the kernel must not
 * have.
 */
#define SROCE_OUT_OF_TREE

/*
 * Per-CPU data is protected by disabling bottom halves.  With PREEMPT_RT this works
 * only if local_bh_disable() takes a lock, which became optional in about the kernel
 * that has WQ_PERCPU.
 */
#if defined(CONFIG_PREEMPT_RT) && defined(SROCE_HAVE_WQ_PERCPU)
#ifndef CONFIG_PREEMPT_RT_NEEDS_BH_LOCK
#error "sroce needs CONFIG_PREEMPT_RT_NEEDS_BH_LOCK on PREEMPT_RT"
#endif
#endif

#include <linux/types.h>
#ifdef SROCE_HAVE_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#ifndef SROCE_HAVE_KZALLOC_OBJ
#define kzalloc_obj(object, gfp) kzalloc(sizeof(object), gfp)
#endif

/* Before, workqueues were per CPU by default. */
#ifndef SROCE_HAVE_WQ_PERCPU
#define WQ_PERCPU 0
#endif

#ifndef SROCE_HAVE_VM_FLAGS_CLEAR
#define vm_flags_clear(vma, flags) ((vma)->vm_flags &= ~(flags))
#endif

#ifndef SROCE_HAVE_DEV_NET_RCU
#define dev_net_rcu(dev) dev_net(dev)
#endif

#ifndef SROCE_HAVE_SKB_FRAG_FILL_PAGE_DESC
#define skb_frag_fill_page_desc(frag, page, offset, size) do {	\
	skb_frag_t *fill_frag = (frag);				\
								\
	__skb_frag_set_page(fill_frag, page);			\
	skb_frag_off_set(fill_frag, offset);			\
	skb_frag_size_set(fill_frag, size);			\
} while (0)
#endif

/* The last parameter of create_cq(). */
#ifdef SROCE_HAVE_CREATE_CQ_ATTRS
#define sroce_cq_input uverbs_attr_bundle
#define sroce_cq_udata(input) ((input) ? &(input)->driver_udata : NULL)
#else
#define sroce_cq_input ib_udata
#define sroce_cq_udata(input) (input)
#endif

#ifndef SROCE_HAVE_DMA_BUF_VMAP_UNLOCKED
#define dma_buf_vmap_unlocked(dmabuf, map) dma_buf_vmap(dmabuf, map)
#define dma_buf_vunmap_unlocked(dmabuf, map) dma_buf_vunmap(dmabuf, map)
#define dma_buf_map_attachment_unlocked(attachment, direction)	\
	dma_buf_map_attachment(attachment, direction)
#define dma_buf_unmap_attachment_unlocked(attachment, table, direction)	\
	dma_buf_unmap_attachment(attachment, table, direction)
#endif

/* A device without resources: before faux devices, a platform device. */
#ifdef SROCE_HAVE_FAUX_DEVICE
#define sroce_importer faux_device
#define sroce_importer_create(name) faux_device_create(name, NULL, NULL)
#define sroce_importer_destroy(device) faux_device_destroy(device)
#else
#define sroce_importer platform_device
#define sroce_importer_create(name) ({					\
	struct platform_device *created;				\
									\
	created = platform_device_register_simple(name,			\
						  PLATFORM_DEVID_NONE,	\
						  NULL, 0);		\
	IS_ERR(created) ? NULL : created;				\
})
#define sroce_importer_destroy(device) platform_device_unregister(device)
#endif

#ifndef SROCE_HAVE_HRTIMER_SETUP
#define hrtimer_setup(timer, when, clock, mode) do {	\
	struct hrtimer *setup_timer = (timer);		\
							\
	hrtimer_init(setup_timer, clock, mode);		\
	setup_timer->function = (when);			\
} while (0)
#endif

#ifndef SROCE_HAVE_IB_UMEM_GET_VA
#define ib_umem_get_va ib_umem_get
#endif

#ifndef SROCE_HAVE_VIRT_DMA_TO_PTR
#define ib_virt_dma_to_ptr(addr) ((void *)(uintptr_t)(addr))
#endif

#ifdef SROCE_HAVE_IPV6_STUB
#define sroce_route_ipv6(net, fl)				\
	ipv6_stub->ipv6_dst_lookup_flow(net, NULL, fl, NULL)
#else
#define sroce_route_ipv6(net, fl) ip6_dst_lookup_flow(net, NULL, fl, NULL)
#endif

#ifdef SROCE_HAVE_FLOWI4_DSCP
#define SROCE_FLOWI4_DSCP(dsfield)				\
	.flowi4_dscp = inet_dsfield_to_dscp(dsfield)
#else
#define SROCE_FLOWI4_DSCP(dsfield)				\
	.flowi4_tos = (dsfield) & INET_DSCP_MASK
#endif

/* The type of the socket parameter of functions for UDP tunnels. */
#ifdef SROCE_HAVE_TUNNEL_OF_SOCK
#define sroce_tunnel_sock(socket) ((socket)->sk)
#else
#define sroce_tunnel_sock(socket) (socket)
#endif

#ifdef SROCE_HAVE_IMPORT_NS_WORD
#define SROCE_DMA_BUF_NS DMA_BUF
#else
#define SROCE_DMA_BUF_NS "DMA_BUF"
#endif

/* CQs of processes have verbs of their own, or share them. */
#ifdef SROCE_HAVE_USER_CQ
#define SROCE_USER_CQ_OPS					\
	.create_user_cq = sroce_create_cq,			\
	.resize_user_cq = sroce_resize_cq
#define sroce_cqe_count unsigned int
#else
#define SROCE_USER_CQ_OPS .resize_cq = sroce_resize_cq
#define sroce_cqe_count int
#endif

/* Without it destroy_qp() has to wait; see sroce_cq_drain_handlers(). */
#ifdef SROCE_HAVE_POST_DESTROY_CQ
#define SROCE_DESTROY_CQ_OPS					\
	.post_destroy_cq = sroce_post_destroy_cq,		\
	.pre_destroy_cq = sroce_pre_destroy_cq,
#else
#define SROCE_DESTROY_CQ_OPS
#endif

/* Work in softirq context: before BH workqueues there were tasklets for it. */
#ifdef SROCE_HAVE_SYSTEM_BH_WQ
#define sroce_bh_work work_struct
#define sroce_bh_work_init(work, function) INIT_WORK(work, function)
#define sroce_bh_work_queue(work) queue_work(system_bh_wq, work)
#define sroce_bh_work_busy(work) work_busy(work)
#define sroce_bh_work_cancel(work) cancel_work_sync(work)
#else
#include <linux/interrupt.h>
#define sroce_bh_work tasklet_struct
#define sroce_bh_work_init(work, function) tasklet_setup(work, function)
#define sroce_bh_work_queue(work) tasklet_schedule(work)
#define sroce_bh_work_busy(work) READ_ONCE((work)->state)
#define sroce_bh_work_cancel(work) tasklet_kill(work)
#endif

/* A driver declares that all its verbs use the udata helpers. */
#ifdef SROCE_HAVE_UDATA_HELPERS
#define SROCE_ROBUST_UDATA_OPS .uverbs_robust_udata = 1,
#else
#define SROCE_ROBUST_UDATA_OPS
#endif

/* Older kernels leave the events of ports to drivers. */
#ifdef SROCE_HAVE_REPORT_PORT_EVENT
#define SROCE_PORT_EVENT_OPS .report_port_event = sroce_port_event,
#else
#define SROCE_PORT_EVENT_OPS
#endif

/* Before, only the speed and the width of lanes were reported. */
#ifdef SROCE_HAVE_PORT_SPEED
#define SROCE_PORT_SPEED_OPS .query_port_speed = sroce_query_port_speed,
#else
#define SROCE_PORT_SPEED_OPS
#endif

/* Details of SRQs for "rdma resource" */
#ifdef SROCE_HAVE_FILL_RES_SRQ
#define SROCE_FILL_RES_SRQ_OPS					\
	.fill_res_srq_entry = sroce_fill_res_srq_entry,
#else
#define SROCE_FILL_RES_SRQ_OPS
#endif

/* The last parameters of counter_bind_qp() and counter_unbind_qp() */
#ifdef SROCE_HAVE_COUNTER_PORT
#define SROCE_IBQP_AND_PORT ibqp, u32 port
#else
#define SROCE_IBQP_AND_PORT ibqp
#endif

/* Drivers initialize struct rdma_counter and report its size. */
#ifdef SROCE_HAVE_COUNTER_OBJ
#define SROCE_COUNTER_OPS						\
	.counter_init = sroce_counter_init,				\
	.size_rdma_counter = sizeof(struct rdma_counter),
#else
#define SROCE_COUNTER_OPS
#endif

/* Older kernels unregister the device of "rdma link delete" without dellink(). */
#ifdef SROCE_HAVE_DELLINK
#define SROCE_DELLINK_OPS .dellink = sroce_dellink,
#else
#define SROCE_DELLINK_OPS
#endif

/* On older kernels udev may rename every device. */
#ifndef SROCE_HAVE_NAME_ASSIGNED
#define ib_mark_name_assigned_by_user(ibdev) do { } while (0)
#endif

/* Before, the CPU could read all fragments. */
#ifndef SROCE_HAVE_SKB_FRAGS_READABLE
#define skb_frags_readable(skb) true
#endif

/* The limit of an skb that the device or the stack segments, bytes */
#ifdef SROCE_HAVE_GSO_IPV4_MAX_SIZE
#define sroce_gso_max_size(dev, ipv4)					\
	((ipv4) ? READ_ONCE((dev)->gso_ipv4_max_size) :			\
		  READ_ONCE((dev)->gso_max_size))
#else
#define sroce_gso_max_size(dev, ipv4) READ_ONCE((dev)->gso_max_size)
#endif

/* DMA handles: hints about the CPU and the kind of memory, for registration */
#ifdef SROCE_HAVE_DMAH
#define SROCE_DMAH struct ib_dmah *dmah,
#define sroce_dmah_given() dmah
#define SROCE_DMAH_OPS						\
	.alloc_dmah = sroce_alloc_dmah,				\
	.dealloc_dmah = sroce_dealloc_dmah,			\
	.size_ib_dmah = sizeof(struct ib_dmah),
#else
#define SROCE_DMAH
#define sroce_dmah_given() false
#define SROCE_DMAH_OPS
#endif

/* Before, there were no verbs for completion counters. */
#ifdef SROCE_HAVE_COMP_CNTR
#define SROCE_COMP_CNTR_OPS					\
	.create_comp_cntr = sroce_create_comp_cntr,		\
	.destroy_comp_cntr = sroce_destroy_comp_cntr,		\
	.modify_comp_cntr = sroce_modify_comp_cntr,		\
	.qp_attach_comp_cntr = sroce_qp_attach_comp_cntr,	\
	.query_comp_cntr_caps = sroce_query_comp_cntr_caps,	\
	.read_comp_cntr = sroce_read_comp_cntr,			\
	INIT_RDMA_OBJ_SIZE(ib_comp_cntr, sroce_comp_cntr, ib),
#else
#define SROCE_COMP_CNTR_OPS
struct ib_comp_cntr {
	struct ib_device *device;
};

struct ib_comp_cntr_caps {
	u64 max_value;
	u32 max_counters;
	u32 supported_qp_attach_ops;
};

struct ib_qp_attach_comp_cntr_attr {
	u32 op_mask;
};

enum ib_comp_cntr_entry {
	IB_COMP_CNTR_ENTRY_COMP,
	IB_COMP_CNTR_ENTRY_ERR,
};

enum ib_comp_cntr_modify_op {
	IB_COMP_CNTR_MODIFY_OP_SET,
	IB_COMP_CNTR_MODIFY_OP_INC,
};

enum ib_qp_attach_comp_cntr_op {
	IB_QP_ATTACH_COMP_CNTR_OP_SEND			= 1 << 0,
	IB_QP_ATTACH_COMP_CNTR_OP_RECV			= 1 << 1,
	IB_QP_ATTACH_COMP_CNTR_OP_RDMA_READ		= 1 << 2,
	IB_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ	= 1 << 3,
	IB_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE		= 1 << 4,
	IB_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE	= 1 << 5,
};
#endif

/* The last parameter of reg_user_mr_dmabuf(). */
#ifdef SROCE_HAVE_REG_DMABUF_ATTRS
#define sroce_dmabuf_input uverbs_attr_bundle
#define sroce_dmabuf_udata(input) (&(input)->driver_udata)
#else
#define sroce_dmabuf_input ib_udata
#define sroce_dmabuf_udata(input) (input)
#endif

/*
 * Numbers of the user API from 6.2 on.  Before, the RDMA core refuses to
 * register a region with these rights, so no region has them.
 */
#ifndef SROCE_HAVE_FLUSH
#define IB_ACCESS_FLUSH_GLOBAL		BIT(8)
#define IB_ACCESS_FLUSH_PERSISTENT	BIT(9)
#define IB_DEVICE_FLUSH_GLOBAL		0
#define IB_DEVICE_FLUSH_PERSISTENT	0
#define IB_DEVICE_ATOMIC_WRITE		BIT_ULL(40)
#define IB_WR_FLUSH			14
#define IB_WR_ATOMIC_WRITE		15
#define IB_UVERBS_WC_FLUSH		8
#define IB_UVERBS_WC_ATOMIC_WRITE	9
#endif

/* Access flags that a QP may have */
#ifdef SROCE_HAVE_FLUSH
#define SROCE_QP_ACCESS IB_ACCESS_SUPPORTED
#else
#define SROCE_QP_ACCESS							\
	(IB_ACCESS_SUPPORTED | IB_ACCESS_FLUSH_GLOBAL |			\
	 IB_ACCESS_FLUSH_PERSISTENT)
#endif

/* These are also numbers of the user API. */
#ifndef SROCE_HAVE_ODP_FLUSH
#ifdef SROCE_HAVE_FLUSH
#define IB_ODP_SUPPORT_FLUSH		BIT(6)
#else
#define IB_ODP_SUPPORT_FLUSH		0
#endif
#define IB_ODP_SUPPORT_ATOMIC_WRITE	BIT(7)
#endif

#endif /* SROCE_COMPAT_H */
