#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# probes.sh COMPILER...: finds the features of this kernel's headers by compiling,
# and prints them as definitions for compat.h.  The version would not do, because
# distributions backport features of newer kernels.
set -eu

compiles() {
	"$@" -DKBUILD_MODNAME='"sroce"' -Wno-error \
		-Werror=implicit-function-declaration \
		-Werror=incompatible-pointer-types -fsyntax-only -x c -
}

# "probe NAME" defines SROCE_HAVE_NAME if the source on standard input compiles.
probe() {
	name=$1
	if compiles $COMPILER 2>/dev/null; then
		echo "#define SROCE_HAVE_$name"
	fi
}

COMPILER=$*

# If even this fails, all results would be wrong.
echo '#include <rdma/ib_verbs.h>' | compiles $COMPILER

probe LINUX_UNALIGNED <<END
#include <linux/unaligned.h>
END

probe KZALLOC_OBJ <<END
#include <linux/slab.h>
int *f(void) { int *p = kzalloc_obj(*p, GFP_ATOMIC); return p; }
END

probe WQ_PERCPU <<END
#include <linux/workqueue.h>
int flag = WQ_PERCPU;
END

probe VM_FLAGS_CLEAR <<END
#include <linux/mm.h>
void f(struct vm_area_struct *vma) { vm_flags_clear(vma, VM_MAYEXEC); }
END

probe DEV_NET_RCU <<END
#include <linux/netdevice.h>
struct net *f(struct net_device *dev) { return dev_net_rcu(dev); }
END

probe SKB_FRAG_FILL_PAGE_DESC <<END
#include <linux/skbuff.h>
void f(skb_frag_t *frag) { skb_frag_fill_page_desc(frag, NULL, 0, 0); }
END

probe GSO_IPV4_MAX_SIZE <<END
#include <linux/netdevice.h>
unsigned int f(struct net_device *dev) { return dev->gso_ipv4_max_size; }
END

probe CREATE_CQ_ATTRS <<END
#include <rdma/ib_verbs.h>
int f(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
      struct uverbs_attr_bundle *attrs);
struct ib_device_ops ops = { .create_cq = f };
END

probe DMA_BUF_VMAP_UNLOCKED <<END
#include <linux/dma-buf.h>
int f(struct dma_buf *buf) { return dma_buf_vmap_unlocked(buf, NULL); }
END

probe FAUX_DEVICE <<END
#include <linux/device/faux.h>
void *f(void) { return faux_device_create("", NULL, NULL); }
END

probe HRTIMER_SETUP <<END
#include <linux/hrtimer.h>
void f(struct hrtimer *timer) { hrtimer_setup(timer, NULL, 0, 0); }
END

probe IB_UMEM_GET_VA <<END
#include <rdma/ib_umem.h>
struct ib_umem *f(struct ib_device *dev) { return ib_umem_get_va(dev, 0, 0, 0); }
END

probe RDMA_ITER <<END
#include <rdma/iter.h>
END

probe VIRT_DMA_TO_PTR <<END
#include <rdma/ib_verbs.h>
void *f(u64 addr) { return ib_virt_dma_to_ptr(addr); }
END

probe IPV6_STUB <<END
#include <net/addrconf.h>
void *f(void) { return ipv6_stub->ipv6_dst_lookup_flow; }
END

probe FLOWI4_DSCP <<END
#include <net/flow.h>
void *f(struct flowi4 *fl) { return &fl->flowi4_dscp; }
END

probe TUNNEL_OF_SOCK <<END
#include <net/udp_tunnel.h>
void f(struct net *net, struct sock *sk) { setup_udp_tunnel_sock(net, sk, NULL); }
END

probe IMPORT_NS_WORD <<END
#include <linux/module.h>
MODULE_IMPORT_NS(DMA_BUF);
END

probe USER_CQ <<END
#include <rdma/ib_verbs.h>
int f(struct ib_cq *cq, unsigned int entries, struct ib_udata *udata);
struct ib_device_ops ops = { .resize_user_cq = f, .create_user_cq = NULL };
END

probe POST_DESTROY_CQ <<END
#include <rdma/ib_verbs.h>
struct ib_device_ops ops = { .pre_destroy_cq = NULL, .post_destroy_cq = NULL };
END

probe SYSTEM_BH_WQ <<END
#include <linux/workqueue.h>
void f(struct work_struct *work) { queue_work(system_bh_wq, work); }
END

probe UDATA_HELPERS <<END
#include <rdma/uverbs_ioctl.h>
struct ib_device_ops ops = { .uverbs_robust_udata = 1 };
int f(struct ib_udata *udata) { return ib_no_udata_io(udata); }
END

probe REPORT_PORT_EVENT <<END
#include <rdma/ib_verbs.h>
struct ib_device_ops ops = { .report_port_event = NULL };
END

probe PORT_SPEED <<END
#include <rdma/ib_verbs.h>
struct ib_device_ops ops = { .query_port_speed = NULL };
END

probe FILL_RES_SRQ <<END
#include <rdma/ib_verbs.h>
struct ib_device_ops ops = { .fill_res_srq_entry = NULL };
END

probe COUNTER_PORT <<END
#include <rdma/ib_verbs.h>
int f(struct rdma_counter *counter, struct ib_qp *qp, u32 port);
struct ib_device_ops ops = { .counter_bind_qp = f };
END

probe COUNTER_OBJ <<END
#include <rdma/ib_verbs.h>
struct ib_device_ops ops = { .size_rdma_counter = 1 };
END

probe DELLINK <<END
#include <rdma/rdma_netlink.h>
struct rdma_link_ops ops = { .dellink = NULL };
END

probe NAME_ASSIGNED <<END
#include <rdma/ib_verbs.h>
void f(struct ib_device *dev) { ib_mark_name_assigned_by_user(dev); }
END

probe SKB_FRAGS_READABLE <<END
#include <linux/skbuff.h>
bool f(const struct sk_buff *skb) { return skb_frags_readable(skb); }
END

probe DMAH <<END
#include <rdma/ib_verbs.h>
struct ib_mr *f(struct ib_pd *pd, u64 start, u64 length, u64 address,
		int access, struct ib_dmah *dmah, struct ib_udata *udata);
struct ib_device_ops ops = { .reg_user_mr = f };
END

probe COMP_CNTR <<END
#include <rdma/ib_verbs.h>
struct ib_device_ops ops = { .qp_attach_comp_cntr = NULL };
END

probe REG_DMABUF_ATTRS <<END
#include <rdma/ib_verbs.h>
struct ib_mr *f(struct ib_pd *pd, u64 offset, u64 length, u64 address, int fd,
		int access, struct uverbs_attr_bundle *attrs);
struct ib_mr *g(struct ib_pd *pd, u64 offset, u64 length, u64 address, int fd,
		int access, struct ib_dmah *dmah,
		struct uverbs_attr_bundle *attrs);
typedef typeof(((struct ib_device_ops *)0)->reg_user_mr_dmabuf) verb;
_Static_assert(__builtin_types_compatible_p(verb, typeof(&f)) ||
	       __builtin_types_compatible_p(verb, typeof(&g)), "neither");
END

probe ODP_FLUSH <<END
#include <rdma/ib_verbs.h>
int caps = IB_ODP_SUPPORT_FLUSH | IB_ODP_SUPPORT_ATOMIC_WRITE;
END

probe FLUSH <<END
#include <rdma/ib_verbs.h>
u64 caps = IB_DEVICE_FLUSH_GLOBAL | IB_DEVICE_ATOMIC_WRITE;
int access = IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT;
END
