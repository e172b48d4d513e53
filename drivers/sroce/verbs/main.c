// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Module init and exit, and the netdevice notifier. */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>
#include <rdma/sroce-abi.h>
#include "../base/deferred.h"
#include "../entry/rx.h"
#include "../mem/mr_dmabuf.h"
#include "../mem/odp_wq.h"
#include "../mem/wmem.h"
#include "../net/burst.h"
#include "../net/icrc.h"
#include "../net/loopback.h"
#include "../net/mcast.h"
#include "../net/udp_sock.h"
#include "../net/uso.h"
#include "../queue/qp.h"
#include "../queue/qp_run.h"
#include "../recv/xrc.h"
#include "device.h"
#include "listener.h"
#include "port.h"
#include "settings.h"

static void netdev_gone(struct net_device *ndev, struct sroce_device *dev)
{
	sroce_listener_netdev_gone(ndev);
	sroce_mcast_netdev_gone(ndev);
	sroce_uso_forget(ndev);
	/*
	 * Queued, because unregistering waits for processes, and rtnl is held
	 * here.
	 */
	if (dev)
		ib_unregister_device_queued(&dev->ib);
}

static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *info)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(info);
	struct sroce_device *dev = sroce_device_get_by_netdev(ndev);

	switch (event) {
	case NETDEV_UNREGISTER:
		netdev_gone(ndev, dev);
		break;
	case NETDEV_FEAT_CHANGE:
		sroce_uso_forget(ndev);
		break;
	case NETDEV_CHANGEMTU:
		sroce_mcast_mtu_changed(ndev);
		break;
	case NETDEV_CHANGEUPPER:
		sroce_listener_netdev_moved(ndev);
		sroce_mcast_uppers_changed();
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		if (dev)
			sroce_port_event(&dev->ib, ndev, event);
		break;
	}
	if (dev)
		ib_device_put(&dev->ib);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

/* The tables by which packets find QPs and SRQs. */
static int __init init_tables(void)
{
	int err = sroce_qp_table_init();

	if (err)
		return err;
	err = sroce_xrc_table_init();
	if (err)
		sroce_qp_table_exit();
	return err;
}

static void exit_tables(void)
{
	sroce_xrc_table_exit();
	sroce_qp_table_exit();
}

#ifdef SROCE_OUT_OF_TREE
/*
 * sroce_qp_drain() needs RCU tasks if the kernel is preemptible.  It has them with
 * BPF_SYSCALL, KPROBES or FUNCTION_TRACER.  Otherwise the module stays.
 */
static void __init stay_if_preemptible(void)
{
	if (IS_ENABLED(CONFIG_PREEMPTION) && !IS_ENABLED(CONFIG_TASKS_RCU))
		__module_get(THIS_MODULE);
}
#endif

static int __init sroce_init(void)
{
	int err;

	sroce_icrc_init();
	err = sroce_wmem_init();
	if (err)
		return err;
	err = sroce_rx_init();
	if (err)
		goto err_wmem;
	err = init_tables();
	if (err)
		goto err_loop;
	err = sroce_qp_run_init();
	if (err)
		goto err_tables;
	err = sroce_deferred_init();
	if (err)
		goto err_run;
	err = sroce_dmabuf_init();
	if (err)
		goto err_deferred;
	err = sroce_udp_sock_init(sroce_rx_receive);
	if (err)
		goto err_dmabuf;
	err = sroce_settings_init();
	if (err)
		goto err_socket;
	err = register_netdevice_notifier(&netdev_notifier);
	if (err)
		goto err_settings;
	rdma_link_register(&sroce_link_ops);
#ifdef SROCE_OUT_OF_TREE
	stay_if_preemptible();
#endif
	return 0;

err_settings:
	sroce_settings_exit();
err_socket:
	sroce_udp_sock_exit();
err_dmabuf:
	sroce_dmabuf_exit();
err_deferred:
	sroce_deferred_exit();
err_run:
	sroce_qp_run_exit();
err_tables:
	exit_tables();
err_loop:
	sroce_loopback_exit();
err_wmem:
	sroce_wmem_exit();
	return err;
}

static void __exit sroce_exit(void)
{
	/*
	 * First refuse new devices, then remove all; the notifier is needed
	 * until then.
	 */
	rdma_link_unregister(&sroce_link_ops);
	ib_unregister_driver((enum rdma_driver_id)SROCE_DRIVER_ID);
	unregister_netdevice_notifier(&netdev_notifier);
	sroce_settings_exit();
	sroce_udp_sock_exit();
	sroce_dmabuf_exit();
	sroce_odp_wq_exit();
	sroce_deferred_exit();
	sroce_qp_run_exit();
	sroce_qp_drain();
	exit_tables();
	sroce_wmem_exit();
	sroce_loopback_exit();
	sroce_burst_exit();
	/* The last callbacks of net/udp_sock.c and verbs/qp_counter.c */
	rcu_barrier();
}

module_init(sroce_init);
module_exit(sroce_exit);

MODULE_AUTHOR("The sroce developers");
MODULE_DESCRIPTION("Software RoCEv2: RDMA over any Ethernet device");
MODULE_VERSION(SROCE_VERSION);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_RDMA_LINK("sroce");
